// The parts of a mesh, its defects, and the orientation of its triangles.
//
// The outward side is decided patch by patch; a patch consists of triangles connected by edges of exactly two
// triangles. Within a patch the winding must be consistent; the orientation of patches relative to each other
// follows from volume. Takayama et al. (2014) orient patches as a whole, too, but by ray casting.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <utility>

#include "core/large_pages.h"
#include "core/parallel.h"
#include "domain/union_find.h"
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

// Two corners at one position.
bool collapsed(const Triangle& w) { return w[0] == w[1] || w[1] == w[2] || w[2] == w[0]; }

// Items distributed over piles, in order: counted chunk by chunk, then each written to its position.
class PileSorter {
public:
    // each(item, put): calls put(pile) for every pile of the item, once per entry.
    template <typename Each>
    PileSorter(std::size_t items, std::size_t piles, Context* context, Each&& each)
        : items_(items), piles_(piles), grain_(std::max<std::size_t>(32768, items / 256)) {
        place_.resize((items + grain_ - 1) / grain_ * piles);
        parallel_chunks(context, items, grain_, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            std::size_t* const count = place_.data() + chunk * piles;
            for (std::size_t i = begin; i < end; ++i) each(i, [&](std::size_t pile) { ++count[pile]; });
        });
        std::size_t sum = 0;
        for (std::size_t pile = 0; pile < piles; ++pile) {
            first_.push_back(sum);
            for (std::size_t at = pile; at < place_.size(); at += piles) sum += std::exchange(place_[at], sum);
        }
        first_.push_back(sum);
    }
    // each(item, place): place(pile) is the next free position of the pile. Must request exactly the counted
    // entries. Call once.
    template <typename Each>
    void run(Context* context, Each&& each) const {
        parallel_chunks(context, items_, grain_, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            std::vector<std::size_t> next(place_.begin() + std::ptrdiff_t(chunk * piles_),
                                          place_.begin() + std::ptrdiff_t((chunk + 1) * piles_));
            for (std::size_t i = begin; i < end; ++i) each(i, [&](std::size_t pile) { return next[pile]++; });
        });
    }
    std::size_t first(std::size_t pile) const {
        return first_[pile];
    }  // its first position; for the end, the total
    std::size_t size() const { return first_.back(); }

private:
    std::size_t items_, piles_, grain_;
    std::vector<std::size_t> place_, first_;
};

// Sets a mark that other threads may be setting, too.
void mark(std::vector<std::uint8_t>& marks, std::size_t i) {
    const std::atomic_ref<std::uint8_t> mine(marks[i]);
    if (!mine.load(std::memory_order_relaxed)) mine.store(1, std::memory_order_relaxed);
}

// The first vertex at the same position, by hash tables of exact coordinates; -0 and +0 are equal. Vertices are
// distributed to the tables by their hash, in order, so that each table stays in the cache and is filled by one
// thread.
std::vector<std::uint32_t> weld_positions(std::span<const Vec3> positions, Context* context) {
    const std::size_t n = positions.size();
    const auto hash = [&](std::size_t v) {
        const Vec3& p = positions[v];
        // Adding +0 turns -0 into +0 and changes nothing else.
        const std::uint64_t x = std::bit_cast<std::uint32_t>(p.x + 0.0f),
                            y = std::bit_cast<std::uint32_t>(p.y + 0.0f),
                            z = std::bit_cast<std::uint32_t>(p.z + 0.0f);
        std::uint64_t h = (x << 32 | y) * 0x9e3779b97f4a7c15ull;
        h = ((h ^ h >> 29) + z) * 0xbf58476d1ce4e5b9ull;
        h = (h ^ h >> 32) * 0x94d049bb133111ebull;
        return h ^ h >> 31;
    };
    struct Entry {
        std::uint32_t hash, vertex;
    };
    // The table by the upper half of the hash, the slot by the lower.
    const std::size_t tables = std::clamp<std::size_t>(std::bit_ceil(n / 16384 + 1), 1, 1024);
    const PileSorter deal(n, tables, context,
                          [&](std::size_t v, auto&& put) { put(hash(v) >> 32 & (tables - 1)); });
    std::vector<Entry> entries(n);
    deal.run(context, [&](std::size_t v, auto&& place) {
        const std::uint64_t h = hash(v);
        entries[place(h >> 32 & (tables - 1))] = {std::uint32_t(h), std::uint32_t(v)};
    });
    std::vector<std::uint32_t> weld(n);
    parallel_chunks(context, tables, 1, [&](std::size_t t, std::size_t, std::size_t) {
        const std::span<const Entry> mine(entries.data() + deal.first(t), deal.first(t + 1) - deal.first(t));
        const std::size_t slots = std::bit_ceil(2 * mine.size() + 2);
        const int shift = 32 - std::countr_zero(slots);
        std::vector<Entry> table(slots, Entry{0, none});
        for (const Entry& e : mine) {
            auto slot = static_cast<std::size_t>(shift >= 0 ? e.hash >> shift : e.hash);
            while (table[slot].vertex != none &&
                   !(table[slot].hash == e.hash && positions[table[slot].vertex] == positions[e.vertex]))
                slot = (slot + 1) & (slots - 1);
            if (table[slot].vertex == none) table[slot] = e;
            weld[e.vertex] = table[slot].vertex;
        }
    });
    return weld;
}

