// geodesic-voxel as published by Dionne and de Lasa (2014), against an independent implementation of algorithm 3
// and eq. 7 to 9: Dijkstra's algorithm with a heap, in double, one joint after another. Only voxels and leaves come
// from the library; other tests check them.
//
// The sweep counts in 1/16384 voxel. Against real lengths its distances agree to that rounding; against lengths
// that are rounded in the same way, to the last digit.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <queue>

#include "characters/shapes.h"
#include "sanitized.h"
#include "sinew/voxels.h"
#include "unit/support.h"

namespace sinew::test_published {
namespace {

using test::bound;
using test::Character;
using test::must;

constexpr double kInf = std::numeric_limits<double>::infinity();

// The sweep counts in 1/16384 voxel, so the error of a step is at most half of that. Steps of a whole voxel are
// exact, and all others are longer than the diagonal of a pixel. This bounds the relative error of a distance:
const double kRounding = 0.5 / 16384 / std::sqrt(2.0);
constexpr double kOfFloat = 1.2e-7;  // relative error of float

BindOptions published(int resolution = 64) {
    BindOptions options = preset(Method::geodesic_voxel);
    EXPECT_TRUE(set_option(options, "as-published", "on").ok());
    options.voxels.resolution = resolution;
    return options;
}

using P = std::array<double, 3>;

double length(const P& a, const P& b) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(sum);
}

/// Whether a segment meets a box: the slab test.
bool meets(const P& a, const P& b, const P& low, const P& high) {
    double from = 0, to = 1;
    for (std::size_t k = 0; k < 3; ++k) {
        const double d = b[k] - a[k];
        if (d == 0) {
            if (a[k] < low[k] || a[k] > high[k]) return false;
            continue;
        }
        const double t = (low[k] - a[k]) / d, u = (high[k] - a[k]) / d;
        from = std::max(from, std::min(t, u));
        to = std::min(to, std::max(t, u));
    }
    return from <= to;
}

/// The published method, for skeletons in which all joints deform.
class Paper {
public:
    /// `units_per_voxel`: the length of every step is rounded to a multiple of 1 / units_per_voxel; 0: not rounded.
    Paper(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options, double units_per_voxel = 0)
        : penalty_(options.penalty), units_per_voxel_(units_per_voxel), skeleton_(skeleton) {
        const VoxelGrid grid = must(voxelize(mesh, analyse_mesh(mesh), options.voxels));
        g_ = grid.transform;
        domain_ = must(
            build_domain(grid, make_bones(skeleton), options.domain, nullptr, Neighbours::all, MixedCells::whole));
        const auto r = static_cast<std::size_t>(g_.resolution);
        leaf_of_.assign(r * r * r, no_index);
        for (std::uint32_t i = 0; i < domain_.leaves.size(); ++i) {
            const Domain::Leaf& l = domain_.leaves[i];
            const int n = 1 << l.level;
            for (int z = l.z; z < l.z + n; ++z)
                for (int y = l.y; y < l.y + n; ++y)
                    for (int x = l.x; x < l.x + n; ++x) leaf_of_[place(x, y, z)] = i;
        }
        find_neighbours();
        for (std::uint32_t j = 0; j < skeleton.joints.size(); ++j) measure(j);
    }

    /// Eq. 7, in scene units; +inf without a path to the bone.
    double distance(std::uint32_t joint, const Vec3& vertex) const {
        const P p = to_voxels(vertex);
        const std::uint32_t leaf =
            leaf_of_.at(place(static_cast<int>(std::floor(p[0])), static_cast<int>(std::floor(p[1])),
                              static_cast<int>(std::floor(p[2]))));
        if (leaf == no_index) return kInf;
        return g_.voxel * (field_[joint][leaf] + length(p, centre(leaf)));
    }
    int level_at(const Vec3& vertex) const {
        const P p = to_voxels(vertex);
        return domain_.leaves
            .at(leaf_of_.at(place(static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2]))))
            .level;
    }
    double unit() const { return g_.unit; }
    const Domain& domain() const { return domain_; }

