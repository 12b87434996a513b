// Weights from one mesh to another: "Robust Skin Weights Transfer via Weight Inpainting" (Abdrashitov, Raichstat,
// Monsen and Hill, SIGGRAPH Asia 2023 technical communications). What differs, and why: docs/transfer.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/large_pages.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"
#include "sinew/transfer.h"
#include "solve/cholesky.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew {
namespace {

// Weights below this are dropped while rows are made; finish prunes larger ones.
constexpr double kLeastWeight = 1e-6;
// Share of Dirichlet's energy: large enough to make the system definite, too small to be visible.
constexpr double kDirichlet = 1e-6;
// A smaller share of matched vertices is a warning: clothing and levels of detail match to more than a half.
constexpr double kFewMatched = 0.25;
// A node with more neighbours has no term of its own in the biharmonic energy, which costs their number squared.
constexpr std::size_t kMostNeighbours = 200;

struct Share {
    std::uint32_t joint;
    double weight;
};
using ShareRow = std::vector<Share>;  // by joint

void add(ShareRow& row, std::uint32_t joint, double weight) {
    const auto at = std::lower_bound(row.begin(), row.end(), joint,
                                     [](const Share& s, std::uint32_t j) { return s.joint < j; });
    if (at != row.end() && at->joint == joint)
        at->weight += weight;
    else
        row.insert(at, {joint, weight});
}

double weight_of(const ShareRow& row, std::uint32_t joint) {
    const auto at = std::lower_bound(row.begin(), row.end(), joint,
                                     [](const Share& s, std::uint32_t j) { return s.joint < j; });
    return at != row.end() && at->joint == joint ? at->weight : 0;
}

/// The source: its surface, normals and weights.
class Source {
public:
    Source(const MeshView& mesh, const SkinWeights& weights, Context* context)
        : mesh_(mesh),
          weights_(weights),
          surface_(build_surface(mesh, analyse_mesh(mesh, context), context)),
          tree_(mesh.positions, mesh.triangles, context) {}

    SurfacePoint nearest(const Point3& p, double reach) const { return tree_.nearest(p, reach); }

    /// Not a unit vector; 0 where none is defined.
    Point3 normal(const SurfacePoint& at) const {
        Point3 sum{};
        for (std::size_t k = 0; k < 3; ++k)
            sum = sum + at.share[k] * surface_.normal[surface_.node_of[mesh_.triangles[at.triangle][k]]];
        return sum;
    }

    /// Interpolated over the triangle; sums to 1 unless one of its corners has no weights.
    ShareRow weights(const SurfacePoint& at) const {
        ShareRow row;
        for (std::size_t k = 0; k < 3; ++k)
            if (at.share[k] > 0)
                for (const Influence& i : weights_[mesh_.triangles[at.triangle][k]])
                    add(row, i.joint, at.share[k] * i.weight);
        double sum = 0;
        for (const Share& s : row) sum += s.weight;
        for (Share& s : row) s.weight /= sum;
        return row;
    }

private:
    const MeshView& mesh_;
    const SkinWeights& weights_;
    MeshSurface surface_;
    TriangleTree tree_;
};

/// Rows of the nodes without a match: the smoothest extension of the matched rows.
class Inpainting {
public:
    /// `open`: per node whether its row is to be found.
    Inpainting(const MeshSurface& surface, const std::vector<bool>& open, std::vector<ShareRow>& rows)
        : surface_(surface), open_(open), rows_(rows), local_(surface.nodes(), no_index) {
        for (std::uint32_t i = 0; i < surface.nodes(); ++i)
            if (open[i]) {
                local_[i] = static_cast<std::uint32_t>(nodes_.size());
                nodes_.push_back(i);
            }
    }

    bool harmonic() const { return harmonic_; }

