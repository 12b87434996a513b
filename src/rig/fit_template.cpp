#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/geometry.h"
#include "core/parallel.h"
#include "core/try.h"
#include "core/vectors.h"
#include "rig/fingers.h"
#include "rig/limb_path.h"
#include "rig/match_tips.h"
#include "rig/templates.h"
#include "rig/volume_tree.h"
#include "sinew/domain.h"
#include "sinew/rig.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

constexpr double kLong = 0.5;        // of the longest limb
constexpr double kSymmetric = 0.75;  // share of the volume, from which a mesh counts as symmetric

/// Places the joints of one template into one volume.
class Fitter {
public:
    Fitter(const Template& model, const MeshView& mesh, const BodyVolume& volume, const VolumeTree& tree,
           Context* context)
        : model_(model), mesh_(mesh), volume_(volume), tree_(tree), context_(context) {
        for (std::size_t k = 0; k < 3; ++k) {
            half_[k] = 0.5 * volume.voxel * volume.size[k];
            middle_[k] = volume.origin[k] + 0.5 * volume.voxel * (volume.size[k] - 1);
        }
    }

    Result<Rig> fit() {
        find_tips();
        place_trunk();
        for (const TemplateLimb& limb : model_.limbs) SINEW_TRY(place_limb(limb));
        make_symmetric();
        if (model_.fingers) SINEW_TRY(place_fingers());
        for (const std::string& tip : lost_)
            rig_.notes.push_back("no tip was found for " + tip + ": its joints lie on a line, move them");
        judge();
        return std::move(rig_);
    }

private:
    void find_tips() {
        std::vector<FoundTip> tips;
        for (const std::uint32_t tip : tree_.tips()) {
            const Point3 p = volume_.position(tip) - middle_;
            tips.push_back(
                {tip, {p[0] / half_[0], p[1] / half_[1], p[2] / half_[2]}, tree_.thickness_at(volume_, tip)});
        }
        match_ = match_tips(model_, tips);
        if (model_.stands && (match_.turn.axis[1] != 1 || match_.turn.sign[1] < 0))
            rig_.notes.push_back("the mesh does not stand upright (y up): the template was turned to fit");
    }

    const TemplateTip& tip_called(std::string_view name) const {
        return *std::find_if(model_.tips.begin(), model_.tips.end(),
                             [&](const TemplateTip& t) { return t.name == name; });
    }

    /// The voxels of the tips with these names, of both sides.
    std::vector<std::uint32_t> voxels_of(const std::vector<std::string_view>& names) const {
        std::vector<std::uint32_t> out;
        for (const std::string_view name : names)
            for (const char* side : {"", ".L", ".R"})
                if (const auto at = match_.tips.find(std::string(name) + side); at != match_.tips.end())
                    out.push_back(at->second);
        return out;
    }

    /// Where the paths from these tips meet: of two with the root.
    std::uint32_t meeting_of(const std::vector<std::uint32_t>& tips) const {
        if (tips.empty()) return tree_.root();
        if (tips.size() == 1) return tips[0];
        return tree_.meeting(tips[0], tips[1], tips.size() > 2 ? tips[2] : tree_.root());
    }

    Point3 expected(const TemplateTip& tip, double side) const {
        const Point3 p = match_.turn.to_scene({side * tip.place[0], tip.place[1], tip.place[2]});
        return {middle_[0] + half_[0] * p[0], middle_[1] + half_[1] * p[1], middle_[2] + half_[2] * p[2]};
    }

    void add_joint(const std::string& name, const std::string& parent, const Point3& at) {
        Joint joint;
        joint.name = name;
        joint.parent = parent.empty() ? -1 : number_.at(parent);
        joint.position = to_vec3(at);
        number_[name] = static_cast<int>(rig_.skeleton.joints.size());
        rig_.skeleton.joints.push_back(std::move(joint));
    }
    void set_tail(const std::string& name, const Point3& at) {
        rig_.skeleton.joints[static_cast<std::size_t>(number_.at(name))].tail = to_vec3(at);
    }
    const Joint& joint_called(const std::string& name) const {
        return rig_.skeleton.joints[static_cast<std::size_t>(number_.at(name))];
    }
    Point3 place_of(const std::string& name) const { return to_point(joint_called(name).position); }

