// Reads any bytes as a model. A model that loads must also save, and load again as the same character. Its clips
// and shapes are read too, and a clip is added.
//
// Half of the mutations change the JSON as a document: nodes, joints, skins and accessors that still parse. Changes
// of bytes alone would almost always end at the parser.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "require.h"
#include "sinew/io.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using Json = nlohmann::json;
using Random = std::minstd_rand;

/// All values of a document, from the root down.
std::vector<Json*> values_of(Json& root) {
    std::vector<Json*> all{&root};
    for (std::size_t i = 0; i < all.size() && all.size() < 20000; ++i)
        if (all[i]->is_structured())
            for (Json& value : *all[i]) all.push_back(&value);
    return all;
}

/// Changes one place: a number, a member, the length of a list, or a value by one from another place.
void change(Json& root, Random& random) {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
    const std::vector<Json*> all = values_of(root);
    Json& at = *all[below(all.size())];
    const Json other = *all[below(all.size())];
    if (at.is_number()) {
        constexpr double odd[] = {-1,   0,    1,    2,    3,    255, 65535,       5120,
                                  5121, 5123, 5125, 5126, 1e30, 0.5, 4294967295.0};
        if (below(3) == 0 && other.is_number())
            at = other;
        else if (below(2) == 0 && at.is_number_integer())
            at = at.get<std::int64_t>() + static_cast<int>(below(5)) - 2;
        else if (const double value = odd[below(std::size(odd))]; value == std::floor(value) && value < 1e12)
            at = static_cast<std::int64_t>(value);
        else
            at = value;
    } else if (at.is_array() && !at.empty()) {
        const auto place = static_cast<std::ptrdiff_t>(below(at.size()));
        switch (below(4)) {
            case 0:
                at.erase(at.begin() + place);
                break;
            case 1:
                at.push_back(Json(at[static_cast<std::size_t>(place)]));
                break;
            case 2:
                std::swap(at[static_cast<std::size_t>(place)], at[below(at.size())]);
                break;
            default:
                at[static_cast<std::size_t>(place)] = other;
        }
    } else if (at.is_object() && !at.empty()) {
        auto member = at.begin();
        std::advance(member, static_cast<std::ptrdiff_t>(below(at.size())));
        if (below(2) == 0)
            at.erase(member);
        else if (other.is_object())
            at.update(other);
        else
            member.value() = other;
    } else {
        at = other;
    }
}

