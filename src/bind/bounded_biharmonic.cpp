// Bounded biharmonic weights (Jacobson et al. 2011) on the leaves of the volume instead of a mesh of tetrahedra, as
// Dionne and de Lasa (2014, section 9) propose. docs/methods/bounded-biharmonic.md
#include <cmath>
#include <memory>

#include "bind/voxel_fields.h"
#include "core/try.h"
#include "domain/trace.h"
#include "field/biharmonic.h"
#include "field/geodesic.h"
#include "sinew/voxels.h"

namespace sinew {
namespace {

constexpr double kTolerance = 1e-6;     // mean error of weights about 1e-4, see the method's page
constexpr int kMostPerResolution = 64;  // iterations; a figure takes 20 to 30 per voxel along its longest side
constexpr int kCoarsestResolution = 32;

using Wide = BiharmonicSolver::Row;

// One resolution of the volume, for one joint set.
struct Level {
    Domain own_domain;          // of coarser levels
    Conduction own_conduction;  // of coarser levels
    BoneSeeds own_seeds;        // of coarser levels
    const Domain* domain = &own_domain;
    const Conduction* conduction = &own_conduction;
    const BoneSeeds* seeds = &own_seeds;
    std::vector<std::uint8_t> owners;  // per leaf: number of joints whose bones cross it
    std::unique_ptr<const BiharmonicSolver> solver;

    Level() = default;
    Level(const Level&) = delete;

    void prepare(const std::vector<std::uint32_t>& joints) {
        std::vector<bool> fixed(domain->leaves.size(), false);
        owners.assign(domain->leaves.size(), 0);
        for (const std::uint32_t j : joints)
            for (const BoneSeeds::Seed& seed : seeds->of_joint[j]) {
                fixed[seed.leaf] = true;
                if (owners[seed.leaf] < 255) ++owners[seed.leaf];
            }
        solver = std::make_unique<const BiharmonicSolver>(*domain, *conduction, fixed);
    }
    // A leaf that bones cross belongs to their joints in equal parts, and to no other joint.
    float fixed_value(std::uint32_t leaf) const { return 1.0f / static_cast<float>(owners[leaf]); }

    void set_fixed(std::span<const std::uint32_t> joints, std::vector<Wide>& w) const {
        for (std::size_t i = 0; i < w.size(); ++i)
            if (owners[i] > 0) w[i] = Wide{};
        for (std::size_t c = 0; c < joints.size(); ++c)
            for (const BoneSeeds::Seed& seed : seeds->of_joint[joints[c]]) w[seed.leaf][c] = fixed_value(seed.leaf);
    }