    void place_trunk() {
        const TemplateTrunk& trunk = model_.trunk;
        trunk_from_ = meeting_of(voxels_of(trunk.from));
        trunk_to_ = meeting_of(voxels_of(trunk.to));
        LimbPath path = make_path(volume_, tree_.path(trunk_from_, trunk_to_));
        double middle = path.whole();
        if (!trunk.middle.empty()) {
            // The mean of where they leave the trunk.
            double sum = 0;
            const std::vector<std::uint32_t> leaving = voxels_of(trunk.middle);
            for (const std::uint32_t tip : leaving) {
                const std::uint32_t at = tree_.meeting(tip, trunk_from_, trunk_to_);
                sum += path.length[tree_.path(trunk_from_, at).size() - 1];
            }
            middle = leaving.empty() ? 0.6 * path.whole() : sum / static_cast<double>(leaving.size());
        }
        if (!trunk.middle.empty() && trunk.from.size() > 1) mend_trunk(path, middle);
        trunk_end_ = part_of(path, middle);
        place_along(trunk.lower, "", "", path, 0, middle);
        if (trunk.upper.empty()) return;
        const double neck = trunk.neck > 0 ? find_neck(path, middle, trunk.neck) : 0;
        std::vector<TemplateJoint> upper = trunk.upper;
        for (TemplateJoint& joint : upper)
            if (neck > 0)
                joint.at = joint.at < trunk.neck ? joint.at * neck / trunk.neck
                                                 : 1 - (1 - joint.at) * (1 - neck) / (1 - trunk.neck);
        place_along(upper, std::string(trunk.lower.back().name), "", path, middle, path.whole());
        set_tail(std::string(upper.back().name), path.points.back());
    }

    /// The trunk begins where the legs meet. Below a robe or a skirt that is at the ground, and where legs go
    /// through an open body it is at the arms. Then the trunk begins at a usual fraction of the way from the feet
    /// instead.
    void mend_trunk(LimbPath& path, double& middle) {
        constexpr double kShare = 0.15, kUsual = 0.45;
        std::vector<LimbPath> legs;
        for (const std::uint32_t tip : voxels_of({model_.trunk.from[0]}))
            legs.push_back(make_path(volume_, tree_.path(trunk_from_, tip)));
        if (legs.empty()) return;
        double leg = 0;
        for (const LimbPath& each : legs) leg += each.whole() / static_cast<double>(legs.size());
        if (middle < kShare * leg) {
            leg_begins_ = kUsual * leg;
            Point3 begin{};
            for (const LimbPath& each : legs)
                begin = begin + (1.0 / static_cast<double>(legs.size())) * each.at(leg_begins_);
            path.points.insert(path.points.begin(), begin);
            path.depth.insert(path.depth.begin(), path.depth[0]);
            path.measure();
            middle += path.length[1];
            rig_.notes.push_back("the legs are not apart from the trunk below the arms: the hips lie between them");
        } else if (leg < kShare * path.whole()) {
            const double begin = std::min(kUsual * (leg + path.whole()) - leg, 0.8 * middle);
            const auto drop = std::lower_bound(path.length.begin(), path.length.end(), begin) - path.length.begin();
            path.points.erase(path.points.begin(), path.points.begin() + drop);
            path.depth.erase(path.depth.begin(), path.depth.begin() + drop);
            middle -= path.length[static_cast<std::size_t>(drop)];
            path.measure();
            legs_hidden_ = true;
            rig_.notes.push_back(
                "the legs are hidden: their joints lie on a line from the hips to the feet, move them");
        }
    }

    /// The thinnest place above the middle, as a fraction; `otherwise` where the trunk gets no thinner.
    static double find_neck(const LimbPath& path, double middle, double otherwise) {
        const double whole = path.whole() - middle;
        double thinnest = INFINITY, at = otherwise, above = 0;
        for (std::size_t k = 0; k < path.points.size(); ++k) {
            const double t = (path.length[k] - middle) / whole;
            if (t < 0.08 || t > 0.7) continue;
            if (path.depth[k] < thinnest) thinnest = path.depth[k], at = t, above = 0;
            above = std::max(above, path.depth[k]);
        }
        return above > 1.1 * thinnest ? at : otherwise;
    }

    void place_along(const std::vector<TemplateJoint>& joints, const std::string& attached, const std::string& side,
                     const LimbPath& path, double from, double to) {
        std::string before = attached;
        for (const TemplateJoint& joint : joints) {
            const std::string name = std::string(joint.name) + side;
            add_joint(name, joint.parent.empty() ? before : std::string(joint.parent) + side,
                      path.at(from + joint.at * (to - from)));
            before = name;
        }
    }

