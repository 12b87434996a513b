// From weights to the colours of a surface. No pixels here.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "render/oklab.h"
#include "sinew/render.h"

namespace sinew {
namespace {

constexpr Rgb kNothing{150, 150, 154};

/// Joints with weight, the heaviest first, with their colours.
std::vector<Legend::Entry> entries_by_use(const SkinWeights& weights, const Skeleton& skeleton,
                                          const std::vector<Rgb>& colours) {
    const std::vector<double> use = joint_use(weights, skeleton.joints.size());
    std::vector<std::size_t> order(skeleton.joints.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return use[a] > use[b]; });
    std::vector<Legend::Entry> entries;
    for (const std::size_t j : order)
        if (use[j] > 0) entries.push_back({skeleton.joints[j].name, colours[j]});
    return entries;
}

/// A round number: 1, 2 or 5 times a power of ten.
double round_step(double about) {
    const double power = std::pow(10.0, std::floor(std::log10(about)));
    for (const double m : {1.0, 2.0, 5.0})
        if (about <= m * power * 1.0000001) return m * power;
    return 10 * power;
}

/// Multiples of a round step within low..high, about `count` of them.
std::vector<double> round_values(double low, double high, int count) {
    std::vector<double> out;
    const double step = round_step((high - low) / std::max(1, count));
    const double slack = step * 1e-6;
    for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) out.push_back(k * step);
    return out;
}

// A corner of a piece: its barycentric coordinates in the triangle.
using Barycentric = std::array<double, 3>;

/// The part of a convex polygon where `side` (linear over the triangle, given at its vertices) is not negative.
void clip(std::vector<Barycentric>& polygon, const std::array<double, 3>& side) {
    auto value = [&](const Barycentric& c) { return side[0] * c[0] + side[1] * c[1] + side[2] * c[2]; };
    std::vector<Barycentric> kept;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
        const Barycentric &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
        const double fa = value(a), fb = value(b);
        if (fa >= 0) kept.push_back(a);
        if ((fa >= 0) == (fb >= 0)) continue;
        const double t = fa / (fa - fb);
        kept.push_back({a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])});
    }
    polygon = std::move(kept);
}

std::uint32_t strongest(std::span<const Influence> row) { return row.empty() ? no_index : row.front().joint; }

}  // namespace

Paint paint_joint(const SkinWeights& weights, const Skeleton& skeleton, std::uint32_t joint) {
    Paint paint;
    paint.values.assign(weights.vertex_count(), 0.0f);
    for (std::size_t v = 0; v < weights.vertex_count(); ++v)
        for (const Influence& i : weights[v])
            if (i.joint == joint) paint.values[v] = i.weight;
    paint.isolines = {0.25, 0.5, 0.75};
    paint.zero_is_plain = true;
    paint.legend = {"weight of " + (joint < skeleton.joints.size() ? skeleton.joints[joint].name : std::string()),
                    Ramp::heat,
                    0,
                    1,
                    {0, 0.25, 0.5, 0.75, 1},
                    {}};
    return paint;
}

Paint paint_joints(const SkinWeights& weights, const Skeleton& skeleton) {
    const std::vector<Rgb> colours = joint_colours(skeleton);
    std::vector<Linear> light;
    for (const Rgb& c : colours) light.push_back(to_linear(c));
    Paint paint;
    paint.colours.assign(weights.vertex_count(), kNothing);
    for (std::size_t v = 0; v < weights.vertex_count(); ++v) {
        Linear sum{0, 0, 0};
        bool any = false;
        for (const Influence& i : weights[v]) {
            if (i.joint >= light.size()) continue;
            any = true;
            for (std::size_t k = 0; k < 3; ++k) sum[k] += static_cast<double>(i.weight) * light[i.joint][k];
        }
        if (any) paint.colours[v] = to_rgb(sum);
    }
    paint.legend.title = "joints";
    paint.legend.entries = entries_by_use(weights, skeleton, colours);
    return paint;
}

