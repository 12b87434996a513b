// Interior by columns: for each axis, where every column of voxels crosses the mesh.
//
// Dionne and de Lasa 2014, section 5.1, render the mesh once per slice and view and ask whether the first visible
// surface is a back face. All slices of a view see the same surfaces, so it is enough to find the crossings once:
// between two consecutive crossings nothing changes. One view calls a gap internal if the crossing below it enters
// the mesh, the opposite view if the crossing above it leaves the mesh.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <span>

#include "core/branchless.h"
#include "core/parallel.h"
#include "domain/lattice.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

// The crossing of a voxel column and a triangle as one sortable number: column, then depth, then leaving before
// entering. So the solid below two coincident faces ends before the solid above begins.
using Crossing = std::uint64_t;
constexpr int kDepthBits = 24;

Crossing make_crossing(std::uint32_t column, std::int64_t depth, bool entering) {
    return (Crossing{column} << (kDepthBits + 1)) | (static_cast<Crossing>(depth) << 1) | Crossing{entering};
}
std::uint32_t column_of(Crossing c) { return static_cast<std::uint32_t>(c >> (kDepthBits + 1)); }
std::int64_t depth_of(Crossing c) { return static_cast<std::int64_t>(c >> 1 & ((1u << kDepthBits) - 1)); }
bool enters(Crossing c) { return c & 1; }

// The voxels whose centres lie in the box of a triangle, along each axis.
struct Centres {
    int low[3], high[3];

    Centres() = default;
    Centres(const LatticePoint* p, int r) {
        for (int a = 0; a < 3; ++a) {
            const auto [least, most] = range_of(p[0].c[a], p[1].c[a], p[2].c[a]);
            low[a] = std::max(0, (least - kCentre + kVoxel - 1) >> kVoxelBits);
            high[a] = std::min(r - 1, (most - kCentre) >> kVoxelBits);
        }
    }
    double along(std::size_t a) const { return std::max(0, high[a] - low[a] + 1); }
    int any(int a) const { return low[a] <= high[a]; }  // 0 or 1
};

// Which columns along an axis go through used blocks.
class Columns {
public:
    Columns() = default;  // all
    Columns(const BitGrid& blocks, int w)
        : n_(blocks.resolution()), through_(static_cast<std::size_t>(n_ * n_), 0) {
        const int u = (w + 1) % 3, v = (w + 2) % 3;
        int q[3];
        for (q[2] = 0; q[2] < n_; ++q[2])
            for (q[1] = 0; q[1] < n_; ++q[1])
                for (int k = 0; k < blocks.words_per_row(); ++k)
                    for (std::uint64_t left = blocks.words()[blocks.index(64 * k, q[1], q[2])]; left;
                         left &= left - 1) {
                        q[0] = 64 * k + std::countr_zero(left);
                        through_[at(q[u], q[v])] = 1;
                    }
    }
    bool has(int i, int j) const {
        return through_.empty() || through_[at(i / BitGrid::kBlock, j / BitGrid::kBlock)];
    }
    bool meets(const int* low, const int* high, std::size_t u, std::size_t v) const {
        if (through_.empty()) return true;
        constexpr int side = BitGrid::kBlock;
        for (int j = low[v] / side; j <= high[v] / side; ++j)
            for (int i = low[u] / side; i <= high[u] / side; ++i)
                if (through_[at(i, j)]) return true;
        return false;
    }

private:
    std::size_t at(int i, int j) const { return static_cast<std::size_t>(j * n_ + i); }

    int n_ = 0;
    std::vector<std::uint8_t> through_;
};

// Crossings in no order. Adding one under a condition is a store and a sum, not a branch.
class Crossings {
public:
    void clear() { size_ = 0; }
    bool empty() const { return size_ == 0; }
    const Crossing* begin() const { return at_.data(); }
    const Crossing* end() const { return at_.data() + size_; }
    void add_if(bool is, Crossing c) {
        if (size_ == at_.size()) at_.resize(std::max<std::size_t>(64, 2 * size_));
        at_[size_] = c;
        size_ += is;
    }

private:
    std::vector<Crossing> at_;  // the first size_ are used
    std::size_t size_ = 0;
};

