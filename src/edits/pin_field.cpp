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
constexpr double kTiny = 0.02;          // as kSmall: a joint that has hardly any weight yet
constexpr double kBeside = 3;           // its size at a place, in distances to a pin of it

/// How alike two rows are: exp(-(L1)²).
double alike(std::span<const Influence> a, std::span<const Influence> b) {
    double both = 0;  // the weight that the rows share; L1 = 2 - 2 both
    for (const Influence& i : a)
        for (const Influence& k : b)
            if (i.joint == k.joint) both += std::min(i.weight, k.weight);
    const double l1 = 2 - 2 * both;
    return std::max(std::exp(-l1 * l1), kLeastAlike);
}

/// The root of the area of each joint, as a share of the surface.
std::vector<double> joint_sizes(const MeshSurface& surface, double area,
                                std::span<const std::span<const Influence>> rows) {
    std::vector<double> of_joint;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (const Influence& k : rows[i]) {
            if (k.joint >= of_joint.size()) of_joint.resize(k.joint + 1, 0);
            of_joint[k.joint] += k.weight * surface.mass[i] / area;
        }
    for (double& x : of_joint) x = std::sqrt(x);
    return of_joint;
}

/// Weak edges from each node to the nearest ones of other parts, by their first node.
std::vector<MeshSurface::Edge> bridges(EditSurfaceState& surface, double length) {
    const MeshSurface& s = surface.surface();
    std::vector<MeshSurface::Edge> out;
    if (s.components < 2) return out;
    const auto place = [&](std::uint32_t n) { return to_point(s.position[n]); };
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
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.a < b.a; });
    return out;
}

}  // namespace

std::vector<std::uint32_t> PinField::tiny(std::span<const Answer> answers) const {
    std::vector<std::uint32_t> out;
    for (const Answer& a : answers)
        if (size_of(a.joint) <= kTiny) out.push_back(a.node);
    std::sort(out.begin(), out.end());
    return out;
}

Result<PinField> PinField::make(EditSurfaceState& of, double reach, Rows rows, std::span<const Answer> answers,
                                Context* context) {
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

    std::vector<MeshSurface::Edge> edges(surface.edges.begin(), surface.edges.end());
    const std::vector<MeshSurface::Edge> joined = bridges(of, kBridge * std::sqrt(area));
    const auto middle = edges.insert(edges.end(), joined.begin(), joined.end());
    std::inplace_merge(edges.begin(), middle, edges.end(),
                       [](const MeshSurface::Edge& a, const MeshSurface::Edge& b) { return a.a < b.a; });
    parallel_for(context, edges.size(), 4096,
                 [&](std::size_t i) { edges[i].weight *= alike(rows[edges[i].a], rows[edges[i].b]); });
    // Where joints are small, an answer reaches less far: one about a finger does not change the hand. The same
    // beside an answer about a joint that has hardly any weight yet: one about an eyelid does not change the head.
    out.size_ = joint_sizes(surface, area, rows);
    out.tiny_ = out.tiny(answers);
    const auto place = [&](std::uint32_t node) { return to_point(surface.position[node]); };
    std::vector<double> l(rows.size(), 0), screen(surface.mass.begin(), surface.mass.end());
    for (std::uint32_t i = 0; i < l.size(); ++i) {
        for (const Influence& k : rows[i]) l[i] += k.weight * out.size_[k.joint];
        for (const std::uint32_t t : out.tiny_)
            l[i] = std::min(l[i], kBeside * norm(place(t) - place(i)) / std::sqrt(area));
        l[i] = length * std::clamp(l[i] / kSmall, kLeastReach, 1.0);
        screen[i] /= l[i] * l[i];
    }
    const CoarseSurface& coarse = out.coarse_.emplace(
        of.mesh, surface, [&](std::uint32_t i) { return l[i]; }, context);
    edges = coarse.restricted(edges, context);
    screen = coarse.restricted(screen, context);
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while editing weights"};
    std::vector<MatrixEntry> entries;
    square_laplacian(edges, screen, screen, edges.size(), [&](std::uint32_t i, std::uint32_t j, double value) {
        entries.push_back({i, j, value});
    });
    SINEW_TRY_LET(out.factor_, Cholesky::factor(screen.size(), entries, context));
    return out;
}

bool PinField::made_for(double reach, Rows rows, std::span<const Answer> answers) const {
    if (reach != reach_ || rows.size() != count_.size() || tiny(answers) != tiny_) return false;
    const Influence* at = rows_.data();
    for (std::size_t i = 0; i < rows.size(); at += count_[i++])
        if (rows[i].size() != count_[i] || !std::equal(rows[i].begin(), rows[i].end(), at)) return false;
    return true;
}

const PinField::Response& PinField::response(std::uint32_t node) {
    for (const Response& known : response_)
        if (known.node == node) return known;
    std::vector<double> field(factor_.size(), 0);
    const CoarseSurface::Stencil s = coarse_->stencil(node);
    for (std::size_t k = 0; k < 3; ++k) field[s.of[k]] += static_cast<double>(s.share[k]);
    field = factor_.solve(field);
    const double own = std::sqrt(coarse_->at(field, node));
    for (double& x : field) x /= own;
    return response_.emplace_back(Response{node, own, std::move(field)});
}

Status PinField::spread(std::span<const std::uint32_t> nodes, std::span<const double> values, std::size_t columns) {
    const std::size_t n = nodes.size();
    std::vector<const Response*> given;
    for (const std::uint32_t node : nodes) given.push_back(&response(node));
    // How much of each response meets the values.
    std::vector<MatrixEntry> gram;
    for (std::uint32_t q = 0; q < n; ++q)
        for (std::uint32_t p = 0; p <= q; ++p)
            gram.push_back({q, p, coarse_->at(given[p]->field, nodes[q]) / given[q]->own + (p == q ? kRidge : 0)});
    SINEW_TRY_LET(const Cholesky meeting, Cholesky::factor(n, gram));
    columns_ = columns;
    field_.assign(factor_.size() * columns, 0);
    Cholesky::Batch amount(meeting);
    for (std::size_t first = 0; first < columns; first += Cholesky::kBatch) {
        const std::size_t some = std::min(Cholesky::kBatch, columns - first);
        amount.clear();
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t c = 0; c < some; ++c)
                amount.add(p, c, values[p * columns + first + c] / given[p]->own);
        amount.solve();
        for (std::size_t i = 0; i < factor_.size(); ++i) {
            std::array<double, Cholesky::kBatch> here{};
            for (std::size_t p = 0; p < n; ++p)
                if (const double* const row = amount.row(p))
                    for (std::size_t c = 0; c < here.size(); ++c) here[c] += given[p]->field[i] * row[c];
            for (std::size_t c = 0; c < some; ++c) field_[i * columns + first + c] = static_cast<float>(here[c]);
        }
    }
    strongest_.assign(factor_.size(), 0);
    for (std::size_t i = 0; i < field_.size(); ++i)
        strongest_[i / columns] = std::max(strongest_[i / columns], std::abs(field_[i]));
    return Done{};
}

}  // namespace sinew
