// Distances after bones moved: updates the rows of an earlier sweep.
//
// The K smallest labels of every leaf are a unique fixed point, so labels that are known to be right may stay.
// A label stores the link by which it came. So labels that came over removed leaves, or from bones that moved,
// are found by a forward traversal. Deleted labels are computed again from new seeds and from leaves without a
// row. This misses only one case: labels of kept rows that were offered earlier to a row that rejected them and
// has lost better labels since. So rows that became worse ask all their neighbours again.
//
// Steps that a sweep leaves out (steps.h) are still left out. Of all leaves from which leaf n can get its
// smallest distance to a joint, take w, the one with the shortest step to n. If w's label was kept, its links
// are unchanged and it was passed on to n earlier, by the argument of steps.h, which only concerns smallest
// distances. Then n either has it, or had K better labels and asks again if it has fewer now. If w's label is
// new, it is passed on now.

#include <algorithm>
#include <array>
#include <bit>

#include "core/parallel.h"
#include "core/try.h"
#include "field/sweep.h"

namespace sinew {

namespace {

// By distance, then by joint, ignoring the direction.
constexpr Label rank_of(Label label) { return label >> kLabelJoint; }

template <int K>
class Renewal {
public:
    Renewal(const SweepGraph& graph, std::span<LabelRow<K>> rows, const LeafDistances& before,
            const LeafMatch& match, const BoneSeeds& seeds, std::span<const std::uint32_t> moved, Context* context)
        : graph_(graph),
          rows_(rows),
          width_(before.width),
          before_(before),
          match_(match),
          seeds_(seeds),
          context_(context) {
        has_moved_.resize(seeds.of_joint.size(), 0);
        for (const std::uint32_t joint : moved) has_moved_[joint] = 1;
        unsettled_.resize(rows.size(), 0);
        has_lost_.resize(rows.size(), 0);
    }

    /// Fills rows with the earlier labels, except those that may be wrong.
    void keep_valid_labels() {
        find_unsettled();
        copy_rows();
        // Without directions only seeds are certain.
        for (std::uint32_t leaf = 0; leaf < rows_.size(); ++leaf)
            if (unsettled_[leaf]) drop(leaf, [&](Label label) { return !is_seed(leaf, label); });
        for (const std::uint32_t leaf : undirected_)
            drop(leaf, [&](Label label) {
                return (label & kLabelDirectionMask) == kNoDirection && !is_seed(leaf, label);
            });
        delete_derived();
    }

    /// The offers of all neighbours to leaves without rows.
    std::vector<Offer> offer_to_new_leaves() const {
        return gather_offers([&](std::size_t leaf) { return unsettled_[leaf] != 0; },
                             [](std::size_t) { return [](Label) { return true; }; });
    }
    /// The offers to rows that have become worse, which had rejected them earlier.
    std::vector<Offer> offer_to_worse_rows() const {
        std::vector<const Label*> was(rows_.size(), nullptr);  // per leaf that became worse, its earlier labels
        each_kept([&](std::size_t leaf, const Label* old) {
            // Rows that lost nothing are not worse. Those without earlier rows have received all offers.
            if (has_lost_[leaf] && !unsettled_[leaf] && loss_of_row(rows_[leaf].label, old).any()) was[leaf] = old;
        });
        return gather_offers([&](std::size_t leaf) { return was[leaf] != nullptr; },
                             [&](std::size_t leaf) {
                                 return [loss = loss_of_row(rows_[leaf].label, was[leaf])](Label offer) {
                                     return loss.may_accept(offer);
                                 };
                             });
    }

private:
    // visit(leaf, its earlier labels), in parallel.
    template <typename Visit>
    void each_kept(Visit&& visit) const {
        for (const LeafMatch::Run& run : match_.runs)
            parallel_for(context_, run.count, 8192,
                         [&](std::size_t i) { visit(run.now + i, before_.labels.get() + (run.before + i) * K); });
    }

