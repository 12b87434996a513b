#include "bind/near_mesh.h"

#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "core/vectors.h"
#include "domain/lattice.h"

namespace sinew {
namespace {

constexpr double kReach = 1;          // of the longest side of the box of the bones
constexpr double kLargestPart = 3;    // the same: larger parts are near triangle by triangle
constexpr double kAround = 25;        // the same, for parts around the bones
constexpr double kOtherSize = 8;      // a skeleton larger by this factor may be in another unit
constexpr double kBeside = 0.5;       // of the larger longest side: the least gap of a skeleton beside the mesh
constexpr double kFlat = 1e-7;        // a triangle has no area if twice its area is this share of a squared edge
constexpr double kShortBone = 1;      // voxels
constexpr double kLeastSkeleton = 2;  // voxels, of all bones together

// How far the point lies out of the box, along the axis where it is farthest.
double beyond(const Box3& box, const Point3& p) {
    double out = 0;
    for (std::size_t k = 0; k < 3; ++k) out = std::max({out, box.low[k] - p[k], p[k] - box.high[k]});
    return out;
}

// Between two boxes, along the axis where they are farthest apart.
double gap(const Box3& a, const Box3& b) {
    double out = 0;
    for (std::size_t k = 0; k < 3; ++k) out = std::max({out, a.low[k] - b.high[k], b.low[k] - a.high[k]});
    return out;
}

Point3 middle(const Box3& box) { return 0.5 * (box.low + box.high); }

bool has_area(const MeshView& mesh, const Triangle& t) {
    const Point3 a = to_point(mesh.positions[t[0]]), u = to_point(mesh.positions[t[1]]) - a,
                 v = to_point(mesh.positions[t[2]]) - a;
    return norm(cross(u, v)) > kFlat * std::max(dot(u, u), dot(v, v));
}

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

Box3 box_of_bones(const Skeleton& skeleton) {
    Box3 box;
    for (const Bone& bone : make_bones(skeleton)) {
        box.add(to_point(bone.head));
        box.add(to_point(bone.tail));
    }
    return box;
}

}  // namespace

NearMesh::NearMesh(const MeshView& mesh, const Skeleton& skeleton, Context* context)
    : mesh_(mesh), skeleton_(skeleton), bones_(box_of_bones(skeleton)), joints_(bones_) {
    for (const Joint& joint : skeleton.joints) joints_.add(to_point(joint.position));
    const double reach = kReach * bones_.longest();
    constexpr std::uint8_t of_area = 1, of_flat = 2;
    std::vector<std::uint8_t> corner(mesh.positions.size(), 0);  // per vertex: of which triangles
    for (const Triangle& t : mesh.triangles) {
        const std::uint8_t kind = has_area(mesh, t) ? of_area : of_flat;
        for (const std::uint32_t v : t) corner[v] |= kind;
    }
    Box3 flat;  // of the triangles without area
    for (std::size_t v = 0; v < corner.size(); ++v) {
        if (corner[v] & of_area) whole_.add(to_point(mesh.positions[v]));
        if (corner[v] & of_flat) flat.add(to_point(mesh.positions[v]));
    }
    if (!(whole_.longest() >= 0)) whole_ = flat, flat = {};
    box_ = whole_;
    if (!(reach > 0)) return;
    const bool all_near = std::max(beyond(bones_, whole_.low), beyond(bones_, whole_.high)) <= reach;
    const bool flat_inside = !(flat.longest() >= 0) || (whole_.holds(flat.low) && whole_.holds(flat.high));
    if (all_near && flat_inside) return;
    find_far(context);
}

void NearMesh::find_far(Context* context) {
    const double size = bones_.longest(), reach = kReach * size;
    const MeshTopology topology = analyse_mesh(mesh_, context);
    struct Part {
        Box3 box;
        std::size_t triangles = 0, near = 0;
        bool whole = false;
    };
    std::vector<Part> parts(topology.defects.parts);
    std::vector<std::uint8_t> near(mesh_.triangles.size(), 0), flat(mesh_.triangles.size(), 0);
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
        flat[t] = !has_area(mesh_, mesh_.triangles[t]);
        if (flat[t]) continue;
        Part& part = parts[topology.part_of_triangle[t]];
        double out = 0;
        for (const std::uint32_t v : mesh_.triangles[t]) {
            const Point3 p = to_point(mesh_.positions[v]);
            out = std::max(out, beyond(bones_, p));
            part.box.add(p);
        }
        near[t] = out <= reach;
        ++part.triangles;
        part.near += near[t];
    }
    bool any_whole = false;
    for (Part& part : parts) {
        const double side = part.box.longest();
        part.whole = (part.near > 0 && side <= kLargestPart * size) ||
                     (part.triangles > 0 && side <= kAround * size && part.box.holds(middle(bones_)));
        any_whole |= part.whole || (part.near > 0 && 2 * part.near >= part.triangles);
    }
    Box3 box;
    for (std::size_t t = 0; t < near.size(); ++t) {
        if (flat[t]) continue;
        near[t] |= parts[topology.part_of_triangle[t]].whole;
        if (!near[t]) continue;
        for (const std::uint32_t v : mesh_.triangles[t]) box.add(to_point(mesh_.positions[v]));
    }
    only_fragments_ = !any_whole;
    if (!(box.longest() > 0)) return;  // check_fit says so; without it the whole mesh is bound
    box_ = box;
    for (std::size_t t = 0; t < near.size(); ++t) {
        if (!flat[t]) continue;
        near[t] = 1;
        for (const std::uint32_t v : mesh_.triangles[t]) near[t] &= box.holds(to_point(mesh_.positions[v]));
    }
    std::vector<std::uint8_t> at_near(mesh_.positions.size(), 0);
    at_far_.assign(mesh_.positions.size(), 0);
    for (std::size_t t = 0; t < near.size(); ++t) {
        far_ += !near[t];
        if (near[t]) triangles_.push_back(mesh_.triangles[t]);
        for (const std::uint32_t v : mesh_.triangles[t]) {
            (near[t] ? at_near : at_far_)[v] = 1;
            if (!near[t]) farthest_ = std::max(farthest_, beyond(bones_, to_point(mesh_.positions[v])));
        }
    }
    for (std::size_t v = 0; v < at_near.size(); ++v) at_far_[v] = at_far_[v] && !at_near[v];
    defects_ = topology.defects;
}

