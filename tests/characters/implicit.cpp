#include "implicit.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <unordered_map>

namespace sinew::test {

P3 unit(P3 a) { return (1 / length(a)) * a; }
P3 turned(P3 v, P3 axis, double radians) {
    const double c = std::cos(radians), s = std::sin(radians);
    return c * v + s * cross(axis, v) + (1 - c) * dot(axis, v) * axis;
}

void Limb::cone(std::uint32_t part, P3 a, double ra, P3 b, double rb) {
    blobs_.push_back(
        {Blob::Kind::cone, part, a, b, ra, rb, {}, 0.5 * (a + b), 0.5 * length(b - a) + std::max(ra, rb)});
}
void Limb::ellipsoid(std::uint32_t part, P3 centre, P3 radii, Frame axes) {
    blobs_.push_back(
        {Blob::Kind::ellipsoid, part, centre, radii, 0, 0, axes, centre, std::max({radii.x, radii.y, radii.z})});
}
void Limb::box(std::uint32_t part, P3 centre, P3 half, double edge, Frame axes) {
    blobs_.push_back({Blob::Kind::box, part, centre, half, edge, 0, axes, centre, length(half)});
}

double Limb::Blob::distance(P3 p) const {
    if (kind == Kind::cone) {
        // In the plane of p and the axis: h along it, r away from it. The side is a line that touches both spheres.
        const P3 d = b - a, v = p - a;
        const double l = length(d), h = dot(v, d) / l, r = std::sqrt(std::max(0.0, dot(v, v) - h * h));
        const double s = (ra - rb) / l, c = std::sqrt(std::max(0.0, 1 - s * s));
        const double along = h * c - r * s;  // along the side, from the foot of a
        if (along <= 0) return std::sqrt(h * h + r * r) - ra;
        if (along >= l * c) return std::sqrt((h - l) * (h - l) + r * r) - rb;
        return h * s + r * c - ra;
    }
    const P3 v = p - a;
    const P3 q{dot(v, axes.x), dot(v, axes.y), dot(v, axes.z)};
    if (kind == Kind::ellipsoid) {
        // First-order estimate: exact on the surface.
        const P3 n{q.x / b.x, q.y / b.y, q.z / b.z}, g{n.x / b.x, n.y / b.y, n.z / b.z};
        const double k = length(n), m = length(g);
        const double smallest = std::min({b.x, b.y, b.z});
        return m > 0 ? std::max(k * (k - 1) / m, -smallest) : -smallest;
    }
    const P3 e{std::abs(q.x) - b.x + ra, std::abs(q.y) - b.y + ra, std::abs(q.z) - b.z + ra};
    const P3 out{std::max(e.x, 0.0), std::max(e.y, 0.0), std::max(e.z, 0.0)};
    return length(out) + std::min(std::max({e.x, e.y, e.z}), 0.0) - ra;
}

void Limb::finish() {
    for (Limb& child : children_) child.finish();
    P3 low{1e9, 1e9, 1e9}, high{-1e9, -1e9, -1e9};
    const auto include = [&](P3 p, double r) {
        low = {std::min(low.x, p.x - r), std::min(low.y, p.y - r), std::min(low.z, p.z - r)};
        high = {std::max(high.x, p.x + r), std::max(high.y, p.y + r), std::max(high.z, p.z + r)};
    };
    for (const Blob& blob : blobs_) include(blob.middle, blob.radius);
    own_centre_ = 0.5 * (low + high);
    own_radius_ = 0.5 * length(high - low) + blend_;
    for (const Limb& child : children_) include(child.centre_, child.radius_);
    centre_ = 0.5 * (low + high);
    radius_ = 0.5 * length(high - low) + blend_;
}

double Limb::distance(P3 p) const {
    double children = std::numeric_limits<double>::infinity(), reach = 0;
    // Far from the limb's own blobs only the children matter. This skips most of the body for most points.
    const double away = length(p - own_centre_) - own_radius_;
    if (away > 0 && !children_.empty()) {
        // The nearest first, so that the others are soon beyond the blend.
        std::size_t first = 0;
        for (std::size_t i = 0; i < children_.size(); ++i) {
            reach = std::max(reach, children_[i].join_);
            if (children_[i].bound(p) < children_[first].bound(p)) first = i;
        }
        children = children_[first].distance(p);
        for (std::size_t i = 0; i < children_.size(); ++i)
            if (i != first && children_[i].bound(p) < children + web_)
                children = smooth_min(children, children_[i].distance(p), web_);
        if (away > children + 1.2 * (reach + web_)) return children;
    }
    double own = std::numeric_limits<double>::infinity();
    for (const Blob& blob : blobs_) {
        // Beyond the blend a blob has no effect.
        const double far = own + blend_ + blob.radius;
        if (far > 0 && dot(p - blob.middle, p - blob.middle) > far * far) continue;
        own = smooth_min(own, blob.distance(p), blend_);
    }
    double all = own;
    for (const Limb& child : children_) {
        // Beyond its blend a child has no effect.
        if (child.bound(p) > all + std::max(child.join_, web_)) continue;
        const double other = smooth_min(own, child.distance(p), child.join_);
        // Two limbs are blended only as far as each protrudes from the parent. Otherwise the parent would swell
        // wherever it has two children.
        all = smooth_min(all, other, std::min(web_, own - std::max(all, other)));
    }
    return all;
}

void Limb::nearest(P3 p, double& best, std::uint32_t& part) const {
    for (const Blob& blob : blobs_)
        if (const double d = blob.distance(p); d < best) best = d, part = blob.part;
    for (const Limb& child : children_) child.nearest(p, best, part);
}
std::uint32_t Limb::part(P3 p) const {
    double best = std::numeric_limits<double>::infinity();
    std::uint32_t part = 0;
    nearest(p, best, part);
    return part;
}

namespace {

/// Octree in whole numbers: the finest cell is two units wide, so that the middle of every edge is whole too.
class Contour {
public:
    Contour(const std::function<double(P3)>& field, const std::function<double(P3)>& cell_size, P3 centre,
            double extent, double finest)
        : field_(field), unit_(finest / 2) {
        while (width_ * unit_ < extent) width_ *= 2;
        const double half = 0.5 * width_ * unit_;
        origin_ = centre - P3{half, half, half};
        cells_.push_back({{0, 0, 0}, width_});
        // Breadth first, so that children come after their parent and the order is plain.
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            const Cell cell = cells_[i];
            if (cell.size == 2) continue;
            const double size = cell.size * unit_;
            const P3 middle =
                point({cell.at[0] + cell.size / 2, cell.at[1] + cell.size / 2, cell.at[2] + cell.size / 2});
            if (size <= 1.4 * cell_size(middle)) continue;        // the nearest available size
            if (std::abs(field_(middle)) > 1.2 * size) continue;  // more than half a diagonal away
            cells_[i].child = static_cast<std::int32_t>(cells_.size());
            for (int k = 0; k < 8; ++k) {
                const std::int32_t s = cell.size / 2;
                cells_.push_back(
                    {{cell.at[0] + (k & 1) * s, cell.at[1] + (k >> 1 & 1) * s, cell.at[2] + (k >> 2) * s}, s});
            }
        }
    }

