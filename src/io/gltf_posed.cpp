// A posed character as a document of its own: the look of the file, the shapes of the pose, and no skeleton.
//
// Nodes are not kept: after posing, their transforms would be identities. Every posed mesh is a root in world
// space; a mesh without a skin is a root with the world matrix of its node.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/try.h"
#include "io/formats.h"
#include "io/gltf_accessor.h"
#include "io/gltf_builder.h"
#include "io/gltf_morphs.h"
#include "io/gltf_scene.h"

namespace sinew::io {

namespace {

/// Attributes of a document's primitives, compressed or not.
class Attributes {
public:
    explicit Attributes(const Document& document) : document_(document), accessors_(document) {}

    struct Read {
        std::map<std::string, Elements> attributes;
        std::map<std::string, std::size_t> accessors;  ///< their accessors; none for a Draco mesh
        std::optional<Elements> indices;
        std::optional<std::size_t> indices_accessor;
        bool triangles_only = false;  ///< strips that Draco turned into lists
    };

    /// All attributes but joints and weights. An attribute that cannot be read is an error.
    Result<Read> read(const Json& primitive, const std::string& place) {
        Read out;
        std::map<std::string, Elements> draco;
        if (has_extension(primitive, draco_extension)) {
            SINEW_TRY_LET(auto mesh, read_draco(document_, primitive, place));
            draco = std::move(mesh.attributes);
            out.indices = std::move(mesh.indices);
            out.triangles_only = true;
        }
        if (const Json* attributes = member(primitive, "attributes"); attributes && attributes->is_object()) {
            for (const auto& [name, index] : attributes->items()) {
                if (name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_")) continue;
                if (const auto found = draco.find(name); found != draco.end()) {
                    out.attributes.emplace(name, std::move(found->second));
                    continue;
                }
                const auto accessor = whole(&index);
                if (!accessor) return document_.error(place + ": " + name + " must be an accessor's index");
                SINEW_TRY_LET(auto elements, accessors_.read(*accessor, place + ": " + name));
                out.attributes.emplace(name, std::move(elements));
                out.accessors.emplace(name, *accessor);
            }
        }
        if (const auto index = whole(member(primitive, "indices")); index && !out.indices) {
            SINEW_TRY_LET(out.indices, accessors_.read(*index, place + ": indices"));
            out.indices_accessor = *index;
        }
        return out;
    }

private:
    const Document& document_;
    AccessorReader accessors_;
};

std::string place_name(const PrimitiveRef& ref) {
    return "mesh " + std::to_string(ref.mesh) + " primitive " + std::to_string(ref.primitive);
}

/// The identity of a NORMAL attribute: its accessor, or its Draco data.
std::optional<std::size_t> source_of(const Json& primitive, const char* attribute) {
    const Json* attributes = member(primitive, "attributes");
    const Json* index = attributes ? member(*attributes, attribute) : nullptr;
    if (!index) return std::nullopt;
    return whole(index);
}

class PosedWriter {
public:
    PosedWriter(const Scene& scene, const PosedScene& posed)
        : document_(*scene.document), rig_(document_.rig), posed_(posed), attributes_(document_) {}

    Result<Builder::File> write(bool glb, SaveReport& report) {
        if (const Json* asset = member(document_.json, "asset")) builder_.root()["asset"] = *asset;
        copy_look();
        SINEW_TRY(write_posed());
        SINEW_TRY(write_rigid());
        Json scene = Json::object();
        if (!nodes_.empty()) {
            Json list = Json::array();
            for (std::size_t n = 0; n < nodes_.size(); ++n) {
                builder_.push("nodes", std::move(nodes_[n]));
                list.push_back(n);
            }
            scene["nodes"] = std::move(list);
        }
        builder_.root()["scene"] = 0;
        builder_.push("scenes", std::move(scene));
        list_extensions();
        report.notes = std::move(notes_);
        return builder_.file(document_.name, !glb);
    }

private:
    void note(const std::string& text) {
        if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
    }

    // ---- materials, textures, images

