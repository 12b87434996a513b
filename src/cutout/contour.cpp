#include "cutout/contour.h"
#include "sinew/voxels.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace sinew {
namespace {

/// Alpha of a pixel, rows from the bottom, 0 outside the picture.
class Alpha {
public:
    Alpha(const RgbaImage& picture, const PixelMask& mask, double threshold)
        : picture_(picture), mask_(mask), threshold_(threshold) {}

    bool inside(int x, int y) const {
        return x >= 0 && y >= 0 && x < mask_.width && y < mask_.height &&
               mask_.inside[static_cast<std::size_t>(y) * mask_.width + x];
    }
    /// Moved to the side of the threshold that the mask states.
    double at(int x, int y) const {
        double a = 0;
        if (x >= 0 && y >= 0 && x < mask_.width && y < mask_.height)
            a = picture_.rgba[4 * (static_cast<std::size_t>(mask_.height - 1 - y) * mask_.width + x) + 3];
        return inside(x, y) ? std::max(a, threshold_) : std::min(a, threshold_ - 0.5);
    }
    double threshold() const { return threshold_; }

private:
    const RgbaImage& picture_;
    const PixelMask& mask_;
    const double threshold_;
};

/// Labels the connected pixels of a value; returns the number of pixels of each patch.
template <typename Visit>
void each_patch(const PixelMask& mask, bool wanted, bool diagonals, Visit&& visit) {
    const int w = mask.width, h = mask.height;
    std::vector<bool> seen(mask.inside.size(), false);
    std::vector<std::uint32_t> patch;
    for (std::size_t start = 0; start < seen.size(); ++start) {
        if (seen[start] || (mask.inside[start] != 0) != wanted) continue;
        patch.assign(1, static_cast<std::uint32_t>(start));
        seen[start] = true;
        bool at_border = false;
        for (std::size_t k = 0; k < patch.size(); ++k) {
            const int x = static_cast<int>(patch[k]) % w, y = static_cast<int>(patch[k]) / w;
            at_border |= x == 0 || y == 0 || x == w - 1 || y == h - 1;
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx) {
                    if ((dx == 0 && dy == 0) || (!diagonals && dx != 0 && dy != 0)) continue;
                    const int u = x + dx, v = y + dy;
                    if (u < 0 || v < 0 || u >= w || v >= h) continue;
                    const std::size_t at = static_cast<std::size_t>(v) * w + u;
                    if (seen[at] || (mask.inside[at] != 0) != wanted) continue;
                    seen[at] = true;
                    patch.push_back(static_cast<std::uint32_t>(at));
                }
        }
        visit(patch, at_border);
    }
}

double signed_area(const GridLoop& loop) {
    double sum = 0;
    for (std::size_t k = 0; k < loop.size(); ++k) {
        const GridPoint &p = loop[k], &q = loop[(k + 1) % loop.size()];
        sum += static_cast<double>(p.x) * q.y - static_cast<double>(q.x) * p.y;
    }
    return 0.5 * sum;
}

double distance_to_segment(const GridPoint& a, const GridPoint& b, const GridPoint& p) {
    const double ux = static_cast<double>(b.x) - a.x, uy = static_cast<double>(b.y) - a.y;
    const double vx = static_cast<double>(p.x) - a.x, vy = static_cast<double>(p.y) - a.y;
    const double length = ux * ux + uy * uy;
    const double t = length > 0 ? std::clamp((ux * vx + uy * vy) / length, 0.0, 1.0) : 0;
    return std::hypot(vx - t * ux, vy - t * uy);
}

bool on_segment(const GridPoint& a, const GridPoint& b, const GridPoint& p) {
    return area2(a, b, p) == 0 && std::min(a.x, b.x) <= p.x && p.x <= std::max(a.x, b.x) &&
           std::min(a.y, b.y) <= p.y && p.y <= std::max(a.y, b.y);
}

