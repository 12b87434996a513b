#include "bind/surface_heat/inner_volume.h"

#include <algorithm>
#include <numeric>

#include "core/vectors.h"
#include "domain/trace.h"

namespace sinew {
namespace {

// Joints are equally near if their distances through the volume differ by a smaller share: the accuracy of these
// distances.
constexpr double kVolumeTie = 1e-3;
// SurfaceHeatRules::gap is at least this many voxels.
constexpr double kGapVoxels = 1;

}  // namespace

Point3 InnerVolume::to_voxels(const Point3& p) const { return sinew::to_voxels(domain_.transform, p); }

bool InnerVolume::solid_voxel(const Point3& p) const {
    const bool in_grid =
        std::min({p[0], p[1], p[2]}) >= 0 && std::max({p[0], p[1], p[2]}) < domain_.transform.resolution;
    return in_grid &&
           domain_.leaf_at(static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2])) != no_index;
}

bool InnerVolume::joins(const Point3& a, const Point3& b) const {
    const GridTransform& grid = domain_.transform;
    const Point3 from = to_voxels(a), to = to_voxels(b);
    const double length = norm(to - from);
    if (!(length < 4 * grid.resolution)) return false;  // a bone far outside
    const double gap = std::max(rules_.gap * grid.unit / grid.voxel, kGapVoxels);
    const int steps = 1 + static_cast<int>(2 * length);  // half voxels
    int outside = 0;
    for (int i = 0; i <= steps; ++i) {
        const double t = static_cast<double>(i) / steps;
        outside += !solid_voxel((1 - t) * from + t * to);
        if (outside > 2 * gap) return false;
    }
    return true;
}

void InnerVolume::set_parts(const Task& task, const MeshSurface& surface, const std::vector<SurfacePart>& parts) {
    positions_ = task.mesh.positions;
    enclosed_.emplace(
        task.mesh, task.skeleton, task.bones, parts, [this](const Point3& p) { return solid(p); }, task.context,
        rules_.enclosed);
    std::vector<double> area(surface.components, 0);
    for (std::size_t node = 0; node < surface.nodes(); ++node) area[surface.component[node]] += surface.mass[node];
    const double whole = std::accumulate(area.begin(), area.end(), 0.0);
    for (const double each : area) is_body_.push_back(each > kLargestRigidShare * whole);
}

std::optional<NodeHeat> InnerVolume::nearest(const JointSet& set, std::uint32_t vertex, std::uint32_t part,
                                             bool occluded) const {
    const DistanceTable& table = distances_.table;
    const std::size_t first = vertex * table.width;
    const Point3 place = to_point(positions_[vertex]);
    NodeHeat found;
    found.share = occluded ? 1 : rules_.hidden;
    found.how = NodeHeat::Way::through_volume;
    for (std::size_t k = first; k < first + table.width && table.joint[k] != no_index; ++k) {
        if (excludes(table.joint[k], part, place)) continue;
        if (found.count == 0) found.distance = static_cast<double>(table.distance[k]);
        if (static_cast<double>(table.distance[k]) > found.distance * (1 + kVolumeTie)) break;
        const auto at = std::lower_bound(set.joints.begin(), set.joints.end(), table.joint[k]);
        found.add(static_cast<std::uint32_t>(at - set.joints.begin()));
    }
    if (found.count == 0) return std::nullopt;
    return found;
}

}  // namespace sinew