    void copy_look() {
        for (const char* list : {"materials", "textures", "samplers"})
            if (const Json* from = member(document_.json, list); from && from->is_array() && !from->empty())
                builder_.root()[list] = *from;
        for (std::size_t i = 0; i < document_.count("images"); ++i) {
            Json image = *document_.at("images", i);
            if (const auto view = whole(member(image, "bufferView")))
                embed(image, document_.view_bytes(*view));
            else if (const std::string uri = string_of(member(image, "uri"));
                     !uri.empty() && !uri.starts_with("data:"))
                embed_file(image, uri);
            builder_.push("images", std::move(image));
        }
        if (const Json* extensions = member(document_.json, "extensions"); extensions && extensions->is_object())
            for (const auto& [name, value] : extensions->items()) {
                if (name == "KHR_materials_variants")
                    builder_.root()["extensions"][name] = value;
                else
                    note("not written: the extension " + printable(name) + " of the document");
            }
    }

    void embed(Json& image, std::span<const std::byte> bytes) {
        image["bufferView"] = builder_.view(bytes.data(), bytes.size(), {});
    }

    void embed_file(Json& image, const std::string& uri) {
        const auto bytes = document_.external_bytes(uri, "an image");
        if (!bytes) {
            note("the image " + printable(uri) + " is referred to, not embedded: it cannot be read");
            return;
        }
        const std::string mime = image_kind(**bytes);
        if (mime.empty()) {
            note("the image " + printable(uri) + " is referred to, not embedded: its kind is not known");
            return;
        }
        embed(image, **bytes);
        image.erase("uri");
        image["mimeType"] = mime;
    }

    // ---- meshes

    /// TEXCOORD_n, COLOR_n and other attributes, with their written accessors.
    void put_rest(Json& attributes, const Attributes::Read& read, std::size_t count) {
        for (const auto& [name, elements] : read.attributes) {
            if (name == "POSITION" || name == "NORMAL" || name == "TANGENT" || elements.count != count ||
                elements.width > 4)
                continue;
            const auto from = read.accessors.find(name);
            if (from != read.accessors.end())
                if (const auto known = copied_.find(from->second); known != copied_.end()) {
                    attributes[name] = known->second;
                    continue;
                }
            // Quantised coordinates need an extension; floats need none.
            const bool plain = elements.component == Component::f32 ||
                               ((elements.component == Component::u8 || elements.component == Component::u16) &&
                                (elements.normalized || name.starts_with('_'))) ||
                               (name.starts_with('_') && elements.component != Component::u32);
            std::size_t accessor = 0;
            if (plain)
                accessor = builder_.elements(elements, vertices_target);
            else
                accessor = put_floats(as_floats(elements, elements.normalized), elements.width);
            attributes[name] = accessor;
            if (from != read.accessors.end()) copied_.emplace(from->second, accessor);
        }
    }

    std::size_t put_floats(const std::vector<float>& values, std::size_t width) {
        static constexpr const char* types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
        return builder_.accessor(values, 5126, types[width - 1], width, vertices_target);
    }

    void put_indices(Json& primitive, const Attributes::Read& read) {
        if (!read.indices) return;
        if (read.indices_accessor)
            if (const auto known = copied_indices_.find(*read.indices_accessor); known != copied_indices_.end()) {
                primitive["indices"] = known->second;
                return;
            }
        const std::size_t accessor = builder_.elements(*read.indices, indices_target);
        primitive["indices"] = accessor;
        if (read.indices_accessor) copied_indices_.emplace(*read.indices_accessor, accessor);
    }

    /// Members of a primitive that do not concern its vertices.
    static Json bare(const Json& from, const Attributes::Read& read) {
        Json out = Json::object();
        for (const char* key : {"material", "mode", "extras"})
            if (const Json* value = member(from, key)) out[key] = *value;
        if (read.triangles_only) out.erase("mode");
        if (const Json* extensions = member(from, "extensions"))
            if (const Json* variants = member(*extensions, "KHR_materials_variants"))
                out["extensions"]["KHR_materials_variants"] = *variants;
        return out;
    }

