// Triangles that pass through others.
//
// Triangles are sorted along a Morton curve and gathered in groups of four, and the boxes of four groups in a box
// of the next level. The triangles of a group query this tree together. A triangle leaves the query at the first
// triangle that it intersects, so a mesh with many intersections takes no more time than a mesh with few. Two
// triangles are compared by their intervals on the line in which their planes meet (Möller 1997).
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <tuple>

#include "core/morton.h"
#include "core/parallel.h"
#include "core/union_find.h"
#include "core/vectors.h"
#include "sinew/domain.h"

namespace sinew {
namespace {

// Below this depth triangles only touch. Rounding of coordinates moves a corner by less.
constexpr double kSlackOfBox = 2e-6;             // relative to the longest side of the box
constexpr double kSlackOfCoordinates = 0x1p-21;  // relative to the largest coordinate: four units in the last place
// Steps are box tests. A group of a usual mesh needs a few hundred; the total limits the time for adversarial
// meshes to seconds.
constexpr std::size_t kGroup = 4, kSteps = std::size_t{1} << 28, kLeastSteps = 2048, kStepsOfPair = 8;

struct Box {
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};

    void add(const Box& b) {
        for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], b.low[k]), high[k] = std::max(high[k], b.high[k]);
    }
    Box grown(float by) const {
        Box out = *this;
        for (int k = 0; k < 3; ++k) out.low[k] -= by, out.high[k] += by;
        return out;
    }
};

// Four boxes that are compared at once. No box meets an empty box.
struct Boxes {
    float low[3][kGroup], high[3][kGroup];

    Box box(std::size_t i) const {
        return {{low[0][i], low[1][i], low[2][i]}, {high[0][i], high[1][i], high[2][i]}};
    }
    void set(std::size_t i, const Box& b) {
        for (int k = 0; k < 3; ++k) low[k][i] = b.low[k], high[k][i] = b.high[k];
    }
    Box whole() const {
        Box out = box(0);
        for (std::size_t i = 1; i < kGroup; ++i) out.add(box(i));
        return out;
    }
    // A bit for each box that meets b: the largest gap along an axis is not positive. Branchless and
    // vectorised.
    unsigned meet(const Box& b) const {
        const auto larger = [](float x, float y) { return x < y ? y : x; };
        float gap[kGroup];
        for (std::size_t i = 0; i < kGroup; ++i) {
            const float x = larger(low[0][i] - b.high[0], b.low[0] - high[0][i]),
                        y = larger(low[1][i] - b.high[1], b.low[1] - high[1][i]),
                        z = larger(low[2][i] - b.high[2], b.low[2] - high[2][i]);
            gap[i] = larger(larger(x, y), z);
        }
        return unsigned(gap[0] <= 0) | unsigned(gap[1] <= 0) << 1 | unsigned(gap[2] <= 0) << 2 |
               unsigned(gap[3] <= 0) << 3;
    }
};

struct Corners {
    std::array<Vec3, 3> at;
    std::array<std::uint32_t, 3> hash;  // of each position
};

std::uint32_t hash_of(const Vec3& p) {
    // Adding +0 turns -0 into +0 and changes nothing else.
    std::uint32_t h = std::bit_cast<std::uint32_t>(p.x + 0.0f) * 0x9e3779b1u;
    h = (h ^ h >> 15 ^ std::bit_cast<std::uint32_t>(p.y + 0.0f)) * 0x85ebca77u;
    h = (h ^ h >> 13 ^ std::bit_cast<std::uint32_t>(p.z + 0.0f)) * 0xc2b2ae3du;
    return h ^ h >> 16;
}

Box box_of(const std::array<Vec3, 3>& t) {
    return {{std::min({t[0].x, t[1].x, t[2].x}), std::min({t[0].y, t[1].y, t[2].y}),
             std::min({t[0].z, t[1].z, t[2].z})},
            {std::max({t[0].x, t[1].x, t[2].x}), std::max({t[0].y, t[1].y, t[2].y}),
             std::max({t[0].z, t[1].z, t[2].z})}};
}

