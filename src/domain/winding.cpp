// Generalized winding numbers. WindingTree::measure of eight points is a kernel; tests compare it with the
// definition and with one point at a time.
//
// Sources:
// Jacobson, Kavan, Sorkine-Hornung: Robust Inside-Outside Segmentation Using Generalized Winding Numbers. 2013
// Barill, Dickson, Schmidt, Levin, Jacobson: Fast Winding Numbers for Soups and Clouds. 2018
// Van Oosterom, Strackee: The Solid Angle of a Plane Triangle. 1983
#include "domain/winding.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/morton.h"
#include "core/parallel.h"
#include "core/processor.h"
#include "core/solid_angle.h"
#include "core/vectors.h"
#include "sinew/domain.h"

namespace sinew {

namespace {

constexpr double accuracy = 2;          // beta of Barill et al.: nodes nearer than this many radii are opened
constexpr std::uint32_t leaf_size = 8;  // triangles
constexpr int code_bits = 63;           // Morton code: 21 bits an axis

}  // namespace

// The moments of a node about its centre.
struct WindingTree::Sums {
    Box3 box;
    Point3 centre{}, dipole{};
    double area = 0, radius = 0;
    std::array<double, 9> moment{};

    // Adds d ⊗ n.
    void add_moment(const Point3& d, const Point3& n) {
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 3; ++k) moment[j * 3 + k] += d[j] * n[k];
    }
    // The middle of the box if the area is zero.
    void place(const Point3& weighted) { centre = area > 0 ? (1 / area) * weighted : 0.5 * (box.low + box.high); }
    double farthest_corner() const {
        Point3 away;
        for (std::size_t k = 0; k < 3; ++k) away[k] = std::max(box.high[k] - centre[k], centre[k] - box.low[k]);
        return norm(away);
    }
};

WindingTree::WindingTree(const MeshView& mesh, const std::vector<bool>& turned, const std::vector<bool>& left_out) {
    std::vector<Corners> all;
    all.reserve(mesh.triangles.size());
    Box3 box;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        if (!left_out.empty() && left_out[t]) continue;
        const Triangle& corner = mesh.triangles[t];
        Corners c{{mesh.positions[corner[0]], mesh.positions[corner[1]], mesh.positions[corner[2]]}};
        if (!turned.empty() && turned[t]) std::swap(c.p[1], c.p[2]);
        for (const Vec3& p : c.p) box.add(to_point(p));
        all.push_back(c);
    }
    if (all.empty()) return;

    const double longest = box.longest();
    scale_ = longest > 0 ? 1 / longest : 1;
    origin_ = {box.low[0], box.low[1], box.low[2]};
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (Vec3& p : all[i].p) {
            const Point3 v = scale_ * (to_point(p) - box.low);
            p = {float(v[0]), float(v[1]), float(v[2])};
        }
        const auto& p = all[i].p;
        const Point3 centre = (double((1 << 21) - 1) / 3) * (to_point(p[0]) + to_point(p[1]) + to_point(p[2]));
        order[i] = {morton(std::uint64_t(centre[0]), std::uint64_t(centre[1]), std::uint64_t(centre[2])),
                    std::uint32_t(i)};
    }
    std::sort(order.begin(), order.end());

    triangles_.resize(all.size());
    std::vector<std::uint64_t> code(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        triangles_[i] = all[order[i].second];
        code[i] = order[i].first;
    }
    nodes_.reserve(all.size() / 2 + 16);
    nodes_.emplace_back();
    build(0, 0, std::uint32_t(all.size()), code, code_bits - 1);
}

WindingTree::Sums WindingTree::sum_leaf(std::uint32_t begin, std::uint32_t end) const {
    Sums out;
    std::array<Point3, leaf_size> normal, third;
    Point3 weighted{};
    for (std::uint32_t i = begin; i < end; ++i) {
        const Point3 a = to_point(triangles_[i].p[0]), b = to_point(triangles_[i].p[1]),
                     c = to_point(triangles_[i].p[2]);
        normal[i - begin] = 0.5 * cross(b - a, c - a);
        third[i - begin] = (1.0 / 3) * (a + b + c);
        const double size = norm(normal[i - begin]);
        out.dipole = out.dipole + normal[i - begin];
        weighted = weighted + size * third[i - begin];
        out.area += size;
        for (const Point3& p : {a, b, c}) out.box.add(p);
    }
    out.place(weighted);
    double radius2 = 0;
    for (std::uint32_t i = begin; i < end; ++i) {
        out.add_moment(third[i - begin] - out.centre, normal[i - begin]);
        for (const Vec3& p : triangles_[i].p)
            radius2 = std::max(radius2, dot(to_point(p) - out.centre, to_point(p) - out.centre));
    }
    out.radius = std::sqrt(radius2);
    return out;
}

