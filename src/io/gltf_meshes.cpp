#include "io/gltf_meshes.h"

#include <algorithm>
#include <cmath>

#include "core/try.h"
#include "io/gltf_builder.h"
#include "io/gltf_morphs.h"
#include "io/gltf_nodes.h"

namespace sinew::io {

/// A primitive while it is read.
struct MeshReader::PrimitiveSource {
    const Json& json;
    std::string place;  // in messages
    DracoMesh draco;
    bool compressed = false;
};

MeshReader::MeshReader(Document& document, AccessorReader& accessors, Scene& scene, const Context* context)
    : document_(document), scene_(scene), rig_(document.rig), accessors_(accessors), context_(context) {
    std::size_t bytes = document.text.size();
    for (const auto& buffer : document.buffers) bytes += buffer.bytes.size();
    budget_ = (std::size_t{1} << 22) + 16 * bytes;
}

Status MeshReader::read(std::size_t mesh, std::size_t written_mesh, std::size_t skin, const Matrix& to_scene,
                        bool mirrored) {
    mirrored_ = mirrored;
    copying_ = written_mesh != mesh;
    const Json& json = *document_.at("meshes", mesh);
    const std::string mesh_name = name_of(json, "mesh", mesh);
    const Json* primitives = member(json, "primitives");
    if (!primitives || !primitives->is_array())
        return document_.error("mesh " + in_quotes(mesh_name) + " has no primitives");
    bool contributes = false;
    for (std::size_t p = 0; p < primitives->size(); ++p) {
        if (context_ && context_->cancel)
            return Error{ErrorCode::cancelled, "cancelled while reading " + document_.name};
        const Json& primitive = (*primitives)[p];
        const std::string place = "mesh " + in_quotes(mesh_name) + " primitive " + std::to_string(p);
        const auto mode = whole_or(primitive, "mode", 4);
        if (!mode || *mode > 6) return document_.error(place + ": unknown mode");
        if (*mode < 4) {
            ++scene_.skipped_primitives;
            continue;
        }
        const Json* attributes = member(primitive, "attributes");
        const Json* position = attributes ? member(*attributes, "POSITION") : nullptr;
        if (!position) {
            scene_.warnings.push_back(place + " has no POSITION: left out");
            continue;
        }
        if (is_empty(position) || is_empty(member(primitive, "indices"))) {
            scene_.warnings.push_back(place + " is empty: left out");
            continue;
        }
        SINEW_TRY(read_primitive(primitive, {written_mesh, p}, *mode, skin, to_scene, place));
        Primitive& read = scene_.primitives.back();
        read.name = mesh_name + "/" + std::to_string(p);
        read.mesh = mesh_name;
        const Json* materials = member(document_.json, "materials");
        const auto material = whole(member(primitive, "material"));
        if (material && materials && materials->is_array() && *material < materials->size())
            read.material = name_of((*materials)[*material], "material", *material);
        contributes = true;
    }
    scene_.mesh_count += contributes;
    return Done{};
}

bool MeshReader::is_empty(const Json* accessor) const {
    const auto index = accessor ? whole(accessor) : std::nullopt;
    const Json* described = index ? document_.at("accessors", *index) : nullptr;
    return described && whole(member(*described, "count")) == std::size_t{0};
}

Status MeshReader::spend(std::size_t elements, const std::string& place) {
    if (elements > budget_ || scene_.positions.size() + elements > 0xfffffffeu ||
        scene_.triangles.size() + elements > 0xfffffffeu)
        return document_.error(place +
                               ": the meshes of the file share data and have too many vertices, "
                               "triangles and inverse bind matrices in total (join meshes, or remove copies)");
    budget_ -= elements;
    constexpr std::size_t of_each = 32;  // positions and weights, or corners
    return document_.take(of_each * elements, place);
}

Status MeshReader::read_primitive(const Json& primitive, PrimitiveRef ref, std::size_t mode, std::size_t skin,
                                  const Matrix& to_scene, const std::string& place) {
    PrimitiveSource source{primitive, place, {}, has_extension(primitive, draco_extension)};
    if (source.compressed) {
        SINEW_TRY_LET(source.draco, read_draco(document_, primitive, place));
        budget_ += source.draco.indices.count;  // Draco compresses far better than the budget allows for
    }
    SINEW_TRY_LET(const auto block_index, find_or_read_block(source, skin, to_scene));
    VertexBlock& block = rig_.blocks[block_index];
    block.primitives.push_back(ref);

    Primitive out;
    out.first_vertex = block.first_vertex;
    out.vertex_count = block.vertex_count;
    out.first_triangle = static_cast<std::uint32_t>(scene_.triangles.size());
    SINEW_TRY_LET(const auto indices, read_indices(source));
    if (source.compressed) mode = 4;  // Draco turns strips into triangles
    SINEW_TRY(add_triangles(indices, mode, block, place));
    out.triangle_count = static_cast<std::uint32_t>(scene_.triangles.size()) - out.first_triangle;
    scene_.primitives.push_back(std::move(out));
    return Done{};
}

Result<Elements> MeshReader::read_attribute(const PrimitiveSource& source, const std::string& name) {
    if (const auto found = source.draco.attributes.find(name); found != source.draco.attributes.end())
        return found->second;
    const auto accessor = whole(member(*member(source.json, "attributes"), name.c_str()));
    if (!accessor) return document_.error(source.place + ": " + name + " must be an accessor's index");
    return accessors_.read(*accessor, source.place + ": " + name);
}

Result<MeshReader::BlockKey> MeshReader::block_key(const PrimitiveSource& source, std::size_t skin) const {
    const Json& attributes = *member(source.json, "attributes");
    const auto position = whole(member(attributes, "POSITION"));
    if (!position) return document_.error(source.place + ": POSITION must be an accessor's index");
    BlockKey key{rig_.skins[skin].number != none ? skin : none - rig_.skinned_nodes.size(), *position, none, {}};
    if (source.compressed)
        std::get<2>(key) = whole(member(*member(*member(source.json, "extensions"), draco_extension), "bufferView"))
                               .value_or(none);
    for (std::size_t set = 0;; ++set) {
        const Json* joints = member(attributes, ("JOINTS_" + std::to_string(set)).c_str());
        const Json* weights = member(attributes, ("WEIGHTS_" + std::to_string(set)).c_str());
        if (!joints || !weights) break;
        for (const Json* accessor : {joints, weights}) std::get<3>(key).push_back(whole(accessor).value_or(none));
    }
    return key;
}

Result<std::size_t> MeshReader::find_or_read_block(const PrimitiveSource& source, std::size_t skin,
                                                   const Matrix& to_scene) {
    SINEW_TRY_LET(auto key, block_key(source, skin));
    if (const auto known = block_of_.find(key); known != block_of_.end()) return known->second;
    const std::string& place = source.place;
    const auto elements = read_attribute(source, "POSITION");
    if (!elements) return elements.error();
    if (elements->width != 3 || elements->component == Component::u32)
        return document_.error(place + ": POSITION must be VEC3 of floats (or of small integers)");
    SINEW_TRY(spend(elements->count, place));
    VertexBlock block;
    block.first_vertex = static_cast<std::uint32_t>(scene_.positions.size());
    block.vertex_count = static_cast<std::uint32_t>(elements->count);
    block.skin = skin;
    block.to_scene = to_scene;
    block.mirrored = mirrored_;
    add_positions(*elements, to_scene, place);
    if (!scene_.skeleton.skins.empty())
        scene_.skin_of_vertex.resize(scene_.positions.size(), rig_.skins[skin].joint_set);
    counts_.resize(scene_.positions.size(), 0);
    const std::size_t sets = std::get<3>(key).size() / 2;
    if (sets > 0 && rig_.skins[skin].number != none) {
        // What is wrong with the weights of the file must not keep it from getting new ones.
        std::vector<Elements> data;
        std::string fault;
        for (std::size_t set = 0; set < sets && fault.empty(); ++set)
            for (const char* kind : {"JOINTS_", "WEIGHTS_"}) {
                const std::string name = kind + std::to_string(set);
                auto values = read_attribute(source, name);
                if (!values) {
                    fault = values.error().message;
                    break;
                }
                if (values->width != 4)
                    fault = place + ": " + name + " must be VEC4";
                else if (values->count != block.vertex_count)
                    fault = place + ": " + name + " has " + std::to_string(values->count) + " elements for " +
                            std::to_string(block.vertex_count) + " vertices";
                else if (name.starts_with("JOINTS_") && values->component != Component::u8 &&
                         values->component != Component::u16)
                    scene_.warnings.push_back(place + ": " + name + " must be u8 or u16: read as whole numbers");
                data.push_back(std::move(*values));
            }
        if (fault.empty())
            add_weights(data, block, place);
        else
            scene_.warnings.push_back(fault + ": the file's weights of this primitive are left out");
    }
    rig_.blocks.push_back(std::move(block));
    block_of_[std::move(key)] = rig_.blocks.size() - 1;
    return rig_.blocks.size() - 1;
}

Result<std::optional<std::vector<std::uint32_t>>> MeshReader::read_indices(const PrimitiveSource& source) {
    if (source.compressed) return std::optional(as_unsigned(source.draco.indices));
    const Json* accessor = member(source.json, "indices");
    if (!accessor) return std::optional<std::vector<std::uint32_t>>();
    const std::string asker = source.place + ": indices";
    const auto index = whole(accessor);
    if (!index) return document_.error(asker + " must be an accessor's index");
    SINEW_TRY_LET(const auto elements, accessors_.read(*index, asker));
    if (elements.width != 1 || elements.component == Component::f32 || elements.component == Component::i8 ||
        elements.component == Component::i16)
        return document_.error(asker + " must be SCALAR u8, u16 or u32");
    return std::optional(as_unsigned(elements));
}

void MeshReader::add_positions(const Elements& elements, const Matrix& to_scene, const std::string& place) {
    std::vector<float> made;
    const std::span<const float> values = as_floats(elements, elements.normalized, made);
    const bool moved = !(to_scene == Matrix{});
    const std::size_t first = scene_.positions.size();
    scene_.positions.resize(first + elements.count);
    for (std::size_t i = 0; i < elements.count; ++i) {
        Vec3 p{values[3 * i], values[3 * i + 1], values[3 * i + 2]};
        if (moved) {
            const auto q = transform_point(to_scene, p.x, p.y, p.z);
            p = to_vec3(q);
        }
        if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
            // Without a triangle it does not matter where it is; finish() looks.
            if (lost_.empty() || lost_.back().place != place) lost_.push_back({place, first, {}});
            lost_.back().vertices.push_back(i);
            p = {};
        }
        scene_.positions[first + i] = p;
    }
}

