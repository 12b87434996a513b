#include <cmath>

#include "characters.h"
#include "implicit.h"
#include "rig.h"

namespace sinew::test {

namespace {

constexpr double degree = 3.14159265358979323846 / 180;

/// One arm with its hand. side: +1 left, -1 right; everything is built for the left and mirrored.
class Arm {
public:
    Arm(Rig& rig, const std::string& suffix, double side, double down) : rig_(rig), suffix_(suffix), side_(side) {
        const P3 shoulder{0.172, 1.418, -0.012};
        const P3 along = turned({1, 0, 0}, {0, 0, 1}, -down * degree);
        // Forearms point slightly forward.
        const P3 up = turned({0, 1, 0}, {0, 0, 1}, -down * degree);
        const P3 fore = turned(along, up, -9 * degree);
        elbow_ = shoulder + 0.285 * along;
        wrist_ = elbow_ + 0.25 * fore;

        const auto clavicle = joint("shoulder", "chest", {0.03, 1.425, 0.01});
        const auto upper = joint("upper_arm", "shoulder", shoulder);
        const auto lower = joint("lower_arm", "upper_arm", elbow_);
        const auto hand = joint("hand", "lower_arm", wrist_);
        fore_ = fore;

        Limb arm(0.035, 0.075);
        cone(arm, clavicle, {0.09, 1.412, -0.012}, 0.052, shoulder - 0.01 * along, 0.055);
        ellipsoid(arm, upper, shoulder + 0.035 * along, {0.082, 0.057, 0.058}, {along, up, cross(along, up)});
        cone(arm, upper, shoulder + 0.05 * along, 0.046, elbow_ - 0.01 * along, 0.039);
        ellipsoid(arm, upper, shoulder + 0.15 * along + P3{0, 0, 0.010}, {0.085, 0.040, 0.040},
                  {along, up, cross(along, up)});
        cone(arm, lower, elbow_, 0.039, wrist_ - 0.01 * fore, 0.0235);
        ellipsoid(arm, lower, elbow_ + 0.075 * fore + P3{0, 0, 0.004}, {0.085, 0.040, 0.043},
                  {fore, up, cross(fore, up)});

        grow_hand(arm, hand, up);
        limb = std::move(arm);
    }

