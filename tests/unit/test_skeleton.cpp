#include <gtest/gtest.h>

#include <cmath>

#include "characters/characters.h"
#include "core/joint_names.h"
#include "sinew/skeleton.h"

namespace sinew::test_skeleton {
namespace {

Skeleton chain(std::initializer_list<std::tuple<const char*, int, Vec3>> joints) {
    Skeleton s;
    for (const auto& [name, parent, position] : joints) {
        Joint j;
        j.name = name;
        j.parent = parent;
        j.position = position;
        s.joints.push_back(j);
    }
    return s;
}

// A small biped with a control rig, as in game characters.
Skeleton biped() {
    return chain({{"root", -1, {0, 0, 0}},
                  {"hips", 0, {0, 1, 0}},
                  {"spine", 1, {0, 1.3f, 0}},
                  {"head", 2, {0, 1.6f, 0}},
                  {"headEnd", 3, {0, 1.9f, 0}},
                  {"upperleg.l", 1, {0.1f, 0.9f, 0}},
                  {"foot.l", 5, {0.1f, 0.1f, 0.1f}},
                  {"kneeIK.l", 0, {0.1f, 0.5f, 1}},
                  {"hand.l", 2, {0.6f, 1.3f, -0.1f}},
                  {"handslot.l", 8, {0.7f, 1.3f, 0}},
                  {"control-heel.l", 0, {0.1f, 0, 0}},
                  {"IK-toe.l", 10, {0.1f, 0, 0.2f}}});
}

std::vector<std::string> idle_names(const Skeleton& s) {
    std::vector<std::string> out;
    for (const Joint& j : s.joints)
        if (!j.deform) out.push_back(j.name);
    return out;
}

DeformReason reason(const Skeleton& s, const std::string& name) {
    for (const Joint& j : s.joints)
        if (j.name == name) return j.reason;
    ADD_FAILURE() << name;
    return DeformReason::deforms;
}

using Names = std::vector<std::string>;

TEST(CheckSkeleton, ErrorsNameTheJoint) {
    EXPECT_TRUE(check_skeleton(biped()).ok());
    EXPECT_FALSE(check_skeleton({}).ok());

    Skeleton s = biped();
    s.joints[3].parent = 12;
    ASSERT_FALSE(check_skeleton(s).ok());
    EXPECT_NE(check_skeleton(s).error().message.find("\"head\""), std::string::npos);
    s.joints[3].parent = -2;
    EXPECT_FALSE(check_skeleton(s).ok());

    s = biped();
    s.joints[1].parent = 3;  // hips below head below spine below hips
    ASSERT_FALSE(check_skeleton(s).ok());
    EXPECT_NE(check_skeleton(s).error().message.find("own ancestor"), std::string::npos);
    s.joints[1].parent = 1;
    EXPECT_FALSE(check_skeleton(s).ok());

    s = biped();
    s.joints[2].position.x = std::nanf("");
    EXPECT_NE(check_skeleton(s).error().message.find("\"spine\""), std::string::npos);
    s = biped();
    s.joints[2].tail = Vec3{INFINITY, 0, 0};
    EXPECT_FALSE(check_skeleton(s).ok());

    s = biped();
    s.skins = {{0, 1}, {12}};
    EXPECT_NE(check_skeleton(s).error().message.find("skin 1"), std::string::npos);

    s = biped();
    for (Joint& j : s.joints) j.deform = false;
    EXPECT_FALSE(check_skeleton(s).ok());
}

TEST(CheckSkeleton, ParentsMayComeAfterChildren) {
    const Skeleton s = chain({{"b", 1, {0, 1, 0}}, {"a", -1, {0, 0, 0}}});
    EXPECT_TRUE(check_skeleton(s).ok());
    EXPECT_EQ(make_bones(s).size(), 2u);
}

TEST(NameWords, SplitsAtPunctuationDigitsAndCamelCase) {
    EXPECT_EQ(name_words("mixamorig:LeftHandThumb4"), (Names{"left", "hand", "thumb", "4"}));
    EXPECT_EQ(name_words("kneeIK.l"), (Names{"knee", "ik", "l"}));
    EXPECT_EQ(name_words("IKBackLeg_R"), (Names{"ik", "back", "leg", "r"}));
    EXPECT_EQ(name_words("Bip001 L Thigh"), (Names{"bip", "001", "l", "thigh"}));
    EXPECT_EQ(name_words("control-toe-roll.l"), (Names{"control", "toe", "roll", "l"}));
    EXPECT_EQ(name_words("shoulderFBXASC046L"), (Names{"shoulder", "l"}));
    EXPECT_EQ(name_words("Spike"), (Names{"spike"}));
    EXPECT_EQ(name_words("Kick"), (Names{"kick"}));
    EXPECT_EQ(name_words("__"), Names{});
    EXPECT_EQ(name_words(""), Names{});
    EXPECT_EQ(name_words("ns:"), (Names{"ns"}));
    EXPECT_EQ(name_words("尻尾.001"), (Names{"尻尾", "001"}));
}

TEST(SelectDeforming, NamesDecide) {
    Skeleton s = biped();
    DeformOptions options;
    options.from = DeformFrom::names;
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), (Names{"root", "headEnd", "kneeIK.l", "handslot.l", "control-heel.l", "IK-toe.l"}));
    EXPECT_EQ(reason(s, "root"), DeformReason::root_structure);
    EXPECT_EQ(reason(s, "headEnd"), DeformReason::end_name);
    EXPECT_EQ(reason(s, "kneeIK.l"), DeformReason::control_name);
    EXPECT_EQ(reason(s, "handslot.l"), DeformReason::slot_name);
    EXPECT_EQ(reason(s, "hips"), DeformReason::deforms);
}

