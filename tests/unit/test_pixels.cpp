// Grids of one layer, and binding through them (pixel-geodesic).
#include <gtest/gtest.h>

#include <numeric>
#include <queue>
#include <random>

#include "characters/figures.h"
#include "field/geodesic.h"
#include "sinew/bind.h"
#include "sinew/cutout.h"
#include "sinew/voxels.h"

namespace sinew::test_pixels {
namespace {

PixelMask mask_of(int width, int height, const std::function<bool(int, int)>& inside) {
    PixelMask mask{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height)};
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) mask.inside[static_cast<std::size_t>(y) * width + x] = inside(x, y);
    return mask;
}

PixelMask random_mask(int width, int height, double share, unsigned seed) {
    std::mt19937 random(seed);
    return mask_of(width, height, [&](int, int) { return static_cast<double>(random()) < share * 4294967295.0; });
}

/// Reference: Dijkstra's algorithm with a heap, independent of the library.
std::vector<std::uint32_t> brute_distances(const PixelMask& mask, const std::vector<std::size_t>& seeds,
                                           bool diagonals) {
    std::vector<std::uint32_t> distance(mask.inside.size(), LeafDistances::unreached);
    std::priority_queue<std::pair<std::uint32_t, std::size_t>, std::vector<std::pair<std::uint32_t, std::size_t>>,
                        std::greater<>>
        queue;
    for (const std::size_t s : seeds) queue.emplace(distance[s] = 0, s);
    while (!queue.empty()) {
        const auto [d, at] = queue.top();
        queue.pop();
        if (d > distance[at]) continue;
        const int x = static_cast<int>(at) % mask.width, y = static_cast<int>(at) / mask.width;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                if (!diagonals && dx * dy != 0) continue;
                if (x + dx < 0 || y + dy < 0 || x + dx >= mask.width || y + dy >= mask.height) continue;
                const std::size_t to = static_cast<std::size_t>(y + dy) * mask.width + (x + dx);
                if (!mask.inside[to]) continue;
                const std::uint32_t step = dx * dy != 0 ? 23170u : 16384u;  // √2 and 1, in 1/16384
                if (d + step < distance[to]) queue.emplace(distance[to] = d + step, to);
            }
    }
    return distance;
}

Skeleton two_bones(Vec3 a, Vec3 b, Vec3 c, Vec3 d) {
    Skeleton skeleton;
    skeleton.joints = {{"first", -1, a, b}, {"second", 0, c, d}};
    return skeleton;
}

TEST(Pixels, OneLayerTakesSquareMemory) {
    const BitGrid grid(4096, 1);
    EXPECT_EQ(grid.words().size(), 4096u * 4096 / 64);
    EXPECT_EQ(grid.layers(), 1);
    const auto made = pixel_grid(mask_of(300, 20, [](int, int) { return true; }));
    ASSERT_TRUE(made.ok());
    EXPECT_EQ(made->transform.resolution, 512);
    EXPECT_EQ(made->interior.count(), 6000u);
    EXPECT_EQ(made->boundary.count(), 0u);
}

TEST(Pixels, DistancesEqualBreadthFirstAndDijkstra) {
    for (const unsigned seed : {1u, 2u, 3u}) {
        const PixelMask mask = random_mask(90, 70, seed == 1 ? 0.95 : 0.65, seed);
        const auto grid = pixel_grid(mask);
        ASSERT_TRUE(grid.ok());
        for (const Neighbours neighbours : {Neighbours::faces, Neighbours::all}) {
            const bool diagonals = neighbours == Neighbours::all;
            const auto domain = build_domain(*grid, {}, DomainKind::sparse, nullptr, neighbours);
            ASSERT_TRUE(domain.ok());
            ASSERT_EQ(domain->leaves.size(), grid->interior.count());
            // Three joints with a few pixels each.
            std::mt19937 random(seed + 10);
            BoneSeeds seeds;
            std::vector<std::vector<std::size_t>> at(3);
            seeds.of_joint.resize(3);
            for (std::size_t j = 0; j < 3; ++j)
                while (at[j].size() < 3) {
                    const std::size_t p = random() % mask.inside.size();
                    if (!mask.inside[p]) continue;
                    at[j].push_back(p);
                    seeds.of_joint[j].push_back(
                        {domain->leaf_at(static_cast<int>(p) % 90, static_cast<int>(p) / 90, 0), 0});
                }
            const GeodesicSolver solver(*domain, {4});
            const std::uint32_t joints[] = {0, 1, 2};
            const auto field = solver.nearest(seeds, joints, {}, 3);
            ASSERT_TRUE(field.ok());
            for (std::uint32_t j = 0; j < 3; ++j) {
                const auto expected = brute_distances(mask, at[j], diagonals);
                for (std::size_t p = 0; p < mask.inside.size(); ++p) {
                    const std::uint32_t leaf =
                        domain->leaf_at(static_cast<int>(p) % 90, static_cast<int>(p) / 90, 0);
                    if (!mask.inside[p]) {
                        ASSERT_EQ(leaf, no_index);
                        continue;
                    }
                    std::uint32_t found = LeafDistances::unreached;
                    for (std::size_t k = 0; k < 3; ++k)
                        if (field->joint(leaf, k) == j) found = field->distance(leaf, k);
                    ASSERT_EQ(found, expected[p]) << "pixel " << p << " joint " << j << " diagonals " << diagonals;
                }
            }
        }
    }
}

