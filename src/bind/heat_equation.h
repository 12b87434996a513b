// Heat on the surface of a mesh, after Baran and Popović (2007), section 4:
//
//     (L + M H) w = M H p        for the weights w of each joint
//
//     L   the Laplacian of the surface       M   the areas of its nodes
//     H   c / d² at each node, where d is the distance of its nearest bone; 0 where it sees none
//     p   1 where that bone is the joint's, else 0; 1 / k if k joints are equally near, and H counts each of them
//
// The methods bone-heat and surface-heat are lists of the steps below, for one set of joints after the other.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "bind/row_tables.h"
#include "core/large_pages.h"
#include "solve/cholesky.h"
#include "surface/coarse_surface.h"
#include "surface/surface.h"
#include "surface/triangle_tree.h"

namespace sinew {

class InnerVolume;
struct KeptSight;

/// The least distance of a bone, as a share of the longest side of the mesh.
constexpr double kNearestBone = 1e-4;

/// The surface of the task's mesh and the triangles between its nodes, timed as "surface".
struct WeldedSurface {
    MeshSurface surface;
    TriangleTree tree;

    explicit WeldedSurface(const Task& task);
    /// Makes room for the factors after all find_heat. Parts on others still need the tree, if there are several.
    void release_sight();
    WeldedSurface(const WeldedSurface&) = delete;  // the tree reads the surface
};

/// What a bind with these methods leaves for the next one of the same mesh and the same sets, with other bones.
struct KeptHeat {
    /// Of one set. find_heat and solve_heat use what is there and replace it by their own.
    struct Set {
        std::shared_ptr<const KeptSight> sight;
        std::shared_ptr<const Cholesky> factors;
    };
    std::shared_ptr<WeldedSurface> mesh;
    std::vector<Set> sets;
};

/// The rows of a set before they are stored: `width` entries for each vertex, of which the first `kept` are used,
/// strongest first. Where the equation is solved on a coarse surface, they are those of its nodes, in their order,
/// until store_rows.
struct SetRows {
    std::vector<std::uint32_t> vertices;
    std::size_t width = 0;
    std::vector<InfluenceRows::Entry> entries;
    std::vector<std::uint32_t> kept;
    std::vector<double> area;   ///< per row: of the surface at its vertex, scene units²
    std::vector<double> count;  ///< per row: how many vertices it stands for

    std::span<const InfluenceRows::Entry> of(std::size_t row) const {
        return {entries.data() + row * width, kept[row]};
    }
};

/// The unknowns of a set: the nodes of all parts in which it has a vertex. Heat also spreads through vertices of
/// other sets.
struct Unknowns {
    std::vector<std::uint32_t> vertices;  ///< of the set, on the surface
    LargeVector<std::uint32_t> node;      ///< per unknown
    LargeVector<std::uint32_t> vertex;    ///< per unknown: the last vertex of the set at the node, or none
    LargeVector<std::uint32_t> of_node;   ///< the unknown of each node, or no_index

    std::size_t size() const { return node.size(); }
};

/// H and p of one node: the joints that heat it, as indices into the joints of the set.
struct NodeHeat {
    static constexpr std::size_t most = 8;  ///< equally near joints
    std::array<std::uint16_t, most> slot;   ///< ascending; a skeleton has at most 65,534 joints
    std::uint8_t count = 0;
    /// How d is measured: straight, or through the volume, from a hidden node or one of an occluded part.
    enum class Way : std::uint8_t { straight, hidden, occluded } how = Way::straight;
    /// How the volume reaches the node, where it was asked: always in occluded parts.
    Coverage inside = Coverage::none;
    double distance = 0;  ///< d, scene units

    void add(std::uint32_t joint);
};

/// H and p of every unknown.
struct Heat {
    LargeVector<NodeHeat> at;    ///< per unknown
    double hidden_share;         ///< of c, at hidden nodes
    std::vector<bool> occluded;  ///< per part, a component of the surface: (almost) no bone is visible from it
    std::optional<CoarseSurface> coarse;  ///< where the equation is solved, if there are many unknowns
};

struct HeatRules {
    /// A part is occluded if bones are visible from a smaller share of its area. Otherwise all its heat would come
    /// from a rim or a hole: of a jacket from the neck, of a boot from the knee.
    double least_visible = 0.1;
    /// With more unknowns than `direct`, the equation is solved on a coarse surface. The heat decides how many
    /// nodes that has, from about `coarse` to about `most`; folds have nodes of their own.
    std::size_t direct = 60'000, coarse = 36'000, most = 150'000;
};

/// The vertices of a set whose weights need heat: none of a set of one joint, and none of no triangle.
std::vector<std::uint32_t> vertices_with_heat(const MeshSurface& surface, const JointSet& set, Context* context);

/// Stores the rows of the other vertices: one of no triangle gets the nearest joint; a set of one joint gives it
/// all weight.
void store_without_heat(const Task& task, const MeshSurface& surface, const JointSet& set, InfluenceRows& rows);

/// `vertices`: of vertices_with_heat. O(nodes).
Unknowns choose_unknowns(const MeshSurface& surface, std::vector<std::uint32_t> vertices, Context* context);

/// H and p of every unknown, all cases:
/// 1. a node that sees its nearest bones is heated by them. A bone counts as farther beyond its open ends, and
/// where it is not below the surface;
/// 2. a node that does not, by the joints that are nearest through the volume, with a share of the heat. Without
/// a volume it takes no heat;
/// 3. a node of an occluded part, by the joints that are nearest through the volume. Without a volume, by its
/// nearest bones, visible or not.
/// With a volume, joints that are enclosed elsewhere heat nothing, and open space hides bones as triangles do.
/// `volume`: null for bone-heat. Mostly O(nodes x log bones), and a ray for each nearest bone. Not valid if
/// cancelled.
/// Above HeatRules::direct unknowns there is a coarse surface. Its nodes are treated as above. Another node takes
/// its nearest bones, at its own distance, if they are seen from a node around it and all of those see bones and
/// face nearly its way; it sees none if none of those does; else it is treated as above.
/// `kept`: without a coarse surface, only nodes near bones that have changed look for bones again.
Result<Heat> find_heat(const Task& task, const WeldedSurface& mesh, const JointSet& set, const Unknowns& unknowns,
                       const InnerVolume* volume, KeptHeat::Set& kept, const HeatRules& rules = {});

/// Solves (L + M H) w = M H p for every joint that heats a node: one factorisation, and one solve for eight joints.
/// Returns the strongest joints of each vertex, as many as the table of the task, or `least_width` if that is more.
/// With a coarse surface it is Pᵀ (L + M H) P y = Pᵀ M H p (surface/coarse_surface.h), and the rows are y, with up
/// to 16 joints.
Result<SetRows> solve_heat(const Task& task, const MeshSurface& surface, const JointSet& set,
                           const Unknowns& unknowns, const Heat& heat, std::size_t least_width,
                           KeptHeat::Set& kept);

/// Stores the rows of the set's vertices: those of solve_heat or, with a coarse surface, w = P y. Sorts the rows
/// found. `coverage`: of a vertex; called from several threads.
void store_rows(const Task& task, const MeshSurface& surface, const Unknowns& unknowns, const Heat& heat,
                SetRows& found, const std::function<Coverage(std::uint32_t)>& coverage, InfluenceRows& rows);

/// The error of a stage that was cancelled.
Error heat_cancelled();

/// Upper estimate of the memory of the steps above, in bytes, with one set.
double surface_solver_memory(const MeshView& mesh, double threads);

}  // namespace sinew
