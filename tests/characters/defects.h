// Defects of production meshes, applied to a sound one.
#pragma once

#include <string>
#include <vector>

#include "characters.h"

namespace sinew::test {

struct Defect {
    const char* name;
    const char* description;
    Character (*apply)(const Character&);
    /// Part of the error that binding must give; empty: it must bind, every vertex.
    const char* error;
};

/// All of them. Each keeps body_part in step with the vertices, and the skeleton as it is.
const std::vector<Defect>& defects();
/// Null if the name is unknown.
const Defect* find_defect(const std::string& name);

}  // namespace sinew::test
