// What clean_skin does not believe: weight of joints far away, and rows unlike all around them.
#include <tuple>

#include "core/try.h"
#include "quality/clean_steps.h"
#include "quality/joint_reach.h"

namespace sinew {
namespace {

// Chosen on two folders of characters, each judged without its own source: docs/notes/clean.md.
constexpr float kTouched = 0.01f;    // a patch of a joint's weight has more
constexpr double kMostOfPart = 0.5;  // of a part's area: its own weight, wherever the joint is
constexpr double kLeastLeft = 0.2;   // of a row after far weight went: less says nothing
constexpr double kUnlike = 0.6;      // L1 to the most similar neighbour
constexpr double kUnlikeSpread = 2;  // times the neighbours' own L1 to their mean
constexpr double kFarther = 0.5;     // voxels

/// What rows unlike all around them have more than the mean of their neighbours; other rows are empty.
CleanRows find_unlike(const CleanNodes& nodes, const CleanRows& rows) {
    return nodes.make_rows(rows.size(), [&](std::uint32_t i, RowSum& sum, InfluenceList& more) {
        const auto ring = nodes.links(i);
        const auto alike = [&](const CleanNodes::Link& l) {
            return l1(rows[i], rows[l.to]) * nodes.options.strength <= kUnlike;
        };
        if (ring.size() < 3 || rows[i].empty() || std::any_of(ring.begin(), ring.end(), alike)) return;
        const double share = 1 / static_cast<double>(ring.size());
        InfluenceList mean;
        for (const auto& l : ring) sum.add(rows[l.to], share);
        sum.take(mean);
        double spread = 0;
        for (const auto& l : ring) spread += share * l1(rows[l.to], mean);
        if (!(l1(rows[i], mean) > kUnlikeSpread * spread)) return;
        sum.add(rows[i], 1);
        sum.add(mean, -1);
        sum.take(more);
    });
}

/// Nodes at one position are connected, too: parts that touch.
void join_positions(const CleanNodes& nodes, const CleanRows& rows, Forest& patches) {
    struct Weight {
        std::uint32_t position, joint, number;
    };
    const auto position = [&](std::uint32_t node) { return nodes.topology.weld[nodes.surface.vertex_of[node]]; };
    std::vector<std::uint32_t> at(nodes.mesh.positions.size(), 0);
    for (std::uint32_t i = 0; i < rows.size(); ++i) ++at[position(i)];
    std::vector<Weight> touching;
    for (std::uint32_t i = 0; i < rows.size(); ++i)
        if (at[position(i)] > 1)
            for (const Influence& w : rows[i])
                if (w.weight > kTouched) touching.push_back({position(i), w.joint, rows.number(w)});
    std::sort(touching.begin(), touching.end(), [](const Weight& a, const Weight& b) {
        return std::tie(a.position, a.joint, a.number) < std::tie(b.position, b.joint, b.number);
    });
    for (std::size_t k = 1; k < touching.size(); ++k)
        if (touching[k].position == touching[k - 1].position && touching[k].joint == touching[k - 1].joint)
            patches.join(touching[k].number, touching[k - 1].number);
}

/// Weights by number: which of them are far.
using FarWeights = std::vector<std::uint8_t>;

/// The weights that go: far as whole patches, and small ones where those go.
FarWeights find_going(const CleanNodes& nodes, const CleanRows& rows, Forest& patches, const FarWeights& far) {
    const MeshSurface& surface = nodes.surface;
    std::vector<double> area(surface.components, 0), mass(rows.value.size(), 0);
    FarWeights near(rows.value.size(), 0);  // patches
    struct Use {
        bool far = false, near = false;
        std::uint32_t largest = no_index;  // patch
    };
    std::vector<Use> use(nodes.skeleton.joints.size());
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        area[surface.component[i]] += surface.mass[i];
        for (const Influence& w : rows[i]) {
            if (w.weight <= kTouched) continue;
            const std::uint32_t number = rows.number(w), patch = patches.root(number);
            mass[patch] += surface.mass[i] * w.weight;
            (far[number] ? use[w.joint].far : use[w.joint].near) = true;
            near[patch] |= !far[number];
        }
    }
    for (const Influence& w : rows.value) {
        if (w.weight <= kTouched) continue;
        std::uint32_t &largest = use[w.joint].largest, patch = patches.root(rows.number(w));
        if (largest == no_index || mass[patch] > mass[largest]) largest = patch;
    }
    // A joint that is far from all of its weight, such as one of a cape, keeps most of it.
    for (const Use& u : use)
        if (u.far && !u.near) near[u.largest] = true;
    FarWeights goes = far;
    for (std::uint32_t i = 0; i < rows.size(); ++i)
        for (const Influence& w : rows[i]) {
            const std::uint32_t number = rows.number(w), patch = patches.root(number);
            goes[number] = w.weight > kTouched
                               ? !near[patch] && mass[patch] < kMostOfPart * area[surface.component[i]]
                               : far[number] && use[w.joint].far;
        }
    return goes;
}

void remove_far(const CleanNodes& nodes, const FarWeights& far, CleanRows& rows, NodeFlags& open,
                NodeFlags& pulled) {
    const auto touched = [&](const Influence& w) { return w.weight > kTouched && far[rows.number(w)]; };
    if (std::none_of(rows.value.begin(), rows.value.end(), touched)) return;
    Forest patches = find_patches(nodes, rows, [](float w) { return w > kTouched; });
    join_positions(nodes, rows, patches);
    const FarWeights goes = find_going(nodes, rows, patches, far);
    rows = nodes.make_rows(rows.size(), [&](std::uint32_t i, RowSum&, InfluenceList& stays) {
        double left = 0;
        for (const Influence& w : rows[i]) {
            if (!goes[rows.number(w)])
                stays.push_back(w), left += w.weight;
            else if (w.weight > kTouched)
                pulled[i] = true;
        }
        if (pulled[i] && left < kLeastLeft) open[i] = true;
        if (!pulled[i] || open[i])
            stays.assign(rows[i].begin(), rows[i].end());
        else
            normalise(stays);
    });
}

/// The weights of each joint, by number, and the nodes of weights.
struct WeightsByJoint {
    std::vector<std::uint32_t> node;
    Lists of;

