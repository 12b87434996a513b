#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "io/formats.h"

namespace sinew::io::test_obj {
namespace {

ObjMesh parse(const std::string& text) {
    Result<ObjMesh> mesh = parse_obj(text, "m");
    EXPECT_TRUE(mesh) << mesh.error().message;
    return mesh ? std::move(mesh).value() : ObjMesh{};
}

void expect_error(const std::string& text, const std::string& fragment) {
    const Result<ObjMesh> mesh = parse_obj(text, "m");
    ASSERT_FALSE(mesh) << text;
    EXPECT_NE(mesh.error().message.find(fragment), std::string::npos) << mesh.error().message;
    EXPECT_EQ(mesh.error().code, ErrorCode::input);
}

std::array<double, 3> area_vector(const ObjMesh& mesh, const Triangle& t) {
    const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]];
    const double u[3] = {b.x - a.x, b.y - a.y, b.z - a.z}, v[3] = {c.x - a.x, c.y - a.y, c.z - a.z};
    return {(u[1] * v[2] - u[2] * v[1]) / 2, (u[2] * v[0] - u[0] * v[2]) / 2, (u[0] * v[1] - u[1] * v[0]) / 2};
}

constexpr const char* four = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

TEST(Obj, ReadsEveryFormOfACorner) {
    const ObjMesh mesh =
        parse(std::string("# a comment\r\nmtllib x.mtl\no thing\n") + four +
              "vt 0 0\nvn 0 0 1\ng group\nusemtl m\ns off\nf 1/1 2/1 3/1\n  f\t1//1 3//1 4//1 # end\n"
              "f -4 -3 -2\nf -4/-1/-1 2/1/1 -1/1/\nf 1 2/ 3\r\n");
    // Each combination of position, texture coordinates and normal is a vertex.
    EXPECT_EQ(mesh.positions.size(), 12u);
    std::vector<Triangle> places = mesh.triangles;
    for (Triangle& t : places)
        for (std::uint32_t& v : t)
            v = static_cast<std::uint32_t>(
                std::find(mesh.positions.begin(), mesh.positions.begin() + 4, mesh.positions[v]) -
                mesh.positions.begin());
    EXPECT_EQ(places, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 1, 2}, {0, 1, 3}, {0, 1, 2}}));
}

TEST(Obj, VerticesKeepTheirOrderAndTheirExtraNumbersAreIgnored) {
    const ObjMesh mesh =
        parse("v 9 9 9\nv 1e-1 +2 -3.25 0.5 0.5 0.5\nv 1 0 0 1.0\nv .5 5. 1e-60\nvp 1 2\nf 2 3 4\nv 7 7 7\n");
    ASSERT_EQ(mesh.positions.size(), 5u);
    EXPECT_EQ(mesh.positions[1], (Vec3{0.1f, 2, -3.25f}));
    EXPECT_EQ(mesh.positions[3], (Vec3{0.5f, 5, 0}));
    EXPECT_EQ(mesh.positions[4], (Vec3{7, 7, 7}));
}

TEST(Obj, ReadsContinuedLinesAndEveryLineEnd) {
    const std::vector<Triangle> two{{0, 1, 2}, {0, 2, 3}};
    EXPECT_EQ(parse(std::string(four) + "f 1 2 \\\n 3 \\\r\n 4").triangles, two);
    EXPECT_EQ(parse("v 0 0 0\rv 1 0 0\rv 1 1 0\rv 0 1 0\rf 1 2 3 4\r").triangles, two);
    EXPECT_EQ(parse("\xef\xbb\xbfv 0 \\\n0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n# no \\\nf 4 4 4\nf 1 2 3 4").triangles,
              two);
}

TEST(Obj, CornersThatDifferInTextureOrNormalBecomeVertices) {
    const ObjMesh mesh = parse(std::string(four) +
                               "vt 0 0\nvt 1 0.25\nvt 1 .25 0\nvn 0 0 1\nvn 0 0 1\nvn 0 1 0\n"
                               "f 1/1/1 2/2/1 3/3/2\nf 1/1/2 3/2/3 4//\nf 2/9 3 4\n");
    // Vertex 2 with a coordinate that does not exist and no normal; vertex 3 with another normal, and with none.
    ASSERT_EQ(mesh.positions.size(), 7u);
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 4, 3}, {5, 6, 3}}));
    EXPECT_EQ(mesh.look.same_as, (std::vector<std::uint32_t>{0, 1, 2, 3, 2, 1, 2}));
    EXPECT_EQ(mesh.look.uvs[2], (std::array<float, 2>{1, 0.75f}));
    EXPECT_EQ(mesh.look.normals[4], (Vec3{0, 1, 0}));
    EXPECT_EQ(mesh.look.normals[6], (Vec3{}));
    EXPECT_EQ(mesh.lost, 1u);
}

