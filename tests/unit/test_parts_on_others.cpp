// Parts that lie on other parts follow the joint below.
#include "bind/surface_heat/parts_on_others.h"

#include <gtest/gtest.h>

#include "characters/shapes.h"
#include "sinew/bind.h"
#include "unit/support.h"

namespace sinew::test_parts_on_others {
namespace {

using test::Shape;

constexpr std::uint32_t kBends = no_index;

/// A body of 4 x 2 x 2 with plates on it. Joint 0 moves the body at x < 0, joint 1 the rest.
struct Plates {
    Shape all = test::box({0, 0, 0}, {2, 1, 1}, 20);
    std::vector<std::size_t> first;  // vertex of each plate
    std::vector<std::uint32_t> whose;
    std::vector<bool> boneless;

    Plates& add(test::P3 centre, std::uint32_t joint, bool without_bone = true) {
        first.push_back(all.positions.size());
        whose.push_back(joint), boneless.push_back(without_bone);
        test::append(all, test::box(centre, {0.2, 0.02, 0.2}, 4));
        return *this;
    }

    /// The strongest joint of each plate after the rule; 99 if its vertices differ.
    std::vector<std::uint32_t> settle(int threads = 1) {
        Context context;
        context.threads = threads;
        const MeshView mesh{all.positions, all.triangles, {}};
        const MeshTopology topology = analyse_mesh(mesh);
        const MeshSurface surface = build_surface(mesh, topology);
        const TriangleTree tree(mesh.positions, mesh.triangles);
        const auto part = [&](std::size_t v) { return surface.component[surface.node_of[v]]; };
        PartFacts facts{std::vector<double>(surface.components, 0),
                        std::vector<std::uint32_t>(surface.components, kBends),
                        std::vector<bool>(surface.components, false)};
        SetRows rows{{}, 2, {}, {}, {}, {}};
        for (std::uint32_t v = 0; v < all.positions.size(); ++v) {
            rows.vertices.push_back(v);
            facts.area[part(v)] += surface.mass[surface.node_of[v]];
            const bool of_body = v < first[0];
            std::size_t plate = 0;
            while (plate + 1 < first.size() && v >= first[plate + 1]) ++plate;
            const std::uint32_t joint = whose[plate] == kBends ? 2 : whose[plate];
            const std::uint32_t side = all.positions[v].x < 0 ? 0 : 1;
            rows.entries.push_back({of_body ? 1.0f : 0.5f, of_body ? side : joint});
            rows.entries.push_back({0.5f, 3});
            rows.kept.push_back(of_body ? 1 : 2);
            rows.count.push_back(1);
        }
        for (std::size_t k = 0; k < first.size(); ++k) {
            facts.joint[part(first[k])] = whose[k];
            facts.boneless[part(first[k])] = boneless[k];
        }
        follow_surface_beneath(mesh, surface, tree, 4, {}, &context, std::nullopt, facts, rows);
        const std::vector<InfluenceRows::Entry>& entries = rows.entries;
        std::vector<std::uint32_t> joints;
        for (std::size_t k = 0; k < first.size(); ++k) {
            joints.push_back(entries[2 * first[k]].second);
            const std::size_t end = k + 1 < first.size() ? first[k + 1] : all.positions.size();
            for (std::size_t v = first[k]; v < end; ++v)
                if (entries[2 * v] != entries[2 * first[k]] || rows.kept[v] != rows.kept[first[k]])
                    joints.back() = 99;
        }
        return joints;
    }
};

TEST(PartsOnOthers, APlateFollowsThePartBelow) {
    Plates p;
    p.add({-1, 1.025, 0}, 2);          // on joint 0's side
    p.add({1, 1.025, 0}, 2);           // on joint 1's side
    p.add({-1, 1.3, 0}, 2);            // in the air above it
    p.add({-1, -1.025, 0}, 2, false);  // with a bone of its own
    p.add({1, -1.025, 0}, kBends);     // one that would bend
    EXPECT_EQ(p.settle(), (std::vector<std::uint32_t>{0, 1, 2, 2, 1}));
    EXPECT_EQ(p.settle(4), (std::vector<std::uint32_t>{0, 1, 2, 2, 1}));
}

TEST(PartsOnOthers, ItsOwnJointStaysUnlessAnotherHasClearlyMore) {
    Plates p;
    p.add({-0.12, 1.025, 0.5}, 1);   // joint 0 has slightly more than half below the plate
    p.add({-0.25, 1.025, -0.5}, 1);  // joint 0 has four fifths below it
    EXPECT_EQ(p.settle(), (std::vector<std::uint32_t>{1, 0}));
}

TEST(PartsOnOthers, PartsOnSuchAPartFollowIt) {
    Plates p;
    p.add({-1, 1.025, 0}, 2);
    p.add({-1, 1.09, 0}, 2);
    // The lower part is the larger one, in either order of the list.
    for (std::size_t v = p.first[1]; v < p.all.positions.size(); ++v)
        p.all.positions[v].x = -1 + (p.all.positions[v].x + 1) * 0.9f;
    EXPECT_EQ(p.settle(), (std::vector<std::uint32_t>{0, 0}));
}

TEST(PartsOnOthers, LengthsOfBonesWithinAPartAreMeasured) {
    const Shape ball = test::sphere({0, 0, 0}, 1, 4);
    const MeshView mesh{ball.positions, ball.triangles, {}};
    SurfacePart part{ball.triangles, {}};
    for (const Vec3& v : ball.positions) part.box.add(to_point(v));
    const std::vector<Bone> bones{{0, {0, 0, 0}, {2, 0, 0}},
                                  {1, {-3, 0, 0}, {-1.5f, 0, 0}},
                                  {2, {0, 0.5f, 0}, {0, 0.5f, 0}},
                                  {3, {0, 3, 0}, {0, 2, 0}},
                                  {3, {0, 0, 0}, {0, 0.9f, 0}},
                                  {4, {3, 0, 0}, {3, 0, 0}},
                                  {5, {-2, 0.9f, 0.9f}, {2, 0.9f, 0.9f}}};  // in the box, not in the ball
    const std::vector<JointShare> within = bones_within(mesh, part, bones);
    ASSERT_EQ(within.size(), 3u);
    EXPECT_EQ(within[0].joint, 0u);
    EXPECT_NEAR(within[0].share, 0.5, 0.07);
    EXPECT_EQ(within[1].joint, 2u);
    EXPECT_EQ(within[1].share, 1);
    EXPECT_EQ(within[2].joint, 3u);
    EXPECT_EQ(within[2].share, 1);
}

TEST(PartsOnOthers, APartIsBuiltAroundABone) {
    EXPECT_EQ(bone_of_part(std::vector<JointShare>{{3, 0.8}, {7, 0.2}}), 3u);
    EXPECT_EQ(bone_of_part(std::vector<JointShare>{{3, 0.2}, {7, 0.8}}), 7u);
    EXPECT_EQ(bone_of_part(std::vector<JointShare>{{3, 0.7}}), kBends);
    EXPECT_EQ(bone_of_part(std::vector<JointShare>{{3, 1}, {7, 0.3}}), kBends);
    EXPECT_EQ(bone_of_part(std::vector<JointShare>{{3, 1}, {7, 1}}), kBends);
    EXPECT_EQ(bone_of_part({}), kBends);
}

// A short link of a machine: half of it is nearer to the long bone that starts in it.
TEST(PartsOnOthers, ALinkOfAMachineStaysWhole) {
    test::Character c;
    for (const float x : {-1.0f, 0.0f}) {
        Joint joint;
        joint.name = x < 0 ? "link" : "arm", joint.parent = x < 0 ? -1 : 0;
        joint.position = {x, 0, 0}, joint.tail = Vec3{x < 0 ? 0.0f : 4.0f, 0, 0};
        c.skeleton.joints.push_back(joint);
    }
    const auto add = [&](const Shape& part, std::uint32_t joint) {
        test::append(c, part.positions, part.triangles, joint);
    };
    add(test::box({-0.05, 0, 0}, {1, 0.2, 0.2}, 12), 0);
    const std::size_t first = c.positions.size();
    add(test::box({2.5, 0, 0}, {1.5, 0.3, 0.3}, 12), 1);
    BindOptions options;
    options.voxels.resolution = 64;
    const SkinWeights w = *bind(c.mesh(), c.skeleton, options)->weights();
    for (std::size_t v = 0; v < first; ++v) EXPECT_EQ(w[v][0], (Influence{0, 1})) << c.positions[v].x;
    for (std::size_t v = first; v < c.positions.size(); ++v) EXPECT_EQ(w[v][0], (Influence{1, 1}));
}

}  // namespace
}  // namespace sinew::test_parts_on_others
