// Steady-state heat by OpenGL: the equations of HeatSolver, solved on graphics hardware.
#pragma once

#include <memory>
#include <string>

#include "field/heat.h"

namespace sinew {

/// The size of a problem, and the limits of a driver.
struct HeatSize {
    std::size_t nodes;  ///< of all levels
    std::size_t links;  ///< of all levels
};
struct HeatLimits {
    std::size_t block_bytes;  ///< of a buffer that a shader reads
    std::size_t groups;       ///< workgroups of one dispatch
};

/// Solves the equations of HeatSolver in compute shaders: conjugate gradients, preconditioned by one V-cycle over
/// HeatLevels. The relaxation is damped Jacobi, which updates all leaves at once, where HeatSolver uses
/// Gauss-Seidel. Numbers and sums are float.
///
/// On one driver the same input gives the same bits: sums are added in a fixed order. Another driver may round
/// differently. Results stay within 1e-3 of HeatSolver (tests/gl/test_heat_gl.cpp).
///
/// Only the thread that opened it may call it.
class HeatHardware {
public:
    /// An error of code io without a driver, of code usage in a build without OpenGL; the message says what to do.
    static Result<std::unique_ptr<HeatHardware>> open();
    virtual ~HeatHardware() = default;

    /// "llvmpipe (LLVM 15.0.6, 256 bits)"
    virtual const std::string& renderer() const = 0;
    /// Whether the driver computes on the processor, where HeatSolver is faster.
    virtual bool software() const = 0;

    /// Uploads the equations, which replace earlier ones.
    virtual Status load(const HeatLevels& levels) = 0;

    /// As HeatSolver::solve, from a start at 0. It is an error of code internal if heat does not converge within
    /// HeatSolver::kMostIterations, or if the result does not solve the equations.
    virtual Result<HeatSolver::Outcome> solve(std::span<const std::vector<HeatSolver::FixedValues>> columns,
                                              std::vector<HeatSolver::Row>& u, double tolerance = 1e-6,
                                              Context* context = nullptr) = 0;
    /// As HeatSolver::diffuse.
    virtual Status diffuse(std::span<const std::vector<HeatSolver::FixedValues>> columns,
                           std::vector<HeatSolver::Row>& u, int sweeps, Context* context = nullptr) = 0;
};

/// An error of code too_large names the exceeded limit.
Status check_heat_size(const HeatSize& size, const HeatLimits& limits);

}  // namespace sinew