// The edges of a mesh of welded corners, in piles by their lower position, so that a thread sorts a pile in the
// cache. Triangles with two corners at one position have no edges. Memory 32 bytes a triangle.
class Edges {
public:
    struct HalfEdge {
        std::uint32_t upper, apex;  // apex: the third corner
        std::uint32_t wound;        // triangle · 2 + whether it goes from the lower to the upper position
        std::uint32_t triangle() const { return wound >> 1; }
        bool forward() const { return wound & 1; }
    };

    Edges(std::size_t vertices, std::span<const Triangle> corners, Context* context)
        : vertices_(vertices),
          shift_(std::max(12, int(std::bit_width(vertices)) - 10)),
          deal_(corners.size(), piles(), context, [&](std::size_t t, auto&& put) {
              if (collapsed(corners[t])) return;
              const auto [a, b, c, wound] = SortedTriangle(t, corners[t]);
              put(a >> shift_);
              put(b >> shift_);
          }) {
        filed_.resize(deal_.size());
        deal_.run(context, [&](std::size_t t, auto&& place) {
            if (collapsed(corners[t])) return;
            const auto [a, b, c, wound] = SortedTriangle(t, corners[t]);
            filed_[place(a >> shift_)] = {a, b, c, wound};
            filed_[place(b >> shift_)] = {b, c, a, wound};
        });
    }

    std::size_t piles() const { return (vertices_ >> shift_) + 1; }
    // Calls visit(lower, upper, span of half-edges) for every edge of a pile, by lower and upper position.
    // HalfEdge-edges are in the order of triangles and may be written to. `soon` gets triangles before they are
    // visited.
    template <typename Visit, typename Soon>
    void each(std::size_t pile, Visit&& visit, Soon&& soon) const {
        const std::size_t base = pile << shift_, count = std::min(vertices_ - base, std::size_t{1} << shift_);
        const std::span<const SortedTriangle> filed(filed_.data() + deal_.first(pile),
                                                    deal_.first(pile + 1) - deal_.first(pile));
        std::vector<std::uint32_t> next(count + 2, 0);  // by lower position, shifted by two
        for (const SortedTriangle& f : filed) next[f.low - base + 2] += f.last < f.low ? 1 : 2;
        for (std::size_t v = 2; v < count + 2; ++v) next[v] += next[v - 1];
        std::vector<HalfEdge> halves(next[count + 1]);
        for (const SortedTriangle& f : filed) {
            std::uint32_t& to = next[f.low - base + 1];
            halves[to++] = {f.middle, f.last, f.wound};
            if (f.last > f.low) halves[to++] = {f.last, f.middle, f.wound ^ 1};
        }
        constexpr std::size_t ahead = 8;
        for (std::size_t v = 0; v < count; ++v) {
            if (v + ahead < count)
                for (std::size_t k = next[v + ahead]; k < next[v + ahead + 1]; ++k) soon(halves[k].triangle());
            HalfEdge *const begin = halves.data() + next[v], *const end = halves.data() + next[v + 1];
            if (end - begin > 32) {
                std::sort(begin, end, [](const HalfEdge& a, const HalfEdge& b) {
                    return a.upper != b.upper ? a.upper < b.upper : a.wound < b.wound;
                });
            } else {  // already in order: stable insertion keeps it
                for (HalfEdge* h = begin; h < end; ++h) {
                    const HalfEdge moved = *h;
                    HalfEdge* to = h;
                    for (; to > begin && (to - 1)->upper > moved.upper; --to) *to = *(to - 1);
                    *to = moved;
                }
            }
            for (HalfEdge* edge = begin; edge < end;) {
                HalfEdge* stop = edge + 1;
                while (stop < end && stop->upper == edge->upper) ++stop;
                visit(std::uint32_t(base + v), edge->upper, std::span(edge, stop));
                edge = stop;
            }
        }
    }

private:
    // A triangle of positions low < middle < last, for the edges from low, with a flag whether it goes from low
    // to middle. The edge from low to last then has the opposite direction. For the third edge: middle, last,
    // and low in place of last, which distinguishes the two.
    struct SortedTriangle {
        std::uint32_t low, middle, last, wound;