TEST(SelectDeforming, NamesThatOnlyLookIdle) {
    Skeleton s = chain({{"pelvis", -1, {0, 1, 0}},
                        {"Spike", 0, {0, 2, 0}},
                        {"Kick", 0, {1, 2, 0}},
                        {"propeller", 0, {2, 2, 0}},
                        {"upperarm_twist_01", 0, {3, 2, 0}},
                        {"forearm_roll", 0, {3, 3, 0}},
                        {"tail_mid", 0, {0, 1, -1}},
                        {"tail_end", 6, {0, 1, -2}},  // not a marker: not named after its parent
                        {"wing_tip", 0, {4, 1, 0}},
                        {"IKBackLeg.L", -1, {1, 0, 0}},  // moves a joint that deforms
                        {"FFB.L", 9, {1, 0, 0.2f}},
                        {"tail_root", -1, {0, 0, -1}},  // named after a part of the body
                        {"weapon_arm", 0, {5, 1, 0}},   // has a hand below it
                        {"claw", 12, {6, 1, 0}}});
    DeformOptions options;
    options.from = DeformFrom::names;
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), Names{});
}

TEST(SelectDeforming, ControlsByConventionAreIdle) {
    DeformOptions options;
    options.from = DeformFrom::names;
    Skeleton s = chain({{"COG", -1, {0, 1, 0}},  // the centre of gravity, with limbs on all sides
                        {"COG_Rot", 0, {0, 1, 0}},
                        {"Spine", 1, {0, 2, 0}},
                        {"Thigh_L", 1, {1, 0, 1}},
                        {"Thigh_R", 1, {-1, 0, -1}},
                        {"Spine_parentConstraint1", 2, {0, 2, 0}},  // a node of Maya
                        {"LeftFootCtrl", -1, {1, 0, 1}},            // a reverse foot that ends in a pivot
                        {"LeftHeelRoll", 6, {1, 0, 0}},
                        {"bhorntarget", 2, {0, 3, 0}},  // words without a gap
                        {"tag_head", 2, {0, 2.5f, 0}},  // Quake
                        {"tag", 2, {0, 2.6f, 0}}});     // no word besides
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), (Names{"COG", "COG_Rot", "Spine_parentConstraint1", "LeftFootCtrl", "LeftHeelRoll",
                                    "bhorntarget", "tag_head"}));
    // An IK joint that carries several limbs, and one that carries one.
    s = chain({{"hip", -1, {0, 0, 0}},
               {"body_IK", 0, {0, 1, 0}},
               {"arm.L", 1, {1, 1, 0}},
               {"arm.R", 1, {-1, 1, 0}},
               {"IKFoot", 0, {0, -1, 0}},
               {"Toe", 4, {0, -1, 1}}});
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), Names{"body_IK"});
    // 3ds Max's root, and a hand in French.
    s = chain({{"Bip01", -1, {0, 0, 0}}, {"Bip01 Pelvis", 0, {0, 1, 0}}, {"Bip01 Spine", 1, {0, 2, 0}}});
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), Names{"Bip01"});
    s = chain({{"Main", -1, {0, 0, 0}}, {"bassin", 0, {0, 1, 0}}, {"main gauche", 1, {0, 2, 0}}});
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), Names{"Main"});
}

