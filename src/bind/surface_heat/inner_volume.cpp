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

Point3 InnerVolume::to_voxels(const Point3& p) const { return sinew::to_voxels(volume_.domain.transform, p); }

bool InnerVolume::solid_voxel(const Point3& p) const {
    const Domain& domain = volume_.domain;
    const bool in_grid =
        std::min({p[0], p[1], p[2]}) >= 0 && std::max({p[0], p[1], p[2]}) < domain.transform.resolution;
    return in_grid &&
           domain.leaf_at(static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2])) != no_index;
}

bool InnerVolume::joins(const Point3& a, const Point3& b) const {
    const GridTransform& grid = volume_.domain.transform;
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

void InnerVolume::set_parts(const MeshSurface& surface, const std::vector<SurfacePart>& parts,
                            const std::vector<Bone>& bones) {
    enclosed_.emplace(
        task_.mesh, task_.skeleton, bones, parts, [this](const Point3& p) { return solid(p); }, task_.context,
        rules_.enclosed);
    std::vector<double> area(surface.components, 0);
    for (std::size_t node = 0; node < surface.nodes(); ++node) area[surface.component[node]] += surface.mass[node];
    const double whole = std::accumulate(area.begin(), area.end(), 0.0);
    for (const double each : area) is_body_.push_back(each > kLargestRigidShare * whole);
}

std::optional<NodeHeat> InnerVolume::nearest(const JointSet& set, const DistanceTable& distances, std::size_t row,
                                             std::uint32_t part, const Point3& point, bool occluded) const {
    const std::size_t first = row * distances.width;
    NodeHeat found;
    found.how = occluded ? NodeHeat::Way::occluded : NodeHeat::Way::hidden;
    for (std::size_t k = first; k < first + distances.width && distances.joint[k] != no_index; ++k) {
        if (excludes(distances.joint[k], part, point)) continue;
        if (found.count == 0) found.distance = static_cast<double>(distances.distance[k]);
        if (static_cast<double>(distances.distance[k]) > found.distance * (1 + kVolumeTie)) break;
        const auto at = std::lower_bound(set.joints.begin(), set.joints.end(), distances.joint[k]);
        found.add(static_cast<std::uint32_t>(at - set.joints.begin()));
    }
    if (found.count == 0) return std::nullopt;
    return found;
}

}  // namespace sinew
