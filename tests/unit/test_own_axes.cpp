// Rules of surface-heat for bones along the axes of their joints.
#include <gtest/gtest.h>

#include "bind/method.h"
#include "bind/surface_heat/bones.h"
#include "characters/shapes.h"
#include "core/vectors.h"
#include "sinew/bind.h"
#include "unit/support.h"

namespace sinew::test_own_axes {
namespace {

using test::Character;

const auto anywhere = [](const Point3&, const Point3&) { return true; };

/// A joint whose y axis points along `direction`.
Joint looking(const char* name, int parent, Vec3 at, Vec3 direction) {
    Joint joint;
    joint.name = name, joint.parent = parent, joint.position = at;
    const Point3 y = unit(to_point(direction)),
                 x = unit(cross(y, std::abs(y[0]) < 0.9 ? Point3{1, 0, 0} : Point3{0, 1, 0})), z = cross(x, y);
    const auto vec = [](const Point3& p) {
        return Vec3{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])};
    };
    joint.axes = {vec(x), vec(y), vec(z)};
    return joint;
}

/// A neck of four bones that rises and then bends forward to a head with two ears; and a foot that is a root.
struct Animal {
    Skeleton s;
    enum : std::uint32_t { neck, neck2, neck3, head, ear_l, ear_r, shin, foot, toe };
    Animal() {
        s.joints = {looking("neck", -1, {0, 0, 0}, {0, 1, 0}),     looking("neck2", 0, {0, 1, 0}, {0, 1, 1}),
                    looking("neck3", 1, {0, 2, 1}, {0, 1, 0}),     looking("head", 2, {0, 3, 1}, {0, 0, 1}),
                    looking("ear_l", 3, {1, 4, 1}, {1, 0, 0}),     looking("ear_r", 3, {-1, 4, 1}, {-1, 0, 0}),
                    looking("shin", 0, {0, -1, 0}, {0, -1, 0.5f}), looking("foot", -1, {0, -3, 1}, {0, 0, 1}),
                    looking("toe", 7, {0, -3, 2}, {0, 0, 1})};
    }
    std::vector<Bone> of(std::uint32_t joint, const std::vector<Bone>& bones) const {
        std::vector<Bone> own;
        for (const Bone& bone : bones)
            if (bone.joint == joint) own.push_back(bone);
        return own;
    }
};

void expect_direction(const Point3& direction, const Point3& expected) {
    EXPECT_LT(norm(direction - expected), 1e-6);
}

TEST(OwnAxes, OneBoneForEachJoint) {
    const Animal a;
    std::vector<Bone> bones = make_bones(a.s);
    ASSERT_EQ(a.of(Animal::head, bones).size(), 2u);
    ASSERT_EQ(a.of(Animal::neck, bones).size(), 2u);
    const std::vector<Point3> directions = align_with_axes(a.s, bones, anywhere);
    ASSERT_EQ(directions.size(), a.s.joints.size());
    for (std::uint32_t j = 0; j < a.s.joints.size(); ++j) ASSERT_EQ(a.of(j, bones).size(), 1u) << j;
    // The link along the axis is the bone; the link to the shin is where the leg starts.
    EXPECT_EQ(a.of(Animal::neck, bones)[0].tail, a.s.joints[Animal::neck2].position);
    EXPECT_EQ(directions[Animal::neck], Point3{});
    // The head does not point to an ear.
    EXPECT_EQ(a.of(Animal::head, bones)[0].tail, a.s.joints[Animal::head].position);
    EXPECT_FALSE(a.of(Animal::head, bones)[0].open_tail);
    EXPECT_TRUE(a.of(Animal::head, bones)[0].open_head);
    expect_direction(directions[Animal::head], {0, 0, 1});
    expect_direction(directions[Animal::ear_l], {1, 0, 0});
}

TEST(OwnAxes, AShinEndsAtTheFootOfAnotherChain) {
    const Animal a;
    std::vector<Bone> bones = make_bones(a.s);
    std::vector<Point3> directions = align_with_axes(a.s, bones, anywhere);
    EXPECT_EQ(a.of(Animal::shin, bones)[0].tail, a.s.joints[Animal::foot].position);
    EXPECT_TRUE(a.of(Animal::shin, bones)[0].open_tail);
    EXPECT_EQ(directions[Animal::shin], Point3{});
    EXPECT_TRUE(a.of(Animal::foot, bones)[0].open_head);
    // Not through open space.
    bones = make_bones(a.s);
    directions = align_with_axes(a.s, bones, [](const Point3&, const Point3&) { return false; });
    EXPECT_EQ(a.of(Animal::shin, bones)[0].tail, a.s.joints[Animal::shin].position);
    EXPECT_FALSE(a.of(Animal::foot, bones)[0].open_head);
    EXPECT_GT(norm(directions[Animal::shin]), 0.99);
}

