#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>

#include "characters/characters.h"
#include "characters/shapes.h"
#include "domain/lattice.h"
#include "sanitized.h"
#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew::test_voxelize {
namespace {

using test::Shape;

MeshView view(const Shape& s) { return {s.positions, s.triangles, {}}; }

VoxelGrid voxels(const MeshView& mesh, const VoxelizeOptions& options) {
    Result<VoxelGrid> grid = voxelize(mesh, analyse_mesh(mesh), options);
    EXPECT_TRUE(grid) << (grid ? "" : grid.error().message);
    return std::move(*grid);
}

VoxelGrid voxels(const Shape& s, int resolution) { return voxels(view(s), {resolution, true, true}); }

// On average half of a boundary voxel is inside.
double volume(const VoxelGrid& g) {
    const double cell = std::pow(g.transform.voxel, 3);
    return cell * (static_cast<double>(g.interior.count()) + 0.5 * static_cast<double>(g.boundary.count()));
}

std::array<int, 3> voxel_at(const VoxelGrid& g, double x, double y, double z) {
    return {static_cast<int>((x - g.transform.origin[0]) / g.transform.voxel),
            static_cast<int>((y - g.transform.origin[1]) / g.transform.voxel),
            static_cast<int>((z - g.transform.origin[2]) / g.transform.voxel)};
}

TEST(Voxelize, VolumesConverge) {
    struct Case {
        Shape shape;
        double volume;
    } cases[] = {{test::box({0, 0, 0}, {1, 0.5, 0.25}), 1.0},
                 {test::sphere({0, 0, 0}, 1, 4), 4.0 / 3 * std::numbers::pi},
                 {test::torus(1, 0.4, 96, 48), 2 * std::numbers::pi * std::numbers::pi * 0.16}};
    for (const Case& c : cases) {
        double error[3];
        for (int k = 0; k < 3; ++k) error[k] = std::abs(volume(voxels(c.shape, 64 << k)) / c.volume - 1);
        EXPECT_LT(error[0], 0.03);
        EXPECT_LT(error[1], 0.015);
        EXPECT_LT(error[2], 0.008);
    }
}

TEST(Voxelize, BoundaryIsTheTouchedVoxelsOfSnappedCorners) {
    // Samples of a triangle: each is in a boundary voxel, and each boundary voxel contains a sample, or a sample is
    // at its border, because positions are snapped to 1/512 voxel.
    Shape s;
    s.positions = {{0, 0, 0}, {1, 0.3f, 0.1f}, {0.2f, 0.9f, 0.7f}};
    s.triangles = {{0, 1, 2}};
    const VoxelGrid g = voxels(s, 32);
    BitGrid touched(32), grazed(32);
    const int n = 2000;
    for (int i = 0; i <= n; ++i) {
        for (int j = 0; i + j <= n; ++j) {
            const double a = double(i) / n, b = double(j) / n, c = 1 - a - b;
            const Vec3 &p = s.positions[0], &q = s.positions[1], &r = s.positions[2];
            const double x = a * p.x + b * q.x + c * r.x, y = a * p.y + b * q.y + c * r.y,
                         z = a * p.z + b * q.z + c * r.z;
            const auto v = voxel_at(g, x, y, z);
            touched.set(v[0], v[1], v[2]);
            for (int corner = 0; corner < 8; ++corner) {
                const double e = 0.03 * g.transform.voxel;
                const auto near =
                    voxel_at(g, x + (corner & 1 ? e : -e), y + (corner & 2 ? e : -e), z + (corner & 4 ? e : -e));
                grazed.set(near[0], near[1], near[2]);
            }
        }
    }
    std::size_t missed = 0, extra = 0;
    for (std::size_t k = 0; k < g.boundary.words().size(); ++k) {
        missed += std::popcount(touched.words()[k] & ~g.boundary.words()[k]);
        extra += std::popcount(g.boundary.words()[k] & ~grazed.words()[k]);
    }
    EXPECT_LE(missed, 2u);  // samples within the snapping distance of a border
    EXPECT_EQ(extra, 0u);
    EXPECT_GT(g.boundary.count(), 300u);
}

// Whether a triangle intersects a closed box, by clipping it at the sides of the box.
bool comes_into(std::vector<std::array<double, 3>> polygon, const std::array<double, 3>& low,
                const std::array<double, 3>& high) {
    for (std::size_t a = 0; a < 3; ++a)
        for (const int side : {1, -1}) {
            const auto inside = [&](const auto& p) { return side * (p[a] - (side > 0 ? low : high)[a]); };
            std::vector<std::array<double, 3>> left;
            for (std::size_t k = 0; k < polygon.size(); ++k) {
                const auto &p = polygon[k], &q = polygon[(k + 1) % polygon.size()];
                const double at_p = inside(p), at_q = inside(q);
                if (at_p >= 0) left.push_back(p);
                if ((at_p >= 0) == (at_q >= 0)) continue;
                const double t = at_p / (at_p - at_q);
                left.push_back({p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])});
            }
            polygon = std::move(left);
        }
    return !polygon.empty();
}