    Status place_limb(const TemplateLimb& limb) {
        const TemplateTip& tip = tip_called(limb.tip);
        if (!tip.paired) return place_limb(limb, tip, "", 0);
        SINEW_TRY(place_limb(limb, tip, ".L", 1));
        return place_limb(limb, tip, ".R", -1);
    }

    Status place_limb(const TemplateLimb& limb, const TemplateTip& tip, const std::string& side, double sign) {
        const auto found = match_.tips.find(std::string(limb.tip) + side);
        const std::string attached(limb.attached_to);
        if (found == match_.tips.end()) {
            if (tip.optional) return Done{};
            lost_.push_back(std::string(limb.tip) + side);
        }
        const bool is_leg = model_.trunk.from.size() > 1 && limb.tip == model_.trunk.from[0];
        LimbPath path;
        if (found != match_.tips.end() && is_leg && legs_hidden_) {
            const Point3 hips = place_of(attached), end = volume_.position(found->second);
            path = {{hips + 0.1 * (end - hips), end}, {0, 0.9 * norm(end - hips)}, {0, 0}};
        } else if (found != match_.tips.end() && found->second == trunk_to_) {
            path = trunk_end_;
        } else if (found != match_.tips.end()) {
            const std::uint32_t leaves = tree_.meeting(found->second, trunk_from_, trunk_to_);
            path = make_path(volume_, tree_.path(leaves, found->second));
            path = is_leg && leg_begins_ > 0 ? part_of(path, leg_begins_) : limb_of(path, limb.inset);
        } else {
            const Point3 begin = place_of(attached), end = expected(tip, sign);
            path = {{begin + 0.2 * (end - begin), end}, {0, 0.8 * norm(end - begin)}, {0, 0}};
        }
        std::string before = attached;
        if (!limb.inner.empty()) {
            const std::string name = std::string(limb.inner) + side;
            add_joint(name, attached, place_of(attached) + 0.3 * (path.points[0] - place_of(attached)));
            before = name;
        }
        std::vector<TemplateJoint> joints = limb.joints;
        if (found != match_.tips.end() && limb.wrist > 0) SINEW_TRY(move_to_wrist(joints, path, limb.wrist));
        place_along(joints, before, side, path, 0, path.whole());
        set_tail(std::string(limb.joints.back().name) + side, path.points.back());
        if (found == match_.tips.end()) return Done{};
        limb_length_[std::string(limb.tip) + side] = path.whole();
        if (limb.thickest > 0) compare_thickness(std::string(limb.tip) + side, path, limb.thickest);
        return Done{};
    }

    /// Without its ends: a path begins in the trunk.
    void compare_thickness(const std::string& limb, const LimbPath& path, double thickest) {
        double sum = 0, count = 0;
        for (std::size_t k = 0; k < path.depth.size(); ++k)
            if (path.length[k] > 0.3 * path.whole() && path.length[k] < 0.9 * path.whole())
                sum += path.depth[k], ++count;
        const double share = count > 0 ? sum / count / path.whole() : 0;
        if (share <= thickest) return;
        thick_ = std::min(thick_, thickest / share);
        rig_.notes.push_back("what was found as " + limb + " is as thick as the corner of a body");
    }

    /// Stretches the fractions of the joints so that `usual` is at the wrist of the arm, if that is found.
    Status move_to_wrist(std::vector<TemplateJoint>& joints, const LimbPath& path, double usual) {
        const HandPlace hand{path.at(usual * path.whole()), path.points.back(), front()};
        if (!arms_) {  // the other arm has the same voxels
            SINEW_TRY_LET(arms_, voxelized(norm(hand.tip - hand.wrist), 24));
        }
        const std::optional<Point3> wrist = find_wrist(*arms_, hand, path.at(0.6 * usual * path.whole()));
        if (!wrist) return Done{};
        std::size_t nearest = 0;
        for (std::size_t k = 0; k < path.points.size(); ++k)
            if (norm(path.points[k] - *wrist) < norm(path.points[nearest] - *wrist)) nearest = k;
        const double at = path.length[nearest] / path.whole();
        for (TemplateJoint& joint : joints)
            joint.at = joint.at <= usual ? joint.at * at / usual : 1 - (1 - joint.at) * (1 - at) / (1 - usual);
        return Done{};
    }