/// Whether two segments have a point in common that is not an end of both.
bool collide(const GridPoint& a, const GridPoint& b, const GridPoint& c, const GridPoint& d) {
    const bool shared_a = a == c || a == d, shared_b = b == c || b == d;
    if (shared_a || shared_b) {
        // A fold back onto itself, or the same segment twice.
        const GridPoint& other = shared_a ? b : a;
        const GridPoint& rest = shared_a ? (a == c ? d : c) : (b == c ? d : c);
        return on_segment(c, d, other) || on_segment(a, b, rest);
    }
    const auto sign = [](std::int64_t v) { return v > 0 ? 1 : v < 0 ? -1 : 0; };
    if (sign(area2(a, b, c)) * sign(area2(a, b, d)) < 0 && sign(area2(c, d, a)) * sign(area2(c, d, b)) < 0)
        return true;
    return on_segment(a, b, c) || on_segment(a, b, d) || on_segment(c, d, a) || on_segment(c, d, b);
}

/// Which points of a loop are kept.
/// Boxes around the points of a loop: 16 each, and then of two boxes each. A distance to a segment is largest at a
/// corner of a box.
class PointBoxes {
public:
    explicit PointBoxes(const GridLoop& loop) : loop_(loop) {
        std::vector<Box> boxes((loop.size() + kBlock - 1) / kBlock);
        for (std::size_t k = 0; k < loop.size(); ++k) boxes[k / kBlock].add(loop[k], loop[k]);
        levels_.push_back(std::move(boxes));
        while (levels_.back().size() > 1) {
            const std::vector<Box>& finer = levels_.back();
            std::vector<Box> coarser((finer.size() + 1) / 2);
            for (std::size_t k = 0; k < finer.size(); ++k) coarser[k / 2].add(finer[k].low, finer[k].high);
            levels_.push_back(std::move(coarser));
        }
    }

    /// The first of the points [begin, end) that is farthest from the segment and farther than `best`, which it
    /// replaces.
    void farthest(std::size_t begin, std::size_t end, const GridPoint& a, const GridPoint& b,
                  std::pair<std::size_t, double>& best) const {
        if (begin >= end) return;
        const Search search{begin, end, a, b};
        double most = best.second;
        find_most(search, levels_.size() - 1, 0, most);
        if (!(most > best.second)) return;
        best = {find_first(search, levels_.size() - 1, 0, most), most};
    }

private:
    static constexpr std::size_t kBlock = 16;
    static constexpr double kRounding = 1 + 1e-9;
    struct Box {
        GridPoint low{INT32_MAX, INT32_MAX}, high{INT32_MIN, INT32_MIN};
        void add(const GridPoint& p, const GridPoint& q) {
            low = {std::min(low.x, p.x), std::min(low.y, p.y)};
            high = {std::max(high.x, q.x), std::max(high.y, q.y)};
        }
    };
    struct Search {
        std::size_t begin, end;
        GridPoint a, b;
        bool misses(std::size_t first, std::size_t last) const { return last <= begin || first >= end; }
    };

    double bound(const Search& s, const Box& box) const {
        double most = 0;
        for (const GridPoint& corner :
             {box.low, GridPoint{box.high.x, box.low.y}, box.high, GridPoint{box.low.x, box.high.y}})
            most = std::max(most, distance_to_segment(s.a, s.b, corner));
        return kRounding * most;
    }
    void find_most(const Search& s, std::size_t level, std::size_t index, double& most) const {
        const std::size_t first = (index << level) * kBlock;
        if (index >= levels_[level].size() || s.misses(first, first + (kBlock << level))) return;
        if (bound(s, levels_[level][index]) <= most) return;
        if (level == 0) {
            for (std::size_t k = std::max(first, s.begin); k < std::min(first + kBlock, s.end); ++k)
                most = std::max(most, distance_to_segment(s.a, s.b, loop_[k]));
            return;
        }
        const std::vector<Box>& finer = levels_[level - 1];
        const std::size_t left = 2 * index, right = left + 1;
        const bool right_first = right < finer.size() && bound(s, finer[right]) > bound(s, finer[left]);
        find_most(s, level - 1, right_first ? right : left, most);
        find_most(s, level - 1, right_first ? left : right, most);
    }
    /// s.end if there is none.
    std::size_t find_first(const Search& s, std::size_t level, std::size_t index, double most) const {
        const std::size_t first = (index << level) * kBlock;
        if (index >= levels_[level].size() || s.misses(first, first + (kBlock << level))) return s.end;
        if (bound(s, levels_[level][index]) < most) return s.end;
        if (level == 0) {
            for (std::size_t k = std::max(first, s.begin); k < std::min(first + kBlock, s.end); ++k)
                if (distance_to_segment(s.a, s.b, loop_[k]) == most) return k;
            return s.end;
        }
        const std::size_t found = find_first(s, level - 1, 2 * index, most);
        return found != s.end ? found : find_first(s, level - 1, 2 * index + 1, most);
    }

