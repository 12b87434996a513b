// sinew/edits.h: changes by the user to the result of a method: locks, edits, rigid regions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
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

/// The plane and the joints of EditKind::mirror. The caller sets `side`; complete_edits computes the rest.
struct Mirror {
    /// The side that is copied: "left" or "right", recognised by names of joints, or "+x", "-x" … "-z".
    std::string side;
    std::array<double, 3> point{0, 0, 0};   ///< on the plane
    std::array<double, 3> normal{1, 0, 0};  ///< unit vector, towards the side that is copied
    /// Per joint: its mirror image, which is itself for a joint on the plane, or no_index.
    std::vector<std::uint32_t> partner;
    /// Tolerances are fractions of this length: the diagonal of the near part of the mesh; 0: of the whole mesh.
    double size = 0;
};

/// How the effect of a dab falls off from its middle to its rim; t is the distance as a fraction of the radius.
enum class BrushCurve {
    smooth,    ///< 1 - 3 t² + 2 t³
    linear,    ///< 1 - t
    sharp,     ///< (1 - t)²
    dome,      ///< √(1 - t²)
    constant,  ///< 1
};

/// A stroke: the places that a brush touched.
struct Brush {
    struct Dab {
        Vec3 place;          ///< bind space
        Vec3 facing{};       ///< only vertices whose normal points to this side are selected; zero: all
        float strength = 1;  ///< 0..1
        friend bool operator==(const Dab&, const Dab&) = default;
    };
    std::vector<Dab> dabs;
    float radius = 0;  ///< > 0, scene units
    BrushCurve curve = BrushCurve::smooth;
    /// Whether a dab acts through gaps: on everything within the radius. Otherwise only on what is connected,
    /// within the radius, to the place of the surface that is nearest to it.
    bool through = false;
};

/// The vertices that a brush selects.
struct BrushSelection {
    Brush brush;
    std::vector<float> within;  ///< V: shares by which the selection is multiplied; empty: all 1
};

/// The weights of one place, which EditKind::pin meets exactly.
struct Pin {
    std::uint32_t vertex = no_index;  ///< no_index: the vertex next to `point`, which complete_edits finds
    Vec3 point{};                     ///< bind space
    std::vector<Influence> weights;   ///< > 0, of different joints, of sum 1 within 0.01
    /// Only the strongest of these is meant: it changes places with the strongest joint of the row before the edit.
    bool strongest = false;
    bool twin = false;  ///< of another pin, on the other side of the mirror plane; set by complete_edits
    friend bool operator==(const Pin&, const Pin&) = default;
};

/// What an edit does; edit_kinds has the words.
enum class EditKind { set, add, scale, multiply, smooth, relax, sharpen, replace, mirror, pin, assign, border };

/// The vertices and the joints of an edit.
struct EditPart {
    std::vector<float> selection;  ///< V, from 0 (unchanged) to 1 (fully edited); empty: all 1
    /// Only vertices with at least `WeightEdit::region_above` of their weight on these joints, and more than 0, are
    /// edited. The weights are those after the edits before. Empty: no condition.
    std::vector<std::uint32_t> region;
    std::vector<std::uint32_t> joints;  ///< as many as EditKey::joints says, or empty if the key may be left out
    std::uint32_t with = 0;             ///< replace: the joint that takes over
};

/// An edit of existing weights. Each row is interpolated between its present values and the result of the edit, by
/// the vertex's selection. A row stays as it is if no other joint can take the remaining weight.
struct WeightEdit : EditPart {
    EditKind kind = EditKind::set;
    float region_above = 0;
    float value = 0;                    ///< in the range of its EditKey
    std::vector<std::uint32_t> locked;  ///< joints whose weights this edit does not change
    /// Of a symmetric edit: the same for these, after the first part and as one edit with it.
    std::optional<EditPart> other_side;
    Mirror mirror;
    std::vector<Pin> pins;
    bool parts = false;                 ///< assign: all of each connected part that the selection touches
    std::string as;                     ///< assign: "file": the rows of the file instead of a joint
    const SkinWeights* file = nullptr;  ///< those rows, which must outlive the edit; set by complete_edits
    float shift = 0;                    ///< border: scene units, away from the first joint
    float width = std::numeric_limits<float>::quiet_NaN();  ///< border: scene units; NaN: as it is
    std::string called;                                     ///< the joints in messages; set by complete_edits
    /// Strokes of brushes, and whether the edit also acts on the other side, on partners of the joints:
    /// complete_edits puts them into the selections. The edit is applied without them.
    std::vector<BrushSelection> brushes;
    bool symmetric = false;
};

/// A key of a kind of edit in an edit list, and the member that it sets.
struct EditKey {
    std::string_view name;
    std::variant<float WeightEdit::*, bool WeightEdit::*, std::string WeightEdit::*, std::string Mirror::*,
                 std::uint32_t EditPart::*, std::vector<std::uint32_t> EditPart::*, std::vector<Pin> WeightEdit::*>
        member;
    bool optional = false;
    float otherwise = 0;       ///< of an optional number: its value if it is not given
    double low = 0, high = 0;  ///< of a number; `low` 1e-30: above 0
    bool whole = false;        ///< of a number
    std::size_t joints = 0;    ///< of a list of joints: how many, in their order; 0: any number
    std::string_view words{};  ///< of a word: those that are known, with a space between
};

/// A kind of edit: the reader of edit lists, the check before an edit is applied, and reports read this row. All
/// kinds also have the keys select and locked, and symmetric if `symmetric` says so.
struct EditKindInfo {
    EditKind kind;
    std::string_view name;
    std::vector<EditKey> keys;
    enum class Sides { one, by_brush, both } sides;  ///< whether it may be symmetric: no, beside a brush, or always
    std::string_view effect;                         ///< what it does, in a sentence
};
std::span<const EditKindInfo> edit_kinds();
const EditKindInfo& info_of(EditKind kind);

