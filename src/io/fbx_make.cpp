// A new FBX file of a glTF document with its weights, for a scene that no FBX file is behind.
//
// A skinned mesh of glTF has no place of its own: its vertices are where joints and inverse bind matrices put them.
// In FBX it has one. It gets the place where most of its joints, at rest, show its space (world of the joint ·
// inverse bind matrix); clusters have this place times the bind matrix as TransformLink, and the inverse bind
// matrix as Transform. So joint · Transform · vertex is in both formats the same for every pose.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base64.h"
#include "core/try.h"
#include "io/fbx_make.h"
#include "io/fbx_write.h"
#include "io/formats.h"
#include "io/gltf_accessor.h"
#include "io/gltf_builder.h"
#include "io/gltf_morphs.h"
#include "io/gltf_nodes.h"

namespace sinew::io {

namespace {

class FbxMaker {
public:
    FbxMaker(const Document& document, double metres)
        : making_{document, {}, 1 / metres, {}}, document_(document), file_(making_.file), metres_(metres) {}

    Result<std::vector<std::byte>> make() {
        SINEW_TRY(find_joints());
        for (const std::size_t n : document_.rig.nodes.top_down) make_node(n);
        for (const std::size_t n : document_.rig.nodes.top_down) SINEW_TRY(make_mesh(n));
        make_bind_pose();
        SINEW_TRY_LET(const double seconds, make_fbx_clips(making_, animated_));
        return file_.bytes(metres_, seconds);
    }

    std::vector<std::string>& notes() { return making_.notes; }

private:
    const NodeTree& nodes() const { return document_.rig.nodes; }

    Status find_joints() {
        is_joint_.assign(document_.count("nodes"), 0);
        AccessorReader accessors(document_);
        for (std::size_t s = 0; s < document_.count("skins"); ++s) {
            const Json& json = *document_.at("skins", s);
            Skin& skin = skins_.emplace_back();
            for (const Json& joint : json["joints"])
                if (const auto node = whole(&joint); node && *node < is_joint_.size()) {
                    skin.joints.push_back(*node);
                    is_joint_[*node] = 1;
                }
            skin.to_joint.resize(skin.joints.size());
            if (const auto accessor = whole(member(json, "inverseBindMatrices"))) {
                SINEW_TRY_LET(const Elements read, accessors.read(*accessor, "skin " + std::to_string(s)));
                const std::vector<float> values = as_floats(read, false);
                for (std::size_t j = 0; j < std::min(skin.joints.size(), values.size() / 16); ++j)
                    for (std::size_t k = 0; k < 16; ++k) skin.to_joint[j].m[k] = double{values[16 * j + k]};
            }
            skin.place = place_of(skin);
            for (std::size_t j = 0; j < skin.joints.size(); ++j)
                skin.bind.push_back(skin.place * inverse(skin.to_joint[j]).value_or(Matrix{}));
        }
        // Nodes between joints are joints for programs that know no others.
        for (std::size_t n = 0; n < is_joint_.size(); ++n) {
            if (!is_joint_[n]) continue;
            std::vector<std::size_t> between;
            for (std::size_t up = nodes().parent[n]; up != Rig::no_node; up = nodes().parent[up]) {
                if (is_joint_[up]) {
                    for (const std::size_t node : between) is_joint_[node] = 1;
                    break;
                }
                between.push_back(up);
            }
        }
        return Done{};
    }

    struct Skin {
        std::vector<std::size_t> joints;
        std::vector<Matrix> to_joint, bind;  // of each joint
        Matrix place;                        // of its meshes
    };

    /// Where most joints at rest show the space of the skin's meshes.
    Matrix place_of(const Skin& skin) const {
        std::vector<Matrix> shown;
        for (std::size_t j = 0; j < skin.joints.size(); ++j)
            if (inverse(skin.to_joint[j])) shown.push_back(nodes().world[skin.joints[j]] * skin.to_joint[j]);
        std::size_t best = 0, most = 0;
        for (std::size_t a = 0; a < shown.size(); ++a) {
            const auto same = static_cast<std::size_t>(
                std::count_if(shown.begin(), shown.end(), [&](const Matrix& b) { return agree(shown[a], b); }));
            if (same > most) most = same, best = a;
        }
        return shown.empty() || !inverse(shown[best]) ? Matrix{} : shown[best];
    }