// Most triangles whose boxes meet are neighbours, so this is the most frequent test.
bool share_a_position(const Corners& a, const Corners& b) {
    unsigned alike = 0;
    for (const std::uint32_t p : a.hash)
        for (const std::uint32_t q : b.hash) alike |= unsigned(p == q);
    if (!alike) return false;
    for (const Vec3& p : a.at)
        for (const Vec3& q : b.at)
            if (p == q) return true;
    return false;
}

// A triangle with its plane.
struct Face {
    std::array<Point3, 3> corner;
    Point3 normal{};   // of length 1
    double area2 = 0;  // twice its area

    explicit Face(const Corners& t) : corner{to_point(t.at[0]), to_point(t.at[1]), to_point(t.at[2])} {
        const Point3 n = cross(corner[1] - corner[0], corner[2] - corner[0]);
        area2 = norm(n);
        if (area2 > 0) normal = (1 / area2) * n;
    }
    // Thinner than `slack`: it has no interior.
    bool thin(double slack) const {
        double longest2 = 0;
        for (int k = 0; k < 3; ++k) {
            const Point3 e = corner[(k + 1) % 3] - corner[k];
            longest2 = std::max(longest2, dot(e, e));
        }
        return area2 <= slack * std::sqrt(longest2);
    }
};

// Heights of the corners of a triangle above the plane of another.
struct Heights {
    Point3 of;
    double low, high;

    Heights(const Face& plane, const Face& face) {
        for (std::size_t k = 0; k < 3; ++k) of[k] = dot(plane.normal, face.corner[k] - plane.corner[0]);
        low = std::min({of[0], of[1], of[2]});
        high = std::max({of[0], of[1], of[2]});
    }
    bool within(double slack) const { return low >= -slack && high <= slack; }
    bool beside(double slack) const { return low > slack || high < -slack; }
    bool across(double slack) const { return low < -slack && high > slack; }
};

// The interval of the triangle on the line along `direction` through `origin`, in which the two planes meet.
std::array<double, 2> cut(const Face& face, const Heights& heights, const Point3& origin, const Point3& direction) {
    const Point3& h = heights.of;
    // The corner that is alone on its side.
    const bool up[3] = {h[0] > 0, h[1] > 0, h[2] > 0};
    const std::size_t alone = up[1] == up[2] ? 0 : up[0] == up[2] ? 1 : 2;
    const double from = dot(direction, face.corner[alone] - origin);
    double at[2];
    for (std::size_t k = 0; k < 2; ++k) {
        const std::size_t other = (alone + 1 + k) % 3;
        const double to = dot(direction, face.corner[other] - origin);
        at[k] = from + (to - from) * (h[alone] / (h[alone] - h[other]));
    }
    return {std::min(at[0], at[1]), std::max(at[0], at[1])};
}

// Whether the edges of `a` leave less than `slack` of `b` on their inner side. Both are in the plane of
// `normal`.
bool separated(const Face& a, const Face& b, const Point3& normal, double slack) {
    for (std::size_t k = 0; k < 3; ++k) {
        const Point3& from = a.corner[k];
        Point3 inwards = unit(cross(normal, a.corner[(k + 1) % 3] - from));
        if (dot(inwards, a.corner[(k + 2) % 3] - from) < 0) inwards = -1.0 * inwards;
        double most = -INFINITY;
        for (const Point3& p : b.corner) most = std::max(most, dot(inwards, p - from));
        if (most <= slack) return true;
    }
    return false;
}

// Whether their intersection is larger than `slack`.
bool intersect(const Face& a, const Face& b, double slack) {
    const Heights of_b(a, b);
    if (of_b.beside(slack)) return false;
    const Heights of_a(b, a);
    if (of_a.beside(slack)) return false;
    // Coplanar triangles: uses the plane of the larger one, which is more accurate.
    const bool a_is_larger = a.area2 >= b.area2;
    if ((a_is_larger ? of_b : of_a).within(slack)) {
        const Point3& normal = (a_is_larger ? a : b).normal;
        return !separated(a, b, normal, slack) && !separated(b, a, normal, slack);
    }
    if (!of_a.across(slack) || !of_b.across(slack)) return false;
    const Point3 direction = unit(cross(a.normal, b.normal));
    const auto in_a = cut(a, of_a, a.corner[0], direction), in_b = cut(b, of_b, a.corner[0], direction);
    return std::min(in_a[1], in_b[1]) - std::max(in_a[0], in_b[0]) > slack;
}

