// Edits of a list made ready for use: mirrors, strokes, locks, falloffs by angle.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/joint_names.h"
#include "core/numbers.h"
#include "core/try.h"
#include "core/vectors.h"
#include "edits/edit_surface.h"
#include "sinew/deform.h"
#include "sinew/edits.h"
#include "sinew/near.h"
#include "sinew/quality.h"

namespace sinew {

Status find_mirrors(std::span<WeightEdit> edits, const MeshView& mesh, const Skeleton& skeleton, Context* context) {
    std::optional<Symmetry> symmetry;
    double size = 0;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        Mirror& mirror = edits[i].mirror;
        if (edits[i].kind != EditKind::mirror || mirror.side.empty()) continue;
        const std::string place = "edit " + std::to_string(i + 1) + ": mirror: ";
        if (!symmetry) {
            SINEW_TRY_LET(std::optional<Symmetry> found, find_symmetry(mesh, skeleton, context));
            if (!found)
                return Error{
                    ErrorCode::input,
                    place + "the skeleton has no mirror plane (80 % of its deforming joints need a partner)"};
            symmetry = std::move(*found);
            size = near_diagonal(mesh, skeleton, context);
        }
        // The signed distance of the side from the plane.
        double height = 0;
        if (mirror.side == "left" || mirror.side == "right") {
            for (std::size_t j = 0; j < skeleton.joints.size(); ++j) {
                const int side = read_side(skeleton.joints[j].name).side;
                const Point3 p = to_point(skeleton.joints[j].position);
                height += (mirror.side == "left" ? -side : side) * dot(p - symmetry->point, symmetry->normal);
            }
        } else if (mirror.side.size() == 2 && mirror.side[1] >= 'x' && mirror.side[1] <= 'z') {
            const double along = symmetry->normal[static_cast<std::size_t>(mirror.side[1] - 'x')];
            height = std::abs(along) > 0.5 ? (mirror.side[0] == '-' ? -along : along) : 0;
        }
        if (height == 0)
            return Error{ErrorCode::input, place + "the side '" + printable(mirror.side) +
                                               "' is unknown: the mirror plane's "
                                               "normal is (" +
                                               number_text(symmetry->normal[0], 3) + ", " +
                                               number_text(symmetry->normal[1], 3) + ", " +
                                               number_text(symmetry->normal[2], 3) +
                                               "), and left and right are known by names of joints only"};
        mirror.point = symmetry->point;
        mirror.normal = symmetry->normal;
        if (height < 0)
            for (double& c : mirror.normal) c = -c;
        mirror.partner = symmetry->joint;
        mirror.size = size;
    }
    return Done{};
}

namespace {

Brush mirrored(const Brush& brush, const Symmetry& symmetry) {
    Brush out = brush;
    const auto back = [](const Point3& p) {
        return Vec3{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])};
    };
    for (Brush::Dab& dab : out.dabs) {
        const Point3 place = to_point(dab.place), facing = to_point(dab.facing);
        dab.place = back(place - 2 * dot(place - symmetry.point, symmetry.normal) * symmetry.normal);
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

}  // namespace

Status complete_strokes(std::span<WeightEdit> edits, const EditSurface& surface, const Skeleton& skeleton,
                        Context* context) {
    for (std::size_t i = 0; i < edits.size(); ++i) {
        WeightEdit& e = edits[i];
        if (e.brushes.empty()) continue;
        const std::string place = "edit " + std::to_string(i + 1) + ": symmetric: ";
        const Symmetry* symmetry = nullptr;
        if (e.symmetric) {
            SINEW_TRY_LET(const Symmetry* found, surface.state().symmetry(skeleton, context));
            symmetry = found;
            if (!symmetry)
                return Error{
                    ErrorCode::input,
                    place + "the skeleton has no mirror plane (80 % of its deforming joints need a partner)"};
        }
        add_strokes(e.selection, e.brushes, surface.state(), nullptr, context);
        if (symmetry) {
            EditPart other{{}, e.region, e.joints, e.with};
            const std::span with(&other.with, e.kind == EditKind::replace ? 1 : 0);
            for (const auto joints : {std::span(other.region), std::span(other.joints), with})
                for (std::uint32_t& j : joints) {
                    if (j >= symmetry->joint.size()) continue;
                    if (symmetry->joint[j] == Symmetry::none)
                        return Error{ErrorCode::input, place + "the joint '" + printable(skeleton.joints[j].name) +
                                                           "' has no partner on the other side"};
                    j = symmetry->joint[j];
                }
            // The same joints: one part, so that the middle is not edited twice.
            const bool one = other.region == e.region && other.joints == e.joints && other.with == e.with;
            add_strokes(one ? e.selection : other.selection, e.brushes, surface.state(), symmetry, context);
            if (!one) e.other_side = std::move(other);
        }
        if (context && context->cancel) return Error{ErrorCode::cancelled, "cancelled while painting"};
        e.brushes.clear();
    }
    return Done{};
}

Status complete_edits(Adjustments& adjustments, const MeshView& mesh, const Skeleton& skeleton,
                      const SkinWeights* own, Context* context, std::span<const Transform> transforms) {
    const bool locks = !adjustments.locks.joints.empty() || !adjustments.locks.vertices.empty();
    if (locks && !own) return Error{ErrorCode::usage, "there is nothing to lock: the file has no weights"};
    if (locks) adjustments.locks.weights = own;
    SINEW_TRY(find_mirrors(adjustments.edits, mesh, skeleton, context));
    const bool strokes = std::any_of(adjustments.edits.begin(), adjustments.edits.end(),
                                     [](const WeightEdit& e) { return !e.brushes.empty(); });
    if (strokes) SINEW_TRY(complete_strokes(adjustments.edits, EditSurface(mesh, context), skeleton, context));
    adjustments.falloff = falloff_at(adjustments.angles, skeleton, transforms, std::move(adjustments.falloff));
    return Done{};
}

}  // namespace sinew
