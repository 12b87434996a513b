// Geodesic distances over the voxels (seed 003, section 6, algorithm 3), for all bones in one sweep.
//
// Three observations make it fast. The cost of a step does not depend on the bone, so a joint that is not among the
// K nearest of a leaf cannot be among them anywhere that is reached through this leaf: K labels per leaf suffice.
// No step is shorter than one voxel, so with buckets one voxel wide every label in a bucket is final by the time
// the bucket is opened: each label is passed on once, and there is no heap. And where a label came from says where
// it need not go: what its predecessor, or a neighbour of both, reaches at no greater cost (Steps, below).
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

#include "core/large_pages.h"
#include "core/parallel.h"
#include "domain/leaf_graph.h"
#include "field/geodesic.h"

namespace sinew {
namespace {

constexpr std::uint32_t kUnit = 16384;  // per voxel
constexpr int kBucketShift = 14;        // log2(kUnit)
static_assert(LeafDistances::units_per_voxel == kUnit);
constexpr std::uint32_t kUnreached = LeafDistances::unreached;
constexpr std::uint16_t kNoJoint = 0xffff;

std::uint32_t to_units(double voxels) {
    return static_cast<std::uint32_t>(std::min(std::round(voxels * kUnit), 4294967294.0));
}

// What a label notes of its last step: a direction; or that it came in another way; or, from kFromOther on, which
// of its other links brought it to a leaf of the finest level.
constexpr std::uint8_t kNoDirection = kDirections, kFromOther = kNoDirection + 1;

// The K nearest joints of a leaf, sorted by (distance, joint); one whole cache line for K = 8.
template <int K>
struct alignas(K >= 8 ? 64 : 4) Row {
    std::uint32_t distance[K];
    std::uint32_t queued;  // the bucket that the leaf was last put into
    std::uint16_t joint[K];
    std::uint16_t pending;    // bit k: slot k is not passed on yet
    std::uint8_t came_by[K];  // of the last step

    void clear() {
        std::fill(distance, distance + K, kUnreached);
        std::fill(joint, joint + K, kNoJoint);
        queued = ~std::uint32_t{0};
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
    bool offer(std::uint32_t d, std::uint16_t j, std::uint8_t direction) {
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
            came_by[at] = came_by[at - 1];
            --at;
        }
        distance[at] = d;
        joint[at] = j;
        came_by[at] = direction;
        const unsigned mask = pending, below = (1u << at) - 1, through = (2u << end) - 1;
        const unsigned moved = (mask & ((1u << end) - 1) & ~below) << 1;
        pending = static_cast<std::uint16_t>((mask & below) | moved | (mask & ~through) | 1u << at);
        return true;
    }
};

}  // namespace

// What steps between leaves of the finest level cost, and which of them need not be taken.
//
// A label came from p to u by direction d; n = u + e. The step to n is left out if
// - p is linked to n and the direct step is shorter, or
// - there is a neighbour v of p and n, no costlier to enter than u, such that the way over v is shorter, or as long
// with a
//   shorter last step.
// Then n still gets the label. Of all leaves from which it can come at its least distance, take one whose step to n
// is the shortest: neither case can apply to it. This is the pruning of jump point search (Harabor and Grastien
// 2011), with weights, and with ties that end in the step that is entered last. Between leaves of different size
// only the first case is looked for, in OtherLink::beside.
struct GeodesicSolver::Steps {
    std::uint32_t cost[2][kDirections];  // into interior and boundary leaves
    struct From {
        std::uint32_t on[2];                         // into interior and boundary neighbours: where to go on at all
        int others = 0;                              // how many v there may be
        std::array<std::uint8_t, kDirections> over;  // their directions from u
        std::array<std::array<std::uint32_t, 2>, kDirections> saves;  // what is left out if that v is there
    };
    std::array<std::array<From, kDirections>, 2> from;  // by whether u is boundary, and d
    bool prunes;                                        // false where diagonal neighbours are not linked

