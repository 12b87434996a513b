#include "rig/fingers.h"

#include <algorithm>
#include <cmath>

#include "core/median.h"
#include "core/parallel.h"
#include "core/vectors.h"
#include "rig/limb_path.h"
#include "rig/volume_tree.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

constexpr std::array<std::string_view, 5> kNames{"thumb", "index", "middle", "ring", "pinky"};
constexpr std::size_t kFewest = 3;

/// A finger while it is not known which.
struct Digit {
    LimbPath path;   // from the tip to the wrist
    double web = 0;  // length to where the palm begins
    Point3 base{};   // on the path, there
    Point3 tip{};
    Point3 direction{};  // from base to tip
    double angle = 0;    // in the plane of the hand
};

/// The number of voxels in a ball around one that are connected with it there.
std::size_t count_around(const BodyVolume& volume, std::uint32_t centre, double radius) {
    const auto [x, y, z] = volume.place(centre);
    const int reach = static_cast<int>(radius), side = 2 * reach + 1;
    std::vector<char> seen(static_cast<std::size_t>(side) * side * side, 0);
    const auto flag = [&](int a, int b, int c) -> char& {
        return seen[static_cast<std::size_t>((c * side + b) * side + a)];
    };
    std::vector<std::array<int, 3>> part{{0, 0, 0}};
    flag(reach, reach, reach) = 1;
    for (std::size_t k = 0; k < part.size(); ++k)
        for (std::size_t axis = 0; axis < 3; ++axis)
            for (const int step : {-1, 1}) {
                std::array<int, 3> n = part[k];
                n[axis] += step;
                if (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] > radius * radius) continue;
                const std::array<int, 3> at{x + n[0], y + n[1], z + n[2]};
                if (at[0] < 0 || at[1] < 0 || at[2] < 0 || at[0] >= volume.size[0] || at[1] >= volume.size[1] ||
                    at[2] >= volume.size[2] || volume.depth[volume.at(at[0], at[1], at[2])] <= 0)
                    continue;
                char& known = flag(n[0] + reach, n[1] + reach, n[2] + reach);
                if (!known) part.push_back(n);
                known = 1;
            }
    return part.size();
}

/// Where the finger becomes the palm. In a finger a ball of 2.2 times its radius holds a piece of a cylinder, in
/// the palm a piece of a plate, which is twice as much.
double length_to_palm(const BodyVolume& volume, const std::vector<std::uint32_t>& voxels, const LimbPath& path) {
    constexpr double kReach = 2.2, kMore = 1.45;
    std::vector<double> radius;
    for (std::size_t k = 0; k < voxels.size(); ++k)
        if (path.length[k] > 0.1 * path.whole() && path.length[k] < 0.35 * path.whole())
            radius.push_back(volume.depth[voxels[k]]);
    if (radius.empty()) return 0.5 * path.whole();
    const double ball = kReach * median(radius);
    std::vector<double> count(voxels.size(), 0), of_finger;
    for (std::size_t k = 0; k < voxels.size(); ++k) {
        if (path.length[k] < 0.1 * path.whole()) continue;
        count[k] = static_cast<double>(count_around(volume, voxels[k], ball));
        if (path.length[k] < 0.3 * path.whole()) of_finger.push_back(count[k]);
    }
    if (of_finger.empty()) return 0.5 * path.whole();
    const double usual = median(of_finger);
    for (std::size_t k = 0; k < voxels.size(); ++k)
        if (path.length[k] > 0.2 * path.whole() && count[k] > kMore * usual) return path.length[k];
    return 0.5 * path.whole();
}

/// The normal of the plane of the hand: in which its fingers spread least.
Point3 normal_of(const std::vector<Digit>& digits, const Point3& along) {
    // Across the hand: the direction between the two fingers that are farthest apart.
    Point3 across{};
    for (const Digit& a : digits)
        for (const Digit& b : digits)
            if (norm(a.base - b.base) > norm(across)) across = a.base - b.base;
    across = across - dot(across, along) * along;
    return unit(cross(along, across));
}

