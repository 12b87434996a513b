// sinew/quality.h: measures of weights: of one binding, and of two compared. docs/quality.md has the formula and
// the limits of every number.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/deform.h"
#include "sinew/domain.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

// Measures of one binding. For all functions: weights must have a row for every vertex of the mesh, with joints of
// the skeleton, else the error names the vertex. Results have the same bits on any number of threads.

/// How much weights change over the surface. energy[j] = ½ ∫ |∇w_j|² over the triangles, with w_j linear on each
/// (the cotangent form): a number without a unit that does not change with the scene's scale. A triangle lower than
/// 1/100 of its longest side counts as that high, so that a degenerate one cannot outweigh the rest; one whose
/// corners coincide counts nothing.
struct Smoothness {
    std::vector<double> energy;  ///< per joint
    double total = 0;
};
/// O(T · influences), memory O(V + joints).
Result<Smoothness> smoothness(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& weights,
                              Context* context = nullptr);

/// A mirror plane of a skeleton, and pairs of joints and of vertices across it.
struct Symmetry {
    std::array<double, 3> point{0, 0, 0};
    std::array<double, 3> normal{1, 0, 0};  ///< unit vector
    std::vector<std::uint32_t> joint;   ///< per joint: its partner, itself where it lies on the plane, or no_index
    std::vector<std::uint32_t> vertex;  ///< per vertex: the nearest to its mirrored place, or no_index
    double joint_share = 0;             ///< of the joints that deform: those that have a partner
    double vertex_share = 0;            ///< of the vertices, the same
};
/// Finds the plane from the positions and parents of joints; names only distinguish joints at one position.
/// Planes that are tried: those between two joints of one parent, and those across x, y and z through the middle of
/// the joints. A skeleton is symmetric if 80 % of its deforming joints, and at least one pair, have a partner
/// within 2 % of the diagonal of the box of its joints; else there is no value. Vertices pair within 0.2 % of the
/// diagonal of the mesh. Time: pairs of siblings for each of at most 100 planes, and V log V. There is no value
/// either where thousands of joints have one parent, which would take too long.
Result<std::optional<Symmetry>> find_symmetry(const MeshView& mesh, const Skeleton& skeleton,
                                              Context* context = nullptr);

/// Over vertices with a partner: the L1 distance (0..2) between the vertex's weights, each joint swapped for its
/// partner, and the partner's.
struct SymmetryError {
    double mean = 0, p95 = 0, max = 0;
};
Result<SymmetryError> symmetry_error(const Symmetry& symmetry, const SkinWeights& weights,
                                     Context* context = nullptr);

/// Weight of joints that are far away. Distance is measured inside the volume (voxels, steps of length, no
/// penalty; loose parts joined across their narrowest gaps). With d_j from the bones of joint j, d the smallest of
/// them all and n the joint that has it: w_j is far away where d_j - d > max(d, half the length of n's longest
/// bone, two voxels). If the bones of n are points, the distance to the nearest other joint that is used replaces
/// their length.
struct BleedOptions {
    int resolution = 128;  ///< as VoxelizeOptions::resolution
};
struct Bleed {
    std::vector<double> far_weight;  ///< per joint: the sum of its weights that are far away
    double share = 0;                ///< of all weight
    std::size_t vertices = 0;        ///< with more than 0.01 of such weight
};
/// One result for each of `weights`, all measured with the same distances, those of the joints that any of them
/// uses. Vertices of no triangle are left out. Time: one sweep over the volume for each joint that is used; memory
/// 20 bytes per leaf and thread, 12 per influence.
Result<std::vector<Bleed>> bleed(const MeshView& mesh, const Skeleton& skeleton,
                                 std::span<const SkinWeights* const> weights, const BleedOptions& options = {},
                                 Context* context = nullptr);

/// Changes of the mesh's shape in a pose.
struct PoseShape {
    /// Signed volume divided by that at rest, minus 1; empty if the mesh encloses no volume. Faces that `topology`
    /// turned are counted as turned; open parts are closed towards the middle of the mesh.
    std::optional<double> volume_change;
    double stretch_max = 1, stretch_p99 = 1;       ///< sides of triangles: length posed / at rest
    std::array<std::uint32_t, 2> stretched{0, 0};  ///< the vertices of the most stretched side
};
/// Sides shorter than 1e-4 of the diagonal of the box are left out. O(T log T) for the percentile.
Result<PoseShape> measure_pose(const MeshView& mesh, const MeshTopology& topology, std::span<const Vec3> posed,
                               Context* context = nullptr);

/// Vertices whose weights differ (L1 above 1e-3) from those of the first vertex at the same position: there the
/// mesh tears. O(V · influences).
std::size_t count_torn(const MeshTopology& topology, const SkinWeights& weights);

// Two bindings.

/// Pairs of equal joints of two skeletons. If both list the same names in the same order, by index; else by name,
/// the n-th of several with one name to the n-th.
struct JointMatch {
    bool same_list = false;
    /// The reference's joints, then those of the other that it lacks, under the joint that their parent is here.
    Skeleton skeleton;
    std::vector<std::uint32_t> joint_of;        ///< per joint of the other: index into `skeleton`
    std::vector<std::uint32_t> only_reference;  ///< joints that the other lacks
    std::vector<std::uint32_t> only_other;      ///< joints that the reference lacks: the added ones
};
JointMatch match_joints(const Skeleton& reference, const Skeleton& other);

/// For each vertex of the reference one of the other mesh at the same place, up to a distance; empty if the places
/// differ. Programs write vertices in different orders, and one that seams divide once or several times: of several
/// at one place the first of both go together. O(n log n).
std::optional<std::vector<std::uint32_t>> match_vertices(std::span<const Vec3> reference,
                                                         std::span<const Vec3> other, double within);

