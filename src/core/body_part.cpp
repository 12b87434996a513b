#include "core/body_part.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/joint_names.h"

namespace sinew {
namespace {

using WordViews = std::vector<std::string_view>;

/// One word of the name must be one of `whole`, or contain one of `stems`. Words that are often within others are
/// whole: "ear" is within "forearm", "arm" within "armature", "ring" within "earring".
struct Row {
    BodyPart part;
    WordViews whole, stems;
};

/// The first row counts.
const std::vector<Row> kRows{
    {BodyPart::cloth,
     {"beard", "fringe", "pony", "ponytail", "cloak", "coat", "robe", "scarf", "dress", "pagne"},
     {"hair", "cloth", "skirt", "cape", "髪", "スカート"}},
    {BodyPart::wing, {"wing", "wings", "fin", "fins"}, {"feather", "flipper"}},
    {BodyPart::tail, {}, {"tail", "尾"}},
    {BodyPart::face,
     {"ear", "ears", "lip", "lips", "lid", "lids", "nose", "teeth", "beak", "chin", "snout", "muzzle", "face",
      "oris", "risorius"},
     {"eye", "jaw", "brow", "cheek", "tongue", "mouth", "pupil", "nostril", "upperlip", "lowerlip", "oculi",
      "orbicul", "levator", "temporalis", "目", "眉", "舌", "口"}},
    {BodyPart::twist, {"roll"}, {"twist", "捩"}},
    {BodyPart::head, {"kopf", "cabeza", "tete", "tête"}, {"head", "skull", "頭"}},
    {BodyPart::foot,
     {"feet", "ball", "heel", "paw", "pied", "fuss"},
     {"foot", "ankle", "toe", "hoof", "つま先", "足首"}},
    {BodyPart::hand, {}, {"手首"}},  // a wrist, whose second half is a neck
    {BodyPart::neck, {"hals", "cou", "cuello"}, {"neck", "首"}},
    {BodyPart::clavicle, {"shoulders", "clav"}, {"clavic", "shoulder", "collar", "scap", "schulter", "肩"}},
    {BodyPart::leg,
     {"leg", "legs", "shin", "jambe", "bein", "pierna", "femur", "tibia", "hock"},
     {"thigh", "upleg", "upperleg", "lowerleg", "lowleg", "foreleg", "hindleg", "knee", "calf", "ひざ", "足"}},
    {BodyPart::spine,
     {"belly", "rib", "ribs", "thorax", "tummy", "torse", "breast", "bust"},
     {"spine", "chest", "torso", "stomach", "abdom", "ribcage", "backbone", "body", "上半身", "下半身"}},
    {BodyPart::finger,
     {"index", "ring", "middle", "little", "digit", "digits", "meta"},
     {"finger", "thumb", "pinky", "pinkie", "metacarp", "phalan", "指"}},
    {BodyPart::hand, {"palm", "mano"}, {"hand", "wrist", "手"}},
    {BodyPart::arm,
     {"arm", "arms", "elb", "ulna", "bras", "brazo"},
     {"forearm", "upperarm", "lowerarm", "elbow", "humer", "腕", "ひじ"}},
    {BodyPart::hip, {"hip", "hips", "waist", "root", "cog", "bassin"}, {"pelvi", "センター"}},
    {BodyPart::spine, {"back"}, {}},  // "BackHip.L" is a hip
    {BodyPart::prop,
     {"gun", "weapon", "sword", "shield", "bow", "axe", "hat", "cap", "bag", "sack", "pack", "pick", "sheath"},
     {"horn", "backpack", "helmet", "antler"}},
};

bool speaks_of(const std::string& word, const Row& row) {
    return std::find(row.whole.begin(), row.whole.end(), word) != row.whole.end() ||
           std::any_of(row.stems.begin(), row.stems.end(),
                       [&](std::string_view stem) { return word.find(stem) != std::string::npos; });
}

}  // namespace

BodyPart body_part_of(std::string_view name) {
    const std::vector<std::string> words = name_words(name);
    for (const Row& row : kRows)
        if (std::any_of(words.begin(), words.end(), [&](const std::string& word) { return speaks_of(word, row); }))
            return row.part;
    return BodyPart::unknown;
}

}  // namespace sinew