TEST(Obj, GroupsAndMaterialsArePartsInTheOrderInWhichTheyBegin) {
    const ObjMesh mesh = parse("mtllib a b.mtl\no body\nusemtl skin\n" + std::string(four) +
                               "f 1 2 3\ng left arm\nusemtl cloth\nf 1 3 4\no body\nusemtl skin\nf 1 2 3 4\n");
    EXPECT_EQ(mesh.libraries, std::vector<std::string>{"a b.mtl"});
    ASSERT_EQ(mesh.look.parts.size(), 2u);
    EXPECT_EQ(mesh.look.parts[0].triangle_count, 3u);
    EXPECT_EQ(mesh.look.parts[1].group, "left arm");
    EXPECT_EQ(mesh.look.parts[1].material, 1);
    EXPECT_EQ(mesh.look.materials[1].name, "cloth");
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 1, 2}, {0, 2, 3}, {0, 2, 3}}));
}

TEST(Obj, AFaceMayComeBeforeItsVertices) {
    EXPECT_EQ(parse("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n").triangles, (std::vector<Triangle>{{0, 1, 2}}));
}

TEST(Obj, LinesPointsAndThinFacesAreCounted) {
    EXPECT_EQ(parse(std::string(four) + "l 1 2 3\np 1\nf 1 2\nf 1\nf 1 2 3\n").skipped, 4u);
}

/// Expects that the triangles of a polygon add up to its area vector and all face its direction: none is folded.
void expect_unfolded(const ObjMesh& mesh, std::size_t corners) {
    ASSERT_EQ(mesh.triangles.size(), corners - 2);
    std::array<double, 3> sum{}, polygon{};
    double size = 0;
    for (const Triangle& t : mesh.triangles) {
        const auto a = area_vector(mesh, t);
        for (int k = 0; k < 3; ++k) sum[k] += a[k];
        size += std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    }
    for (std::uint32_t i = 1; i + 1 < corners; ++i) {
        const auto a = area_vector(mesh, {0, i, i + 1});
        for (int k = 0; k < 3; ++k) polygon[k] += a[k];
    }
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(sum[k], polygon[k], 1e-6 * size);
    EXPECT_NEAR(size, std::sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]), 1e-5 * size);
    EXPECT_EQ(mesh.fanned, 0u);
}

std::string polygon_obj(const std::vector<std::array<double, 2>>& corners, int turn) {
    std::string text, face = "f";
    const double c = std::cos(turn * 0.7), s = std::sin(turn * 0.7);
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const double x = corners[i][0] * c - corners[i][1] * s, y = corners[i][0] * s + corners[i][1] * c;
        // Tilted planes of every orientation, far from the origin.
        const double p[3] = {x + 10, y * (turn % 3 == 0 ? 1 : 0.6) + 20, y * (turn % 3 == 0 ? 0 : 0.8) - 5};
        text += "v";
        for (int k = 0; k < 3; ++k) text += " " + std::to_string(p[(k + turn) % 3]);
        text += "\n";
        face += " " + std::to_string(i + 1);
    }
    return text + face + "\n";
}

TEST(Obj, ConcavePolygonsDoNotFold) {
    const std::vector<std::vector<std::array<double, 2>>> shapes = {
        {{0, 0}, {2, 1}, {0, 2}, {0.5, 1}},                                // arrow head
        {{2, 1}, {0, 2}, {0.5, 1}, {0, 0}},                                // the same, other corner first
        {{0, 0}, {3, 0}, {3, 3}, {2, 3}, {2, 1}, {1, 1}, {1, 3}, {0, 3}},  // U
        {{0, 0}, {4, 0}, {4, 1}, {1, 1}, {1, 2}, {4, 2}, {4, 3}, {0, 3}},  // C
        {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {1, 2}, {0, 2}},                  // straight corners
        {{0, 0}, {6, 0}, {6, 6}, {0, 6}, {0, 1}, {1, 1}, {1, 5}, {5, 5}, {5, 1}, {0, 1}},  // almost a ring
    };
    for (std::size_t s = 0; s < shapes.size(); ++s)
        for (int turn = 0; turn < 9; ++turn)
            for (const bool reversed : {false, true}) {
                SCOPED_TRACE("shape " + std::to_string(s) + " turn " + std::to_string(turn));
                auto corners = shapes[s];
                if (reversed) std::reverse(corners.begin(), corners.end());
                const ObjMesh mesh = parse(polygon_obj(corners, turn));
                expect_unfolded(mesh, corners.size());
            }
    std::vector<std::array<double, 2>> star;
    for (int i = 0; i < 40; ++i) {
        const double r = i % 2 ? 1 : 0.4, a = i * M_PI / 20;
        star.push_back({r * std::cos(a), r * std::sin(a)});
    }
    for (int turn = 0; turn < 9; ++turn) expect_unfolded(parse(polygon_obj(star, turn)), star.size());
}

