#include "domain/near_part.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/parallel.h"
#include "core/vectors.h"
#include "sinew/near.h"

namespace sinew {
namespace {

constexpr double kReach = 1;        // of the longest side of the box of the bones
constexpr double kLargestPart = 3;  // the same: larger parts are near triangle by triangle
constexpr double kFlat = 1e-7;      // a triangle has no area if twice its area is this share of a squared edge

// How far the point lies out of the box, along the axis where it is farthest.
double beyond(const Box3& box, const Point3& p) {
    double out = 0;
    for (std::size_t k = 0; k < 3; ++k) out = std::max({out, box.low[k] - p[k], p[k] - box.high[k]});
    return out;
}

Point3 middle(const Box3& box) { return 0.5 * (box.low + box.high); }

bool has_area(const MeshView& mesh, const Triangle& t) {
    const Point3 a = to_point(mesh.positions[t[0]]), u = to_point(mesh.positions[t[1]]) - a,
                 v = to_point(mesh.positions[t[2]]) - a;
    return norm(cross(u, v)) > kFlat * std::max(dot(u, u), dot(v, v));
}

void find_far(const MeshView& mesh, Context* context, NearPart& out) {
    const double size = out.bones.longest(), reach = kReach * size;
    const MeshTopology topology = analyse_mesh(mesh, context);
    struct Part {
        Box3 box;
        std::size_t triangles = 0, near = 0;
        bool whole = false;
    };
    std::vector<Part> parts(topology.defects.parts);
    std::vector<std::uint8_t> near(mesh.triangles.size(), 0), flat(mesh.triangles.size(), 0);
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        flat[t] = !has_area(mesh, mesh.triangles[t]);
        if (flat[t]) continue;
        Part& part = parts[topology.part_of_triangle[t]];
        double away = 0;
        for (const std::uint32_t v : mesh.triangles[t]) {
            const Point3 p = to_point(mesh.positions[v]);
            away = std::max(away, beyond(out.bones, p));
            part.box.add(p);
        }
        near[t] = away <= reach;
        ++part.triangles;
        part.near += near[t];
    }
    bool any_whole = false;
    for (Part& part : parts) {
        const double side = part.box.longest();
        part.whole = (part.near > 0 && side <= kLargestPart * size) ||
                     (part.triangles > 0 && side <= kLargestAround * size && part.box.holds(middle(out.bones)));
        any_whole |= part.whole || (part.near > 0 && 2 * part.near >= part.triangles);
    }
    Box3 box;
    for (std::size_t t = 0; t < near.size(); ++t) {
        if (flat[t]) continue;
        near[t] |= parts[topology.part_of_triangle[t]].whole;
        if (!near[t]) continue;
        for (const std::uint32_t v : mesh.triangles[t]) box.add(to_point(mesh.positions[v]));
    }
    out.only_fragments = !any_whole;
    if (!(box.longest() > 0)) return;  // check_fit says so; without it the whole mesh is bound
    out.box = box;
    for (std::size_t t = 0; t < near.size(); ++t) {
        if (!flat[t]) continue;
        near[t] = 1;
        for (const std::uint32_t v : mesh.triangles[t]) near[t] &= box.holds(to_point(mesh.positions[v]));
    }
    std::vector<std::uint8_t> at_near(mesh.positions.size(), 0);
    out.at_far.assign(mesh.positions.size(), 0);
    for (std::size_t t = 0; t < near.size(); ++t) {
        out.far += !near[t];
        if (near[t]) out.triangles.push_back(mesh.triangles[t]);
        for (const std::uint32_t v : mesh.triangles[t]) {
            (near[t] ? at_near : out.at_far)[v] = 1;
            if (!near[t]) out.farthest = std::max(out.farthest, beyond(out.bones, to_point(mesh.positions[v])));
        }
    }
    for (std::size_t v = 0; v < at_near.size(); ++v) out.at_far[v] = out.at_far[v] && !at_near[v];
    out.defects = topology.defects;
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

NearPart find_near_part(const MeshView& mesh, const Skeleton& skeleton, Context* context) {
    NearPart out;
    out.bones = out.joints = box_of_bones(skeleton);
    for (const Joint& joint : skeleton.joints) out.joints.add(to_point(joint.position));
    const double reach = kReach * out.bones.longest();
    constexpr std::uint8_t of_area = 1, of_flat = 2;
    std::vector<std::uint8_t> corner(mesh.positions.size(), 0);  // per vertex: of which triangles
    parallel_for(context, mesh.triangles.size(), 4096, [&](std::size_t t) {
        const std::uint8_t kind = has_area(mesh, mesh.triangles[t]) ? of_area : of_flat;
        for (const std::uint32_t v : mesh.triangles[t]) {
            const std::atomic_ref own(corner[v]);
            if (!(own.load(std::memory_order_relaxed) & kind)) own.fetch_or(kind, std::memory_order_relaxed);
        }
    });
    Box3 flat;  // of the triangles without area
    for (std::size_t v = 0; v < corner.size(); ++v) {
        if (corner[v] & of_area) out.whole.add(to_point(mesh.positions[v]));
        if (corner[v] & of_flat) flat.add(to_point(mesh.positions[v]));
    }
    if (!(out.whole.longest() >= 0)) out.whole = flat, flat = {};
    out.box = out.whole;
    if (!(reach > 0)) return out;
    const bool all_near = std::max(beyond(out.bones, out.whole.low), beyond(out.bones, out.whole.high)) <= reach;
    const bool flat_inside = !(flat.longest() >= 0) || (out.whole.holds(flat.low) && out.whole.holds(flat.high));
    if (all_near && flat_inside) return out;
    find_far(mesh, context, out);
    return out;
}

std::vector<Triangle> near_triangles(const MeshView& mesh, const Skeleton& skeleton, Context* context) {
    NearPart part = find_near_part(mesh, skeleton, context);
    if (part.far > 0) return std::move(part.triangles);
    return {mesh.triangles.begin(), mesh.triangles.end()};
}

double near_diagonal(const MeshView& mesh, const Skeleton& skeleton, Context* context) {
    const NearPart part = find_near_part(mesh, skeleton, context);
    return part.far > 0 ? part.box.diagonal() : 0;
}

}  // namespace sinew
