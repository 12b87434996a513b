// New FBX files: read back, they show in every pose what the glTF file shows.
#include <gtest/gtest.h>

#include <cmath>

#include "gltf_maker.h"
#include "io/fbx_objects.h"
#include "io/fbx_write.h"
#include "sinew/deform.h"
#include "support.h"

namespace sinew::io::test_fbx_make {
namespace {

using namespace test;

/// The quad with what a character has: a turned and scaled rest pose, another one than the bind pose; normals,
/// texture coordinates that split a vertex, a colour and a picture, a shape and two clips.
Maker dressed_quad() {
    Maker m = quad();
    OrderedJson& quad = primitive(m);
    quad["attributes"]["NORMAL"] = m.vec3({0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1});
    quad["attributes"]["TEXCOORD_0"] = m.accessor<float>({0, 0.25f, 1, 0, 1, 1, 0, 1}, "VEC2", 2);
    quad["material"] = 0;
    quad["targets"] = OrderedJson::array({{{"POSITION", m.vec3({0, 0, 0, 0, 0, 0, 0, 0, 0.5f, 0, 0, 0})}}});
    m.json["meshes"][0]["weights"] = {0.25};
    m.json["meshes"][0]["extras"] = {{"targetNames", {"smile"}}};
    m.json["images"] = OrderedJson::array({{{"uri", "data:image/png;base64,iVBORw0KGgo="}, {"name", "cloth"}}});
    m.json["textures"] = OrderedJson::array({{{"source", 0}}});
    m.json["materials"] = OrderedJson::array({{{"name", "red"},
                                               {"emissiveFactor", {0, 0.5, 0}},
                                               {"pbrMetallicRoughness",
                                                {{"baseColorFactor", {1, 1, 1, 0.5}},
                                                 {"roughnessFactor", 0.75},
                                                 {"baseColorTexture", {{"index", 0}}}}}}});
    m.json["nodes"][1]["translation"] = {0.5, 0, -1};
    m.json["nodes"][1]["rotation"] = {0.1, 0.7, -0.1, 0.7};
    m.json["nodes"][1]["scale"] = {1, 2, 1};
    m.json["nodes"][2]["rotation"] = {0, 0, 0.6, 0.8};
    const auto times = m.scalar<float>({0, 0.5f, 2});
    const auto turns = m.vec4<float>({0, 0, 0, 1, 0, 0, 1, 0, 0.5f, 0.5f, 0.5f, 0.5f});
    const auto steps = m.vec3({0, 0.5f, 0, 0, 0.75f, 0, 0.25f, 0.5f, 0});
    m.json["animations"] =
        OrderedJson::array({{{"name", "wave"},
                             {"channels",
                              {{{"sampler", 0}, {"target", {{"node", 2}, {"path", "rotation"}}}},
                               {{"sampler", 1}, {"target", {{"node", 2}, {"path", "translation"}}}},
                               // Of the node of the skinned mesh, which nothing shows.
                               {{"sampler", 1}, {"target", {{"node", 0}, {"path", "translation"}}}}}},
                             {"samplers",
                              {{{"input", times}, {"output", turns}},
                               {{"input", times}, {"output", steps}, {"interpolation", "STEP"}}}}}});
    return m;
}

Scene back(const Scene& scene, const SaveOptions& options = {}) {
    const SavedFile file = must(write_fbx(*scene.document, scene, *scene.weights, options));
    EXPECT_EQ(file.report.notes, std::vector<std::string>()) << "nothing is left out";
    return must(load_bytes(file.bytes, "made.fbx"));
}

/// The objects of a file, which must outlive them.
struct Read {
    ModelFiles files;
    FbxFile fbx;
    std::vector<std::string> warnings;
    FbxObjects objects;

