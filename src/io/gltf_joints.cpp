#include "io/gltf_joints.h"

#include <algorithm>
#include <cmath>

#include "io/gltf_builder.h"
#include "io/gltf_nodes.h"

namespace sinew::io {

namespace {

/// Reads the end of a joint's bone from its node, in the node's space (docs/formats.md).
Status read_tail(const Document& document, std::size_t node, const Matrix& m, Joint& joint) {
    const Json* extras = member(*document.at("nodes", node), "extras");
    const Json* tail = extras ? member(*extras, tail_key) : nullptr;
    if (!tail || tail->is_null()) return Done{};
    double p[3];
    bool good = tail->is_array() && tail->size() == 3;
    for (std::size_t k = 0; good && k < 3; ++k) {
        good = (*tail)[k].is_number();
        if (good) p[k] = (*tail)[k].get<double>();
    }
    const std::string place =
        "joint " + in_quotes(joint.name) + " (node " + std::to_string(node) + "): extras." + std::string(tail_key);
    if (!good) return document.error(place + " must be three numbers, where its bone ends in the node's space");
    const auto q = transform_point(m, p[0], p[1], p[2]);
    // A bone of length zero keeps that length.
    const bool point = p[0] == 0 && p[1] == 0 && p[2] == 0;
    joint.tail = point ? joint.position : to_vec3(q);
    if (!std::isfinite(joint.tail->x) || !std::isfinite(joint.tail->y) || !std::isfinite(joint.tail->z))
        return document.error(place + " has a position that is not finite");
    return Done{};
}

/// Positions are rounded to floats in matrices: a tail that differs from a child's position by rounding only is
/// set to it.
void join_tails(std::vector<Joint>& joints) {
    const auto apart = [](const Vec3& a, const Vec3& b) {
        return std::max({std::abs(double(a.x) - b.x), std::abs(double(a.y) - b.y), std::abs(double(a.z) - b.z)});
    };
    double size = 0;
    for (const Joint& joint : joints) size = std::max(size, apart(joint.position, {}));
    for (const Joint& joint : joints) {
        if (joint.parent < 0) continue;
        Joint& above = joints[static_cast<std::size_t>(joint.parent)];
        if (above.tail && !(*above.tail == above.position) && apart(*above.tail, joint.position) <= 1e-5 * size)
            above.tail = joint.position;
    }
}

}  // namespace

void set_frame(Joint& joint, const Matrix& m) {
    joint.position = to_vec3({m(0, 3), m(1, 3), m(2, 3)});
    double x[3], y[3], x_length = 0, y_length = 0, along = 0;
    for (std::size_t r = 0; r < 3; ++r) x_length += m(r, 0) * m(r, 0);
    for (std::size_t r = 0; r < 3; ++r) x[r] = m(r, 0) / std::sqrt(x_length);
    for (std::size_t r = 0; r < 3; ++r) along += x[r] * m(r, 1);
    for (std::size_t r = 0; r < 3; ++r) y[r] = m(r, 1) - along * x[r];
    for (std::size_t r = 0; r < 3; ++r) y_length += y[r] * y[r];
    for (double& v : y) v /= std::sqrt(y_length);
    const double z[3] = {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]};
    if (!std::isfinite(z[0] + z[1] + z[2])) return;
    const auto vec3 = [](const double* v) { return to_vec3({v[0], v[1], v[2]}); };
    joint.axes = {vec3(x), vec3(y), vec3(z)};
}

Status set_joints(Document& document, Scene& scene, std::vector<std::size_t> nodes, std::vector<Matrix> where) {
    const NodeTree& tree = document.rig.nodes;
    std::vector<Joint>& joints = scene.skeleton.joints;
    // The nearest joint above each node, from the top down: a search upwards from each joint is quadratic on a
    // deep chain.
    std::vector<std::size_t> joint_of_node(tree.parent.size(), none), above(tree.parent.size(), none);
    for (std::size_t j = 0; j < nodes.size(); ++j) joint_of_node[nodes[j]] = j;
    for (const std::size_t n : tree.top_down)
        if (const std::size_t p = tree.parent[n]; p != none)
            above[n] = joint_of_node[p] != none ? joint_of_node[p] : above[p];
    for (std::size_t j = 0; j < nodes.size(); ++j) {
        Joint joint;
        joint.name = node_name(document, nodes[j]);
        if (above[nodes[j]] != none) joint.parent = static_cast<int>(above[nodes[j]]);
        const Matrix& m = where[j];
        set_frame(joint, m);
        if (!std::isfinite(joint.position.x) || !std::isfinite(joint.position.y) ||
            !std::isfinite(joint.position.z))
            return document.error("joint " + in_quotes(joint.name) + " (node " + std::to_string(nodes[j]) +
                                  ") has a position that is not finite");
        if (const Status s = read_tail(document, nodes[j], m, joint); !s) return s;
        joints.push_back(std::move(joint));
    }
    join_tails(joints);
    document.rig.node_of_joint = std::move(nodes);
    document.rig.bind_pose = std::move(where);
    return Done{};
}

}  // namespace sinew::io
