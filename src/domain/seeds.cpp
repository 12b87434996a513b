// Where each joint's field starts.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/geometry.h"
#include "domain/trace.h"
#include "sinew/domain.h"

namespace sinew {
namespace {

// Finds the leaf nearest to a segment. Leaves are in Morton order, so that every run of 64 fits in a small ball; a
// ball that is farther away than the best leaf so far is skipped whole.
class NearestLeaf {
public:
    explicit NearestLeaf(const Domain& domain) : domain_(domain) {
        for (std::size_t begin = 0; begin < domain.leaves.size(); begin += kRun) {
            Point3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
            for (std::size_t i = begin; i < std::min(begin + kRun, domain.leaves.size()); ++i) {
                const auto c = domain.centre(static_cast<std::uint32_t>(i));
                for (int k = 0; k < 3; ++k) {
                    low[k] = std::min<double>(low[k], c[k]);
                    high[k] = std::max<double>(high[k], c[k]);
                }
            }
            const Point3 half{(high[0] - low[0]) / 2, (high[1] - low[1]) / 2, (high[2] - low[2]) / 2};
            balls_.push_back(
                {{low[0] + half[0], low[1] + half[1], low[2] + half[2]}, std::hypot(half[0], half[1], half[2])});
        }
    }

    /// Improves on `best` where a leaf is nearer to the segment from a to b (in voxels).
    void find(const Point3& a, const Point3& b, BoneSeeds::Seed& best) const {
        std::vector<double> least(balls_.size());
        for (std::size_t k = 0; k < balls_.size(); ++k)
            least[k] = segment_distance(a, b, balls_[k].centre).distance - balls_[k].radius;
        scan(a, b, static_cast<std::size_t>(std::min_element(least.begin(), least.end()) - least.begin()), best);
        for (std::size_t k = 0; k < balls_.size(); ++k)
            if (least[k] <= best.distance) scan(a, b, k, best);
    }

private:
    static constexpr std::size_t kRun = 64;
    struct Ball {
        Point3 centre;
        double radius;
    };

    void scan(const Point3& a, const Point3& b, std::size_t ball, BoneSeeds::Seed& best) const {
        for (std::size_t i = ball * kRun; i < std::min((ball + 1) * kRun, domain_.leaves.size()); ++i) {
            const auto leaf = static_cast<std::uint32_t>(i);
            const auto c = domain_.centre(leaf);
            const auto d = static_cast<float>(segment_distance(a, b, {c[0], c[1], c[2]}).distance);
            if (d < best.distance || (d == best.distance && leaf < best.leaf)) best = {leaf, d};
        }
    }

    const Domain& domain_;
    std::vector<Ball> balls_;
};

}  // namespace

BoneSeeds seed_bones(const Domain& domain, std::span<const Bone> bones, std::size_t joint_count) {
    BoneSeeds seeds;
    seeds.of_joint.resize(joint_count);
    std::vector<std::vector<const Bone*>> bones_of(joint_count);
    for (const Bone& bone : bones) {
        bones_of[bone.joint].push_back(&bone);
        trace_segment(domain.transform, bone.head, bone.tail, [&](int x, int y, int z) {
            const std::uint32_t leaf = domain.leaf_at(x, y, z);
            if (leaf != Domain::none) seeds.of_joint[bone.joint].push_back({leaf, 0});
        });
    }
    std::optional<NearestLeaf> nearest;  // few characters need it
    for (std::size_t j = 0; j < joint_count; ++j) {
        std::vector<BoneSeeds::Seed>& list = seeds.of_joint[j];
        std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.leaf < b.leaf; });
        list.erase(
            std::unique(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.leaf == b.leaf; }),
            list.end());
        if (!list.empty() || bones_of[j].empty() || domain.leaves.empty()) continue;
        // All of it lies outside: start from the nearest leaf, at that distance.
        if (!nearest) nearest.emplace(domain);
        BoneSeeds::Seed best{0, std::numeric_limits<float>::infinity()};
        for (const Bone* bone : bones_of[j])
            nearest->find(to_voxels(domain.transform, bone->head), to_voxels(domain.transform, bone->tail), best);
        list.push_back(best);
        seeds.snapped.push_back(static_cast<std::uint32_t>(j));
    }
    return seeds;
}

}  // namespace sinew