// How much the snap of positions to 1/512 voxel adds or removes, against triangles as they are.
TEST(Voxelize, SnappingChangesFewBoundaryVoxels) {
    const Shape s = test::sphere({0.1, 0.2, 0.3}, 1, 4);
    const VoxelGrid g = voxels(s, 64);
    BitGrid touched(64);
    for (const Triangle& t : s.triangles) {
        std::vector<std::array<double, 3>> corners;
        std::array<int, 3> low{64, 64, 64}, high{0, 0, 0};
        for (const std::uint32_t v : t) {
            const Vec3& p = s.positions[v];
            const double at[3] = {p.x, p.y, p.z};
            std::array<double, 3> q;
            for (std::size_t k = 0; k < 3; ++k) {
                q[k] = (at[k] - g.transform.origin[k]) / g.transform.voxel;
                low[k] = std::min(low[k], static_cast<int>(q[k]));
                high[k] = std::max(high[k], static_cast<int>(q[k]));
            }
            corners.push_back(q);
        }
        for (int z = low[2]; z <= high[2]; ++z)
            for (int y = low[1]; y <= high[1]; ++y)
                for (int x = low[0]; x <= high[0]; ++x)
                    if (comes_into(corners, {x + 0., y + 0., z + 0.}, {x + 1., y + 1., z + 1.}))
                        touched.set(x, y, z);
    }
    std::size_t extra = 0, missed = 0;
    for (std::size_t k = 0; k < touched.words().size(); ++k) {
        extra += static_cast<std::size_t>(std::popcount(g.boundary.words()[k] & ~touched.words()[k]));
        missed += static_cast<std::size_t>(std::popcount(touched.words()[k] & ~g.boundary.words()[k]));
    }
    const double all = static_cast<double>(touched.count());
    EXPECT_LT(static_cast<double>(extra) / all, 0.005);
    EXPECT_LT(static_cast<double>(missed) / all, 0.001);
    EXPECT_GT(all, 5000);
}

