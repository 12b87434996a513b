// Meshes with more triangles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sinew/core.h"

namespace sinew::test {

/// Splits every triangle into four, at the middles of its sides.
inline void refine(std::vector<Vec3>& positions, std::vector<Triangle>& triangles) {
    std::vector<Triangle> fine;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    for (const Triangle& t : triangles) {
        std::uint32_t middle[3];
        for (std::size_t k = 0; k < 3; ++k) {
            const Vec3 a = positions[t[k]], b = positions[t[(k + 1) % 3]];
            const auto [at, fresh] =
                known.try_emplace(std::minmax(t[k], t[(k + 1) % 3]), static_cast<std::uint32_t>(positions.size()));
            middle[k] = at->second;
            if (fresh) positions.push_back({(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2});
        }
        fine.insert(fine.end(), {{t[0], middle[0], middle[2]},
                                 {middle[0], t[1], middle[1]},
                                 {middle[2], middle[1], t[2]},
                                 {middle[0], middle[1], middle[2]}});
    }
    triangles = std::move(fine);
}

}  // namespace sinew::test
