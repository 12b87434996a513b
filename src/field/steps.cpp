#include "field/steps.h"

#include "core/parallel.h"

namespace sinew {
namespace {

// From centre to centre, in half voxels.
std::int64_t squared_distance(const Domain::Leaf& a, const Domain::Leaf& b) {
    const int grow = (1 << a.level) - (1 << b.level);
    const std::int64_t x = 2 * (a.x - b.x) + grow, y = 2 * (a.y - b.y) + grow, z = 2 * (a.z - b.z) + grow;
    return x * x + y * y + z * z;
}

std::uint32_t contact_cost(const Domain::Leaf& u, const Domain::Leaf& n, float penalty) {
    const double length = std::sqrt(static_cast<double>(squared_distance(u, n))) / 2;
    return to_units(length * (n.boundary ? penalty : 1));
}

}  // namespace

std::vector<std::uint32_t> contact_costs(const Domain& domain, float penalty, Context* context) {
    const auto& rare = domain.graph->rare;
    std::vector<std::uint32_t> out(contacts::kTabled + 2 * rare.size());
    for (std::uint32_t k = 0; k < contacts::kTabled; ++k) {
        const auto [u, n] = contacts::example(k);
        out[k] = contact_cost(u, n, penalty);
    }
    parallel_for(context, rare.size(), 1024, [&](std::size_t k) {
        const Domain::Leaf &u = domain.leaves[rare[k][0]], &n = domain.leaves[rare[k][1]];
        out[contacts::kTabled + 2 * k] = contact_cost(u, n, penalty);
        out[contacts::kTabled + 2 * k + 1] = contact_cost(n, u, penalty);
    });
    return out;
}

}  // namespace sinew