private:
    std::size_t place(int x, int y, int z) const {
        const auto r = static_cast<std::size_t>(g_.resolution);
        return (static_cast<std::size_t>(z) * r + static_cast<std::size_t>(y)) * r + static_cast<std::size_t>(x);
    }
    P to_voxels(const Vec3& p) const {
        return {(p.x - g_.origin[0]) / g_.voxel, (p.y - g_.origin[1]) / g_.voxel, (p.z - g_.origin[2]) / g_.voxel};
    }
    P centre(std::uint32_t leaf) const {
        const Domain::Leaf& l = domain_.leaves[leaf];
        const double half = 0.5 * (1 << l.level);
        return {l.x + half, l.y + half, l.z + half};
    }

    // All leaves that share a face, an edge or a corner.
    void find_neighbours() {
        neighbours_.resize(domain_.leaves.size());
        for (std::uint32_t i = 0; i < domain_.leaves.size(); ++i) {
            const Domain::Leaf& l = domain_.leaves[i];
            const int n = 1 << l.level, r = g_.resolution;
            std::vector<std::uint32_t>& list = neighbours_[i];
            for (int z = l.z - 1; z <= l.z + n; ++z)
                for (int y = l.y - 1; y <= l.y + n; ++y)
                    for (int x = l.x - 1; x <= l.x + n; ++x) {
                        if (std::min({x, y, z}) < 0 || std::max({x, y, z}) >= r) continue;
                        const std::uint32_t j = leaf_of_[place(x, y, z)];
                        if (j != no_index && j != i) list.push_back(j);
                    }
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
        }
    }

    // Algorithm 3.
    void measure(std::uint32_t joint) {
        std::vector<double>& d = field_.emplace_back(domain_.leaves.size(), kInf);
        using Entry = std::pair<double, std::uint32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
        const auto seed = [&](const Vec3& head, const Vec3& tail) {
            const P a = to_voxels(head), b = to_voxels(tail);
            for (std::uint32_t i = 0; i < domain_.leaves.size(); ++i) {
                const Domain::Leaf& l = domain_.leaves[i];
                const double n = 1 << l.level;
                if (d[i] == 0 || !meets(a, b, {double(l.x), double(l.y), double(l.z)}, {l.x + n, l.y + n, l.z + n}))
                    continue;
                d[i] = 0;
                queue.push({0, i});
            }
        };
        const Joint& j = skeleton_.joints[joint];
        bool leaf = true;
        for (const Joint& child : skeleton_.joints) {
            if (child.parent != static_cast<int>(joint)) continue;
            leaf = false;
            seed(j.position, child.position);
        }
        if (leaf) seed(j.position, j.tail.value_or(j.position));
        while (!queue.empty()) {
            const auto [at, i] = queue.top();
            queue.pop();
            if (at > d[i]) continue;
            for (const std::uint32_t k : neighbours_[i]) {
                const double b = domain_.leaves[k].boundary ? penalty_ : 1;
                const double way = at + step(b * length(centre(i), centre(k)));
                if (way >= d[k]) continue;
                d[k] = way;
                queue.push({way, k});
            }
        }
    }

    double step(double length) const {
        return units_per_voxel_ == 0 ? length : std::round(length * units_per_voxel_) / units_per_voxel_;
    }

    double penalty_, units_per_voxel_;
    const Skeleton& skeleton_;
    GridTransform g_;
    Domain domain_;
    std::vector<std::uint32_t> leaf_of_;  // by voxel
    std::vector<std::vector<std::uint32_t>> neighbours_;
    std::vector<std::vector<double>> field_;  // by joint, then by leaf; voxels
};

struct Near {
    double distance;
    std::uint32_t joint;
    auto operator<=>(const Near&) const = default;
};

/// Joints that reach a vertex, nearest first.
std::vector<Near> nearest(const Paper& paper, std::size_t joints, const Vec3& vertex) {
    std::vector<Near> row;
    for (std::uint32_t j = 0; j < joints; ++j)
        if (const double d = paper.distance(j, vertex); d < kInf) row.push_back({d, j});
    std::sort(row.begin(), row.end());
    return row;
}

/// One row of the table of a binding.
std::vector<Near> row_of(const DistanceTable& table, std::size_t vertex) {
    std::vector<Near> row;
    for (std::size_t k = 0; k < table.width; ++k)
        if (const std::size_t at = vertex * table.width + k; table.joint[at] != no_index)
            row.push_back({table.distance[at], table.joint[at]});
    return row;
}