/// A strip of pixels with a vertex on every centre of its middle row.
struct Strip {
    PixelMask mask = mask_of(64, 5, [](int, int) { return true; });
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    Strip() {
        for (int x = 0; x < 64; ++x) positions.push_back({static_cast<float>(x) + 0.5f, 2.5f, 0});
        positions.push_back({32.5f, 3.5f, 0});
        for (std::uint32_t x = 0; x < 63; ++x) triangles.push_back({x, x + 1, 64});
    }
};

TEST(PixelGeodesic, WeightsAreTheExponentialOfTheDistance) {
    const Strip strip;
    // Bones over the pixels 0 to 10 and 30 to 63.
    const Skeleton skeleton = two_bones({0.5f, 2.5f, 0}, {10.5f, 2.5f, 0}, {30.5f, 2.5f, 0}, {63.5f, 2.5f, 0});
    for (const float smoothness : {3.0f, 10.0f}) {
        BindOptions options = preset(Method::pixel_geodesic);
        options.mask = &strip.mask;
        options.falloff.smoothness = smoothness / 63;  // the longest side is 63 pixels
        options.finish.prune = 0;
        for (const Neighbours neighbours : {Neighbours::faces, Neighbours::all}) {
            options.neighbours = neighbours;
            const auto binding = bind({strip.positions, strip.triangles, {}}, skeleton, options);
            ASSERT_TRUE(binding.ok()) << binding.error().message;
            const auto weights = binding->weights();
            ASSERT_TRUE(weights.ok());
            for (int x = 0; x < 64; ++x) {
                const double a = std::exp(-std::max(0, x - 10) / static_cast<double>(smoothness));
                const double b = std::exp(-std::max(0, 30 - x) / static_cast<double>(smoothness));
                double second = 0;
                for (const Influence& i : (*weights)[static_cast<std::size_t>(x)])
                    if (i.joint == 1) second = i.weight;
                EXPECT_NEAR(second, b / (a + b), 2e-6) << x;
            }
            EXPECT_EQ(binding->report().covered(), 1);
        }
    }
}

TEST(PixelGeodesic, SmoothnessMayDifferByJoint) {
    const Strip strip;
    const Skeleton skeleton = two_bones({0.5f, 2.5f, 0}, {10.5f, 2.5f, 0}, {50.5f, 2.5f, 0}, {63.5f, 2.5f, 0});
    BindOptions options = preset(Method::pixel_geodesic);
    options.mask = &strip.mask;
    options.falloff.smoothness = 5.0f / 63;
    options.falloff.map.of_joint = {NAN, 15.0f / 63};
    options.finish.prune = 0;
    const auto binding = bind({strip.positions, strip.triangles, {}}, skeleton, options);
    ASSERT_TRUE(binding.ok()) << binding.error().message;
    const auto weights = binding->weights();
    ASSERT_TRUE(weights.ok());
    for (int x = 11; x < 50; ++x) {
        const double a = std::exp(-(x - 10) / 5.0), b = std::exp(-(50 - x) / 15.0);
        double second = 0;
        for (const Influence& i : (*weights)[static_cast<std::size_t>(x)])
            if (i.joint == 1) second = i.weight;
        EXPECT_NEAR(second, b / (a + b), 1e-5) << x;
    }
}

