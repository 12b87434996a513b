// The edit that is given the rows of a few places and spreads what they change.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"
#include "edits/edit_kinds.h"
#include "edits/pin_field.h"

namespace sinew {
namespace {

// Chosen on artists' weights (docs/evaluation.md).
constexpr double kSoft = 0.01;       // added to weights before logarithms are taken
constexpr float kUnchanged = 0.05f;  // of a logarithm: the row stays as it is
constexpr double kLeastNew = 0.01;   // weight of a joint that the row did not have
constexpr double kSumSlack = 0.01;

Error wrong(const std::string& what) { return {ErrorCode::input, what}; }

EditRow target_of(const Pin& pin, std::span<const Influence> now) {
    EditRow out;
    if (!pin.strongest) {
        for (const Influence& i : pin.weights) out.push_back({i.joint, i.weight});
        return out;
    }
    const auto by_weight = [](const Influence& a, const Influence& b) { return a.weight < b.weight; };
    const std::uint32_t meant = std::max_element(pin.weights.begin(), pin.weights.end(), by_weight)->joint;
    for (const Influence& i : now) out.push_back({i.joint, i.weight});
    double& weight = weight_in(out, meant);
    std::swap(weight, out.front().weight);  // rows begin with the strongest
    return out;
}

bool agree(const Pin& a, const Pin& b) {
    EditRow rest;
    for (const Influence& i : a.weights) weight_in(rest, i.joint) += i.weight;
    for (const Influence& i : b.weights) weight_in(rest, i.joint) -= i.weight;
    return a.strongest == b.strongest &&
           std::all_of(rest.begin(), rest.end(), [](const Share& s) { return std::abs(s.weight) < 1e-3; });
}

}  // namespace

Status check_pins(const WeightEdit& edit, std::size_t vertices, std::size_t joints) {
    if (edit.pins.empty()) return wrong("there are no pins");
    for (std::size_t i = 0; i < edit.pins.size(); ++i) {
        const Pin& pin = edit.pins[i];
        const std::string place = "pin " + std::to_string(i + 1) + ": ";
        if (pin.vertex >= vertices) return wrong(place + "there is no vertex " + std::to_string(pin.vertex));
        double sum = 0;
        for (const Influence& k : pin.weights) {
            if (k.joint >= joints) return wrong(place + "there is no joint " + std::to_string(k.joint));
            if (!(k.weight > 0)) return wrong(place + "weights must be above 0");
            if (std::count_if(pin.weights.begin(), pin.weights.end(),
                              [&](const Influence& other) { return other.joint == k.joint; }) > 1)
                return wrong(place + "a joint is named twice");
            sum += k.weight;
        }
        if (!(std::abs(sum - 1) <= kSumSlack))
            return wrong(place + "weights must add up to 1, not to " + number_text(sum, 4));
    }
    return Done{};
}

Status complete_pins(const EditPreparation& of) {
    EditSurfaceState& surface = of.surface;
    const std::vector<std::uint32_t>& weld = surface.topology.weld;
    std::vector<Pin>& pins = of.edit.pins;
    for (std::size_t i = 0; i < pins.size(); ++i) {
        const std::string place = "pin " + std::to_string(i + 1);
        if (pins[i].vertex == no_index) pins[i].vertex = surface.vertex_near(to_point(pins[i].point), INFINITY);
        if (pins[i].vertex >= weld.size()) return of.wrong(place + ": there is no surface");
        for (const Influence& k : pins[i].weights) SINEW_TRY(of.deforms(k.joint, place));
    }
    if (const Status ok = check_pins(of.edit, weld.size(), of.skeleton.joints.size()); !ok)
        return of.wrong(ok.error().message);
    std::vector<Pin> kept;
    const auto at_its_place = [&](const Pin& pin) {
        return std::find_if(kept.begin(), kept.end(),
                            [&](const Pin& k) { return weld[k.vertex] == weld[pin.vertex]; });
    };
    for (std::size_t i = 0; i < pins.size(); ++i) {
        const auto other = at_its_place(pins[i]);
        if (other == kept.end())
            kept.push_back(pins[i]);
        else if (!agree(*other, pins[i]))
            return of.wrong("pins " + std::to_string(other - kept.begin() + 1) + " and " + std::to_string(i + 1) +
                            " are at one place and disagree");
    }
    if (of.edit.symmetric) {
        SINEW_TRY_LET(const Symmetry* across, of.symmetry());
        const double reach = EditSurfaceState::kMirrorReach * box_of(surface.mesh.positions).diagonal();
        for (std::size_t i = 0, n = kept.size(); i < n; ++i) {
            Pin twin = kept[i];
            twin.twin = true;
            const Point3 place = to_point(surface.mesh.positions[twin.vertex]);
            twin.vertex = surface.vertex_near(EditSurfaceState::mirrored(place, *across), reach);
            if (twin.vertex == no_index || at_its_place(twin) != kept.end()) continue;
            for (Influence& k : twin.weights) {
                SINEW_TRY_LET(k.joint, partner(of, *across, k.joint));
            }
            kept.push_back(std::move(twin));
        }
    }
    pins = std::move(kept);
    return Done{};
}

namespace {

/// What the pins of an edit ask for. `joints`: of the pinned rows, before and after.
struct PinTargets {
    std::vector<std::uint32_t> nodes, pin_at;   ///< of each pin; the pin of each node, or none
    std::vector<EditRow> rows;                  ///< per pin
    std::vector<std::uint32_t> joints, column;  ///< column: of a joint in `joints`, or none

