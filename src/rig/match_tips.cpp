#include "rig/match_tips.h"

#include <algorithm>

#include "core/vectors.h"

namespace sinew {
namespace {

/// All turns by right angles; with `mirrored_too` also mirrored ones.
std::vector<Turn> turns_of(bool mirrored_too) {
    std::vector<Turn> out;
    std::array<int, 3> axis{0, 1, 2};
    do {
        const bool odd = (axis[0] > axis[1]) != ((axis[0] > axis[2]) != (axis[1] > axis[2]));
        for (int signs = 0; signs < 8; ++signs) {
            const std::array<int, 3> sign{signs & 1 ? -1 : 1, signs & 2 ? -1 : 1, signs & 4 ? -1 : 1};
            const bool mirrored = odd != (sign[0] * sign[1] * sign[2] < 0);
            if (mirrored_too || !mirrored) out.push_back({axis, sign});
        }
    } while (std::next_permutation(axis.begin(), axis.end()));
    return out;
}

double squared(double x) { return x * x; }

double cost_of(const TemplateTip& tip, const FoundTip& found, double side) {
    const Point3& place = found.place;
    const double thickness = tip.thickness > 0 ? found.thickness - tip.thickness : 0;
    return 2 * squared(thickness) + tip.weight[0] * squared(place[0] - side * tip.place[0]) +
           tip.weight[1] * squared(place[1] - tip.place[1]) + tip.weight[2] * squared(place[2] - tip.place[2]);
}

/// Takes the template's tips in their order, each the cheapest that is left.
Match match_turned(const Template& model, const std::vector<FoundTip>& tips, const Turn& turn) {
    Match match{.turn = turn, .cost = 0};
    // glTF says that a character stands upright and faces +z. Others need a reason.
    constexpr double kFacing = 0.3, kLying = 0.8;
    if (model.stands)
        match.turned = turn.axis[1] != 1 || turn.sign[1] < 0   ? kLying
                       : turn.axis[0] != 0 || turn.sign[0] < 0 ? kFacing
                                                               : 0;
    std::vector<bool> taken(tips.size(), false);
    std::vector<FoundTip> turned = tips;
    for (FoundTip& tip : turned) tip.place = turn.to_template(tip.place);
    for (const TemplateTip& tip : model.tips) {
        const std::string name(tip.name);
        double best = tip.paired ? 2 * kMissing : kMissing;
        std::size_t left = tips.size(), right = tips.size();
        for (std::size_t a = 0; a < tips.size(); ++a) {
            if (taken[a]) continue;
            const double one = cost_of(tip, turned[a], 1);
            if (!tip.paired) {
                if (one < best) best = one, left = a;
                continue;
            }
            if (one + kMissing < best) best = one + kMissing, left = a, right = tips.size();
            const double other = cost_of(tip, turned[a], -1);
            if (other + kMissing < best) best = other + kMissing, left = tips.size(), right = a;
            for (std::size_t b = 0; b < tips.size(); ++b) {
                if (b == a || taken[b]) continue;
                const Point3 mirrored{-turned[b].place[0], turned[b].place[1], turned[b].place[2]};
                const double pair = one + cost_of(tip, turned[b], -1) + squared(norm(mirrored - turned[a].place));
                if (pair < best) best = pair, left = a, right = b;
            }
        }
        match.cost += tip.optional ? std::min(best, 0.5 * kMissing) : best;
        if (left < tips.size()) {
            taken[left] = true;
            match.tips[tip.paired ? name + ".L" : name] = tips[left].voxel;
        }
        if (right < tips.size()) {
            taken[right] = true;
            match.tips[name + ".R"] = tips[right].voxel;
        }
    }
    return match;
}

}  // namespace

Match match_tips(const Template& model, const std::vector<FoundTip>& tips) {
    Match best;
    for (const Turn& turn : turns_of(model.mirrored)) {
        Match match = match_turned(model, tips, turn);
        if (match.cost + match.turned < best.cost + best.turned) best = std::move(match);
    }
    return best;
}

}  // namespace sinew
