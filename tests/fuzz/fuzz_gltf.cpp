// Reads any bytes as a model. A model that loads must also save, and load again as the same character. Its clips
// and shapes are read too, and a clip is added.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "require.h"
#include "sinew/io.h"

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