    WeightsByJoint(const CleanNodes& nodes, const CleanRows& rows)
        : node(rows.value.size()), of(nodes.skeleton.joints.size(), nodes.context, [&](const auto& to) {
              for (const Influence& w : rows.value) to(w.joint, rows.number(w));
          }) {
        for (std::uint32_t i = 0; i < rows.size(); ++i)
            std::fill(node.begin() + rows.first[i], node.begin() + rows.first[i + 1], i);
    }
};

}  // namespace

Status remove_implausible(const CleanNodes& nodes, CleanRows& rows, NodeFlags& open, NodeFlags& pulled) {
    const WeightsByJoint weights(nodes, rows);
    std::vector<std::uint32_t> used;
    for (std::uint32_t j = 0; j < weights.of.size(); ++j)
        if (!weights.of.of(j).empty()) used.push_back(j);
    if (used.size() < 2) return Done{};
    CleanRows more = find_unlike(nodes, rows);
    const WeightsByJoint more_weights(nodes, more);
    FarWeights far(rows.value.size(), 0);
    SINEW_TRY(each_joint_reach(
        nodes.mesh, nodes.topology, nodes.skeleton, used, nodes.options.resolution, nodes.options.strength,
        [&](std::uint32_t joint, const JointReach& reach) {
            for (const std::uint32_t k : weights.of.of(joint))
                far[k] = reach.far(nodes.surface.vertex_of[weights.node[k]]);
            for (const std::uint32_t k : more_weights.of.of(joint))
                more.value[k].weight *=
                    static_cast<float>(reach.distance(nodes.surface.vertex_of[more_weights.node[k]]));
        },
        nodes.context));
    remove_far(nodes, far, rows, open, pulled);
    // What more of its own row adds to the mean distance of its joints.
    for (std::uint32_t i = 0; i < more.size(); ++i) {
        double farther = 0;
        for (const Influence& w : more[i]) farther += w.weight;
        if (farther > kFarther && !pulled[i]) open[i] = true;
    }
    return Done{};
}

}  // namespace sinew