    Steps(float penalty, bool diagonals) : prunes(diagonals) {
        for (int d = 0; d < kDirections; ++d) {
            const auto [x, y, z] = step_of(d);
            const double length = std::sqrt(static_cast<double>(x * x + y * y + z * z));
            cost[0][d] = to_units(length);
            cost[1][d] = to_units(length * penalty);
        }
        for (int here = 0; here < 2; ++here)
            for (int d = 0; d < kDirections; ++d) fill(here, d);
    }

    /// Where a label that came by d goes on to, of the neighbours `all` of its leaf, of which `boundary` are.
    std::uint32_t onwards(bool here, int d, std::uint32_t all, std::uint32_t boundary) const {
        if (d >= kNoDirection || !prunes) return all;
        const From& f = from[here][static_cast<std::size_t>(d)];
        const std::uint32_t serving = here ? all : all & ~boundary;
        std::uint32_t saved[2] = {~f.on[0], ~f.on[1]};
        for (int k = 0; k < f.others; ++k) {
            const std::uint32_t there = 0u - (serving >> f.over[static_cast<std::size_t>(k)] & 1u);
            saved[0] |= f.saves[static_cast<std::size_t>(k)][0] & there;
            saved[1] |= f.saves[static_cast<std::size_t>(k)][1] & there;
        }
        return all & ~((saved[0] & ~boundary) | (saved[1] & boundary));
    }

private:
    static bool adjacent(const std::array<int, 3>& s) {
        return std::max({std::abs(s[0]), std::abs(s[1]), std::abs(s[2])}) == 1;
    }
    static std::array<int, 3> sum(const std::array<int, 3>& a, const std::array<int, 3>& b, int sign) {
        return {a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2]};
    }
    std::uint64_t step_cost(int boundary, const std::array<int, 3>& s) const {
        return cost[boundary][direction_of(s[0], s[1], s[2])];
    }

    void fill(int here, int d) {
        From& f = from[static_cast<std::size_t>(here)][static_cast<std::size_t>(d)];
        const auto in = step_of(d);
        for (int there = 0; there < 2; ++there) {
            f.on[there] = 0;
            for (int e = 0; e < kDirections; ++e) {
                const auto out = step_of(e), direct = sum(in, out, 1);
                if (direct == std::array<int, 3>{}) continue;  // back where it came from
                const std::uint64_t via = std::uint64_t{cost[here][d]} + cost[there][e];
                if (adjacent(direct) && step_cost(there, direct) < via) continue;
                f.on[there] |= 1u << e;
            }
        }
        for (int g = 0; g < kDirections; ++g) {
            const auto over = step_of(g), first = sum(in, over, 1);  // from u to v, from p to v
            if (!adjacent(first)) continue;
            std::array<std::uint32_t, 2> saves{};
            for (int there = 0; there < 2; ++there)
                for (int e = 0; e < kDirections; ++e) {
                    const auto last = sum(step_of(e), over, -1);  // from v to n
                    if (!(f.on[there] >> e & 1) || !adjacent(last)) continue;
                    const std::uint64_t by_u = std::uint64_t{cost[here][d]} + cost[there][e];
                    const std::uint64_t by_v = step_cost(here, first) + step_cost(there, last);
                    if (by_v < by_u || (by_v == by_u && step_cost(there, last) < cost[there][e]))
                        saves[static_cast<std::size_t>(there)] |= 1u << e;
                }
            if (saves[0] | saves[1]) {
                f.over[static_cast<std::size_t>(f.others)] = static_cast<std::uint8_t>(g);
                f.saves[static_cast<std::size_t>(f.others++)] = saves;
            }
        }
    }
};

