// Kernel: prefetching for a sweep, whose speed is limited by memory latency.
#pragma once

#include <algorithm>
#include <span>

#include "core/prefetch.h"
#include "domain/leaf_graph.h"
#include "field/label_rows.h"

namespace sinew {

/// The rows that take these offers.
template <int K>
void prefetch_rows(std::span<const LabelRow<K>> rows, std::span<const Offer> offers) {
    for (const Offer& o : offers) prefetch_to_write(&rows[o.leaf]);
}

/// The rows and the nodes of the leaves of these labels.
template <int K>
void prefetch_leaves(std::span<const LabelRow<K>> rows, const Domain::Graph& graph, std::span<const Offer> labels) {
    for (const Offer& label : labels) {
        prefetch(&rows[label.leaf]);
        prefetch(&graph.nodes[label.leaf]);
    }
}

/// The links of the leaves of these labels; of long lists the beginning.
inline void prefetch_links(const Domain::Graph& graph, std::span<const Offer> labels) {
    constexpr std::uint32_t most = 64, per_line = 8;
    for (const Offer& label : labels) {
        const Domain::Graph::Node& node = graph.nodes[label.leaf];
        if (node.is_grouped()) {
            const Domain::Graph::Cells& cells = graph.cells[node.group()];
            prefetch(&cells);
            prefetch(&cells.leaf[16]);
        }
        const std::uint32_t end = std::min((&node)[1].other, node.other + most);
        for (std::uint32_t k = node.other; k < end; k += per_line) prefetch(&graph.other[k]);
    }
}

}  // namespace sinew
