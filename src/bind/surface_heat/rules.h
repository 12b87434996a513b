// The numbers of surface-heat that were chosen by measurement. They are not options. They stand in one place so
// that scripts/research/cross-validate can vary them (docs/notes/surface-heat.md).
#pragma once

namespace sinew {

/// What decides which joint a part follows.
struct PartRules {
    // Of the weight on a part: what is nearly all of it, and what is half of it.
    double nearly_all = 0.7, half = 0.5;
    // Of a joint's bone, inside a part: the part is that bone's, unless so much of another's lies in it, too.
    double whole_bone = 0.75, other_bone = 0.25;
    // A place lies on another part if that is nearer than this share of the longest side; a part, if half of it
    // does.
    double beneath = 0.012, lying = 0.5;
    // A rigid part goes over to the joint beneath it if that has so much more of the surface there than its own.
    double clearly = 0.2;
};

/// Which joints lie in a part of their own.
struct EnclosedRules {
    // Winding numbers: of a joint, around which its part must be closed but for a hole that nobody sees (the back
    // of an eyeball), and of what is inside with it.
    double closed = 0.7, inside = 0.5;
    // A part so many times as long as the one that encloses a joint is another thing. A glove is not, around a
    // hand.
    double larger = 2;
    // A bone of which more lies in other flesh, by length of its part, moves that flesh.
    double beyond = 0.5;
    // But not from the centre of a ball, wherever its tail may point: radii that spread by less than this share.
    double round = 0.2;
};

struct SurfaceHeatRules {
    PartRules parts;
    EnclosedRules enclosed;
    // Joints without a hierarchy: the next one lies within 20 degrees of the axis.
    double loose_along = 0.94;
    // What does not see its nearest bone is heated by this share of what it would get if it did: enough where
    // nothing near is seen, little beside what is.
    double hidden = 0.3;
    // A way through open space that hides a bone, as a share of the longest side: a cape does not see the legs
    // under it, and a collar sees the neck.
    double gap = 0.012;
    // A part of which a smaller share of the area sees its bones would take all its heat from a rim or a hole: a
    // jacket from the neck, a boot from the knee.
    double seeing = 0.1;
};

}  // namespace sinew