// Rows of columns whose crossings are put in order together: where they toggle voxels along x, as bits of words,
// another strip touches no word of theirs.
constexpr int kStripRows = 64;
int strips_of(int r) { return (r + kStripRows - 1) / kStripRows; }

// All crossings of columns along axis w, in rows first_row to last_row of them, with one triangle, by strips of
// rows. Columns are sampled at voxel centres; a centre exactly on an edge belongs to the triangle for which the
// edge is a top or left one, so a shared edge counts once.
template <std::size_t w>
void cross_triangle(Crossings* out, const LatticePoint* p, const Centres& box, const Columns& columns,
                    int first_row, int last_row, int r) {
    constexpr std::size_t u = (w + 1) % 3, v = (w + 2) % 3;
    first_row = std::max(first_row, box.low[v]);
    last_row = std::min(last_row, box.high[v]);
    std::int64_t area = std::int64_t{p[1].c[u] - p[0].c[u]} * (p[2].c[v] - p[0].c[v]) -
                        std::int64_t{p[2].c[u] - p[0].c[u]} * (p[1].c[v] - p[0].c[v]);
    if (area == 0) return;  // seen edge-on
    const LatticePoint* t[3] = {&p[0], &p[1], &p[2]};
    // The normal's w component has the sign of the area; a column enters through faces that look down the axis.
    const bool entering = area < 0;
    if (area < 0) {
        std::swap(t[1], t[2]);
        area = -area;
    }
    struct Edge {
        std::int64_t u, v, d;
        std::int64_t least;  // minimum value of a column inside
    } edge[3];
    for (int e = 0; e < 3; ++e) {
        const LatticePoint &a = *t[e], &b = *t[(e + 1) % 3];
        const std::int64_t du = b.c[u] - a.c[u], dv = b.c[v] - a.c[v];
        const bool owns = (dv < 0) | ((dv == 0) & (du < 0));  // the half-open rule
        edge[e] = {-dv, du, dv * a.c[u] - du * a.c[v], owns ? 0 : 1};
    }
    const auto [w_least, w_most] = range_of(t[0]->c[w], t[1]->c[w], t[2]->c[w]);
    const double inverse = 1.0 / static_cast<double>(area);
    const bool one = first_row == last_row && box.low[u] == box.high[u];
    for (int j = first_row; j <= last_row; ++j) {
        const std::int64_t cv = std::int64_t{j} * kVoxel + kCentre;
        for (int i = box.low[u]; i <= box.high[u]; ++i) {
            const std::int64_t cu = std::int64_t{i} * kVoxel + kCentre;
            // Branchless where the box has one column, as most have: this condition is unpredictable.
            std::int64_t s[3];
            bool inside = true;
            for (int e = 0; e < 3; ++e) {
                s[e] = edge[e].u * cu + edge[e].v * cv + edge[e].d;
                inside &= s[e] >= edge[e].least;
            }
            if (!one && !inside) continue;
            // Barycentric depth; edge e is opposite to corner e + 2.
            const double depth = (static_cast<double>(s[1]) * t[0]->c[w] + static_cast<double>(s[2]) * t[1]->c[w] +
                                  static_cast<double>(s[0]) * t[2]->c[w]) *
                                 inverse;
            const double clamped = std::clamp(depth, static_cast<double>(w_least), static_cast<double>(w_most));
            // Not negative: rounds as llround does.
            out[j / kStripRows].add_if(
                inside & columns.has(i, j),
                make_crossing(static_cast<std::uint32_t>(j * r + i),
                              static_cast<std::int64_t>(clamped * kDepthUnits + 0.5), entering));
        }
    }
}

