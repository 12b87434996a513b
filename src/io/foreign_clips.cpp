// Clips of a foreign scene.
#include <cmath>

#include "io/foreign_parts.h"

namespace sinew::io {

void write_clips(const ForeignScene& scene, std::span<const std::size_t> node_of, Builder& builder) {
    std::map<std::vector<float>, std::size_t> accessor_of_times;
    for (const ForeignClip& clip : scene.clips) {
        float first = 0;  // glTF has no times before 0: the clip starts later
        for (const ForeignChannel& c : clip.channels)
            for (const float t : c.times)
                if (std::isfinite(t)) first = std::min(first, t);
        Json samplers = Json::array(), channels = Json::array();
        for (const ForeignChannel& c : clip.channels) {
            if (node_of[c.node] == none) continue;  // a skinned mesh, which is not moved by its node
            const std::size_t width = c.values.size() / c.times.size();
            std::vector<float> times, values;
            for (std::size_t k = 0; k < c.times.size(); ++k) {
                const float time = c.times[k] - first;
                std::vector<float> key(c.values.begin() + static_cast<std::ptrdiff_t>(k * width),
                                       c.values.begin() + static_cast<std::ptrdiff_t>((k + 1) * width));
                bool good = std::isfinite(time) && (times.empty() || time > times.back());
                for (const float v : key) good = good && std::isfinite(v);
                if (!good) continue;
                if (c.path == "translation")
                    for (float& v : key) v = static_cast<float>(v * scene.metres);
                if (c.path == "rotation") {
                    double length = 0;
                    for (const float v : key) length += double{v} * v;
                    if (!(length > 0)) continue;
                    for (float& v : key) v = static_cast<float>(v / std::sqrt(length));
                }
                times.push_back(time);
                values.insert(values.end(), key.begin(), key.end());
            }
            if (times.empty()) continue;
            auto known = accessor_of_times.find(times);
            if (known == accessor_of_times.end())
                known = accessor_of_times.emplace(times, builder.bounded(times, "SCALAR", 1, {})).first;
            const std::size_t output = builder.accessor(values, 5126, width == 4 ? "VEC4" : "VEC3", width, {});
            channels.push_back(
                Json{{"sampler", samplers.size()}, {"target", {{"node", node_of[c.node]}, {"path", c.path}}}});
            samplers.push_back(Json{{"input", known->second}, {"output", output}});
        }
        if (channels.empty()) continue;
        Json out{{"samplers", std::move(samplers)}, {"channels", std::move(channels)}};
        if (!clip.name.empty()) out["name"] = clip.name;
        builder.push("animations", std::move(out));
    }
}

}  // namespace sinew::io
