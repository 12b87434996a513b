// Flat figures: pictures, outlines, layers, painted weights.
#include <gtest/gtest.h>

#include <map>
#include <numbers>
#include <random>
#include <set>

#include "characters/figures.h"
#include "cutout/contour.h"
#include "cutout/triangulate.h"
#include "sinew/bind.h"
#include "sinew/cutout.h"
#include "sinew/cutout_files.h"
#include "sinew/deform.h"
#include "sinew/voxels.h"

namespace sinew::test_cutout {
namespace {

using namespace figures;

/// Checks the invariants of an outline mesh; returns its Euler characteristic.
long check_outline(const OutlineMesh& mesh, const RgbaImage& picture) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;  // directed
    double area = 0;
    for (const Triangle& t : mesh.triangles) {
        const Vec3 &a = mesh.positions[t[0]], &b = mesh.positions[t[1]], &c = mesh.positions[t[2]];
        const double doubled =
            (double{b.x} - a.x) * (double{c.y} - a.y) - (double{b.y} - a.y) * (double{c.x} - a.x);
        EXPECT_GT(doubled, 0);  // counter-clockwise, and no overlaps:
        area += doubled / 2;
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(++edges[std::pair(t[k], t[(k + 1) % 3])], 1);
    }
    EXPECT_NEAR(area, mesh.report.area, 1e-6 * area);
    // The border consists of exactly the loops, in order.
    std::set<std::pair<std::uint32_t, std::uint32_t>> border;
    std::size_t all = 0;
    for (const auto& [edge, n] : edges)
        if (!edges.contains({edge.second, edge.first})) border.insert(edge);
    std::uint32_t first = 0;
    double inside_loops = 0;
    for (const std::uint32_t n : mesh.loops) {
        for (std::uint32_t k = 0; k < n; ++k) {
            const std::uint32_t v = first + k, w = first + (k + 1) % n;
            EXPECT_TRUE(border.contains({v, w})) << v;
            const Vec3 &p = mesh.positions[v], &q = mesh.positions[w];
            inside_loops += 0.5 * (double{p.x} * q.y - double{q.x} * p.y);
        }
        first += n;
        all += n;
    }
    EXPECT_EQ(border.size(), all);
    EXPECT_NEAR(inside_loops, area, 1e-6 * area);
    EXPECT_EQ(mesh.loops.size(), mesh.report.islands + mesh.report.holes);
    std::vector<bool> used(mesh.positions.size(), false);
    for (const Triangle& t : mesh.triangles)
        for (const std::uint32_t v : t) used[v] = true;
    EXPECT_EQ(std::count(used.begin(), used.end(), false), 0);
    for (std::size_t v = 0; v < mesh.positions.size(); ++v) {
        EXPECT_NEAR(mesh.uvs[v][0] * static_cast<float>(picture.width), mesh.positions[v].x, 1e-3);
        EXPECT_NEAR((1 - mesh.uvs[v][1]) * static_cast<float>(picture.height), mesh.positions[v].y, 1e-3);
        EXPECT_TRUE(mesh.uvs[v][0] >= 0 && mesh.uvs[v][0] <= 1 && mesh.uvs[v][1] >= 0 && mesh.uvs[v][1] <= 1);
    }
    return static_cast<long>(mesh.positions.size() + mesh.triangles.size()) -
           static_cast<long>((edges.size() + all) / 2);
}

OutlineMesh outlined(const RgbaImage& picture, const OutlineOptions& options = {}) {
    auto made = outline_mesh(picture, options);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? std::move(*made) : OutlineMesh{};
}

TEST(Outline, KeepsAreaHolesAndIslandsAndHasNoSlivers) {
    struct Case {
        const char* name;
        RgbaImage picture;
        std::size_t islands, holes;
    };
    // A contour from an enlarged picture: at every corner it has two points less than a pixel apart.
    const Shape stairs = [](double x, double y) {
        return disc(150, 150, 120)(12 * std::floor(x / 12) + 6, 12 * std::floor(y / 12) + 6);
    };
    const Case cases[] = {
        {"gingerbread", draw(200, 320, gingerbread()), 1, 0},
        {"caped", draw(200, 320, caped()), 1, 0},
        {"ring", draw(200, 200, cut(disc(100, 100, 80), disc(110, 100, 40))), 1, 1},
        {"islands", draw(200, 100, join({disc(50, 50, 30), disc(140, 50, 35)})), 2, 0},
        {"island in a hole",
         draw(200, 200, join({cut(disc(100, 100, 80), disc(100, 100, 50)), disc(100, 100, 30)})), 2, 1},
        {"square", draw(100, 100, box(10, 10, 90, 90)), 1, 0},
        {"whole picture", draw(64, 48, box(-9, -9, 99, 99)), 1, 0},
        {"stairs", draw(300, 300, stairs), 1, 0},
        {"thin", draw(120, 20, box(5, 8, 115, 11)), 1, 0},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        for (const float spacing : {0.0f, 6.0f, 40.0f}) {
            OutlineOptions options;
            options.spacing = spacing;
            const OutlineMesh mesh = outlined(c.picture, options);
            EXPECT_EQ(check_outline(mesh, c.picture), static_cast<long>(c.islands) - static_cast<long>(c.holes));
            EXPECT_EQ(mesh.report.islands, c.islands);
            EXPECT_EQ(mesh.report.holes, c.holes);
            // The outline may deviate from the contour by the tolerance, along its whole length.
            double length = 0;
            std::size_t first = 0;
            for (const std::uint32_t n : mesh.loops) {
                for (std::size_t k = 0; k < n; ++k) {
                    const Vec3 &p = mesh.positions[first + k], &q = mesh.positions[first + (k + 1) % n];
                    length += std::hypot(p.x - q.x, p.y - q.y);
                }
                first += n;
            }
            EXPECT_NEAR(mesh.report.area, static_cast<double>(mesh.report.pixels), 0.5 * length);
            EXPECT_GT(mesh.report.smallest_angle, 20);
            EXPECT_EQ(mesh.report.small_angles, 0u);
        }
    }
}

TEST(Outline, FollowsTheAlphaThreshold) {
    // A soft edge: alpha falls by 1/10 a pixel, and is 0.5 at x = 30.
    RgbaImage picture{64, 32, std::vector<std::uint8_t>(64 * 32 * 4)};
    for (int y = 0; y < 32; ++y)
        for (int x = 0; x < 64; ++x)
            picture.rgba[4 * static_cast<std::size_t>(y * 64 + x) + 3] =
                static_cast<std::uint8_t>(std::lround(255 * std::clamp(0.5 + (30 - (x + 0.5)) / 10, 0.0, 1.0)));
    for (const float alpha : {0.2f, 0.5f, 0.8f}) {
        OutlineOptions options;
        options.alpha = alpha;
        const OutlineMesh mesh = outlined(picture, options);
        float right = 0;
        for (const Vec3& p : mesh.positions) right = std::max(right, p.x);
        EXPECT_NEAR(right, 30 + 10 * (0.5f - alpha), 0.05);
    }
}

TEST(Outline, StaysWithinTheToleranceOfTheContour) {
    const RgbaImage picture = draw(200, 320, gingerbread());
    const Shape shape = gingerbread();
    std::size_t before = 0;
    for (const float tolerance : {4.0f, 1.0f, 0.25f}) {
        OutlineOptions options;
        options.tolerance = tolerance;
        options.spacing = 60;
        const OutlineMesh mesh = outlined(picture, options);
        std::size_t first = 0;
        for (const std::uint32_t n : mesh.loops) {
            for (std::size_t k = 0; k < n; ++k) {
                const Vec3 &p = mesh.positions[first + k], &q = mesh.positions[first + (k + 1) % n];
                for (const float t : {0.0f, 0.25f, 0.5f, 0.75f})
                    EXPECT_LT(std::abs(shape(p.x + t * (q.x - p.x), 320 - (p.y + t * (q.y - p.y)))),
                              tolerance + 0.35);
            }
            first += n;
        }
        EXPECT_GT(mesh.loops[0], before);
        before = mesh.loops[0];
    }
}

TEST(Outline, SmallIslandsAndHolesAreRemovedAndCounted) {
    const RgbaImage picture =
        draw(100, 100, join({cut(disc(50, 50, 30), disc(50, 50, 1.6)), disc(10, 10, 1.8), disc(90, 90, 1.4)}));
    OutlineOptions options;
    OutlineMesh mesh = outlined(picture, options);
    EXPECT_EQ(mesh.report.islands, 1u);
    EXPECT_EQ(mesh.report.holes, 0u);
    EXPECT_EQ(mesh.report.dropped_islands, 2u);
    EXPECT_EQ(mesh.report.filled_holes, 1u);
    EXPECT_GT(mesh.report.dropped_pixels, 10u);
    EXPECT_EQ(std::count(mesh.mask.inside.begin(), mesh.mask.inside.end(), 1),
              static_cast<long>(mesh.report.pixels));
    options.least_area = 0;
    mesh = outlined(picture, options);
    EXPECT_EQ(mesh.report.islands, 3u);
    EXPECT_EQ(mesh.report.holes, 1u);
    EXPECT_EQ(check_outline(mesh, picture), 2);
}

TEST(Outline, AnyPictureGivesAMesh) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const int width = 1 + static_cast<int>(random() % 60), height = 1 + static_cast<int>(random() % 60);
        RgbaImage picture{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height * 4)};
        const bool hard = seed % 2;
        for (std::size_t p = 3; p < picture.rgba.size(); p += 4)
            picture.rgba[p] = static_cast<std::uint8_t>(hard ? (random() % 2 ? 255 : 0) : random() % 256);
        picture.rgba[3] = 255;
        for (const float tolerance : {0.0f, 0.75f, 8.0f}) {
            OutlineOptions options;
            options.least_area = 0;
            options.tolerance = tolerance;
            const OutlineMesh mesh = outlined(picture, options);
            EXPECT_EQ(check_outline(mesh, picture),
                      static_cast<long>(mesh.report.islands) - static_cast<long>(mesh.report.holes));
        }
    }
}

