// FBX files with new weights: nothing else in them changes.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "io/fbx_objects.h"
#include "io/fbx_write.h"
#include "sinew/io.h"
#include "support.h"

namespace sinew::io::test_fbx_save {
namespace {

using test::must;
using test::Rows;

std::vector<std::byte> saved(const Scene& scene, const SkinWeights& weights) {
    return must(write_fbx(*scene.document, scene, weights, {})).bytes;
}

Scene read(std::span<const std::byte> bytes) { return must(load_bytes(bytes, "made.fbx")); }

/// Rows of weights that differ from the file's: each vertex half on joint 0, half on another one.
SkinWeights halves(const Scene& scene) {
    Rows out;
    const auto joints = static_cast<std::uint32_t>(scene.skeleton.joints.size());
    for (std::size_t v = 0; v < scene.positions.size(); ++v) {
        const Vec3& p = scene.positions[v];
        // The same at one place, as a bind has it.
        const auto other =
            static_cast<std::uint32_t>(std::abs(std::lround(1001 * (p.x + 2 * p.y + 3 * p.z)))) % joints;
        if (scene.skin_of_vertex.empty()) {
            out.push_back(other == 0 ? std::vector<Influence>{{0, 1.f}}
                                     : std::vector<Influence>{{0, 0.5f}, {other, 0.5f}});
        } else {
            const auto& skin = scene.skeleton.skins[scene.skin_of_vertex[v]];
            const std::uint32_t a = skin[0], b = skin[other % skin.size()];
            out.push_back(a == b ? std::vector<Influence>{{a, 1.f}} : std::vector<Influence>{{a, 0.5f}, {b, 0.5f}});
        }
    }
    return test::weights_of(out);
}

/// All records, by their order, without those that a save may change: the bytes of their own values.
void flatten(const FbxRecord& record, std::string path, std::vector<std::pair<std::string, std::string>>& to) {
    path += "/" + std::string(record.name);
    std::string values(reinterpret_cast<const char*>(record.head.data()), record.head.size());
    to.emplace_back(path, values);
    for (const FbxRecord& inner : record.records) flatten(inner, path, to);
}

/// Checks that `after` has all records of `before` in their order; but weights of clusters may differ, and what is
/// added is Deformers and connections.
void expect_only_skins_differ(std::span<const std::byte> before, std::span<const std::byte> after) {
    ModelFiles files;
    const FbxFile a = must(FbxFile::parse(before, "a", files)), b = must(FbxFile::parse(after, "b", files));
    EXPECT_EQ(a.version(), b.version());
    EXPECT_EQ(a.binary(), b.binary());
    std::vector<std::pair<std::string, std::string>> old, now;
    for (const FbxRecord& record : a.root().records) flatten(record, "", old);
    for (const FbxRecord& record : b.root().records) flatten(record, "", now);
    const auto may_change = [](const std::string& path) {
        return path.ends_with("/Deformer/Indexes") || path.ends_with("/Deformer/Weights");
    };
    std::erase_if(old, [&](const auto& one) { return may_change(one.first); });
    std::erase_if(now, [&](const auto& one) { return may_change(one.first); });
    std::size_t at = 0;
    for (const auto& one : now) {
        if (at < old.size() && one == old[at])
            ++at;
        else
            EXPECT_TRUE(one.first.starts_with("/Objects/Deformer") || one.first.starts_with("/Connections/C"))
                << one.first << " is new or changed";
    }
    EXPECT_EQ(at, old.size()) << "a record is lost: " << (at < old.size() ? old[at].first : "");
}

void expect_same_weights(const Scene& scene, const SkinWeights& wanted, const Scene& again) {
    ASSERT_EQ(again.positions.size(), scene.positions.size());
    double gap = 0;
    for (std::size_t v = 0; v < scene.positions.size(); ++v) {
        const Vec3 &p = scene.positions[v], &q = again.positions[v];
        gap = std::max(gap, double{std::abs(p.x - q.x) + std::abs(p.y - q.y) + std::abs(p.z - q.z)});
    }
    EXPECT_LT(gap, 1e-5);
    ASSERT_EQ(again.skeleton.joints.size(), scene.skeleton.joints.size());
    ASSERT_TRUE(again.weights);
    std::size_t wrong = 0;
    for (std::size_t v = 0; v < scene.positions.size(); ++v)
        for (std::uint32_t j = 0; j < scene.skeleton.joints.size(); ++j)
            wrong += std::abs(test::weight_of(wanted, v, j) - test::weight_of(*again.weights, v, j)) > 1e-6f;
    EXPECT_EQ(wrong, 0u);
    for (std::size_t j = 0; j < scene.skeleton.joints.size(); ++j) {
        const Vec3 &p = scene.skeleton.joints[j].position, &q = again.skeleton.joints[j].position;
        EXPECT_NEAR(std::abs(p.x - q.x) + std::abs(p.y - q.y) + std::abs(p.z - q.z), 0, 1e-5) << j;
    }
}

constexpr std::string_view kObjects = R"(Geometry: 2, "Geometry::body", "Mesh" {
		Vertices: *12 {
			a: 0,0,0,100,0,0,0,100,0,0,0,100
		}
		PolygonVertexIndex: *12 {
			a: 0,2,-2,0,1,-4,1,2,-4,0,3,-3
		}
	}
	Model: 1, "Model::body", "Mesh" {
	}
	Model: 10, "Model::a", "LimbNode" {
	}
	Model: 11, "Model::b", "LimbNode" {
		Properties70: {
			P: "Lcl Translation", "Lcl Translation", "", "A",0,50,0
		}
	})";