TEST(Voxelize, SmallTrianglesMarkTheVoxelsTheyTouch) {
    // Voxels of size 1, corners at multiples of 1/512, many on borders of voxels. Two corners of the box come
    // first, then triangles of up to three voxels.
    std::mt19937 random(20261123);
    const auto draw = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
    Shape s;
    const int r = 128, half = 32128;  // 62.75 voxels
    const auto corner = [&](const std::array<int, 3>& c) {
        s.positions.push_back({float(c[0]) / 512, float(c[1]) / 512, float(c[2]) / 512});
        return static_cast<std::uint32_t>(s.positions.size() - 1);
    };
    for (const int end : {-half, half})
        s.triangles.push_back({corner({end, end, end}), corner({end, end, end}), corner({end, end, end})});
    for (int t = 0; t < (test::sanitized ? 1000 : 8000); ++t) {
        const int reach = std::array{200, 500, 900}[static_cast<std::size_t>(t) % 3];
        std::array<int, 3> middle;
        for (int& c : middle) c = draw(-half + 1000, half - 1000);
        Triangle triangle;
        for (std::uint32_t& v : triangle) {
            std::array<int, 3> c = middle;
            for (int& x : c) {
                x += draw(-reach, reach);
                if (draw(0, 3) == 0)
                    x = 512 * (x / 512) + 256;  // a border of voxels, since the middle of the box is one
            }
            v = corner(c);
        }
        s.triangles.push_back(triangle);
    }
    const VoxelGrid g = voxels(s, r);
    ASSERT_EQ(g.transform.voxel, 1);
    // Touched voxels by clipping. Marked voxels by the rule of the library: the plane of the triangle touches the
    // voxel, with its range over the voxel's projection rounded outwards, and so do the three projections.
    BitGrid touched(r), marked(r);
    for (const Triangle& t : s.triangles) {
        std::vector<std::array<double, 3>> p;
        std::array<int, 3> first{r, r, r}, last{0, 0, 0};
        for (const std::uint32_t v : t) {
            const Vec3& q = s.positions[v];
            p.push_back({q.x - g.transform.origin[0], q.y - g.transform.origin[1], q.z - g.transform.origin[2]});
            for (std::size_t a = 0; a < 3; ++a) {
                first[a] = std::min(first[a], static_cast<int>(p.back()[a]) - 1);
                last[a] = std::max(last[a], static_cast<int>(p.back()[a]) + 1);
            }
        }
        std::array<double, 3> normal{};
        for (std::size_t a = 0; a < 3; ++a) {
            const std::size_t u = (a + 1) % 3, v = (a + 2) % 3;
            normal[a] = (p[1][u] - p[0][u]) * (p[2][v] - p[0][v]) - (p[1][v] - p[0][v]) * (p[2][u] - p[0][u]);
        }
        std::size_t w = 0;
        for (std::size_t a = 1; a < 3; ++a)
            if (std::abs(normal[a]) > std::abs(normal[w])) w = a;
        const auto plane_touches = [&](const std::array<double, 3>& low) {
            if (normal[w] == 0) return true;
            double least = INFINITY, most = -INFINITY;  // in lattice units
            for (int k = 0; k < 4; ++k) {
                const std::size_t u = (w + 1) % 3, v = (w + 2) % 3;
                const double at =
                    normal[u] * (low[u] + (k & 1) - p[0][u]) + normal[v] * (low[v] + (k >> 1) - p[0][v]);
                least = std::min(least, 512 * p[0][w] - 512 * at / normal[w]);
                most = std::max(most, 512 * p[0][w] - 512 * at / normal[w]);
            }
            return std::floor(least) <= 512 * (low[w] + 1) && std::ceil(most) >= 512 * low[w];
        };
        for (int z = first[2]; z <= last[2]; ++z)
            for (int y = first[1]; y <= last[1]; ++y)
                for (int x = first[0]; x <= last[0]; ++x) {
                    constexpr double e = 1e-11, all = 1e6;
                    const std::array<double, 3> low{x - e, y - e, z - e}, high{x + 1 + e, y + 1 + e, z + 1 + e};
                    if (comes_into(p, low, high)) touched.set(x, y, z);
                    bool shadows = true;
                    for (std::size_t a = 0; a < 3; ++a) {
                        std::array<double, 3> from = low, to = high;
                        from[a] = -all;
                        to[a] = all;
                        shadows = shadows && comes_into(p, from, to);
                    }
                    if (shadows && plane_touches({double(x), double(y), double(z)})) marked.set(x, y, z);
                }
    }
    std::size_t missed = 0, other = 0;
    for (std::size_t k = 0; k < g.boundary.words().size(); ++k) {
        missed += std::popcount(touched.words()[k] & ~g.boundary.words()[k]);
        other += std::popcount(g.boundary.words()[k] ^ marked.words()[k]);
    }
    EXPECT_EQ(missed, 0u);
    EXPECT_EQ(other, 0u);
    EXPECT_GT(g.boundary.count(), test::sanitized ? 3000u : 30000u);
}

TEST(Voxelize, SurfaceHasNoGaps) {
    // Every path from outside to inside through faces of voxels crosses the boundary.
    const VoxelGrid g = voxels(test::sphere({0.1, 0.2, 0.3}, 1, 3), 64);
    const int r = 64;
    for (int z = 1; z < r; ++z)
        for (int y = 1; y < r; ++y)
            for (int x = 1; x < r; ++x) {
                if (!g.interior.get(x, y, z)) continue;
                for (const auto& n : {std::array{x - 1, y, z}, std::array{x, y - 1, z}, std::array{x, y, z - 1},
                                      std::array{x + 1, y, z}, std::array{x, y + 1, z}, std::array{x, y, z + 1}}) {
                    ASSERT_TRUE(g.interior.get(n[0], n[1], n[2]) || g.boundary.get(n[0], n[1], n[2]))
                        << x << " " << y << " " << z;
                }
            }
}

