#include "bind/voxel_fields.h"

#include <algorithm>
#include <cmath>

#include "bind/sampling.h"
#include "bind/volume.h"
#include "core/numbers.h"
#include "core/try.h"
#include "field/geodesic.h"
#include "field/leaf_sample.h"

namespace sinew {
namespace {

using Entry = InfluenceRows::Entry;

bool stronger(const Entry& a, const Entry& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
}

// The strongest entries of every vertex of a set. The result does not depend on the order of joints.
class Strongest {
public:
    Strongest(std::size_t vertices, std::size_t width)
        : width_(width), entry_(vertices * width, Entry{0.0f, no_index}) {}

    void offer(std::size_t vertex, const Entry& entry) {
        Entry* row = entry_.data() + vertex * width_;
        std::size_t at = width_;
        while (at > 0 && stronger(entry, row[at - 1])) --at;
        if (at == width_) return;
        std::move_backward(row + at, row + width_ - 1, row + width_);
        row[at] = entry;
    }
    std::vector<Entry> row(std::size_t vertex) const {
        const auto first = entry_.begin() + static_cast<std::ptrdiff_t>(vertex * width_);
        std::vector<Entry> out(first, first + static_cast<std::ptrdiff_t>(width_));
        std::erase_if(out, [](const Entry& e) { return !(e.first > 0); });
        return out;
    }

private:
    std::size_t width_;
    std::vector<Entry> entry_;
};

// A vertex that no field reaches: strengths from straight distances, by the default falloff.
Coverage fill_straight(const Task& task, const BoneShapes& shapes, const JointSet& set, std::uint32_t vertex,
                       InfluenceRows& rows) {
    std::vector<Entry> row;
    const Coverage how = straight_row(task, shapes, set, vertex, row);
    const FalloffOptions law;
    const double exponent = (1 - law.alpha) * law.lambda_min + law.alpha * law.lambda_max;
    const double least = static_cast<double>(law.tolerance) * task.unit;
    double nearest = INFINITY;
    for (const Entry& e : row) nearest = std::min(nearest, std::max<double>(e.first, least));
    for (Entry& e : row)
        e.first = static_cast<float>(std::pow(nearest / std::max<double>(e.first, least), exponent));
    rows.store(vertex, row, how);
    return how;
}

// Rows of a set that needs no field.
void straight_rows(const Task& task, const BoneShapes& shapes, const JointSet& set, InfluenceRows& rows) {
    parallel_for(task.context, set.vertices.size(), 1024, [&](std::size_t i) {
        const Coverage how = fill_straight(task, shapes, set, set.vertices[i], rows);
        if (how == Coverage::euclidean && set.joints.size() == 1 && !set.idle)
            rows.coverage[set.vertices[i]] = Coverage::weighted;
    });
}

class Fields {
public:
    Fields(const Task& task, const SeededVolume& volume, InfluenceRows& rows, Stage stage, FieldThreads threads)
        : task_(task),
          domain_(volume.domain),
          rows_(rows),
          stage_(stage),
          threads_(threads),
          shapes_(task.skeleton, task.bones),
          seeds_(volume.seeds),
          bridge_finder_(domain_) {}

