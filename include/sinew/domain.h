// sinew/domain.h: the domain of distances: the topology of the mesh, the sparse octree over the voxels of the
// volume that it encloses (sinew/voxels.h), and distances in it.
//
// After "Geodesic Binding for Degenerate Character Geometry Using Sparse Voxelization" (Dionne and de Lasa,
// IEEE TVCG 2014), sections 4 and 5. docs/methods/geodesic-voxel.md says what differs and why.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"

namespace sinew {

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
    std::vector<std::uint8_t> at_triangle;        ///< V: 1 where a triangle has a corner at the vertex's position
    std::vector<std::uint32_t> part_of_triangle;  ///< T: part number, 0..parts-1
    std::vector<bool> turned;                     ///< T: face must be reversed to point outwards
};

/// Welds by exact position, finds connected parts (over shared positions), and decides each triangle's outward
/// side. Within a patch (triangles connected by edges of exactly two triangles) the winding must be consistent: the
/// larger area wins. Then the sign of the patch's volume decides; one that faces inwards is turned, unless it lies
/// inside patches that face outwards: then it is the wall of a cavity. A patch without a clear inside (a sheet) is
/// left as it is; a mesh whose volume as a whole is negative was mirrored and is turned as a whole. Duplicate
/// triangles face like the one they repeat and are left out when edges are counted, as are collapsed ones.
/// O((V + T) log T), memory about 40 bytes a vertex and 40 a triangle. Requires check_mesh.
MeshTopology analyse_mesh(const MeshView& mesh, Context* context = nullptr);

/// What a triangle intersects.
enum class Intersects : std::uint8_t { nothing, another, undecided };

/// The intersecting faces of a mesh (Dionne and de Lasa 2014, table 1 and figure 8).
struct Intersections {
    std::vector<Intersects> of_triangle;  ///< T
    std::size_t triangles = 0;            ///< that intersect another
    /// Not compared with all others, because that would have taken too long, and not known to intersect one. Above
    /// 0 only for meshes in which thousands of triangles lie in each other's boxes without intersecting.
    std::size_t undecided = 0;
};

/// Finds the triangles that intersect another triangle. Two triangles intersect if they share no vertex
/// position and
/// - they pass through each other, both sides of both and along their common line by more than 2e-6 of the longest
///   side of the mesh's box (more where coordinates are too coarse for that), or
/// - one lies on the other: its corners lie within that distance of the plane of the larger one, and their
///   intersection is wider than that.
/// These do not count: triangles that only touch; neighbours that are folded onto each other or that pass
/// through each other next to a common corner; duplicates, which MeshDefects counts; degenerate triangles. Time O(T
/// log T) for usual meshes, and bounded for all: some seconds, or T times that of 1,000 comparisons. Memory about
/// 110 bytes a triangle. Requires check_mesh. Error: cancelled.
Result<Intersections> find_intersections(const MeshView& mesh, Context* context = nullptr);

/// The edges that MeshDefects counts, as pairs of vertices: the first ones at their positions, lower first, sorted.
struct DefectEdges {
    using Edge = std::array<std::uint32_t, 2>;
    std::vector<Edge> boundary;     ///< of one triangle
    std::vector<Edge> nonmanifold;  ///< of three or more
};
/// `weld`: MeshTopology::weld. O(T log T), memory 36 bytes a triangle.
DefectEdges find_defect_edges(const MeshView& mesh, std::span<const std::uint32_t> weld);

/// The vertices at which the surface is neither a disc nor a half disc, because the triangles around them are not
/// connected by edges at that vertex (Dionne and de Lasa 2014, table 1): the first ones at their positions,
/// ascending. Vertices of non-manifold edges count only if this holds for them, too. `weld`: MeshTopology::weld.
/// O(T log T), memory 80 bytes a triangle.
std::vector<std::uint32_t> find_nonmanifold_vertices(const MeshView& mesh, std::span<const std::uint32_t> weld);

/// How the inside is found. Both classify voxels by the same snapped triangles.
enum class Voxelizer {
    cpu,       ///< where each voxel column crosses the mesh
    hardware,  ///< the paper's way: slices of the z-buffer, through OpenGL without a display
};