TEST(PixelGeodesic, OnePixelGivesAVertexItsDistances) {
    // Vertices anywhere in the pixels of a figure with holes, and one beside it. Each bone is one pixel.
    PixelMask mask = random_mask(40, 30, 0.85, 7);
    for (const std::size_t p : {0, 1, 2, 40, 41, 42}) mask.inside[p] = true;
    const std::vector<std::uint32_t> reached = brute_distances(mask, {0}, false);
    std::mt19937 random(3);
    std::vector<Vec3> positions;
    std::vector<std::size_t> pixel;
    while (positions.size() < 60) {
        const std::size_t p = random() % mask.inside.size();
        if (reached[p] == LeafDistances::unreached) continue;
        pixel.push_back(p);
        positions.push_back({static_cast<float>(p % 40) + static_cast<float>(random() % 98 + 1) / 100,
                             static_cast<float>(p / 40) + static_cast<float>(random() % 98 + 1) / 100, 0});
    }
    pixel.push_back(0);
    positions.push_back({-0.5f, 0.5f, 0});
    std::vector<Triangle> triangles;
    for (std::uint32_t v = 2; v < positions.size(); ++v) triangles.push_back({v - 2, v - 1, v});
    const Skeleton skeleton = two_bones({0.5f, 0.5f, 0}, {0.5f, 0.5f, 0}, {2.5f, 1.5f, 0}, {2.5f, 1.5f, 0});
    BindOptions options = preset(Method::pixel_geodesic);
    options.mask = &mask;
    options.fit_check = false;  // the bones are points
    const auto distances = [&] {
        const auto binding = bind({positions, triangles, {}}, skeleton, options);
        EXPECT_TRUE(binding.ok()) << binding.error().message;
        return binding->distances();
    };
    const DistanceTable around = distances();
    options.one_pixel = true;
    for (const int most : {4, all_influences}) {
        options.finish.max_influences = most;
        const DistanceTable one = distances();
        const std::vector<std::uint32_t> from[] = {brute_distances(mask, {0}, false),
                                                   brute_distances(mask, {42}, false)};
        std::size_t different = 0;
        for (std::size_t v = 0; v < positions.size(); ++v)
            for (std::size_t k = 0; k < 2; ++k) {
                const std::size_t slot = v * one.width + k;
                EXPECT_NEAR(one.distance[slot], from[one.joint[slot]][pixel[v]] / 16384.0, 1e-4) << v;
                different += std::abs(one.distance[slot] - around.distance[v * around.width + k]) > 0.1;
            }
        EXPECT_GT(different, 30u);  // or the option does nothing
    }
}

/// The gingerbread figure with bones: trunk, two legs, the arm beside the trunk. Pixels, y up.
struct Gingerbread {
    OutlineMesh outline;
    Skeleton skeleton;
    Gingerbread() {
        auto made = outline_mesh(figures::draw(200, 320, figures::gingerbread()));
        EXPECT_TRUE(made.ok()) << made.error().message;
        outline = std::move(*made);
        auto joint = [&](const char* name, int parent, float ax, float ay, float bx, float by) {
            skeleton.joints.push_back({name, parent, {ax, 320 - ay, 0}, Vec3{bx, 320 - by, 0}});
        };
        joint("trunk", -1, 100, 165, 100, 90);
        joint("leg_left", 0, 82, 185, 82, 300);
        joint("leg_right", 0, 118, 185, 118, 300);
        joint("arm", 0, 60, 106, 46, 112);
        joint("hand", 3, 46, 116, 50, 190);
    }
    Result<Binding> bound(float smoothness, Method method = Method::pixel_geodesic,
                          Context* context = nullptr) const {
        BindOptions options = preset(method);
        if (method == Method::pixel_geodesic) options.mask = &outline.mask;
        options.falloff.law = FalloffLaw::exponential;
        options.falloff.smoothness = smoothness;
        return bind({outline.positions, outline.triangles, {}}, skeleton, options, context);
    }
    double weight(const SkinWeights& weights, std::size_t vertex, std::uint32_t joint) const {
        for (const Influence& i : weights[vertex])
            if (i.joint == joint) return i.weight;
        return 0;
    }
};