    /// Whether the character can be had in voxels of this resolution in some seconds, and within the limit of
    /// memory. Voxels of a surface grow with the square.
    bool can_voxelize(int resolution) const {
        constexpr double most = 1.6e7;
        const double finer = static_cast<double>(resolution) / volume_.resolution;
        if (static_cast<double>(volume_.costly) * finer * finer > most) return false;
        const double bytes = 0.7 * std::pow(resolution, 3) + 250.0 * static_cast<double>(mesh_.triangles.size());
        return !context_ || !context_->memory_limit || bytes <= static_cast<double>(context_->memory_limit);
    }

    /// The character in voxels of which at least `voxels` are along this length, as far as can_voxelize allows.
    Result<VoxelGrid> voxelized(double length, double voxels) const {
        const double side = 2 * std::max({half_[0], half_[1], half_[2]});
        VoxelizeOptions options;
        options.resolution = 128;
        while (options.resolution < 1024 && length < voxels * side / options.resolution &&
               can_voxelize(2 * options.resolution))
            options.resolution *= 2;
        return voxelize(mesh_, analyse_mesh(mesh_, context_), options, context_);
    }

    Point3 front() const { return match_.turn.to_scene({0, 0, 1}); }

    /// Moves pairs of joints to mirrored places, and others into the middle.
    void make_symmetric() {
        const auto across = static_cast<std::size_t>(match_.turn.axis[0]);
        rig_.symmetry = mirror_share(volume_, static_cast<int>(across));
        const bool has_pairs =
            std::any_of(model_.tips.begin(), model_.tips.end(), [](const TemplateTip& t) { return t.paired; });
        if (!has_pairs || rig_.symmetry < kSymmetric) return;
        const auto middle = static_cast<float>(middle_[across]);
        float Vec3::*const axis = across == 0 ? &Vec3::x : across == 1 ? &Vec3::y : &Vec3::z;
        const auto mirror = [&](Vec3 p) {
            p.*axis = 2 * middle - p.*axis;
            return p;
        };
        const auto mean = [](const Vec3& a, const Vec3& b) {
            return Vec3{(a.x + b.x) / 2, (a.y + b.y) / 2, (a.z + b.z) / 2};
        };
        const auto mirror_joint = [&](const Joint& from, Joint& to) {
            to.position = mirror(from.position);
            if (from.tail) to.tail = mirror(*from.tail);
        };
        // A limb that was found on one side only gives the place of both.
        std::set<std::string> found_joints;
        for (const TemplateLimb& limb : model_.limbs) {
            const std::string tip(limb.tip);
            const bool left = match_.tips.contains(tip + ".L"), right = match_.tips.contains(tip + ".R");
            if (left == right) continue;
            const std::string found = left ? ".L" : ".R", other = left ? ".R" : ".L";
            std::erase(lost_, tip + other);
            rig_.notes.push_back("no tip was found for " + tip + other +
                                 ": its joints mirror those of the other side");
            if (!limb.inner.empty()) found_joints.insert(std::string(limb.inner) + found);
            for (const TemplateJoint& joint : limb.joints) found_joints.insert(std::string(joint.name) + found);
        }
        for (Joint& joint : rig_.skeleton.joints) {
            if (joint.name.ends_with(".R")) continue;
            if (!joint.name.ends_with(".L")) {
                joint.position.*axis = middle;
                if (joint.tail) (*joint.tail).*axis = middle;
                continue;
            }
            Joint& other = rig_.skeleton.joints[static_cast<std::size_t>(
                number_.at(joint.name.substr(0, joint.name.size() - 1) + "R"))];
            if (found_joints.contains(joint.name)) mirror_joint(joint, other);
            if (found_joints.contains(other.name)) mirror_joint(other, joint);
            joint.position = mean(joint.position, mirror(other.position));
            other.position = mirror(joint.position);
            if (joint.tail && other.tail) {
                joint.tail = mean(*joint.tail, mirror(*other.tail));
                other.tail = mirror(*joint.tail);
            }
        }
    }

    Status place_fingers() {
        const std::array<std::string, 2> hands{"hand.L", "hand.R"};
        std::array<std::vector<Finger>, 2> fingers;
        SINEW_TRY(find_both_hands(hands, fingers));
        if (rig_.symmetry >= kSymmetric) mirror_better_hand(fingers);
        for (std::size_t k = 0; k < 2; ++k) {
            rig_.limbs_expected += 5;
            rig_.limbs_found += fingers[k].size();
            if (fingers[k].empty())
                rig_.notes.push_back("no fingers were found in " + hands[k] +
                                     ": it has none, or they are not apart");
            else if (fingers[k].size() < 5)
                rig_.notes.push_back(std::to_string(fingers[k].size()) + " fingers were found in " + hands[k]);
            for (const Finger& finger : fingers[k]) add_finger(finger, hands[k]);
        }
        return Done{};
    }

