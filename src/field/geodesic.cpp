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
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <tuple>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/parallel.h"
#include "field/geodesic.h"

namespace sinew {
namespace {

constexpr std::uint32_t kUnit = 16384;  // per voxel
constexpr int kBucketShift = 14;        // log2(kUnit)
static_assert(LeafDistances::units_per_voxel == kUnit);
constexpr std::uint32_t kUnreached = LeafDistances::unreached;
constexpr std::uint16_t kNoJoint = 0xffff;

std::uint32_t add_saturating(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t sum = a + b;
    return sum < a ? kUnreached : sum;
}

std::uint32_t to_units(double voxels) {
    return static_cast<std::uint32_t>(std::min(std::round(voxels * kUnit), 4294967294.0));
}

// The K nearest joints of a leaf, sorted by (distance, joint); one whole cache line for K = 8.
template <int K>
struct alignas(K >= 8   ? 64
               : K >= 4 ? 32
                        : 8) Row {
    std::uint32_t distance[K];
    std::uint16_t joint[K];
    std::uint16_t pending;  // bit k: slot k is not passed on yet

    void clear() {
        std::fill(distance, distance + K, kUnreached);
        std::fill(joint, joint + K, kNoJoint);
        pending = 0;
    }

    // The slot that holds `wanted`, or K. Nine offers in ten are refused by what is found here, so no branches.
    int find(std::uint16_t wanted) const {
#ifdef __SSE2__
        if constexpr (K == 8 || K == 16) {
            const __m128i key = _mm_set1_epi16(static_cast<short>(wanted));
            unsigned found = 0;
            for (int k = 0; k < K; k += 8) {
                const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(joint + k));
                const __m128i equal = _mm_packs_epi16(_mm_cmpeq_epi16(some, key), _mm_setzero_si128());
                found |= static_cast<unsigned>(_mm_movemask_epi8(equal)) << k;
            }
            return found ? std::countr_zero(found) : K;
        }
#endif
        int slot = K;
        for (int k = 0; k < K; ++k) slot = joint[k] == wanted ? k : slot;
        return slot;
    }

    // Takes the label if it is among the K smallest and better than what the joint has. True if it was taken.
    bool offer(std::uint32_t d, std::uint16_t j) {
        int end = find(j);
        if (end < K ? distance[end] <= d : distance[K - 1] < d) return false;
        if (end == K) {
            end = K - 1;  // the worst makes room, if it is worse
            if (d == kUnreached || (distance[end] == d && joint[end] < j)) return false;
        }
        int at = end;
        while (at > 0 && (distance[at - 1] > d || (distance[at - 1] == d && joint[at - 1] > j))) {
            distance[at] = distance[at - 1];
            joint[at] = joint[at - 1];
            --at;
        }
        distance[at] = d;
        joint[at] = j;
        const unsigned mask = pending, below = (1u << at) - 1, through = (2u << end) - 1;
        const unsigned moved = (mask & ((1u << end) - 1) & ~below) << 1;
        pending = static_cast<std::uint16_t>((mask & below) | moved | (mask & ~through) | 1u << at);
        return true;
    }
};

struct Arc {
    std::uint32_t from, to, cost;
};

// Bridges in both directions, sorted by leaf; few leaves have any.
std::vector<Arc> make_arcs(const Domain& domain, std::span<const Bridge> bridges, float penalty) {
    std::vector<Arc> arcs;
    for (const Bridge& b : bridges) {
        for (const auto& [from, to] : {std::pair{b.from, b.to}, std::pair{b.to, b.from}}) {
            const float factor = domain.leaves[to].boundary ? penalty : 1;
            arcs.push_back({from, to, std::max(kUnit, to_units(static_cast<double>(b.length) * factor))});
        }
    }
    std::sort(arcs.begin(), arcs.end(), [](const Arc& a, const Arc& b) {
        return std::tie(a.from, a.to, a.cost) < std::tie(b.from, b.to, b.cost);
    });
    return arcs;
}

// Which worker owns a leaf: blocks of leaves that are near in space, dealt out in turn so that every worker has a
// part of every region that the waves pass.
constexpr int kBlockShift = 12;
constexpr std::uint32_t kNoBucket = ~std::uint32_t{0};

// One worker's part of a sweep. Only the owner touches a leaf's row; what is offered to another's leaf goes through
// an outbox that its owner empties before the next bucket.
template <int K>
class Worker {
public:
    struct Offer {
        std::uint32_t leaf, distance;
        std::uint16_t joint;
    };