TEST(SelectDeforming, EndMarkersAreIdle) {
    Skeleton s = chain({{"mixamorig:Head", -1, {0, 0, 0}},
                        {"mixamorig:HeadTop_End", 0, {0, 1, 0}},
                        {"mixamorig:LeftToeBase", 0, {0, 0, 1}},
                        {"mixamorig:LeftToe_End", 2, {0, 0, 2}},
                        {"mixamorig:LeftHandThumb3", 0, {1, 0, 0}},
                        {"mixamorig:LeftHandThumb4", 4, {2, 0, 0}},
                        {"Thumb4_end", 5, {3, 0, 0}},
                        {"Bip01 L Finger0Nub", 0, {4, 0, 0}},
                        {"index-finger-phalanx-distal", 0, {5, 0, 0}},
                        {"index-finger-tip", -1, {6, 0, 0}}});
    s.joints[6].name = "mixamorig:LeftHandThumb4_end";
    DeformOptions options;
    options.from = DeformFrom::names;
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), (Names{"mixamorig:HeadTop_End", "mixamorig:LeftToe_End", "mixamorig:LeftHandThumb4",
                                    "mixamorig:LeftHandThumb4_end", "Bip01 L Finger0Nub", "index-finger-tip"}));
}

TEST(SelectDeforming, RootsThatCarryTheSkeletonAreIdle) {
    DeformOptions options;
    options.from = DeformFrom::names;
    // A chain of roots that only carry the skeleton.
    Skeleton s = chain({{"_rootJoint", -1, {0, 0, 0}},
                        {"b_Root_00", 0, {0, 0, 0}},
                        {"b_Hip_01", 1, {0, 1, 0}},
                        {"b_Root_of_tail", 2, {0, 1, 1}}});
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), (Names{"_rootJoint", "b_Root_00"}));

    // A pelvis named "root", with legs and a spine.
    s = chain({{"Root_M", -1, {0, 1, 0}},
               {"Hip_L", 0, {0.1f, 0.9f, 0.1f}},
               {"Hip_R", 0, {-0.1f, 0.9f, -0.1f}},
               {"Spine1_M", 0, {0, 1.2f, 0}}});
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), Names{});

    // "Bone" on the floor carries pole targets. Without them it deforms.
    s = chain({{"Bone", -1, {0, 0, 0}},
               {"Body", 0, {0, 1, 0}},
               {"Foot.L", 0, {1, 0, 0}},
               {"PoleTarget.L", 0, {1, 1, 3}}});
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), (Names{"Bone", "PoleTarget.L"}));
    s = chain({{"Bone", -1, {0, 0, 0}}, {"Bone.001", 0, {0, 1, 0}}, {"Bone.002", 1, {0, 2, 0}}});
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), Names{});

    // If all names look idle, all joints deform.
    for (Skeleton lone :
         {chain({{"root", -1, {0, 0, 0}}}), chain({{"root", -1, {0, 0, 0}}, {"weapon", 0, {0, 1, 0}}})}) {
        ASSERT_TRUE(select_deforming(lone, {}, options).ok());
        EXPECT_EQ(idle_names(lone), Names{});
    }
}

TEST(SelectDeforming, ADefLayerMakesOtherJointsIdle) {
    DeformOptions options;
    options.from = DeformFrom::names;
    Skeleton s = chain({{"ORG-arm", -1, {0, 1, 0}}, {"DEF-arm", -1, {0, 1, 0}}, {"MCH-arm", -1, {0, 1, 0}}});
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), (Names{"ORG-arm", "MCH-arm"}));
    s = chain({{"ORG-arm", -1, {0, 1, 0}}, {"ORG-leg", -1, {0, 1, 0}}});
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(idle_names(s), Names{});
}

