// sinew/mesh.h: the skin, as the algorithms see it, and what is wrong with it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sinew/core.h"

namespace sinew {

/// A non-owning view of a triangle mesh: several meshes and primitives of a character, concatenated, in the
/// space of the bind pose. Anything goes: soup, holes, non-manifold edges, loose parts, unused vertices.
/// What does not: a coordinate that is not finite, an index past the end (see check_mesh).
struct MeshView {
    std::span<const Vec3> positions;      ///< V
    std::span<const Triangle> triangles;  ///< T; may be empty only if positions is
    /// V or empty: which entry of Skeleton::skins limits the joints of this vertex. Empty = no limits.
    std::span<const std::uint32_t> skin_of_vertex;
};

/// Checks what every stage relies on: at least one triangle, indices < V, finite coordinates within ±1e18, a
/// bounding box of non-zero size. The error names the first offending vertex or triangle. O(V + T).
Status check_mesh(const MeshView& mesh);

/// Defects of a mesh, found on the mesh welded by exact position. Counting them changes nothing.
struct MeshDefects {
    std::size_t parts = 0;                 ///< connected components of triangles
    std::size_t open_parts = 0;            ///< parts with a boundary edge
    std::size_t flipped_parts = 0;         ///< parts of which a patch was turned because it faced inwards
    std::size_t flipped_triangles = 0;     ///< triangles turned to agree with their part
    std::size_t boundary_edges = 0;        ///< edges of one triangle
    std::size_t holes = 0;                 ///< loops of boundary edges (connected sets of them)
    std::size_t nonmanifold_edges = 0;     ///< edges of three or more triangles
    std::size_t duplicate_triangles = 0;   ///< same three positions as an earlier triangle, any winding
    std::size_t degenerate_triangles = 0;  ///< zero area, as far as float coordinates can tell
    std::size_t unused_vertices = 0;       ///< in no triangle
    std::size_t welded_vertices = 0;       ///< distinct positions among the used vertices
};

/// The outcome of reading a mesh's topology.
struct MeshTopology {
    MeshDefects defects;
    std::vector<std::uint32_t> weld;              ///< V: the first vertex with the same position (itself if first)
    std::vector<std::uint32_t> part_of_triangle;  ///< T: part number, 0..parts-1
    std::vector<bool> turned;                     ///< T: face must be reversed to point outwards
};

/// Welds by exact position, finds connected parts (over shared positions), and decides each triangle's outward
/// side. Within a patch (what edges of exactly two triangles connect) the winding must be consistent: the larger
/// area wins. Then the sign of the patch's volume decides; one that faces inwards is turned, unless it lies inside
/// patches that face outwards: then it is the wall of a cavity. A patch without a clear inside (a sheet) is
/// left as it is; a mesh whose volume as a whole is negative was mirrored and is turned as a whole. Duplicate
/// triangles face like the one they repeat and are left out when edges are counted, as are collapsed ones.
/// O((V + T) log T), memory O(V + T). Requires check_mesh.
MeshTopology analyse_mesh(const MeshView& mesh);

}  // namespace sinew
