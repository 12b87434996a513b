// Animations: the transforms of nodes, and the weights of their meshes' shapes, at a time. Samplers are evaluated
// here; src/deform moves the vertices.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/bind_frame.h"
#include "core/try.h"
#include "io/gltf_accessor.h"
#include "io/gltf_builder.h"
#include "io/gltf_morphs.h"
#include "io/gltf_scene.h"
#include "io/gltf_skins.h"

namespace sinew::io {

namespace {

enum class Path { translation, rotation, scale, weights };
enum class Mode { linear, step, cubic };

struct Sampler {
    Mode mode = Mode::linear;
    std::vector<float> times;   // rising
    std::vector<float> values;  // per key `width`, or in-tangent, value, out-tangent of `width` each
    std::size_t width = 0;
};

struct Channel {
    std::size_t node = 0;
    Path path = Path::translation;
    std::size_t sampler = 0;  // of the animation
};

struct Animation {
    std::vector<Channel> channels;
    std::map<std::size_t, Sampler> samplers;
};

class AnimationReader {
public:
    explicit AnimationReader(const Document& document) : document_(document), accessors_(document) {
        budget_ = std::size_t{1} << 22;
        for (const auto& buffer : document.buffers) budget_ += 16 * buffer.bytes.size();
    }

    Result<Animation> read(std::size_t index) {
        const Json& json = *document_.at("animations", index);
        const std::string place = "animation " + std::to_string(index);
        Animation out;
        const Json* channels = member(json, "channels");
        if (!channels || !channels->is_array()) return document_.error(place + " has no channels");
        for (std::size_t c = 0; c < channels->size(); ++c) {
            const std::string where = place + " channel " + std::to_string(c);
            const Json* target = member((*channels)[c], "target");
            if (!target) return document_.error(where + " has no target");
            const Json* node_json = member(*target, "node");
            if (!node_json) continue;  // the target of an extension
            const auto node = whole(node_json), sampler = whole(member((*channels)[c], "sampler"));
            if (!node || *node >= document_.count("nodes"))
                return document_.error(where + " moves a node that does not exist");
            static const std::map<std::string, Path> paths{{"translation", Path::translation},
                                                           {"rotation", Path::rotation},
                                                           {"scale", Path::scale},
                                                           {"weights", Path::weights}};
            const auto path = paths.find(string_of(member(*target, "path")));
            if (path == paths.end()) continue;  // the same
            const Json* samplers = member(json, "samplers");
            if (!sampler || !samplers || !samplers->is_array() || *sampler >= samplers->size())
                return document_.error(where + ": its sampler does not exist");
            if (!out.samplers.contains(*sampler)) {
                SINEW_TRY_LET(auto values,
                              read_sampler((*samplers)[*sampler], place + " sampler " + std::to_string(*sampler)));
                out.samplers.emplace(*sampler, std::move(values));
            }
            const std::size_t width = out.samplers.at(*sampler).width;
            const std::size_t needed = path->second == Path::rotation  ? 4
                                       : path->second == Path::weights ? width
                                                                       : 3;
            if (width != needed)
                return document_.error(where + ": its sampler has " + std::to_string(width) +
                                       " numbers a key, not " + std::to_string(needed));
            out.channels.push_back({*node, path->second, *sampler});
        }
        return out;
    }

private:
    Result<Sampler> read_sampler(const Json& json, const std::string& place) {
        const auto input = whole(member(json, "input")), output = whole(member(json, "output"));
        if (!input || !output) return document_.error(place + " needs input and output");
        Sampler out;
        const std::string mode = string_of(member(json, "interpolation"));
        if (mode == "STEP")
            out.mode = Mode::step;
        else if (mode == "CUBICSPLINE")
            out.mode = Mode::cubic;
        else if (!mode.empty() && mode != "LINEAR")
            return document_.error(place + ": unknown interpolation \"" + printable(mode) + "\"");
        const auto times = accessors_.read(*input, place + ": input");
        if (!times) return times.error();
        const auto values = accessors_.read(*output, place + ": output");
        if (!values) return values.error();
        // Samplers may share accessors, so a small file can request any amount.
        const std::size_t cost = times->count + values->count * values->width;
        if (cost > budget_)
            return document_.error(
                place +
                ": the animations of the file share keys and have too many of them in total (remove animations)");
        budget_ -= cost;
        if (times->width != 1 || times->component != Component::f32)
            return document_.error(place + ": input must be SCALAR of floats");
        out.times = as_floats(*times, false);
        out.values = as_floats(*values, values->component != Component::f32);
        for (std::size_t k = 0; k < out.times.size(); ++k)
            if (!std::isfinite(out.times[k]) || (k > 0 && out.times[k] < out.times[k - 1]))
                return document_.error(place + ": time " + std::to_string(k) + " is not finite or goes back");
        for (std::size_t i = 0; i < out.values.size(); ++i)
            if (!std::isfinite(out.values[i]))
                return document_.error(place + ": value " + std::to_string(i) + " is not finite");
        const std::size_t rows = out.times.size() * (out.mode == Mode::cubic ? 3 : 1);
        if (values->count % rows != 0)
            return document_.error(place + ": " + std::to_string(values->count) + " values for " +
                                   std::to_string(out.times.size()) + " keys");
        out.width = values->count / rows * values->width;
        return out;
    }

