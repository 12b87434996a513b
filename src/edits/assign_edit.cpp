// The edit that gives loose parts to one joint.
#include <algorithm>
#include <cmath>

#include "core/try.h"
#include "edits/edit_kinds.h"

namespace sinew {
namespace {

constexpr double kBody = 0.5;  // of the area of the surface: a part with more is no loose part

}  // namespace

Status check_assign(const WeightEdit& edit, std::size_t, std::size_t) {
    if (edit.joints.empty() == edit.as.empty())
        return Error{ErrorCode::input, "assign needs \"joint\" or \"as\", and not both"};
    if (!edit.as.empty() && !edit.file) return Error{ErrorCode::input, "assign: the file has no weights"};
    return Done{};
}

Status complete_assign(const EditPreparation& of) {
    for (const std::uint32_t j : of.edit.joints) SINEW_TRY(of.deforms(j, "\"joint\""));
    if (!of.edit.as.empty()) {
        if (!of.own || of.own->vertex_count() != of.surface.mesh.positions.size())
            return of.wrong("\"as\": the file has no weights");
        of.edit.file = of.own;
    }
    return Done{};
}

/// With `as`, the rows of the file; else nothing.
Result<PreparedRow> assigned_rows(const EditTask& task, const EditPart&, std::span<const std::uint32_t> at) {
    if (task.edit.parts) {
        const MeshSurface& surface = task.surface.surface();
        std::vector<double> area(surface.components, 0);
        double all = 0;
        for (std::size_t n = 0; n < surface.nodes(); ++n) {
            area[surface.component[n]] += surface.mass[n];
            all += surface.mass[n];
        }
        for (const std::uint32_t v : at)
            if (const std::uint32_t n = surface.node_of[v]; n != no_index)
                if (const double share = area[surface.component[n]] / all; share > kBody)
                    return Error{ErrorCode::input, "assign: the part at vertex " + std::to_string(v) + " is " +
                                                       std::to_string(std::lround(100 * share)) +
                                                       " % of the surface, the whole body: without \"parts\" only "
                                                       "the selection is assigned"};
    }
    if (task.edit.as.empty()) return PreparedRow{};
    return PreparedRow([&file = *task.edit.file, at](std::size_t k, EditRow& row) {
        for (const Influence& i : file[at[k]]) row.push_back({i.joint, i.weight});
    });
}

}  // namespace sinew
