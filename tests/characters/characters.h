// Generated characters for tests, benchmarks and the demo. They have the same bits on every run.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "sinew/core.h"
#include "sinew/skeleton.h"

namespace sinew::test {

/// A mesh in its bind pose and the skeleton to bind it to. Metres, y up; an animal or person looks along +z and
/// its left is +x.
struct Character {
    std::string name;
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    Skeleton skeleton;
    /// The intended joint of each vertex: the right result away from joints. May be empty.
    std::vector<std::uint32_t> body_part;

    MeshView mesh() const { return {positions, triangles, {}}; }
    /// Index of a joint; throws std::out_of_range if it does not exist.
    std::uint32_t joint(const std::string& joint_name) const;
};

struct BipedOptions {
    double cell = 0.02;           ///< metres between vertices on the body; the hands have a quarter of it
    double arms_down = 40;        ///< degrees below the horizontal; 0 = T-pose
    bool control_joints = false;  ///< adds ik_*, pole_*, *_slot_* and *_end joints, which must deform nothing

    auto operator<=>(const BipedOptions&) const = default;
};

/// A person of 1.75 m, closed and smooth, with two five-fingered hands. 52 joints, some 18 000 vertices.
Character biped(const BipedOptions& options = {});

/// A dog-like animal: four legs, neck, head, ears, tail. Closed and smooth.
Character quadruped(double cell = 0.014);

/// Boxes, cylinders and spheres, one or more for each bone; closed, rigid, with gaps between most of them and
/// overlaps between some. Every vertex belongs to exactly one joint (body_part).
Character robot();

/// The biped with a cape and a skirt, which are open sheets with their own bones, and with hair cards, eyeballs and
/// buttons, which have no bones.
Character caped(double cell = 0.02);

/// The three functions above are slow, so each result is built once per process, and each body once per build
/// (`stored_as` of mesh_of). These build a new one:
Character build_biped(const BipedOptions& options = {}, const std::string& stored_as = {});
Character build_quadruped(double cell = 0.014, const std::string& stored_as = {});
Character build_caped(double cell = 0.02);

/// A character by name: the four above, or biped_controls, the biped with control joints. Its name is empty if
/// there is no such character. coarseness: cells of biped and quadruped are that many times larger.
Character make_character(const std::string& name, double coarseness = 1);
std::vector<std::string> character_names();

/// Appends b's mesh to a's. b's body_part must refer to a's joints.
void append(Character& a, const std::vector<Vec3>& positions, const std::vector<Triangle>& triangles,
            std::uint32_t body_part);

}  // namespace sinew::test
