// sinew/bind.h: from a mesh and a skeleton to skin weights. Includes the headers of options, bindings and edits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sinew/binding.h"
#include "sinew/core.h"
#include "sinew/domain.h"
#include "sinew/edits.h"
#include "sinew/options.h"
#include "sinew/parts.h"
#include "sinew/skeleton.h"
#include "sinew/weights.h"

namespace sinew {

/// Binds a mesh to a skeleton. Joints that do not deform must have been marked (select_deforming). Vertices at the
/// same position get the same row if their skins allow it. Memory is estimated (estimate_memory) and compared with
/// Context::memory_limit before the work starts. Time and memory: see the page of each method in docs/methods and
/// docs/memory.md.
Result<Binding> bind(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options = {},
                     Context* context = nullptr);

/// Binds parts of a mesh apart: they do not see each other. part_of_vertex: V numbers from 0, or kFollows for what
/// neither fills a volume nor covers a surface (coarser levels of detail, meshes that are not shown), whose rows
/// come by transfer (sinew/transfer.h) from triangles with the same skin; empty: one part. The vertices of a
/// triangle are of one part. With BindOptions::keep_volume all parts that are not kFollows are one. A part whose
/// skins have no joint that deforms is bound together with all others.
Result<Binding> bind(const MeshView& mesh, std::span<const std::uint32_t> part_of_vertex, const Skeleton& skeleton,
                     const BindOptions& options = {}, Context* context = nullptr);

/// Binding::rebind for a mesh with parts: what is kFollows takes its rows as in bind.
Result<Binding> rebind(const Binding& binding, const MeshView& mesh, std::span<const std::uint32_t> part_of_vertex,
                       const Skeleton& skeleton, Context* context = nullptr);

/// Whether the skeleton lies in the mesh and has its unit, as bind checks with BindOptions::fit_check. The error
/// says how they differ and what to do. Requires check_mesh and check_skeleton. O(V + T).
Status check_fit(const MeshView& mesh, const Skeleton& skeleton, Context* context = nullptr);

/// Receives each result of bind_progressive; `final` marks the last. Returning false stops the bind.
using BindStep = std::function<bool(const Binding& binding, bool final)>;

/// Like bind, with an early result: if the method uses voxels and the resolution is above 64, it binds at 64 first;
/// not where that would take as long: surface-heat on more than 60,000 vertices.
/// The last binding is that of bind, to the bit. If `on_result` returns false after the coarse result, that binding
/// is returned. part_of_vertex: as for bind. Time: that of bind, and of a bind at resolution 64.
Result<Binding> bind_progressive(const MeshView& mesh, std::span<const std::uint32_t> part_of_vertex,
                                 const Skeleton& skeleton, const BindOptions& options, const BindStep& on_result,
                                 Context* context = nullptr);

/// Weights of a binding with the user's changes: rigid regions, then falloff, limit, locks and edits. Values of
/// adjustments.falloff replace those of falloff.map. Call complete_edits before, which also puts
/// Adjustments::angles into the map. `mesh` and `skeleton`: those that were bound. A vertex of a rigid region that
/// keeps none of the region's joints follows the nearest of them by straight distance; where a region has several
/// joints and the binding does not keep all that matter, the report warns. Time: at most twice Binding::weights
/// with regions, but for the first call, which finds coincident vertices (analyse_mesh); and apply_edits.
Result<SkinWeights> adjusted_weights(const Binding& binding, const MeshView& mesh, const Skeleton& skeleton,
                                     const FalloffOptions& falloff, const FinishOptions& finish,
                                     const Adjustments& adjustments, EditReport* report = nullptr,
                                     Context* context = nullptr);

/// Upper bound of the memory in bytes that bind needs in addition to the mesh, by the formulas in docs/memory.md.
/// The number of threads is that of the context. O(V + T).
std::size_t estimate_memory(const MeshView& mesh, const Skeleton& skeleton, const BindOptions& options,
                            Context* context = nullptr);

/// The resolution of a bind, and the reason.
struct ResolutionChoice {
    int resolution = 0;           ///< the given one, or 64..512
    std::vector<FinePlace> fine;  ///< local resolution: places with voxels of half the size
    std::string reason;           ///< lengths in scene units; empty if the resolution was given
};

/// The resolution that bind uses (docs/methods/resolution.md).
///
/// If BindOptions::voxels.resolution is 0: the coarsest resolution from 64 to 512 at which two voxels fit across
/// the thinnest limb and into the narrowest gap between limbs, as far as Context::memory_limit allows; one in ten
/// limbs or gaps may be smaller. It is 256 if there are no limbs. If the result is 256 or more, and at most half of
/// the surface needs it, half the resolution is chosen, together with local resolution.
///
/// With local resolution, given or chosen: also the places where limbs are too thin or too close for two voxels.
///
/// Limbs and gaps are measured around the bones of joints that deform. Not for pixel_geodesic. O(V + T), and at
/// most 15,000 triangles × bones.
Result<ResolutionChoice> choose_resolution(const MeshView& mesh, const Skeleton& skeleton,
                                           const BindOptions& options, Context* context = nullptr);

}  // namespace sinew