    static Json bare_mesh(const Json& from, bool targets) {
        Json out = Json::object();
        if (const Json* name = member(from, "name")) out["name"] = *name;
        if (const Json* extras = member(from, "extras")) {
            out["extras"] = *extras;
            if (!targets && extras->is_object()) out["extras"].erase("targetNames");
            if (out["extras"].is_object() && out["extras"].empty()) out.erase("extras");
        }
        return out;
    }

    struct Shape {
        std::size_t position = 0;
        std::optional<std::size_t> normal, tangent;
    };

    /// The posed vertices of a block, in the world.
    Shape put_block(const VertexBlock& block) {
        Shape out;
        const Matrix to_world = to_matrix(posed_.pose.to_world);
        const bool moved = !(to_world == Matrix{});
        const Json& first = document_.primitive(block.primitives[0]);
        std::vector<float> values;
        const auto put = [&](const Vec3& v) { values.insert(values.end(), {v.x, v.y, v.z}); };
        const auto each = [&](const auto& f) {
            values.clear();
            for (std::uint32_t v = block.first_vertex; v < block.first_vertex + block.vertex_count; ++v) f(v);
        };
        each([&](std::uint32_t v) {
            const Vec3& p = posed_.positions[v];
            put(moved ? to_vec3(transform_point(to_world, p.x, p.y, p.z)) : p);
        });
        out.position = builder_.bounded(values, "VEC3", 3, vertices_target);
        // Unit vectors keep their bits if there is no rotation.
        const auto tidy = [](const std::array<double, 3>& v, const Vec3& otherwise) {
            const double square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
            return std::abs(square - 1) < 1e-6 ? to_vec3(v) : unit(v, otherwise);
        };
        if (!posed_.normals.empty() && source_of(first, "NORMAL")) {
            const Matrix turn = moved ? normal_matrix(to_world) : Matrix{};
            each([&](std::uint32_t v) { put(tidy(direction(turn, posed_.normals[v]), {0, 1, 0})); });
            out.normal = put_floats(values, 3);
        }
        if (!posed_.tangents.empty() && source_of(first, "TANGENT")) {
            each([&](std::uint32_t v) {
                const auto& t = posed_.tangents[v];
                put(tidy(direction(to_world, {t[0], t[1], t[2]}), {1, 0, 0}));
                values.push_back(t[3] < 0 ? -1.f : 1.f);
            });
            out.tangent = put_floats(values, 4);
        }
        return out;
    }

    /// The node of a posed mesh.
    const Json* node_of(std::size_t mesh) const {
        for (const auto& skinned : rig_.skinned_nodes)
            if (skinned.mesh == mesh) return document_.at("nodes", skinned.node);
        if (rig_.source != RigSource::skins) return nullptr;
        for (std::size_t n = 0; n < document_.count("nodes"); ++n) {
            const Json* node = document_.at("nodes", n);
            if (member(*node, "skin") && whole(member(*node, "mesh")) == mesh) return node;
        }
        return nullptr;
    }