    ImplicitMesh run() {
        for (std::size_t i = 0; i < cells_.size(); ++i)
            if (cells_[i].child < 0) cross_edges(static_cast<std::uint32_t>(i));
        ImplicitMesh mesh;
        place_vertices(mesh.positions);
        relax(mesh.positions);
        for (const Polygon& polygon : polygons_) {
            const auto& q = polygon.corner;
            const auto& p = mesh.positions;
            if (q[3] == q[2]) {
                mesh.triangles.push_back({q[0], q[1], q[2]});
            } else if (length(p[q[0]] - p[q[2]]) <= length(p[q[1]] - p[q[3]])) {
                mesh.triangles.push_back({q[0], q[1], q[2]});
                mesh.triangles.push_back({q[0], q[2], q[3]});
            } else {
                mesh.triangles.push_back({q[0], q[1], q[3]});
                mesh.triangles.push_back({q[1], q[2], q[3]});
            }
        }
        return mesh;
    }

private:
    using Place = std::array<std::int32_t, 3>;
    struct Cell {
        Place at;
        std::int32_t size;
        std::int32_t child = -1;  // first of eight
    };
    /// A polygon around one crossed edge: of cells first, of vertices later. A triangle repeats its last corner.
    struct Polygon {
        std::array<std::uint32_t, 4> corner;
        P3 crossing;
        Place inside;  // the end of the edge that is in the body