TEST(PixelGeodesic, NothingBleedsFromLegToLegOrFromTheBodyToTheHand) {
    const Gingerbread figure;
    const auto binding = figure.bound(0.02f);
    ASSERT_TRUE(binding.ok()) << binding.error().message;
    const auto weights = binding->weights();
    ASSERT_TRUE(weights.ok());
    EXPECT_EQ(binding->report().covered(), 1);
    EXPECT_EQ(binding->report().components, 1u);
    const auto straight = figure.bound(0.02f, Method::closest_distance);
    ASSERT_TRUE(straight.ok());
    const auto bled = straight->weights();
    ASSERT_TRUE(bled.ok());
    double most_bled = 0;
    for (std::size_t v = 0; v < figure.outline.positions.size(); ++v) {
        const Vec3 p = figure.outline.positions[v];
        if (p.y < 320 - 240 && p.x < 100) {
            EXPECT_LT(figure.weight(*weights, v, 2), 1e-3) << p.x << ' ' << p.y;
            most_bled = std::max(most_bled, figure.weight(*bled, v, 2));
        }
        if (p.y < 320 - 150 && p.x < 64) {
            EXPECT_GT(figure.weight(*weights, v, 4), 0.95) << p.x << ' ' << p.y;
        }
    }
    EXPECT_GT(most_bled, 0.1);  // straight distance must bleed here, otherwise the test shows nothing
}

TEST(PixelGeodesic, SmoothnessSpreadsWeight) {
    const Gingerbread figure;
    double before = 0;
    for (const float smoothness : {0.01f, 0.05f, 0.2f}) {
        const auto binding = figure.bound(smoothness);
        ASSERT_TRUE(binding.ok());
        const auto weights = binding->weights();
        ASSERT_TRUE(weights.ok());
        double shared = 0;
        for (std::size_t v = 0; v < weights->vertex_count(); ++v) shared += 1 - (*weights)[v].front().weight;
        EXPECT_GT(shared, before);
        before = shared;
    }
}

TEST(PixelGeodesic, ABoneOutsideSnapsWithAWarning) {
    Gingerbread figure;
    figure.skeleton.joints[4].position = {10, 200, 0};
    figure.skeleton.joints[4].tail = Vec3{12, 150, 0};
    const auto binding = figure.bound(0.05f);
    ASSERT_TRUE(binding.ok());
    EXPECT_EQ(binding->report().snapped_joints, std::vector<std::uint32_t>{4});
    ASSERT_EQ(binding->report().warnings.size(), 1u);
    EXPECT_NE(binding->report().warnings[0].find("joint 'hand' lies outside the figure"), std::string::npos);
}

TEST(PixelGeodesic, IslandsAreBridgedAndCounted) {
    const auto outline = outline_mesh(
        figures::draw(200, 100, figures::join({figures::disc(50, 50, 30), figures::disc(140, 50, 35)})));
    ASSERT_TRUE(outline.ok());
    BindOptions options = preset(Method::pixel_geodesic);
    options.mask = &outline->mask;
    const Skeleton skeleton = two_bones({40, 50, 0}, {50, 50, 0}, {50, 50, 0}, {70, 50, 0});
    const auto binding = bind({outline->positions, outline->triangles, {}}, skeleton, options);
    ASSERT_TRUE(binding.ok());
    EXPECT_EQ(binding->report().components, 2u);
    EXPECT_EQ(binding->report().bridged_components, 1u);
    EXPECT_GT(binding->report().coverage[static_cast<std::size_t>(Coverage::bridged)], 10u);
    EXPECT_EQ(binding->report().covered(), 1);
}