    Status run(Context* context) {
        if (nodes_.empty()) return Done{};
        gather(true);
        Result<Cholesky> factors = Cholesky::factor(nodes_.size(), entries_, context);
        if (!factors && factors.error().code == ErrorCode::internal) {
            // For nearly degenerate triangles the squared Laplacian is numerically singular. Dirichlet's energy
            // alone is always definite.
            harmonic_ = true;
            gather(false);
            factors = Cholesky::factor(nodes_.size(), entries_, context);
        }
        if (!factors) return factors.error();
        release(entries_);

        std::vector<std::uint32_t> joints;  // that fixed nodes nearby have
        for (const Coupling& c : fixed_)
            for (const Share& s : rows_[c.fixed]) joints.push_back(s.joint);
        std::sort(joints.begin(), joints.end());
        joints.erase(std::unique(joints.begin(), joints.end()), joints.end());

        constexpr std::size_t batch = Cholesky::kBatch;
        const auto together = static_cast<std::size_t>(thread_count(context));
        std::vector<Cholesky::Batch> solved(together, Cholesky::Batch(*factors));
        for (std::size_t first = 0; first < joints.size(); first += together * batch) {
            const std::size_t left = joints.size() - first;
            const std::size_t batches = std::min(together, (left + batch - 1) / batch);
            parallel_for(context, batches, 1, [&](std::size_t b) {
                solved[b].clear();
                const std::size_t begin = first + b * batch, end = std::min(begin + batch, joints.size());
                for (const Coupling& c : fixed_)
                    for (std::size_t j = begin; j < end; ++j)
                        if (const double w = weight_of(rows_[c.fixed], joints[j]); w != 0)
                            solved[b].add(c.open, j - begin, -c.value * w);
                solved[b].solve();
            });
            parallel_for(context, nodes_.size(), 1024, [&](std::size_t i) {
                for (std::size_t c = 0; c < std::min(left, batches * batch); ++c)
                    if (const double* const row = solved[c / batch].row(i); row && row[c % batch] > kLeastWeight)
                        rows_[nodes_[i]].push_back({joints[first + c], std::min(row[c % batch], 1.0)});
            });
            if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while weights are filled in"};
            report_progress(context, "inpaint", static_cast<double>(first) / static_cast<double>(joints.size()));
        }
        for (const std::uint32_t node : nodes_) {  // they sum to 1, except for values that were clamped to 0..1
            double sum = 0;
            for (const Share& s : rows_[node]) sum += s.weight;
            for (Share& s : rows_[node]) s.weight /= sum;
        }
        return Done{};
    }

private:
    /// An entry of the energy's matrix between a node to be found (by its local number) and a fixed one.
    struct Coupling {
        std::uint32_t open, fixed;
        double value;
    };

    void couple(std::uint32_t i, std::uint32_t j, double value) {
        if (open_[i] && open_[j])
            entries_.push_back({local_[i], local_[j], value});
        else if (open_[i])
            fixed_.push_back({local_[i], j, value});
        else if (open_[j])
            fixed_.push_back({local_[j], i, value});
    }
    /// An edge of Dirichlet's energy.
    void stretch(std::uint32_t i, std::uint32_t j, double weight) {
        if (open_[i]) entries_.push_back({local_[i], local_[i], weight});
        if (open_[j]) entries_.push_back({local_[j], local_[j], weight});
        couple(i, j, -weight);
    }

    /// The energy ½ Σ (L w)² / m, with a trace of Dirichlet's; or Dirichlet's alone.
    void gather(bool biharmonic) {
        entries_.clear();
        fixed_.clear();
        const std::size_t n = surface_.nodes();
        const double mean = std::accumulate(surface_.mass.begin(), surface_.mass.end(), 0.0) / double(n);
        const double dirichlet = biharmonic ? kDirichlet / mean : 1;
        for (const MeshSurface::Edge& e : surface_.edges) stretch(e.a, e.b, dirichlet * e.weight);
        if (!biharmonic) return;
        square_laplacian(surface_.edges, {}, surface_.mass, kMostNeighbours,
                         [&](std::uint32_t i, std::uint32_t j, double value) { couple(i, j, value); });
    }

    const MeshSurface& surface_;
    const std::vector<bool>& open_;
    std::vector<ShareRow>& rows_;
    std::vector<std::uint32_t> local_, nodes_;
    std::vector<MatrixEntry> entries_;
    std::vector<Coupling> fixed_;
    bool harmonic_ = false;
};

}  // namespace

std::string_view to_string(TransferHow how) {
    switch (how) {
        case TransferHow::matched:
            return "matched";
        case TransferHow::inpainted:
            return "inpainted";
        case TransferHow::nearest:
            return "nearest";
        case TransferHow::unused:
            return "unused";
    }
    return "";
}

double Transfer::covered() const {
    const std::size_t good = counts[0] + counts[1], all = good + counts[2];
    return all ? static_cast<double>(good) / static_cast<double>(all) : 0;
}

double Transfer::matched() const {
    const std::size_t all = counts[0] + counts[1] + counts[2];
    return all ? static_cast<double>(counts[0]) / static_cast<double>(all) : 0;
}

