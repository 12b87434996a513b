// The inside of the character: what surface-heat asks where the surface alone does not tell.
#pragma once

#include <optional>

#include "bind/heat_equation.h"
#include "bind/surface_heat/enclosed_joints.h"
#include "bind/surface_heat/rules.h"

namespace sinew {

class InnerVolume {
public:
    /// `distances`: those of geodesic-voxel in `domain`, per vertex. Keeps references to both.
    InnerVolume(const Domain& domain, const DistanceRows& distances, const SurfaceHeatRules& rules)
        : domain_(domain), distances_(distances), rules_(rules) {}

    /// Whether the segment from a to b lies in the volume, except for a small gap. O(steps x levels).
    bool joins(const Point3& a, const Point3& b) const;
    /// Whether a point is in the volume. O(levels).
    bool solid(const Point3& p) const { return solid_voxel(to_voxels(p)); }

    /// What the three functions below need. Keeps a reference to the parts.
    void set_parts(const Task& task, const MeshSurface& surface, const std::vector<SurfacePart>& parts);

    /// Whether the joint heats nothing at this point of a part: it is enclosed by another part.
    bool excludes(std::uint32_t joint, std::uint32_t part, const Point3& point) const {
        return enclosed_->is_separate(joint, part, point);
    }
    const std::vector<EnclosedJoints::Enclosure>& enclosures() const { return enclosed_->enclosures(); }
    /// Whether no open space hides a bone from a point of a part. It does so from garments, but not from the body:
    /// where a body has bones outside its own volume, they are meant to move it.
    bool is_clear(std::uint32_t part, const Point3& from, const Point3& to) const {
        return is_body_[part] || joins(from, to);
    }
    /// The joints of a set that are nearest to a vertex through the volume; nothing if none is reached. They give
    /// all their heat to an occluded part, and a share of it to other vertices.
    std::optional<NodeHeat> nearest(const JointSet& set, std::uint32_t vertex, std::uint32_t part,
                                    bool occluded) const;

    const DistanceTable& distances() const { return distances_.table; }
    Coverage coverage(std::uint32_t vertex) const { return distances_.coverage[vertex]; }

private:
    Point3 to_voxels(const Point3& p) const;
    bool solid_voxel(const Point3& p) const;

    const Domain& domain_;
    const DistanceRows& distances_;
    const SurfaceHeatRules rules_;
    std::span<const Vec3> positions_;
    std::optional<EnclosedJoints> enclosed_;
    std::vector<std::uint8_t> is_body_;  // per part
};

/// A part with a larger share of the surface is the body itself, which bends.
inline constexpr double kLargestRigidShare = 0.5;

}  // namespace sinew