/// Eq. 8 and 9 for the nearest four, normalised. d_tol is 0.001.
std::vector<double> weights_of(std::span<const Near> row, double unit, double alpha) {
    const double lambda = (1 - alpha) * 5 + alpha * 30;
    std::vector<double> w;
    double sum = 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(row.size(), 4); ++k) {
        w.push_back(
            std::pow(std::max(1e-3, row[k].distance / unit) / std::max(1e-3, row[0].distance / unit), -lambda));
        sum += w.back();
    }
    for (double& x : w) x /= sum;
    return w;
}

void expect_the_paper(const Character& c, const BindOptions& options) {
    SCOPED_TRACE(c.name + " at " + std::to_string(options.voxels.resolution));
    const Paper paper(c.mesh(), c.skeleton, options);
    const Binding binding = bound(c, options);
    const SkinWeights weights = must(binding.weights());
    const DistanceTable& table = binding.distances();
    ASSERT_EQ(binding.report().leaves, paper.domain().leaves.size());
    const double alpha = options.falloff.alpha, lambda = (1 - alpha) * 5 + alpha * 30;
    double worst_distance = 0, worst_weight = 0;  // relative to the tolerance
    std::size_t checked = 0, tied = 0;
    for (std::size_t v = 0; v < c.positions.size(); ++v) {
        if (binding.coverage()[v] != Coverage::weighted) continue;  // not defined by the paper
        const std::vector<Near> row = row_of(table, v);
        const std::vector<Near> real = nearest(paper, c.skeleton.joints.size(), c.positions[v]);
        ASSERT_EQ(row.size(), std::min(real.size(), table.width)) << "vertex " << v;
        for (std::size_t k = 0; k < row.size(); ++k) {
            // Joints at equal distance may come in either order.
            for (const double d : {real[k].distance, paper.distance(row[k].joint, c.positions[v])}) {
                const double allowed = d * (kRounding + kOfFloat);
                worst_distance = std::max(worst_distance, std::abs(row[k].distance - d) / allowed);
            }
        }
        const std::size_t kept = std::min<std::size_t>(real.size(), 4);
        if (real.size() > 4 && real[4].distance <= real[3].distance * (1 + 3 * kRounding)) {
            // The fourth joint is ambiguous. This is frequent: a leaf joint without a tail is a point at the end of
            // its parent's bone, so places beyond are equally far from both.
            ++tied;
            continue;
        }
        const std::vector<double> w = weights_of(real, paper.unit(), alpha);
        ASSERT_LE(weights[v].size(), kept);
        for (std::size_t k = 0; k < kept; ++k) {
            // To first order λ times the error of two distances, plus the rounding of float.
            const double allowed = 1.01 * 2 * lambda * (kRounding + kOfFloat) * w[k] * (1 - w[k]) + kOfFloat;
            const double found = test::weight_of(weights, v, real[k].joint);
            worst_weight = std::max(worst_weight, std::abs(found - w[k]) / allowed);
            // From the library's own distances the weights agree to float precision.
            const std::vector<double> own = weights_of(row, table.unit, alpha);
            EXPECT_NEAR(test::weight_of(weights, v, row[k].joint), own[k], 2e-7) << "vertex " << v;
        }
        ++checked;
    }
    ::testing::Test::RecordProperty("distance_error_of_allowed", std::to_string(worst_distance));
    ::testing::Test::RecordProperty("weight_error_of_allowed", std::to_string(worst_weight));
    if (std::getenv("SINEW_PAPER_TABLE"))
        std::printf("%s at %d: %zu vertices, %zu tied, error of distance %.3g, of weight %.3g of what is allowed\n",
                    c.name.c_str(), options.voxels.resolution, checked, tied, worst_distance, worst_weight);
    EXPECT_LE(worst_distance, 1);
    EXPECT_LE(worst_weight, 1);
    EXPECT_GT(checked, c.positions.size() / 2);
}

TEST(AsPublished, DistancesAndWeightsAreThoseOfAlgorithm3AndEquations7To9) {
    if (!test::sanitized) {
        expect_the_paper(test::biped(), published(64));
        expect_the_paper(test::quadruped(), published(128));
        expect_the_paper(test::caped(), published(64));
    }
    BindOptions other = published(64);
    other.penalty = 1.7f;
    other.falloff.alpha = 0.3f;
    expect_the_paper(test::quadruped(), other);
    other.domain = DomainKind::sparse_boundary;
    expect_the_paper(test::quadruped(), other);
    other.domain = DomainKind::uniform;
    expect_the_paper(test::u_tube(), other);
}