TEST(Voxelize, VoteEqualsWindingNumbersOnClosedMeshes) {
    const test::Character person = test::biped();
    const Shape shapes[] = {test::sphere({0, 0, 0}, 1, 3), test::torus(1, 0.3, 48, 24),
                            test::box({0, 0, 0}, {1, 1, 1}, 3), Shape{person.positions, person.triangles}};
    for (const Shape& s : shapes) {
        const VoxelGrid g = voxels(s, 64);
        EXPECT_EQ(g.ambiguous, 0u);
        std::vector<Vec3> centres;
        std::vector<bool> inside;
        for (int z = 0; z < 64; z += test::sanitized ? 16 : 1)
            for (int y = 0; y < 64; ++y)
                for (int x = 0; x < 64; ++x) {
                    if (g.boundary.get(x, y, z)) continue;
                    centres.push_back({float(g.transform.origin[0] + (x + 0.5) * g.transform.voxel),
                                       float(g.transform.origin[1] + (y + 0.5) * g.transform.voxel),
                                       float(g.transform.origin[2] + (z + 0.5) * g.transform.voxel)});
                    inside.push_back(g.interior.get(x, y, z));
                }
        const std::vector<float> w =
            winding_numbers(view(s), std::vector<bool>(s.triangles.size(), false), centres);
        std::size_t differ = 0;
        for (std::size_t i = 0; i < w.size(); ++i) differ += (w[i] > 0.5f) != inside[i];
        EXPECT_EQ(differ, 0u);
    }
}

TEST(Voxelize, AmbiguousVoxelsAreSettledByWindingNumbers) {
    // Figure 4 of Dionne and de Lasa: from the middle of the cube one of three view pairs agrees.
    const Shape s = test::intersecting_shells();
    const VoxelGrid with = voxels(view(s), {64, true, true}), without = voxels(view(s), {64, false, true});
    EXPECT_GT(with.ambiguous, 0u);
    EXPECT_EQ(with.ambiguous, without.ambiguous);
    EXPECT_GT(with.ambiguous_inside, 0u);
    EXPECT_EQ(without.ambiguous_inside, 0u);
    EXPECT_EQ(with.interior.count(), without.interior.count() + with.ambiguous_inside);
    const auto middle = voxel_at(with, 0.3, 0.3, 0.0);
    EXPECT_TRUE(with.interior.get(middle[0], middle[1], middle[2]));
    EXPECT_FALSE(without.interior.get(middle[0], middle[1], middle[2]));
}

TEST(Voxelize, AmbiguousVoxelsAreKeptOnRequest) {
    const Shape s = test::intersecting_shells();
    VoxelizeOptions options{64, true, true};
    EXPECT_EQ(voxels(view(s), options).ambiguous_voxels.resolution(), 0);
    options.keep_ambiguous = true;
    const VoxelGrid settled = voxels(view(s), options);
    options.winding_numbers = false;
    const VoxelGrid open = voxels(view(s), options);
    EXPECT_EQ(settled.ambiguous_voxels.count(), settled.ambiguous);
    EXPECT_TRUE(settled.ambiguous_voxels == open.ambiguous_voxels);
    std::size_t inside = 0;
    for (std::size_t k = 0; k < open.interior.words().size(); ++k) {
        const std::uint64_t kept = settled.ambiguous_voxels.words()[k];
        EXPECT_EQ(kept & (settled.boundary.words()[k] | open.interior.words()[k]), 0u);
        inside += std::popcount(kept & settled.interior.words()[k]);
    }
    EXPECT_EQ(inside, settled.ambiguous_inside);
}

TEST(Voxelize, CrossingPartsAndNestedPartsAreSolid) {
    Shape two = test::box({-0.3, 0, 0}, {0.5, 0.5, 0.5}, 4);
    append(two, test::box({0.3, 0.1, 0.2}, {0.5, 0.5, 0.5}, 4));
    const VoxelGrid g = voxels(two, 64);
    for (const double x : {-0.6, -0.3, 0.0, 0.3, 0.6}) {
        const auto v = voxel_at(g, x, 0.05, 0.1);
        EXPECT_TRUE(g.interior.get(v[0], v[1], v[2]) || g.boundary.get(v[0], v[1], v[2])) << x;
    }
    const VoxelGrid nested = voxels(test::nested_boxes(), 64);
    const auto v = voxel_at(nested, 0.01, 0.01, 0.01);
    EXPECT_TRUE(nested.interior.get(v[0], v[1], v[2]) || nested.boundary.get(v[0], v[1], v[2]));
}