    FbxBuilder::Id model(const std::string& name, const char* kind, const Matrix& local, FbxBuilder::Id parent) {
        const FbxBuilder::Object out = file_.object("Model", name, "Model", kind);
        file_.add(*out.record, "Version", {std::int32_t{232}});
        FbxRecord& list = file_.properties(*out.record);
        const Trs trs = decompose(local);
        const auto triple = [&](const char* property, const std::array<double, 3>& v) {
            file_.property(list, property, property, {v[0], v[1], v[2]});
        };
        triple("Lcl Translation", {trs.t[0] * making_.scale, trs.t[1] * making_.scale, trs.t[2] * making_.scale});
        triple("Lcl Rotation", fbx_angles(trs.q));
        triple("Lcl Scaling", trs.s);
        file_.property(list, "InheritType", "enum", {std::int32_t{1}});  // as nodes of glTF
        file_.property(list, "DefaultAttributeIndex", "int", {std::int32_t{0}});
        file_.add(*out.record, "Culling", {std::string("CullingOff")});
        file_.connect(out.id, parent);
        if (kind != std::string_view("Mesh") && kind != std::string_view("Camera")) {
            const bool limb = kind == std::string_view("LimbNode");
            const FbxBuilder::Object attribute = file_.object("NodeAttribute", name, "NodeAttribute", kind);
            file_.add(*attribute.record, "TypeFlags", {std::string(limb ? "Skeleton" : "Null")});
            file_.connect(attribute.id, out.id);
        }
        return out.id;
    }

    /// Whether the node is no more than the place of a skinned mesh, which FBX puts elsewhere.
    bool only_skinned_mesh(std::size_t node) const {
        const Json& json = *document_.at("nodes", node);
        return !is_joint_[node] && nodes().children[node].empty() && member(json, "mesh") && member(json, "skin");
    }

    void make_node(std::size_t node) {
        const std::size_t above = nodes().parent[node];
        FbxAnimated& made = animated_[node];
        if (only_skinned_mesh(node)) return;
        const Json& json = *document_.at("nodes", node);
        const bool mesh = member(json, "mesh") && !member(json, "skin") && !is_joint_[node];
        made.model =
            model(node_name(document_, node),
                  is_joint_[node] ? "LimbNode"
                  : mesh          ? "Mesh"
                                  : "Null",
                  nodes().local[node], above == Rig::no_node ? FbxBuilder::kScene : animated_[above].model);
        if (const Json* const camera = document_.at("cameras", whole_or(json, "camera", none).value_or(none)))
            make_camera(*camera, node_name(document_, node) + " camera", made.model);
    }

    /// glTF looks along -z and FBX along x: a node of its own, turned.
    void make_camera(const Json& json, const std::string& name, FbxBuilder::Id parent) {
        const bool flat = string_of(member(json, "type")) == "orthographic";
        const Json* const found = member(json, flat ? "orthographic" : "perspective");
        const Json nothing = Json::object();
        const auto number = [&](const char* key, double otherwise) {
            const Json* const value = member(found ? *found : nothing, key);
            return value && value->is_number() ? value->get<double>() : otherwise;
        };
        Matrix turn;
        turn(0, 0) = turn(2, 2) = 0;
        turn(0, 2) = 1, turn(2, 0) = -1;
        const FbxBuilder::Id place = model(name, "Camera", turn, parent);
        const FbxBuilder::Object lens = file_.object("NodeAttribute", name, "NodeAttribute", "Camera");
        file_.add(*lens.record, "TypeFlags", {std::string("Camera")});
        file_.add(*lens.record, "GeometryVersion", {std::int32_t{124}});
        FbxRecord& list = file_.properties(*lens.record);
        constexpr double inch = 25.4, film = 24;  // millimetres; of the height of the picture
        const double aspect = number("aspectRatio", flat ? number("xmag", 1) / number("ymag", 1) : 16.0 / 9);
        const double high = number("yfov", 0.7);
        // Their last bits differ between C libraries.
        const auto rounded = [](double v) { return double{static_cast<float>(v)}; };
        const double degrees = 180 / std::numbers::pi, focal = rounded(film / 2 / std::tan(high / 2));
        for (const auto& [key, value] :
             {std::pair("AspectWidth", aspect * 1000), std::pair("AspectHeight", 1000.0),
              std::pair("FilmWidth", aspect * film / inch), std::pair("FilmHeight", film / inch),
              std::pair("FilmAspectRatio", aspect), std::pair("FocalLength", focal),
              std::pair("NearPlane", number("znear", 0.01) * making_.scale),
              std::pair("FarPlane", number("zfar", 1000) * making_.scale),
              std::pair("OrthoZoom", 2 * number("xmag", 1) * making_.scale)})
            file_.property(list, key, "double", {value});
        file_.property(list, "FieldOfView", "FieldOfView",
                       {rounded(2 * std::atan(aspect * film / 2 / focal) * degrees)});
        file_.property(list, "ApertureMode", "enum", {std::int32_t{3}});  // by the focal length
        file_.property(list, "CameraProjectionType", "enum", {std::int32_t{flat}});
        file_.connect(lens.id, place);
    }

