// Pose JSON: rotations and translations of joints, by name.
#include <cmath>
#include <numbers>

#include "core/joint_names.h"
#include "core/try.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

using json = Json;

template <std::size_t N>
Status read_numbers(const json& value, std::array<double, N>& out, const std::string& place) {
    bool good = value.is_array() && value.size() == N;
    for (std::size_t i = 0; good && i < N; ++i) {
        good = value[i].is_number();
        if (good) out[i] = value[i].get<double>();
        good = good && std::isfinite(out[i]);
    }
    if (good) return Done{};
    return Error{ErrorCode::input, place + " must be " + std::to_string(N) + " finite numbers"};
}

/// About x first, then y, then z, each in degrees.
std::array<double, 4> quaternion_of(const std::array<double, 3>& degrees) {
    std::array<double, 3> s, c;
    for (std::size_t i = 0; i < 3; ++i) {
        const double half = degrees[i] * std::numbers::pi / 360;
        s[i] = std::sin(half);
        c[i] = std::cos(half);
    }
    return {s[0] * c[1] * c[2] - c[0] * s[1] * s[2], c[0] * s[1] * c[2] + s[0] * c[1] * s[2],
            c[0] * c[1] * s[2] - s[0] * s[1] * c[2], c[0] * c[1] * c[2] + s[0] * s[1] * s[2]};
}

Result<JointPose> read_joint(const json& entry, const std::string& place) {
    if (!entry.is_object()) return Error{ErrorCode::input, place + " must be an object"};
    JointPose pose;
    if (entry.contains("rotate") && entry.contains("quaternion"))
        return Error{ErrorCode::input, place + " has both \"rotate\" and \"quaternion\": give one"};
    for (const auto& [key, value] : entry.items()) {
        const std::string where = place + ": \"" + printable(key) + "\"";
        if (key == "rotate") {
            std::array<double, 3> degrees{};
            SINEW_TRY(read_numbers(value, degrees, where));
            pose.rotation = quaternion_of(degrees);
        } else if (key == "quaternion") {
            SINEW_TRY(read_numbers(value, pose.rotation, where));
            const auto& q = pose.rotation;
            if (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < 1e-12)
                return Error{ErrorCode::input, where + " must not be zero"};
        } else if (key == "translate") {
            SINEW_TRY(read_numbers(value, pose.translation, where));
        } else if (key == "scale") {
            SINEW_TRY(read_numbers(value, pose.scale, where));
            for (const double v : pose.scale)
                if (v == 0) return Error{ErrorCode::input, where + " must not be zero"};
        } else {
            return Error{ErrorCode::input, where + " is not known: rotate, quaternion, translate and scale are"};
        }
    }
    return pose;
}

}  // namespace

Result<std::vector<JointPose>> load_pose(const Skeleton& skeleton, const std::filesystem::path& path,
                                         const Context* context) {
    SINEW_TRY_LET(const auto bytes, read_file(path, context));
    return parse_pose(skeleton, as_text(bytes), path.string(), context);
}

Result<std::vector<JointPose>> parse_pose(const Skeleton& skeleton, std::string_view text, const std::string& name,
                                          const Context* context) {
    const Result<json> document = parse_json(text, name, context);
    if (!document) return document.error();
    const auto joints = document->is_object() ? document->find("joints") : document->end();
    if (!document->is_object() || joints == document->end() || !joints->is_object())
        return input_error(name, "a pose must be an object with \"joints\": {NAME: {\"rotate\": [x, y, z]}, …}");

    std::vector<JointPose> out(skeleton.joints.size());
    for (const auto& [key, entry] : joints->items()) {
        const std::string shown = "'" + printable(key) + "'";
        std::optional<std::size_t> found;
        for (std::size_t j = 0; j < out.size(); ++j) {
            const std::string& candidate = skeleton.joints[j].name;
            if (candidate == key) {
                if (found)
                    return input_error(name, "several joints are called " + shown + ": rename them to pose one");
                found = j;
            }
        }
        if (!found) {
            return input_error(name, "there is no joint " + shown + did_you_mean(key, names_of(skeleton)));
        }
        const Result<JointPose> pose = read_joint(entry, "joint " + shown);
        if (!pose) return input_error(name, pose.error().message);
        out[*found] = *pose;
    }
    return out;
}

}  // namespace sinew::io
