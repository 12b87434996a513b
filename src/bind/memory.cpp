// How much memory a bind may need: one formula per method, as docs/memory.md has them. They are upper bounds by
// what is alive together at the worst moment, with constants that were measured; tests/unit/test_memory.cpp holds
// them against the real peak.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "bind/method.h"
#include "core/large_pages.h"
#include "core/vectors.h"

namespace sinew {
namespace {

struct Sizes {
    double vertices, triangles;
    double joints;  // of the skeleton
    double sets;    // of joints that skins allow
    double kept;    // joints per row
    double labels;  // bytes of a leaf's row in a sweep for as many
    double threads;
    double leaves;  // at most
    double cells;   // for which grids take room
    bool all;       // joints are kept
    bool keep_volume;
};

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

// How much is fine is not known yet: at most all of it.
double finest(const BindOptions& options) {
    return (options.local_resolution ? 2.0 : 1.0) * options.voxels.resolution;
}

// Large grids take room only where the mesh lies, along z and by whole pages.
double cells_of_grids(const MeshView& mesh, const BindOptions& options) {
    const double r = finest(options);
    const double layer = r * r / 8;  // bytes
    if (layer * r < static_cast<double>(kSparseFrom) || options.voxels.voxelizer == Voxelizer::hardware)
        return r * r * r;
    const Box3 box = box_of(mesh);
    const double thick = box.sides()[2] / box.longest() * r, page = static_cast<double>(kLargePage) / layer;
    return r * r * std::min(r, thick + 2 + 2 * page);
}

// Figures have 2.4 leaves per voxel face of their surface: what it touches, and undivided siblings. Around shapes
// there are as many cells as around the mesh, but none outside.
double most_leaves(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options) {
    const Box3 box = box_of(mesh);
    const double voxel = box.longest() / (finest(options) - 2.5);
    double cells = 1;
    for (const double side : box.sides()) cells *= side / voxel + 2;
    if (options.domain == DomainKind::uniform) return cells;
    double area = shape_area(skeleton);
    for (const Triangle& t : mesh.triangles) area += triangle_area(mesh, t);
    return std::min(cells, 3.2 * area / (voxel * voxel));
}

// Every pixel of the mask is a leaf, and of a mesh at most those of its box.
double most_pixels_of(const MeshView& mesh, const BindOptions& options) {
    if (options.mask)
        return static_cast<double>(std::count_if(options.mask->inside.begin(), options.mask->inside.end(),
                                                 [](std::uint8_t in) { return in != 0; }));
    const Box3 box = box_of(mesh);
    const Point3 side = box.sides();
    const double longest = box.longest(), thinnest = std::min({side[0], side[1], side[2]});
    const double pixel = longest / (options.voxels.resolution - 2.5);
    return (longest / pixel + 2) * ((side[0] + side[1] + side[2] - longest - thinnest) / pixel + 2);
}

// Stages come one after the other, and what a stage needs is free when the next begins: the worst one counts.

double of_topology(const Sizes& s) { return s.vertices * 30 + s.triangles * 72; }
// What is known of the mesh from there on.
double of_plan(const Sizes& s) { return s.vertices * 20 + s.triangles * 6; }
// Rows that come out, and with all influences where each vertex reads.
double of_rows(const Sizes& s) { return s.vertices * (5 + 8 * s.kept + (s.all ? 160 : 0)); }
// Five grids, crossings, snapped vertices, the tree of winding numbers.
double of_voxels(const Sizes& s) { return s.cells * 5.5 / 8 + s.leaves * 10 + s.vertices * 12 + s.triangles * 180; }
// Grids and what is halved of them, leaves and their links.
double of_octree(const Sizes& s) { return s.cells * 4.8 / 8 + s.leaves * 180; }
// Leaves, links, and the sweep: for the nearest joints, where each thread has lists for its windows, or one after
// the other in each thread.
double of_sweep(const Sizes& s) { return s.leaves * (250 + (s.all ? 16 * s.threads : s.labels)) + 1e6 * s.threads; }
// Fields that are kept with the volume; the links between leaves only with those of the nearest joints.
double of_fields(const Sizes& s, bool strengths) {
    if (!s.keep_volume) return 0;
    return s.leaves * (s.all || strengths ? 40 + s.sets * 4 * s.joints : 110 + s.sets * s.labels);
}
double worst(const Sizes& s, std::initializer_list<double> after_topology) {
    return std::max(of_topology(s), of_plan(s) + std::max(after_topology));
}

double geodesic_voxel(const Sizes& s) {
    return worst(s, {of_voxels(s), of_octree(s), of_rows(s) + of_sweep(s) + of_fields(s, false)});
}
// Conductances and their coarser levels; per thread eight fields and what solves for them.
double voxel_heat(const Sizes& s) {
    return worst(s, {of_voxels(s), of_octree(s),
                     of_rows(s) + s.vertices * 104 + s.leaves * (480 + 230 * s.threads) + of_fields(s, true)});
}
// The same, links of its own, fields in double, and a third more for coarser resolutions.
double bounded_biharmonic(const Sizes& s) {
    return worst(s, {of_voxels(s), of_octree(s),
                     of_rows(s) + s.vertices * 104 + s.leaves * (900 + 560 * s.threads) + of_fields(s, true)});
}
double bone_heat(const Sizes& s, const MeshView& mesh) {
    return worst(s, {of_rows(s) + bone_heat_memory(mesh, s.threads)});
}
// Rows of distances beside those of heat; leaves stay.
double surface_heat(const Sizes& s, const MeshView& mesh) {
    Sizes nearest = s;  // of the volume, whatever is wanted
    nearest.all = false;
    nearest.kept = static_cast<double>(kept_joints({}));
    nearest.labels = 64;
    return std::max(geodesic_voxel(nearest),
                    worst(s, {of_rows(s) + of_rows(nearest) + bone_heat_memory(mesh, s.threads) + s.leaves * 40 +
                              of_fields(nearest, false)}));
}
// The graph, its tree of boxes, and a run of each thread; or the matrix.
double mesh_geodesic(const Sizes& s, const BindOptions& options) {
    const double nodes = std::min(s.vertices, static_cast<double>(all_pairs_limit));
    return worst(s, {of_rows(s) + s.triangles * 110 + s.vertices * (40 + 40 * s.threads) +
                     (options.all_pairs ? 4 * nodes * nodes : 0)});
}
double pixel_geodesic(const Sizes& s) { return worst(s, {of_rows(s) + of_sweep(s)}); }
double open_space(const Sizes& s) { return worst(s, {of_rows(s)}); }

// Pictures, buffers, and about 100 MB of driver and shader compiler.
double of_slicing(const Sizes& s, const BindOptions& options) {
    if (options.voxels.voxelizer != Voxelizer::hardware) return 0;
    const double r = finest(options);
    return 112 * r * r + 80 * s.triangles + 1e8;
}

double need_of(const Sizes& s, const MeshView& mesh, const BindOptions& options) {
    switch (options.method) {
        case Method::geodesic_voxel:
            return geodesic_voxel(s) + of_slicing(s, options);
        case Method::voxel_heat:
            return voxel_heat(s) + of_slicing(s, options);
        case Method::bounded_biharmonic:
            return bounded_biharmonic(s) + of_slicing(s, options);
        case Method::surface_heat:
            return surface_heat(s, mesh) + of_slicing(s, options);
        case Method::bone_heat:
            return bone_heat(s, mesh);
        case Method::mesh_geodesic:
            return mesh_geodesic(s, options);
        case Method::pixel_geodesic:
            return pixel_geodesic(s);
        case Method::closest_distance:
        case Method::closest_hierarchy:
        case Method::connectivity:
            return open_space(s);
    }
    return 0;
}

}  // namespace

bool has_volume(Method method) {
    return method == Method::geodesic_voxel || method == Method::voxel_heat ||
           method == Method::bounded_biharmonic || method == Method::surface_heat;
}

std::size_t estimate_memory(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                            const Context* context) {
    Sizes s{};
    s.vertices = static_cast<double>(mesh.positions.size());
    s.triangles = static_cast<double>(mesh.triangles.size());
    s.joints = static_cast<double>(skeleton.joints.size());
    s.sets = static_cast<double>(std::max<std::size_t>(skeleton.skins.size(), 1));
    s.all = options.finish.max_influences == all_influences;
    s.kept = s.all ? s.joints : static_cast<double>(kept_joints(options.finish));
    s.labels = s.kept <= 8 ? 64 : 128;
    s.threads = thread_count(context);
    s.keep_volume = options.keep_volume;
    if (has_volume(options.method)) {
        s.cells = cells_of_grids(mesh, options);
        s.leaves = most_leaves(mesh, skeleton, options);
    } else if (options.method == Method::pixel_geodesic) {
        s.leaves = most_pixels_of(mesh, options);
    }
    constexpr double small = 4e6;  // whatever the size
    return static_cast<std::size_t>(small + need_of(s, mesh, options));
}

Status check_memory(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                    const Context* context) {
    if (!context || context->memory_limit == 0) return Done{};
    const std::size_t limit = context->memory_limit;
    const std::size_t need = estimate_memory(mesh, skeleton, options, context);
    if (need <= limit) return Done{};
    const std::string much =
        std::to_string(need >> 20) + " MB, more than the limit of " + std::to_string(limit >> 20) + " MB";
    BindOptions smaller = options;
    const auto smaller_need = [&] { return estimate_memory(mesh, skeleton, smaller, context); };
    while (smaller.voxels.resolution > 32 && smaller_need() > limit) smaller.voxels.resolution /= 2;
    if (options.voxels.resolution > 32 && smaller_need() == need)
        return Error{ErrorCode::too_large,
                     "method " + std::string(to_string(options.method)) + " may need " + much};
    return Error{
        ErrorCode::too_large,
        "resolution " + std::to_string(options.voxels.resolution) + " may need " + much + "; " +
            (smaller_need() <= limit ? "resolution " + std::to_string(smaller.voxels.resolution) + " would fit"
                                     : std::string("no resolution would fit"))};
}

}  // namespace sinew
