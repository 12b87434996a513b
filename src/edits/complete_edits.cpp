// Edits of a list made ready for use: mirrors, locks, falloffs by angle.
#include <cmath>
#include <optional>

#include "core/joint_names.h"
#include "core/vectors.h"
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
            Result<std::optional<Symmetry>> found = find_symmetry(mesh, skeleton, context);
            if (!found) return found.error();
            if (!*found)
                return Error{
                    ErrorCode::input,
                    place + "the skeleton has no mirror plane (80 % of its deforming joints need a partner)"};
            symmetry = std::move(**found);
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
                                               std::to_string(symmetry->normal[0]) + ", " +
                                               std::to_string(symmetry->normal[1]) + ", " +
                                               std::to_string(symmetry->normal[2]) +
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

Status complete_edits(Adjustments& adjustments, const MeshView& mesh, const Skeleton& skeleton,
                      const SkinWeights* own, Context* context, std::span<const Transform> transforms) {
    const bool locks = !adjustments.locks.joints.empty() || !adjustments.locks.vertices.empty();
    if (locks && !own) return Error{ErrorCode::usage, "there is nothing to lock: the file has no weights"};
    if (locks) adjustments.locks.weights = own;
    if (Status ok = find_mirrors(adjustments.edits, mesh, skeleton, context); !ok) return ok;
    adjustments.falloff = falloff_at(adjustments.angles, skeleton, transforms, std::move(adjustments.falloff));
    return Done{};
}

}  // namespace sinew
