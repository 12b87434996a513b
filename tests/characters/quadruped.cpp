#include <cmath>

#include "characters.h"
#include "implicit.h"
#include "rig.h"

namespace sinew::test {

Character build_quadruped(double cell, const std::string& stored_as) {
    Character c;
    c.name = "quadruped";
    Rig rig(c.skeleton);
    rig.add("root", "", {0, 0, 0});
    const auto hips = rig.add("hips", "root", {0, 0.60, -0.30});
    const auto spine = rig.add("spine", "hips", {0, 0.615, -0.10});
    const auto chest = rig.add("chest", "spine", {0, 0.60, 0.12});
    const auto neck = rig.add("neck", "chest", {0, 0.66, 0.29});
    const auto head = rig.add("head", "neck", {0, 0.83, 0.43});
    const auto jaw = rig.add("jaw", "head", {0, 0.800, 0.47});

    Limb body(0.09, 0, 0.03);
    body.ellipsoid(hips, {0, 0.575, -0.27}, {0.098, 0.11, 0.15});
    body.ellipsoid(spine, {0, 0.57, -0.08}, {0.105, 0.11, 0.19});
    body.ellipsoid(chest, {0, 0.545, 0.14}, {0.115, 0.145, 0.19});

    Limb throat(0.03, 0.08);
    throat.cone(neck, {0, 0.62, 0.24}, 0.090, {0, 0.815, 0.405}, 0.066);
    Limb skull(0.035, 0.05, 0.01);
    skull.ellipsoid(head, {0, 0.845, 0.45}, {0.070, 0.068, 0.085});
    skull.cone(head, {0, 0.838, 0.50}, 0.040, {0, 0.815, 0.620}, 0.027);
    skull.cone(jaw, {0, 0.800, 0.49}, 0.028, {0, 0.790, 0.598}, 0.018);
    Limb nose(0, 0.008);
    nose.ellipsoid(head, {0, 0.827, 0.643}, {0.016, 0.011, 0.010});
    skull.grow(std::move(nose));
    for (const double s : {1.0, -1.0}) {
        const std::string suffix = s > 0 ? "_L" : "_R";
        const P3 root{s * 0.045, 0.895, 0.430}, tip{s * 0.078, 0.985, 0.418};
        const auto part = rig.add("ear" + suffix, "head", root);
        const P3 up = unit(tip - root), side = unit(cross(up, {0, 0, 1}));
        Limb ear(0, 0.02);
        ear.ellipsoid(part, root + 0.40 * (tip - root), {0.033, 0.060, 0.013}, {side, up, cross(side, up)});
        skull.grow(std::move(ear));
    }
    throat.grow(std::move(skull));
    body.grow(std::move(throat));

    Limb tail(0.015, 0.05);
    const P3 bend[5] = {
        {0, 0.635, -0.400}, {0, 0.645, -0.490}, {0, 0.615, -0.580}, {0, 0.565, -0.650}, {0, 0.525, -0.725}};
    std::string parent = "hips";
    for (int k = 0; k < 4; ++k) {
        const std::string name = "tail_0" + std::to_string(k + 1);
        const auto part = rig.add(name, parent, bend[k]);
        tail.cone(part, bend[k], 0.030 - 0.005 * k, bend[k + 1], 0.025 - 0.005 * k);
        parent = name;
    }
    body.grow(std::move(tail));

    for (const double s : {1.0, -1.0}) {
        const std::string suffix = s > 0 ? "_L" : "_R";
        const auto at = [&](double x, double y, double z) { return P3{s * x, y, z}; };
        {
            const P3 shoulder = at(0.088, 0.52, 0.20), elbow = at(0.100, 0.365, 0.135),
                     wrist = at(0.100, 0.135, 0.160);
            const P3 toe = at(0.100, 0.035, 0.180);
            const auto blade = rig.add("shoulder" + suffix, "chest", at(0.055, 0.645, 0.14));
            const auto upper = rig.add("front_upper_leg" + suffix, "shoulder" + suffix, shoulder);
            const auto lower = rig.add("front_lower_leg" + suffix, "front_upper_leg" + suffix, elbow);
            const auto foot = rig.add("front_foot" + suffix, "front_lower_leg" + suffix, wrist);
            Limb leg(0.04, 0.06);
            leg.ellipsoid(blade, at(0.085, 0.585, 0.16), {0.040, 0.095, 0.070});
            leg.cone(upper, shoulder, 0.058, elbow, 0.044);
            leg.cone(lower, elbow, 0.042, wrist, 0.027);
            leg.cone(foot, wrist, 0.027, at(0.100, 0.05, 0.168), 0.028);
            leg.ellipsoid(foot, toe + P3{0, -0.003, 0.012}, {0.038, 0.033, 0.056});
            body.grow(std::move(leg));
        }
        {
            const P3 hip = at(0.072, 0.565, -0.31), knee = at(0.098, 0.375, -0.225),
                     hock = at(0.098, 0.185, -0.375);
            const P3 toe = at(0.100, 0.035, -0.305);
            const auto upper = rig.add("rear_upper_leg" + suffix, "hips", hip);
            const auto lower = rig.add("rear_lower_leg" + suffix, "rear_upper_leg" + suffix, knee);
            const auto foot = rig.add("rear_foot" + suffix, "rear_lower_leg" + suffix, hock);
            Limb leg(0.04, 0.06);
            leg.cone(upper, hip, 0.082, knee, 0.052);
            leg.ellipsoid(upper, at(0.085, 0.48, -0.30), {0.056, 0.115, 0.095});
            leg.cone(lower, knee, 0.048, hock, 0.028);
            leg.cone(foot, hock, 0.027, at(0.100, 0.05, -0.335), 0.027);
            leg.ellipsoid(foot, toe + P3{0, -0.003, 0.005}, {0.038, 0.033, 0.058});
            body.grow(std::move(leg));
        }
    }
    body.finish();

    const auto field = [&](P3 p) { return -smooth_min(-body.distance(p), p.y, 0.012); };
    const auto cell_size = [&](P3 p) {
        double size = cell;
        for (const P3 ear : {P3{0.06, 0.94, 0.425}, P3{-0.06, 0.94, 0.425}, P3{0, 0.82, 0.63}})
            size = std::min(size, cell / 2 + 0.25 * std::max(0.0, length(p - ear) - 0.09));
        return size;
    };
    const ImplicitMesh mesh = mesh_of(field, cell_size, {0, 0.55, 0}, 1.5, cell / 2, stored_as);
    for (const P3& p : mesh.positions) {
        c.positions.push_back(to_vec3(p));
        c.body_part.push_back(body.part(p));
    }
    c.triangles = mesh.triangles;
    return c;
}

}  // namespace sinew::test