/// The same weights with joint j renumbered to joint_of[j]. A joint past the end of joint_of is an error.
Result<SkinWeights> renumber(const SkinWeights& weights, std::span<const std::uint32_t> joint_of);

struct CompareOptions {
    float threshold = 1e-4f;        ///< a weight above it counts as an influence; 0..0.5
    bool standard_poses = true;     ///< those of deform.h
    int random_poses = 10;          ///< 0..1000
    double random_degrees = 25;     ///< ±, 0..180
    std::uint64_t random_seed = 7;  ///< of the first; the next ones count up
    std::vector<NamedPose> poses;   ///< given ones, instead of random ones
    Vec3 up{0, 1, 0};               ///< the way up in bind space, for standard poses; not zero
    Skinning skinning = Skinning::linear_blend;
    int worst_vertices = 20;
    bool bleed = true;
    BleedOptions bleed_options;
    int profile_bins = 40;  ///< along the limb, 4..1000
};
Status check(const CompareOptions& options);

/// Over vertices. Percentiles are interpolated between the two nearest ranks.
struct Distribution {
    double mean = 0, median = 0, p95 = 0, max = 0;
};

/// Measures of one of the two sides.
struct WeightsQuality {
    std::size_t unweighted = 0;      ///< vertices
    std::size_t max_influences = 0;  ///< above the threshold, on one vertex
    double mean_influences = 0;      ///< the same, mean over vertices
    std::size_t joints = 0;          ///< that have weight
    std::size_t torn = 0;            ///< count_torn
    Smoothness smoothness;
    Bleed bleed;                            ///< empty where it was not asked for
    std::optional<SymmetryError> symmetry;  ///< where the skeleton is symmetric
};

/// One joint. Sums are over vertices. Ties for the strongest joint go to the lower index.
struct JointComparison {
    std::uint32_t joint = 0;
    double mass_a = 0, mass_b = 0;                                        ///< Σ w
    double l1 = 0;                                                        ///< Σ |w_a - w_b|
    double l1_share = 0;                                                  ///< of the sum over all joints, 0..1
    std::size_t strongest_a = 0, strongest_b = 0, strongest_both = 0;     ///< vertices
    std::size_t influences_a = 0, influences_b = 0, influences_both = 0;  ///< weights above the threshold
};

enum class PoseKind { standard, random, given };
std::string_view to_string(PoseKind kind);

/// One pose. Distances between the two deformed meshes, in percent of the diagonal of the box at rest.
struct PoseComparison {
    std::string name;
    PoseKind kind = PoseKind::standard;
    double mean = 0, max = 0;
    std::uint32_t worst_vertex = 0;
    PoseShape a, b;
    std::vector<JointPose> joints;  ///< the pose
};

/// Poses of one kind: means over them, and the worst.
struct PoseSummary {
    std::size_t poses = 0;
    double mean = 0;      ///< mean of PoseComparison::mean
    double mean_max = 0;  ///< mean of PoseComparison::max
    double max = 0;       ///< largest of PoseComparison::max
};
PoseSummary summarise(std::span<const PoseComparison> poses, PoseKind kind);

/// Weights along the chain of joints with the largest part of the difference: from a branching of the skeleton (of
/// the part that has weights) to the next or to the end. Vertices whose strongest joint, on either side, is in the
/// chain, sorted by the arc length of the nearest point on the polyline through the joints.
struct LimbProfile {
    std::vector<std::uint32_t> joints;      ///< parent of the chain's first joint, where it has one, then the chain
    std::vector<double> joint_at;           ///< arc length of each, scene units
    double length = 0;                      ///< of the polyline
    std::vector<std::size_t> vertices;      ///< per bin of length / bins
    std::vector<std::vector<double>> a, b;  ///< joints × bins: mean weight; 0 where the bin is empty
};

/// Both sides without their small weights: those of at most 1e-3 or below 0.15 of the largest of their vertex are
/// dropped, and the rest is normalised. Papers on learned skin weights report these three numbers.
struct TrimmedComparison {
    double l1 = 0;                     ///< mean over vertices, 0..2
    double precision = 0, recall = 0;  ///< of the influences that are left
};

struct Comparison {
    std::vector<float> vertex_l1;  ///< V: Σ_j |w_a - w_b|, 0..2
    Distribution l1;
    double precision = 0;            ///< of B's influences, fraction that A has; 0 where B has none
    double recall = 0;               ///< of A's influences, fraction that B has; 0 where A has none
    double strongest_agreement = 0;  ///< fraction of the vertices
    TrimmedComparison trimmed;
    WeightsQuality a, b;
    std::vector<JointComparison> joints;        ///< those with weight in A or B; most l1 first, then by index
    std::vector<std::uint32_t> worst_vertices;  ///< most L1 first, then by index; those that differ at all
    std::vector<PoseComparison> poses;          ///< standard, then random or given
    std::optional<Symmetry> symmetry;
    LimbProfile limb;     ///< without joints where the sides do not differ, or no joint has a parent
    double diagonal = 0;  ///< of the box of all vertices but far ones (near.h), scene units
};

/// Compares B with the reference A: two bindings of one mesh to one skeleton (see match_joints).
///
/// Time: the sum of the above, and two deformations and measurements for each pose. Memory: about 60 bytes per
/// vertex, 12 per influence and per side of a triangle, and what bleed takes; poses are held one at a time. It is
/// not checked against Context::memory_limit. Errors if check_mesh or check_skeleton fails.
Result<Comparison> compare(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& reference,
                           const SkinWeights& other, const CompareOptions& options = {},
                           Context* context = nullptr);

}  // namespace sinew