Status NearMesh::check_fit() const {
    const double bones = bones_.longest();
    if (!(bones > 0)) return Done{};
    const auto sizes = [&](const Box3& mesh) {
        return short_number(bones) + " against " + short_number(mesh.longest()) + " scene units";
    };
    const std::string otherwise = "; if both are right: --fit-check off";
    const auto other_scale = [&](const Box3& mesh, double factor) {  // factor: to multiply the skeleton by
        return Error{ErrorCode::input, "the skeleton is " + short_number(factor < 1 ? 1 / factor : factor) +
                                           " times " + (factor < 1 ? "larger" : "smaller") + " than the mesh (" +
                                           sizes(mesh) +
                                           "): scale one of them, a skeleton file with --skeleton-scale " +
                                           short_number(factor) + otherwise};
    };
    for (const Box3* const mesh : {&whole_, &box_}) {
        const double factor = usual_factor(mesh->longest() / bones);
        // Few of the joints may deform: the skeleton is smaller only if all of them together are.
        const bool other_size = mesh->longest() / joints_.longest() > kOtherSize || factor < 1 / kOtherSize;
        if (other_size && fits_scaled(bones_, *mesh, factor)) return other_scale(*mesh, factor);
    }
    const Box3& mesh = only_fragments_ ? whole_ : box_;
    const double apart = gap(mesh, bones_);
    if ((only_fragments_ && apart > 0) || apart > kBeside * std::max(mesh.longest(), bones))
        return Error{ErrorCode::input,
                     "the skeleton lies beside the mesh: the middle of its bones is at " + text_of(middle(bones_)) +
                         ", that of the mesh at " + text_of(middle(mesh)) + ", with " + short_number(apart) +
                         " scene units between them (sizes: " + sizes(mesh) + "): move one of them" + otherwise};
    if (only_fragments_ && mesh.longest() > kAround * joints_.longest())
        return other_scale(mesh, usual_factor(mesh.longest() / bones));
    return Done{};
}

void NearMesh::finish(std::vector<Coverage>& coverage, BindReport& report) const {
    if (!any_far()) return;
    std::size_t vertices = 0;
    for (std::size_t v = 0; v < coverage.size(); ++v) {
        if (!at_far_[v] || coverage[v] != Coverage::unused) continue;
        --report.coverage[static_cast<std::size_t>(coverage[v])];
        coverage[v] = Coverage::bridged;
        ++report.coverage[static_cast<std::size_t>(coverage[v])];
        ++vertices;
    }
    report.defects = defects_;
    report.warnings.push_back(std::to_string(far_) + " of " + std::to_string(mesh_.triangles.size()) +
                              " triangles lie far from the skeleton (up to " + short_number(farthest_) +
                              " scene units, " + short_number(farthest_ / bones_.longest()) +
                              " times its size) and do not count as a part of the character: their " +
                              std::to_string(vertices) +
                              " vertices follow the nearest joint (remove them if they are no part of it)");
}

Status NearMesh::check_voxels(int resolution, BindReport& report) const {
    const double size = bones_.longest(), voxel = voxel_size(box_.longest(), resolution);
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