// The only freedom of the library is the unit of its steps. With steps in that unit, every distance is that of
// algorithm 3 and eq. 7, rounded to float.
TEST(AsPublished, DistancesEqualAlgorithm3ToTheLastDigit) {
    for (const Character& c : {test::biped(), test::quadruped(), test::caped()})
        for (const float penalty : {4.0f, 1.7f}) {
            if (test::sanitized && (c.name != "quadruped" || penalty != 4.0f)) continue;
            SCOPED_TRACE(c.name + ", penalty " + std::to_string(penalty));
            BindOptions options = published(64);
            options.penalty = penalty;
            options.finish.max_influences = all_influences;
            const Paper paper(c.mesh(), c.skeleton, options, 16384);
            const Binding binding = bound(c, options);
            std::size_t checked = 0, wrong = 0;
            for (std::size_t v = 0; v < c.positions.size(); ++v) {
                if (binding.coverage()[v] != Coverage::weighted) continue;
                const std::vector<Near> row = row_of(binding.distances(), v);
                ASSERT_EQ(row.size(), nearest(paper, c.skeleton.joints.size(), c.positions[v]).size());
                for (const Near& found : row) {
                    const auto expected = static_cast<float>(paper.distance(found.joint, c.positions[v]));
                    const auto own = static_cast<float>(found.distance);
                    // Eq. 7 may be summed in another order, which can round to the next float.
                    wrong += own != expected && std::nextafter(own, expected) != expected;
                    ++checked;
                }
            }
            EXPECT_EQ(wrong, 0u);
            EXPECT_GT(checked, c.positions.size() * 4);
        }
}

TEST(AsPublished, AllJointsInOneSweep) {
    const Character c = test::quadruped();
    BindOptions options = published(64);
    options.finish.max_influences = all_influences;
    const Paper paper(c.mesh(), c.skeleton, options);
    for (const bool keep : {false, true}) {
        options.keep_volume = keep;
        const Binding binding = bound(c, options);
        double worst = 0;
        for (std::size_t v = 0; v < c.positions.size(); ++v)
            for (const Near& found : row_of(binding.distances(), v)) {
                const double d = paper.distance(found.joint, c.positions[v]);
                worst = std::max(worst, std::abs(found.distance - d) / (d * (kRounding + kOfFloat)));
            }
        EXPECT_LE(worst, 1);
    }
}

TEST(AsPublished, BonesEndAtTheirTails) {
    const Character c = test::biped();
    BindOptions options = published();
    const std::vector<Bone> given = make_bones(c.skeleton);
    const auto ends = [](const std::vector<Bone>& bones) {
        std::vector<Vec3> out;
        for (const Bone& b : bones) out.push_back(b.tail);
        return out;
    };
    const Binding binding = bound(c, options);
    EXPECT_EQ(ends(binding.bones()), ends(given));
    const auto points = std::count_if(given.begin(), given.end(), [](const Bone& b) { return b.head == b.tail; });
    ASSERT_GT(points, 0);
    ASSERT_FALSE(binding.report().warnings.empty());
    EXPECT_EQ(binding.report().warnings.back().find(std::to_string(points) + " leaf joints state no tail"), 0u);
    options.as_published = false;
    const Binding usual = bound(c, options);
    EXPECT_NE(ends(usual.bones()), ends(given)) << "without the option, bones of leaf joints are lengthened";
    for (const std::string& warning : usual.report().warnings)  // of short bones, at this resolution
        EXPECT_EQ(warning.find("leaf joints state no tail"), std::string::npos) << warning;
}

