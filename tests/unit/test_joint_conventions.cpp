// Every naming convention of joints that sinew knows, with the verdict for each joint. A new convention: a row
// here.
#include <gtest/gtest.h>

#include <sstream>

#include "core/idle_joints.h"

namespace sinew::test_joint_conventions {
namespace {

struct Convention {
    const char* name;
    /// One joint a line, a space for each joint above it; " !" behind those that no skin follows.
    const char* joints;
};

const Convention kConventions[] = {
    {"3ds Max Biped",
     "Bip001 !\n Bip001 Footsteps !\n Bip001 Pelvis\n  Bip001 Spine\n   Bip001 Head\n    Bip001 HeadNub !\n   "
     "Bip001 L Hand\n"
     "  Bip001 L Foot\n Bip001 Prop1 !\n"},
    {"Auto-Rig Pro",
     "c_traj !\n root.x\n  spine_01.x\n   head.x\n    c_ear_01.l\n   hand.l\n   c_hand_fk.l !\n  foot.l\n"
     " c_foot_ik.l !\n  c_foot_roll_cursor.l !\n  c_p_foot.l !\n c_leg_pole.l !\n c_pos !\n"},
    {"Blender", "Bone\n Bone.001\n  Bone.001.L\n"},
    {"Blender, with controls", "Armature !\n Hips\n  Spine\n  UpperLeg.L\n footIK.L !\n kneePole.L !\n"},
    {"Character Creator",
     "RL_BoneRoot !\n CC_Base_Hip\n  CC_Base_Pelvis\n   CC_Base_L_Foot\n    CC_Base_L_ToeBaseShareBone\n  "
     "CC_Base_Waist\n"
     "   CC_Base_Head\n    CC_Base_FacialBone\n   CC_Base_L_Hand\n"},
    {"Daz", "hip\n pelvis\n  lThighBend\n   lThighTwist\n abdomenLower\n"},
    {"HumanIK", "Reference !\n Hips\n  LeftUpLeg\n   LeftLeg\n    LeftFoot\n     LeftToeBase\n"},
    {"Maya", "root_jnt !\n pelvis_jnt\n  spine_01_jnt\n   L_wrist_jnt\n    L_wrist_ctrl !\n"},
    {"Mixamo",
     "mixamorig:Hips\n mixamorig:Spine\n  mixamorig:Head\n   mixamorig:HeadTop_End !\n  mixamorig:LeftHand\n"
     "   mixamorig:LeftHandThumb1\n    mixamorig:LeftHandThumb2\n     mixamorig:LeftHandThumb3\n      "
     "mixamorig:LeftHandThumb4 !\n"},
    {"MMD",
     "全ての親 !\n センター\n  上半身\n   頭\n   左ひじ\n    左手首\n  下半身\n   左足\n    左ひざ\n 左足ＩＫ親 "
     "!\n  左足ＩＫ !\n"
     "   左つま先ＩＫ !\n 右足IK親 !\n  右足IK !\n 操作中心 !\n"},
    {"MMD in half width", "ｾﾝﾀｰ\n 左ｶﾞｰﾀﾞｰ\n 足IK !\n"},
    {"OpenXR",
     "wrist\n index-finger-metacarpal\n  index-finger-phalanx-proximal\n   index-finger-phalanx-distal\n    "
     "index-finger-tip !\n"},
    {"Quake 3", "hips\n torso\n  tag_weapon !\n"},
    {"Rigify", "root !\n ORG-spine !\n MCH-spine !\n DEF-spine\n  DEF-thigh.L\n   DEF-shin.L\n hand_ik.L !\n"},
    {"Roblox",
     "HumanoidRootNode !\n LowerTorso\n  UpperTorso\n   Head\n    Hat_Att !\n    FaceFrontAttachment !\n   "
     "LeftUpperArm\n"
     "    LeftHand\n     LeftGrip_Att !\n"},
    {"Skyrim",
     "NPC Root [Root] !\n NPC COM [COM ] !\n  NPC Pelvis [Pelv]\n   NPC L Foot [Lft ]\n  NPC Spine [Spn0]\n   NPC "
     "Head [Head]\n"
     "   NPC L Hand [LHnd]\n    WEAPON !\n    SHIELD !\n   MagicEffectsNode !\n   QUIVER !\n Camera3rd !\n"
     " NPC LookNode [Look] !\n NPC Translate [Pos ] !\n NPC Rotate [Rot ] !\n"},
    {"SMPL", "m_avg_root !\n m_avg_Pelvis\n  m_avg_L_Hip\n   m_avg_L_Knee\n  m_avg_Spine1\n"},
    {"Source",
     "ValveBiped.Bip01_Pelvis\n ValveBiped.Bip01_Spine\n  ValveBiped.Bip01_Head1\n   ValveBiped.forward !\n  "
     "ValveBiped.Bip01_L_Hand\n"
     "   ValveBiped.Anim_Attachment_LH !\n   ValveBiped.weapon_bone !\n ValveBiped.Bip01_L_Foot\n"},
    {"Unity",
     "Armature !\n Hips\n  Spine\n   Head\n    HeadTop_End !\n    LeftEye\n    Hair Root\n   Left Hand\n  Left "
     "foot\n"
     " Left Hand IK Target !\n"},
    {"Unreal Engine",
     "root !\n pelvis\n  spine_01\n   head\n   hand_l\n    weapon_l !\n   upperarm_twist_01_l\n  foot_l\n "
     "ik_foot_root !\n"
     "  ik_foot_l !\n ik_hand_root !\n  ik_hand_gun !\n   ik_hand_l !\n interaction !\n center_of_mass !\n "
     "camera_bone !\n"},
    {"VRM 0", "Root !\n J_Bip_C_Hips\n  J_Bip_C_Spine\n   J_Sec_Hair1_01\n   J_Adj_L_FaceEye\n secondary !\n"},
    {"a robot with a camera", "base\n arm\n  camera\n"},
    {"a knight with a shield", "Hips\n Spine\n  Hand.L\n   Shield\n"},
};

Skeleton skeleton_of(const char* joints, std::vector<bool>& idle) {
    Skeleton out;
    std::vector<int> above;
    std::istringstream in(joints);
    for (std::string line; std::getline(in, line);) {
        const std::size_t depth = line.find_first_not_of(' ');
        Joint joint;
        idle.push_back(line.ends_with(" !"));
        joint.name = line.substr(depth, line.size() - depth - (idle.back() ? 2 : 0));
        above.resize(depth);
        joint.parent = depth ? above[depth - 1] : -1;
        const auto n = static_cast<float>(out.joints.size());
        joint.position = {0.1f * n, static_cast<float>(depth), 0.01f * n};
        above.push_back(static_cast<int>(out.joints.size()));
        out.joints.push_back(joint);
    }
    return out;
}

TEST(JointConventions, EveryJointHasItsVerdict) {
    for (const Convention& c : kConventions) {
        std::vector<bool> idle;
        const Skeleton skeleton = skeleton_of(c.joints, idle);
        const std::vector<DeformReason> reason = idle_by_name(skeleton);
        for (std::size_t j = 0; j < idle.size(); ++j)
            EXPECT_EQ(reason[j] != DeformReason::deforms, idle[j]) << c.name << ": " << skeleton.joints[j].name;
    }
}

}  // namespace
}  // namespace sinew::test_joint_conventions
