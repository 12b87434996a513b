// How much memory a bind may need: the formulas, of which docs/memory.md has the leading terms.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "bind/method_table.h"
#include "bind/near_mesh.h"
#include "bind/surface_heat/rules.h"
#include "core/large_pages.h"
#include "core/vectors.h"
#include "domain/lattice.h"
#include "domain/mark_boundary.h"
#include "field/geodesic.h"
#include "sinew/bind.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

double triangle_area(const MeshView& mesh, const Triangle& t) {
    const Point3 a = to_point(mesh.positions[t[0]]);
    return norm(cross(to_point(mesh.positions[t[1]]) - a, to_point(mesh.positions[t[2]]) - a)) / 2;
}

// Of the shapes of bones.
double shape_area(const Skeleton& skeleton) {
    double area = 0;
    for (const Bone& bone : make_bones(skeleton)) {
        const double a = bone.radius,
                     length = segment_distance(to_point(bone.head), to_point(bone.tail), {}).length;
        area += 2 * std::numbers::pi * a * (length + 2 * a);
        if (bone.box)
            area +=
                8.0 * (double{bone.box->half.x} * bone.box->half.y + double{bone.box->half.y} * bone.box->half.z +
                       double{bone.box->half.z} * bone.box->half.x);
    }
    return area;
}

// It is not known yet how many voxels are fine: at most all.
double finest(const BindOptions& options) {
    return (options.local_resolution ? 2.0 : 1.0) * options.voxels.resolution;
}

// Large grids use memory only near the mesh, along z and in whole pages.
double cells_of_grids(const MeshView& mesh, const BindOptions& options) {
    const double r = finest(options);
    const double layer = r * r / 8;  // bytes
    if (layer * r < static_cast<double>(kSparseFrom) || options.voxels.voxelizer == Voxelizer::hardware)
        return r * r * r;
    const Box3 box = box_of(mesh);
    const double thick = box.sides()[2] / box.longest() * r, page = static_cast<double>(kLargePage) / layer;
    return r * r * std::min(r, thick + 2 + 2 * page);
}

GridTransform grid_around(const Box3& box, int resolution) {
    GridTransform grid;
    grid.resolution = resolution;
    grid.unit = box.longest();
    grid.voxel = voxel_size(grid.unit, resolution);
    for (std::size_t k = 0; k < 3; ++k)
        grid.origin[k] = (box.low[k] + box.high[k]) / 2 - (resolution / 2 + 0.5) * grid.voxel;
    return grid;
}

// Voxels of a grid of this resolution that triangles touch. Many sheets may lie in one voxel: their area says
// nothing.
double touched_voxels(const MeshView& mesh, const Box3& box, int resolution, Context* context) {
    const Lattice lattice = make_lattice(grid_around(box, resolution), mesh, nullptr, context);
    BitGrid touched(resolution);
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) mark_boundary(touched, lattice.outward(t).data());
    return static_cast<double>(touched.count(context));
}

// Voxels that are not outside: counted at a resolution of at most 128, whose boundary covers more than a finer one.
double solid_voxels(const MeshView& mesh, const BindOptions& options, Context* context) {
    VoxelizeOptions coarse = options.voxels;
    coarse.voxelizer = Voxelizer::cpu;
    const double finer = std::max(1.0, finest(options) / 128);
    coarse.resolution = static_cast<int>(finest(options) / finer);
    const Result<VoxelGrid> grid = voxelize(mesh, analyse_mesh(mesh, context), coarse, context);
    if (!grid) return INFINITY;
    return static_cast<double>(grid->boundary.count(context) + grid->interior.count(context)) * finer * finer *
           finer;
}

// Figures have 2.4 leaves per voxel face of their surface: boundary leaves and their siblings. Open bowls, whose
// interior has no clear border, have up to 3.5. The surface of a
// shape has as many, except outside the mesh. Counted otherwise: each cell of two voxels that the surface or a bone
// touches has eight leaves, and with larger cells around them eleven.
double most_leaves(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options, Context* context) {
    constexpr double kPerFace = 3.6, kPerCell = 12.5;
    const Box3 box = box_of(mesh);
    const double voxel = voxel_size(box.longest(), finest(options));
    double cells = 1;
    for (const double side : box.sides()) cells *= side / voxel + 2;
    if (options.domain == DomainKind::uniform) return std::min(cells, 1.2 * solid_voxels(mesh, options, context));
    double bones = 0;  // cells of two voxels
    for (const Bone& bone : make_bones(skeleton))
        bones += 2 + segment_distance(to_point(bone.head), to_point(bone.tail), {}).length / voxel;
    const double shapes =
        options.domain == DomainKind::sparse_boundary ? 0 : kPerFace * shape_area(skeleton) / (voxel * voxel);
    double area = 0;
    for (const Triangle& t : mesh.triangles) area += triangle_area(mesh, t);
    const double by_area = kPerFace * area / (voxel * voxel);
    const double by_cells =
        kPerCell *
        (touched_voxels(mesh, box, std::clamp(static_cast<int>(finest(options) / 2), 16, 512), context) + bones);
    return std::min(cells, std::min(by_area, by_cells) + shapes);
}