/// The effect of each edit.
struct EditReport {
    std::vector<std::size_t> changed;   ///< per edit: number of vertices whose row changed
    std::vector<std::size_t> kept;      ///< per edit: selected vertices whose weight no other joint could take
    std::vector<std::string> warnings;  ///< of adjusted_weights: rigid regions that lack joints of theirs
};

/// Applies edits in order. Vertices at one position are edited together, with the largest of their selections.
/// Locked vertices and weights on locked joints (Locks::vertices, Locks::joints; Locks::weights is not read) stay
/// as they are. Each row keeps its `max_influences` strongest. Errors give the number of the edit, from 1. Time
/// O(V + influences) per edit; in addition smooth takes O(vertices · vertices within the length), relax O(vertices
/// · steps), mirror O((V + T) log T).
Result<SkinWeights> apply_edits(const MeshView& mesh, const SkinWeights& weights, std::span<const WeightEdit> edits,
                                const Locks& locks, std::size_t joint_count, int max_influences,
                                EditReport* report = nullptr, Context* context = nullptr);

struct EditSurfaceState;

/// The surface of a mesh as edits need it: coincident vertices, neighbours along edges, vertices in a radius. Each
/// is computed when it is first needed, by one thread at a time. The mesh must outlive it. Copies share it.
class EditSurface {
public:
    explicit EditSurface(const MeshView& mesh, Context* context = nullptr);
    /// Raises selection[v] (V) to the strength of the dabs from number `first` at the vertex. Time: the vertices
    /// within the radius of each of these dabs; O((V + T) log T) for the first brush.
    void mark(const Brush& brush, std::size_t first, std::span<float> selection) const;

private:
    friend struct EditSurfaceState;
    std::shared_ptr<EditSurfaceState> state_;
};

struct PaintedWeightsState;

/// Weights that change edit by edit, as under a brush. Only the rows that an edit touches are computed, and the
/// rows before it are kept, so that an edit costs the same after any number of edits. After any sequence of edits
/// the weights are those of apply_edits with the edits that were not taken back, to the bit. Copies share their
/// state.
class PaintedWeights {
public:
    /// As for apply_edits; the mesh of `surface` must outlive it. O(V).
    static Result<PaintedWeights> begin(const EditSurface& surface, SkinWeights weights, Locks locks,
                                        std::size_t joint_count, int max_influences);

    /// Applies an edit. `again`: instead of the last one, as a stroke that goes on; where only the selections
    /// differ, only rows at vertices whose selection changed are computed. An error changes nothing, except that
    /// with `again` the last edit may be taken back. Time: O(V) to compare selections, a few nanoseconds a vertex,
    /// and the edit of the touched vertices (apply_edits).
    Status apply(const WeightEdit& edit, bool again = false, Context* context = nullptr);
    /// Takes the last edit back; false if there is none. Time: the rows that it changed.
    bool undo();
    /// Replaces the weights before all edits, as when a parameter of the falloff has changed: then the weights are
    /// those of apply_edits on the new ones, to the bit. Edits are computed again only where they read rows that
    /// differ; a smooth, relax or mirror edit that may do so is computed as a whole. changed() has all rows that
    /// may differ. An error (usage) if an edit selects by joints; then, or if the number of vertices differs
    /// (input), nothing changes. Cannot be cancelled. Time: O(V), the rows that all edits have changed, and the
    /// edits of the rows that differ.
    Status rebase(SkinWeights weights, Context* context = nullptr);
    /// Number of edits that undo can take back.
    std::size_t edits() const;

    /// The vertices whose rows the last call of apply or undo changed, ascending.
    const std::vector<std::uint32_t>& changed() const;
    /// Number of rows that the last call of apply computed, and of those that no other joint could complete.
    std::size_t computed() const;
    std::size_t kept() const;
    std::span<const Influence> operator[](std::size_t vertex) const;
    /// All rows. O(influences).
    SkinWeights weights() const;

private:
    PaintedWeights() = default;
    std::shared_ptr<PaintedWeightsState> state_;
};

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

/// Prepares edits that were read for apply_edits and PaintedWeights: the strokes of brushes are added to their
/// selections, the other side of symmetric ones and the plane of mirrors are found. An error (input) that names the
/// edit, if it needs a mirror plane that the skeleton lacks (find_symmetry), a joint has no partner, or the side is
/// unknown: no joint has a name of that side, or the axis lies in the plane. `own`: the weights of the file, if it
/// has any; they must outlive the edits. All calls for one surface must be for one skeleton. Time:
/// EditSurface::mark; find_symmetry for the first edit that needs it. A stroke that goes on from the one before
/// costs only its new dabs.
Status complete_edits(std::span<WeightEdit> edits, const EditSurface& surface, const Skeleton& skeleton,
                      const SkinWeights* own, Context* context = nullptr);

/// Prepares a list that was read (io::load_edits) for adjusted_weights. Locks keep `own`, the weights of the file,
/// which must outlive the adjustments; locks without such weights are an error (usage). Edits are prepared as
/// above, and falloffs by angle are evaluated at `transforms`, one per joint, from bind space to bind space (empty:
/// the bind pose).
Status complete_edits(Adjustments& adjustments, const MeshView& mesh, const Skeleton& skeleton,
                      const SkinWeights* own, Context* context = nullptr,
                      std::span<const Transform> transforms = {});

}  // namespace sinew
