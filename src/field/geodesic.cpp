// Geodesic distances over the voxels (Dionne and de Lasa 2014, section 6, algorithm 3), for all bones in one
// sweep.
//
// Three observations make it fast. First, the cost of a step does not depend on the bone. A joint that is not
// among the K nearest of a leaf cannot be among them at any leaf that is reached through it, so K labels per
// leaf suffice. Second, no step is shorter than one voxel. With buckets one voxel wide, all labels in a bucket
// are final when the bucket is opened: each label is passed on once, and no heap is needed. Third, the link by
// which a label arrived shows where it need not be passed on: to leaves that its predecessor, or a common
// neighbour, reaches at no greater cost (steps.h).
//
// The sweep is limited by memory latency: the fronts of all joints together touch more memory than a cache
// holds. So a window of buckets is processed joint by joint.
//
// Distances are integers. Adding a step keeps the order of two labels, ties included. So the K smallest
// (distance, joint) pairs of a leaf do not depend on the order of processing.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "field/sweep.h"
#include "field/sweep_prefetch.h"

namespace sinew {
namespace {

// Bridges by direction, sorted by leaf; few leaves have any.
std::vector<SweepGraph::Arc> make_arcs(const Domain& domain, std::span<const Bridge> bridges, float penalty) {
    std::vector<SweepGraph::Arc> arcs;
    for (const Bridge& b : bridges) {
        for (const auto& [from, to] : {std::pair{b.from, b.to}, std::pair{b.to, b.from}}) {
            if (b.one_way && from != b.from) continue;
            const float factor = domain.leaves[to].boundary ? penalty : 1;
            arcs.push_back({from, to, std::max(kUnit, to_units(static_cast<double>(b.length) * factor))});
        }
    }
    std::sort(arcs.begin(), arcs.end(), [](const SweepGraph::Arc& a, const SweepGraph::Arc& b) {
        return std::tie(a.from, a.to, a.cost) < std::tie(b.from, b.to, b.cost);
    });
    return arcs;
}

constexpr std::uint32_t kUnreached = LeafDistances::unreached;
constexpr int kBucketShift = 14;  // log2(kUnit)
static_assert(kUnit == 1u << kBucketShift);

// Number of buckets in a window. A window is processed joint by joint.
constexpr std::uint32_t kWindow = 24, kNoWindow = ~std::uint32_t{0};
std::uint32_t bucket_of(Label label) {
    return static_cast<std::uint32_t>(label >> (kLabelDistance + kBucketShift));
}
std::uint32_t window_of(Label label) { return bucket_of(label) / kWindow; }

// Minimum number of leaves per thread.
constexpr std::size_t kLeavesAThread = 4096;
// Regions per thread: a thread that has finished a region takes another one with work in this round.
constexpr std::size_t kRegions = 4;

// Offers of a bucket. Adding one is a single store; std::vector makes it a call, which costs 2 % of a bind.
class OfferList {
public:
    void add(const Offer& o) {
        if (size_ == capacity_) grow();
        at_[size_++] = o;
    }
    void clear() { size_ = 0; }
    std::size_t size() const { return size_; }
    /// At most `count` offers from `first` on.
    std::span<const Offer> part(std::size_t first, std::size_t count) const {
        first = std::min(first, size_);
        return {at_.get() + first, std::min(count, size_ - first)};
    }

private:
    [[gnu::noinline]] void grow() {  // keeps the fast path small
        const std::size_t capacity = std::max<std::size_t>(64, 2 * capacity_);
        std::unique_ptr<Offer[]> larger(new Offer[capacity]);
        std::copy_n(at_.get(), size_, larger.get());
        at_ = std::move(larger);
        capacity_ = capacity;
    }
    std::unique_ptr<Offer[]> at_;
    std::size_t size_ = 0, capacity_ = 0;
};

// Storage for offers in blocks that are reused.
class OfferBlocks {
public:
    static constexpr std::size_t kBlock = 1024;
    explicit OfferBlocks(std::size_t leaves)
        : at_a_time_(std::clamp<std::size_t>(leaves / kBlock, 1, kLargePage / (kBlock * sizeof(Offer)))) {}
    Offer* take() {
        if (free_.empty()) {
            LargeVector<Offer>& made = made_.emplace_back(at_a_time_ * kBlock);
            for (std::size_t k = 0; k < made.size(); k += kBlock) free_.push_back(made.data() + k);
        }
        Offer* const block = free_.back();
        free_.pop_back();
        return block;
    }
    void give_back(Offer* block) { free_.push_back(block); }

private:
    std::size_t at_a_time_;
    std::vector<LargeVector<Offer>> made_;
    std::vector<Offer*> free_;
};

// Offers that wait until their window is opened.
class WaitingOffers {
public:
    void add(const Offer& o, OfferBlocks& storage) {
        if (next_ == end_) grow(storage);
        *next_++ = o;
    }
    bool empty() const { return blocks_.empty(); }
    std::size_t size() const {
        return blocks_.size() * OfferBlocks::kBlock - static_cast<std::size_t>(end_ - next_);
    }
    template <typename Visit>
    void each(Visit&& visit) const {
        for (const Offer* block : blocks_) {
            const Offer* const end = block == blocks_.back() ? next_ : block + OfferBlocks::kBlock;
            for (const Offer* o = block; o < end; ++o) visit(*o);
        }
    }
    void clear(OfferBlocks& storage) {
        for (Offer* block : blocks_) storage.give_back(block);
        blocks_.clear();
        next_ = end_ = nullptr;
    }

private:
    [[gnu::noinline]] void grow(OfferBlocks& storage) {
        next_ = blocks_.emplace_back(storage.take());
        end_ = next_ + OfferBlocks::kBlock;
    }
    std::vector<Offer*> blocks_;
    Offer *next_ = nullptr, *end_ = nullptr;  // in the last block
};

// A part of a sweep: a range of leaves, which in Morton order is a region of space. Waves start everywhere in
// the body, and little passes between regions. In a round exactly one thread works on a region, and no other
// thread touches its rows. Offers to leaves of other regions go through an outbox, which is emptied at the
// start of the next round by the thread that then works on the receiving region.
template <int K>
class Region {
public:
    Region(const SweepGraph& graph, std::span<LabelRow<K>> rows, std::size_t width, std::size_t joints,
           unsigned number, std::span<const std::uint32_t> ends, std::uint32_t limit)
        : graph_(graph),
          end_(make_label(limit, 0, 0)),
          rows_(rows),
          width_(width),
          number_(number),
          ends_(ends),
          first_(number > 0 ? ends[number - 1] : 0),
          share_(ends[number] - first_),
          pool_(share_),
          first_of_(joints + 1),
          outbox_{std::vector<std::vector<Offer>>(ends.size()), std::vector<std::vector<Offer>>(ends.size())} {}

