// Which of many bones may be near a point.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/bone_space.h"
#include "core/vectors.h"

namespace sinew {

/// A binary tree of balls around bones. Built in O(bones log² bones). Const and reentrant after construction.
class BoneTree {
public:
    /// Bones are numbered in this order.
    explicit BoneTree(std::span<const BoneSpace> bones) {
        std::vector<Ball> balls;
        for (const BoneSpace& bone : bones) balls.push_back({bone.centre(), bone.extent()});
        order_.resize(balls.size());
        std::iota(order_.begin(), order_.end(), 0u);
        if (!balls.empty()) build(balls, 0, balls.size());
    }

    /// Calls look(bone) for all bones that may be nearer to p than reach(), a length that may shrink meanwhile.
    /// Mostly O(log bones) calls if it shrinks to the distance of the nearest bone.
    template <typename Reach, typename Look>
    void visit(const Point3& p, const Reach& reach, const Look& look) const {
        std::array<std::pair<double, std::uint32_t>, 64> waiting;
        std::size_t count = 0;
        const auto wait = [&](std::uint32_t node) {
            waiting[count++] = {norm(p - nodes_[node].ball.centre) - nodes_[node].ball.radius, node};
        };
        if (!nodes_.empty()) wait(0);
        while (count > 0) {
            const auto [least, at] = waiting[--count];
            if (least > reach()) continue;
            const Node& node = nodes_[at];
            if (node.second == 0) {
                for (std::uint32_t i = node.first; i < node.last; ++i) look(order_[i]);
                continue;
            }
            wait(node.second);
            wait(at + 1);
            if (waiting[count - 1].first > waiting[count - 2].first)
                std::swap(waiting[count - 1], waiting[count - 2]);
        }
    }

private:
    static constexpr std::size_t kLeaf = 5;
    struct Ball {
        Point3 centre;
        double radius;
    };
    struct Node {
        Ball ball;
        std::uint32_t first, last;  // bones, as places in order_
        std::uint32_t second = 0;   // the second child, or 0 of a leaf; the first one follows its parent
    };

    /// Halves the bones along the longest side of the box of their centres, so the depth is at most 32.
    void build(const std::vector<Ball>& balls, std::size_t first, std::size_t last) {
        const std::size_t own = nodes_.size();
        Box3 centres;
        for (std::size_t i = first; i < last; ++i) centres.add(balls[order_[i]].centre);
        Ball ball{0.5 * (centres.low + centres.high), 0};
        for (std::size_t i = first; i < last; ++i)
            ball.radius =
                std::max(ball.radius, norm(balls[order_[i]].centre - ball.centre) + balls[order_[i]].radius);
        ball.radius *= 1 + 1e-9;  // rounding must not lose a bone
        nodes_.push_back({ball, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)});
        if (last - first <= kLeaf) return;
        const Point3 sides = centres.sides();
        const auto axis = static_cast<std::size_t>(std::max_element(sides.begin(), sides.end()) - sides.begin());
        const std::size_t middle = (first + last) / 2;
        const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
        std::nth_element(at(first), at(middle), at(last), [&](std::uint32_t a, std::uint32_t b) {
            const double x = balls[a].centre[axis], y = balls[b].centre[axis];
            return x != y ? x < y : a < b;
        });
        build(balls, first, middle);
        nodes_[own].second = static_cast<std::uint32_t>(nodes_.size());
        build(balls, middle, last);
    }

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> order_;
};

}  // namespace sinew
