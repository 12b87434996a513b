// The mesh as a graph: distinct positions, joined by the edges of its triangles.
#pragma once

#include <span>
#include <vector>

#include "core/geometry.h"
#include "sinew/domain.h"

namespace sinew {

/// Distinct positions of triangles, and the edges between them. Works for holes, soup, and edges of three and
/// more triangles. Positions are numbered in the order of the mesh's vertices.
struct EdgeGraph {
    struct Edge {
        std::uint32_t a, b;  ///< a < b
        float length;        ///< scene units
    };
    struct Link {
        std::uint32_t to;
        float length;
    };

    std::vector<Vec3> position;              ///< N
    std::vector<std::uint32_t> mesh_vertex;  ///< N: the vertex of the mesh that represents the position
    std::vector<std::uint32_t> node_of;      ///< V: its position; none for a vertex of no triangle
    std::vector<Edge> edges;                 ///< E, sorted by a, then b
    std::vector<std::uint32_t> first_side;   ///< E + 1
    std::vector<std::uint32_t> side;         ///< triangles at edge e: side[first_side[e] .. first_side[e + 1])
    std::vector<std::uint32_t> first_link;   ///< N + 1
    std::vector<Link> link;                  ///< neighbours of n: link[first_link[n] .. first_link[n + 1])
    std::vector<std::uint32_t> component;    ///< N: numbered in the order of their first positions
    std::uint32_t component_count = 0;

    /// Reads the edges of a mesh whose topology is known. O((V + T) log T), memory about 110 bytes per triangle.
    EdgeGraph(const MeshView& mesh, const MeshTopology& topology);
};

/// Where a field starts, with its initial distance.
struct EdgeSource {
    std::uint32_t node;
    float distance;  ///< ≥ 0, scene units
};

/// A link that is not an edge of the mesh, from an unreached part to its neighbour. It works in both
/// directions.
struct EdgeBridge {
    std::uint32_t from, to;  ///< nodes
    float length;            ///< between them
};

/// Shortest paths along the edges, and over bridges, from all sources at once (Dijkstra 1959). N distances in
/// scene units, +inf for unreachable positions; lengths are added as double. Bridges must be sorted by `from`
/// and given in both directions. O(E log N).
std::vector<float> shortest_paths(const EdgeGraph& graph, std::span<const EdgeBridge> bridges,
                                  std::span<const EdgeSource> sources);

/// Joins every component without a source to the nearest component that has a source or is already joined (a
/// minimum spanning forest over components, Borůvka 1926, by distances between positions). Every position of
/// the joined component gets a bridge to its nearest position of the other one if that is at most twice the
/// gap, or `reach`, away. So a skirt takes its distances from the body around it and not through one point.
/// Components with sources are never joined to each other. `seeded`: per component; all false = no bridges.
/// Returns both directions of every bridge, sorted. O(N log N log components).
std::vector<EdgeBridge> join_parts(const EdgeGraph& graph, const std::vector<bool>& seeded, float reach,
                                   Context* context = nullptr);

}  // namespace sinew
