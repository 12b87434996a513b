// Defects of production meshes, applied to a valid mesh.
#pragma once

#include <string>
#include <vector>

#include "characters.h"

namespace sinew::test {

struct Defect {
    const char* name;
    const char* description;
    Character (*apply)(const Character&);
    /// Part of the expected error. Empty: bind must succeed and give weights to every vertex.
    const char* error;
};

/// All defects. Each keeps body_part consistent with the vertices and leaves the skeleton unchanged.
const std::vector<Defect>& defects();
/// Null if the name is unknown.
const Defect* find_defect(const std::string& name);

}  // namespace sinew::test