    Status find_both_hands(const std::array<std::string, 2>& names, std::array<std::vector<Finger>, 2>& fingers) {
        std::array<std::optional<HandPlace>, 2> hands;
        double smallest = INFINITY;
        for (std::size_t k = 0; k < 2; ++k) {
            const Joint& joint = joint_called(names[k]);
            if (!match_.tips.contains(names[k]) || !joint.tail) continue;
            hands[k] = {to_point(joint.position), to_point(*joint.tail), front()};
            smallest = std::min(smallest, norm(hands[k]->tip - hands[k]->wrist));
        }
        if (smallest == INFINITY) return Done{};
        report_progress(context_, "fingers", 0);
        const Result<VoxelGrid> grid = voxelized(smallest, 48);  // fingers are about a ninth as thick
        if (!grid) return grid.error();
        for (std::size_t k = 0; k < 2; ++k)
            if (hands[k]) fingers[k] = find_fingers(*grid, *hands[k], context_);
        if (cancelled(context_)) return Error{ErrorCode::cancelled, "cancelled while looking for fingers"};
        return Done{};
    }

    /// Both hands get the fingers of the one where more were found.
    void mirror_better_hand(std::array<std::vector<Finger>, 2>& fingers) const {
        const std::size_t more = fingers[1].size() > fingers[0].size();
        const auto across = static_cast<std::size_t>(match_.turn.axis[0]);
        const auto mirror = [&](Point3& p) { p[across] = 2 * middle_[across] - p[across]; };
        fingers[1 - more] = fingers[more];
        for (Finger& finger : fingers[1 - more]) {
            for (Point3& joint : finger.joints) mirror(joint);
            mirror(finger.tip);
        }
    }

    void add_finger(const Finger& finger, const std::string& hand) {
        std::string before = hand, name;
        for (std::size_t j = 0; j < finger.joints.size(); ++j) {
            name = std::string(finger.name) + "." + std::to_string(j + 1) + hand.substr(hand.size() - 2);
            add_joint(name, before, finger.joints[j]);
            before = name;
        }
        set_tail(name, finger.tip);
        if (finger.name == "middle") set_tail(hand, finger.joints[0]);
    }

    void judge() {
        std::size_t tips_expected = 0;
        for (const TemplateTip& tip : model_.tips) {
            if (tip.optional) continue;
            tips_expected += tip.paired ? 2 : 1;
            const bool is_limb = std::any_of(model_.limbs.begin(), model_.limbs.end(),
                                             [&](const TemplateLimb& l) { return l.tip == tip.name; });
            if (!is_limb && !match_.tips.contains(std::string(tip.name)))
                rig_.notes.push_back("no tip was found for " + std::string(tip.name) +
                                     ": the trunk ends in the middle of the volume");
        }
        for (const auto& [name, voxel] : match_.tips) {
            const std::string plain =
                name.ends_with(".L") || name.ends_with(".R") ? name.substr(0, name.size() - 2) : name;
            rig_.limbs_found += !tip_called(plain).optional;
        }
        rig_.limbs_expected += tips_expected;
        // Of a pair, the shorter against the longer one.
        double even = 1;
        for (const auto& [name, length] : limb_length_)
            if (name.ends_with(".L"))
                if (const auto other = limb_length_.find(name.substr(0, name.size() - 1) + "R");
                    other != limb_length_.end())
                    even =
                        std::min(even, std::min(length, other->second) / std::max({length, other->second, 1e-30}));
        // Long limbs that the template has no use for: it is not the right one.
        double longest = 0, idle = 0;
        const auto is_used = [&](std::uint32_t tip) {
            return std::any_of(match_.tips.begin(), match_.tips.end(),
                               [&](const auto& t) { return t.second == tip; });
        };
        for (std::size_t k = 0; k < tree_.tips().size(); ++k)
            if (is_used(tree_.tips()[k])) longest = std::max(longest, tree_.prominences()[k]);
        for (std::size_t k = 0; k < tree_.tips().size(); ++k)
            idle += !is_used(tree_.tips()[k]) && tree_.prominences()[k] > kLong * longest;
        if (idle > 0)
            rig_.notes.push_back(std::to_string(static_cast<int>(idle)) +
                                 (idle > 1 ? " long limbs have" : " long limb has") + " no place in the template");
        const auto used = static_cast<double>(match_.tips.size());
        const double fitting = used > 0 ? used / (used + idle) : 0;
        const auto expected = static_cast<double>(rig_.limbs_expected);
        const double alike = std::clamp(1 - match_.cost / static_cast<double>(tips_expected) / kMissing, 0.0, 1.0);
        rig_.confidence = static_cast<double>(rig_.limbs_found) / expected * std::sqrt(alike) * std::sqrt(even) *
                          thick_ * thick_ * fitting * volume_.largest_part;
        if (volume_.largest_part < 0.9)
            rig_.notes.push_back(std::to_string(static_cast<int>(100 * (1 - volume_.largest_part))) +
                                 " % of the volume is not connected with the body and was left out");
    }

