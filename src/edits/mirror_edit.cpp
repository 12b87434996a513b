// The edit that copies one side to the other.
#include <algorithm>
#include <cmath>

#include "core/joint_names.h"
#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"
#include "edits/edit_kinds.h"
#include "sinew/near.h"

namespace sinew {
namespace {

constexpr double kOnPlane = 1e-4;  // relative to the diagonal of the box: neither side of a mirror
}  // namespace

Status check_mirror(const WeightEdit& e, std::size_t, std::size_t joints) {
    double square = 0;
    for (const double c : e.mirror.normal) square += c * c;
    if (!(std::abs(square - 1) < 1e-3))
        return Error{ErrorCode::usage, "mirror needs a plane with a normal of length 1"};
    for (const std::uint32_t j : e.mirror.partner)
        if (j != no_index && j >= joints) return Error{ErrorCode::usage, "there is no joint " + std::to_string(j)};
    return Done{};
}

Status find_mirror(const EditPreparation& of) {
    Mirror& mirror = of.edit.mirror;
    if (mirror.side.empty()) return Done{};
    const Skeleton& skeleton = of.skeleton;
    SINEW_TRY_LET(const Symmetry* symmetry, of.symmetry());
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
        return of.wrong("the side '" + printable(mirror.side) + "' is unknown: the mirror plane's normal is (" +
                        number_text(symmetry->normal[0], 3) + ", " + number_text(symmetry->normal[1], 3) + ", " +
                        number_text(symmetry->normal[2], 3) +
                        "), and left and right are known by names of joints only");
    mirror.point = symmetry->point;
    mirror.normal = symmetry->normal;
    if (height < 0)
        for (double& c : mirror.normal) c = -c;
    mirror.partner = symmetry->joint;
    mirror.size = near_diagonal(of.surface.mesh, skeleton, of.context);
    return Done{};
}

Result<PreparedRow> mirrored_rows(const EditTask& task, const EditPart&, std::span<const std::uint32_t> at) {
    const MeshView& mesh = task.surface.mesh;
    const TriangleTree& tree = task.surface.tree();
    const Mirror& m = task.edit.mirror;
    const double diagonal = m.size > 0 ? m.size : box_of(mesh.positions).diagonal();
    const auto over_there = [&m](std::uint32_t j) {
        return j < m.partner.size() && m.partner[j] != no_index ? m.partner[j] : j;
    };
    return PreparedRow([&task, &mesh, &tree, &m, at, diagonal, over_there](std::size_t k, EditRow& row) {
        const std::uint32_t v = at[k];
        const Point3 p = to_point(mesh.positions[v]);
        double height = 0;
        for (std::size_t a = 0; a < 3; ++a) height += (p[a] - m.point[a]) * m.normal[a];
        if (height > kOnPlane * diagonal) {  // on the side that is copied
            for (const Influence& i : task.row(v)) row.push_back({i.joint, i.weight});
            return;
        }
        if (height >= -kOnPlane * diagonal) {  // on the plane: the mean of both sides
            for (const Influence& i : task.row(v)) {
                weight_in(row, i.joint) += i.weight / 2.0;
                weight_in(row, over_there(i.joint)) += i.weight / 2.0;
            }
            return;
        }
        Point3 image;
        for (std::size_t a = 0; a < 3; ++a) image[a] = p[a] - 2 * height * m.normal[a];
        const SurfacePoint found = tree.nearest(image, EditSurfaceState::kMirrorReach * diagonal);
        if (found.triangle == no_index) return;
        for (std::size_t c = 0; c < 3; ++c)
            if (found.share[c] > 1e-9)
                for (const Influence& i : task.row(mesh.triangles[found.triangle][c]))
                    weight_in(row, over_there(i.joint)) += found.share[c] * i.weight;
    });
}

}  // namespace sinew
