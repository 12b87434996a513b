// The leaf of a domain that is nearest to a point or a segment outside it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/geometry.h"
#include "sinew/domain.h"

namespace sinew {

/// Finds leaves by their centres. Leaves are in Morton order, so every run of them fits in a small ball, and so
/// does every run of runs; a ball that is farther away than the best leaf so far is skipped. Keeps a reference
/// to the domain; const and reentrant. Memory 1/2 byte a leaf. A query near the volume takes O(log leaves), far
/// from it at most O(leaves on the visible side).
class NearestLeaf {
public:
    explicit NearestLeaf(const Domain& domain) : domain_(domain) {
        std::vector<Ball>& balls = levels_.emplace_back();
        const std::size_t n = domain.leaves.size();
        for (std::size_t begin = 0; begin < n; begin += kRun) {
            Point3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
            for (std::size_t i = begin; i < std::min(begin + kRun, n); ++i) {
                const auto c = domain.centre(static_cast<std::uint32_t>(i));
                for (std::size_t k = 0; k < 3; ++k) {
                    low[k] = std::min<double>(low[k], c[k]);
                    high[k] = std::max<double>(high[k], c[k]);
                }
            }
            balls.push_back(around(low, high));
        }
        while (levels_.back().size() > 1) {
            const std::vector<Ball>& finer = levels_.back();
            std::vector<Ball> coarser;
            for (std::size_t begin = 0; begin < finer.size(); begin += kBranch) {
                Point3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
                for (std::size_t i = begin; i < std::min(begin + kBranch, finer.size()); ++i)
                    for (std::size_t k = 0; k < 3; ++k) {
                        low[k] = std::min(low[k], finer[i].centre[k] - finer[i].radius);
                        high[k] = std::max(high[k], finer[i].centre[k] + finer[i].radius);
                    }
                coarser.push_back(around(low, high));
            }
            levels_.push_back(std::move(coarser));
        }
    }

    /// Improves `best` if the centre of a leaf is nearer to the segment from a to b (in voxels); ties go to the
    /// first leaf. A domain without leaves has no nearest leaf.
    void find(const Point3& a, const Point3& b, BoneSeeds::Seed& best) const {
        find([&](const Point3& p) { return segment_distance(a, b, p).distance; }, best);
    }

    /// The same for any distance function: `to(point)`, in voxels, must not change by more than the point
    /// moves.
    template <typename To>
    void find(const To& to, BoneSeeds::Seed& best) const {
        if (!levels_[0].empty()) visit(levels_.size() - 1, 0, to, best);
    }

private:
    static constexpr std::size_t kRun = 64, kBranch = 8;
    struct Ball {
        Point3 centre;
        double radius;
    };

    static Ball around(const Point3& low, const Point3& high) {
        const Point3 half{(high[0] - low[0]) / 2, (high[1] - low[1]) / 2, (high[2] - low[2]) / 2};
        return {{low[0] + half[0], low[1] + half[1], low[2] + half[2]}, std::hypot(half[0], half[1], half[2])};
    }

    template <typename To>
    void visit(std::size_t level, std::size_t ball, const To& to, BoneSeeds::Seed& best) const {
        if (level == 0) return scan(ball, to, best);
        const std::vector<Ball>& finer = levels_[level - 1];
        std::array<std::pair<double, std::size_t>, kBranch> order;
        std::size_t count = 0;
        for (std::size_t k = ball * kBranch; k < std::min((ball + 1) * kBranch, finer.size()); ++k)
            order[count++] = {to(finer[k].centre) - finer[k].radius, k};
        std::sort(order.begin(), order.begin() + count);
        for (std::size_t i = 0; i < count && order[i].first <= best.distance; ++i)
            visit(level - 1, order[i].second, to, best);
    }

    template <typename To>
    void scan(std::size_t ball, const To& to, BoneSeeds::Seed& best) const {
        for (std::size_t i = ball * kRun; i < std::min((ball + 1) * kRun, domain_.leaves.size()); ++i) {
            const auto leaf = static_cast<std::uint32_t>(i);
            const auto c = domain_.centre(leaf);
            const auto d = static_cast<float>(to({c[0], c[1], c[2]}));
            if (d < best.distance || (d == best.distance && leaf < best.leaf)) best = {leaf, d};
        }
    }

    const Domain& domain_;
    std::vector<std::vector<Ball>> levels_;  // from runs of leaves up to one ball for all
};

}  // namespace sinew
