// From poses to animations. A pose turns a joint in its own frame B at the bind pose: S = S_parent · B · L · B⁻¹,
// from bind space to bind space. In the world the joint's node is at W · S · M, where M is its matrix at the bind
// pose and W leads from bind space to the world. All nodes above it follow S_parent, so its local transform is
//
//     (node above, with all joints at the bind pose)⁻¹ · W · B · L · B⁻¹ · M
//
// This depends on the joint's own L alone. If M is B with a scale, a rotation L gives a constant rotation times L,
// so interpolating the rotations of the file interpolates L.
#include "io/gltf_clips.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/bind_frame.h"
#include "core/try.h"
#include "io/gltf_builder.h"
#include "io/json_text.h"

namespace sinew::io {

namespace {

constexpr double same = 1e-5;  // bind matrices are floats: smaller differences are rounding

bool is_rest(const JointPose& pose) {
    const JointPose rest;
    return pose.rotation == rest.rotation && pose.translation == rest.translation && pose.scale == rest.scale;
}

Status check_clip(const Skeleton& skeleton, const PoseClip& clip) {
    const std::string name = "animation " + json_string(clip.name);
    const auto wrong = [&](std::size_t key, const std::string& what) -> Status {
        return Error{ErrorCode::usage, name + ": key " + std::to_string(key) + what};
    };
    if (clip.keys.empty()) return Error{ErrorCode::usage, name + " has no keys: give it at least one pose"};
    for (std::size_t k = 0; k < clip.keys.size(); ++k) {
        const auto& [time, joints] = clip.keys[k];
        if (!(time >= 0) || !std::isfinite(static_cast<float>(time)))
            return wrong(k, " must have a time of 0 seconds or more");
        // As floats, as the file stores them.
        if (k > 0 && !(static_cast<float>(time) > static_cast<float>(clip.keys[k - 1].time)))
            return wrong(k, " must be later than the key before it");
        if (joints.size() != skeleton.joints.size())
            return wrong(k, " has " + std::to_string(joints.size()) + " joints, but the skeleton has " +
                                std::to_string(skeleton.joints.size()));
        for (std::size_t j = 0; j < joints.size(); ++j) {
            const auto& [q, t, s] = joints[j];
            double length = 0, sum = 0;
            for (const double v : q) length += v * v;
            for (std::size_t i = 0; i < 3; ++i) sum += t[i] + s[i];
            if (!(std::sqrt(length) > 1e-12) || !std::isfinite(length + sum) || s[0] * s[1] * s[2] == 0)
                return wrong(k, ": joint " + json_string(skeleton.joints[j].name) +
                                    " has a pose that is not finite, or a rotation or scale of zero");
        }
    }
    return Done{};
}

Matrix local_of(const JointPose& pose) {
    std::array<double, 4> q = pose.rotation;
    double length = 0;
    for (const double v : q) length += v * v;
    for (double& v : q) v /= std::sqrt(length);
    return compose(pose.translation, q, pose.scale);
}

/// The transform of a node at rest.
Trs trs_of(const Json& node, const Matrix& local) {
    if (member(node, "matrix")) return decompose(local);  // which is how such a node is written
    Trs out;
    const auto read = [&](const char* key, auto& values) {
        if (const Json* list = member(node, key))
            for (std::size_t i = 0; i < values.size(); ++i) values[i] = (*list)[i].get<double>();
    };
    read("translation", out.t);
    read("rotation", out.q);
    read("scale", out.s);
    return out;
}

/// A joint's node.
struct Place {
    Matrix above;  ///< its parent in the world, with all joints at the bind pose
    Matrix bind;   ///< the joint at the bind pose, in bind space
    Trs rest;      ///< the node's transform in the file
    Matrix local;  ///< the same
};

std::vector<Place> places_of(const Scene& scene, const Matrix& to_world) {
    const auto& joints = scene.skeleton.joints;
    const Rig& rig = scene.document->rig;
    std::vector<Place> out(joints.size());
    if (rig.source == RigSource::added) {  // as gltf_save_json.cpp adds them
        for (std::size_t j = 0; j < joints.size(); ++j) {
            if (joints[j].parent >= 0) out[j].above = frame_of(joints[static_cast<std::size_t>(joints[j].parent)]);
            out[j].bind = frame_of(joints[j]);
            out[j].local = inverse(out[j].above).value_or(Matrix{}) * out[j].bind;
            out[j].rest = decompose(out[j].local);
        }
        return out;
    }
    std::vector<std::optional<std::size_t>> joint_of_node(rig.nodes.local.size());
    for (std::size_t j = 0; j < joints.size(); ++j) joint_of_node[rig.node_of_joint[j]] = j;
    std::vector<Matrix> world(rig.nodes.local.size());
    for (const std::size_t n : rig.nodes.top_down) {
        const Matrix above = rig.nodes.parent[n] == Rig::no_node ? Matrix{} : world[rig.nodes.parent[n]];
        world[n] = above * rig.nodes.local[n];
        const auto joint = joint_of_node[n];
        if (!joint) continue;
        world[n] = to_world * rig.bind_pose[*joint];
        const Json& node = *scene.document->at("nodes", n);
        out[*joint] = {above, rig.bind_pose[*joint], trs_of(node, rig.nodes.local[n]), rig.nodes.local[n]};
    }
    return out;
}

/// Maximum distance of equal translations in the world: positions of joints come from bind matrices, which are
/// floats.
double slack_of(const std::vector<Place>& places, const Matrix& to_world) {
    double extent = 0, far = 0;
    for (std::size_t r = 0; r < 3; ++r) {
        double low = INFINITY, high = -INFINITY;
        for (const Place& place : places) {
            const double x = (to_world * place.bind)(r, 3);
            low = std::min(low, x);
            high = std::max(high, x);
            far = std::max(far, std::abs(x));
        }
        extent = std::max(extent, high - low);
    }
    return same * extent + 4e-7 * far;
}

/// A rotation as floats, with the sign that is nearest to the previous one.
void add_rotation(std::vector<float>& values, const std::array<double, 4>& q) {
    double cosine = 1;
    if (!values.empty()) {
        cosine = 0;
        for (std::size_t i = 0; i < 4; ++i) cosine += values[values.size() - 4 + i] * q[i];
    }
    for (const double v : q) values.push_back(static_cast<float>(cosine < 0 ? -v : v));
}

template <std::size_t N>
double largest_difference(const std::vector<float>& values, const std::array<double, N>& rest) {
    double most = 0;
    for (std::size_t i = 0; i < values.size(); ++i) most = std::max(most, std::abs(values[i] - rest[i % N]));
    return most;
}

/// A quaternion and its opposite are one rotation.
double largest_turn(const std::vector<float>& values, const std::array<double, 4>& rest) {
    double most = 0;
    for (std::size_t i = 0; i < values.size(); i += 4) {
        double near = 0, opposite = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            near = std::max(near, std::abs(values[i + k] - rest[k]));
            opposite = std::max(opposite, std::abs(values[i + k] + rest[k]));
        }
        most = std::max(most, std::min(near, opposite));
    }
    return most;
}

}  // namespace

