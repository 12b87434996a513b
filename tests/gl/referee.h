// Who is right where two voxelizers disagree, and why they may.
#pragma once

#include <string>

#include "domain/lattice.h"

namespace sinew::test {

/// Voxels that are not boundary and on which two votes differ, over the three axes. A column is sampled along the
/// line through its voxels' centres; its crossings are computed here in exact integers, by neither voxelizer's
/// code.
struct Disagreement {
    std::size_t compared = 0;  ///< voxels that are not boundary, three times
    std::size_t inside = 0;    ///< of them by the first vote
    std::size_t differ = 0;    ///< the sum of the following
    std::size_t on_edge = 0;   ///< the column passes exactly through an edge: the driver decides who owns it
    std::size_t tied = 0;      ///< two crossings of the column face apart and round to the same depth or neighbours
    std::size_t first_wrong = 0;   ///< neither, and exact arithmetic agrees with the second
    std::size_t second_wrong = 0;  ///< neither, and exact arithmetic agrees with the first
    std::string example;           ///< of the last two kinds

    std::size_t unexplained() const { return first_wrong + second_wrong; }
};

/// O(r³/64 + columns that differ · T).
Disagreement judge(const Lattice& lattice, const BitGrid& boundary, const PairVotes& first,
                   const PairVotes& second);

}  // namespace sinew::test
