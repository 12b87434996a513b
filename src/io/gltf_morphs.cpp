#include "io/gltf_morphs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/try.h"
#include "io/gltf_accessor.h"
#include "io/gltf_builder.h"

namespace sinew::io {

std::vector<double> numbers_of(const Json& object, const char* key) {
    std::vector<double> out;
    if (const Json* list = member(object, key); list && list->is_array())
        for (const Json& v : *list) out.push_back(v.is_number() ? v.get<double>() : 0);
    return out;
}

namespace {

class MorphReader {
public:
    explicit MorphReader(const Document& document) : document_(document), rig_(document.rig), accessors_(document) {
        for (const auto& buffer : document.buffers) budget_ += 16 * buffer.bytes.size();
        if (rig_.source == RigSource::skins)
            for (std::size_t n = 0; n < document.count("nodes"); ++n) {
                const Json& node = *document.at("nodes", n);
                if (const auto mesh = whole(member(node, "mesh")); mesh && member(node, "skin"))
                    node_of_mesh_.try_emplace(*mesh, n);
            }
        for (const auto& skinned : rig_.skinned_nodes) node_of_mesh_.try_emplace(skinned.mesh, skinned.node);
    }

    Result<std::vector<MorphTarget>> read(const std::map<std::size_t, std::vector<double>>* animated) {
        for (const VertexBlock& block : rig_.blocks) {
            if (block.primitives.empty()) continue;
            const auto [written, number] = block.primitives[0];
            const std::size_t meshes = document_.count("meshes");
            const std::size_t mesh = written < meshes ? written : rig_.mesh_copies[written - meshes];
            const Json& json = *document_.at("meshes", mesh);
            const Json* targets = member((*member(json, "primitives"))[number], "targets");
            if (!targets || !targets->is_array()) continue;
            std::vector<double> weights = numbers_of(json, "weights");
            const auto node = node_of_mesh_.find(written);
            if (node != node_of_mesh_.end())
                if (auto own = numbers_of(*document_.at("nodes", node->second), "weights"); !own.empty())
                    weights = std::move(own);
            if (animated) {
                const auto moved = node == node_of_mesh_.end() ? animated->end() : animated->find(node->second);
                if (moved == animated->end()) continue;
                const std::vector<double> shown = std::move(weights);
                weights = moved->second;
                weights.resize(std::max(weights.size(), shown.size()));
                for (std::size_t t = 0; t < shown.size(); ++t) weights[t] -= shown[t];
            }
            for (std::size_t t = 0; t < targets->size() && t < weights.size(); ++t)
                if (const auto weight = static_cast<float>(weights[t]); weight != 0)
                    if (const Status s = add((*targets)[t], weight, block,
                                             "mesh " + std::to_string(mesh) + " primitive " +
                                                 std::to_string(number) + ": target " + std::to_string(t));
                        !s)
                        return s.error();
        }
        return std::move(out_);
    }

private:
    Status add(const Json& target, float weight, const VertexBlock& block, const std::string& place) {
        const Json* position = member(target, "POSITION");
        if (!position) return Done{};
        const auto accessor = whole(position);
        if (!accessor) return document_.error(place + ": POSITION must be an accessor's index");
        SINEW_TRY_LET(const auto elements, accessors_.read(*accessor, place));
        if (elements.width != 3 || elements.count != block.vertex_count)
            return document_.error(place + " must have an offset for each of " +
                                   std::to_string(block.vertex_count) + " vertices");
        if (elements.count > budget_)  // targets may share accessors, so a small file can list any number of them
            return document_.error(place +
                                   ": the shapes of the file share data and have too many vertices in total");
        budget_ -= elements.count;
        const auto values = as_floats(elements, elements.normalized);
        MorphTarget morph;
        morph.first_vertex = block.first_vertex;
        morph.weight = weight;
        for (std::size_t i = 0; i < elements.count; ++i)
            morph.offsets.push_back(
                to_vec3(direction(block.to_scene_of(i), {values[3 * i], values[3 * i + 1], values[3 * i + 2]})));
        // Normals are for shading only: if they cannot be read, the shape is still used.
        if (const auto normal = whole(member(target, "NORMAL"))) {
            const auto normals = accessors_.read(*normal, place + ": NORMAL");
            if (!normals) return normals.error();
            if (normals->width == 3 && normals->count == block.vertex_count) {
                const auto d = as_floats(*normals, normals->normalized);
                Matrix turn_normals = normal_matrix(block.to_scene);
                for (std::size_t i = 0; i < normals->count; ++i) {
                    if (!block.to_scene_each.empty()) turn_normals = normal_matrix(block.to_scene_each[i]);
                    const Vec3 offset = to_vec3(direction(turn_normals, {d[3 * i], d[3 * i + 1], d[3 * i + 2]}));
                    morph.normals.push_back(std::isfinite(offset.x + offset.y + offset.z) ? offset : Vec3{});
                }
            }
        }
        out_.push_back(std::move(morph));
        return Done{};
    }

    const Document& document_;
    const Rig& rig_;
    AccessorReader accessors_;
    std::size_t budget_ = std::size_t{1} << 22;
    std::map<std::size_t, std::size_t> node_of_mesh_;
    std::vector<MorphTarget> out_;
};

}  // namespace

Result<std::vector<MorphTarget>> read_morphs(const Document& document,
                                             const std::map<std::size_t, std::vector<double>>* animated) {
    return MorphReader(document).read(animated);
}

}  // namespace sinew::io