    bool owns(std::uint32_t leaf) const { return leaf - first_ < share_; }

    /// Offers to leaves of this region. Overwrites the offers.
    void take(std::span<Offer> offers) {
        for (const Offer& o :
             offers.first(kernel_.take(rows_.data(), width_, offers.data(), offers.size(), offers.data())))
            keep(o);
    }

    /// Receives what other regions sent in the previous round.
    void receive(std::span<Region> regions, unsigned round) {
        for (Region& sender : regions) {
            std::vector<Offer>& box = sender.outbox_[(round + 1) & 1][number_];
            for (std::size_t begin = 0; begin < box.size(); begin += kGathered) {
                const std::size_t end = std::min(box.size(), begin + kGathered);
                const std::span offers(box);
                prefetch_rows<K>(rows_, offers.subspan(end, std::min(kGathered, box.size() - end)));
                take(offers.subspan(begin, end - begin));
            }
            box.clear();
        }
    }

    /// Passes on the labels of its windows up to `last`.
    void pass_on(std::uint32_t last, unsigned round) {
        sent_ = kNoWindow;
        for (std::uint32_t window = earliest(); window <= last; window = earliest()) open(window, round);
    }

    /// The earliest window in which this region, or a region to which it has just sent offers, has work;
    /// kNoWindow if there is none.
    std::uint32_t next() { return std::min(sent_, earliest()); }

    /// Number of offers that wait in the two windows that it would open next.
    std::size_t waiting() {
        const std::size_t first = std::min<std::size_t>(earliest(), windows_.size());
        std::size_t count = 0;
        for (std::size_t k = first; k < std::min(first + 2, windows_.size()); ++k) count += windows_[k].size();
        return count;
    }

private:
    static constexpr std::size_t kChunk = 32, kGathered = 128;

