// Distances through the pixels of a flat figure (VIDE 2012, "Bones and Automatic Vertex Weights"): a grid of one
// layer, and the same paths as through voxels.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bind/geodesic_voxel.h"
#include "bind/volume.h"
#include "core/try.h"
#include "domain/leaf_graph.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

/// The plane of a mesh: two axes of the scene, kept in their cyclic order, and the one across.
struct Plane {
    int u = 0, v = 1, across = 2;
    double thickness = 0;  // share of the longest side

    /// The plane's axes as x and y.
    Vec3 turned(const Vec3& p) const {
        const std::array<float, 3> c{p.x, p.y, p.z};
        return {c[u], c[v], c[across]};
    }
    Vec3 flat(const Vec3& p) const {
        const Vec3 q = turned(p);
        return {q.x, q.y, 0};
    }
    /// A flat point in the scene, with the coordinate across the plane of another point.
    Vec3 scene(const Vec3& p, const Vec3& other) const {
        std::array<float, 3> c{other.x, other.y, other.z};
        c[u] = p.x;
        c[v] = p.y;
        return {c[0], c[1], c[2]};
    }
};

constexpr double kMostThickness = 0.01;
constexpr char kAxes[] = "xyz";

Result<Plane> find_plane(const MeshView& mesh) {
    std::array<double, 3> low, high, side;
    low.fill(INFINITY), high.fill(-INFINITY);
    for (const Triangle& t : mesh.triangles)
        for (const std::uint32_t i : t) {
            const Point3 p = to_point(mesh.positions[i]);
            for (std::size_t k = 0; k < 3; ++k) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
        }
    for (std::size_t k = 0; k < 3; ++k) side[k] = high[k] - low[k];
    Plane plane;
    // Of equally thin sides the last one: figures usually stand in x and y.
    for (int k = 0; k < 3; ++k)
        if (side[k] <= side[plane.across]) plane.across = k;
    plane.u = (plane.across + 1) % 3;
    plane.v = (plane.across + 2) % 3;
    plane.thickness = side[plane.across] / *std::max_element(side.begin(), side.end());
    if (!(plane.thickness <= kMostThickness))
        return Error{
            ErrorCode::input,
            "method pixel-geodesic is for flat meshes: along " + std::string(1, kAxes[plane.across]) +
                ", its thinnest side, this one measures " +
                std::to_string(static_cast<int>(std::lround(100 * plane.thickness))) +
                " % of its longest, and 1 % is allowed (turn a flat mesh so that it lies across an axis, or "
                "choose another method)"};
    return plane;
}

}  // namespace

Result<MethodRows> bind_pixel_geodesic(const Task& task) {
    SINEW_TRY_LET(Plane found, find_plane(task.mesh));
    const Plane plane = found;
    BindReport& report = task.report;
    if (plane.thickness > 0)
        report.warnings.push_back("the mesh is not quite flat: it was flattened along " +
                                  std::string(1, kAxes[plane.across]));

    std::vector<Vec3> positions;
    for (const Vec3& p : task.mesh.positions) positions.push_back(plane.flat(p));
    Skeleton skeleton = task.skeleton;
    for (Joint& joint : skeleton.joints) joint.position = plane.flat(joint.position);
    std::vector<Bone> bones = task.bones;
    for (Bone& bone : bones) {
        bone.head = plane.flat(bone.head);
        bone.tail = plane.flat(bone.tail);
        if (bone.box)
            for (Vec3& axis : bone.box->axes) axis = plane.turned(axis);
    }
    const MeshView mesh{positions, task.mesh.triangles, task.mesh.skin_of_vertex};

    Result<VoxelGrid> grid = task.clock.run("rasterise", [&] {
        return task.options.mask ? pixel_grid(*task.options.mask)
                                 : pixel_grid(mesh, task.options.voxels.resolution, task.context);
    });
    if (!grid) return grid.error();
    report.interior_voxels = grid->interior.count(task.context);
    const auto r = static_cast<std::size_t>(grid->transform.resolution);
    report.exterior_voxels = r * r - report.interior_voxels;
    extend_leaf_bones(bones, skeleton, *grid);
    for (std::size_t i = 0; i < bones.size(); ++i)
        task.bones[i].tail = plane.scene(bones[i].tail, task.bones[i].tail);

    Result<Domain> domain = task.clock.run("octree", [&] {
        return build_domain(*grid, bones, DomainKind::uniform, task.context, task.options.neighbours);
    });
    if (!domain) return domain.error();
    report.leaves = domain->leaves.size();
    report.links = domain->graph->link_count;
    report.components = domain->component_count;
    if (domain->leaves.empty()) return Error{ErrorCode::input, "the mask has no inside pixel"};

    const Task flat = task.with(mesh, skeleton, task.options, bones);
    SINEW_TRY_LET(DistanceRows rows, task.clock.run("distances", [&] {
        return measure_rows(flat, *domain, seed_volume(flat, *domain));
    }));
    return MethodRows(std::move(rows));
}

}  // namespace sinew