    Status write_posed() {
        // By mesh and skin: a mesh that is moved by two skins becomes two meshes.
        std::map<std::pair<std::size_t, std::size_t>, std::map<std::size_t, std::size_t>> meshes;
        for (std::size_t b = 0; b < rig_.blocks.size(); ++b)
            for (const PrimitiveRef& ref : rig_.blocks[b].primitives)
                meshes[{rig_.blocks[b].skin, ref.mesh}].emplace(ref.primitive, b);
        std::map<std::size_t, Shape> shapes;
        for (const auto& [which, primitives] : meshes) {
            const Json& from = document_.mesh(which.second);
            Json mesh = bare_mesh(from, false);
            Json list = Json::array();
            for (const auto& [number, b] : primitives) {
                const VertexBlock& block = rig_.blocks[b];
                const PrimitiveRef ref{which.second, number};
                const Json& json = document_.primitive(ref);
                SINEW_TRY_LET(auto read, attributes_.read(json, place_name(ref)));
                auto shape = shapes.find(b);
                if (shape == shapes.end()) shape = shapes.emplace(b, put_block(block)).first;
                Json out = bare(json, read);
                Json& attributes = out["attributes"];
                attributes["POSITION"] = shape->second.position;
                const Json& first = document_.primitive(block.primitives[0]);
                const auto put = [&](const char* name, const std::optional<std::size_t>& accessor) {
                    if (!source_of(json, name)) return;
                    // Primitives may share positions and differ in normals; only one set of normals was posed.
                    if (accessor && source_of(json, name) == source_of(first, name))
                        attributes[name] = *accessor;
                    else
                        note(place_name(ref) + ": its own " + name + " is left out");
                };
                put("NORMAL", shape->second.normal);
                put("TANGENT", shape->second.tangent);
                put_rest(attributes, read, block.vertex_count);
                put_indices(out, read);
                // The reflection of a mirrored mesh is now in its vertices, so its triangles are reversed.
                if (block.mirrored) turn_faces(out, read, block.vertex_count);
                list.push_back(std::move(out));
            }
            if (const Json* all = member(from, "primitives"); all && all->size() > list.size())
                note("points and lines of mesh " + std::to_string(which.second) +
                     " are left out: they are not posed");
            mesh["primitives"] = std::move(list);
            Json node{{"mesh", builder_.push("meshes", std::move(mesh))}};
            if (const Json* source = node_of(which.second)) {
                if (const Json* name = member(*source, "name")) node["name"] = *name;
                if (const Json* extras = member(*source, "extras")) node["extras"] = *extras;
            }
            nodes_.push_back(std::move(node));
        }
        return Done{};
    }

    /// The triangles of the primitive with reversed winding.
    void turn_faces(Json& primitive, const Attributes::Read& read, std::uint32_t vertices) {
        std::vector<std::uint32_t> corners(vertices);
        if (read.indices)
            corners = as_unsigned(*read.indices);
        else
            std::iota(corners.begin(), corners.end(), 0u);
        const std::size_t mode = whole_or(primitive, "mode", 4).value_or(4);
        if (mode < 4) return;  // points and lines have no sides
        std::vector<std::uint32_t> indices;
        const std::size_t count = mode == 4 ? corners.size() / 3 : corners.size() < 3 ? 0 : corners.size() - 2;
        for (std::size_t i = 0; i < count; ++i) {
            if (mode == 4)
                indices.insert(indices.end(), {corners[3 * i], corners[3 * i + 2], corners[3 * i + 1]});
            else if (mode == 5)
                indices.insert(indices.end(), {corners[i], corners[i + 2 - i % 2], corners[i + 1 + i % 2]});
            else
                indices.insert(indices.end(), {corners[i + 1], corners[0], corners[i + 2]});
        }
        if (indices.empty()) return;
        primitive.erase("mode");
        primitive["indices"] = builder_.accessor(indices, 5125, "SCALAR", 1, indices_target);
    }

    /// The transform of a node without a skin: it follows the nearest joint above it.
    Matrix place_of_node(std::size_t node) const {
        const ScenePose& pose = posed_.pose;
        const Matrix own = to_matrix(pose.nodes[node]);
        for (std::size_t n = node; n != Rig::no_node; n = rig_.nodes.parent[n]) {
            const auto joint = std::find(rig_.node_of_joint.begin(), rig_.node_of_joint.end(), n);
            if (joint == rig_.node_of_joint.end()) continue;
            const auto j = static_cast<std::size_t>(joint - rig_.node_of_joint.begin());
            const auto from_joint = inverse(to_matrix(pose.nodes[n]));
            if (!from_joint || j >= pose.skinning.size()) break;
            return to_matrix(pose.to_world) * to_matrix(pose.skinning[j]) * rig_.bind_pose[j] * (*from_joint * own);
        }
        return own;
    }