/// How much a finger at one end of the row is like a thumb.
double thumb_score(const std::vector<Digit>& digits, std::size_t k, const HandPlace& hand, const Point3& along) {
    const double size = norm(hand.tip - hand.wrist);
    double others = 0;
    Point3 direction{}, base{};
    const double share = 1.0 / static_cast<double>(digits.size() - 1);
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i == k) continue;
        others += share * dot(digits[i].base - hand.wrist, along);
        direction = direction + digits[i].direction;
        base = base + share * digits[i].base;
    }
    const double nearer = (others - dot(digits[k].base - hand.wrist, along)) / size;
    const double away = std::acos(std::clamp(dot(unit(direction), digits[k].direction), -1.0, 1.0));
    // Palms look down or to the front, and thumbs to the front or up.
    const Point3 aside = unit(digits[k].base - base);
    const double before = dot(aside, hand.front) + 0.5 * aside[1];
    return 3 * nearer + away + 0.3 * before;
}

Finger place_joints(const Digit& digit, std::string_view name, const HandPlace& hand) {
    Finger finger{name, {}, digit.tip};
    // The joint in the palm. The skin between fingers is about at the middle of their first bone, and a thumb's
    // first joint is at the wrist.
    const bool thumb = name == kNames[0];
    Point3 begin{};
    if (thumb)
        begin = digit.path.at(digit.web + std::min(0.8 * digit.web, 0.8 * (digit.path.whole() - digit.web)));
    else
        begin = digit.base - std::min(0.3 * digit.web, 0.5 * norm(digit.base - hand.wrist)) * digit.direction;
    LimbPath path;
    path.points.push_back(begin);
    for (std::size_t k = digit.path.points.size(); k-- > 0;)
        if (digit.path.length[k] <= digit.web) path.points.push_back(digit.path.points[k]);
    path.measure();
    const std::array<double, 3> at = thumb ? std::array{0.0, 0.42, 0.72} : std::array{0.0, 0.45, 0.72};
    for (std::size_t k = 0; k < 3; ++k) finger.joints[k] = path.at(at[k] * path.whole());
    return finger;
}

}  // namespace

std::optional<Point3> find_wrist(const VoxelGrid& grid, const HandPlace& hand, const Point3& elbow) {
    // Of the widest section before, of the narrowest one, of the distance from the tip (docs/notes/rig.md).
    constexpr double kNarrower = 0.88, kWider = 1.1, kNearest = 0.6, kFarthest = 1.6;
    constexpr double kSlabs = 16;  // along the hand
    const double size = norm(hand.tip - hand.wrist);
    const Point3 back = unit(elbow - hand.wrist);
    const double reach = dot(hand.wrist - hand.tip, back);
    if (!(reach > 0)) return std::nullopt;
    const BodyVolume volume = crop_volume(grid, hand.wrist, -1.0 * back, 1.3 * size, size);
    struct Slab {
        double voxels = 0;
        Point3 sum{};
    };
    std::vector<Slab> slabs;  // from the tip on; a voxel counts for the two slabs nearest to it
    // Whole voxels: then slabs across an axis hold as many layers of them.
    const double thick = volume.voxel * std::max(2.0, std::round(size / volume.voxel / kSlabs));
    for (std::uint32_t v = 0; v < volume.depth.size(); ++v) {
        const Point3 p = volume.position(v);
        const double behind = dot(p - hand.tip, back) / thick;
        if (volume.depth[v] <= 0 || behind < 0) continue;
        const auto k = static_cast<std::size_t>(behind);
        if (k + 1 >= slabs.size()) slabs.resize(k + 2);
        const double next = behind - static_cast<double>(k);
        for (const auto& [slab, share] : {std::pair{&slabs[k], 1 - next}, {&slabs[k + 1], next}}) {
            slab->voxels += share;
            slab->sum = slab->sum + share * p;
        }
    }
    const Slab* narrowest = nullptr;
    double widest = 0;
    for (std::size_t k = 0; k < slabs.size(); ++k) {
        const double behind = static_cast<double>(k) * thick, voxels = slabs[k].voxels;
        if (behind > kFarthest * reach) break;
        if (behind > kNearest * reach && voxels > 0 && voxels < kNarrower * widest &&
            (!narrowest || voxels < narrowest->voxels))
            narrowest = &slabs[k];
        if (narrowest && voxels > kWider * narrowest->voxels) return (1 / narrowest->voxels) * narrowest->sum;
        widest = std::max(widest, voxels);
    }
    return std::nullopt;
}

