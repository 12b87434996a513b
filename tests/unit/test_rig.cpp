// Template skeletons placed into generated characters, whose own joints are known.
#include "sinew/rig.h"

#include <gtest/gtest.h>

#include <functional>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "rig/fingers.h"
#include "sanitized.h"
#include "sinew/bind.h"
#include "sinew/voxels.h"
#include "support.h"

namespace sinew::test_rig {
namespace {

const Joint& joint_of(const Rig& rig, const std::string& name) {
    for (const Joint& joint : rig.skeleton.joints)
        if (joint.name == name) return joint;
    ADD_FAILURE() << "there is no joint " << name;
    return rig.skeleton.joints.front();
}

double apart(const Vec3& a, const Vec3& b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

Rig fitted(const MeshView& mesh, const std::string& model, int threads = 2, int resolution = 64) {
    Context context;
    context.threads = threads;
    Result<Rig> rig = fit_template(mesh, {model, resolution}, &context);
    EXPECT_TRUE(rig) << (rig ? "" : rig.error().message);
    EXPECT_TRUE(check_skeleton(rig->skeleton));
    return std::move(*rig);
}

// The biped is 1.78 high. Elbows, wrists, knees and ankles are where its own are, by less than 7 % of that.
TEST(Rig, PlacesABipedNearItsOwnJoints) {
    const test::Character c = test::make_character("biped");
    const Rig rig = fitted(c.mesh(), "biped", 2, 128);
    EXPECT_EQ(rig.limbs_found, 5u);
    EXPECT_GT(rig.confidence, 0.75);
    EXPECT_GT(rig.symmetry, 0.95);
    EXPECT_TRUE(rig.notes.empty()) << rig.notes.front();
    for (const auto& [ours, own] : std::map<std::string, std::string>{{"hips", "hips"},
                                                                      {"head", "head"},
                                                                      {"neck", "neck"},
                                                                      {"upper_arm", "upper_arm_"},
                                                                      {"forearm", "lower_arm_"},
                                                                      {"hand", "hand_"},
                                                                      {"thigh", "upper_leg_"},
                                                                      {"shin", "lower_leg_"},
                                                                      {"foot", "foot_"}})
        for (const char* side : {"L", "R"}) {
            const bool paired = own.ends_with("_");
            const Vec3 wanted = c.skeleton.joints[c.joint(paired ? own + side : own)].position;
            EXPECT_LT(apart(joint_of(rig, paired ? ours + "." + side : ours).position, wanted), 0.07 * 1.78)
                << ours << side;
        }
}

TEST(Rig, PlacesAQuadrupedWithItsTail) {
    const test::Character c = test::make_character("quadruped");
    const Rig rig = fitted(c.mesh(), "quadruped");
    EXPECT_EQ(rig.limbs_found, 5u);
    EXPECT_GT(rig.confidence, 0.75);
    // Along the body from back to front.
    const char* const order[] = {"tail.2", "tail.1", "hips", "spine", "chest", "neck", "head"};
    for (int k = 1; k < 7; ++k)
        EXPECT_LT(joint_of(rig, order[k - 1]).position.z, joint_of(rig, order[k]).position.z) << order[k];
    for (const char* side : {".L", ".R"})
        for (const std::string leg : {"front_foot", "foot"})
            EXPECT_LT(joint_of(rig, leg + side).position.y, joint_of(rig, "hips").position.y / 3);
}

TEST(Rig, ASymmetricMeshGetsASymmetricSkeleton) {
    const Rig rig = fitted(test::make_character("biped").mesh(), "biped");
    for (const Joint& joint : rig.skeleton.joints) {
        const Vec3 mirrored{-joint.position.x, joint.position.y, joint.position.z};
        std::string other = joint.name;
        if (other.ends_with(".L"))
            other.back() = 'R';
        else if (other.ends_with(".R"))
            other.back() = 'L';
        EXPECT_LT(apart(joint_of(rig, other).position, mirrored), 0.01) << joint.name;
    }
}

TEST(Rig, TheLeftSideIsTheCharactersLeft) {
    const Rig rig = fitted(test::make_character("biped").mesh(), "biped");
    EXPECT_GT(joint_of(rig, "hand.L").position.x, 0.3);
    EXPECT_LT(joint_of(rig, "hand.R").position.x, -0.3);
}

/// The same fingers as the generated biped has, each joint within 0.03 of its own; a hand is 0.2 long.
void expect_own_fingers(
    const Rig& rig, const test::Character& c, const std::vector<std::string>& fingers,
    const std::function<Vec3(Vec3)>& moved = [](Vec3 p) { return p; }) {
    for (const std::string& finger : fingers)
        for (const std::string joint : {"1", "2", "3"})
            for (const std::string side : {"L", "R"}) {
                const Vec3 own = c.skeleton.joints[c.joint(finger + "_0" + joint + "_" + side)].position;
                EXPECT_LT(apart(joint_of(rig, finger + "." + joint + "." + side).position, moved(own)), 0.03)
                    << finger << joint << side;
            }
}

const std::vector<std::string> kFingers{"thumb", "index", "middle", "ring", "pinky"};

TEST(Rig, FindsFingersWhereTheyAre) {
    const test::Character c = test::make_character("biped");
    const Rig rig = fitted(c.mesh(), "biped-fingers", 2, 128);
    EXPECT_EQ(rig.limbs_found, 15u);
    EXPECT_GT(rig.confidence, 0.75);
    EXPECT_TRUE(rig.notes.empty()) << rig.notes.front();
    EXPECT_EQ(rig.skeleton.joints.size(), 21u + 30u);
    expect_own_fingers(rig, c, kFingers);
    const std::vector<Joint>& joints = rig.skeleton.joints;
    EXPECT_EQ(joints[static_cast<std::size_t>(joint_of(rig, "thumb.1.L").parent)].name, "hand.L");
    EXPECT_TRUE(joint_of(rig, "thumb.3.L").tail);
}

// Thumbs are not known by the direction alone: with palms to the front, where thumbs point up and little fingers
// down, and with palms up, where thumbs point backwards.
TEST(Rig, KnowsThumbsOfTurnedHands) {
    if (test::sanitized) return;  // FindsFingersWhereTheyAre does the same
    const test::Character c = test::make_character("biped");
    const Rig rest = fitted(c.mesh(), "biped-fingers", 2, 128);
    for (const double degrees : {90.0, 180.0}) {
        test::Character turned = c;
        const auto turn = [&](Vec3 p) {
            const int side = p.x > 0 ? 1 : -1;
            const test::P3 wrist = {joint_of(rest, side > 0 ? "hand.L" : "hand.R").position.x,
                                    joint_of(rest, side > 0 ? "hand.L" : "hand.R").position.y,
                                    joint_of(rest, side > 0 ? "hand.L" : "hand.R").position.z};
            const Vec3 tip = joint_of(rest, side > 0 ? "middle.3.L" : "middle.3.R").position;
            const test::P3 axis = test::unit(test::P3{tip.x, tip.y, tip.z} - wrist);
            const test::P3 from = test::P3{p.x, p.y, p.z} - wrist;
            // Nothing at the wrist, all of it 0.03 beyond.
            const double share = std::clamp(test::dot(from, axis) / 0.03, 0.0, 1.0);
            if (test::length(from) > 0.3) return p;
            return test::to_vec3(wrist + test::turned(from, axis, -side * share * degrees * 3.14159265 / 180));
        };
        for (Vec3& p : turned.positions) p = turn(p);
        expect_own_fingers(fitted(turned.mesh(), "biped-fingers", 2, 128), c, kFingers, turn);
    }
}

/// The biped without these fingers, with holes where they were.
test::Character without_fingers(const std::vector<std::string>& fingers) {
    test::Character c = test::make_character("biped");
    std::vector<bool> gone;
    for (const Joint& joint : c.skeleton.joints)
        gone.push_back(std::any_of(fingers.begin(), fingers.end(),
                                   [&](const std::string& finger) { return joint.name.starts_with(finger); }));
    std::erase_if(c.triangles, [&](const Triangle& t) {
        return std::any_of(t.begin(), t.end(), [&](std::uint32_t v) { return gone[c.body_part[v]]; });
    });
    return c;
}

TEST(Rig, NamesTheFingersThatAreThere) {
    const test::Character c = test::make_character("biped");
    const Rig four = fitted(without_fingers({"thumb"}).mesh(), "biped-fingers", 2, 128);
    EXPECT_EQ(four.limbs_found, 13u);
    expect_own_fingers(four, c, {"index", "middle", "ring", "pinky"});
    ASSERT_EQ(four.notes.size(), 2u);
    EXPECT_EQ(four.notes[0], "4 fingers were found in hand.L");
    if (test::sanitized) return;
    const Rig three = fitted(without_fingers({"ring", "pinky"}).mesh(), "biped-fingers", 2, 128);
    EXPECT_EQ(three.limbs_found, 11u);
    expect_own_fingers(three, c, {"thumb", "index", "middle"});
}

// The skeleton is that of a biped, with notes.
TEST(Rig, SaysThatAHandHasNoFingers) {
    if (test::sanitized) return;  // stumps are looked at in voxels as small as they get
    const Rig rig = fitted(without_fingers(kFingers).mesh(), "biped-fingers", 2, 128);
    EXPECT_EQ(rig.skeleton.joints.size(), 21u);
    EXPECT_LT(rig.confidence, 0.5);
    ASSERT_EQ(rig.notes.size(), 2u);
    EXPECT_NE(rig.notes[0].find("no fingers were found in hand.L"), std::string::npos) << rig.notes[0];
}

// Turned to face -x, and laid down with z up: the joints turn with the mesh, and a note says that it lies.
/// A closed tube of square sections along x: half the side of each.
VoxelGrid tube(const std::vector<std::pair<float, float>>& sections) {
    test::Character c;
    for (const auto& [x, half] : sections)
        for (const auto& [y, z] : {std::pair{-half, -half}, {half, -half}, {half, half}, {-half, half}})
            c.positions.push_back({x, y, z});
    const auto quad = [&](std::uint32_t a, std::uint32_t b, std::uint32_t d, std::uint32_t e) {
        c.triangles.push_back({a, b, d});
        c.triangles.push_back({a, d, e});
    };
    const auto last = static_cast<std::uint32_t>(c.positions.size() - 4);
    quad(0, 3, 2, 1);
    quad(last, last + 1, last + 2, last + 3);
    for (std::uint32_t s = 0; s < last; s += 4)
        for (std::uint32_t k = 0; k < 4; ++k) quad(s + k, s + (k + 1) % 4, s + 4 + (k + 1) % 4, s + 4 + k);
    VoxelizeOptions options;
    options.resolution = 128;
    return voxelize(c.mesh(), analyse_mesh(c.mesh(), nullptr), options, nullptr).value();
}

TEST(Rig, AWristIsTheNarrowestPlaceBehindThePalm) {
    // The elbow is at 0, the wrist at 0.7, the tip at 1.
    const VoxelGrid arm = tube({{0.0f, 0.12f}, {0.7f, 0.04f}, {0.8f, 0.09f}, {1.0f, 0.02f}});
    for (const double guess : {0.57, 0.7, 0.78}) {
        const std::optional<Point3> wrist = find_wrist(arm, {{guess, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {0, 0, 0});
        ASSERT_TRUE(wrist) << guess;
        EXPECT_NEAR((*wrist)[0], 0.7, 0.03) << guess;
        EXPECT_NEAR((*wrist)[1], 0, 0.01) << guess;
    }
    EXPECT_FALSE(find_wrist(arm, {{0.85, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {0, 0, 0})) << "too far from the guess";
    const VoxelGrid stick = tube({{0.0f, 0.05f}, {1.0f, 0.05f}}), sleeve = tube({{0.0f, 0.1f}, {1.0f, 0.02f}});
    EXPECT_FALSE(find_wrist(stick, {{0.7, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {0, 0, 0})) << "no narrow place";
    EXPECT_FALSE(find_wrist(sleeve, {{0.7, 0, 0}, {1, 0, 0}, {0, 0, 1}}, {0, 0, 0})) << "it only becomes wider";
}

// Hands that are half as long again, and thin wrists: the usual fractions of an arm end inside the hand.
TEST(Rig, HandsBeginAtTheWrist) {
    test::Character c = test::make_character("biped");
    const Vec3 wrist = c.skeleton.joints[c.joint("hand_L")].position;
    for (Vec3& p : c.positions) {
        const float beyond = std::abs(p.x) - wrist.x,
                    thin = 1 - 0.4f * std::max(0.0f, 1 - std::abs(beyond) / 0.06f);
        if (beyond < -0.06f) continue;
        p.y = wrist.y + thin * (p.y - wrist.y);
        p.z = wrist.z + thin * (p.z - wrist.z);
        p.x = std::copysign(wrist.x + (beyond > 0 ? 1.5f : 1) * beyond, p.x);
    }
    const Rig rig = fitted(c.mesh(), "biped", 2, 128);
    EXPECT_LT(apart(joint_of(rig, "hand.L").position, wrist), 0.035);
    EXPECT_LT(apart(joint_of(rig, "hand.R").position, {-wrist.x, wrist.y, wrist.z}), 0.035);
}

TEST(Rig, FollowsATurnedMesh) {
    const test::Character c = test::make_character("biped");
    const Rig upright = fitted(c.mesh(), "biped");
    test::Character turned = c, lying = c;
    for (Vec3& p : turned.positions) p = {-p.z, p.y, p.x};
    for (Vec3& p : lying.positions) p = {p.x, -p.z, p.y};
    const Rig a = fitted(turned.mesh(), "biped"), b = fitted(lying.mesh(), "biped");
    for (const Joint& joint : upright.skeleton.joints) {
        const Vec3 p = joint.position;
        EXPECT_LT(apart(joint_of(a, joint.name).position, {-p.z, p.y, p.x}), 0.04) << joint.name;
        EXPECT_LT(apart(joint_of(b, joint.name).position, {p.x, -p.z, p.y}), 0.04) << joint.name;
    }
    EXPECT_TRUE(a.notes.empty());
    ASSERT_EQ(b.notes.size(), 1u);
    EXPECT_NE(b.notes[0].find("does not stand upright"), std::string::npos);
}

TEST(Rig, ScaleDoesNotMatter) {
    const test::Character c = test::make_character("biped");
    test::Character large = c;
    for (Vec3& p : large.positions) p = {p.x * 128, p.y * 128, p.z * 128};
    const Rig a = fitted(c.mesh(), "biped"), b = fitted(large.mesh(), "biped");
    for (const Joint& joint : a.skeleton.joints) {
        const Vec3 p = joint.position;
        EXPECT_LT(apart(joint_of(b, joint.name).position, {128 * p.x, 128 * p.y, 128 * p.z}), 0.5) << joint.name;
    }
}

TEST(Rig, TheSameOnAnyNumberOfThreads) {
    const test::Character c = test::make_character("caped");
    const Rig one = fitted(c.mesh(), "biped", 1), four = fitted(c.mesh(), "biped", 4);
    ASSERT_EQ(one.skeleton.joints.size(), four.skeleton.joints.size());
    for (std::size_t j = 0; j < one.skeleton.joints.size(); ++j)
        EXPECT_EQ(apart(one.skeleton.joints[j].position, four.skeleton.joints[j].position), 0);
    EXPECT_EQ(one.confidence, four.confidence);
}

// One arm of the biped is cut off at the shoulder, as far as the mesh goes: its joints mirror the other arm.
TEST(Rig, MirrorsALimbThatIsFoundOnOneSideOnly) {
    const test::Character c = test::make_character("biped");
    test::Character one = c;
    std::erase_if(one.triangles, [&](const Triangle& t) {
        return std::any_of(t.begin(), t.end(),
                           [&](std::uint32_t v) { return c.positions[v].x < -0.2f && c.positions[v].y > 0.5f; });
    });
    // The box stays as wide as it was, so that the middle does.
    const Vec3 low{-0.71f, 1.2f, 0};
    const auto first = static_cast<std::uint32_t>(one.positions.size());
    for (const Vec3 p : {low, Vec3{low.x, low.y + 0.01f, 0}, Vec3{low.x, low.y, 0.01f}}) one.positions.push_back(p);
    one.triangles.push_back({first, first + 1, first + 2});
    const Rig rig = fitted(one.mesh(), "biped");
    EXPECT_EQ(rig.limbs_found, 4u);
    ASSERT_EQ(rig.notes.size(), 1u);
    EXPECT_NE(rig.notes[0].find("hand.R: its joints mirror"), std::string::npos) << rig.notes[0];
    for (const std::string name : {"shoulder", "upper_arm", "forearm", "hand"}) {
        const Vec3 left = joint_of(rig, name + ".L").position, right = joint_of(rig, name + ".R").position;
        EXPECT_NEAR(left.y, right.y, 1e-5);
        EXPECT_NEAR(left.z, right.z, 1e-5);
        if (name == "shoulder") continue;  // it lies elsewhere in the character's own skeleton
        const Vec3 own = c.skeleton.joints[c.joint(name == "forearm" ? "lower_arm_L" : name + "_L")].position;
        EXPECT_LT(apart(left, own), 0.15) << name;
    }
}

// A ball has no limbs: the skeleton is whole and can be bound, and the fit is reported as poor.
TEST(Rig, SaysThatItIsNotSure) {
    test::Character ball;
    const int rows = 12, columns = 24;
    for (int r = 0; r <= rows; ++r)
        for (int k = 0; k < columns; ++k) {
            const double a = 3.14159265 * r / rows, b = 2 * 3.14159265 * k / columns;
            ball.positions.push_back({static_cast<float>(std::sin(a) * std::cos(b)),
                                      static_cast<float>(std::cos(a)),
                                      static_cast<float>(std::sin(a) * std::sin(b))});
        }
    for (int r = 0; r < rows; ++r)
        for (int k = 0; k < columns; ++k) {
            const auto i = [&](int row, int column) {
                return static_cast<std::uint32_t>(row * columns + column % columns);
            };
            ball.triangles.push_back({i(r, k), i(r, k + 1), i(r + 1, k)});
            ball.triangles.push_back({i(r + 1, k), i(r, k + 1), i(r + 1, k + 1)});
        }
    for (const RigTemplate& model : rig_templates()) {
        const Rig rig = fitted(ball.mesh(), std::string(model.name), 2, 32);
        EXPECT_LT(rig.confidence, 0.5) << model.name;
        EXPECT_LT(rig.limbs_found, rig.limbs_expected) << model.name;
        EXPECT_FALSE(rig.notes.empty()) << model.name;
        BindOptions options = preset(Method::closest_distance);
        EXPECT_TRUE(bind(ball.mesh(), rig.skeleton, options)) << model.name;
    }
}

// A head on legs: its lower corners are where hands could be.
TEST(Rig, TheCornersOfABodyAreNoArms) {
    test::Shape shape = test::box({0, 1.5, 0}, {0.6, 0.5, 0.35}, 4);
    test::append(shape, test::cylinder({0.2, 0, 0}, {0.2, 1.1, 0}, 0.09));
    test::append(shape, test::cylinder({-0.2, 0, 0}, {-0.2, 1.1, 0}, 0.09));
    test::Character head;
    head.positions = shape.positions;
    head.triangles = shape.triangles;
    const Rig rig = fitted(head.mesh(), "biped");
    EXPECT_LT(rig.confidence, 0.6);
    const bool said = std::any_of(rig.notes.begin(), rig.notes.end(), [](const std::string& note) {
        return note.find("as thick as the corner of a body") != std::string::npos;
    });
    EXPECT_TRUE(said);
    if (test::sanitized) return;
    // Nor are they hands: what is around them is a body.
    EXPECT_EQ(fitted(head.mesh(), "biped-fingers", 2, 128).skeleton.joints.size(), 21u);
}

/// A hand along x: a forearm, a palm, and fingers from one place to another. The wrist is at 0, the tip at 1.
std::vector<Finger> fingers_of(const std::vector<std::pair<test::P3, test::P3>>& fingers) {
    test::Shape shape = test::box({0.22, 0, 0}, {0.24, 0.08, 0.26}, 4);
    test::append(shape, test::cylinder({-0.5, 0, 0}, {0.05, 0, 0}, 0.12));
    for (const auto& [from, to] : fingers) test::append(shape, test::cylinder(from, to, 0.055));
    test::Character hand;
    hand.positions = shape.positions;
    hand.triangles = shape.triangles;
    VoxelizeOptions options;
    options.resolution = 128;
    const VoxelGrid grid = voxelize(hand.mesh(), analyse_mesh(hand.mesh(), nullptr), options, nullptr).value();
    return find_fingers(grid, {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}}, nullptr);
}

// A thumb that points aside ends near the wrist; a short finger sticks out less than the others.
TEST(Rig, FindsThumbsThatPointAsideAndShortFingers) {
    const auto straight = [](double z, double end) { return std::pair{test::P3{0.3, 0, z}, test::P3{end, 0, z}}; };
    const std::pair aside{test::P3{0.2, 0, 0.2}, test::P3{0.2, 0, 0.65}};
    const std::vector<Finger> five =
        fingers_of({aside, straight(0.2, 0.9), straight(0.06, 1.0), straight(-0.08, 0.9), straight(-0.22, 0.63)});
    ASSERT_EQ(five.size(), 5u);
    EXPECT_EQ(five[0].name, "thumb");
    EXPECT_NEAR(five[0].tip[2], 0.65, 0.06);
    EXPECT_EQ(five[4].name, "pinky");
    EXPECT_NEAR(five[4].tip[0], 0.63, 0.08);
}

TEST(Rig, FindsABarAsASnake) {
    const test::Character c = test::bar();
    const Rig rig = fitted(c.mesh(), "snake");
    EXPECT_EQ(rig.limbs_found, 2u);
    EXPECT_EQ(rig.skeleton.joints.size(), 13u);
}

TEST(Rig, CountsLimbsWithoutAPlace) {
    const Rig rig = fitted(test::make_character("biped").mesh(), "fish");
    EXPECT_LT(rig.confidence, 0.5);
    ASSERT_EQ(rig.notes.size(), 1u);
    EXPECT_NE(rig.notes[0].find("long limbs have no place in the template"), std::string::npos) << rig.notes[0];
}

TEST(Rig, SaysWhatIsWrong) {
    const test::Character c = test::make_character("biped");
    Result<Rig> rig = fit_template(c.mesh(), {"bipet", 128});
    ASSERT_FALSE(rig);
    EXPECT_EQ(rig.error().code, ErrorCode::usage);
    EXPECT_NE(rig.error().message.find("did you mean 'biped'"), std::string::npos) << rig.error().message;
    EXPECT_EQ(fit_template(c.mesh(), {"biped", 100}).error().code, ErrorCode::usage);
    EXPECT_EQ(fit_template(c.mesh(), {"biped", 512}).error().code, ErrorCode::usage);
    EXPECT_EQ(fit_template({}, {"biped", 128}).error().code, ErrorCode::input);
    Context context;
    context.cancel = true;
    EXPECT_EQ(fit_template(c.mesh(), {"biped", 128}, &context).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace sinew::test_rig