TEST(Outline, SharpCornersStayAndAreTheOnlySmallAngles) {
    // A spike of 8 degrees.
    const Shape thorn = [](double x, double y) { return std::max(std::abs(y - 50) - 0.07 * (190 - x), 10 - x); };
    const RgbaImage picture = draw(200, 100, thorn);
    OutlineOptions options;
    options.tolerance = 0.3f;
    const OutlineMesh mesh = outlined(picture, options);
    float right = 0;
    for (const Vec3& p : mesh.positions) right = std::max(right, p.x);
    EXPECT_GT(right, 178);
    EXPECT_LT(mesh.report.small_angles, 6u);
    EXPECT_LT(mesh.positions.size(), 400u);
}

TEST(Outline, RefusesEmptyPicturesAndBadOptions) {
    const RgbaImage empty{8, 8, std::vector<std::uint8_t>(256)};
    EXPECT_EQ(outline_mesh(empty).error().code, ErrorCode::input);
    const RgbaImage speck = draw(20, 20, disc(10, 10, 1.5));
    EXPECT_NE(outline_mesh(speck).error().message.find("smaller than the minimum area of 16"), std::string::npos);
    EXPECT_EQ(outline_mesh(RgbaImage{8, 8, {}}).error().code, ErrorCode::usage);
    EXPECT_EQ(outline_mesh(RgbaImage{0, 0, {}}).error().code, ErrorCode::usage);
    const RgbaImage good = draw(40, 40, disc(20, 20, 15));
    for (const OutlineOptions& options :
         {OutlineOptions{0, 1, 0, 0}, OutlineOptions{1.5f, 1, 0, 0}, OutlineOptions{NAN, 1, 0, 0},
          OutlineOptions{0.5f, -1, 0, 0}, OutlineOptions{0.5f, 65, 0, 0}, OutlineOptions{0.5f, 1, 1, 0},
          OutlineOptions{0.5f, 1, 5000, 0}, OutlineOptions{0.5f, 1, 0, -1}})
        EXPECT_EQ(outline_mesh(good, options).error().code, ErrorCode::usage);
    EXPECT_TRUE(outline_mesh(draw(1, 1, disc(0.5, 0.5, 9)), {0.5f, 0.75f, 0, 0}).ok());
}