        int size() const { return corner[3] == corner[2] ? 3 : 4; }
    };

    P3 point(Place p) const { return origin_ + unit_ * P3{double(p[0]), double(p[1]), double(p[2])}; }

    double value(Place p) {
        const std::uint64_t key = (std::uint64_t(p[0]) << 42) | (std::uint64_t(p[1]) << 21) | std::uint64_t(p[2]);
        const auto [found, fresh] = values_.try_emplace(key, 0.0);
        if (fresh) found->second = field_(point(p));
        return found->second;
    }

    std::uint32_t leaf_at(Place p) const {
        std::uint32_t at = 0;
        while (cells_[at].child >= 0) {
            const Cell& cell = cells_[at];
            const std::int32_t half = cell.size / 2;
            std::uint32_t k = 0;
            for (int axis = 0; axis < 3; ++axis)
                if (p[axis] >= cell.at[axis] + half) k |= 1u << axis;
            at = static_cast<std::uint32_t>(cell.child) + k;
        }
        return at;
    }

    /// Adds a polygon for each edge of the cell that the surface crosses and that no smaller cell touches.
    void cross_edges(std::uint32_t index) {
        const Cell cell = cells_[index];
        if (cell.size * unit_ > 0.5 * width_ * unit_) return;
        for (int axis = 0; axis < 3; ++axis) {
            const int u = (axis + 1) % 3, v = (axis + 2) % 3;
            for (int side = 0; side < 4; ++side) {
                Place from = cell.at;
                from[u] += side & 1 ? cell.size : 0;
                from[v] += side & 2 ? cell.size : 0;
                // The border of the octree is outside.
                if (from[u] == 0 || from[v] == 0 || from[u] == width_ || from[v] == width_) continue;
                Place to = from, middle = from;
                to[axis] += cell.size;
                middle[axis] += cell.size / 2;
                std::array<std::uint32_t, 4> ring;
                bool mine = true;
                for (int k = 0; k < 4; ++k) {
                    Place p = middle;
                    p[u] += k == 1 || k == 2 ? 1 : -1;
                    p[v] += k >= 2 ? 1 : -1;
                    ring[k] = leaf_at(p);
                    const std::int32_t size = cells_[ring[k]].size;
                    // Among cells of equal size around an edge, the first adds the polygon.
                    if (size < cell.size || (size == cell.size && ring[k] < index)) mine = false;
                }
                if (!mine) continue;
                const double a = value(from), b = value(to);
                if ((a < 0) == (b < 0)) continue;
                const P3 crossing = root(point(from), a, point(to), b);
                if (a >= 0) std::swap(ring[1], ring[3]);  // the outside is in the other direction
                std::array<std::uint32_t, 4> polygon{};
                int corners = 0;
                for (int k = 0; k < 4; ++k)
                    if (ring[k] != ring[(k + 3) % 4]) polygon[corners++] = ring[k];
                if (corners < 3) continue;
                if (corners == 3) polygon[3] = polygon[2];
                polygons_.push_back({polygon, crossing, a < 0 ? from : to});
            }
        }
    }