    std::uint32_t earliest() {
        while (earliest_ < windows_.size() && windows_[earliest_].empty()) ++earliest_;
        return earliest_ < windows_.size() ? earliest_ : kNoWindow;
    }

    // Joint by joint: the front of one joint in a few buckets stays in the cache. Within this joint and region
    // a label is final when its bucket is opened, because no step is shorter than a bucket is wide. If K other
    // labels displace it later, or a shorter path arrives from another region, the labels that it passed on are
    // displaced as well.
    void open(std::uint32_t window, unsigned round) {
        sort_by_joint(windows_[window]);
        windows_[window].clear(pool_);
        for (std::size_t begin = 0, end = 0; begin < sorted_.size(); begin = end) {
            for (; end < sorted_.size() && joint_of(sorted_[end].label) == joint_of(sorted_[begin].label); ++end)
                open_[bucket_of(sorted_[end].label) % kWindow].add(sorted_[end]);
            for (OfferList& bucket : open_) pass_on(bucket, window, round);
        }
    }

    void keep(const Offer& o) {
        const std::uint32_t window = window_of(o.label);
        earliest_ = std::min(earliest_, window);
        if (window >= windows_.size()) windows_.resize(2 * (window + std::size_t{1}));
        windows_[window].add(o, pool_);
    }

    void sort_by_joint(const WaitingOffers& offers) {
        std::fill(first_of_.begin(), first_of_.end(), 0);
        offers.each([&](const Offer& o) { ++first_of_[joint_of(o.label) + 1]; });
        for (std::size_t j = 1; j < first_of_.size(); ++j) first_of_[j] += first_of_[j - 1];
        sorted_.clear();
        sorted_.resize(offers.size());
        offers.each([&](const Offer& o) { sorted_[first_of_[joint_of(o.label)]++] = o; });
    }

    // The front of one joint. This loop is limited by memory latency: the memory of the next leaves is
    // prefetched, and offers are collected, and their rows prefetched, before any of them is taken.
    void pass_on(OfferList& bucket, std::uint32_t window, unsigned round) {
        std::array<Offer, kChunk> current;
        for (std::size_t begin = 0; begin < bucket.size(); begin += kChunk) {
            const std::span<const Offer> chunk = bucket.part(begin, kChunk);
            prefetch_leaves<K>(rows_, graph_.links, bucket.part(begin + kChunk, kChunk));
            // Many labels have been replaced by a smaller one that arrived later.
            const std::span<const Offer> labels(
                current.data(), kernel_.keep_current(rows_.data(), chunk.data(), chunk.size(), current.data()));
            prefetch_links(graph_.links, labels);
            for (const Offer& label : labels) {
                gather(label, round);
                if (gathered_ >= kGathered) take_gathered(window);
            }
        }
        take_gathered(window);
        bucket.clear();
    }

    void take_gathered(std::uint32_t window) {
        const std::size_t count = kernel_.take(rows_.data(), width_, offers_.data(), gathered_, offers_.data());
        for (const Offer& o : std::span(offers_).first(count)) {
            if (window_of(o.label) == window)
                open_[bucket_of(o.label) % kWindow].add(o);
            else
                keep(o);
        }
        gathered_ = 0;
    }

    // The offers that a label makes to neighbours.
    void gather(const Offer& from, unsigned round) {
        const Domain::Graph::Node& node = graph_.links.nodes[from.leaf];
        const Others others = graph_.links.others(node);
        const std::size_t most = gathered_ + kDirections + others.size();
        if (offers_.size() < most) offers_.resize(2 * most);
        Offer* const first = offers_.data() + gathered_;
        const Label base = from.label & ~kLabelDirectionMask;
        const auto came_by = static_cast<std::uint32_t>(from.label & kLabelDirectionMask);
        Offer* out = node.is_grouped() ? from_grouped(node, base, came_by, others, first)
                                       : from_larger(base, came_by, others, first);
        if (base > end_ / 2) out = std::remove_if(first, out, [&](const Offer& o) { return o.label >= end_; });
        if (ends_.size() > 1) out = std::remove_if(first, out, [&](const Offer& o) { return sends(o, round); });
        gathered_ = static_cast<std::size_t>(out - offers_.data());
        if (graph_.arcs.empty() || !graph_.has_arcs[from.leaf]) return;
        auto arc = std::lower_bound(graph_.arcs.begin(), graph_.arcs.end(), from.leaf,
                                    [](const SweepGraph::Arc& a, std::uint32_t leaf) { return a.from < leaf; });
        for (; arc != graph_.arcs.end() && arc->from == from.leaf; ++arc) {
            const Offer over{base + make_label(arc->cost, 0, kNoDirection), arc->to};
            if (over.label >= end_ || (ends_.size() > 1 && sends(over, round))) continue;
            if (gathered_ == offers_.size()) offers_.resize(2 * gathered_ + 1);
            offers_[gathered_++] = over;
        }
    }