    Worker(std::vector<Row<K>>& rows, std::vector<std::uint32_t>& queued, unsigned rank, unsigned team)
        : rows_(rows),
          queued_(queued),
          rank_(rank),
          team_(team),
          outbox_{std::vector<std::vector<Offer>>(team), std::vector<std::vector<Offer>>(team)} {}

    bool owns(std::uint32_t leaf) const { return team_ == 1 || (leaf >> kBlockShift) % team_ == rank_; }

    /// For a leaf that this worker owns.
    void take(std::uint32_t leaf, std::uint32_t d, std::uint16_t joint) {
        if (!rows_[leaf].offer(d, joint)) return;
        const std::uint32_t bucket = d >> kBucketShift;
        if (queued_[leaf] == bucket) return;
        queued_[leaf] = bucket;
        if (bucket >= buckets_.size()) buckets_.resize(2 * (bucket + 1));
        buckets_[bucket].push_back(leaf);
    }

    /// What the others sent in the round before.
    void receive(std::span<Worker> team, unsigned round) {
        for (Worker& sender : team) {
            std::vector<Offer>& box = sender.outbox_[(round + 1) & 1][rank_];
            for (const Offer& o : box) take(o.leaf, o.distance, o.joint);
            box.clear();
        }
    }

    /// Passes on every label of one bucket. They are final: no step is shorter than a bucket is wide, so offers
    /// made here belong to later buckets.
    void pass_on(const Domain& domain, const std::uint32_t* cost, const std::vector<Arc>& arcs,
                 const std::vector<bool>& has_arcs, std::uint32_t bucket, unsigned round) {
        sent_ = kNoBucket;
        if (bucket >= buckets_.size()) return;
        const std::vector<std::uint32_t> queue = std::move(buckets_[bucket]);
        auto offer = [&](std::uint32_t leaf, std::uint32_t d, std::uint16_t joint) {
            if (owns(leaf)) {
                take(leaf, d, joint);
            } else {
                outbox_[round & 1][(leaf >> kBlockShift) % team_].push_back({leaf, d, joint});
                sent_ = std::min(sent_, d >> kBucketShift);
            }
        };
        for (std::size_t q = 0; q < queue.size(); ++q) {
            // Memory is what this loop waits for: ask early for what the next leaves will touch.
            if (q + 4 < queue.size()) {
                const std::uint32_t first = domain.first_link[queue[q + 4]];
                __builtin_prefetch(&domain.link[first]);
                __builtin_prefetch(&cost[first]);
                __builtin_prefetch(&rows_[queue[q + 4]]);
            }
            if (q + 1 < queue.size()) {
                const std::uint32_t next = queue[q + 1];
                for (std::uint32_t k = domain.first_link[next]; k < domain.first_link[next + 1]; ++k)
                    __builtin_prefetch(&rows_[domain.link[k]]);
            }
            const std::uint32_t leaf = queue[q];
            Row<K>& row = rows_[leaf];
            for (unsigned mask = row.pending; mask; mask &= mask - 1) {
                const int slot = std::countr_zero(mask);
                const std::uint32_t d = row.distance[slot];
                if (d >> kBucketShift != bucket) continue;
                row.pending &= static_cast<std::uint16_t>(~(1u << slot));
                const std::uint16_t joint = row.joint[slot];
                for (std::uint32_t k = domain.first_link[leaf]; k < domain.first_link[leaf + 1]; ++k)
                    offer(domain.link[k], add_saturating(d, cost[k]), joint);
                if (arcs.empty() || !has_arcs[leaf]) continue;
                auto arc = std::lower_bound(arcs.begin(), arcs.end(), leaf,
                                            [](const Arc& a, std::uint32_t from) { return a.from < from; });
                for (; arc != arcs.end() && arc->from == leaf; ++arc)
                    offer(arc->to, add_saturating(d, arc->cost), joint);
            }
        }
    }

