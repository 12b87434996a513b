// Distance, or heat, to strength. Inverse power: Dionne and de Lasa 2014, equations 8 and 9. Inverse quadratic:
// Dionne and de Lasa 2013. Exponential: VIDE 2012. Powers of heat: Rosen 2009. Cubic Hermite and linear:
// Tokheim 2003.
#include <algorithm>
#include <cmath>

#include "core/numbers.h"
#include "core/parallel.h"
#include "core/try.h"
#include "weights/law.h"
#include "weights/law_table.h"
#include "weights/power.h"

namespace sinew {

namespace {

constexpr std::size_t rows_per_chunk = 2048;

Error out_of_range(const std::string& what, float value) {
    return {ErrorCode::usage, "falloff: " + what + ", not " + shortest_text(value)};
}

// `shape`: one of LawTableRow::shape.
Status check_shape(float FalloffOptions::*shape, float value) {
    if (shape == &FalloffOptions::alpha) {
        if (value >= 0 && value <= 1) return Done{};
        return out_of_range("alpha must be from 0 (soft) to 1 (hard)", value);
    }
    if (value > 0 && std::isfinite(value)) return Done{};
    return out_of_range(
        shape == &FalloffOptions::smoothness ? "`smoothness` must be above 0" : "`threshold` must be above 0",
        value);
}

bool shape_is_a_length(FalloffLaw law) { return shape_of(law) != &FalloffOptions::alpha; }

}  // namespace

double Law::exponent(double alpha) const {
    const auto lambda = [](const FalloffOptions& o, double at) {
        return (1 - at) * o.lambda_min + at * o.lambda_max;
    };
    if (o_.law == FalloffLaw::inverse_power) return lambda(o_, alpha);
    const FalloffOptions usual;  // default options: the strength is exactly as published
    const double power = lambda(o_, alpha) / lambda(usual, usual.alpha);
    return o_.law == FalloffLaw::power ? o_.power * power : power;
}

Law::OwnValue Law::of_vertex(std::size_t v) const {
    const FalloffMap& map = o_.map;
    if (map.of_vertex.empty() || std::isnan(map.of_vertex[v])) return {};
    return {map.of_vertex[v], map.share_of_vertex.empty() ? 1 : map.share_of_vertex[v]};
}

bool Law::has_alpha_of_joints() const {
    return !o_.map.hardness_of_joint.empty() || (!o_.map.of_joint.empty() && !shape_is_a_length(o_.law));
}

double Law::alpha_of_joint(std::uint32_t j) const {
    const auto has_value = [&](const std::vector<float>& values) {
        return !values.empty() && !std::isnan(values[j]);
    };
    if (!shape_is_a_length(o_.law) && has_value(o_.map.of_joint)) return o_.map.of_joint[j];
    return has_value(o_.map.hardness_of_joint) ? o_.map.hardness_of_joint[j] : o_.alpha;
}

double Law::length_of_joint(std::uint32_t j) const {
    const double own = o_.map.of_joint.empty() ? NAN : o_.map.of_joint[j];
    return std::isnan(own) ? base_ : own;
}

// α by joint does not move borders: the row has one α, the mean over its joints by strength.
template <typename LengthAt>
double Law::alpha_of_row(LawRow& row, LengthAt&& length_at) const {
    if (!has_alpha_of_joints()) return o_.alpha;
    shape(row, length_at, o_.alpha);
    double sum = 0, mean = 0;
    for (std::size_t i = 0; i < row.joint.size(); ++i) {
        sum += row.strength[i];
        mean += row.strength[i] * alpha_of_joint(row.joint[i]);
    }
    return mean / sum;
}

template <typename LengthAt>
void Law::shape(LawRow& row, LengthAt&& length_at, double alpha) const {
    const std::vector<double>& d = row.value;
    std::vector<double>& s = row.strength;
    const std::size_t n = d.size();
    switch (o_.law) {
        case FalloffLaw::inverse_power: {
            const double nearest = std::max<double>(*std::min_element(d.begin(), d.end()), o_.tolerance);
            for (std::size_t i = 0; i < n; ++i) s[i] = nearest / std::max<double>(d[i], o_.tolerance);
            row.exponent.assign(n, exponent(alpha));
            raise(s, row.exponent);
            break;
        }
        case FalloffLaw::inverse_quadratic: {
            const auto measure = [&](double at) {
                const double kept = std::max<double>(at, o_.tolerance);
                return (1 - alpha) * kept + alpha * kept * kept;
            };
            const double nearest = measure(*std::min_element(d.begin(), d.end()));
            for (std::size_t i = 0; i < n; ++i) s[i] = std::pow(nearest / measure(d[i]), 2);
            break;
        }
        case FalloffLaw::exponential: {
            const double power = exponent(alpha);
            double least = INFINITY;
            for (std::size_t i = 0; i < n; ++i) least = std::min(least, d[i] / length_at(i));
            for (std::size_t i = 0; i < n; ++i) s[i] = std::exp(power * (least - d[i] / length_at(i)));
            break;
        }
        case FalloffLaw::cubic_hermite:
        case FalloffLaw::linear: {
            // Rows are sorted by distance.
            const double cut = neighbours_ > 0 && neighbours_ < n ? d[neighbours_] : INFINITY;
            double most = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const double t = d[i] == 0 ? 0 : std::min(1.0, d[i] / std::min(cut, length_at(i)));
                s[i] = o_.law == FalloffLaw::linear ? 1 - t : 1 - t * t * (3 - 2 * t);
                most = std::max(most, s[i]);
            }
            if (!(most > 0)) {
                for (std::size_t i = 0; i < n; ++i) s[i] = d[i] == d[0];
                break;
            }
            for (double& strength : s) strength /= most;
            const double power = exponent(alpha);
            if (power == 1) break;
            // raise() does not accept 0: slots out of reach are restored afterwards.
            row.exponent.resize(n);
            for (std::size_t i = 0; i < n; ++i) {
                row.exponent[i] = s[i] > 0 ? power : 0;
                s[i] = std::max(s[i], 1e-300);
            }
            raise(s, row.exponent);
            for (std::size_t i = 0; i < n; ++i)
                if (row.exponent[i] == 0) s[i] = 0;
            break;
        }
        case FalloffLaw::power: {
            const double most = *std::max_element(d.begin(), d.end());
            for (std::size_t i = 0; i < n; ++i) s[i] = std::max(d[i] / most, 1e-300);
            row.exponent.assign(n, exponent(alpha));
            raise(s, row.exponent);
            break;
        }
    }
}