TEST(PixelGeodesic, AFlatMeshIsRasterisedInItsPlane) {
    const Gingerbread figure;
    BindOptions options = preset(Method::pixel_geodesic);
    options.voxels.resolution = 512;
    const MeshView mesh{figure.outline.positions, figure.outline.triangles, {}};
    const auto upright = bind(mesh, figure.skeleton, options);
    ASSERT_TRUE(upright.ok()) << upright.error().message;
    // A pixel of the picture is 1.7 wide here. Pixels touched by the border enlarge the figure.
    EXPECT_NEAR(static_cast<double>(upright->report().interior_voxels) / std::pow(509.5 / 303.5, 2), 22300, 1000);
    const auto wanted = figure.bound(options.falloff.smoothness);
    ASSERT_TRUE(wanted.ok());
    const auto a = upright->weights(), b = wanted->weights();
    ASSERT_TRUE(a.ok() && b.ok());
    for (std::size_t v = 0; v < a->vertex_count(); ++v)
        for (std::uint32_t j = 0; j < 5; ++j) EXPECT_NEAR(figure.weight(*a, v, j), figure.weight(*b, v, j), 0.12);

    // The same figure, scaled, in the plane across x.
    std::vector<Vec3> lying;
    for (const Vec3& p : mesh.positions) lying.push_back({7, p.x / 64, p.y / 64});
    Skeleton skeleton = figure.skeleton;
    for (Joint& joint : skeleton.joints) {
        joint.position = {7, joint.position.x / 64, joint.position.y / 64};
        joint.tail = Vec3{7, joint.tail->x / 64, joint.tail->y / 64};
    }
    const auto turned = bind({lying, mesh.triangles, {}}, skeleton, options);
    ASSERT_TRUE(turned.ok()) << turned.error().message;
    const auto c = turned->weights();
    ASSERT_TRUE(c.ok());
    for (std::size_t v = 0; v < a->vertex_count(); ++v)
        for (std::uint32_t j = 0; j < 5; ++j) EXPECT_NEAR(figure.weight(*a, v, j), figure.weight(*c, v, j), 1e-4);
}

TEST(PixelGeodesic, RefusesMeshesThatAreNotFlat) {
    const std::vector<Vec3> positions{{0, 0, 0}, {4, 0, 0}, {0, 4, 1}};
    const std::vector<Triangle> triangles{{0, 1, 2}};
    const auto binding = bind({positions, triangles, {}}, two_bones({0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}),
                              preset(Method::pixel_geodesic));
    ASSERT_FALSE(binding.ok());
    EXPECT_EQ(binding.error().code, ErrorCode::input);
    EXPECT_NE(binding.error().message.find("along z, its thinnest side, this one measures 25 %"), std::string::npos)
        << binding.error().message;
}

TEST(PixelGeodesic, RefusesInvalidMasksAndResolutions) {
    const Strip strip;
    const Skeleton skeleton = two_bones({0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0});
    BindOptions options = preset(Method::pixel_geodesic);
    options.fit_check = false;  // any bones will do
    const MeshView mesh{strip.positions, strip.triangles, {}};
    PixelMask mask = strip.mask;
    options.mask = &mask;
    mask.inside.pop_back();
    EXPECT_EQ(bind(mesh, skeleton, options).error().code, ErrorCode::usage);
    mask = strip.mask;
    mask.width = 5000;
    EXPECT_EQ(bind(mesh, skeleton, options).error().code, ErrorCode::usage);
    mask = strip.mask;
    std::fill(mask.inside.begin(), mask.inside.end(), std::uint8_t{0});
    EXPECT_EQ(bind(mesh, skeleton, options).error().code, ErrorCode::input);
    mask = strip.mask;
    mask.pixel = 0;
    EXPECT_EQ(bind(mesh, skeleton, options).error().code, ErrorCode::usage);
    options.mask = nullptr;
    for (const int resolution : {0, 16, 100, 8192}) {
        options.voxels.resolution = resolution;
        EXPECT_EQ(bind(mesh, skeleton, options).error().code, ErrorCode::usage) << resolution;
    }
    options.voxels.resolution = 4096;
    EXPECT_TRUE(bind(mesh, skeleton, options).ok());
    Context context;
    context.memory_limit = 1 << 20;
    EXPECT_EQ(bind(mesh, skeleton, options, &context).error().code, ErrorCode::too_large);
    options.method = Method::geodesic_voxel;
    EXPECT_EQ(bind(mesh, skeleton, options).error().code, ErrorCode::usage);
}

TEST(PixelGeodesic, ThreadsDoNotChangeTheResult) {
    const Gingerbread figure;
    Context one, four;
    one.threads = 1;
    four.threads = 4;
    const auto a = figure.bound(0.05f, Method::pixel_geodesic, &one);
    const auto b = figure.bound(0.05f, Method::pixel_geodesic, &four);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a->distances().distance, b->distances().distance);
    EXPECT_EQ(a->distances().joint, b->distances().joint);
}

}  // namespace
}  // namespace sinew::test_pixels