TEST(OwnAxes, JointsWithOtherDirectionsAreUnchanged) {
    Animal turned;  // every second joint points across its bone: no common axis
    for (const std::uint32_t j : {Animal::neck2, Animal::foot})
        std::swap(turned.s.joints[j].axes[0], turned.s.joints[j].axes[1]);
    Animal scene;  // joints without known axes
    for (Joint& j : scene.s.joints) j.axes = Joint{}.axes;
    for (const Animal* a : {&turned, &scene}) {
        std::vector<Bone> bones = make_bones(a->s);
        const std::vector<Bone> before = bones;
        EXPECT_TRUE(align_with_axes(a->s, bones, anywhere).empty());
        ASSERT_EQ(bones.size(), before.size());
        for (std::size_t b = 0; b < bones.size(); ++b) EXPECT_EQ(bones[b].tail, before[b].tail);
    }
}

TEST(OwnAxes, AxesOfTheSceneAreIgnored) {
    Skeleton s;  // a straight chain along y
    for (int j = 0; j < 5; ++j) s.joints.push_back({});
    for (int j = 0; j < 5; ++j) {
        Joint& joint = s.joints[static_cast<std::size_t>(j)];
        joint.name = "j" + std::to_string(j), joint.parent = j - 1;
        joint.position = {0, static_cast<float>(j), 0};
    }
    std::vector<Bone> bones = make_bones(s);
    EXPECT_TRUE(align_with_axes(s, bones, anywhere).empty());
}

TEST(OwnAxes, KeepStatedTails) {
    Animal a;
    for (int k = 0; k < 8; ++k)  // so that most links agree on the axis
        a.s.joints.push_back(looking("vertebra",
                                     k ? static_cast<int>(a.s.joints.size()) - 1 : static_cast<int>(Animal::toe),
                                     {0, -3, 3 + static_cast<float>(k)}, {0, 0, 1}));
    a.s.joints[Animal::ear_l].tail = Vec3{2, 5, 1};
    a.s.joints[Animal::head].tail = Vec3{1, 4.2f, 1};  // across its axis, and an ear follows
    a.s.joints[Animal::shin].tail = a.s.joints[Animal::shin].position;
    std::vector<Bone> bones = make_bones(a.s);
    EXPECT_TRUE(a.of(Animal::head, bones)[0].open_tail);
    const std::vector<Point3> directions = align_with_axes(a.s, bones, anywhere);
    ASSERT_EQ(directions.size(), a.s.joints.size());
    for (const std::uint32_t j : {Animal::ear_l, Animal::head, Animal::shin}) {
        ASSERT_EQ(a.of(j, bones).size(), 1u);
        EXPECT_EQ(a.of(j, bones)[0].tail, a.s.joints[j].tail) << j;
        EXPECT_EQ(directions[j], Point3{}) << j;
    }
    // Stated links are kept as well.
    Animal links;
    links.s.joints[Animal::head].stated_links = true;
    std::vector<Bone> stated = make_bones(links.s);
    const std::size_t before = links.of(Animal::head, stated).size();
    align_with_axes(links.s, stated, anywhere);
    EXPECT_EQ(links.of(Animal::head, stated).size(), before);
    EXPECT_GT(before, 1u);
}

TEST(OwnAxes, AJawFollowsItsHead) {
    // A neck along y and a snout along z below the head's joint. The snout is nearer to the neck than to a head
    // bone that continued upwards.
    Character c;
    c.skeleton.joints = {looking("hips", -1, {0, 0, 0}, {0, 1, 0}), looking("chest", 0, {0, 1, 0}, {0, 1, 0.01f}),
                         looking("neck", 1, {0, 2, 0.01f}, {0, 1, 0}),
                         looking("head", 2, {0, 3, 0.01f}, {0, -0.4f, 1})};
    test::append(c, test::cylinder({0, -0.2, 0}, {0, 3.2, 0}, 0.4, 16, 16).positions,
                 test::cylinder({0, -0.2, 0}, {0, 3.2, 0}, 0.4, 16, 16).triangles, 0);
    const std::size_t snout = c.positions.size();
    const test::Shape cone = test::cylinder({0, 2.8, 0.2}, {0, 2.2, 1.7}, 0.3, 16, 12);
    test::append(c, cone.positions, cone.triangles, 3);
    BindOptions options;
    options.voxels.resolution = 64;
    const auto head_at_the_chin = [&] {
        const Result<Binding> b = bind(c.mesh(), c.skeleton, options);
        EXPECT_TRUE(b);
        const SkinWeights w = *b->weights();
        double sum = 0, count = 0;
        for (std::size_t v = snout; v < c.positions.size(); ++v)
            if (c.positions[v].z > 0.6f) sum += test::weight_of(w, v, 3), ++count;
        return sum / count;
    };
    EXPECT_GT(head_at_the_chin(), 0.95);
    for (Joint& j : c.skeleton.joints) j.axes = Joint{}.axes;
    EXPECT_LT(head_at_the_chin(), 0.9);  // otherwise the test shows nothing
}

}  // namespace
}  // namespace sinew::test_own_axes