    const GridLoop& loop_;
    std::vector<std::vector<Box>> levels_;
};

struct SimplifiedLoop {
    explicit SimplifiedLoop(const GridLoop& of) : loop(of), boxes(of), keep(of.size(), false) {}

    const GridLoop& loop;
    PointBoxes boxes;
    std::vector<bool> keep;

    std::size_t after(std::size_t k) const {
        do k = k + 1 == loop.size() ? 0 : k + 1;
        while (!keep[k]);
        return k;
    }
    /// The point between two kept ones that is farthest from their segment, with its distance; `from` if there is
    /// none.
    std::pair<std::size_t, double> farthest(std::size_t from, std::size_t to) const {
        std::pair<std::size_t, double> best{from, -1};
        if (from < to) {
            boxes.farthest(from + 1, to, loop[from], loop[to], best);
        } else {
            boxes.farthest(from + 1, loop.size(), loop[from], loop[to], best);
            boxes.farthest(0, to, loop[from], loop[to], best);
        }
        return best;
    }
    void split(std::size_t from, std::size_t to, double tolerance) {
        std::vector<std::pair<std::size_t, std::size_t>> stack{{from, to}};
        while (!stack.empty()) {
            const auto [a, b] = stack.back();
            stack.pop_back();
            const auto found = farthest(a, b);
            if (found.first == a || found.second <= tolerance) continue;
            keep[found.first] = true;
            stack.emplace_back(a, found.first);
            stack.emplace_back(found.first, b);
        }
    }
};

}  // namespace

PixelMask figure_mask(const RgbaImage& picture, const OutlineOptions& options, OutlineReport& report) {
    PixelMask mask;
    mask.width = picture.width;
    mask.height = picture.height;
    mask.inside.resize(static_cast<std::size_t>(picture.width) * picture.height);
    const double threshold = 255.0 * options.alpha;
    for (int y = 0; y < mask.height; ++y)
        for (int x = 0; x < mask.width; ++x) {
            const std::size_t from = static_cast<std::size_t>(mask.height - 1 - y) * mask.width + x;
            mask.inside[static_cast<std::size_t>(y) * mask.width + x] = picture.rgba[4 * from + 3] >= threshold;
        }
    const auto least = static_cast<std::size_t>(options.least_area);
    if (least > 0) {
        std::vector<std::uint32_t> change;
        each_patch(mask, true, true, [&](const std::vector<std::uint32_t>& patch, bool) {
            if (patch.size() >= least) return;
            ++report.dropped_islands;
            report.dropped_pixels += patch.size();
            change.insert(change.end(), patch.begin(), patch.end());
        });
        for (const std::uint32_t at : change) mask.inside[at] = 0;
        change.clear();
        each_patch(mask, false, false, [&](const std::vector<std::uint32_t>& patch, bool at_border) {
            if (at_border || patch.size() >= least) return;
            ++report.filled_holes;
            report.filled_pixels += patch.size();
            change.insert(change.end(), patch.begin(), patch.end());
        });
        for (const std::uint32_t at : change) mask.inside[at] = 1;
    }
    report.pixels = static_cast<std::size_t>(std::count(mask.inside.begin(), mask.inside.end(), 1));
    return mask;
}

