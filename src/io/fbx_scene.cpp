// An FBX file as a foreign scene. Objects are found by their ids: names may repeat.
#include <cmath>
#include <map>

#include "core/try.h"
#include "io/fbx_clips.h"
#include "io/fbx_materials.h"
#include "io/fbx_meshes.h"
#include "io/fbx_nodes.h"
#include "io/fbx_objects.h"
#include "io/foreign.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

Matrix fbx_matrix(const Trs& trs) { return compose(trs.t, trs.q, trs.s); }

class FbxSceneReader {
public:
    FbxSceneReader(const FbxObjects& objects, ForeignScene scene, ModelFiles& files)
        : objects_(objects), files_(files), out_(std::move(scene)), materials_(objects, out_, files) {}

    Result<ForeignScene> read() {
        read_space();
        nodes_ = FbxNodes::read(objects_, out_.warnings);
        SINEW_TRY_LET(out_.clips, read_fbx_clips(objects_, nodes_, files_, out_.warnings));
        write_nodes();
        SINEW_TRY(read_meshes());
        name_what_is_left();
        return std::move(out_);
    }

private:
    static constexpr std::size_t missing = FbxObjects::missing;

    /// Unit and axes.
    void read_space() {
        out_.metres = 0.01 * objects_.setting("UnitScaleFactor", 1);
        if (!(out_.metres > 0) || !std::isfinite(out_.metres)) {
            out_.warnings.push_back("UnitScaleFactor is not a positive number: centimetres are assumed");
            out_.metres = 0.01;
        }
        const auto axis = [&](const char* name, const char* sign, double otherwise) {
            std::array<double, 3> out{};
            const double number = objects_.setting(name, otherwise);
            if (number == 0 || number == 1 || number == 2)
                out[static_cast<std::size_t>(number)] = objects_.setting(sign, 1) < 0 ? -1 : 1;
            return out;
        };
        const auto right = axis("CoordAxis", "CoordAxisSign", 0), up = axis("UpAxis", "UpAxisSign", 1);
        const auto front = axis("FrontAxis", "FrontAxisSign", 2);
        // The third axis follows from the other two: a scene is never mirrored.
        double along = 0, size = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
            out_.turn(0, k) = right[k];
            out_.turn(1, k) = up[k];
            out_.turn(2, k) = right[i] * up[j] - right[j] * up[i];
            along += out_.turn(2, k) * front[k];
            size += std::abs(right[k]) + std::abs(up[k]) + std::abs(out_.turn(2, k));
        }
        if (size != 3) {
            out_.warnings.push_back("the axes of the file are not at right angles: y is taken as up");
            out_.turn = Matrix{};
        } else if (along < 0) {
            out_.warnings.push_back("the axes of the file are left-handed: they are taken as right-handed");
        }
    }

    void write_nodes() {
        numbers_ = nodes_.numbers();
        const std::vector<FbxLocal> places = nodes_.place(nodes_.rest());
        for (std::size_t n = 0; n < nodes_.nodes.size(); ++n) {
            const FbxNodes::Node& node = nodes_.nodes[n];
            std::size_t parent = n == 0 ? Rig::no_node : numbers_[node.parent];
            const std::string& name = objects_[node.object].name;
            if (places[n].compensation) {
                out_.nodes.push_back({name + "_scale", parent, fbx_matrix(*places[n].compensation), {}, 0, true});
                parent = out_.nodes.size() - 1;
            }
            const FbxObjects::Object& object = objects_[node.object];
            const bool view = object.is("Model", "Camera") || object.is("Model", "Light");
            out_.nodes.push_back({name, parent, fbx_matrix(places[n].own), {}, node.object, view, node.geometry});
        }
    }

    Status read_meshes() {
        struct Made {
            std::vector<std::size_t> meshes;
            std::optional<Matrix> bind;
            std::size_t bytes = 0;
        };
        std::map<std::pair<std::size_t, std::vector<std::size_t>>, Made>
            made;  // geometry and materials of the model
        for (std::size_t n = 1; n < nodes_.nodes.size(); ++n) {
            const std::size_t model = nodes_.nodes[n].object;
            std::vector<std::size_t> materials, geometries;
            if (has_polygons(objects_[model])) geometries.push_back(model);
            for (const FbxObjects::Link& link : objects_[model].sources) {
                if (objects_[link.object].is("Material")) materials.push_back(link.object);
                if (has_polygons(objects_[link.object]) && !objects_[link.object].is("Model"))
                    geometries.push_back(link.object);
            }
            ForeignNode& node = out_.nodes[numbers_[n]];
            for (const std::size_t geometry : geometries) {
                const auto [found, added] = made.emplace(std::pair(geometry, materials), Made{});
                Made& mesh = found->second;
                if (added) {
                    SINEW_TRY_LET(FbxGeometry read,
                                  read_fbx_geometry(objects_, geometry, materials.size(), files_, out_.warnings));
                    mesh.bind = read.bind;
                    for (ForeignMesh& part : read.parts) {
                        part.material = part.material < materials.size()
                                            ? materials_.number(materials[part.material], model)
                                            : ForeignMaterial::none;
                        for (ForeignBone& bone : part.bones) {
                            const std::size_t at =
                                bone.node == missing ? missing : nodes_.node_of_object[bone.node];
                            bone.node = at == missing ? ForeignBone::missing : numbers_[at];
                        }
                        mesh.bytes += part.triangles.size() * (1500 + 300 * part.targets.size());
                        mesh.meshes.push_back(out_.meshes.size());
                        out_.meshes.push_back(std::move(part));
                    }
                } else {
                    // A mesh with a skin is written once for each of its nodes.
                    SINEW_TRY(files_.take(mesh.bytes, "node '" + printable(node.name) + "'"));
                }
                node.meshes.insert(node.meshes.end(), mesh.meshes.begin(), mesh.meshes.end());
                if (mesh.bind) node.bind = mesh.bind;
            }
        }
        return Done{};
    }

    void name_what_is_left() {
        std::size_t surfaces = 0, views = 0;
        for (std::size_t o = 1; o < objects_.all().size(); ++o) {
            const FbxObjects::Object& object = objects_[o];
            surfaces += object.is("Geometry") && object.kind != "Shape" && !has_polygons(object);
            views += object.is("NodeAttribute", "Camera") || object.is("NodeAttribute", "Light") ||
                     object.is("Model", "Camera") || object.is("Model", "Light");
        }
        if (surfaces)
            out_.warnings.push_back(std::to_string(surfaces) +
                                    " geometries of the file are not polygon meshes: left out");
        if (views) out_.warnings.push_back("cameras and lights of the file are left out");
    }

    const FbxObjects& objects_;
    ModelFiles& files_;
    ForeignScene out_;
    FbxNodes nodes_;
    std::vector<std::size_t> numbers_;  // of nodes, in the result
    FbxMaterials materials_;
};

}  // namespace

Result<ForeignScene> read_fbx(const FileBytes& bytes, const std::string& name, ModelFiles& files) {
    SINEW_TRY_LET(const FbxFile file, FbxFile::parse(bytes.bytes, name, files));
    if (!bytes.owner) SINEW_TRY(files.take(bytes.bytes.size(), name));
    ForeignScene scene;
    scene.fbx = std::make_shared<FbxOrigin>();
    scene.fbx->bytes = bytes.kept();
    SINEW_TRY_LET(const FbxObjects objects, FbxObjects::read(file, scene.warnings));
    return FbxSceneReader(objects, std::move(scene), files).read();
}

}  // namespace sinew::io