Status check(const TransferOptions& options) {
    if (!(options.distance > 0 && options.distance <= 10))  // NaN fails
        return Error{ErrorCode::usage, "transfer: the distance must be above 0 and at most 10 diagonals, not " +
                                           shortest_text(options.distance)};
    if (!(options.diagonal >= 0 && std::isfinite(options.diagonal)))
        return Error{ErrorCode::usage, "transfer: the diagonal of the source must be 0 or more"};
    if (!(options.angle >= 0 && options.angle <= 180))
        return Error{ErrorCode::usage,
                     "transfer: the angle must be from 0 to 180 degrees, not " + shortest_text(options.angle)};
    return check(options.finish);
}

namespace {

Status check_input(const MeshView& source, const SkinWeights& weights, const MeshView& target,
                   const TransferOptions& options) {
    SINEW_TRY(check(options));
    if (Status ok = check_mesh(source); !ok)
        return Error{ok.error().code, "the source of a transfer: " + ok.error().message};
    if (Status ok = check_mesh(target); !ok)
        return Error{ok.error().code, "the target of a transfer: " + ok.error().message};
    if (weights.vertex_count() != source.positions.size())
        return Error{ErrorCode::input, "the source of a transfer has " + std::to_string(source.positions.size()) +
                                           " vertices, but there are weights for " +
                                           std::to_string(weights.vertex_count())};
    for (const Triangle& t : source.triangles)
        for (const std::uint32_t v : t)
            if (weights[v].empty())
                return Error{ErrorCode::input, "the source of a transfer: vertex " + std::to_string(v) +
                                                   " has no weights: bind it first"};
    return Done{};
}

class Transferring {
public:
    Transferring(const MeshView& source, const SkinWeights& weights, const MeshView& target,
                 const TransferOptions& options, Context* context)
        : target_(target),
          options_(options),
          context_(context),
          from_(source, weights, context),
          to_(build_surface(target, analyse_mesh(target, context), context)),
          reach_(options.distance * (options.diagonal > 0 ? options.diagonal : box_of(source).diagonal())),
          nearest_(to_.nodes()),
          cosine_(to_.nodes(), kNoAngle),
          rows_(to_.nodes()),
          how_(to_.nodes(), TransferHow::inpainted),
          is_matched_(to_.components, false),
          is_open_(to_.nodes(), false) {}

    Result<Transfer> run() {
        find_nearest();
        if (cancelled(context_)) return Error{ErrorCode::cancelled, "cancelled while surfaces are matched"};
        match();
        copy_weights();
        report_progress(context_, "match", 1);
        Inpainting inpainting(to_, is_open_, rows_);
        SINEW_TRY(inpainting.run(context_));
        repair_rows();
        Transfer out;
        SINEW_TRY_LET(out.weights, finish(make_table(out), options_.finish, context_));
        warn(inpainting.harmonic(), out);
        return out;
    }

private:
    static constexpr double kNoAngle = 2;  // no cosine
    Point3 position(std::uint32_t vertex) const { return to_point(target_.positions[vertex]); }

    // The nearest point of the source within reach, and the cosine of the angle between the normals.
    void find_nearest() {
        parallel_chunks(context_, to_.nodes(), 256, [&](std::size_t, std::size_t begin, std::size_t end) {
            if (cancelled(context_)) return;
            for (std::size_t i = begin; i < end; ++i) {
                nearest_[i] = from_.nearest(to_point(to_.position[i]), reach_);
                if (nearest_[i].triangle == no_index) continue;
                const Point3 normal = from_.normal(nearest_[i]);
                const double length = norm(normal) * norm(to_.normal[i]);
                if (length > 0) cosine_[i] = std::clamp(dot(normal, to_.normal[i]) / length, -1.0, 1.0);
            }
        });
    }

    // An open part has no outer side: it is turned if more of its area agrees with the source then.
    void match() {
        const double least = std::cos(options_.angle * std::numbers::pi / 180) - 1e-9;
        std::vector<double> agree(to_.components, 0), oppose(to_.components, 0);
        for (std::size_t i = 0; i < to_.nodes(); ++i) {
            if (cosine_[i] == kNoAngle) continue;
            if (cosine_[i] >= least) agree[to_.component[i]] += to_.mass[i];
            if (-cosine_[i] >= least) oppose[to_.component[i]] += to_.mass[i];
        }
        for (std::size_t i = 0; i < to_.nodes(); ++i) {
            const std::uint32_t part = to_.component[i];
            const double turned = oppose[part] > agree[part] ? -cosine_[i] : cosine_[i];
            if (cosine_[i] == kNoAngle || turned < least) continue;
            how_[i] = TransferHow::matched;
            is_matched_[part] = true;
        }
        for (std::size_t i = 0; i < to_.nodes(); ++i) {
            if (how_[i] == TransferHow::matched) continue;
            if (is_matched_[to_.component[i]])
                is_open_[i] = true;
            else
                how_[i] = TransferHow::nearest;
        }
    }

