// What a mesh is made of, and which way its triangles face.
//
// The side that is out is decided patch by patch, where a patch is what can be reached over edges of exactly two
// triangles: inside a patch the winding must be consistent, and how patches lie to each other is a question of
// volume. The idea of orienting patches as a whole is that of
// Takayama, Jacobson, Kavan, Sorkine-Hornung: A Simple Method for Correcting Facet Orientations in Polygon Meshes
// Based on Ray Casting. 2014; volume takes the place of their rays.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "domain/winding.h"
#include "sinew/domain.h"

namespace sinew {

namespace {

constexpr std::uint32_t none = 0xffffffffu;

struct Vec {
    double x = 0, y = 0, z = 0;
};
Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vec operator*(double s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

// The first vertex at the same position, by a hash table of exact coordinates; -0 and +0 are one.
std::vector<std::uint32_t> weld_positions(std::span<const Vec3> positions) {
    const std::size_t n = positions.size();
    std::vector<std::uint32_t> weld(n);
    const std::size_t slots = std::bit_ceil(2 * n + 1);
    const int shift = 64 - std::countr_zero(slots);
    std::vector<std::uint32_t> table(slots, none);
    for (std::size_t v = 0; v < n; ++v) {
        const Vec3& p = positions[v];
        // Adding +0 turns -0 into +0 and changes nothing else.
        const std::uint64_t x = std::bit_cast<std::uint32_t>(p.x + 0.0f),
                            y = std::bit_cast<std::uint32_t>(p.y + 0.0f),
                            z = std::bit_cast<std::uint32_t>(p.z + 0.0f);
        std::uint64_t h = (x << 32 | y) * 0x9e3779b97f4a7c15ull;
        h = ((h ^ h >> 29) + z) * 0xbf58476d1ce4e5b9ull;
        h = (h ^ h >> 32) * 0x94d049bb133111ebull;
        auto slot = static_cast<std::size_t>(h >> shift);
        while (table[slot] != none && !(positions[table[slot]] == p)) slot = (slot + 1) & (slots - 1);
        if (table[slot] == none) table[slot] = std::uint32_t(v);
        weld[v] = table[slot];
    }
    return weld;
}

// Union-find; the root is always the smallest member, so that the result does not depend on the order of joining.
struct Sets {
    explicit Sets(std::size_t n) : parent(n) {
        for (std::size_t i = 0; i < n; ++i) parent[i] = std::uint32_t(i);
    }
    std::uint32_t root(std::uint32_t i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    }
    bool join(std::uint32_t a, std::uint32_t b) {
        a = root(a), b = root(b);
        if (a == b) return false;
        if (a < b) std::swap(a, b);
        parent[a] = b;
        return true;
    }
    std::vector<std::uint32_t> parent;
};

// Union-find over triangles that also knows whether a triangle winds like its root. A link is the parent's number
// shifted by one, with "winds the other way" in the lowest bit.
struct Patches {
    explicit Patches(std::size_t n) : link(n) {
        for (std::size_t i = 0; i < n; ++i) link[i] = std::uint32_t(i) << 1;
    }
    // The root of i, with i's winding relative to it in the lowest bit.
    std::uint32_t root(std::uint32_t i) {
        std::uint32_t at = i << 1;
        while (link[at >> 1] >> 1 != at >> 1) at = link[at >> 1] ^ (at & 1);
        for (std::uint32_t walk = i << 1; walk >> 1 != at >> 1;) {
            const std::uint32_t next = link[walk >> 1] ^ (walk & 1);
            link[walk >> 1] = at ^ (walk & 1);
            walk = next;
        }
        return at;
    }
    // A contradiction (a Möbius strip) is left alone: the first way round wins.
    void join(std::uint32_t a, std::uint32_t b, bool against) {
        std::uint32_t ra = root(a), rb = root(b);
        if (ra >> 1 == rb >> 1) return;
        if (ra < rb) std::swap(ra, rb);
        link[ra >> 1] = rb ^ (ra & 1) ^ (against ? 1u : 0u);
    }
    std::vector<std::uint32_t> link;
};

// Sums over the triangles of a patch, all wound like its root.
struct Patch {
    double area[2] = {0, 0};  // of the triangles that wind like the root, and of the others
    double volume6 = 0;       // six times the volume of the cone from the origin
    Vec vector_area2;         // twice
    Vec centre_area;          // centroid · area
    std::size_t count = 0;
    bool open = false;      // ends at an edge of one or of three and more triangles
    bool inverted = false;  // the triangles that wind against the root have the larger area
    enum class Facing : std::uint8_t { unclear, outwards, inwards } facing = Facing::unclear;

    // Volume relative to the patch's own centroid, so that an open patch is judged by its own bulge.
    double volume() const {
        const double total = area[0] + area[1];
        if (!(total > 0)) return 0;
        const double v = (volume6 - dot((1 / total) * centre_area, vector_area2)) / 6;
        return inverted ? -v : v;
    }
};

// An open patch must bulge by this share of a sphere's volume for its area: a hemisphere has 1.06, a tube 0.7, a
// sheet bent to a quarter circle 0.5; the flipped ones of real characters that are less (eyelashes, a palate) face
// that way on purpose. A closed one needs only a sign, however flat it is, if it is more than rounding.
constexpr double clear_open = 0.5, clear_closed = 1e-9;

Patch::Facing facing_of(const Patch& patch) {
    const double total = patch.area[0] + patch.area[1];
    const double sphere = total * std::sqrt(total) / (6 * std::sqrt(std::numbers::pi));
    const double volume = patch.volume(), least = (patch.open ? clear_open : clear_closed) * sphere;
    return volume > least    ? Patch::Facing::outwards
           : volume < -least ? Patch::Facing::inwards
                             : Patch::Facing::unclear;
}

// Triangles of a patch at whose centres its surroundings are probed.
constexpr std::size_t probes = 8;

}  // namespace

MeshTopology analyse_mesh(const MeshView& mesh) {
    const auto positions = mesh.positions;
    const auto triangles = mesh.triangles;
    const std::size_t vertex_count = positions.size(), triangle_count = triangles.size();

    MeshTopology out;
    MeshDefects& defects = out.defects;
    out.weld = weld_positions(positions);

    // Welded corners; parts are connected over shared positions.
    std::vector<Triangle> corners(triangle_count);
    std::vector<std::uint8_t> collapsed(triangle_count, 0);  // two corners at one position: has no edges
    Sets parts(vertex_count);
    std::vector<std::uint8_t> used(vertex_count, 0);        // 1: the vertex is, 2: its position is
    std::vector<std::uint32_t> first(vertex_count + 1, 0);  // edges by lower position
    Vec origin;                                             // near the mesh: far from 0, cones would cancel badly
    if (triangle_count > 0) {
        const Vec3& p = positions[triangles[0][0]];
        origin = {p.x, p.y, p.z};
    }
    for (std::size_t t = 0; t < triangle_count; ++t) {
        const Triangle& v = triangles[t];
        const Triangle w{out.weld[v[0]], out.weld[v[1]], out.weld[v[2]]};
        corners[t] = w;
        for (int k = 0; k < 3; ++k) {
            used[v[k]] |= 1;
            used[w[k]] |= 2;
        }
        if (w[0] == w[1] || w[1] == w[2] || w[2] == w[0]) {
            collapsed[t] = 1;
        } else {
            for (int k = 0; k < 3; ++k) ++first[std::min(w[k], w[(k + 1) % 3]) + 1];
        }
        parts.join(w[0], w[1]);
        parts.join(w[0], w[2]);
    }
    for (const std::uint8_t u : used) {
        if (!(u & 1)) ++defects.unused_vertices;
        if (u & 2) ++defects.welded_vertices;
    }

    // Edges: half-edges are filed under their lower position, then put in order of the upper one. Half-edge
    // 3 t + k runs from corner k of triangle t to the next.
    struct Half {
        std::uint32_t upper, number;
    };
    for (std::size_t v = 0; v < vertex_count; ++v) first[v + 1] += first[v];
    std::vector<Half> halves(first[vertex_count]);
    {
        std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
        for (std::size_t t = 0; t < triangle_count; ++t) {
            if (collapsed[t]) continue;
            const Triangle& w = corners[t];
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t a = w[k], b = w[k == 2 ? 0 : k + 1];
                halves[next[std::min(a, b)]++] = {std::max(a, b), std::uint32_t(3 * t + k)};
            }
        }
    }