void MeshReader::add_weights(const std::vector<Elements>& data, const VertexBlock& block,
                             const std::string& place) {
    std::vector<std::vector<std::uint32_t>> joints;
    std::vector<std::vector<float>> made(data.size());
    std::vector<std::span<const float>> weights;
    for (std::size_t s = 0; s < data.size(); s += 2) {
        joints.push_back(as_joints(data[s]));
        // Integers count as normalised even if the accessor does not say so: rows are normalised later.
        weights.push_back(as_floats(data[s + 1], true, made[s]));
    }
    const std::vector<std::uint32_t>& skin_joints = rig_.skins[block.skin].joints;
    std::size_t bad = 0, first_bad = 0, outside = 0;
    std::string first_outside;
    std::size_t kept = influences_.size();
    influences_.resize(kept + 4 * joints.size() * block.vertex_count);
    for (std::uint32_t v = 0; v < block.vertex_count; ++v) {
        std::uint32_t& count = counts_[block.first_vertex + v];
        for (std::size_t s = 0; s < joints.size(); ++s)
            for (std::size_t k = 4 * std::size_t{v}; k < 4 * std::size_t{v} + 4; ++k) {
                const float weight = weights[s][k];
                if (weight == 0) continue;
                if (!(weight > 0 && std::isfinite(weight))) {
                    if (bad++ == 0) first_bad = v;
                    continue;
                }
                if (joints[s][k] >= skin_joints.size()) {
                    if (!copying_ && outside++ == 0)
                        first_outside = "vertex " + std::to_string(v) + ", joint " + std::to_string(joints[s][k]);
                    continue;
                }
                influences_[kept++] = {skin_joints[joints[s][k]], weight};
                ++count;
            }
    }
    influences_.resize(kept);
    if (bad)
        scene_.warnings.push_back(place + ": " + std::to_string(bad) +
                                  " negative or not finite weights of the file count as 0 (first: vertex " +
                                  std::to_string(first_bad) + ")");
    if (outside)
        scene_.warnings.push_back(
            place + ": " + std::to_string(outside) + " weights of the file are on joints that its skin of " +
            std::to_string(skin_joints.size()) + " does not have, and count as 0 (first: " + first_outside + ")");
    has_weights_ = true;
}