Result<std::vector<NodeTrack>> node_tracks(const Scene& scene, const PoseClip& clip,
                                           std::vector<std::string>& notes) {
    const auto& joints = scene.skeleton.joints;
    SINEW_TRY(check_clip(scene.skeleton, clip));
    SINEW_TRY_LET(const ScenePose rest, pose_at(scene, std::nullopt, 0));
    const Matrix to_world = to_matrix(rest.to_world);
    const std::vector<Place> places = places_of(scene, to_world);
    const double slack = slack_of(places, to_world);

    std::vector<NodeTrack> out;
    std::size_t held = 0, inexact = 0;
    for (std::size_t j = 0; j < joints.size(); ++j) {
        const auto& [above, bind, at_rest, own] = places[j];
        const bool moves = std::any_of(clip.keys.begin(), clip.keys.end(),
                                       [&, j = j](const PoseKey& key) { return !is_rest(key.joints[j]); });
        const std::string shown = "animation " + json_string(clip.name) + ": joint " + json_string(joints[j].name);
        Transform frame, inverse_frame;
        if (moves && !bind_frame(joints[j], frame, inverse_frame))
            return Error{ErrorCode::input, shown + " has axes that are linearly dependent, so it cannot be posed"};
        const std::optional<Matrix> from_world = inverse(above);
        if (!from_world) {
            if (moves) return Error{ErrorCode::input, shown + " has a parent node with a scale of 0"};
            continue;
        }
        NodeTrack t{j, "translation", 3, {}}, r{j, "rotation", 4, {}}, s{j, "scale", 3, {}};
        bool exact = agree(compose(at_rest.t, at_rest.q, at_rest.s), own);
        for (const PoseKey& key : clip.keys) {
            Matrix turned;
            if (moves) turned = to_matrix(frame) * local_of(key.joints[j]) * to_matrix(inverse_frame);
            const Matrix local = *from_world * to_world * turned * bind;
            const Trs trs = decompose(local);
            exact = exact && agree(compose(trs.t, trs.q, trs.s), local);
            for (const double v : trs.t) t.values.push_back(static_cast<float>(v));
            for (const double v : trs.s) s.values.push_back(static_cast<float>(v));
            add_rotation(r.values, trs.q);
        }
        for (const auto* values : {&t.values, &r.values, &s.values})
            if (!std::all_of(values->begin(), values->end(), [](float v) { return std::isfinite(v); }))
                return Error{ErrorCode::input, shown + " is moved beyond the range of float"};
        const std::size_t before = out.size();
        const double shrunk = std::cbrt(std::abs(determinant(*from_world)));  // of the world's lengths
        if (largest_difference(t.values, at_rest.t) > slack * shrunk) out.push_back(std::move(t));
        if (largest_turn(r.values, at_rest.q) > same) out.push_back(std::move(r));
        const double scale = std::max({std::abs(at_rest.s[0]), std::abs(at_rest.s[1]), std::abs(at_rest.s[2])});
        if (largest_difference(s.values, at_rest.s) > same * scale) out.push_back(std::move(s));
        if (out.size() == before) continue;
        held += !moves;
        inexact += !exact;
    }
    const auto joints_of = [](std::size_t n) { return std::to_string(n) + (n == 1 ? " joint" : " joints"); };
    if (held)
        notes.push_back("animation " + json_string(clip.name) + " also sets " + joints_of(held) +
                        " to the bind pose, which differs from the rest pose of their nodes");
    if (inexact)
        notes.push_back(
            "animation " + json_string(clip.name) + ": " + joints_of(inexact) +
            " below a joint with uneven scale get the nearest pose without shear, which glTF nodes do not support");
    return out;
}

}  // namespace sinew::io
