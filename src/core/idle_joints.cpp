#include "core/idle_joints.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/body_part.h"
#include "core/joint_names.h"

namespace sinew {

namespace {

using Words = std::vector<std::string>;
using WordList = std::span<const std::string_view>;

// The table of words. A false positive is worse than a false negative: the skin of a joint that is wrongly idle
// moves with a neighbour, while an idle joint that is kept only takes a share. So words that are as common on
// joints with weight (tip, leaf, helper, twist, roll, gun) are left out.

constexpr std::array<std::string_view, 16> control_words{
    "ik",   "ikh",      "ctrl",   "ctl", "control", "controller", "pole",  "target",
    "goal", "effector", "handle", "wgt", "mch",     "constraint", "dummy", "footsteps"};
// Written without a gap ("biktarget", "bfootctrl") these are still recognised at the end of a word.
constexpr std::array<std::string_view, 5> control_endings{"target", "ctrl", "controller", "effector", "constraint"};
// Controls by convention, even where they carry joints that deform: of the whole body, or of a foot.
constexpr std::array<std::string_view, 5> carrier_words{"ctrl", "ctl", "control", "controller", "cog"};
// Parts of a foot. With "roll" they are the pivots of a reverse-foot rig.
constexpr std::array<std::string_view, 5> foot_words{"heel", "toe", "toes", "foot", "ball"};
constexpr std::array<std::string_view, 11> slot_words{"slot",        "socket", "handslot", "weaponslot",
                                                      "weapon",      "prop",   "attach",   "attachment",
                                                      "attachpoint", "mount",  "item"};
// First words of the layers of a Blender rig that drive its deforming "DEF-" joints.
constexpr std::array<std::string_view, 6> driver_layers{"mch", "org", "ctrl", "drv", "vis", "wgt"};

constexpr std::array<std::string_view, 22> root_words{
    "root",   "rootjoint", "armature", "skeleton", "skeletal", "skel",     "reference", "trajectory",
    "origin", "master",    "global",   "world",    "motion",   "movement", "scene",     "rig",
    "offset", "placement", "stride",   "groove",   "mother",   "cog"};
// Words without meaning next to a root word.
constexpr std::array<std::string_view, 19> root_fillers{
    "joint", "jnt",    "jt",   "bone",      "bn", "node", "b",   "m",   "c",  "j",
    "main",  "center", "char", "character", "sk", "bip",  "drv", "rot", "pos"};
constexpr std::array<std::string_view, 4> side_words{"l", "r", "left", "right"};

bool in(WordList list, std::string_view word) { return std::find(list.begin(), list.end(), word) != list.end(); }
bool any_in(WordList list, const Words& words) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return in(list, w); });
}
bool has(const Words& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_number(const std::string& word) { return word[0] >= '0' && word[0] <= '9'; }

// The words without sides, numbers and the given ending: the body part.
Words stem(const Words& words, std::string_view ending = {}) {
    Words out;
    for (const std::string& w : words)
        if (!in(side_words, w) && !is_number(w) && w != ending) out.push_back(w);
    return out;
}

struct Tree {
    explicit Tree(const Skeleton& skeleton)
        : joints(skeleton.joints), children(joints.size()), words(joints.size()) {
        for (std::size_t j = 0; j < joints.size(); ++j) {
            if (joints[j].parent >= 0) children[joints[j].parent].push_back(std::uint32_t(j));
            words[j] = name_words(joints[j].name);
        }
        // Parents before children, whatever their order in the file.
        for (std::size_t j = 0; j < joints.size(); ++j)
            if (joints[j].parent < 0) order.push_back(std::uint32_t(j));
        for (std::size_t i = 0; i < order.size(); ++i)
            order.insert(order.end(), children[order[i]].begin(), children[order[i]].end());
    }
    const std::vector<Joint>& joints;
    std::vector<std::vector<std::uint32_t>> children;
    std::vector<Words> words;
    std::vector<std::uint32_t> order;
};

bool ends_in_control(const std::string& word) {
    return std::any_of(control_endings.begin(), control_endings.end(),
                       [&](std::string_view ending) { return word.ends_with(ending); });
}

/// Whether the words name a control. `carried`: the joints that deform among its children.
bool control_name(const Words& words, bool has_def_layer, std::size_t carried) {
    if (words.empty()) return false;
    if (any_in(carrier_words, words) || std::any_of(words.begin(), words.end(), ends_in_control)) return true;
    // A limb's end may be called after its IK and have skin. What carries several limbs is a control.
    if (carried > 0) return carried > 1 && has(words, "ik");
    if (has_def_layer && in(driver_layers, words.front())) return true;
    if (has(words, "center") && has(words, "of") && has(words, "mass")) return true;
    if (has(words, "roll") && any_in(foot_words, words)) return true;
    return any_in(control_words, words);
}

// "tag_weapon" is an attachment point of Quake's models.
bool slot_name(const Words& words) {
    return any_in(slot_words, words) || (words.size() > 1 && words.front() == "tag");
}

// An end marker repeats its parent's name (HeadEnd below Head, LeftToe_End below LeftToeBase). A joint called
// tail_end below tail_mid may be the last bone of a tail, which moves skin.
bool end_name(const Tree& tree, std::uint32_t j, bool distal_fingers) {
    const Words& words = tree.words[j];
    if (has(words, "nub") || has(words, "endsite") || (has(words, "end") && has(words, "site"))) return true;
    // OpenXR and WebXR hands: the tip beyond the distal phalanx.
    if (distal_fingers && has(words, "tip") && speaks_of_fingers(tree.joints[j].name)) return true;
    if (tree.joints[j].parent < 0) return false;
    const Words& parent = tree.words[tree.joints[j].parent];
    // Mixamo: a finger has three phalanges, and a fourth joint at its end.
    if (has(words, "hand") && speaks_of_fingers(tree.joints[j].name) && words.back() == "4" &&
        parent.size() == words.size() && parent.back() == "3" &&
        std::equal(words.begin(), words.end() - 1, parent.begin()))
        return true;
    if (!has(words, "end")) return false;
    Words mine = stem(words, "end"), other = stem(parent, "end");
    const Words top = stem(mine, "top"), base = stem(other, "base");  // HeadTop_End below Head; LeftToeBase
    return mine == other || mine == base || top == other;
}

// A root that only carries other joints: it is named so, and not after a part of the body. A joint called root
// that is close to several joints of its own children is a pelvis.
bool root_structure(const Tree& tree, std::uint32_t j, const std::vector<DeformReason>& reason) {
    const Words& words = tree.words[j];
    const int parent = tree.joints[j].parent;
    const bool first = parent < 0;
    if (tree.joints.size() < 2 || (!first && reason[parent] != DeformReason::root_structure)) return false;

    std::size_t carried = 0, controls = 0;
    for (const std::uint32_t c : tree.children[j]) ++(reason[c] == DeformReason::deforms ? carried : controls);

    bool named = any_in(root_words, words) && !names_body_part(tree.joints[j].name);
    if (!first)  // further down the chain all words must agree
        named = named && std::all_of(words.begin(), words.end(), [](const std::string& w) {
                    return in(root_words, w) || in(root_fillers, w) || in(side_words, w) || is_number(w);
                });
    // "main" alone: in French it is a hand ("main gauche"). "Bip01" is the root of 3ds Max's Biped.
    named = named || (first && (stem(words) == Words{"main"} || stem(words) == Words{"bip"}));
    // "Bone" at the floor that carries both feet and pole targets.
    const bool generic = first && carried > 1 && controls > 0 && stem(words) == Words{"bone"};
    if (!named && !generic) return false;
    if (carried < 2) return true;

    Vec3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    for (std::size_t i = 0; i < tree.joints.size(); ++i) {
        if (i == j) continue;
        const Vec3& p = tree.joints[i].position;
        low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    const Vec3& p = tree.joints[j].position;
    const bool inside = p.x > low.x && p.x < high.x && p.y > low.y && p.y < high.y && p.z > low.z && p.z < high.z;
    return !inside;
}

}  // namespace

std::vector<DeformReason> idle_by_name(const Skeleton& skeleton) {
    const Tree tree(skeleton);
    const std::size_t n = tree.joints.size();
    bool def_layer = false, distal = false;
    for (const Words& words : tree.words) {
        def_layer |= !words.empty() && words.front() == "def";
        distal |= has(words, "distal");
    }

    // Leaves first: a joint named like an end or a slot is idle only if all joints below it are, and most controls
    // too. A joint that moves joints with skin may have skin of its own, whatever its name is.
    std::vector<DeformReason> reason(n, DeformReason::deforms);
    for (auto it = tree.order.rbegin(); it != tree.order.rend(); ++it) {
        const std::uint32_t j = *it;
        const auto& children = tree.children[j];
        const auto carried = static_cast<std::size_t>(std::count_if(
            children.begin(), children.end(), [&](std::uint32_t c) { return reason[c] == DeformReason::deforms; }));
        if (carried == 0 && end_name(tree, j, distal))
            reason[j] = DeformReason::end_name;
        else if (control_name(tree.words[j], def_layer, carried))
            reason[j] = DeformReason::control_name;
        else if (carried == 0 && slot_name(tree.words[j]))
            reason[j] = DeformReason::slot_name;
    }
    for (const std::uint32_t j : tree.order)
        if (reason[j] == DeformReason::deforms && root_structure(tree, j, reason))
            reason[j] = DeformReason::root_structure;
    return reason;
}

}  // namespace sinew