    /// The next bucket from `from` on in which this worker or one that it has just sent offers to has work, or
    /// kNoBucket.
    std::uint32_t next_bucket(std::uint32_t from) const {
        while (from < buckets_.size() && buckets_[from].empty()) ++from;
        return std::min(sent_, from < buckets_.size() ? from : kNoBucket);
    }

private:
    std::vector<Row<K>>& rows_;
    std::vector<std::uint32_t>& queued_;  // per leaf: the bucket that it was last put into
    unsigned rank_, team_;
    std::vector<std::vector<std::uint32_t>> buckets_;
    std::array<std::vector<std::vector<Offer>>, 2> outbox_;  // by parity of the bucket, then by receiver
    std::uint32_t sent_ = kNoBucket;                         // the first bucket that offers of this round belong to
};

template <int K>
Result<LeafDistances> sweep(const Domain& domain, const std::vector<std::uint32_t>& cost, const BoneSeeds& seeds,
                            std::span<const std::uint32_t> joints, const std::vector<Arc>& arcs, std::size_t width,
                            Context* context) {
    const std::size_t n = domain.leaves.size();
    std::vector<Row<K>> rows(n);
    for (Row<K>& row : rows) row.clear();
    std::vector<std::uint32_t> queued(n, ~std::uint32_t{0});
    std::vector<bool> has_arcs(arcs.empty() ? 0 : n, false);
    for (const Arc& arc : arcs) has_arcs[arc.from] = true;

    // A single joint is measured by one of many callers at once; a small domain is not worth a second thread.
    const bool alone = K == 1 || n < (std::size_t{4} << kBlockShift);
    Team threads(static_cast<unsigned>(alone ? 1 : std::min(thread_count(context), 16)));
    std::vector<Worker<K>> team;
    team.reserve(threads.size());
    for (unsigned rank = 0; rank < threads.size(); ++rank) team.emplace_back(rows, queued, rank, threads.size());
    for (const std::uint32_t joint : joints)
        for (const BoneSeeds::Seed& seed : seeds.of_joint[joint])
            for (Worker<K>& worker : team)
                if (worker.owns(seed.leaf))
                    worker.take(seed.leaf, to_units(seed.distance), static_cast<std::uint16_t>(joint));

    // One barrier a round. What a worker says before it (by parity, so that nobody overwrites what another still
    // has to read) all workers read after it, and so all of them open the same bucket next, or stop. Empty buckets
    // are skipped: a joint far outside starts tens of thousands of them away.
    struct Said {
        std::vector<std::uint32_t> next;
        bool cancelled = false;
    };
    std::array<Said, 2> said{Said{std::vector<std::uint32_t>(team.size()), false},
                             Said{std::vector<std::uint32_t>(team.size()), false}};
    std::uint32_t first = kNoBucket;
    for (const Worker<K>& worker : team) first = std::min(first, worker.next_bucket(0));
    bool stopped = false;
    threads.run([&](unsigned rank, const std::function<bool()>& barrier) {
        std::uint32_t bucket = first;
        for (unsigned round = 0; bucket != kNoBucket; ++round) {
            team[rank].receive(team, round);
            team[rank].pass_on(domain, cost.data(), arcs, has_arcs, bucket, round);
            Said& now = said[round & 1];
            now.next[rank] = team[rank].next_bucket(bucket + 1);
            if (rank == 0) now.cancelled = cancelled(context);
            if (!barrier()) return;
            bucket = *std::min_element(now.next.begin(), now.next.end());
            if (now.cancelled) {
                if (rank == 0) stopped = true;
                return;
            }
        }
    });
    if (stopped) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};

    LeafDistances result;
    result.width = width;
    result.joint.resize(n * width);
    result.distance.resize(n * width);
    parallel_for(context, n, 16384, [&](std::size_t i) {
        for (std::size_t k = 0; k < width; ++k) {
            const std::uint16_t joint = rows[i].joint[k];
            result.joint[i * width + k] = joint == kNoJoint ? DistanceTable::none : joint;
            result.distance[i * width + k] = rows[i].distance[k];
        }
    });
    return result;
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
    const std::vector<Arc> arcs = make_arcs(domain_, bridges, penalty_);
    const auto width = static_cast<std::size_t>(std::clamp(nearest, 1, kMaxNearest));
    auto run = [&](auto k) { return sweep<k()>(domain_, cost_, seeds, joints, arcs, width, context); };
    if (width == 1) return run(std::integral_constant<int, 1>());
    if (width <= 4) return run(std::integral_constant<int, 4>());
    if (width <= 8) return run(std::integral_constant<int, 8>());
    return run(std::integral_constant<int, kMaxNearest>());
}

}  // namespace sinew
