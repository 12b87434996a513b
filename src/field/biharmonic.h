// Bounded biharmonic weights over a domain (Jacobson, Baran, Popović, Sorkine 2011, "Bounded biharmonic weights for
// real-time deformation"), on leaves of several sizes as seed 003, section 9, proposes.
#pragma once

#include <array>

#include "field/conduction.h"

namespace sinew {

/// Minimises ½ Σᵢ (L w)ᵢ² / Vᵢ for 0 ≤ w ≤ 1 with w held at some leaves; V the volume of leaves. A field per joint,
/// each for itself.
///
/// L is the Laplacian by finite volumes, without flow through the skin. Between leaves of one size it is that of
/// Conduction. A leaf beside smaller ones has one flow through each of its sides, from the mean of the small ones
/// there to itself (Losasso, Fedkiw, Osher 2006), shared by area: symmetric, and zero for linear fields, which the
/// energy must not bend. (Two-point flows are not, and the square of L would punish it.)
///
/// Accelerated projected gradients (Beck, Teboulle 2009) in a diagonal metric, with the step that Gershgorin's
/// circles allow; begun again where the momentum points uphill (O'Donoghue, Candès 2015). The bounds hold at every
/// step.
class BiharmonicSolver {
public:
    static constexpr std::size_t kColumns = 8;
    using Row = std::array<double, kColumns>;

    /// `held`: per leaf, the same for every field. O(links). Keeps references to both.
    BiharmonicSolver(const Domain& domain, const Conduction& conduction, const std::vector<bool>& held);

    struct Outcome {
        int iterations = 0;
        double residual = 0;  ///< of the worst column: what a step without momentum would still change
        bool converged = true;
    };

    /// Improves `w` (N rows), which brings the values of held leaves and where to start. Ends where no step changes
    /// any leaf by more than `tolerance`, or after `most` iterations. Sequential, const, reentrant; what is in one
    /// column changes no bit of another. Time per leaf, column and iteration about 40 operations; memory 4 rows a
    /// leaf.
    Outcome solve(std::vector<Row>& w, double tolerance, int most, Context* context = nullptr) const;

    /// out = L w.
    void laplacian(const std::vector<Row>& w, std::vector<Row>& out) const;
    /// ½ Σ (L w)² / V of every column.
    Row energy(const std::vector<Row>& w) const;

private:
    // One side of a leaf with smaller ones beside it.
    struct Side {
        std::uint32_t large, first;  // its members: member_[first .. next side's first)
        double conductance;
    };
    struct Member {
        std::uint32_t leaf;
        double share;  // of the area
    };

    const Conduction& conduction_;
    std::vector<std::uint32_t> first_, to_;  // links between leaves of one size, and bridges
    std::vector<double> conductance_, diagonal_;
    std::vector<Side> side_;  // and one past the end
    std::vector<Member> member_;
    std::vector<double> step_;  // per leaf: how far a slope of 1 moves it; 0 where held
};

}  // namespace sinew
