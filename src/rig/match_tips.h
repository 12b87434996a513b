// Which tip of a volume is which of a template.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/geometry.h"
#include "rig/templates.h"

namespace sinew {

inline constexpr double kMissing = 1.0;  ///< cost of a tip that is not found: no tip may cost more

/// A signed permutation of axes: from the scene's box to the template's.
struct Turn {
    std::array<int, 3> axis{0, 1, 2};  // the scene's axis that becomes the template's axis k
    std::array<int, 3> sign{1, 1, 1};

    Point3 to_template(const Point3& p) const {
        Point3 out{};
        for (std::size_t k = 0; k < 3; ++k) out[k] = sign[k] * p[static_cast<std::size_t>(axis[k])];
        return out;
    }
    Point3 to_scene(const Point3& p) const {
        Point3 out{};
        for (std::size_t k = 0; k < 3; ++k) out[static_cast<std::size_t>(axis[k])] = sign[k] * p[k];
        return out;
    }
};

/// Which tip of the volume is which of the template.
struct Match {
    Turn turn;
    double cost = INFINITY;                          // sum over the template's tips
    double turned = 0;                               // what the turn adds to it in the choice
    std::map<std::string, std::uint32_t> tips = {};  // by "foot.L", "head"; those that were found
};

/// A tip of the volume.
struct FoundTip {
    std::uint32_t voxel;
    Point3 place;  // in the box, -1 to 1
    double thickness;
};

/// Of all turns by right angles that the template allows, the one that fits best. O(turns x tips² x the template's
/// tips).
Match match_tips(const Template& model, const std::vector<FoundTip>& tips);

}  // namespace sinew
