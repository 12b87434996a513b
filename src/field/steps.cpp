#include "field/steps.h"

#include "core/parallel.h"

namespace sinew {
namespace {

// Directions from u to its neighbours of equal size that touch a leaf n of another size, excluding those whose
// shortest path to n leads over u. Unless the step to u is costly, only the neighbour in line with u and n has
// such a path. Rounding may decide if n is far away.
std::uint32_t touching_neighbours(const Domain::Leaf& u, const Domain::Leaf& n, double length, bool costly) {
    static const auto masks = [] {
        std::array<std::array<std::uint32_t, 8>, 3> out{};
        for (int d = 0; d < kDirections; ++d)
            for (std::size_t axis = 0; axis < 3; ++axis)
                for (std::size_t allowed = 0; allowed < 8; ++allowed)
                    if (allowed >> (step_of(d)[axis] + 1) & 1) out[axis][allowed] |= 1u << d;
        return out;
    }();
    if (!costly && length > 8) return 0;
    const int own = 1 << u.level, size = 1 << n.level, from[3] = {u.x, u.y, u.z}, low[3] = {n.x, n.y, n.z};
    std::uint32_t touching = (1u << kDirections) - 1;
    int sign[3], twice[3];  // of the step from centre to centre
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const int at = from[axis] - low[axis];  // 0..size-own within the range of n
        std::size_t allowed = 0;
        for (int step = -1; step <= 1; ++step)
            if (at + own * step <= size && at + own * (step + 1) >= 0) allowed |= std::size_t{1} << (step + 1);
        touching &= masks[axis][allowed];
        twice[axis] = size - own - 2 * at;
        sign[axis] = (twice[axis] > 0) - (twice[axis] < 0);
        twice[axis] = std::abs(twice[axis]);
    }
    const int most = std::max({twice[0], twice[1], twice[2]});
    bool in_line = !costly;
    for (const int t : twice) in_line = in_line && (t == 0 || t == most);
    if (in_line) touching &= ~(1u << direction_of(-sign[0], -sign[1], -sign[2]));
    return touching;
}

// From centre to centre, in half voxels.
std::int64_t squared_distance(const Domain::Leaf& a, const Domain::Leaf& b) {
    const int grow = (1 << a.level) - (1 << b.level);
    const std::int64_t x = 2 * (a.x - b.x) + grow, y = 2 * (a.y - b.y) + grow, z = 2 * (a.z - b.z) + grow;
    return x * x + y * y + z * z;
}

ContactBox contact_box(const Domain::Leaf& u, const Domain::Leaf& n) {
    const int size = 1 << u.level, other = 1 << n.level, at[3] = {n.x - u.x, n.y - u.y, n.z - u.z};
    ContactBox box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        box.low[axis] = std::clamp(at[axis], 0, size);
        box.high[axis] = std::clamp(at[axis] + other, 0, size);
    }
    return box;
}

// The voxel corners of a leaf of level 1 in a box, as bits of contact_pruning::kCorners.
std::uint64_t corners_in(const ContactBox& box) {
    std::uint64_t out = 0;
    for (int z = box.low[2]; z <= box.high[2]; ++z)
        for (int y = box.low[1]; y <= box.high[1]; ++y)
            for (int x = box.low[0]; x <= box.high[0]; ++x)
                out |= std::uint64_t{1} << (kDirections + x + 3 * y + 9 * z);
    return out;
}

GeodesicSolver::ContactStep contact_step(const Domain::Leaf& u, const Domain::Leaf& n, float penalty) {
    const double length = std::sqrt(static_cast<double>(squared_distance(u, n))) / 2;
    GeodesicSolver::ContactStep out{to_units(length * (n.boundary ? penalty : 1)),
                                    n.boundary ? contact_pruning::kBoundary : 0};
    if (u.level < Domain::Graph::kGrouped) {
        out.pruning |= touching_neighbours(u, n, length, u.boundary && penalty >= 2);
        if (u.level > 0) out.pruning |= corners_in(contact_box(u, n));
    } else {
        out.pruning |=
            u.level <= contact_pruning::kLargest ? packed_box::pack(contact_box(u, n)) : packed_box::kNowhere;
    }
    return out;
}

}  // namespace

std::vector<GeodesicSolver::ContactStep> make_contact_steps(const Domain& domain, float penalty, Context* context) {
    const auto& rare = domain.graph->rare;
    std::vector<GeodesicSolver::ContactStep> out(contacts::kTabled + 2 * rare.size());
    for (std::uint32_t k = 0; k < contacts::kTabled; ++k) {
        const auto [u, n] = contacts::example(k);
        out[k] = contact_step(u, n, penalty);
    }
    parallel_for(context, rare.size(), 1024, [&](std::size_t k) {
        const Domain::Leaf &u = domain.leaves[rare[k][0]], &n = domain.leaves[rare[k][1]];
        out[contacts::kTabled + 2 * k] = contact_step(u, n, penalty);
        out[contacts::kTabled + 2 * k + 1] = contact_step(n, u, penalty);
    });
    return out;
}

}  // namespace sinew