/// The JSON of a GLB or glTF file, and what is around it.
struct Parts {
    std::string before, text, after;
    bool glb = false;
};
Parts split(const std::uint8_t* data, std::size_t size) {
    const std::string all(reinterpret_cast<const char*>(data), size);
    if (size < 20 || std::memcmp(data, "glTF", 4) != 0) return {"", all, "", false};
    std::uint32_t length = 0;
    std::memcpy(&length, data + 12, sizeof length);
    if (length > size - 20) return {"", all, "", false};
    return {all.substr(0, 20), all.substr(20, length), all.substr(20 + length), true};
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
    Random random(seed);
    if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
    Parts parts = split(data, size);
    Json root = Json::parse(parts.text, nullptr, false);
    if (root.is_discarded()) return LLVMFuzzerMutate(data, size, most);
    for (std::size_t times = 1 + random() % 4; times > 0; --times) change(root, random);
    parts.text = root.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (parts.glb) {
        parts.text.resize((parts.text.size() + 3) / 4 * 4, ' ');
        const auto length = static_cast<std::uint32_t>(parts.text.size()),
                   total = static_cast<std::uint32_t>(20 + parts.text.size() + parts.after.size());
        std::memcpy(parts.before.data() + 8, &total, sizeof total);
        std::memcpy(parts.before.data() + 12, &length, sizeof length);
    }
    const std::string out = parts.before + parts.text + parts.after;
    if (out.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::memcpy(data, out.data(), out.size());
    return out.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sinew;
    const auto scene = io::load_bytes(std::as_bytes(std::span(data, size)), "fuzz");
    if (!scene) return require_refusal(scene.error()), 0;

    // The weights of a rigid character: every vertex follows the first joint that its skin allows.
    const std::size_t vertices = scene->positions.size();
    const auto& skins = scene->skeleton.skins;
    std::vector<std::uint32_t> counts(vertices, 1);
    std::vector<Influence> influences(vertices, {0, 1.0f});
    if (!scene->skin_of_vertex.empty()) {
        require(scene->skin_of_vertex.size() == vertices, "skin_of_vertex has another length than positions");
        for (std::size_t v = 0; v < vertices; ++v) {
            require(scene->skin_of_vertex[v] < skins.size(), "skin out of range");
            require(!skins[scene->skin_of_vertex[v]].empty(), "a skin without joints");
            influences[v].joint = skins[scene->skin_of_vertex[v]].front();
        }
    }
    const std::size_t joints = scene->skeleton.joints.size();
    require(joints > 0, "a scene without joints");
    for (const Triangle& t : scene->triangles)
        for (const std::uint32_t v : t) require(v < vertices, "index out of range after loading");
    if (scene->weights) {
        require(scene->weights->vertex_count() == vertices, "the file's weights have another vertex count");
        for (std::size_t v = 0; v < vertices; ++v)
            if (const auto row = (*scene->weights)[v]; !row.empty()) require_row(row, joints, v);
    }

    // Every clip at its middle, and the nodes at rest: the right count of finite numbers, or an error.
    const auto clips = io::clips(*scene);
    if (!clips) require_refusal(clips.error());
    for (std::size_t c = 0; c <= (clips ? std::min<std::size_t>(clips->size(), 8) : 0); ++c) {
        std::optional<std::size_t> clip;
        if (c > 0) clip = c - 1;
        const double time = clip ? ((*clips)[*clip].start + (*clips)[*clip].end) / 2 : 0;
        const auto pose = io::pose_at(*scene, clip, time);
        if (!pose) {
            require_refusal(pose.error());
            continue;
        }
        require(pose->skinning.size() == joints, "a pose of another number of joints");
        for (const io::MorphTarget& m : pose->morphs) {
            require(m.first_vertex + m.offsets.size() <= vertices, "a shape reaches past the last vertex");
            require(m.normals.empty() || m.normals.size() == m.offsets.size(), "a shape with other normals");
        }
    }
    const auto frames = io::shading_frames(*scene);
    if (!frames)
        require_refusal(frames.error());
    else
        require((frames->normals.empty() || frames->normals.size() == vertices) &&
                    (frames->tangents.empty() || frames->tangents.size() == vertices),
                "normals of another vertex count");

    const auto weights = SkinWeights::from_rows(counts, std::move(influences));
    require(weights.ok(), "rigid weights were refused");
    for (const io::WeightFormat format : {io::WeightFormat::f32, io::WeightFormat::u8}) {
        const auto bytes = io::save_glb_bytes(*scene, *weights, {.weight_format = format});
        if (!bytes) {
            require_refusal(bytes.error());
            continue;
        }
        const auto again = io::load_bytes(*bytes, "saved");
        require(again.ok(), "the saved file does not load: " + (again ? "" : again.error().message));
        require(again->positions.size() == vertices, "saving changed the number of vertices");
        require(again->triangles == scene->triangles, "saving changed triangles");
        require(again->weights.has_value(), "saved weights are not read back");
    }

    // The same with an added animation: it is refused, or the saved file has it.
    std::vector<JointPose> rest(joints), turned(joints);
    turned[joints / 2].rotation = {0.6, 0, 0, 0.8};
    turned[0].translation = {1, 2, 3};
    const auto bytes = io::save_glb_bytes(*scene, *weights, {.clips = {{"fuzz", false, {{0, rest}, {1, turned}}}}});
    if (!bytes) return require_refusal(bytes.error()), 0;
    const auto again = io::load_bytes(*bytes, "animated");
    require(again.ok(), "the file saved with a clip does not load: " + (again ? "" : again.error().message));
    if (clips) {
        const auto more = io::clips(*again);
        require(more.ok(), "clips cannot be read any more: " + (more ? "" : more.error().message));
        require(more->size() == clips->size() || more->size() == clips->size() + 1, "another clip is lost");
    }
    return 0;
}
