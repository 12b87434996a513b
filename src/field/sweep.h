// The sweep itself: labels spread over leaves until no row accepts another one.
#pragma once

#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "core/large_pages.h"
#include "field/steps.h"

namespace sinew {

/// Leaves, links and bridges with their costs.
struct SweepGraph {
    struct Arc {
        std::uint32_t from, to, cost;
    };
    const Domain::Graph& links;
    const GeodesicSolver::Steps* steps;                          ///< by level
    std::span<const GeodesicSolver::ContactStep> contact_steps;  ///< by Domain::Graph::Link::contact
    std::vector<Arc> arcs;                                       ///< bridges, sorted by from, then to
    std::vector<bool> has_arcs;                                  ///< per leaf; empty without arcs

    std::span<const Arc> arcs_of(std::uint32_t leaf) const {
        if (arcs.empty() || !has_arcs[leaf]) return {};
        const auto [first, last] = std::equal_range(arcs.begin(), arcs.end(), Arc{leaf, 0, 0},
                                                    [](const Arc& a, const Arc& b) { return a.from < b.from; });
        return {arcs.data() + (first - arcs.begin()), arcs.data() + (last - arcs.begin())};
    }
};

/// Takes the offers `start`, which are overwritten, and passes on accepted labels until none is left. Rows that
/// were right for all other labels are then right for these, too. `width`: labels kept per row, 1..K. `joints`:
/// one more than the largest joint number of any label. K is 1, 4, 8 or 16. Paths as long as `limit` are not
/// followed. Error: cancelled; the rows are then invalid.
template <int K>
Status sweep(const SweepGraph& graph, std::span<LabelRow<K>> rows, std::size_t width, std::span<Offer> start,
             std::size_t joints, Context* context, std::uint32_t limit = LeafDistances::unreached);

/// work(K), as an integral constant, with the narrowest rows that hold `nearest` (1..kMaxNearest) labels.
template <typename Work>
auto with_row_width(int nearest, Work&& work) {
    const int room = GeodesicSolver::row_room(nearest);
    if (room == 1) return work(std::integral_constant<int, 1>());
    if (room == 4) return work(std::integral_constant<int, 4>());
    if (room == 8) return work(std::integral_constant<int, 8>());
    return work(std::integral_constant<int, GeodesicSolver::kMaxNearest>());
}

/// Uninitialised rows for n leaves, and the distances that refer to them.
template <int K>
std::pair<std::span<LabelRow<K>>, LeafDistances> make_rows(std::size_t n, std::size_t width) {
    const auto storage = std::make_shared<LargeVector<LabelRow<K>>>(n);  // leaves the memory uninitialised
    const std::span<LabelRow<K>> rows(*storage);
    return {rows, {n, width, K, true, std::shared_ptr<const Label>(storage, n > 0 ? rows[0].label : nullptr)}};
}

/// All seeds of these joints as offers.
inline std::vector<Offer> seed_offers(const BoneSeeds& seeds, std::span<const std::uint32_t> joints) {
    std::vector<Offer> offers;
    for (const std::uint32_t joint : joints)
        for (const BoneSeeds::Seed& seed : seeds.of_joint[joint])
            offers.push_back(
                {make_label(to_units(seed.distance), static_cast<std::uint16_t>(joint), kNoDirection), seed.leaf});
    return offers;
}

}  // namespace sinew
