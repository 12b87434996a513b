// Distance to strength: equations 8 and 9 of "Geodesic Voxel Binding" (seed 003) and its earlier, quadratic law.
#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "sinew/weights.h"

namespace sinew {

namespace {

constexpr std::size_t rows_per_chunk = 2048;

}  // namespace

Status check(const FalloffOptions& o) {
    // Written so that NaN fails.
    if (o.law != FalloffLaw::inverse_power && o.law != FalloffLaw::inverse_quadratic)
        return Error{ErrorCode::usage, "falloff law: no such law"};
    if (!(o.alpha >= 0 && o.alpha <= 1))
        return Error{ErrorCode::usage,
                     "falloff: alpha must be from 0 (soft) to 1 (hard), not " + std::to_string(o.alpha)};
    if (!(o.lambda_min > 0 && std::isfinite(o.lambda_min)))
        return Error{ErrorCode::usage, "falloff: lambda_min must be above 0, not " + std::to_string(o.lambda_min)};
    if (!(o.lambda_max >= o.lambda_min && std::isfinite(o.lambda_max)))
        return Error{ErrorCode::usage,
                     "falloff: lambda_max must be at least lambda_min, not " + std::to_string(o.lambda_max)};
    if (!(o.tolerance > 0 && std::isfinite(o.tolerance)))
        return Error{ErrorCode::usage, "falloff: tolerance must be above 0, not " + std::to_string(o.tolerance)};
    return Done{};
}

Result<InfluenceTable> apply_falloff(const DistanceTable& distances, const FalloffOptions& options,
                                     Context* context) {
    if (Status ok = check(options); !ok) return ok.error();
    const std::size_t width = distances.width, slots = distances.vertices * width;
    if (distances.joint.size() != slots || distances.distance.size() != slots)
        return Error{ErrorCode::internal, "a distance table's columns are not vertices × width long"};
    if (!(distances.unit > 0 && std::isfinite(distances.unit)))
        return Error{ErrorCode::internal, "a distance table's unit must be above 0"};

    InfluenceTable out;
    out.vertices = distances.vertices;
    out.width = width;
    out.joint.assign(slots, DistanceTable::none);
    out.strength.assign(slots, 0.0f);

    const double unit = distances.unit, tolerance = options.tolerance, alpha = options.alpha;
    const double lambda = (1 - alpha) * options.lambda_min + alpha * options.lambda_max;
    const bool power = options.law == FalloffLaw::inverse_power;
    // What the law takes the negative power of: both laws are (measure)^-exponent.
    const double exponent = power ? lambda : 2;
    const auto measure = [&](float distance) {
        const double d = std::max(distance / unit, tolerance);
        return power ? d : (1 - alpha) * d + alpha * d * d;
    };
    parallel_chunks(context, distances.vertices, rows_per_chunk,
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                        if (cancelled(context)) return;
                        for (std::size_t v = begin; v < end; ++v) {
                            const std::uint32_t* joint = distances.joint.data() + v * width;
                            const float* distance = distances.distance.data() + v * width;
                            std::uint32_t* to_joint = out.joint.data() + v * width;
                            float* to_strength = out.strength.data() + v * width;
                            // Distances are ≥ 0 or +inf; a NaN would be a mistake of ours and counts as
                            // unreachable.
                            const auto reachable = [&](std::size_t i) {
                                return joint[i] != DistanceTable::none && distance[i] < INFINITY;
                            };
                            double nearest = INFINITY;
                            for (std::size_t i = 0; i < width; ++i)
                                if (reachable(i)) nearest = std::min(nearest, measure(distance[i]));
                            std::size_t n = 0;
                            for (std::size_t i = 0; i < width; ++i) {
                                if (!reachable(i)) continue;
                                const double m = measure(distance[i]);
                                const float strength = m == nearest ? 1.0f : float(std::pow(nearest / m, exponent));
                                if (!(strength > 0)) continue;
                                // Rows come sorted by distance, so this moves only joints that the tolerance makes
                                // equal.
                                std::size_t at = n++;
                                for (; at > 0 && (to_strength[at - 1] < strength ||
                                                  (to_strength[at - 1] == strength && to_joint[at - 1] > joint[i]));
                                     --at) {
                                    to_strength[at] = to_strength[at - 1];
                                    to_joint[at] = to_joint[at - 1];
                                }
                                to_strength[at] = strength;
                                to_joint[at] = joint[i];
                            }
                        }
                    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while applying the falloff"};
    return out;
}

}  // namespace sinew