std::vector<GridLoop> contour(const RgbaImage& picture, const PixelMask& mask, float threshold) {
    const Alpha alpha(picture, mask, 255.0 * threshold);
    // The number of an edge between two centres: 2 (y w + x) for its lower left centre, plus 1 if it is vertical.
    // The lower left corners of squares are centres, from -1 on.
    const int w = mask.width + 1;
    auto edge = [&](int x, int y, int side) {
        const int u = side == 1 ? x + 1 : x, v = side == 2 ? y + 1 : y;
        return 2 * (static_cast<std::uint32_t>(v + 1) * static_cast<std::uint32_t>(w + 1) +
                    static_cast<std::uint32_t>(u + 1)) +
               (side == 1 || side == 3 ? 1u : 0u);
    };
    std::vector<std::pair<std::uint32_t, std::uint32_t>> steps;
    for (int y = -1; y < mask.height; ++y) {
        for (int x = -1; x < mask.width; ++x) {
            // Corners and sides counter-clockwise from the lower left one; side k goes from corner k on.
            const bool in[4] = {alpha.inside(x, y), alpha.inside(x + 1, y), alpha.inside(x + 1, y + 1),
                                alpha.inside(x, y + 1)};
            const int count = in[0] + in[1] + in[2] + in[3];
            if (count == 0 || count == 4) continue;
            const bool saddle = count == 2 && in[0] == in[2];
            const bool joined =
                saddle && alpha.at(x, y) + alpha.at(x + 1, y) + alpha.at(x + 1, y + 1) + alpha.at(x, y + 1) >=
                              4 * alpha.threshold();
            for (int k = 0; k < 4; ++k) {
                if (!in[k] || in[(k + 1) % 4]) continue;  // the interior ends on side k
                int to = k;
                if (joined) {
                    do to = (to + 1) % 4;
                    while (in[to] || !in[(to + 1) % 4]);
                } else {
                    do to = (to + 3) % 4;
                    while (in[to] || !in[(to + 1) % 4]);
                }
                steps.emplace_back(edge(x, y, k), edge(x, y, to));
            }
        }
    }
    std::sort(steps.begin(), steps.end());
    auto place = [&](std::uint32_t e) {
        const bool up = e & 1;
        const int u = static_cast<int>(e / 2 % static_cast<std::uint32_t>(w + 1)) - 1,
                  v = static_cast<int>(e / 2 / static_cast<std::uint32_t>(w + 1)) - 1;
        const double a = alpha.at(u, v), b = alpha.at(u + !up, v + up);
        // Kept away from the centres, so that no two crossings coincide.
        const double t = std::clamp((alpha.threshold() - a) / (b - a), 0.02, 0.98);
        const double x = u + 0.5 + (up ? 0 : t), y = v + 0.5 + (up ? t : 0);
        return GridPoint{
            static_cast<std::int32_t>(std::lround(grid_units * std::clamp<double>(x, 0, mask.width))),
            static_cast<std::int32_t>(std::lround(grid_units * std::clamp<double>(y, 0, mask.height)))};
    };
    std::vector<GridLoop> loops;
    std::vector<bool> done(steps.size(), false);
    for (std::size_t start = 0; start < steps.size(); ++start) {
        if (done[start]) continue;
        GridLoop loop;
        for (std::size_t k = start; !done[k];) {
            done[k] = true;
            loop.push_back(place(steps[k].first));
            k = static_cast<std::size_t>(
                std::lower_bound(steps.begin(), steps.end(), std::pair{steps[k].second, std::uint32_t{0}}) -
                steps.begin());
        }
        loops.push_back(std::move(loop));
    }
    std::stable_sort(loops.begin(), loops.end(), [](const GridLoop& a, const GridLoop& b) {
        return std::abs(signed_area(a)) > std::abs(signed_area(b));
    });
    // The first is an island: no hole is larger than the island around it.
    return loops;
}

