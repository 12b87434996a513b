// A model's transform, for column vectors (FBX SDK, "Computing transformation matrices"):
//
//     translation · rotation offset · rotation pivot · pre · rotation · post⁻¹ · rotation pivot⁻¹
//                 · scaling offset · scaling pivot · scale · scaling pivot⁻¹
//
// Pivots and offsets only translate, so this is a translation, a rotation and a scale. Below its parent a model
// inherits scale in one of three ways. With P the parent's rotation, p its whole scale, p' what it inherited of it,
// r and s the model's own, the linear part in the world is
//
//     RSrs: P p r s      RrSs: P r p s      Rrs: P r p' s
//
// and the position always P p t. A tree of nodes knows RSrs. The others are a scale of p s / p or p' s / p of the
// node where p is the same along all axes, and elsewhere take a node of scale 1 / p between parent and model.
#include "io/fbx_nodes.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace sinew::io {

namespace {

using Quaternion = std::array<double, 4>;  // x, y, z, w

Quaternion multiply(const Quaternion& a, const Quaternion& b) {
    return {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
            a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
            a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
            a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
}

/// Rotations about the three axes in an order: the first one first.
Quaternion euler(const Point3& degrees, std::size_t order = 0) {
    static constexpr std::size_t kOrders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};
    Quaternion out{0, 0, 0, 1};
    for (const std::size_t axis : kOrders[order]) {
        if (degrees[axis] == 0) continue;  // most models have no pre- and post-rotation
        const double half = degrees[axis] * std::numbers::pi / 360;
        Quaternion turn{0, 0, 0, std::cos(half)};
        turn[axis] = std::sin(half);
        out = multiply(turn, out);
    }
    return out;
}

Trs local(const FbxTransform& x) {
    Quaternion back = euler(x.post);
    for (std::size_t k = 0; k < 3; ++k) back[k] = -back[k];
    Trs out;
    out.q = multiply(multiply(euler(x.pre), euler(x.rotation, x.order)), back);
    out.s = x.scale;
    Point3 arm;  // from the rotation pivot to where the rotated part begins
    for (std::size_t k = 0; k < 3; ++k)
        arm[k] = x.scaling_offset[k] + x.scaling_pivot[k] * (1 - x.scale[k]) - x.rotation_pivot[k];
    const Matrix turn = compose({0, 0, 0}, out.q, {1, 1, 1});
    const auto turned = transform_point(turn, arm[0], arm[1], arm[2]);
    for (std::size_t k = 0; k < 3; ++k)
        out.t[k] = x.translation[k] + x.rotation_offset[k] + x.rotation_pivot[k] + turned[k];
    return out;
}

FbxTransform transform_of(const FbxObjects& objects, std::size_t object) {
    FbxTransform out;
    const auto triple = [&](const char* name, double otherwise = 0) {
        return objects.triple(object, name, {otherwise, otherwise, otherwise});
    };
    out.translation = triple("Lcl Translation");
    out.rotation = triple("Lcl Rotation");
    out.scale = triple("Lcl Scaling", 1);
    out.rotation_offset = triple("RotationOffset");
    out.rotation_pivot = triple("RotationPivot");
    out.scaling_offset = triple("ScalingOffset");
    out.scaling_pivot = triple("ScalingPivot");
    if (objects.number(object, "RotationActive", 0) != 0) {
        out.pre = triple("PreRotation");
        out.post = triple("PostRotation");
        const double order = objects.number(object, "RotationOrder", 0);
        if (order >= 0 && order < 6) out.order = static_cast<std::size_t>(order);
    }
    const double inherit = objects.number(object, "InheritType", 0);
    out.inherit = inherit == 1   ? FbxTransform::Inherit::RSrs
                  : inherit == 2 ? FbxTransform::Inherit::Rrs
                                 : FbxTransform::Inherit::RrSs;
    return out;
}

Matrix geometry_of(const FbxObjects& objects, std::size_t object) {
    return compose(objects.triple(object, "GeometricTranslation", {0, 0, 0}),
                   euler(objects.triple(object, "GeometricRotation", {0, 0, 0})),
                   objects.triple(object, "GeometricScaling", {1, 1, 1}));
}

/// The parent of a model: the first model that it is connected to, else the scene.
std::size_t parent_of(const FbxObjects& objects, std::size_t object) {
    for (const FbxObjects::Link& link : objects[object].targets)
        if (link.property.empty() && objects[link.object].is("Model")) return link.object;
    return FbxObjects::root;
}

/// The scale of each node: inherited, and whole.
struct Scales {
    Point3 inherited{1, 1, 1}, whole{1, 1, 1};
};

std::vector<Scales> scales_of(const std::vector<FbxNodes::Node>& nodes,
                              const std::vector<FbxTransform>& transforms) {
    std::vector<Scales> out(nodes.size());
    for (std::size_t n = 1; n < nodes.size(); ++n) {
        const Scales& above = out[nodes[n].parent];
        const bool skips = transforms[n].inherit == FbxTransform::Inherit::Rrs;
        out[n].inherited = skips ? above.inherited : above.whole;
        for (std::size_t k = 0; k < 3; ++k) out[n].whole[k] = out[n].inherited[k] * transforms[n].scale[k];
    }
    return out;
}

bool uniform(const Point3& scale) {
    const auto [least, most] = std::minmax({scale[0], scale[1], scale[2]});
    return most - least <= 1e-6 * std::abs(most);
}

}  // namespace

