// The visible faces of a voxelization, row by row of 64-bit words.

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/parallel.h"
#include "domain/trace.h"
#include "render/figure.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

/// Voxels that the bones cross.
BitGrid bone_voxels(const VoxelPanel& voxels) {
    BitGrid out(voxels.grid->transform.resolution);
    for (const Bone& bone : voxels.bones)
        trace_segment(voxels.grid->transform, bone.head, bone.tail, [&](int x, int y, int z) { out.set(x, y, z); });
    return out;
}

}  // namespace

Rgb voxel_colour(VoxelKind kind) {
    switch (kind) {
        case VoxelKind::boundary:
            return {122, 158, 199};
        case VoxelKind::interior:
            return {236, 222, 180};
        case VoxelKind::settled:
            return {214, 76, 148};
        case VoxelKind::ambiguous:
            return {134, 104, 178};
        case VoxelKind::bone:
            return {225, 112, 20};
    }
    return {};
}

VoxelBox occupied_box(const VoxelGrid& grid) {
    VoxelBox box;
    bool any = false;
    const int r = grid.boundary.resolution();
    const int words = grid.boundary.words_per_row();
    for (int z = 0; z < r; ++z)
        for (int y = 0; y < r; ++y)
            for (int w = 0; w < words; ++w) {
                const std::size_t i = grid.boundary.index(64 * w, y, z);
                std::uint64_t bits = grid.boundary.words()[i];
                if (!grid.interior.words().empty()) bits |= grid.interior.words()[i];
                if (!bits) continue;
                const int low[3] = {64 * w + std::countr_zero(bits), y, z};
                const int high[3] = {64 * w + 64 - std::countl_zero(bits), y + 1, z + 1};
                for (std::size_t k = 0; k < 3; ++k) {
                    box.low[k] = any ? std::min(box.low[k], low[k]) : low[k];
                    box.high[k] = any ? std::max(box.high[k], high[k]) : high[k];
                }
                any = true;
            }
    return box;
}

VoxelFaces voxel_faces(const VoxelPanel& voxels, const std::array<bool, 6>& seen, Context* context) {
    const VoxelGrid& grid = *voxels.grid;
    const int r = grid.boundary.resolution(), words = grid.boundary.words_per_row();
    const BitGrid bone = bone_voxels(voxels);
    const VoxelBox box = occupied_box(grid);
    int from[3], to[3];
    for (std::size_t k = 0; k < 3; ++k) {
        const double size = box.high[k] - box.low[k];
        from[k] = box.low[k] + static_cast<int>(std::lround(voxels.cut_from[k] * size));
        to[k] = box.low[k] + static_cast<int>(std::lround(voxels.cut_to[k] * size));
    }
    auto at = [&](const BitGrid& bits, int w, int y, int z) -> std::uint64_t {
        return bits.words().empty() ? 0 : bits.words()[bits.index(64 * w, y, z)];
    };
    // 64 voxels of a row: a bit is set for a shown voxel. Bones are shown whole, also outside of the cut and
    // the volume.
    auto shown = [&](int w, int y, int z) -> std::uint64_t {
        if (y < 0 || y >= r || z < 0 || z >= r || w < 0 || w >= words) return 0;
        const std::uint64_t bones = at(bone, w, y, z);
        if (y < from[1] || y >= to[1] || z < from[2] || z >= to[2]) return bones;
        const int low = std::clamp(from[0] - 64 * w, 0, 64), high = std::clamp(to[0] - 64 * w, 0, 64);
        if (low >= high) return bones;
        std::uint64_t bits =
            at(grid.boundary, w, y, z) | at(grid.interior, w, y, z) | at(grid.ambiguous_voxels, w, y, z);
        if (low > 0) bits &= ~std::uint64_t{0} << low;
        if (high < 64) bits &= ~(~std::uint64_t{0} << high);
        return bits | bones;
    };
    std::vector<VoxelFaces> slices(static_cast<std::size_t>(r));
    parallel_for(context, slices.size(), 1, [&](std::size_t slice) {
        VoxelFaces& out = slices[slice];
        const int z = static_cast<int>(slice);
        for (int y = 0; y < r; ++y)
            for (int w = 0; w < words; ++w) {
                const std::uint64_t here = shown(w, y, z);
                if (!here) continue;
                const std::uint64_t bones = at(bone, w, y, z), doubt = at(grid.ambiguous_voxels, w, y, z),
                                    shell = at(grid.boundary, w, y, z);
                const std::uint64_t inside = at(grid.interior, w, y, z);
                const std::uint64_t kinds[kVoxelKinds] = {shell & ~bones & ~doubt, ~shell & ~bones & ~doubt,
                                                          doubt & ~bones & inside, doubt & ~bones & ~inside, bones};
                for (std::size_t k = 0; k < kVoxelKinds; ++k)
                    out.shown[k] += static_cast<std::size_t>(std::popcount(here & kinds[k]));
                const std::uint64_t open[6] = {here & ~(here << 1 | shown(w - 1, y, z) >> 63),
                                               here & ~(here >> 1 | shown(w + 1, y, z) << 63),
                                               here & ~shown(w, y - 1, z),
                                               here & ~shown(w, y + 1, z),
                                               here & ~shown(w, y, z - 1),
                                               here & ~shown(w, y, z + 1)};
                for (std::size_t d = 0; d < 6; ++d) {
                    if (!seen[d]) continue;
                    for (std::uint64_t bits = open[d]; bits; bits &= bits - 1) {
                        const int bit = std::countr_zero(bits);
                        std::size_t kind = 0;
                        while (!(kinds[kind] >> bit & 1)) ++kind;
                        out.faces.push_back({static_cast<std::uint16_t>(64 * w + bit),
                                             static_cast<std::uint16_t>(y), static_cast<std::uint16_t>(z),
                                             static_cast<std::uint8_t>(d), static_cast<VoxelKind>(kind)});
                    }
                }
            }
    });
    VoxelFaces out;
    std::size_t total = 0;
    for (const VoxelFaces& s : slices) total += s.faces.size();
    out.faces.reserve(total);
    for (VoxelFaces& s : slices) {
        out.faces.insert(out.faces.end(), s.faces.begin(), s.faces.end());
        for (std::size_t k = 0; k < kVoxelKinds; ++k) out.shown[k] += s.shown[k];
        s = {};
    }
    return out;
}

}  // namespace sinew