        SortedTriangle() = default;
        SortedTriangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t w)
            : low(a), middle(b), last(c), wound(w) {}
        SortedTriangle(std::size_t t, const Triangle& w) : low(w[0]), middle(w[1]), last(w[2]) {
            std::uint32_t odd = 0;  // even permutations keep the winding
            if (low > middle) std::swap(low, middle), odd ^= 1;
            if (middle > last) std::swap(middle, last), odd ^= 1;
            if (low > middle) std::swap(low, middle), odd ^= 1;
            wound = std::uint32_t(t) << 1 | (odd ^ 1);
        }
    };

    std::size_t vertices_;
    int shift_;
    PileSorter deal_;
    LargeVector<SortedTriangle> filed_;
};

// Relations of triangles across edges.
struct Connections {
    struct DuplicatePair {
        std::uint32_t triangle, first;  // first: the earlier triangle · 2 + wound against it
    };
    OrientedSets patches;
    DisjointSets loops;                     // of boundary edges, by their positions
    std::vector<DuplicatePair> twins;       // duplicates
    std::vector<std::uint8_t> duplicate;    // T; empty if there are no duplicates
    std::vector<std::uint8_t> rim;          // T: has an edge that ends a patch
    std::vector<std::uint8_t> boundary;     // T: has an edge of one triangle
    std::vector<std::uint8_t> on_boundary;  // V
    std::size_t boundary_edges = 0, nonmanifold_edges = 0;

    Connections(const Edges& edges, std::size_t vertices, std::size_t triangles, Context* context)
        : patches(triangles, context),
          loops(vertices, context),
          rim(triangles, 0),
          boundary(triangles, 0),
          on_boundary(vertices, 0) {
        // A duplicate is detected at the edge of its two lower corners, which may be in another pile than its
        // other edges. Few meshes have duplicates: only if one is found is the pass repeated.
        std::vector<Found> found = connect(edges, true, context);
        for (const Found& f : found) twins.insert(twins.end(), f.twins.begin(), f.twins.end());
        if (!twins.empty()) {
            duplicate.assign(triangles, 0);
            for (const DuplicatePair& t : twins) duplicate[t.triangle] = 1;
            patches = OrientedSets(triangles, context);
            loops = DisjointSets(vertices, context);
            rim.assign(triangles, 0);
            boundary.assign(triangles, 0);
            on_boundary.assign(vertices, 0);
            found = connect(edges, false, context);
        }
        std::vector<std::uint32_t> torn;
        for (const Found& f : found) {
            boundary_edges += f.boundary_edges;
            nonmanifold_edges += f.nonmanifold_edges;
            torn.insert(torn.end(), f.torn.begin(), f.torn.end());
        }
        if (!torn.empty()) mend(edges, torn);
    }

private:
    struct Found {
        std::vector<DuplicatePair> twins;
        std::vector<std::uint32_t> torn;  // triangles whose joins contradict
        std::size_t boundary_edges = 0, nonmanifold_edges = 0;
    };