WindingTree::Sums WindingTree::merge(const Sums& a, const Sums& b) {
    Sums out;
    out.box = a.box;
    out.box.add(b.box.low);
    out.box.add(b.box.high);
    out.area = a.area + b.area;
    out.dipole = a.dipole + b.dipole;
    out.place(a.area * a.centre + b.area * b.centre);
    for (const Sums* part : {&a, &b}) {
        const Point3 shift = part->centre - out.centre;
        for (int j = 0; j < 9; ++j) out.moment[j] += part->moment[j];
        out.add_moment(shift, part->dipole);
        out.radius = std::max(out.radius, norm(shift) + part->radius);
    }
    out.radius = std::min(out.radius, out.farthest_corner());
    return out;
}

// Splits [begin, end) where `bit` of the Morton code changes, or in halves if all codes are equal.
WindingTree::Sums WindingTree::build(std::uint32_t node, std::uint32_t begin, std::uint32_t end,
                                     const std::vector<std::uint64_t>& code, int bit) {
    Sums sums;
    if (end - begin <= leaf_size) {
        nodes_[node].child = begin;
        nodes_[node].count = end - begin;
        sums = sum_leaf(begin, end);
    } else {
        while (bit >= 0 && (code[begin] >> bit & 1) == (code[end - 1] >> bit & 1)) --bit;
        std::uint32_t middle = begin + (end - begin) / 2;
        if (bit >= 0)
            middle = std::uint32_t(std::partition_point(code.begin() + begin, code.begin() + end,
                                                        [&](std::uint64_t c) { return !(c >> bit & 1); }) -
                                   code.begin());
        const std::uint32_t child = std::uint32_t(nodes_.size());
        nodes_.resize(nodes_.size() + 2);
        nodes_[node].child = child;
        const Sums left = build(child, begin, middle, code, bit - 1);
        const Sums right = build(child + 1, middle, end, code, bit - 1);
        sums = merge(left, right);
    }
    Node& out = nodes_[node];
    out.centre = {float(sums.centre[0]), float(sums.centre[1]), float(sums.centre[2])};
    out.dipole = {float(sums.dipole[0]), float(sums.dipole[1]), float(sums.dipole[2])};
    out.reach2 = float(accuracy * accuracy * sums.radius * sums.radius);
    for (int j = 0; j < 9; ++j) out.moment[j] = float(sums.moment[j]);
    return sums;
}

