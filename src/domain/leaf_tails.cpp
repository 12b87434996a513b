// The length of the bone of a leaf joint: through the volume, in the direction from its parent.
#include <algorithm>
#include <cmath>

#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew {

void extend_leaf_bones(std::vector<Bone>& bones, const Skeleton& skeleton, const VoxelGrid& grid) {
    const GridTransform& transform = grid.transform;
    const int size[3] = {transform.resolution, transform.resolution, transform.depth()};
    // The edge length, in finest voxels, of the voxel that holds a point, if it is solid; else 0.
    const auto edge_at = [&](const double(&p)[3]) {
        int voxel[3];
        for (int a = 0; a < 3; ++a) {
            // Compared as double: a joint may be outside the range of int.
            if (!(p[a] >= 0 && p[a] < size[a])) return 0;
            voxel[a] = static_cast<int>(p[a]);
        }
        if (!grid.solid(voxel[0], voxel[1], voxel[2])) return 0;
        return grid.is_fine(voxel[0], voxel[1], voxel[2]) ? 1 : 2;
    };

    for (Bone& bone : bones) {
        // A point bone with an open tail belongs to a leaf joint. Other points are coincident joints, or
        // stated.
        if (!(bone.head == bone.tail) || bone.open_tail || bone.shaped()) continue;
        if (skeleton.joints[bone.joint].states_bones()) continue;

        // The direction from the nearest ancestor at another position.
        double direction[3] = {0, 0, 0}, length = 0;
        for (int up = skeleton.joints[bone.joint].parent; up >= 0 && !(length > 0);
             up = skeleton.joints[up].parent) {
            const Vec3& from = skeleton.joints[up].position;
            direction[0] = double(bone.head.x) - from.x;
            direction[1] = double(bone.head.y) - from.y;
            direction[2] = double(bone.head.z) - from.z;
            length =
                std::sqrt(direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]);
        }
        if (!(length > 0)) continue;  // a root that is a leaf: no direction is preferred

        // March in steps of half a voxel, over gaps of at most one voxel, to the last solid sample.
        const double start[3] = {(bone.head.x - transform.origin[0]) / transform.voxel,
                                 (bone.head.y - transform.origin[1]) / transform.voxel,
                                 (bone.head.z - transform.origin[2]) / transform.voxel};
        double edge = edge_at(start), last = 0;
        if (!(edge > 0)) continue;
        for (double at = edge / 2; at - last <= 1.5 * edge; at += edge / 2) {
            double p[3];
            for (int a = 0; a < 3; ++a) p[a] = start[a] + at * direction[a] / length;
            if (const int here = edge_at(p)) {
                last = at;
                edge = here;
            }
        }
        const double reach = (last - edge) * transform.voxel;  // one voxel short of the surface
        if (!(reach > 0)) continue;
        bone.tail = {static_cast<float>(bone.head.x + reach * direction[0] / length),
                     static_cast<float>(bone.head.y + reach * direction[1] / length),
                     static_cast<float>(bone.head.z + reach * direction[2] / length)};
    }
}

}  // namespace sinew