Status MeshReader::add_triangles(const std::optional<std::vector<std::uint32_t>>& indices, std::size_t mode,
                                 const VertexBlock& block, const std::string& place) {
    const std::size_t corners = indices ? indices->size() : block.vertex_count;
    if (indices)
        for (std::size_t i = 0; i < corners; ++i)
            if ((*indices)[i] >= block.vertex_count)
                return document_.error(place + ": index " + std::to_string(i) + " is " +
                                       std::to_string((*indices)[i]) + ", but there are " +
                                       std::to_string(block.vertex_count) + " vertices");
    const std::size_t count = triangle_count(mode, corners);
    SINEW_TRY(spend(count, place));
    if (mode == 4 && corners % 3 != 0)
        scene_.warnings.push_back(place + ": the last " + std::to_string(corners % 3) +
                                  " corners after the last whole triangle are left out");
    const auto corner = [&](std::size_t i) {
        return block.first_vertex + (indices ? (*indices)[i] : static_cast<std::uint32_t>(i));
    };
    std::size_t kept = scene_.triangles.size();
    scene_.triangles.resize(kept + count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto [a, b, c] = triangle_corners(mode, i);
        const Triangle t{corner(a), corner(block.mirrored ? c : b), corner(block.mirrored ? b : c)};
        // Strips are joined by triangles without area; these are not defects of the mesh.
        if (mode == 5 && (t[0] == t[1] || t[1] == t[2] || t[2] == t[0])) continue;
        scene_.triangles[kept++] = t;
    }
    scene_.triangles.resize(kept);
    return Done{};
}