    Limb limb;
    P3 palm() const { return mirror(palm_); }

private:
    /// The palm looks down, the thumb forward.
    void grow_hand(Limb& arm, std::uint32_t hand, P3 up) {
        const P3 along = fore_;
        // Towards the thumb; the hand is turned so that the palm faces down and a little inward.
        const P3 wide = unit(cross(along, up) + 0.15 * up) - 2.0 * P3{};
        const P3 thumbward = dot(wide, {0, 0, 1}) > 0 ? wide : -1.0 * wide;
        const P3 back = unit(cross(thumbward, along));  // out of the back of the hand
        const double sign = dot(back, up) > 0 ? 1 : -1;
        const P3 dorsal = sign * back;
        const Frame axes{along, thumbward, dorsal};
        palm_ = wrist_ + 0.05 * along;

        Limb palm(0.014, 0.028, 0.003);
        box_of(palm, hand, wrist_ + 0.052 * along, {0.046, 0.0395, 0.0125}, 0.0122, axes);
        cone(palm, hand, wrist_ + 0.002 * along, 0.022, wrist_ + 0.04 * along, 0.017);
        // The pads of the thumb and of the little finger.
        cone(palm, hand, wrist_ + 0.018 * along + 0.014 * thumbward - 0.006 * dorsal, 0.015,
             wrist_ + 0.05 * along + 0.026 * thumbward - 0.006 * dorsal, 0.012);
        cone(palm, hand, wrist_ + 0.018 * along - 0.016 * thumbward - 0.005 * dorsal, 0.013,
             wrist_ + 0.07 * along - 0.026 * thumbward - 0.003 * dorsal, 0.012);

        struct Finger {
            const char* name;
            double across, forward, spread;
            double bones[3];
            double radius;
        };
        const Finger fingers[4] = {{"index", 0.0325, 0.093, 8, {0.040, 0.025, 0.021}, 0.0089},
                                   {"middle", 0.0108, 0.097, 1, {0.044, 0.028, 0.022}, 0.0091},
                                   {"ring", -0.0108, 0.093, -6, {0.041, 0.026, 0.021}, 0.0086},
                                   {"pinky", -0.0318, 0.085, -14, {0.032, 0.020, 0.019}, 0.0077}};
        for (const Finger& f : fingers) {
            P3 at = wrist_ + f.forward * along + f.across * thumbward + 0.001 * dorsal;
            P3 direction =
                turned(along, dorsal, (dot(cross(dorsal, along), thumbward) > 0 ? 1 : -1) * f.spread * degree);
            const P3 hinge = unit(cross(direction, dorsal));
            Limb finger(0.003, 0.009);
            std::string parent = "hand";
            double radius = f.radius;
            for (int k = 0; k < 3; ++k) {
                direction = turned(direction, hinge, -(4 + 5 * k) * degree);
                const std::string name = std::string(f.name) + "_0" + std::to_string(k + 1);
                const auto part = joint(name, parent, at);
                const P3 end = at + f.bones[k] * direction;
                const double next = radius * 0.93;
                cone(finger, part, k == 0 ? at - 0.018 * along : at, radius, end - (k == 2 ? next : 0) * direction,
                     next);
                radius = next;
                at = end;
                parent = name;
            }
            palm.grow(std::move(finger));
        }

        // The thumb points forward of the palm and below it, and bends across.
        Limb thumb(0.006, 0.016);
        P3 at = wrist_ + 0.022 * along + 0.024 * thumbward - 0.007 * dorsal;
        P3 direction = unit(0.70 * along + 0.66 * thumbward - 0.30 * dorsal);
        const P3 hinge = unit(cross(direction, thumbward));
        const double lengths[3] = {0.042, 0.033, 0.029}, radii[4] = {0.0150, 0.0118, 0.0108, 0.0090};
        std::string parent = "hand";
        for (int k = 0; k < 3; ++k) {
            if (k > 0) direction = turned(direction, hinge, -9 * degree);
            const std::string name = "thumb_0" + std::to_string(k + 1);
            const auto part = joint(name, parent, at);
            const P3 end = at + lengths[k] * direction;
            cone(thumb, part, at, radii[k], end - (k == 2 ? radii[3] : 0) * direction, radii[k + 1]);
            at = end;
            parent = name;
        }
        palm.grow(std::move(thumb));
        arm.grow(std::move(palm));
    }

    P3 mirror(P3 p) const { return {side_ * p.x, p.y, p.z}; }
    Frame mirror(const Frame& f) const { return {mirror(f.x), mirror(f.y), mirror(f.z)}; }
    std::uint32_t joint(const std::string& name, const std::string& parent, P3 p) {
        const bool middle = parent == "chest";
        return rig_.add(name + suffix_, middle ? parent : parent + suffix_, mirror(p));
    }
    void cone(Limb& l, std::uint32_t part, P3 a, double ra, P3 b, double rb) const {
        l.cone(part, mirror(a), ra, mirror(b), rb);
    }
    void ellipsoid(Limb& l, std::uint32_t part, P3 c, P3 radii, const Frame& f) const {
        l.ellipsoid(part, mirror(c), radii, mirror(f));
    }
    void box_of(Limb& l, std::uint32_t part, P3 c, P3 half, double edge, const Frame& f) const {
        l.box(part, mirror(c), half, edge, mirror(f));
    }