TEST(SelectDeforming, SkinsDecide) {
    Skeleton s = biped();
    std::vector<double> use(12, 0.0);
    use[0] = 1e-9;  // negligible
    use[1] = 500;
    use[7] = 20;  // although it is named like a control
    DeformOptions options;
    ASSERT_TRUE(select_deforming(s, use, options).ok());  // automatic
    EXPECT_EQ(idle_names(s).size(), 10u);
    EXPECT_EQ(reason(s, "root"), DeformReason::unused_by_skin);
    EXPECT_EQ(reason(s, "kneeIK.l"), DeformReason::deforms);

    // A placeholder skin with one joint is ignored, except with the option `skin`.
    use[7] = 0;
    ASSERT_TRUE(select_deforming(s, use, options).ok());
    EXPECT_EQ(reason(s, "kneeIK.l"), DeformReason::control_name);
    EXPECT_EQ(reason(s, "spine"), DeformReason::deforms);
    options.from = DeformFrom::skin;
    ASSERT_TRUE(select_deforming(s, use, options).ok());
    EXPECT_EQ(idle_names(s).size(), 11u);

    EXPECT_FALSE(select_deforming(s, {}, options).ok());
    EXPECT_FALSE(select_deforming(s, std::vector<double>(12, 0.0), options).ok());
    EXPECT_FALSE(select_deforming(s, {1.0}, options).ok());
    options.from = DeformFrom::all;
    ASSERT_TRUE(select_deforming(s, use, options).ok());
    EXPECT_EQ(idle_names(s), Names{});
}

TEST(SelectDeforming, PatternsOutweighOtherRules) {
    Skeleton s = biped();
    DeformOptions options;
    options.from = DeformFrom::names;
    options.exclude = {"h?nd*", "*leg*"};
    options.include = {"handslot.?", "root"};
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(reason(s, "hand.l"), DeformReason::excluded);
    EXPECT_EQ(reason(s, "upperleg.l"), DeformReason::excluded);
    EXPECT_EQ(reason(s, "handslot.l"), DeformReason::included);
    EXPECT_EQ(reason(s, "root"), DeformReason::included);
    EXPECT_TRUE(s.joints[0].deform);

    options.exclude = {"Hand*"};  // case matters
    s = biped();
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(reason(s, "hand.l"), DeformReason::deforms);
    options.strict = true;
    ASSERT_FALSE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(select_deforming(s, {}, options).error().code, ErrorCode::usage);
    EXPECT_EQ(unmatched_globs(s, "exclude", options.exclude),
              (std::vector<std::string>{"`exclude \"Hand*\"` matches no joint of the skeleton (did you mean "
                                        "'hand.l' or 'handslot.l'?)"}));

    Skeleton all = biped();
    options.exclude = {"*"};
    options.include = {};
    EXPECT_FALSE(select_deforming(all, {}, options).ok());
    EXPECT_EQ(idle_names(all), Names{}) << "nothing changes on failure";
    options.include = {"head"};
    ASSERT_TRUE(select_deforming(all, {}, options).ok());
    EXPECT_EQ(idle_names(all).size(), 11u);
}

TEST(DidYouMean, SuggestsTheNearest) {
    const std::vector<std::string> known{"surface-heat", "bone-heat", "voxel-heat", "rig:LeftHand", "a"};
    EXPECT_EQ(did_you_mean("surface-heta", known), " (did you mean 'surface-heat'?)");
    EXPECT_EQ(did_you_mean("Bone_heat", known), " (did you mean 'bone-heat'?)");
    EXPECT_EQ(did_you_mean("lefthand", known), " (did you mean 'rig:LeftHand'?)");
    EXPECT_EQ(did_you_mean("*-heat", known), " (did you mean 'surface-heat', 'bone-heat' or 'voxel-heat'?)");
    EXPECT_EQ(did_you_mean("sur", known), " (did you mean 'surface-heat'?)");
    for (const char* far : {"", "zzzzzz", "geodesic", "*"}) (void)did_you_mean(far, known);
    EXPECT_EQ(did_you_mean("geodesic", known), "");
    EXPECT_EQ(did_you_mean("x", {}), "");
}

TEST(SelectDeforming, ExclusionByFileAndSkinsOutweighsOptions) {
    Skeleton s = biped();
    s.joints[8].deform = false;
    s.joints[8].reason = DeformReason::excluded;
    s.skins = {{0, 1, 2, 3}, {5, 6, 8}};
    DeformOptions options;
    options.from = DeformFrom::all;
    options.include = {"IK-toe.l"};
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    EXPECT_EQ(reason(s, "hand.l"), DeformReason::excluded);
    EXPECT_EQ(reason(s, "headEnd"), DeformReason::no_skin);
    EXPECT_EQ(reason(s, "IK-toe.l"), DeformReason::no_skin);
    EXPECT_EQ(reason(s, "foot.l"), DeformReason::deforms);
}