// Boxes of nearby triangles, in groups of four, and boxes over the groups.
class Tree {
public:
    Tree(const MeshView& mesh, Context* context) {
        const std::size_t n = mesh.triangles.size();
        const Box3 all = sinew::box_of(mesh);
        double largest = 0;
        for (std::size_t k = 0; k < 3; ++k)
            largest = std::max({largest, std::abs(all.low[k]), std::abs(all.high[k])});
        slack_ = std::max(kSlackOfBox * all.longest(), kSlackOfCoordinates * largest);
        const double per_cell = all.longest() > 0 ? 1023.999 / all.longest() : 0;
        std::vector<std::uint64_t> keys(n);
        parallel_for(context, n, 16384, [&](std::size_t t) {
            const Box box = box_of(corners_of(mesh, t));
            std::uint32_t cell[3];
            for (std::size_t k = 0; k < 3; ++k)
                cell[k] =
                    static_cast<std::uint32_t>((0.5 * (double(box.low[k]) + box.high[k]) - all.low[k]) * per_cell);
            keys[t] = morton(cell[0], cell[1], cell[2]) << 32 | t;
        });
        std::sort(keys.begin(), keys.end());
        order_.resize(n);
        corners_.resize(n);
        levels_.emplace_back((n + kGroup - 1) / kGroup);
        parallel_for(context, groups(), 4096, [&](std::size_t g) {
            for (std::size_t i = g * kGroup; i < (g + 1) * kGroup; ++i) {
                if (i >= n) {
                    levels_[0][g].set(i % kGroup, {});
                    continue;
                }
                order_[i] = static_cast<std::uint32_t>(keys[i]);
                corners_[i].at = corners_of(mesh, order_[i]);
                for (std::size_t k = 0; k < 3; ++k) corners_[i].hash[k] = hash_of(corners_[i].at[k]);
                levels_[0][g].set(i % kGroup, box_of(corners_[i].at));
            }
        });
        while (levels_.back().size() > 1) {
            const std::vector<Boxes>& below = levels_.back();
            std::vector<Boxes> level((below.size() + kGroup - 1) / kGroup);
            for (std::size_t g = 0; g < level.size(); ++g)
                for (std::size_t i = 0; i < kGroup; ++i)
                    level[g].set(i, g * kGroup + i < below.size() ? below[g * kGroup + i].whole() : Box{});
            levels_.push_back(std::move(level));
        }
    }

    std::size_t groups() const { return levels_[0].size(); }
    std::size_t size() const { return order_.size(); }
    std::uint32_t triangle(std::size_t i) const { return order_[i]; }

