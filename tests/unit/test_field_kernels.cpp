// Kernels of the fields against their plain references.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "bind/label_means.h"
#include "field/corner_leaves.h"
#include "field/steps.h"
#include "sinew/voxels.h"
#include "support.h"

namespace sinew::test_field_kernels {
namespace {

TEST(FieldKernels, StepsThatALabelGoesOnToAgreeWithTheReference) {
    std::mt19937 random(1);
    const auto directions = [&] { return static_cast<std::uint32_t>(random()) & ((1u << kDirections) - 1); };
    std::size_t left_out = 0;
    for (const int level : {0, 1})
        for (const float penalty : {1.0f, 1.5f, 10.0f}) {
            const GeodesicSolver::Steps steps(level, penalty, true);
            for (int round = 0; round < 200; ++round)
                for (const bool here : {false, true})
                    for (int d = 0; d < kNoDirection + 2; ++d) {
                        std::uint32_t all = directions();
                        if (round % 2 == 0) all |= directions();  // many
                        std::uint32_t boundary = all & directions();
                        if (round % 5 == 0) boundary = 0;
                        const std::uint32_t onwards = steps.onwards(here, d, all, boundary);
                        ASSERT_EQ(onwards, steps.onwards_plain(here, d, all, boundary))
                            << "by " << d << ", penalty " << penalty;
                        left_out += onwards != all;
                    }
        }
    EXPECT_GT(left_out, 10000u);
}

TEST(FieldKernels, PackedBoxesTouchWhereBoxesDo) {
    std::mt19937 random(2);
    std::size_t touching = 0;
    const auto box = [&](int size) {
        ContactBox out;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            out.low[axis] = static_cast<int>(random() % static_cast<unsigned>(size + 1));
            out.high[axis] =
                out.low[axis] + static_cast<int>(random() % static_cast<unsigned>(size + 1 - out.low[axis]));
        }
        return out;
    };
    for (int round = 0; round < 100000; ++round) {
        const int size = 4 << round % 6;  // up to 128
        const ContactBox a = box(size), b = box(size);
        // Bits that belong to no field are ignored.
        const std::uint64_t other = contact_pruning::kBoundary;
        const std::uint64_t limits = packed_box::limits_of(packed_box::pack(a) | other);
        const bool touch = packed_box::touch(limits, packed_box::pack(b) | other);
        ASSERT_EQ(touch, touch_plain(a, b)) << round;
        ASSERT_FALSE(packed_box::touch(limits, packed_box::kNowhere));
        touching += touch;
    }
    EXPECT_GT(touching, 10000u);
    EXPECT_LT(touching, 90000u);
}

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

TEST(FieldKernels, MeansOfLabelRowsAgreeWithTheReference) {
    std::mt19937 random(4);
    constexpr std::size_t leaves = 64, labels = MatchingRows::kLabels;
    auto rows = std::make_shared<std::vector<LabelRow<8>>>(leaves);
    for (std::size_t leaf = 0; leaf < leaves; ++leaf)
        for (std::size_t k = 0; k < labels; ++k)
            // Some rows end early, and every ninth lists another joint.
            (*rows)[leaf].label[k] =
                k >= 7 - leaf / 32 ? kNoLabel
                                   : make_label(static_cast<std::uint32_t>(random()),
                                                static_cast<std::uint16_t>(leaf % 9 == 8 && k == 3 ? 99 : k), 5);
    const LeafDistances field{leaves, labels, labels, true, std::shared_ptr<const Label>(rows, (*rows)[0].label)};
    std::size_t partial = 0;
    for (int round = 0; round < 20000; ++round) {
        LeafStencil stencil;
        stencil.count = 1 + static_cast<int>(random() % 8);
        for (std::size_t k = 0; k < 8; ++k) {
            stencil.leaf[k] = static_cast<std::uint32_t>(random() % 32 + round % 2 * 32);
            stencil.share[k] = std::generate_canonical<double, 53>(random);
        }
        const MatchingRows fast(stencil, field), plain = MatchingRows::plain(stencil, field);
        ASSERT_EQ(fast.added(), plain.added());
        ASSERT_EQ(fast.share(), plain.share());
        for (std::size_t k = 0; k < labels; ++k) {
            ASSERT_EQ(fast.sum(k), plain.sum(k));
            ASSERT_EQ(fast.mean(k), plain.mean(k));
        }
        partial += !fast.all_added();
    }
    EXPECT_GT(partial, 1000u);
    EXPECT_LT(partial, 19000u);
}

}  // namespace
}  // namespace sinew::test_field_kernels