    /// One vertex for each sheet of the surface in a cell. Sheets are found by walking from polygon to polygon over
    /// shared sides; where four meet in one side, the two around the same inner corner belong together, so that
    /// two bodies which pass within a cell of each other stay two.
    void place_vertices(std::vector<P3>& positions) {
        struct Side {
            std::uint32_t low, high, polygon, at;  // at: of the corner from which the side starts
            bool forward;
        };
        std::vector<Side> sides;
        for (std::uint32_t i = 0; i < polygons_.size(); ++i) {
            const auto& c = polygons_[i].corner;
            const auto n = static_cast<std::uint32_t>(polygons_[i].size());
            for (std::uint32_t k = 0; k < n; ++k) {
                const std::uint32_t a = c[k], b = c[(k + 1) % n];
                sides.push_back({std::min(a, b), std::max(a, b), i, k, a < b});
            }
        }
        std::stable_sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
            return a.low != b.low ? a.low < b.low : a.high < b.high;
        });

        // Corners of polygons, joined into vertices.
        std::vector<std::uint32_t> parent(4 * polygons_.size());
        for (std::uint32_t i = 0; i < parent.size(); ++i) parent[i] = i;
        const auto find = [&](std::uint32_t i) {
            while (parent[i] != i) i = parent[i] = parent[parent[i]];
            return i;
        };
        const auto join = [&](std::uint32_t a, std::uint32_t b) {
            a = find(a), b = find(b);
            parent[std::max(a, b)] = std::min(a, b);
        };
        const auto join_sides = [&](const Side& a, const Side& b) {
            const auto next = [&](const Side& s) {
                return 4 * s.polygon + (s.at + 1) % static_cast<std::uint32_t>(polygons_[s.polygon].size());
            };
            join(4 * a.polygon + a.at, next(b));
            join(next(a), 4 * b.polygon + b.at);
        };
        for (std::size_t first = 0; first < sides.size();) {
            std::size_t last = first;
            while (last < sides.size() && sides[last].low == sides[first].low &&
                   sides[last].high == sides[first].high)
                ++last;
            std::vector<bool> used(last - first, false);
            for (const bool strict : {true, false})
                for (std::size_t a = first; a < last; ++a)
                    for (std::size_t b = a + 1; b < last; ++b) {
                        if (used[a - first] || used[b - first] || sides[a].forward == sides[b].forward) continue;
                        if (strict && last - first > 2 &&
                            polygons_[sides[a].polygon].inside != polygons_[sides[b].polygon].inside)
                            continue;
                        join_sides(sides[a], sides[b]);
                        used[a - first] = used[b - first] = true;
                    }
            first = last;
        }