    /// Meshes without a skin beside skinned ones.
    Status write_rigid() {
        if (rig_.source != RigSource::skins) return Done{};
        std::map<std::size_t, std::size_t> written;
        for (std::size_t n = 0; n < document_.count("nodes"); ++n) {
            const Json& node = *document_.at("nodes", n);
            const auto mesh = whole(member(node, "mesh"));
            if (!mesh || member(node, "skin") || *mesh >= document_.count("meshes")) continue;
            // A transform that a node cannot represent (below a joint that is scaled along one axis) is applied to
            // the vertices.
            const Matrix place = place_of_node(n);
            const Trs trs = decompose(place);
            const bool sheared = !agree(compose(trs.t, trs.q, trs.s), place);
            std::size_t index = 0;
            const auto known = sheared ? written.end() : written.find(*mesh);
            if (known == written.end()) {
                SINEW_TRY_LET(auto made, rigid_mesh(*mesh, sheared ? place : Matrix{}));
                if (!made) continue;
                index = *made;
                if (!sheared) written.emplace(*mesh, index);
            } else {
                index = known->second;
            }
            Json out{{"mesh", index}};
            for (const char* key : {"name", "extras", "weights"})
                if (const Json* value = member(node, key)) out[key] = *value;
            const auto put = [&](const char* key, const auto& values, const auto& standard) {
                if (!sheared && values != standard) out[key] = values;
            };
            put("translation", trs.t, Trs{}.t);
            put("rotation", trs.q, Trs{}.q);
            put("scale", trs.s, Trs{}.s);
            nodes_.push_back(std::move(out));
        }
        return Done{};
    }

    /// A mesh with its vertices transformed by `place`.
    Result<std::optional<std::size_t>> rigid_mesh(std::size_t index, const Matrix& place_in) {
        const Json& from = *document_.at("meshes", index);
        Json mesh = bare_mesh(from, true);
        if (const Json* weights = member(from, "weights")) mesh["weights"] = *weights;
        Json list = Json::array();
        const Json* primitives = member(from, "primitives");
        for (std::size_t p = 0; primitives && p < primitives->size(); ++p) {
            const Json& json = (*primitives)[p];
            const std::string place = place_name({index, p});
            SINEW_TRY_LET(auto read, attributes_.read(json, place));
            const auto position = read.attributes.find("POSITION");
            if (position == read.attributes.end() || position->second.width != 3 || position->second.count == 0)
                continue;
            Json out = bare(json, read);
            Json& attributes = out["attributes"];
            for (const char* name : {"POSITION", "NORMAL", "TANGENT"}) {
                const auto found = read.attributes.find(name);
                if (found == read.attributes.end() || found->second.count != position->second.count) continue;
                attributes[name] = put_shape(found->second, name, read.accessors, place_in, false);
            }
            put_rest(attributes, read, position->second.count);
            put_indices(out, read);
            if (determinant(place_in) < 0)
                turn_faces(out, read, static_cast<std::uint32_t>(position->second.count));
            if (const Json* targets = member(json, "targets"); targets && targets->is_array()) {
                Json& shapes = out["targets"] = Json::array();
                for (std::size_t t = 0; t < targets->size(); ++t) {
                    SINEW_TRY_LET(auto target,
                                  attributes_.read(Json{{"attributes", (*targets)[t]}}, place + ": target"));
                    Json& shape = shapes.emplace_back(Json::object());
                    for (const auto& [name, elements] : target.attributes)
                        if (elements.width == 3 && elements.count == position->second.count)
                            shape[name] = put_shape(elements, name, target.accessors, place_in, true);
                }
            }
            list.push_back(std::move(out));
        }
        if (list.empty()) return std::optional<std::size_t>();
        mesh["primitives"] = std::move(list);
        return std::optional(builder_.push("meshes", std::move(mesh)));
    }

