// The cost of steps in a sweep, and steps that can be left out.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "domain/leaf_graph.h"
#include "field/geodesic.h"
#include "field/label_rows.h"

namespace sinew {

inline constexpr std::uint32_t kUnit = 16384;  ///< per voxel
static_assert(LeafDistances::units_per_voxel == kUnit);

inline std::uint32_t to_units(double voxels) {
    return static_cast<std::uint32_t>(std::min(std::round(voxels * kUnit), 4294967294.0));
}

/// The last step in a label (kLabelDirectionMask): the direction between leaves of one size in groups; or nothing;
/// or the index of the other link by which it came: kNoDirection + Link::back.
inline constexpr std::uint8_t kNoDirection = kDirections;

// The cost of steps between leaves of one size, and steps that can be left out, for each level that has groups.
//
// A label came from p to u by direction d; n = u + e. The step to n is left out if p is linked to n and the direct
// step is shorter. Then n still gets the label: of all leaves from which it can come at its smallest distance, take
// one whose step to n is the shortest; this case does not apply to it. (The first rule of jump point search,
// Harabor and Grastien 2011, with weights.)
struct GeodesicSolver::Steps {
    std::uint32_t cost[2][kDirections];  // into interior and boundary leaves
    Label add[2][kDirections];           // the same, as a number to add to a label
    std::array<std::array<std::uint32_t, 2>, kDirections>
        after_step[2];  // onwards, by whether u and n are boundary
    bool prunes;        // false if diagonal neighbours are not linked

    Steps(int level, float penalty, bool diagonals) : prunes(diagonals) {
        for (int d = 0; d < kDirections; ++d) {
            const auto [x, y, z] = step_of(d);
            const double length = std::sqrt(static_cast<double>(x * x + y * y + z * z)) * (1 << level);
            cost[0][d] = to_units(length);
            cost[1][d] = to_units(length * penalty);
        }
        for (int here = 0; here < 2; ++here)
            for (int d = 0; d < kDirections; ++d) {
                add[here][d] = make_label(cost[here][d], 0, static_cast<std::uint8_t>(d));
                for (int there = 0; there < 2; ++there) {
                    std::uint32_t& onwards = after_step[here][static_cast<std::size_t>(d)][there];
                    onwards = 0;
                    for (int e = 0; e < kDirections; ++e)
                        if (!direct_is_shorter(here, d, there, e)) onwards |= 1u << e;
                }
            }
    }

    /// The directions in which a label that came by d goes on, of the neighbours `all` of its leaf, of which
    /// `boundary` are boundary leaves. `here`: whether its leaf is.
    std::uint32_t onwards(bool here, int d, std::uint32_t all, std::uint32_t boundary) const {
        if (d >= kNoDirection || !prunes) return all;
        const auto& allowed = after_step[here][static_cast<std::size_t>(d)];
        return all & ((allowed[0] & ~boundary) | (allowed[1] & boundary));
    }

private:
    // Whether p is n, or the step from p to n is shorter than the path over u.
    bool direct_is_shorter(int here, int d, int there, int e) const {
        const auto first = step_of(d), last = step_of(e);
        const std::array<int, 3> direct{first[0] + last[0], first[1] + last[1], first[2] + last[2]};
        const int reach = std::max({std::abs(direct[0]), std::abs(direct[1]), std::abs(direct[2])});
        if (reach == 0) return true;
        return reach == 1 && cost[there][direction_of(direct[0], direct[1], direct[2])] <
                                 std::uint64_t{cost[here][d]} + cost[there][e];
    }
};

/// The costs of steps along listed links, by Domain::Graph::Link::contact.
std::vector<std::uint32_t> contact_costs(const Domain& domain, float penalty, Context* context);

}  // namespace sinew
