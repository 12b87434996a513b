#include "cutout/triangulate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numbers>

#include "core/parallel.h"

namespace sinew {
namespace {

__extension__ using Wide = __int128;

constexpr int kNone = -1;
constexpr int kFar = 1 << 23;  // the corners of the enclosing triangle

int next(int i) { return i == 2 ? 0 : i + 1; }
int previous(int i) { return i == 0 ? 2 : i - 1; }

/// Positive if d is inside the circle through a, b and c, which are counter-clockwise.
int in_circle(const GridPoint& a, const GridPoint& b, const GridPoint& c, const GridPoint& d) {
    const std::int64_t ax = std::int64_t{a.x} - d.x, ay = std::int64_t{a.y} - d.y;
    const std::int64_t bx = std::int64_t{b.x} - d.x, by = std::int64_t{b.y} - d.y;
    const std::int64_t cx = std::int64_t{c.x} - d.x, cy = std::int64_t{c.y} - d.y;
    const Wide det = Wide{ax * ax + ay * ay} * (bx * cy - cx * by) - Wide{bx * bx + by * by} * (ax * cy - cx * ay) +
                     Wide{cx * cx + cy * cy} * (ax * by - bx * ay);
    return det > 0 ? 1 : det < 0 ? -1 : 0;
}

double distance(const GridPoint& a, const GridPoint& b) {
    return std::hypot(static_cast<double>(b.x) - a.x, static_cast<double>(b.y) - a.y);
}

/// Strictly inside the circle that has the edge from a to b as its diameter.
bool encroaches(const GridPoint& p, const GridPoint& a, const GridPoint& b) {
    return (std::int64_t{a.x} - p.x) * (std::int64_t{b.x} - p.x) +
               (std::int64_t{a.y} - p.y) * (std::int64_t{b.y} - p.y) <
           0;
}

/// Triangles with neighbours. Edge i of a triangle is the one opposite to its corner i.
struct Cell {
    std::array<int, 3> corner, beside;
    std::array<bool, 3> fixed{};  // edges that belong to a loop
    bool inside = false;
};

class Mesh {
public:
    Mesh() {
        points_ = {{-kFar, -kFar}, {kFar, -kFar}, {0, kFar}};
        cells_.push_back({{0, 1, 2}, {kNone, kNone, kNone}, {}, false});
        cell_of_ = {0, 0, 0};
    }

    static constexpr int kFirst = 3;  // the points before are the corners of the enclosing triangle

    const std::vector<GridPoint>& points() const { return points_; }
    std::vector<Cell>& cells() { return cells_; }
    const GridPoint& at(int point) const { return points_[static_cast<std::size_t>(point)]; }
    Cell& cell(int c) { return cells_[static_cast<std::size_t>(c)]; }
    int cell_of(int point) const { return cell_of_[static_cast<std::size_t>(point)]; }

    /// Cells that were added or changed since the last clear.
    std::vector<int> touched;

    /// The cell that contains a point (border included), by a walk from `start`.
    int locate(const GridPoint& p, int start) {
        int c = start;
        std::uint32_t turn = 0;
        for (std::size_t step = 0; step < 4 * cells_.size() + 16; ++step) {
            // The first edge changes from step to step, so that no walk is endless.
            turn = turn * 1664525u + 1013904223u;
            int i = static_cast<int>((turn >> 16) % 3), moved = kNone;
            for (int k = 0; k < 3 && moved == kNone; ++k, i = next(i)) {
                const Cell& t = cell(c);
                if (area2(at(t.corner[next(i)]), at(t.corner[previous(i)]), p) < 0) moved = t.beside[i];
            }
            if (moved == kNone) return c;
            c = moved;
        }
        return kNone;
    }