    void use(std::uint32_t joint) {
        if (joint >= column.size()) column.resize(joint + 1, no_index);
        if (column[joint] != no_index) return;
        column[joint] = static_cast<std::uint32_t>(joints.size());
        joints.push_back(joint);
    }
};

Result<PinTargets> find_targets(const EditTask& task, std::span<const std::span<const Influence>> rows) {
    const MeshSurface& surface = task.surface.surface();
    PinTargets out;
    out.pin_at.assign(surface.nodes(), no_index);
    for (std::size_t i = 0; i < task.edit.pins.size(); ++i) {
        const Pin& pin = task.edit.pins[i];
        const std::string place =
            "pin: pin " + std::to_string(i + 1) + ": the vertex " + std::to_string(pin.vertex);
        const std::uint32_t node = surface.node_of[pin.vertex];
        const bool locked = !task.locks.vertices.empty() && task.locks.vertices[pin.vertex];
        const bool lost = node == no_index || rows[node].empty();
        if (pin.twin && (locked || lost)) continue;
        if (locked) return wrong(place + " is locked");
        if (lost) return wrong(place + (node == no_index ? " is of no triangle" : " has no weights"));
        out.pin_at[node] = static_cast<std::uint32_t>(out.nodes.size());
        out.nodes.push_back(node);
        out.rows.push_back(target_of(pin, rows[node]));
        for (const Share& s : out.rows.back()) out.use(s.joint);
        for (const Influence& k : rows[node]) out.use(k.joint);
    }
    return out;
}

/// The logarithm of what each pin multiplies weights by: pins x joints.
std::vector<double> log_ratios(const PinTargets& pins, std::span<const std::span<const Influence>> rows) {
    const std::size_t count = pins.joints.size();
    std::vector<double> ratio(pins.nodes.size() * count, 0);
    for (std::size_t p = 0; p < pins.nodes.size(); ++p) {
        std::vector<double> before(count, kSoft), after(count, kSoft);
        for (const Influence& k : rows[pins.nodes[p]]) before[pins.column[k.joint]] += k.weight;
        for (const Share& s : pins.rows[p]) after[pins.column[s.joint]] += s.weight;
        for (std::size_t c = 0; c < count; ++c) ratio[p * count + c] = std::log(after[c] / before[c]);
    }
    return ratio;
}

}  // namespace

Result<PreparedRow> pinned_rows(const EditTask& task, const EditPart&, std::span<const std::uint32_t> at) {
    const MeshSurface& surface = task.surface.surface();
    std::vector<std::span<const Influence>> rows(surface.nodes());
    for (std::uint32_t n = 0; n < rows.size(); ++n) rows[n] = task.row(surface.vertex_of[n]);
    SINEW_TRY_LET(PinTargets pins, find_targets(task, rows));
    const std::size_t joints = pins.joints.size();
    const std::vector<double> ratio = log_ratios(pins, rows);

    std::shared_ptr<PinField>& field = task.surface.pin_field;
    std::vector<PinField::Answer> answers;
    for (std::size_t p = 0; p < pins.nodes.size(); ++p) {
        const auto less = [](const Share& a, const Share& b) { return a.weight < b.weight; };
        answers.push_back({pins.nodes[p], std::max_element(pins.rows[p].begin(), pins.rows[p].end(), less)->joint});
    }
    if (!field || !field->made_for(task.edit.value, rows, answers)) {
        SINEW_TRY_LET(PinField made, PinField::make(task.surface, task.edit.value, rows, answers, task.context));
        field = std::make_shared<PinField>(std::move(made));
    }
    SINEW_TRY(field->spread(pins.nodes, ratio, joints));
    // Between pins the field swings beyond what they were given where they are close and differ: not followed.
    std::vector<double> low(joints, 0), high(joints, 0);
    for (std::size_t i = 0; i < ratio.size(); ++i) {
        const std::size_t c = i % joints;
        low[c] = std::min(low[c], ratio[i]);
        high[c] = std::max(high[c], ratio[i]);
    }

    const double least_new = std::log(1 + kLeastNew / kSoft);
    std::vector<std::uint32_t> raised;  // columns of joints that rows may gain
    for (std::uint32_t c = 0; c < joints; ++c)
        if (high[c] >= least_new) raised.push_back(c);
    return PreparedRow([=, &surface, rows = std::move(rows), pins = std::move(pins)](std::size_t k, EditRow& row) {
        const std::uint32_t node = surface.node_of[at[k]];
        if (node == no_index) return;
        if (pins.pin_at[node] != no_index) {
            row = pins.rows[pins.pin_at[node]];
            return;
        }
        if (!field->reaches(node, kUnchanged)) return;
        bool changes = false;
        const auto add = [&](std::uint32_t c, double weight) {
            double by = field->at(node, c);
            by = std::copysign(std::max(std::abs(by) - kUnchanged, 0.0), by);
            changes = changes || by != 0;
            if (const double x = (weight + kSoft) * std::exp(std::clamp(by, low[c], high[c])) - kSoft; x > 0)
                row.push_back({pins.joints[c], x});
        };
        for (const Influence& i : rows[node])
            if (i.joint < pins.column.size() && pins.column[i.joint] != no_index)
                add(pins.column[i.joint], i.weight);
            else
                row.push_back({i.joint, i.weight});
        for (const std::uint32_t c : raised)
            if (field->at(node, c) >= least_new &&
                std::none_of(rows[node].begin(), rows[node].end(),
                             [&](const Influence& i) { return i.joint == pins.joints[c]; }))
                add(c, 0);
        if (!changes) row.clear();
    });
}

}  // namespace sinew