    const auto apex = [&](std::uint32_t half) { return corners[half / 3][(half % 3 + 2) % 3]; };
    const auto forward = [&](std::uint32_t half, std::uint32_t lower) {
        return corners[half / 3][half % 3] == lower;
    };
    std::vector<std::uint32_t> twin;  // of a duplicate: earlier triangle · 2 + wound against it
    std::vector<std::uint8_t> duplicate(triangle_count, 0);
    std::vector<std::uint8_t> rim(triangle_count, 0);       // has an edge that no patch goes over
    std::vector<std::uint8_t> boundary(triangle_count, 0);  // has an edge of one triangle
    Patches patches(triangle_count);
    Sets loops(vertex_count);
    std::vector<std::uint8_t> on_boundary(vertex_count, 0);
    std::vector<Half> group;
    for (std::uint32_t lower = 0; lower < vertex_count; ++lower) {
        Half* const begin = halves.data() + first[lower];
        Half* const end = halves.data() + first[lower + 1];
        if (end - begin > 32) {
            std::sort(begin, end, [](const Half& a, const Half& b) {
                return a.upper != b.upper ? a.upper < b.upper : a.number < b.number;
            });
        } else {  // they come in order of number: stable insertion keeps it
            for (Half* h = begin; h < end; ++h) {
                const Half moved = *h;
                Half* to = h;
                for (; to > begin && (to - 1)->upper > moved.upper; --to) *to = *(to - 1);
                *to = moved;
            }
        }
        for (Half* edge = begin; edge < end;) {
            const std::uint32_t upper = edge->upper;
            Half* stop = edge + 1;
            while (stop < end && stop->upper == upper) ++stop;
            // Triangles with the same three positions meet first at the edge of their two lower ones: an edge
            // that comes before their other two, so these already know the duplicates.
            group.assign(edge, stop);
            edge = stop;
            if (group.size() > 1) {
                std::erase_if(group, [&](const Half& h) { return duplicate[h.number / 3] != 0; });
                if (group.size() == 2 ? apex(group[0].number) == apex(group[1].number) : group.size() > 2) {
                    std::stable_sort(group.begin(), group.end(),
                                     [&](const Half& a, const Half& b) { return apex(a.number) < apex(b.number); });
                    std::size_t kept = 0;
                    for (std::size_t i = 1; i < group.size(); ++i) {
                        const std::uint32_t a = group[kept].number, b = group[i].number;
                        if (apex(a) != apex(b)) {
                            group[++kept] = group[i];
                            continue;
                        }
                        if (twin.empty()) twin.resize(triangle_count, none);
                        duplicate[b / 3] = 1;
                        twin[b / 3] = a / 3 << 1 | (forward(a, lower) != forward(b, lower) ? 1u : 0u);
                        ++defects.duplicate_triangles;
                    }
                    group.resize(kept + 1);
                }
            }
            if (group.size() == 1 && duplicate[group[0].number / 3]) continue;
            if (group.size() == 1) {
                ++defects.boundary_edges;
                rim[group[0].number / 3] = boundary[group[0].number / 3] = 1;
                on_boundary[lower] = on_boundary[upper] = 1;
                loops.join(lower, upper);
            } else if (group.size() == 2) {
                const std::uint32_t a = group[0].number, b = group[1].number;
                patches.join(a / 3, b / 3, forward(a, lower) == forward(b, lower));
            } else if (group.size() > 2) {
                ++defects.nonmanifold_edges;
                for (const Half& h : group) rim[h.number / 3] = 1;
            }
        }
    }
    for (std::uint32_t v = 0; v < vertex_count; ++v)
        if (on_boundary[v] && loops.root(v) == v) ++defects.holes;