Status MeshReader::finish() {
    if (!lost_.empty()) {
        std::vector<bool> used(scene_.positions.size());
        for (const Triangle& t : scene_.triangles)
            for (const std::uint32_t v : t) used[v] = true;
        for (const LostVertices& lost : lost_) {
            for (const std::size_t i : lost.vertices)
                if (used[lost.first_vertex + i])
                    return document_.error(lost.place + " vertex " + std::to_string(i) +
                                           ": its position is not finite (repair the mesh)");
            // They stand where another vertex does, so that no box grows.
            const auto there = std::find(used.begin(), used.end(), true) - used.begin();
            for (const std::size_t i : lost.vertices)
                if (there < static_cast<std::ptrdiff_t>(used.size()))
                    scene_.positions[lost.first_vertex + i] = scene_.positions[static_cast<std::size_t>(there)];
            scene_.warnings.push_back(
                lost.place + ": " + std::to_string(lost.vertices.size()) +
                " vertices without a triangle have a position that is not finite (first: vertex " +
                std::to_string(lost.vertices[0]) + ")");
        }
    }
    SINEW_TRY_LET(const auto shown, read_morphs(document_));
    for (const MorphTarget& morph : shown)
        for (std::size_t i = 0; i < morph.offsets.size(); ++i) {
            Vec3& p = scene_.positions[morph.first_vertex + i];
            const Vec3& d = morph.offsets[i];
            p = {p.x + morph.weight * d.x, p.y + morph.weight * d.y, p.z + morph.weight * d.z};
            if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z))
                return document_.error("vertex " + std::to_string(morph.first_vertex + i) +
                                       ": the file's morph weights give it a position that is not finite");
        }
    if (!has_weights_) return Done{};
    auto weights = SkinWeights::from_rows(counts_, std::move(influences_));
    if (!weights) return Error{ErrorCode::internal, document_.name + ": " + weights.error().message};
    scene_.weights = std::move(*weights);
    return Done{};
}

}  // namespace sinew::io