    void copy_weights() {
        parallel_for(context_, to_.nodes(), 256, [&](std::size_t i) {
            if (is_open_[i]) return;
            if (nearest_[i].triangle == no_index) nearest_[i] = from_.nearest(to_point(to_.position[i]), INFINITY);
            rows_[i] = from_.weights(nearest_[i]);
        });
    }

    // Vertices near the largest floats can overflow; they get the weights of the nearest point.
    void repair_rows() {
        for (std::uint32_t i = 0; i < to_.nodes(); ++i) {
            if (!rows_[i].empty()) continue;
            rows_[i] = from_.weights(from_.nearest(to_point(to_.position[i]), INFINITY));
            how_[i] = TransferHow::nearest;
        }
    }

    // The rows of all vertices. Fills how and counts.
    InfluenceTable make_table(Transfer& out) const {
        const std::size_t vertices = target_.positions.size();
        out.how.assign(vertices, TransferHow::unused);
        std::vector<ShareRow> unused(vertices - static_cast<std::size_t>(std::count_if(
                                                    to_.node_of.begin(), to_.node_of.end(),
                                                    [](std::uint32_t node) { return node != no_index; })));
        std::vector<const ShareRow*> row_of(vertices);
        std::size_t widest = 1, next_unused = 0;
        for (std::size_t v = 0; v < vertices; ++v) {
            const std::uint32_t node = to_.node_of[v];
            if (node == no_index) {
                ShareRow& row = unused[next_unused++];
                row = from_.weights(from_.nearest(position(static_cast<std::uint32_t>(v)), INFINITY));
                row_of[v] = &row;
            } else {
                row_of[v] = &rows_[node];
                out.how[v] = how_[node];
            }
            widest = std::max(widest, row_of[v]->size());
            ++out.counts[static_cast<std::size_t>(out.how[v])];
        }
        InfluenceTable table;
        table.vertices = vertices;
        table.width = options_.finish.max_influences == all_influences ? widest : std::min<std::size_t>(widest, 16);
        table.joint.assign(vertices * table.width, no_index);
        table.strength.assign(vertices * table.width, 0.0f);
        parallel_for(context_, vertices, 1024, [&](std::size_t v) {
            ShareRow row = *row_of[v];
            std::sort(row.begin(), row.end(), [](const Share& a, const Share& b) {
                return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
            });
            for (std::size_t k = 0; k < std::min(row.size(), table.width); ++k) {
                table.joint[v * table.width + k] = row[k].joint;
                table.strength[v * table.width + k] = static_cast<float>(row[k].weight);
            }
        });
        return table;
    }

    void warn(bool harmonic, Transfer& out) const {
        const auto unmatched = std::count(is_matched_.begin(), is_matched_.end(), false);
        if (unmatched > 0)
            out.warnings.push_back(
                std::to_string(unmatched) + " parts (" + std::to_string(out.counts[2]) +
                " vertices) agree nowhere with the source; they take the weights of its nearest points");
        const std::size_t used = out.counts[0] + out.counts[1] + out.counts[2];
        if (used > 0 && out.matched() < kFewMatched) {
            out.warnings.push_back(
                "only " + std::to_string(out.counts[0]) + " of " + std::to_string(used) + " vertices (" +
                number_text(100 * out.matched(), 3) +
                " %) lie on the source: are both meshes in the bind pose, at one place and of one "
                "size? The others are filled in from these, or take the nearest point");
        }
        if (harmonic)
            out.warnings.push_back(
                "the target's triangles are too bad for smooth filling: weights are filled in as "
                "heat spreads, with creases where the matched surface ends");
    }

    const MeshView& target_;
    const TransferOptions& options_;
    Context* const context_;
    const Source from_;
    const MeshSurface to_;
    const double reach_;
    // Per node of the target.
    std::vector<SurfacePoint> nearest_;
    std::vector<double> cosine_;
    std::vector<ShareRow> rows_;
    std::vector<TransferHow> how_;
    std::vector<bool> is_matched_;  // per part: a node of it is matched
    std::vector<bool> is_open_;     // to be filled in
};

}  // namespace

Result<Transfer> transfer(const MeshView& source, const SkinWeights& weights, const MeshView& target,
                          const TransferOptions& options, Context* context) {
    SINEW_TRY(check_input(source, weights, target, options));
    report_progress(context, "match", 0);
    return Transferring(source, weights, target, options, context).run();
}

}  // namespace sinew
