// Helpers of several unit tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "characters/characters.h"
#include "sinew/bind.h"

namespace sinew::test {

/// The value of a result that must succeed.
template <typename T>
T must(Result<T> result) {
    EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message);
    return std::move(*result);
}

inline Binding bound(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options, int threads = 0) {
    Context context;
    context.threads = threads;
    return must(bind(mesh, skeleton, options, &context));
}
inline Binding bound(const Character& c, const BindOptions& options, int threads = 0) {
    return bound(c.mesh(), c.skeleton, options, threads);
}

/// geodesic-voxel with a kept volume.
inline BindOptions keeping(int resolution, int max_influences = 4) {
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = resolution;
    options.finish.max_influences = max_influences;
    options.keep_volume = true;
    return options;
}

inline float weight_of(std::span<const Influence> row, std::uint32_t joint) {
    for (const Influence& i : row)
        if (i.joint == joint) return i.weight;
    return 0;
}
inline float weight_of(const SkinWeights& weights, std::size_t vertex, std::uint32_t joint) {
    return weight_of(weights[vertex], joint);
}

/// The influences of each vertex.
using Rows = std::vector<std::vector<Influence>>;

inline SkinWeights weights_of(const Rows& rows) {
    std::vector<std::uint32_t> counts;
    std::vector<Influence> all;
    for (const auto& row : rows) {
        counts.push_back(static_cast<std::uint32_t>(row.size()));
        all.insert(all.end(), row.begin(), row.end());
    }
    return must(SkinWeights::from_rows(counts, std::move(all)));
}

/// Random triangles between points of a coarse lattice, so that many positions coincide. Sizes range from 1e-20 to
/// 1e13; in some rounds a few points are far away. One to six joints at random positions.
inline Character random_soup(int round, std::mt19937& random) {
    const float scales[] = {1e-20f, 1, 1e13f};
    const auto point = [&]() -> Vec3 {
        const float size = (round % 3 == 2 && random() % 16 == 0 ? 1e4f : 1) * scales[round % 5 % 3];
        return {size * float(random() % 9), size * float(random() % 9), size * float(random() % 5)};
    };
    Character c;
    c.positions.resize(20 + random() % 60);
    for (Vec3& p : c.positions) p = point();
    for (int t = 0; t < 80; ++t) {
        Triangle triangle;
        for (std::uint32_t& v : triangle) v = std::uint32_t(random() % c.positions.size());
        c.triangles.push_back(triangle);
    }
    c.skeleton.joints.resize(1 + random() % 6);
    for (std::size_t j = 0; j < c.skeleton.joints.size(); ++j) {
        c.skeleton.joints[j].name = "joint" + std::to_string(j);
        c.skeleton.joints[j].parent = int(random() % (j + 1)) - 1;
        c.skeleton.joints[j].position = point();
    }
    return c;
}

/// The reference for every solver: Gaussian elimination with pivoting of n equations [A | B] in n unknowns. Row i
/// of the result is unknown i for each column of B.
inline std::vector<std::vector<double>> eliminate(std::vector<std::vector<double>> a) {
    const std::size_t n = a.size();
    for (std::size_t p = 0; p < n; ++p) {
        std::size_t pivot = p;
        for (std::size_t i = p; i < n; ++i)
            if (std::abs(a[i][p]) > std::abs(a[pivot][p])) pivot = i;
        std::swap(a[p], a[pivot]);
        for (std::size_t i = p + 1; i < n; ++i) {
            const double f = a[i][p] / a[p][p];
            if (f == 0) continue;
            for (std::size_t k = p; k < a[i].size(); ++k) a[i][k] -= f * a[p][k];
        }
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t c = n; c < a[i].size(); ++c) {
            for (std::size_t k = i + 1; k < n; ++k) a[i][c] -= a[i][k] * a[k][c];
            a[i][c] /= a[i][i];
        }
    }
    for (auto& row : a) row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(n));
    return a;
}

}  // namespace sinew::test
