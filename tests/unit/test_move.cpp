// Bindings with moved joints, compared with fresh binds.
#include <gtest/gtest.h>

#include <random>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "sanitized.h"
#include "sinew/bind.h"
#include "unit/support.h"

namespace sinew::test_move {
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

// Moves one joint after another, each time from the previous binding: near, far, and out of the body.
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
        EXPECT_FALSE(options.keep_volume && has_stage(*binding, "surface"));
    }
}

BindOptions at(Method method, int resolution, bool keep_volume = true) {
    BindOptions options = preset(method);
    options.voxels.resolution = resolution;
    options.keep_volume = keep_volume;
    return options;
}

TEST(Move, GivesTheBitsOfAFreshBind) {
    move_and_compare(test::quadruped(), at(Method::geodesic_voxel, 64), test::sanitized ? 2 : 5);
    move_and_compare(test::caped(), at(Method::geodesic_voxel, 64), test::sanitized ? 1 : 3);
}

TEST(Move, WorksForOtherMethods) {
    move_and_compare(test::quadruped(), at(Method::surface_heat, 64), test::sanitized ? 1 : 5);
    move_and_compare(test::caped(), at(Method::surface_heat, 64), test::sanitized ? 1 : 3);
    move_and_compare(test::quadruped(), at(Method::voxel_heat, 32), 1);
    move_and_compare(test::quadruped(), at(Method::geodesic_voxel, 32, false), 2);
    BindOptions all = at(Method::geodesic_voxel, 32);
    all.finish.max_influences = all_influences;
    move_and_compare(test::quadruped(), all, 2);
    BindOptions few = at(Method::geodesic_voxel, 32);
    few.domain = DomainKind::uniform;
    move_and_compare(test::u_tube(), few, test::sanitized ? 1 : 4);
    few.domain = DomainKind::sparse_boundary;
    move_and_compare(test::quadruped(), few, test::sanitized ? 1 : 4);
}