    Status make_mesh(std::size_t node) {
        const Json& json = *document_.at("nodes", node);
        const auto mesh = whole(member(json, "mesh"));
        if (!mesh || *mesh >= document_.count("meshes")) return Done{};
        const auto skin = whole(member(json, "skin"));
        const bool skinned = skin && *skin < skins_.size();
        std::vector<double> weights = numbers_of(json, "weights");
        if (weights.empty()) weights = numbers_of(document_.mesh(*mesh), "weights");
        FbxBuilder::Id place = animated_[node].model;
        const std::string name = name_of(document_.mesh(*mesh), "mesh", *mesh);
        if (skinned)
            place = model(only_skinned_mesh(node) ? node_name(document_, node) : name, "Mesh", skins_[*skin].place,
                          FbxBuilder::kScene);
        else if (is_joint_[node])
            place = model(name, "Mesh", Matrix{}, animated_[node].model);
        // Meshes with skins or shapes of their own are written once for each node.
        const bool shared = !skinned && weights.empty();
        const auto known = shared ? meshes_.find(*mesh) : meshes_.end();
        if (known != meshes_.end()) {
            file_.connect(known->second.geometry, place);
            connect_materials(known->second, place);
            return Done{};
        }
        SINEW_TRY_LET(FbxMadeMesh made,
                      make_fbx_mesh(making_, *mesh, skinned ? skins_[*skin].joints.size() : 0, weights));
        file_.connect(made.geometry, place);
        connect_materials(made, place);
        animated_[node].shapes = made.shapes;
        if (skinned) {
            make_skin(skins_[*skin], made, name);
            bind_pose_.emplace_back(place, skins_[*skin].place);
        }
        if (shared) meshes_.emplace(*mesh, std::move(made));
        return Done{};
    }

    void make_skin(const Skin& skin, const FbxMadeMesh& mesh, const std::string& name) {
        const FbxBuilder::Object all = file_.object("Deformer", name, "Deformer", "Skin");
        file_.add(*all.record, "Version", {std::int32_t{101}});
        file_.add(*all.record, "Link_DeformAcuracy", {50.0});
        if (!mesh.dual_quaternion.empty()) {
            file_.add(*all.record, "SkinningType", {std::string("Blend")});
            std::vector<std::int32_t> points;
            for (std::size_t p = 0; p < mesh.dual_quaternion.size(); ++p)
                points.push_back(static_cast<std::int32_t>(p));
            file_.add(*all.record, "Indexes", {std::move(points)});
            file_.add(*all.record, "BlendWeights", {mesh.dual_quaternion});
        }
        file_.connect(all.id, mesh.geometry);
        for (std::size_t j = 0; j < skin.joints.size(); ++j) {
            const FbxBuilder::Object cluster = file_.object(
                "Deformer", name + " " + node_name(document_, skin.joints[j]), "SubDeformer", "Cluster");
            FbxRecord& record = *cluster.record;
            file_.add(record, "Version", {std::int32_t{100}});
            file_.add(record, "UserData", {std::string(), std::string()});
            if (!mesh.weights[j].first.empty()) {
                file_.add(record, "Indexes", {mesh.weights[j].first});
                file_.add(record, "Weights", {mesh.weights[j].second});
            }
            file_.add(record, "Transform", {list_of(making_.scaled(skin.to_joint[j]))});
            file_.add(record, "TransformLink", {list_of(making_.scaled(skin.bind[j]))});
            file_.add(record, "TransformAssociateModel", {list_of(making_.scaled(above_joints(skin.joints[j])))});
            file_.connect(cluster.id, all.id);
            file_.connect(animated_[skin.joints[j]].model, cluster.id);
        }
    }

    /// Where the node stands from which a joint's chain hangs. Blender makes it the armature, and puts the mesh
    /// where this says.
    Matrix above_joints(std::size_t node) const {
        while (node != Rig::no_node && is_joint_[node]) node = nodes().parent[node];
        return node == Rig::no_node ? Matrix{} : nodes().world[node];
    }

