#include "edits/edit_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/try.h"

namespace sinew {
namespace {

using Wanted = EditRules::Wanted;
using Now = std::span<const Influence>;

bool named(const EditPart& part, std::uint32_t joint) {
    return std::find(part.joints.begin(), part.joints.end(), joint) != part.joints.end();
}

Wanted set_to(const EditRules& rules, const EditPart& part, Now now, double value) {
    const std::uint32_t j = part.joints[0];
    if (rules.locked(j)) return {{}, true};
    return rules.with_weights(now, {{j, std::clamp(value, 0.0, 1.0)}});
}

Wanted set(const EditRules& rules, const EditPart& part, Now now, const EditRow*) {
    return set_to(rules, part, now, rules.edit().value);
}

Wanted add(const EditRules& rules, const EditPart& part, Now now, const EditRow*) {
    double value = rules.edit().value;
    for (const Influence& i : now)
        if (i.joint == part.joints[0]) value += i.weight;
    return set_to(rules, part, now, value);
}

/// Whether there is no weight that scale or multiply could change. Such a row keeps its bits.
bool nothing_to_scale(const EditRules& rules, const EditPart& part, Now now) {
    return rules.edit().value == 1 || std::none_of(now.begin(), now.end(), [&](const Influence& i) {
               return !rules.locked(i.joint) && i.weight > 0 && named(part, i.joint);
           });
}

Wanted scale(const EditRules& rules, const EditPart& part, Now now, const EditRow*) {
    if (nothing_to_scale(rules, part, now)) return {};
    EditRow wanted;
    for (const Influence& i : now)
        if (named(part, i.joint)) wanted.push_back({i.joint, double{i.weight} * rules.edit().value});
    return rules.with_weights(now, wanted);
}

Wanted multiply(const EditRules& rules, const EditPart& part, Now now, const EditRow*) {
    if (nothing_to_scale(rules, part, now)) return {};
    EditRow wanted;
    for (const Influence& i : now)
        wanted.push_back({i.joint, double{i.weight} * (named(part, i.joint) ? double{rules.edit().value} : 1)});
    return rules.with_row(now, wanted);
}

Wanted sharpen(const EditRules& rules, const EditPart&, Now now, const EditRow*) {
    EditRow wanted;
    for (const Influence& i : now) wanted.push_back({i.joint, double{i.weight} * i.weight});
    return rules.with_row(now, wanted);
}

Wanted replace(const EditRules& rules, const EditPart& part, Now now, const EditRow*) {
    if (rules.locked(part.with)) return {{}, true};
    EditRow wanted;
    for (const Influence& i : now)
        weight_in(wanted, named(part, i.joint) && !rules.locked(i.joint) ? part.with : i.joint) += i.weight;
    return {std::move(wanted)};
}

Wanted prepared_row(const EditRules& rules, const EditPart& part, Now now, const EditRow* prepared) {
    if (prepared->empty()) return {{}, true};
    if (part.joints.empty()) return rules.with_row(now, *prepared);
    EditRow wanted;
    for (const Share& s : *prepared)
        if (named(part, s.joint)) wanted.push_back(s);
    for (const Influence& i : now)
        if (named(part, i.joint)) weight_in(wanted, i.joint) += 0;
    return rules.with_weights(now, wanted);
}

/// The prepared row; none: it stays.
Wanted changed_row(const EditRules& rules, const EditPart&, Now now, const EditRow* prepared) {
    if (prepared->empty()) return {};
    return rules.with_row(now, *prepared);
}

Wanted assign(const EditRules& rules, const EditPart& part, Now now, const EditRow* prepared) {
    if (!prepared) return set_to(rules, part, now, 1);
    return changed_row(rules, part, now, prepared);
}

/// What both joints have, in the prepared parts; all else stays.
Wanted divide(const EditRules& rules, const EditPart& part, Now now, const EditRow* prepared) {
    if (prepared->empty()) return {};
    EditRow row;
    double both = 0;
    for (const Influence& i : now) {
        if (!named(part, i.joint))
            row.push_back({i.joint, i.weight});
        else if (rules.locked(i.joint))
            return {{}, true};
        else
            both += i.weight;
    }
    if (!(both > 0)) return {};
    for (const Share& s : *prepared)
        if (rules.locked(s.joint)) return {{}, true};
    for (const Share& s : *prepared)
        if (s.weight > 0) row.push_back({s.joint, s.weight * both});
    return {std::move(row)};
}

double anywhere(const WeightEdit&, EditSurfaceState&) { return INFINITY; }

// Longer than 80 lines: a table, one row per kind.
const std::vector<EditKindRow>& table() {
    using enum EditKindInfo::Sides;
    const auto joints = &EditPart::joints;
    const auto value = &WeightEdit::value;
    static const std::vector<EditKindRow> rows = [&] {
        std::vector<EditKindRow> all{
            {{EditKind::set,
              "set",
              {{.name = "joint", .member = joints, .joints = 1}, {.name = "value", .member = value, .high = 1}},
              by_brush,
              "the joint gets this weight, the others share the rest in proportion"},
             set},
            {{EditKind::add,
              "add",
              {{.name = "joint", .member = joints, .joints = 1},
               {.name = "value", .member = value, .low = -1, .high = 1}},
              by_brush,
              "the same, with the value added to its weight"},
             add},
            {{EditKind::scale,
              "scale",
              {{.name = "joints", .member = joints}, {.name = "value", .member = value, .high = 1e38}},
              by_brush,
              "weights of the joints times the value, the others share the rest"},
             scale},
            {{EditKind::multiply,
              "multiply",
              {{.name = "joints", .member = joints}, {.name = "value", .member = value, .high = 1e38}},
              by_brush,
              "weights of the joints times the value; then all weights of the vertex are divided by their sum"},
             multiply},
            {{EditKind::smooth,
              "smooth",
              {{.name = "length", .member = value, .low = 1e-30, .high = 1e38},
               {.name = "joints", .member = joints, .optional = true}},
              by_brush,
              "the mean over the surface within the length, by area and nearness"},
             prepared_row,
             smoothed_rows,
             false,
             [](const WeightEdit& e, EditSurfaceState&) { return double{e.value}; }},
            {{EditKind::relax,
              "relax",
              {{.name = "steps", .member = value, .low = 1, .high = 64, .whole = true},
               {.name = "joints", .member = joints, .optional = true}},
              by_brush,
              "diffusion: in each step a row goes half of the way to the mean of its neighbours along edges"},
             prepared_row,
             relaxed_rows,
             false,
             [](const WeightEdit& e, EditSurfaceState& s) { return e.value * s.longest_edge(); }},
            {{EditKind::sharpen,
              "sharpen",
              {},
              by_brush,
              "weights are squared and normalised: strong joints become stronger"},
             sharpen},
            {{EditKind::replace,
              "replace",
              {{.name = "joints", .member = joints}, {.name = "with", .member = &EditPart::with}},
              by_brush,
              "the weights of the joints go to another joint"},
             replace},
            {{EditKind::mirror,
              "mirror",
              {{.name = "from", .member = &Mirror::side, .words = "left right +x -x +y -y +z -z"}},
              one,
              "the other side gets the row of the mirrored place, joints swapped"},
             prepared_row,
             mirrored_rows,
             false,
             anywhere,
             find_mirror,
             check_mirror},
            {{EditKind::pin,
              "pin",
              {{.name = "pins", .member = &WeightEdit::pins},
               {.name = "reach", .member = value, .optional = true, .otherwise = 0.06f, .low = 0.001, .high = 10}},
              both,
              "rows that are met exactly; what they differ by from the rows before spreads over the surface"},
             changed_row,
             pinned_rows,
             false,
             anywhere,
             complete_pins,
             check_pins},
            {{EditKind::assign,
              "assign",
              {{.name = "joint", .member = joints, .optional = true, .joints = 1},
               {.name = "as", .member = &WeightEdit::as, .optional = true, .words = "file"},
               {.name = "parts", .member = &WeightEdit::parts, .optional = true}},
              both,
              "one joint gets all weight, or the rows of the file come back; with parts, of whole connected parts"},
             assign,
             assigned_rows,
             false,
             nullptr,
             complete_assign,
             check_assign},
            {{EditKind::border,
              "border",
              {{.name = "joints", .member = joints, .joints = 2},
               {.name = "shift", .member = &WeightEdit::shift, .optional = true, .low = -1e38, .high = 1e38},
               {.name = "width",
                .member = &WeightEdit::width,
                .optional = true,
                .otherwise = NAN,
                .low = 1e-30,
                .high = 1e38}},
              both,
              "the line where both joints are equal moves by a length away from the first one, and the width over "
              "which one goes into the other is set; the sum of both stays"},
             divide,
             border_rows,
             true,
             anywhere,
             complete_border,
             check_border},
        };
        return all;
    }();
    return rows;
}

}  // namespace

Result<const Symmetry*> EditPreparation::symmetry() const {
    SINEW_TRY_LET(const Symmetry* found, surface.symmetry(skeleton, context));
    if (found) return found;
    return wrong("the skeleton has no mirror plane (80 % of its deforming joints need a partner)");
}

Status EditPreparation::deforms(std::uint32_t joint, const std::string& what) const {
    if (joint < skeleton.joints.size() && skeleton.joints[joint].deform) return Done{};
    return wrong(what + ": the joint " +
                 (joint < skeleton.joints.size() ? "'" + printable(skeleton.joints[joint].name) + "'"
                                                 : std::to_string(joint)) +
                 " does not deform");
}

const EditKindRow& row_of(EditKind kind) { return table()[static_cast<std::size_t>(kind)]; }
const EditKindInfo& info_of(EditKind kind) { return row_of(kind); }

std::span<const EditKindInfo> edit_kinds() {
    static const std::vector<EditKindInfo> infos(table().begin(), table().end());
    return infos;
}

}  // namespace sinew
