#include "bind/near_mesh.h"

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "core/vectors.h"
#include "domain/lattice.h"

namespace sinew {
namespace {

constexpr double kOtherSize = 8;      // a skeleton larger by this factor may be in another unit
constexpr double kBeside = 0.5;       // of the larger longest side: the least gap of a skeleton beside the mesh
constexpr double kShortBone = 1;      // voxels
constexpr double kLeastSkeleton = 2;  // voxels, of all bones together

// Between two boxes, along the axis where they are farthest apart.
double gap(const Box3& a, const Box3& b) {
    double out = 0;
    for (std::size_t k = 0; k < 3; ++k) out = std::max({out, a.low[k] - b.high[k], b.low[k] - a.high[k]});
    return out;
}

Point3 middle(const Box3& box) { return 0.5 * (box.low + box.high); }

std::string text_of(const Point3& p) {
    return "(" + shortest_text(static_cast<float>(p[0])) + ", " + shortest_text(static_cast<float>(p[1])) + ", " +
           shortest_text(static_cast<float>(p[2])) + ")";
}

// A factor between units that is within 40 % of the measured one, or that one.
double usual_factor(double measured) {
    for (const double unit : {10.0, 100.0, 1000.0, 39.3701, 3.28084, 0.1, 0.01, 0.001, 0.0254, 0.3048})
        if (std::abs(std::log(measured / unit)) < 0.34) return unit;
    return measured;
}

// Whether the box of the bones, scaled around the origin, is at the place of the mesh and of its size.
bool fits_scaled(const Box3& bones, const Box3& mesh, double factor) {
    const double size = mesh.longest(), scaled = factor * bones.longest();
    if (!(scaled > 0.4 * size && scaled < 2.5 * size)) return false;
    for (std::size_t k = 0; k < 3; ++k)
        if (std::abs(factor * bones.sides()[k] - mesh.sides()[k]) > 0.5 * size) return false;
    return norm(factor * middle(bones) - middle(mesh)) < 0.6 * size;
}

}  // namespace

Status NearMesh::check_fit() const {
    const double bones = part_.bones.longest();
    if (!(bones > 0)) return Done{};
    const auto sizes = [&](const Box3& mesh) {
        return short_number(bones) + " against " + short_number(mesh.longest()) + " scene units";
    };
    const std::string otherwise = "; if both are right: `fit-check off`";
    const auto other_scale = [&](const Box3& mesh, double factor) {  // factor: to multiply the skeleton by
        return Error{ErrorCode::input, "the skeleton is " + short_number(factor < 1 ? 1 / factor : factor) +
                                           " times " + (factor < 1 ? "larger" : "smaller") + " than the mesh (" +
                                           sizes(mesh) +
                                           "): scale one of them, a skeleton file with `skeleton-scale " +
                                           short_number(factor) + "`" + otherwise};
    };
    for (const Box3* const mesh : {&part_.whole, &part_.box}) {
        const double factor = usual_factor(mesh->longest() / bones);
        // Few of the joints may deform: the skeleton is smaller only if all of them together are.
        const bool other_size = mesh->longest() / part_.joints.longest() > kOtherSize || factor < 1 / kOtherSize;
        if (other_size && fits_scaled(part_.bones, *mesh, factor)) return other_scale(*mesh, factor);
    }
    const Box3& mesh = part_.only_fragments ? part_.whole : part_.box;
    const double apart = gap(mesh, part_.bones);
    if ((part_.only_fragments && apart > 0) || apart > kBeside * std::max(mesh.longest(), bones))
        return Error{ErrorCode::input, "the skeleton lies beside the mesh: the middle of its bones is at " +
                                           text_of(middle(part_.bones)) + ", that of the mesh at " +
                                           text_of(middle(mesh)) + ", with " + short_number(apart) +
                                           " scene units between them (sizes: " + sizes(mesh) +
                                           "): move one of them" + otherwise};
    if (part_.only_fragments && mesh.longest() > kLargestAround * part_.joints.longest())
        return other_scale(mesh, usual_factor(mesh.longest() / bones));
    return Done{};
}

void NearMesh::finish(std::vector<Coverage>& coverage, BindReport& report) const {
    if (!any_far()) return;
    std::size_t vertices = 0;
    for (std::size_t v = 0; v < coverage.size(); ++v) {
        if (!part_.at_far[v] || coverage[v] != Coverage::unused) continue;
        --report.coverage[static_cast<std::size_t>(coverage[v])];
        coverage[v] = Coverage::bridged;
        ++report.coverage[static_cast<std::size_t>(coverage[v])];
        ++vertices;
    }
    report.defects = part_.defects;
    report.warnings.push_back(std::to_string(part_.far) + " of " + std::to_string(mesh_.triangles.size()) +
                              " triangles lie far from the skeleton (up to " + short_number(part_.farthest) +
                              " scene units, " + short_number(part_.farthest / part_.bones.longest()) +
                              " times its size) and do not count as a part of the character: their " +
                              std::to_string(vertices) +
                              " vertices follow the nearest joint (remove them if they are no part of it)");
}

Status NearMesh::check_voxels(int resolution, BindReport& report) const {
    const double size = part_.bones.longest(), voxel = voxel_size(part_.box.longest(), resolution);
    if (size > 0 && size < kLeastSkeleton * voxel)
        return Error{ErrorCode::input,
                     "all bones together are " + short_number(size) + " long, and a voxel is " +
                         short_number(voxel) +
                         ": their distances cannot be told apart (use a higher resolution, or remove "
                         "what makes the mesh so much larger than its skeleton)"};
    const std::vector<Bone> bones = make_bones(skeleton_);
    std::size_t count = 0, all = 0;
    const Bone* shortest = nullptr;
    double least = INFINITY;
    for (const Bone& bone : bones) {
        const double length = norm(to_point(bone.tail) - to_point(bone.head));
        if (!(length > 0)) continue;
        ++all;
        count += length < kShortBone * voxel;
        if (length < least) least = length, shortest = &bone;
    }
    if (count > 0)
        report.warnings.push_back(
            std::to_string(count) + " of " + std::to_string(all) + " bones are shorter than a voxel (which is " +
            short_number(voxel) + "; the bone of '" + printable(skeleton_.joints[shortest->joint].name) + "' is " +
            short_number(least) + "): their joints can be told apart better at a higher resolution");
    return Done{};
}

}  // namespace sinew
