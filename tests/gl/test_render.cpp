// Checks the content of pictures, not their bytes: shares of pixels and mean colours of regions, as predicted by
// geometry and light. Drivers differ only in last bits, which do not affect these.
#include <gtest/gtest.h>

#include <cmath>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "sinew/bind.h"
#include "sinew/render.h"
#include "sinew/voxels.h"

namespace sinew::test_render {
namespace {

using namespace test;

constexpr Rgb kPaper{247, 247, 245};

Rgb pixel(const Image& image, int x, int y) {
    const std::uint8_t* p = &image.rgb[3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                            static_cast<std::size_t>(x))];
    return {p[0], p[1], p[2]};
}

/// Share of the pixels of a region that are not background.
double ink(const Image& image, double x0 = 0, double y0 = 0, double x1 = 1, double y1 = 1, Rgb paper = kPaper) {
    std::size_t n = 0, inked = 0;
    for (int y = static_cast<int>(y0 * image.height); y < static_cast<int>(y1 * image.height); ++y)
        for (int x = static_cast<int>(x0 * image.width); x < static_cast<int>(x1 * image.width); ++x) {
            ++n;
            inked += pixel(image, x, y) != paper;
        }
    return static_cast<double>(inked) / static_cast<double>(n);
}

/// Mean of the pixels that are not background.
std::array<double, 3> mean_ink(const Image& image) {
    std::array<double, 3> sum{0, 0, 0};
    double n = 0;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const Rgb c = pixel(image, x, y);
            if (c == kPaper) continue;
            sum[0] += c.r, sum[1] += c.g, sum[2] += c.b;
            ++n;
        }
    for (double& s : sum) s /= n;
    return sum;
}

class Render : public ::testing::Test {
protected:
    void SetUp() override {
        const Shape cube = box({0, 0, 0}, {1, 1, 1});
        Picture probe;
        probe.width = probe.height = 64;
        probe.panels = {panel(cube)};
        const Result<Image> image = render(probe);
        if (!image && image.error().message.find("this build") != std::string::npos)
            GTEST_SKIP() << image.error().message;
        ASSERT_TRUE(image) << image.error().message;
    }
    static Panel panel(const Shape& shape) {
        Panel p;
        p.positions = shape.positions;
        p.triangles = shape.triangles;
        return p;
    }
    static Panel panel(const Character& character) {
        Panel p;
        p.positions = character.positions;
        p.triangles = character.triangles;
        return p;
    }
    static Image draw(const Picture& picture, Context* context = nullptr) {
        Result<Image> image = render(picture, context);
        EXPECT_TRUE(image) << image.error().message;
        return image ? *image : Image{};
    }
    static Picture square(Panel p, int size = 400) {
        Picture picture;
        picture.width = picture.height = size;
        picture.panels = {std::move(p)};
        return picture;
    }
};

// At 400 × 400 the margin around the panel is 9 pixels, and the figure takes 92 % of what is left.
constexpr double kSide = 0.92 * (400 - 18) / 400;

TEST_F(Render, ACubeCoversASquareAndABallADisc) {
    const Shape cube = box({3, 4, 5}, {1, 1, 1});
    EXPECT_NEAR(ink(draw(square(panel(cube)))), kSide * kSide, 0.006);
    const Shape ball = sphere({0, 1e4, 0}, 50, 5);
    EXPECT_NEAR(ink(draw(square(panel(ball)))), kSide * kSide * 3.14159265 / 4, 0.008);
    // From three-quarter, a cube of side 2 is (2 cos 35 + 2 sin 35) wide: the height of its outline decides.
    Panel turned = panel(cube);
    turned.from = *viewpoint("three-quarter");
    const double degree = 3.14159265 / 180, c = std::cos(35 * degree), s = std::sin(35 * degree);
    const double cp = std::cos(15 * degree), sp = std::sin(15 * degree);
    const double wide = 2 * (c + s), high = 2 * cp + 2 * (c + s) * sp, longest = std::max(wide, high);
    // Projected area of a box: its sides, each by the cosine of its tilt.
    const double shadow = 4 * (c * cp + s * cp + sp);
    EXPECT_NEAR(ink(draw(square(turned))), shadow / (longest * longest) * kSide * kSide, 0.008);
}

TEST_F(Render, FlatSurfacesHaveOneColourAcrossTiles) {
    // 2,200 pixels are three tiles; a sheet that faces the eye has the same light everywhere.
    const Shape flat = sheet({0, 0, 0}, {2, 0, 0}, {0, 0.1, 0}, 40, 2);
    Picture picture;
    picture.width = 2200;
    picture.height = 150;
    picture.panels = {panel(flat)};
    const Image image = draw(picture);
    const Rgb middle = pixel(image, 1100, 75);
    EXPECT_NE(middle, kPaper);
    for (int x = 130; x < 2070; ++x) {
        const Rgb c = pixel(image, x, 75);
        EXPECT_LE(std::abs(c.r - middle.r) + std::abs(c.g - middle.g) + std::abs(c.b - middle.b), 2) << x;
    }
}

