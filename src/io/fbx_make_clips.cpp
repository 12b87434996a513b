#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/try.h"
#include "io/fbx_make.h"
#include "io/gltf_animation.h"
#include "io/gltf_nodes.h"

namespace sinew::io {

namespace {

using Path = Animation::Path;
using Mode = Animation::Mode;

constexpr std::size_t kMostHalvings = 8;  // of the time between two keys

/// The angles of the same rotation that are nearest to those before it.
std::array<double, 3> near_to(const std::array<double, 3>& angles, const std::array<double, 3>& before) {
    const auto turned = [&](std::array<double, 3> out) {
        for (std::size_t k = 0; k < 3; ++k) out[k] -= 360 * std::round((out[k] - before[k]) / 360);
        return out;
    };
    const auto distance = [&](const std::array<double, 3>& a) {
        double out = 0;
        for (std::size_t k = 0; k < 3; ++k) out += std::abs(a[k] - before[k]);
        return out;
    };
    const auto same = turned(angles), other = turned({angles[0] + 180, 180 - angles[1], angles[2] + 180});
    return distance(other) < distance(same) ? other : same;
}

/// Keys of curves, one for each number.
struct Curves {
    std::vector<double> times;
    std::vector<std::vector<double>> values;
    bool step = false;
};

class ClipMaker {
public:
    ClipMaker(FbxMaking& making, const std::map<std::size_t, FbxAnimated>& by_node)
        : making_(making), by_node_(by_node) {}

    Result<double> make() {
        const Document& document = making_.document;
        AnimationReader reader(document);
        double end = 0;
        for (std::size_t i = 0; i < document.count("animations"); ++i) {
            SINEW_TRY_LET(const Animation animation, reader.read(i));
            const std::string name = name_of(*document.at("animations", i), "animation", i);
            double start = 1e300, stop = 0;
            for (const auto& [number, sampler] : animation.samplers) {
                if (sampler.times.empty()) continue;
                start = std::min(start, double{sampler.times.front()});
                stop = std::max(stop, double{sampler.times.back()});
            }
            if (start > stop) continue;
            end = std::max(end, stop);
            FbxBuilder& file = making_.file;
            const FbxBuilder::Object stack = file.object("AnimationStack", name, "AnimStack", "");
            FbxRecord& span = file.properties(*stack.record);
            for (const auto& [property, time] :
                 {std::pair("LocalStart", start), std::pair("LocalStop", stop), std::pair("ReferenceStart", start),
                  std::pair("ReferenceStop", stop)})
                file.property(span, property, "KTime", {fbx_time(time)});
            const FbxBuilder::Object layer = file.object("AnimationLayer", name, "AnimLayer", "");
            file.connect(layer.id, stack.id);
            for (const Animation::Channel& channel : animation.channels)
                make_channel(channel, animation.samplers.at(channel.sampler), layer.id);
        }
        return end;
    }

private:
    void make_channel(const Animation::Channel& channel, const Animation::Sampler& sampler, FbxBuilder::Id layer) {
        const auto found = by_node_.find(channel.node);
        if (found == by_node_.end() || sampler.times.empty()) return;
        // A node that only places a skinned mesh has no model: nothing shows its place.
        if (channel.path != Path::weights && found->second.model == FbxBuilder::kScene) return;
        const Curves curves = curves_of(sampler, channel.path);
        if (channel.path == Path::weights) {
            for (std::size_t s = 0; s < std::min(found->second.shapes.size(), sampler.width); ++s)
                connect(curves, {{"DeformPercent", s}}, "DeformPercent", found->second.shapes[s], layer);
            return;
        }
        const char* const name = channel.path == Path::translation ? "T"
                                 : channel.path == Path::rotation  ? "R"
                                                                   : "S";
        const char* const property = channel.path == Path::translation ? "Lcl Translation"
                                     : channel.path == Path::rotation  ? "Lcl Rotation"
                                                                       : "Lcl Scaling";
        connect(curves, {{"d|X", 0}, {"d|Y", 1}, {"d|Z", 2}}, property, found->second.model, layer, name);
    }

    /// The value of the property, as FBX has it; angles near to those before.
    std::vector<double> value_at(const Animation::Sampler& sampler, Path path, double time,
                                 const std::vector<double>& before) const {
        std::vector<double> out = sample(sampler, time, path == Path::rotation);
        if (path == Path::translation)
            for (double& x : out) x *= making_.scale;
        if (path == Path::weights)
            for (double& x : out) x *= 100;
        if (path == Path::rotation) {
            std::array<double, 3> angles = fbx_angles({out[0], out[1], out[2], out[3]});
            if (!before.empty()) angles = near_to(angles, {before[0], before[1], before[2]});
            out.assign(angles.begin(), angles.end());
        }
        return out;
    }

