// The bones near a point, found by the tree and one by one; lists of numbers that several threads make.
#include <gtest/gtest.h>

#include <random>

#include "bind/bone_tree.h"
#include "core/lists.h"

namespace sinew::test_bone_tree {
namespace {

std::vector<BoneSpace> random_bones(std::size_t count) {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> at(-1, 1), small(-0.1f, 0.1f);
    std::vector<BoneSpace> bones;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Vec3 head{at(random), at(random), at(random)};
        Bone bone{i, head, {head.x + small(random), head.y + small(random), head.z + small(random)}};
        if (i % 3 == 1) bone.radius = 0.05f;
        if (i % 3 == 2) bone.box = Bone::Box{{0.1f, 0.02f, 0.3f}, {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}};
        bones.emplace_back(bone);
    }
    return bones;
}

TEST(BoneTree, VisitsTheNearestBone) {
    std::mt19937 random(4);
    std::uniform_real_distribution<double> at(-2, 2);
    for (const std::size_t count : {0, 1, 4, 300}) {
        const std::vector<BoneSpace> bones = random_bones(count);
        const BoneTree tree(bones);
        std::size_t looked_at = 0;
        for (int k = 0; k < 200; ++k) {
            const Point3 p{at(random), at(random), at(random)};
            double nearest = INFINITY, found = INFINITY;
            for (const BoneSpace& bone : bones) nearest = std::min(nearest, bone.distance(p));
            tree.visit(
                p, [&] { return found; },
                [&](std::uint32_t bone) { ++looked_at, found = std::min(found, bones[bone].distance(p)); });
            EXPECT_EQ(found, nearest);
        }
        if (count == 300) {
            EXPECT_LT(looked_at, 200 * count / 4);
        }
    }
}

TEST(Lists, AreInTheOrderOfTheEntriesOnAnyNumberOfThreads) {
    constexpr std::size_t keys = 10000;
    std::mt19937 random(5);
    std::vector<std::uint32_t> key(50000);
    for (std::uint32_t& k : key) k = static_cast<std::uint32_t>(random() % keys);
    for (const int threads : {1, 2, 5}) {
        Context context;
        context.threads = threads;
        const Lists lists(keys, &context, [&](const auto& to) {
            for (std::uint32_t v = 0; v < key.size(); ++v) to(key[v], v);
        });
        ASSERT_EQ(lists.size(), keys);
        std::size_t entries = 0;
        for (std::uint32_t k = 0; k < keys; ++k) {
            EXPECT_TRUE(std::is_sorted(lists.of(k).begin(), lists.of(k).end()));
            for (const std::uint32_t v : lists.of(k)) EXPECT_EQ(key[v], k);
            entries += lists.of(k).size();
        }
        EXPECT_EQ(entries, key.size());
    }
}

}  // namespace
}  // namespace sinew::test_bone_tree