TEST(AsPublished, BridgesLeadOnlyToPartsWithoutBones) {
    // A block that floats between the two tips of a U is a shortcut if bridges may lead to it.
    const Character tube = test::u_tube();
    Character blocked = tube;
    float top = -INFINITY;
    for (const Vec3& p : tube.positions) top = std::max(top, p.y);
    const float middle = (tube.skeleton.joints[tube.joint("left")].position.x +
                          tube.skeleton.joints[tube.joint("right")].position.x) /
                         2;
    const test::Shape block = test::box({middle, top - 0.1, 0}, {0.02, 0.05, 0.05});
    append(blocked, block.positions, block.triangles, 0);
    const std::size_t own = tube.positions.size();
    const auto rows = [&](const Character& c, bool as_published) {
        BindOptions options = published(128);
        options.as_published = as_published;
        const Binding b = bound(c, options);
        if (c.positions.size() > own) {
            EXPECT_EQ(b.report().bridged_components, 1u);
            EXPECT_EQ(b.report().coverage[std::size_t(Coverage::bridged)], c.positions.size() - own);
            EXPECT_EQ(b.report().covered(), 1);
        }
        std::vector<std::vector<Near>> out;
        for (std::size_t v = 0; v < own; ++v) out.push_back(row_of(b.distances(), v));
        return out;
    };
    EXPECT_EQ(rows(tube, true), rows(blocked, true));
    EXPECT_NE(rows(tube, false), rows(blocked, false))
        << "the block is no shortcut without bridges to parts with bones";
}

TEST(AsPublished, ABoneOutsideTheVolumeBindsNothing) {
    const Character c = test::quadruped();
    Skeleton more = c.skeleton;
    Joint far;
    far.name = "far";
    far.position = {5, 5, 5};
    more.joints.push_back(far);
    BindOptions options = published();
    const Binding without = bound(c, options), with = bound(c.mesh(), more, options);
    EXPECT_EQ(with.distances().joint, without.distances().joint);
    EXPECT_EQ(with.distances().distance, without.distances().distance);
    EXPECT_EQ(with.report().snapped_joints, std::vector{static_cast<std::uint32_t>(c.skeleton.joints.size())});
    ASSERT_FALSE(with.report().warnings.empty());
    EXPECT_EQ(with.report().warnings.back(),
              "joint 'far' lies outside the volume; as published, no distance starts from it");
}

TEST(AsPublished, AnotherMeshReadsItsOwnLeaves) {
    Character c = test::quadruped();
    BindOptions options = published();
    options.keep_volume = true;
    const Binding binding = bound(c, options);
    const Paper paper(c.mesh(), c.skeleton, options);
    // Other meshes: one triangle removed, a small one inside the body, and one outside.
    Character other = c;
    other.triangles.pop_back();
    std::vector<Vec3> inside;
    for (std::size_t j = 0; j + 1 < c.skeleton.joints.size(); ++j) {
        const Vec3 p = c.skeleton.joints[j].position, q = c.skeleton.joints[j + 1].position;
        const Vec3 at{(3 * p.x + q.x) / 4 + 0.02f, (3 * p.y + q.y) / 4 + 0.03f, (3 * p.z + q.z) / 4};
        if (paper.distance(0, at) < kInf) inside.push_back(at);
    }
    ASSERT_GE(inside.size(), 3u);
    const auto first = static_cast<std::uint32_t>(other.positions.size());
    other.positions.insert(other.positions.end(), inside.begin(), inside.end());
    other.positions.push_back({c.positions[0].x, c.positions[0].y + 0.5f, c.positions[0].z});
    for (std::uint32_t v = first; v + 2 < other.positions.size(); ++v) other.triangles.push_back({v, v + 1, v + 2});
    const Binding again = must(binding.rebind(other.mesh(), other.skeleton));
    int coarse = 0;
    for (std::size_t v = 0; v < other.positions.size(); ++v) {
        const std::vector<Near> row = row_of(again.distances(), v);
        if (v < c.positions.size()) {
            ASSERT_EQ(row, row_of(binding.distances(), v));
        } else if (again.coverage()[v] == Coverage::weighted) {
            coarse += paper.level_at(other.positions[v]) > 0;
            for (const Near& found : row) {
                const double d = paper.distance(found.joint, other.positions[v]);
                EXPECT_NEAR(found.distance, d, d * (kRounding + kOfFloat));
            }
        }
    }
    EXPECT_GT(coarse, 0);
    EXPECT_EQ(again.coverage().back(), Coverage::outside);

    const Binding read = must(Binding::from_bytes(binding.to_bytes()));
    EXPECT_TRUE(read.options().as_published);
    EXPECT_EQ(read.options().finish.prune, 0);
    EXPECT_EQ(must(read.weights()), must(binding.weights()));
    EXPECT_EQ(must(read.rebind(other.mesh(), other.skeleton)).distances().distance, again.distances().distance);
}

