// Heat from the bones that diffuses over the surface of the mesh (Baran and Popović 2007, section 4): the steps
// that bone-heat and surface-heat share.
#pragma once

#include <array>
#include <optional>

#include "bind/row_tables.h"
#include "solve/cholesky.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew {

/// The joints that heat one node of the surface, as indices into the joints of the set.
struct HeatSources {
    static constexpr std::size_t most = 8;  ///< equally near joints
    std::array<std::uint32_t, most> slot;   ///< ascending
    std::uint32_t count = 0;
    double distance = 0;  ///< scene units
    double share = 1;     ///< of the heat that they would give if they were visible

    void add(std::uint32_t joint);
};

/// The rows of a set before they are stored: `width` entries for each vertex, of which the first `kept` are used,
/// strongest first.
struct SetRows {
    std::span<const std::uint32_t> vertices;
    std::size_t width;
    std::vector<InfluenceRows::Entry>& entries;
    std::vector<std::uint32_t>& kept;
};

/// Decisions in which a method may differ from bone-heat, which has the defaults. Called by several threads at a
/// time, except hidden_sources and adjust_rows.
class HeatPolicy {
public:
    virtual ~HeatPolicy() = default;

    /// Whether the joint heats nothing at this point of a part (a component of the surface).
    virtual bool excludes(std::uint32_t joint, std::uint32_t part, const Point3& point) const;
    /// Whether a point of a part sees a bone along a segment that no triangle blocks.
    virtual bool is_clear(std::uint32_t part, const Point3& from, const Point3& to) const;
    /// The sources of a vertex that sees none of its nearest bones, or, if `blind`, of a vertex of a part
    /// from which (almost) no bone is visible. Without a value the first has no source, and the second the nearest
    /// bone.
    virtual std::optional<HeatSources> hidden_sources(const JointSet& set, std::uint32_t vertex, std::uint32_t part,
                                                      bool blind) const;
    /// The least number of entries of the rows of adjust_rows.
    virtual std::size_t least_width() const;
    /// Changes the rows of a set after the solve.
    virtual void adjust_rows(const JointSet& set, SetRows rows) const;
    /// How the row of a vertex was found; `blind` as above.
    virtual Coverage coverage(std::uint32_t vertex, bool blind) const;
};

/// Fills rows set by set.
class SurfaceDiffusion {
public:
    /// A part is blind if bones are visible from a smaller share of its area than `least_visible`. Keeps references
    /// to all.
    SurfaceDiffusion(const Task& task, const MeshSurface& surface, const TriangleTree& tree,
                     const HeatPolicy& policy, double least_visible, InfluenceRows& rows)
        : task_(task),
          surface_(surface),
          tree_(tree),
          policy_(policy),
          least_visible_(least_visible),
          rows_(rows) {}

    /// Fills the rows of one set: the nearest bones of every node from which they are visible, then
    /// (L + M H) w = M H p for every joint. One factorisation, and one solve for each joint.
    Status fill(const JointSet& set);
    /// Fills the rows of every set of the plan; timed as "heat".
    Status fill_all();

    std::size_t blind_parts() const { return blind_parts_; }
    std::size_t blind_vertices() const { return blind_vertices_; }

private:
    struct Segment;

    Point3 place(std::uint32_t vertex) const { return to_point(task_.mesh.positions[vertex]); }
    void fill_unused(std::uint32_t vertex, const JointSet& set);
    void choose_nodes(const std::vector<std::uint32_t>& on_surface);
    void find_sources(const JointSet& set);
    void find_blind_parts();
    void find_hidden_sources(const JointSet& set);
    HeatSources nearest(std::uint32_t node, const std::vector<Segment>& segments,
                        const std::vector<std::uint32_t>& joints, bool must_see,
                        std::vector<double>& distance) const;
    double distance_to(const Point3& p, std::uint32_t node, const Segment& segment) const;
    bool is_visible(const Point3& p, std::uint32_t node, const Segment& segment) const;
    Result<Cholesky> factor(const std::vector<double>& heat) const;
    Status solve(const JointSet& set, const std::vector<std::uint32_t>& on_surface);
    void store(const JointSet& set, SetRows rows);

    const Task& task_;
    const MeshSurface& surface_;
    const TriangleTree& tree_;
    const HeatPolicy& policy_;
    const double least_visible_;
    InfluenceRows& rows_;
    std::size_t blind_parts_ = 0, blind_vertices_ = 0;
    // Of the current set.
    std::vector<std::uint32_t> nodes_, local_;  // surface nodes in the system; per surface node its index in nodes_
    std::vector<HeatSources> sources_;          // per node of the system
    std::vector<bool> by_policy_;               // per node of the system: the policy chose its sources
    std::vector<bool> blind_;                   // per component
};

/// The surface of the task's mesh, timed as "surface", and the triangles between welded vertices.
struct WeldedSurface {
    MeshSurface surface;
    TriangleTree tree;

    explicit WeldedSurface(const Task& task);
};

/// If bones are visible from a smaller share of a part's area, all its heat would come from a rim or a hole: of a
/// jacket from the neck, of a boot from the knee.
inline constexpr double kLeastVisible = 0.1;

}  // namespace sinew
