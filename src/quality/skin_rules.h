// The measures of check_skin, one function for each rule.
#pragma once

#include <optional>
#include <vector>

#include "quality/measures.h"
#include "sinew/skin_check.h"

namespace sinew {

/// Shapes of the mesh in standard poses.
struct CheckedPoses {
    std::vector<std::string> names;
    std::vector<PoseShape> shapes;
};

/// A skin while it is checked, with what several rules need.
struct CheckedSkin {
    const SkinToCheck& in;
    const SkinCheckOptions& options;
    MeshTopology topology;
    Skeleton skeleton;  ///< joints without weight are idle
    double diagonal = 0;
    std::optional<CheckedPoses> poses;  ///< of the first rule that asked
    Context* context = nullptr;

    const SkinWeights& weights() const { return *in.weights; }
    std::size_t vertices() const { return in.mesh.positions.size(); }
    const std::string& name(std::uint32_t joint) const { return skeleton.joints[joint].name; }
    Result<const CheckedPoses*> in_poses();
};

/// Sets the value, the detail, and the values of vertices; check_skin does the rest.
using SkinMeasure = Status (*)(CheckedSkin&, SkinFinding&);

Status measure_unweighted(CheckedSkin& skin, SkinFinding& out);
Status measure_invalid(CheckedSkin& skin, SkinFinding& out);
Status measure_sums(CheckedSkin& skin, SkinFinding& out);
Status measure_repeated(CheckedSkin& skin, SkinFinding& out);
Status measure_influences(CheckedSkin& skin, SkinFinding& out);
Status measure_joints(CheckedSkin& skin, SkinFinding& out);
Status measure_tiny(CheckedSkin& skin, SkinFinding& out);
Status measure_control_joints(CheckedSkin& skin, SkinFinding& out);
Status measure_torn(CheckedSkin& skin, SkinFinding& out);
Status measure_islands(CheckedSkin& skin, SkinFinding& out);
Status measure_bleed(CheckedSkin& skin, SkinFinding& out);
Status measure_asymmetry(CheckedSkin& skin, SkinFinding& out);
Status measure_stretch(CheckedSkin& skin, SkinFinding& out);
Status measure_volume(CheckedSkin& skin, SkinFinding& out);
Status measure_rigid_parts(CheckedSkin& skin, SkinFinding& out);
Status measure_bind_pose(CheckedSkin& skin, SkinFinding& out);
Status measure_other_pose(CheckedSkin& skin, SkinFinding& out);
Status measure_skin_faults(CheckedSkin& skin, SkinFinding& out);

/// A weight below it is tiny.
inline constexpr float kTinyWeight = 1e-3f;

/// Pairs of vertices at one position that a surface edge of two triangles joins: the two sides of a seam.
std::vector<std::array<std::uint32_t, 2>> seam_pairs(const MeshView& mesh, std::span<const std::uint32_t> weld);
/// Rows of a seam's two sides that differ by more than this (L1) are torn: above the rounding of 8-bit weights.
inline constexpr double kTornL1 = 0.02;

/// Joins vertices that face each other across the seams of one skin. Returns, per vertex, the lowest of its set.
std::vector<std::uint32_t> seam_sets(const MeshView& mesh, const MeshTopology& topology);

using InfluenceList = std::vector<Influence>;
/// The mean of rows.
InfluenceList mean_row(std::span<const std::uint32_t> vertices, const SkinWeights& weights);

}  // namespace sinew
