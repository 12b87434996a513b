// Edits of a list made ready for use: mirrors, strokes, locks, falloffs by angle.
#include <algorithm>

#include "core/try.h"
#include "core/vectors.h"
#include "edits/edit_kinds.h"
#include "sinew/deform.h"

namespace sinew {
namespace {

Brush mirrored(const Brush& brush, const Symmetry& symmetry) {
    Brush out = brush;
    const auto back = [](const Point3& p) {
        return Vec3{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])};
    };
    for (Brush::Dab& dab : out.dabs) {
        const Point3 facing = to_point(dab.facing);
        dab.place = back(EditSurfaceState::mirrored(to_point(dab.place), symmetry));
        dab.facing = back(facing - 2 * dot(facing, symmetry.normal) * symmetry.normal);
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

Result<EditPart> with_partners(const EditPreparation& of, const Symmetry& symmetry) {
    EditPart other{{}, of.edit.region, of.edit.joints, of.edit.with};
    const std::span with(&other.with, of.edit.kind == EditKind::replace ? 1 : 0);
    for (const auto joints : {std::span(other.region), std::span(other.joints), with})
        for (std::uint32_t& j : joints) {
            SINEW_TRY_LET(j, partner(of, symmetry, j));
        }
    return other;
}

Status complete_strokes(const EditPreparation& of) {
    WeightEdit& e = of.edit;
    if (e.brushes.empty()) return Done{};
    const Symmetry* symmetry = nullptr;
    if (e.symmetric) {
        SINEW_TRY_LET(const Symmetry* found, of.symmetry());
        symmetry = found;
    }
    add_strokes(e.selection, e.brushes, of.surface, nullptr, of.context);
    if (symmetry) {
        SINEW_TRY_LET(EditPart other, with_partners(of, *symmetry));
        // The same joints: one part, so that the middle is not edited twice.
        const bool one = other.region == e.region && other.joints == e.joints && other.with == e.with;
        add_strokes(one ? e.selection : other.selection, e.brushes, of.surface, symmetry, of.context);
        if (!one) e.other_side = std::move(other);
    }
    if (of.context && of.context->cancel) return Error{ErrorCode::cancelled, "cancelled while painting"};
    e.brushes.clear();
    return Done{};
}

}  // namespace

Result<std::uint32_t> partner(const EditPreparation& of, const Symmetry& symmetry, std::uint32_t joint) {
    if (joint >= symmetry.joint.size()) return joint;
    if (symmetry.joint[joint] != no_index) return symmetry.joint[joint];
    return of.wrong("the joint '" + printable(of.skeleton.joints[joint].name) +
                    "' has no partner on the other side");
}

/// The selection as it is on the other side: at the corner of the surface that is nearest to the mirrored place of
/// a selected vertex, and at vertices whose mirrored place is beside a selected one.
static std::vector<float> mirrored(EditSurfaceState& surface, const std::vector<float>& selection,
                                   const Symmetry& across) {
    const MeshView& mesh = surface.mesh;
    const double reach = EditSurfaceState::kMirrorReach * box_of(mesh.positions).diagonal();
    std::vector<float> out(selection.size(), 0);
    for (std::size_t v = 0; v < selection.size(); ++v) {
        const Point3 image = EditSurfaceState::mirrored(to_point(mesh.positions[v]), across);
        const SurfacePoint found = surface.tree().nearest(image, reach);
        if (found.triangle == SurfacePoint::none) continue;
        const Triangle& t = mesh.triangles[found.triangle];
        const auto most = std::max_element(found.share.begin(), found.share.end()) - found.share.begin();
        float& there = out[t[static_cast<std::size_t>(most)]];
        there = std::max(there, selection[v]);
        for (std::size_t k = 0; k < 3; ++k)
            if (found.share[k] > 0.25) out[v] = std::max(out[v], selection[t[k]]);
    }
    return out;
}

Status add_other_side(const EditPreparation& of) {
    WeightEdit& e = of.edit;
    if (!e.symmetric || e.other_side) return Done{};
    SINEW_TRY_LET(const Symmetry* across, of.symmetry());
    SINEW_TRY_LET(EditPart other, with_partners(of, *across));
    if (!e.selection.empty()) other.selection = mirrored(of.surface, e.selection, *across);
    if (other.region == e.region && other.joints == e.joints) {
        for (std::size_t v = 0; v < e.selection.size(); ++v)
            e.selection[v] = std::max(e.selection[v], other.selection[v]);
        return Done{};
    }
    // The same border, seen from its other side, is one.
    if (!std::is_permutation(other.joints.begin(), other.joints.end(), e.joints.begin(), e.joints.end()))
        e.other_side = std::move(other);
    return Done{};
}

Status complete_edits(std::span<WeightEdit> edits, const EditSurface& surface, const Skeleton& skeleton,
                      const SkinWeights* own, Context* context) {
    for (std::size_t i = 0; i < edits.size(); ++i) {
        const EditKindRow& kind = row_of(edits[i].kind);
        const std::string edit = "edit " + std::to_string(i + 1) + ": ";
        const std::string symmetric = edit + "symmetric: ", by_kind = edit + std::string(kind.name) + ": ";
        EditSurfaceState& state = EditSurfaceState::of(surface);
        SINEW_TRY(complete_strokes({edits[i], state, skeleton, own, symmetric, context}));
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
