#include "rig/limb_path.h"

#include <algorithm>

#include "core/vectors.h"

namespace sinew {

Point3 LimbPath::at(double distance) const {
    const auto next = std::lower_bound(length.begin(), length.end(), std::clamp(distance, 0.0, whole()));
    const auto k = static_cast<std::size_t>(next - length.begin());
    if (k == 0) return points[0];
    const double t = (distance - length[k - 1]) / std::max(1e-12, length[k] - length[k - 1]);
    return points[k - 1] + std::clamp(t, 0.0, 1.0) * (points[k] - points[k - 1]);
}

void LimbPath::measure() {
    length.assign(1, 0);
    for (std::size_t k = 1; k < points.size(); ++k)
        length.push_back(length.back() + norm(points[k] - points[k - 1]));
}

LimbPath make_path(const BodyVolume& volume, const std::vector<std::uint32_t>& voxels) {
    LimbPath path;
    std::vector<Point3> raw;
    for (const std::uint32_t v : voxels) {
        raw.push_back(volume.position(v));
        path.depth.push_back(volume.voxel * volume.depth[v]);
    }
    const auto n = static_cast<std::ptrdiff_t>(raw.size());
    for (std::ptrdiff_t k = 0; k < n; ++k) {
        // The mean over about the thickness, less near the ends, which stay where they are.
        const auto reach =
            std::min({k, n - 1 - k,
                      static_cast<std::ptrdiff_t>(path.depth[static_cast<std::size_t>(k)] / volume.voxel) + 1});
        Point3 sum{};
        for (std::ptrdiff_t i = k - reach; i <= k + reach; ++i) sum = sum + raw[static_cast<std::size_t>(i)];
        path.points.push_back((1.0 / static_cast<double>(2 * reach + 1)) * sum);
    }
    path.measure();
    return path;
}

LimbPath part_of(const LimbPath& path, double from) {
    LimbPath part{{path.at(from)}, {}, {0}};
    for (std::size_t k = 0; k < path.points.size(); ++k)
        if (path.length[k] > from) {
            part.points.push_back(path.points[k]);
            part.depth.push_back(path.depth[k]);
        }
    part.measure();
    return part;
}

LimbPath limb_of(const LimbPath& path, double inset) {
    std::size_t out = 0;
    const std::size_t last = path.points.size() - 1;
    while (out < last && norm(path.points[out] - path.points[0]) < path.depth[0]) ++out;
    if (path.length[out] > 0.6 * path.whole()) out = 0;
    const Point3 leaves = path.points[out],
                 direction = unit(path.at(path.length[out] + 2 * path.depth[out]) - leaves);
    LimbPath limb;
    limb.points.push_back(leaves - inset * path.depth[out] * direction);
    limb.points.insert(limb.points.end(), path.points.begin() + static_cast<std::ptrdiff_t>(out),
                       path.points.end());
    limb.depth.push_back(path.depth[out]);
    limb.depth.insert(limb.depth.end(), path.depth.begin() + static_cast<std::ptrdiff_t>(out), path.depth.end());
    limb.measure();
    return limb;
}

}  // namespace sinew
