// Animations: the transforms of nodes, and the weights of their meshes' shapes, at a time. src/deform moves the
// vertices.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/bind_frame.h"
#include "core/try.h"
#include "io/gltf_animation.h"
#include "io/gltf_builder.h"
#include "io/gltf_morphs.h"
#include "io/gltf_scene.h"
#include "io/gltf_skins.h"

namespace sinew::io {

namespace {

using Mode = Animation::Mode;
using Path = Animation::Path;

/// Local matrices with the animation applied; its weights of shapes are added to `weights`, by node.
std::vector<Matrix> local_at(const Document& document, const Animation& animation, double time,
                             std::map<std::size_t, std::vector<double>>& weights) {
    std::map<std::size_t, std::map<Path, std::vector<double>>> moved;
    for (const Animation::Channel& c : animation.channels) {
        auto values = sample(animation.samplers.at(c.sampler), time, c.path == Path::rotation);
        if (c.path == Path::weights)
            weights[c.node] = std::move(values);
        else
            moved[c.node][c.path] = std::move(values);
    }
    std::vector<Matrix> local = document.rig.nodes.local;
    for (const auto& [node, moved_paths] : moved) {
        const auto& paths = moved_paths;  // in clang 14, a lambda cannot capture a structured binding
        const Json& json = *document.at("nodes", node);
        std::array<double, 3> t{0, 0, 0}, s{1, 1, 1};
        std::array<double, 4> q{0, 0, 0, 1};
        const auto take = [&](const char* key, Path path, auto& out) {
            auto values = numbers_of(json, key);
            if (const auto found = paths.find(path); found != paths.end()) values = found->second;
            if (values.size() == out.size()) std::copy(values.begin(), values.end(), out.begin());
        };
        take("translation", Path::translation, t);
        take("rotation", Path::rotation, q);
        take("scale", Path::scale, s);
        local[node] = compose(t, q, s);
    }
    return local;
}

std::vector<Matrix> worlds(const Rig& rig, const std::vector<Matrix>& local) {
    std::vector<Matrix> world(local.size());
    for (const std::size_t n : rig.nodes.top_down)
        world[n] = rig.nodes.parent[n] == Rig::no_node ? local[n] : world[rig.nodes.parent[n]] * local[n];
    return world;
}

struct Range {
    double start = 0, end = 0;
};
Range range_of(const Animation& animation) {
    Range out;
    bool first = true;
    for (const auto& [number, s] : animation.samplers) {
        const double start = s.times.front(), end = s.times.back();
        out = first ? Range{start, end} : Range{std::min(out.start, start), std::max(out.end, end)};
        first = false;
    }
    return out;
}

}  // namespace

Result<std::vector<Clip>> clips(const Scene& scene) {
    std::vector<Clip> out;
    if (!scene.document) return out;
    AnimationReader reader(*scene.document);
    for (std::size_t i = 0; i < scene.document->count("animations"); ++i) {
        SINEW_TRY_LET(const auto animation, reader.read(i));
        const auto [start, end] = range_of(animation);
        out.push_back({string_of(member(*scene.document->at("animations", i), "name")), start, end});
    }
    return out;
}

namespace {

/// Of each joint, from bind space to where its node is, in bind space. `world`: of each node.
std::vector<Transform> skinning_of(const Scene& scene, const std::vector<Matrix>& world, const Matrix& from_world) {
    const Rig& rig = scene.document->rig;
    std::vector<Transform> out(scene.skeleton.joints.size());
    for (std::size_t j = 0; j < rig.bind_pose.size(); ++j)
        if (const auto to_joint = inverse(rig.bind_pose[j]))  // otherwise the reader has warned of it
            out[j] = to_transform(from_world * world[rig.node_of_joint[j]] * *to_joint);
    return out;
}

}  // namespace

Result<std::vector<PoseClip>> pose_clips(const Scene& scene) {
    constexpr double step = 1.0 / 30;                   // seconds, where keys are not joined by straight lines
    constexpr std::size_t most = std::size_t{1} << 22;  // poses of joints
    const Document& document = *scene.document;
    std::vector<PoseClip> out;
    std::size_t poses = 0;
    AnimationReader reader(document);
    const Matrix from_world = inverse(bind_to_world(document.rig, scene.skeleton)).value_or(Matrix{});
    for (std::size_t i = 0; i < document.count("animations"); ++i) {
        SINEW_TRY_LET(const auto animation, reader.read(i));
        PoseClip clip{string_of(member(*document.at("animations", i), "name")), true, {}};
        std::set<double> times;
        for (const Animation::Channel& channel : animation.channels) {
            if (channel.path == Path::weights) continue;
            const Animation::Sampler& s = animation.samplers.at(channel.sampler);
            clip.step = clip.step && s.mode == Mode::step;
            for (const float t : s.times) times.insert(std::max(0.0, double{t}));
            const double length = double{s.times.back()} - s.times.front();
            if (s.mode != Mode::cubic || !(length < 1e4)) continue;
            for (double t = s.times.front(); t < double{s.times.back()}; t += step) times.insert(std::max(0.0, t));
        }
        if (times.empty()) continue;
        poses += times.size() * scene.skeleton.joints.size();
        if (poses > most) return document.error("its animations have too many keys to be taken along");
        for (const double t : times) {
            std::map<std::size_t, std::vector<double>> weights;
            const auto world = worlds(document.rig, local_at(document, animation, t, weights));
            clip.keys.push_back({t, joint_poses(scene.skeleton, skinning_of(scene, world, from_world))});
        }
        out.push_back(std::move(clip));
    }
    return out;
}

Result<ScenePose> pose_at(const Scene& scene, std::optional<std::size_t> clip, double time) {
    if (!scene.document) return Error{ErrorCode::usage, "the scene has no document, so no nodes to pose it"};
    const Document& document = *scene.document;
    const Rig& rig = document.rig;
    if (!std::isfinite(time)) return Error{ErrorCode::usage, "the time of a pose must be finite"};
    ScenePose out;
    out.time = time;
    std::map<std::size_t, std::vector<double>> weights;
    std::vector<Matrix> world = rig.nodes.world;
    if (clip) {
        if (*clip >= document.count("animations"))
            return Error{ErrorCode::usage, document.name + ": there is no clip " + std::to_string(*clip)};
        SINEW_TRY_LET(const auto animation, AnimationReader(document).read(*clip));
        const auto [start, end] = range_of(animation);
        out.time = std::clamp(time, start, end);
        world = worlds(rig, local_at(document, animation, out.time, weights));
    }
    auto morphs = read_morphs(document, &weights);
    if (!morphs) return morphs.error();
    out.morphs = std::move(*morphs);

    const Matrix to_world = bind_to_world(rig, scene.skeleton);
    out.to_world = to_transform(to_world);
    const Matrix from_world = inverse(to_world).value_or(Matrix{});
    out.skinning = skinning_of(scene, world, from_world);
    std::transform(world.begin(), world.end(), std::back_inserter(out.nodes), to_transform);
    return out;
}

void start_from_other_poses(const Scene& scene, std::span<const Transform> transforms, std::span<Vec3> positions,
                            std::span<Vec3> normals, std::span<std::array<float, 4>> tangents) {
    if (!scene.weights || scene.other_poses.empty()) return;
    std::vector<Matrix> by_pose;
    for (const Transform& t : transforms) by_pose.push_back(to_matrix(t));
    for (const OtherPose& other : scene.other_poses) {
        std::vector<Matrix> moves, all;  // of each joint: to the scene's pose, and on to the one that is shown
        for (std::size_t j = 0; j < other.moves.size(); ++j) {
            moves.push_back(to_matrix(other.moves[j]));
            all.push_back(by_pose[j] * moves[j]);
        }
        for (std::uint32_t v = other.first_vertex; v < other.first_vertex + other.vertex_count; ++v) {
            const auto row = (*scene.weights)[v];
            if (row.empty()) continue;
            const auto mean = [&](const std::vector<Matrix>& of) {
                return blended(row, [&](std::uint32_t j) -> const Matrix& { return of[j]; });
            };
            const auto to_own = inverse(mean(moves)), back = inverse(mean(by_pose));
            if (!to_own || !back) continue;
            const Matrix move = *back * mean(all) * *to_own;
            positions[v] = to_vec3(transform_point(move, positions[v].x, positions[v].y, positions[v].z));
            if (!normals.empty()) normals[v] = unit(direction(normal_matrix(move), normals[v]), normals[v]);
            if (tangents.empty()) continue;
            auto& t = tangents[v];
            const Vec3 along{t[0], t[1], t[2]}, turned = unit(direction(move, along), along);
            t = {turned.x, turned.y, turned.z, t[3]};
        }
    }
}

std::vector<JointPose> joint_poses(const Skeleton& skeleton, std::span<const Transform> skinning) {
    constexpr double same = 1e-5;  // bind matrices are floats: smaller differences are rounding
    double size = 1e-9;
    for (const Joint& joint : skeleton.joints)
        for (const float x : {joint.position.x, joint.position.y, joint.position.z})
            size = std::max(size, std::abs(double{x}));
    std::vector<JointPose> out(skeleton.joints.size());
    for (std::size_t j = 0; j < std::min(out.size(), skinning.size()); ++j) {
        const Joint& joint = skeleton.joints[j];
        Transform frame, to_frame;
        if (!bind_frame(joint, frame, to_frame)) continue;
        // S = S_parent · B · L · B⁻¹
        Matrix parent;
        if (joint.parent >= 0) {
            const auto found = inverse(to_matrix(skinning[static_cast<std::size_t>(joint.parent)]));
            if (!found) continue;
            parent = *found;
        }
        const Trs local = decompose(to_matrix(to_frame) * parent * to_matrix(skinning[j]) * to_matrix(frame));
        JointPose pose{local.q, local.t, local.s};
        if (pose.rotation[3] < 0)
            for (double& x : pose.rotation) x = -x;
        const auto length = [](double x, double y, double z) { return std::sqrt(x * x + y * y + z * z); };
        const auto& [q, t, s] = pose;
        bool usable = s[0] * s[1] * s[2] != 0, scaled = false;
        for (std::size_t k = 0; k < 3; ++k) {
            usable = usable && std::isfinite(q[k] + t[k] + s[k]);
            scaled = scaled || std::abs(s[k] - 1) > same;
        }
        const bool still = !scaled && length(q[0], q[1], q[2]) <= same && length(t[0], t[1], t[2]) <= same * size;
        if (usable && !still) out[j] = pose;
    }
    return out;
}

}  // namespace sinew::io
