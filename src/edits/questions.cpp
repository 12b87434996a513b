#include "sinew/questions.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"
#include "edits/edit_surface.h"
#include "solve/cholesky.h"
#include "surface/coarse_surface.h"

namespace sinew {
namespace {

// Chosen with a simulated artist (scripts/research/answers).
constexpr double kReach = 0.06;  // √area: what an answer covers
constexpr double kPart = 0.15;   // of the surface: a part that is smaller has one owner
constexpr double kEqual = 0.25;  // the second joint's weight from which a place is at a border

/// The vertices of a place and the joints there.
class Asking {
public:
    Asking(EditSurfaceState& surface, const SkinWeights& weights, std::size_t joints)
        : state_(surface), surface_(surface.surface()), weights_(weights), joints_(joints) {
        area_.assign(surface_.components, 0);
        for (std::size_t n = 0; n < surface_.nodes(); ++n) area_[surface_.component[n]] += surface_.mass[n];
        for (const double a : area_) all_ += a;
    }

    Question about(std::uint32_t node, double covered) const {
        Question q;
        q.vertex = surface_.vertex_of[node];
        q.share = std::min(covered / all_, 1.0);
        const auto row = weights_[q.vertex];
        if (area_[surface_.component[node]] < kPart * all_) {
            q.kind = Question::Kind::part;
            q.joints = owners(surface_.component[node]);
            return q;
        }
        const bool border = row.size() > 1 && row[1].weight >= kEqual;
        q.kind = border ? Question::Kind::border : Question::Kind::place;
        for (std::size_t k = 0; k < std::min<std::size_t>(row.size(), border ? 2 : 3); ++k)
            q.joints.push_back(row[k].joint);
        if (border) q.line = line_of(q.joints[0], q.joints[1], q.vertex);
        return q;
    }

private:
    /// The joints with the most weight on a part.
    std::vector<std::uint32_t> owners(std::uint32_t part) const {
        std::vector<double> of(joints_, 0);
        for (std::uint32_t n = 0; n < surface_.nodes(); ++n)
            if (surface_.component[n] == part)
                for (const Influence& i : weights_[surface_.vertex_of[n]])
                    if (i.joint < joints_) of[i.joint] += i.weight * surface_.mass[n];
        std::vector<std::uint32_t> out;
        for (std::uint32_t j = 0; j < joints_; ++j)
            if (of[j] > 0) out.push_back(j);
        std::stable_sort(out.begin(), out.end(), [&](std::uint32_t a, std::uint32_t b) { return of[a] > of[b]; });
        if (out.size() > 3) out.resize(3);
        return out;
    }

    /// Where both joints are equal on edges around the vertex.
    std::vector<Vec3> line_of(std::uint32_t a, std::uint32_t b, std::uint32_t vertex) const {
        const auto ahead = [&](std::uint32_t node) {
            double by = 0;
            for (const Influence& i : weights_[surface_.vertex_of[node]])
                by += i.joint == a ? i.weight : i.joint == b ? -i.weight : 0.0;
            return by;
        };
        const auto place = [&](std::uint32_t node) { return to_point(surface_.position[node]); };
        const double reach = 2 * kReach * std::sqrt(all_);
        const Point3 here = to_point(state_.mesh.positions[vertex]);
        std::vector<Vec3> out;
        for (const MeshSurface::Edge& e : surface_.edges) {
            const double x = ahead(e.a), y = ahead(e.b);
            if ((x > 0) == (y > 0) || x == y) continue;
            const Point3 p = place(e.a) + (x / (x - y)) * (place(e.b) - place(e.a));
            if (norm(p - here) <= reach) out.push_back(to_vec3(p));
        }
        return out;
    }