TEST_F(Render, WindingDoesNotDarken) {
    Character person = biped();
    const std::array<double, 3> before = mean_ink(draw(square(panel(person))));
    for (Triangle& t : person.triangles) std::swap(t[1], t[2]);
    const std::array<double, 3> after = mean_ink(draw(square(panel(person))));
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(before[k], after[k], 1);
        EXPECT_GT(before[k], 140);  // bright enough to show its shape
        EXPECT_LT(before[k], 225);
    }
}

TEST_F(Render, CreasesAreDarker) {
    // A box on a wide floor, from above: the floor is darker near the box than far away.
    Shape scene = box({0, 0, 0}, {1, 0.3, 1});
    append(scene, sheet({0, -0.3, 0}, {8, 0, 0}, {0, 0, -8}, 4, 4));
    Panel p = panel(scene);
    p.from = *viewpoint("top");
    const Image image = draw(square(p));
    const int middle = 200, edge = static_cast<int>(400 * kSide / 16);
    const Rgb beside = pixel(image, middle + edge + 3, middle), far = pixel(image, middle + 5 * edge, middle);
    EXPECT_LT(beside.g + 12, far.g);
}

TEST_F(Render, ValuesHaveTheirColoursAndLines) {
    const Shape flat = sheet({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 64, 64);
    std::vector<float> values;
    for (const Vec3& p : flat.positions) values.push_back((p.x + 1) / 2);
    Paint paint = paint_values(values, "t", Ramp::heat, 0, 1);
    Panel p = panel(flat);
    p.paint = &paint;
    Picture picture = square(p);
    picture.legend = false;
    const Image plain = draw(picture);
    // At value t the hue is that of the colour ramp. Ratios of channels do not depend on light.
    for (const double t : {0.3, 0.55, 0.8}) {
        const Rgb want = ramp_colour(Ramp::heat, t),
                  got = pixel(plain, static_cast<int>(200 + (t - 0.5) * 400 * kSide), 200);
        auto light = [](std::uint8_t c) { return std::pow(c / 255.0, 2.2); };
        EXPECT_NEAR(light(got.r) / light(want.r), light(got.g) / light(want.g), 0.12) << t;
    }
    paint.isolines = {0.55};
    const Image lined = draw(picture);
    std::size_t changed = 0;
    for (int x = 0; x < 400; ++x) changed += pixel(plain, x, 200) != pixel(lined, x, 200);
    EXPECT_GE(changed, 2u);
    EXPECT_LE(changed, 6u);
    // No value: grey.
    for (float& v : paint.values) v = NAN;
    const Rgb grey = pixel(draw(picture), 200, 200);
    EXPECT_LE(std::abs(grey.r - grey.g) + std::abs(grey.g - grey.b), 10);
}

TEST_F(Render, LegendsTitlesAndBonesAreDrawn) {
    const Character person = biped();
    const Result<Binding> binding = bind(person.mesh(), person.skeleton, {});
    ASSERT_TRUE(binding);
    const SkinWeights weights = *binding->weights();
    const Paint paint = paint_joints(weights, person.skeleton);
    Panel p = panel(person);
    p.paint = &paint;
    Picture picture = square(p, 600);
    picture.width = 800;
    picture.legend = false;
    const double bare = ink(draw(picture), 0.8, 0, 1, 1);
    picture.legend = true;
    const Image with = draw(picture);
    EXPECT_GT(ink(with, 0.8, 0, 1, 1), bare + 0.05);
    // The first swatch has the colour of the heaviest joint.
    bool found = false;
    for (int y = 0; y < 120 && !found; ++y)
        for (int x = 560; x < 800 && !found; ++x) found = pixel(with, x, y) == paint.legend.entries[0].colour;
    EXPECT_TRUE(found);
    // Characters of the font, and characters that it lacks (drawn as boxes).
    for (const char* title : {"Weights", "Gewichte äöü", "左腕", "\xff\xfe"}) {
        picture.title = title;
        EXPECT_GT(ink(draw(picture), 0, 0, 0.3, 0.06), 0.004) << title;
    }
    picture.title.clear();
    const std::vector<Bone> bones = make_bones(person.skeleton);
    picture.panels[0].bones = bones;
    const Image overlaid = draw(picture);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < overlaid.rgb.size(); i += 3) differ += overlaid.rgb[i] != with.rgb[i];
    EXPECT_GT(differ, 1500u);
}

