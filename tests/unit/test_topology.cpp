#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "sinew/domain.h"

namespace sinew::test_topology {
namespace {

struct Shape {
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    MeshView view() const { return {positions, triangles, {}}; }
    MeshTopology analyse() const { return analyse_mesh(view()); }
    void add(const Shape& other, Vec3 at = {}, float size = 1) {
        const std::uint32_t base = std::uint32_t(positions.size());
        for (const Vec3& p : other.positions)
            positions.push_back({at.x + size * p.x, at.y + size * p.y, at.z + size * p.z});
        for (const Triangle& t : other.triangles) triangles.push_back({base + t[0], base + t[1], base + t[2]});
    }
    Shape flipped() const {
        Shape out = *this;
        for (Triangle& t : out.triangles) std::swap(t[1], t[2]);
        return out;
    }
    Shape unwelded() const {
        Shape out;
        for (const Triangle& t : triangles) {
            const std::uint32_t base = std::uint32_t(out.positions.size());
            for (const std::uint32_t v : t) out.positions.push_back(positions[v]);
            out.triangles.push_back({base, base + 1, base + 2});
        }
        return out;
    }
};

Shape box() {  // [-1, 1]³, facing outwards
    Shape s;
    for (int i = 0; i < 8; ++i)
        s.positions.push_back({i & 1 ? 1.0f : -1.0f, i & 2 ? 1.0f : -1.0f, i & 4 ? 1.0f : -1.0f});
    s.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                   {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
    return s;
}

// A grid of n × n quads over [-1, 1]², bent to a height.
template <typename Height>
Shape sheet(int n, Height height) {
    Shape s;
    for (int j = 0; j <= n; ++j)
        for (int i = 0; i <= n; ++i) {
            const float x = 2.0f * float(i) / float(n) - 1, y = 2.0f * float(j) / float(n) - 1;
            s.positions.push_back({x, y, height(x, y)});
        }
    const auto at = [&](int i, int j) { return std::uint32_t(j * (n + 1) + i); };
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            s.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
            s.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
        }
    return s;
}

std::size_t turned_count(const MeshTopology& t) {
    return std::size_t(std::count(t.turned.begin(), t.turned.end(), true));
}

TEST(CheckMesh, ErrorsNameTheElement) {
    Shape s = box();
    EXPECT_TRUE(check_mesh(s.view()).ok());

    Shape empty;
    EXPECT_EQ(check_mesh(empty.view()).error().code, ErrorCode::input);

    Shape nan = s;
    nan.positions[5].y = std::nanf("");
    ASSERT_FALSE(check_mesh(nan.view()).ok());
    EXPECT_NE(check_mesh(nan.view()).error().message.find("vertex 5"), std::string::npos);

    Shape inf = s;
    inf.positions[3].z = -std::numeric_limits<float>::infinity();
    EXPECT_NE(check_mesh(inf.view()).error().message.find("vertex 3"), std::string::npos);

    Shape index = s;
    index.triangles[7][1] = 8;
    EXPECT_NE(check_mesh(index.view()).error().message.find("triangle 7"), std::string::npos);

    Shape point;
    point.positions.assign(3, Vec3{1, 2, 3});
    point.positions.push_back({9, 9, 9});  // unused, so the mesh still has no extent
    point.triangles = {{0, 1, 2}};
    EXPECT_FALSE(check_mesh(point.view()).ok());

    const std::vector<std::uint32_t> skin{0};
    EXPECT_FALSE(check_mesh({s.positions, s.triangles, skin}).ok());
}

TEST(Topology, AClosedBoxHasNoDefects) {
    const MeshTopology t = box().analyse();
    EXPECT_EQ(t.defects.parts, 1u);
    EXPECT_EQ(t.defects.open_parts, 0u);
    EXPECT_EQ(t.defects.boundary_edges, 0u);
    EXPECT_EQ(t.defects.holes, 0u);
    EXPECT_EQ(t.defects.nonmanifold_edges, 0u);
    EXPECT_EQ(t.defects.duplicate_triangles, 0u);
    EXPECT_EQ(t.defects.degenerate_triangles, 0u);
    EXPECT_EQ(t.defects.welded_vertices, 8u);
    EXPECT_EQ(t.defects.flipped_parts, 0u);
    EXPECT_EQ(turned_count(t), 0u);
}

TEST(Topology, SoupIsWeldedByExactPosition) {
    Shape s = box().unwelded();
    s.positions[0].x = s.positions[0].x + 0.0f;
    const MeshTopology t = s.analyse();
    EXPECT_EQ(t.defects.parts, 1u);
    EXPECT_EQ(t.defects.boundary_edges, 0u);
    EXPECT_EQ(t.defects.welded_vertices, 8u);
    for (std::size_t v = 0; v < s.positions.size(); ++v) {
        EXPECT_LE(t.weld[v], v);
        EXPECT_EQ(s.positions[t.weld[v]], s.positions[v]);
        EXPECT_EQ(t.weld[t.weld[v]], t.weld[v]);
    }
}

TEST(Topology, MinusZeroIsZero) {
    Shape s;
    s.positions = {{0.0f, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-0.0f, 0, -0.0f}, {1, -0.0f, 0}, {0.5f, -1, 0}};
    s.triangles = {{0, 1, 2}, {4, 3, 5}};
    const MeshTopology t = s.analyse();
    EXPECT_EQ(t.weld[3], 0u);
    EXPECT_EQ(t.weld[4], 1u);
    EXPECT_EQ(t.defects.parts, 1u);
    EXPECT_EQ(t.defects.boundary_edges, 4u);
}

TEST(Topology, CountsBoundaryLoops) {
    Shape s = box();
    s.triangles.erase(s.triangles.begin() + 10, s.triangles.end());  // no lid
    s.triangles.erase(s.triangles.begin());                          // and a triangle of a side
    const MeshTopology t = s.analyse();
    EXPECT_EQ(t.defects.open_parts, 1u);
    // Lid 4 edges, triangle 3 edges, one of them shared: 0-4-6 has the edge 4-6 of the lid.
    EXPECT_EQ(t.defects.boundary_edges, 5u);
    EXPECT_EQ(t.defects.holes, 1u);
    EXPECT_EQ(t.defects.flipped_parts, 0u);

    Shape two = sheet(4, [](float, float) { return 0.0f; });
    two.triangles.erase(two.triangles.begin() + 2 * 5, two.triangles.begin() + 2 * 6);  // a quad in the middle
    EXPECT_EQ(two.analyse().defects.holes, 2u);
}

TEST(Topology, CountsPartsAndUnusedVertices) {
    Shape s = box();
    s.add(box(), {5, 0, 0});
    s.add(box(), {0, 9, 0}, 0.1f);
    s.positions.push_back({100, 100, 100});
    const MeshTopology t = s.analyse();
    EXPECT_EQ(t.defects.parts, 3u);
    EXPECT_EQ(t.defects.unused_vertices, 1u);
    EXPECT_EQ(t.defects.welded_vertices, 24u);
    EXPECT_EQ(t.part_of_triangle[0], 0u);
    EXPECT_EQ(t.part_of_triangle[12], 1u);
    EXPECT_EQ(t.part_of_triangle[35], 2u);
}

TEST(Topology, CountsNonManifoldDuplicateAndDegenerate) {
    Shape s = box();
    s.positions.push_back({3, 3, 3});
    s.triangles.push_back({7, 3, 8});  // a fin on edge 3-7
    EXPECT_EQ(s.analyse().defects.nonmanifold_edges, 1u);
    EXPECT_EQ(s.analyse().defects.boundary_edges, 2u);
    EXPECT_EQ(turned_count(s.analyse()), 0u);

    Shape d = box();
    d.triangles.push_back(d.triangles[4]);                                             // same winding
    d.triangles.push_back({d.triangles[5][2], d.triangles[5][1], d.triangles[5][0]});  // turned
    const MeshTopology t = d.analyse();
    EXPECT_EQ(t.defects.duplicate_triangles, 2u);
    EXPECT_EQ(t.defects.nonmanifold_edges, 0u);
    EXPECT_EQ(t.defects.boundary_edges, 0u);
    EXPECT_FALSE(t.turned[12]);
    EXPECT_TRUE(t.turned[13]);  // oriented like the triangle that it repeats
    EXPECT_EQ(t.defects.flipped_triangles, 1u);

    Shape twice = box();
    twice.add(box().flipped());  // every face doubled, as for "double-sided"
    EXPECT_EQ(twice.analyse().defects.duplicate_triangles, 12u);
    EXPECT_EQ(twice.analyse().defects.flipped_triangles, 12u);
    EXPECT_EQ(twice.analyse().defects.open_parts, 0u);

    Shape z = box();
    z.triangles.push_back({0, 0, 1});
    z.triangles.push_back({2, 2, 2});
    z.positions.push_back({1.0f / 3, -1, -1});  // on the edge 0-1, up to rounding
    z.triangles.push_back({0, 8, 1});
    EXPECT_EQ(z.analyse().defects.degenerate_triangles, 3u);
}

TEST(Topology, InconsistentTrianglesFollowTheLargerArea) {
    for (std::size_t wrong = 0; wrong < 12; ++wrong) {
        Shape s = box();
        std::swap(s.triangles[wrong][0], s.triangles[wrong][1]);
        const MeshTopology t = s.analyse();
        EXPECT_EQ(turned_count(t), 1u);
        EXPECT_TRUE(t.turned[wrong]);
        EXPECT_EQ(t.defects.flipped_parts, 0u);
        EXPECT_EQ(t.defects.flipped_triangles, 1u);
    }
}

TEST(Topology, FlippedPartIsTurned) {
    Shape s = box();
    s.add(box().flipped(), {5, 0, 0}, 0.5f);
    const MeshTopology t = s.analyse();
    EXPECT_EQ(t.defects.flipped_parts, 1u);
    EXPECT_EQ(t.defects.flipped_triangles, 12u);
    for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(t.turned[i], i >= 12) << i;
    // The same as triangle soup, and far from the origin.
    EXPECT_EQ(s.unwelded().analyse().turned, t.turned);
    Shape far;
    far.add(s, {1e5f, -1e5f, 1e5f}, 100);
    EXPECT_EQ(far.analyse().turned, t.turned);
}

TEST(Topology, ThinClosedPartIsJudgedBySignAlone) {
    Shape s = box();
    for (Vec3& p : s.positions) p.z *= 1e-4f;
    EXPECT_EQ(s.analyse().defects.flipped_parts, 0u);
    EXPECT_EQ(s.flipped().analyse().defects.flipped_parts, 1u);
}

TEST(Topology, WallOfACavityStays) {
    Shape s = box();
    s.add(box().flipped(), {}, 0.8f);
    EXPECT_EQ(turned_count(s.analyse()), 0u);
    // Mirrored as a whole: both walls turn.
    EXPECT_EQ(s.flipped().analyse().defects.flipped_triangles, 24u);
    // A flipped part that is mostly outside of another is not a cavity.
    Shape poking = box();
    poking.add(box().flipped(), {1.5f, 0, 0}, 0.7f);
    EXPECT_EQ(poking.analyse().defects.flipped_triangles, 12u);
}

TEST(Topology, OnlyCurvedOpenPartsHaveAnOutside) {
    const auto dome = [](float x, float y) { return std::sqrt(std::max(0.0f, 2.1f - x * x - y * y)); };
    EXPECT_EQ(sheet(16, dome).analyse().defects.flipped_triangles, 0u);
    EXPECT_EQ(sheet(16, dome).flipped().analyse().defects.flipped_parts, 1u);
    // Flat and wavy sheets have no inside, so neither side is flipped.
    const auto flat = [](float, float) { return 0.0f; };
    const auto wave = [](float x, float) { return 0.1f * std::sin(9 * x); };
    for (const Shape& s :
         {sheet(16, flat), sheet(16, flat).flipped(), sheet(32, wave), sheet(32, wave).flipped()}) {
        EXPECT_EQ(turned_count(s.analyse()), 0u);
        EXPECT_EQ(s.analyse().defects.open_parts, 1u);
    }
}

TEST(Topology, AcceptsAMoebiusStripAndRandomTriangles) {
    Shape m;
    const int n = 12;
    for (int i = 0; i < n; ++i) {
        const float a = 6.2831853f * float(i) / n, b = a / 2;
        for (const float w : {-0.3f, 0.3f})
            m.positions.push_back(
                {(1 + w * std::cos(b)) * std::cos(a), (1 + w * std::cos(b)) * std::sin(a), w * std::sin(b)});
    }
    for (int i = 0; i < n; ++i) {
        const bool last = i == n - 1;
        const std::uint32_t a = std::uint32_t(2 * i), b = a + 1;
        const std::uint32_t c = last ? 1u : a + 2, d = last ? 0u : a + 3;
        m.triangles.push_back({a, c, b});
        m.triangles.push_back({b, c, d});
    }
    const MeshTopology t = m.analyse();
    EXPECT_EQ(t.defects.parts, 1u);
    EXPECT_EQ(t.defects.boundary_edges, 24u);
    EXPECT_EQ(t.defects.holes, 1u);

    std::uint32_t seed = 7;
    const auto random = [&](std::uint32_t below) {
        seed = seed * 1664525u + 1013904223u;
        return (seed >> 9) % below;
    };
    for (int round = 0; round < 200; ++round) {
        Shape r;
        for (int i = 0; i < 12; ++i) r.positions.push_back({float(random(3)), float(random(3)), float(random(2))});
        for (int i = 0; i < 40; ++i) r.triangles.push_back({random(12), random(12), random(12)});
        const MeshTopology a = r.analyse(), b = r.analyse();
        EXPECT_EQ(a.turned, b.turned);
        EXPECT_EQ(a.turned.size(), 40u);
        EXPECT_LE(a.defects.duplicate_triangles + 1, 40u);
        EXPECT_EQ(turned_count(a), a.defects.flipped_triangles);
    }
}

TEST(Topology, HandlesManyTrianglesOnOneEdge) {
    Shape s;
    s.positions = {{0, 0, 0}, {0, 0, 1}};
    for (int i = 0; i < 1000; ++i) {
        const float a = 6.2831853f * float(i) / 1000;
        s.positions.push_back({std::cos(a), std::sin(a), 0.5f});
        s.triangles.push_back({0, 1, std::uint32_t(i + 2)});
        s.triangles.push_back({1, 0, std::uint32_t(i + 2)});
    }
    const MeshTopology t = s.analyse();
    EXPECT_EQ(t.defects.duplicate_triangles, 1000u);
    EXPECT_EQ(t.defects.nonmanifold_edges, 1u);
    EXPECT_EQ(t.defects.boundary_edges, 2000u);
}

// A sheet large enough for many buckets and chunks, with random defects of every kind, in random order.
Shape large_mess() {
    Shape s = sheet(150, [](float x, float y) { return 0.2f * std::sin(9 * x) * std::cos(7 * y); });
    std::uint32_t seed = 3;
    const auto random = [&](std::uint32_t below) {
        seed = seed * 1664525u + 1013904223u;
        return std::uint32_t((std::uint64_t{seed} * below) >> 32);
    };
    std::vector<Triangle> out;
    for (const Triangle& t : s.triangles) {
        const std::uint32_t fate = random(200);
        if (fate == 0) continue;
        out.push_back(fate < 20 ? Triangle{t[0], t[2], t[1]} : t);
        if (fate == 20) out.push_back(t);
        if (fate == 21) out.push_back({t[1], t[0], t[2]});
        if (fate == 22) out.push_back({t[0], t[1], random(std::uint32_t(s.positions.size()))});
        if (fate == 23) out.push_back({t[0], t[0], t[2]});
        if (fate < 30) {  // a separate vertex at the same position
            std::uint32_t& v = out.back()[random(3)];
            s.positions.push_back(s.positions[v]);
            v = std::uint32_t(s.positions.size() - 1);
        }
    }
    // A Möbius strip over random vertices: no orientation is consistent.
    const auto along = [](std::uint32_t i) { return i % 8001 * 7919u % 22801; };
    for (std::uint32_t i = 0; i < 8001; ++i) out.push_back({along(i), along(i + 1), along(i + 2)});
    for (std::size_t i = out.size(); --i > 0;) std::swap(out[i], out[random(std::uint32_t(i + 1))]);
    s.triangles = std::move(out);
    return s;
}

// Reference: edges in a map, components by spreading the smallest number.
TEST(Topology, LargeMeshesEqualAPlainCount) {
    const Shape s = large_mess();
    const MeshTopology t = s.analyse();
    std::map<std::array<float, 3>, std::uint32_t> places;
    std::vector<std::uint32_t> weld(s.positions.size());
    for (std::uint32_t v = 0; v < weld.size(); ++v)
        weld[v] = places.try_emplace({s.positions[v].x, s.positions[v].y, s.positions[v].z}, v).first->second;
    EXPECT_EQ(t.weld, weld);

    std::map<std::array<std::uint32_t, 2>, std::vector<std::uint32_t>> edges;
    std::set<std::array<std::uint32_t, 3>> known;
    std::size_t duplicates = 0;
    std::vector<std::uint32_t> part(s.positions.size());
    std::iota(part.begin(), part.end(), 0u);
    const auto root = [](std::vector<std::uint32_t>& of, std::uint32_t i) {
        while (of[i] != i) i = of[i] = of[of[i]];
        return i;
    };
    std::vector<std::uint8_t> at_triangle(s.positions.size(), 0);
    for (std::uint32_t k = 0; k < s.triangles.size(); ++k) {
        std::array<std::uint32_t, 3> w{weld[s.triangles[k][0]], weld[s.triangles[k][1]], weld[s.triangles[k][2]]};
        for (const std::uint32_t v : w) {
            at_triangle[v] = 1;
            part[root(part, v)] = root(part, w[0]);
        }
        std::sort(w.begin(), w.end());
        if (w[0] == w[1] || w[1] == w[2]) continue;
        if (!known.insert(w).second) {
            ++duplicates;
            continue;
        }
        for (const auto& edge : {std::array{w[0], w[1]}, std::array{w[0], w[2]}, std::array{w[1], w[2]}})
            edges[edge].push_back(k);
    }
    std::size_t boundary = 0, nonmanifold = 0;
    std::vector<std::uint32_t> loop(s.positions.size());
    std::iota(loop.begin(), loop.end(), 0u);
    std::set<std::uint32_t> on_boundary;
    for (const auto& [edge, users] : edges) {
        nonmanifold += users.size() > 2;
        if (users.size() != 1) continue;
        ++boundary;
        loop[root(loop, edge[0])] = root(loop, edge[1]);
        on_boundary.insert(edge.begin(), edge.end());
    }
    std::set<std::uint32_t> loops, parts;
    for (const std::uint32_t v : on_boundary) loops.insert(root(loop, v));
    for (std::uint32_t v = 0; v < weld.size(); ++v) {
        at_triangle[v] = at_triangle[weld[v]];
        if (at_triangle[v] && weld[v] == v) parts.insert(root(part, v));
    }
    EXPECT_GT(boundary, 100u);
    EXPECT_GT(nonmanifold, 100u);
    EXPECT_GT(duplicates, 100u);
    EXPECT_EQ(t.defects.boundary_edges, boundary);
    EXPECT_EQ(t.defects.nonmanifold_edges, nonmanifold);
    EXPECT_EQ(t.defects.duplicate_triangles, duplicates);
    EXPECT_EQ(t.defects.holes, loops.size());
    EXPECT_EQ(t.defects.parts, parts.size());
    EXPECT_EQ(t.at_triangle, at_triangle);
}

TEST(Topology, ThreadsAgree) {
    Context one, more;
    one.threads = 1;
    more.threads = 4;
    Shape mess = large_mess();
    mess.add(box(), {5, 0, 0});
    mess.add(box().flipped(), {9, 0, 0}, 0.5f);
    for (const Shape& s : {mess, mess.unwelded()}) {
        const MeshTopology a = analyse_mesh(s.view(), &one), b = analyse_mesh(s.view(), &more);
        EXPECT_EQ(a.weld, b.weld);
        EXPECT_EQ(a.at_triangle, b.at_triangle);
        EXPECT_EQ(a.part_of_triangle, b.part_of_triangle);
        EXPECT_EQ(a.turned, b.turned);
        EXPECT_GT(turned_count(a), 0u);
        EXPECT_EQ(a.defects.degenerate_triangles, b.defects.degenerate_triangles);
        EXPECT_EQ(a.defects.boundary_edges, b.defects.boundary_edges);
        EXPECT_EQ(a.defects.holes, b.defects.holes);
        EXPECT_EQ(a.defects.flipped_parts, b.defects.flipped_parts);
        EXPECT_EQ(a.defects.flipped_triangles, b.defects.flipped_triangles);
    }
}

}  // namespace
}  // namespace sinew::test_topology