    explicit Read(const SavedFile& file)
        : fbx(must(FbxFile::parse(file.bytes, "made.fbx", files))),
          objects(must(FbxObjects::read(fbx, warnings))) {}
};

/// Where the file shows each vertex, in the world.
std::vector<Vec3> shown(const Scene& scene, std::optional<std::size_t> clip, double time) {
    const ScenePose pose = must(pose_at(scene, clip, time));
    std::vector<Vec3> out =
        must(deform({scene.positions, {}, {}, {}}, *scene.weights, pose.skinning, Skinning::linear_blend, nullptr))
            .positions;
    for (Vec3& p : out) {
        const Transform& w = pose.to_world;
        double q[3];
        for (std::size_t r = 0; r < 3; ++r)
            q[r] = w(r, 0) * double{p.x} + w(r, 1) * double{p.y} + w(r, 2) * double{p.z} + w(r, 3);
        p = {static_cast<float>(q[0]), static_cast<float>(q[1]), static_cast<float>(q[2])};
    }
    return out;
}

/// Every corner is at one place in both, triangle by triangle.
void expect_same_shape(const Scene& a, const Scene& b, std::optional<std::size_t> clip, double time,
                       double within) {
    ASSERT_EQ(a.triangles.size(), b.triangles.size());
    const auto at = shown(a, clip, time), to = shown(b, clip, time);
    for (std::size_t t = 0; t < a.triangles.size(); ++t)
        for (std::size_t k = 0; k < 3; ++k) {
            const Vec3 p = at[a.triangles[t][k]], q = to[b.triangles[t][k]];
            EXPECT_LE(std::hypot(p.x - q.x, p.y - q.y, p.z - q.z), within) << time << " " << t << " " << k;
        }
}

TEST(FbxMake, ShowsWhatTheSceneShows) {
    const Scene scene = must_read(dressed_quad());
    for (const FbxUnit unit : {FbxUnit::cm, FbxUnit::m}) {
        const Scene again = back(scene, {.fbx_unit = unit});
        ASSERT_TRUE(again.weights);
        std::vector<std::string> names;
        for (const Joint& joint : again.skeleton.joints) names.push_back(joint.name);
        EXPECT_EQ(names, (std::vector<std::string>{"hip", "knee"}));
        EXPECT_EQ(again.skeleton.joints[1].parent, 0);
        expect_same_shape(scene, again, std::nullopt, 0, 1e-5);
        ASSERT_EQ(must(clips(again)).size(), 1u);
        EXPECT_EQ(must(clips(again))[0].name, "wave");
        EXPECT_NEAR(must(clips(again))[0].end, 2, 1e-6);
        // Between keys, turns are lines of angles that are near to arcs.
        for (const double time : {0.0, 0.1, 0.3, 0.5, 0.9, 1.7, 2.0})
            expect_same_shape(scene, again, 0, time, 5e-4);
    }
}

TEST(FbxMake, KeepsTheWeightsOfEachCorner) {
    const Scene scene = must_read(dressed_quad()), again = back(scene);
    for (std::size_t t = 0; t < scene.triangles.size(); ++t)
        for (std::size_t k = 0; k < 3; ++k) {
            const auto a = (*scene.weights)[scene.triangles[t][k]], b = (*again.weights)[again.triangles[t][k]];
            ASSERT_EQ(a.size(), b.size());
            for (std::size_t i = 0; i < a.size(); ++i) {
                EXPECT_EQ(a[i].joint, b[i].joint);
                EXPECT_NEAR(a[i].weight, b[i].weight, 1e-7);
            }
        }
}

TEST(FbxMake, KeepsMaterialsPicturesAndShapes) {
    const Scene again = back(must_read(dressed_quad()));
    const Look look = must(look_of(again));
    ASSERT_EQ(look.materials.size(), 1u);
    EXPECT_EQ(again.primitives[0].material, "red");
    EXPECT_EQ(look.materials[0].colour, (std::array<float, 4>{1, 1, 1, 0.5f}));
    ASSERT_GE(look.materials[0].image, 0);
    EXPECT_EQ(look.images[static_cast<std::size_t>(look.materials[0].image)].mime, "image/png");
    const Json& material = (*again.document->at("materials", 0));
    EXPECT_NEAR(material["pbrMetallicRoughness"]["roughnessFactor"].get<double>(), 0.75, 1e-6);
    const Json& mesh = *again.document->at("meshes", 0);
    EXPECT_EQ(mesh["extras"]["targetNames"][0], "smile");
    EXPECT_NEAR(mesh["weights"][0].get<double>(), 0.25, 1e-6);
    const auto frames = must(shading_frames(again));
    ASSERT_EQ(frames.normals.size(), again.positions.size());
    for (const Vec3& n : frames.normals) EXPECT_NEAR(std::hypot(n.x, n.y, n.z), 1, 1e-6);
}

// Vertices that differ in texture coordinates only are one point of the mesh.
TEST(FbxMake, JoinsVerticesThatOnlySeamsDivide) {
    Maker m = quad();
    OrderedJson& json = primitive(m);
    json["attributes"]["POSITION"] = m.vec3({0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0});
    m.last_accessor()["min"] = {0, 0, 0};
    m.last_accessor()["max"] = {1, 1, 0};
    json["attributes"]["JOINTS_0"] = m.vec4<std::uint8_t>(std::vector<std::uint8_t>(24, 0));
    std::vector<float> weights(24, 0);
    for (std::size_t v = 0; v < 6; ++v) weights[4 * v] = 1;
    json["attributes"]["WEIGHTS_0"] = m.vec4<float>(weights);
    json["indices"] = m.scalar<std::uint16_t>({0, 1, 2, 3, 4, 5});
    const Scene scene = must_read(m);
    const SavedFile file = must(write_fbx(*scene.document, scene, *scene.weights, {}));
    const Read read(file);
    const FbxObjects& objects = read.objects;
    std::size_t points = 0;
    for (const FbxObjects::Object& object : objects.all())
        if (object.is("Geometry", "Mesh"))
            points = must(read.fbx.reals(*object.record->find("Vertices"))).size() / 3;
    EXPECT_EQ(points, 4u);
}

// The bytes do not depend on anything but the scene, and are those of their own records.
TEST(FbxMake, IsAFileOfItsRecords) {
    const Scene scene = must_read(dressed_quad());
    const SavedFile file = must(write_fbx(*scene.document, scene, *scene.weights, {}));
    EXPECT_EQ(file.bytes, must(write_fbx(*scene.document, scene, *scene.weights, {})).bytes);
    ModelFiles files;
    const FbxFile fbx = must(FbxFile::parse(file.bytes, "made.fbx", files));
    EXPECT_EQ(fbx.version(), 7500u);
    EXPECT_EQ(fbx.bytes(), file.bytes);
}

TEST(FbxMake, MovesModelsOnly) {
    const Scene scene = must_read(dressed_quad());
    const SavedFile file = must(write_fbx(*scene.document, scene, *scene.weights, {}));
    const Read read(file);
    const FbxObjects& objects = read.objects;
    for (const FbxObjects::Link& link : objects[FbxObjects::root].sources) EXPECT_EQ(link.property, "");
}

// The matrix of a joint without weights may be a placeholder, which would be none any more at another place.
TEST(FbxMake, JointsWithoutWeightsStandWhereTheSceneHasThem) {
    Maker m = quad();
    primitive(m)["attributes"]["JOINTS_0"] = m.vec4<std::uint8_t>({1, 2, 0, 0, 1, 2, 0, 0, 2, 0, 0, 0, 1, 2, 0, 0});
    m.json["skins"][0] = {{"inverseBindMatrices", m.accessor(bind_matrices({0, 0.25f, 0.5f}), "MAT4", 16)},
                          {"joints", {3, 1, 2}}};
    m.json["nodes"][1]["translation"] = {3, 4, 0};
    m.json["nodes"][2]["translation"] = {0, 0.25, 0};
    m.json["nodes"][1]["rotation"] = {0, 0, 0.6, 0.8};
    m.json["nodes"].push_back({{"name", "root"}, {"children", {1}}});
    m.json["scenes"][0]["nodes"] = {0, 3};
    for (const Scene& scene : {must_read(m), back(must_read(m))}) {
        const Vec3 root = scene.skeleton.joints[0].position, hip = scene.skeleton.joints[1].position;
        EXPECT_EQ(scene.skeleton.joints[1].name, "hip");
        EXPECT_NEAR(std::hypot(root.x - hip.x, root.y - hip.y, root.z - hip.z), 5, 1e-5);
    }
}

// Blender makes the node above the joints an armature, and turns the mesh by what is missing here.
TEST(FbxMake, ClustersSayWhereTheJointsHang) {
    Maker m = quad();
    m.json["nodes"].push_back(
        {{"name", "up"}, {"children", {1}}, {"rotation", {-0.6, 0, 0, 0.8}}, {"translation", {0, 2, 0}}});
    m.json["scenes"][0]["nodes"] = {0, 3};
    const Scene scene = must_read(m);
    const SavedFile file = must(write_fbx(*scene.document, scene, *scene.weights, {}));
    const Read read(file);
    const FbxObjects& objects = read.objects;
    std::size_t clusters = 0;
    for (std::size_t o = 1; o < objects.all().size(); ++o) {
        if (!objects[o].is("Deformer", "Cluster")) continue;
        ++clusters;
        const FbxRecord* const above = objects[o].record->find("TransformAssociateModel");
        ASSERT_TRUE(above);
        const std::vector<double> values = must(read.fbx.reals(*above));
        const Matrix node = scene.document->rig.nodes.world[3];
        for (std::size_t k = 0; k < 16; ++k) EXPECT_NEAR(values[k], node.m[k] * (k == 13 ? 100 : 1), 1e-6) << k;
    }
    EXPECT_EQ(clusters, 2u);
}

// A camera looks along -z in glTF and along x in FBX. Below a joint it is no end of a bone.
TEST(FbxMake, KeepsCameras) {
    Maker m = quad();
    m.json["cameras"] = OrderedJson::array(
        {{{"type", "perspective"},
          {"perspective", {{"yfov", 0.5}, {"aspectRatio", 1.5}, {"znear", 0.25}, {"zfar", 20}}}}});
    m.json["nodes"][2]["camera"] = 0;
    m.json["nodes"][2]["rotation"] = {0.6, 0, 0, 0.8};
    const Scene scene = must_read(m);
    const SavedFile file = must(write_fbx(*scene.document, scene, *scene.weights, {}));
    EXPECT_EQ(file.report.notes, std::vector<std::string>());
    const Read read(file);
    const FbxObjects& objects = read.objects;
    std::size_t cameras = 0;
    for (std::size_t o = 1; o < objects.all().size(); ++o) {
        if (!objects[o].is("NodeAttribute", "Camera")) continue;
        ++cameras;
        const double high = objects.number(o, "FilmHeight", 0) * 25.4;
        EXPECT_NEAR(2 * std::atan(high / 2 / objects.number(o, "FocalLength", 0)), 0.5, 1e-6);
        EXPECT_NEAR(objects.number(o, "FilmWidth", 0) * 25.4 / high, 1.5, 1e-9);
        EXPECT_NEAR(objects.number(o, "NearPlane", 0), 25, 1e-9);
        EXPECT_NEAR(objects.number(o, "FarPlane", 0), 2000, 1e-9);
        EXPECT_TRUE(objects[objects.target(o, "Model")].is("Model", "Camera"));
    }
    EXPECT_EQ(cameras, 1u);
    const Scene again = must(load_bytes(file.bytes, "made.fbx"));
    EXPECT_EQ(again.skeleton.joints.size(), 2u);
    const NodeTree& nodes = again.document->rig.nodes;
    for (std::size_t n = 0; n < nodes.world.size(); ++n) {
        if (again.document->at("nodes", n)->value("name", "") != "knee camera") continue;
        const Matrix &camera = nodes.world[n], &knee = nodes.world[nodes.parent[n]];
        for (std::size_t r = 0; r < 3; ++r) EXPECT_NEAR(camera(r, 0), -knee(r, 2), 1e-6);
    }
}

// A mesh without a skin keeps its node and its place, and two nodes may share it.
TEST(FbxMake, KeepsPropsAtTheirNodes) {
    Maker m = quad();
    m.json["meshes"].push_back(
        {{"name", "hat"},
         {"primitives",
          OrderedJson::array({{{"attributes", {{"POSITION", m.vec3({0, 0, 0, 1, 0, 0, 0, 1, 0})}}}}})}});
    m.json["nodes"].push_back({{"name", "left hat"}, {"mesh", 1}, {"translation", {3, 0, 0}}});
    m.json["nodes"].push_back({{"name", "right hat"}, {"mesh", 1}, {"translation", {-3, 0, 0}}});
    m.json["scenes"][0]["nodes"] = {0, 1, 3};
    m.json["nodes"][2]["children"] = {4};
    const Scene again = back(must_read(m));
    const Document& document = *again.document;
    std::map<std::string, std::array<double, 3>> places;
    for (std::size_t n = 0; n < document.count("nodes"); ++n) {
        const Matrix& world = document.rig.nodes.world[n];
        places[document.at("nodes", n)->value("name", "")] = {world(0, 3), world(1, 3), world(2, 3)};
    }
    EXPECT_NEAR(places.at("left hat")[0], 3, 1e-5);
    EXPECT_NEAR(places.at("right hat")[0], -3, 1e-5);
    EXPECT_NEAR(places.at("right hat")[1], 0.5, 1e-5);
}

}  // namespace
}  // namespace sinew::io::test_fbx_make
