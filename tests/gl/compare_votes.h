// Decides which voxelizer is right where two disagree, and whether the difference is allowed.
#pragma once

#include <string>

#include "domain/lattice.h"
#include "sinew/voxels.h"

namespace sinew::test {

/// Voxels outside of the boundary on which two votes differ, over the three axes. Crossings along the centre line
/// of each column are computed in exact integers, independently of both voxelizers.
struct Disagreement {
    std::size_t compared = 0;  ///< voxels that are not boundary, three times
    std::size_t inside = 0;    ///< of these, inside by the first vote
    std::size_t differ = 0;    ///< the sum of the following
    std::size_t on_edge =
        0;                 ///< the column passes exactly through an edge: the driver decides which triangle owns it
    std::size_t tied = 0;  ///< two crossings of the column face apart and round to the same depth or neighbours
    std::size_t first_wrong = 0;   ///< neither of these, and exact arithmetic agrees with the second
    std::size_t second_wrong = 0;  ///< neither of these, and exact arithmetic agrees with the first
    std::string example;           ///< one of the last two kinds

    std::size_t unexplained() const { return first_wrong + second_wrong; }
};

/// O(r³/64 + columns that differ · T).
Disagreement compare_votes(const Lattice& lattice, const BitGrid& boundary, const PairVotes& first,
                           const PairVotes& second, ViewPairs pairs = ViewPairs::both);

}  // namespace sinew::test