    using Others = std::span<const Domain::Graph::Link>;
    using ContactStep = GeodesicSolver::ContactStep;
    const ContactStep& step_along(const Domain::Graph::Link& link) const {
        return graph_.contact_steps[link.contact()];
    }

    Offer* from_grouped(const Domain::Graph::Node& node, Label base, std::uint32_t came_by, Others others,
                        Offer* out) const {
        const bool here = node.is_boundary();
        const GeodesicSolver::Steps& steps = graph_.steps[node.level()];
        std::uint32_t on = steps.onwards(here, static_cast<int>(came_by), node.all, node.boundary);
        const std::uint64_t from = came_by >= kFromOther ? step_along(others[came_by - kFromOther]).pruning : 0;
        if (came_by >= kFromOther) {
            const std::uint32_t touching = contact_pruning::neighbours(from);
            on &= ~(here ? touching : touching & ~node.boundary);
        }
        const Label* add = steps.add[0];
        const Domain::Graph::NeighbourFinder neighbours = graph_.links.neighbours_of(node);
        for (; on; on &= on - 1) {
            const int e = std::countr_zero(on);
            put(out, neighbours.find(e), base + add[(node.boundary >> e & 1 ? kDirections : 0) + e]);
        }
        // Other links: those to leaves that the predecessor does not touch, and from interior leaves those to
        // boundary leaves.
        const std::uint64_t always = here ? 0 : contact_pruning::kBoundary;
        if (came_by < kFromOther) {
            const std::uint32_t back = came_by < kNoDirection ? 1u << (kDirections - 1 - came_by) : 0;
            put_others(out, base, others, always,
                       [&](std::uint64_t pruning) { return (contact_pruning::neighbours(pruning) & back) == 0; });
        } else if (node.level() > 0) {
            const std::uint64_t touched = from & contact_pruning::kCorners;
            put_others(out, base, others, always, [&](std::uint64_t pruning) { return (pruning & touched) == 0; });
        } else if (!here && graph_.links.large_boundary) {
            put_others(out, base, others, always, [](std::uint64_t) { return false; });
        }
        return out;
    }

    Offer* from_larger(Label base, std::uint32_t came_by, Others others, Offer* out) const {
        if (came_by < kFromOther) {
            put_others(out, base, others, 0, [](std::uint64_t) { return true; });
        } else {
            const std::uint64_t limits = packed_box::limits_of(step_along(others[came_by - kFromOther]).pruning);
            put_others(out, base, others, contact_pruning::kBoundary,
                       [&](std::uint64_t pruning) { return !packed_box::touch(limits, pruning); });
        }
        return out;
    }

    void put(Offer*& out, std::uint32_t to, Label label) const {
        *out++ = {label, to};
        prefetch_to_write(&rows_[to]);
    }
    // Keeps the links that match by step type or have any of these bits. Branchless: the condition is
    // unpredictable.
    template <typename Is>
    [[gnu::always_inline]] void put_others(Offer*& out, Label base, Others others, std::uint64_t always,
                                           Is&& is) const {
        for (const Domain::Graph::Link& link : others) {
            const ContactStep step = step_along(link);
            Offer* end = out;
            put(end, link.to(), base + (Label{step.cost} << kLabelDistance | (kNoDirection + link.back())));
            out += is(step.pruning) | ((step.pruning & always) != 0);
        }
    }

    // Whether the leaf belongs to another region; the offer is then sent there.
    bool sends(const Offer& o, unsigned round) {
        if (owns(o.leaf)) return false;
        std::size_t owner = 0;
        while (o.leaf >= ends_[owner]) ++owner;
        outbox_[round & 1][owner].push_back(o);
        sent_ = std::min(sent_, window_of(o.label));
        return true;
    }