    const Document& document_;
    AccessorReader accessors_;
    std::size_t budget_ = 0;  // numbers that may still be read
};

void normalise(std::vector<double>& q) {
    double length = 0;
    for (const double v : q) length += v * v;
    length = std::sqrt(length);
    if (length < 1e-12) {
        q = {0, 0, 0, 1};
        return;
    }
    for (double& v : q) v /= length;
}

/// Along the shorter arc.
std::vector<double> slerp(std::vector<double> a, std::vector<double> b, double u) {
    normalise(a);
    normalise(b);
    double cosine = 0;
    for (std::size_t i = 0; i < 4; ++i) cosine += a[i] * b[i];
    const double sign = cosine < 0 ? -1 : 1;
    cosine = std::min(std::abs(cosine), 1.0);
    double from = 1 - u, to = u;
    if (cosine < 1 - 1e-9) {
        const double angle = std::acos(cosine);
        from = std::sin((1 - u) * angle) / std::sin(angle);
        to = std::sin(u * angle) / std::sin(angle);
    }
    std::vector<double> out(4);
    for (std::size_t i = 0; i < 4; ++i) out[i] = from * a[i] + to * sign * b[i];
    normalise(out);
    return out;
}

std::vector<double> sample(const Sampler& s, double time, bool rotation) {
    const std::size_t stride = s.width * (s.mode == Mode::cubic ? 3 : 1);
    const auto part = [&](std::size_t key, std::size_t which) {
        const std::size_t at = key * stride + which * s.width;
        std::vector<double> out(s.width);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = s.values[at + i];
        return out;
    };
    const std::size_t middle = s.mode == Mode::cubic ? 1 : 0;
    const auto after =
        static_cast<std::size_t>(std::upper_bound(s.times.begin(), s.times.end(), time) - s.times.begin());
    std::vector<double> out;
    if (after == 0 || after == s.times.size() || s.mode == Mode::step) {
        out = part(after == 0 ? 0 : after - 1, middle);
    } else {
        const std::size_t k = after - 1;
        const double step = double{s.times[after]} - s.times[k], u = (time - s.times[k]) / step;
        if (s.mode == Mode::linear) {
            const auto a = part(k, 0), b = part(after, 0);
            if (rotation) return slerp(a, b, u);
            out.resize(s.width);
            for (std::size_t i = 0; i < s.width; ++i) out[i] = a[i] + u * (b[i] - a[i]);
        } else {
            const auto a = part(k, 1), leave = part(k, 2), arrive = part(after, 0), b = part(after, 1);
            const double u2 = u * u, u3 = u2 * u;
            out.resize(s.width);
            for (std::size_t i = 0; i < s.width; ++i)
                out[i] = (2 * u3 - 3 * u2 + 1) * a[i] + step * (u3 - 2 * u2 + u) * leave[i] +
                         (3 * u2 - 2 * u3) * b[i] + step * (u3 - u2) * arrive[i];
        }
    }
    if (rotation) normalise(out);
    return out;
}

/// Local matrices with the animation applied; its weights of shapes are added to `weights`, by node.
std::vector<Matrix> local_at(const Document& document, const Animation& animation, double time,
                             std::map<std::size_t, std::vector<double>>& weights) {
    std::map<std::size_t, std::map<Path, std::vector<double>>> moved;
    for (const Channel& c : animation.channels) {
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
        const auto animation = reader.read(i);
        if (!animation) return animation.error();
        PoseClip clip{string_of(member(*document.at("animations", i), "name")), true, {}};
        std::set<double> times;
        for (const Channel& channel : animation->channels) {
            if (channel.path == Path::weights) continue;
            const Sampler& s = animation->samplers.at(channel.sampler);
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
            const auto world = worlds(document.rig, local_at(document, *animation, t, weights));
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