TEST(Simplify, RestoresPointsWhereLoopsWouldCross) {
    // Within this tolerance the disc becomes an octagon, and the corners of the square hole would lie outside of
    // it.
    const Shape square = [](double x, double y) {
        const double c = std::cos(std::numbers::pi / 8), s = std::sin(std::numbers::pi / 8);
        const double u = c * (x - 50) + s * (y - 50), v = -s * (x - 50) + c * (y - 50);
        return std::max(std::abs(u + v), std::abs(u - v)) / std::numbers::sqrt2 - 27.3;
    };
    const RgbaImage ring = draw(100, 100, cut(disc(50, 50, 40), square));
    OutlineReport report;
    const PixelMask mask = figure_mask(ring, {}, report);
    const std::vector<GridLoop> exact = contour(ring, mask, 0.5f);
    ASSERT_EQ(exact.size(), 2u);
    const std::vector<GridLoop> coarse = simplify(exact, 6 * grid_units);
    EXPECT_LT(coarse[0].size(), exact[0].size() / 3);
    EXPECT_TRUE(triangulate(coarse, {}, {}, nullptr).sound);
}

TEST(Triangulate, AddsPointsUntilNoAngleIsSmall) {
    // A long bar whose ends have many points, and a point inside next to an edge.
    GridLoop bar;
    for (int k = 0; k < 20; ++k) bar.push_back({100 * k, 0});
    bar.push_back({50000, 0}), bar.push_back({50000, 9000}), bar.push_back({0, 9000});
    TriangulateOptions options;
    options.least_edge = 20;
    const Triangulation made = triangulate({bar}, {{25000, 400}}, options, nullptr);
    ASSERT_TRUE(made.sound);
    double least = 180, area = 0;
    for (const Triangle& t : made.triangles) {
        area += 0.5 * static_cast<double>(area2(made.points[t[0]], made.points[t[1]], made.points[t[2]]));
        for (std::size_t k = 0; k < 3; ++k) {
            const GridPoint &p = made.points[t[k]], &q = made.points[t[(k + 1) % 3]],
                            &r = made.points[t[(k + 2) % 3]];
            const double ux = q.x - p.x, uy = q.y - p.y, vx = r.x - p.x, vy = r.y - p.y;
            least = std::min(least, std::atan2(ux * vy - uy * vx, ux * vx + uy * vy) * 180 / std::numbers::pi);
        }
    }
    EXPECT_NEAR(area, 50000.0 * 9000, 1);
    EXPECT_GT(least, 23.9);
}