    std::vector<Found> connect(const Edges& edges, bool find_twins, Context* context) {
        std::vector<Found> found(edges.piles());
        parallel_for(context, found.size(), 1, [&](std::size_t pile) {
            Found& mine = found[pile];
            edges.each(
                pile,
                [&](std::uint32_t lower, std::uint32_t upper, std::span<Edges::HalfEdge> halves) {
                    if (find_twins)
                        twins_of(upper, halves, mine.twins);
                    else
                        halves = without_duplicates(halves);
                    if (halves.size() == 1) {
                        ++mine.boundary_edges;
                        mark(rim, halves[0].triangle());
                        mark(boundary, halves[0].triangle());
                        mark(on_boundary, lower);
                        mark(on_boundary, upper);
                        loops.join(lower, upper);
                    } else if (halves.size() == 2) {
                        const bool against = halves[0].forward() == halves[1].forward();
                        if (!patches.join(halves[0].triangle(), halves[1].triangle(), against))
                            mine.torn.push_back(halves[0].triangle());
                    } else if (halves.size() > 2) {
                        ++mine.nonmanifold_edges;
                        for (const Edges::HalfEdge& h : halves) mark(rim, h.triangle());
                    }
                },
                [&](std::uint32_t triangle) { patches.soon(triangle); });
        });
        return found;
    }

    // Triangles with the same three positions, at the edge of their two lower ones.
    static void twins_of(std::uint32_t upper, std::span<Edges::HalfEdge> halves,
                         std::vector<DuplicatePair>& twins) {
        if (halves.size() < 2) return;
        if (halves.size() > 2)
            std::stable_sort(halves.begin(), halves.end(),
                             [&](const Edges::HalfEdge& a, const Edges::HalfEdge& b) { return a.apex < b.apex; });
        const Edges::HalfEdge* first = &halves[0];
        for (std::size_t i = 1; i < halves.size(); ++i) {
            if (first->apex != halves[i].apex)
                first = &halves[i];
            else if (first->apex > upper)
                twins.push_back({halves[i].triangle(),
                                 first->triangle() << 1 | (first->forward() != halves[i].forward() ? 1u : 0u)});
        }
    }

    std::span<Edges::HalfEdge> without_duplicates(std::span<Edges::HalfEdge> halves) const {
        if (duplicate.empty()) return halves;
        const auto end = std::remove_if(halves.begin(), halves.end(),
                                        [&](const Edges::HalfEdge& h) { return duplicate[h.triangle()] != 0; });
        return halves.first(std::size_t(end - halves.begin()));
    }

    // A contradiction (a Möbius strip) is left as it is: the first orientation wins, in the order of edges.
    // Sets with a contradiction are joined again, one edge after the other.
    void mend(const Edges& edges, const std::vector<std::uint32_t>& torn) {
        std::vector<std::uint8_t> again(rim.size(), 0);  // of a root: its set; then of every member
        for (const std::uint32_t t : torn) again[patches.root(t) >> 1] = 1;
        for (std::uint32_t t = 0; t < again.size(); ++t) again[t] = again[patches.root(t) >> 1];
        for (std::uint32_t t = 0; t < again.size(); ++t)
            if (again[t]) patches.reset(t);
        for (std::size_t pile = 0; pile < edges.piles(); ++pile)
            edges.each(
                pile,
                [&](std::uint32_t, std::uint32_t, std::span<Edges::HalfEdge> halves) {
                    halves = without_duplicates(halves);
                    if (halves.size() == 2 && again[halves[0].triangle()])
                        patches.join(halves[0].triangle(), halves[1].triangle(),
                                     halves[0].forward() == halves[1].forward());
                },
                [](std::uint32_t) {});
    }
};

