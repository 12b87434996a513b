// Colours of surfaces and the layout of pictures, without OpenGL.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "render/figure.h"
#include "render/layout.h"
#include "render/oklab.h"
#include "sinew/render.h"
#include "sinew/voxels.h"

namespace sinew::test_paint {
namespace {

using namespace test;

SkinWeights rows(const std::vector<std::vector<Influence>>& rows) {
    std::vector<std::uint32_t> counts;
    std::vector<Influence> all;
    for (const auto& row : rows) {
        counts.push_back(static_cast<std::uint32_t>(row.size()));
        all.insert(all.end(), row.begin(), row.end());
    }
    return *SkinWeights::from_rows(counts, all);
}

Skeleton chain(const std::vector<std::string>& names) {
    Skeleton s;
    for (std::size_t i = 0; i < names.size(); ++i) {
        Joint j;
        j.name = names[i];
        j.parent = static_cast<int>(i) - 1;
        j.position = {0, static_cast<float>(i), 0};
        s.joints.push_back(j);
    }
    return s;
}

double lightness(Rgb c) { return to_oklab(to_linear(c)).l; }

double difference(Rgb a, Rgb b) {
    const Oklab x = to_oklab(to_linear(a)), y = to_oklab(to_linear(b));
    return std::hypot(x.l - y.l, x.a - y.a, x.b - y.b);
}

TEST(Colours, OklabOfKnownColours) {
    // Ottosson's page: white is (1, 0, 0), and the sRGB red (0.628, 0.225, 0.126).
    const Oklab white = to_oklab({1, 1, 1}), red = to_oklab({1, 0, 0});
    EXPECT_NEAR(white.l, 1, 1e-3);
    EXPECT_NEAR(white.a, 0, 1e-3);
    EXPECT_NEAR(red.l, 0.628, 1e-3);
    EXPECT_NEAR(red.a, 0.225, 1e-3);
    EXPECT_NEAR(red.b, 0.126, 1e-3);
    for (int r = 0; r < 256; r += 15)
        for (int b = 0; b < 256; b += 15) {
            const Rgb c{static_cast<std::uint8_t>(r), 130, static_cast<std::uint8_t>(b)};
            EXPECT_EQ(to_rgb(from_oklab(to_oklab(to_linear(c)))), c);
        }
}

TEST(Colours, RampsAreMonotoneInLightnessAndEven) {
    for (const Ramp ramp : {Ramp::heat, Ramp::depth}) {
        const double sign = ramp == Ramp::heat ? 1 : -1;
        const double whole = sign * (lightness(ramp_colour(ramp, 1)) - lightness(ramp_colour(ramp, 0)));
        EXPECT_GT(whole, 0.55);
        for (int i = 0; i < 64; ++i) {
            const double step =
                sign * (lightness(ramp_colour(ramp, (i + 1) / 64.0)) - lightness(ramp_colour(ramp, i / 64.0)));
            EXPECT_GT(step, 0.3 * whole / 64) << i;
            EXPECT_LT(step, 1.8 * whole / 64) << i;
        }
        EXPECT_EQ(ramp_colour(ramp, -3), ramp_colour(ramp, 0));
        EXPECT_EQ(ramp_colour(ramp, 7), ramp_colour(ramp, 1));
        EXPECT_EQ(ramp_colour(ramp, NAN), ramp_colour(ramp, 0));
    }
}

TEST(Colours, NeighboursInTheSkeletonDiffer) {
    for (const std::string& name : character_names()) {
        const Skeleton skeleton = make_character(name).skeleton;
        const std::vector<Rgb> colours = joint_colours(skeleton);
        ASSERT_EQ(colours.size(), skeleton.joints.size());
        for (std::size_t j = 0; j < colours.size(); ++j) {
            const int p = skeleton.joints[j].parent;
            if (p < 0) continue;
            EXPECT_GT(difference(colours[j], colours[static_cast<std::size_t>(p)]), 0.08)
                << name << ": " << skeleton.joints[j].name;
        }
    }
}

TEST(Colours, LeftIsLighterThanRight) {
    const Character person = biped();
    const std::vector<Rgb> colours = joint_colours(person.skeleton);
    for (const char* name : {"upper_arm", "lower_arm", "hand", "upper_leg", "foot"}) {
        const double left = lightness(colours[person.joint(name + std::string("_L"))]);
        const double right = lightness(colours[person.joint(name + std::string("_R"))]);
        EXPECT_GT(left, right + 0.15) << name;
    }
}

TEST(Colours, InvalidSkeletonsTerminate) {
    EXPECT_TRUE(joint_colours({}).empty());
    Skeleton loop = chain({"a", "b", "c"});
    loop.joints[0].parent = 2;
    EXPECT_EQ(joint_colours(loop).size(), 3u);
    loop.joints[1].parent = 99;
    EXPECT_EQ(joint_colours(loop).size(), 3u);
}

TEST(Paints, JointIsPaintedByItsWeight) {
    const Paint paint = paint_joint(rows({{{0, 1.0f}}, {{0, 0.25f}, {1, 0.75f}}, {}}), chain({"hip", "knee"}), 1);
    EXPECT_EQ(paint.values, (std::vector<float>{0, 0.75f, 0}));
    EXPECT_EQ(paint.isolines, (std::vector<double>{0.25, 0.5, 0.75}));
    EXPECT_TRUE(paint.zero_is_plain);
    EXPECT_NE(paint.legend.title.find("knee"), std::string::npos);
}

TEST(Paints, JointsAreMixedInLight) {
    const Skeleton skeleton = chain({"hip", "knee"});
    const std::vector<Rgb> colours = joint_colours(skeleton);
    const Paint paint = paint_joints(rows({{{0, 1.0f}}, {{1, 1.0f}}, {{0, 0.5f}, {1, 0.5f}}, {}}), skeleton);
    EXPECT_EQ(paint.colours[0], colours[0]);
    EXPECT_EQ(paint.colours[1], colours[1]);
    EXPECT_NEAR(to_linear(paint.colours[2].g), (to_linear(colours[0].g) + to_linear(colours[1].g)) / 2, 0.005);
    EXPECT_EQ(paint.colours[3].r, paint.colours[3].g);
    ASSERT_EQ(paint.legend.entries.size(), 2u);
    EXPECT_EQ(paint.legend.entries[0].name, "hip");
}

double area(const Paint::Piece& p) {
    const auto& c = p.corners;
    return std::abs((c[1][0] - c[0][0]) * (c[2][1] - c[0][1]) - (c[2][0] - c[0][0]) * (c[1][1] - c[0][1]));
}

TEST(Paints, BordersOfTheStrongestAreExact) {
    // Weights 1, 0, 0 against 0, 1, 1: equal along the line between the midpoints of two sides, which cuts off a
    // quarter of the area.
    const Skeleton skeleton = chain({"hip", "knee"});
    const std::vector<Rgb> colours = joint_colours(skeleton);
    const std::vector<Triangle> triangle{{0, 1, 2}};
    const Paint paint = paint_strongest(rows({{{0, 1.0f}}, {{1, 1.0f}}, {{1, 1.0f}}}), skeleton, triangle);
    double hip = 0, knee = 0;
    for (const Paint::Piece& p : paint.pieces) (p.colour == colours[0] ? hip : knee) += area(p);
    EXPECT_NEAR(hip, 0.25, 1e-6);
    EXPECT_NEAR(knee, 0.75, 1e-6);
}

TEST(Paints, AJointThatIsStrongestOnlyInsideATriangle) {
    const Skeleton skeleton = chain({"a", "b", "c", "middle"});
    const std::vector<Triangle> triangle{{0, 1, 2}};
    const Paint paint = paint_strongest(
        rows({{{0, 0.52f}, {3, 0.48f}}, {{1, 0.52f}, {3, 0.48f}}, {{2, 0.52f}, {3, 0.48f}}}), skeleton, triangle);
    const std::vector<Rgb> colours = joint_colours(skeleton);
    double middle = 0, all = 0;
    for (const Paint::Piece& p : paint.pieces) {
        all += area(p);
        if (p.colour == colours[3]) middle += area(p);
    }
    // a leads where its share exceeds 0.48 / 0.52: three corners of side 1 - 0.923.
    EXPECT_NEAR(all, 1, 1e-5);
    EXPECT_NEAR(middle, 1 - 3 * std::pow(1 - 0.48 / 0.52, 2), 1e-4);
}

TEST(Paints, StrongestCoversEveryTriangleOnce) {
    const Character person = robot();
    std::vector<std::vector<Influence>> table;
    for (std::size_t v = 0; v < person.positions.size(); ++v) {
        const auto a = static_cast<std::uint32_t>(v * 7 % 5), b = static_cast<std::uint32_t>(v * 3 % 5);
        table.push_back(a == b ? std::vector<Influence>{{a, 1.0f}} : std::vector<Influence>{{a, 0.5f}, {b, 0.5f}});
    }
    const Paint paint = paint_strongest(rows(table), person.skeleton, person.triangles);
    std::map<std::uint32_t, double> covered;
    for (const Paint::Piece& p : paint.pieces) covered[p.triangle] += area(p);
    ASSERT_EQ(covered.size(), person.triangles.size());
    for (const auto& [triangle, sum] : covered) EXPECT_NEAR(sum, 1, 1e-5) << triangle;
}

TEST(Paints, ValuesHaveRoundTicks) {
    const Paint paint = paint_values({0, 1}, "metres", Ramp::depth, 0, 1.73, 10);
    EXPECT_EQ(paint.legend.ticks, (std::vector<double>{0, 0.5, 1.0, 1.5}));
    EXPECT_EQ(paint.isolines.size(), 9u);  // 0, 0.2, … 1.6
    EXPECT_EQ(short_number(0.25, 0.25), "0.25");
    EXPECT_EQ(short_number(1, 0.25), "1.00");
    EXPECT_EQ(short_number(-0.0, 1), "0");
    EXPECT_EQ(short_number(2e-6, 1e-6), "2e-06");
}

TEST(Paints, InfluencesAreCounted) {
    const Paint paint = paint_influences(rows({{{0, 1.0f}}, {{0, 0.5f}, {1, 0.5f}}, {}}));
    ASSERT_EQ(paint.legend.entries.size(), 3u);
    EXPECT_EQ(paint.legend.entries[0].name, "none (1 vertex)");
    EXPECT_EQ(paint.colours[1], paint.legend.entries[2].colour);
}

// Every character half an em wide.
double half_em(const std::string& text, double size) {
    double n = 0;
    for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return 0.5 * size * n;
}

Legend many(std::size_t count, const std::string& name) {
    Legend legend;
    legend.title = "joints";
    for (std::size_t i = 0; i < count; ++i) legend.entries.push_back({name + std::to_string(i), {}});
    return legend;
}

TEST(Layout, EverythingIsWithinThePictureAndNothingOverlaps) {
    Legend bar;
    bar.title = "weight of a joint with a name of many words that is long";
    bar.low = 0, bar.high = 1, bar.ticks = {0, 0.25, 0.5, 0.75, 1};
    const Legend names = many(70, "mixamorig:LeftHandMiddle");
    for (const auto& [width, height] : {std::pair{1600, 1200},
                                        {3840, 2160},
                                        {200, 150},
                                        {64, 64},
                                        {64, 900},
                                        {600, 1200},
                                        {1200, 90},
                                        {8192, 8192}})
        for (const std::size_t panels : {1, 2, 10})
            for (const int legends : {0, 1, 2, 3}) {
                Picture picture;
                picture.width = width, picture.height = height;
                picture.title = "A title";
                picture.panels.resize(panels);
                for (Panel& p : picture.panels) p.title = "three-quarter";
                std::vector<LegendOf> of;
                if (legends & 1) of.push_back({&bar, true});
                if (legends & 2) of.push_back({&names, false});
                const Layout layout = lay_out(picture, of, 1, 1.8, half_em);
                ASSERT_EQ(layout.panels.size(), panels);
                const std::string where = std::to_string(width) + "x" + std::to_string(height) + ", " +
                                          std::to_string(panels) + " panels, " + std::to_string(legends);
                for (const Box& b : layout.panels) {
                    EXPECT_TRUE(b.width >= 1 && b.height >= 1) << where;
                    EXPECT_TRUE(b.x >= 0 && b.y >= 0 && b.right() <= width && b.bottom() <= height) << where;
                }
                for (std::size_t a = 0; a < panels; ++a)
                    for (std::size_t b = a + 1; b < panels; ++b) {
                        const Box &p = layout.panels[a], &q = layout.panels[b];
                        EXPECT_TRUE(p.right() <= q.x || q.right() <= p.x || p.bottom() <= q.y || q.bottom() <= p.y)
                            << where;
                    }
                for (const TextItem& t : layout.texts) {
                    EXPECT_GE(t.x, -0.5) << where << ": " << t.text;
                    EXPECT_LE(t.x + half_em(t.text, t.size), width + 1.0) << where << ": " << t.text;
                    EXPECT_LE(t.y, height) << where << ": " << t.text;
                }
                // Texts on one line do not overlap.
                for (std::size_t a = 0; a < layout.texts.size(); ++a)
                    for (std::size_t b = a + 1; b < layout.texts.size(); ++b) {
                        const TextItem &s = layout.texts[a], &t = layout.texts[b];
                        if (s.text.empty() || t.text.empty() ||
                            std::abs(s.y - t.y) > 0.7 * std::min(s.size, t.size))
                            continue;
                        EXPECT_TRUE(s.x + half_em(s.text, s.size) <= t.x + 1 ||
                                    t.x + half_em(t.text, t.size) <= s.x + 1)
                            << where << ": '" << s.text << "' and '" << t.text << "'";
                    }
            }
}

TEST(Layout, EntriesThatDoNotFitAreCounted) {
    const Legend names = many(500, "joint");
    Picture picture;
    picture.panels.resize(1);
    const Layout layout = lay_out(picture, {{&names, false}}, 1, 1, half_em);
    std::size_t shown = 0, more = 0;
    for (const TextItem& t : layout.texts) {
        if (t.text.starts_with("joint") && t.text != "joints") ++shown;
        if (t.text.starts_with("and ")) more = std::stoul(t.text.substr(4));
    }
    EXPECT_GT(shown, 20u);
    EXPECT_EQ(shown + more, 500u);
    EXPECT_EQ(layout.swatches.size(), shown);
}

TEST(Layout, TextsAreCutAtCharacters) {
    EXPECT_EQ(fit_text("short", 10, 100, half_em), "short");
    EXPECT_EQ(fit_text("左腕の骨と手", 10, 20, half_em), "左腕の…");
    EXPECT_EQ(fit_text("anything", 10, 1, half_em), "");
}

TEST(Figures, ViewpointsHaveTheirDirections) {
    const auto back = [](const char* name) { return eye_at(*viewpoint(name)).back; };
    EXPECT_NEAR(back("front")[2], 1, 1e-12);
    EXPECT_NEAR(back("left")[0], 1, 1e-12);
    EXPECT_NEAR(back("right")[0], -1, 1e-12);
    EXPECT_NEAR(back("top")[1], 1, 1e-12);
    EXPECT_FALSE(viewpoint("below"));
    const Eye eye = eye_at({35, 15});
    double handed = 0, across = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        across += eye.right[k] * eye.up[k];
        handed += eye.back[k] *
                  (eye.right[(k + 1) % 3] * eye.up[(k + 2) % 3] - eye.right[(k + 2) % 3] * eye.up[(k + 1) % 3]);
    }
    EXPECT_NEAR(across, 0, 1e-12);
    EXPECT_NEAR(handed, 1, 1e-12);
}

VoxelGrid block(int r, int from, int to) {
    VoxelGrid grid;
    grid.transform.resolution = r;
    grid.boundary = BitGrid(r);
    grid.interior = BitGrid(r);
    for (int z = from; z < to; ++z)
        for (int y = from; y < to; ++y)
            for (int x = from; x < to; ++x) {
                const bool shell = x == from || y == from || z == from || x == to - 1 || y == to - 1 || z == to - 1;
                (shell ? grid.boundary : grid.interior).set(x, y, z);
            }
    return grid;
}

TEST(Figures, ABlockShowsItsSides) {
    const VoxelGrid grid = block(128, 50, 80);  // across the border of two words
    VoxelPanel panel;
    panel.grid = &grid;
    constexpr std::array<bool, 6> all{true, true, true, true, true, true};
    VoxelFaces faces = voxel_faces(panel, all, nullptr);
    EXPECT_EQ(faces.faces.size(), 6u * 30 * 30);
    EXPECT_EQ(faces.shown[0] + faces.shown[1], 27000u);
    EXPECT_EQ(faces.shown[1], 28u * 28 * 28);
    panel.cut_to = {0.5, 1, 1};
    faces = voxel_faces(panel, all, nullptr);
    EXPECT_EQ(faces.faces.size(), 2u * 30 * 30 + 4u * 15 * 30);
    std::size_t inside = 0;
    for (const VoxelFace& f : faces.faces) inside += f.kind == VoxelKind::interior;
    EXPECT_EQ(inside, 28u * 28);
    // Bones are drawn completely.
    const Bone bone{0, {65.5f, 65.5f, 65.5f}, {75.5f, 65.5f, 65.5f}, true, true};
    panel.bones = {&bone, 1};
    EXPECT_EQ(voxel_faces(panel, all, nullptr).shown[std::size_t(VoxelKind::bone)], 11u);
    faces = voxel_faces(panel, {false, true, false, false, false, false}, nullptr);
    for (const VoxelFace& f : faces.faces) EXPECT_EQ(f.direction, 1);
}

TEST(Figures, AmbiguousVoxelsAreShownByWindingNumber) {
    VoxelGrid grid = block(64, 20, 30);
    grid.ambiguous_voxels = BitGrid(64);
    grid.ambiguous_voxels.set(25, 25, 25);  // of the interior
    grid.ambiguous_voxels.set(40, 25, 25);  // outside
    grid.ambiguous_voxels.set(41, 25, 25);
    VoxelPanel panel;
    panel.grid = &grid;
    panel.cut_to = {1, 1, 1};
    const VoxelFaces faces = voxel_faces(panel, {true, true, true, true, true, true}, nullptr);
    EXPECT_EQ(faces.shown[std::size_t(VoxelKind::interior)], 511u);
    EXPECT_EQ(faces.shown[std::size_t(VoxelKind::settled)], 1u);
    EXPECT_NE(voxel_colour(VoxelKind::settled), voxel_colour(VoxelKind::ambiguous));
}

TEST(Paints, DefectsHaveTheirColoursAndNumbers) {
    Intersections intersections;
    intersections.of_triangle = {Intersects::nothing, Intersects::another, Intersects::another};
    intersections.triangles = 2;
    const DefectEdges edges{{{0, 1}, {1, 2}}, {{2, 3}}};
    const Paint paint = paint_defects(intersections, edges);
    ASSERT_EQ(paint.pieces.size(), 3u);
    EXPECT_EQ(paint.pieces[1].colour, paint.pieces[2].colour);
    EXPECT_GT(paint.pieces[1].colour.r, 2 * paint.pieces[1].colour.g);
    EXPECT_EQ(paint.pieces[0].colour, plain_colour());
    ASSERT_EQ(paint.lines.size(), 3u);
    EXPECT_EQ(paint.lines[1].to, 2u);
    EXPECT_EQ(paint.lines[0].colour, paint.lines[1].colour);
    EXPECT_NE(paint.lines[0].colour, paint.lines[2].colour);
    const auto& entries = paint.legend.entries;
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].name, "2 intersecting triangles");
    EXPECT_EQ(entries[1].name, "2 boundary edges");
    EXPECT_EQ(entries[2].name, "1 non-manifold edge");
    EXPECT_EQ(entries[0].colour, paint.pieces[1].colour);
    EXPECT_EQ(entries[2].colour, paint.lines[2].colour);
    intersections.of_triangle[0] = Intersects::undecided;
    intersections.undecided = 1;
    EXPECT_EQ(paint_defects(intersections, edges).legend.entries.size(), 4u);
}

