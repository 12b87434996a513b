// The tree behind winding_numbers, for queries point by point.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sinew/domain.h"

namespace sinew {

/// Generalized winding numbers of a set of oriented triangles (Jacobson et al. 2013), approximated far away by
/// dipoles (Barill et al. 2018). Building takes O(T log T), a query O(log T) for points off the surface.
class WindingTree {
public:
    /// `turned[t]`: triangle t counts with its winding reversed. Empty = none.
    /// `left_out[t]`: triangle t does not count. Empty = all count.
    WindingTree(const MeshView& mesh, const std::vector<bool>& turned, const std::vector<bool>& left_out = {});

    /// About 1 inside a closed outward-facing surface, 0 outside, in between near holes.
    double operator()(const Vec3& point) const;

    /// The same for kTogether points, which takes least time if they are near each other. Nodes that one of them
    /// needs opened are opened for all, so a result may differ from that of a single point by the error of the
    /// dipoles. The same bits with any vector instructions.
    ///
    /// Large triangles that lie on each other are near all points. Of those near, no more than about `most` are
    /// summed; what is left counts as dipoles, no nearer than the radius of its node. Returns how many were summed.
    static constexpr std::size_t kTogether = 8;
    std::size_t measure(std::span<const Vec3, kTogether> points, std::span<float, kTogether> out,
                        std::size_t most = ~std::size_t{0}) const;

    /// The limit `most` of measure() for each group of a task with this number of points: such that all its groups
    /// together sum at most 2^26 triangles, or 128 each.
    static std::size_t most_of(std::size_t points);

private:
    // A node that is far from the point, in units of its own radius, counts as one dipole: the sum of its
    // triangles' vector areas at their area-weighted centre, with the next term of the expansion.
    struct Node {
        std::array<float, 3> centre{};
        float reach2 = 0;               // (accuracy · radius)²
        std::array<float, 3> dipole{};  // sum of vector areas
        std::uint32_t child = 0;        // inner: the first of two children, side by side; leaf: first triangle
        std::uint32_t count = 0;        // leaf: its triangles; inner: 0
        std::array<float, 9> moment{};  // sum of (triangle's centre - centre) ⊗ vector area
    };
    struct Corners {
        std::array<Vec3, 3> p;
    };

    struct Kernel;
    template <std::size_t N>
    std::size_t measure(const Vec3* points, double* out, std::size_t most) const;

    struct Sums;
    Sums build(std::uint32_t node, std::uint32_t begin, std::uint32_t end, const std::vector<std::uint64_t>& code,
               int bit);
    Sums sum_leaf(std::uint32_t begin, std::uint32_t end) const;
    static Sums merge(const Sums& a, const Sums& b);

    // The tree uses its own unit box, so that any scale of the scene is within the range of float.
    double scale_ = 1;
    std::array<double, 3> origin_{};
    std::vector<Node> nodes_;
    std::vector<Corners> triangles_;  // oriented, in the order of the leaves
};

}  // namespace sinew