    Status bind_set(const JointSet& set, const PrepareFields& prepare) {
        const std::vector<bool> seeded = seeded_components(domain_, seeds_, set.joints);
        std::vector<std::uint32_t> joints;
        for (const std::uint32_t j : set.joints)
            if (!seeds_.of_joint[j].empty()) joints.push_back(j);
        if (!set.needs_field() || joints.empty()) {
            straight_rows(task_, shapes_, set, rows_);
            return Done{};
        }
        // Joints whose bones are near each other share a batch; leaves are numbered along a space-filling curve.
        std::stable_sort(joints.begin(), joints.end(), [&](std::uint32_t a, std::uint32_t b) {
            return seeds_.of_joint[a].front().leaf < seeds_.of_joint[b].front().leaf;
        });
        const Conduction conduction = make_conduction(domain_, bridge_finder_.join(seeded), task_.context);
        SINEW_TRY_LET(SolveFields solve, prepare({task_, domain_, conduction, seeds_, joints}));

        const std::size_t count = set.vertices.size();
        std::vector<LeafStencil> stencils(count);
        parallel_for(task_.context, count, 1024, [&](std::size_t i) {
            stencils[i] = leaf_stencil(domain_, task_.mesh.positions[set.vertices[i]]);
        });
        Strongest strongest(count, rows_.table.width);
        KeptField* keep = nullptr;
        if (task_.options.keep_volume) {
            const std::size_t wide = set.joints.size();
            keep = &kept.emplace_back(KeptField{
                set.joints, seeded, LeafStrengths{wide, std::vector<float>(domain_.leaves.size() * wide)}});
        }
        SINEW_TRY(solve_all(solve, joints, stencils, strongest, keep));
        parallel_for(task_.context, count, 1024, [&](std::size_t i) {
            const std::uint32_t v = set.vertices[i];
            std::vector<Entry> row = strongest.row(i);
            if (row.empty()) {
                fill_straight(task_, shapes_, set, v, rows_);
                return;
            }
            const bool bridged = !seeded[domain_.component[stencils[i].leaf[0]]];
            rows_.store(v, row, bridged ? Coverage::bridged : Coverage::weighted);
        });
        return Done{};
    }

    std::vector<KeptField> kept;  ///< of the sets that have fields, with BindOptions::keep_volume

    void finish_report(const char* field_name) const {
        BindReport& report = task_.report;
        if (unfinished_ > 0)
            report.warnings.push_back("the " + std::string(field_name) + " of " + std::to_string(unfinished_) +
                                      " joints did not converge (residual " + short_number(residual_) +
                                      "): weights are only close to the solution");
    }

private:
    // As many batches as there are threads are solved in parallel, if the solver allows it; then their fields are
    // read at the vertices and freed.
    Status solve_all(const SolveFields& solve, std::span<const std::uint32_t> joints,
                     const std::vector<LeafStencil>& stencils, Strongest& strongest, KeptField* keep) {
        constexpr std::size_t wide = HeatSolver::kColumns;
        const std::size_t batches = (joints.size() + wide - 1) / wide;
        const auto most =
            threads_ == FieldThreads::caller ? 1 : static_cast<std::size_t>(thread_count(task_.context));
        const std::size_t team = std::min(batches, most);
        std::vector<std::vector<HeatSolver::Row>> fields(team);
        std::vector<std::optional<Result<FieldOutcome>>> outcome(team);
        const auto of_batch = [&](std::size_t batch) {
            return joints.subspan(batch * wide, std::min(wide, joints.size() - batch * wide));
        };
        for (std::size_t first = 0; first < batches; first += team) {
            const std::size_t here = std::min(team, batches - first);
            // A single batch runs on this thread.
            parallel_for(task_.context, here, 1,
                         [&](std::size_t k) { outcome[k] = solve(of_batch(first + k), fields[k]); });
            if (cancelled(task_.context)) return Error{ErrorCode::cancelled, "cancelled while solving for fields"};
            for (std::size_t k = 0; k < here; ++k) {
                if (!*outcome[k]) return outcome[k]->error();
                if (!(*outcome[k])->converged) unfinished_ += of_batch(first + k).size();
                residual_ = std::max(residual_, (*outcome[k])->residual);
            }
            parallel_for(task_.context, stencils.size(), 1024, [&](std::size_t i) {
                const LeafStencil& s = stencils[i];
                for (std::size_t k = 0; k < here; ++k) {
                    const auto batch = of_batch(first + k);
                    for (std::size_t c = 0; c < batch.size(); ++c) {
                        double sum = 0;
                        for (int q = 0; q < s.count; ++q)
                            sum += s.share[static_cast<std::size_t>(q)] *
                                   static_cast<double>(fields[k][s.leaf[static_cast<std::size_t>(q)]][c]);
                        if (sum > 0) strongest.offer(i, {static_cast<float>(sum), batch[c]});
                    }
                }
            });
            for (std::size_t k = 0; keep && k < here; ++k) keep_fields(of_batch(first + k), fields[k], *keep);
            report_progress(task_.context, stage_,
                            static_cast<double>(first + here) / static_cast<double>(batches));
        }
        return Done{};
    }

