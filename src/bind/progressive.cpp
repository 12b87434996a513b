// A coarse binding first, then the requested one.
#include "bind/method_table.h"
#include "core/try.h"
#include "sinew/bind.h"

namespace sinew {

namespace {

constexpr int kFirstResolution = 64;

/// Whether a first result has coarser voxels than the requested binding, and takes less time.
Result<bool> is_finer(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                      Context* context) {
    const MethodTableRow& method = row_of(options.method);
    if (!method.has_volume() || mesh.positions.size() > method.most_with_first_result) return false;
    if (options.voxels.resolution != 0 && !options.local_resolution)
        return options.voxels.resolution > kFirstResolution;
    SINEW_TRY_LET(const ResolutionChoice choice, choose_resolution(mesh, skeleton, options, context));
    return (choice.fine.empty() ? 1 : 2) * choice.resolution > kFirstResolution;
}

}  // namespace

Result<Binding> bind_progressive(const MeshView& mesh, std::span<const std::uint32_t> part_of_vertex,
                                 const Skeleton& skeleton, const BindOptions& options, const BindStep& on_result,
                                 Context* context) {
    SINEW_TRY(check(options));
    SINEW_TRY_LET(const bool finer, on_result ? is_finer(mesh, skeleton, options, context) : false);
    if (finer) {
        BindOptions coarse = options;
        coarse.voxels.resolution = kFirstResolution;
        coarse.local_resolution = false;
        Result<Binding> first = sinew::bind(mesh, part_of_vertex, skeleton, coarse, context);
        if (first && !on_result(*first, false)) return first;
        // After any other error the requested binding may still succeed; if not, it fails with the same error.
        if (!first && first.error().code == ErrorCode::cancelled) return first;
    }
    Result<Binding> last = sinew::bind(mesh, part_of_vertex, skeleton, options, context);
    if (last && on_result) on_result(*last, true);
    return last;
}

}  // namespace sinew