TEST(MakeBones, SegmentsToDeformingDescendants) {
    Skeleton s = biped();
    DeformOptions options;
    options.from = DeformFrom::names;
    ASSERT_TRUE(select_deforming(s, {}, options).ok());
    const std::vector<Bone> bones = make_bones(s);
    // hips: spine, upper leg; spine: head, hand; head, upper leg, foot, hand: one each.
    ASSERT_EQ(bones.size(), 8u);
    const std::uint32_t owner[] = {1, 1, 2, 2, 3, 5, 6, 8};
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(bones[i].joint, owner[i]) << i;
    EXPECT_EQ(bones[0].tail, s.joints[2].position);
    EXPECT_EQ(bones[1].tail, s.joints[5].position);
    EXPECT_FALSE(bones[0].open_head);  // nothing above it deforms
    EXPECT_TRUE(bones[0].open_tail);
    EXPECT_TRUE(bones[2].open_head);
    EXPECT_EQ(bones[4].tail, s.joints[4].position);  // head to its end marker
    EXPECT_FALSE(bones[4].open_tail);
    EXPECT_EQ(bones[7].tail, bones[7].head);  // a slot does not end a bone
    EXPECT_FALSE(bones[7].open_tail);
}

TEST(MakeBones, IdleJointsInBetweenAreSkipped) {
    Skeleton s = chain({{"a", -1, {0, 0, 0}}, {"b", 0, {1, 0, 0}}, {"c", 1, {2, 0, 0}}, {"d", 1, {2, 1, 0}}});
    s.joints[1].deform = false;
    const auto bones = make_bones(s);
    ASSERT_EQ(bones.size(), 4u);
    EXPECT_EQ(bones[0].tail, s.joints[2].position);
    EXPECT_EQ(bones[1].tail, s.joints[3].position);
    EXPECT_TRUE(bones[2].open_head);
}

TEST(MakeBones, LeavesEndAtMarkersOrStatedTails) {
    Skeleton s = chain({{"a", -1, {0, 0, 0}}, {"b", 0, {1, 0, 0}}, {"c", 1, {2, 0, 0}}});
    s.joints[2].deform = false;
    auto bones = make_bones(s);  // the only idle child
    ASSERT_EQ(bones.size(), 2u);
    EXPECT_EQ(bones[1].tail, (Vec3{2, 0, 0}));
    s.joints[1].tail = Vec3{1, 5, 0};  // a stated tail wins
    EXPECT_EQ(make_bones(s)[1].tail, (Vec3{1, 5, 0}));
    s.joints[1].tail = s.joints[1].position;  // a bone without length
    EXPECT_EQ(make_bones(s)[1].tail, (Vec3{1, 0, 0}));
    // Markers on top of the joint are followed to one that is not.
    s = chain({{"Eye", -1, {0, 0, 0}}, {"Eye_end", 0, {0, 0, 0}}, {"Eye_end_end", 1, {0, 0, 1}}});
    s.joints[1].deform = s.joints[2].deform = false;
    EXPECT_EQ(make_bones(s)[0].tail, (Vec3{0, 0, 1}));
}

TEST(MakeBones, AStatedTailIsTheOnlyBone) {
    // Hips with a spine and two legs; the tail points up.
    Skeleton s = chain({{"hips", -1, {0, 0, 0}},
                        {"spine", 0, {0, 1, 0}},
                        {"leg_L", 0, {0.2f, -0.1f, 0}},
                        {"leg_R", 0, {-0.2f, -0.1f, 0}},
                        {"head", 1, {0, 2, 0}}});
    EXPECT_EQ(make_bones(s).size(), 3u + 1 + 3);
    s.joints[0].tail = Vec3{0, 1, 0};
    std::vector<Bone> bones = make_bones(s);
    ASSERT_EQ(bones.size(), 5u);
    EXPECT_EQ(bones[0].tail, (Vec3{0, 1, 0}));
    EXPECT_TRUE(bones[0].open_tail);  // the spine goes on
    EXPECT_FALSE(bones[0].open_head);
    EXPECT_EQ(bones[1].tail, s.joints[4].position);  // the spine has no stated tail
    EXPECT_TRUE(bones[2].open_head);
    // Only the legs follow, near its head: no bone continues at the tail.
    s.joints[1].deform = s.joints[4].deform = false;
    bones = make_bones(s);
    ASSERT_EQ(bones.size(), 3u);
    EXPECT_FALSE(bones[0].open_tail);
    // An idle joint in between is skipped.
    s.joints[4].deform = true;
    EXPECT_TRUE(make_bones(s)[0].open_tail);
    // Tails of idle joints are not stated bones.
    s.joints[0].deform = false;
    EXPECT_EQ(make_bones(s)[0].joint, 2u);
    // A capsule is around that one bone, and a point stays a point.
    s.joints[0].deform = true;
    s.joints[0].shape = JointShape{JointShape::Kind::capsule, 0.25f, {}};
    EXPECT_EQ(make_bones(s)[0].radius, 0.25f);
    s.joints[0].tail = s.joints[0].position;
    bones = make_bones(s);
    EXPECT_EQ(bones[0].tail, bones[0].head);
    EXPECT_EQ(bones[1].joint, 2u);
}

