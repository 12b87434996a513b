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
    {BodyPart::prop, {"handle"}, {}},  // no hand
    {BodyPart::cloth,
     {"beard", "fringe", "pony", "ponytail", "cloak", "coat", "robe", "scarf", "dress", "pagne"},
     {"hair", "cloth", "skirt", "cape", "髪", "スカート"}},
    {BodyPart::wing, {"wing", "wings", "fin", "fins"}, {"feather", "flipper"}},
    {BodyPart::tail, {}, {"tail", "尾", "しっぽ"}},
    {BodyPart::face,
     {"ear", "ears", "lip", "lips", "lid", "lids", "nose", "teeth", "tonge", "beak", "chin", "snout", "muzzle",
      "face", "oris", "risorius"},
     {"facial",  "eye",      "jaw",      "brow",  "cheek",   "tongue",  "mouth",      "pupil",
      "nostril", "upperlip", "lowerlip", "oculi", "orbicul", "levator", "temporalis", "目",
      "眉",      "舌",       "口",       "耳",    "歯",      "あご"}},
    {BodyPart::foot,
     {"feet", "ball", "heel", "paw", "pied", "fuss"},
     {"foot", "ankle", "toe", "hoof", "metatars", "つま先", "足首", "足指"}},
    {BodyPart::twist, {"roll"}, {"twist", "捩"}},
    {BodyPart::head, {"kopf", "cabeza", "tete", "tête"}, {"head", "skull", "頭"}},
    {BodyPart::hand, {}, {"手首"}},  // a wrist, whose second half is a neck
    {BodyPart::neck, {"hals", "cou", "cuello"}, {"neck", "首"}},
    {BodyPart::clavicle, {"shoulders", "clav"}, {"clavic", "shoulder", "collar", "scap", "schulter", "肩"}},
    {BodyPart::leg,
     {"leg", "legs", "shin", "jambe", "bein", "pierna", "femur", "tibia", "hock"},
     {"thigh", "upleg", "upperleg", "lowerleg", "lowleg", "foreleg", "hindleg", "knee", "calf", "ひざ", "膝",
      "足"}},
    {BodyPart::hip, {}, {"下半身"}},  // the half of the body below the waist
    {BodyPart::spine,
     {"belly", "rib", "ribs", "thorax", "tummy", "torse", "breast", "bust"},
     {"spine", "chest", "torso", "stomach", "abdom", "ribcage", "backbone", "lowerback", "upperback", "pector",
      "body", "上半身", "胸"}},
    {BodyPart::finger,
     {"index", "ring", "middle", "mid", "little", "digit", "digits", "meta"},
     {"finger", "thumb", "pinky", "pinkie", "metacarp", "phalan", "指"}},
    {BodyPart::hand, {"palm", "mano"}, {"hand", "wrist", "carpal", "手"}},
    {BodyPart::arm,
     {"arm", "arms", "elb", "shldr", "ulna", "radius", "bras", "brazo"},
     {"forearm", "upperarm", "uparm", "lowerarm", "oberarm", "unterarm", "elbow", "humer", "腕", "ひじ", "肘"}},
    {BodyPart::hip,
     {"hip", "hips", "hipjoint", "waist", "bassin", "glute"},
     {"pelvi", "buttock", "腰", "センター"}},
    {BodyPart::prop,
     {"gun", "weapon", "arme", "sword", "shield", "bow", "axe", "hat", "cap", "bag", "sack", "pack", "pick",
      "sheath"},
     {"horn", "backpack", "helmet", "antler"}},
    {BodyPart::spine, {"back"}, {}},  // after "BackHip.L" and "BackPack"
    // The last row, after "WeaponRoot": no part of the body by itself (names_body_part).
    {BodyPart::hip, {"root", "cog"}, {}},
};

bool speaks_of(std::string_view word, const Row& row) {
    return std::find(row.whole.begin(), row.whole.end(), word) != row.whole.end() ||
           std::any_of(row.stems.begin(), row.stems.end(),
                       [&](std::string_view stem) { return word.find(stem) != std::string_view::npos; });
}

/// A word in lower case without a side that is written without a gap: "leftarm", "lleg", "rfemur".
std::string_view without_side(std::string_view word) {
    for (const std::string_view side : {"left", "right"})
        if (word.starts_with(side)) return word.substr(side.size());
    constexpr std::string_view rear = "rear";
    return (word.starts_with('l') || word.starts_with('r')) && word != rear ? word.substr(1) : word;
}

/// Every word of the name, and what it is without a side. Stops where visit returns true, and returns whether it
/// did.
template <typename Visit>
bool any_word(std::string_view name, Visit&& visit) {
    const std::vector<std::string> words = name_words(name);
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return visit(word) || visit(without_side(word)); });
}

bool is_in(const WordViews& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

/// Whole words that mean something else without a part of the body beside them: "Ball_root" carries a ball.
const WordViews kAmbiguous{"ball", "index", "ring", "middle", "mid", "little", "digit", "digits", "meta"};

}  // namespace

BodyPart body_part_of(std::string_view name) {
    for (const Row& row : kRows)
        if (any_word(name, [&](std::string_view word) { return speaks_of(word, row); })) return row.part;
    return BodyPart::unknown;
}

bool speaks_of_fingers(std::string_view name) {
    return std::any_of(kRows.begin(), kRows.end(), [&](const Row& row) {
        return row.part == BodyPart::finger &&
               any_word(name, [&](std::string_view word) { return speaks_of(word, row); });
    });
}

bool names_body_part(std::string_view name) {
    return std::any_of(kRows.begin(), kRows.end() - 1, [&](const Row& row) {
        return row.part != BodyPart::prop && row.part != BodyPart::twist &&
               any_word(name, [&](std::string_view word) {
                   return is_in(row.stems, word) || (is_in(row.whole, word) && !is_in(kAmbiguous, word));
               });
    });
}

}  // namespace sinew