    // The start on the coarsest level: the harmonic function with the same fixed values.
    std::vector<Wide> harmonic(std::span<const std::uint32_t> joints, Context* context) const {
        std::vector<float> loss(owners.size());
        for (std::size_t i = 0; i < loss.size(); ++i) loss[i] = owners[i] > 0 ? 1e4f : 0.0f;
        std::vector<std::vector<HeatSolver::FixedValues>> columns(joints.size());
        for (std::size_t c = 0; c < joints.size(); ++c) {
            std::vector<bool> own(owners.size(), false);
            for (const BoneSeeds::Seed& seed : seeds->of_joint[joints[c]]) {
                own[seed.leaf] = true;
                columns[c].push_back({seed.leaf, fixed_value(seed.leaf)});
            }
            for (std::uint32_t i = 0; i < owners.size(); ++i)
                if (owners[i] > 0 && !own[i]) columns[c].push_back({i, 0.0f});
        }
        std::vector<HeatSolver::Row> heat;
        HeatSolver(*conduction, std::move(loss)).solve(columns, heat, 1e-4, context);
        std::vector<Wide> w(heat.size());
        for (std::size_t i = 0; i < w.size(); ++i)
            for (std::size_t c = 0; c < joints.size(); ++c)
                w[i][c] = std::min(1.0, std::max(0.0, double{heat[i][c]}));
        return w;
    }
};

// A field of a coarser level at the leaves of a finer one, by trilinear interpolation between the eight voxels
// around.
std::vector<Wide> refine(const Level& coarse, const std::vector<Wide>& field, const Level& fine) {
    const GridTransform& g = fine.domain->transform;
    std::vector<Wide> w(fine.domain->leaves.size());
    for (std::uint32_t i = 0; i < w.size(); ++i) {
        const auto centre = fine.domain->centre(i);
        std::array<double, 3> at;
        for (std::size_t k = 0; k < 3; ++k)
            at[k] = (g.origin[k] + static_cast<double>(centre[k]) * g.voxel - coarse.domain->transform.origin[k]) /
                    coarse.domain->transform.voxel;
        double total = 0;
        for (int corner = 0; corner < 8; ++corner) {
            int q[3];
            double share = 1;
            for (std::size_t k = 0; k < 3; ++k) {
                const double base = std::floor(at[k] - 0.5), t = at[k] - 0.5 - base;
                const bool upper = corner >> k & 1;
                q[k] = static_cast<int>(base) + upper;
                share *= upper ? t : 1 - t;
            }
            const std::uint32_t leaf = coarse.domain->leaf_at(q[0], q[1], q[2]);
            if (share <= 0 || leaf == no_index) continue;
            total += share;
            for (std::size_t c = 0; c < w[i].size(); ++c) w[i][c] += share * field[leaf][c];
        }
        for (double& value : w[i]) value = total > 0 ? value / total : 0;
    }
    return w;
}

// The volume at a coarser resolution. It only gives a start, so it may lose detail.
Status build_coarse(const Task& task, int resolution, const std::vector<std::uint32_t>& joints, Level& level) {
    VoxelizeOptions options = task.options.voxels;
    options.resolution = resolution;
    options.voxelizer = Voxelizer::cpu;
    SINEW_TRY_LET(VoxelGrid grid, voxelize(task.mesh, task.topology, options, task.context));
    SINEW_TRY_LET(level.own_domain, build_domain(grid, task.bones, task.options.domain, task.context));
    level.own_seeds = seed_bones(level.own_domain, task.bones, task.skeleton.joints.size());
    std::vector<bool> seeded(level.own_domain.component_count, false);
    for (const std::uint32_t j : joints)
        for (const BoneSeeds::Seed& seed : level.own_seeds.of_joint[j])
            seeded[level.own_domain.component[seed.leaf]] = true;
    level.own_conduction =
        make_conduction(level.own_domain, BridgeFinder(level.own_domain).join(seeded), task.context);
    return Done{};
}

Result<SolveFields> prepare(const FieldProblem& problem) {
    const Task& task = problem.task;
    // Coarsest first; the last is the volume itself.
    std::vector<int> resolutions{task.options.voxels.resolution};
    while (resolutions.front() > kCoarsestResolution)
        resolutions.insert(resolutions.begin(), resolutions.front() / 2);
    const auto levels = std::make_shared<std::vector<Level>>(resolutions.size());
    for (std::size_t k = 0; k + 1 < levels->size(); ++k)
        SINEW_TRY(build_coarse(task, resolutions[k], problem.joints, (*levels)[k]));
    Level& finest = levels->back();
    finest.domain = &problem.domain;
    finest.conduction = &problem.conduction;
    finest.seeds = &problem.seeds;
    for (Level& level : *levels) level.prepare(problem.joints);

    return SolveFields([levels, resolutions, &task](std::span<const std::uint32_t> joints,
                                                    std::vector<HeatSolver::Row>& fields) -> Result<FieldOutcome> {
        std::vector<Wide> w = levels->front().harmonic(joints, task.context);
        BiharmonicSolver::Outcome outcome;
        for (std::size_t k = 0; k < levels->size(); ++k) {
            const Level& level = (*levels)[k];
            if (k > 0) w = refine((*levels)[k - 1], w, level);
            level.set_fixed(joints, w);
            outcome = level.solver->solve(w, kTolerance, kMostPerResolution * resolutions[k], task.context);
        }
        fields.resize(w.size());
        for (std::size_t i = 0; i < w.size(); ++i)
            for (std::size_t c = 0; c < w[i].size(); ++c) fields[i][c] = static_cast<float>(w[i][c]);
        return FieldOutcome{outcome.converged, outcome.residual};
    });
}

}  // namespace

Result<MethodRows> bind_bounded_biharmonic(const Task& task) {
    return bind_fields(task, "energy", "bounded biharmonic weights", prepare);
}

}  // namespace sinew
