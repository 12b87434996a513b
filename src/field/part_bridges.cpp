// Bridges between parts of a mesh that no edge connects.
//
// A minimum spanning forest over the parts, in rounds: every part that is not joined yet finds its nearest
// position of another group, in a tree of boxes. Boxes whose positions all belong to the part's own group are
// skipped.
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "core/parallel.h"
#include "field/edge_graph.h"

namespace sinew {
namespace {

constexpr std::uint32_t kMixed = 0xffffffffu;
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
        std::uint32_t node = EdgeGraph::none;
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
    std::uint32_t low = EdgeGraph::none, high = EdgeGraph::none;  // nodes
    auto operator<=>(const Gap&) const = default;
};

}  // namespace

std::vector<EdgeBridge> join_parts(const EdgeGraph& graph, const std::vector<bool>& seeded, float reach,
                                   Context* context) {
    const std::size_t n = graph.position.size();
    std::vector<std::uint32_t> outside;  // unreachable positions
    for (std::uint32_t i = 0; i < n; ++i)
        if (!seeded[graph.component[i]]) outside.push_back(i);
    if (outside.empty() || outside.size() == n) return {};

    // Groups of components; all components with sources are one group from the start.
    std::vector<std::uint32_t> parent(graph.component_count);
    const auto first = static_cast<std::uint32_t>(std::find(seeded.begin(), seeded.end(), true) - seeded.begin());
    for (std::uint32_t c = 0; c < graph.component_count; ++c) parent[c] = seeded[c] ? first : c;
    const auto root = [&](std::uint32_t c) {
        while (parent[c] != c) c = parent[c] = parent[parent[c]];
        return c;
    };

    GroupTree tree(graph.position);
    std::vector<std::uint32_t> group(n);
    std::vector<GroupTree::NearestPosition> found(outside.size());
    std::vector<std::vector<Gap>> joins(graph.component_count);  // per component: the gaps at which it is joined
    for (bool more = true; more;) {
        if (cancelled(context)) return {};
        for (std::uint32_t i = 0; i < n; ++i) group[i] = root(graph.component[i]);
        tree.set_groups(group);
        const std::uint32_t joined = root(first);
        parallel_for(context, outside.size(), 1024, [&](std::size_t k) {
            found[k] = {};
            const std::uint32_t own = group[outside[k]];
            if (own != joined) tree.nearest(outside[k], own, false, found[k]);
        });
        std::vector<Gap> shortest(graph.component_count);
        for (std::size_t k = 0; k < outside.size(); ++k) {
            const std::uint32_t a = outside[k], b = found[k].node;
            if (b == EdgeGraph::none) continue;
            Gap& least = shortest[group[a]];
            least = std::min(least, Gap{found[k].squared, std::min(a, b), std::max(a, b)});
        }
        more = false;
        for (const Gap& gap : shortest) {
            if (gap.low == EdgeGraph::none) continue;
            const std::uint32_t a = root(graph.component[gap.low]), b = root(graph.component[gap.high]);
            if (a == b) continue;
            parent[std::max(a, b)] = std::min(a, b);
            for (const std::uint32_t node : {gap.low, gap.high}) joins[graph.component[node]].push_back(gap);
            more = true;
        }
    }

    // From reached components outwards: the component to which each leads, and the maximum length of a bridge.
    struct Approach {
        std::uint32_t to = EdgeGraph::none;
        double limit = 0;  // squared
    };
    std::vector<Approach> lead(graph.component_count);
    std::vector<std::uint32_t> queue;
    for (std::uint32_t c = 0; c < graph.component_count; ++c)
        if (seeded[c]) queue.push_back(c);
    std::vector<bool> seen(seeded);
    for (std::size_t k = 0; k < queue.size(); ++k)
        for (const Gap& gap : joins[queue[k]]) {
            const std::uint32_t a = graph.component[gap.low], b = graph.component[gap.high];
            const std::uint32_t other = a == queue[k] ? b : a;
            if (seen[other]) continue;
            seen[other] = true;
            lead[other] = {queue[k], std::max(4 * gap.squared, static_cast<double>(reach) * reach)};
            queue.push_back(other);
        }
    tree.set_groups(graph.component);
    parallel_for(context, outside.size(), 1024, [&](std::size_t k) {
        const auto& [to, limit] = lead[graph.component[outside[k]]];
        found[k] = {limit, EdgeGraph::none};
        if (to != EdgeGraph::none) tree.nearest(outside[k], to, true, found[k]);
    });
    std::vector<EdgeBridge> bridges;
    for (std::size_t k = 0; k < outside.size(); ++k) {
        if (found[k].node == EdgeGraph::none) continue;
        const auto length = static_cast<float>(std::sqrt(found[k].squared));
        bridges.push_back({outside[k], found[k].node, length});
        bridges.push_back({found[k].node, outside[k], length});
    }
    std::sort(bridges.begin(), bridges.end(), [](const EdgeBridge& x, const EdgeBridge& y) {
        return std::tie(x.from, x.to) < std::tie(y.from, y.to);
    });
    return bridges;
}

}  // namespace sinew