// Sums over the triangles of a patch, all oriented like its root.
struct Patch {
    double area[2] = {0, 0};  // of the triangles oriented like the root, and of the others
    double volume6 = 0;       // six times the volume of the cone from the origin
    Vec vector_area2;         // twice
    Vec centre_area;          // centroid · area
    std::size_t count = 0;
    bool open = false;      // ends at an edge of one or of three and more triangles
    bool inverted = false;  // the triangles oriented against the root have the larger area
    enum class Facing : std::uint8_t { unclear, outwards, inwards } facing = Facing::unclear;

    void add(const Patch& more) {
        for (int side = 0; side < 2; ++side) area[side] += more.area[side];
        volume6 += more.volume6;
        vector_area2 = vector_area2 + more.vector_area2;
        centre_area = centre_area + more.centre_area;
        count += more.count;
        open |= more.open;
    }
    // Volume relative to the patch's own centroid, so that an open patch is judged by its own bulge.
    double volume() const {
        const double total = area[0] + area[1];
        if (!(total > 0)) return 0;
        const double v = (volume6 - dot((1 / total) * centre_area, vector_area2)) / 6;
        return inverted ? -v : v;
    }
};

// Minimum volume of an open patch, relative to a sphere of its area: a hemisphere has 1.06, a tube 0.7, a sheet
// bent to a quarter circle 0.5. Patches of real characters below it that face inwards (eyelashes, a palate) do
// so on purpose. A closed patch only needs a sign beyond rounding, however flat it is.
constexpr double clear_open = 0.5, clear_closed = 1e-9;

Patch::Facing facing_of(const Patch& patch) {
    const double total = patch.area[0] + patch.area[1];
    const double sphere = total * std::sqrt(total) / (6 * std::sqrt(std::numbers::pi));
    const double volume = patch.volume(), least = (patch.open ? clear_open : clear_closed) * sphere;
    return volume > least    ? Patch::Facing::outwards
           : volume < -least ? Patch::Facing::inwards
                             : Patch::Facing::unclear;
}

// Triangles of a patch at whose centres the winding number is sampled.
constexpr std::size_t probes = 8;

