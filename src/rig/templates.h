// The template skeletons, as data.
#pragma once

#include <string_view>
#include <vector>

#include "core/geometry.h"

namespace sinew {

/// A tip that the character should have. Places are in its bounding box, -1 to 1 along each axis: x to the
/// character's left, y up, z to its front. Of a pair, the left one.
struct TemplateTip {
    std::string_view name;
    Point3 place, weight;  ///< weight: of a squared difference along each axis
    bool paired = false;
    bool optional = false;  ///< a character may lack it
    double thickness = 0;   ///< VolumeTree::thickness_at; 0: any
};

/// A joint on a path. Fractions are of the path's length.
struct TemplateJoint {
    std::string_view name;
    double at = 0;
    std::string_view parent =
        {};  ///< empty: the joint before it, or for the first one what the path is attached to
};

/// From the trunk to a tip.
struct TemplateLimb {
    std::string_view tip, attached_to;  ///< a joint of the trunk
    std::string_view inner = {};        ///< a joint between that and the limb: a clavicle
    std::vector<TemplateJoint> joints;  ///< 0: where the limb begins; 1: the tip
    double inset = 0.5;                 ///< how far in the trunk it begins, in units of its radius there
    /// The fraction of the joint that belongs at the narrowest place before a hand (find_wrist): fractions are
    /// stretched so that it is there. 0: not looked for.
    double wrist = 0;
    /// The mean radius as a share of the length, above which it is no such limb but a corner of a body. 0: any.
    double thickest = 0;
};

/// From one end of the trunk to the other. An end is a tip, or the meeting of the paths of several.
struct TemplateTrunk {
    std::vector<std::string_view> from, to;
    std::vector<std::string_view> middle = {};  ///< tips whose paths leave the trunk in its middle; empty: none
    std::vector<TemplateJoint> lower = {};  ///< from the beginning to the middle, or to the end if there is none
    std::vector<TemplateJoint> upper = {};  ///< from the middle to the end
    /// The trunk's thinnest place above the middle, a neck, as a fraction of `upper`: fractions are stretched so
    /// that it is there. 0: not looked for.
    double neck = 0;
};

struct Template {
    std::string_view name, summary;
    bool stands = true;             ///< upright, facing +z, if nothing speaks against it
    bool mirrored = false;          ///< may be the mirror image of the template: a right hand
    std::vector<TemplateTip> tips;  ///< the most certain ones first
    TemplateTrunk trunk;
    std::vector<TemplateLimb> limbs = {};
    bool fingers = false;  ///< of the joints "hand", see find_fingers
};

const std::vector<Template>& templates();

}  // namespace sinew
