// Distance, or heat, to strength: equations 8 and 9 of "Geodesic Voxel Binding" (seed 003) and its earlier,
// quadratic law; the exponential of seed 000; the powers of heat of seed 001; the spline of seed 004.
#include <algorithm>
#include <cmath>

#include "core/parallel.h"
#include "weights/law.h"
#include "weights/power.h"

namespace sinew {

namespace {

constexpr std::size_t rows_per_chunk = 2048;

Error out_of_range(const std::string& what, float value) {
    return {ErrorCode::usage, "falloff: " + what + ", not " + std::to_string(value)};
}

Status check_shape(FalloffLaw law, float value) {
    switch (law) {
        case FalloffLaw::inverse_power:
        case FalloffLaw::inverse_quadratic:
        case FalloffLaw::power:
            if (!(value >= 0 && value <= 1)) return out_of_range("alpha must be from 0 (soft) to 1 (hard)", value);
            break;
        case FalloffLaw::exponential:
            if (!(value > 0 && std::isfinite(value))) return out_of_range("smoothness must be above 0", value);
            break;
        case FalloffLaw::cubic_hermite:
        case FalloffLaw::linear:
            if (!(value > 0 && std::isfinite(value))) return out_of_range("threshold must be above 0", value);
            break;
    }
    return Done{};
}

bool shape_is_a_length(FalloffLaw law) {
    return law == FalloffLaw::exponential || law == FalloffLaw::cubic_hermite || law == FalloffLaw::linear;
}

}  // namespace

double Law::exponent(double alpha) const {
    const auto lambda = [](const FalloffOptions& o, double at) {
        return (1 - at) * o.lambda_min + at * o.lambda_max;
    };
    if (o_.law != FalloffLaw::power) return lambda(o_, alpha);
    const FalloffOptions usual;  // at which the power is as given, to the last bit
    return o_.power * (lambda(o_, alpha) / lambda(usual, usual.alpha));
}

double Law::of_vertex(std::size_t v) const { return o_.map.of_vertex.empty() ? NAN : o_.map.of_vertex[v]; }

double Law::of_joint(std::uint32_t j) const {
    const double own = o_.map.of_joint[j];
    return std::isnan(own) ? base_ : own;
}

template <typename Shape>
void Law::shape(LawRow& row, Shape&& shape_at) const {
    const std::vector<double>& d = row.value;
    std::vector<double>& s = row.strength;
    const std::size_t n = d.size();
    switch (o_.law) {
        case FalloffLaw::inverse_power: {
            const double lambda = exponent(shape_at(0));
            const double nearest = std::max<double>(*std::min_element(d.begin(), d.end()), o_.tolerance);
            for (std::size_t i = 0; i < n; ++i) s[i] = nearest / std::max<double>(d[i], o_.tolerance);
            row.exponent.assign(n, lambda);
            raise(s, row.exponent);
            break;
        }
        case FalloffLaw::inverse_quadratic: {
            const double alpha = shape_at(0);
            const auto measure = [&](double at) {
                const double kept = std::max<double>(at, o_.tolerance);
                return (1 - alpha) * kept + alpha * kept * kept;
            };
            const double nearest = measure(*std::min_element(d.begin(), d.end()));
            for (std::size_t i = 0; i < n; ++i) s[i] = std::pow(nearest / measure(d[i]), 2);
            break;
        }
        case FalloffLaw::exponential: {
            double least = INFINITY;
            for (std::size_t i = 0; i < n; ++i) least = std::min(least, d[i] / shape_at(i));
            for (std::size_t i = 0; i < n; ++i) s[i] = std::exp(least - d[i] / shape_at(i));
            break;
        }
        case FalloffLaw::cubic_hermite:
        case FalloffLaw::linear: {
            // Rows come sorted by distance.
            const double cut = neighbours_ > 0 && neighbours_ < n ? d[neighbours_] : INFINITY;
            double most = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const double t = d[i] == 0 ? 0 : std::min(1.0, d[i] / std::min(cut, shape_at(i)));
                s[i] = o_.law == FalloffLaw::linear ? 1 - t : 1 - t * t * (3 - 2 * t);
                most = std::max(most, s[i]);
            }
            if (most > 0) {
                for (double& strength : s) strength /= most;
            } else {
                for (std::size_t i = 0; i < n; ++i) s[i] = d[i] == d[0];
            }
            break;
        }
        case FalloffLaw::power: {
            const double most = *std::max_element(d.begin(), d.end());
            for (std::size_t i = 0; i < n; ++i) s[i] = std::max(d[i] / most, 1e-300);
            row.exponent.assign(n, exponent(shape_at(0)));
            raise(s, row.exponent);
            break;
        }
    }
}

