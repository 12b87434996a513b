// The thresholds of surface-heat, chosen by measurement (docs/notes/surface-heat.md). They are not options. They
// are in one place so that scripts/research/cross-validate can vary them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bind/heat_equation.h"

namespace sinew {

/// Joints of the volume that are kept at each leaf and vertex, as many as a narrow row of the sweep holds. Hidden
/// vertices need the nearest one that is not enclosed by another part, and those that are equally near; the learned
/// correction reads their distances. Not one of SurfaceHeatRules: estimates of memory need it, too.
constexpr std::size_t kNearestInVolume = 4;

/// Which joint a part follows.
struct PartRules {
    // A part follows one joint if that joint has this share of its weight, or this smaller share and no other joint
    // bends the part (rigid_joint).
    double nearly_all = 0.7, half = 0.5;
    // A part belongs to a bone if at least this fraction of the bone is inside, and at most this of any other
    // bone.
    double whole_bone = 0.75, other_bone = 0.25;
    // A point lies on another part if that is nearer than this fraction of the longest side. A part lies on others
    // if this fraction of its vertices does.
    double beneath = 0.012, on_other = 0.5;
    // A rigid part changes to the joint beneath it if that joint has this much more of the surface there, as a
    // fraction of the part, than the part's own joint.
    double clearly = 0.2;
};

/// Which joints are enclosed by a part of their own.
struct EnclosedRules {
    // Least winding numbers: of the joint (a part may have a hidden hole, like the back of an eyeball), and of
    // other points inside the part.
    double closed = 0.7, inside = 0.5;
    // A part is much larger than the enclosing one if it is this many times as long. A glove around a hand is not.
    double larger = 2;
    // A bone moves more than its part if this length of it, as a share of the part's length, is outside the part
    // and inside the character.
    double beyond = 0.5;
    // A part is a ball around its joint if its radii have a standard deviation below this share of their mean. The
    // bone of a ball may end anywhere.
    double round = 0.2;
};

struct SurfaceHeatRules {
    PartRules parts;
    EnclosedRules enclosed;
    // Joints without a hierarchy: the least cosine between a joint's axis and its bone (20 degrees).
    double loose_along = 0.94;
    // A vertex that does not see its nearest bone gets this share of the heat that it would get otherwise: enough
    // where no vertex nearby sees a bone, and little beside vertices that do.
    double hidden = 0.3;
    // A bone is hidden by open space of at least this share of the longest side: a cape does not see the legs under
    // it, but a collar sees the neck.
    double gap = 0.012;
    HeatRules heat;
};

}  // namespace sinew