// Writes the solid spans along axis w between sorted crossings (equation 5). In a grid with blocks, sets all voxels
// of the spans that are in blocks. In other grids, sets one bit at the begin and one past the end of each span, for
// fill_spans.
void put_spans(BitGrid& grid, const std::vector<Crossing>& crossings, int w, ViewPairs pairs) {
    const int r = grid.resolution();
    const int u = (w + 1) % 3, v = (w + 2) % 3;
    const int low = w == 2 ? grid.region().first : 0, high = w == 2 ? grid.region().end : r;
    const BitGrid* blocks = grid.region().blocks.get();
    constexpr std::int64_t step = std::int64_t{kVoxel} * kDepthUnits, half = step / 2;
    // The gap between two crossings; before the first and after the last one of a column there is no surface.
    const auto fill_gap = [&](const Crossing* below, const Crossing* above) {
        const bool upwards = above && !enters(*above), downwards = below && enters(*below);
        if (pairs == ViewPairs::both ? !(upwards && downwards) : !(upwards || downwards)) return;
        // Voxels whose centre lies strictly between the two crossings.
        const std::int64_t from = below ? floor_div(depth_of(*below) - half, step) + 1 : low;
        const std::int64_t to = above ? -floor_div(-(depth_of(*above) - half), step) - 1 : high - 1;
        const int first = static_cast<int>(std::max<std::int64_t>(low, from));
        const int end = static_cast<int>(std::min<std::int64_t>(high, to + 1));
        if (first >= end) return;
        const int column = static_cast<int>(column_of(below ? *below : *above));
        int q[3];
        q[u] = column % r;
        q[v] = column / r;
        const auto flip = [&](int k) {
            q[w] = k;
            grid.words()[grid.index(q[0], q[1], q[2])] ^= std::uint64_t{1} << (q[0] & 63);
        };
        if (!blocks) {
            flip(first);
            if (end < high) flip(end);
            return;
        }
        constexpr int side = BitGrid::kBlock;
        for (int k = first; k < end; k = (k | (side - 1)) + 1) {
            q[w] = k;
            if (!blocks->get(q[0] / side, q[1] / side, q[2] / side)) continue;
            for (int i = k; i < std::min(end, (k | (side - 1)) + 1); ++i)
                flip(i);  // spans of a column do not overlap
        }
    };
    for (std::size_t c = 0; c <= crossings.size(); ++c) {
        const Crossing* below = c > 0 ? &crossings[c - 1] : nullptr;
        const Crossing* above = c < crossings.size() ? &crossings[c] : nullptr;
        if (below && above && column_of(*below) != column_of(*above)) {
            fill_gap(below, nullptr);
            below = nullptr;
        }
        fill_gap(below, above);
    }
}

// The sorted crossings of a strip of rows: distributed by column, then sorted within each column, which has few.
std::vector<Crossing> in_order(std::span<const Crossings* const> lists, int strip, int r) {
    const auto base = static_cast<std::uint32_t>(strip * kStripRows * r);
    std::vector<std::uint32_t> next(static_cast<std::size_t>(kStripRows * r) + 2, 0);  // shifted by two
    for (const auto* list : lists)
        for (const Crossing c : *list) ++next[column_of(c) - base + 2];
    for (std::size_t k = 2; k < next.size(); ++k) next[k] += next[k - 1];
    std::vector<Crossing> out(next.back());
    for (const auto* list : lists)
        for (const Crossing c : *list) out[next[column_of(c) - base + 1]++] = c;
    for (std::size_t k = 0; k + 1 < next.size(); ++k)
        sort_keys(std::span(out).subspan(next[k], next[k + 1] - next[k]));
    return out;
}

// Exclusive-or of the words with others.
void toggle(std::span<std::uint64_t> words, const std::uint64_t* others) {
    std::uint64_t any = 0;
    for (std::size_t k = 0; k < words.size(); ++k) any |= others[k];
    if (!any) return;  // writing would commit the page
    for (std::size_t k = 0; k < words.size(); ++k) words[k] ^= others[k];
}

