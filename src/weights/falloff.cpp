// Distance to strength: equations 8 and 9 of "Geodesic Voxel Binding" (seed 003) and its earlier, quadratic law;
// the exponential of seed 000; the spline of seed 004.
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
    if (!(o.law >= FalloffLaw::inverse_power && o.law <= FalloffLaw::linear))
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
    if (!(o.smoothness > 0 && std::isfinite(o.smoothness)))
        return Error{ErrorCode::usage, "falloff: smoothness must be above 0, not " + std::to_string(o.smoothness)};
    if (!(o.threshold > 0 && std::isfinite(o.threshold)))
        return Error{ErrorCode::usage, "falloff: threshold must be above 0, not " + std::to_string(o.threshold)};
    if (o.neighbours < 1)
        return Error{ErrorCode::usage,
                     "falloff: neighbours must be at least 1, not " + std::to_string(o.neighbours)};
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
    // What the inverse laws take the negative power of: both are (measure)^-exponent. The others use the distance.
    const double exponent = options.law == FalloffLaw::inverse_power ? lambda : 2;
    const auto measure = [&](float distance) {
        const double d = distance / unit;
        switch (options.law) {
            case FalloffLaw::inverse_power:
                return std::max(d, tolerance);
            case FalloffLaw::inverse_quadratic: {
                const double kept = std::max(d, tolerance);
                return (1 - alpha) * kept + alpha * kept * kept;
            }
            default:
                return d;
        }
    };
    // Relative to the nearest of the row, which has 1.
    const auto strength_of = [&](double m, double nearest, double reach) -> float {
        if (m == nearest) return 1;
        switch (options.law) {
            case FalloffLaw::inverse_power:
            case FalloffLaw::inverse_quadratic:
                return static_cast<float>(std::pow(nearest / m, exponent));
            case FalloffLaw::exponential:
                return static_cast<float>(std::exp((nearest - m) / options.smoothness));
            case FalloffLaw::cubic_hermite:
            case FalloffLaw::linear:
                break;
        }
        const auto falling = [&](double d) {
            const double t = d / reach;
            if (t >= 1) return 0.0;
            return options.law == FalloffLaw::linear ? 1 - t : 1 - t * t * (3 - 2 * t);
        };
        const double most = falling(nearest);
        return most > 0 ? static_cast<float>(falling(m) / most) : 0.0f;
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
                            double nearest = INFINITY, reach = options.threshold;
                            int rank = 0;
                            for (std::size_t i = 0; i < width; ++i) {
                                if (!reachable(i)) continue;
                                const double m = measure(distance[i]);
                                nearest = std::min(nearest, m);
                                if (rank++ == options.neighbours) reach = std::min(reach, m);
                            }
                            std::size_t n = 0;
                            for (std::size_t i = 0; i < width; ++i) {
                                if (!reachable(i)) continue;
                                const double m = measure(distance[i]);
                                const float strength = strength_of(m, nearest, reach);
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
