// The cost of steps in a sweep, and steps that can be left out.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "domain/leaf_graph.h"
#include "field/geodesic.h"
#include "field/label_rows.h"
#include "field/step_pruning.h"

namespace sinew {

inline constexpr std::uint32_t kUnit = 16384;  ///< per voxel
static_assert(LeafDistances::units_per_voxel == kUnit);

inline std::uint32_t to_units(double voxels) {
    return static_cast<std::uint32_t>(std::min(std::round(voxels * kUnit), 4294967294.0));
}

/// The last step in a label (kLabelDirectionMask): the direction between leaves of one size in groups; or nothing;
/// or, from kFromOther on, the index of the other link by which it came: kNoDirection + Link::back.
inline constexpr std::uint8_t kNoDirection = kDirections, kFromOther = kNoDirection + 1;

// The cost of steps between leaves of one size, and steps that can be left out, for each level that has groups.
//
// A label came from p to u by direction d; n = u + e. The step to n is left out if
// - p is linked to n and the direct step is shorter, or
// - a common neighbour v of p and n, no costlier to enter than u, gives a shorter path, or an equally long path
//   with a shorter last step.
// Then n still gets the label: of all leaves from which it can come at its smallest distance, take one whose
// step to n is the shortest; neither case applies to it. This is the pruning of jump point search (Harabor and
// Grastien 2011), with weights, and with ties broken by the last step. If p, u and n differ in size, only the
// first case is checked (contact_pruning).
struct GeodesicSolver::Steps {
    std::uint32_t cost[2][kDirections];                               // into interior and boundary leaves
    Label add[2][kDirections];                                        // the same, as a number to add to a label
    std::array<std::array<Continuation, kDirections>, 2> after_step;  // by whether u is boundary, and d
    bool prunes;                                                      // false if diagonal neighbours are not linked

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
                after_step[static_cast<std::size_t>(here)][static_cast<std::size_t>(d)] = continuation(here, d);
            }
    }

    /// The directions in which a label that came by d goes on, of the neighbours `all` of its leaf, of which
    /// `boundary` are boundary leaves. `here`: whether its leaf is.
    [[gnu::always_inline]] std::uint32_t onwards(bool here, int d, std::uint32_t all,
                                                 std::uint32_t boundary) const {
        if (d >= kNoDirection || !prunes) return all;
        return after_step[here][static_cast<std::size_t>(d)].onwards(all, boundary, here ? all : all & ~boundary);
    }
    /// The same, step by step and by the rules themselves: the reference.
    std::uint32_t onwards_plain(bool here, int d, std::uint32_t all, std::uint32_t boundary) const {
        if (d >= kNoDirection || !prunes) return all;
        std::uint32_t out = 0;
        for (int e = 0; e < kDirections; ++e) {
            const int there = boundary >> e & 1;
            bool needed = (all >> e & 1) && !direct_is_shorter(here, d, there, e);
            for (int g = 0; g < kDirections; ++g) {
                const bool serves = (all >> g & 1) && (here || !(boundary >> g & 1));
                needed = needed && !(serves && better_over(g, here, d, there, e));
            }
            out |= std::uint32_t{needed} << e;
        }
        return out;
    }

private:
    using Offset = std::array<int, 3>;
    static bool adjacent(const Offset& s) {
        return std::max({std::abs(s[0]), std::abs(s[1]), std::abs(s[2])}) == 1;
    }
    static Offset sum(const Offset& a, const Offset& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
    static Offset difference(const Offset& a, const Offset& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
    std::uint64_t step_cost(int boundary, const Offset& s) const {
        return cost[boundary][direction_of(s[0], s[1], s[2])];
    }
    std::uint64_t cost_over_u(int here, int d, int there, int e) const {
        return std::uint64_t{cost[here][d]} + cost[there][e];
    }

    // Whether p is n, or the step from p to n is shorter than the path over u.
    bool direct_is_shorter(int here, int d, int there, int e) const {
        const Offset direct = sum(step_of(d), step_of(e));
        if (direct == Offset{}) return true;
        return adjacent(direct) && step_cost(there, direct) < cost_over_u(here, d, there, e);
    }
    // Whether v = u + g, if it exists, has a better path from p to n than u.
    bool better_over(int g, int here, int d, int there, int e) const {
        const Offset first = sum(step_of(d), step_of(g)), last = difference(step_of(e), step_of(g));
        if (!adjacent(first) || !adjacent(last)) return false;
        const std::uint64_t over_u = cost_over_u(here, d, there, e), last_step = step_cost(there, last),
                            over_v = step_cost(here, first) + last_step;
        return over_v < over_u || (over_v == over_u && last_step < cost[there][e]);
    }

    Continuation continuation(int here, int d) const {
        Continuation out;
        for (int there = 0; there < 2; ++there) {
            out.allowed[there] = 0;
            for (int e = 0; e < kDirections; ++e)
                if (!direct_is_shorter(here, d, there, e)) out.allowed[there] |= 1u << e;
        }
        std::size_t count = 0;
        for (int g = 0; g < kDirections; ++g) {
            std::array<std::uint32_t, 2> saved{};
            for (std::size_t there = 0; there < 2; ++there)
                for (int e = 0; e < kDirections; ++e)
                    if ((out.allowed[there] >> e & 1) && better_over(g, here, d, static_cast<int>(there), e))
                        saved[there] |= 1u << e;
            if (!(saved[0] | saved[1])) continue;
            out.common[count / 4][count % 4] = 1u << g;
            for (std::size_t there = 0; there < 2; ++there) out.saved[there][count / 4][count % 4] = saved[there];
            ++count;
        }
        return out;
    }
};

/// ContactStep::pruning, for a step from u to n: kBoundary if n is boundary, and where n touches u. If the
/// predecessor of a label touches a leaf that it could go on to, the path over u is not the shortest: the centres
/// of three leaves that touch are never collinear, by a margin larger than rounding. For boundary leaves, whose
/// cost has another factor, this holds only if u is boundary, too.
/// - u in a group: `neighbours` has the directions to neighbours that touch n and whose shortest path to n does not
///   lead over u. At level 0 all other ends are larger and touch one corner of the group of u, and so each other.
///   At level 1 `kCorners` has those of the 3³ voxel corners of u that n touches: ends that share one touch.
/// - u larger: the box in which n touches u (packed_box).
namespace contact_pruning {
inline constexpr int kLargest = 7;  ///< largest level of u for which a box fits
inline constexpr std::uint64_t kBoundary = std::uint64_t{1} << 54;
inline constexpr std::uint64_t kCorners = ((std::uint64_t{1} << 27) - 1) << kDirections;

inline std::uint32_t neighbours(std::uint64_t pruning) {
    return static_cast<std::uint32_t>(pruning) & ((1u << kDirections) - 1);
}
}  // namespace contact_pruning

/// The steps along listed links, by Domain::Graph::Link::contact.
std::vector<GeodesicSolver::ContactStep> make_contact_steps(const Domain& domain, float penalty, Context* context);

}  // namespace sinew