    const Template& model_;
    const MeshView& mesh_;
    const BodyVolume& volume_;
    const VolumeTree& tree_;
    Context* context_;
    Point3 half_{}, middle_{};
    Match match_;
    std::uint32_t trunk_from_ = 0, trunk_to_ = 0;
    LimbPath trunk_end_;                 // above its middle
    double leg_begins_ = 0;              // on its path, where the trunk's beginning was moved down
    bool legs_hidden_ = false;           // the trunk's beginning was moved up
    double thick_ = 1;                   // the least share of the allowed thickness, of limbs that exceed it
    std::optional<VoxelGrid> arms_;      // smaller voxels, for wrists
    std::map<std::string, int> number_;  // of joints
    std::vector<std::string> lost_;      // "hand.L": tips that were not found, of limbs
    std::map<std::string, double> limb_length_;  // by "foot.L"; of those that were found
    Rig rig_;
};

const Template* find_template(std::string_view name) {
    for (const Template& model : templates())
        if (model.name == name) return &model;
    return nullptr;
}

}  // namespace

std::span<const RigTemplate> rig_templates() {
    static const std::vector<RigTemplate> all = [] {
        std::vector<RigTemplate> out;
        for (const Template& model : templates()) out.push_back({model.name, model.summary});
        return out;
    }();
    return all;
}

Status check(const RigOptions& options) {
    std::vector<std::string> known;
    for (const Template& model : templates()) known.emplace_back(model.name);
    if (!find_template(options.model)) {
        std::string all;
        for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
        const std::string near = did_you_mean(options.model, known);
        return Error{ErrorCode::usage, "there is no template '" + printable(options.model) + "'" +
                                           (near.empty() ? " (templates: " + all + ")" : near)};
    }
    const int r = options.resolution;
    if (r < 32 || r > 256 || (r & (r - 1)) != 0)
        return Error{ErrorCode::usage, "`resolution " + std::to_string(r) + "`: it must be 32, 64, 128 or 256"};
    return Done{};
}

namespace {

/// Lists and queues of the volume and its tree, for each voxel of the box, and what voxelize needs beside.
Status check_memory(const MeshView& mesh, int resolution, const Context* context) {
    if (!context || context->memory_limit == 0) return Done{};
    constexpr double of_each = 48, margins = 8;
    const Box3 box = box_of(mesh);
    double voxels = 1;
    for (const double side : box.sides()) voxels *= side / box.longest() * resolution + margins;
    const double need = of_each * voxels + 100.0 * static_cast<double>(mesh.triangles.size()) + 4e6;
    if (need <= static_cast<double>(context->memory_limit)) return Done{};
    return Error{ErrorCode::too_large, "`resolution " + std::to_string(resolution) + "` may need " +
                                           std::to_string(static_cast<std::size_t>(need) >> 20) +
                                           " MB, more than the limit of " +
                                           std::to_string(context->memory_limit >> 20) + " MB" +
                                           (resolution > 32 ? "; a lower one needs less" : "")};
}

}  // namespace

Result<Rig> fit_template(const MeshView& mesh, const RigOptions& options, Context* context) {
    SINEW_TRY(check(options));
    SINEW_TRY(check_mesh(mesh));
    SINEW_TRY(check_memory(mesh, options.resolution, context));
    report_progress(context, "volume", 0);
    SINEW_TRY_LET(BodyVolume volume, make_body_volume(mesh, options.resolution, context));
    report_progress(context, "limbs", 0);
    const VolumeTree tree(volume, 0, context);
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while looking for limbs"};
    return Fitter(*find_template(options.model), mesh, volume, tree, context).fit();
}

}  // namespace sinew