void Law::apply(std::size_t vertex, LawRow& row) const {
    row.strength.resize(row.value.size());
    if (row.value.empty()) return;
    const OwnValue own = of_vertex(vertex);
    if (shape_is_a_length(o_.law)) {
        const auto length_at = [&](std::size_t i) { return own.over(length_of_joint(row.joint[i])); };
        shape(row, length_at, alpha_of_row(row, length_at));
    } else {
        const auto no_length = [](std::size_t) { return 0.0; };
        shape(row, no_length, own.over(own.share == 1 ? 0 : alpha_of_row(row, no_length)));
    }
}

void FalloffMap::put(std::size_t vertex, std::size_t vertices, float value, float share) {
    if (!(share > 0)) return;
    of_vertex.resize(vertices, NAN);
    if (share < 1 && share_of_vertex.empty()) share_of_vertex.assign(vertices, 1.0f);
    if (!share_of_vertex.empty()) share_of_vertex.resize(vertices, 1.0f);
    const bool has_own = !std::isnan(of_vertex[vertex]);
    const double below = !has_own ? 0 : share_of_vertex.empty() ? 1 : share_of_vertex[vertex];
    // The visible part of the value below, and of both together.
    const double kept = (1 - double{share}) * below, both = share + kept;
    of_vertex[vertex] =
        kept > 0 ? static_cast<float>((share * double{value} + kept * of_vertex[vertex]) / both) : value;
    if (!share_of_vertex.empty()) share_of_vertex[vertex] = static_cast<float>(std::min(both, 1.0));
}

FalloffMap map_under(const FalloffMap& map, FalloffLaw from, FalloffLaw to) {
    if (shape_of(from) == shape_of(to)) return map;
    FalloffMap out;
    out.hardness_of_joint = map.hardness_of_joint;
    if (shape_is_a_length(from)) return out;
    // Under the previous law these were α as well, and took precedence.
    out.hardness_of_joint.resize(std::max(map.of_joint.size(), map.hardness_of_joint.size()), NAN);
    for (std::size_t j = 0; j < map.of_joint.size(); ++j)
        if (!std::isnan(map.of_joint[j])) out.hardness_of_joint[j] = map.of_joint[j];
    return out;
}

Status check_map(const FalloffOptions& options, std::size_t vertices, std::span<const std::uint32_t> joints) {
    SINEW_TRY(check(options));
    const FalloffMap& map = options.map;
    if (!map.of_vertex.empty() && map.of_vertex.size() != vertices)
        return Error{ErrorCode::usage, "falloff: the map has values for " + std::to_string(map.of_vertex.size()) +
                                           " vertices, and there are " + std::to_string(vertices)};
    for (const std::vector<float>* values : {&map.of_joint, &map.hardness_of_joint}) {
        if (values->empty()) continue;
        for (const std::uint32_t j : joints)
            if (j != no_index && j >= values->size())
                return Error{ErrorCode::usage, "falloff: the map has values for " + std::to_string(values->size()) +
                                                   " joints, and joint " + std::to_string(j) + " has influence"};
    }
    return Done{};
}

