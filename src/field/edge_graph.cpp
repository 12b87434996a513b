// Distances along the edges of the mesh (Tokheim 2003).
#include "field/edge_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

#include "core/large_pages.h"

namespace sinew {

EdgeGraph::EdgeGraph(const MeshView& mesh, const MeshTopology& topology)
    : node_of(mesh.positions.size(), no_index) {
    for (const Triangle& t : mesh.triangles)
        for (const std::uint32_t v : t) node_of[topology.weld[v]] = 0;
    for (std::uint32_t v = 0; v < node_of.size(); ++v) {
        if (topology.weld[v] != v) {
            node_of[v] = node_of[topology.weld[v]];  // the first vertex at a position comes before the others
        } else if (node_of[v] != no_index) {
            node_of[v] = static_cast<std::uint32_t>(position.size());
            position.push_back(mesh.positions[v]);
            mesh_vertex.push_back(v);
        }
    }
    struct Side {
        std::uint32_t a, b, triangle;
        auto operator<=>(const Side&) const = default;
    };
    std::vector<Side> sides;
    sides.reserve(3 * mesh.triangles.size());
    for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t)
        for (std::size_t k = 0; k < 3; ++k) {
            const std::uint32_t a = node_of[mesh.triangles[t][k]], b = node_of[mesh.triangles[t][(k + 1) % 3]];
            if (a != b) sides.push_back({std::min(a, b), std::max(a, b), t});
        }
    std::sort(sides.begin(), sides.end());
    sides.erase(std::unique(sides.begin(), sides.end()), sides.end());  // a collapsed triangle has one edge twice
    side.reserve(sides.size());
    for (const Side& s : sides) {
        if (edges.empty() || edges.back().a != s.a || edges.back().b != s.b) {
            const Point3 p = to_point(position[s.a]), q = to_point(position[s.b]);
            edges.push_back({s.a, s.b, static_cast<float>(std::hypot(q[0] - p[0], q[1] - p[1], q[2] - p[2]))});
            first_side.push_back(static_cast<std::uint32_t>(side.size()));
        }
        side.push_back(s.triangle);
    }
    first_side.push_back(static_cast<std::uint32_t>(side.size()));
    release(sides);

    const std::size_t n = position.size();
    first_link.assign(n + 1, 0);
    for (const Edge& e : edges) ++first_link[e.a + 1], ++first_link[e.b + 1];
    std::partial_sum(first_link.begin(), first_link.end(), first_link.begin());
    link.resize(2 * edges.size());
    std::vector<std::uint32_t> next(first_link.begin(), first_link.end() - 1);
    for (const Edge& e : edges) {
        link[next[e.a]++] = {e.b, e.length};
        link[next[e.b]++] = {e.a, e.length};
    }

    component.assign(n, no_index);
    std::vector<std::uint32_t> stack;
    for (std::uint32_t start = 0; start < n; ++start) {
        if (component[start] != no_index) continue;
        component[start] = component_count;
        stack.push_back(start);
        while (!stack.empty()) {
            const std::uint32_t at = stack.back();
            stack.pop_back();
            for (std::uint32_t k = first_link[at]; k < first_link[at + 1]; ++k)
                if (component[link[k].to] == no_index) {
                    component[link[k].to] = component_count;
                    stack.push_back(link[k].to);
                }
        }
        ++component_count;
    }
}

std::vector<float> shortest_paths(const EdgeGraph& graph, std::span<const EdgeBridge> bridges,
                                  std::span<const EdgeSource> sources) {
    std::vector<double> distance(graph.position.size(), std::numeric_limits<double>::infinity());
    using Item = std::pair<double, std::uint32_t>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
    const auto offer = [&](std::uint32_t node, double d) {
        if (d < distance[node]) queue.emplace(distance[node] = d, node);
    };
    for (const EdgeSource& s : sources) offer(s.node, s.distance);
    while (!queue.empty()) {
        const auto [d, node] = queue.top();
        queue.pop();
        if (d > distance[node]) continue;
        for (std::uint32_t k = graph.first_link[node]; k < graph.first_link[node + 1]; ++k)
            offer(graph.link[k].to, d + graph.link[k].length);
        if (bridges.empty()) continue;
        auto it = std::lower_bound(bridges.begin(), bridges.end(), node,
                                   [](const EdgeBridge& b, std::uint32_t n) { return b.from < n; });
        for (; it != bridges.end() && it->from == node; ++it) offer(it->to, d + it->length);
    }
    std::vector<float> out(distance.size());
    std::transform(distance.begin(), distance.end(), out.begin(), [](double d) { return static_cast<float>(d); });
    return out;
}

}  // namespace sinew