// A node that is farther away from every point than its reach counts as a dipole for all of them. Written for
// compilers that vectorise the loops over points.
template <std::size_t N>
std::size_t WindingTree::measure(const Vec3* points, double* out, std::size_t most) const {
    std::array<Point3, N> at;
    std::array<SolidAngle, N> near;
    std::array<double, N> far{};  // steradians
    for (std::size_t i = 0; i < N; ++i)
        for (std::size_t k = 0; k < 3; ++k) at[i][k] = scale_ * (to_point(points[i])[k] - origin_[k]);
    // Depth is at most code_bits splits by bit and 32 by half; each level leaves one sibling on the stack.
    std::array<std::uint32_t, code_bits + 40> stack;
    std::size_t top = 0;
    if (!nodes_.empty()) stack[top++] = 0;
    std::size_t summed = 0;
    while (top > 0) {
        const Node& node = nodes_[stack[--top]];
        const Point3 centre{node.centre[0], node.centre[1], node.centre[2]};
        int opened = 0;
        for (std::size_t i = 0; i < N; ++i) {
            const Point3 r = centre - at[i];
            opened += dot(r, r) <= double{node.reach2};
        }
        if (opened == 0 || summed >= most) {
            std::array<double, 9> m;
            std::copy(node.moment.begin(), node.moment.end(), m.begin());
            const Point3 dipole{node.dipole[0], node.dipole[1], node.dipole[2]};
            const double trace = m[0] + m[4] + m[8];
            const double least = opened ? std::max(std::sqrt(double{node.reach2}) / accuracy, 1e-12) : 0;
            for (std::size_t i = 0; i < N; ++i) {
                const Point3 r = centre - at[i];
                const double inv = 1 / std::max(norm(r), least), inv2 = inv * inv, inv3 = inv * inv2,
                             inv5 = inv3 * inv2;
                const double rmr = r[0] * (m[0] * r[0] + m[1] * r[1] + m[2] * r[2]) +
                                   r[1] * (m[3] * r[0] + m[4] * r[1] + m[5] * r[2]) +
                                   r[2] * (m[6] * r[0] + m[7] * r[1] + m[8] * r[2]);
                far[i] += dot(r, dipole) * inv3 + trace * inv3 - 3 * rmr * inv5;
            }
        } else if (node.count > 0) {
            summed += node.count;
            for (std::uint32_t t = node.child; t < node.child + node.count; ++t) {
                const Point3 a = to_point(triangles_[t].p[0]), b = to_point(triangles_[t].p[1]),
                             c = to_point(triangles_[t].p[2]);
                for (std::size_t i = 0; i < N; ++i) near[i].add(a - at[i], b - at[i], c - at[i]);
            }
        } else {
            stack[top++] = node.child;
            stack[top++] = node.child + 1;
        }
    }
    for (std::size_t i = 0; i < N; ++i) out[i] = (far[i] + near[i].sum()) / (4 * std::numbers::pi);
    return summed;
}

double WindingTree::operator()(const Vec3& point) const {
    double out = 0;
    measure<1>(&point, &out, ~std::size_t{0});
    return out;
}

struct WindingTree::Kernel {
    static std::size_t plain(const WindingTree& tree, const Vec3* p, double* out, std::size_t most) {
        return tree.measure<kTogether>(p, out, most);
    }
#if defined(SINEW_VECTORS)
    SINEW_FOR_AVX2 static std::size_t avx2(const WindingTree& tree, const Vec3* p, double* out, std::size_t most) {
        return tree.measure<kTogether>(p, out, most);
    }
    SINEW_FOR_AVX512 static std::size_t avx512(const WindingTree& tree, const Vec3* p, double* out,
                                               std::size_t most) {
        return tree.measure<kTogether>(p, out, most);
    }
    static auto best() { return best_of(plain, avx2, avx512); }
#else
    static auto best() { return plain; }
#endif
};

std::size_t WindingTree::measure(std::span<const Vec3, kTogether> points, std::span<float, kTogether> out,
                                 std::size_t most) const {
    static const auto kernel = Kernel::best();
    std::array<double, kTogether> found;
    const std::size_t summed = kernel(*this, points.data(), found.data(), most);
    std::transform(found.begin(), found.end(), out.begin(), [](double w) { return static_cast<float>(w); });
    return summed;
}

std::size_t WindingTree::most_of(std::size_t points) {
    constexpr std::size_t all = std::size_t{1} << 26, least = 128;
    return std::max(least, all / std::max<std::size_t>(1, (points + kTogether - 1) / kTogether));
}

std::vector<float> winding_numbers(const MeshView& mesh, const std::vector<bool>& turned,
                                   std::span<const Vec3> points, Context* context) {
    std::vector<float> out(points.size());
    if (points.empty()) return out;
    const WindingTree tree(mesh, turned);
    constexpr std::size_t together = WindingTree::kTogether;
    const std::size_t most = WindingTree::most_of(points.size());
    parallel_for(context, (points.size() + together - 1) / together, 32, [&](std::size_t group) {
        const std::size_t first = group * together;
        std::array<Vec3, together> at;
        std::array<float, together> winding;
        for (std::size_t i = 0; i < together; ++i) at[i] = points[std::min(first + i, points.size() - 1)];
        tree.measure(at, winding, most);
        std::copy_n(winding.begin(), std::min(together, points.size() - first), out.begin() + first);
    });
    return out;
}

}  // namespace sinew