    // New leaves and their neighbours, whose links have changed. A leaf that touched a removed leaf touches a new
    // leaf in its place.
    void find_unsettled() {
        std::size_t next = 0;
        const auto all_new = [&](std::size_t end) {
            for (; next < end; ++next) {
                const auto leaf = static_cast<std::uint32_t>(next);
                unsettled_[leaf] = 1;
                each_link(leaf, [&](std::uint32_t to) { unsettled_[to] = 1; });
            }
        };
        for (const LeafMatch::Run& run : match_.runs) {
            all_new(run.now);
            next = run.now + run.count;
        }
        all_new(rows_.size());
        // Bridges may have changed as well.
        for (const SweepGraph::Arc& arc : graph_.arcs) unsettled_[arc.to] = 1;
    }

    void copy_rows() {
        std::size_t next = 0;
        const auto clear = [&](std::size_t end) {
            for (; next < end; ++next) std::fill_n(rows_[next].label, K, kNoLabel);
        };
        for (const LeafMatch::Run& run : match_.runs) {
            clear(run.now);
            next = run.now + run.count;
        }
        clear(rows_.size());
        for (const LeafMatch::Run& run : match_.runs) {
            constexpr std::size_t grain = 8192;
            std::vector<std::vector<std::uint32_t>> undirected((run.count + grain - 1) / grain);
            parallel_chunks(context_, run.count, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) {
                    const Label* const old = before_.labels.get() + (run.before + i) * K;
                    Label* const row = rows_[run.now + i].label;
                    std::size_t count = 0;
                    bool known = true;
                    for (std::size_t k = 0; k < K && old[k] != kNoLabel; ++k) {
                        if (has_moved_[joint_of(old[k])]) continue;
                        known = known && (old[k] & kLabelDirectionMask) != kNoDirection;
                        row[count++] = old[k];
                    }
                    std::fill(row + count, row + K, kNoLabel);
                    if (count < K && old[count] != kNoLabel) has_lost_[run.now + i] = true;
                    if (!known) undirected[chunk].push_back(static_cast<std::uint32_t>(run.now + i));
                }
            });
            for (const auto& list : undirected) undirected_.insert(undirected_.end(), list.begin(), list.end());
        }
    }

    bool is_seed(std::uint32_t leaf, Label label) const {
        const auto& list = seeds_.of_joint[joint_of(label)];
        const auto at =
            std::lower_bound(list.begin(), list.end(), leaf,
                             [](const BoneSeeds::Seed& seed, std::uint32_t of) { return seed.leaf < of; });
        return at != list.end() && at->leaf == leaf && to_units(at->distance) == distance_of(label);
    }

    // Deletes labels, and records that labels derived from them must be deleted.
    template <typename Wrong>
    void drop(std::uint32_t leaf, Wrong&& wrong) {
        Label* const row = rows_[leaf].label;
        std::size_t kept = 0, k = 0;
        for (; k < K && row[k] != kNoLabel; ++k) {
            if (wrong(row[k]))
                deleted_.push_back({row[k], leaf});
            else
                row[kept++] = row[k];
        }
        if (kept < k) has_lost_[leaf] = true;
        std::fill(row + kept, row + K, kNoLabel);
    }

