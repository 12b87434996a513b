// The whole comparison: all measures in one call.
#include <string>

#include "core/numbers.h"
#include "core/try.h"
#include "quality/difference.h"
#include "quality/measures.h"
#include "sinew/near.h"

namespace sinew {

namespace {

Result<PoseComparison> compare_in_pose(const MeshView& mesh, const Skeleton& skeleton, const MeshTopology& topology,
                                       const SkinWeights& a, const SkinWeights& b, const NamedPose& pose,
                                       PoseKind kind, const CompareOptions& options, double diagonal,
                                       Context* context) {
    PoseComparison out;
    out.name = pose.name;
    out.kind = kind;
    auto failed = [&](const Error& error) {
        return Error{error.code, "pose \"" + printable(pose.name) + "\": " + error.message};
    };
    Result<std::vector<Transform>> transforms = skinning_matrices(skeleton, pose.joints);
    if (!transforms) return failed(transforms.error());
    const SurfaceView surface{mesh.positions, {}, {}};
    Result<Surface> in_a = deform(surface, a, *transforms, options.skinning, context);
    if (!in_a) return failed(in_a.error());
    Result<Surface> in_b = deform(surface, b, *transforms, options.skinning, context);
    if (!in_b) return failed(in_b.error());

    double sum = 0;
    for (std::size_t v = 0; v < mesh.positions.size(); ++v) {
        const Vec3 &p = in_a->positions[v], &q = in_b->positions[v];
        const double d = 100 / diagonal * std::hypot(double{p.x} - q.x, double{p.y} - q.y, double{p.z} - q.z);
        sum += d;
        if (d > out.max) {
            out.max = d;
            out.worst_vertex = static_cast<std::uint32_t>(v);
        }
    }
    out.mean = sum / static_cast<double>(mesh.positions.size());
    Result<PoseShape> shape = measure_pose(mesh, topology, in_a->positions, context);
    if (!shape) return failed(shape.error());
    out.a = *shape;
    shape = measure_pose(mesh, topology, in_b->positions, context);
    if (!shape) return failed(shape.error());
    out.b = *shape;
    return out;
}

}  // namespace

Status check(const CompareOptions& o) {
    if (!(o.threshold >= 0 && o.threshold <= 0.5f))
        return Error{ErrorCode::usage,
                     "the threshold of an influence must be 0 to 0.5, not " + shortest_text(o.threshold)};
    if (o.random_poses < 0 || o.random_poses > 1000)
        return Error{ErrorCode::usage,
                     "the number of random poses must be 0 to 1000, not " + std::to_string(o.random_poses)};
    if (!(o.random_degrees >= 0 && o.random_degrees <= 180))
        return Error{ErrorCode::usage,
                     "the angle of random poses must be 0 to 180 degrees, not " + shortest_text(o.random_degrees)};
    if (o.worst_vertices < 0)
        return Error{ErrorCode::usage, "the number of worst vertices must be 0 or more, not " +
                                           std::to_string(o.worst_vertices) + ""};
    if (!(std::abs(o.up.x) + std::abs(o.up.y) + std::abs(o.up.z) > 0))
        return Error{ErrorCode::usage, "the way up is zero"};
    if (o.profile_bins < 4 || o.profile_bins > 1000)
        return Error{ErrorCode::usage,
                     "the number of bins of a profile must be 4 to 1000, not " + std::to_string(o.profile_bins)};
    return check(VoxelizeOptions{o.bleed_options.resolution, true, true});
}

Result<Comparison> compare(const MeshView& mesh, const Skeleton& skeleton, const SkinWeights& reference,
                           const SkinWeights& other, const CompareOptions& options, Context* context) {
    SINEW_TRY(check(options));
    SINEW_TRY(check_mesh(mesh));
    SINEW_TRY(check_skeleton(skeleton));
    SINEW_TRY(check_fit(mesh, skeleton, reference, "the weights of the reference"));
    SINEW_TRY(check_fit(mesh, skeleton, other, "the other weights"));

    Comparison out;
    // One far triangle must not make all distances small.
    out.diagonal = near_diagonal(mesh, skeleton, context);
    if (out.diagonal == 0 && !mesh.positions.empty()) out.diagonal = box_of(mesh.positions).diagonal();
    report_progress(context, "weights", 0);
    SINEW_TRY(measure_difference(reference, other, skeleton.joints.size(), options, context, out));
    const MeshTopology topology = analyse_mesh(mesh, context);
    out.a.torn = count_torn(topology, reference);
    out.b.torn = count_torn(topology, other);
    out.limb = limb_profile(mesh, skeleton, reference, other, out.joints, options.profile_bins, context);

    for (const bool first : {true, false}) {
        SINEW_TRY_LET(Smoothness smooth, smoothness(mesh, skeleton, first ? reference : other, context));
        (first ? out.a : out.b).smoothness = std::move(smooth);
    }

    report_progress(context, "symmetry", 0);
    SINEW_TRY_LET(std::optional<Symmetry> symmetry, find_symmetry(mesh, skeleton, context));
    out.symmetry = std::move(symmetry);
    if (out.symmetry) {
        for (const bool first : {true, false}) {
            SINEW_TRY_LET(SymmetryError error, symmetry_error(*out.symmetry, first ? reference : other, context));
            (first ? out.a : out.b).symmetry = error;
        }
    }

    if (options.bleed) {
        report_progress(context, "bleed", 0);
        const SkinWeights* both[] = {&reference, &other};
        SINEW_TRY_LET(std::vector<Bleed> far,
                      bleed_of(mesh, topology, skeleton, both, options.bleed_options, context));
        out.a.bleed = std::move(far[0]);
        out.b.bleed = std::move(far[1]);
    }

    std::vector<std::pair<PoseKind, NamedPose>> poses;
    if (options.standard_poses)
        for (NamedPose& pose : standard_poses(skeleton, options.up))
            poses.emplace_back(PoseKind::standard, std::move(pose));
    for (const NamedPose& pose : options.poses) poses.emplace_back(PoseKind::given, pose);
    if (options.poses.empty())
        for (int i = 0; i < options.random_poses; ++i)
            poses.emplace_back(PoseKind::random,
                               NamedPose{"random " + std::to_string(i + 1),
                                         random_pose(skeleton, options.random_degrees,
                                                     options.random_seed + static_cast<std::uint64_t>(i))});
    for (std::size_t i = 0; i < poses.size(); ++i) {
        report_progress(context, "poses", static_cast<double>(i) / static_cast<double>(poses.size()));
        SINEW_TRY_LET(PoseComparison pose,
                      compare_in_pose(mesh, skeleton, topology, reference, other, poses[i].second, poses[i].first,
                                      options, out.diagonal, context));
        pose.joints = std::move(poses[i].second.joints);
        out.poses.push_back(std::move(pose));
    }
    report_progress(context, "poses", 1);
    return out;
}

}  // namespace sinew