    const SweepGraph& graph_;
    Label end_;
    const RowKernel<K>& kernel_ = RowKernel<K>::best();
    std::span<LabelRow<K>> rows_;
    std::size_t width_;
    unsigned number_;
    std::span<const std::uint32_t> ends_;  // end of each region's range
    std::uint32_t first_, share_;          // first leaf, number of leaves
    std::vector<Offer> offers_;            // only the first gathered_ entries are valid
    std::size_t gathered_ = 0;
    OfferBlocks pool_;
    std::vector<WaitingOffers> windows_;                     // waiting offers, stored in pool_
    std::uint32_t earliest_ = 0;                             // earlier windows are empty
    LargeVector<Offer> sorted_;                              // offers of the open window
    std::vector<std::size_t> first_of_;                      // by joint, into sorted_
    std::array<OfferList, kWindow> open_;                    // buckets of the open window, for one joint
    std::array<std::vector<std::vector<Offer>>, 2> outbox_;  // by parity of the round, then by receiver
    std::uint32_t sent_ = kNoWindow;                         // earliest window of the offers sent in this round
};

// The end of each of the regions of n leaves.
std::vector<std::uint32_t> share_out(std::size_t n, std::size_t regions) {
    std::vector<std::uint32_t> ends(regions);
    for (std::size_t k = 0; k < regions; ++k)
        ends[k] = static_cast<std::uint32_t>(std::min(n, (k + 1) * ((n + regions - 1) / regions)));
    return ends;
}

// State of all regions at the end of a round. All threads read it after the barrier.
struct RoundState {
    std::vector<std::uint32_t> next;
    std::vector<std::size_t> waiting;
    bool cancelled = false;

