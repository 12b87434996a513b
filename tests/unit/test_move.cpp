// Bindings after joints moved, against bindings made afresh.
#include <gtest/gtest.h>

#include <random>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "sinew/bind.h"

namespace sinew {
namespace {

void expect_same(const Binding& a, const Binding& b, const std::string& where) {
    EXPECT_EQ(a.distances().joint, b.distances().joint) << where;
    EXPECT_EQ(a.distances().distance, b.distances().distance) << where;
    EXPECT_EQ(a.influences().joint, b.influences().joint) << where;
    EXPECT_EQ(a.influences().strength, b.influences().strength) << where;
    EXPECT_EQ(a.coverage(), b.coverage()) << where;
    const BindReport &p = a.report(), &q = b.report();
    EXPECT_EQ(p.boundary_voxels, q.boundary_voxels) << where;
    EXPECT_EQ(p.interior_voxels, q.interior_voxels) << where;
    EXPECT_EQ(p.leaves, q.leaves) << where;
    EXPECT_EQ(p.links, q.links) << where;
    EXPECT_EQ(p.components, q.components) << where;
    EXPECT_EQ(p.bridged_components, q.bridged_components) << where;
    EXPECT_EQ(p.bone_voxels, q.bone_voxels) << where;
    EXPECT_EQ(p.snapped_joints, q.snapped_joints) << where;
    EXPECT_EQ(p.coverage, q.coverage) << where;
    EXPECT_EQ(p.warnings, q.warnings) << where;
    EXPECT_EQ(p.reused, q.reused) << where;
}

bool has_stage(const Binding& binding, const std::string& stage) {
    for (const StageTime& t : binding.report().seconds)
        if (t.stage == stage) return true;
    return false;
}

Vec3 plus(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

// One joint after the other, each from the binding before, near and far, and out of the body.
void move_and_compare(const test::Character& c, const BindOptions& options, int moves) {
    Result<Binding> binding = bind(c.mesh(), c.skeleton, options);
    ASSERT_TRUE(binding);
    Skeleton skeleton = c.skeleton;
    std::mt19937 random(5);
    std::uniform_real_distribution<float> unit(-1, 1);
    for (int move = 0; move < moves; ++move) {
        const auto j = static_cast<std::uint32_t>(random() % skeleton.joints.size());
        const float length = move == 3 ? 1.0f : 0.05f * std::pow(10.0f, unit(random) - 1);
        const Vec3 place = plus(skeleton.joints[j].position,
                                {length * unit(random), length * unit(random), length * unit(random)});
        Context context;
        context.threads = 1 + move % 2;
        binding = binding->move_joint(c.mesh(), j, place, &context);
        ASSERT_TRUE(binding);
        skeleton = binding->skeleton();
        EXPECT_EQ(skeleton.joints[j].position, place);
        const Result<Binding> afresh = bind(c.mesh(), skeleton, options);
        ASSERT_TRUE(afresh);
        expect_same(*binding, *afresh, c.name + ", move " + std::to_string(move));
        EXPECT_EQ(has_stage(*binding, "topology"), !options.keep_volume);
    }
}

BindOptions at(Method method, int resolution, bool keep_volume = true) {
    BindOptions options = preset(method);
    options.voxels.resolution = resolution;
    options.keep_volume = keep_volume;
    return options;
}

TEST(Move, GivesTheBitsOfAFreshBind) {
    move_and_compare(test::quadruped(), at(Method::geodesic_voxel, 64), 5);
    move_and_compare(test::caped(), at(Method::geodesic_voxel, 64), 3);
}

TEST(Move, OfOtherMethodsToo) {
    move_and_compare(test::quadruped(), at(Method::surface_heat, 64), 2);
    move_and_compare(test::quadruped(), at(Method::voxel_heat, 32), 1);
    move_and_compare(test::quadruped(), at(Method::geodesic_voxel, 32, false), 2);
    BindOptions all = at(Method::geodesic_voxel, 32);
    all.finish.max_influences = all_influences;
    move_and_compare(test::quadruped(), all, 2);
    BindOptions few = at(Method::geodesic_voxel, 32);
    few.domain = DomainKind::uniform;
    move_and_compare(test::u_tube(), few, 4);
}

TEST(Move, WithSkinsAndHardness) {
    test::Character c = test::biped();
    const auto joints = static_cast<std::uint32_t>(c.skeleton.joints.size());
    c.skeleton.skins.resize(2);
    for (std::uint32_t j = 0; j < joints; ++j) {
        c.skeleton.skins[0].push_back(j);
        if (j < joints / 2) c.skeleton.skins[1].push_back(j);
    }
    c.skeleton.joints[2].hardness = 0.75f;
    std::vector<std::uint32_t> skin_of_vertex(c.positions.size());
    for (std::size_t v = 0; v < skin_of_vertex.size(); ++v) skin_of_vertex[v] = c.positions[v].y > 1;
    const MeshView mesh{c.positions, c.triangles, skin_of_vertex};
    for (const bool keep : {true, false}) {
        const BindOptions options = at(Method::geodesic_voxel, 64, keep);
        const Result<Binding> binding = bind(mesh, c.skeleton, options);
        ASSERT_TRUE(binding);
        const Result<Binding> moved =
            binding->move_joint(mesh, 4, plus(c.skeleton.joints[4].position, {0.01f, 0.02f, 0}));
        ASSERT_TRUE(moved);
        const Result<Binding> afresh = bind(mesh, moved->skeleton(), options);
        ASSERT_TRUE(afresh);
        expect_same(*moved, *afresh, "skins");
        const auto a = moved->weights(), b = afresh->weights();
        ASSERT_TRUE(a && b);
        EXPECT_EQ(*a, *b);
    }
}

TEST(Move, FromBytes) {
    const test::Character c = test::quadruped();
    const BindOptions options = at(Method::geodesic_voxel, 64);
    const Result<Binding> binding = bind(c.mesh(), c.skeleton, options);
    ASSERT_TRUE(binding);
    const Result<Binding> read = Binding::from_bytes(binding->to_bytes());
    ASSERT_TRUE(read);
    Skeleton moved = c.skeleton;
    moved.joints[5].position.y -= 0.03f;
    const Result<Binding> after = read->move_joints(c.mesh(), moved);
    const Result<Binding> afresh = bind(c.mesh(), moved, options);
    ASSERT_TRUE(after && afresh);
    expect_same(*after, *afresh, "from bytes");
}

TEST(Move, RefusesWhatIsNotAMove) {
    const test::Character c = test::u_tube(), other = test::bar();
    const Result<Binding> binding = bind(c.mesh(), c.skeleton, at(Method::geodesic_voxel, 32));
    ASSERT_TRUE(binding);
    Skeleton renamed = c.skeleton;
    renamed.joints[0].name = "somebody else";
    Skeleton more = c.skeleton;
    more.joints.push_back({"more", 0, {}, {}});
    for (const Result<Binding>& result :
         {binding->move_joint(c.mesh(), 99, {}), binding->move_joint(c.mesh(), 0, {NAN, 0, 0}),
          binding->move_joint(other.mesh(), 0, {}), binding->move_joints(c.mesh(), renamed),
          binding->move_joints(c.mesh(), more)}) {
        ASSERT_FALSE(result);
        EXPECT_FALSE(result.error().message.empty());
    }
    Context context;
    context.cancel = true;
    const Result<Binding> cancelled = binding->move_joint(c.mesh(), 0, {0.1f, 0, 0}, &context);
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace sinew
