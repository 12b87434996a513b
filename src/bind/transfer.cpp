// Weights from one mesh to another: "Robust Skin Weights Transfer via Weight Inpainting" (Abdrashitov, Raichstat,
// Monsen and Hill, SIGGRAPH Asia 2023 technical communications). What differs, and why: docs/transfer.md.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/parallel.h"
#include "core/vectors.h"
#include "sinew/bind.h"
#include "solve/cholesky.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew {
namespace {

// Weights below this are none while rows are made; finish prunes what is left.
constexpr double kLeast = 1e-6;
// Share of Dirichlet's energy: enough that nothing is loose, too little to be seen.
constexpr double kDirichlet = 1e-6;
// A node with more neighbours has no term of its own in the biharmonic energy, which costs their number squared.
constexpr std::size_t kMostNeighbours = 200;

struct Share {
    std::uint32_t joint;
    double weight;
};
using Row = std::vector<Share>;  // by joint

void add(Row& row, std::uint32_t joint, double weight) {
    const auto at = std::lower_bound(row.begin(), row.end(), joint,
                                     [](const Share& s, std::uint32_t j) { return s.joint < j; });
    if (at != row.end() && at->joint == joint)
        at->weight += weight;
    else
        row.insert(at, {joint, weight});
}

double weight_of(const Row& row, std::uint32_t joint) {
    const auto at = std::lower_bound(row.begin(), row.end(), joint,
                                     [](const Share& s, std::uint32_t j) { return s.joint < j; });
    return at != row.end() && at->joint == joint ? at->weight : 0;
}

/// The source: where its surface is, which way it faces, and what it weighs.
class Source {
public:
    Source(const MeshView& mesh, const SkinWeights& weights)
        : mesh_(mesh),
          weights_(weights),
          surface_(build_surface(mesh, analyse_mesh(mesh))),
          tree_(mesh.positions, mesh.triangles) {}

    SurfacePoint nearest(const Point3& p, double reach) const { return tree_.nearest(p, reach); }

    /// Not a unit vector; 0 where none is defined.
    Point3 normal(const SurfacePoint& at) const {
        Point3 sum{};
        for (std::size_t k = 0; k < 3; ++k)
            sum = sum + at.share[k] * surface_.normal[surface_.node_of[mesh_.triangles[at.triangle][k]]];
        return sum;
    }