TEST_F(Render, VoxelsAreDrawnByKind) {
    const Shape cube = box({0, 0, 0}, {1, 1, 1});
    const MeshView mesh{cube.positions, cube.triangles, {}};
    VoxelizeOptions options;
    options.resolution = 64;
    const Result<VoxelGrid> grid = voxelize(mesh, analyse_mesh(mesh), options);
    ASSERT_TRUE(grid);
    Panel p;
    p.voxels = VoxelPanel{&*grid, {}, {0, 0, 0}, {1, 1, 1}};
    Picture picture = square(p);
    picture.legend = false;
    EXPECT_NEAR(ink(draw(picture)), kSide * kSide, 0.006);
    const Rgb shell = pixel(draw(picture), 200, 203);
    EXPECT_GT(shell.b, shell.r + 20);  // boundary is blue
    picture.panels[0].voxels->cut_to = {1, 1, 0.5};
    const Rgb inside = pixel(draw(picture), 200, 203);
    EXPECT_GT(inside.r, inside.b + 20);  // interior is yellow
}

/// Share of the pixels of a region that are similar to a colour: the same hue, and not much darker.
double share_of(const Image& image, Rgb colour, int most = 40) {
    std::size_t n = 0;
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const Rgb c = pixel(image, x, y);
            n += std::abs(c.r - colour.r) + std::abs(c.g - colour.g) + std::abs(c.b - colour.b) <= most;
        }
    return static_cast<double>(n) / image.width / image.height;
}

TEST_F(Render, DefectsAreRedAndHaveLines) {
    // A cube without its front, with a sheet through its left side, and a fin on its upper edge at the back.
    Shape scene = open_box({0, 0, 0}, {1, 1, 1}, 1, 1u << 5);
    append(scene, sheet({-1, 0.1, 0}, {0.4, 0, 0}, {0, 0, 0.5}, 1, 1));
    const auto at = [&](float x, float y, float z) {
        for (std::uint32_t v = 0; v < scene.positions.size(); ++v)
            if (scene.positions[v] == Vec3{x, y, z}) return v;
        return 0u;
    };
    const std::uint32_t left = at(-1, 1, -1), right = at(1, 1, -1);
    scene.positions.push_back({0, 1.4f, -1});
    scene.triangles.push_back({left, right, static_cast<std::uint32_t>(scene.positions.size() - 1)});
    const MeshView mesh{scene.positions, scene.triangles, {}};
    const Result<Intersections> found = find_intersections(mesh);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->triangles, 4u);  // two of the side, two of the sheet
    const DefectEdges edges = find_defect_edges(mesh, analyse_mesh(mesh).weld);
    ASSERT_EQ(edges.boundary.size(), 4u + 4 + 2);
    ASSERT_EQ(edges.nonmanifold.size(), 1u);
    const Paint paint = paint_defects(*found, edges);
    Panel p = panel(scene);
    p.paint = &paint;
    p.from = {-35, 15};
    Picture picture = square(p);
    picture.legend = false;
    const Image image = draw(picture);
    const Rgb boundary = paint.lines.front().colour, nonmanifold = paint.lines.back().colour;
    EXPECT_GT(share_of(image, boundary, 24), 0.004);
    EXPECT_GT(share_of(image, nonmanifold, 24), 0.0005);
    // The left side is redder than any pixel of a plain picture.
    const auto red = [](const Image& of) {
        std::size_t n = 0;
        for (std::size_t i = 0; i < of.rgb.size(); i += 3) n += of.rgb[i] > 2 * of.rgb[i + 1] + 20;
        return static_cast<double>(n) / static_cast<double>(of.rgb.size() / 3);
    };
    EXPECT_GT(red(image), 0.1);
    Paint without = paint;
    without.pieces.clear();
    without.lines.clear();
    picture.panels[0].paint = &without;
    const Image plain = draw(picture);
    EXPECT_EQ(red(plain), 0);
    EXPECT_EQ(share_of(plain, boundary, 24), 0);
    // From behind, the hidden rim of the opening is drawn faintly.
    Shape tube = open_box({0, 0, 0}, {1, 1, 1}, 1, 1u << 5);
    const MeshView of_tube{tube.positions, tube.triangles, {}};
    const Paint rim =
        paint_defects(*find_intersections(of_tube), find_defect_edges(of_tube, analyse_mesh(of_tube).weld));
    ASSERT_EQ(rim.lines.size(), 4u);
    p = panel(tube);
    p.paint = &rim;
    p.from = {160, 20};
    picture = square(p);
    picture.legend = false;
    const Image behind = draw(picture);
    Paint bare = rim;
    bare.lines.clear();
    picture.panels[0].paint = &bare;
    const Image nothing = draw(picture);
    std::size_t bluer = 0, differ = 0;
    for (std::size_t i = 0; i < behind.rgb.size(); i += 3) {
        differ += behind.rgb[i] != nothing.rgb[i];
        bluer += behind.rgb[i] != nothing.rgb[i] && behind.rgb[i] + 8 < nothing.rgb[i];
    }
    EXPECT_GT(differ, 500u);
    EXPECT_GT(bluer, differ / 2);
    EXPECT_LT(share_of(behind, rim.lines[0].colour, 24), 0.004);  // the visible part at the outline
}