    Curves curves_of(const Animation::Sampler& sampler, Path path) const {
        Curves out;
        out.step = sampler.mode == Mode::step;
        const auto push = [&](double time, std::vector<double> value) {
            out.times.push_back(time);
            out.values.push_back(std::move(value));
        };
        const bool straight = out.step || (sampler.mode == Mode::linear && path != Path::rotation);
        double size = 0;
        for (std::size_t k = 0; k < sampler.times.size(); ++k)
            for (const double x : value_at(sampler, path, double{sampler.times[k]}, {}))
                size = std::max(size, std::abs(x));
        const double tolerance = path == Path::rotation ? 1e-4 * 180 / std::numbers::pi : 1e-4 * size;
        for (std::size_t k = 0; k < sampler.times.size(); ++k) {
            const double time = double{sampler.times[k]};
            if (k > 0 && time <= out.times.back()) continue;
            push(time, k == 0     ? value_at(sampler, path, time, {})
                       : straight ? value_at(sampler, path, time, out.values.back())
                                  : halve(sampler, path, out, time, tolerance, 0));
        }
        return out;
    }

    /// Adds keys between the last one and `to` until lines between them are near to the value. Returns the value at
    /// `to`: of a half turn, the angles that the way there leads to.
    std::vector<double> halve(const Animation::Sampler& sampler, Path path, Curves& out, double to,
                              double tolerance, std::size_t depth) const {
        const double from = out.times.back();
        const std::vector<double> first = out.values.back();
        const std::vector<double> middle = value_at(sampler, path, (from + to) / 2, first);
        const std::vector<double> last = value_at(sampler, path, to, middle);
        bool straight = true;
        for (const double part : {0.25, 0.5, 0.75}) {
            const auto there = value_at(sampler, path, from + part * (to - from), middle);
            for (std::size_t k = 0; k < there.size(); ++k)
                straight = straight && std::abs(first[k] + part * (last[k] - first[k]) - there[k]) <= tolerance;
        }
        if (straight || depth == kMostHalvings) return last;
        std::vector<double> halfway = halve(sampler, path, out, (from + to) / 2, tolerance, depth + 1);
        out.times.push_back((from + to) / 2);
        out.values.push_back(std::move(halfway));
        return halve(sampler, path, out, to, tolerance, depth + 1);
    }

    /// A node of curves, for the columns of `curves`.
    void connect(const Curves& curves, std::initializer_list<std::pair<const char*, std::size_t>> columns,
                 const std::string& property, FbxBuilder::Id to, FbxBuilder::Id layer, std::string name = {}) {
        FbxBuilder& file = making_.file;
        if (name.empty()) name = property;
        const FbxBuilder::Object node = file.object("AnimationCurveNode", name, "AnimCurveNode", "");
        FbxRecord& defaults = file.properties(*node.record);
        file.connect(node.id, layer);
        file.connect(node.id, to, property);
        constexpr std::int32_t kConstant = 0x2, kLinear = 0x4;
        std::vector<std::int64_t> times;
        for (const double time : curves.times) times.push_back(fbx_time(time));
        const auto count = static_cast<std::int32_t>(times.size());
        for (const auto& [column, number] : columns) {
            std::vector<float> values;
            for (const auto& value : curves.values) values.push_back(static_cast<float>(value[number]));
            file.property(defaults, column, "Number", {double{values[0]}});
            const FbxBuilder::Object curve = file.object("AnimationCurve", "", "AnimCurve", "");
            FbxRecord& record = *curve.record;
            file.add(record, "Default", {double{values[0]}});
            file.add(record, "KeyVer", {std::int32_t{4008}});
            file.add(record, "KeyTime", {times});
            file.add(record, "KeyValueFloat", {std::move(values)});
            file.add(record, "KeyAttrFlags", {std::vector<std::int32_t>{curves.step ? kConstant : kLinear}});
            file.add(record, "KeyAttrDataFloat", {std::vector<float>{0, 0, 0, 0}});
            file.add(record, "KeyAttrRefCount", {std::vector<std::int32_t>{count}});
            file.connect(curve.id, node.id, column);
        }
    }

    FbxMaking& making_;
    const std::map<std::size_t, FbxAnimated>& by_node_;
};

}  // namespace

std::array<double, 3> fbx_angles(const std::array<double, 4>& q) {
    const Matrix m = compose({0, 0, 0}, q, {1, 1, 1});
    const double flat = std::sqrt(m(0, 0) * m(0, 0) + m(1, 0) * m(1, 0));  // the cosine of the angle about y
    std::array<double, 3> out{0, std::atan2(-m(2, 0), flat), 0};
    if (flat > 1e-7) {
        out[0] = std::atan2(m(2, 1), m(2, 2));
        out[2] = std::atan2(m(1, 0), m(0, 0));
    } else {
        out[0] = std::atan2(-m(1, 2), m(1, 1));
    }
    // The last bits of arc tangents differ between C libraries, and files must not.
    constexpr double steps = 1 << 30;  // of a degree
    for (double& angle : out) angle = std::round(angle * 180 / std::numbers::pi * steps) / steps;
    return out;
}

Result<double> make_fbx_clips(FbxMaking& making, const std::map<std::size_t, FbxAnimated>& by_node) {
    return ClipMaker(making, by_node).make();
}

}  // namespace sinew::io
