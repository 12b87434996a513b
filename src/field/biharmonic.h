// Bounded biharmonic weights over a domain (Jacobson et al. 2011), on leaves of several sizes as Dionne and de
// Lasa (2014, section 9) propose.
#pragma once

#include <array>

#include "field/conduction.h"

namespace sinew {

/// Minimises ½ Σᵢ (L w)ᵢ² / Vᵢ for 0 ≤ w ≤ 1 with fixed w at some leaves; V is the volume of leaves. One field
/// per joint; fields are independent.
///
/// L is the finite-volume Laplacian without flow through the skin. Between leaves of one size it is the one of
/// Conduction. A leaf next to smaller ones has one flow through each of its sides, from the mean of the small
/// leaves at that side (Losasso et al. 2006), shared by area. This is symmetric, and zero for linear fields,
/// which must have no bending energy. Two-point flows are not zero for linear fields, and the square of L would
/// penalise these.
///
/// Accelerated projected gradients (Beck and Teboulle 2009) in a diagonal metric, with the step size from
/// Gershgorin's circles. Restarts when the momentum points uphill (O'Donoghue and Candès 2015). The bounds hold
/// at every step.
class BiharmonicSolver {
public:
    static constexpr std::size_t kColumns = 8;
    using Row = std::array<double, kColumns>;

    /// `fixed`: per leaf, whether its value is fixed; the same for every field. O(links). Keeps references to
    /// both.
    BiharmonicSolver(const Domain& domain, const Conduction& conduction, const std::vector<bool>& fixed);

    struct Outcome {
        int iterations = 0;
        double residual = 0;  ///< of the worst column: the change by a step without momentum
        bool converged = true;
    };

    /// Improves `w` (N rows), which contains the fixed values and the initial guess. Ends when no step changes
    /// a leaf by more than `tolerance`, or after `most` iterations. Sequential, const, reentrant; columns do
    /// not affect each other. Time per leaf, column and iteration about 40 operations; memory 4 rows a leaf.
    Outcome solve(std::vector<Row>& w, double tolerance, int most, Context* context = nullptr) const;

    /// out = L w.
    void laplacian(const std::vector<Row>& w, std::vector<Row>& out) const;
    /// ½ Σ (L w)² / V for every column.
    Row energy(const std::vector<Row>& w) const;

private:
    // One side of a leaf that has smaller leaves next to it.
    struct Side {
        std::uint32_t large, first;  // its members: member_[first .. first of the next side)
        double conductance;
    };
    struct Member {
        std::uint32_t leaf;
        double share;  // share of the area
    };

    const Conduction& conduction_;
    std::vector<std::uint32_t> first_, to_;  // links between leaves of one size, and bridges
    std::vector<double> conductance_, diagonal_;
    std::vector<Side> side_;  // with one entry past the end
    std::vector<Member> member_;
    std::vector<double> step_;  // per leaf: change for a slope of 1; 0 for fixed leaves
};

}  // namespace sinew