TEST(Voxelize, FlippedFacesAreRepairedUnlessTurnedOff) {
    Shape s = test::sphere({0, 0, 0}, 1, 3);
    const std::size_t whole = voxels(s, 64).interior.count();
    for (Triangle& t : s.triangles) std::swap(t[1], t[2]);
    EXPECT_EQ(voxels(s, 64).interior.count(), whole);
    EXPECT_EQ(voxels(view(s), {64, true, false}).interior.count(), 0u);
}

TEST(Voxelize, OpenBoxIsFilledByTwoOfThreeViews) {
    const Shape closed = test::box({0, 0, 0}, {1, 1, 1}, 4), open = test::open_box({0, 0, 0}, {1, 1, 1}, 4, 8u);
    EXPECT_NEAR(double(voxels(open, 64).interior.count()), double(voxels(closed, 64).interior.count()),
                0.05 * double(voxels(closed, 64).interior.count()));
}

TEST(Voxelize, PairsOfViewsAreThoseOfEquation5) {
    // A box without its top, and one more sheet above it: seen voxel by voxel, by rays along each axis.
    Shape s = test::open_box({0, 0, 0}, {1, 0.9, 0.8}, 3, 8u);
    const Shape roof = test::sheet({-1.5, -1, 1.21f}, {3, 0.1f, 0}, {0.1f, 2, 0.3f}, 2, 2);
    const auto first = static_cast<std::uint32_t>(s.positions.size());
    s.positions.insert(s.positions.end(), roof.positions.begin(), roof.positions.end());
    for (const Triangle& t : roof.triangles) s.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
    const MeshView mesh = view(s);
    const VoxelGrid grid = voxels(s, 32);
    const Lattice lattice = make_lattice(grid.transform, mesh, nullptr, nullptr);
    const auto at = [&](const Vec3& p, int a) {
        return (double((&p.x)[a]) - grid.transform.origin[a]) / grid.transform.voxel;
    };
    std::size_t differ = 0;
    for (const ViewPairs pairs : {ViewPairs::both, ViewPairs::either}) {
        const PairVotes votes = *vote_by_columns(lattice, pairs, nullptr);
        for (int axis = 0; axis < 3; ++axis)
            for (int j = 0; j < 32; ++j)
                for (int i = 0; i < 32; ++i) {
                    // Where the axis crosses a triangle, and whether its face looks along the axis.
                    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
                    std::vector<std::pair<double, bool>> crossings;
                    for (const Triangle& t : s.triangles) {
                        double c[3][3];
                        for (int k = 0; k < 3; ++k)
                            for (int a = 0; a < 3; ++a) c[k][a] = at(s.positions[t[k]], a);
                        double area = 0, depth = 0;
                        bool inside = true;
                        double part[3];
                        for (int k = 0; k < 3; ++k) {
                            const double *p = c[(k + 1) % 3], *q = c[(k + 2) % 3];
                            part[k] = (p[u] - i - 0.5) * (q[v] - j - 0.5) - (q[u] - i - 0.5) * (p[v] - j - 0.5);
                            area += part[k];
                        }
                        for (int k = 0; k < 3; ++k) {
                            inside &= part[k] / area > 0;
                            depth += part[k] / area * c[k][axis];
                        }
                        if (area != 0 && inside) crossings.push_back({depth, area > 0});
                    }
                    for (int k = 0; k < 32; ++k) {
                        int q[3];
                        q[axis] = k, q[u] = i, q[v] = j;
                        if (grid.boundary.get(q[0], q[1], q[2])) continue;
                        std::pair<double, bool> below{-INFINITY, true}, above{INFINITY, false};
                        for (const auto& c : crossings) {
                            if (c.first < k + 0.5 && c.first > below.first) below = c;
                            if (c.first > k + 0.5 && c.first < above.first) above = c;
                        }
                        // A view sees a back face first: looking up, one that looks up.
                        const bool up = above.second, down = !below.second;
                        const bool internal = pairs == ViewPairs::both ? up && down : up || down;
                        ASSERT_EQ(votes[std::size_t(axis)].get(q[0], q[1], q[2]), internal)
                            << axis << ": " << q[0] << ' ' << q[1] << ' ' << q[2];
                        differ += up != down;
                    }
                }
    }
    EXPECT_GT(differ, 1000u);
}

