// The look of a surface, as far as a viewer of weights shows it: base colours and their textures.
#include <map>

#include "core/base64.h"
#include "core/try.h"
#include "io/formats.h"
#include "io/gltf_accessor.h"
#include "io/gltf_scene.h"

namespace sinew::io {

namespace {

class LookReader {
public:
    explicit LookReader(const Scene& scene)
        : scene_(scene), document_(*scene.document), accessors_(document_), held_(*document_.files) {}

    Result<Look> read() {
        for (std::size_t i = 0; i < document_.count("images"); ++i) {
            SINEW_TRY_LET(Look::Image read, image(i));
            out_.images.push_back(std::move(read));
        }
        for (std::size_t i = 0; i < document_.count("materials"); ++i)
            out_.materials.push_back(material(*document_.at("materials", i)));
        // The reader of the scene lists the primitives of a block in the order of the scene's primitives.
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> seen;
        std::map<std::uint32_t, const VertexBlock*> blocks;
        for (const VertexBlock& block : document_.rig.blocks)
            if (block.vertex_count > 0) blocks[block.first_vertex] = &block;
        for (const Primitive& p : scene_.primitives) {
            out_.material_of_primitive.push_back(-1);
            const auto found = blocks.find(p.first_vertex);
            if (found == blocks.end() || p.vertex_count == 0) continue;
            const VertexBlock& block = *found->second;
            const std::size_t number = seen[{p.first_vertex, p.vertex_count}]++;
            if (number >= block.primitives.size()) continue;
            const Json& primitive = document_.primitive(block.primitives[number]);
            const auto index = whole(member(primitive, "material"));
            if (!index || *index >= out_.materials.size()) continue;
            out_.material_of_primitive.back() = static_cast<int>(*index);
            // Primitives with the same vertices have the same texture coordinates, except in files made by hand.
            if (number > 0 || out_.materials[*index].image < 0) continue;
            SINEW_TRY(read_uvs(block, primitive, uv_set_[*index]));
        }
        return std::move(out_);
    }

private:
    /// Images may share their bytes, which are copied.
    Result<Look::Image> image(std::size_t index) {
        const std::string place = document_.name + ": image " + std::to_string(index);
        const Json& json = *document_.at("images", index);
        Look::Image out;
        if (const auto view = whole(member(json, "bufferView"))) {
            const auto bytes = document_.view_bytes(*view);
            SINEW_TRY(held_.take(bytes.size(), place));
            out.bytes.assign(bytes.begin(), bytes.end());
        } else if (const std::string uri = string_of(member(json, "uri")); uri.starts_with("data:")) {
            const auto comma = uri.find(";base64,");
            SINEW_TRY(held_.take(uri.size(), place));
            if (comma != uri.npos)
                if (auto bytes = decode_base64(std::string_view(uri).substr(comma + 8)))
                    out.bytes = std::move(*bytes);
        } else if (!uri.empty() && !document_.files->folder().empty()) {
            if (const auto bytes = document_.external_bytes(uri, place)) {
                SINEW_TRY(held_.take((*bytes)->size(), place));
                out.bytes = **bytes;
            }
        }
        out.mime = image_kind(out.bytes);
        if (out.mime.empty()) out.bytes.clear();
        return out;
    }

    static void read_numbers(const Json* list, std::span<float> out) {
        if (!list || !list->is_array() || list->size() != out.size()) return;
        for (std::size_t i = 0; i < out.size(); ++i)
            if ((*list)[i].is_number() && std::isfinite((*list)[i].get<float>())) out[i] = (*list)[i].get<float>();
    }

    Look::Material material(const Json& json) {
        Look::Material out;
        uv_set_.push_back(0);
        const std::string mode = string_of(member(json, "alphaMode"));
        out.blends = mode == "BLEND";
        if (mode == "MASK") {
            out.cutoff = 0.5f;
            if (const Json* cutoff = member(json, "alphaCutoff"); cutoff && cutoff->is_number())
                out.cutoff = cutoff->get<float>();
        }
        if (const Json* both = member(json, "doubleSided"); both && both->is_boolean())
            out.double_sided = both->get<bool>();
        const Json* surface = member(json, "pbrMetallicRoughness");
        if (!surface) return out;
        read_numbers(member(*surface, "baseColorFactor"), out.colour);
        const Json* reference = member(*surface, "baseColorTexture");
        if (!reference) return out;
        uv_set_.back() = whole_or(*reference, "texCoord", 0).value_or(0);
        if (const Json* extensions = member(*reference, "extensions"))
            if (const Json* transform = member(*extensions, "KHR_texture_transform")) {
                read_numbers(member(*transform, "offset"), out.offset);
                read_numbers(member(*transform, "scale"), out.scale);
                if (const Json* turn = member(*transform, "rotation"); turn && turn->is_number())
                    out.rotation = turn->get<float>();
                uv_set_.back() = whole_or(*transform, "texCoord", uv_set_.back()).value_or(0);
            }
        const auto index = whole(member(*reference, "index"));
        const Json* texture = index ? document_.at("textures", *index) : nullptr;
        if (!texture) return out;
        auto source = whole(member(*texture, "source"));
        if (const Json* extensions = member(*texture, "extensions"); extensions && !source)
            for (const char* name : {"EXT_texture_webp", "KHR_texture_basisu"})
                if (const Json* other = member(*extensions, name); other && !source)
                    source = whole(member(*other, "source"));
        if (source && *source < out_.images.size()) out.image = static_cast<int>(*source);
        if (const auto sampler = whole(member(*texture, "sampler")))
            if (const Json* json_sampler = document_.at("samplers", *sampler))
                out.repeats = whole_or(*json_sampler, "wrapS", 10497).value_or(10497) != 33071;
        return out;
    }

    Status read_uvs(const VertexBlock& block, const Json& primitive, std::size_t set) {
        const std::string name = "TEXCOORD_" + std::to_string(set);
        const std::string place = "mesh " + std::to_string(block.primitives[0].mesh) + " primitive " +
                                  std::to_string(block.primitives[0].primitive) + ": " + name;
        std::optional<Elements> elements;
        if (has_extension(primitive, draco_extension)) {
            SINEW_TRY_LET(auto mesh, read_draco(document_, primitive, place));
            if (const auto found = mesh.attributes.find(name); found != mesh.attributes.end())
                elements = std::move(found->second);
        }
        const Json* attributes = member(primitive, "attributes");
        const auto accessor = attributes ? whole(member(*attributes, name.c_str())) : std::nullopt;
        if (!elements && accessor) {
            SINEW_TRY_LET(auto read, accessors_.read(*accessor, place));
            elements = std::move(read);
        }
        if (!elements || elements->width != 2 || elements->count != block.vertex_count) return Done{};
        const std::vector<float> values = as_floats(*elements, elements->component != Component::f32);
        out_.uvs.resize(scene_.positions.size());
        for (std::size_t i = 0; i < block.vertex_count; ++i)
            out_.uvs[block.first_vertex + i] = {values[2 * i], values[2 * i + 1]};
        return Done{};
    }

    const Scene& scene_;
    const Document& document_;
    AccessorReader accessors_;
    HeldBytes held_;
    Look out_;
    std::vector<std::size_t> uv_set_;  // per material
};

}  // namespace

Result<Look> look_of(const Scene& scene) {
    if (!scene.document) {
        Look empty;
        empty.material_of_primitive.assign(scene.primitives.size(), -1);
        return empty;
    }
    return LookReader(scene).read();
}

}  // namespace sinew::io