// Running exclusive-or along axis w turns the ends of spans into spans, 64 columns at a time.
void fill_spans(BitGrid& grid, int w, Context* context) {
    const auto r = static_cast<std::size_t>(grid.resolution()), n = static_cast<std::size_t>(grid.words_per_row());
    const auto first = static_cast<std::size_t>(grid.region().first), layers = grid.region().end - first;
    const std::size_t plane = r * n;
    const auto words = grid.words();
    if (w == 2) {
        constexpr std::size_t strip = 512;
        parallel_chunks(context, plane, strip, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t z = first + 1; z < first + layers; ++z)
                toggle(words.subspan(z * plane + begin, end - begin), words.data() + (z - 1) * plane + begin);
        });
        return;
    }
    parallel_for(context, layers, 4, [&](std::size_t at) {
        const std::size_t z = first + at;
        if (w == 1) {
            for (std::size_t row = z * plane + n; row < (z + 1) * plane; row += n)
                toggle(words.subspan(row, n), words.data() + row - n);
            return;
        }
        for (std::size_t row = z * plane; row < (z + 1) * plane; row += n) {
            std::uint64_t carry = 0;
            for (std::size_t k = 0; k < n; ++k) {
                std::uint64_t x = words[row + k];
                if (x | carry) {
                    for (int shift = 1; shift < 64; shift *= 2) x ^= x << shift;
                    x ^= carry;
                    carry = x >> 63 ? ~std::uint64_t{0} : 0;
                    words[row + k] = x;
                }
            }
        }
    });
}

// Crossings are gathered in bands of rows, so that many large overlapping triangles take time and not memory.
// Nearly always one band is enough. That is found while gathering it, from the bounding boxes of triangles, which
// contain at least twice as many columns as large triangles cross.
class CrossingGatherer {
public:
    static constexpr std::uint64_t kBoxedColumnsAtOnce = 24'000'000;

    CrossingGatherer(const Lattice& lattice, Context* context)
        : lattice_(lattice),
          context_(context),
          blocks_(lattice.used.blocks.get()),
          strips_(static_cast<std::size_t>(strips_of(lattice.resolution))),
          boxed_((lattice.triangles.size() + kGrain - 1) / kGrain),
          gathered_(boxed_.size()) {
        for (int w = 0; blocks_ && w < 3; ++w) columns_[static_cast<std::size_t>(w)] = Columns(*blocks_, w);
    }

    std::size_t strips() const { return strips_; }

    /// Gathers all crossings if they fit into one band. Returns the number of bands that are needed: if more than
    /// one, all are still to be gathered.
    int try_one_band() {
        gather(0, 1);
        if (boxed_so_far_.load() <= kBoxedColumnsAtOnce) return 1;
        double boxed = 0;
        for (const double of_chunk : boxed_) boxed += of_chunk;
        return std::min(lattice_.resolution, 2 + static_cast<int>(boxed / double{kBoxedColumnsAtOnce}));
    }

    void gather(int band, int bands) {
        parallel_chunks(context_, lattice_.triangles.size(), kGrain,
                        [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                            gathered_[chunk].resize(3 * strips_);
                            for (auto& crossings : gathered_[chunk]) crossings.clear();
                            boxed_[chunk] = 0;
                            for (std::size_t t = begin; t < end && !cancelled(context_); t += kBatch)
                                gather_batch(chunk, t, std::min(kBatch, end - t), band, bands);
                        });
    }

    /// The crossings of a strip of rows along an axis: a list per chunk of triangles, without empty ones.
    std::vector<const Crossings*> lists(std::size_t axis, std::size_t strip) const {
        std::vector<const Crossings*> out;
        for (const auto& of_chunk : gathered_)
            if (const Crossings& list = of_chunk[axis * strips_ + strip]; !list.empty()) out.push_back(&list);
        return out;
    }

private:
    static constexpr std::size_t kGrain = 16384, kBatch = 256;

    // Triangles that may cross columns along an axis: few do, and which ones is unpredictable. So they are listed
    // for a batch of triangles first, without branches.
    struct Batch {
        std::array<Centres, kBatch> boxes;
        std::array<std::array<std::uint32_t, kBatch>, 3> crossing;  // by axis: numbers in the batch
        std::array<std::size_t, 3> found{};                         // lengths of the lists

        std::span<const std::uint32_t> along(std::size_t w) const { return std::span(crossing[w]).first(found[w]); }
    };