    void keep_fields(std::span<const std::uint32_t> batch, const std::vector<HeatSolver::Row>& fields,
                     KeptField& keep) const {
        auto& [width, strength] = std::get<LeafStrengths>(keep.field);
        for (std::size_t c = 0; c < batch.size(); ++c) {
            const auto slot = static_cast<std::size_t>(
                std::lower_bound(keep.joints.begin(), keep.joints.end(), batch[c]) - keep.joints.begin());
            for (std::size_t i = 0; i < domain_.leaves.size(); ++i) strength[i * width + slot] = fields[i][c];
        }
    }

    const Task& task_;
    const Domain& domain_;
    InfluenceRows& rows_;
    Stage stage_;
    const FieldThreads threads_;
    const BoneShapes shapes_;
    const BoneSeeds& seeds_;
    BridgeFinder bridge_finder_;
    std::size_t unfinished_ = 0;  // joints
    double residual_ = 0;
};

// Rows of another mesh, from the fields of a kept volume.
Status read_kept(const Task& task, const KeptVolume& volume, InfluenceRows& rows) {
    const BoneShapes shapes(task.skeleton, task.bones);
    for (const JointSet& set : task.plan.sets) {
        if (!set.needs_field() || set.vertices.empty()) {
            straight_rows(task, shapes, set, rows);
            continue;
        }
        SINEW_TRY_LET(const KeptField* found, volume.field_of(set.joints, task.skeleton));
        const KeptField* const kept = found;
        const auto& field = std::get<LeafStrengths>(kept->field);
        std::vector<std::size_t> slots;  // of the joints of this set in the field, which may have more joints
        for (std::size_t k = 0; k < kept->joints.size(); ++k)
            if (std::binary_search(set.joints.begin(), set.joints.end(), kept->joints[k])) slots.push_back(k);
        parallel_for(task.context, set.vertices.size(), 1024, [&](std::size_t i) {
            const std::uint32_t v = set.vertices[i];
            const Reading reading = read_at(task, volume.domain, v);
            const LeafStencil& s = reading.leaves;
            std::vector<Entry> row;
            for (const std::size_t k : slots) {
                double sum = 0;
                for (std::size_t q = 0; q < static_cast<std::size_t>(s.count); ++q)
                    sum += s.share[q] * static_cast<double>(field.strength[s.leaf[q] * field.width + k]);
                if (sum > 0) row.emplace_back(static_cast<float>(sum), kept->joints[k]);
            }
            if (row.empty()) {
                fill_straight(task, shapes, set, v, rows);
                return;
            }
            const bool seeded = kept->seeded[volume.domain.component[s.leaf[0]]];
            rows.store(v, row,
                       reading.outside ? Coverage::outside
                       : seeded        ? Coverage::weighted
                                       : Coverage::bridged);
        });
        if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while reading the volume"};
    }
    return Done{};
}

}  // namespace

Result<MethodRows> bind_fields(const Task& task, Stage stage, const char* field_name, const PrepareFields& prepare,
                               FieldThreads threads) {
    InfluenceRows rows(task.row_shape());
    if (const auto* other = std::get_if<OtherMesh>(&task.start)) {
        SINEW_TRY(task.clock.run(stage, [&] { return read_kept(task, other->volume, rows); }));
        return MethodRows(std::move(rows));
    }
    SINEW_TRY_LET(SeededVolume volume, build_volume(task, task.options.domain));
    std::vector<KeptField> kept;
    const Status bound = task.clock.run(stage, [&]() -> Status {
        Fields fields(task, volume, rows, stage, threads);
        for (const JointSet& set : task.plan.sets) {
            // Another mesh may have vertices in a skin that is empty here.
            if (set.vertices.empty() && !task.options.keep_volume) continue;
            SINEW_TRY(fields.bind_set(set, prepare));
            if (cancelled(task.context)) return Error{ErrorCode::cancelled, "cancelled while solving for fields"};
        }
        fields.finish_report(field_name);
        kept = std::move(fields.kept);
        return Done{};
    });
    if (!bound) return bound.error();
    MethodRows out = std::move(rows);
    if (task.options.keep_volume) out.volume = keep_volume(std::move(volume.domain), std::move(kept));
    return out;
}

}  // namespace sinew