// Every pixel of the mask is a leaf, and of a mesh at most those of its box.
double max_pixels_of(const MeshView& mesh, const BindOptions& options) {
    if (options.mask)
        return static_cast<double>(std::count_if(options.mask->inside.begin(), options.mask->inside.end(),
                                                 [](std::uint8_t in) { return in != 0; }));
    const Box3 box = box_of(mesh);
    const Point3 side = box.sides();
    const double longest = box.longest(), thinnest = std::min({side[0], side[1], side[2]});
    const double pixel = voxel_size(longest, options.voxels.resolution);
    return (longest / pixel + 2) * ((side[0] + side[1] + side[2] - longest - thinnest) / pixel + 2);
}

// A leaf's row in the sweep.
double bytes_of_labels(double kept) {
    const double nearest = std::clamp(kept, 1.0, static_cast<double>(GeodesicSolver::kMaxNearest));
    return 8.0 * GeodesicSolver::row_room(static_cast<int>(nearest));
}

// Stages follow each other, and each frees its memory: the largest one counts.

double of_topology(const MemorySizes& s) { return s.vertices * 30 + s.triangles * 72; }
// The plan of rows, which later stages need.
double of_plan(const MemorySizes& s) { return s.vertices * 20 + s.triangles * 6; }
// The resulting rows; with all influences also the leaves from which each vertex reads.
double of_rows(const MemorySizes& s) { return s.vertices * (5 + 8 * s.kept + (s.all ? 160 : 0)); }
// Five grids, crossings, snapped vertices, the tree of winding numbers.
double of_voxels(const MemorySizes& s) {
    return s.cells * 5.5 / 8 + s.leaves * 10 + s.vertices * 12 + s.triangles * 180;
}
// Grids and their coarser copies, leaves and their links.
double of_octree(const MemorySizes& s) { return s.cells * 4.8 / 8 + s.leaves * 180; }
// Leaves, links, and the sweep: one for the nearest joints, with lists for the windows of each thread; or one per
// thread at a time.
double of_sweep(const MemorySizes& s) {
    return s.leaves * (250 + (s.all ? 16 * s.threads : s.labels)) + 1e6 * s.threads;
}
// Fields that are kept with the volume.
double of_fields(const MemorySizes& s, bool strengths) {
    if (!s.keep_volume) return 0;
    return s.leaves * (40 + s.sets * (s.all || strengths ? 4 * s.joints : s.labels));
}
double worst(const MemorySizes& s, std::initializer_list<double> after_topology) {
    return std::max(of_topology(s), of_plan(s) + std::max(after_topology));
}

// Pictures, buffers, and about 100 MB of driver and shader compiler.
double of_slicing(const BindOptions& options, double triangles) {
    if (options.voxels.voxelizer != Voxelizer::hardware) return 0;
    const double r = finest(options);
    return 112 * r * r + 80 * triangles + 1e8;
}

double of_geodesic(const MemorySizes& s) {
    return worst(s, {of_voxels(s), of_octree(s), of_rows(s) + of_sweep(s) + of_fields(s, false)});
}

}  // namespace