TEST(Triangulate, ReportsCrossingLoops) {
    const GridLoop eight{{0, 0}, {1000, 1000}, {1000, 0}, {0, 1000}};
    EXPECT_FALSE(triangulate({eight}, {}, {}, nullptr).sound);
    const GridLoop clockwise{{0, 0}, {0, 1000}, {1000, 1000}, {1000, 0}};
    EXPECT_FALSE(triangulate({clockwise}, {}, {}, nullptr).sound);
    const GridLoop twice{{0, 0}, {1000, 0}, {1000, 1000}, {0, 0}};
    EXPECT_FALSE(triangulate({twice}, {}, {}, nullptr).sound);
}

TEST(Png, RoundTripsAndRefusesInvalidFiles) {
    std::mt19937 random(5);
    RgbaImage picture{37, 21, std::vector<std::uint8_t>(37 * 21 * 4)};
    for (std::uint8_t& b : picture.rgba) b = static_cast<std::uint8_t>(random());
    const auto bytes = encode_png(picture);
    ASSERT_TRUE(bytes.ok());
    const auto back = decode_png(*bytes, "p.png");
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, picture);
    EXPECT_EQ(*encode_png(picture), *bytes);

    for (std::size_t n = 0; n < bytes->size(); n += 7) {
        const auto cut = decode_png(std::span(*bytes).first(n), "p.png");
        // A file that lacks only its end mark may be accepted.
        if (n + 24 < bytes->size()) {
            ASSERT_FALSE(cut.ok()) << n;
            EXPECT_EQ(cut.error().code, ErrorCode::input);
            EXPECT_EQ(cut.error().message.rfind("p.png: ", 0), 0u);
        }
    }
    auto huge = *bytes;
    huge[16] = std::byte{0x7f};  // the width; its checksum is wrong as well
    EXPECT_FALSE(decode_png(huge, "p.png").ok());
    Context context;
    context.memory_limit = 1000;
    EXPECT_EQ(decode_png(*bytes, "p.png", &context).error().code, ErrorCode::too_large);
    EXPECT_EQ(encode_png(RgbaImage{2, 2, {}}).error().code, ErrorCode::usage);
    const RgbaImage wide{5000, 1, std::vector<std::uint8_t>(20000, 255)};
    const auto too_wide = decode_png(*encode_png(wide), "wide.png");
    ASSERT_FALSE(too_wide.ok());
    EXPECT_NE(too_wide.error().message.find("5000 x 1 pixels: more than 4096"), std::string::npos);
}