void Law::apply(std::size_t vertex, LawRow& row) const {
    const std::size_t n = row.value.size();
    row.strength.resize(n);
    if (n == 0) return;
    if (const double own = of_vertex(vertex); !std::isnan(own)) {
        shape(row, [&](std::size_t) { return own; });
    } else if (o_.map.of_joint.empty()) {
        shape(row, [&](std::size_t) { return base_; });
    } else if (shape_is_a_length(o_.law)) {
        shape(row, [&](std::size_t i) { return of_joint(row.joint[i]); });
    } else {
        shape(row, [&](std::size_t) { return base_; });
        double sum = 0, mean = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sum += row.strength[i];
            mean += row.strength[i] * of_joint(row.joint[i]);
        }
        mean /= sum;
        shape(row, [&](std::size_t) { return mean; });
    }
}

Status check_map(const FalloffOptions& options, std::size_t vertices, std::span<const std::uint32_t> joints) {
    if (Status ok = check(options); !ok) return ok;
    const FalloffMap& map = options.map;
    if (!map.of_vertex.empty() && map.of_vertex.size() != vertices)
        return Error{ErrorCode::usage, "falloff: the map has values for " + std::to_string(map.of_vertex.size()) +
                                           " vertices, and there are " + std::to_string(vertices)};
    if (!map.of_joint.empty())
        for (const std::uint32_t j : joints)
            if (j != DistanceTable::none && j >= map.of_joint.size())
                return Error{ErrorCode::usage, "falloff: the map has values for " +
                                                   std::to_string(map.of_joint.size()) + " joints, and joint " +
                                                   std::to_string(j) + " has influence"};
    return Done{};
}

std::size_t sorted_strengths(const LawRow& row, std::uint32_t* joint, float* strength) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < row.joint.size(); ++i) {
        const auto s = static_cast<float>(row.strength[i]);
        if (!(s > 0)) continue;
        // Rows come sorted, so this moves only joints that the law makes equal or a map reorders.
        std::size_t at = n++;
        for (; at > 0 && (strength[at - 1] < s || (strength[at - 1] == s && joint[at - 1] > row.joint[i])); --at) {
            strength[at] = strength[at - 1];
            joint[at] = joint[at - 1];
        }
        strength[at] = s;
        joint[at] = row.joint[i];
    }
    return n;
}

namespace {

// Rows in, rows out: `value` says what the law takes from a slot, and NaN that the slot is empty.
template <typename Value>
Result<InfluenceTable> each_row(std::size_t vertices, std::size_t width, const std::vector<std::uint32_t>& joints,
                                const FalloffOptions& options, Context* context, Value&& value) {
    InfluenceTable out;
    out.vertices = vertices;
    out.width = width;
    out.joint.assign(vertices * width, DistanceTable::none);
    out.strength.assign(vertices * width, 0.0f);
    const Law law(options);
    parallel_chunks(context, vertices, rows_per_chunk, [&](std::size_t, std::size_t begin, std::size_t end) {
        if (cancelled(context)) return;
        LawRow row;
        for (std::size_t v = begin; v < end; ++v) {
            row.clear();
            for (std::size_t at = v * width; at < (v + 1) * width; ++at) {
                const double x = joints[at] == DistanceTable::none ? NAN : value(at);
                if (std::isnan(x)) continue;
                row.joint.push_back(joints[at]);
                row.value.push_back(x);
            }
            law.apply(v, row);
            sorted_strengths(row, out.joint.data() + v * width, out.strength.data() + v * width);
        }
    });
    if (cancelled(context)) return Error{ErrorCode::cancelled, "cancelled while applying the falloff"};
    return out;
}

}  // namespace

std::string_view to_string(FalloffLaw law) {
    switch (law) {
        case FalloffLaw::inverse_power:
            return "inverse-power";
        case FalloffLaw::inverse_quadratic:
            return "inverse-quadratic";
        case FalloffLaw::exponential:
            return "exponential";
        case FalloffLaw::cubic_hermite:
            return "cubic-hermite";
        case FalloffLaw::linear:
            return "linear";
        case FalloffLaw::power:
            return "power";
    }
    return "";
}