std::string text(const std::string& skin, const std::string& links) {
    return "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n\tFBXVersion: 7400\n}\n\nObjects:  {\n\t" +
           std::string(kObjects) + skin +
           "\n}\n\n; Connections\nConnections:  {\n\t;Model::body\n\tC: \"OO\",1,0\n\tC: \"OO\",10,0\n\tC: "
           "\"OO\",11,10\n\tC: \"OO\",2,1" +
           links + "\n}\n; the end\n";
}

const std::string kSkin = R"(
	Deformer: 20, "Deformer::", "Skin" {
		Version: 101
	}
	Deformer: 21, "SubDeformer::", "Cluster" {
		Version: 100
		UserData: "", ""
		Indexes: *4 {
			a: 0,1,2,3
		}
		Weights: *4 {
			a: 1,1,1,1
		}
		Transform: *16 {
			a: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1
		}
		TransformLink: *16 {
			a: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1
		}
		TransformAssociateModel: *16 {
			a: 0,1,0,0,-1,0,0,0,0,0,1,0,7,0,0,1
		}
	})";
const std::string kLinks = "\n\tC: \"OO\",20,2\n\tC: \"OO\",21,20\n\tC: \"OO\",10,21";

TEST(FbxSave, NothingToChangeGivesTheSameBytes) {
    const std::string file = text(kSkin, kLinks);
    const auto bytes = std::as_bytes(std::span(file));
    const Scene scene = read(bytes);
    const auto out = saved(scene, *scene.weights);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(out.data()), out.size()), file);
}

TEST(FbxSave, ChangesClustersAndAddsThoseThatAreMissing) {
    const std::string file = text(kSkin, kLinks);
    const auto bytes = std::as_bytes(std::span(file));
    const Scene scene = read(bytes);
    ASSERT_EQ(scene.skeleton.joints.size(), 2u);  // b has no cluster, but is the end of a
    const SkinWeights weights = halves(scene);
    const auto out = saved(scene, weights);
    expect_only_skins_differ(bytes, out);
    const Scene again = read(out);
    expect_same_weights(scene, weights, again);
    EXPECT_NEAR(again.skeleton.joints[1].position.y, 0.5, 1e-6);
    // The new cluster names the same armature as the one beside it.
    ModelFiles files;
    const FbxFile fbx = must(FbxFile::parse(out, "made.fbx", files));
    std::size_t armatures = 0;
    for (const FbxRecord& object : fbx.root().find("Objects")->records)
        if (const FbxRecord* const above = object.find("TransformAssociateModel")) {
            ++armatures;
            EXPECT_EQ(must(fbx.reals(*above))[12], 7);
        }
    EXPECT_EQ(armatures, 2u);
}

TEST(FbxSave, AddsASkinWhereThereIsNone) {
    const std::string file = text("", "");
    const auto bytes = std::as_bytes(std::span(file));
    const Scene scene = read(bytes);
    ASSERT_FALSE(scene.weights);
    const SkinWeights weights = halves(scene);
    const auto out = saved(scene, weights);
    expect_only_skins_differ(bytes, out);
    expect_same_weights(scene, weights, read(out));
}

TEST(FbxSave, IsWrittenAnewWhereClipsAreAdded) {
    const std::string file = text(kSkin, kLinks);
    const Scene scene = read(std::as_bytes(std::span(file)));
    const PoseClip clip{"wave", false, {{0, std::vector<JointPose>(scene.skeleton.joints.size())}}};
    const auto out = must(write_fbx(*scene.document, scene, *scene.weights, {.clips = {clip}}));
    ASSERT_FALSE(out.report.notes.empty());
    EXPECT_NE(out.report.notes.back().find("written anew"), std::string::npos);
    expect_same_weights(scene, *scene.weights, read(out.bytes));
    // So is what no FBX is behind.
    const Scene made = must(make_scene({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}, scene.skeleton, "made"));
    EXPECT_TRUE(check_output(made, "out.fbx"));
}

TEST(FbxSave, RealFilesChangeInTheirSkinsOnly) {
    const char* const corpus = std::getenv("SINEW_CORPUS");
    if (!corpus || !std::filesystem::is_directory(corpus)) GTEST_SKIP() << "SINEW_CORPUS names no folder";
    const auto shared = std::filesystem::absolute(corpus).lexically_normal().parent_path();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shared)) {
        if (entry.path().extension() != ".fbx") continue;
        SCOPED_TRACE(entry.path());
        const auto bytes = must(read_file(entry.path()));
        const Scene scene = read(bytes);
        EXPECT_TRUE(!scene.weights || saved(scene, *scene.weights) == bytes);
        const SkinWeights weights = halves(scene);
        const auto out = saved(scene, weights);
        expect_only_skins_differ(bytes, out);
        if (!scene.other_poses.empty()) continue;  // meshes keep their poses, and the notes say so
        // The scene's space follows from the joints in use: a GLB with these weights tells what to expect.
        const auto glb = must(save_glb_bytes(scene, weights));
        expect_same_weights(must(load_bytes(glb, "made.glb")), weights, read(out));
        EXPECT_TRUE(saved(read(out), weights) == out) << "a second save changes the file";
    }
}

}  // namespace
}  // namespace sinew::io::test_fbx_save