    /// Adds a point inside the cell or on one of its edges, and restores the Delaunay property except at fixed
    /// edges. Returns its number, or that of an existing point at the same position.
    int insert(const GridPoint& p, int c) {
        for (const int v : cell(c).corner)
            if (at(v) == p) return v;
        for (int i = 0; i < 3; ++i) {
            const Cell& t = cell(c);
            if (area2(at(t.corner[next(i)]), at(t.corner[previous(i)]), p) == 0) return split_edge(p, c, i);
        }
        const int v = add(p);
        const Cell old = cell(c);
        const int b = new_cell(), d = new_cell();
        const int part[3] = {c, b, d};  // part k keeps edge k of the old cell
        for (int k = 0; k < 3; ++k) {
            Cell& t = cell(part[k]);
            t.corner = {v, old.corner[next(k)], old.corner[previous(k)]};
            t.beside = {old.beside[k], part[next(k)], part[previous(k)]};
            t.fixed = {old.fixed[k], false, false};
            t.inside = old.inside;
            relink(old.beside[k], c, part[k]);
            settle_corners(part[k]);
        }
        for (const int t : part) legalize(t);
        return v;
    }

    /// Splits an edge at a point on it, or so near to it that the four cells around keep their orientation; kNone
    /// if they would not.
    int split_edge(const GridPoint& p, int c, int i) {
        const int u = cell(c).beside[i];
        const Cell old = cell(c);
        const int a = old.corner[i], b = old.corner[next(i)], d = old.corner[previous(i)];
        if (!(area2(at(a), at(b), p) > 0 && area2(at(a), p, at(d)) > 0)) return kNone;
        const int j = u == kNone ? 0 : edge_to(u, c);
        const Cell other = u == kNone ? Cell{} : cell(u);
        const int e = u == kNone ? kNone : other.corner[j];
        if (u != kNone && !(area2(at(e), at(d), p) > 0 && area2(at(e), p, at(b)) > 0)) return kNone;
        const int v = add(p);
        const int c2 = new_cell(), u2 = u == kNone ? kNone : new_cell();
        // c: a b v, c2: a v d; u: e d v, u2: e v b. New points come first, for legalize.
        cell(c) = {{v, a, b},
                   {old.beside[previous(i)], u2, c2},
                   {old.fixed[previous(i)], old.fixed[i], false},
                   old.inside};
        cell(c2) = {{v, d, a}, {old.beside[next(i)], c, u}, {old.fixed[next(i)], false, old.fixed[i]}, old.inside};
        relink(old.beside[next(i)], c, c2);
        settle_corners(c), settle_corners(c2);
        if (u != kNone) {
            cell(u) = {{v, e, d},
                       {other.beside[previous(j)], c2, u2},
                       {other.fixed[previous(j)], old.fixed[i], false},
                       other.inside};
            cell(u2) = {{v, b, e},
                        {other.beside[next(j)], u, c},
                        {other.fixed[next(j)], false, old.fixed[i]},
                        other.inside};
            relink(other.beside[next(j)], u, u2);
            settle_corners(u), settle_corners(u2);
            legalize(u), legalize(u2);
        }
        legalize(c), legalize(c2);
        return v;
    }

    /// The cell on the left of the edge from a to b, and the edge's number; kNone if there is no such edge.
    std::pair<int, int> find_edge(int a, int b) {
        std::pair<int, int> found{kNone, 0};
        around(a, [&](int c, int i) {
            if (cell(c).corner[next(i)] != b) return false;
            found = {c, previous(i)};
            return true;
        });
        return found;
    }