Paint paint_strongest(const SkinWeights& weights, const Skeleton& skeleton, std::span<const Triangle> triangles) {
    const std::vector<Rgb> colours = joint_colours(skeleton);
    auto colour = [&](std::uint32_t joint) { return joint < colours.size() ? colours[joint] : kNothing; };
    constexpr std::array<std::array<float, 2>, 3> whole{{{0, 0}, {1, 0}, {0, 1}}};
    Paint paint;
    paint.pieces.reserve(triangles.size());
    std::vector<std::uint32_t> joints;
    std::vector<std::array<double, 3>> share;
    std::vector<double> used(colours.size(), 0);
    for (std::size_t t = 0; t < triangles.size(); ++t) {
        const Triangle& triangle = triangles[t];
        const auto index = static_cast<std::uint32_t>(t);
        std::array<std::span<const Influence>, 3> row;
        for (std::size_t k = 0; k < 3; ++k)
            if (triangle[k] < weights.vertex_count()) row[k] = weights[triangle[k]];
        const std::uint32_t first = strongest(row[0]);
        // Linear functions: a joint that is strongest at all three corners is strongest everywhere between
        // them.
        if (first == strongest(row[1]) && first == strongest(row[2])) {
            paint.pieces.push_back({index, whole, colour(first)});
            if (first < used.size()) used[first] += 1;
            continue;
        }
        joints.clear();
        for (const auto& r : row)
            for (const Influence& i : r) joints.push_back(i.joint);
        std::sort(joints.begin(), joints.end());
        joints.erase(std::unique(joints.begin(), joints.end()), joints.end());
        share.assign(joints.size(), {0, 0, 0});
        for (std::size_t k = 0; k < 3; ++k)
            for (const Influence& i : row[k])
                share[static_cast<std::size_t>(std::lower_bound(joints.begin(), joints.end(), i.joint) -
                                               joints.begin())][k] = i.weight;
        for (std::size_t a = 0; a < joints.size(); ++a) {
            std::vector<Barycentric> polygon{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
            for (std::size_t b = 0; b < joints.size() && polygon.size() > 2; ++b) {
                std::array<double, 3> lead;
                for (std::size_t k = 0; k < 3; ++k) lead[k] = share[a][k] - share[b][k];
                if (a == b) continue;
                // If two joints are equal on the whole triangle, the lower number wins.
                if (lead == std::array<double, 3>{0, 0, 0}) {
                    if (b < a) polygon.clear();
                    continue;
                }
                clip(polygon, lead);
            }
            for (std::size_t c = 2; c < polygon.size(); ++c) {
                auto corner = [&](const Barycentric& p) {
                    return std::array<float, 2>{static_cast<float>(p[1]), static_cast<float>(p[2])};
                };
                paint.pieces.push_back(
                    {index, {corner(polygon[0]), corner(polygon[c - 1]), corner(polygon[c])}, colour(joints[a])});
                if (joints[a] < used.size()) used[joints[a]] += 0.5;
            }
        }
    }
    paint.legend.title = "strongest joint";
    std::vector<std::size_t> order;
    for (std::size_t j = 0; j < used.size(); ++j)
        if (used[j] > 0) order.push_back(j);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return used[a] > used[b]; });
    for (const std::size_t j : order) paint.legend.entries.push_back({skeleton.joints[j].name, colours[j]});
    return paint;
}

Paint paint_influences(const SkinWeights& weights) {
    const std::size_t most = std::max<std::size_t>(weights.max_influences(), 2);
    Paint paint;
    paint.legend.title = "influences of a vertex";
    std::vector<Rgb> colours{kNothing};
    for (std::size_t n = 1; n <= most; ++n)
        colours.push_back(ramp_colour(Ramp::depth, static_cast<double>(n - 1) / static_cast<double>(most - 1)));
    std::vector<std::size_t> count(most + 1, 0);
    for (std::size_t v = 0; v < weights.vertex_count(); ++v) {
        const std::size_t n = weights[v].size();
        ++count[n];
        paint.colours.push_back(colours[n]);
    }
    for (std::size_t n = 0; n <= most; ++n) {
        if (count[n] == 0) continue;
        std::string name =
            std::to_string(n) + " (" + std::to_string(count[n]) + (count[n] == 1 ? " vertex)" : " vertices)");
        if (n == 0) name = "none" + name.substr(1);
        paint.legend.entries.push_back({std::move(name), colours[n]});
    }
    return paint;
}

Paint paint_defects(const Intersections& intersections, const DefectEdges& edges) {
    constexpr Rgb plain{203, 199, 193}, red{222, 45, 38}, doubt{243, 167, 120}, boundary{0, 94, 201},
        nonmanifold{18, 18, 22};
    constexpr std::array<std::array<float, 2>, 3> whole{{{0, 0}, {1, 0}, {0, 1}}};
    Paint paint;
    for (std::size_t t = 0; t < intersections.of_triangle.size(); ++t) {
        const Intersects what = intersections.of_triangle[t];
        paint.pieces.push_back({static_cast<std::uint32_t>(t), whole,
                                what == Intersects::another     ? red
                                : what == Intersects::undecided ? doubt
                                                                : plain});
    }
    for (const auto& [from, to] : edges.boundary) paint.lines.push_back({from, to, boundary});
    for (const auto& [from, to] : edges.nonmanifold) paint.lines.push_back({from, to, nonmanifold});
    const auto name = [](const std::string& what, std::size_t count) {
        return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
    };
    paint.legend.title = "defects of the mesh";
    paint.legend.entries = {{name("intersecting triangle", intersections.triangles), red},
                            {name("boundary edge", edges.boundary.size()), boundary},
                            {name("non-manifold edge", edges.nonmanifold.size()), nonmanifold}};
    if (intersections.undecided)
        paint.legend.entries.push_back(
            {name("triangle", intersections.undecided) + " not compared with all", doubt});
    return paint;
}

Paint paint_values(std::vector<float> values, std::string title, Ramp ramp, double low, double high, int lines) {
    Paint paint;
    paint.values = std::move(values);
    paint.legend = {std::move(title), ramp, low, high, {}, {}};
    if (!(low < high)) return paint;
    paint.legend.ticks = round_values(low, high, 5);
    if (lines > 0) paint.isolines = round_values(low, high, lines);
    return paint;
}

}  // namespace sinew