/// When the two views of a pair call a voxel internal. They differ only where the mesh is open or its faces are
/// flipped: a back face is then seen from one side alone.
enum class ViewPairs {
    both,    ///< both views see a back face first
    either,  ///< one of them does (Dionne and de Lasa 2014, eq. 5, as printed)
};

struct VoxelizeOptions {
    int resolution = 256;         ///< voxels along the longest side: a power of two, 32..1024
    bool winding_numbers = true;  ///< settle ambiguous voxels (one agreeing view pair) by winding number
    bool repair_facing = true;    ///< use MeshTopology::turned, so that flipped parts are solid too
    bool keep_ambiguous = false;  ///< fill VoxelGrid::ambiguous_voxels, for pictures and comparisons
    Voxelizer voxelizer = Voxelizer::cpu;
    ViewPairs view_pairs = ViewPairs::both;
};
Status check(const VoxelizeOptions& options);

/// Scene space to voxel space: uniform scale, then shift. The box of the mesh is centred on the centre of a
/// voxel, so that a symmetric character gets a symmetric grid, and its longest side takes resolution - 2.5
/// voxels: so the middle and the ends of a character are not on a border between voxels, where
/// rounding would decide. With local resolution this holds for the finest voxels: legs are separate if one fits
/// between them.
struct GridTransform {
    int resolution = 0;
    double origin[3] = {0, 0, 0};  ///< scene position of the corner of voxel (0,0,0)
    double voxel = 1;              ///< edge of a voxel, scene units
    double unit = 1;               ///< scene units per unit-cube unit: the longest side of the box
    int layers = 0;                ///< voxels along z; 0 = resolution. One layer is a grid of pixels

    int depth() const { return layers ? layers : resolution; }
};

/// A ball in the scene around which voxels are half as large as elsewhere (local resolution).
struct FinePlace {
    std::array<double, 3> at;
    double radius;
};

struct VoxelGrid;  // the voxels of a mesh: sinew/voxels.h
struct PixelMask;  // the pixels of a flat figure

/// The generalized winding number of the mesh at points (Jacobson 2013), hierarchical with dipoles (Barill 2018,
/// accuracy 2, first order). 1 inside a closed outward-facing mesh, 0 outside, within 0.08 (0.01 on average). Eight
/// points in a row are measured together, so within that error a number depends on its neighbours in the list;
/// neighbouring points next to each other take less time. O((T + P) log T).
std::vector<float> winding_numbers(const MeshView& mesh, const std::vector<bool>& turned,
                                   std::span<const Vec3> points, Context* context = nullptr);

/// Lengthens the points that make_bones left for leaf joints: from the joint along its parent's direction as far
/// as the volume goes (minus one voxel). A joint outside the volume stays a point.
void extend_leaf_bones(std::vector<Bone>& bones, const Skeleton& skeleton, const VoxelGrid& grid);

enum class DomainKind {
    sparse,   ///< octree leaves: fine at boundary and bones, coarse inside (algorithm 2)
    uniform,  ///< every non-exterior voxel (figure 9's comparison)
    /// Octree leaves: fine at the boundary only (section 2.2). They do not depend on the bones. A bone that
    /// crosses a coarse leaf starts from that leaf as a whole.
    sparse_boundary,
};

/// Which cells a path may step to.
enum class Neighbours {
    all,    ///< those that share a face, an edge or a corner: 26, and in one layer 8
    faces,  ///< those that share a face: 6, and in one layer 4; then every leaf is a voxel, for any kind
};

/// The graph over which distance is measured: leaves that are not exterior, in Morton order (but those of level 1
/// before those of level 0 in an aligned block of 4³ voxels), and the links between leaves that share a face, an
/// edge or a corner, across levels.
struct Domain {
    GridTransform transform;
    struct Leaf {
        std::uint16_t x, y, z;  ///< lower corner, in voxels of the finest level
        std::uint8_t level;     ///< edge = 2^level voxels
        bool boundary;          ///< entering it costs `penalty` times its length
    };
    std::vector<Leaf> leaves;              ///< N
    std::vector<std::uint32_t> component;  ///< N: connected component of the leaf
    std::uint32_t component_count = 0;

