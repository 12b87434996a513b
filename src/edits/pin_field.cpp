#include "edits/pin_field.h"

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"

namespace sinew {
namespace {

constexpr std::size_t kFew = 3000;      // nodes: a surface with fewer has no coarse ones
constexpr double kSpacing = 0.25;       // of coarse nodes, in lengths l
constexpr double kBridge = 0.015;       // √area: parts that are nearer touch
constexpr std::size_t kBridges = 3;     // from each node
constexpr double kBridgeWeight = 0.25;  // about a half of an edge's
constexpr double kLeastAlike = 0.02;    // of an edge's weight stays where rows differ
constexpr double kRidge = 1e-9;         // for places that are nearly one

/// How alike two rows are: exp(-(L1)²).
double alike(std::span<const Influence> a, std::span<const Influence> b) {
    double both = 0;  // the weight that the rows share; L1 = 2 - 2 both
    for (const Influence& i : a)
        for (const Influence& k : b)
            if (i.joint == k.joint) both += std::min(i.weight, k.weight);
    const double l1 = 2 - 2 * both;
    return std::max(std::exp(-l1 * l1), kLeastAlike);
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

/// The entries of (L + M) M⁻¹ (L + M).
std::vector<MatrixEntry> squared(std::span<const MeshSurface::Edge> edges, std::span<const double> mass) {
    const std::size_t n = mass.size();
    std::vector<std::uint32_t> first(n + 1, 0);
    for (const MeshSurface::Edge& e : edges) ++first[e.a + 1], ++first[e.b + 1];
    for (std::size_t i = 0; i < n; ++i) first[i + 1] += first[i];
    std::vector<std::pair<std::uint32_t, double>> beside(first.back());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    std::vector<double> diagonal(mass.begin(), mass.end());
    for (const MeshSurface::Edge& e : edges) {
        beside[next[e.a]++] = {e.b, -e.weight};
        beside[next[e.b]++] = {e.a, -e.weight};
        diagonal[e.a] += e.weight;
        diagonal[e.b] += e.weight;
    }
    std::vector<MatrixEntry> out;
    std::vector<std::pair<std::uint32_t, double>> row;
    for (std::uint32_t k = 0; k < n; ++k) {
        row.assign(beside.begin() + first[k], beside.begin() + first[k + 1]);
        row.push_back({k, diagonal[k]});
        for (std::size_t i = 0; i < row.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j)
                // Two entries of one place beside the diagonal stand for both orders of them.
                out.push_back(
                    {row[i].first, row[j].first,
                     row[i].second * row[j].second / mass[k] * (i != j && row[i].first == row[j].first ? 2 : 1)});
    }
    return out;
}

/// Solves the symmetric positive definite system of `n` rows for `columns` right hand sides, in place.
void solve_dense(std::vector<double>& a, std::size_t n, std::span<double> b, std::size_t columns) {
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < j; ++k)
            for (std::size_t i = j; i < n; ++i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
        const double root = std::sqrt(std::max(a[j * n + j], kRidge / 2));
        for (std::size_t i = j; i < n; ++i) a[i * n + j] /= root;
    }
    for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < i; ++k) b[i * columns + c] -= a[i * n + k] * b[k * columns + c];
            b[i * columns + c] /= a[i * n + i];
        }
        for (std::size_t i = n; i-- > 0;) {
            for (std::size_t k = i + 1; k < n; ++k) b[i * columns + c] -= a[k * n + i] * b[k * columns + c];
            b[i * columns + c] /= a[i * n + i];
        }
    }
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
    std::vector<double> mass = surface.mass;
    if (surface.nodes() > kFew) {
        std::vector<std::uint32_t> all(surface.nodes());
        for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
        const SurfaceLevel coarse = coarsen(
            finest_level(of.mesh, surface, all, all, context), [&](std::uint32_t) { return kSpacing * length; },
            context);
        out.stencil_ = coarse.stencil;
        edges = restrict_laplacian(edges, out.stencil_, coarse.nodes(), context);
        mass.assign(coarse.nodes(), 0);
        for (std::size_t i = 0; i < surface.nodes(); ++i)
            for (std::size_t k = 0; k < 3; ++k)
                mass[out.stencil_[i].of[k]] += out.stencil_[i].share[k] * surface.mass[i];
    }
    for (double& m : mass) m = std::max(m, 1e-4 * area / static_cast<double>(mass.size())) / (length * length);
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while editing weights"};
    SINEW_TRY_LET(Cholesky factor, Cholesky::factor(mass.size(), squared(edges, mass), context));
    out.factor_.emplace(std::move(factor));
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
    std::vector<double> b(factor_->size(), 0);
    const Stencil s = stencil_of(node);
    for (std::size_t k = 0; k < 3; ++k) b[s.of[k]] += s.share[k];
    return response_.emplace_back(node, factor_->solve(b)).second;
}

void PinField::spread(std::span<const std::uint32_t> nodes, std::span<const double> values, std::size_t columns) {
    const std::size_t n = nodes.size();
    for (const std::uint32_t node : nodes) response(node);
    std::vector<const double*> of(n);
    for (std::size_t p = 0; p < n; ++p) of[p] = response(nodes[p]).data();
    std::vector<double> gram(n * n), scale(n), amount(values.begin(), values.end());
    for (std::size_t q = 0; q < n; ++q) {
        const Stencil s = stencil_of(nodes[q]);
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t k = 0; k < 3; ++k) gram[q * n + p] += s.share[k] * of[p][s.of[k]];
    }
    for (std::size_t p = 0; p < n; ++p) scale[p] = 1 / std::sqrt(gram[p * n + p]);
    for (std::size_t q = 0; q < n; ++q)
        for (std::size_t p = 0; p < n; ++p) gram[q * n + p] *= scale[q] * scale[p];
    for (std::size_t p = 0; p < n; ++p) {
        gram[p * n + p] += kRidge;
        for (std::size_t c = 0; c < columns; ++c) amount[p * columns + c] *= scale[p];
    }
    solve_dense(gram, n, amount, columns);
    columns_ = columns;
    field_.assign(factor_->size() * columns, 0);
    for (std::size_t i = 0; i < factor_->size(); ++i)
        for (std::size_t p = 0; p < n; ++p) {
            const double here = scale[p] * of[p][i];
            for (std::size_t c = 0; c < columns; ++c) field_[i * columns + c] += here * amount[p * columns + c];
        }
}

void PinField::at(std::uint32_t node, std::span<double> out) const {
    std::fill(out.begin(), out.end(), 0.0);
    const Stencil s = stencil_of(node);
    for (std::size_t k = 0; k < 3; ++k)
        if (s.share[k] != 0)
            for (std::size_t c = 0; c < columns_; ++c) out[c] += s.share[k] * field_[s.of[k] * columns_ + c];
}

}  // namespace sinew