    static std::vector<double> list_of(const Matrix& m) { return {m.m.begin(), m.m.end()}; }

    void make_bind_pose() {
        if (bind_pose_.empty()) return;
        std::map<std::size_t, Matrix> bound;  // of joints: by the first skin that has them
        for (const Skin& skin : skins_)
            for (std::size_t j = 0; j < skin.joints.size(); ++j) bound.emplace(skin.joints[j], skin.bind[j]);
        for (std::size_t n = 0; n < is_joint_.size(); ++n)
            if (is_joint_[n] && !bound.contains(n)) bound.emplace(n, nodes().world[n]);
        for (const auto& [node, matrix] : bound) bind_pose_.emplace_back(animated_[node].model, matrix);
        const FbxBuilder::Object pose = file_.object("Pose", "bind pose", "Pose", "BindPose");
        file_.add(*pose.record, "Type", {std::string("BindPose")});
        file_.add(*pose.record, "Version", {std::int32_t{100}});
        file_.add(*pose.record, "NbPoseNodes", {static_cast<std::int32_t>(bind_pose_.size())});
        for (const auto& [model, matrix] : bind_pose_) {
            FbxRecord& node = file_.add(*pose.record, "PoseNode", {}, true);
            file_.add(node, "Node", {model});
            file_.add(node, "Matrix", {list_of(making_.scaled(matrix))});
        }
    }

    // ---- materials

    void connect_materials(const FbxMadeMesh& mesh, FbxBuilder::Id model) {
        for (const std::size_t material : mesh.materials) file_.connect(material_of(material), model);
    }

    FbxBuilder::Id material_of(std::size_t number) {
        const auto [found, added] = materials_.emplace(number, 0);
        if (!added) return found->second;
        const Json* const json = number == none ? nullptr : document_.at("materials", number);
        const Json nothing = Json::object();
        const Json& own = json ? *json : nothing;
        const Json* const metal = member(own, "pbrMetallicRoughness");
        const Json& pbr = metal ? *metal : nothing;
        const FbxBuilder::Object out =
            file_.object("Material", json ? name_of(own, "material", number) : "none", "Material", "");
        found->second = out.id;
        file_.add(*out.record, "Version", {std::int32_t{102}});
        file_.add(*out.record, "ShadingModel", {std::string("phong")});
        file_.add(*out.record, "MultiLayer", {std::int32_t{0}});
        FbxRecord& list = file_.properties(*out.record);
        const auto numbers = [](const Json& from, const char* key, std::vector<double> otherwise) {
            const std::vector<double> read = numbers_of(from, key);
            return read.size() == otherwise.size() ? read : otherwise;
        };
        const auto one = [](const Json& from, const char* key, double otherwise) {
            const Json* const value = member(from, key);
            return value && value->is_number() ? value->get<double>() : otherwise;
        };
        const auto base = numbers(pbr, "baseColorFactor", {1, 1, 1, 1});
        const auto emissive = numbers(own, "emissiveFactor", {0, 0, 0});
        file_.property(list, "DiffuseColor", "Color", {base[0], base[1], base[2]});
        file_.property(list, "DiffuseFactor", "Number", {1.0});
        file_.property(list, "EmissiveColor", "Color", {emissive[0], emissive[1], emissive[2]});
        file_.property(list, "EmissiveFactor", "Number", {1.0});
        if (string_of(member(own, "alphaMode")) == "BLEND" || base[3] < 1) {
            file_.property(list, "TransparentColor", "Color", {1.0, 1.0, 1.0});
            file_.property(list, "TransparencyFactor", "Number", {1 - base[3]});
            file_.property(list, "Opacity", "double", {base[3]});
        }
        const double smooth = 10 * (1 - one(pbr, "roughnessFactor", 1));
        file_.property(list, "Shininess", "double", {smooth * smooth});
        file_.property(list, "ShininessExponent", "Number", {smooth * smooth});
        file_.property(list, "ReflectionFactor", "Number", {one(pbr, "metallicFactor", 1)});
        if (member(pbr, "baseColorTexture") && base[0] * base[1] * base[2] < 1)
            making_.notes.push_back(
                "material " + in_quotes(name_of(own, "material", number)) +
                ": FBX has the colour or the picture, so the picture is shown without the colour");
        connect_texture(member(pbr, "baseColorTexture"), out.id, "DiffuseColor");
        connect_texture(member(own, "normalTexture"), out.id, "NormalMap");
        connect_texture(member(own, "emissiveTexture"), out.id, "EmissiveColor");
        return out.id;
    }