TEST(AsPublished, MovedJointsEqualAFreshBind) {
    const Character c = test::caped();
    BindOptions options = published();
    options.keep_volume = true;
    const Binding binding = bound(c, options);
    const std::uint32_t joint = 5;
    Vec3 to = c.skeleton.joints[joint].position;
    to.x += 0.03f;
    for (const Binding& from : {binding, must(Binding::from_bytes(binding.to_bytes()))}) {
        const Binding moved = must(from.move_joint(c.mesh(), joint, to));
        const Binding fresh = bound(c.mesh(), moved.skeleton(), options);
        EXPECT_EQ(moved.distances().distance, fresh.distances().distance);
        EXPECT_EQ(must(moved.weights()), must(fresh.weights()));
        EXPECT_NE(must(moved.weights()), must(binding.weights()));
        EXPECT_TRUE(moved.options().as_published);
        EXPECT_TRUE(moved.keeps_volume());
    }
}

// Section 3: with every triangle cut into four, vertices that were there before keep their weights.
TEST(AsPublished, WeightsDoNotDependOnTheResolutionOfTheMesh) {
    Character coarse = test::biped({.cell = 0.03}), fine = coarse;
    fine.triangles.clear();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> middle;
    const auto between = [&](std::uint32_t a, std::uint32_t b) {
        const auto [at, fresh] = middle.try_emplace(std::minmax(a, b), fine.positions.size());
        const Vec3 p = fine.positions[a], q = fine.positions[b];
        if (fresh) fine.positions.push_back({(p.x + q.x) / 2, (p.y + q.y) / 2, (p.z + q.z) / 2});
        return at->second;
    };
    for (const auto& [a, b, c] : coarse.triangles) {
        const std::uint32_t ab = between(a, b), bc = between(b, c), ca = between(c, a);
        for (const Triangle& t : {Triangle{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}})
            fine.triangles.push_back(t);
    }
    const auto mean_change = [&](const BindOptions& options) {
        const SkinWeights from = must(bound(coarse, options).weights()), to = must(bound(fine, options).weights());
        double sum = 0;
        for (std::size_t v = 0; v < from.vertex_count(); ++v) {
            for (const Influence& i : from[v]) sum += std::abs(i.weight - test::weight_of(to, v, i.joint));
            for (const Influence& i : to[v])
                if (test::weight_of(from, v, i.joint) == 0) sum += i.weight;
        }
        return sum / static_cast<double>(from.vertex_count());
    };
    EXPECT_LT(mean_change(published(128)), 1e-4);
    EXPECT_LT(mean_change(preset(Method::geodesic_voxel)), 1e-3);
    EXPECT_LT(mean_change(BindOptions{}), 0.05);  // heat along the triangles themselves
}

TEST(AsPublished, TheSameBitsOnAnyNumberOfThreads) {
    const Character c = test::caped();
    const BindOptions options = published(128);
    const Binding one = bound(c, options, 1), four = bound(c, options, 4);
    EXPECT_EQ(one.distances().joint, four.distances().joint);
    EXPECT_EQ(one.distances().distance, four.distances().distance);
}

TEST(AsPublished, SetsTheOptionsOfThePaper) {
    BindOptions o = preset(Method::geodesic_voxel);
    for (const auto& [name, value] : {std::pair{"resolution", "64"},
                                      {"penalty", "9"},
                                      {"falloff", "0.7"},
                                      {"max-influences", "8"},
                                      {"winding-numbers", "off"},
                                      {"domain", "uniform"},
                                      {"local-resolution", "on"}})
        ASSERT_TRUE(set_option(o, name, value).ok());
    ASSERT_TRUE(set_option(o, "as-published", "on").ok());
    EXPECT_TRUE(check(o).ok());
    EXPECT_EQ(o.voxels.resolution, 256);
    EXPECT_EQ(o.penalty, 4);
    EXPECT_EQ(o.falloff.alpha, 0.1f);
    EXPECT_EQ(o.falloff.lambda_min, 5);
    EXPECT_EQ(o.falloff.lambda_max, 30);
    EXPECT_EQ(o.falloff.law, FalloffLaw::inverse_power);
    EXPECT_EQ(o.finish.max_influences, 4);
    EXPECT_EQ(o.finish.limit_rule, LimitRule::cut);
    EXPECT_EQ(o.finish.prune, 0);
    EXPECT_EQ(o.overshoot, 0);
    EXPECT_EQ(o.domain, DomainKind::sparse);
    EXPECT_TRUE(o.voxels.winding_numbers);
    EXPECT_EQ(o.voxels.view_pairs, ViewPairs::either);
    EXPECT_FALSE(o.local_resolution);
    // A later option changes only itself.
    ASSERT_TRUE(set_option(o, "resolution", "64").ok());
    EXPECT_TRUE(o.as_published);
    EXPECT_TRUE(check(o).ok());
    ASSERT_TRUE(set_option(o, "as-published", "off").ok());
    EXPECT_FALSE(o.as_published);
    EXPECT_EQ(o.voxels.resolution, 64);
}