    /// The leaf that contains the voxel, or no_index. O(levels).
    std::uint32_t leaf_at(int x, int y, int z) const;
    /// Centre of a leaf in voxels of the finest level.
    std::array<float, 3> centre(std::uint32_t leaf) const {
        const Leaf& l = leaves[leaf];
        const float half = 0.5f * static_cast<float>(1 << l.level);
        return {l.x + half, l.y + half, l.z + half};
    }
    struct Index;  ///< how leaf_at finds leaves
    std::shared_ptr<const Index> index;
    struct Graph;  ///< the links, compactly: what distances spread over
    std::shared_ptr<const Graph> graph;
};

/// What becomes of a cell that no boundary voxel divides, if only some of its voxels are interior: where the vote
/// found no clear border, as at an opening of the mesh.
enum class MixedCells {
    divided,  ///< so leaves cover the interior and boundary voxels and no others, whichever bones there are
    whole,    ///< it is one leaf, which covers exterior voxels as well (as published, algorithm 2)
};

/// Builds the domain. Cells are split where a boundary voxel, a voxel of a bone or of the surface of its shape lies
/// in them (sparse_boundary: a boundary voxel only), down to voxels, which outside of the fine blocks of local
/// resolution are the larger ones; in a grid of one layer every leaf is a pixel, for any kind. Time O(r³/64 +
/// N log N), memory about 60 bytes per leaf, and r³/4 bytes of grids (r²/64 and r²/4 in one layer).
Result<Domain> build_domain(const VoxelGrid& grid, std::span<const Bone> bones, DomainKind kind,
                            Context* context = nullptr, Neighbours neighbours = Neighbours::all,
                            MixedCells mixed = MixedCells::divided);

/// The links of a domain as lists.
struct LeafLinks {
    std::vector<std::uint32_t> first;  ///< N + 1
    std::vector<std::uint32_t> to;     ///< neighbours of leaf i: to[first[i] .. first[i + 1])

    std::span<const std::uint32_t> of(std::size_t leaf) const {
        return {to.data() + first[leaf], to.data() + first[leaf + 1]};
    }
};
/// `neighbours`: as the domain was built. Time O(N log N), memory about 90 bytes per leaf.
LeafLinks list_links(const Domain& domain, Neighbours neighbours = Neighbours::all, Context* context = nullptr);

/// The leaves of every bone and how far each is from it: the seeds of that bone's field.
struct BoneSeeds {
    struct Seed {
        std::uint32_t leaf;
        float distance;  ///< head start in voxels: 0 for a leaf that the bone crosses or whose centre it holds
    };
    std::vector<std::vector<Seed>> of_joint;  ///< joints; empty for joints without bones
    std::vector<std::uint32_t> snapped;       ///< joints whose bones are all outside the volume
};

/// A bone that crosses no leaf starts from the nearest leaf, with its distance as a head start.
BoneSeeds seed_bones(const Domain& domain, std::span<const Bone> bones, std::size_t joint_count);

struct GeodesicOptions {
    float penalty = 4;  ///< factor on a step into a boundary voxel (Dionne and de Lasa 2014, algorithm 3), 1..100
};
Status check(const GeodesicOptions& options);

/// The distance of each vertex from the bones of one joint, inside the volume: the distance field of `bind`, for
/// all vertices and not only for those that have the joint among their nearest. V distances in scene units (steps
/// into boundary voxels count `penalty` times), between the eight voxels around a vertex by trilinear
/// interpolation; +inf for vertices that the joint cannot reach or that are far (near.h). Parts without bones are
/// reached over bridges. The overshoot of BindOptions is not added. Joints must be marked (select_deforming); one
/// that does not deform is an error. Time: that of bind's first stages and one sweep.
Result<std::vector<float>> joint_distance(const MeshView& mesh, const Skeleton& skeleton, std::uint32_t joint,
                                          const VoxelizeOptions& voxels = {}, const GeodesicOptions& geodesic = {},
                                          Context* context = nullptr);

}  // namespace sinew
