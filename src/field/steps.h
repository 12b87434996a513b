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

/// What a label stores about its last step (kLabelDirectionMask): the direction between leaves of one size in
/// groups; or nothing; or, from kFromOther on, the index of the other link by which it came: kNoDirection +
/// Link::back.
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
// first case is checked (about_link).
struct GeodesicSolver::Steps {
    std::uint32_t cost[2][kDirections];  // into interior and boundary leaves
    Label add[2][kDirections];           // the same, as a number to add to a label without direction
    using Four = std::uint32_t __attribute__((vector_size(16)));
    static constexpr std::size_t kMaxCommonNeighbours =
        16;  // maximum number of common neighbours of both ends of a step
    struct Continuation {
        // Allowed directions into interior and boundary neighbours.
        std::uint32_t on[2];
        // Possible v, as bits of their directions from u, and the directions that are left out if v exists. All
        // are always tested, as vectors: their number is unpredictable.
        std::array<Four, kMaxCommonNeighbours / 4> over{};
        std::array<std::array<Four, kMaxCommonNeighbours / 4>, 2> saves{};
    };
    std::array<std::array<Continuation, kDirections>, 2> from;  // by whether u is boundary, and d
    bool prunes;                                                // false if diagonal neighbours are not linked

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
                fill(here, d);
            }
    }

    /// The directions in which a label that came by d goes on, of the neighbours `all` of its leaf, of which
    /// `boundary` are boundary leaves.
    [[gnu::always_inline]] std::uint32_t onwards(bool here, int d, std::uint32_t all,
                                                 std::uint32_t boundary) const {
        if (d >= kNoDirection || !prunes) return all;
        const Continuation& f = from[here][static_cast<std::size_t>(d)];
        const std::uint32_t serving = here ? all : all & ~boundary;
        Four saved[2] = {};
        for (std::size_t k = 0; k < f.over.size(); ++k) {
            const Four there = (f.over[k] & serving) != 0;
            saved[0] |= f.saves[0][k] & there;
            saved[1] |= f.saves[1][k] & there;
        }
        const Four of = (saved[0] & ~boundary) | (saved[1] & boundary);
        return all & ((f.on[0] & ~boundary) | (f.on[1] & boundary)) & ~(of[0] | of[1] | of[2] | of[3]);
    }

private:
    static bool adjacent(const std::array<int, 3>& s) {
        return std::max({std::abs(s[0]), std::abs(s[1]), std::abs(s[2])}) == 1;
    }
    static std::array<int, 3> sum(const std::array<int, 3>& a, const std::array<int, 3>& b, int sign) {
        return {a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2]};
    }
    std::uint64_t step_cost(int boundary, const std::array<int, 3>& s) const {
        return cost[boundary][direction_of(s[0], s[1], s[2])];
    }

    void fill(int here, int d) {
        Continuation& f = from[static_cast<std::size_t>(here)][static_cast<std::size_t>(d)];
        const auto in = step_of(d);
        std::size_t count = 0;
        for (int there = 0; there < 2; ++there) {
            f.on[there] = 0;
            for (int e = 0; e < kDirections; ++e) {
                const auto out = step_of(e), direct = sum(in, out, 1);
                if (direct == std::array<int, 3>{}) continue;  // back to the predecessor
                const std::uint64_t via = std::uint64_t{cost[here][d]} + cost[there][e];
                if (adjacent(direct) && step_cost(there, direct) < via) continue;
                f.on[there] |= 1u << e;
            }
        }
        for (int g = 0; g < kDirections; ++g) {
            const auto over = step_of(g), first = sum(in, over, 1);  // from u to v, from p to v
            if (!adjacent(first)) continue;
            std::array<std::uint32_t, 2> saves{};
            for (int there = 0; there < 2; ++there)
                for (int e = 0; e < kDirections; ++e) {
                    const auto last = sum(step_of(e), over, -1);  // from v to n
                    if (!(f.on[there] >> e & 1) || !adjacent(last)) continue;
                    const std::uint64_t by_u = std::uint64_t{cost[here][d]} + cost[there][e];
                    const std::uint64_t by_v = step_cost(here, first) + step_cost(there, last);
                    if (by_v < by_u || (by_v == by_u && step_cost(there, last) < cost[there][e]))
                        saves[static_cast<std::size_t>(there)] |= 1u << e;
                }
            if (!(saves[0] | saves[1])) continue;
            f.over[count / 4][count % 4] = 1u << g;
            for (std::size_t there = 0; there < 2; ++there) f.saves[there][count / 4][count % 4] = saves[there];
            ++count;
        }
    }
};

/// Touch::about, for a step from u to n. kBoundary says that n is boundary. If the predecessor of a label
/// touches a leaf that it could go on to, the path over u is not the shortest: the centres of three leaves that
/// touch are never collinear, by a margin larger than rounding. For boundary leaves, whose cost has another
/// factor, this holds only if u is boundary, too.
/// - u in a group: `beside` has the directions to neighbours that touch n and whose shortest path to n does not
///   lead over u. At level 0 all other ends are larger and touch one corner of the group of u, and so each other.
///   At level 1 `corners` has those of the 3³ voxel corners of u that n touches: ends that share one touch.
/// - u larger: `box` is the range in which n touches u; touches() compares two of them.
namespace about_link {
inline constexpr int kField = 9;
inline constexpr int kLargest = 7;  ///< largest level of u for which a box fits
inline constexpr std::uint64_t kBoundary = std::uint64_t{1} << 54;

inline std::uint32_t beside(std::uint64_t about) {
    return static_cast<std::uint32_t>(about) & ((1u << kDirections) - 1);
}
inline constexpr std::uint64_t kCorners = ((std::uint64_t{1} << 27) - 1) << kDirections;

// Six fields of eight bits and a ninth to subtract from: lower ends, and 255 minus the upper ends.
inline constexpr std::uint64_t kGuard = 0x100ull * 0x201008040201ull, kValues = 0xffull * 0x201008040201ull;
inline std::uint64_t box(const std::array<int, 3>& low, const std::array<int, 3>& high) {
    std::uint64_t out = 0;
    for (int axis = 0; axis < 3; ++axis)
        out |= static_cast<std::uint64_t>(low[static_cast<std::size_t>(axis)]) << (kField * axis) |
               static_cast<std::uint64_t>(255 - high[static_cast<std::size_t>(axis)]) << (kField * (axis + 3));
    return out;
}
/// The range that a box is compared with: its upper ends, and 255 minus the lower ones.
inline std::uint64_t against(std::uint64_t about) {
    const std::uint64_t box = about & kValues;
    return ((box >> 3 * kField | box << 3 * kField) & kValues) ^ kValues;
}
inline bool touches(std::uint64_t against, std::uint64_t about) {
    return (((against | kGuard) - (about & kValues)) & kGuard) == kGuard;
}
}  // namespace about_link

/// The cost of steps between leaves, by Domain::Graph::Link::touch.
std::vector<GeodesicSolver::Touch> make_touches(const Domain& domain, float penalty, Context* context);

}  // namespace sinew