    /// Adds the edge from a to b as a fixed edge; false if it crosses a fixed one.
    bool constrain(int a, int b) {
        while (a != b) {
            if (const auto [c, i] = find_edge(a, b); c != kNone) {
                fix(c, i);
                return true;
            }
            // The edges that it crosses, starting with the cell at a.
            std::deque<std::pair<int, int>> crossed;
            int c = kNone, out = 0, through = kNone;
            around(a, [&](int at_cell, int i) {
                const int p = cell(at_cell).corner[next(i)], q = cell(at_cell).corner[previous(i)];
                const std::int64_t left = area2(at(a), at(b), at(q)), right = area2(at(a), at(b), at(p));
                if (right == 0 && ahead(a, p, b)) {
                    through = p;
                    return true;
                }
                if (right < 0 && left > 0) {
                    c = at_cell, out = i;
                    return true;
                }
                return false;
            });
            if (through != kNone) {
                const auto [on, i] = find_edge(a, through);
                fix(on, i);
                a = through;
                continue;
            }
            if (c == kNone) return false;
            int end = b;
            for (;;) {
                Cell& t = cell(c);
                if (t.fixed[out]) return false;
                const int p = t.corner[next(out)], q = t.corner[previous(out)];
                crossed.emplace_back(p, q);
                const int u = t.beside[out];
                const int j = edge_to(u, c), tip = cell(u).corner[j];
                if (tip == b) break;
                const std::int64_t side = area2(at(a), at(b), at(tip));
                if (side == 0) {
                    end = tip;
                    break;
                }
                // Continues through the edge that separates the tip from p or q.
                out = side > 0 ? next(j) : previous(j);
                c = u;
            }
            std::vector<std::pair<int, int>> made;
            for (std::size_t guard = 0; !crossed.empty(); ++guard) {
                if (guard > 64 + 16 * cells_.size()) return false;
                const auto [p, q] = crossed.front();
                crossed.pop_front();
                const auto [t, i] = find_edge(p, q);
                if (t == kNone) return false;
                const int u = cell(t).beside[i], r = cell(t).corner[i], s = cell(u).corner[edge_to(u, t)];
                if (!(area2(at(r), at(p), at(s)) > 0 && area2(at(s), at(q), at(r)) > 0)) {
                    crossed.emplace_back(p, q);  // not convex yet
                    continue;
                }
                flip(t, i);
                const bool still = r != a && r != end && s != a && s != end &&
                                   (area2(at(a), at(end), at(r)) > 0) != (area2(at(a), at(end), at(s)) > 0);
                if (still) {
                    crossed.emplace_back(r, s);
                } else {
                    made.emplace_back(r, s);
                }
            }
            const auto [on, i] = find_edge(a, end);
            if (on == kNone) return false;
            fix(on, i);
            restore(made);
            a = end;
        }
        return true;
    }

    /// Whether edge i, opposite to corner p of the cell, violates the Delaunay property.
    bool illegal(int c, int i) {
        const Cell& t = cell(c);
        const int u = t.beside[i];
        if (u == kNone || t.fixed[i]) return false;
        return in_circle(at(t.corner[0]), at(t.corner[1]), at(t.corner[2]), at(cell(u).corner[edge_to(u, c)])) > 0;
    }

    int edge_to(int c, int neighbour) {
        const Cell& t = cell(c);
        return t.beside[0] == neighbour ? 0 : t.beside[1] == neighbour ? 1 : 2;
    }

private:
    int add(const GridPoint& p) {
        points_.push_back(p);
        cell_of_.push_back(kNone);
        return static_cast<int>(points_.size()) - 1;
    }
    int new_cell() {
        cells_.emplace_back();
        return static_cast<int>(cells_.size()) - 1;
    }
    void relink(int c, int from, int to) {
        if (c == kNone) return;
        for (int& b : cell(c).beside)
            if (b == from) {
                b = to;
                return;
            }
    }
    void settle_corners(int c) {
        for (const int v : cell(c).corner) cell_of_[static_cast<std::size_t>(v)] = c;
        touched.push_back(c);
    }
    bool ahead(int a, int p, int b) const {
        return (std::int64_t{at(p).x} - at(a).x) * (std::int64_t{at(b).x} - at(a).x) +
                   (std::int64_t{at(p).y} - at(a).y) * (std::int64_t{at(b).y} - at(a).y) >
               0;
    }
    void fix(int c, int i) {
        cell(c).fixed[i] = true;
        if (const int u = cell(c).beside[i]; u != kNone) cell(u).fixed[edge_to(u, c)] = true;
    }

    /// Calls visit(cell, number of the corner) for the cells around a point, in order, until it returns true.
    template <typename Visit>
    void around(int point, Visit&& visit) {
        const int start = cell_of(point);
        int c = start;
        bool reversed = false;
        do {
            const Cell& t = cell(c);
            const int i = t.corner[0] == point ? 0 : t.corner[1] == point ? 1 : 2;
            // The cell on the other side of the edge from the point to its next corner but one.
            const int on = reversed ? cell(c).beside[previous(i)] : cell(c).beside[next(i)];
            if (visit(c, i)) return;
            if (on == kNone && !reversed) {  // a corner of the enclosing triangle: continue in the other direction
                reversed = true;
                c = start;
                const Cell& s = cell(c);
                const int k = s.corner[0] == point ? 0 : s.corner[1] == point ? 1 : 2;
                c = s.beside[previous(k)];
                if (c == kNone) return;
                continue;
            }
            c = on;
        } while (c != kNone && c != start);
    }

