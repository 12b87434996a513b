// The parts of a mesh, its defects, and the orientation of its triangles.
//
// The outward side is decided patch by patch; a patch consists of triangles connected by edges of exactly two
// triangles. Within a patch the orientation must be consistent; the orientation of patches relative to each other
// follows from volume. Takayama et al. (2014) orient patches as a whole, too, but by ray casting.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "core/large_pages.h"
#include "core/parallel.h"
#include "core/prefetch.h"
#include "core/union_find.h"
#include "core/vectors.h"
#include "domain/winding.h"
#include "sinew/domain.h"

namespace sinew {

namespace {

// Two corners at one position.
bool collapsed(const Triangle& w) { return w[0] == w[1] || w[1] == w[2] || w[2] == w[0]; }

// Items distributed over buckets, in order: counted chunk by chunk, then each written to its position.
class BucketSorter {
public:
    // each(item, put): calls put(bucket) for every bucket of the item, once per entry.
    template <typename Each>
    BucketSorter(std::size_t items, std::size_t buckets, Context* context, Each&& each)
        : items_(items), buckets_(buckets), grain_(std::max<std::size_t>(32768, items / 256)) {
        place_.resize((items + grain_ - 1) / grain_ * buckets);
        parallel_chunks(context, items, grain_, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            std::size_t* const count = place_.data() + chunk * buckets;
            for (std::size_t i = begin; i < end; ++i) each(i, [&](std::size_t bucket) { ++count[bucket]; });
        });
        std::size_t sum = 0;
        for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
            first_.push_back(sum);
            for (std::size_t at = bucket; at < place_.size(); at += buckets) sum += std::exchange(place_[at], sum);
        }
        first_.push_back(sum);
    }
    // each(item, place): place(bucket) is the next free position of the bucket. Must request exactly the
    // counted entries. Call once.
    template <typename Each>
    void run(Context* context, Each&& each) const {
        parallel_chunks(context, items_, grain_, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            std::vector<std::size_t> next(place_.begin() + std::ptrdiff_t(chunk * buckets_),
                                          place_.begin() + std::ptrdiff_t((chunk + 1) * buckets_));
            for (std::size_t i = begin; i < end; ++i) each(i, [&](std::size_t bucket) { return next[bucket]++; });
        });
    }
    // The first position of a bucket; for the end, the total.
    std::size_t first(std::size_t bucket) const { return first_[bucket]; }
    std::size_t size() const { return first_.back(); }

private:
    std::size_t items_, buckets_, grain_;
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
    const BucketSorter sorter(n, tables, context,
                              [&](std::size_t v, auto&& put) { put(hash(v) >> 32 & (tables - 1)); });
    std::vector<Entry> entries(n);
    sorter.run(context, [&](std::size_t v, auto&& place) {
        const std::uint64_t h = hash(v);
        entries[place(h >> 32 & (tables - 1))] = {std::uint32_t(h), std::uint32_t(v)};
    });
    std::vector<std::uint32_t> weld(n);
    parallel_chunks(context, tables, 1, [&](std::size_t t, std::size_t, std::size_t) {
        const std::span<const Entry> mine(entries.data() + sorter.first(t), sorter.first(t + 1) - sorter.first(t));
        const std::size_t slots = std::bit_ceil(2 * mine.size() + 2);
        const int shift = 32 - std::countr_zero(slots);
        std::vector<Entry> table(slots, Entry{0, no_index});
        for (const Entry& e : mine) {
            auto slot = static_cast<std::size_t>(shift >= 0 ? e.hash >> shift : e.hash);
            while (table[slot].vertex != no_index &&
                   !(table[slot].hash == e.hash && positions[table[slot].vertex] == positions[e.vertex]))
                slot = (slot + 1) & (slots - 1);
            if (table[slot].vertex == no_index) table[slot] = e;
            weld[e.vertex] = table[slot].vertex;
        }
    });
    return weld;
}

// The edges of a mesh of welded corners, in buckets by their lower position, so that a thread sorts a bucket in the
// cache. Triangles with two corners at one position have no edges. Memory 32 bytes a triangle.
class Edges {
public:
    struct HalfEdge {
        std::uint32_t upper, apex;  // apex: the third corner
        std::uint32_t directed;     // triangle · 2 + whether it goes from the lower to the upper position
        std::uint32_t triangle() const { return directed >> 1; }
        bool forward() const { return directed & 1; }
    };