    explicit RoundState(std::size_t regions) : next(regions), waiting(regions) {}
    /// Regions by the number of waiting offers.
    std::vector<unsigned> most_first() const {
        std::vector<unsigned> order(waiting.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(),
                         [&](unsigned a, unsigned b) { return waiting[a] > waiting[b]; });
        return order;
    }
};

}  // namespace

template <int K>
Status sweep(const SweepGraph& graph, std::span<LabelRow<K>> rows, std::size_t width, std::span<Offer> start,
             std::size_t joint_count, Context* context, std::uint32_t limit) {
    const std::size_t n = rows.size();
    // A single joint is measured by one of many concurrent callers.
    const std::size_t most = K == 1 ? 1 : static_cast<std::size_t>(std::min(thread_count(context), 16));
    Team threads(static_cast<unsigned>(std::clamp<std::size_t>(n / kLeavesAThread, 1, most)));
    const std::size_t count = threads.size() > 1 ? kRegions * threads.size() : 1;
    const std::vector<std::uint32_t> ends = share_out(n, count);
    std::vector<Region<K>> regions;
    regions.reserve(count);
    for (unsigned number = 0; number < count; ++number)
        regions.emplace_back(graph, rows, width, joint_count, number, ends, limit);
    // By parity of the round, so that no thread overwrites what another still has to read.
    std::array<RoundState, 2> state{RoundState(count), RoundState(count)};
    // Offers at the start, per region; they may be overwritten.
    std::span<Offer> left = start;
    for (std::size_t k = 0; k < count; ++k) {
        const auto others =
            std::partition(left.begin(), left.end(), [&](const Offer& o) { return regions[k].owns(o.leaf); });
        const auto own = static_cast<std::size_t>(others - left.begin());
        regions[k].take(left.first(own));
        state[1].waiting[k] = regions[k].waiting();
        left = left.subspan(own);
    }

    // One barrier per round. Regions publish their state before it and all threads read it after it, so that
    // all continue or stop together. A round opens the earliest window that any region has. It also opens the
    // next one, for regions that wait while another goes back to offers that it received. Empty windows are
    // skipped: a joint far outside starts thousands of windows away.
    bool stopped = false;
    std::atomic<unsigned> picks{0};
    threads.run([&](unsigned rank, const std::function<bool()>& barrier) {
        std::uint32_t last = 0;
        for (unsigned round = 0;; ++round) {
            const std::vector<unsigned> order = state[(round + 1) & 1].most_first();
            RoundState& now = state[round & 1];
            // A round has one pick per region, and one more per thread that finds no region left.
            const unsigned before = round * (static_cast<unsigned>(count) + threads.size());
            for (unsigned pick; (pick = picks.fetch_add(1, std::memory_order_relaxed) - before) < count;) {
                Region<K>& region = regions[order[pick]];
                region.receive(regions, round);
                region.pass_on(last, round);
                now.next[order[pick]] = region.next();
                now.waiting[order[pick]] = region.waiting();
            }
            if (rank == 0) now.cancelled = cancelled(context);
            if (!barrier()) return;
            if (now.cancelled) {
                if (rank == 0) stopped = true;
                return;
            }
            const auto [first, furthest] = std::minmax_element(now.next.begin(), now.next.end());
            if (*first == kNoWindow) return;
            last = std::min(*first + 1, *furthest);
        }
    });
    if (stopped) return Error{ErrorCode::cancelled, "cancelled while measuring distances"};

    return Done{};
}

template Status sweep<1>(const SweepGraph&, std::span<LabelRow<1>>, std::size_t, std::span<Offer>, std::size_t,
                         Context*, std::uint32_t);
template Status sweep<4>(const SweepGraph&, std::span<LabelRow<4>>, std::size_t, std::span<Offer>, std::size_t,
                         Context*, std::uint32_t);
template Status sweep<8>(const SweepGraph&, std::span<LabelRow<8>>, std::size_t, std::span<Offer>, std::size_t,
                         Context*, std::uint32_t);
template Status sweep<16>(const SweepGraph&, std::span<LabelRow<16>>, std::size_t, std::span<Offer>, std::size_t,
                          Context*, std::uint32_t);

Status check(const GeodesicOptions& options) {
    if (!(options.penalty >= 1 && options.penalty <= 100)) {
        return Error{ErrorCode::usage, "`penalty " + shortest_text(options.penalty) + "` is not within 1..100"};
    }
    return Done{};
}

GeodesicSolver::GeodesicSolver(const Domain& domain, const GeodesicOptions& options, Context* context)
    : domain_(domain),
      penalty_(options.penalty),
      contact_steps_(make_contact_steps(domain, options.penalty, context)) {
    std::uint32_t diagonal = 0;  // directions along more than one axis
    for (int d = 0; d < kDirections; ++d) {
        const auto [x, y, z] = step_of(d);
        if (x * x + y * y + z * z > 1) diagonal |= 1u << d;
    }
    const bool diagonals = (domain.graph->directions & diagonal) != 0;
    static_assert(Domain::Graph::kGrouped == 2);
    steps_ = std::make_shared<const std::vector<Steps>>(
        std::vector<Steps>{{0, penalty_, diagonals}, {1, penalty_, diagonals}});
}

SweepGraph GeodesicSolver::graph(std::span<const Bridge> bridges) const {
    SweepGraph graph{*domain_.graph, steps_->data(), contact_steps_, make_arcs(domain_, bridges, penalty_), {}};
    if (!graph.arcs.empty()) {
        graph.has_arcs.resize(domain_.leaves.size());
        for (const SweepGraph::Arc& arc : graph.arcs) graph.has_arcs[arc.from] = true;
    }
    return graph;
}

Result<LeafDistances> GeodesicSolver::nearest(const BoneSeeds& seeds, std::span<const std::uint32_t> joints,
                                              std::span<const Bridge> bridges, int nearest, Context* context,
                                              std::uint32_t limit) const {
    const SweepGraph graph = this->graph(bridges);
    std::vector<Offer> start = seed_offers(seeds, joints);
    const std::size_t joint_count = joints.empty() ? 0 : joints.back() + std::size_t{1};
    const int width = std::clamp(nearest, 1, kMaxNearest);
    return with_row_width(width, [&]<int K>(std::integral_constant<int, K>) -> Result<LeafDistances> {
        auto [made, distances] = make_rows<K>(domain_.leaves.size(), static_cast<std::size_t>(width));
        auto& rows = made;  // clang 14 takes no structured binding into a lambda
        parallel_for(context, rows.size(), 16384, [&](std::size_t i) { std::fill_n(rows[i].label, K, kNoLabel); });
        SINEW_TRY(sweep<K>(graph, rows, distances.width, start, joint_count, context, limit));
        return distances;
    });
}

}  // namespace sinew