    /// Flips the edge between two cells.
    void flip(int c, int i) {
        const int u = cell(c).beside[i], j = edge_to(u, c);
        const Cell t = cell(c), o = cell(u);
        const int a = t.corner[i], b = t.corner[next(i)], d = t.corner[previous(i)], e = o.corner[j];
        // o has e, d, b from j on.
        const int beside_be = o.beside[next(j)], beside_ed = o.beside[previous(j)];
        cell(c) = {{a, b, e},
                   {beside_be, u, t.beside[previous(i)]},
                   {o.fixed[next(j)], false, t.fixed[previous(i)]},
                   t.inside};
        cell(u) = {{a, e, d},
                   {beside_ed, t.beside[next(i)], c},
                   {o.fixed[previous(j)], t.fixed[next(i)], false},
                   t.inside};
        relink(beside_be, u, c);
        relink(t.beside[next(i)], c, u);
        settle_corners(c), settle_corners(u);
    }

    /// Flips until the edges opposite to the new point, which is corner 0, are Delaunay.
    void legalize(int start) {
        const int point = cell(start).corner[0];
        stack_.push_back(start);
        while (!stack_.empty()) {
            const int c = stack_.back();
            stack_.pop_back();
            const Cell& t = cell(c);
            const int i = t.corner[0] == point ? 0 : t.corner[1] == point ? 1 : 2;
            if (t.corner[i] != point || !illegal(c, i)) continue;
            const int u = t.beside[i];
            flip(c, i);
            stack_.push_back(c);
            stack_.push_back(u);
        }
    }

    /// Flips edges that a segment's insertion made, until they are Delaunay.
    void restore(std::vector<std::pair<int, int>> edges) {
        for (std::size_t guard = 0; !edges.empty() && guard < 64 + 64 * cells_.size(); ++guard) {
            const auto [p, q] = edges.back();
            edges.pop_back();
            const auto [c, i] = find_edge(p, q);
            if (c == kNone || !illegal(c, i)) continue;
            const int u = cell(c).beside[i];
            const int r = cell(c).corner[i], s = cell(u).corner[edge_to(u, c)];
            flip(c, i);
            for (const auto& edge : {std::pair{r, p}, std::pair{p, s}, std::pair{s, q}, std::pair{q, r}})
                edges.push_back(edge);
        }
    }

    std::vector<GridPoint> points_;
    std::vector<int> cell_of_;  // per point: a cell that it is a corner of
    std::vector<Cell> cells_;
    std::vector<int> stack_;
};

/// Cells that an odd number of loops surrounds.
void find_inside(Mesh& mesh) {
    std::vector<char> parity(mesh.cells().size(), -1);
    std::vector<int> wave{mesh.cell_of(0)};
    parity[static_cast<std::size_t>(wave[0])] = 0;
    for (std::size_t k = 0; k < wave.size(); ++k) {
        const Cell& t = mesh.cell(wave[k]);
        for (int i = 0; i < 3; ++i) {
            if (t.beside[i] == kNone || parity[static_cast<std::size_t>(t.beside[i])] >= 0) continue;
            parity[static_cast<std::size_t>(t.beside[i])] =
                static_cast<char>(parity[static_cast<std::size_t>(wave[k])] ^ (t.fixed[i] ? 1 : 0));
            wave.push_back(t.beside[i]);
        }
    }
    for (std::size_t c = 0; c < parity.size(); ++c) mesh.cells()[c].inside = parity[c] == 1;
}

/// Ruppert's refinement.
class Refinement {
public:
    /// `segments`: per point of the loops the two segments that meet there. A segment has the number of its first
    /// point.
    Refinement(Mesh& mesh, const std::vector<GridLoop>& loops, const TriangulateOptions& options)
        : mesh_(mesh), options_(options), ratio_(0.5 / std::sin(options.angle * std::numbers::pi / 180)) {
        owner_.resize(mesh.points().size(), {kNone, kNone});
        ends_.resize(mesh.points().size());
        acute_.resize(mesh.points().size(), false);
        int first = Mesh::kFirst;
        for (const GridLoop& loop : loops) {
            const int n = static_cast<int>(loop.size());
            for (int k = 0; k < n; ++k) {
                const int before = first + (k + n - 1) % n, at = first + k, after = first + (k + 1) % n;
                owner_[idx(at)] = {before, at};
                ends_[idx(at)] = {at, after};
                const GridPoint &p = mesh.at(before), &q = mesh.at(at), &r = mesh.at(after);
                const double ux = p.x - q.x, uy = p.y - q.y, vx = r.x - q.x, vy = r.y - q.y;
                // The interior is on the left: a corner is convex if the loop turns left.
                acute_[idx(at)] =
                    ux * vx + uy * vy > 0.5 * std::hypot(ux, uy) * std::hypot(vx, vy) && area2(p, q, r) > 0;
            }
            first += n;
        }
    }