float FalloffOptions::*shape_of(FalloffLaw law) {
    switch (law) {
        case FalloffLaw::inverse_power:
        case FalloffLaw::inverse_quadratic:
        case FalloffLaw::power:
            break;
        case FalloffLaw::exponential:
            return &FalloffOptions::smoothness;
        case FalloffLaw::cubic_hermite:
        case FalloffLaw::linear:
            return &FalloffOptions::threshold;
    }
    return &FalloffOptions::alpha;
}

Status check(const FalloffOptions& o) {
    // Written so that NaN fails.
    if (!(o.law >= FalloffLaw::inverse_power && o.law <= FalloffLaw::power))
        return Error{ErrorCode::usage, "falloff law: no such law"};
    for (const FalloffLaw law : {FalloffLaw::inverse_power, FalloffLaw::exponential, FalloffLaw::linear})
        if (Status ok = check_shape(law, o.*shape_of(law)); !ok) return ok;
    if (!(o.lambda_min > 0 && std::isfinite(o.lambda_min)))
        return out_of_range("lambda_min must be above 0", o.lambda_min);
    if (!(o.lambda_max >= o.lambda_min && std::isfinite(o.lambda_max)))
        return out_of_range("lambda_max must be at least lambda_min", o.lambda_max);
    if (!(o.power > 0 && o.power <= 100)) return out_of_range("power must be above 0 and at most 100", o.power);
    if (!(o.tolerance > 0 && std::isfinite(o.tolerance)))
        return out_of_range("tolerance must be above 0", o.tolerance);
    if (o.neighbours < 0)
        return Error{ErrorCode::usage,
                     "falloff: neighbours must not be negative, but is " + std::to_string(o.neighbours)};
    const auto check_all = [&](const std::vector<float>& values, const char* what) -> Status {
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (std::isnan(values[i])) continue;
            if (Status ok = check_shape(o.law, values[i]); !ok)
                return Error{ErrorCode::usage,
                             ok.error().message + " (" + what + " " + std::to_string(i) + " of the map)"};
        }
        return Done{};
    };
    if (Status ok = check_all(o.map.of_joint, "joint"); !ok) return ok;
    return check_all(o.map.of_vertex, "vertex");
}

Status check_distances(const DistanceTable& distances, const FalloffOptions& options) {
    const std::size_t slots = distances.vertices * distances.width;
    if (distances.joint.size() != slots || distances.distance.size() != slots)
        return Error{ErrorCode::internal, "a distance table's columns are not vertices × width long"};
    if (!(distances.unit > 0 && std::isfinite(distances.unit)))
        return Error{ErrorCode::internal, "a distance table's unit must be above 0"};
    if (options.law == FalloffLaw::power)
        return Error{ErrorCode::usage,
                     "falloff law power is for heat and weights, and this method gives distances: choose another"};
    return check_map(options, distances.vertices, distances.joint);
}

Result<InfluenceTable> apply_falloff(const DistanceTable& distances, const FalloffOptions& options,
                                     Context* context) {
    if (Status ok = check_distances(distances, options); !ok) return ok.error();
    const double unit = distances.unit;
    // Distances are ≥ 0 or +inf; a NaN would be a mistake of ours and counts as unreachable.
    return each_row(distances.vertices, distances.width, distances.joint, options, context, [&](std::size_t at) {
        return distances.distance[at] < INFINITY ? distances.distance[at] / unit : NAN;
    });
}

Status check_strengths(const InfluenceTable& strengths, const FalloffOptions& options) {
    const std::size_t slots = strengths.vertices * strengths.width;
    if (strengths.joint.size() != slots || strengths.strength.size() != slots)
        return Error{ErrorCode::internal, "an influence table's columns are not vertices × width long"};
    if (options.law != FalloffLaw::power)
        return Error{ErrorCode::usage, "this method gives no distances: its only falloff law is power"};
    return check_map(options, strengths.vertices, strengths.joint);
}

Result<InfluenceTable> apply_falloff(const InfluenceTable& strengths, const FalloffOptions& options,
                                     Context* context) {
    if (Status ok = check_strengths(strengths, options); !ok) return ok.error();
    return each_row(strengths.vertices, strengths.width, strengths.joint, options, context, [&](std::size_t at) {
        const float h = strengths.strength[at];
        return h > 0 && h < INFINITY ? static_cast<double>(h) : NAN;
    });
}

}  // namespace sinew
