#include "rig.h"
#include "shapes.h"

namespace sinew::test {

namespace {

void add(Character& c, std::uint32_t part, const Shape& shape) {
    append(c, shape.positions, shape.triangles, part);
}

}  // namespace

Character robot() {
    Character c;
    c.name = "robot";
    Rig rig(c.skeleton);
    rig.add("root", "", {0, 0, 0});
    const auto hips = rig.add("hips", "root", {0, 0.95, 0});
    const auto spine = rig.add("spine", "hips", {0, 1.05, 0});
    const auto chest = rig.add("chest", "spine", {0, 1.20, 0});
    const auto neck = rig.add("neck", "chest", {0, 1.52, 0});
    const auto head = rig.add("head", "neck", {0, 1.60, 0});

    add(c, hips, box({0, 0.95, 0}, {0.16, 0.07, 0.10}, 4));
    add(c, spine, cylinder({0, 1.03, 0}, {0, 1.17, 0}, 0.08, 20, 4));
    add(c, chest, box({0, 1.345, 0}, {0.21, 0.155, 0.13}, 6));
    add(c, chest, box({0, 1.36, -0.16}, {0.13, 0.12, 0.05}, 3));       // a back pack that overlaps the chest
    add(c, neck, cylinder({0, 1.49, 0}, {0, 1.60, 0}, 0.045, 16, 3));  // starts within the chest
    add(c, head, box({0, 1.715, 0.01}, {0.095, 0.105, 0.11}, 5));
    add(c, head, cylinder({0, 1.825, 0}, {0, 1.93, 0}, 0.008, 8, 3));  // aerial, with a gap below
    for (const double s : {1.0, -1.0}) {
        const std::string suffix = s > 0 ? "_L" : "_R";
        const auto at = [&](double x, double y, double z) { return P3{s * x, y, z}; };
        const auto upper_arm = rig.add("upper_arm" + suffix, "chest", at(0.285, 1.43, 0));
        const auto lower_arm = rig.add("lower_arm" + suffix, "upper_arm" + suffix, at(0.56, 1.43, 0));
        const auto hand = rig.add("hand" + suffix, "lower_arm" + suffix, at(0.81, 1.43, 0));
        add(c, upper_arm, sphere(at(0.285, 1.43, 0), 0.07, 2));
        add(c, upper_arm, cylinder(at(0.33, 1.43, 0), at(0.51, 1.43, 0), 0.045, 16, 5));
        add(c, lower_arm, sphere(at(0.56, 1.43, 0), 0.048, 2));
        add(c, lower_arm, box(at(0.70, 1.43, 0), {0.085, 0.045, 0.05}, 4));
        add(c, hand, box(at(0.85, 1.43, 0), {0.05, 0.02, 0.045}, 3));
        for (int finger = 0; finger < 3; ++finger) {
            const double z = 0.032 * (finger - 1);
            const std::string name = "finger_" + std::to_string(finger + 1);
            const auto one = rig.add(name + "_01" + suffix, "hand" + suffix, at(0.905, 1.43, z));
            const auto two = rig.add(name + "_02" + suffix, name + "_01" + suffix, at(0.952, 1.43, z));
            add(c, one, box(at(0.926, 1.43, z), {0.020, 0.010, 0.010}, 2));
            add(c, two, box(at(0.972, 1.43, z), {0.018, 0.009, 0.009}, 2));
        }
        const auto upper_leg = rig.add("upper_leg" + suffix, "hips", at(0.10, 0.86, 0));
        const auto lower_leg = rig.add("lower_leg" + suffix, "upper_leg" + suffix, at(0.10, 0.49, 0));
        const auto foot = rig.add("foot" + suffix, "lower_leg" + suffix, at(0.10, 0.09, 0));
        add(c, upper_leg, cylinder(at(0.10, 0.872, 0), at(0.10, 0.56, 0), 0.065, 20, 6));
        add(c, lower_leg, sphere(at(0.10, 0.49, 0), 0.06, 2));
        add(c, lower_leg, cylinder(at(0.10, 0.45, 0), at(0.10, 0.11, 0), 0.05, 20, 6));
        add(c, foot, box(at(0.10, 0.045, 0.05), {0.06, 0.045, 0.13}, 4));
    }
    return c;
}

}  // namespace sinew::test
