// The direction in which a character faces, from the names of its joints. Names are more reliable than the
// shape.

#include <cmath>
#include <map>

#include "core/geometry.h"
#include "core/joint_names.h"
#include "sinew/skeleton.h"

namespace sinew {

std::optional<Vec3> facing(const Skeleton& skeleton, const Vec3& up) {
    // Left and right of a name: joint + 1; 0 = missing, -1 = ambiguous
    std::map<std::string, std::array<int, 2>> pairs;
    for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
        const SidedName name = read_side(skeleton.joints[j].name);
        if (name.side == 0) continue;
        int& slot = pairs[name.rest][name.side < 0 ? 0 : 1];
        slot = slot == 0 ? static_cast<int>(j) + 1 : -1;
    }
    const Point3 u = to_point(up);
    const double upward = std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    Point3 sum{0, 0, 0};
    double all = 0;
    int count = 0;
    for (const auto& [name, pair] : pairs) {
        if (pair[0] <= 0 || pair[1] <= 0) continue;
        const Point3 a = to_point(skeleton.joints[static_cast<std::size_t>(pair[0] - 1)].position);
        const Point3 b = to_point(skeleton.joints[static_cast<std::size_t>(pair[1] - 1)].position);
        const Point3 l{a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        // To the left, and up: forward is their cross product.
        const Point3 forward{l[1] * u[2] - l[2] * u[1], l[2] * u[0] - l[0] * u[2], l[0] * u[1] - l[1] * u[0]};
        for (std::size_t k = 0; k < 3; ++k) sum[k] += forward[k];
        all += std::sqrt(forward[0] * forward[0] + forward[1] * forward[1] + forward[2] * forward[2]);
        ++count;
    }
    const double length = std::sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    if (count < 2 || !(upward > 0) || !(length > 0.7 * all)) return std::nullopt;
    return Vec3{static_cast<float>(sum[0] / length), static_cast<float>(sum[1] / length),
                static_cast<float>(sum[2] / length)};
}

}  // namespace sinew
