#include "rig/templates.h"

namespace sinew {

namespace {

// Longer than 80 lines: a table, one row per template.
std::vector<Template> without_fingers() {
    return {
        {.name = "biped",
         .summary = "hips, spine, neck and head; arms with clavicles; legs with toes",
         .tips = {{"foot", {0.35, -1, 0.8}, {1, 4, 0.3}, true},
                  {"head", {0, 1, 0}, {2, 3, 0.3}},
                  {"hand", {1, 0.3, 0}, {3, 0.3, 0.2}, true}},
         .trunk = {.from = {"foot", "head"},
                   .to = {"head"},
                   .middle = {"hand"},
                   .lower = {{"hips", 0}, {"spine", 0.3}, {"chest", 0.65}},
                   .upper = {{"neck", 0.2}, {"head", 0.38}},
                   .neck = 0.3},
         .limbs =
             {{"hand", "chest", "shoulder", {{"upper_arm", 0}, {"forearm", 0.42}, {"hand", 0.76}}, 0.3, 0.76, 0.14},
              {"foot", "hips", {}, {{"thigh", 0}, {"shin", 0.42}, {"foot", 0.79}, {"toe", 0.92}}, 1}}},
        {.name = "quadruped",
         .summary = "hips, spine, neck and head; four legs; a tail if there is one",
         .tips = {{"hind_foot", {0.5, -1, -0.7}, {1, 4, 1}, true},
                  {"front_foot", {0.5, -1, 0.6}, {1, 4, 1}, true},
                  {"head", {0, 0.7, 1}, {2, 1, 2}},
                  {"tail", {0, 0.2, -1}, {2, 0.5, 2}, false, true}},
         .trunk = {.from = {"hind_foot", "head"},
                   .to = {"head"},
                   .middle = {"front_foot"},
                   .lower = {{"hips", 0}, {"spine", 0.33}, {"chest", 0.75}},
                   .upper = {{"neck", 0.2}, {"head", 0.6}}},
         .limbs = {{"front_foot", "chest", {}, {{"front_thigh", 0}, {"front_shin", 0.4}, {"front_foot", 0.8}}},
                   {"hind_foot", "hips", {}, {{"thigh", 0}, {"shin", 0.4}, {"foot", 0.8}}},
                   {"tail", "hips", {}, {{"tail.1", 0}, {"tail.2", 0.33}, {"tail.3", 0.66}}}}},
        {.name = "bird",
         .summary = "hips, chest, neck and head; wings; legs; a tail if there is one",
         .tips = {{"foot", {0.2, -1, 0.2}, {0.5, 4, 0.5}, true},
                  {"head", {0, 0.8, 0.8}, {2, 1, 1}},
                  {"wing", {1, 0.3, 0}, {3, 0.3, 0.2}, true},
                  {"tail", {0, 0, -1}, {2, 0.5, 2}, false, true}},
         .trunk = {.from = {"foot", "head"},
                   .to = {"head"},
                   .middle = {"wing"},
                   .lower = {{"hips", 0}, {"chest", 0.6}},
                   .upper = {{"neck", 0.3}, {"head", 0.6}}},
         .limbs = {{"wing", "chest", {}, {{"wing.1", 0}, {"wing.2", 0.33}, {"wing.3", 0.66}}},
                   {"foot", "hips", {}, {{"thigh", 0}, {"shin", 0.35}, {"foot", 0.8}}},
                   {"tail", "hips", {}, {{"tail", 0}}}}},
        {.name = "spider",
         .summary = "a body with eight legs; an abdomen if there is one",
         .tips = {{"leg_1", {0.7, -0.7, 0.9}, {1, 0.3, 1}, true},
                  {"leg_2", {1, -0.7, 0.35}, {1, 0.3, 1}, true},
                  {"leg_3", {1, -0.7, -0.35}, {1, 0.3, 1}, true},
                  {"leg_4", {0.7, -0.7, -0.9}, {1, 0.3, 1}, true},
                  {"abdomen", {0, 0.4, -0.7}, {3, 1, 1}, false, true}},
         .trunk = {.from = {"leg_1"}, .to = {"leg_4"}, .lower = {{"body", 0.5}}},
         .limbs = {{"leg_1", "body", {}, {{"leg_1.1", 0}, {"leg_1.2", 0.3}, {"leg_1.3", 0.65}}},
                   {"leg_2", "body", {}, {{"leg_2.1", 0}, {"leg_2.2", 0.3}, {"leg_2.3", 0.65}}},
                   {"leg_3", "body", {}, {{"leg_3.1", 0}, {"leg_3.2", 0.3}, {"leg_3.3", 0.65}}},
                   {"leg_4", "body", {}, {{"leg_4.1", 0}, {"leg_4.2", 0.3}, {"leg_4.3", 0.65}}},
                   {"abdomen", "body", {}, {{"abdomen", 0}}}}},
        {.name = "fish",
         .summary = "a body, a head, and a tail of four joints",
         .tips = {{"head", {0, 0, 1}, {1, 0.3, 3}}, {"tail", {0, 0, -1}, {1, 0.3, 3}}},
         .trunk = {.from = {"head"},
                   .to = {"tail"},
                   .lower = {{"body", 0.35},
                             {"head", 0.25, "body"},
                             {"tail.1", 0.45, "body"},
                             {"tail.2", 0.58},
                             {"tail.3", 0.7},
                             {"tail.4", 0.82}}}},
        {.name = "snake",
         .summary = "a head and a chain of twelve joints",
         .stands = false,
         .tips = {{"head", {0, 0, 1}, {0.2, 0.2, 2}}, {"tail", {0, 0, -1}, {0.2, 0.2, 2}}},
         .trunk = {.from = {"head"},
                   .to = {"tail"},
                   .lower = {{"spine.01", 0.1},
                             {"head", 0.07, "spine.01"},
                             {"spine.02", 0.17, "spine.01"},
                             {"spine.03", 0.25},
                             {"spine.04", 0.33},
                             {"spine.05", 0.41},
                             {"spine.06", 0.49},
                             {"spine.07", 0.57},
                             {"spine.08", 0.65},
                             {"spine.09", 0.73},
                             {"spine.10", 0.81},
                             {"spine.11", 0.87},
                             {"spine.12", 0.93}}}},
        {.name = "hand",
         .summary = "a wrist and five fingers of three joints each",
         .stands = false,
         .mirrored = true,
         .tips = {{"wrist", {0, -1, 0}, {0.3, 4, 0.3}, false, false, 0.8},
                  {"middle", {0, 1, 0}, {1, 2, 0.2}, false, false, 0.4},
                  {"thumb", {1, -0.1, 0}, {2, 1, 0.2}, false, false, 0.4},
                  {"index", {0.45, 0.9, 0}, {2, 1, 0.2}, false, false, 0.4},
                  {"ring", {-0.4, 0.9, 0}, {2, 1, 0.2}, false, false, 0.4},
                  {"pinky", {-0.8, 0.6, 0}, {2, 1, 0.2}, false, false, 0.4}},
         .trunk = {.from = {"wrist"}, .to = {"middle"}, .middle = {"index", "ring"}, .lower = {{"hand", 0.1}}},
         .limbs = {{"thumb", "hand", {}, {{"thumb.1", 0}, {"thumb.2", 0.4}, {"thumb.3", 0.7}}},
                   {"index", "hand", {}, {{"index.1", 0}, {"index.2", 0.45}, {"index.3", 0.72}}},
                   {"middle", "hand", {}, {{"middle.1", 0}, {"middle.2", 0.45}, {"middle.3", 0.72}}},
                   {"ring", "hand", {}, {{"ring.1", 0}, {"ring.2", 0.45}, {"ring.3", 0.72}}},
                   {"pinky", "hand", {}, {{"pinky.1", 0}, {"pinky.2", 0.45}, {"pinky.3", 0.72}}}}},
    };
}

std::vector<Template> with_fingers() {
    std::vector<Template> list = without_fingers();
    Template biped = list.front();
    biped.name = "biped-fingers";
    biped.summary = "a biped with three to five fingers of three joints on each hand";
    biped.fingers = true;
    list.insert(list.begin() + 1, std::move(biped));
    return list;
}

// Made when the library is loaded, not by a call that may find memory full: an exception within such nested lists
// frees some of them twice (GCC 12).
const std::vector<Template> kTemplates = with_fingers();

}  // namespace

const std::vector<Template>& templates() { return kTemplates; }

}  // namespace sinew
