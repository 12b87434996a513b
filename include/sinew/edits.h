// sinew/edits.h: changes by the user to the result of a method: locks, edits, rigid regions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// Weights that stay as they were.
struct Locks {
    const SkinWeights* weights = nullptr;  ///< the weights to keep; null: nothing is locked
    std::vector<bool> vertices;            ///< V or empty: vertices whose row is kept, if it is not empty
    std::vector<bool> joints;              ///< per joint or empty: joints whose weights are kept at every vertex
};

/// Puts the locked weights into `fresh`. At a vertex with weights on locked joints, the other joints share the rest
/// in their fresh proportions, the strongest of them up to `max_influences` in all. If they have no fresh weight,
/// the whole row is kept. A vertex whose locked row is empty has nothing to keep. Different numbers of vertices are
/// an error (input). O(influences), parallel.
Result<SkinWeights> apply_locks(const SkinWeights& fresh, const Locks& locks, int max_influences,
                                Context* context = nullptr);

/// The plane and the joints of EditKind::mirror. The caller sets `side`; find_mirrors computes the rest.
struct Mirror {
    /// The side that is copied: "left" or "right", recognised by names of joints, or "+x", "-x" … "-z".
    std::string side;
    std::array<double, 3> point{0, 0, 0};   ///< on the plane
    std::array<double, 3> normal{1, 0, 0};  ///< unit vector, towards the side that is copied
    /// Per joint: its mirror image, which is itself for a joint on the plane, or DistanceTable::none.
    std::vector<std::uint32_t> partner;
    /// Tolerances are shares of this length: the diagonal of the near part of the mesh; 0: of the whole mesh.
    double size = 0;
};

enum class EditKind {
    set,      ///< the joint gets the weight `value`; the others share the rest in their proportions
    add,      ///< the same with the joint's present weight plus `value`
    scale,    ///< weights of the joints are multiplied by `value`; the others share the rest in their proportions
    smooth,   ///< mean of the rows within `value` (scene units) along the surface, weighted by area and nearness
    replace,  ///< weights of the joints go to the joint `with`
    mirror,   ///< the row at the mirror image on the surface, with joints replaced by their partners
};

/// An edit of existing weights. Each row is interpolated between its present values and the result of the edit, by
/// the vertex's selection. A row stays as it is if no other joint can take the remaining weight.
struct WeightEdit {
    EditKind kind = EditKind::set;
    std::vector<float> selection;  ///< V, from 0 (unchanged) to 1 (fully edited); empty: all 1
    /// Only vertices with at least `region_above` of their weight on these joints, and more than 0, are edited. The
    /// weights are those after the edits before. Empty: no condition.
    std::vector<std::uint32_t> region;
    float region_above = 0;
    /// set, add: one; scale, replace: at least one; smooth: the joints to smooth, or empty for all; mirror: empty.
    std::vector<std::uint32_t> joints;
    float value = 0;         ///< set: 0..1; add: -1..1; scale: ≥ 0; smooth: a length > 0
    std::uint32_t with = 0;  ///< replace: the joint that takes over
    Mirror mirror;
};

/// The effect of each edit.
struct EditReport {
    std::vector<std::size_t> changed;  ///< per edit: number of vertices whose row changed
    std::vector<std::size_t> kept;     ///< per edit: selected vertices whose weight no other joint could take
};

/// Applies edits in order. Vertices at one position are edited together, with the largest of their selections.
/// Locked vertices and weights on locked joints (Locks::vertices, Locks::joints; Locks::weights is not read) stay
/// as they are. Each row keeps its `max_influences` strongest. Errors give the number of the edit, from 1. Time
/// O(influences) per edit; in addition smooth takes O(V · vertices within the length), mirror O((V + T) log T).
Result<SkinWeights> apply_edits(const MeshView& mesh, const SkinWeights& weights, std::span<const WeightEdit> edits,
                                const Locks& locks, std::size_t joint_count, int max_influences,
                                EditReport* report = nullptr, Context* context = nullptr);

/// Vertices that only the given joints move: all other joints count as infinitely far (Dionne and de Lasa 2014,
/// section 9). With one joint the region is rigid.
struct RigidRegion {
    std::vector<bool> vertices;         ///< V
    std::vector<std::uint32_t> joints;  ///< at least one
};

/// All changes to the result of a method. io::load_edits reads them, complete_edits prepares them, and
/// adjusted_weights (sinew/bind.h) applies them.
struct Adjustments {
    FalloffMap falloff;
    std::vector<AngleFalloff> angles;
    std::vector<RigidRegion> rigid;  ///< a vertex of several regions belongs to the last of them
    Locks locks;
    std::vector<WeightEdit> edits;
};

/// Computes the plane and the partners of every mirror edit with find_symmetry (sinew/quality.h), and turns the
/// normal towards Mirror::side. An error (input) if the skeleton has no mirror plane, or if the side is unknown: no
/// joint has a name of that side, or the axis lies in the plane. Time: find_symmetry.
Status find_mirrors(std::span<WeightEdit> edits, const MeshView& mesh, const Skeleton& skeleton,
                    Context* context = nullptr);

/// Prepares a list that was read (io::load_edits) for adjusted_weights. Locks keep `own`, the weights of the file,
/// which must outlive the adjustments; locks without such weights are an error (usage). Mirrors are completed by
/// find_mirrors, and falloffs by angle are evaluated at `transforms`, one per joint, from bind space to bind space
/// (empty: the bind pose).
Status complete_edits(Adjustments& adjustments, const MeshView& mesh, const Skeleton& skeleton,
                      const SkinWeights* own, Context* context = nullptr,
                      std::span<const Transform> transforms = {});

}  // namespace sinew