    EditSurfaceState& state_;
    const MeshSurface& surface_;
    const SkinWeights& weights_;
    const std::size_t joints_;
    std::vector<double> area_;  // per component
    double all_ = 0;
};

}  // namespace

const char* name_of(Question::Kind kind) {
    return kind == Question::Kind::part ? "part" : kind == Question::Kind::border ? "border" : "place";
}

std::string text_of(const Question& q, const Skeleton& skeleton) {
    const auto called = [&](std::size_t k) {
        return k < q.joints.size() && q.joints[k] < skeleton.joints.size()
                   ? printable(skeleton.joints[q.joints[k]].name, 60)
                   : std::string("no joint");
    };
    const std::string at = " at vertex " + std::to_string(q.vertex);
    if (q.kind == Question::Kind::border)
        return "Where does " + called(0) + " end and " + called(1) + " begin" + at + "?";
    if (q.kind == Question::Kind::place) return "Is the place" + at + " the one of " + called(0) + "?";
    std::string owners = called(0);
    for (std::size_t k = 1; k < q.joints.size(); ++k)
        owners += (k + 1 == q.joints.size() ? " or " : ", ") + called(k);
    return "Who owns the part" + at + ": " + owners + "?";
}

Result<std::vector<Question>> questions(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights,
                                        std::size_t top, Context* context) {
    if (weights.vertex_count() != mesh.positions.size())
        return Error{ErrorCode::input, "the weights have rows for " + std::to_string(weights.vertex_count()) +
                                           " vertices, the mesh has " + std::to_string(mesh.positions.size())};
    EditSurfaceState state(mesh, context);
    const MeshSurface& surface = state.surface();
    SINEW_TRY_LET(const Symmetry* across, state.symmetry(skeleton, context));

    // The screened field of a place: what an answer there covers.
    double area = 0;
    for (const double m : surface.mass) area += m;
    const double length = kReach * std::sqrt(area);
    const CoarseSurface coarse(
        mesh, surface, [&](std::uint32_t) { return length; }, context);
    const std::size_t n = coarse.size();
    const std::vector<double> mass = coarse.restricted(surface.mass, context);
    // Vertices count, not area: meshes are finer where more has to be decided (docs/evaluation.md).
    std::vector<double> count(surface.nodes(), 0);
    for (const std::uint32_t node : surface.node_of)
        if (node != no_index) ++count[node];
    count = coarse.restricted(count, context);
    std::vector<MatrixEntry> entries;
    for (std::uint32_t i = 0; i < n; ++i) entries.push_back({i, i, mass[i] / (length * length)});
    for (const MeshSurface::Edge& e : coarse.restricted(surface.edges, context)) {
        entries.push_back({e.a, e.a, e.weight});
        entries.push_back({e.b, e.b, e.weight});
        entries.push_back({e.a, e.b, -e.weight});
    }
    SINEW_TRY_LET(const Cholesky factor, Cholesky::factor(n, entries, context));

    const Asking asking(state, weights, skeleton.joints.size());
    std::vector<double> open(n, 1);  // the share of each place that no question covers
    std::vector<bool> asked(n, false);
    const auto cover = [&](std::uint32_t at) {
        std::vector<double> b(n, 0);
        b[at] = 1;
        const std::vector<double> field = factor.solve(b);
        double covered = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double share = std::sqrt(std::clamp(field[i] / field[at], 0.0, 1.0));
            covered += share * open[i] * mass[i];
            open[i] *= 1 - share;
        }
        asked[at] = true;
        return covered;
    };
    std::vector<Question> out;
    while (out.size() < std::min(top, n) && !cancelled(context)) {
        std::vector<double> b(n);
        for (std::size_t i = 0; i < n; ++i) b[i] = count[i] * open[i];
        const std::vector<double> worth = factor.solve(b);
        std::uint32_t best = no_index;
        for (std::uint32_t i = 0; i < n; ++i)
            if (!asked[i] && (best == no_index || worth[i] > worth[best])) best = i;
        if (best == no_index) break;
        double covered = cover(best);
        if (across) {
            const Point3 place = to_point(surface.position[coarse.node(best)]);
            const std::uint32_t twin =
                state.vertex_near(EditSurfaceState::mirrored(place, *across),
                                  EditSurfaceState::kMirrorReach * box_of(mesh.positions).diagonal());
            if (twin != no_index) {
                const CoarseSurface::Stencil s = coarse.stencil(surface.node_of[twin]);
                const auto most = std::max_element(s.share.begin(), s.share.end()) - s.share.begin();
                if (const std::uint32_t at = s.of[static_cast<std::size_t>(most)]; !asked[at]) covered += cover(at);
            }
        }
        out.push_back(asking.about(coarse.node(best), covered));
    }
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while looking for questions"};
    return out;
}

}  // namespace sinew
