// One call from mesh and skeleton to a binding: the data flow of docs/architecture.md.

#include "sinew/bind.h"

#include "bind/binding_state.h"
#include "bind/memory_sizes.h"
#include "bind/method_table.h"
#include "bind/near_mesh.h"
#include "bind/planned_mesh.h"
#include "core/try.h"

namespace sinew {

Status check_fit(const MeshView& mesh, const Skeleton& skeleton, Context* context) {
    return NearMesh(mesh, skeleton, context).check_fit();
}

Result<Binding> bind(const MeshView& whole, const Skeleton& skeleton, const BindOptions& given, Context* context) {
    SINEW_TRY(check(given));
    SINEW_TRY(check_mesh(whole));
    SINEW_TRY(check_skeleton(skeleton));
    const NearMesh near(whole, skeleton, context);
    if (given.fit_check) SINEW_TRY(near.check_fit());
    const MeshView mesh = near.view();
    BindOptions options = given;
    const auto binding = std::make_shared<BindingState>();
    BindReport& report = binding->report;
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
    SINEW_TRY(check_memory(mesh, skeleton, options, context));

    binding->options = options;
    binding->options.mask = nullptr;  // it need not live longer than this call
    // A request stays even if no place needs it yet: a moved joint may need it.
    if (given.voxels.resolution != 0) binding->options.local_resolution = given.local_resolution;
    binding->skeleton = skeleton;
    binding->take_hardness();

    if (row_of(options.method).has_volume())
        SINEW_TRY(near.check_voxels((fine.empty() ? 1 : 2) * options.voxels.resolution, report));
    PlannedMesh planned = plan_mesh(mesh, skeleton, clock, report);
    binding->bones = make_bones(skeleton);
    const Task task = make_task(mesh, skeleton, options, planned, binding->bones, clock, FreshBind{fine});
    SINEW_TRY_LET(MethodRows rows, run_method(task));
    binding->volume = std::move(rows.volume);
    binding->take_rows(planned.plan, std::move(rows));
    near.finish(binding->coverage, report);

    binding->mesh_hash = hash_mesh(whole, skeleton);
    if (binding->volume) binding->planned = std::make_shared<const PlannedMesh>(std::move(planned));

    warn_of_snapped(skeleton, options, report);
    return Binding(binding);
}

}  // namespace sinew
