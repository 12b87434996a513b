#include "io/gltf_animation.h"

#include <algorithm>
#include <cmath>

#include "core/try.h"

namespace sinew::io {

namespace {

using Mode = Animation::Mode;
using Path = Animation::Path;

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

}  // namespace

AnimationReader::AnimationReader(const Document& document) : document_(document), accessors_(document) {
    budget_ = std::size_t{1} << 22;
    for (const auto& buffer : document.buffers) budget_ += 16 * buffer.bytes.size();
}

Result<Animation> AnimationReader::read(std::size_t index) {
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
        const std::size_t needed = path->second == Path::rotation ? 4 : path->second == Path::weights ? width : 3;
        if (width != needed)
            return document_.error(where + ": its sampler has " + std::to_string(width) + " numbers a key, not " +
                                   std::to_string(needed));
        out.channels.push_back({*node, path->second, *sampler});
    }
    return out;
}

Result<Animation::Sampler> AnimationReader::read_sampler(const Json& json, const std::string& place) {
    const auto input = whole(member(json, "input")), output = whole(member(json, "output"));
    if (!input || !output) return document_.error(place + " needs input and output");
    Animation::Sampler out;
    const std::string mode = string_of(member(json, "interpolation"));
    if (mode == "STEP")
        out.mode = Mode::step;
    else if (mode == "CUBICSPLINE")
        out.mode = Mode::cubic;
    else if (!mode.empty() && mode != "LINEAR")
        return document_.error(place + ": unknown interpolation \"" + printable(mode) + "\"");
    SINEW_TRY_LET(const auto times, accessors_.read(*input, place + ": input"));
    const auto values = accessors_.read(*output, place + ": output");
    if (!values) return values.error();
    // Samplers may share accessors, so a small file can request any amount.
    const std::size_t cost = times.count + values->count * values->width;
    if (cost > budget_)
        return document_.error(
            place +
            ": the animations of the file share keys and have too many of them in total (remove animations)");
    budget_ -= cost;
    if (times.width != 1 || times.component != Component::f32)
        return document_.error(place + ": input must be SCALAR of floats");
    out.times = as_floats(times, false);
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

std::vector<double> sample(const Animation::Sampler& s, double time, bool rotation) {
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

}  // namespace sinew::io
