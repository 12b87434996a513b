// Bridges between parts of a mesh that no edge connects.
//
// A minimum spanning forest over the parts, in rounds: every part that is not joined yet finds its nearest
// position of another group, in a tree of boxes. Boxes whose positions all belong to the part's own group are
// skipped.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/forest.h"
#include "core/parallel.h"
#include "field/edge_graph.h"

namespace sinew {
namespace {

constexpr std::uint32_t kMixed = no_index;
constexpr std::size_t kLeafSize = 8;

// Positions in a balanced tree of boxes. Each box stores its group if all its positions belong to one.
class GroupTree {
public:
    explicit GroupTree(const std::vector<Vec3>& position) : position_(position), order_(position.size()) {
        std::iota(order_.begin(), order_.end(), 0u);
        if (!order_.empty()) build(0, order_.size());
    }

    /// `group`: per position.
    void set_groups(const std::vector<std::uint32_t>& group) {
        group_ = &group;
        for (std::size_t k = boxes_.size(); k-- > 0;) {  // children come after their parent
            Box& box = boxes_[k];
            if (box.right) {
                const std::uint32_t left = boxes_[k + 1].group, right = boxes_[box.right].group;
                box.group = left == right ? left : kMixed;
            } else {
                box.group = group[order_[box.begin]];
                for (std::size_t i = box.begin; i < box.end; ++i)
                    if (group[order_[i]] != box.group) box.group = kMixed;
            }
        }
    }

    struct NearestPosition {
        double squared = std::numeric_limits<double>::infinity();
        std::uint32_t node = no_index;
    };
    /// The nearest position whose group differs from `own` (or, with `only`, is `own`), if it is nearer than
    /// `best`. Ties go to the lower number.
    void nearest(std::uint32_t node, std::uint32_t own, bool only, NearestPosition& best) const {
        if (!boxes_.empty()) search(0, to_point(position_[node]), own, only, best);
    }

private:
    struct Box {
        Point3 low, high;
        std::size_t begin, end;
        std::size_t right = 0;  // number of the second child; the first follows its parent; 0 = a leaf
        std::uint32_t group = kMixed;
    };

    std::size_t build(std::size_t begin, std::size_t end) {
        Box box{{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, begin, end};
        for (std::size_t i = begin; i < end; ++i) {
            const Point3 p = to_point(position_[order_[i]]);
            for (std::size_t k = 0; k < 3; ++k) {
                box.low[k] = std::min(box.low[k], p[k]);
                box.high[k] = std::max(box.high[k], p[k]);
            }
        }
        const std::size_t number = boxes_.size();
        boxes_.push_back(box);
        if (end - begin > kLeafSize) {
            std::size_t axis = 0;
            for (std::size_t k = 1; k < 3; ++k)
                if (box.high[k] - box.low[k] > box.high[axis] - box.low[axis]) axis = k;
            const std::size_t middle = (begin + end) / 2;
            const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
            std::nth_element(at(begin), at(middle), at(end), [&](std::uint32_t x, std::uint32_t y) {
                return std::pair{to_point(position_[x])[axis], x} < std::pair{to_point(position_[y])[axis], y};
            });
            build(begin, middle);
            const std::size_t right = build(middle, end);
            boxes_[number].right = right;
        }
        return number;
    }

    double to_box(const Box& box, const Point3& p) const {
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const double d = std::max({box.low[k] - p[k], 0.0, p[k] - box.high[k]});
            sum += d * d;
        }
        return sum;
    }

    void search(std::size_t number, const Point3& p, std::uint32_t own, bool only, NearestPosition& best) const {
        const Box& box = boxes_[number];
        if (box.group != kMixed && (box.group == own) != only) return;
        if (to_box(box, p) > best.squared) return;
        if (box.right) {
            const std::size_t left = number + 1;
            const bool right_first = to_box(boxes_[box.right], p) < to_box(boxes_[left], p);
            search(right_first ? box.right : left, p, own, only, best);
            search(right_first ? left : box.right, p, own, only, best);
            return;
        }
        for (std::size_t i = box.begin; i < box.end; ++i) {
            const std::uint32_t node = order_[i];
            if (((*group_)[node] == own) != only) continue;
            const Point3 q = to_point(position_[node]);
            double squared = 0;
            for (std::size_t k = 0; k < 3; ++k) squared += (p[k] - q[k]) * (p[k] - q[k]);
            if (std::tie(squared, node) < std::tie(best.squared, best.node)) best = {squared, node};
        }
    }

    const std::vector<Vec3>& position_;
    const std::vector<std::uint32_t>* group_ = nullptr;
    std::vector<std::uint32_t> order_;
    std::vector<Box> boxes_;
};

// The shortest link out of a group. Ties go to the lower numbers, so that rounds cannot close a cycle.
struct Gap {
    double squared = std::numeric_limits<double>::infinity();
    std::uint32_t low = no_index, high = no_index;  // nodes
    auto operator<=>(const Gap&) const = default;
};

// Components that no source reaches, and how they are joined to the others.
class PartJoiner {
public:
    /// `unreached`: the positions of all components without a source.
    PartJoiner(const EdgeGraph& graph, const std::vector<bool>& seeded, std::vector<std::uint32_t> unreached,
               Context* context)
        : graph_(graph),
          seeded_(seeded),
          context_(context),
          tree_(graph.position),
          unreached_(std::move(unreached)),
          found_(unreached_.size()),
          gaps_(graph.component_count) {}