FbxNodes FbxNodes::read(const FbxObjects& objects, std::vector<std::string>& warnings) {
    const std::size_t count = objects.all().size();
    std::vector<std::vector<std::size_t>> children(count);
    for (std::size_t m = 1; m < count; ++m)
        if (objects[m].is("Model")) children[parent_of(objects, m)].push_back(m);
    FbxNodes out;
    out.node_of_object.assign(count, FbxObjects::missing);
    const auto add = [&](std::size_t top, std::size_t parent) {
        std::vector<std::pair<std::size_t, std::size_t>> stack{{top, parent}};
        while (!stack.empty()) {
            const auto [object, above] = stack.back();
            stack.pop_back();
            if (out.node_of_object[object] != FbxObjects::missing) continue;
            const std::size_t number = out.node_of_object[object] = out.nodes.size();
            Node node{object, above, {}, {}};
            if (object != FbxObjects::root) {
                node.transform = transform_of(objects, object);
                node.geometry = geometry_of(objects, object);
            }
            out.nodes.push_back(std::move(node));
            for (auto child = children[object].rbegin(); child != children[object].rend(); ++child)
                stack.emplace_back(*child, number);
        }
    };
    add(FbxObjects::root, FbxObjects::missing);
    std::size_t circles = 0;
    for (std::size_t m = 1; m < count; ++m)
        if (objects[m].is("Model") && out.node_of_object[m] == FbxObjects::missing) {
            ++circles;
            add(m, 0);
        }
    if (circles)
        warnings.push_back(std::to_string(circles) + " models of the file are below themselves: they stand alone");
    out.mark_compensated(out.rest());
    return out;
}

std::vector<FbxTransform> FbxNodes::rest() const {
    std::vector<FbxTransform> out;
    for (const Node& node : nodes) out.push_back(node.transform);
    return out;
}

void FbxNodes::mark_compensated(const std::vector<FbxTransform>& transforms) {
    const std::vector<Scales> scales = scales_of(nodes, transforms);
    for (std::size_t n = 1; n < nodes.size(); ++n)
        if (transforms[n].inherit != FbxTransform::Inherit::RSrs && !uniform(scales[nodes[n].parent].whole))
            nodes[n].compensated = true;
}

std::vector<std::size_t> FbxNodes::numbers() const {
    std::vector<std::size_t> out;
    std::size_t added = 0;
    for (const Node& node : nodes) {
        added += node.compensated;
        out.push_back(out.size() + added);
    }
    return out;
}

std::vector<FbxLocal> FbxNodes::place(const std::vector<FbxTransform>& transforms) const {
    std::vector<FbxLocal> out(nodes.size());
    std::vector<std::size_t> all(nodes.size() - 1);
    std::iota(all.begin(), all.end(), std::size_t{1});
    place(transforms, all, out);
    return out;
}

void FbxNodes::place(const std::vector<FbxTransform>& transforms, std::span<const std::size_t> wanted,
                     std::vector<FbxLocal>& out) const {
    const std::vector<Scales> scales = scales_of(nodes, transforms);
    for (const std::size_t n : wanted) {
        Trs& own = out[n].own = local(transforms[n]);
        if (transforms[n].inherit == FbxTransform::Inherit::RSrs) continue;
        Point3 above = scales[nodes[n].parent].whole;
        for (double& scale : above)
            if (scale == 0) scale = 1;
        if (nodes[n].compensated) {
            out[n].compensation = Trs{own.t, {1 / above[0], 1 / above[1], 1 / above[2]}, {0, 0, 0, 1}};
            own.t = {0, 0, 0};
            own.s = scales[n].whole;
        } else {
            for (std::size_t k = 0; k < 3; ++k) own.s[k] *= scales[n].inherited[k] / above[k];
        }
    }
}

}  // namespace sinew::io