/// A trunk and an arm in front of it, each a layer; the arm's picture is smaller and placed by its offset.
CutoutFigure two_layers() {
    CutoutFigure figure;
    figure.width = 200, figure.height = 320;
    auto joint = [&](const char* name, int parent, float ax, float ay, float bx, float by) {
        figure.skeleton.joints.push_back({name, parent, {ax, 320 - ay, 0}, Vec3{bx, 320 - by, 0}});
    };
    joint("trunk", -1, 100, 280, 100, 180);
    joint("chest", 0, 100, 180, 100, 60);
    joint("arm", 1, 90, 90, 90, 150);
    joint("hand", 2, 90, 150, 90, 210);
    figure.layers.push_back(
        {"body", "body.png", draw(200, 320, capsule(100, 50, 100, 280, 30)), {}, {0, 0}, {0, 1}});
    figure.layers.push_back({"arm", "arm.png", draw(60, 160, capsule(30, 30, 30, 130, 16)), {}, {60, 70}, {2, 3}});
    return figure;
}

TEST(CutOut, LayersFollowTheirOwnBones) {
    const CutoutFigure figure = two_layers();
    const auto parts = cut_out(figure);
    ASSERT_TRUE(parts.ok()) << parts.error().message;
    ASSERT_EQ(parts->size(), 2u);
    for (std::size_t l = 0; l < 2; ++l) {
        const CutoutPart& part = (*parts)[l];
        EXPECT_TRUE(part.warnings.empty()) << part.warnings[0];
        EXPECT_EQ(part.binding->report().covered(), 1);
        const auto& allowed = figure.layers[l].joints;
        for (std::size_t v = 0; v < part.weights.vertex_count(); ++v) {
            ASSERT_FALSE(part.weights[v].empty());
            for (const Influence& i : part.weights[v])
                EXPECT_TRUE(std::binary_search(allowed.begin(), allowed.end(), i.joint));
        }
    }
    // The arm lies where its offset puts it.
    float left = 1e9f, top = 0;
    for (const Vec3& p : (*parts)[1].mesh.positions) left = std::min(left, p.x), top = std::max(top, p.y);
    EXPECT_NEAR(left, 60 + 14, 0.8);
    EXPECT_NEAR(top, 320 - 70 - 14, 0.8);
}

TEST(CutOut, OnePixelIsAChoice) {
    CutoutOptions options;
    options.neighbours = Neighbours::faces;
    // Breadth-first distances of pixels are whole numbers of pixels; those between pixels are not.
    for (const bool one : {true, false}) {
        options.one_pixel = one;
        const auto parts = cut_out(two_layers(), options);
        ASSERT_TRUE(parts.ok()) << parts.error().message;
        std::size_t between = 0;
        for (const float d : (*parts)[0].binding->distances().distance)
            between += d < INFINITY && std::abs(d - std::round(d)) > 1e-3f;
        EXPECT_EQ(between == 0, one);
    }
}

