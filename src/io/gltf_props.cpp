// Meshes on nodes without a skin, for viewers: where the nodes stand at rest, moved into bind space.
#include <cmath>
#include <optional>

#include "io/formats.h"
#include "io/gltf_accessor.h"
#include "io/gltf_builder.h"
#include "io/gltf_scene.h"

namespace sinew::io {

namespace {

constexpr std::size_t kMostVertices = std::size_t{1} << 22;  // many nodes may show one mesh

class PropReader {
public:
    PropReader(const Scene& scene, const ScenePose& rest)
        : document_(*scene.document), rest_(rest), accessors_(document_) {
        const Rig& rig = document_.rig;
        joint_of_node_.assign(rig.nodes.parent.size(), no_index);
        for (std::size_t j = 0; j < rig.node_of_joint.size(); ++j)
            joint_of_node_[rig.node_of_joint[j]] = static_cast<std::uint32_t>(j);
    }

    std::vector<Prop> read() {
        for (std::size_t n = 0; n < document_.rig.nodes.parent.size(); ++n) {
            const Json& node = *document_.at("nodes", n);
            const auto mesh = whole(member(node, "mesh"));
            if (!mesh || member(node, "skin") || !document_.at("meshes", *mesh)) continue;
            read_mesh(n, *mesh);
        }
        return std::move(out_);
    }

private:
    void read_mesh(std::size_t node, std::size_t mesh) {
        const Rig& rig = document_.rig;
        std::uint32_t joint = no_index;
        for (std::size_t n = node; n != Rig::no_node && joint == no_index; n = rig.nodes.parent[n])
            joint = joint_of_node_[n];
        // Shown at to_world · skinning of the joint · (bind space).
        const auto from_world = inverse(to_matrix(rest_.to_world));
        const auto from_joint =
            joint == no_index ? std::optional<Matrix>(Matrix{}) : inverse(to_matrix(rest_.skinning[joint]));
        if (!from_world || !from_joint) return;
        const Matrix place = *from_joint * *from_world * to_matrix(rest_.nodes[node]);
        const Json& json = *document_.at("meshes", mesh);
        std::string name = string_of(member(json, "name"));
        if (name.empty()) name = "mesh " + std::to_string(mesh);
        const Json* primitives = member(json, "primitives");
        if (!primitives || !primitives->is_array()) return;
        for (std::size_t p = 0; p < primitives->size(); ++p) {
            Prop prop;
            prop.name = name + "/" + std::to_string(p);
            prop.joint = joint;
            if (read_primitive((*primitives)[p], place, prop)) out_.push_back(std::move(prop));
        }
    }

    bool read_primitive(const Json& primitive, const Matrix& place, Prop& out) {
        const std::size_t mode = whole_or(primitive, "mode", 4).value_or(0);
        if (mode < 4 || mode > 6) return false;
        const auto material = whole(member(primitive, "material"));
        if (material && *material < document_.count("materials")) out.material = static_cast<int>(*material);
        DracoMesh draco;
        const bool compressed = has_extension(primitive, draco_extension);
        if (compressed) {
            auto decoded = read_draco(document_, primitive, out.name);
            if (!decoded) return false;
            draco = std::move(*decoded);
        }
        const Json* attributes = member(primitive, "attributes");
        const auto read = [&](const char* name, std::size_t width) -> std::optional<Elements> {
            if (const auto found = draco.attributes.find(name); found != draco.attributes.end())
                return found->second;
            const auto accessor = attributes ? whole(member(*attributes, name)) : std::nullopt;
            if (!accessor) return std::nullopt;
            auto elements = accessors_.read(*accessor, out.name);
            if (!elements || elements->width != width) return std::nullopt;
            return std::move(*elements);
        };
        const auto positions = read("POSITION", 3);
        if (!positions || positions->count > budget_) return false;
        budget_ -= positions->count;
        const std::vector<float> at = as_floats(*positions, positions->normalized);
        for (std::size_t v = 0; v < positions->count; ++v) {
            const auto p = transform_point(place, at[3 * v], at[3 * v + 1], at[3 * v + 2]);
            const Vec3 q = to_vec3(p);
            if (!std::isfinite(q.x + q.y + q.z)) return false;
            out.positions.push_back(q);
        }
        if (const auto normals = read("NORMAL", 3); normals && normals->count == positions->count) {
            const std::vector<float> n = as_floats(*normals, normals->normalized);
            const Matrix turn = normal_matrix(place);
            for (std::size_t v = 0; v < normals->count; ++v)
                out.normals.push_back(to_vec3(direction(turn, {n[3 * v], n[3 * v + 1], n[3 * v + 2]})));
        }
        if (const auto uvs = read("TEXCOORD_0", 2); uvs && uvs->count == positions->count) {
            const std::vector<float> t = as_floats(*uvs, uvs->component != Component::f32);
            for (std::size_t v = 0; v < uvs->count; ++v) out.uvs.push_back({t[2 * v], t[2 * v + 1]});
        }
        return read_triangles(primitive, compressed ? &draco : nullptr, compressed ? 4 : mode, out);
    }

    bool read_triangles(const Json& primitive, const DracoMesh* draco, std::size_t mode, Prop& out) {
        std::optional<std::vector<std::uint32_t>> indices;
        if (draco) {
            indices = as_unsigned(draco->indices);
        } else if (const Json* accessor = member(primitive, "indices")) {
            const auto index = whole(accessor);
            if (!index) return false;
            const auto elements = accessors_.read(*index, out.name);
            if (!elements || elements->width != 1 || elements->component == Component::f32 ||
                elements->component == Component::i8 || elements->component == Component::i16)
                return false;
            indices = as_unsigned(*elements);
        }
        const std::size_t corners = indices ? indices->size() : out.positions.size();
        const std::size_t count = triangle_count(mode, corners);
        if (count > 8 * kMostVertices) return false;
        const auto corner = [&](std::size_t i) { return indices ? (*indices)[i] : static_cast<std::uint32_t>(i); };
        for (std::size_t i = 0; i < count; ++i) {
            const auto [a, b, c] = triangle_corners(mode, i);
            const Triangle t{corner(a), corner(b), corner(c)};
            for (const std::uint32_t v : t)
                if (v >= out.positions.size()) return false;
            out.triangles.push_back(t);
        }
        return !out.triangles.empty();
    }

    const Document& document_;
    const ScenePose& rest_;
    AccessorReader accessors_;
    std::vector<std::uint32_t> joint_of_node_;
    std::size_t budget_ = kMostVertices;
    std::vector<Prop> out_;
};

}  // namespace

std::vector<Prop> props_of(const Scene& scene) {
    if (!scene.document || scene.document->rig.source != RigSource::skins) return {};
    const Result<ScenePose> rest = pose_at(scene, std::nullopt, 0);
    if (!rest) return {};
    return PropReader(scene, *rest).read();
}

}  // namespace sinew::io
