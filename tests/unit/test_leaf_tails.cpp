#include <gtest/gtest.h>

#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew::test_leaf_tails {
namespace {

// 32³ voxels of 0.5 scene units from (-8, -8, -8).
VoxelGrid grid() {
    VoxelGrid g;
    g.transform = {32, {-8, -8, -8}, 0.5, 16};
    g.boundary = BitGrid(32);
    g.interior = BitGrid(32);
    return g;
}

// A bar along x: voxels [from, to) at y, z = 16; its ends are boundary.
void bar(VoxelGrid& g, int from, int to) {
    for (int x = from; x < to; ++x) (x == from || x == to - 1 ? g.boundary : g.interior).set(x, 16, 16);
}

Skeleton two(Vec3 parent, Vec3 leaf) {
    Skeleton s;
    s.joints.resize(2);
    s.joints[0].position = parent;
    s.joints[1].position = leaf;
    s.joints[1].parent = 0;
    return s;
}

constexpr float mid = 0.25f;  // centre of voxel 16
float at(double voxel) { return float(-8 + 0.5 * voxel); }

Bone leaf_after(const VoxelGrid& g, const Skeleton& s) {
    std::vector<Bone> bones = make_bones(s);
    extend_leaf_bones(bones, s, g);
    return bones.back();
}

TEST(LeafTails, EndOneVoxelInsideTheVolume) {
    VoxelGrid g = grid();
    bar(g, 4, 24);
    const Bone b = leaf_after(g, two({at(8), mid, mid}, {at(14), mid, mid}));
    EXPECT_NEAR(b.tail.x, at(23), 0.26);  // the volume ends at voxel 24
    EXPECT_LE(b.tail.x, at(23));
    EXPECT_FLOAT_EQ(b.tail.y, mid);
    EXPECT_FLOAT_EQ(b.tail.z, mid);
    // In the opposite direction.
    EXPECT_NEAR(leaf_after(g, two({at(14), mid, mid}, {at(8), mid, mid})).tail.x, at(5), 0.26);
}

TEST(LeafTails, CrossGapsOfOneVoxelButNotOfThree) {
    VoxelGrid one = grid();
    bar(one, 4, 16);
    bar(one, 17, 24);
    EXPECT_NEAR(leaf_after(one, two({at(8), mid, mid}, {at(12), mid, mid})).tail.x, at(23), 0.26);
    VoxelGrid three = grid();
    bar(three, 4, 16);
    bar(three, 19, 24);
    EXPECT_NEAR(leaf_after(three, two({at(8), mid, mid}, {at(12), mid, mid})).tail.x, at(15), 0.26);
}

TEST(LeafTails, APointWithoutDirectionOrVolumeStaysAPoint) {
    VoxelGrid g = grid();
    bar(g, 4, 24);
    // Outside the volume, outside the box, far away.
    for (const Vec3 leaf : {Vec3{at(14), 3, 3}, Vec3{at(14), 100, 0}, Vec3{1e30f, -1e30f, 0}}) {
        const Bone b = leaf_after(g, two({at(8), mid, mid}, leaf));
        EXPECT_EQ(b.tail, b.head);
    }
    // Too close to the end.
    const Bone close = leaf_after(g, two({at(8), mid, mid}, {at(23.5), mid, mid}));
    EXPECT_EQ(close.tail, close.head);
    // A root that is a leaf has no direction. The same holds if all its ancestors are at its position.
    Skeleton root;
    root.joints.resize(1);
    root.joints[0].position = {at(10), mid, mid};
    EXPECT_EQ(leaf_after(g, root).tail, root.joints[0].position);
    const Bone same = leaf_after(g, two({at(10), mid, mid}, {at(10), mid, mid}));
    EXPECT_EQ(same.tail, same.head);
}

TEST(LeafTails, DirectionFromTheNearestAncestorElsewhere) {
    VoxelGrid g = grid();
    bar(g, 4, 24);
    Skeleton s = two({at(8), mid, mid}, {at(14), mid, mid});
    s.joints.push_back(s.joints[1]);  // a twist joint at its parent
    s.joints[2].parent = 1;
    std::vector<Bone> bones = make_bones(s);
    extend_leaf_bones(bones, s, g);
    ASSERT_EQ(bones.size(), 3u);
    EXPECT_EQ(bones[1].tail, bones[1].head);  // not a leaf: stays
    EXPECT_NEAR(bones[2].tail.x, at(23), 0.26);
}

TEST(LeafTails, ExtendOnlyPointsAndEndAtTheBox) {
    VoxelGrid g = grid();
    bar(g, 4, 32);  // up to the border of the box
    Skeleton s = two({at(8), mid, mid}, {at(14), mid, mid});
    EXPECT_NEAR(leaf_after(g, s).tail.x, at(31), 0.26);
    s.joints[1].tail = Vec3{at(15), mid, mid};
    EXPECT_EQ(leaf_after(g, s).tail, *s.joints[1].tail);
}

TEST(LeafTails, ABoneThatIsStatedToHaveNoLengthStaysAPoint) {
    VoxelGrid g = grid();
    bar(g, 4, 24);
    Skeleton s = two({at(8), mid, mid}, {at(14), mid, mid});
    EXPECT_GT(leaf_after(g, s).tail.x, at(14));
    s.joints[1].tail = s.joints[1].position;
    EXPECT_EQ(leaf_after(g, s).tail, s.joints[1].position);
}

// With local resolution, voxels outside of the fine blocks are larger.
TEST(LeafTails, EndOneCoarseVoxelInsideTheVolume) {
    VoxelGrid g = grid();
    auto blocks = std::make_shared<BitGrid>(4);
    for (const int x : {0, 1}) blocks->set(x, 2, 2);  // voxels 0 to 15 along the bar are fine
    for (BitGrid* of : {&g.boundary, &g.interior}) of->restrict_to({0, 32, blocks});
    g.coarse_boundary = g.coarse_interior = BitGrid(16);
    bar(g, 4, 16);
    g.boundary.words()[g.boundary.index(15, 16, 16)] &= ~(std::uint64_t{1} << 15);
    g.interior.set(15, 16, 16);
    for (int x = 8; x < 12; ++x) (x == 11 ? g.coarse_boundary : g.coarse_interior).set(x, 8, 8);
    // Two voxels from the end, so before the last leaf; tolerance half a voxel.
    const float tail = leaf_after(g, two({at(4), mid, mid}, {at(8), mid, mid})).tail.x;
    EXPECT_LE(tail, at(22));
    EXPECT_GT(tail, at(21) - 0.01f);
    // The other end has fine voxels.
    EXPECT_NEAR(leaf_after(g, two({at(22), mid, mid}, {at(12), mid, mid})).tail.x, at(5), 0.26);
}

}  // namespace
}  // namespace sinew::test_leaf_tails