TEST(CutOut, WarnsOfBonesOutsideAndOfPicturesWithoutTransparency) {
    CutoutFigure figure = two_layers();
    figure.skeleton.joints[3].position = {190, 10, 0};
    figure.skeleton.joints[3].tail = Vec3{195, 20, 0};
    figure.layers[0].picture = draw(200, 320, box(-9, -9, 999, 999));
    const auto parts = cut_out(figure);
    ASSERT_TRUE(parts.ok()) << parts.error().message;
    ASSERT_EQ((*parts)[0].warnings.size(), 1u);
    EXPECT_NE((*parts)[0].warnings[0].find("layer 'body': every pixel is opaque"), std::string::npos);
    ASSERT_EQ((*parts)[1].warnings.size(), 1u);
    EXPECT_NE((*parts)[1].warnings[0].find("layer 'arm': bone 'hand' lies outside the outline"), std::string::npos);
}

TEST(CutOut, ErrorsNameTheLayer) {
    CutoutFigure figure = two_layers();
    for (std::uint8_t& b : figure.layers[1].picture.rgba) b = 0;
    const auto parts = cut_out(figure);
    ASSERT_FALSE(parts.ok());
    EXPECT_EQ(parts.error().message.rfind("layer 'arm': no pixel", 0), 0u) << parts.error().message;
    Context context;
    context.memory_limit = 100000;
    EXPECT_EQ(cut_out(two_layers(), {}, &context).error().code, ErrorCode::too_large);
    context.memory_limit = 0;
    context.cancel = true;
    EXPECT_EQ(cut_out(two_layers(), {}, &context).error().code, ErrorCode::cancelled);
    CutoutOptions options;
    options.smoothness = -1;
    EXPECT_EQ(cut_out(two_layers(), options).error().code, ErrorCode::usage);
}

TEST(CutOut, LayersAreReadWithGivenPictures) {
    const std::string bones = R"({"bones": [{"name": "trunk", "head": [100, 280], "tail": [100, 60]},
                                            {"name": "arm", "parent": "trunk", "head": [90, 90], "tail": [90, 210]}],
                                  "layers": [{"image": "in/arm.png", "bones": ["arm"], "offset": [60, 70], "order": 2},
                                             {"name": "body", "image": "body.png", "order": 1}]})";
    CutoutLayer body, arm, other;
    body.path = "body.png", body.picture = draw(200, 320, capsule(100, 50, 100, 280, 30));
    body.png = {std::byte{7}};
    arm.path = "in/arm.png", arm.picture = draw(60, 160, capsule(30, 30, 30, 130, 16));
    other.path = "unused.png";
    const CutoutLayer pictures[] = {other, arm, body};
    const auto figure = io::parse_layers(bones, "figure.json", pictures);
    ASSERT_TRUE(figure.ok()) << figure.error().message;
    EXPECT_EQ(figure->width, 200);
    EXPECT_EQ(figure->height, 320);
    ASSERT_EQ(figure->layers.size(), 2u);
    EXPECT_EQ(figure->layers[0].name, "body");
    EXPECT_EQ(figure->layers[0].png, body.png);
    EXPECT_EQ(figure->layers[0].joints, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(figure->layers[1].name, "arm");
    EXPECT_EQ(figure->layers[1].picture, arm.picture);
    EXPECT_EQ(figure->layers[1].joints, std::vector<std::uint32_t>{1});
    EXPECT_EQ(figure->layers[1].offset, (std::array<double, 2>{60, 70}));
    EXPECT_EQ(figure->skeleton.joints[0].position.y, 40);

    const auto without = io::parse_layers(bones, "figure.json", std::span(pictures).first(2));
    ASSERT_FALSE(without.ok());
    EXPECT_EQ(without.error().message.rfind("figure.json: layer 1 ('body'): body.png is not among", 0), 0u)
        << without.error().message;
    arm.picture.rgba.pop_back();
    const CutoutLayer damaged[] = {arm, body};
    EXPECT_EQ(io::parse_layers(bones, "figure.json", damaged).error().code, ErrorCode::input);
    EXPECT_EQ(io::parse_layers("{}", "figure.json", pictures).error().code, ErrorCode::input);
    EXPECT_EQ(io::parse_layers(R"({"bones": [{"name": "a", "head": [1, 2]}]})", "f", pictures).error().code,
              ErrorCode::input);
}

