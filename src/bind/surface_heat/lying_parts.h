// Parts that lie on others: eyes and fangs on a head, hair, a pocket on a coat, a plate on a machine.
#pragma once

#include "bind/surface_diffusion.h"
#include "bind/surface_heat/rigid_parts.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew {

/// What is known of each part.
struct PartFacts {
    std::vector<double> area;          ///< of the vertices that have rows
    std::vector<std::uint32_t> whose;  ///< the joint that it follows as one body, or DistanceTable::none
    std::vector<bool> boneless;        ///< no bone runs through it, and it may lie on another
};

/// A part through which no bone runs is carried by what it lies on: larger parts that are near to half of its
/// vertices or more. One that follows a joint goes over to the joint that has most of the surface beneath, if that
/// is clearly more than its own, and one that bends if it has half of it. What lies on such a part comes after it,
/// by area. `tree`: of the mesh's triangles, `unit`: the longest side. O(vertices of such
/// parts x log triangles), and more where many triangles of the part itself lie between.
void carry_parts(const MeshView& mesh, const MeshSurface& surface, const TriangleTree& tree, double unit,
                 const PartRules& rules, Context* context, PartFacts& parts, RowsAtWork rows);

}  // namespace sinew