    /// The minimum spanning forest, in rounds: every group finds its shortest gap to another one.
    void join() {
        // Groups of components; all components with sources are one group from the start.
        Forest groups(graph_.component_count);
        const auto first =
            static_cast<std::uint32_t>(std::find(seeded_.begin(), seeded_.end(), true) - seeded_.begin());
        for (std::uint32_t c = first; c < graph_.component_count; ++c)
            if (seeded_[c]) groups.join(first, c);
        std::vector<std::uint32_t> group(graph_.position.size());
        for (bool more = true; more && !cancelled(context_);) {
            for (std::uint32_t i = 0; i < group.size(); ++i) group[i] = groups.root(graph_.component[i]);
            more = false;
            for (const Gap& gap : shortest_gaps(group, groups.root(first))) {
                if (gap.low == no_index) continue;
                const std::uint32_t a = graph_.component[gap.low], b = graph_.component[gap.high];
                if (groups.root(a) == groups.root(b)) continue;
                groups.join(a, b);
                for (const std::uint32_t node : {gap.low, gap.high}) gaps_[graph_.component[node]].push_back(gap);
                more = true;
            }
        }
    }

    /// Bridges from every position of a joined component to its nearest position of the component to which it is
    /// joined, in both directions.
    std::vector<EdgeBridge> bridges(float reach) {
        const std::vector<Approach> approaches = approach_from_sources(reach);
        tree_.set_groups(graph_.component);
        parallel_for(context_, unreached_.size(), 1024, [&](std::size_t k) {
            const auto& [to, limit] = approaches[graph_.component[unreached_[k]]];
            found_[k] = {limit, no_index};
            if (to != no_index) tree_.nearest(unreached_[k], to, true, found_[k]);
        });
        std::vector<EdgeBridge> bridges;
        for (std::size_t k = 0; k < unreached_.size(); ++k) {
            if (found_[k].node == no_index) continue;
            const auto length = static_cast<float>(std::sqrt(found_[k].squared));
            bridges.push_back({unreached_[k], found_[k].node, length});
            bridges.push_back({found_[k].node, unreached_[k], length});
        }
        std::sort(bridges.begin(), bridges.end(), [](const EdgeBridge& x, const EdgeBridge& y) {
            return std::tie(x.from, x.to) < std::tie(y.from, y.to);
        });
        return bridges;
    }

private:
    // The component to which another is joined, and the maximum length of a bridge.
    struct Approach {
        std::uint32_t to = no_index;
        double limit = 0;  // squared
    };

    // By group; none for the group that has sources.
    std::vector<Gap> shortest_gaps(const std::vector<std::uint32_t>& group, std::uint32_t joined) {
        tree_.set_groups(group);
        parallel_for(context_, unreached_.size(), 1024, [&](std::size_t k) {
            found_[k] = {};
            const std::uint32_t own = group[unreached_[k]];
            if (own != joined) tree_.nearest(unreached_[k], own, false, found_[k]);
        });
        std::vector<Gap> shortest(graph_.component_count);
        for (std::size_t k = 0; k < unreached_.size(); ++k) {
            const std::uint32_t a = unreached_[k], b = found_[k].node;
            if (b == no_index) continue;
            Gap& least = shortest[group[a]];
            least = std::min(least, Gap{found_[k].squared, std::min(a, b), std::max(a, b)});
        }
        return shortest;
    }

    // From components with sources outwards, over the gaps of the forest.
    std::vector<Approach> approach_from_sources(float reach) const {
        std::vector<Approach> out(graph_.component_count);
        std::vector<std::uint32_t> queue;
        for (std::uint32_t c = 0; c < graph_.component_count; ++c)
            if (seeded_[c]) queue.push_back(c);
        std::vector<bool> seen(seeded_);
        for (std::size_t k = 0; k < queue.size(); ++k)
            for (const Gap& gap : gaps_[queue[k]]) {
                const std::uint32_t a = graph_.component[gap.low], b = graph_.component[gap.high];
                const std::uint32_t other = a == queue[k] ? b : a;
                if (seen[other]) continue;
                seen[other] = true;
                out[other] = {queue[k], std::max(4 * gap.squared, static_cast<double>(reach) * reach)};
                queue.push_back(other);
            }
        return out;
    }

    const EdgeGraph& graph_;
    const std::vector<bool>& seeded_;  // per component
    Context* const context_;
    GroupTree tree_;
    std::vector<std::uint32_t> unreached_;  // positions
    std::vector<GroupTree::NearestPosition> found_;
    std::vector<std::vector<Gap>> gaps_;  // per component: the gaps at which it is joined
};

}  // namespace

std::vector<EdgeBridge> join_parts(const EdgeGraph& graph, const std::vector<bool>& seeded, float reach,
                                   Context* context) {
    std::vector<std::uint32_t> unreached;
    for (std::uint32_t i = 0; i < graph.position.size(); ++i)
        if (!seeded[graph.component[i]]) unreached.push_back(i);
    if (unreached.empty() || unreached.size() == graph.position.size()) return {};
    PartJoiner parts(graph, seeded, std::move(unreached), context);
    parts.join();
    if (cancelled(context)) return {};
    return parts.bridges(reach);
}

}  // namespace sinew
