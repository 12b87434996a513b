// Heat that flows from the bones into the surface of a mesh and along it: "Automatic Rigging and Animation of 3D
// Characters" (Baran and Popović, SIGGRAPH 2007), section 4. The steps that bone-heat and surface-heat share.
#pragma once

#include <array>
#include <optional>

#include "bind/method.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew {

/// The joints that heat one node of the surface, as places in the joints of the set.
struct HeatSources {
    static constexpr std::size_t most = 8;  ///< that are equally near
    std::array<std::uint32_t, most> slot;   ///< ascending
    std::uint32_t count = 0;
    double distance = 0;  ///< scene units
    double share = 1;     ///< of the heat that they would give if they were seen

    void add(std::uint32_t joint);
};

/// Rows of strengths while a method still works on them: `width` entries for each of `vertices`, `kept` of them,
/// strongest first.
struct RowsAtWork {
    std::span<const std::uint32_t> vertices;
    std::size_t width;
    std::vector<InfluenceRows::Entry>& entries;
    std::vector<std::uint32_t>& kept;
};

/// Where a method may decide otherwise than bone-heat does. The defaults are bone-heat. Calls come from several
/// threads at a time, but for hidden_sources and settle.
class HeatPolicy {
public:
    virtual ~HeatPolicy() = default;

    /// Whether the joint heats nothing at this point of a part (a component of the surface).
    virtual bool excludes(std::uint32_t joint, std::uint32_t part, const Point3& point) const;
    /// Whether a straight way that no triangle blocks is a way on which a bone is seen.
    virtual bool is_clear(const Point3& from, const Point3& to) const;
    /// What heats a vertex that sees none of its bones, or, with `blind`, a vertex of a part that sees (almost)
    /// none. Without an answer the first gets no heat of its own, and the second that of the nearest bone.
    virtual std::optional<HeatSources> hidden_sources(const JointSet& set, std::uint32_t vertex, std::uint32_t part,
                                                      bool blind) const;
    /// Changes the rows of a set after the solve.
    virtual void settle(const JointSet& set, RowsAtWork rows) const;
    /// How a vertex came to its row; `blind` as above.
    virtual Coverage coverage(std::uint32_t vertex, bool blind) const;
};

/// Fills rows set by set.
class SurfaceDiffusion {
public:
    /// `seeing`: a part of which a smaller share of the area sees its bones is blind. Keeps references to all.
    SurfaceDiffusion(const Task& task, const MeshSurface& surface, const TriangleTree& tree,
                     const HeatPolicy& policy, double seeing, InfluenceRows& rows)
        : task_(task), surface_(surface), tree_(tree), policy_(policy), seeing_(seeing), rows_(rows) {}

    /// Fills the rows of one set: the nearest bones of every node that sees them, then
    /// (L + M H) w = M H p for every joint. One factorisation, and one solve for each joint.
    Status fill(const JointSet& set);
    /// Of every set of the plan, timed as "heat".
    Status fill_all();

    std::size_t blind_parts() const { return blind_parts_; }
    std::size_t blind_vertices() const { return blind_vertices_; }

private:
    struct Segment;

    Point3 place(std::uint32_t vertex) const { return to_point(task_.mesh.positions[vertex]); }
    void nearest_joint(std::uint32_t vertex, const JointSet& set);
    void choose_nodes(const std::vector<std::uint32_t>& on_surface);
    void find_sources(const JointSet& set);
    void find_blind_parts();
    void find_hidden_sources(const JointSet& set);
    HeatSources nearest(std::uint32_t node, const std::vector<Segment>& segments,
                        const std::vector<std::uint32_t>& joints, bool must_see,
                        std::vector<double>& distance) const;
    double distance_to(const Point3& p, std::uint32_t node, const Segment& segment) const;
    bool sees(const Point3& p, std::uint32_t node, const Segment& segment) const;
    Status solve(const JointSet& set, const std::vector<std::uint32_t>& on_surface);

    const Task& task_;
    const MeshSurface& surface_;
    const TriangleTree& tree_;
    const HeatPolicy& policy_;
    const double seeing_;
    InfluenceRows& rows_;
    std::size_t blind_parts_ = 0, blind_vertices_ = 0;
    // Of the set at hand.
    std::vector<std::uint32_t> nodes_, local_;  // surface nodes that take part; their numbers there
    std::vector<HeatSources> sources_;          // per node that takes part
    std::vector<bool> by_policy_;               // per node that takes part: its sources are the policy's
    std::vector<bool> blind_;                   // per component: (almost) none of it sees its bones
};

/// The surface of the task's mesh, timed as "surface", and the triangles between welded vertices.
struct WeldedSurface {
    MeshSurface surface;
    TriangleTree tree;

    explicit WeldedSurface(const Task& task);
};

/// A part of which a smaller share of the area sees its bones would take all its heat from a rim or a hole: a
/// jacket from the neck, a boot from the knee.
inline constexpr double kLeastSeeing = 0.1;

}  // namespace sinew
