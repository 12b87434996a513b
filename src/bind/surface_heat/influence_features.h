// What is known of a vertex and a joint that may move it: the input of the learned correction (influence_model.h).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bind/heat_equation.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// Features of the rows of one set. All are ratios without a unit, so that they do not depend on the scene's scale;
/// lengths are divided by the thickness of the body around a joint, which is the median distance of its own
/// vertices from its bones. Values are the same on all machines.
class InfluenceFeatures {
public:
    static constexpr std::size_t kPair = 23;   ///< of a vertex and a joint
    static constexpr std::size_t kJoint = 54;  ///< of a joint
    static constexpr std::size_t kMesh = 12;   ///< of the mesh and its skeleton
    static constexpr std::size_t kMost = 10;   ///< candidates of a vertex
    /// Larger sets have no features: they describe joints by each other, in quadratic time.
    static constexpr std::size_t kMostJoints = 1024;

    static constexpr double kFloor = 0.01;  ///< a joint without heat may get weight
    /// Joints that may move a vertex, as slots of the set, and their present weights.
    struct Candidates {
        std::array<std::uint32_t, kMost> slot;
        std::array<double, kMost> weight;
        std::array<double, kMost> logarithm;  ///< to base 2, of the weight plus kFloor
        std::size_t count = 0;
    };

    /// `links`: the bones of make_bones; the bones of the task may differ. `volume`: distances through the volume,
    /// row by row. Keeps references to all arguments. O(rows x width + joints²). Requires a set of at most
    /// kMostJoints.
    InfluenceFeatures(const Task& task, const MeshSurface& surface, const JointSet& set, const SetRows& rows,
                      const DistanceTable& volume, const std::vector<Bone>& links);

    /// The joints with most heat at a row, and the parents of the strongest: an artist often gives to the parent
    /// what a rule gave to the child. A row that one joint has, by a rule for parts, has this candidate only.
    Candidates candidates(std::size_t row) const;
    /// Writes kPair numbers for each candidate. Of `rows` it reads this row only. O(candidates x their bones).
    void pair_features(std::size_t row, const Candidates& among, std::span<float> out) const;
    std::span<const float> joint_features(std::uint32_t slot) const {
        return {joint_.data() + slot * kJoint, kJoint};
    }
    const std::array<float, kMesh>& mesh_features() const { return mesh_; }

private:
    static constexpr std::uint32_t kNone = no_index;
    struct JointFacts {
        Bone bone, link;                       // the longest of each
        std::optional<SegmentRuler> at;        // of that bone
        double length = 0;                     // of that bone, scene units
        Point3 direction{}, link_direction{};  // of length 1
        std::size_t first_bone = 0, bones = 0, first_link = 0, links = 0;
        std::uint32_t parent = kNone;  // slot of the nearest joint above that is in the set
        std::vector<std::uint32_t> children;
        double thickness = 0;  // scene units
        double territory = 0;  // share of the area
    };
    struct PartFacts {
        double area = 0;                                      // share of the whole
        std::vector<std::pair<std::uint32_t, double>> share;  // slots, ascending, and their shares of the part
        double largest = 0;
    };

    Point3 place(std::size_t row) const { return to_point(task_.mesh.positions[rows_.vertices[row]]); }
    Point3 head(std::uint32_t slot) const { return to_point(task_.skeleton.joints[set_.joints[slot]].position); }
    std::uint32_t slot_of(std::uint32_t joint) const { return slot_[joint]; }
    double weight(std::size_t row, std::uint32_t slot) const;
    static double distance(const Point3& p, std::span<const SegmentRuler> bones);
    void collect_bones();
    void measure_edges(const std::vector<std::uint32_t>& rows_at);
    void measure_parts();
    void measure_thickness();
    void describe_joints();
    void describe_mesh();

    const Task& task_;
    const MeshSurface& surface_;
    const JointSet& set_;
    const SetRows& rows_;
    const DistanceTable& volume_;
    const std::vector<Bone>& links_;
    std::vector<std::uint32_t> slot_;              // per joint of the skeleton; kNone outside of the set
    std::vector<Bone> bones_;                      // of the task, those of the set
    std::vector<SegmentRuler> bone_at_, link_at_;  // of bones_ and links_
    double size_;                                  // longest side, scene units
    std::vector<JointFacts> facts_;
    std::vector<PartFacts> parts_;
    std::vector<double> edge_;            // per node: mean length of its edges
    std::vector<std::uint32_t> part_of_;  // per row
    std::vector<double> mass_;            // per row: share of the area
    std::vector<double> sum_;             // per row: of its strengths
    std::vector<float> joint_;
    std::array<float, kMesh> mesh_{};
};

}  // namespace sinew