TEST_F(Render, SameBitsAgainAndOnAnyNumberOfThreads) {
    const Character figure = caped();
    Panel p = panel(figure);
    p.from = *viewpoint("three-quarter");
    Context one, two;
    one.threads = 1;
    two.threads = 2;
    const Image first = draw(square(p), &one);
    EXPECT_EQ(first, draw(square(p), &one));
    EXPECT_EQ(first, draw(square(p), &two));
}

TEST_F(Render, MatchesStoredSignatures) {
    // Share of drawn pixels and mean colour of 500 × 500 pictures, recorded after visual inspection.
    struct Signature {
        const char *character, *view;
        double ink;
        std::array<double, 3> mean;
    };
    for (const Signature& s : {Signature{"biped", "joints", 0.134, {138, 125, 116}},
                               Signature{"caped", "strongest", 0.205, {131, 138, 124}},
                               Signature{"quadruped", "joint", 0.290, {155, 147, 145}},
                               Signature{"robot", "count", 0.142, {94, 137, 128}},
                               Signature{"biped", "plain", 0.134, {175, 171, 167}}}) {
        const Character c = make_character(s.character);
        const Result<Binding> binding = bind(c.mesh(), c.skeleton, preset(Method::geodesic_voxel));
        ASSERT_TRUE(binding);
        const SkinWeights weights = *binding->weights();
        const std::string view = s.view;
        const Paint paint = view == "joints"      ? paint_joints(weights, c.skeleton)
                            : view == "strongest" ? paint_strongest(weights, c.skeleton, c.triangles)
                            : view == "joint"     ? paint_joint(weights, c.skeleton, 1)
                            : view == "count"     ? paint_influences(weights)
                                                  : Paint{};
        Panel p = panel(c);
        p.paint = &paint;
        p.from = *viewpoint("three-quarter");
        Picture picture = square(p, 500);
        picture.legend = false;
        const Image image = draw(picture);
        const std::array<double, 3> mean = mean_ink(image);
        const bool fits = std::abs(ink(image) - s.ink) < 0.003 && std::abs(mean[0] - s.mean[0]) < 3 &&
                          std::abs(mean[1] - s.mean[1]) < 3 && std::abs(mean[2] - s.mean[2]) < 3;
        EXPECT_TRUE(fits) << "now: {\"" << s.character << "\", \"" << view << "\", " << ink(image) << ", {"
                          << mean[0] << ", " << mean[1] << ", " << mean[2] << "}},";
    }
}

TEST_F(Render, ErrorsNameTheBadValue) {
    const Shape cube = box({0, 0, 0}, {1, 1, 1});
    auto refuses = [&](const Picture& picture, const char* word) {
        const Result<Image> image = render(picture);
        ASSERT_FALSE(image) << word;
        EXPECT_EQ(image.error().code, ErrorCode::usage);
        EXPECT_NE(image.error().message.find(word), std::string::npos) << image.error().message;
    };
    Picture picture = square(panel(cube));
    picture.width = 9000;
    refuses(picture, "9000");
    picture = {};
    refuses(picture, "no panel");
    Paint paint;
    paint.values = {1, 2, 3};
    picture = square(panel(cube));
    picture.panels[0].paint = &paint;
    refuses(picture, "3 vertices");
    const std::vector<Triangle> wild{{0, 1, 99}};
    picture = square(panel(cube));
    picture.panels[0].triangles = wild;
    refuses(picture, "99");
    paint.values.clear();
    paint.lines = {{0, 77, {}}};
    picture = square(panel(cube));
    picture.panels[0].paint = &paint;
    refuses(picture, "77");
    picture = square(panel(cube));
    picture.panels[0].focus = Focus{{0, 0, 0}, 0};
    refuses(picture, "focus");
    picture = square(panel(cube));
    picture.panels[0].transform(1, 2) = NAN;
    refuses(picture, "not finite");
    picture.panels[0] = {};
    picture.panels[0].voxels = VoxelPanel{};
    refuses(picture, "grid");
}

TEST_F(Render, WritesPngFiles) {
    Image image{3, 2, std::vector<std::uint8_t>(18, 7)};
    const Result<std::vector<std::byte>> png = encode_png(image);
    ASSERT_TRUE(png);
    EXPECT_EQ(static_cast<char>((*png)[1]), 'P');
    image.rgb.pop_back();
    EXPECT_FALSE(encode_png(image));
}

}  // namespace
}  // namespace sinew::test_render