    // Deletes labels derived from deleted labels, forward.
    void delete_derived() {
        std::array<std::uint32_t, K> joints;
        for (std::size_t next = 0; next < deleted_.size();) {
            const std::uint32_t leaf = deleted_[next].leaf;
            std::size_t count = 0;
            for (; next < deleted_.size() && deleted_[next].leaf == leaf && count < K; ++next)
                joints[count++] = joint_of(deleted_[next].label);
            const auto drop_at = [&](std::uint32_t to, std::uint32_t direction) {
                if (direction == kNoDirection) return;  // already deleted
                const Label* const row = rows_[to].label;
                bool any = false;
                for (std::size_t k = 0; k < K; ++k) any = any || (row[k] & kLabelDirectionMask) == direction;
                if (any)
                    drop(to, [&](Label label) {
                        return (label & kLabelDirectionMask) == direction &&
                               std::find(joints.begin(), joints.begin() + count, joint_of(label)) !=
                                   joints.begin() + count;
                    });
            };
            const Domain::Graph::Node& node = graph_.links.nodes[leaf];
            for (std::uint32_t left = node.all; left; left &= left - 1) {
                const int e = std::countr_zero(left);
                drop_at(graph_.links.neighbour(node, e), static_cast<std::uint32_t>(e));
            }
            for (const Domain::Graph::Link& link : graph_.links.others(node))
                drop_at(link.to(), kNoDirection + link.back());
        }
        deleted_ = {};
    }

    template <typename Visit>
    void each_link(std::uint32_t leaf, Visit&& visit) const {
        const Domain::Graph::Node& node = graph_.links.nodes[leaf];
        for (std::uint32_t left = node.all; left; left &= left - 1)
            visit(graph_.links.neighbour(node, std::countr_zero(left)));
        for (const Domain::Graph::Link& link : graph_.links.others(node)) visit(link.to());
    }

    // How a row has become worse. A rejected offer was not better than the earlier label of the same joint, or
    // than the K-th label. It can be missing only if that label is worse now.
    struct RowLoss {
        std::uint64_t joints = 0;  // joints whose label is worse now, as bits of their number modulo 64
        Label from = kNoLabel;     // the rank of the K-th label, if it is worse
        bool any() const { return joints != 0 || from != kNoLabel; }
        bool may_accept(Label offer) const {
            return (joints >> (joint_of(offer) & 63) & 1) != 0 || rank_of(offer) >= from;
        }
    };
    RowLoss loss_of_row(const Label* row, const Label* old) const {
        RowLoss worse;
        const Label last = old[width_ - 1];
        if (last != kNoLabel && rank_of(row[width_ - 1]) > rank_of(last)) worse.from = rank_of(last);
        const Label* next = row;  // most labels are unchanged, except those of joints that moved
        for (std::size_t k = 0; k < width_ && old[k] != kNoLabel; ++k) {
            const std::uint32_t joint = joint_of(old[k]);
            if (has_moved_[joint]) continue;  // none of its labels was kept
            while (next < row + width_ && rank_of(*next) < rank_of(old[k])) ++next;
            if (next < row + width_ && rank_of(*next) == rank_of(old[k])) continue;
            const Label* const now = std::find_if(
                row, row + width_, [&](Label label) { return label != kNoLabel && joint_of(label) == joint; });
            if (rank_of(now == row + width_ ? row[width_ - 1] : *now) > rank_of(old[k]))
                worse.joints |= std::uint64_t{1} << (joint & 63);
        }
        return worse;
    }