TEST(AsPublished, RefusesOptionsThatAreNotInThePaper) {
    const auto refusal = [](auto&& change) {
        BindOptions o = published();
        change(o);
        const Status checked = check(o);
        return checked ? std::string() : checked.error().message;
    };
    EXPECT_EQ(refusal([](BindOptions&) {}), "");
    EXPECT_EQ(refusal([](BindOptions& o) { o.overshoot = 0.1f; }),
              "`as-published`: the paper adds no `overshoot`; it must be 0");
    EXPECT_EQ(refusal([](BindOptions& o) { o.local_resolution = true; }),
              "`as-published`: the paper has voxels of one size; leave out `local-resolution`");
    EXPECT_NE(refusal([](BindOptions& o) {
                  o = preset(Method::surface_heat);
                  o.as_published = true;
              }).find("geodesic-voxel"),
              std::string::npos);
}

TEST(SparseBoundary, IsForGeodesicVoxelOnly) {
    for (const MethodInfo& m : methods()) {
        BindOptions o = preset(m.method);
        o.domain = DomainKind::sparse_boundary;
        if (o.voxels.resolution == 0) o.voxels.resolution = 64;
        EXPECT_EQ(check(o).ok(), m.method == Method::geodesic_voxel) << m.name;
        o.local_resolution = true;
        EXPECT_FALSE(check(o).ok()) << m.name;
    }
}

TEST(SparseBoundary, ABoneStartsFromEveryLeafThatItCrosses) {
    const Character c = test::quadruped();
    const VoxelGrid grid = must(voxelize(c.mesh(), analyse_mesh(c.mesh()), {64}));
    const std::vector<Bone> bones = make_bones(c.skeleton);
    const Domain fine = must(build_domain(grid, bones, DomainKind::sparse)),
                 coarse = must(build_domain(grid, bones, DomainKind::sparse_boundary));
    EXPECT_LT(coarse.leaves.size(), fine.leaves.size());
    const BoneSeeds of_fine = seed_bones(fine, bones, c.skeleton.joints.size()),
                    of_coarse = seed_bones(coarse, bones, c.skeleton.joints.size());
    EXPECT_EQ(of_coarse.snapped, of_fine.snapped);
    bool larger = false;
    for (std::size_t j = 0; j < c.skeleton.joints.size(); ++j) {
        std::vector<std::uint32_t> expected, found;
        for (const auto& seed : of_fine.of_joint[j]) {
            const Domain::Leaf& l = fine.leaves[seed.leaf];
            expected.push_back(coarse.leaf_at(l.x, l.y, l.z));
        }
        std::sort(expected.begin(), expected.end());
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
        for (const auto& seed : of_coarse.of_joint[j]) {
            found.push_back(seed.leaf);
            EXPECT_EQ(seed.distance, 0);
            larger = larger || coarse.leaves[seed.leaf].level > 1;
        }
        EXPECT_EQ(found, expected);
    }
    EXPECT_TRUE(larger);
}

TEST(SparseBoundary, TheSameBitsOnAnyNumberOfThreads) {
    const Character c = test::quadruped();
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = 128;
    options.domain = DomainKind::sparse_boundary;
    const Binding one = bound(c, options, 1), four = bound(c, options, 4);
    EXPECT_EQ(one.report().covered(), 1);
    EXPECT_EQ(one.distances().joint, four.distances().joint);
    EXPECT_EQ(one.distances().distance, four.distances().distance);
    const Binding read = must(Binding::from_bytes(one.to_bytes()));
    EXPECT_EQ(read.options().domain, DomainKind::sparse_boundary);
}

}  // namespace
}  // namespace sinew::test_published
