#include "io/joint_keys.h"
#include <algorithm>
#include "core/try.h"

#include <cmath>

namespace sinew::io {
namespace {

using json = Json;

std::optional<float> positive(const json& value) {
    if (!value.is_number()) return std::nullopt;
    const auto x = static_cast<float>(value.get<double>());
    return std::isfinite(x) && x > 0 ? std::optional(x) : std::nullopt;
}

Result<JointShape> read_shape(const json& value, const std::string& where) {
    const Error rule{ErrorCode::input, where +
                                           " must be {\"sphere\": radius}, {\"capsule\": radius} or {\"box\": "
                                           "[x, y, z] half sides, \"axes\": three unit vectors or absent}, with "
                                           "sizes above 0"};
    if (!value.is_object()) return rule;
    JointShape shape;
    int kinds = 0;
    for (const auto& [key, entry] : value.items()) {
        if (key == "sphere" || key == "capsule") {
            const std::optional<float> radius = positive(entry);
            if (!radius) return rule;
            shape.kind = key == "sphere" ? JointShape::Kind::sphere : JointShape::Kind::capsule;
            shape.radius = *radius;
            ++kinds;
        } else if (key == "box") {
            if (!entry.is_array() || entry.size() != 3) return rule;
            const auto x = positive(entry[0]), y = positive(entry[1]), z = positive(entry[2]);
            if (!x || !y || !z) return rule;
            shape.kind = JointShape::Kind::box;
            shape.half = {*x, *y, *z};
            ++kinds;
        } else if (key == "axes") {
            if (!entry.is_array() || entry.size() != 3) return rule;
            std::array<Vec3, 3> axes;
            for (std::size_t k = 0; k < 3; ++k) {
                SINEW_TRY_LET(const Vec3 axis, read_point(entry[k], where + ": \"axes\""));
                axes[k] = axis;
            }
            shape.axes = axes;  // check_skeleton checks that they are orthonormal
        } else {
            return rule;
        }
    }
    if (kinds != 1 || (shape.axes && shape.kind != JointShape::Kind::box)) return rule;
    return shape;
}

/// A plane through the joint, by its normal: a word, or numbers along the joint's own axes.
Result<Vec3> read_plane(const json& value, const std::string& where, const std::array<Vec3, 3>& axes) {
    const Error rule{ErrorCode::input,
                     where +
                         " must be x, y or z, the axis of the joint that the plane lies across, or three finite "
                         "numbers along its axes, not all 0"};
    Vec3 along;
    if (value.is_string()) {
        const auto word = value.get<std::string>();
        if (word != "x" && word != "y" && word != "z") return rule;
        along = {word == "x" ? 1.0f : 0.0f, word == "y" ? 1.0f : 0.0f, word == "z" ? 1.0f : 0.0f};
    } else if (const Result<Vec3> read = read_point(value, where)) {
        along = *read;
    } else {
        return rule;
    }
    std::array<double, 3> n{};
    const double part[3] = {along.x, along.y, along.z};
    for (std::size_t k = 0; k < 3; ++k) {
        n[0] += part[k] * axes[k].x;
        n[1] += part[k] * axes[k].y;
        n[2] += part[k] * axes[k].z;
    }
    const double length = std::hypot(n[0], n[1], n[2]);
    if (!(length > 0 && std::isfinite(length))) return rule;
    return Vec3{static_cast<float>(n[0] / length), static_cast<float>(n[1] / length),
                static_cast<float>(n[2] / length)};
}

}  // namespace

Result<Vec3> read_point(const json& value, const std::string& where) {
    const std::string rule = where + " must be three finite numbers [x, y, z]";
    if (!value.is_array() || value.size() != 3) return Error{ErrorCode::input, rule};
    float xyz[3];
    for (std::size_t i = 0; i < 3; ++i) {
        if (!value[i].is_number()) return Error{ErrorCode::input, rule};
        xyz[i] = static_cast<float>(value[i].get<double>());
        if (!std::isfinite(xyz[i])) return Error{ErrorCode::input, rule};
    }
    return Vec3{xyz[0], xyz[1], xyz[2]};
}

Result<bool> read_joint_key(const std::string& key, const json& value, const std::string& where, Joint& joint) {
    const std::string place = where + ": \"" + key + "\"";
    if (key == "deform") {
        if (!value.is_boolean()) return Error{ErrorCode::input, place + " must be true or false"};
        joint.deform = value.get<bool>();
        if (!joint.deform) joint.reason = DeformReason::excluded;
    } else if (key == "tail") {
        joint.tail.reset();
        if (value.is_null()) return true;
        SINEW_TRY_LET(joint.tail, read_point(value, place));
    } else if (key == "range") {
        joint.hard_range.reset();
        if (value.is_null()) return true;
        std::array<float, 2> ends{};
        const bool two = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
        if (two) ends = {value[0].get<float>(), value[1].get<float>()};
        if (!two || !(std::isfinite(ends[1] - ends[0]) && ends[0] <= ends[1]))
            return Error{ErrorCode::input,
                         place +
                             " must be two numbers, the smaller first (the part of the bone, from 0 to 1, where it "
                             "shares no vertex)"};
        joint.hard_range = ends;
    } else if (key == "shape") {
        joint.shape.reset();
        if (value.is_null()) return true;
        SINEW_TRY_LET(joint.shape, read_shape(value, place));
    } else if (key == "hardness") {
        joint.hardness.reset();
        if (value.is_null()) return true;
        const double hardness = value.is_number() ? value.get<double>() : -1;
        if (!(hardness >= 0 && hardness <= 1))
            return Error{ErrorCode::input, place + " must be a number from 0 (soft) to 1 (hard)"};
        joint.hardness = static_cast<float>(hardness);
    } else if (key == "plane") {
        joint.ring_normal.reset();
        if (value.is_null()) return true;
        SINEW_TRY_LET(joint.ring_normal, read_plane(value, place, joint.axes));
    } else if (key == "connected") {
        joint.connected.reset();
        if (value.is_null()) return true;
        const bool names = value.is_array() && std::all_of(value.begin(), value.end(),
                                                           [](const json& name) { return name.is_string(); });
        if (!names) return Error{ErrorCode::input, place + " must be a list of names of joints"};
        joint.connected = value.get<std::vector<std::string>>();
    } else {
        return false;
    }
    return true;
}

}  // namespace sinew::io