    void run(std::size_t most_points, Context* context) {
        for (std::size_t c = 0; c < mesh_.cells().size(); ++c) mesh_.touched.push_back(static_cast<int>(c));
        look();
        for (std::size_t step = 0; mesh_.points().size() < most_points; ++step) {
            if (step % 256 == 0 && cancelled(context)) return;
            if (!segments_.empty()) {
                const auto [a, b] = segments_.front();
                segments_.pop_front();
                const auto [c, i] = mesh_.find_edge(a, b);
                if (c == kNone || !mesh_.cell(c).fixed[i] || !mesh_.cell(c).inside) continue;
                if (encroaches(mesh_.at(mesh_.cell(c).corner[i]), mesh_.at(a), mesh_.at(b))) halve(c, i);
            } else if (!bad_.empty()) {
                const std::array<int, 3> corner = bad_.front();
                bad_.pop_front();
                const auto [c, i] = mesh_.find_edge(corner[0], corner[1]);
                if (c == kNone || mesh_.cell(c).corner[i] != corner[2] || !is_bad(c)) continue;
                repair(c);
            } else {
                return;
            }
            look();
        }
    }

private:
    static std::size_t idx(int i) { return static_cast<std::size_t>(i); }

    /// Queues encroached segments and bad triangles of the changed cells.
    void look() {
        for (const int c : mesh_.touched) {
            const Cell& t = mesh_.cell(c);
            if (!t.inside) continue;
            for (int i = 0; i < 3; ++i) {
                const int a = t.corner[next(i)], b = t.corner[previous(i)];
                if (t.fixed[i] && encroaches(mesh_.at(t.corner[i]), mesh_.at(a), mesh_.at(b)))
                    segments_.emplace_back(a, b);
            }
            if (is_bad(c)) bad_.push_back(t.corner);
        }
        mesh_.touched.clear();
    }

    bool is_bad(int c) {
        const Cell& t = mesh_.cell(c);
        if (!t.inside) return false;
        double length[3];
        int least = 0;
        for (int i = 0; i < 3; ++i) {
            length[i] = distance(mesh_.at(t.corner[next(i)]), mesh_.at(t.corner[previous(i)]));
            if (length[i] < length[least]) least = i;
        }
        const double area =
            static_cast<double>(area2(mesh_.at(t.corner[0]), mesh_.at(t.corner[1]), mesh_.at(t.corner[2])));
        const double radius = length[0] * length[1] * length[2] / (2 * area);
        if (options_.spacing > 0 && radius > options_.spacing) return true;
        if (radius <= ratio_ * length[least] || radius < options_.least_edge) return false;
        return !spans_corner(t.corner[next(least)], t.corner[previous(least)]);
    }

    /// Whether two points lie on two segments that meet under less than 60 degrees.
    bool spans_corner(int p, int q) const {
        if (idx(p) >= owner_.size() || idx(q) >= owner_.size()) return false;
        for (const int s : owner_[idx(p)])
            for (const int u : owner_[idx(q)]) {
                if (s == kNone || u == kNone || s == u) continue;
                for (const int end : {ends_[idx(s)].first, ends_[idx(s)].second})
                    if ((end == ends_[idx(u)].first || end == ends_[idx(u)].second) && acute_[idx(end)])
                        return true;
            }
        return false;
    }

