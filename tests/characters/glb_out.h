// Writes a character as GLB with its joints as nodes and without a skin, as input for bind. Shares no code with the
// library's writer, so that a defect of one does not hide a defect of the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "characters.h"

namespace sinew::test {

struct GlbOptions {
    bool indexed = true;  ///< false: three vertices of their own for each triangle, no indices
    int index_bytes = 0;  ///< 1, 2 or 4; 0 = the smallest that fits. Too small sizes are raised
    bool normals = true;
    /// The primitive of each triangle, counted from 0. Each primitive has its own vertices. Empty: one primitive
    /// with all vertices of the character, also unused ones.
    std::function<std::uint32_t(std::size_t triangle)> primitive = {};
};

/// Nodes: the joints, in order, then one node with the mesh (none if the character has no triangle).
std::vector<std::byte> to_glb(const Character& character, const GlbOptions& options = {});

}  // namespace sinew::test
