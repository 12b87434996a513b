// Bleeding: weight at vertices that are far, through the volume, from the joint's bones.
#include <string>

#include "core/try.h"
#include "quality/joint_reach.h"
#include "sinew/near.h"
#include "sinew/voxels.h"

namespace sinew {

namespace {

/// The leaf that holds a vertex. The voxelizer rounds positions to 1/512 voxel, so a vertex near the border of
/// its voxel may have been assigned to the next one.
std::uint32_t leaf_of(const Domain& domain, const Vec3& position) {
    const GridTransform& t = domain.transform;
    const double v[3] = {(position.x - t.origin[0]) / t.voxel, (position.y - t.origin[1]) / t.voxel,
                         (position.z - t.origin[2]) / t.voxel};
    for (const double c : v)
        if (!(c >= 0 && c < t.resolution)) return no_index;
    const std::uint32_t leaf =
        domain.leaf_at(static_cast<int>(v[0]), static_cast<int>(v[1]), static_cast<int>(v[2]));
    if (leaf != no_index) return leaf;
    constexpr double slack = 1.0 / 256;
    for (int corner = 0; corner < 8; ++corner) {
        int q[3];
        for (int k = 0; k < 3; ++k) q[k] = static_cast<int>(std::floor(v[k] + (corner >> k & 1 ? slack : -slack)));
        const std::uint32_t near = domain.leaf_at(q[0], q[1], q[2]);
        if (near != no_index) return near;
    }
    return no_index;
}

/// In units of the field. If a bone is a point (in a skeleton without parents), half the distance to the next joint
/// counts as its space, so its length is the distance to that joint.
std::vector<double> bone_lengths(const Skeleton& skeleton, std::span<const Bone> bones,
                                 std::span<const std::uint32_t> joints, double voxel) {
    std::vector<double> length(skeleton.joints.size(), 0);
    for (const Bone& b : bones) {
        const double l =
            std::hypot(double{b.tail.x} - b.head.x, double{b.tail.y} - b.head.y, double{b.tail.z} - b.head.z);
        length[b.joint] = std::max(length[b.joint], l / voxel * LeafDistances::units_per_voxel);
    }
    for (const std::uint32_t j : joints) {
        if (length[j] > 0) continue;
        double nearest = INFINITY;
        for (const std::uint32_t k : joints) {
            const Vec3 &p = skeleton.joints[j].position, &q = skeleton.joints[k].position;
            const double d = std::hypot(double{p.x} - q.x, double{p.y} - q.y, double{p.z} - q.z);
            if (d > 0) nearest = std::min(nearest, d);
        }
        if (nearest < INFINITY) length[j] = nearest / voxel * LeafDistances::units_per_voxel;
    }
    return length;
}

VertexReach reach_of(const MeshView& mesh, const Domain& domain, const LeafDistances& nearest,
                     const std::vector<double>& length, double strength, Context* context) {
    const std::size_t n = mesh.positions.size();
    const double unit = LeafDistances::units_per_voxel;
    std::vector<bool> in_triangle(n, false);
    for (const Triangle& t : mesh.triangles)
        for (const std::uint32_t v : t) in_triangle[v] = true;
    VertexReach out{std::vector<std::uint32_t>(n, no_index), std::vector<double>(n, 0)};
    parallel_for(context, n, 4096, [&](std::size_t v) {
        if (!in_triangle[v]) return;
        const std::uint32_t at = leaf_of(domain, mesh.positions[v]);
        if (at == no_index || nearest.joint(at) == no_index) return;
        const Vec3& p = mesh.positions[v];
        const auto c = domain.centre(at);
        const GridTransform& t = domain.transform;
        const double from_centre =
            unit * std::hypot((p.x - t.origin[0]) / t.voxel - c[0], (p.y - t.origin[1]) / t.voxel - c[1],
                              (p.z - t.origin[2]) / t.voxel - c[2]);
        out.leaf[v] = at;
        out.most[v] =
            nearest.distance(at) +
            std::max({nearest.distance(at) + from_centre, length[nearest.joint(at)] / 2, 2 * unit}) / strength;
    });
    for (const double most : out.most) out.limit = std::max(out.limit, most);
    return out;
}

/// Entries of one binding's columns whose joint is far from the vertex, by joint.
using FarEntries = std::vector<std::vector<std::uint32_t>>;

Bleed sum_up(const JointColumns& columns, const FarEntries& far, std::size_t vertices,
             std::vector<double> far_weight) {
    Bleed out;
    double all = 0, away = 0;
    for (const float weight : columns.weight) all += weight;
    for (const double f : far_weight) away += f;
    out.share = all > 0 ? away / all : 0;
    out.far_weight = std::move(far_weight);
    std::vector<float> at_vertex(vertices, 0);
    for (const auto& entries : far)
        for (const std::uint32_t i : entries) at_vertex[columns.vertex[i]] += columns.weight[i];
    out.vertices = static_cast<std::size_t>(
        std::count_if(at_vertex.begin(), at_vertex.end(), [](float f) { return f > 0.01f; }));
    return out;
}

}  // namespace

JointColumns::JointColumns(const SkinWeights& weights, std::size_t joints) : first(joints + 1, 0) {
    const std::size_t n = weights.vertex_count();
    for (std::size_t v = 0; v < n; ++v)
        for (const Influence& i : weights[v]) ++first[i.joint + 1];
    for (std::size_t j = 0; j < joints; ++j) first[j + 1] += first[j];
    vertex.resize(first.back());
    weight.resize(first.back());
    std::vector<std::size_t> next(first.begin(), first.end() - 1);
    for (std::size_t v = 0; v < n; ++v)
        for (const Influence& i : weights[v]) {
            vertex[next[i.joint]] = static_cast<std::uint32_t>(v);
            weight[next[i.joint]++] = i.weight;
        }
}

Status each_joint_reach(const MeshView& mesh, const MeshTopology& topology, const Skeleton& skeleton,
                        const std::vector<std::uint32_t>& joints, int resolution, double strength,
                        const std::function<void(std::uint32_t, const JointReach&)>& use, Context* context) {
    Skeleton used = skeleton;
    for (Joint& joint : used.joints) joint.deform = false;
    for (const std::uint32_t j : joints) used.joints[j].deform = true;
    // As in a bind, far triangles take no voxels.
    const std::vector<Triangle> near = near_triangles(mesh, used, context);
    const bool any_far = near.size() < mesh.triangles.size();
    const MeshView near_mesh{mesh.positions, near, mesh.skin_of_vertex};
    SINEW_TRY_LET(VoxelGrid grid, voxelize(near_mesh, any_far ? analyse_mesh(near_mesh, context) : topology,
                                           {resolution, true, true}, context));
    std::vector<Bone> bones = make_bones(used);
    extend_leaf_bones(bones, used, grid);
    SINEW_TRY_LET(Domain domain, build_domain(grid, bones, DomainKind::sparse, context));
    grid = {};
    const BoneSeeds seeds = seed_bones(domain, bones, skeleton.joints.size());
    // One volume: loose components are joined to the rest, by the same bridges for every joint.
    std::vector<bool> start(domain.component_count, false);
    if (!start.empty()) start[0] = true;
    const std::vector<Bridge> bridges = BridgeFinder(domain).join(start);
    const GeodesicSolver solver(domain, {1}, context);
    SINEW_TRY_LET(LeafDistances nearest, solver.nearest(seeds, joints, bridges, 1, context));
    const VertexReach vertices = reach_of(
        mesh, domain, nearest, bone_lengths(skeleton, bones, joints, domain.transform.voxel), strength, context);
    const auto limit = static_cast<std::uint32_t>(std::min<double>(vertices.limit + 1, LeafDistances::unreached));

    std::vector<std::optional<Error>> failed(joints.size());
    parallel_for(context, joints.size(), 1, [&](std::size_t k) {
        if (cancelled(context)) return;
        const std::uint32_t joint[] = {joints[k]};
        Result<LeafDistances> field = solver.nearest(seeds, joint, bridges, 1, context, limit);
        if (field)
            use(joints[k], {*field, vertices});
        else
            failed[k] = field.error();
    });
    for (const auto& error : failed)
        if (error) return *error;
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled"};
    return Done{};
}

Result<std::vector<Bleed>> bleed_of(const MeshView& mesh, const MeshTopology& topology, const Skeleton& skeleton,
                                    std::span<const SkinWeights* const> weights, const BleedOptions& options,
                                    Context* context) {
    const std::size_t joints = skeleton.joints.size();
    std::vector<JointColumns> columns;
    for (const SkinWeights* w : weights) columns.emplace_back(*w, joints);
    std::vector<std::uint32_t> list;
    for (std::uint32_t j = 0; j < joints; ++j)
        if (std::any_of(columns.begin(), columns.end(), [&](const JointColumns& c) { return c.uses(j); }))
            list.push_back(j);
    std::vector<Bleed> out(weights.size());
    for (Bleed& b : out) b.far_weight.assign(joints, 0);
    if (list.empty()) return out;

    // Joint by joint; far vertices are marked per joint and summed over joints in their order.
    std::vector<FarEntries> far(weights.size(), FarEntries(joints));
    SINEW_TRY(each_joint_reach(
        mesh, topology, skeleton, list, options.resolution, 1,
        [&](std::uint32_t joint, const JointReach& reach) {
            for (std::size_t w = 0; w < weights.size(); ++w) {
                const JointColumns& c = columns[w];
                for (std::size_t i = c.first[joint]; i < c.first[joint + 1]; ++i) {
                    if (!reach.far(c.vertex[i])) continue;
                    out[w].far_weight[joint] += c.weight[i];
                    far[w][joint].push_back(static_cast<std::uint32_t>(i));
                }
            }
        },
        context));
    for (std::size_t w = 0; w < weights.size(); ++w)
        out[w] = sum_up(columns[w], far[w], mesh.positions.size(), std::move(out[w].far_weight));
    return out;
}

Result<std::vector<Bleed>> bleed(const MeshView& mesh, const Skeleton& skeleton,
                                 std::span<const SkinWeights* const> weights, const BleedOptions& options,
                                 Context* context) {
    SINEW_TRY(check_mesh(mesh));
    SINEW_TRY(check_skeleton(skeleton));
    for (const SkinWeights* w : weights) SINEW_TRY(check_fit(mesh, skeleton, *w, "the weights"));
    return bleed_of(mesh, analyse_mesh(mesh, context), skeleton, weights, options, context);
}

}  // namespace sinew