// Properties of the patches: sums over their triangles in order. `degenerate` counts all triangles whose
// corners are collinear within float precision.
std::vector<Patch> sum_patches(const MeshView& mesh, std::span<const Triangle> corners,
                               const std::vector<std::uint32_t>& patch_of, std::size_t patch_count,
                               const std::vector<std::uint8_t>& rim, std::size_t& degenerate, Context* context) {
    const std::size_t n = patch_of.size();
    Vec origin;  // near the mesh, to avoid cancellation
    if (n > 0) {
        const Vec3& p = mesh.positions[mesh.triangles[0][0]];
        origin = {p.x, p.y, p.z};
    }
    // Triangles by patch; those without a patch come last.
    const auto group = [&](std::size_t t) { return std::min<std::size_t>(patch_of[t] >> 1, patch_count); };
    std::vector<std::uint32_t> order;  // empty: already in order
    const auto before = [](std::uint32_t a, std::uint32_t b) { return a >> 1 < b >> 1; };
    if (!std::is_sorted(patch_of.begin(), patch_of.end(), before)) {
        std::vector<std::size_t> next(patch_count + 2, 0);
        for (std::size_t t = 0; t < n; ++t) ++next[group(t) + 1];
        for (std::size_t p = 0; p <= patch_count; ++p) next[p + 1] += next[p];
        order.resize(n);
        for (std::size_t t = 0; t < n; ++t) order[next[group(t)]++] = std::uint32_t(t);
    }
    // A patch's sums are those of the chunk in which it begins, and then of the chunks that continue it, in
    // order.
    constexpr std::size_t grain = 16384, ahead = 16;
    struct Chunk {
        Patch head;  // of the patch that began in an earlier chunk
        std::size_t in_head = ~std::size_t{0};
        std::size_t degenerate = 0;
    };
    std::vector<Patch> patch(patch_count);
    std::vector<Chunk> chunks((n + grain - 1) / grain);
    parallel_chunks(context, n, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        const auto at = [&](std::size_t i) { return order.empty() ? i : order[i]; };
        Chunk& mine = chunks[chunk];
        if (begin > 0 && group(at(begin - 1)) == group(at(begin))) mine.in_head = group(at(begin));
        for (std::size_t i = begin; i < end;) {
            const std::size_t in = group(at(i));
            Patch sum;  // local while the patch is the same
            for (; i < end && group(at(i)) == in; ++i) {
                const std::size_t t = at(i);
                if (i + ahead < end)
                    for (const std::uint32_t v : mesh.triangles[at(i + ahead)])
                        __builtin_prefetch(&mesh.positions[v]);
                const auto corner = [&](int k) {
                    const Vec3& p = mesh.positions[mesh.triangles[t][k]];
                    return Vec{p.x, p.y, p.z};
                };
                const Vec p = corner(0), q = corner(1), r = corner(2);
                const auto larger = [](double x, double y) { return x < y ? y : x; };
                const auto largest = [&](Vec v) {
                    return larger(larger(std::abs(v.x), std::abs(v.y)), std::abs(v.z));
                };
                const double rounding =
                    0x1p-23 * larger(larger(largest(p), largest(q)), largest(r));  // of a coordinate
                const Vec a = p - origin, b = q - origin, c = r - origin;
                const Vec normal = cross(b - a, c - a);
                const double n2 = dot(normal, normal),
                             longest2 = larger(larger(dot(b - a, b - a), dot(c - b, c - b)), dot(a - c, a - c));
                if (collapsed(corners[t]) || n2 <= rounding * rounding * longest2) ++mine.degenerate;
                const bool against = patch_of[t] & 1;
                const double area = std::sqrt(n2) / 2, sign = against ? -1 : 1;
                sum.area[0] += against ? 0 : area;
                sum.area[1] += against ? area : 0;
                sum.volume6 += sign * dot(a, normal);
                sum.vector_area2 = sum.vector_area2 + sign * normal;
                sum.centre_area = sum.centre_area + (area / 3) * (a + b + c);
                sum.open |= rim[t] != 0;
                ++sum.count;
            }
            if (in == mine.in_head)
                mine.head = sum;
            else if (in < patch_count)
                patch[in] = sum;
        }
    });
    for (const Chunk& chunk : chunks) {
        degenerate += chunk.degenerate;
        if (chunk.in_head < patch_count) patch[chunk.in_head].add(chunk.head);
    }
    return patch;
}

}  // namespace

