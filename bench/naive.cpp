#include "naive.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <queue>

#include "core/parallel.h"
#include "domain/trace.h"
#include "sinew/voxels.h"

namespace sinew::bench {

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Step {
    std::uint32_t to;
    float cost;
};

float step_cost(const Domain& domain, std::uint32_t from, std::uint32_t to, float penalty) {
    const auto a = domain.centre(from), b = domain.centre(to);
    const float length = std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    return domain.leaves[to].boundary ? penalty * length : length;
}

}  // namespace

std::vector<std::vector<float>> naive_distances(const Domain& domain, const BoneSeeds& seeds,
                                                const std::vector<Bridge>& bridges, float penalty,
                                                Context* context) {
    const std::size_t n = domain.leaves.size();
    const LeafLinks links = list_links(domain, Neighbours::all, context);
    std::vector<std::vector<Step>> adjacency(n);
    for (std::uint32_t i = 0; i < n; ++i)
        for (const std::uint32_t j : links.of(i)) adjacency[i].push_back({j, step_cost(domain, i, j, penalty)});
    for (const Bridge& b : bridges) {
        adjacency[b.from].push_back({b.to, b.length * (domain.leaves[b.to].boundary ? penalty : 1)});
        adjacency[b.to].push_back({b.from, b.length * (domain.leaves[b.from].boundary ? penalty : 1)});
    }

    std::vector<std::vector<float>> distance(seeds.of_joint.size());
    parallel_for(context, seeds.of_joint.size(), 1, [&](std::size_t joint) {
        if (seeds.of_joint[joint].empty()) return;
        std::vector<float>& d = distance[joint];
        d.assign(n, kInf);
        using Entry = std::pair<float, std::uint32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
        for (const BoneSeeds::Seed& seed : seeds.of_joint[joint])
            if (seed.distance < d[seed.leaf]) {
                d[seed.leaf] = seed.distance;
                heap.push({seed.distance, seed.leaf});
            }
        while (!heap.empty()) {
            const auto [at, leaf] = heap.top();
            heap.pop();
            if (at > d[leaf]) continue;
            for (const Step& step : adjacency[leaf])
                if (at + step.cost < d[step.to]) {
                    d[step.to] = at + step.cost;
                    heap.push({d[step.to], step.to});
                }
        }
    });
    return distance;
}

Result<SkinWeights> naive_bind(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                               std::vector<StageTime>* seconds, Context* context) {
    auto last = std::chrono::steady_clock::now();
    const auto record = [&](const char* stage) {
        const auto now = std::chrono::steady_clock::now();
        if (seconds) seconds->push_back({stage, std::chrono::duration<double>(now - last).count()});
        last = now;
    };
    if (Status ok = check_mesh(mesh); !ok) return ok.error();
    if (Status ok = check_skeleton(skeleton); !ok) return ok.error();
    const MeshTopology topology = analyse_mesh(mesh);
    record("topology");
    Result<VoxelGrid> grid = voxelize(mesh, topology, options.voxels, context);
    if (!grid) return grid.error();
    record("voxelize");
    std::vector<Bone> bones = make_bones(skeleton);
    extend_leaf_bones(bones, skeleton, *grid);
    Result<Domain> domain = build_domain(*grid, bones, options.domain, context);
    if (!domain) return domain.error();
    record("octree");

    const std::size_t joints = skeleton.joints.size();
    const BoneSeeds seeds = seed_bones(*domain, bones, joints);
    std::vector<bool> seeded(domain->component_count, false);
    for (const auto& list : seeds.of_joint)
        for (const auto& seed : list) seeded[domain->component[seed.leaf]] = true;
    const std::vector<std::vector<float>> field =
        naive_distances(*domain, seeds, BridgeFinder(*domain).join(seeded), options.penalty, context);

    // Eq. 7, and the nearest joints of each vertex.
    DistanceTable table;
    table.vertices = mesh.positions.size();
    table.width = std::min<std::size_t>(joints, 8);
    table.unit = static_cast<float>(domain->transform.unit);
    table.joint.assign(table.vertices * table.width, no_index);
    table.distance.assign(table.vertices * table.width, kInf);
    const GridTransform& g = domain->transform;
    parallel_for(context, table.vertices, 1024, [&](std::size_t v) {
        const auto p = to_voxels(g, mesh.positions[v]);
        for (const double c : p)
            if (!(c >= 0 && c < g.resolution)) return;
        const std::uint32_t leaf =
            domain->leaf_at(static_cast<int>(p[0]), static_cast<int>(p[1]), static_cast<int>(p[2]));
        if (leaf == no_index) return;
        const auto centre = domain->centre(leaf);
        const double step = std::hypot(centre[0] - p[0], centre[1] - p[1], centre[2] - p[2]);
        std::vector<std::pair<float, std::uint32_t>> row;
        for (std::uint32_t j = 0; j < joints; ++j)
            if (!field[j].empty() && field[j][leaf] < kInf)
                row.emplace_back(static_cast<float>((field[j][leaf] + step) * g.voxel), j);
        const std::size_t kept = std::min(table.width, row.size());
        std::partial_sort(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(kept), row.end());
        for (std::size_t k = 0; k < kept; ++k) {
            table.distance[v * table.width + k] = row[k].first;
            table.joint[v * table.width + k] = row[k].second;
        }
    });
    record("distances");
    Result<InfluenceTable> influences = apply_falloff(table, options.falloff, context);
    if (!influences) return influences.error();
    Result<SkinWeights> weights = finish(*influences, options.finish, context);
    record("weights");
    return weights;
}

}  // namespace sinew::bench