namespace {

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

// Leaves, links and bridges, and what they cost.
struct Graph {
    const Domain::Graph& links;
    const GeodesicSolver::Steps& steps;
    std::span<const GeodesicSolver::OtherLink> others;
    std::vector<Arc> arcs;
    std::vector<bool> has_arcs;  // per leaf; empty without arcs
};

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
        std::uint8_t direction;
    };

    Worker(std::span<Row<K>> rows, unsigned rank, unsigned team)
        : rows_(rows),
          rank_(rank),
          team_(team),
          outbox_{std::vector<std::vector<Offer>>(team), std::vector<std::vector<Offer>>(team)} {}

    bool owns(std::uint32_t leaf) const { return team_ == 1 || (leaf >> kBlockShift) % team_ == rank_; }

    /// For a leaf that this worker owns.
    void take(const Offer& o) {
        Row<K>& row = rows_[o.leaf];
        if (!row.offer(o.distance, o.joint, o.direction)) return;
        const std::uint32_t bucket = o.distance >> kBucketShift;
        if (row.queued == bucket) return;
        row.queued = bucket;
        if (bucket >= buckets_.size()) buckets_.resize(2 * (bucket + 1));
        buckets_[bucket].push_back(o.leaf);
    }

    /// What the others sent in the round before.
    void receive(std::span<Worker> team, unsigned round) {
        for (Worker& sender : team) {
            std::vector<Offer>& box = sender.outbox_[(round + 1) & 1][rank_];
            for (const Offer& o : box) take(o);
            box.clear();
        }
    }

    /// Passes on every label of one bucket. They are final: no step is shorter than a bucket is wide, so offers
    /// made here belong to later buckets, and may be taken in any order.
    void pass_on(const Graph& graph, std::uint32_t bucket, unsigned round) {
        sent_ = kNoBucket;
        if (bucket >= buckets_.size()) return;
        const std::vector<std::uint32_t> queue = std::move(buckets_[bucket]);
        // Memory is what this loop waits for: what the next leaves will touch is asked for early, and offers are
        // gathered, and their rows asked for, before any is taken.
        constexpr std::size_t far = 12, near = 6, gathered = 96;
        for (std::size_t q = 0; q < queue.size(); ++q) {
            if (q + far < queue.size()) {
                __builtin_prefetch(&graph.links.nodes[queue[q + far]]);
                __builtin_prefetch(&rows_[queue[q + far]]);
            }
            if (q + near < queue.size()) {
                const Domain::Graph::Node& node = graph.links.nodes[queue[q + near]];
                const std::uint32_t* around = graph.links.around[node.place >> 4].data();
                __builtin_prefetch(around);
                __builtin_prefetch(around + 16);
                const std::uint32_t end = std::min((&node)[1].other, node.other + 64);
                for (std::uint32_t k = node.other; k < end; k += 4) __builtin_prefetch(&graph.others[k]);
            }
            gather(graph, queue[q], bucket);
            if (offers_.size() >= gathered || q + 1 == queue.size()) {
                for (const Offer& o : offers_) {
                    if (owns(o.leaf)) {
                        take(o);
                    } else {
                        outbox_[round & 1][(o.leaf >> kBlockShift) % team_].push_back(o);
                        sent_ = std::min(sent_, o.distance >> kBucketShift);
                    }
                }
                offers_.clear();
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
    void gather(const Graph& graph, std::uint32_t leaf, std::uint32_t bucket) {
        Row<K>& row = rows_[leaf];
        const Domain::Graph::Node node = graph.links.nodes[leaf];
        const bool here = node.place & 1;
        const std::uint32_t* fine = graph.steps.cost[0];
        const auto offer = [&](std::uint32_t to, std::uint64_t d, std::uint16_t joint, int direction) {
            if (d >= kUnreached) return;
            offers_.push_back({to, static_cast<std::uint32_t>(d), joint, static_cast<std::uint8_t>(direction)});
            __builtin_prefetch(&rows_[to], 1);
        };
        const auto others = graph.others.subspan(node.other, graph.links.nodes[leaf + 1].other - node.other);
        for (unsigned mask = row.pending; mask; mask &= mask - 1) {
            const int slot = std::countr_zero(mask);
            const std::uint64_t d = row.distance[slot];
            if (d >> kBucketShift != bucket) continue;
            row.pending &= static_cast<std::uint16_t>(~(1u << slot));
            const std::uint16_t joint = row.joint[slot];
            const int came_by = row.came_by[slot];
            std::uint32_t on = graph.steps.onwards(here, came_by, node.all, node.boundary);
            std::uint32_t back = 0;  // the direction from which it came, as a bit
            if (came_by >= kFromOther) {
                const std::uint32_t beside = others[static_cast<std::size_t>(came_by - kFromOther)].beside;
                on &= ~(here ? beside : beside & ~node.boundary);
            } else if (came_by < kNoDirection) {
                back = 1u << (kDirections - 1 - came_by);
            }
            for (; on; on &= on - 1) {
                const int e = std::countr_zero(on);
                offer(graph.links.neighbour(node, e), d + fine[(node.boundary >> e & 1 ? kDirections : 0) + e],
                      joint, e);
            }
            for (const GeodesicSolver::OtherLink& other : others)
                if (!(other.beside & back)) offer(other.to, d + other.cost, joint, other.arrives_by);
            if (graph.arcs.empty() || !graph.has_arcs[leaf]) continue;
            auto arc = std::lower_bound(graph.arcs.begin(), graph.arcs.end(), leaf,
                                        [](const Arc& a, std::uint32_t from) { return a.from < from; });
            for (; arc != graph.arcs.end() && arc->from == leaf; ++arc)
                offer(arc->to, d + arc->cost, joint, kNoDirection);
        }
    }

    std::span<Row<K>> rows_;
    unsigned rank_, team_;
    std::vector<Offer> offers_;
    std::vector<std::vector<std::uint32_t>> buckets_;
    std::array<std::vector<std::vector<Offer>>, 2> outbox_;  // by parity of the bucket, then by receiver
    std::uint32_t sent_ = kNoBucket;                         // the first bucket that offers of this round belong to
};

template <int K>
Result<LeafDistances> sweep(const Graph& graph, const BoneSeeds& seeds, std::span<const std::uint32_t> joints,
                            std::size_t width, Context* context) {
    const std::size_t n = graph.links.nodes.size() - 1;
    const std::unique_ptr<Row<K>[]> storage(new Row<K>[n]);  // which sets nothing
    const std::span<Row<K>> rows(storage.get(), n);
    ask_for_large_pages(rows.data(), rows.size_bytes());
    parallel_for(context, n, 16384, [&](std::size_t i) { rows[i].clear(); });

    // A single joint is measured by one of many callers at once; a small domain is not worth a second thread.
    const bool alone = K == 1 || n < (std::size_t{4} << kBlockShift);
    Team threads(static_cast<unsigned>(alone ? 1 : std::min(thread_count(context), 16)));
    std::vector<Worker<K>> team;
    team.reserve(threads.size());
    for (unsigned rank = 0; rank < threads.size(); ++rank) team.emplace_back(rows, rank, threads.size());
    for (const std::uint32_t joint : joints)
        for (const BoneSeeds::Seed& seed : seeds.of_joint[joint])
            for (Worker<K>& worker : team)
                if (worker.owns(seed.leaf))
                    worker.take(
                        {seed.leaf, to_units(seed.distance), static_cast<std::uint16_t>(joint), kNoDirection});

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
            team[rank].pass_on(graph, bucket, round);
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
    reserve_large(result.joint, n * width);
    reserve_large(result.distance, n * width);
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

namespace {

// The neighbours of a leaf u of the finest level that touch a larger leaf n, as directions from u, where none of
// them has its shortest way to n over u. Unless the step to u is costly that is not so for the one in line with u
// and n, and rounding may decide where n is far away.
std::uint32_t beside(const Domain::Leaf& u, const Domain::Leaf& n, double length, bool costly) {
    static const auto masks = [] {
        std::array<std::array<std::uint32_t, 8>, 3> out{};
        for (int d = 0; d < kDirections; ++d)
            for (std::size_t axis = 0; axis < 3; ++axis)
                for (std::size_t allowed = 0; allowed < 8; ++allowed)
                    if (allowed >> (step_of(d)[axis] + 1) & 1) out[axis][allowed] |= 1u << d;
        return out;
    }();
    if (!costly && length > 8) return 0;
    const int size = 1 << n.level, from[3] = {u.x, u.y, u.z}, low[3] = {n.x, n.y, n.z};
    std::uint32_t touching = (1u << kDirections) - 1;
    int sign[3], twice[3];  // of the way from centre to centre
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const int at = from[axis] - low[axis];  // 0..size-1 within n's range
        const std::size_t allowed = (at >= 0 && at <= size + 1 ? 1u : 0u) | (at >= -1 && at <= size ? 2u : 0u) |
                                    (at >= -2 && at <= size - 1 ? 4u : 0u);
        touching &= masks[axis][allowed];
        twice[axis] = size - 1 - 2 * at;
        sign[axis] = (twice[axis] > 0) - (twice[axis] < 0);
        twice[axis] = std::abs(twice[axis]);
    }
    const int most = std::max({twice[0], twice[1], twice[2]});
    bool in_line = !costly;
    for (const int t : twice) in_line = in_line && (t == 0 || t == most);
    if (in_line) touching &= ~(1u << direction_of(-sign[0], -sign[1], -sign[2]));
    return touching;
}

}  // namespace

GeodesicSolver::GeodesicSolver(const Domain& domain, const GeodesicOptions& options, Context* context)
    : domain_(domain), penalty_(options.penalty) {
    const Domain::Graph& graph = *domain.graph;
    const std::vector<Domain::Graph::Node>& nodes = graph.nodes;
    const std::size_t n = domain.leaves.size();
    constexpr std::size_t grain = 8192;
    reserve_large(others_, graph.other.size());
    others_.resize(graph.other.size());
    std::vector<std::uint32_t> seen((n + grain - 1) / grain,
                                    0);  // directions in which a leaf of the chunk has neighbours
    parallel_chunks(context, n, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            seen[chunk] |= nodes[i].all;
            const Domain::Leaf a = domain.leaves[i];
            const auto p = domain.centre(static_cast<std::uint32_t>(i));
            for (std::uint32_t k = nodes[i].other; k < nodes[i + 1].other; ++k) {
                const std::uint32_t to = graph.other[k];
                const Domain::Leaf b = domain.leaves[to];
                const auto q = domain.centre(to);
                const double dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
                const double length = std::sqrt(dx * dx + dy * dy + dz * dz);
                OtherLink& link = others_[k];
                link = {to, to_units(length * (b.boundary ? penalty_ : 1)), 0, kNoDirection};
                if (a.level == 0) {
                    link.beside = beside(a, b, length, a.boundary && penalty_ >= 2);
                } else if (b.level == 0) {
                    std::uint32_t back = nodes[to].other;
                    while (graph.other[back] != i) ++back;
                    link.arrives_by = static_cast<std::uint8_t>(kFromOther + back - nodes[to].other);
                }
            }
        }
    });
    std::uint32_t diagonal = 0;
    for (int d = 0; d < kDirections; ++d) {
        const auto [x, y, z] = step_of(d);
        if (x * x + y * y + z * z > 1) diagonal |= 1u << d;
    }
    bool diagonals = false;
    for (const std::uint32_t directions : seen) diagonals = diagonals || (directions & diagonal);
    steps_ = std::make_shared<const Steps>(penalty_, diagonals);
}

Result<LeafDistances> GeodesicSolver::nearest(const BoneSeeds& seeds, std::span<const std::uint32_t> joints,
                                              std::span<const Bridge> bridges, int nearest,
                                              Context* context) const {
    Graph graph{*domain_.graph, *steps_, others_, make_arcs(domain_, bridges, penalty_), {}};
    if (!graph.arcs.empty()) {
        graph.has_arcs.resize(domain_.leaves.size());
        for (const Arc& arc : graph.arcs) graph.has_arcs[arc.from] = true;
    }
    const auto width = static_cast<std::size_t>(std::clamp(nearest, 1, kMaxNearest));
    auto run = [&](auto k) { return sweep<k()>(graph, seeds, joints, width, context); };
    if (width == 1) return run(std::integral_constant<int, 1>());
    if (width <= 4) return run(std::integral_constant<int, 4>());
    if (width <= 8) return run(std::integral_constant<int, 8>());
    return run(std::integral_constant<int, kMaxNearest>());
}

}  // namespace sinew