    void gather_batch(std::size_t chunk, std::size_t first, std::size_t count, int band, int bands) {
        Batch batch;
        list_crossing(first, count, batch);
        double boxed = 0;
        for (std::size_t w = 0; w < 3; ++w) {
            if (blocks_) keep_those_in_blocks(batch, w);
            for (const std::uint32_t k : batch.along(w))
                boxed += batch.boxes[k].along((w + 1) % 3) * batch.boxes[k].along((w + 2) % 3);
        }
        boxed_[chunk] += boxed;
        // Too many for one band: from here on, boxes are only counted.
        const auto added = static_cast<std::uint64_t>(boxed);
        if (bands == 1 && boxed_so_far_.fetch_add(added, std::memory_order_relaxed) + added > kBoxedColumnsAtOnce)
            return;
        cross_along<0>(chunk, first, batch, band, bands);
        cross_along<1>(chunk, first, batch, band, bands);
        cross_along<2>(chunk, first, batch, band, bands);
    }

    void list_crossing(std::size_t first, std::size_t count, Batch& batch) const {
        for (std::size_t k = 0; k < count; ++k) {
            lattice_.prefetch_ahead(first + k);
            const Centres& box = batch.boxes[k] = Centres(lattice_.outward(first + k).data(), lattice_.resolution);
            const std::array any{box.any(0), box.any(1), box.any(2)};
            for (std::size_t w = 0; w < 3; ++w) {
                batch.crossing[w][batch.found[w]] = static_cast<std::uint32_t>(k);
                batch.found[w] += static_cast<std::size_t>(any[(w + 1) % 3] & any[(w + 2) % 3]);
            }
        }
    }

    void keep_those_in_blocks(Batch& batch, std::size_t w) const {
        const auto begin = batch.crossing[w].begin();
        const auto end =
            std::remove_if(begin, begin + static_cast<std::ptrdiff_t>(batch.found[w]), [&](std::uint32_t k) {
                const Centres& box = batch.boxes[k];
                return !columns_[w].meets(box.low, box.high, (w + 1) % 3, (w + 2) % 3);
            });
        batch.found[w] = static_cast<std::size_t>(end - begin);
    }

    template <std::size_t w>
    void cross_along(std::size_t chunk, std::size_t first, const Batch& batch, int band, int bands) {
        const int r = lattice_.resolution;
        for (const std::uint32_t k : batch.along(w))
            cross_triangle<w>(gathered_[chunk].data() + w * strips_, lattice_.outward(first + k).data(),
                              batch.boxes[k], columns_[w], r * band / bands, r * (band + 1) / bands - 1, r);
    }

    const Lattice& lattice_;
    Context* const context_;
    const BitGrid* const blocks_;
    const std::size_t strips_;
    std::array<Columns, 3> columns_;
    std::vector<double> boxed_;  // per chunk: columns in boxes of triangles
    std::atomic<std::uint64_t> boxed_so_far_{0};
    std::vector<std::vector<Crossings>> gathered_;  // per chunk, by axis and strip
};

}  // namespace

Result<PairVotes> vote_by_columns(const Lattice& lattice, ViewPairs pairs, Context* context) {
    PairVotes inside = {BitGrid(lattice.resolution), BitGrid(lattice.resolution), BitGrid(lattice.resolution)};
    for (BitGrid& of_axis : inside) of_axis.restrict_to(lattice.used);
    {
        CrossingGatherer gatherer(lattice, context);
        const int bands = gatherer.try_one_band();
        for (int band = 0; band < bands; ++band) {
            if (bands > 1) gatherer.gather(band, bands);
            if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while voxelizing"};
            parallel_for(context, 3 * gatherer.strips(), 1, [&](std::size_t k) {
                const std::size_t axis = k / gatherer.strips(), strip = k % gatherer.strips();
                const std::vector<const Crossings*> lists = gatherer.lists(axis, strip);
                if (!lists.empty())
                    put_spans(inside[axis], in_order(lists, static_cast<int>(strip), lattice.resolution),
                              static_cast<int>(axis), pairs);
            });
        }
    }
    for (int axis = 0; !lattice.used.blocks && axis < 3; ++axis)
        fill_spans(inside[static_cast<std::size_t>(axis)], axis, context);
    return inside;
}

}  // namespace sinew