TEST(Move, KeepsSkinsAndHardness) {
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

// `now`: a skeleton whose joints have other properties than the bound one, `before`.
void change_and_compare(const test::Character& before, const Skeleton& now, const BindOptions& options,
                        const std::string& where) {
    const Binding binding = test::bound(before, options);
    const Binding moved = test::must(binding.move_joints(before.mesh(), now));
    const Binding afresh = test::bound(before.mesh(), now, options);
    expect_same(moved, afresh, where);
    EXPECT_EQ(test::must(moved.weights()), test::must(afresh.weights())) << where;
    // Moves on from there, and from the bytes of the binding.
    const Vec3 place = plus(now.joints[1].position, {0.01f, -0.01f, 0});
    const Binding again = test::must(moved.move_joint(before.mesh(), 1, place));
    const Binding expected = test::bound(before.mesh(), again.skeleton(), options);
    const Binding read = test::must(Binding::from_bytes(moved.to_bytes()));
    for (const Binding& b : {again, test::must(read.move_joint(before.mesh(), 1, place))}) {
        expect_same(b, expected, where + ", second move");
        EXPECT_EQ(test::must(b.weights()), test::must(expected.weights())) << where << ", second move";
    }
}

TEST(Move, AppliesHardness) {
    test::Character soft = test::u_tube(), hard = soft;
    hard.skeleton.joints[0].hardness = 0.875f;
    hard.skeleton.joints[1].hardness = 0.25f;
    Skeleton harder = hard.skeleton;
    harder.joints[0].hardness = 1.0f;
    harder.joints[1].position.y += 0.01f;
    for (const bool keep : {true, false}) {
        BindOptions options = at(Method::geodesic_voxel, 32, keep);
        change_and_compare(hard, harder, options, "hard to harder");
        change_and_compare(hard, soft.skeleton, options, "hard to soft");
        change_and_compare(soft, harder, options, "soft to hard");
        // Values given by the caller outweigh those of joints, with a warning.
        options.falloff.map.of_joint.assign(soft.skeleton.joints.size(), NAN);
        options.falloff.map.of_joint[0] = 0.875f;
        options.falloff.map.of_joint[1] = 0.25f;
        change_and_compare(hard, harder, options, "a map of the caller's");
        change_and_compare(soft, harder, options, "a map of the caller's, no hardness");
        options = at(Method::geodesic_voxel, 32, keep);
        options.falloff.law = FalloffLaw::exponential;
        change_and_compare(hard, harder, options, "a law of lengths");
        change_and_compare(hard, soft.skeleton, options, "a law of lengths, and no hardness");
    }
    const Binding binding = test::bound(hard, at(Method::geodesic_voxel, 32));
    const auto weights = [&](const Skeleton& s) {
        return test::must(test::must(binding.move_joints(hard.mesh(), s)).weights());
    };
    EXPECT_NE(weights(hard.skeleton), weights(soft.skeleton));
}

TEST(Move, AppliesShapesTailsRangesAndConnections) {
    const test::Character c = test::u_tube();
    Skeleton other = c.skeleton;
    const auto last = other.joints.size() - 1;
    JointShape& ball = other.joints[0].shape.emplace();
    ball.kind = JointShape::Kind::sphere;
    ball.radius = 0.05f;
    JointShape& box = other.joints[1].shape.emplace();
    box.kind = JointShape::Kind::box;
    box.half = {0.1f, 0.05f, 0.04f};
    other.joints[1].axes = {Vec3{0, 1, 0}, Vec3{0, 0, 1}, Vec3{1, 0, 0}};
    other.joints[last].tail = plus(other.joints[last].position, {0.02f, 0.03f, 0});
    test::Character shaped = c;
    shaped.skeleton = other;
    for (const Method method : {Method::geodesic_voxel, Method::surface_heat}) {
        change_and_compare(c, other, at(method, 32), "shapes");
        change_and_compare(shaped, c.skeleton, at(method, 32), "no shapes");
    }
    Skeleton ranges = c.skeleton;
    ranges.joints[0].hard_range = std::array{0.5f, 0.5f};
    ranges.joints[last].connected = std::vector<std::string>{ranges.joints[0].name};
    ranges.joints[1].tail = plus(ranges.joints[1].position, {0, 0.1f, 0});
    change_and_compare(c, ranges, at(Method::connectivity, 32), "ranges");
}

TEST(Move, MovesTailsThatEndAtTheJoint) {
    test::Character c = test::u_tube();
    std::vector<Joint>& joints = c.skeleton.joints;
    joints[0].tail = joints[1].position;
    joints[1].tail = plus(joints[1].position, {0, 0.1f, 0});
    joints.back().tail = joints.back().position;
    const auto last = static_cast<std::uint32_t>(joints.size() - 1);
    const Binding bound = test::bound(c, at(Method::geodesic_voxel, 32));
    const Vec3 place = plus(joints[1].position, {0.02f, -0.1f, 0.01f});
    const Skeleton once = test::must(bound.move_joint(c.mesh(), 1, place)).skeleton();
    EXPECT_EQ(once.joints[0].tail, place);
    EXPECT_NEAR(once.joints[1].tail->y, place.y + 0.1f, 1e-6f);
    EXPECT_EQ(once.joints[last].tail, joints[last].tail);
    const Skeleton twice = test::must(bound.move_joint(c.mesh(), last, place)).skeleton();
    EXPECT_EQ(twice.joints[last].tail, place) << "a bone of zero length keeps it";
    EXPECT_EQ(twice.joints[0].tail, joints[0].tail);
    // A bone must not shrink to a point if its joint moves by the length of the bone.
    const Skeleton back =
        test::must(bound.move_joint(c.mesh(), 1, plus(joints[1].position, {0, -0.1f, 0}))).skeleton();
    EXPECT_FALSE(back.joints[1].tail == back.joints[1].position);
}

// After a joint moved to another part, no old distance remains.
TEST(Move, AJointMayMoveToAnotherPart) {
    test::Character c = test::bar();
    const test::Character one = c;
    const auto n = static_cast<std::uint32_t>(one.positions.size());
    for (const Vec3& p : one.positions) c.positions.push_back(plus(p, {0, 0, 1}));
    for (const Triangle& t : one.triangles) c.triangles.push_back({t[0] + n, t[1] + n, t[2] + n});
    const std::vector<Joint> two = one.skeleton.joints;
    c.skeleton.joints.clear();
    for (int k = 0; k < 3; ++k) {
        Joint& joint = c.skeleton.joints.emplace_back();
        joint.name = "joint " + std::to_string(k);
        joint.position = plus(two[k == 1].position, {0.01f, 0.01f, k == 2 ? 1.0f : 0.0f});
    }
    const BindOptions options = at(Method::geodesic_voxel, 32);
    const Binding binding = test::bound(c, options);
    const Binding moved =
        test::must(binding.move_joint(c.mesh(), 1, plus(c.skeleton.joints[1].position, {0, 0, 1})));
    EXPECT_EQ(binding.distances().joint[1], 1u);
    EXPECT_EQ(moved.distances().joint[1], no_index);
    expect_same(moved, test::bound(c.mesh(), moved.skeleton(), options), "to another part");
}

TEST(Move, WorksOnABindingReadFromBytes) {
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

TEST(Move, RefusesChangesThatAreNotMoves) {
    const test::Character c = test::u_tube(), other = test::bar();
    const Result<Binding> binding = bind(c.mesh(), c.skeleton, at(Method::geodesic_voxel, 32));
    ASSERT_TRUE(binding);
    Skeleton renamed = c.skeleton;
    renamed.joints[0].name = "somebody else";
    Skeleton more = c.skeleton;
    more.joints.push_back({"more", 0, {}, {}});
    Skeleton idle = c.skeleton;
    idle.joints[1].deform = false;
    Skeleton skins = c.skeleton;
    skins.skins = {{0, 1, 2}};
    const std::vector<std::uint32_t> first(c.positions.size(), 0);
    const MeshView skinned{c.positions, c.triangles, first};
    const Binding of_skin = test::bound(skinned, skins, at(Method::geodesic_voxel, 32));
    skins.skins = {{0, 1}};
    for (const Result<Binding>& result :
         {binding->move_joint(c.mesh(), 99, {}), binding->move_joint(c.mesh(), 0, {NAN, 0, 0}),
          binding->move_joint(other.mesh(), 0, {}), binding->move_joints(c.mesh(), renamed),
          binding->move_joints(c.mesh(), more), binding->move_joints(c.mesh(), idle),
          of_skin.move_joints(skinned, skins), of_skin.move_joints(c.mesh(), skins)}) {
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
}  // namespace sinew::test_move