std::vector<Finger> find_fingers(const VoxelGrid& grid, const HandPlace& hand, Context* context) {
    // Of the hand's length. The corners of a fist or a mitten stick out less than three fingers do, and knuckles
    // less than the fingers beside these.
    constexpr double kReach = 1.35, kLeast = 0.13, kLeastOfThree = 0.22;
    // Of the cube of that length: hands of people have 0.08, thick ones of figures 0.34. What has more is a body.
    constexpr double kMostVolume = 0.5;
    const double size = norm(hand.tip - hand.wrist);
    if (!(size > 0)) return {};
    const Point3 along = unit(hand.tip - hand.wrist);
    const BodyVolume volume = crop_volume(grid, hand.wrist, along, kReach * size, 0.2 * size);
    if (volume.depth.empty()) return {};
    const auto solid = static_cast<double>(
        std::count_if(volume.depth.begin(), volume.depth.end(), [](float depth) { return depth > 0; }));
    if (solid > kMostVolume * std::pow(size / volume.voxel, 3)) return {};
    const VolumeTree tree(volume, kLeast * size / volume.voxel, context);
    if (cancelled(context)) return {};

    // The paths of fingers end at the wrist.
    std::uint32_t wrist = tree.root();
    for (std::uint32_t v = 0; v < volume.depth.size(); ++v)
        if (volume.depth[v] > 0 &&
            norm(volume.position(v) - hand.wrist) < norm(volume.position(wrist) - hand.wrist))
            wrist = v;
    std::vector<Digit> digits;
    for (std::size_t k = 0; k < tree.tips().size(); ++k) {
        const std::uint32_t tip = tree.tips()[k];
        if (digits.size() == kNames.size()) break;
        if (digits.size() < kFewest && tree.prominences()[k] * volume.voxel < kLeastOfThree * size) break;
        const Point3 at = volume.position(tip);
        if (dot(at - hand.wrist, along) < 0.1 * size) continue;  // the cut behind the wrist
        const std::vector<std::uint32_t> voxels = tree.path(tip, wrist);
        Digit digit{.path = make_path(volume, voxels), .tip = at};
        digit.web = length_to_palm(volume, voxels, digit.path);
        digit.base = digit.path.at(digit.web);
        digit.direction = unit(digit.path.at(0.1 * digit.web) - digit.base);
        // Shorter ones are bumps of the palm, and what has no palm behind it is a whole hand.
        if (digit.path.whole() > 0.65 * size && digit.web > 0.1 * size && digit.web < 0.75 * digit.path.whole())
            digits.push_back(std::move(digit));
    }
    if (digits.size() < kFewest) return {};

    const Point3 normal = normal_of(digits, along), across = cross(normal, along);
    for (Digit& digit : digits) {
        const Point3 from = digit.tip - hand.wrist;
        digit.angle = std::atan2(dot(from, across), dot(from, along));
    }
    std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.angle < b.angle; });
    const double first = thumb_score(digits, 0, hand, along),
                 last = thumb_score(digits, digits.size() - 1, hand, along);
    if (first < last) std::reverse(digits.begin(), digits.end());
    // 1.3 to 2.1 for the thumbs of people and figures, 0.7 and less for the index fingers of hands without one.
    constexpr double kThumb = 1;
    const bool no_thumb = digits.size() < kNames.size() && std::max(first, last) < kThumb;
    std::vector<Finger> fingers;
    for (std::size_t k = 0; k < digits.size(); ++k)
        fingers.push_back(place_joints(digits[k], kNames[no_thumb ? k + 1 : k], hand));
    return fingers;
}

}  // namespace sinew