    // Parts, numbered by their first triangle.
    out.part_of_triangle.resize(triangle_count);
    std::vector<std::uint32_t> part_of_root(vertex_count, none);
    std::vector<std::uint8_t> part_open;
    for (std::size_t t = 0; t < triangle_count; ++t) {
        std::uint32_t& part = part_of_root[parts.root(corners[t][0])];
        if (part == none) {
            part = std::uint32_t(part_open.size());
            part_open.push_back(0);
        }
        out.part_of_triangle[t] = part;
        part_open[part] |= boundary[t];
    }
    defects.parts = part_open.size();
    for (const std::uint8_t open : part_open) defects.open_parts += open;

    // What the patches are like. patch_of: number · 2 + wound against the root.
    std::vector<std::uint32_t> patch_of(triangle_count, none);
    std::vector<std::uint32_t> patch_of_root(triangle_count, none);
    std::vector<Patch> patch;
    for (std::uint32_t t = 0; t < triangle_count; ++t) {
        const auto corner = [&](int k) {
            const Vec3& p = positions[triangles[t][k]];
            return Vec{p.x, p.y, p.z} - origin;
        };
        const Vec a = corner(0), b = corner(1), c = corner(2);
        const Vec n = cross(b - a, c - a);
        const double n2 = dot(n, n), longest2 = std::max({dot(b - a, b - a), dot(c - b, c - b), dot(a - c, a - c)});
        // Collinear as far as float coordinates can tell: lower than the rounding of one.
        double magnitude = 0;
        for (int k = 0; k < 3; ++k) {
            const Vec3& p = positions[triangles[t][k]];
            magnitude = std::max<double>({magnitude, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
        }
        const double rounding = 0x1p-23 * magnitude;
        if (collapsed[t] || n2 <= rounding * rounding * longest2) ++defects.degenerate_triangles;
        if (collapsed[t] || duplicate[t]) continue;
        const std::uint32_t root = patches.root(t);
        std::uint32_t& number = patch_of_root[root >> 1];
        if (number == none) {
            number = std::uint32_t(patch.size());
            patch.emplace_back();
        }
        patch_of[t] = number << 1 | (root & 1);
        Patch& mine = patch[number];
        const double area = std::sqrt(n2) / 2, sign = root & 1 ? -1 : 1;
        mine.area[root & 1] += area;
        mine.volume6 += sign * dot(a, n);
        mine.vector_area2 = mine.vector_area2 + sign * n;
        mine.centre_area = mine.centre_area + (area / 3) * (a + b + c);
        mine.open |= rim[t] != 0;
        ++mine.count;
    }

    // A mesh most of whose volume is negative was mirrored as a whole: turn all of it, then look at patches.
    double total = 0;
    for (Patch& p : patch) {
        p.inverted = p.area[1] > p.area[0];
        p.facing = facing_of(p);
        if (p.facing != Patch::Facing::unclear) total += p.volume();
    }
    const bool mirrored = total < 0;
    const Patch::Facing wrong = mirrored ? Patch::Facing::outwards : Patch::Facing::inwards;
    std::vector<bool> patch_turned(patch.size());
    bool any_wrong = false;
    for (std::size_t i = 0; i < patch.size(); ++i) {
        any_wrong |= patch[i].facing == wrong;
        patch_turned[i] = mirrored && patch[i].facing != Patch::Facing::unclear;
    }
    // A patch that faces inwards is flipped if it lies in the open, but the wall of a cavity (the inside of a
    // vase, a mouth, a lining) if it lies inside the patches that face outwards: that stays, else what is
    // between the two walls would no longer be inside.
    if (any_wrong) {
        std::vector<bool> turned(triangle_count), left_out(triangle_count);
        std::vector<std::size_t> seen(patch.size(), 0);
        std::vector<std::uint32_t> probe;  // triangles
        for (std::uint32_t t = 0; t < triangle_count; ++t) {
            if (patch_of[t] == none) {
                left_out[t] = true;
                continue;
            }
            const std::uint32_t i = patch_of[t] >> 1;
            turned[t] = ((patch_of[t] & 1) != 0) ^ patch[i].inverted ^ patch_turned[i];
            left_out[t] = patch[i].facing == wrong;
            if (left_out[t] && seen[i]++ % ((patch[i].count + probes - 1) / probes) == 0) probe.push_back(t);
        }
        const WindingTree others(mesh, turned, left_out);
        std::vector<double> inside(patch.size(), 0);  // sum over probes of winding number - 1/2
        for (const std::uint32_t t : probe) {
            const Vec3 &a = positions[triangles[t][0]], &b = positions[triangles[t][1]],
                       &c = positions[triangles[t][2]];
            inside[patch_of[t] >> 1] +=
                others({a.x / 3 + b.x / 3 + c.x / 3, a.y / 3 + b.y / 3 + c.y / 3, a.z / 3 + b.z / 3 + c.z / 3}) -
                0.5;
        }
        for (std::size_t i = 0; i < patch.size(); ++i)
            if (patch[i].facing == wrong && inside[i] < 0) patch_turned[i] = !patch_turned[i];
    }

    out.turned.assign(triangle_count, false);
    std::vector<std::uint8_t> part_flipped(part_open.size(), 0);
    for (std::uint32_t t = 0; t < triangle_count; ++t) {
        if (patch_of[t] != none) {
            const std::uint32_t i = patch_of[t] >> 1;
            out.turned[t] = ((patch_of[t] & 1) != 0) ^ patch[i].inverted ^ patch_turned[i];
            if (patch_turned[i]) part_flipped[out.part_of_triangle[t]] = 1;
        }
    }
    // A duplicate faces like the triangle it repeats, which may come after it in a chain of edges but never is a
    // duplicate itself.
    if (!twin.empty())
        for (std::uint32_t t = 0; t < triangle_count; ++t)
            if (duplicate[t]) out.turned[t] = out.turned[twin[t] >> 1] ^ ((twin[t] & 1) != 0);
    for (std::uint32_t t = 0; t < triangle_count; ++t) defects.flipped_triangles += out.turned[t];
    for (const std::uint8_t flipped : part_flipped) defects.flipped_parts += flipped;
    return out;
}

}  // namespace sinew
