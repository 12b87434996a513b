// sinew/rig.h: template skeletons, placed into a mesh that has none.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"

namespace sinew {

/// A kind of character.
struct RigTemplate {
    std::string_view name;     ///< "biped"
    std::string_view summary;  ///< its joints, for help texts
};
std::span<const RigTemplate> rig_templates();

struct RigOptions {
    std::string model = "biped";  ///< RigTemplate::name
    int resolution = 128;         ///< voxels along the longest side: a power of two, 32..256
};
Status check(const RigOptions& options);

/// A placed template.
struct Rig {
    Skeleton skeleton;  ///< in the space of the mesh, parents before children; leaf joints have a tail
    /// 0 to 1: how much the mesh is like the template: how many limbs were found, where they end, whether those of
    /// a pair have the same length, whether arms are thin, how much of the volume is connected, whether there are
    /// other limbs. Below 0.5 a person should look at it.
    double confidence = 0;
    double symmetry = 0;             ///< fraction of the volume that is its own mirror image, 0 to 1
    std::size_t limbs_found = 0;     ///< limbs of the template that end in a tip of the mesh
    std::size_t limbs_expected = 0;  ///< limbs of the template, without those that a character may lack (a tail)
    std::vector<std::string> notes;  ///< sentences: what was not found, what was done instead
};

/// Places the joints of a template into the volume of a mesh.
///
/// The tips of limbs are the places of the volume that are farthest from its middle, one after the other, and each
/// is joined to the earlier ones by a path through the thickest parts (Sato et al. 2000). The tips are matched with
/// the ends of the template's limbs by their place in the bounding box. Joints lie on the paths, at the template's
/// fractions of their length. Where the volume is symmetric, so is the skeleton.
///
/// The mesh should stand upright (y up) and face +z, with its limbs apart. Where the tips fit much better, another
/// turn by right angles is taken. A limb that touches the body along its length is not found: its joints get the
/// template's proportions, with a note. Error: usage, input (check_mesh), cancelled. O(voxels of the volume ×
/// limbs), below a second at resolution 128.
Result<Rig> fit_template(const MeshView& mesh, const RigOptions& options = {}, Context* context = nullptr);

}  // namespace sinew
