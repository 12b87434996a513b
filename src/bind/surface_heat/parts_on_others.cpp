#include "bind/surface_heat/parts_on_others.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/vectors.h"

namespace sinew {
namespace {

using Shares = std::map<std::uint32_t, double>;  // by joint

// Adds a row, whose sum becomes `share`.
void add_row(const SetRows& rows, std::uint32_t i, double share, Shares& to) {
    double sum = 0;
    for (std::size_t k = 0; k < rows.kept[i]; ++k)
        sum += static_cast<double>(rows.entries[i * rows.width + k].first);
    for (std::size_t k = 0; k < rows.kept[i]; ++k) {
        const auto& [strength, joint] = rows.entries[i * rows.width + k];
        to[joint] += share * static_cast<double>(strength) / sum;
    }
}

}  // namespace

void follow_surface_beneath(const MeshView& mesh, const MeshSurface& surface, const TriangleTree& tree, double unit,
                            const PartRules& rules, Context* context, const std::optional<CoarseSurface>& coarse,
                            PartFacts& parts, SetRows& rows) {
    if (std::find(parts.boneless.begin(), parts.boneless.end(), true) == parts.boneless.end()) return;
    const auto part_of = [&](std::uint32_t vertex) { return surface.component[surface.node_of[vertex]]; };
    std::vector<std::uint32_t> row_at(surface.nodes(), no_index);  // per node
    std::vector<std::vector<std::uint32_t>> rows_of(surface.components);
    for (std::uint32_t i = 0; i < rows.vertices.size(); ++i) {
        row_at[surface.node_of[rows.vertices[i]]] = i;
        if (parts.boneless[part_of(rows.vertices[i])]) rows_of[part_of(rows.vertices[i])].push_back(i);
    }
    // The rows at a node, or between which it lies.
    const auto rows_at = [&](std::uint32_t vertex) {
        const std::uint32_t node = surface.node_of[vertex], row = row_at[node];
        return coarse ? coarse->stencil(node) : CoarseSurface::Stencil{{row, row, row}};
    };
    // By falling area.
    std::vector<std::uint32_t> order(surface.components), rank(surface.components);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return parts.area[a] > parts.area[b]; });
    for (std::uint32_t k = 0; k < order.size(); ++k) rank[order[k]] = k;

    // The point beneath each vertex of parts that lie on others.
    std::vector<SurfacePoint> beneath(rows.vertices.size());
    std::vector<std::uint8_t> on_other(surface.components, 0);
    parallel_for(context, surface.components, 1, [&](std::size_t part) {
        if (rows_of[part].empty() || cancelled(context)) return;
        const auto larger = [&](std::uint32_t triangle) {
            const Triangle& t = mesh.triangles[triangle];
            return rank[part_of(t[0])] < rank[part] &&
                   std::all_of(t.begin(), t.end(), [&](std::uint32_t v) { return rows_at(v).of[0] != no_index; });
        };
        double near = 0, all = 0;
        const auto find_beneath = [&](std::uint32_t i, double reach) {
            beneath[i] = tree.nearest(to_point(mesh.positions[rows.vertices[i]]), reach, larger);
            return beneath[i].triangle != no_index;
        };
        for (const std::uint32_t i : rows_of[part]) {
            all += rows.count[i];
            if (find_beneath(i, rules.beneath * unit)) near += rows.count[i];
        }
        if (near < rules.on_other * all) return;
        for (const std::uint32_t i : rows_of[part])
            if (beneath[i].triangle == no_index) find_beneath(i, 2 * unit);
        on_other[part] = 1;
    });

    const auto add_beneath = [&](std::uint32_t i, Shares& to) {
        const Triangle& t = mesh.triangles[beneath[i].triangle];
        for (std::size_t k = 0; k < 3; ++k) {
            const CoarseSurface::Stencil around = rows_at(t[k]);
            const double share = rows.count[i] * beneath[i].share[k];
            for (std::size_t c = 0; c < 3; ++c)
                if (around.share[c] > 0)
                    add_row(rows, around.of[c], share * static_cast<double>(around.share[c]), to);
        }
    };
    for (const std::uint32_t part : order) {
        if (!on_other[part]) continue;
        const auto& own = rows_of[part];
        Shares all;
        double count = 0;
        for (const std::uint32_t i : own) {
            add_beneath(i, all);
            count += rows.count[i];
        }
        if (all.empty()) continue;  // the surface beneath has no weights
        const auto most = std::max_element(all.begin(), all.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        std::uint32_t& joint = parts.joint[part];
        const double needed = joint == no_index ? rules.half * count : all[joint] + rules.clearly * count;
        if (most->second < needed) continue;
        joint = most->first;
        for (const std::uint32_t i : own) rows.entries[i * rows.width] = {1.0f, joint}, rows.kept[i] = 1;
    }
}

}  // namespace sinew