TEST(Obj, PolygonsWithoutAPlaneStillBecomeTriangles) {
    const ObjMesh flat = parse("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 2 3 4\n");
    EXPECT_EQ(flat.triangles.size(), 2u);
    EXPECT_EQ(flat.fanned, 1u);
    EXPECT_EQ(parse(std::string(four) + "f 1 2 2 1 3\n").triangles.size(), 3u);
    // Hostile input: ear clipping of a huge spiral would take too long.
    std::string text, face = "f";
    for (int i = 0; i < 20000; ++i) {
        text += "v " + std::to_string(i % 7) + " " + std::to_string(i % 11) + " 0\n";
        face += " " + std::to_string(i + 1);
    }
    EXPECT_EQ(parse(text + face).triangles.size(), 19998u);
}

TEST(Obj, ErrorsNameTheLine) {
    expect_error("", "there is no vertex");
    expect_error("v 0 0 0\nv 1 0 0\n", "there is no face");
    expect_error("v 0 0\n", "line 1: a vertex needs three numbers");
    expect_error("v 0 0 # 1\n", "line 1: a vertex needs three numbers");
    expect_error("\n\nv 0 zero 0\n", "line 3: 'zero' is not a finite number");
    expect_error("v 0 1,5 0\n", "line 1: '1,5' is not a finite number");
    expect_error("v 0 nan 0\n", "line 1: 'nan' is not a finite number");
    expect_error("v 0 0 inf\n", "line 1: 'inf' is not a finite number");
    expect_error("v 0 0 1e39\n", "line 1: '1e39' is not a finite number");
    const std::string head = four;
    expect_error(head + "f 1 2 5\n", "line 5: the face names vertex 5, but there are only 4");
    expect_error(head + "f 1 2 -5\n", "line 5: the face names vertex -5, but there are only 4");
    expect_error(head + "f 1 2 99999999999\n", "line 5: the face names vertex 99999999999");
    expect_error(head + "f 1 2 99999999999999999999\n", "is not a corner");
    for (const char* corner : {"0", "a", "1a", "1/x", "1//x", "1/2/3/4", "/1", "1/0", "1.5"})
        expect_error(head + "\\\n# c\nf 1 2 " + corner + "\n",
                     std::string("line 7: '") + corner + "' is not a corner");
}

TEST(Obj, EveryTruncationIsSurvived) {
    const std::string text = std::string(four) + "vt 0 1\\\n 2\r\nf 1/1/1 2//2 -1 \\\r\n 3/1\n# c\nf 1 2 3";
    ASSERT_TRUE(parse_obj(text, "m"));
    for (std::size_t n = 0; n < text.size(); ++n) (void)parse_obj(text.substr(0, n), "m");
}

TEST(Obj, LoadsAsAScene) {
    Skeleton skeleton;
    skeleton.joints.emplace_back().name = "root";
    const Result<Scene> scene =
        read_obj(std::string(four) + "f 1 2 3 4\nl 1 2\n", "m", std::make_shared<ModelFiles>(), skeleton);
    ASSERT_TRUE(scene) << scene.error().message;
    EXPECT_EQ(scene->positions.size(), 4u);
    EXPECT_EQ(scene->triangles.size(), 2u);
    EXPECT_EQ(scene->skeleton.joints.size(), 1u);
    EXPECT_EQ(scene->skipped_primitives, 1u);
    EXPECT_FALSE(read_obj("v 0 0 0\n", "m", std::make_shared<ModelFiles>(), skeleton));
}

}  // namespace
}  // namespace sinew::io::test_obj
