// Geodesic distances over the voxels (seed 003, section 6, algorithm 3), for all bones in one sweep.
//
// Two observations make it fast. The cost of a step does not depend on the bone, so a joint that is not among the K
// nearest of a leaf cannot be among them anywhere that is reached through this leaf: K labels per leaf suffice. And
// no step is shorter than one voxel, so with buckets one voxel wide every label in a bucket is final by the time
// the bucket is opened: each label is passed on once, and there is no heap.
//
// Distances are integers. Adding a step keeps the order of two labels then, ties included, so the K smallest
// (distance, joint) pairs of a leaf are the same in whatever order the work is done.

#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "sinew/field.h"

namespace sinew {
namespace {

constexpr std::uint32_t kUnit = 16384;  // per voxel
constexpr int kBucketShift = 14;        // log2(kUnit)
static_assert(LeafDistances::units_per_voxel == kUnit);

// A label: distance in the high half, joint and a 'not passed on yet' bit in the low half. Sorts by distance, then
// joint.
using Label = std::uint64_t;
constexpr Label kEmpty = ~Label{0};
Label make_label(std::uint32_t distance, std::uint32_t joint) {
    return Label{distance} << 32 | Label{joint} << 1 | 1;
}
std::uint32_t distance_of(Label l) { return static_cast<std::uint32_t>(l >> 32); }
std::uint32_t joint_of(Label l) { return static_cast<std::uint32_t>(l) >> 1; }

std::uint32_t add_saturating(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t sum = a + b;
    return sum < a ? LeafDistances::unreached : sum;
}

std::uint32_t to_units(double voxels) {
    return static_cast<std::uint32_t>(std::min(std::round(voxels * kUnit), 4294967294.0));
}

}  // namespace

Status check(const GeodesicOptions& options) {
    if (!(options.penalty >= 1 && options.penalty <= 100)) {
        return Error{ErrorCode::usage, "penalty " + std::to_string(options.penalty) + " is not within 1..100"};
    }
    return Done{};
}

GeodesicSolver::GeodesicSolver(const Domain& domain, const GeodesicOptions& options, Context* context)
    : domain_(domain), penalty_(options.penalty), cost_(domain.link.size()) {
    // Between leaves of the finest level, nearly all of them, only three lengths and two factors occur.
    std::array<std::array<std::uint32_t, 4>, 2> fine;
    for (int boundary = 0; boundary < 2; ++boundary)
        for (int axes = 0; axes < 4; ++axes)
            fine[boundary][axes] =
                to_units(std::sqrt(static_cast<double>(axes)) * (boundary ? options.penalty : 1));
    parallel_for(context, domain.leaves.size(), 8192, [&](std::size_t i) {
        const Domain::Leaf a = domain.leaves[i];
        for (std::uint32_t k = domain.first_link[i]; k < domain.first_link[i + 1]; ++k) {
            const Domain::Leaf b = domain.leaves[domain.link[k]];
            if (a.level == 0 && b.level == 0) {
                cost_[k] = fine[b.boundary][(a.x != b.x) + (a.y != b.y) + (a.z != b.z)];
                continue;
            }
            const auto p = domain.centre(static_cast<std::uint32_t>(i)), q = domain.centre(domain.link[k]);
            const double dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
            cost_[k] = to_units(std::sqrt(dx * dx + dy * dy + dz * dz) * (b.boundary ? options.penalty : 1));
        }
    });
}

Result<LeafDistances> GeodesicSolver::nearest(const BoneSeeds& seeds, std::span<const std::uint32_t> joints,
                                              std::span<const Bridge> bridges, int nearest,
                                              Context* context) const {
    const std::size_t n = domain_.leaves.size();
    const auto width = static_cast<std::size_t>(std::clamp<int>(nearest, 1, 255));
    std::vector<Label> labels(n * width, kEmpty);
    std::vector<std::uint32_t> worst(n,
                                     LeafDistances::unreached);  // distance of the K-th label: most offers end here
    std::vector<std::uint32_t> queued(n, ~std::uint32_t{0});     // the bucket that a leaf was last put into
    std::vector<std::vector<std::uint32_t>> buckets(256);
    std::size_t last_bucket = 0;

    auto offer = [&](std::uint32_t leaf, Label label) {
        const std::uint32_t d = distance_of(label);
        if (d > worst[leaf] || d == LeafDistances::unreached) return;
        Label* const row = labels.data() + leaf * width;
        const std::uint32_t joint = joint_of(label);
        // Insertion from the front; the row's old label of the same joint, if it was better, comes first.
        std::size_t at = 0;
        while (row[at] < label) {
            if (joint_of(row[at]) == joint) return;
            if (++at == width) return;
        }
        if (joint_of(row[at]) == joint && row[at] != kEmpty && distance_of(row[at]) == d) return;
        std::size_t end = at;
        while (end + 1 < width && row[end] != kEmpty && joint_of(row[end]) != joint) ++end;
        for (; end > at; --end) row[end] = row[end - 1];
        row[at] = label;
        worst[leaf] = distance_of(row[width - 1]);
        const std::size_t bucket = d >> kBucketShift;
        if (queued[leaf] == bucket) return;
        queued[leaf] = static_cast<std::uint32_t>(bucket);
        if (bucket >= buckets.size()) buckets.resize(2 * bucket);
        buckets[bucket].push_back(leaf);
        last_bucket = std::max(last_bucket, bucket);
    };

    for (const std::uint32_t joint : joints)
        for (const BoneSeeds::Seed& seed : seeds.of_joint[joint])
            offer(seed.leaf, make_label(to_units(seed.distance), joint));

    // Bridges in both directions, by leaf; few leaves have any.
    struct Arc {
        std::uint32_t from, to, cost;
    };
    std::vector<Arc> arcs;
    for (const Bridge& b : bridges) {
        for (const auto& [from, to] : {std::pair{b.from, b.to}, std::pair{b.to, b.from}}) {
            const float factor = domain_.leaves[to].boundary ? penalty_ : 1;
            arcs.push_back({from, to, std::max(kUnit, to_units(static_cast<double>(b.length) * factor))});
        }
    }
    std::sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) {
        return std::tie(a.from, a.to, a.cost) < std::tie(b.from, b.to, b.cost);
    });
    std::vector<bool> has_arcs(arcs.empty() ? 0 : n, false);
    for (const Arc& arc : arcs) has_arcs[arc.from] = true;

    std::vector<Label> ready;
    for (std::size_t bucket = 0; bucket <= last_bucket; ++bucket) {
        if ((bucket & 15) == 0) {
            if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};
        }
        for (std::size_t q = 0; q < buckets[bucket].size(); ++q) {
            const std::uint32_t leaf = buckets[bucket][q];
            Label* const row = labels.data() + leaf * width;
            ready.clear();
            for (std::size_t k = 0; k < width && row[k] != kEmpty; ++k) {
                if (!(row[k] & 1) || distance_of(row[k]) >> kBucketShift != bucket) continue;
                ready.push_back(row[k]);
                row[k] &= ~Label{1};
            }
            if (ready.empty()) continue;
            const std::uint32_t least = distance_of(ready.front());
            for (std::uint32_t k = domain_.first_link[leaf]; k < domain_.first_link[leaf + 1]; ++k) {
                const std::uint32_t to = domain_.link[k], cost = cost_[k];
                if (add_saturating(least, cost) > worst[to]) continue;
                for (const Label label : ready)
                    offer(to, make_label(add_saturating(distance_of(label), cost), joint_of(label)));
            }
            if (!arcs.empty() && has_arcs[leaf]) {
                auto arc = std::lower_bound(arcs.begin(), arcs.end(), leaf,
                                            [](const Arc& a, std::uint32_t from) { return a.from < from; });
                for (; arc != arcs.end() && arc->from == leaf; ++arc)
                    for (const Label label : ready)
                        offer(arc->to, make_label(add_saturating(distance_of(label), arc->cost), joint_of(label)));
            }
        }
        std::vector<std::uint32_t>().swap(buckets[bucket]);
    }

    LeafDistances result;
    result.width = width;
    result.joint.resize(n * width);
    result.distance.resize(n * width);
    parallel_for(context, n * width, 65536, [&](std::size_t k) {
        const bool empty = labels[k] == kEmpty;
        result.joint[k] = empty ? DistanceTable::none : joint_of(labels[k]);
        result.distance[k] = empty ? LeafDistances::unreached : distance_of(labels[k]);
    });
    return result;
}

}  // namespace sinew