    // Calls hit(i, j) for the first triangle j found that triangle i intersects, for i in first..first+count-1 (of
    // one group). After `most` steps the triangles without a result are added to `unfinished`.
    template <typename Hit>
    void query(std::size_t first, std::size_t count, std::size_t most, Hit&& hit,
               std::vector<std::uint32_t>& unfinished) const {
        struct Query {
            std::size_t i;
            Box box;
            Face face;
        };
        std::vector<Query> queries;
        queries.reserve(count);
        Box whole;
        for (std::size_t i = first; i < first + count; ++i) {
            const Face face(corners_[i]);
            if (face.thin(slack_)) continue;
            queries.push_back({i, levels_[0][i / kGroup].box(i % kGroup).grown(static_cast<float>(slack_)), face});
            whole.add(queries.back().box);
        }
        struct Node {
            std::size_t level, at;
        };
        std::array<Node, kGroup * 20> stack;  // deep enough for 2^32 triangles
        std::size_t waiting = 0, steps = 0;
        stack[waiting++] = {levels_.size() - 1, 0};
        while (waiting > 0 && !queries.empty()) {
            if (steps > most) {
                for (const Query& a : queries) unfinished.push_back(static_cast<std::uint32_t>(a.i));
                return;
            }
            const Node node = stack[--waiting];
            const Boxes& boxes = levels_[node.level][node.at];
            ++steps;
            if (node.level > 0) {
                for (unsigned met = boxes.meet(whole); met; met &= met - 1)
                    stack[waiting++] = {node.level - 1,
                                        kGroup * node.at + static_cast<std::size_t>(std::countr_zero(met))};
                continue;
            }
            for (std::size_t a = 0; a < queries.size();) {
                const Query& own = queries[a];
                bool found = false;
                ++steps;
                for (unsigned met = boxes.meet(own.box); met && !found; met &= met - 1) {
                    const std::size_t j = kGroup * node.at + static_cast<std::size_t>(std::countr_zero(met));
                    ++steps;
                    if (share_a_position(corners_[own.i], corners_[j])) continue;
                    steps += kStepsOfPair;
                    const Face other(corners_[j]);
                    if (other.thin(slack_)) continue;
                    // Always in the same order, so that both triangles get the same result.
                    found = own.i < j ? intersect(own.face, other, slack_) : intersect(other, own.face, slack_);
                    if (found) hit(own.i, j);
                }
                if (found)
                    queries.erase(queries.begin() + static_cast<std::ptrdiff_t>(a));
                else
                    ++a;
            }
        }
    }

private:
    static std::array<Vec3, 3> corners_of(const MeshView& mesh, std::size_t t) {
        const Triangle& v = mesh.triangles[t];
        return {mesh.positions[v[0]], mesh.positions[v[1]], mesh.positions[v[2]]};
    }

    double slack_ = 0;
    std::vector<std::uint32_t> order_;        // triangles in sorted order
    std::vector<Corners> corners_;            // in that order
    std::vector<std::vector<Boxes>> levels_;  // of triangles; of groups of them; up to one
};

}  // namespace

Result<Intersections> find_intersections(const MeshView& mesh, Context* context) {
    Intersections out;
    out.of_triangle.assign(mesh.triangles.size(), Intersects::nothing);
    if (mesh.triangles.empty()) return out;
    report_progress(context, "intersections", 0);
    const Tree tree(mesh, context);
    // Several threads may set a mark, all to the same value.
    std::vector<std::uint8_t> marked(tree.size(), 0);
    const auto hit = [&](std::size_t i, std::size_t j) {
        for (const std::size_t k : {i, j})
            std::atomic_ref<std::uint8_t>(marked[k]).store(1, std::memory_order_relaxed);
    };
    // First every group with its share of the steps. A mark does not depend on the order of queries, so the
    // result is the same on any number of threads.
    constexpr std::size_t grain = 256;
    const std::size_t share = std::max(kLeastSteps, kSteps / tree.groups());
    std::vector<std::vector<std::uint32_t>> unfinished((tree.groups() + grain - 1) / grain);
    parallel_chunks(context, tree.groups(), grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        if (cancelled(context)) return;
        for (std::size_t g = begin; g < end; ++g)
            tree.query(g * kGroup, std::min(kGroup, tree.size() - g * kGroup), share, hit, unfinished[chunk]);
    });
    // Then the triangles that needed more steps and have not been met, such as the ground below a whole scene.
    std::vector<std::uint32_t> again;
    for (const auto& some : unfinished)
        for (const std::uint32_t i : some)
            if (!marked[i]) again.push_back(i);
    if (!again.empty()) {
        report_progress(context, "intersections", 0.5);
        const std::size_t larger = kSteps / again.size();
        std::vector<std::vector<std::uint32_t>> undecided(again.size());
        if (larger > share)
            parallel_for(context, again.size(), 1, [&](std::size_t k) {
                if (!cancelled(context)) tree.query(again[k], 1, larger, hit, undecided[k]);
            });
        else
            for (std::size_t k = 0; k < again.size(); ++k) undecided[k] = {again[k]};
        for (const auto& some : undecided)
            for (const std::uint32_t i : some)
                if (!marked[i]) {
                    out.of_triangle[tree.triangle(i)] = Intersects::undecided;
                    ++out.undecided;
                }
    }
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while looking for intersections"};
    for (std::size_t i = 0; i < tree.size(); ++i)
        if (marked[i]) {
            out.of_triangle[tree.triangle(i)] = Intersects::another;
            ++out.triangles;
        }
    report_progress(context, "intersections", 1);
    return out;
}