    /// POSITION, NORMAL or TANGENT of a rigid mesh, or offsets of them.
    std::size_t put_shape(const Elements& elements, const std::string& name,
                          const std::map<std::string, std::size_t>& accessors, const Matrix& place, bool offset) {
        const bool moved = !(place == Matrix{});
        const auto from = accessors.find(name);
        if (from != accessors.end() && !moved)
            if (const auto known = copied_.find(from->second); known != copied_.end()) return known->second;
        std::vector<float> values = as_floats(elements, elements.normalized);
        const Matrix turn = name == "NORMAL" ? normal_matrix(place) : place;
        for (std::size_t i = 0; moved && i + 2 < values.size(); i += elements.width) {
            const Vec3 v{values[i], values[i + 1], values[i + 2]};
            Vec3 out = to_vec3(direction(turn, v));
            if (name == "POSITION" && !offset)
                out = to_vec3(transform_point(place, v.x, v.y, v.z));
            else if (!offset)
                out = unit(direction(turn, v), v);
            values[i] = out.x, values[i + 1] = out.y, values[i + 2] = out.z;
            if (elements.width == 4 && determinant(place) < 0) values[i + 3] = -values[i + 3];
        }
        const std::size_t out = name == "POSITION" ? builder_.bounded(values, "VEC3", 3, vertices_target)
                                                   : put_floats(values, elements.width);
        if (from != accessors.end() && !moved) copied_.emplace(from->second, out);
        return out;
    }

    // ---- extensions

    static void collect(const Json& value, std::set<std::string>& out) {
        if (value.is_object())
            if (const Json* extensions = member(value, "extensions"); extensions && extensions->is_object())
                for (const auto& [name, unused] : extensions->items()) out.insert(name);
        if (value.is_structured())
            for (const Json& part : value) collect(part, out);
    }

    void list_extensions() {
        std::set<std::string> used;
        collect(builder_.root(), used);
        for (const char* key : {"extensionsUsed", "extensionsRequired"}) {
            const Json* from = member(document_.json, key);
            if (!from || !from->is_array()) continue;
            Json list = Json::array();
            for (const Json& name : *from)
                if (name.is_string() && used.contains(name.get<std::string>())) list.push_back(name);
            if (!list.empty()) builder_.root()[key] = std::move(list);
        }
    }