    Rig& rig_;
    std::string suffix_;
    double side_;
    P3 elbow_, wrist_, fore_, palm_;
};

Limb make_leg(Rig& rig, const std::string& suffix, double side) {
    const auto at = [&](double x, double y, double z) { return P3{side * x, y, z}; };
    const P3 hip = at(0.092, 0.925, 0), knee = at(0.113, 0.495, 0.012), ankle = at(0.126, 0.088, -0.025);
    const P3 ball = at(0.138, 0.022, 0.105), toe = at(0.140, 0.020, 0.162);
    const auto upper = rig.add("upper_leg" + suffix, "hips", hip);
    const auto lower = rig.add("lower_leg" + suffix, "upper_leg" + suffix, knee);
    const auto foot = rig.add("foot" + suffix, "lower_leg" + suffix, ankle);
    const auto toes = rig.add("toe" + suffix, "foot" + suffix, ball);

    Limb leg(0.05, 0.06);
    leg.cone(upper, at(0.092, 0.87, 0.0), 0.083, at(0.111, 0.53, 0.012), 0.053);
    leg.ellipsoid(upper, at(0.102, 0.74, 0.018), {0.072, 0.17, 0.072});
    leg.ellipsoid(lower, at(0.113, 0.492, 0.020), {0.046, 0.06, 0.046});
    leg.cone(lower, at(0.114, 0.46, 0.006), 0.047, at(0.1255, 0.11, -0.024), 0.034);
    leg.ellipsoid(lower, at(0.118, 0.355, -0.022), {0.050, 0.115, 0.050});

    Limb shoe(0.03, 0.035);
    shoe.cone(foot, at(0.126, 0.095, -0.025), 0.034, at(0.127, 0.045, -0.042), 0.036);
    shoe.cone(foot, at(0.127, 0.060, -0.005), 0.038, at(0.136, 0.034, 0.085), 0.032);
    shoe.cone(foot, at(0.124, 0.034, -0.045), 0.033, at(0.132, 0.030, 0.06), 0.030);
    shoe.ellipsoid(toes, at(0.139, 0.024, 0.128), {0.044, 0.024, 0.062});
    shoe.ellipsoid(toes, at(0.132, 0.025, 0.150), {0.030, 0.022, 0.050});
    (void)toe;
    leg.grow(std::move(shoe));
    return leg;
}

}  // namespace

Character build_biped(const BipedOptions& options, const std::string& stored_as) {
    Character c;
    c.name = options.control_joints ? "biped_controls" : "biped";
    Rig rig(c.skeleton);
    rig.add("root", "", {0, 0, 0});
    const auto hips = rig.add("hips", "root", {0, 0.97, -0.005});
    const auto spine = rig.add("spine", "hips", {0, 1.085, 0});
    const auto chest = rig.add("chest", "spine", {0, 1.24, -0.005});
    const auto neck = rig.add("neck", "chest", {0, 1.468, -0.022});
    const auto head = rig.add("head", "neck", {0, 1.555, -0.005});

    Limb body(0.085, 0, 0.035);
    body.ellipsoid(hips, {0, 0.955, -0.008}, {0.158, 0.105, 0.104});
    body.ellipsoid(spine, {0, 1.11, 0.000}, {0.128, 0.20, 0.092});
    body.ellipsoid(chest, {0, 1.285, -0.004}, {0.150, 0.165, 0.108});
    for (const double s : {1.0, -1.0}) {
        body.ellipsoid(hips, {s * 0.072, 0.905, -0.052}, {0.080, 0.082, 0.076});  // seat
        body.ellipsoid(chest, {s * 0.068, 1.325, 0.052}, {0.085, 0.068, 0.052});  // breast
        body.ellipsoid(chest, {s * 0.080, 1.33, -0.060}, {0.075, 0.10, 0.050});   // shoulder blade
        body.cone(chest, {s * 0.02, 1.440, -0.022}, 0.050, {s * 0.125, 1.415, -0.016}, 0.046);
    }

    Limb throat(0.03, 0.055);
    throat.cone(neck, {0, 1.43, -0.026}, 0.056, {0, 1.57, -0.004}, 0.051);
    Limb skull(0.028, 0.03, 0.01);
    skull.ellipsoid(head, {0, 1.655, -0.006}, {0.074, 0.095, 0.094});
    skull.ellipsoid(head, {0, 1.612, 0.022}, {0.062, 0.080, 0.066});
    skull.ellipsoid(head, {0, 1.558, 0.048}, {0.036, 0.030, 0.036});
    Limb nose(0.006, 0.022);
    nose.cone(head, {0, 1.650, 0.082}, 0.007, {0, 1.618, 0.099}, 0.0105);
    skull.grow(std::move(nose));
    for (const double s : {1.0, -1.0}) {
        Limb ear(0.004, 0.010);
        const Frame tilt{unit({1, 0.1, -s * 0.0}), unit({0, 1, -0.15}), unit({0, 0.15, 1})};
        ear.ellipsoid(head, {s * 0.077, 1.628, -0.012}, {0.010, 0.031, 0.019}, tilt);
        skull.grow(std::move(ear));
        Limb brow(0.01, 0.03);
        brow.cone(head, {s * 0.016, 1.664, 0.073}, 0.010, {s * 0.046, 1.663, 0.060}, 0.009);
        skull.grow(std::move(brow));
    }
    throat.grow(std::move(skull));
    body.grow(std::move(throat));

    std::vector<P3> palms;
    for (const double side : {1.0, -1.0}) {
        Arm arm(rig, side > 0 ? "_L" : "_R", side, options.arms_down);
        palms.push_back(arm.palm());
        body.grow(std::move(arm.limb));
    }
    for (const double side : {1.0, -1.0}) body.grow(make_leg(rig, side > 0 ? "_L" : "_R", side));
    body.finish();

    // Soles are flat: cut off at the floor, with a rounded edge.
    const auto field = [&](P3 p) { return -smooth_min(-body.distance(p), p.y, 0.012); };
    const double cell = options.cell, slope = 0.25;
    const auto cell_size = [&](P3 p) {
        double size = cell;
        for (const P3& palm : palms)
            size = std::min(size, cell / 4 + slope * std::max(0.0, length(p - palm) - 0.14));
        size = std::min(size, cell / 2 + slope * std::max(0.0, length(p - P3{0, 1.65, 0.01}) - 0.12));
        // Where the surface bends most: the fork of the legs, the foot of the neck; nose and ears.
        for (const P3 bend : {P3{0, 0.83, 0}, P3{0, 1.47, -0.02}})
            size = std::min(size, cell / 2 + slope * std::max(0.0, length(p - bend) - 0.09));
        for (const P3 fine : {P3{0, 1.635, 0.10}, P3{0.08, 1.63, -0.012}, P3{-0.08, 1.63, -0.012}})
            size = std::min(size, cell / 4 + slope * std::max(0.0, length(p - fine) - 0.04));
        size = std::min(size, cell / 2 + slope * std::max(0.0, length(p - P3{0, 0.0, 0.05}) - 0.22));
        return size;
    };
    const ImplicitMesh mesh = mesh_of(field, cell_size, {0, 0.9, 0}, 1.9, cell / 4, stored_as);
    for (const P3& p : mesh.positions) {
        c.positions.push_back(to_vec3(p));
        c.body_part.push_back(body.part(p));
    }
    c.triangles = mesh.triangles;

    if (options.control_joints) {
        rig.add("head_end", "head", {0, 1.76, 0});
        for (const double s : {1.0, -1.0}) {
            const std::string suffix = s > 0 ? "_L" : "_R";
            rig.add("ik_foot" + suffix, "root", {s * 0.126, 0.088, -0.025});
            rig.add("pole_knee" + suffix, "root", {s * 0.113, 0.495, 0.6});
            rig.add("ik_hand" + suffix, "root", {s * 0.58, 1.07, 0.03});
            rig.add("hand_slot" + suffix, "hand" + suffix, palms[s > 0 ? 0 : 1] - P3{0, 0.03, 0});
            rig.add("toe_end" + suffix, "toe" + suffix, {s * 0.14, 0.02, 0.185});
        }
    }
    return c;
}

}  // namespace sinew::test