TEST(Voxelize, SheetHasNoInterior) {
    const VoxelGrid g = voxels(test::sheet({0, 0, 0}, {1, 0, 0}, {0, 0.2, 1}, 8, 8), 64);
    EXPECT_EQ(g.interior.count(), 0u);
    EXPECT_GT(g.boundary.count(), 3000u);
}

TEST(Voxelize, CoplanarDuplicatesChangeNothing) {
    Shape s = test::box({0, 0, 0}, {1, 0.8, 0.6}, 5);
    const VoxelGrid once = voxels(s, 64);
    const std::size_t n = s.triangles.size();
    for (std::size_t t = 0; t < n; ++t) s.triangles.push_back(s.triangles[t]);
    const VoxelGrid twice = voxels(s, 64);
    EXPECT_TRUE(once.boundary == twice.boundary);
    EXPECT_TRUE(once.interior == twice.interior);
}

TEST(Voxelize, ManyOverlappingTrianglesAreReadInBands) {
    // 80 copies of a cube at resolution 256 make more crossings than are held at once.
    test::Shape s = test::box({0, 0, 0}, {1, 0.9, 0.8});
    const VoxelGrid once = voxels(s, 256);
    const std::vector<Triangle> one = s.triangles;
    for (int k = 1; k < 80; ++k) s.triangles.insert(s.triangles.end(), one.begin(), one.end());
    const VoxelGrid many = voxels(s, 256);
    EXPECT_TRUE(once.boundary == many.boundary);
    EXPECT_TRUE(once.interior == many.interior);
}

TEST(Voxelize, SymmetricMeshGivesSymmetricGrid) {
    const VoxelGrid g = voxels(test::torus(1, 0.3, 48, 24), 64);
    // The box's centre is the centre of voxel 32, so x mirrors to 64 - x.
    for (int z = 1; z < 64; ++z)
        for (int y = 1; y < 64; ++y)
            for (int x = 1; x < 64; ++x) ASSERT_EQ(g.interior.get(x, y, z), g.interior.get(64 - x, y, z));
}

TEST(Voxelize, TheLargestGridHoldsTheLargestTriangle) {
    // Triangles across the whole grid at the highest resolution: the widest integers that occur.
    Shape s;
    s.positions = {{0, 0, 0}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}};
    s.triangles = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
    const VoxelGrid g = voxels(view(s), {1024, true, true});
    EXPECT_NEAR(volume(g), 1.0 / 3, 0.002);
}

TEST(Voxelize, RefusesOtherResolutions) {
    for (const int r : {0, -1, 16, 100, 2048}) EXPECT_FALSE(check(VoxelizeOptions{r, true, true}));
    for (const int r : {32, 64, 1024}) EXPECT_TRUE(check(VoxelizeOptions{r, true, true}));
}

TEST(Voxelize, AMeshWithoutExtentIsAnError) {
    Shape s;
    s.positions = {{1, 2, 3}};
    s.triangles = {{0, 0, 0}};
    const Result<VoxelGrid> g = voxelize(view(s), analyse_mesh(view(s)), {});
    ASSERT_FALSE(g);
    EXPECT_EQ(g.error().code, ErrorCode::input);
}

