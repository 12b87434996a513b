// Colours that carry meaning: scales for values, and one colour for each joint.

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include "core/joint_names.h"
#include "render/oklab.h"

namespace sinew {
namespace {

struct ColourStop {
    double l, chroma, hue;
};

// Lightness changes evenly; hue turns by less than half a circle between stops, and never between red and green
// at one lightness.
constexpr ColourStop kHeat[] = {
    {0.36, 0.13, 275}, {0.50, 0.19, 320}, {0.64, 0.21, 15}, {0.80, 0.16, 65}, {0.965, 0.10, 106}};
constexpr ColourStop kDepth[] = {
    {0.95, 0.09, 106}, {0.80, 0.14, 145}, {0.64, 0.11, 190}, {0.49, 0.12, 245}, {0.34, 0.12, 275}};

Oklab at(const ColourStop& s) {
    const double angle = s.hue * 3.14159265358979323846 / 180;
    return {s.l, s.chroma * std::cos(angle), s.chroma * std::sin(angle)};
}

constexpr int kHues = 12;

/// Steps between two hues around their circle, 0..6.
int apart(int a, int b) {
    const int d = std::abs(a - b) % kHues;
    return std::min(d, kHues - d);
}

/// The same sequence on every platform: 0, 5, 10, 3, 8, … visits every hue once in twelve steps.
int nth_hue(std::size_t n) { return static_cast<int>(n * 5 % kHues); }

}  // namespace

Rgb ramp_colour(Ramp ramp, double t) {
    const std::span<const ColourStop> stops = ramp == Ramp::heat ? std::span<const ColourStop>(kHeat) : kDepth;
    const double x = (t > 0 ? std::min(t, 1.0) : 0.0) * static_cast<double>(stops.size() - 1);
    const std::size_t k = std::min(static_cast<std::size_t>(x), stops.size() - 2);
    const double f = x - static_cast<double>(k);
    const Oklab a = at(stops[k]), b = at(stops[k + 1]);
    return in_gamut({a.l + f * (b.l - a.l), a.a + f * (b.a - a.a), a.b + f * (b.b - a.b)});
}

std::vector<Rgb> joint_colours(const Skeleton& skeleton) {
    const std::size_t n = skeleton.joints.size();
    std::vector<std::vector<std::size_t>> children(n);
    std::vector<std::size_t> order;  // parents before children
    auto parent_of = [&](std::size_t j) {
        const int p = skeleton.joints[j].parent;
        return p >= 0 && static_cast<std::size_t>(p) < n ? p : -1;
    };
    for (std::size_t j = 0; j < n; ++j) {
        if (const int p = parent_of(j); p >= 0)
            children[static_cast<std::size_t>(p)].push_back(j);
        else
            order.push_back(j);
    }
    std::vector<int> depth(n, 0), hue(n, -1), side(n, 0), turn(n, 0);
    for (std::size_t k = 0; k < order.size(); ++k)
        for (const std::size_t c : children[order[k]]) {
            depth[c] = depth[order[k]] + 1;
            order.push_back(c);
        }

    // Mirrored joints share a hue: the one that the first of them has.
    std::map<std::string, std::size_t> first_of;
    std::size_t given = 0;
    std::array<int, kHues> taken{};
    for (const std::size_t j : order) {
        const SidedName name = read_side(skeleton.joints[j].name);
        side[j] = name.side;
        if (name.side != 0) {
            const auto [it, fresh] = first_of.try_emplace(name.rest, j);
            if (!fresh && side[it->second] != name.side) {
                hue[j] = hue[it->second];
                turn[j] = turn[it->second];
                continue;
            }
        }
        // The hue farthest from those of related joints: mostly the parent, then siblings, then the
        // grandparent.
        const int p = parent_of(j);
        auto crowd = [&](int h) {
            double sum = 0;
            auto near = [&](int other, double weight) {
                if (other >= 0) sum += weight / (0.3 + apart(h, other));
            };
            if (p < 0) return sum;
            near(hue[static_cast<std::size_t>(p)], 3);
            for (const std::size_t s : children[static_cast<std::size_t>(p)])
                if (s != j) near(hue[s], 1);
            if (const int g = parent_of(static_cast<std::size_t>(p)); g >= 0)
                near(hue[static_cast<std::size_t>(g)], 1);
            return sum;
        };
        int best = nth_hue(given);
        for (std::size_t k = 1; k < kHues; ++k)
            if (const int h = nth_hue(given + k); crowd(h) < crowd(best) - 1e-12) best = h;
        hue[j] = best;
        turn[j] = taken[static_cast<std::size_t>(best)]++;  // the next joint of this hue is slightly different
        ++given;
    }

    std::vector<Rgb> colours(n);
    for (std::size_t j = 0; j < n; ++j) {
        const double step = 0.035 * (turn[j] % 3 - 1) + (depth[j] % 2 ? 0.015 : -0.015);
        const double lightness = (side[j] < 0 ? 0.80 : side[j] > 0 ? 0.56 : 0.69) + step;
        const double hue_of = 25 + (std::max(hue[j], 0) + (turn[j] % 3) / 3.0) * 360.0 / kHues;
        colours[j] = from_lch(lightness, turn[j] % 2 ? 0.11 : 0.155, hue_of);
    }
    return colours;
}

}  // namespace sinew