    const Document& document_;
    const Rig& rig_;
    const PosedScene& posed_;
    Attributes attributes_;
    Builder builder_;
    std::vector<Json> nodes_;
    std::map<std::size_t, std::size_t> copied_, copied_indices_;  // accessors: of the document, written
    std::vector<std::string> notes_;
};

}  // namespace

Result<ShadingFrames> shading_frames(const Scene& scene) {
    ShadingFrames out;
    if (!scene.document) return out;
    const Document& document = *scene.document;
    Attributes attributes(document);
    for (const VertexBlock& block : document.rig.blocks) {
        const PrimitiveRef& ref = block.primitives[0];
        const Json& primitive = document.primitive(ref);
        constexpr const char* names[] = {"NORMAL", "TANGENT", "COLOR_0", dual_quaternion_attribute};
        if (std::none_of(std::begin(names), std::end(names),
                         [&](const char* name) { return source_of(primitive, name).has_value(); }))
            continue;
        SINEW_TRY_LET(const auto read, attributes.read(primitive, place_name(ref)));
        // Values of vertex v, `width` of them, or null.
        const auto values_of = [&](const char* name, std::size_t width) -> std::vector<float> {
            const auto found = read.attributes.find(name);
            if (found == read.attributes.end() || found->second.width != width ||
                found->second.count != block.vertex_count)
                return {};
            return as_floats(found->second, found->second.component != Component::f32);
        };
        const auto turn = [&](std::size_t v) {
            const Matrix& m = block.to_scene_of(v);
            return m == Matrix{} ? Matrix{} : normal_matrix(m);
        };
        const auto finite = [](const Vec3& v) { return std::isfinite(v.x + v.y + v.z) ? v : Vec3{}; };
        if (const auto values = values_of("NORMAL", 3); !values.empty()) {
            out.normals.resize(scene.positions.size());
            for (std::size_t i = 0; i < block.vertex_count; ++i)
                out.normals[block.first_vertex + i] =
                    finite(to_vec3(direction(turn(i), {values[3 * i], values[3 * i + 1], values[3 * i + 2]})));
        }
        for (const std::size_t width : {std::size_t{3}, std::size_t{4}})
            if (const auto values = values_of("COLOR_0", width); !values.empty()) {
                out.colours.resize(scene.positions.size(), {1, 1, 1, 1});
                for (std::size_t i = 0; i < block.vertex_count; ++i)
                    for (std::size_t k = 0; k < width; ++k)
                        out.colours[block.first_vertex + i][k] = values[width * i + k];
            }
        if (const auto values = values_of(dual_quaternion_attribute, 1); !values.empty()) {
            out.dual_share.resize(scene.positions.size(), 1);
            for (std::size_t i = 0; i < block.vertex_count; ++i)
                out.dual_share[block.first_vertex + i] = values[i] >= 0 && values[i] <= 1 ? values[i] : 1;
        }
        if (const auto values = values_of("TANGENT", 4); !values.empty()) {
            out.tangents.resize(scene.positions.size());
            const float sign = determinant(block.to_scene) < 0 ? -1.f : 1.f;
            for (std::size_t i = 0; i < block.vertex_count; ++i) {
                const Vec3 t = finite(to_vec3(
                    direction(block.to_scene_of(i), {values[4 * i], values[4 * i + 1], values[4 * i + 2]})));
                out.tangents[block.first_vertex + i] = {t.x, t.y, t.z, values[4 * i + 3] < 0 ? -sign : sign};
            }
        }
    }
    if (out.normals.empty()) return out;
    SINEW_TRY_LET(const auto shown, read_morphs(document));
    for (const MorphTarget& morph : shown)
        for (std::size_t i = 0; i < morph.normals.size(); ++i) {
            Vec3& n = out.normals[morph.first_vertex + i];
            const Vec3& d = morph.normals[i];
            n = {n.x + morph.weight * d.x, n.y + morph.weight * d.y, n.z + morph.weight * d.z};
        }
    return out;
}

Status check_posed_output(const std::filesystem::path& path) {
    const std::string extension = extension_of(path);
    if (extension == ".glb" || extension == ".gltf" || extension == ".obj") return Done{};
    return Error{ErrorCode::usage, path.string() + ": a posed mesh is written as .glb, .gltf or .obj"};
}

Result<SaveReport> save_posed(const Scene& scene, const PosedScene& posed, const std::filesystem::path& path,
                              OutputBatch& batch) {
    SINEW_TRY(check_posed_output(path));
    const std::string extension = extension_of(path);
    const std::size_t count = scene.positions.size();
    if (!scene.document || posed.positions.size() != count ||
        (!posed.normals.empty() && posed.normals.size() != count) ||
        (!posed.tangents.empty() && posed.tangents.size() != count) ||
        posed.pose.nodes.size() != scene.document->rig.nodes.local.size())
        return Error{ErrorCode::usage, path.string() + ": the posed arrays are not those of the scene"};
    SaveReport report;
    std::vector<std::byte> bytes;
    if (extension == ".obj") {
        std::vector<Vec3> positions;
        const Matrix to_world = to_matrix(posed.pose.to_world);
        const bool moved = !(to_world == Matrix{});
        for (const Vec3& p : posed.positions)
            positions.push_back(moved ? to_vec3(transform_point(to_world, p.x, p.y, p.z)) : p);
        std::vector<Triangle> triangles = scene.triangles;
        if (determinant(to_world) < 0)
            for (Triangle& t : triangles) std::swap(t[1], t[2]);
        const std::string text = obj_text(positions, triangles);
        report.bytes = text.size();
        SINEW_TRY(batch.add(path, std::as_bytes(std::span(text))));
        return report;
    }
    const bool glb = extension == ".glb";
    SINEW_TRY_LET(auto file, PosedWriter(scene, posed).write(glb, report));
    if (glb) {
        bytes = glb_bytes(file.text, file.data);
    } else {
        const auto text = std::as_bytes(std::span(file.text));
        bytes.assign(text.begin(), text.end());
    }
    report.bytes = bytes.size();
    SINEW_TRY(batch.add(path, bytes));
    return report;
}

Result<SaveReport> save_posed(const Scene& scene, const PosedScene& posed, const std::filesystem::path& path) {
    OutputBatch batch;
    SINEW_TRY_LET(SaveReport saved, save_posed(scene, posed, path, batch));
    SINEW_TRY(batch.commit());
    return saved;
}

}  // namespace sinew::io
