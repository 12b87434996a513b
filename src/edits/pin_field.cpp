#include "edits/pin_field.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"

namespace sinew {
namespace {

constexpr double kBridge = 0.015;       // √area: parts that are nearer touch
constexpr std::size_t kBridges = 3;     // from each node
constexpr double kBridgeWeight = 0.25;  // about a half of an edge's
constexpr double kLeastAlike = 0.02;    // of an edge's weight stays where rows differ
constexpr double kRidge = 1e-3;         // pins that are nearly at one place and differ are averaged
constexpr double kSmall = 0.25;         // root of a joint's share of the area, below which the reach is less
constexpr double kLeastReach = 0.1;     // of the reach

/// How alike two rows are: exp(-(L1)²).
double alike(std::span<const Influence> a, std::span<const Influence> b) {
    double both = 0;  // the weight that the rows share; L1 = 2 - 2 both
    for (const Influence& i : a)
        for (const Influence& k : b)
            if (i.joint == k.joint) both += std::min(i.weight, k.weight);
    const double l1 = 2 - 2 * both;
    return std::max(std::exp(-l1 * l1), kLeastAlike);
}

/// Per node: the root of the area of the joints there, as a share of the surface.
std::vector<double> joint_sizes(const MeshSurface& surface, double area,
                                std::span<const std::span<const Influence>> rows) {
    std::vector<double> of_joint, out(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const Influence& k : rows[i]) {
            if (k.joint >= of_joint.size()) of_joint.resize(k.joint + 1, 0);
            of_joint[k.joint] += k.weight * surface.mass[i] / area;
        }
    for (double& x : of_joint) x = std::sqrt(x);
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const Influence& k : rows[i]) out[i] += k.weight * of_joint[k.joint];
    return out;
}

/// Weak edges from each node to the nearest ones of other parts.
std::vector<MeshSurface::Edge> bridges(EditSurfaceState& surface, double length) {
    const MeshSurface& s = surface.surface();
    std::vector<MeshSurface::Edge> out;
    if (s.components < 2) return out;
    const auto place = [&](std::uint32_t n) { return to_point(surface.mesh.positions[s.vertex_of[n]]); };
    std::vector<std::pair<double, std::uint32_t>> near;
    for (std::uint32_t n = 0; n < s.nodes(); ++n) {
        near.clear();
        surface.grid().near(place(n), length, [&](std::uint32_t m) {
            if (s.component[m] == s.component[n]) return;
            if (const double d = norm(place(m) - place(n)); d <= length) near.push_back({d, m});
        });
        const std::size_t kept = std::min(near.size(), kBridges);
        std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(kept), near.end());
        for (std::size_t k = 0; k < kept; ++k)
            out.push_back({std::min(n, near[k].second), std::max(n, near[k].second), kBridgeWeight});
    }
    return out;
}

}  // namespace

Result<PinField> PinField::make(EditSurfaceState& of, double reach,
                                std::span<const std::span<const Influence>> rows, Context* context) {
    const MeshSurface& surface = of.surface();
    PinField out;
    out.reach_ = reach;
    for (const auto& row : rows) {
        out.rows_.insert(out.rows_.end(), row.begin(), row.end());
        out.count_.push_back(static_cast<std::uint32_t>(row.size()));
    }
    double area = 0;
    for (const double m : surface.mass) area += m;
    const double length = reach * std::sqrt(area);

    std::vector<MeshSurface::Edge> edges = surface.edges;
    const std::vector<MeshSurface::Edge> joined = bridges(of, kBridge * std::sqrt(area));
    edges.insert(edges.end(), joined.begin(), joined.end());
    parallel_for(context, edges.size(), 4096,
                 [&](std::size_t i) { edges[i].weight *= alike(rows[edges[i].a], rows[edges[i].b]); });
    // Where joints are small, an answer reaches less far: one about a finger does not change the hand.
    std::vector<double> l = joint_sizes(surface, area, rows), screen = surface.mass;
    for (std::size_t i = 0; i < screen.size(); ++i) {
        l[i] = length * std::clamp(l[i] / kSmall, kLeastReach, 1.0);
        screen[i] /= l[i] * l[i];
    }
    const CoarseSurface& coarse = out.coarse_.emplace(
        of.mesh, surface, [&](std::uint32_t i) { return l[i]; }, context);
    edges = coarse.restricted(edges, context);
    screen = coarse.restricted(screen);
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while editing weights"};
    std::vector<MatrixEntry> entries;
    square_laplacian(edges, screen, screen, edges.size(), [&](std::uint32_t i, std::uint32_t j, double value) {
        entries.push_back({i, j, value});
    });
    SINEW_TRY_LET(out.factor_, Cholesky::factor(screen.size(), entries, context));
    return out;
}

bool PinField::made_for(double reach, std::span<const std::span<const Influence>> rows) const {
    if (reach != reach_ || rows.size() != count_.size()) return false;
    const Influence* at = rows_.data();
    for (std::size_t i = 0; i < rows.size(); at += count_[i++])
        if (rows[i].size() != count_[i] || !std::equal(rows[i].begin(), rows[i].end(), at)) return false;
    return true;
}

const std::vector<double>& PinField::response(std::uint32_t node) {
    for (const auto& [known, field] : response_)
        if (known == node) return field;
    std::vector<double> b(factor_.size(), 0);
    const SurfaceLevel::Stencil s = coarse_->stencil(node);
    for (std::size_t k = 0; k < 3; ++k) b[s.of[k]] += static_cast<double>(s.share[k]);
    return response_.emplace_back(node, factor_.solve(b)).second;
}

Status PinField::spread(std::span<const std::uint32_t> nodes, std::span<const double> values, std::size_t columns) {
    const std::size_t n = nodes.size();
    for (const std::uint32_t node : nodes) response(node);
    std::vector<const std::vector<double>*> of;
    for (const std::uint32_t node : nodes) of.push_back(&response(node));
    // How much of each response, scaled to 1 at its own node, meets the values.
    std::vector<double> scale;
    for (std::size_t p = 0; p < n; ++p) scale.push_back(1 / std::sqrt(coarse_->at(*of[p], nodes[p])));
    std::vector<MatrixEntry> gram;
    for (std::uint32_t q = 0; q < n; ++q)
        for (std::uint32_t p = 0; p <= q; ++p)
            gram.push_back({q, p, scale[q] * scale[p] * coarse_->at(*of[p], nodes[q]) + (p == q ? kRidge : 0)});
    SINEW_TRY_LET(const Cholesky meeting, Cholesky::factor(n, gram));
    columns_ = columns;
    field_.assign(factor_.size() * columns, 0);
    std::vector<double> amount(n * Cholesky::kBatch);
    for (std::size_t first = 0; first < columns; first += Cholesky::kBatch) {
        const std::size_t some = std::min(Cholesky::kBatch, columns - first);
        std::fill(amount.begin(), amount.end(), 0.0);
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t c = 0; c < some; ++c)
                amount[p * Cholesky::kBatch + c] = scale[p] * values[p * columns + first + c];
        meeting.solve_batch(amount);
        for (std::size_t i = 0; i < factor_.size(); ++i) {
            std::array<double, Cholesky::kBatch> here{};
            for (std::size_t p = 0; p < n; ++p)
                for (std::size_t c = 0; c < here.size(); ++c)
                    here[c] += scale[p] * (*of[p])[i] * amount[p * Cholesky::kBatch + c];
            for (std::size_t c = 0; c < some; ++c) field_[i * columns + first + c] = static_cast<float>(here[c]);
        }
    }
    return Done{};
}

}  // namespace sinew