// Local resolution: fine blocks have the voxels of the full resolution, other places those of half the resolution.
// This also holds for a mesh with holes.
TEST(Voxelize, LocalResolutionIsTwoResolutions) {
    test::Shape torn = test::sphere({0, 0, 0}, 1, 4);
    std::size_t kept = 0;
    for (std::size_t t = 0; t < torn.triangles.size(); ++t)
        if (t % 20) torn.triangles[kept++] = torn.triangles[t];
    torn.triangles.resize(kept);
    const MeshView mesh{torn.positions, torn.triangles, {}};
    const MeshTopology topology = analyse_mesh(mesh);
    const Result<VoxelGrid> fine = voxelize(mesh, topology, {128, true, true});
    const FinePlace pole[] = {{{0, 0, 1}, 0.4}};
    const Result<VoxelGrid> local = voxelize(mesh, topology, {128, true, true}, nullptr, pole);
    ASSERT_TRUE(fine && local);
    ASSERT_GT(local->ambiguous_inside, 10000u);
    const BitGrid& blocks = *local->boundary.region().blocks;
    ASSERT_TRUE(local->is_fine(64, 64, 126) && !local->is_fine(64, 64, 64));
    std::size_t differ = 0;
    std::array<std::size_t, 2> boundary{}, interior{};  // coarse, fine
    for (int z = 0; z < 128; ++z)
        for (int y = 0; y < 128; ++y)
            for (int x = 0; x < 128; ++x) {
                const bool is_fine = blocks.get(x / 8, y / 8, z / 8);
                ASSERT_EQ(is_fine, local->is_fine(x, y, z));
                const bool in_coarse = local->coarse_boundary.get(x / 2, y / 2, z / 2) ||
                                       local->coarse_interior.get(x / 2, y / 2, z / 2);
                const bool in_fine = local->boundary.get(x, y, z) || local->interior.get(x, y, z);
                ASSERT_FALSE(is_fine ? in_coarse : in_fine);
                ASSERT_EQ(local->solid(x, y, z), in_coarse || in_fine);
                if (is_fine) {
                    ASSERT_EQ(local->boundary.get(x, y, z), fine->boundary.get(x, y, z));
                    boundary[1] += local->boundary.get(x, y, z);
                    interior[1] += local->interior.get(x, y, z);
                } else {
                    // A cell is touched if one of its voxels is; both snap triangles to 1/512 of their voxels.
                    if (fine->boundary.get(x, y, z)) {
                        ASSERT_TRUE(local->coarse_boundary.get(x / 2, y / 2, z / 2));
                    }
                    boundary[0] += local->coarse_boundary.get(x / 2, y / 2, z / 2);
                    interior[0] += local->coarse_interior.get(x / 2, y / 2, z / 2);
                    if (local->coarse_boundary.get(x / 2, y / 2, z / 2)) continue;
                }
                differ += fine->interior.get(x, y, z) != local->interior.get(x, y, z) && is_fine;
                differ +=
                    !is_fine && fine->interior.get(x, y, z) != local->coarse_interior.get(x / 2, y / 2, z / 2);
            }
    EXPECT_LT(differ, fine->interior.count() / 200);
    for (const std::size_t size : {0, 1}) {
        EXPECT_GT(boundary[size], 500u);
        EXPECT_GT(interior[size], 500u);
    }
    EXPECT_EQ(local->boundary.count(), boundary[1]);
    EXPECT_EQ(8 * local->coarse_interior.count(), interior[0]);
}

TEST(Voxelize, LocalResolutionIsAtLeast64) {
    const test::Shape s = test::sphere({0, 0, 0}, 1, 3);
    const MeshView mesh{s.positions, s.triangles, {}};
    const FinePlace pole[] = {{{0, 0, 1}, 0.4}};
    const Result<VoxelGrid> least = voxelize(mesh, analyse_mesh(mesh), {32, true, true}, nullptr, pole);
    ASSERT_FALSE(least);
    EXPECT_EQ(least.error().code, ErrorCode::usage);
    EXPECT_TRUE(voxelize(mesh, analyse_mesh(mesh), {64, true, true}, nullptr, pole));
}

// A closed mesh has the same inside at both resolutions, also where fine blocks cut triangles.
TEST(Voxelize, LargeTrianglesReachIntoFineBlocks) {
    Shape s;  // a tetrahedron
    s.positions = {{0, 0, 0}, {1, 1, 0}, {0, 1, 1}, {1, 0, 1}};
    s.triangles = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
    const MeshTopology topology = analyse_mesh(view(s));
    const FinePlace places[] = {{{0.5, 0.5, 0.5}, 0.1}, {{0, 0, 0}, 0.2}, {{0.3, 0.9, 0.4}, 0.05}};
    const Result<VoxelGrid> fine = voxelize(view(s), topology, {128, true, true});
    const Result<VoxelGrid> local = voxelize(view(s), topology, {128, true, true}, nullptr, places);
    ASSERT_TRUE(fine && local);
    std::size_t kept = 0;
    for (int z = 0; z < 128; ++z)
        for (int y = 0; y < 128; ++y)
            for (int x = 0; x < 128; ++x) {
                if (!local->is_fine(x, y, z)) continue;
                ASSERT_EQ(local->boundary.get(x, y, z), fine->boundary.get(x, y, z));
                ASSERT_EQ(local->interior.get(x, y, z), fine->interior.get(x, y, z));
                kept += local->solid(x, y, z);
            }
    EXPECT_GT(kept, 10000u);
}

}  // namespace
}  // namespace sinew::test_voxelize
