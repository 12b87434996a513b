// The steps of clean_skin, functions over the rows of nodes. A node is a vertex, or those that a seam joins.
#pragma once

#include "core/forest.h"
#include "core/lists.h"
#include "quality/clean_rows.h"
#include "surface/surface.h"

namespace sinew {

/// What is cleaned, and its nodes.
struct CleanNodes {
    struct Link {
        std::uint32_t to, edge;
    };

    const MeshView& mesh;
    const Skeleton& skeleton;
    const SkinCleanOptions& options;
    Context* const context;
    const MeshTopology topology;
    MeshSurface surface;
    Lists vertices;  ///< of nodes
    std::vector<std::uint32_t> first;
    std::vector<Link> link;  ///< of nodes, from `first`

    CleanNodes(const MeshView& mesh, const Skeleton& skeleton, const SkinCleanOptions& options, Context* context);
    std::size_t size() const { return surface.nodes(); }
    std::span<const Link> links(std::size_t node) const {
        return {link.data() + first[node], link.data() + first[node + 1]};
    }
    template <typename Fill>
    CleanRows make_rows(std::size_t rows, const Fill& fill) const {
        return sinew::make_rows(rows, skeleton.joints.size(), context, fill);
    }
};

/// One for each node. Open: no row that can be believed.
using NodeFlags = std::vector<std::uint8_t>;

/// Those weights of one joint that the surface connects are a patch: patch(number of a weight) is its number.
/// counts(weight): others are patches of their own.
template <typename Counts>
Forest find_patches(const CleanNodes& nodes, const CleanRows& rows, const Counts& counts) {
    Forest patches(rows.value.size());
    for (const MeshSurface::Edge& e : nodes.surface.edges)
        each_common(rows[e.a], rows[e.b], [&](const Influence& x, const Influence& y) {
            if (counts(x.weight) && counts(y.weight)) patches.join(rows.number(x), rows.number(y));
        });
    return patches;
}

/// Takes weight of joints far away from rows: such nodes are pulled. Opens those that have little left or are
/// unlike all around them.
Status remove_implausible(const CleanNodes& nodes, CleanRows& rows, NodeFlags& open, NodeFlags& pulled);

struct CleanNoise {
    double due = 0;   ///< 0..1: how much of the smoothing is
    double size = 0;  ///< standard deviation of a row's noise
};
CleanNoise measure_noise(const CleanNodes& nodes, const CleanRows& rows, const NodeFlags& open);

/// Rows of open nodes from those around them and, if there is noise, all rows without it. Empty: nothing is known.
Result<CleanRows> solve_rows(const CleanNodes& nodes, const CleanRows& y, const NodeFlags& open,
                             const CleanNoise& noise);

}  // namespace sinew