    Edges(std::size_t vertices, std::span<const Triangle> corners, Context* context)
        : vertices_(vertices),
          shift_(std::max(12, int(std::bit_width(vertices)) - 10)),
          sorter_(corners.size(), buckets(), context, [&](std::size_t t, auto&& put) {
              if (collapsed(corners[t])) return;
              const auto [a, b, c, directed] = SortedTriangle(t, corners[t]);
              put(a >> shift_);
              put(b >> shift_);
          }) {
        filed_.resize(sorter_.size());
        sorter_.run(context, [&](std::size_t t, auto&& place) {
            if (collapsed(corners[t])) return;
            const auto [a, b, c, directed] = SortedTriangle(t, corners[t]);
            filed_[place(a >> shift_)] = {a, b, c, directed};
            filed_[place(b >> shift_)] = {b, c, a, directed};
        });
    }

    std::size_t buckets() const { return (vertices_ >> shift_) + 1; }
    // Calls visit(lower, upper, span of half-edges) for every edge of a bucket, by lower and upper position.
    // Half-edges are in the order of triangles and may be written to. announce(triangle) is called some edges
    // before a visit, so that it can prefetch.
    template <typename Visit, typename Announce>
    void each(std::size_t bucket, Visit&& visit, Announce&& announce) const {
        const std::size_t base = bucket << shift_, count = std::min(vertices_ - base, std::size_t{1} << shift_);
        const std::span<const SortedTriangle> filed(filed_.data() + sorter_.first(bucket),
                                                    sorter_.first(bucket + 1) - sorter_.first(bucket));
        std::vector<std::uint32_t> next(count + 2, 0);  // by lower position, shifted by two
        for (const SortedTriangle& f : filed) next[f.low - base + 2] += f.last < f.low ? 1 : 2;
        for (std::size_t v = 2; v < count + 2; ++v) next[v] += next[v - 1];
        std::vector<HalfEdge> halves(next[count + 1]);
        for (const SortedTriangle& f : filed) {
            std::uint32_t& to = next[f.low - base + 1];
            halves[to++] = {f.middle, f.last, f.directed};
            if (f.last > f.low) halves[to++] = {f.last, f.middle, f.directed ^ 1};
        }
        constexpr std::size_t ahead = 8;
        for (std::size_t v = 0; v < count; ++v) {
            if (v + ahead < count)
                for (std::size_t k = next[v + ahead]; k < next[v + ahead + 1]; ++k) announce(halves[k].triangle());
            HalfEdge *const begin = halves.data() + next[v], *const end = halves.data() + next[v + 1];
            if (end - begin > 32) {
                std::sort(begin, end, [](const HalfEdge& a, const HalfEdge& b) {
                    return a.upper != b.upper ? a.upper < b.upper : a.directed < b.directed;
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
    // Positions low < middle < last of a triangle, for its two edges from `low`; `directed` as in HalfEdge, for the
    // edge to `middle`. The edge to `last` then has the opposite direction. The third edge, from the middle
    // position, has an entry of its own, with the positions (middle, last, low): its last position is lower than
    // its first.
    struct SortedTriangle {
        std::uint32_t low, middle, last, directed;

        SortedTriangle() = default;
        SortedTriangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d)
            : low(a), middle(b), last(c), directed(d) {}
        SortedTriangle(std::size_t t, const Triangle& w) : low(w[0]), middle(w[1]), last(w[2]) {
            std::uint32_t odd = 0;  // even permutations keep the orientation
            if (low > middle) std::swap(low, middle), odd ^= 1;
            if (middle > last) std::swap(middle, last), odd ^= 1;
            if (low > middle) std::swap(low, middle), odd ^= 1;
            directed = std::uint32_t(t) << 1 | (odd ^ 1);
        }
    };

    std::size_t vertices_;
    int shift_;
    BucketSorter sorter_;
    LargeVector<SortedTriangle> filed_;
};

// Relations of triangles across edges.
struct Connections {
    struct DuplicatePair {
        std::uint32_t triangle, first;  // first: the earlier triangle · 2 + whether they face opposite sides
    };
    OrientedSets patches;
    DisjointSets loops;  // of boundary edges, by their positions
    std::vector<DuplicatePair> duplicates;
    std::vector<std::uint8_t> is_duplicate;  // T; empty if there are no duplicates
    std::vector<std::uint8_t> ends_patch;    // T: has an edge that ends a patch
    std::vector<std::uint8_t> ends_part;     // T: has an edge of one triangle
    std::vector<std::uint8_t> on_boundary;   // V
    std::size_t boundary_edges = 0, nonmanifold_edges = 0;

    Connections(const Edges& edges, std::size_t vertices, std::size_t triangles, Context* context)
        : patches(triangles, context),
          loops(vertices, context),
          ends_patch(triangles, 0),
          ends_part(triangles, 0),
          on_boundary(vertices, 0) {
        // A duplicate is detected at the edge of its two lower corners, which may be in another bucket than its
        // other edges. Few meshes have duplicates: only if one is found is the pass repeated.
        std::vector<BucketResult> found = connect(edges, true, context);
        for (const BucketResult& f : found)
            duplicates.insert(duplicates.end(), f.duplicates.begin(), f.duplicates.end());
        if (!duplicates.empty()) {
            is_duplicate.assign(triangles, 0);
            for (const DuplicatePair& t : duplicates) is_duplicate[t.triangle] = 1;
            patches = OrientedSets(triangles, context);
            loops = DisjointSets(vertices, context);
            ends_patch.assign(triangles, 0);
            ends_part.assign(triangles, 0);
            on_boundary.assign(vertices, 0);
            found = connect(edges, false, context);
        }
        std::vector<std::uint32_t> contradicting;
        for (const BucketResult& f : found) {
            boundary_edges += f.boundary_edges;
            nonmanifold_edges += f.nonmanifold_edges;
            contradicting.insert(contradicting.end(), f.contradicting.begin(), f.contradicting.end());
        }
        if (!contradicting.empty()) join_again(edges, contradicting);
    }

private:
    struct BucketResult {
        std::vector<DuplicatePair> duplicates;
        std::vector<std::uint32_t> contradicting;  // triangles whose joins contradict
        std::size_t boundary_edges = 0, nonmanifold_edges = 0;
    };

    std::vector<BucketResult> connect(const Edges& edges, bool first_pass, Context* context) {
        std::vector<BucketResult> found(edges.buckets());
        parallel_for(context, found.size(), 1, [&](std::size_t bucket) {
            BucketResult& mine = found[bucket];
            edges.each(
                bucket,
                [&](std::uint32_t lower, std::uint32_t upper, std::span<Edges::HalfEdge> halves) {
                    if (first_pass)
                        find_duplicates(upper, halves, mine.duplicates);
                    else
                        halves = without_duplicates(halves);
                    if (halves.size() == 1) {
                        ++mine.boundary_edges;
                        mark(ends_patch, halves[0].triangle());
                        mark(ends_part, halves[0].triangle());
                        mark(on_boundary, lower);
                        mark(on_boundary, upper);
                        loops.join(lower, upper);
                    } else if (halves.size() == 2) {
                        const bool against = halves[0].forward() == halves[1].forward();
                        if (!patches.join(halves[0].triangle(), halves[1].triangle(), against))
                            mine.contradicting.push_back(halves[0].triangle());
                    } else if (halves.size() > 2) {
                        ++mine.nonmanifold_edges;
                        for (const Edges::HalfEdge& h : halves) mark(ends_patch, h.triangle());
                    }
                },
                [&](std::uint32_t triangle) { patches.prefetch_member(triangle); });
        });
        return found;
    }

    // Triangles with the same three positions, at the edge of their two lower ones.
    static void find_duplicates(std::uint32_t upper, std::span<Edges::HalfEdge> halves,
                                std::vector<DuplicatePair>& duplicates) {
        if (halves.size() < 2) return;
        if (halves.size() > 2)
            std::stable_sort(halves.begin(), halves.end(),
                             [&](const Edges::HalfEdge& a, const Edges::HalfEdge& b) { return a.apex < b.apex; });
        const Edges::HalfEdge* first = &halves[0];
        for (std::size_t i = 1; i < halves.size(); ++i) {
            if (first->apex != halves[i].apex)
                first = &halves[i];
            else if (first->apex > upper)
                duplicates.push_back(
                    {halves[i].triangle(),
                     first->triangle() << 1 | (first->forward() != halves[i].forward() ? 1u : 0u)});
        }
    }

    std::span<Edges::HalfEdge> without_duplicates(std::span<Edges::HalfEdge> halves) const {
        if (is_duplicate.empty()) return halves;
        const auto end = std::remove_if(halves.begin(), halves.end(),
                                        [&](const Edges::HalfEdge& h) { return is_duplicate[h.triangle()] != 0; });
        return halves.first(std::size_t(end - halves.begin()));
    }

    // Where orientations contradict (a Möbius strip), the first one in the order of edges counts. So sets with a
    // contradiction are joined again, one edge after the other.
    void join_again(const Edges& edges, const std::vector<std::uint32_t>& contradicting) {
        std::vector<std::uint8_t> again(ends_patch.size(), 0);  // of a root: its set; then of every member
        for (const std::uint32_t t : contradicting) again[patches.root(t) >> 1] = 1;
        for (std::uint32_t t = 0; t < again.size(); ++t) again[t] = again[patches.root(t) >> 1];
        for (std::uint32_t t = 0; t < again.size(); ++t)
            if (again[t]) patches.reset(t);
        for (std::size_t bucket = 0; bucket < edges.buckets(); ++bucket)
            edges.each(
                bucket,
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
    Point3 vector_area2{};    // twice
    Point3 centre_area{};     // centroid · area
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
constexpr double kLeastOpenVolume = 0.5, kLeastClosedVolume = 1e-9;

Patch::Facing facing_of(const Patch& patch) {
    const double total = patch.area[0] + patch.area[1];
    const double sphere = total * std::sqrt(total) / (6 * std::sqrt(std::numbers::pi));
    const double volume = patch.volume(), least = (patch.open ? kLeastOpenVolume : kLeastClosedVolume) * sphere;
    return volume > least    ? Patch::Facing::outwards
           : volume < -least ? Patch::Facing::inwards
                             : Patch::Facing::unclear;
}

// Triangles of a patch at whose centres the winding number is sampled.
constexpr std::size_t kSamples = 8;

class MeshAnalysis {
public:
    MeshAnalysis(const MeshView& mesh, Context* context)
        : mesh_(mesh), context_(context), parts_(mesh.positions.size(), context) {}

    MeshTopology run() {
        out_.weld = weld_positions(mesh_.positions, context_);
        join_parts();
        count_vertices();
        connect_triangles();
        number_parts_and_patches();
        sum_patches();
        if (const Patch::Facing wrong = face_patches(); has_patches(wrong)) turn_patches_in_the_open(wrong);
        turn_triangles();
        return std::move(out_);
    }

private:
    static constexpr std::size_t kGrain = 16384;
    std::size_t vertex_count() const { return mesh_.positions.size(); }
    std::size_t triangle_count() const { return mesh_.triangles.size(); }
    bool has_patch(std::size_t t) const { return patch_of_[t] != no_index; }
    std::uint32_t patch_number(std::size_t t) const { return patch_of_[t] >> 1; }
    // Whether triangle t has another orientation than the patch's outer side.
    bool is_reversed(std::size_t t) const {
        const std::uint32_t patch = patch_number(t);
        return ((patch_of_[t] & 1) != 0) ^ patches_[patch].inverted ^ patch_turned_[patch];
    }

    // Welds corners, and joins parts over shared positions.
    void join_parts() {
        bool welded = false;
        for (std::size_t v = 0; v < vertex_count() && !welded; ++v) welded = out_.weld[v] != v;
        welded_corners_.resize(welded ? triangle_count() : 0);
        corners_ = welded ? std::span<const Triangle>(welded_corners_) : mesh_.triangles;
        used_.assign(vertex_count(), 0);
        out_.at_triangle.assign(vertex_count(), 0);
        parallel_for(context_, triangle_count(), kGrain, [&](std::size_t t) {
            const Triangle& v = mesh_.triangles[t];
            if (welded) welded_corners_[t] = {out_.weld[v[0]], out_.weld[v[1]], out_.weld[v[2]]};
            const Triangle& w = corners_[t];
            for (int k = 0; k < 3; ++k) {
                mark(used_, v[k]);
                mark(out_.at_triangle, w[k]);
            }
            parts_.join(w[0], w[1]);
            parts_.join(w[0], w[2]);
        });
    }

    void count_vertices() {
        for (std::size_t v = 0; v < vertex_count(); ++v) {
            if (!used_[v]) ++out_.defects.unused_vertices;
            // A vertex is welded to an earlier one, whose mark is final.
            if (out_.weld[v] != v)
                out_.at_triangle[v] = out_.at_triangle[out_.weld[v]];
            else if (out_.at_triangle[v])
                ++out_.defects.welded_vertices;
        }
    }

    void connect_triangles() {
        const Edges edges(vertex_count(), corners_, context_);
        Connections& found = connections_.emplace(edges, vertex_count(), triangle_count(), context_);
        MeshDefects& defects = out_.defects;
        defects.boundary_edges = found.boundary_edges;
        defects.nonmanifold_edges = found.nonmanifold_edges;
        defects.duplicate_triangles = found.duplicates.size();
        if (defects.boundary_edges > 0)
            for (std::uint32_t v = 0; v < vertex_count(); ++v)
                if (found.on_boundary[v] && found.loops.root(v) == v) ++defects.holes;
    }

    // Parts and patches are numbered by their first triangle, which is the root of its patch.
    void number_parts_and_patches() {
        out_.part_of_triangle.resize(triangle_count());
        patch_of_.assign(triangle_count(), no_index);
        parallel_for(context_, triangle_count(), kGrain, [&](std::size_t t) {
            const bool duplicate = !connections_->is_duplicate.empty() && connections_->is_duplicate[t] != 0;
            out_.part_of_triangle[t] = parts_.root(corners_[t][0]);
            if (!collapsed(corners_[t]) && !duplicate) patch_of_[t] = connections_->patches.root(std::uint32_t(t));
        });
        // Numbers instead of roots.
        std::vector<std::uint32_t> part_of_root(vertex_count(), no_index);
        std::vector<std::uint8_t> part_open;
        std::uint32_t patch_count = 0, part = no_index, last_root = no_index;
        for (std::size_t t = 0; t < triangle_count(); ++t) {
            if (out_.part_of_triangle[t] != last_root) {
                last_root = out_.part_of_triangle[t];
                if (part_of_root[last_root] == no_index) {
                    part_of_root[last_root] = std::uint32_t(part_open.size());
                    part_open.push_back(0);
                }
                part = part_of_root[last_root];
            }
            out_.part_of_triangle[t] = part;
            part_open[part] |= connections_->ends_part[t];
            if (const std::uint32_t root = patch_of_[t]; root != no_index) {
                const std::uint32_t number = root >> 1 == t ? patch_count++ : patch_number(root >> 1);
                patch_of_[t] = number << 1 | (root & 1);
                any_reversed_ |= root & 1;
            }
        }
        out_.defects.parts = part_open.size();
        for (const std::uint8_t open : part_open) out_.defects.open_parts += open;
        patches_.resize(patch_count);
    }

    // Triangles by patch; those without a patch come last. Empty if they already are in this order.
    std::vector<std::uint32_t> sort_by_patch() const {
        std::vector<std::uint32_t> order;
        const auto before = [](std::uint32_t a, std::uint32_t b) { return a >> 1 < b >> 1; };
        if (std::is_sorted(patch_of_.begin(), patch_of_.end(), before)) return order;
        std::vector<std::size_t> next(patches_.size() + 2, 0);
        for (std::size_t t = 0; t < triangle_count(); ++t) ++next[patch_or_end(t) + 1];
        for (std::size_t p = 0; p <= patches_.size(); ++p) next[p + 1] += next[p];
        order.resize(triangle_count());
        for (std::size_t t = 0; t < triangle_count(); ++t) order[next[patch_or_end(t)]++] = std::uint32_t(t);
        return order;
    }
    std::size_t patch_or_end(std::size_t t) const {
        return std::min<std::size_t>(patch_number(t), patches_.size());
    }

    // Sums over the triangles of each patch in order. A patch's sums are those of the chunk in which it begins, and
    // then of the chunks that continue it, in order.
    void sum_patches() {
        const std::size_t n = triangle_count();
        if (n == 0) return;
        const Point3 origin =
            to_point(mesh_.positions[mesh_.triangles[0][0]]);  // near the mesh, to avoid cancellation
        const std::vector<std::uint32_t> order = sort_by_patch();
        const auto at = [&](std::size_t i) { return order.empty() ? i : order[i]; };
        struct Chunk {
            Patch head;  // of the patch that began in an earlier chunk
            std::size_t in_head = ~std::size_t{0};
            std::size_t degenerate = 0;
        };
        std::vector<Chunk> chunks((n + kGrain - 1) / kGrain);
        parallel_chunks(context_, n, kGrain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            constexpr std::size_t ahead = 16;
            Chunk& mine = chunks[chunk];
            if (begin > 0 && patch_or_end(at(begin - 1)) == patch_or_end(at(begin)))
                mine.in_head = patch_or_end(at(begin));
            for (std::size_t i = begin; i < end;) {
                const std::size_t in = patch_or_end(at(i));
                Patch sum;  // local while the patch is the same
                for (; i < end && patch_or_end(at(i)) == in; ++i) {
                    if (i + ahead < end)
                        for (const std::uint32_t v : mesh_.triangles[at(i + ahead)]) prefetch(&mesh_.positions[v]);
                    if (add_triangle(at(i), origin, sum)) ++mine.degenerate;
                }
                if (in == mine.in_head)
                    mine.head = sum;
                else if (in < patches_.size())
                    patches_[in] = sum;
            }
        });
        for (const Chunk& chunk : chunks) {
            out_.defects.degenerate_triangles += chunk.degenerate;
            if (chunk.in_head < patches_.size()) patches_[chunk.in_head].add(chunk.head);
        }
    }

    // Returns whether the corners of the triangle are collinear within float precision.
    bool add_triangle(std::size_t t, const Point3& origin, Patch& sum) const {
        const auto corner = [&](int k) { return to_point(mesh_.positions[mesh_.triangles[t][k]]); };
        const auto larger = [](double x, double y) { return x < y ? y : x; };
        const auto largest = [&](const Point3& v) {
            return larger(larger(std::abs(v[0]), std::abs(v[1])), std::abs(v[2]));
        };
        const Point3 p = corner(0), q = corner(1), r = corner(2);
        const double rounding = 0x1p-23 * larger(larger(largest(p), largest(q)), largest(r));  // of a coordinate
        const Point3 a = p - origin, b = q - origin, c = r - origin;
        const Point3 normal = cross(b - a, c - a);
        const double n2 = dot(normal, normal),
                     longest2 = larger(larger(dot(b - a, b - a), dot(c - b, c - b)), dot(a - c, a - c));
        const bool against = patch_of_[t] & 1;
        const double area = std::sqrt(n2) / 2, sign = against ? -1 : 1;
        sum.area[0] += against ? 0 : area;
        sum.area[1] += against ? area : 0;
        sum.volume6 += sign * dot(a, normal);
        sum.vector_area2 = sum.vector_area2 + sign * normal;
        sum.centre_area = sum.centre_area + (area / 3) * (a + b + c);
        sum.open |= connections_->ends_patch[t] != 0;
        ++sum.count;
        return collapsed(corners_[t]) || n2 <= rounding * rounding * longest2;
    }

    // Decides which way every patch faces, and turns all of a mesh with negative total volume, which was mirrored
    // as a whole. Returns the wrong side: patches that face it now may have to be turned.
    Patch::Facing face_patches() {
        double total = 0;
        for (Patch& p : patches_) {
            p.inverted = p.area[1] > p.area[0];
            p.facing = facing_of(p);
            if (p.facing != Patch::Facing::unclear) total += p.volume();
        }
        const bool mirrored = total < 0;
        patch_turned_.resize(patches_.size());
        for (std::size_t i = 0; i < patches_.size(); ++i)
            patch_turned_[i] = mirrored && patches_[i].facing != Patch::Facing::unclear;
        return mirrored ? Patch::Facing::outwards : Patch::Facing::inwards;
    }
    bool has_patches(Patch::Facing facing) const {
        return std::any_of(patches_.begin(), patches_.end(), [&](const Patch& p) { return p.facing == facing; });
    }

    // A patch that faces inwards is turned if no other patch encloses it. Inside patches that face outwards it is
    // the wall of a cavity (the inside of a vase, a mouth, a lining) and stays; otherwise the space between the two
    // walls would not be inside.
    void turn_patches_in_the_open(Patch::Facing wrong) {
        std::vector<bool> turned(triangle_count()), left_out(triangle_count());
        std::vector<std::size_t> seen(patches_.size(), 0);
        std::vector<std::uint32_t> samples;  // triangles
        for (std::uint32_t t = 0; t < triangle_count(); ++t) {
            if (!has_patch(t)) {
                left_out[t] = true;
                continue;
            }
            const std::uint32_t i = patch_number(t);
            turned[t] = is_reversed(t);
            left_out[t] = patches_[i].facing == wrong;
            if (left_out[t] && seen[i]++ % ((patches_[i].count + kSamples - 1) / kSamples) == 0)
                samples.push_back(t);
        }
        const WindingTree others(mesh_, turned, left_out);
        std::vector<double> inside(patches_.size(), 0);  // sum over samples of winding number - 1/2
        for (const std::uint32_t t : samples) {
            const Triangle& v = mesh_.triangles[t];
            const Vec3 &a = mesh_.positions[v[0]], &b = mesh_.positions[v[1]], &c = mesh_.positions[v[2]];
            inside[patch_number(t)] +=
                others({a.x / 3 + b.x / 3 + c.x / 3, a.y / 3 + b.y / 3 + c.y / 3, a.z / 3 + b.z / 3 + c.z / 3}) -
                0.5;
        }
        for (std::size_t i = 0; i < patches_.size(); ++i)
            if (patches_[i].facing == wrong && inside[i] < 0) patch_turned_[i] = !patch_turned_[i];
    }

    void turn_triangles() {
        MeshDefects& defects = out_.defects;
        out_.turned.assign(triangle_count(), false);
        std::vector<std::uint8_t> part_flipped(defects.parts, 0);
        for (const Patch& p : patches_) any_reversed_ |= p.inverted;
        any_reversed_ |= std::count(patch_turned_.begin(), patch_turned_.end(), true) > 0;
        for (std::uint32_t t = 0; t < triangle_count() && any_reversed_; ++t) {
            if (!has_patch(t)) continue;
            if (is_reversed(t)) out_.turned[t] = true;
            if (patch_turned_[patch_number(t)]) part_flipped[out_.part_of_triangle[t]] = 1;
        }
        // A duplicate faces like the triangle that it repeats, which is not itself a duplicate.
        for (const Connections::DuplicatePair& pair : connections_->duplicates)
            out_.turned[pair.triangle] = out_.turned[pair.first >> 1] ^ ((pair.first & 1) != 0);
        defects.flipped_triangles = std::size_t(std::count(out_.turned.begin(), out_.turned.end(), true));
        for (const std::uint8_t flipped : part_flipped) defects.flipped_parts += flipped;
    }

    const MeshView mesh_;
    Context* const context_;
    MeshTopology out_;
    std::vector<Triangle> welded_corners_;  // empty if no vertices are welded
    std::span<const Triangle> corners_;     // T: of welded positions
    DisjointSets parts_;                    // V
    std::vector<std::uint8_t> used_;        // V: a triangle has this vertex
    std::optional<Connections> connections_;
    std::vector<std::uint32_t>
        patch_of_;  // T: patch · 2 + whether the triangle is oriented against its root; or none
    std::vector<Patch> patches_;
    std::vector<bool> patch_turned_;
    bool any_reversed_ = false;  // a triangle may have to be turned
};

}  // namespace

MeshTopology analyse_mesh(const MeshView& mesh, Context* context) { return MeshAnalysis(mesh, context).run(); }

}  // namespace sinew
