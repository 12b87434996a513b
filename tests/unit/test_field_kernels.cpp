// Kernels of the fields against their plain references.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "field/corner_leaves.h"
#include "support.h"

namespace sinew {
namespace {

TEST(FieldKernels, LeavesAtTheCornersAgreeWithTheReference) {
    const test::Character biped = test::biped({.cell = 0.05});
    const auto grid = voxelize(biped.mesh(), analyse_mesh(biped.mesh()), {64, true, true});
    ASSERT_TRUE(grid.ok());
    const auto domain = build_domain(*grid, make_bones(biped.skeleton), DomainKind::sparse);
    ASSERT_TRUE(domain.ok());
    std::mt19937 random(3);
    std::size_t compared = 0;
    for (int round = 0; round < 200000; ++round) {
        corner_leaves::Corners corners;
        for (std::size_t k = 0; k < 3; ++k) {
            corners.lower[k] = static_cast<int>(random() % 63);
            corners.upper_share[k] = round % 4 == 0 ? 0 : std::generate_canonical<double, 53>(random);
        }
        ASSERT_TRUE(corner_leaves::can_add(*domain, corners));
        LeafStencil plain, fast;
        const double expected = corner_leaves::add_plain(*domain, corners, plain);
        ASSERT_EQ(corner_leaves::add(*domain, corners, fast), expected);
        ASSERT_EQ(fast.count, plain.count);
        for (std::size_t k = 0; k < static_cast<std::size_t>(plain.count); ++k) {
            ASSERT_EQ(fast.leaf[k], plain.leaf[k]);
            ASSERT_EQ(fast.share[k], plain.share[k]);
        }
        compared += plain.count > 0;
    }
    EXPECT_GT(compared, 1000u);
}

}  // namespace
}  // namespace sinew
