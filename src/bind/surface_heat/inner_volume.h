// The inside of the character: what surface-heat asks where the surface alone does not tell.
#pragma once

#include <optional>

#include "bind/heat_equation.h"
#include "bind/sampling.h"
#include "bind/surface_heat/enclosed_joints.h"
#include "bind/surface_heat/rules.h"

namespace sinew {

class InnerVolume {
public:
    /// `volume`: with the fields of `task`, whose distances are those of geodesic-voxel. Keeps references to both.
    InnerVolume(const Task& task, const KeptVolume& volume, const SurfaceHeatRules& rules)
        : task_(task), volume_(volume), shapes_(task.skeleton, task.bones), rules_(rules) {}

    /// The nearest joints of some vertices of a set through the volume, row by row.
    Result<DistanceRows> distances(const JointSet& set, std::span<const std::uint32_t> vertices) const {
        return read_rows(task_, volume_, shapes_, set, vertices);
    }

    /// Whether the segment from a to b lies in the volume, except for a small gap. O(steps x levels).
    bool joins(const Point3& a, const Point3& b) const;
    /// Whether a point is in the volume. O(levels).
    bool solid(const Point3& p) const { return solid_voxel(to_voxels(p)); }

    /// What the three functions below need. `bones`: those that give heat.
    void set_parts(const MeshSurface& surface, const std::vector<SurfacePart>& parts,
                   const std::vector<Bone>& bones);

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
    /// The joints of a set that are nearest to a point of a part: `row` of `distances`, except those that heat
    /// nothing there; nothing if none is reached. They give all their heat to an occluded part, and hidden_share()
    /// of it to other vertices.
    std::optional<NodeHeat> nearest(const JointSet& set, const DistanceTable& distances, std::size_t row,
                                    std::uint32_t part, const Point3& point, bool occluded) const;
    double hidden_share() const { return rules_.hidden; }

private:
    Point3 to_voxels(const Point3& p) const;
    bool solid_voxel(const Point3& p) const;

    const Task& task_;
    const KeptVolume& volume_;
    const BoneShapes shapes_;
    const SurfaceHeatRules rules_;
    std::optional<EnclosedJoints> enclosed_;
    std::vector<std::uint8_t> is_body_;  // per part
};

/// A part with a larger share of the surface is the body itself, which bends.
inline constexpr double kLargestRigidShare = 0.5;

}  // namespace sinew
