// The graph of leaves and its coarser versions: what both solvers of heat prepare once.
#pragma once

#include "field/conduction.h"

namespace sinew {

/// The equations of steady-state heat on every level of the octree. A node of a coarse level is a group of nodes of
/// the level before: those in one cell of the octree that conduct to each other. Its conductances are halved,
/// because centres are twice as far apart (aggregation as preconditioner: Notay 2010; over-correction: Braess
/// 1995).
class HeatLevels {
public:
    struct Level {
        std::vector<std::uint32_t> first, to;  ///< as in Conduction; empty at the finest level
        std::vector<float> conductance;
        std::vector<float> diagonal, inverse;  ///< per node: its conductances and its loss; 0 stays 0
        std::vector<std::uint32_t> parent;     ///< per node: its node on the next level; empty at the coarsest
        std::size_t size() const { return diagonal.size(); }
    };
    struct Graph {
        const std::uint32_t *first, *to;
        const float* conductance;
    };

    /// `loss`: per leaf ≥ 0, in conductances. O(links). Keeps a reference to `conduction`.
    HeatLevels(const Conduction& conduction, std::vector<float> loss);
    /// Another loss on the same graph. O(links), without sorting.
    void set_loss(std::vector<float> loss);

    std::size_t count() const { return levels_.size(); }
    const Level& operator[](std::size_t level) const { return levels_[level]; }
    Graph graph(std::size_t level) const;

private:
    void coarsen();

    const Conduction& conduction_;
    std::vector<Level> levels_;
};

}  // namespace sinew
