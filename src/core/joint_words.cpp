#include "core/joint_words.h"

#include <algorithm>

namespace sinew {

bool WordRow::has(std::string_view word) const {
    return std::find(whole.begin(), whole.end(), word) != whole.end();
}

bool WordRow::speaks_of(std::string_view word) const {
    return has(word) || std::any_of(stems.begin(), stems.end(), [&](std::string_view stem) {
               return word.find(stem) != std::string_view::npos;
           });
}

namespace {

// A joint that is wrongly idle is worse than one that is wrongly kept: the skin of the first moves with a
// neighbour, while the second only takes a share. So words that are as common on joints with weight (tip, leaf,
// helper, twist, roll, gun) say nothing about idle joints.
const std::vector<WordRow> kRows{
    {WordUse::body, BodyPart::prop, {"handle"}, {}},  // no hand
    {WordUse::body,
     BodyPart::cloth,
     {"beard", "fringe", "pony", "ponytail", "cloak", "coat", "robe", "scarf", "dress", "pagne"},
     {"hair", "cloth", "skirt", "cape", "髪", "スカート"}},
    {WordUse::body, BodyPart::wing, {"wing", "wings", "fin", "fins"}, {"feather", "flipper"}},
    {WordUse::body, BodyPart::tail, {}, {"tail", "尾", "しっぽ"}},
    {WordUse::body,
     BodyPart::face,
     {"ear", "ears", "lip", "lips", "lid", "lids", "nose", "teeth", "tonge", "beak", "chin", "snout", "muzzle",
      "face", "oris", "risorius"},
     {"facial",  "eye",      "jaw",      "brow",  "cheek",   "tongue",  "mouth",      "pupil",
      "nostril", "upperlip", "lowerlip", "oculi", "orbicul", "levator", "temporalis", "目",
      "眉",      "舌",       "口",       "耳",    "歯",      "あご"}},
    {WordUse::body,
     BodyPart::foot,
     {"feet", "ball", "heel", "paw", "pied", "fuss"},
     {"foot", "ankle", "toe", "hoof", "metatars", "つま先", "足首", "足指"}},
    {WordUse::body, BodyPart::twist, {"roll"}, {"twist", "捩"}},
    {WordUse::body, BodyPart::head, {"kopf", "cabeza", "tete", "tête"}, {"head", "skull", "頭"}},
    {WordUse::body, BodyPart::hand, {}, {"手首"}},  // a wrist, whose second half is a neck
    {WordUse::body, BodyPart::neck, {"hals", "cou", "cuello"}, {"neck", "首"}},
    {WordUse::body,
     BodyPart::clavicle,
     {"shoulders", "clav"},
     {"clavic", "shoulder", "collar", "scap", "schulter", "肩"}},
    {WordUse::body,
     BodyPart::leg,
     {"leg", "legs", "shin", "jambe", "bein", "pierna", "femur", "tibia", "hock"},
     {"thigh", "upleg", "upperleg", "lowerleg", "lowleg", "foreleg", "hindleg", "knee", "calf", "ひざ", "膝",
      "足"}},
    {WordUse::body, BodyPart::hip, {}, {"下半身"}},  // the half of the body below the waist
    {WordUse::body,
     BodyPart::spine,
     {"belly", "rib", "ribs", "thorax", "tummy", "torse", "breast", "bust"},
     {"spine", "chest", "torso", "stomach", "abdom", "ribcage", "backbone", "lowerback", "upperback", "pector",
      "body", "上半身", "胸"}},
    {WordUse::body,
     BodyPart::finger,
     {"index", "ring", "middle", "mid", "little", "digit", "digits", "meta"},
     {"finger", "thumb", "pinky", "pinkie", "metacarp", "phalan", "指"}},
    {WordUse::body, BodyPart::hand, {"palm", "mano"}, {"hand", "wrist", "carpal", "手"}},
    {WordUse::body,
     BodyPart::arm,
     {"arm", "arms", "elb", "shldr", "ulna", "radius", "bras", "brazo"},
     {"forearm", "upperarm", "uparm", "lowerarm", "oberarm", "unterarm", "elbow", "humer", "腕", "ひじ", "肘"}},
    {WordUse::body,
     BodyPart::hip,
     {"hip", "hips", "hipjoint", "waist", "bassin", "glute"},
     {"pelvi", "buttock", "腰", "センター"}},
    {WordUse::body,
     BodyPart::prop,
     {"gun", "weapon", "arme", "sword", "shield", "bow", "axe", "hat", "cap", "bag", "sack", "pack", "pick",
      "sheath"},
     {"horn", "backpack", "helmet", "antler"}},
    {WordUse::body, BodyPart::spine, {"back"}, {}},  // after "BackHip.L" and "BackPack"
    // The last row, after "WeaponRoot": no part of the body by itself (names_body_part).
    {WordUse::body, BodyPart::hip, {"root", "cog"}, {}},
    {WordUse::ambiguous,
     BodyPart::unknown,
     {"ball", "index", "ring", "middle", "mid", "little", "digit", "digits", "meta"},
     {}},
    {WordUse::control,
     BodyPart::unknown,
     {"ik", "ikh", "ctrl", "ctl", "control", "controller", "pole", "target", "goal", "effector", "handle", "wgt",
      "mch", "constraint", "dummy", "footsteps"},
     {}},
    {WordUse::control_end, BodyPart::unknown, {"target", "ctrl", "controller", "effector", "constraint"}, {}},
    {WordUse::carrier, BodyPart::unknown, {"ctrl", "ctl", "control", "controller", "cog"}, {}},
    {WordUse::foot_pivot, BodyPart::unknown, {"heel", "toe", "toes", "foot", "ball"}, {}},
    {WordUse::driver, BodyPart::unknown, {"mch", "org", "ctrl", "drv", "vis", "wgt"}, {}},
    {WordUse::slot,
     BodyPart::unknown,
     {"slot", "socket", "handslot", "weaponslot", "weapon", "prop", "att", "attach", "attachment", "attachpoint",
      "mount", "item"},
     {}},
    {WordUse::beside, BodyPart::unknown, {"camera", "cam", "interaction", "secondary"}, {}},
    {WordUse::root,
     BodyPart::unknown,
     {"root",     "rootjoint",  "armature", "skeleton", "skeletal",  "skel",    "reference",
      "traj",     "trajectory", "origin",   "master",   "global",    "world",   "motion",
      "movement", "scene",      "rig",      "offset",   "placement", "stride",  "groove",
      "mother",   "com",        "cog",      "全ての親", "操作中心",  "グルーブ"},
     {}},
    {WordUse::filler,
     BodyPart::unknown,
     {"joint", "jnt",    "jt",   "bone",      "bn", "node", "b",   "m",   "c",   "j",
      "main",  "center", "char", "character", "sk", "bip",  "drv", "rot", "pos", "npc"},
     {}},
    {WordUse::side, BodyPart::unknown, {"l", "r", "left", "right"}, {}},
    {WordUse::joint,
     BodyPart::unknown,
     {},
     {"bone", "joint", "pelvis", "hips", "spine", "thigh", "forearm", "clavicle", "upperarm", "bip01",
      "mixamorig"}},
    {WordUse::limb,
     BodyPart::unknown,
     {"head", "neck", "chest", "torso", "hip",   "shoulder", "arm", "elbow", "wrist", "hand", "finger", "thumb",
      "leg",  "knee", "shin",  "calf",  "ankle", "foot",     "toe", "tail",  "jaw",   "wing", "eye"},
     {}},
    {WordUse::holder, BodyPart::unknown, {"armature", "skeleton", "rig", "scene", "world"}, {}},
};

const std::vector<WordConvention> kConventions{
    // Auto-Rig Pro: "c_" is a controller, but also the first word of some joints with skin ("c_ear_01.l").
    {"c.traj", {"c.traj", "c.pos"}, {"ik", "fk", "pole", "cursor", "p"}, "c"},
    {"c.pos", {"c.traj", "c.pos"}, {"ik", "fk", "pole", "cursor", "p"}, "c"},
    {"valve", {"valve.biped.forward"}, {}, ""},  // Source: where the head looks
    // Skyrim, whose joints begin with "NPC".
    {"npc",
     {"shield", "quiver", "magic.effects.node", "npc.com.com", "npc.look.node.look", "npc.translate.pos",
      "npc.rotate.rot"},
     {},
     ""},
};

}  // namespace

std::span<const WordRow> word_rows() { return kRows; }

const WordRow& words_for(WordUse use) {
    return *std::find_if(kRows.begin(), kRows.end(), [&](const WordRow& row) { return row.use == use; });
}

std::span<const WordConvention> word_conventions() { return kConventions; }

}  // namespace sinew