MeshTopology analyse_mesh(const MeshView& mesh, Context* context) {
    const auto positions = mesh.positions;
    const auto triangles = mesh.triangles;
    const std::size_t vertex_count = positions.size(), triangle_count = triangles.size();
    constexpr std::size_t grain = 16384;

    MeshTopology out;
    MeshDefects& defects = out.defects;
    out.weld = weld_positions(positions, context);

    // Welded corners, or the corners themselves if nothing is welded; parts are connected over shared
    // positions.
    bool welded = false;
    for (std::size_t v = 0; v < vertex_count && !welded; ++v) welded = out.weld[v] != v;
    std::vector<Triangle> welded_corners(welded ? triangle_count : 0);
    const std::span<const Triangle> corners = welded ? std::span<const Triangle>(welded_corners) : triangles;
    DisjointSets parts(vertex_count, context);
    std::vector<std::uint8_t> used(vertex_count, 0);
    out.at_triangle.assign(vertex_count, 0);
    parallel_for(context, triangle_count, grain, [&](std::size_t t) {
        const Triangle& v = triangles[t];
        if (welded) welded_corners[t] = {out.weld[v[0]], out.weld[v[1]], out.weld[v[2]]};
        const Triangle& w = corners[t];
        for (int k = 0; k < 3; ++k) {
            mark(used, v[k]);
            mark(out.at_triangle, w[k]);
        }
        parts.join(w[0], w[1]);
        parts.join(w[0], w[2]);
    });
    for (std::size_t v = 0; v < vertex_count; ++v) {
        if (!used[v]) ++defects.unused_vertices;
        // A vertex is welded to an earlier one, whose mark is final.
        if (out.weld[v] != v)
            out.at_triangle[v] = out.at_triangle[out.weld[v]];
        else if (out.at_triangle[v])
            ++defects.welded_vertices;
    }

    const Edges edges(vertex_count, corners, context);
    Connections connections(edges, vertex_count, triangle_count, context);
    defects.boundary_edges = connections.boundary_edges;
    defects.nonmanifold_edges = connections.nonmanifold_edges;
    defects.duplicate_triangles = connections.twins.size();
    const auto is_duplicate = [&](std::size_t t) {
        return !connections.duplicate.empty() && connections.duplicate[t] != 0;
    };
    if (defects.boundary_edges > 0)
        for (std::uint32_t v = 0; v < vertex_count; ++v)
            if (connections.on_boundary[v] && connections.loops.root(v) == v) ++defects.holes;

    // Roots of parts, and patch_of: root · 2 + wound against it; then numbers instead of roots. Both are
    // numbered by their first triangle, which for a patch is its root.
    out.part_of_triangle.resize(triangle_count);
    std::vector<std::uint32_t> patch_of(triangle_count, none);
    parallel_for(context, triangle_count, grain, [&](std::size_t t) {
        out.part_of_triangle[t] = parts.root(corners[t][0]);
        if (!collapsed(corners[t]) && !is_duplicate(t)) patch_of[t] = connections.patches.root(std::uint32_t(t));
    });
    std::vector<std::uint32_t> part_of_root(vertex_count, none);
    std::vector<std::uint8_t> part_open;
    std::uint32_t patch_count = 0, part = none, last_root = none;
    bool any_against = false;
    for (std::size_t t = 0; t < triangle_count; ++t) {
        if (out.part_of_triangle[t] != last_root) {
            last_root = out.part_of_triangle[t];
            if (part_of_root[last_root] == none) {
                part_of_root[last_root] = std::uint32_t(part_open.size());
                part_open.push_back(0);
            }
            part = part_of_root[last_root];
        }
        out.part_of_triangle[t] = part;
        part_open[part] |= connections.boundary[t];
        if (const std::uint32_t root = patch_of[t]; root != none) {
            const std::uint32_t number = root >> 1 == t ? patch_count++ : patch_of[root >> 1] >> 1;
            patch_of[t] = number << 1 | (root & 1);
            any_against |= root & 1;
        }
    }
    defects.parts = part_open.size();
    for (const std::uint8_t open : part_open) defects.open_parts += open;

    std::vector<Patch> patch =
        sum_patches(mesh, corners, patch_of, patch_count, connections.rim, defects.degenerate_triangles, context);

    // A mesh with negative total volume was mirrored as a whole: turn all of it, then look at patches.
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
    // A patch that faces inwards is flipped if it is in the open. Inside patches that face outwards it is the
    // wall of a cavity (the inside of a vase, a mouth, a lining) and stays; otherwise the space between the two
    // walls would not be inside.
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
        std::vector<double> inside(patch.size(), 0);  // sum over samples of winding number - 1/2
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
    for (const Patch& p : patch) any_against |= p.inverted;
    any_against |= std::count(patch_turned.begin(), patch_turned.end(), true) > 0;
    for (std::uint32_t t = 0; t < triangle_count && any_against; ++t) {
        if (patch_of[t] == none) continue;
        const std::uint32_t i = patch_of[t] >> 1;
        if (((patch_of[t] & 1) != 0) ^ patch[i].inverted ^ patch_turned[i]) out.turned[t] = true;
        if (patch_turned[i]) part_flipped[out.part_of_triangle[t]] = 1;
    }
    // A duplicate faces like the triangle that it repeats, which is not itself a duplicate.
    for (const Connections::DuplicatePair& twin : connections.twins)
        out.turned[twin.triangle] = out.turned[twin.first >> 1] ^ ((twin.first & 1) != 0);
    defects.flipped_triangles = std::size_t(std::count(out.turned.begin(), out.turned.end(), true));
    for (const std::uint8_t flipped : part_flipped) defects.flipped_parts += flipped;
    return out;
}

}  // namespace sinew
