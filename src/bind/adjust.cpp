// The user's changes to the weights of a binding (Dionne and de Lasa 2014, section 9).
#include <algorithm>
#include <cmath>

#include "bind/binding_state.h"
#include "bind/bone_shapes.h"
#include "core/parallel.h"
#include "core/try.h"
#include "sinew/bind.h"

namespace sinew {
namespace {

Status check(const RigidRegion& region, std::size_t number, std::size_t vertices, std::size_t joints) {
    const std::string place = "rigid " + std::to_string(number + 1) + ": ";
    if (region.vertices.size() != vertices)
        return Error{ErrorCode::usage, place + "it is for " + std::to_string(region.vertices.size()) +
                                           " vertices, and there are " + std::to_string(vertices)};
    if (region.joints.empty()) return Error{ErrorCode::usage, place + "no joint drives it"};
    for (const std::uint32_t j : region.joints)
        if (j >= joints) return Error{ErrorCode::usage, place + "there is no joint " + std::to_string(j)};
    return Done{};
}

/// Per vertex: its region. Vertices at one position are in one region, so that seams do not open.
std::vector<std::uint32_t> region_of(const std::vector<std::uint32_t>& weld, std::span<const RigidRegion> regions) {
    std::vector<std::uint32_t> out(weld.size(), no_index);
    for (std::uint32_t r = 0; r < regions.size(); ++r)
        for (std::size_t v = 0; v < out.size(); ++v)
            if (regions[r].vertices[v]) out[weld[v]] = r;
    for (std::size_t v = 0; v < out.size(); ++v) out[v] = out[weld[v]];
    return out;
}

/// Warns of regions with vertices at which a joint that could drive them is missing: it is not among the kept
/// joints of a row that is full, and fewer joints of the region are than the limit of influences reads.
std::vector<std::string> missing_drivers(const std::vector<std::uint32_t>& region,
                                         std::span<const RigidRegion> regions, const MeshView& mesh,
                                         const Skeleton& skeleton, std::size_t width,
                                         const std::vector<std::uint32_t>& joint, const FinishOptions& finish) {
    struct Missing {
        std::size_t of = 0, vertices = 0;
        std::uint32_t joint = no_index;
    };
    std::vector<Missing> found(regions.size());
    const std::size_t read =
        finish.max_influences == all_influences
            ? skeleton.joints.size()
            : static_cast<std::size_t>(finish.max_influences) + (finish.limit_rule == LimitRule::fade ? 1 : 0);
    const auto has = [](const auto& list, std::uint32_t j) {
        return std::find(list.begin(), list.end(), j) != list.end();
    };
    for (std::size_t v = 0; v < region.size(); ++v) {
        if (region[v] == no_index || width == 0) continue;
        Missing& here = found[region[v]];
        ++here.of;
        const std::span kept(joint.data() + v * width, width);
        const std::vector<std::uint32_t>& drivers = regions[region[v]].joints;
        if (drivers.size() < 2 || kept.back() == no_index) continue;
        std::size_t among = 0;
        std::uint32_t missing = no_index;
        for (const std::uint32_t j : drivers) {
            if (has(kept, j))
                ++among;
            else if (missing == no_index && skeleton.joints[j].deform &&
                     (mesh.skin_of_vertex.empty() || skeleton.skins.empty() ||
                      has(skeleton.skins[mesh.skin_of_vertex[v]], j)))
                missing = j;
        }
        if (missing == no_index || among >= read) continue;
        if (here.vertices++ == 0) here.joint = missing;
    }
    std::vector<std::string> out;
    for (std::size_t r = 0; r < found.size(); ++r)
        if (found[r].vertices > 0)
            out.push_back("rigid " + std::to_string(r + 1) + ": at " + std::to_string(found[r].vertices) + " of " +
                          std::to_string(found[r].of) + " vertices joints of the region, such as '" +
                          printable(skeleton.joints[found[r].joint].name) + "', are not among the " +
                          std::to_string(width) +
                          " nearest, which the binding keeps, and have no weight there (bind with more "
                          "`max-influences`, or with all, to keep more; the weights may then have fewer)");
    return out;
}

/// Removes all joints but the region's from the rows of a region. A row without any of them gets the joint and
/// value of `missing`.
template <typename Missing>
void restrict_rows(const std::vector<std::uint32_t>& region, std::span<const RigidRegion> regions,
                   std::size_t width, std::vector<std::uint32_t>& joint, std::vector<float>& value, float empty,
                   Context* context, Missing&& missing) {
    parallel_for(context, region.size(), 2048, [&](std::size_t v) {
        if (region[v] == no_index) return;
        const std::vector<std::uint32_t>& drivers = regions[region[v]].joints;
        std::uint32_t* j = joint.data() + v * width;
        float* x = value.data() + v * width;
        std::size_t n = 0;
        for (std::size_t i = 0; i < width; ++i) {
            if (std::find(drivers.begin(), drivers.end(), j[i]) == drivers.end()) continue;
            j[n] = j[i];
            x[n++] = x[i];
        }
        if (n == 0) std::tie(j[0], x[0]) = missing(v, drivers), n = 1;
        std::fill(j + n, j + width, no_index);
        std::fill(x + n, x + width, empty);
    });
}

// Replaces values of `map` by those of `over`, for each of `joints` joints for which `over` has a value.
void override_values(std::vector<float>& map, const std::vector<float>& over, std::size_t joints) {
    if (over.empty()) return;
    map.resize(joints, NAN);
    for (std::size_t j = 0; j < std::min(joints, over.size()); ++j)
        if (!std::isnan(over[j])) map[j] = over[j];
}

void override_map(FalloffMap& map, const FalloffMap& over, FalloffLaw law, std::size_t joints,
                  const std::vector<std::uint32_t>& weld) {
    // Where α shapes the law, a value of the map below would come before the hardness from above.
    if (shape_of(law) == &FalloffOptions::alpha)
        for (std::size_t j = 0; j < std::min(map.of_joint.size(), over.hardness_of_joint.size()); ++j)
            if (!std::isnan(over.hardness_of_joint[j])) map.of_joint[j] = NAN;
    override_values(map.of_joint, over.of_joint, joints);
    override_values(map.hardness_of_joint, over.hardness_of_joint, joints);
    if (over.of_vertex.empty()) return;
    // Vertices at one position take the value with the largest share there (the first of several), so that seams
    // do not open.
    const std::size_t n = weld.size();
    const auto share = [&](std::size_t v) {
        return std::isnan(over.of_vertex[v]) ? 0 : over.share_of_vertex.empty() ? 1 : over.share_of_vertex[v];
    };
    std::vector<std::uint32_t> strongest(n, no_index);
    for (std::uint32_t v = 0; v < n; ++v)
        if (std::uint32_t& at = strongest[weld[v]]; at == no_index || share(v) > share(at)) at = v;
    for (std::size_t v = 0; v < n; ++v) {
        const std::uint32_t from = strongest[weld[v]];
        if (share(from) > 0) map.put(v, n, over.of_vertex[from], share(from));
    }
}

}  // namespace

Result<SkinWeights> adjusted_weights(const Binding& binding, const MeshView& mesh, const Skeleton& skeleton,
                                     const FalloffOptions& falloff, const FinishOptions& finish_options,
                                     const Adjustments& adjustments, EditReport* report, Context* context) {
    const std::size_t n = mesh.positions.size(), joints = skeleton.joints.size();
    if (binding.coverage().size() != n)
        return Error{ErrorCode::usage, "the binding has " + std::to_string(binding.coverage().size()) +
                                           " vertices, the mesh " + std::to_string(n)};
    for (std::size_t r = 0; r < adjustments.rigid.size(); ++r) SINEW_TRY(check(adjustments.rigid[r], r, n, joints));

    FalloffOptions law = falloff;
    const FalloffMap& own = adjustments.falloff;
    law.map = own;
    SINEW_TRY(check(law));
    law.map = falloff.map;
    if (!own.of_vertex.empty() && own.of_vertex.size() != n)
        return Error{ErrorCode::usage, "falloff: the map has values for " + std::to_string(own.of_vertex.size()) +
                                           " vertices, and there are " + std::to_string(n)};
    static const std::vector<std::uint32_t> none;
    const bool places_matter = !own.of_vertex.empty() || !adjustments.rigid.empty();
    const std::vector<std::uint32_t>& weld =
        places_matter ? BindingState::of(binding).weld.of(mesh, context) : none;
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while reading the mesh"};
    override_map(law.map, own, law.law, joints, weld);

    const auto weigh = [&]() -> Result<SkinWeights> {
        if (adjustments.rigid.empty()) return binding.weights(law, finish_options, context);
        const std::vector<std::uint32_t> region = region_of(weld, adjustments.rigid);
        const BoneShapes shapes(skeleton, binding.bones());
        const auto nearest = [&](std::size_t v, const std::vector<std::uint32_t>& drivers) {
            const Point3 p = to_point(mesh.positions[v]);
            std::pair<std::uint32_t, float> best{drivers[0], INFINITY};
            for (const std::uint32_t j : drivers)
                if (const auto d = static_cast<float>(shapes.straight(j, p).nearest); d < best.second)
                    best = {j, d};
            return best;
        };
        SINEW_TRY(check(finish_options));
        SINEW_TRY(check_limit(binding, finish_options));
        if (report) {
            const bool heat = binding.influences().width > 0;
            report->warnings =
                missing_drivers(region, adjustments.rigid, mesh, skeleton,
                                heat ? binding.influences().width : binding.distances().width,
                                heat ? binding.influences().joint : binding.distances().joint, finish_options);
        }
        if (binding.influences().width == 0) {
            DistanceTable t = binding.distances();
            if (t.width > 0)
                restrict_rows(region, adjustments.rigid, t.width, t.joint, t.distance, INFINITY, context, nearest);
            return sinew::weigh(t, law, finish_options, context);
        }
        InfluenceTable t = binding.influences();
        restrict_rows(region, adjustments.rigid, t.width, t.joint, t.strength, 0, context,
                      [&](std::size_t v, const std::vector<std::uint32_t>& drivers) {
                          return std::pair{nearest(v, drivers).first, 1.0f};
                      });
        return sinew::weigh(t, law, finish_options, context);
    };
    Result<SkinWeights> weights = weigh();
    if (!weights) return weights.error();
    const Locks& locks = adjustments.locks;
    if (locks.weights) {
        weights = apply_locks(*weights, locks, finish_options.max_influences, context);
        if (!weights) return weights.error();
    }
    if (adjustments.edits.empty()) return weights;
    return apply_edits(mesh, *weights, adjustments.edits, locks, joints, finish_options.max_influences, report,
                       context);
}

}  // namespace sinew