namespace {

/// The points of a loop that are kept within the tolerance.
SimplifiedLoop simplify_loop(const GridLoop& loop, double tolerance) {
    SimplifiedLoop kept(loop);
    // The first two points are the lowest and the one farthest from it.
    std::size_t low = 0, far = 0;
    for (std::size_t k = 0; k < loop.size(); ++k)
        if (std::pair(loop[k].y, loop[k].x) < std::pair(loop[low].y, loop[low].x)) low = k;
    double best = -1;
    for (std::size_t k = 0; k < loop.size(); ++k) {
        const double d =
            std::hypot(static_cast<double>(loop[k].x) - loop[low].x, static_cast<double>(loop[k].y) - loop[low].y);
        if (d > best) best = d, far = k;
    }
    kept.keep[low] = kept.keep[far] = true;
    kept.split(low, far, tolerance);
    kept.split(far, low, tolerance);
    // One of two points less than a pixel apart is enough: both would need triangles of that size.
    for (std::size_t k = 0; k < loop.size(); ++k) {
        if (!kept.keep[k]) continue;
        const std::size_t b = kept.after(k), c = kept.after(b);
        if (b == k || c == k || std::hypot(loop[b].x - loop[k].x, loop[b].y - loop[k].y) >= grid_units) continue;
        if (kept.farthest(k, c).second <= tolerance) kept.keep[b] = false;
    }
    // A loop that is a line to this tolerance gets its widest points back.
    for (const auto& [a, b] : {std::pair{low, far}, std::pair{far, low}})
        if (std::count(kept.keep.begin(), kept.keep.end(), true) < 4)
            if (const auto found = kept.farthest(a, b); found.first != a) kept.keep[found.first] = true;
    return kept;
}

/// A segment between two kept points of a loop.
struct Segment {
    std::uint32_t loop, from, to;
};

std::vector<Segment> segments_of(const std::vector<SimplifiedLoop>& loops) {
    std::vector<Segment> segments;
    for (std::size_t l = 0; l < loops.size(); ++l) {
        const std::vector<bool>& keep = loops[l].keep;
        for (std::size_t k = 0; k < keep.size(); ++k)
            if (keep[k])
                segments.push_back({static_cast<std::uint32_t>(l), static_cast<std::uint32_t>(k),
                                    static_cast<std::uint32_t>(loops[l].after(k))});
    }
    return segments;
}

/// Which segments cross or touch another one, found by cells of a grid.
std::vector<bool> find_colliding(const std::vector<SimplifiedLoop>& loops, const std::vector<Segment>& segments) {
    constexpr std::int32_t cell = 16 * grid_units;
    const auto ends = [&](const Segment& s) {
        const GridLoop& loop = loops[s.loop].loop;
        return std::pair{loop[s.from], loop[s.to]};
    };
    std::vector<std::pair<std::uint64_t, std::uint32_t>> in_cell;
    for (std::size_t s = 0; s < segments.size(); ++s) {
        const auto [p, q] = ends(segments[s]);
        for (std::int32_t y = std::min(p.y, q.y) / cell; y <= std::max(p.y, q.y) / cell; ++y)
            for (std::int32_t x = std::min(p.x, q.x) / cell; x <= std::max(p.x, q.x) / cell; ++x)
                in_cell.emplace_back(static_cast<std::uint64_t>(y) << 32 | static_cast<std::uint32_t>(x),
                                     static_cast<std::uint32_t>(s));
    }
    std::sort(in_cell.begin(), in_cell.end());
    std::vector<bool> meets(segments.size(), false);
    for (std::size_t i = 0; i < in_cell.size(); ++i) {
        const auto [a, b] = ends(segments[in_cell[i].second]);
        for (std::size_t k = i + 1; k < in_cell.size() && in_cell[k].first == in_cell[i].first; ++k) {
            const auto [c, d] = ends(segments[in_cell[k].second]);
            if (collide(a, b, c, d)) meets[in_cell[i].second] = meets[in_cell[k].second] = true;
        }
    }
    return meets;
}

/// Gives segments that cross or touch their farthest point back, until none do: the contour itself does not cross.
void separate(std::vector<SimplifiedLoop>& loops) {
    for (bool again = true; again;) {
        again = false;
        const std::vector<Segment> segments = segments_of(loops);
        const std::vector<bool> colliding = find_colliding(loops, segments);
        for (std::size_t s = 0; s < segments.size(); ++s) {
            if (!colliding[s]) continue;
            SimplifiedLoop& kept = loops[segments[s].loop];
            if (const auto found = kept.farthest(segments[s].from, segments[s].to);
                found.first != segments[s].from) {
                kept.keep[found.first] = true;
                again = true;
            }
        }
    }
}

}  // namespace

std::vector<GridLoop> simplify(const std::vector<GridLoop>& loops, double tolerance) {
    std::vector<SimplifiedLoop> all;
    for (const GridLoop& loop : loops) all.push_back(simplify_loop(loop, tolerance));
    separate(all);
    std::vector<GridLoop> out;
    for (const SimplifiedLoop& kept : all) {
        GridLoop loop;
        for (std::size_t k = 0; k < kept.keep.size(); ++k)
            if (kept.keep[k]) loop.push_back(kept.loop[k]);
        out.push_back(std::move(loop));
    }
    return out;
}

}  // namespace sinew
