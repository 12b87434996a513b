// Kernels of the domain against their plain references.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "domain/group_bits.h"
#include "domain/triangle_voxel.h"

namespace sinew::test_domain_kernels {
namespace {

TEST(DomainKernels, DirectionsAroundAPlaceAgreeWithTheReference) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 20000; ++round) {
        std::uint64_t cells = random();
        if (round % 3 == 1) cells &= random();  // few
        if (round % 3 == 2) cells |= random();  // many
        for (int place = 0; place < 8; ++place)
            ASSERT_EQ(group_bits::directions_around(cells, place),
                      group_bits::directions_around_plain(cells, place))
                << cells << " at " << place;
    }
}

TEST(DomainKernels, CellsOfTheGroupItselfAreTheMiddleOnes) {
    const auto& table = group_bits::cells_of_neighbour();
    EXPECT_EQ(table[13][255], 0x0000'0660'0660'0000u);
    EXPECT_EQ(table[13][1], std::uint64_t{1} << 21);
    EXPECT_EQ(table[0][255], 1u);  // a corner touches with one cell
    EXPECT_EQ(table[0][127], 0u);  // its last place
    EXPECT_EQ(table[26][1], 1ull << 63);
}

// A triangle in a box of 2 x 2 x 2 voxels; `kind` chooses how its corners lie.
std::array<LatticePoint, 3> small_triangle(std::mt19937& random, int kind, const int* low) {
    std::array<LatticePoint, 3> out;
    for (LatticePoint& p : out)
        for (int a = 0; a < 3; ++a) {
            int c = static_cast<int>(random() % (2 * kVoxel + 1));
            if (kind == 1) c = c / 256 * 256;  // on borders of voxels and their middles
            if (kind == 2 && &p != out.data()) c = out[0].c[a] - low[a] * kVoxel + c % 9 - 4;  // tiny
            if (kind == 3) c = kVoxel + c % 5 - 2;  // near the middle of the box
            p.c[a] = low[a] * kVoxel + std::clamp(c, 0, 2 * kVoxel);
        }
    return out;
}

TEST(DomainKernels, TouchedVoxelsOfASmallBoxAgreeWithTheReference) {
    std::mt19937 random(2);
    std::size_t compared = 0;
    for (int round = 0; round < 200000; ++round) {
        const int low[3] = {static_cast<int>(random() % 1022), static_cast<int>(random() % 1022),
                            static_cast<int>(random() % 1022)};
        const auto p = small_triangle(random, round % 4, low);
        const auto n = normal_of(p.data());
        if (n[0] == 0 || n[1] == 0 || n[2] == 0) continue;
        const unsigned found = touched_of_eight(p.data(), low, n.data());
        for (int k = 0; k < 8; ++k) {
            const int voxel[3] = {low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2)};
            bool in_box = true;  // of the triangle: other bits may have any value
            for (int a = 0; a < 3; ++a) {
                const auto [least, most] = std::minmax({p[0].c[a], p[1].c[a], p[2].c[a]});
                in_box = in_box && least <= (voxel[a] + 1) * kVoxel && most >= voxel[a] * kVoxel;
            }
            if (!in_box) continue;
            ASSERT_EQ(found >> k & 1, touches_voxel(p.data(), n.data(), voxel) ? 1u : 0u) << "round " << round;
            ++compared;
        }
    }
    EXPECT_GT(compared, 200000u);
}

TEST(DomainKernels, ATriangleTouchesTheVoxelsOnBothSidesOfABorder) {
    const LatticePoint p[3] = {{{512, 100, 100}}, {{512, 400, 100}}, {{512, 100, 400}}};
    const auto n = normal_of(p);
    for (const int x : {0, 1}) {
        const int voxel[3] = {x, 0, 0};
        EXPECT_TRUE(touches_voxel(p, n.data(), voxel));
    }
    const int other[3] = {2, 0, 0};
    EXPECT_FALSE(touches_voxel(p, n.data(), other));
}

}  // namespace
}  // namespace sinew::test_domain_kernels