    // The offers of all neighbours to the leaves `which`, if the row accepts them. may_matter(leaf) returns a
    // predicate of offers to the leaf.
    template <typename Which, typename Wanted>
    std::vector<Offer> gather_offers(Which&& which, Wanted&& may_matter) const {
        constexpr std::size_t grain = 4096;
        std::vector<std::vector<Offer>> found((rows_.size() + grain - 1) / grain);
        parallel_chunks(context_, rows_.size(), grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            std::vector<Offer> offers;
            for (std::size_t leaf = begin; leaf < end; ++leaf)
                if (which(leaf))
                    gather_from_neighbours(static_cast<std::uint32_t>(leaf), may_matter(leaf), offers,
                                           found[chunk]);
        });
        std::vector<Offer> all;
        for (const auto& list : found) all.insert(all.end(), list.begin(), list.end());
        return all;
    }

    template <typename Wanted>
    void gather_from_neighbours(std::uint32_t leaf, Wanted&& may_matter, std::vector<Offer>& offers,
                                std::vector<Offer>& out) const {
        offers.clear();
        const auto offer = [&](std::uint32_t from, std::uint32_t cost, std::uint32_t direction) {
            const Label worst = rows_[leaf].label[width_ - 1];
            for (const Label label : rows_[from].label) {
                if (label == kNoLabel) break;
                const Label over =
                    (label & ~kLabelDirectionMask) + make_label(cost, 0, static_cast<std::uint8_t>(direction));
                if (over > worst || over >= make_label(LeafDistances::unreached, 0, 0)) break;
                if (may_matter(over)) offers.push_back({over, 0});
            }
        };
        const Domain::Graph& links = graph_.links;
        const Domain::Graph::Node& node = links.nodes[leaf];
        const bool here = node.is_grouped() && node.is_boundary();
        for (std::uint32_t left = node.all; left; left &= left - 1) {
            const int back = std::countr_zero(left), e = kDirections - 1 - back;
            offer(links.neighbour(node, back), graph_.steps[node.level()].cost[here][e],
                  static_cast<std::uint32_t>(e));
        }
        std::uint32_t back = 0;
        for (const Domain::Graph::Link& link : links.others(node)) {
            const bool noted = ++back <= Domain::Graph::kMostBack;
            offer(link.to(), graph_.contact_steps[contacts::reversed(link.contact())].cost,
                  kNoDirection + (noted ? back : 0));
        }
        for (const SweepGraph::Arc& arc : graph_.arcs_of(leaf))
            for (const SweepGraph::Arc& other : graph_.arcs_of(arc.to))
                if (other.to == leaf) offer(other.from, other.cost, kNoDirection);
        LabelRow<K> row = rows_[leaf];
        const std::size_t taken =
            RowKernel<K>::best().take(&row, width_, offers.data(), offers.size(), offers.data());
        for (std::size_t k = 0; k < taken; ++k)
            if (std::find(row.label, row.label + K, offers[k].label) != row.label + K)
                out.push_back({offers[k].label, leaf});
    }

    const SweepGraph& graph_;
    std::span<LabelRow<K>> rows_;
    std::size_t width_;
    const LeafDistances& before_;
    const LeafMatch& match_;
    const BoneSeeds& seeds_;
    Context* context_;
    std::vector<std::uint8_t> has_moved_;    // per joint
    std::vector<std::uint8_t> unsettled_;    // per leaf
    std::vector<std::uint8_t> has_lost_;     // likewise: has lost earlier labels
    std::vector<std::uint32_t> undirected_;  // leaves with labels that do not store a direction
    std::vector<Offer> deleted_;
};

}  // namespace

Result<LeafDistances> GeodesicSolver::renewed(const LeafDistances& before, const LeafMatch& match,
                                              const BoneSeeds& seeds, std::span<const std::uint32_t> joints,
                                              std::span<const std::uint32_t> moved, std::span<const Bridge> bridges,
                                              Context* context) const {
    const SweepGraph graph = this->graph(bridges);
    const std::size_t joint_count = joints.empty() ? 0 : joints.back() + std::size_t{1};
    return with_row_width(static_cast<int>(before.width),
                          [&]<int K>(std::integral_constant<int, K>) -> Result<LeafDistances> {
                              auto [rows, distances] = make_rows<K>(domain_.leaves.size(), before.width);
                              Renewal<K> renewal(graph, rows, before, match, seeds, moved, context);
                              renewal.keep_valid_labels();
                              std::vector<Offer> start = renewal.offer_to_new_leaves();
                              const std::vector<Offer> at_seeds = seed_offers(seeds, joints);
                              start.insert(start.end(), at_seeds.begin(), at_seeds.end());
                              SINEW_TRY(sweep<K>(graph, rows, before.width, start, joint_count, context));
                              start = renewal.offer_to_worse_rows();
                              SINEW_TRY(sweep<K>(graph, rows, before.width, start, joint_count, context));
                              return distances;
                          });
}

}  // namespace sinew
