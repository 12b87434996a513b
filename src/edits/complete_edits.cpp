// Edits of a list made ready for use: mirrors, strokes, locks, falloffs by angle.
#include <algorithm>

#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"
#include "edits/edit_kinds.h"
#include "sinew/deform.h"

namespace sinew {
namespace {

Brush mirrored(const Brush& brush, const Symmetry& symmetry) {
    Brush out = brush;
    for (Brush::Dab& dab : out.dabs) {
        const Point3 facing = to_point(dab.facing);
        dab.place = to_vec3(EditSurfaceState::mirrored(to_point(dab.place), symmetry));
        dab.facing = to_vec3(facing - 2 * dot(facing, symmetry.normal) * symmetry.normal);
    }
    return out;
}

/// Raises the selection to that of the strokes.
void add_strokes(std::vector<float>& selection, const std::vector<BrushSelection>& brushes,
                 EditSurfaceState& surface, const Symmetry* symmetry, Context* context) {
    selection.resize(surface.mesh.positions.size(), 0);
    for (const BrushSelection& b : brushes) {
        const std::vector<float>& marked =
            surface.marked(symmetry ? mirrored(b.brush, *symmetry) : b.brush, context);
        for (std::size_t v = 0; v < selection.size(); ++v)
            selection[v] = std::max(selection[v], b.within.empty() ? marked[v] : marked[v] * b.within[v]);
    }
}

/// Raises the selection to another as it is on the other side: at the corner of the surface that is nearest to the
/// mirrored place of a selected vertex, and at vertices whose mirrored place is beside a selected one.
void add_mirrored(std::vector<float>& selection, const std::vector<float> of, EditSurfaceState& surface,
                  const Symmetry& across) {
    const MeshView& mesh = surface.mesh;
    const double reach = EditSurfaceState::kMirrorReach * box_of(mesh.positions).diagonal();
    selection.resize(of.size(), 0);
    for (std::size_t v = 0; v < of.size(); ++v) {
        const Point3 image = EditSurfaceState::mirrored(to_point(mesh.positions[v]), across);
        const SurfacePoint found = surface.tree().nearest(image, reach);
        if (found.triangle == no_index) continue;
        const Triangle& t = mesh.triangles[found.triangle];
        const auto most = std::max_element(found.share.begin(), found.share.end()) - found.share.begin();
        float& there = selection[t[static_cast<std::size_t>(most)]];
        there = std::max(there, of[v]);
        for (std::size_t k = 0; k < 3; ++k)
            if (found.share[k] > 0.25) selection[v] = std::max(selection[v], of[t[k]]);
    }
}

Result<EditPart> with_partners(const EditPreparation& of, const Symmetry& symmetry) {
    EditPart other{{}, of.edit.region, of.edit.joints, of.edit.with};
    const std::span with(&other.with, of.edit.kind == EditKind::replace ? 1 : 0);
    for (const auto joints : {std::span(other.region), std::span(other.joints), with})
        for (std::uint32_t& j : joints) {
            SINEW_TRY_LET(j, partner(of, symmetry, j));
        }
    return other;
}

/// Strokes become selections, and a symmetric edit gets its other side.
Status complete_selections(const EditPreparation& of) {
    WeightEdit& e = of.edit;
    const std::vector<BrushSelection> brushes = std::move(e.brushes);
    if (!brushes.empty()) add_strokes(e.selection, brushes, of.surface, nullptr, of.context);
    if (e.symmetric && info_of(e.kind).sides != EditKindInfo::Sides::one && !e.other_side) {
        SINEW_TRY_LET(const Symmetry* across, of.symmetry());
        SINEW_TRY_LET(EditPart other, with_partners(of, *across));
        // The same joints: one part, so that the middle is not edited twice.
        const auto same = [](const auto& a, const auto& b) {
            return std::is_permutation(a.begin(), a.end(), b.begin(), b.end());
        };
        const bool one = same(other.region, e.region) && same(other.joints, e.joints) && other.with == e.with;
        std::vector<float>& there = one ? e.selection : other.selection;
        if (!brushes.empty())
            add_strokes(there, brushes, of.surface, across, of.context);
        else if (!e.selection.empty())
            add_mirrored(there, e.selection, of.surface, *across);
        if (!one) e.other_side = std::move(other);
    }
    if (cancelled(of.context)) return Error{ErrorCode::cancelled, "cancelled while painting"};
    return Done{};
}

}  // namespace

Result<std::uint32_t> partner(const EditPreparation& of, const Symmetry& symmetry, std::uint32_t joint) {
    if (joint >= symmetry.joint.size()) return joint;
    if (symmetry.joint[joint] != no_index) return symmetry.joint[joint];
    return of.wrong("the joint '" + printable(of.skeleton.joints[joint].name) +
                    "' has no partner on the other side");
}

Status complete_edits(std::span<WeightEdit> edits, const EditSurface& surface, const Skeleton& skeleton,
                      const SkinWeights* own, Context* context) {
    for (std::size_t i = 0; i < edits.size(); ++i) {
        const EditKindRow& kind = row_of(edits[i].kind);
        const std::string edit = "edit " + std::to_string(i + 1) + ": ";
        const std::string symmetric = edit + "symmetric: ", by_kind = edit + std::string(kind.name) + ": ";
        EditSurfaceState& state = EditSurfaceState::of(surface);
        SINEW_TRY(complete_selections({edits[i], state, skeleton, own, symmetric, context}));
        if (kind.complete) SINEW_TRY(kind.complete({edits[i], state, skeleton, own, by_kind, context}));
    }
    return Done{};
}

Status complete_edits(Adjustments& adjustments, const MeshView& mesh, const Skeleton& skeleton,
                      const SkinWeights* own, Context* context, std::span<const Transform> transforms) {
    const bool locks = !adjustments.locks.joints.empty() || !adjustments.locks.vertices.empty();
    if (locks && !own) return Error{ErrorCode::usage, "there is nothing to lock: the file has no weights"};
    if (locks) adjustments.locks.weights = own;
    if (!adjustments.edits.empty())
        SINEW_TRY(complete_edits(adjustments.edits, EditSurface(mesh, context), skeleton, own, context));
    adjustments.falloff = falloff_at(adjustments.angles, skeleton, transforms, std::move(adjustments.falloff));
    return Done{};
}

}  // namespace sinew