TEST(MakeBones, StatedLinksLeadToEveryChild) {
    Skeleton s = chain({{"a", -1, {0, 0, 0}},
                        {"b", 0, {1, 0, 0}},
                        {"end", 0, {0, 1, 0}},
                        {"here", 0, {0, 0, 0}},
                        {"end_of_b", 1, {2, 0, 0}},
                        {"other_end_of_b", 1, {2, 1, 0}}});
    for (const std::size_t j : {0u, 1u}) s.joints[j].stated_links = true;
    for (const std::size_t j : {2u, 3u, 4u, 5u}) s.joints[j].deform = false;
    std::vector<Bone> bones = make_bones(s);
    ASSERT_EQ(bones.size(), 4u);
    EXPECT_EQ(bones[0].tail, s.joints[1].position);
    EXPECT_TRUE(bones[0].open_tail);
    EXPECT_EQ(bones[1].tail, s.joints[2].position);  // an idle end
    EXPECT_FALSE(bones[1].open_tail);
    EXPECT_EQ(bones[2].tail, s.joints[4].position);
    EXPECT_EQ(bones[3].tail, s.joints[5].position);
    EXPECT_TRUE(bones[3].open_head);
    // A tail has precedence.
    s.joints[0].tail = Vec3{0, 0, 1};
    bones = make_bones(s);
    ASSERT_EQ(bones.size(), 3u);
    EXPECT_EQ(bones[0].tail, (Vec3{0, 0, 1}));
}

TEST(MakeBones, BonesOfZeroLengthAreDropped) {
    // A twist joint at its parent's position: that segment is dropped.
    Skeleton s = chain({{"arm", -1, {0, 0, 0}}, {"arm_twist", 0, {0, 0, 0}}, {"forearm", 0, {1, 0, 0}}});
    auto bones = make_bones(s);
    ASSERT_EQ(bones.size(), 3u);
    EXPECT_EQ(bones[0].tail, (Vec3{1, 0, 0}));
    EXPECT_EQ(bones[1].joint, 1u);
    EXPECT_FALSE(bones[1].open_tail);
    // All children at the position of the joint: a point, but the joint is not a leaf.
    s = chain({{"a", -1, {0, 0, 0}}, {"b", 0, {0, 0, 0}}});
    bones = make_bones(s);
    ASSERT_EQ(bones.size(), 2u);
    EXPECT_EQ(bones[0].head, bones[0].tail);
    EXPECT_TRUE(bones[0].open_tail);
    EXPECT_FALSE(bones[1].open_tail);
}

TEST(DeformReasonNames, AreDistinct) {
    EXPECT_EQ(to_string(DeformReason::unused_by_skin), "unused_by_skin");
    EXPECT_EQ(to_string(DeformReason::no_skin), "no_skin");
}

TEST(Facing, FollowsTheNamesOfSides) {
    for (const char* name : {"biped", "caped", "quadruped", "robot"}) {
        const test::Character c = test::make_character(name);
        ASSERT_TRUE(facing(c.skeleton)) << name;
        EXPECT_GT(facing(c.skeleton)->z, 0.99f) << name;
        Skeleton turned = c.skeleton;
        for (Joint& j : turned.joints) j.position = {-j.position.x, j.position.y, -j.position.z};
        EXPECT_LT(facing(turned)->z, -0.99f) << name;
        for (Joint& j : turned.joints) j.name = "bone";
        EXPECT_FALSE(facing(turned)) << name;
    }
    EXPECT_FALSE(facing({}));
}

}  // namespace
}  // namespace sinew::test_skeleton