std::size_t sorted_strengths(const LawRow& row, std::uint32_t* joint, float* strength) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < row.joint.size(); ++i) {
        const auto s = static_cast<float>(row.strength[i]);
        if (!(s > 0)) continue;
        // Rows are sorted, so this only moves joints with equal strengths, or joints that a map reorders.
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

// Row by row: `value` is the input of the law for a slot, NaN for an empty slot.
template <typename Value>
Result<InfluenceTable> each_row(std::size_t vertices, std::size_t width, const std::vector<std::uint32_t>& joints,
                                const FalloffOptions& options, Context* context, Value&& value) {
    InfluenceTable out;
    out.vertices = vertices;
    out.width = width;
    out.joint.assign(vertices * width, no_index);
    out.strength.assign(vertices * width, 0.0f);
    const Law law(options);
    parallel_chunks(context, vertices, rows_per_chunk, [&](std::size_t, std::size_t begin, std::size_t end) {
        if (cancelled(context)) return;
        LawRow row;
        for (std::size_t v = begin; v < end; ++v) {
            row.clear();
            for (std::size_t at = v * width; at < (v + 1) * width; ++at) {
                const double x = joints[at] == no_index ? NAN : value(at);
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
    const LawTableRow* const row = find_law(law);
    return row ? row->name : "";
}

float FalloffOptions::*shape_of(FalloffLaw law) {
    const LawTableRow* const row = find_law(law);
    return row ? row->shape : &FalloffOptions::alpha;
}

Status check(const FalloffOptions& o) {
    // Comparisons are written so that NaN fails.
    if (!find_law(o.law)) return Error{ErrorCode::usage, "`falloff-law`: no such law"};
    for (const LawTableRow& row : kLaws) SINEW_TRY(check_shape(row.shape, o.*row.shape));
    if (!(o.lambda_min > 0 && std::isfinite(o.lambda_min)))
        return out_of_range("`lambda-min` must be above 0", o.lambda_min);
    if (!(o.lambda_max >= o.lambda_min && std::isfinite(o.lambda_max)))
        return out_of_range("`lambda-max` must be at least `lambda-min`", o.lambda_max);
    if (!(o.power > 0 && o.power <= 100)) return out_of_range("power must be above 0 and at most 100", o.power);
    if (!(o.tolerance > 0 && std::isfinite(o.tolerance)))
        return out_of_range("tolerance must be above 0", o.tolerance);
    if (o.neighbours < 0)
        return Error{ErrorCode::usage,
                     "falloff: neighbours must not be negative, but is " + std::to_string(o.neighbours)};
    const auto check_all = [](const std::vector<float>& values, const char* what,
                              float FalloffOptions::*shape) -> Status {
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (std::isnan(values[i])) continue;
            if (Status ok = check_shape(shape, values[i]); !ok)
                return Error{ErrorCode::usage,
                             ok.error().message + " (" + what + " " + std::to_string(i) + " of the map)"};
        }
        return Done{};
    };
    SINEW_TRY(check_all(o.map.of_joint, "joint", shape_of(o.law)));
    SINEW_TRY(check_all(o.map.hardness_of_joint, "joint", &FalloffOptions::alpha));
    SINEW_TRY(check_all(o.map.of_vertex, "vertex", shape_of(o.law)));
    const std::vector<float>& share = o.map.share_of_vertex;
    if (!share.empty() && share.size() != o.map.of_vertex.size())
        return Error{ErrorCode::usage, "falloff: the map has fractions for " + std::to_string(share.size()) +
                                           " vertices and values for " + std::to_string(o.map.of_vertex.size())};
    for (std::size_t v = 0; v < share.size(); ++v)
        if (!(share[v] >= 0 && share[v] <= 1))
            return out_of_range("the fraction of vertex " + std::to_string(v) + " of the map must be within 0..1",
                                share[v]);
    return Done{};
}

Status check_distances(const DistanceTable& distances, const FalloffOptions& options) {
    const std::size_t slots = distances.vertices * distances.width;
    if (distances.joint.size() != slots || distances.distance.size() != slots)
        return Error{ErrorCode::internal, "a distance table's columns are not vertices × width long"};
    if (!(distances.unit > 0 && std::isfinite(distances.unit)))
        return Error{ErrorCode::internal, "a distance table's unit must be above 0"};
    if (options.law == FalloffLaw::power)
        return Error{
            ErrorCode::usage,
            "`falloff-law power` is for heat and weights, but this method gives distances: choose another law"};
    return check_map(options, distances.vertices, distances.joint);
}

Result<InfluenceTable> apply_falloff(const DistanceTable& distances, const FalloffOptions& options,
                                     Context* context) {
    SINEW_TRY(check_distances(distances, options));
    const double unit = distances.unit;
    // Distances are ≥ 0 or +inf; NaN would be an internal error and counts as unreachable.
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
    SINEW_TRY(check_strengths(strengths, options));
    return each_row(strengths.vertices, strengths.width, strengths.joint, options, context, [&](std::size_t at) {
        const float h = strengths.strength[at];
        return h > 0 && h < INFINITY ? static_cast<double>(h) : NAN;
    });
}

}  // namespace sinew