TEST(Figures, LinesAreStripsInFrontOfTheSurface) {
    const Shape flat = sheet({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 1, 1);
    Paint paint;
    paint.lines = {{0, 1, {1, 2, 3}}, {0, 0, {4, 5, 6}}};
    Panel panel;
    panel.positions = flat.positions;
    panel.triangles = flat.triangles;
    panel.paint = &paint;
    const Placement placement = place(panel, extent_of(panel), {0, 0, 200, 200}, 100);
    const std::vector<Corner> corners = line_corners(panel, placement, 4);
    ASSERT_EQ(corners.size(), 12u);
    float low = 1e9f, high = -1e9f;
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(corners[i].colour[2], 3);
        EXPECT_FLOAT_EQ(corners[i].z, 4);
        low = std::min(low, corners[i].y);
        high = std::max(high, corners[i].y);
    }
    EXPECT_FLOAT_EQ(high - low, 4);  // it runs across
    for (std::size_t i = 6; i < 12; ++i) EXPECT_TRUE(std::isfinite(corners[i].x + corners[i].y));
}

TEST(Figures, NormalsAreSmoothOnASphereAndSharpOnABox) {
    const Shape ball = sphere({0, 0, 0}, 1, 3);
    Panel panel;
    panel.positions = ball.positions;
    panel.triangles = ball.triangles;
    const Extent extent = extent_of(panel);
    EXPECT_NEAR(extent.width(), 2, 0.02);
    const Placement placement = place(panel, extent, {0, 0, 200, 200}, 100);
    for (const Corner& c : surface_corners(panel, placement, nullptr)) {
        const double p[3] = {(c.x - 100) / 100, (c.y - 100) / 100, c.z / 100};
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(c.normal[k] / 127.0, p[k], 0.03);
    }
    // Every third triangle reversed: its normals are reversed, those of its neighbours are not.
    Shape mixed = ball;
    for (std::size_t t = 0; t < mixed.triangles.size(); t += 3)
        std::swap(mixed.triangles[t][0], mixed.triangles[t][1]);
    panel.triangles = mixed.triangles;
    const std::vector<Corner> corners = surface_corners(panel, placement, nullptr);
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const Corner& c = corners[i];
        const double p[3] = {(c.x - 100) / 100, (c.y - 100) / 100, c.z / 100}, sign = i / 3 % 3 == 0 ? -1 : 1;
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(sign * c.normal[k] / 127.0, p[k], 0.03);
    }
    // One reversed side does not change the others.
    Shape cube = box({0, 0, 0}, {1, 1, 1}, 2);
    std::swap(cube.triangles[0][0], cube.triangles[0][1]);
    panel.positions = cube.positions;
    panel.triangles = cube.triangles;
    for (const Corner& c : surface_corners(panel, placement, nullptr)) {
        int axes = 0;
        for (std::size_t k = 0; k < 3; ++k) axes += std::abs(c.normal[k]) == 127;
        EXPECT_EQ(axes, 1);
    }
}

}  // namespace
}  // namespace sinew::test_paint