double geodesic_voxel_memory(const MemorySizes& s, const MeshView&, const BindOptions& options) {
    return of_geodesic(s) + of_slicing(options, s.triangles);
}
// Conductances and their coarser levels; per thread eight fields and their solver. On hardware one batch at a time,
// whose buffers may be in main memory, and the driver with its compiler.
double voxel_heat_memory(const MemorySizes& s, const MeshView&, const BindOptions& options) {
    const bool hardware = options.heat == HeatBy::hardware;
    const double solver = s.leaves * (480 + (hardware ? 450 : 230 * s.threads)) + (hardware ? 1e8 : 0);
    return worst(s, {of_voxels(s), of_octree(s), of_rows(s) + s.vertices * 104 + solver + of_fields(s, true)}) +
           of_slicing(options, s.triangles);
}
// The same, with a list of links, fields in double, and a third more for coarser resolutions.
double bounded_biharmonic_memory(const MemorySizes& s, const MeshView&, const BindOptions& options) {
    return worst(s, {of_voxels(s), of_octree(s),
                     of_rows(s) + s.vertices * 104 + s.leaves * (900 + 560 * s.threads) + of_fields(s, true)}) +
           of_slicing(options, s.triangles);
}
double bone_heat_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions&) {
    return worst(s, {of_rows(s) + surface_solver_memory(mesh, s.threads)});
}
// Candidates of the learned correction, and the rows of heat that hold them.
constexpr double kCorrectedRow = 240;
// Rows of heat, rows of distances where they are wanted, at most at all vertices; leaves and fields.
double surface_heat_memory(const MemorySizes& s, const MeshView& mesh, const BindOptions& options) {
    MemorySizes nearest = s;  // of the volume, for any limit of influences
    nearest.all = false;
    nearest.kept = static_cast<double>(kNearestInVolume);
    nearest.labels = bytes_of_labels(nearest.kept);
    nearest.keep_volume = true;  // until the rows are stored
    return std::max(worst(nearest, {of_voxels(s), of_octree(s), of_sweep(nearest) + of_fields(nearest, false)}),
                    worst(s, {of_rows(s) + of_rows(nearest) + surface_solver_memory(mesh, s.threads) +
                              s.leaves * 40 + of_fields(nearest, false) + s.vertices * kCorrectedRow})) +
           of_slicing(options, s.triangles);
}
// The graph, its tree of boxes, and distances from a joint per thread; or the matrix.
double mesh_geodesic_memory(const MemorySizes& s, const MeshView&, const BindOptions& options) {
    const double nodes = std::min(s.vertices, static_cast<double>(all_pairs_limit));
    return worst(s, {of_rows(s) + s.triangles * 110 + s.vertices * (40 + 40 * s.threads) +
                     (options.all_pairs ? 4 * nodes * nodes : 0)});
}
double pixel_geodesic_memory(const MemorySizes& s, const MeshView&, const BindOptions&) {
    return worst(s, {of_rows(s) + of_sweep(s)});
}
double open_space_memory(const MemorySizes& s, const MeshView&, const BindOptions&) {
    return worst(s, {of_rows(s)});
}

std::size_t estimate_memory(const MeshView& whole, const Skeleton& skeleton, const BindOptions& options,
                            Context* context) {
    const NearMesh near(whole, skeleton, context);
    const MeshView mesh = near.view();
    MemorySizes s{};
    s.vertices = static_cast<double>(mesh.positions.size());
    s.triangles = static_cast<double>(mesh.triangles.size());
    s.joints = static_cast<double>(skeleton.joints.size());
    s.sets = static_cast<double>(std::max<std::size_t>(skeleton.skins.size(), 1));
    s.all = options.finish.max_influences == all_influences;
    s.kept = s.all ? s.joints : static_cast<double>(kept_joints(options.finish));
    s.labels = bytes_of_labels(s.kept);
    s.threads = thread_count(context);
    s.keep_volume = options.keep_volume;
    constexpr double small = 4e6;  // for any size
    if (!find_method(options.method)) return static_cast<std::size_t>(small);
    const MethodTableRow& method = row_of(options.method);
    if (method.has_volume()) {
        s.cells = cells_of_grids(mesh, options);
        s.leaves = most_leaves(mesh, skeleton, options, context);
    } else if (method.is_flat()) {
        s.leaves = max_pixels_of(mesh, options);
    }
    return static_cast<std::size_t>(small + method.memory(s, mesh, options));
}

// What estimate_memory allocates itself: grids, facts about the mesh, and its triangles in the lattice.
static double memory_of_estimate(const MeshView& mesh, const BindOptions& options) {
    if (!find_method(options.method) || !row_of(options.method).has_volume()) return 0;
    double grids = 0;
    for (const double r : {std::clamp(finest(options) / 2, 16.0, 512.0), std::min(finest(options), 128.0)})
        grids += r * r * r / 8;
    return grids + 20.0 * static_cast<double>(mesh.positions.size()) +
           60.0 * static_cast<double>(mesh.triangles.size());
}

Status check_memory(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options, Context* context) {
    if (!context || context->memory_limit == 0) return Done{};
    const std::size_t limit = context->memory_limit;
    const auto need_of = [&](const BindOptions& of) {
        const auto own = static_cast<std::size_t>(memory_of_estimate(mesh, of));
        return own > limit ? own : estimate_memory(mesh, skeleton, of, context);
    };
    const std::size_t need = need_of(options);
    if (need <= limit) return Done{};
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while memory is estimated"};
    const std::string amount =
        std::to_string(need >> 20) + " MB, more than the limit of " +
        (limit >> 20 ? std::to_string(limit >> 20) + " MB" : std::to_string(limit) + " bytes");
    BindOptions smaller = options;
    const auto smaller_need = [&] { return need_of(smaller); };
    while (smaller.voxels.resolution > 32 && smaller_need() > limit) smaller.voxels.resolution /= 2;
    if (options.voxels.resolution > 32 && smaller_need() == need)
        return Error{ErrorCode::too_large,
                     "method " + std::string(to_string(options.method)) + " may need " + amount};
    return Error{
        ErrorCode::too_large,
        "`resolution " + std::to_string(options.voxels.resolution) + "` may need " + amount + "; " +
            (smaller_need() <= limit ? "`resolution " + std::to_string(smaller.voxels.resolution) + "` would fit"
                                     : std::string("no resolution would fit"))};
}

}  // namespace sinew