namespace {

/// The triangles over welded vertices, corners sorted. Collapsed triangles and duplicates have no edges, as
/// analyse_mesh counts them.
std::vector<Triangle> welded_faces(const MeshView& mesh, std::span<const std::uint32_t> weld) {
    std::vector<Triangle> faces;
    faces.reserve(mesh.triangles.size());
    for (const Triangle& t : mesh.triangles) {
        Triangle w{weld[t[0]], weld[t[1]], weld[t[2]]};
        std::sort(w.begin(), w.end());
        if (w[0] != w[1] && w[1] != w[2]) faces.push_back(w);
    }
    std::sort(faces.begin(), faces.end());
    faces.erase(std::unique(faces.begin(), faces.end()), faces.end());
    return faces;
}

}  // namespace

DefectEdges find_defect_edges(const MeshView& mesh, std::span<const std::uint32_t> weld) {
    const std::vector<Triangle> faces = welded_faces(mesh, weld);
    std::vector<DefectEdges::Edge> edges;
    edges.reserve(3 * faces.size());
    for (const Triangle& w : faces) edges.insert(edges.end(), {{w[0], w[1]}, {w[0], w[2]}, {w[1], w[2]}});
    std::sort(edges.begin(), edges.end());
    DefectEdges out;
    for (auto edge = edges.begin(); edge != edges.end();) {
        const auto end = std::find_if(edge, edges.end(), [&](const auto& other) { return other != *edge; });
        if (end - edge == 1) out.boundary.push_back(*edge);
        if (end - edge > 2) out.nonmanifold.push_back(*edge);
        edge = end;
    }
    return out;
}

std::vector<std::uint32_t> find_nonmanifold_vertices(const MeshView& mesh, std::span<const std::uint32_t> weld) {
    const std::vector<Triangle> faces = welded_faces(mesh, weld);
    // A corner is 3 * face + place. Triangles that share an edge have their corners at both of its ends connected.
    struct Side {
        std::uint32_t low, high;  // vertices
        std::uint32_t low_corner, high_corner;
    };
    std::vector<Side> sides;
    sides.reserve(3 * faces.size());
    for (std::uint32_t f = 0; f < faces.size(); ++f)
        for (const auto& [a, b] : {std::pair{0u, 1u}, {0u, 2u}, {1u, 2u}})
            sides.push_back({faces[f][a], faces[f][b], 3 * f + a, 3 * f + b});
    std::sort(sides.begin(), sides.end(), [](const Side& x, const Side& y) {
        return std::tie(x.low, x.high, x.low_corner) < std::tie(y.low, y.high, y.low_corner);
    });
    DisjointSets fans(3 * faces.size(), nullptr);
    for (std::size_t i = 1; i < sides.size(); ++i) {
        const Side &x = sides[i - 1], &y = sides[i];
        if (x.low != y.low || x.high != y.high) continue;
        fans.join(x.low_corner, y.low_corner);
        fans.join(x.high_corner, y.high_corner);
    }
    std::vector<std::uint32_t> count(weld.size(), 0);  // of fans
    for (std::uint32_t c = 0; c < 3 * faces.size(); ++c) count[faces[c / 3][c % 3]] += fans.root(c) == c;
    std::vector<std::uint32_t> out;
    for (std::uint32_t v = 0; v < count.size(); ++v)
        if (count[v] > 1) out.push_back(v);
    return out;
}

}  // namespace sinew