        constexpr std::uint32_t none = 0xffffffffu;
        std::vector<std::uint32_t> vertex(parent.size(), none);
        std::vector<int> count;
        for (std::uint32_t i = 0; i < polygons_.size(); ++i) {
            Polygon& polygon = polygons_[i];
            const auto n = static_cast<std::uint32_t>(polygon.size());
            for (std::uint32_t k = 0; k < n; ++k) {
                std::uint32_t& v = vertex[find(4 * i + k)];
                if (v == none) {
                    v = static_cast<std::uint32_t>(positions.size());
                    positions.push_back({});
                    count.push_back(0);
                }
                positions[v] = positions[v] + polygon.crossing;
                ++count[v];
                polygon.corner[k] = v;
            }
            if (n == 3) polygon.corner[3] = polygon.corner[2];
        }
        for (std::size_t v = 0; v < positions.size(); ++v) positions[v] = (1.0 / count[v]) * positions[v];
    }

    P3 root(P3 a, double fa, P3 b, double fb) const {
        for (int i = 0; i < 6; ++i) {
            const P3 m = a + (fa / (fa - fb)) * (b - a);
            const double fm = field_(m);
            if ((fm < 0) == (fa < 0))
                a = m, fa = fm;
            else
                b = m, fb = fm;
        }
        return std::abs(fa) < std::abs(fb) ? a : b;
    }

    /// The gradient from four samples on a tetrahedron.
    P3 gradient(P3 p) const {
        const double e = unit_ * 0.05;
        const double a = field_(p + P3{e, e, e}), b = field_(p + P3{e, -e, -e}), c = field_(p + P3{-e, e, -e}),
                     d = field_(p + P3{-e, -e, e});
        return (0.25 / e) * P3{a + b - c - d, a - b + c - d, a - b - c + d};
    }

    /// Smooths vertices along the surface and projects them onto it.
    void relax(std::vector<P3>& positions) const {
        std::vector<P3> sum(positions.size());
        std::vector<int> count(positions.size());
        constexpr int rounds = 4;
        for (int round = 0; round <= rounds; ++round) {
            std::fill(sum.begin(), sum.end(), P3{});
            std::fill(count.begin(), count.end(), 0);
            for (const Polygon& q : polygons_)
                for (int k = 0; k < 4; ++k) {
                    const std::uint32_t a = q.corner[k], b = q.corner[(k + 1) % 4];
                    if (a == b) continue;
                    sum[a] = sum[a] + positions[b];
                    ++count[a];
                    sum[b] = sum[b] + positions[a];
                    ++count[b];
                }
            for (std::size_t i = 0; i < positions.size(); ++i) {
                P3& p = positions[i];
                const P3 g = gradient(p);
                if (round < rounds && count[i] > 0 && dot(g, g) > 0) {
                    const P3 n = unit(g), step = (1.0 / count[i]) * sum[i] - p;
                    p = p + 0.5 * (step - dot(step, n) * n);
                }
                // A blend's gradient can vanish in a crease; then the vertex stays.
                if (const double square = dot(g, g); square > 0.05) p = p - (field_(p) / square) * g;
            }
        }
    }

    const std::function<double(P3)>& field_;
    double unit_;
    std::int32_t width_ = 2;
    P3 origin_;
    std::vector<Cell> cells_;
    std::unordered_map<std::uint64_t, double> values_;
    std::vector<Polygon> polygons_;
};

}  // namespace

ImplicitMesh mesh_of(const std::function<double(P3)>& field, const std::function<double(P3)>& cell_size, P3 centre,
                     double extent, double finest, const std::string& stored_as) {
    const std::string path = std::string(SINEW_CHARACTERS_STORE "/") + stored_as;
    ImplicitMesh mesh;
    std::uint64_t counts[2];
    // Calls `each` with a place and a length for everything that the file holds.
    const auto parts = [&](auto&& each) {
        each(counts, sizeof counts);
        mesh.positions.resize(counts[0]);
        mesh.triangles.resize(counts[1]);
        each(mesh.positions.data(), counts[0] * sizeof(P3));
        each(mesh.triangles.data(), counts[1] * sizeof(Triangle));
    };
    if (std::ifstream in(path, std::ios::binary); !stored_as.empty() && in) {
        parts([&](void* at, std::size_t size) {
            in.read(static_cast<char*>(at), static_cast<std::streamsize>(size));
        });
        return mesh;
    }
    mesh = Contour(field, cell_size, centre, extent, finest).run();
    if (stored_as.empty()) return mesh;
    counts[0] = mesh.positions.size(), counts[1] = mesh.triangles.size();
    // Appears whole: other processes may read or write the same now. Without a store nothing is written.
    const std::string unfinished = path + "." + std::to_string(getpid());
    std::ofstream out(unfinished, std::ios::binary);
    parts([&](const void* at, std::size_t size) {
        out.write(static_cast<const char*>(at), static_cast<std::streamsize>(size));
    });
    out.close();
    if (out) std::rename(unfinished.c_str(), path.c_str());
    return mesh;
}

}  // namespace sinew::test
