// Distances after bones moved: the rows of another sweep, mended.
//
// The K least labels of every leaf are a unique fixed point, so whatever is known to be right may stay. A label
// says by which link it came (its way), so what came over a leaf that is gone, or from a bone that moved, is found
// by going forward from there. What is deleted flows in again from new seeds and from leaves without a row. That
// finds all but two things: labels of the kept rows that had been offered in vain to a row that has lost better
// ones. So rows that are worse than they were ask all their neighbours once more.
//
// Steps that a sweep leaves out (steps.h) stay left out. Of all leaves from which leaf n can get its least distance
// to a joint, take w, with the shortest step to n. If w's label was kept, its links are those of before, and it was
// passed on to n then, by the argument of steps.h, which speaks of least distances only; n either has it or had K
// better ones, and asks if it has no longer. If w's label is new, it is passed on now.

#include <algorithm>
#include <array>
#include <bit>

#include "core/parallel.h"
#include "domain/morton.h"
#include "field/sweep.h"

namespace sinew {

namespace {

// Whether a comes before b as leaves of a domain do (Domain); of two with one lower corner, the larger does.
bool comes_before(const Domain::Leaf& a, const Domain::Leaf& b) {
    const std::uint64_t at_a = morton(a.x, a.y, a.z), at_b = morton(b.x, b.y, b.z);
    constexpr int block = 6;  // bits of a place in 4³ voxels
    if (at_a >> block != at_b >> block) return at_a < at_b;
    return a.level != b.level ? a.level > b.level : at_a < at_b;
}

}  // namespace

LeafMatch match_leaves(std::span<const Domain::Leaf> before, std::span<const Domain::Leaf> now) {
    LeafMatch match;
    const auto same = [](const Domain::Leaf& a, const Domain::Leaf& b) {
        return a.x == b.x && a.y == b.y && a.z == b.z && a.level == b.level && a.boundary == b.boundary;
    };
    std::size_t i = 0, k = 0;
    while (i < now.size() && k < before.size()) {
        if (same(now[i], before[k])) {
            const std::size_t first = i, other = k;
            while (i < now.size() && k < before.size() && same(now[i], before[k])) ++i, ++k;
            match.runs.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(other),
                                  static_cast<std::uint32_t>(i - first)});
        } else if (comes_before(now[i], before[k])) {
            ++i;
        } else {
            ++k;
        }
    }
    return match;
}

namespace {

// By distance, then by joint, whatever the way.
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
        has_moved_.resize(seeds.of_joint.size(), false);
        for (const std::uint32_t joint : moved) has_moved_[joint] = true;
        unsettled_.resize(rows.size(), 0);
    }

    /// Rows of before without what can be wrong.
    void keep_what_is_right() {
        find_unsettled();
        copy_rows();
        // Where nothing is known of the way, only seeds are sure.
        for (std::uint32_t leaf = 0; leaf < rows_.size(); ++leaf)
            if (unsettled_[leaf]) drop(leaf, [&](Label label) { return !is_seed(leaf, label); });
        for (const std::uint32_t leaf : wayless_)
            drop(leaf,
                 [&](Label label) { return (label & kLabelWayMask) == kNoDirection && !is_seed(leaf, label); });
        follow();
    }

    /// What leaves without rows of their own are offered by all around them.
    std::vector<Offer> for_unsettled() const {
        return asked([&](std::size_t leaf) { return unsettled_[leaf] != 0; });
    }
    /// The same for rows that have become worse.
    std::vector<Offer> for_worse() const {
        std::vector<std::uint8_t> worse(rows_.size(), 0);
        each_kept([&](std::size_t leaf, const Label* old) { worse[leaf] = is_worse(rows_[leaf].label, old); });
        return asked([&](std::size_t leaf) { return worse[leaf] != 0; });
    }