    void connect_texture(const Json* use, FbxBuilder::Id material, const std::string& property) {
        const Json* const texture =
            use ? document_.at("textures", whole_or(*use, "index", none).value_or(none)) : nullptr;
        const auto image = texture ? whole(member(*texture, "source")) : std::nullopt;
        const Json* const json = image ? document_.at("images", *image) : nullptr;
        if (!json) return;
        if (has_extension(*use, "KHR_texture_transform"))
            making_.notes.push_back("a texture is written without its offset and scale (KHR_texture_transform)");
        const auto [found, added] = videos_.emplace(*image, 0);
        const std::string name = name_of(*json, "image", *image);
        if (added) found->second = video_of(*json, name, file_names_[*image]);
        const FbxBuilder::Object out = file_.object("Texture", name, "Texture", "");
        file_.add(*out.record, "Type", {std::string("TextureVideoClip")});
        file_.add(*out.record, "Version", {std::int32_t{202}});
        file_.add(*out.record, "TextureName", {name});
        file_.add(*out.record, "FileName", {file_names_[*image]});
        file_.add(*out.record, "RelativeFilename", {file_names_[*image]});
        file_.connect(out.id, material, property);
        if (found->second) file_.connect(found->second, out.id);
    }

    /// The picture in the file; 0 where it has none. Sets the name of its file.
    FbxBuilder::Id video_of(const Json& json, const std::string& name, std::string& file_name) {
        std::vector<std::byte> bytes;
        const std::string uri = string_of(member(json, "uri"));
        if (const auto view = whole(member(json, "bufferView"))) {
            const auto read = document_.view_bytes(*view);
            bytes.assign(read.begin(), read.end());
        } else if (const auto comma = uri.find(";base64,"); uri.starts_with("data:") && comma != uri.npos) {
            if (auto read = decode_base64(std::string_view(uri).substr(comma + 8))) bytes = std::move(*read);
        }
        const std::string kind = image_kind(bytes);
        const std::string end = kind == "image/jpeg" ? ".jpg" : kind == "image/webp" ? ".webp" : ".png";
        file_name = bytes.empty() && !uri.starts_with("data:") ? uri : name + (name.ends_with(end) ? "" : end);
        if (bytes.empty()) return 0;
        if (kind != "image/png" && kind != "image/jpeg")
            making_.notes.push_back("picture " + in_quotes(name) + " is " +
                                    (kind.empty() ? "of no known kind" : kind) +
                                    ": few programs read it in an FBX");
        const FbxBuilder::Object out = file_.object("Video", name, "Video", "Clip");
        file_.add(*out.record, "Type", {std::string("Clip")});
        FbxRecord& list = file_.properties(*out.record);
        file_.property(list, "Path", "KString", {file_name});
        file_.add(*out.record, "UseMipMap", {std::int32_t{0}});
        file_.add(*out.record, "Filename", {file_name});
        file_.add(*out.record, "RelativeFilename", {file_name});
        file_.add(*out.record, "Content", {std::move(bytes)});
        return out.id;
    }

    FbxMaking making_;
    const Document& document_;
    FbxBuilder& file_;
    double metres_;
    std::vector<Skin> skins_;
    std::vector<std::uint8_t> is_joint_;           // of nodes
    std::map<std::size_t, FbxAnimated> animated_;  // by node
    std::map<std::size_t, FbxMadeMesh> meshes_;    // that nodes may share
    std::map<std::size_t, FbxBuilder::Id> materials_, videos_;
    std::map<std::size_t, std::string> file_names_;  // of images
    std::vector<std::pair<FbxBuilder::Id, Matrix>> bind_pose_;
};

}  // namespace

Result<SavedFile> make_fbx(std::span<const std::byte> glb, const std::string& name,
                           const std::shared_ptr<ModelFiles>& files, FbxUnit unit) {
    // Records and what is written from them hold numbers as doubles, and the document is there twice.
    HeldBytes held(*files);
    SINEW_TRY(held.take(8 * glb.size(), name + ": its FBX"));
    SINEW_TRY_LET(const std::shared_ptr<Document> document, parse_document(glb, name, files));
    SINEW_TRY(read_nodes(*document));
    FbxMaker maker(*document, unit == FbxUnit::m ? 1 : 0.01);
    SavedFile out;
    SINEW_TRY_LET(out.bytes, maker.make());
    out.report.notes = std::move(maker.notes());
    out.report.bytes = out.bytes.size();
    return out;
}

}  // namespace sinew::io