    /// The segment of the loops that contains an edge.
    int segment_of(int a, int b) const {
        for (const int s : owner_[idx(a)])
            for (const int u : owner_[idx(b)])
                if (s != kNone && s == u) return s;
        return kNone;
    }

    bool halve(int c, int i) {
        int a = mesh_.cell(c).corner[next(i)], b = mesh_.cell(c).corner[previous(i)];
        const double length = distance(mesh_.at(a), mesh_.at(b));
        if (length < 2 * options_.least_edge || length < 4) return false;
        const int segment = segment_of(a, b);
        double share = 0.5;
        if (acute_at(a) != acute_at(b)) {
            // On a circle around the sharp corner with a power of two as its radius, the same for both sides of the
            // corner.
            if (acute_at(b)) std::swap(a, b);
            share = std::exp2(std::round(std::log2(length / 2))) / length;
        }
        const GridPoint &p = mesh_.at(a), &q = mesh_.at(b);
        const GridPoint middle{
            static_cast<std::int32_t>(std::lround(p.x + share * (static_cast<double>(q.x) - p.x))),
            static_cast<std::int32_t>(std::lround(p.y + share * (static_cast<double>(q.y) - p.y)))};
        const int v = mesh_.split_edge(middle, c, i);
        if (v == kNone) return false;
        owner_.resize(mesh_.points().size(), {kNone, kNone});
        owner_[idx(v)] = {segment, kNone};
        return true;
    }
    bool acute_at(int v) const { return idx(v) < acute_.size() && acute_[idx(v)]; }

    /// Inserts the centre of the circumcircle, or halves the segments that it would encroach on.
    void repair(int c) {
        const std::array<int, 3> corner = mesh_.cell(c).corner;
        const GridPoint &a = mesh_.at(corner[0]), &b = mesh_.at(corner[1]), &d = mesh_.at(corner[2]);
        const double bx = b.x - a.x, by = b.y - a.y, dx = d.x - a.x, dy = d.y - a.y;
        const double twice = 2 * (bx * dy - by * dx), bb = bx * bx + by * by, dd = dx * dx + dy * dy;
        const double ox = (dy * bb - by * dd) / twice, oy = (bx * dd - dx * bb) / twice;
        if (!(std::abs(a.x + ox) < kFar / 2 && std::abs(a.y + oy) < kFar / 2)) return;
        const GridPoint centre{static_cast<std::int32_t>(std::lround(a.x + ox)),
                               static_cast<std::int32_t>(std::lround(a.y + oy))};

        // Walks straight from the cell to the centre; a segment in between hides the centre.
        int at = c;
        for (std::size_t step = 0; step < mesh_.cells().size(); ++step) {
            const Cell& t = mesh_.cell(at);
            int through = kNone;
            for (int i = 0; i < 3; ++i)
                if (area2(mesh_.at(t.corner[next(i)]), mesh_.at(t.corner[previous(i)]), centre) < 0) {
                    if (through == kNone || t.fixed[i]) through = i;
                }
            if (through == kNone) break;
            if (t.fixed[through]) {
                if (halve(at, through)) requeue(corner);
                return;
            }
            at = t.beside[through];
        }

        // The cells whose circumcircles contain it, and the segments around them.
        std::vector<int> cavity{at};
        std::vector<std::pair<int, int>> encroached;
        for (std::size_t k = 0; k < cavity.size(); ++k) {
            const Cell& t = mesh_.cell(cavity[k]);
            for (int i = 0; i < 3; ++i) {
                const int p = t.corner[next(i)], q = t.corner[previous(i)];
                if (t.fixed[i]) {
                    if (encroaches(centre, mesh_.at(p), mesh_.at(q))) encroached.emplace_back(p, q);
                    continue;
                }
                const int u = t.beside[i];
                if (u == kNone || std::find(cavity.begin(), cavity.end(), u) != cavity.end()) continue;
                const Cell& o = mesh_.cell(u);
                if (in_circle(mesh_.at(o.corner[0]), mesh_.at(o.corner[1]), mesh_.at(o.corner[2]), centre) > 0)
                    cavity.push_back(u);
            }
        }
        bool halved = false;
        for (const auto& edge : encroached) {
            const auto found = mesh_.find_edge(edge.first, edge.second);
            if (found.first != kNone && mesh_.cell(found.first).inside) halved |= halve(found.first, found.second);
        }
        if (halved) requeue(corner);
        if (!encroached.empty()) return;
        for (const int v : mesh_.cell(at).corner)
            if (distance(mesh_.at(v), centre) < std::max(1.0, options_.least_edge)) return;
        mesh_.insert(centre, at);
        owner_.resize(mesh_.points().size(), {kNone, kNone});
    }
    void requeue(const std::array<int, 3>& corner) { bad_.push_back(corner); }

