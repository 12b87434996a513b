// sinew/transfer.h: weights from one mesh to another that lies on it or around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/weights.h"

namespace sinew {

/// The origin of a vertex's weights in a transfer.
enum class TransferHow : std::uint8_t {
    matched,    ///< the nearest point of the source, which is close and faces the same way
    inpainted,  ///< interpolated smoothly from the matched vertices of its part
    nearest,    ///< no vertex of its part matches: the nearest point of the source at any distance
    unused,     ///< the vertex belongs to no triangle: the nearest point of the source at any distance
};
std::string_view to_string(TransferHow how);

struct TransferOptions {
    float distance = 0.05f;  ///< largest distance of a match, in diagonals of the source's box; (0, 10]
    double diagonal = 0;     ///< of the source without what is far (near_diagonal); 0: of its box
    float angle = 30;        ///< largest angle between the normals of a match, degrees, 0..180
    FinishOptions finish;
};
/// Checks the ranges. The error names the option.
Status check(const TransferOptions& options);

struct Transfer {
    SkinWeights weights;                  ///< of the target, on the joints of the source
    std::vector<TransferHow> how;         ///< per vertex of the target
    std::array<std::size_t, 4> counts{};  ///< number of vertices by TransferHow
    std::vector<std::string> warnings;
    /// Fraction of matched and inpainted vertices among those that belong to a triangle, 0..1.
    double covered() const;
    /// Fraction of matched vertices among those, 0..1. Small if the meshes do not lie on each other.
    double matched() const;
};

/// Transfers weights to another mesh in the same space: clothing, a level of detail, another cut of the mesh
/// (Abdrashitov et al. 2023; docs/transfer.md). Every vertex of the target gets weights; vertices at one position
/// get the same weights. Skins of the target are not considered. Every vertex of a triangle of the source must have
/// weights. Time O((S + V) log S), and one factorisation over the vertices without a match. Its memory is estimated
/// and compared with Context::memory_limit before it starts.
Result<Transfer> transfer(const MeshView& source, const SkinWeights& weights, const MeshView& target,
                          const TransferOptions& options = {}, Context* context = nullptr);

}  // namespace sinew
