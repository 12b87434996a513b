#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "characters/defects.h"
#include "characters/glb_out.h"
#include "characters/shapes.h"

namespace sinew::test::test_characters {
namespace {

struct Edges {
    std::size_t open = 0, crowded = 0,
                turned = 0;  ///< edges of one triangle; of more than two; used twice in one direction
};

Edges edges_of(const std::vector<Triangle>& triangles) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::array<int, 2>> count;
    for (const Triangle& t : triangles)
        for (int k = 0; k < 3; ++k) {
            const std::uint32_t a = t[k], b = t[(k + 1) % 3];
            ++count[{std::min(a, b), std::max(a, b)}][a < b];
        }
    Edges edges;
    for (const auto& [edge, n] : count) {
        edges.open += n[0] + n[1] == 1;
        edges.crowded += n[0] + n[1] > 2;
        edges.turned += n[0] + n[1] == 2 && n[0] != 1;
    }
    return edges;
}

/// Counts vertices whose triangles do not form one fan.
std::size_t pinched_vertices(const std::vector<Vec3>& positions, const std::vector<Triangle>& triangles) {
    std::vector<std::map<std::uint32_t, std::uint32_t>> next(positions.size());
    for (const Triangle& t : triangles)
        for (int k = 0; k < 3; ++k) next[t[k]][t[(k + 1) % 3]] = t[(k + 2) % 3];
    std::size_t pinched = 0;
    for (const auto& ring : next) {
        if (ring.empty()) continue;
        std::size_t steps = 0;
        for (std::uint32_t at = ring.begin()->first; steps <= ring.size(); ++steps) {
            const auto found = ring.find(at);
            if (found == ring.end() || (at == ring.begin()->first && steps > 0)) break;
            at = found->second;
        }
        pinched += steps != ring.size();
    }
    return pinched;
}

std::size_t part_count(std::size_t vertices, const std::vector<Triangle>& triangles,
                       const std::function<bool(std::uint32_t)>& keep = {}) {
    std::vector<std::uint32_t> part(vertices);
    std::iota(part.begin(), part.end(), 0u);
    const auto find = [&](std::uint32_t v) {
        while (part[v] != v) v = part[v] = part[part[v]];
        return v;
    };
    std::set<std::uint32_t> used;
    for (const Triangle& t : triangles) {
        if (keep && !(keep(t[0]) && keep(t[1]) && keep(t[2]))) continue;
        for (int k = 1; k < 3; ++k) part[find(t[k])] = find(t[0]);
        used.insert(t.begin(), t.end());
    }
    std::set<std::uint32_t> roots;
    for (const std::uint32_t v : used) roots.insert(find(v));
    return roots.size();
}

double volume(const std::vector<Vec3>& p, const std::vector<Triangle>& triangles) {
    double sum = 0;
    for (const auto& [a, b, c] : triangles) {
        const P3 u{p[a].x, p[a].y, p[a].z}, v{p[b].x, p[b].y, p[b].z}, w{p[c].x, p[c].y, p[c].z};
        sum += dot(u, cross(v, w)) / 6;
    }
    return sum;
}

/// Winding number by solid angles (Van Oosterom and Strackee): 1 inside, 0 outside of a closed surface.
double winding(const Character& c, Vec3 at) {
    double sum = 0;
    for (const auto& t : c.triangles) {
        P3 v[3];
        double l[3];
        for (int k = 0; k < 3; ++k) {
            const Vec3& p = c.positions[t[k]];
            v[k] = {double(p.x) - at.x, double(p.y) - at.y, double(p.z) - at.z};
            l[k] = length(v[k]);
        }
        const double below =
            l[0] * l[1] * l[2] + dot(v[0], v[1]) * l[2] + dot(v[1], v[2]) * l[0] + dot(v[2], v[0]) * l[1];
        sum += 2 * std::atan2(dot(v[0], cross(v[1], v[2])), below);
    }
    return sum / (4 * 3.14159265358979323846);
}

void expect_closed(const Character& c) {
    const Edges edges = edges_of(c.triangles);
    EXPECT_EQ(edges.open, 0u);
    EXPECT_EQ(edges.crowded, 0u);
    EXPECT_EQ(edges.turned, 0u);
    EXPECT_EQ(pinched_vertices(c.positions, c.triangles), 0u);
    EXPECT_GT(volume(c.positions, c.triangles), 0);
    EXPECT_EQ(c.body_part.size(), c.positions.size());
    EXPECT_TRUE(check_mesh(c.mesh()));
}

void expect_joints_inside(const Character& c) {
    for (const Joint& joint : c.skeleton.joints)
        if (joint.name != "root") {
            EXPECT_NEAR(winding(c, joint.position), 1, 1e-3) << joint.name << " is not in the body";
        }
}

bool same(const Character& a, const Character& b) {
    return a.positions == b.positions && a.triangles == b.triangles && a.body_part == b.body_part;
}

TEST(Characters, BipedIsOneClosedManifoldBodyWithItsJointsInside) {
    const Character c = biped();
    expect_closed(c);
    expect_joints_inside(c);
    EXPECT_EQ(part_count(c.positions.size(), c.triangles), 1u);
    EXPECT_GT(c.positions.size(), 8000u);
    EXPECT_LT(c.positions.size(), 20000u);
    EXPECT_EQ(c.skeleton.joints.size(), 52u);
    const auto [low, high] =
        std::minmax_element(c.positions.begin(), c.positions.end(), [](Vec3 a, Vec3 b) { return a.y < b.y; });
    EXPECT_NEAR(low->y, 0, 0.005);
    EXPECT_NEAR(high->y, 1.75, 0.01);
    // A sphere has Euler number 2: there is no handle, so no two fingers are stuck together.
    EXPECT_EQ(c.positions.size() + c.triangles.size() - c.triangles.size() * 3 / 2, 2u);
}

TEST(Characters, FingersAreSeparate) {
    const Character c = biped();
    for (const std::string side : {"_L", "_R"}) {
        std::map<std::uint32_t, int> finger_of;
        int finger = 0;
        for (const std::string name : {"thumb", "index", "middle", "ring", "pinky"}) {
            for (const char* bone : {"_02", "_03"}) finger_of[c.joint(name + bone + side)] = finger;
            ++finger;
        }
        const auto keep = [&](std::uint32_t v) { return finger_of.contains(c.body_part[v]); };
        EXPECT_EQ(part_count(c.positions.size(), c.triangles, keep), 5u);
        for (const Triangle& t : c.triangles)
            for (int k = 0; k < 3; ++k) {
                const std::uint32_t a = t[k], b = t[(k + 1) % 3];
                if (keep(a) && keep(b)) {
                    EXPECT_EQ(finger_of[c.body_part[a]], finger_of[c.body_part[b]]);
                }
            }
        // There is a gap between neighbours, not a crease.
        for (std::uint32_t a = 0; a < c.positions.size(); ++a)
            for (std::uint32_t b = a + 1; keep(a) && b < c.positions.size(); ++b)
                if (keep(b) && finger_of[c.body_part[a]] != finger_of[c.body_part[b]]) {
                    const Vec3 p = c.positions[a], q = c.positions[b];
                    EXPECT_GT(std::hypot(p.x - q.x, p.y - q.y, p.z - q.z), 0.004f);
                }
    }
}

TEST(Characters, BipedIsClosedInOtherPosesAndSizes) {
    for (const BipedOptions options : {BipedOptions{.cell = 0.024, .arms_down = 0}, BipedOptions{.cell = 0.016}}) {
        const Character c = biped(options);
        expect_closed(c);
        expect_joints_inside(c);
    }
}

TEST(Characters, ControlJointsComeAfterTheOthersAndChangeNothingElse) {
    const Character plain = biped({.cell = 0.03}), controls = biped({.cell = 0.03, .control_joints = true});
    EXPECT_TRUE(same(plain, controls));
    ASSERT_EQ(controls.skeleton.joints.size(), plain.skeleton.joints.size() + 11);
    for (std::size_t i = 0; i < plain.skeleton.joints.size(); ++i)
        EXPECT_EQ(plain.skeleton.joints[i].name, controls.skeleton.joints[i].name);
    for (const char* name : {"ik_foot_L", "hand_slot_R", "head_end", "pole_knee_R"}) controls.joint(name);
    EXPECT_THROW(controls.joint("unknown"), std::out_of_range);
}

TEST(Characters, QuadrupedIsOneClosedManifoldBodyWithItsJointsInside) {
    const Character c = quadruped();
    expect_closed(c);
    expect_joints_inside(c);
    EXPECT_EQ(part_count(c.positions.size(), c.triangles), 1u);
    EXPECT_EQ(c.positions.size() + c.triangles.size() - c.triangles.size() * 3 / 2, 2u);
}

TEST(Characters, RobotIsManyClosedPartsEachOfOneJoint) {
    const Character c = robot();
    expect_closed(c);
    EXPECT_EQ(part_count(c.positions.size(), c.triangles), 37u);
    for (const Triangle& t : c.triangles) {
        EXPECT_EQ(c.body_part[t[0]], c.body_part[t[1]]);
        EXPECT_EQ(c.body_part[t[0]], c.body_part[t[2]]);
    }
    const std::set<std::uint32_t> parts(c.body_part.begin(), c.body_part.end());
    EXPECT_EQ(parts.size(), c.skeleton.joints.size() - 1) << "every joint but the root has a part";
}

TEST(Characters, CapedHasOpenSheetsAndFloatingParts) {
    const Character c = caped();
    const Edges edges = edges_of(c.triangles);
    EXPECT_EQ(edges.open, 2u * (24 + 36) + 2 * 64 + 7 * 2 * (2 + 8)) << "the borders of cape, skirt and hair";
    EXPECT_EQ(edges.crowded + edges.turned, 0u);
    EXPECT_EQ(part_count(c.positions.size(), c.triangles), 1u + 1 + 1 + 7 + 2 + 3);
    EXPECT_EQ(c.body_part.size(), c.positions.size());
    EXPECT_TRUE(check_skeleton(c.skeleton));
    // Cloth, hair, eyes and buttons do not cut into the body.
    const Character body = biped();
    for (std::size_t v = body.positions.size(); v < c.positions.size(); v += 8)
        EXPECT_LT(winding(body, c.positions[v]), 0.5) << v << " is in the body";
}

TEST(Characters, AreReproducible) {
    EXPECT_TRUE(same(biped({.cell = 0.03}), build_biped({.cell = 0.03})));
    EXPECT_TRUE(same(build_quadruped(), make_character("quadruped")));
    EXPECT_TRUE(same(robot(), make_character("robot")));
    EXPECT_EQ(make_character("caped").name, "caped");
    EXPECT_EQ(make_character("unknown").name, "");
}

TEST(Shapes, AreClosedAndHaveTheirVolume) {
    const double pi = std::acos(-1.0);
    const auto expect_shape = [](const Shape& s, double expected, double tolerance, std::size_t vertices) {
        const Edges edges = edges_of(s.triangles);
        EXPECT_EQ(edges.open + edges.crowded + edges.turned, 0u);
        EXPECT_EQ(pinched_vertices(s.positions, s.triangles), 0u);
        EXPECT_NEAR(volume(s.positions, s.triangles), expected, tolerance * expected);
        EXPECT_EQ(s.positions.size(), vertices);
    };
    expect_shape(box({1, 2, 3}, {1, 0.5, 2}, 3), 8, 1e-6, 56);
    expect_shape(sphere({1, 0, 0}, 2, 4), 4 * pi / 3 * 8, 0.01, 2562);
    expect_shape(torus(1, 0.25, 24, 48), 2 * pi * pi * 0.0625, 0.02, 24 * 48);
    expect_shape(cylinder({0, 0, 0}, {1, 2, 2}, 0.5, 64, 5), 3 * pi * 0.25, 0.01, 64 * 5 + 2);
    expect_shape(nested_boxes(4), 8 + 1, 1e-6, 2 * 98);
    expect_shape(intersecting_shells(4), 8 + 2 * 1.152, 1e-6, 3 * 98);
    for (const Character& c : {bar(), u_tube(), l_corner()}) {
        SCOPED_TRACE(c.name);
        expect_closed(c);
        EXPECT_TRUE(check_skeleton(c.skeleton));
        EXPECT_EQ(part_count(c.positions.size(), c.triangles), 1u);
    }
    EXPECT_NEAR(volume(u_tube().positions, u_tube().triangles), pi * 0.01 * (2 + 0.15 * pi), 0.002);
    EXPECT_NEAR(volume(l_corner().positions, l_corner().triangles), 3, 1e-5);
    EXPECT_EQ(edges_of(open_box({}, {1, 1, 1}, 4, 0b001010).triangles).open, 6u * 4);
    EXPECT_EQ(edges_of(strip(8).triangles).open, 2u * (8 + 4));
    Character shells;
    shells.positions = intersecting_shells(4).positions;
    shells.triangles = intersecting_shells(4).triangles;
    EXPECT_NEAR(winding(shells, {0.05f, 0.05f, 0.05f}), 1, 1e-6);
}

TEST(Defects, DamageTheMeshAsDescribed) {
    for (const Character& good : {quadruped(0.02), robot(), caped()}) {
        SCOPED_TRACE(good.name);
        std::map<std::string, Character> bad;
        for (const Defect& defect : defects()) {
            const Character c = bad[defect.name] = defect.apply(good);
            EXPECT_EQ(c.skeleton.joints.size(), good.skeleton.joints.size());
            EXPECT_EQ(c.body_part.size(), c.positions.size()) << defect.name;
            EXPECT_EQ(find_defect(defect.name), &defect);
            const Status status = check_mesh(c.mesh());
            EXPECT_EQ(status.ok(), !*defect.error) << defect.name;
            if (!status) {
                EXPECT_NE(status.error().message.find(defect.error), std::string::npos) << status.error().message;
            }
        }
        EXPECT_EQ(find_defect("none"), nullptr);

        const std::size_t v = good.positions.size(), t = good.triangles.size(),
                          open = edges_of(good.triangles).open;
        EXPECT_LT(bad["holes"].triangles.size(), t);
        EXPECT_GT(bad["holes"].triangles.size(), t / 2);
        EXPECT_GT(edges_of(bad["holes"].triangles).open, open);
        EXPECT_EQ(bad["soup"].positions.size(), 3 * t);
        EXPECT_EQ(part_count(3 * t, bad["soup"].triangles), t);

        const auto flipped = [&](const Character& c) {
            std::size_t n = 0;
            for (std::size_t i = 0; i < t; ++i) n += c.triangles[i] != good.triangles[i];
            return double(n) / double(t);
        };
        EXPECT_NEAR(flipped(bad["flipped_faces"]), 0.3, 0.02);
        EXPECT_EQ(flipped(bad["flipped_all"]), 1);
        EXPECT_GT(flipped(bad["flipped_part"]), 0);
        EXPECT_LT(flipped(bad["flipped_part"]), 0.7);

        EXPECT_NEAR(double(bad["duplicated"].triangles.size()) / double(t), 1.2, 0.03);
        // A fin on a border edge makes an edge of two triangles, which is manifold.
        EXPECT_NEAR(double(edges_of(bad["fins"].triangles).crowded), double(t + 39) / 40, open ? 8 : 0.99);
        EXPECT_EQ(bad["crossing"].positions.size(), 2 * v);
        EXPECT_EQ(bad["crossing"].triangles.size(), 2 * t);
        const auto parts = [&](const Character& c) { return part_count(c.positions.size(), c.triangles); };
        EXPECT_EQ(parts(bad["crossing"]), 2 * parts(good));
        EXPECT_EQ(parts(bad["floating"]), parts(good) + 10);
        EXPECT_EQ(edges_of(bad["floating"].triangles).open, open);
        EXPECT_EQ(bad["zero_area"].triangles.size(), t + (t + 24) / 25);
        EXPECT_NEAR(volume(bad["zero_area"].positions, bad["zero_area"].triangles),
                    volume(good.positions, good.triangles), 1e-6);
        EXPECT_EQ(bad["unused"].positions.size(), v + 21);
        EXPECT_EQ(bad["unused"].triangles, good.triangles);
        EXPECT_GT(bad["unused"].positions.back().x, 100);
        EXPECT_EQ(bad["single_triangle"].triangles.size(), 1u);
        EXPECT_TRUE(bad["empty"].triangles.empty());
    }
}

TEST(GlbOut, WritesAConsistentFile) {
    const Character c = bar(16);
    const auto json_of = [](const std::vector<std::byte>& glb) {
        std::uint32_t header[5];
        std::memcpy(header, glb.data(), sizeof header);
        EXPECT_EQ(header[0], 0x46546c67u);
        EXPECT_EQ(header[2], glb.size());
        return std::string(reinterpret_cast<const char*>(glb.data()) + 20, header[3]);
    };
    const auto has = [](const std::string& text, const std::string& part) { return text.find(part) != text.npos; };
    EXPECT_TRUE(has(json_of(to_glb(c)), "\"componentType\":5123"));  // 386 vertices
    EXPECT_TRUE(has(json_of(to_glb(c, {.index_bytes = 4})), "\"componentType\":5125"));
    EXPECT_TRUE(has(json_of(to_glb(bar(4))), "\"componentType\":5121"));
    const std::string flat = json_of(to_glb(c, {.indexed = false, .normals = false}));
    EXPECT_FALSE(has(flat, "indices"));
    EXPECT_FALSE(has(flat, "NORMAL"));
    EXPECT_TRUE(has(flat, "\"count\":" + std::to_string(3 * c.triangles.size())));
    const std::string two = json_of(to_glb(c, {.primitive = [](std::size_t t) { return std::uint32_t(t % 2); }}));
    EXPECT_TRUE(has(two, "\"indices\":2") && has(two, "\"indices\":5"));
    EXPECT_FALSE(has(json_of(to_glb(find_defect("empty")->apply(c))), "mesh"));
}

}  // namespace
}  // namespace sinew::test::test_characters