    Mesh& mesh_;
    const TriangulateOptions options_;
    const double ratio_;  // of circumradius to shortest edge, from which on an angle is too small
    std::vector<std::pair<int, int>> ends_;     // per segment
    std::vector<std::array<int, 2>> owner_;     // per point: the segments that it lies on
    std::vector<bool> acute_;                   // per point of the loops
    std::deque<std::pair<int, int>> segments_;  // to be halved
    std::deque<std::array<int, 3>> bad_;        // by corners, because the numbers of cells change
};

}  // namespace

Triangulation triangulate(const std::vector<GridLoop>& loops, const std::vector<GridPoint>& inner,
                          const TriangulateOptions& options, Context* context) {
    Triangulation out;
    Mesh mesh;
    int hint = 0;
    auto insert = [&](const GridPoint& p) {
        const int c = mesh.locate(p, hint);
        const int v = c == kNone ? kNone : mesh.insert(p, c);
        if (v != kNone) hint = mesh.cell_of(v);
        mesh.touched.clear();
        return v;
    };
    int number = Mesh::kFirst;
    for (const GridLoop& loop : loops)
        for (const GridPoint& p : loop)
            if (insert(p) != number++) out.sound = false;
    number = Mesh::kFirst;
    for (const GridLoop& loop : loops) {
        const int n = static_cast<int>(loop.size());
        for (int k = 0; k < n && out.sound; ++k) out.sound = mesh.constrain(number + k, number + (k + 1) % n);
        number += n;
    }
    if (!out.sound) return out;
    find_inside(mesh);
    // Loops have the interior on their left; a reversed triangle is crossed by its neighbours.
    number = Mesh::kFirst;
    for (const GridLoop& loop : loops) {
        const int n = static_cast<int>(loop.size());
        for (int k = 0; k < n && out.sound; ++k) {
            const auto [c, i] = mesh.find_edge(number + k, number + (k + 1) % n);
            out.sound = c != kNone && mesh.cell(c).inside;
        }
        number += n;
    }
    if (!out.sound) return out;
    for (const GridPoint& p : inner) insert(p);
    Refinement(mesh, loops, options).run(8 * mesh.points().size() + 20000, context);

    // Loop points first, in order along the loops, with the points that refinement added between them.
    std::vector<std::uint32_t> new_number(mesh.points().size(), no_index);
    std::vector<int> after(mesh.points().size(), kNone);
    for (const Cell& t : mesh.cells())
        for (int i = 0; i < 3; ++i)
            if (t.inside && t.fixed[i]) after[static_cast<std::size_t>(t.corner[next(i)])] = t.corner[previous(i)];
    auto give = [&](int v) {
        if (new_number[static_cast<std::size_t>(v)] != no_index) return;
        new_number[static_cast<std::size_t>(v)] = static_cast<std::uint32_t>(out.points.size());
        out.points.push_back(mesh.at(v));
    };
    number = Mesh::kFirst;
    for (const GridLoop& loop : loops) {
        const std::size_t before = out.points.size();
        int v = number;
        do {
            give(v);
            v = after[static_cast<std::size_t>(v)];
        } while (v != number && v != kNone);
        out.loop_sizes.push_back(static_cast<std::uint32_t>(out.points.size() - before));
        number += static_cast<int>(loop.size());
    }
    for (const Cell& t : mesh.cells()) {
        if (!t.inside) continue;
        Triangle triangle;
        for (std::size_t k = 0; k < 3; ++k) {
            give(t.corner[k]);
            triangle[k] = new_number[static_cast<std::size_t>(t.corner[k])];
        }
        out.triangles.push_back(triangle);
    }
    return out;
}

}  // namespace sinew