    /// Interpolated over the triangle; sums to 1 unless one of its corners has no weights.
    Row weights(const SurfacePoint& at) const {
        Row row;
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

/// Rows of the nodes that have none, from those that have: the smoothest extension.
class Inpainting {
public:
    /// `open`: per node whether its row is to be found.
    Inpainting(const MeshSurface& surface, const std::vector<bool>& open, std::vector<Row>& rows)
        : surface_(surface), open_(open), rows_(rows), local_(surface.nodes(), MeshSurface::none) {
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
            // Triangles so bad that the square of their Laplacian cannot be told from singular: its own energy is
            // always definite.
            harmonic_ = true;
            gather(false);
            factors = Cholesky::factor(nodes_.size(), entries_, context);
        }
        if (!factors) return factors.error();
        entries_ = {};

        std::vector<std::uint32_t> joints;  // that anything held nearby has
        for (const Coupling& c : held_)
            for (const Share& s : rows_[c.held]) joints.push_back(s.joint);
        std::sort(joints.begin(), joints.end());
        joints.erase(std::unique(joints.begin(), joints.end()), joints.end());

        constexpr std::size_t batch = Cholesky::kBatch;
        const auto together = static_cast<std::size_t>(thread_count(context));
        std::vector<std::vector<double>> field(together);
        for (std::size_t first = 0; first < joints.size(); first += together * batch) {
            const std::size_t left = joints.size() - first;
            const std::size_t batches = std::min(together, (left + batch - 1) / batch);
            parallel_for(context, batches, 1, [&](std::size_t b) {
                field[b].assign(nodes_.size() * batch, 0);
                const std::size_t begin = first + b * batch, end = std::min(begin + batch, joints.size());
                for (const Coupling& c : held_)
                    for (std::size_t j = begin; j < end; ++j)
                        field[b][c.open * batch + j - begin] -= c.value * weight_of(rows_[c.held], joints[j]);
                factors->solve_batch(field[b]);
            });
            parallel_for(context, nodes_.size(), 1024, [&](std::size_t i) {
                for (std::size_t c = 0; c < std::min(left, batches * batch); ++c)
                    if (const double w = field[c / batch][i * batch + c % batch]; w > kLeast)
                        rows_[nodes_[i]].push_back({joints[first + c], std::min(w, 1.0)});
            });
            if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while weights are filled in"};
            report_progress(context, "inpaint", static_cast<double>(first) / static_cast<double>(joints.size()));
        }
        for (const std::uint32_t node : nodes_) {  // they sum to 1 but for what was below 0 or above 1
            double sum = 0;
            for (const Share& s : rows_[node]) sum += s.weight;
            for (Share& s : rows_[node]) s.weight /= sum;
        }
        return Done{};
    }

private:
    /// An entry of the energy's matrix between a node that is open (by its local number) and one that is held.
    struct Coupling {
        std::uint32_t open, held;
        double value;
    };

    void couple(std::uint32_t i, std::uint32_t j, double value) {
        if (open_[i] && open_[j])
            entries_.push_back({local_[i], local_[j], value});
        else if (open_[i])
            held_.push_back({local_[i], j, value});
        else if (open_[j])
            held_.push_back({local_[j], i, value});
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
        held_.clear();
        const std::size_t n = surface_.nodes();
        const double mean = std::accumulate(surface_.mass.begin(), surface_.mass.end(), 0.0) / double(n);
        const double dirichlet = biharmonic ? kDirichlet / mean : 1;
        for (const MeshSurface::Edge& e : surface_.edges) stretch(e.a, e.b, dirichlet * e.weight);
        if (!biharmonic) return;
        std::vector<std::uint32_t> first(n + 1, 0);
        for (const MeshSurface::Edge& e : surface_.edges) ++first[e.a + 1], ++first[e.b + 1];
        for (std::size_t i = 0; i < n; ++i) first[i + 1] += first[i];
        struct Term {
            std::uint32_t node;
            double value;
        };
        std::vector<Term> around(first[n]);
        std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
        for (const MeshSurface::Edge& e : surface_.edges) {
            around[next[e.a]++] = {e.b, e.weight};
            around[next[e.b]++] = {e.a, e.weight};
        }
        std::vector<Term> row;
        for (std::uint32_t i = 0; i < n; ++i) {
            if (first[i + 1] - first[i] > kMostNeighbours) continue;
            bool matters = open_[i];
            double sum = 0;
            row.clear();
            for (std::uint32_t k = first[i]; k < first[i + 1]; ++k) {
                matters = matters || open_[around[k].node];
                sum += around[k].value;
                row.push_back({around[k].node, -around[k].value});
            }
            if (!matters) continue;
            row.push_back({i, sum});
            for (std::size_t a = 0; a < row.size(); ++a)
                for (std::size_t b = 0; b <= a; ++b)
                    couple(row[a].node, row[b].node, row[a].value * row[b].value / surface_.mass[i]);
        }
    }

    const MeshSurface& surface_;
    const std::vector<bool>& open_;
    std::vector<Row>& rows_;
    std::vector<std::uint32_t> local_, nodes_;
    std::vector<MatrixEntry> entries_;
    std::vector<Coupling> held_;
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

Status check(const TransferOptions& options) {
    if (!(options.distance > 0 && options.distance <= 10))  // NaN fails
        return Error{ErrorCode::usage, "transfer: the distance must be above 0 and at most 10 diagonals, not " +
                                           std::to_string(options.distance)};
    if (!(options.angle >= 0 && options.angle <= 180))
        return Error{ErrorCode::usage,
                     "transfer: the angle must be from 0 to 180 degrees, not " + std::to_string(options.angle)};
    return check(options.finish);
}

Result<Transfer> transfer(const MeshView& source, const SkinWeights& weights, const MeshView& target,
                          const TransferOptions& options, Context* context) {
    if (Status ok = check(options); !ok) return ok.error();
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

    report_progress(context, "match", 0);
    const Source from(source, weights);
    const MeshSurface to = build_surface(target, analyse_mesh(target));
    const double reach = options.distance * box_of(source).diagonal();
    const std::size_t n = to.nodes();
    const auto place = [&](std::uint32_t vertex) { return to_point(target.positions[vertex]); };

    // The angle of every node to the nearest point of the source, as its cosine; 2 where there is none.
    std::vector<SurfacePoint> nearest(n);
    std::vector<double> cosine(n, 2);
    parallel_chunks(context, n, 256, [&](std::size_t, std::size_t begin, std::size_t end) {
        if (cancelled(context)) return;
        for (std::size_t i = begin; i < end; ++i) {
            nearest[i] = from.nearest(place(to.vertex_of[i]), reach);
            if (nearest[i].triangle == SurfacePoint::none) continue;
            const Point3 normal = from.normal(nearest[i]);
            const double length = norm(normal) * norm(to.normal[i]);
            if (length > 0) cosine[i] = std::clamp(dot(normal, to.normal[i]) / length, -1.0, 1.0);
        }
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while surfaces are matched"};
    const double least = std::cos(options.angle * std::numbers::pi / 180) - 1e-9;
    // An open part is wound one way or the other without anything saying which is out: the way in which more of it
    // agrees with the source.
    std::vector<double> agree(to.components, 0), oppose(to.components, 0);
    for (std::size_t i = 0; i < n; ++i) {
        if (cosine[i] > 1) continue;
        if (cosine[i] >= least) agree[to.component[i]] += to.mass[i];
        if (-cosine[i] >= least) oppose[to.component[i]] += to.mass[i];
    }
    std::vector<Row> rows(n);
    std::vector<TransferHow> how_of(n, TransferHow::inpainted);
    std::vector<bool> any(to.components, false);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t part = to.component[i];
        const double turned = oppose[part] > agree[part] ? -cosine[i] : cosine[i];
        if (cosine[i] > 1 || turned < least) continue;
        how_of[i] = TransferHow::matched;
        any[part] = true;
    }
    std::vector<bool> open(n, false);
    for (std::size_t i = 0; i < n; ++i) {
        if (how_of[i] == TransferHow::matched) continue;
        if (any[to.component[i]])
            open[i] = true;
        else
            how_of[i] = TransferHow::nearest;
    }
    parallel_for(context, n, 256, [&](std::size_t i) {
        if (open[i]) return;
        if (nearest[i].triangle == SurfacePoint::none) nearest[i] = from.nearest(place(to.vertex_of[i]), INFINITY);
        rows[i] = from.weights(nearest[i]);
    });
    report_progress(context, "match", 1);
    Inpainting inpainting(to, open, rows);
    if (Status ok = inpainting.run(context); !ok) return ok.error();
    for (std::uint32_t i = 0; i < n; ++i) {  // numbers that no longer mean anything: vertices at the ends of floats
        if (!rows[i].empty()) continue;
        rows[i] = from.weights(from.nearest(place(to.vertex_of[i]), INFINITY));
        how_of[i] = TransferHow::nearest;
    }

    Transfer out;
    const std::size_t vertices = target.positions.size();
    out.how.assign(vertices, TransferHow::unused);
    std::vector<Row> loose(vertices - static_cast<std::size_t>(std::count_if(
                                          to.node_of.begin(), to.node_of.end(),
                                          [](std::uint32_t node) { return node != MeshSurface::none; })));
    std::vector<const Row*> row_of(vertices);
    std::size_t widest = 1, next_loose = 0;
    for (std::size_t v = 0; v < vertices; ++v) {
        const std::uint32_t node = to.node_of[v];
        if (node == MeshSurface::none) {
            Row& row = loose[next_loose++];
            row = from.weights(from.nearest(place(static_cast<std::uint32_t>(v)), INFINITY));
            row_of[v] = &row;
        } else {
            row_of[v] = &rows[node];
            out.how[v] = how_of[node];
        }
        widest = std::max(widest, row_of[v]->size());
        ++out.counts[static_cast<std::size_t>(out.how[v])];
    }
    InfluenceTable table;
    table.vertices = vertices;
    table.width = options.finish.max_influences == all_influences ? widest : std::min<std::size_t>(widest, 16);
    table.joint.assign(vertices * table.width, DistanceTable::none);
    table.strength.assign(vertices * table.width, 0.0f);
    parallel_for(context, vertices, 1024, [&](std::size_t v) {
        Row row = *row_of[v];
        std::sort(row.begin(), row.end(), [](const Share& a, const Share& b) {
            return a.weight != b.weight ? a.weight > b.weight : a.joint < b.joint;
        });
        for (std::size_t k = 0; k < std::min(row.size(), table.width); ++k) {
            table.joint[v * table.width + k] = row[k].joint;
            table.strength[v * table.width + k] = static_cast<float>(row[k].weight);
        }
    });
    Result<SkinWeights> finished = finish(table, options.finish, context);
    if (!finished) return finished.error();
    out.weights = std::move(*finished);

    std::size_t unmatched = 0;
    for (const bool matched : any) unmatched += !matched;
    if (unmatched > 0)
        out.warnings.push_back(
            std::to_string(unmatched) + " parts (" + std::to_string(out.counts[2]) +
            " vertices) agree nowhere with the source; they take the weights of its nearest points");
    if (inpainting.harmonic())
        out.warnings.push_back(
            "the target's triangles are too bad for smooth filling: weights are filled in as "
            "heat spreads, with creases where the matched surface ends");
    return out;
}

}  // namespace sinew
