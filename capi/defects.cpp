// Defects of a mesh, for pictures.
#include <span>

#include "core/try.h"
#include "handles.h"
#include "sinew/domain.h"

using namespace sinew;
using namespace sinew::capi;

extern "C" {

snw_status snw_defects(const snw_model* model, snw_context* context, uint8_t* triangles, snw_bytes** edges) {
    if (edges) *edges = nullptr;
    if (!model) return missing("model");
    if (!triangles && !edges) return missing("one of triangles and edges");
    return guarded([&]() -> Status {
        const MeshView mesh = model->scene.mesh();
        if (triangles) {
            std::shared_ptr<const MeasuredDefects> measured = measured_of(*model);
            if (!measured) {
                SINEW_TRY_LET(Intersections found, find_intersections(mesh, context_of(context)));
                measured = std::make_shared<MeasuredDefects>(MeasuredDefects{
                    std::move(found),
                    find_nonmanifold_vertices(mesh, analyse_mesh(mesh, context_of(context)).weld).size()});
                const std::lock_guard lock(model->measuring);
                model->measured = measured;
            }
            for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
                triangles[t] = static_cast<uint8_t>(measured->intersections.of_triangle[t]);
        }
        if (edges) {
            const DefectEdges found = find_defect_edges(mesh, analyse_mesh(mesh, context_of(context)).weld);
            std::vector<std::uint32_t> rows;
            rows.reserve(3 * (found.boundary.size() + found.nonmanifold.size()));
            for (const auto& [from, to] : found.boundary) rows.insert(rows.end(), {from, to, 1});
            for (const auto& [from, to] : found.nonmanifold) rows.insert(rows.end(), {from, to, 3});
            const auto bytes = std::as_bytes(std::span(rows));
            *edges = new_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        }
        return Done{};
    });
}

}  // extern "C"
