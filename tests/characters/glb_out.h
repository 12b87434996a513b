// Writes a character as GLB with its joints as nodes and without a skin: what binding starts from. Shares no code
// with the product's writer, so that one does not excuse the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "characters.h"

namespace sinew::test {

struct GlbOptions {
    bool indexed = true;  ///< false: three vertices of their own for each triangle, no indices
    int index_bytes = 0;  ///< 1, 2 or 4; 0 = the least that fits. Too few are raised to what fits
    bool normals = true;
    /// Which primitive a triangle goes to, counted from 0; each has vertices of its own. Empty: one primitive with
    /// all vertices of the character, used or not.
    std::function<std::uint32_t(std::size_t triangle)> primitive = {};
};

/// Nodes: the joints, in order, then one node with the mesh (none if the character has no triangle).
std::vector<std::byte> to_glb(const Character& character, const GlbOptions& options = {});

}  // namespace sinew::test
