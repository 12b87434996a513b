// Parts that lie on others: eyes and fangs on a head, hair, a pocket on a coat, a plate on a machine.
#pragma once

#include "bind/heat_equation.h"
#include "bind/surface_heat/rigid_parts.h"
#include "surface/coarse_surface.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew {

/// Properties of each part.
struct PartFacts {
    std::vector<double> area;          ///< of the vertices that have rows
    std::vector<std::uint32_t> joint;  ///< the joint that it follows as a rigid body, or none
    std::vector<bool> boneless;        ///< no bone runs through it, so it may follow another part
};

/// Lets parts without bones follow the surface beneath them: larger parts that are near to at least half of their
/// vertices (PartRules). The candidate is the joint that has most of the surface beneath. A part that follows
/// another joint changes to it if it has clearly more of that surface; a part that bends, if it has half of it.
/// Parts are processed by falling area, so a part on such a part comes after it. `tree`: of the mesh's triangles,
/// `unit`: the longest side, `coarse`: that of the rows. O(vertices of such parts x log triangles), and more where
/// many triangles of the part itself lie between.
void follow_surface_beneath(const MeshView& mesh, const MeshSurface& surface, const TriangleTree& tree, double unit,
                            const PartRules& rules, Context* context, const std::optional<CoarseSurface>& coarse,
                            PartFacts& parts, SetRows& rows);

}  // namespace sinew