private:
    // visit(leaf, its labels of before), in parallel.
    template <typename Visit>
    void each_kept(Visit&& visit) const {
        for (const LeafMatch::Run& run : match_.runs)
            parallel_for(context_, run.count, 8192,
                         [&](std::size_t i) { visit(run.now + i, before_.labels.get() + (run.before + i) * K); });
    }

    // Leaves that are new, and those around them, whose links are others than before. A leaf of before that is gone
    // touched what some leaf in its place touches now.
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
        // Bridges may be others, too.
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
            std::vector<std::vector<std::uint32_t>> wayless((run.count + grain - 1) / grain);
            parallel_chunks(context_, run.count, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) {
                    const Label* const old = before_.labels.get() + (run.before + i) * K;
                    Label* const row = rows_[run.now + i].label;
                    std::size_t count = 0;
                    bool known = true;
                    for (std::size_t k = 0; k < K && old[k] != kNoLabel; ++k) {
                        if (has_moved_[joint_of(old[k])]) continue;
                        known = known && (old[k] & kLabelWayMask) != kNoDirection;
                        row[count++] = old[k];
                    }
                    std::fill(row + count, row + K, kNoLabel);
                    if (!known) wayless[chunk].push_back(static_cast<std::uint32_t>(run.now + i));
                }
            });
            for (const auto& list : wayless) wayless_.insert(wayless_.end(), list.begin(), list.end());
        }
    }

    bool is_seed(std::uint32_t leaf, Label label) const {
        const auto& list = seeds_.of_joint[joint_of(label)];
        const auto at =
            std::lower_bound(list.begin(), list.end(), leaf,
                             [](const BoneSeeds::Seed& seed, std::uint32_t of) { return seed.leaf < of; });
        return at != list.end() && at->leaf == leaf && to_units(at->distance) == distance_of(label);
    }

    // Deletes labels, and notes that what came from them is to be deleted.
    template <typename Wrong>
    void drop(std::uint32_t leaf, Wrong&& wrong) {
        Label* const row = rows_[leaf].label;
        std::size_t kept = 0;
        for (std::size_t k = 0; k < K && row[k] != kNoLabel; ++k) {
            if (wrong(row[k]))
                gone_.push_back({row[k], leaf});
            else
                row[kept++] = row[k];
        }
        std::fill(row + kept, row + K, kNoLabel);
    }

    // Deletes what came from deleted labels, forward.
    void follow() {
        std::array<std::uint32_t, K> joints;
        for (std::size_t next = 0; next < gone_.size();) {
            const std::uint32_t leaf = gone_[next].leaf;
            std::size_t count = 0;
            for (; next < gone_.size() && gone_[next].leaf == leaf && count < K; ++next)
                joints[count++] = joint_of(gone_[next].label);
            const auto drop_at = [&](std::uint32_t to, std::uint32_t way) {
                if (way == kNoDirection) return;  // deleted already
                const Label* const row = rows_[to].label;
                bool any = false;
                for (std::size_t k = 0; k < K; ++k) any = any || (row[k] & kLabelWayMask) == way;
                if (any)
                    drop(to, [&](Label label) {
                        return (label & kLabelWayMask) == way &&
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
        gone_ = {};
    }

    template <typename Visit>
    void each_link(std::uint32_t leaf, Visit&& visit) const {
        const Domain::Graph::Node& node = graph_.links.nodes[leaf];
        for (std::uint32_t left = node.all; left; left &= left - 1)
            visit(graph_.links.neighbour(node, std::countr_zero(left)));
        for (const Domain::Graph::Link& link : graph_.links.others(node)) visit(link.to());
    }

    // Whether something may be missing that had been offered in vain. What was offered before is no better than
    // what there was of the same joint, nor than the K-th.
    bool is_worse(const Label* row, const Label* old) const {
        if (old[width_ - 1] != kNoLabel && rank_of(row[width_ - 1]) > rank_of(old[width_ - 1])) return true;
        for (std::size_t k = 0; k < width_ && old[k] != kNoLabel; ++k) {
            const std::uint32_t joint = joint_of(old[k]);
            if (has_moved_[joint]) continue;
            const Label* const now = std::find_if(
                row, row + width_, [&](Label label) { return label != kNoLabel && joint_of(label) == joint; });
            if (rank_of(now == row + width_ ? row[width_ - 1] : *now) > rank_of(old[k])) return true;
        }
        return false;
    }

    // What all neighbours of some leaves offer them, of which they would take something.
    template <typename Which>
    std::vector<Offer> asked(Which&& which) const {
        constexpr std::size_t grain = 4096;
        std::vector<std::vector<Offer>> found((rows_.size() + grain - 1) / grain);
        parallel_chunks(context_, rows_.size(), grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            std::vector<Offer> offers;
            for (std::size_t leaf = begin; leaf < end; ++leaf)
                if (which(leaf)) ask_around(static_cast<std::uint32_t>(leaf), offers, found[chunk]);
        });
        std::vector<Offer> all;
        for (const auto& list : found) all.insert(all.end(), list.begin(), list.end());
        return all;
    }

    void ask_around(std::uint32_t leaf, std::vector<Offer>& offers, std::vector<Offer>& out) const {
        offers.clear();
        const auto offer = [&](std::uint32_t from, std::uint32_t cost, std::uint32_t way) {
            const Label worst = rows_[leaf].label[width_ - 1];
            for (const Label label : rows_[from].label) {
                if (label == kNoLabel) break;
                const Label over = (label & ~kLabelWayMask) + make_label(cost, 0, static_cast<std::uint8_t>(way));
                if (over > worst || over >= make_label(LeafDistances::unreached, 0, 0)) break;
                offers.push_back({over, 0});
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
            offer(link.to(), graph_.touches[touches::reversed(link.touch())].cost,
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
    std::vector<bool> has_moved_;
    std::vector<std::uint8_t> unsettled_;  // per leaf
    std::vector<std::uint32_t> wayless_;   // leaves with labels that do not say how they came
    std::vector<Offer> gone_;
};

}  // namespace

Result<LeafDistances> GeodesicSolver::renewed(const LeafDistances& before, const LeafMatch& match,
                                              const BoneSeeds& seeds, std::span<const std::uint32_t> joints,
                                              std::span<const std::uint32_t> moved, std::span<const Bridge> bridges,
                                              Context* context) const {
    const SweepGraph graph = this->graph(bridges);
    const std::size_t joint_count = joints.empty() ? 0 : joints.back() + std::size_t{1};
    return with_row_width(
        static_cast<int>(before.width), [&]<int K>(std::integral_constant<int, K>) -> Result<LeafDistances> {
            auto [rows, distances] = make_rows<K>(domain_.leaves.size(), before.width);
            Renewal<K> renewal(graph, rows, before, match, seeds, moved, context);
            renewal.keep_what_is_right();
            std::vector<Offer> start = renewal.for_unsettled();
            const std::vector<Offer> at_seeds = seed_offers(seeds, joints);
            start.insert(start.end(), at_seeds.begin(), at_seeds.end());
            if (Status done = sweep<K>(graph, rows, before.width, start, joint_count, context); !done)
                return done.error();
            start = renewal.for_worse();
            if (Status done = sweep<K>(graph, rows, before.width, start, joint_count, context); !done)
                return done.error();
            return distances;
        });
}

}  // namespace sinew
