// The learned correction of surface-heat: its features and its effect (docs/notes/learned-correction.md).
#include <gtest/gtest.h>

#include <cmath>

#include "bind/planned_mesh.h"
#include "bind/surface_heat/influence_features.h"
#include "bind/surface_heat/surface_heat.h"
#include "characters/characters.h"
#include "core/body_part.h"
#include "sanitized.h"
#include "unit/support.h"

namespace sinew::test_learned_correction {
namespace {

using test::Character;
using Features = InfluenceFeatures;

MethodRows rows_by(const Character& c, int threads, float learned = 0.7f, const RowCorrection& correction = {}) {
    Context context;
    context.threads = threads;
    BindOptions options = preset(Method::surface_heat);
    options.voxels.resolution = 64;
    options.learned = learned;
    BindReport report;
    StageClock clock(report, &context);
    const MeshView mesh = c.mesh();
    const PlannedMesh planned = plan_mesh(mesh, c.skeleton, clock, report);
    std::vector<Bone> bones = make_bones(c.skeleton);
    const Task task = make_task(mesh, c.skeleton, options, planned, bones, clock);
    return test::must(correction ? bind_surface_heat(task, {}, correction) : bind_surface_heat(task));
}

Character person() { return test::biped({.cell = test::sanitized ? 0.04 : 0.02}); }

/// All features of every tenth row.
std::vector<float> features_of(const Character& c) {
    std::vector<float> all;
    const auto observe = [&](const JointSet&, const Features& features, const auto&, const SetRows& rows) {
        for (std::size_t row = 0; row < rows.vertices.size(); row += 10) {
            const Features::Candidates among = features.candidates(row);
            std::array<float, Features::kMost * Features::kPair> pairs{};
            features.pair_features(row, among, pairs);
            all.insert(all.end(), pairs.begin(), pairs.end());
            for (std::size_t k = 0; k < among.count; ++k) {
                const std::span<const float> joint = features.joint_features(among.slot[k]);
                all.insert(all.end(), joint.begin(), joint.end());
            }
            all.insert(all.end(), features.mesh_features().begin(), features.mesh_features().end());
        }
    };
    rows_by(c, 1, 1, observe);
    return all;
}

TEST(BodyPart, IsWhatTheNameSpeaksOf) {
    const std::vector<std::pair<const char*, BodyPart>> names{
        {"mixamorig:LeftHandThumb4", BodyPart::finger},
        {"thumbFBXASC04601FBXASC046L", BodyPart::finger},
        {"palm.01.L", BodyPart::hand},
        {"lowerarm_twist_01_l", BodyPart::twist},
        {"HEAD", BodyPart::head},
        {"J_Bip_C_UpperChest", BodyPart::spine},
        {"Bip01 L Clavicle", BodyPart::clavicle},
        {"ValveBiped.Bip01_L_Calf", BodyPart::leg},
        {"BackFoot.L", BodyPart::foot},
        {"BackHip.L", BodyPart::hip},
        {"LeftFootIndex1", BodyPart::foot},
        {"orbicularis03.L", BodyPart::face},
        {"Hair_Tail", BodyPart::cloth},
        {"main gauche", BodyPart::unknown},  // "main" alone is no hand
        {"左手首", BodyPart::hand},
        {"右ひじ", BodyPart::arm},
        {"左足指", BodyPart::foot},
        {"下半身", BodyPart::hip},
        {"lhipjoint", BodyPart::hip},
        {"LEFTARM", BodyPart::arm},
        {"rfemur", BodyPart::leg},
        {"lShldrBend", BodyPart::arm},
        {"CC_Base_L_Forearm", BodyPart::arm},
        {"LeftHeelRoll", BodyPart::foot},
        {"FACIAL_C_FacialRoot", BodyPart::face},
        {"WeaponRoot", BodyPart::prop},
        {"BackPack", BodyPart::prop},
        {"Handle.R", BodyPart::prop},
        {"Tail_Mid", BodyPart::tail},
        {"LeftWing1", BodyPart::wing},
        {"Root", BodyPart::hip},
        {"Bone.003", BodyPart::unknown},
        {"", BodyPart::unknown},
    };
    for (const auto& [name, part] : names) EXPECT_EQ(body_part_of(name), part) << name;
}

TEST(BodyPart, ShortWordsCountOnlyAsWhole) {
    for (const char* name : {"mixamorig:LeftForeArm", "forearm.L", "Forearm_R"})
        EXPECT_EQ(body_part_of(name), BodyPart::arm) << name;    // no ear
    EXPECT_EQ(body_part_of("thigh.l_Armature"), BodyPart::leg);  // no arm
    EXPECT_EQ(body_part_of("LeftFlipper"), BodyPart::wing);      // no lip
    EXPECT_EQ(body_part_of("Ribbon"), BodyPart::unknown);        // no rib
    EXPECT_EQ(body_part_of("Earring"), BodyPart::unknown);       // no finger
    EXPECT_EQ(body_part_of("Wheel.L"), BodyPart::unknown);       // no heel
    EXPECT_EQ(body_part_of("rear_L"), BodyPart::unknown);        // no right ear
}

TEST(BodyPart, ARootIsNoPartOfTheBody) {
    for (const char* name : {"root", "COG", "Armature", "WeaponRoot", "scene", "Chair_root", "Cocktail_root",
                             "Ball_root", "Ring_root", "mid_root", "RootRoll", "HeadlessRig", "Landscape_Root"})
        EXPECT_FALSE(names_body_part(name)) << name;
    for (const char* name : {"root_hips", "HairRoot", "Root_Spine", "BackPelvis"})
        EXPECT_TRUE(names_body_part(name)) << name;
}

TEST(LearnedCorrection, FeaturesDoNotDependOnTheScale) {
    Character small = person();
    const std::vector<float> before = features_of(small);
    ASSERT_GT(before.size(), 10000u);
    for (Vec3& p : small.positions) p = {64 * p.x, 64 * p.y, 64 * p.z};
    for (Joint& joint : small.skeleton.joints) {
        Vec3& p = joint.position;
        p = {64 * p.x, 64 * p.y, 64 * p.z};
        if (joint.tail) joint.tail = Vec3{64 * joint.tail->x, 64 * joint.tail->y, 64 * joint.tail->z};
    }
    const std::vector<float> after = features_of(small);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
        ASSERT_TRUE(std::isfinite(before[k])) << k;
        ASSERT_NEAR(after[k], before[k], 2e-3) << k;
    }
}

TEST(LearnedCorrection, IsPartOfTheMethod) {
    EXPECT_EQ(preset(Method::surface_heat).learned, 0.7f);
    const Character c = person();
    const auto plain = std::get<InfluenceTable>(rows_by(c, 2, 0).table);
    const auto learned = std::get<InfluenceTable>(rows_by(c, 2).table);
    EXPECT_NE(plain.strength, learned.strength);
}

TEST(LearnedCorrection, RowsSumToOneAndDoNotDependOnThreads) {
    const Character c = person();
    const auto one = std::get<InfluenceTable>(rows_by(c, 1).table);
    const auto three = std::get<InfluenceTable>(rows_by(c, 3).table);
    EXPECT_EQ(one.joint, three.joint);
    EXPECT_EQ(one.strength, three.strength);
    for (std::size_t v = 0; v < one.vertices; ++v) {
        double sum = 0;
        for (std::size_t k = 0; k < one.width; ++k) sum += static_cast<double>(one.strength[v * one.width + k]);
        ASSERT_GT(sum, 0.5) << v;  // all but what is below the limit of influences
        ASSERT_LT(sum, 1 + 1e-5) << v;
    }
}

TEST(LearnedCorrection, LeavesRigidPartsAlone) {
    const Character c = test::robot();
    const auto plain = std::get<InfluenceTable>(rows_by(c, 2, 0).table);
    const auto learned = std::get<InfluenceTable>(rows_by(c, 2).table);
    std::size_t rigid = 0;
    for (std::size_t v = 0; v < plain.vertices; ++v) {
        if (plain.strength[v * plain.width] != 1 || plain.strength[v * plain.width + 1] != 0) continue;
        ++rigid;
        ASSERT_EQ(learned.joint[v * learned.width], plain.joint[v * plain.width]) << v;
        ASSERT_EQ(learned.strength[v * learned.width], 1) << v;
    }
    EXPECT_GT(rigid, plain.vertices / 2);
}

}  // namespace
}  // namespace sinew::test_learned_correction