TEST(CutOut, PicturesShowWeightsAndThePose) {
    const CutoutFigure figure = two_layers();
    const auto parts = cut_out(figure);
    ASSERT_TRUE(parts.ok());
    const std::vector<JointPose> rest(4);
    const auto still = skinning_matrices(figure.skeleton, rest);
    ASSERT_TRUE(still.ok());
    const auto picture = posed_picture(figure, *parts, *still);
    ASSERT_TRUE(picture.ok());
    ASSERT_EQ(picture->width, 200);
    ASSERT_EQ(picture->height, 320);
    // At rest, the picture equals the layers drawn over each other, except at the outlines.
    std::size_t apart = 0;
    for (int y = 0; y < 320; ++y)
        for (int x = 0; x < 200; ++x) {
            const std::uint8_t* got = &picture->rgba[4 * static_cast<std::size_t>(y * 200 + x)];
            const bool in_arm = x >= 60 && x < 120 && y >= 70 && y < 230;
            const std::uint8_t* arm =
                in_arm ? &figure.layers[1].picture.rgba[4 * static_cast<std::size_t>((y - 70) * 60 + x - 60)]
                       : nullptr;
            const std::uint8_t* want =
                arm && arm[3] == 255 ? arm
                                     : &figure.layers[0].picture.rgba[4 * static_cast<std::size_t>(y * 200 + x)];
            apart += want[3] != got[3] || (want[3] && std::abs(want[0] - got[0]) > 12);
        }
    EXPECT_LT(apart, 200u * 320 / 40);

    // Rotated by 90 degrees, the hand points to the right, and its old place is empty.
    std::vector<JointPose> bent(4);
    bent[3].rotation = {0, 0, std::numbers::sqrt2 / 2, std::numbers::sqrt2 / 2};
    const auto turned = skinning_matrices(figure.skeleton, bent);
    ASSERT_TRUE(turned.ok());
    const auto posed = posed_picture(figure, *parts, *turned);
    ASSERT_TRUE(posed.ok());
    EXPECT_EQ(posed->rgba[4 * static_cast<std::size_t>(150 * posed->width + 140) + 3], 255);
    EXPECT_EQ(picture->rgba[4 * static_cast<std::size_t>(150 * 200 + 140) + 3], 0);

    const auto drawn = weights_picture(figure, *parts);
    ASSERT_TRUE(drawn.ok());
    const RgbaImage& weights = *drawn;
    EXPECT_EQ(weights.width, 200);
    const std::uint8_t* foot = &weights.rgba[4 * static_cast<std::size_t>(290 * 200 + 100)];
    const std::uint8_t* head = &weights.rgba[4 * static_cast<std::size_t>(40 * 200 + 100)];
    EXPECT_EQ(foot[3], 255);
    EXPECT_NE(std::vector<int>({foot[0], foot[1], foot[2]}), std::vector<int>({head[0], head[1], head[2]}));
    Context one;
    one.threads = 1;
    EXPECT_EQ(*weights_picture(figure, *parts, &one), weights);
    one.memory_limit = 1000;
    EXPECT_EQ(weights_picture(figure, *parts, &one).error().code, ErrorCode::too_large);
}

TEST(CutOut, ThreeBonesAreRedGreenAndBlue) {
    CutoutFigure figure = two_layers();
    figure.layers.pop_back();
    figure.skeleton.joints.resize(2);
    CutoutOptions options;
    options.smoothness = 2;
    const auto parts = cut_out(figure, options);
    ASSERT_TRUE(parts.ok());
    const auto drawn = weights_picture(figure, *parts);
    ASSERT_TRUE(drawn.ok());
    const RgbaImage& weights = *drawn;
    const std::uint8_t* foot = &weights.rgba[4 * static_cast<std::size_t>(280 * 200 + 100)];
    EXPECT_GT(foot[0], 250);
    EXPECT_LT(foot[1], 5);
    const std::uint8_t* head = &weights.rgba[4 * static_cast<std::size_t>(60 * 200 + 100)];
    EXPECT_GT(head[1], 250);
    EXPECT_LT(head[0], 5);
}

}  // namespace
}  // namespace sinew::test_cutout
