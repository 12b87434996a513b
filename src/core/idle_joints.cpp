#include "core/idle_joints.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/body_part.h"
#include "core/joint_names.h"
#include "core/joint_words.h"

namespace sinew {

namespace {

using Words = std::vector<std::string>;

bool any_in(WordUse use, const Words& words) {
    const WordRow& row = words_for(use);
    return std::any_of(words.begin(), words.end(), [&](const std::string& w) { return row.has(w); });
}
bool has(const Words& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_number(const std::string& word) { return word[0] >= '0' && word[0] <= '9'; }

// The words without sides, numbers and the given ending: the body part.
Words stem(const Words& words, std::string_view ending = {}) {
    Words out;
    for (const std::string& w : words)
        if (!words_for(WordUse::side).has(w) && !is_number(w) && w != ending) out.push_back(w);
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
    const auto& endings = words_for(WordUse::control_end).whole;
    return std::any_of(endings.begin(), endings.end(),
                       [&](std::string_view ending) { return word.ends_with(ending); });
}

/// Whether the words name a control. `carried`: the joints that deform among its children.
bool control_name(const Words& words, bool has_def_layer, std::size_t carried) {
    if (words.empty()) return false;
    if (any_in(WordUse::carrier, words) || std::any_of(words.begin(), words.end(), ends_in_control)) return true;
    // A limb's end may be called after its IK and have skin. What carries several limbs is a control.
    if (carried > 0) return carried > 1 && has(words, "ik");
    if (has_def_layer && words_for(WordUse::driver).has(words.front())) return true;
    if (has(words, "center") && has(words, "of") && has(words, "mass")) return true;
    if (has(words, "roll") && any_in(WordUse::foot_pivot, words)) return true;
    return any_in(WordUse::control, words);
}

// "tag_weapon" is an attachment point of Quake's models.
bool slot_name(const Words& words) {
    return any_in(WordUse::slot, words) || (words.size() > 1 && words.front() == "tag");
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

    bool named = any_in(WordUse::root, words) && !names_body_part(tree.joints[j].name);
    if (!first)  // further down the chain all words must agree
        named = named && std::all_of(words.begin(), words.end(), [](const std::string& w) {
                    return is_number(w) || any_in(WordUse::root, {w}) || any_in(WordUse::filler, {w}) ||
                           any_in(WordUse::side, {w});
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

std::string dotted(const Words& words) {
    std::string out;
    for (const std::string& w : words) out += (out.empty() ? "" : ".") + w;
    return out;
}

/// Conventions of which the skeleton has the sign.
std::vector<const WordConvention*> conventions_of(const Tree& tree) {
    std::vector<const WordConvention*> out;
    for (const WordConvention& c : word_conventions())
        if (std::any_of(tree.words.begin(), tree.words.end(), [&](const Words& words) {
                return !words.empty() && (words.front() == c.sign || dotted(words) == c.sign);
            }))
            out.push_back(&c);
    return out;
}

/// Whether a convention of the skeleton says that the joint is idle. `carried`: the joints that deform below it.
bool idle_by_convention(const std::vector<const WordConvention*>& conventions, const Words& words,
                        std::size_t carried) {
    const std::string name = dotted(stem(words));
    return std::any_of(conventions.begin(), conventions.end(), [&](const WordConvention* c) {
        return std::find(c->idle.begin(), c->idle.end(), name) != c->idle.end() ||
               (carried == 0 && !words.empty() && words.front() == c->first &&
                std::any_of(c->words.begin(), c->words.end(), [&](std::string_view w) { return has(words, w); }));
    });
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
    const std::vector<const WordConvention*> conventions = conventions_of(tree);
    std::vector<DeformReason> reason(n, DeformReason::deforms);
    std::vector<bool> carries(n);
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
        else if (idle_by_convention(conventions, tree.words[j], carried))
            reason[j] = DeformReason::control_name;
        carries[j] = carried > 0;
    }
    for (const std::uint32_t j : tree.order)
        if (reason[j] == DeformReason::deforms && root_structure(tree, j, reason))
            reason[j] = DeformReason::root_structure;
    // On the root, beside the body: a camera within it may have skin.
    for (const std::uint32_t j : tree.order) {
        const int parent = tree.joints[j].parent;
        if (reason[j] == DeformReason::deforms && !carries[j] && any_in(WordUse::beside, tree.words[j]) &&
            (parent < 0 ? n > 1 : reason[static_cast<std::size_t>(parent)] == DeformReason::root_structure))
            reason[j] = DeformReason::slot_name;
    }
    return reason;
}

}  // namespace sinew
