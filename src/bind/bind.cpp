// One call from mesh and skeleton to distances, and from distances to weights: the data flow of
// docs/architecture.md.

#include "sinew/bind.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "bind/method_table.h"
#include "core/geometry.h"

namespace sinew {

std::string_view to_string(Coverage coverage) {
    switch (coverage) {
        case Coverage::weighted:
            return "weighted";
        case Coverage::bridged:
            return "bridged";
        case Coverage::outside:
            return "outside";
        case Coverage::euclidean:
            return "euclidean";
        case Coverage::unused:
            return "unused";
        case Coverage::none:
            return "none";
    }
    return "";
}

std::string_view to_string(Reuse reuse) {
    switch (reuse) {
        case Reuse::none:
            return "no";
        case Reuse::table:
            return "table";
        case Reuse::volume:
            return "volume";
    }
    return "";
}

std::size_t BindReport::vertices() const {
    return std::accumulate(coverage.begin(), coverage.end(), std::size_t{0});
}

double BindReport::covered() const {
    auto count = [&](Coverage how) { return coverage[static_cast<std::size_t>(how)]; };
    const std::size_t matter = vertices() - count(Coverage::unused);
    if (matter == 0) return 0;
    const std::size_t reached = count(Coverage::weighted) + count(Coverage::bridged) + count(Coverage::outside);
    return static_cast<double>(reached) / static_cast<double>(matter);
}

PlannedMesh plan_mesh(const MeshView& mesh, const Skeleton& skeleton, StageClock& clock, BindReport& report) {
    PlannedMesh planned;
    planned.topology = clock.run("topology", [&] { return analyse_mesh(mesh, clock.context()); });
    report.defects = planned.topology.defects;
    planned.used = planned.topology.at_triangle;
    planned.plan = plan_rows(mesh, skeleton, planned.topology.weld);
    return planned;
}

void share_rows(const RowPlan& plan, MethodRows& rows, BindReport& report) {
    const auto copy = [&](std::size_t width, auto& joint, auto& value) {
        for (std::size_t v = 0; v < plan.source.size(); ++v) {
            const std::size_t from = plan.source[v];
            if (from == v) continue;
            std::copy_n(joint.data() + from * width, width, joint.data() + v * width);
            std::copy_n(value.data() + from * width, width, value.data() + v * width);
        }
    };
    if (auto* distances = std::get_if<DistanceTable>(&rows.table)) {
        copy(distances->width, distances->joint, distances->distance);
    } else {
        auto& influences = std::get<InfluenceTable>(rows.table);
        copy(influences.width, influences.joint, influences.strength);
    }
    for (std::size_t v = 0; v < plan.source.size(); ++v) {
        rows.coverage[v] = rows.coverage[plan.source[v]];
        ++report.coverage[static_cast<std::size_t>(rows.coverage[v])];
    }
    for (const JointSet& set : plan.sets)
        if (set.idle && !set.vertices.empty())
            report.warnings.push_back(
                std::to_string(set.vertices.size()) +
                " vertices belong to a skin none of whose joints deforms; they are bound to its " +
                "idle joints (see --include)");
}

void warn_of_snapped(const Skeleton& skeleton, const BindOptions& options, BindReport& report) {
    const char* const what = row_of(options.method).is_flat() ? "figure; its distances start from the nearest pixel"
                             : options.as_published           ? "volume; as published, no distance starts from it"
                                                    : "volume; its distances start from the nearest voxel";
    for (const std::uint32_t j : report.snapped_joints)
        report.warnings.push_back("joint '" + skeleton.joints[j].name + "' lies outside the " + what);
}

void Binding::take_hardness() {
    FalloffOptions& falloff = options_.falloff;
    if (map_is_hardness_) falloff.map.hardness_of_joint.clear();
    map_is_hardness_ = false;
    const std::vector<float>& given = falloff.map.of_joint;
    const bool given_is_alpha = shape_of(falloff.law) == &FalloffOptions::alpha;
    std::vector<float> alpha(skeleton_.joints.size(), NAN);
    std::size_t count = 0, unused = 0;
    for (std::size_t j = 0; j < alpha.size(); ++j) {
        if (!skeleton_.joints[j].hardness) continue;
        alpha[j] = *skeleton_.joints[j].hardness;
        ++count;
        if (given_is_alpha && j < given.size() && !std::isnan(given[j])) ++unused;
    }
    if (count == 0) return;
    if (falloff.map.hardness_of_joint.empty()) {
        falloff.map.hardness_of_joint = std::move(alpha);
        map_is_hardness_ = true;
    } else {
        unused = count;
    }
    if (unused > 0)
        report_.warnings.push_back("the hardness of " + std::to_string(unused) +
                                   " joints is not used: the options have a falloff map by joint");
}

void Binding::take_rows(const RowPlan& plan, MethodRows rows) {
    share_rows(plan, rows, report_);
    if (auto* distances = std::get_if<DistanceTable>(&rows.table))
        distances_ = std::move(*distances);
    else
        influences_ = std::move(std::get<InfluenceTable>(rows.table));
    coverage_ = std::move(rows.coverage);
}

Result<Binding> bind(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& given, Context* context) {
    if (Status ok = check(given); !ok) return ok.error();
    if (Status ok = check_mesh(mesh); !ok) return ok.error();
    if (Status ok = check_skeleton(skeleton); !ok) return ok.error();
    BindOptions options = given;
    Binding binding;
    BindReport& report = binding.report_;
    StageClock clock(report, context);
    std::vector<FinePlace> fine;
    if (given.voxels.resolution == 0 || given.local_resolution) {
        Result<ResolutionChoice> choice =
            clock.run("resolution", [&] { return choose_resolution(mesh, skeleton, given, context); });
        if (!choice) return choice.error();
        options.voxels.resolution = choice->resolution;
        options.local_resolution = !choice->fine.empty();
        report.resolution_reason = std::move(choice->reason);
        fine = std::move(choice->fine);
    }
    if (Status ok = check_memory(mesh, skeleton, options, context); !ok) return ok.error();

    binding.options_ = options;
    binding.options_.mask = nullptr;  // which lives as long as this call
    // Asked for, it stays so where nothing needs it yet: a joint may move.
    if (given.voxels.resolution != 0) binding.options_.local_resolution = given.local_resolution;
    binding.skeleton_ = skeleton;
    binding.take_hardness();

    PlannedMesh planned = plan_mesh(mesh, skeleton, clock, report);
    binding.bones_ = make_bones(skeleton);
    const Task task = make_task(mesh, skeleton, options, planned, binding.bones_, clock, FreshBind{fine});
    Result<MethodRows> rows = run_method(task);
    if (!rows) return rows.error();
    binding.volume_ = std::move(rows->volume);
    binding.take_rows(planned.plan, std::move(*rows));

    binding.mesh_hash_ = hash_mesh(mesh, skeleton);
    if (binding.volume_) binding.planned_ = std::make_shared<const PlannedMesh>(std::move(planned));

    warn_of_snapped(skeleton, options, report);
    return binding;
}

Result<SkinWeights> Binding::weights(const FalloffOptions& falloff, const FinishOptions& finish_options,
                                     Context* context) const {
    if (Status ok = check(finish_options); !ok) return ok.error();
    const bool kept_all = options_.finish.max_influences == all_influences;
    if (!kept_all && (finish_options.max_influences == all_influences ||
                      static_cast<std::size_t>(finish_options.max_influences) > kept_joints(options_.finish))) {
        return Error{ErrorCode::usage, "only the " + std::to_string(std::max(distances_.width, influences_.width)) +
                                           " nearest joints were kept: bind again with a larger limit"};
    }
    return influences_.width == 0 ? weigh(distances_, falloff, finish_options, context)
                                  : weigh(influences_, falloff, finish_options, context);
}

}  // namespace sinew
