// sinew/weights.h: from distances to skin weights.
#pragma once

#include <array>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"

namespace sinew {

/// One joint's weight at a vertex.
struct Influence {
    std::uint32_t joint = 0;
    float weight = 0;
    friend bool operator==(const Influence&, const Influence&) = default;
};

struct WeightRows;

/// Skin weights: per vertex a list of influences. Invariant: sorted by falling weight (then by joint), every
/// weight > 0, no joint twice, float weights that sum to 1 within 2e-7 per influence. A row may be empty
/// only where nothing could be bound, which BindReport counts.
class SkinWeights {
public:
    SkinWeights() = default;

    /// Builds from rows given as counts and influences in vertex order; sorts, merges repeated joints, drops
    /// zeros and normalises each row (one that sums to 1 already keeps its bits). A negative or non-finite weight
    /// is an error that names the vertex. O(influences log max row).
    static Result<SkinWeights> from_rows(std::span<const std::uint32_t> counts, std::vector<Influence> influences);

    std::size_t vertex_count() const { return first_.empty() ? 0 : first_.size() - 1; }
    std::span<const Influence> operator[](std::size_t vertex) const {
        return {influences_.data() + first_[vertex], influences_.data() + first_[vertex + 1]};
    }
    std::size_t max_influences() const;
    friend bool operator==(const SkinWeights&, const SkinWeights&) = default;

private:
    friend struct WeightRows;
    std::vector<std::uint64_t> first_;  // V + 1
    std::vector<Influence> influences_;
};

/// Per joint the sum of its weights over all vertices: the evidence for select_deforming. O(influences).
std::vector<double> joint_use(const SkinWeights& weights, std::size_t joint_count);

/// No limit on the number of influences.
inline constexpr int all_influences = 0;

/// The nearest joints of every vertex: V rows of `width` slots, sorted by distance, then by joint.
/// Distances in scene units; an unused slot has joint = no_index and distance = +inf.
struct DistanceTable {
    std::size_t vertices = 0;
    std::size_t width = 0;
    std::vector<std::uint32_t> joint;  ///< vertices × width
    std::vector<float> distance;       ///< vertices × width
    float unit = 1;                    ///< scene units per unit-cube unit (the longest side of the box)
};

/// Joints × strength, ≥ 0, not normalised; same layout as DistanceTable, sorted by falling strength.
struct InfluenceTable {
    std::size_t vertices = 0;
    std::size_t width = 0;
    std::vector<std::uint32_t> joint;
    std::vector<float> strength;
};

/// How distance, or heat, becomes strength. d is in unit-cube units. α is the hardness (FalloffOptions::alpha) and
/// λ = (1-α) λmin + α λmax (Dionne and de Lasa 2014, eq. 9). The strengths of the exponential, of cubic Hermite and
/// of linear are raised to the power λ / 7.5, which is 1 at the default α: there each law is exactly as published.
enum class FalloffLaw {
    inverse_power,      ///< max(tolerance, d)^-λ (eq. 8)
    inverse_quadratic,  ///< ((1-α) d + α d²)^-2 (the paper's conference version)
    exponential,        ///< e^(-d / smoothness) (VIDE 2012)
    cubic_hermite,      ///< 1 - 3 t² + 2 t³ with t = d / reach (Tokheim 2003), see FalloffOptions::threshold
    linear,             ///< 1 - t
    power,              ///< h^(power λ / 7.5), for strengths: heat (Rosen 2009), or weights
};

std::string_view to_string(FalloffLaw law);

/// Values of the parameter that shapes the law (see shape_of), by joint and by vertex: harder or softer influence
/// in parts of the mesh. NaN = no value. A vertex's own value takes precedence over those of joints.
///
/// smoothness and threshold are lengths: a joint's value is the reach of that joint. alpha is the hardness of the
/// borders between joints: a vertex takes the mean of its joints' values, weighted by the strengths that the law
/// has without them, so that the borders do not move.
struct FalloffMap {
    std::vector<float> of_joint;   ///< per joint of the skeleton, or empty
    std::vector<float> of_vertex;  ///< V or empty
    /// V or empty (all 1): the fraction, 0..1, of a vertex's own value; the rest is its value without it.
    std::vector<float> share_of_vertex;
    /// Per joint or empty: alpha, also for laws that another parameter shapes. If alpha shapes the law, of_joint
    /// takes precedence.
    std::vector<float> hardness_of_joint;
    bool empty() const { return of_joint.empty() && of_vertex.empty() && hardness_of_joint.empty(); }

    /// Blends a value with the present value of one of `vertices` vertices, by `share`, 0..1.
    void put(std::size_t vertex, std::size_t vertices, float value, float share);
};

/// Converts a map for the law `from` to the law `to`: all of it if the same parameter shapes both, else only the
/// hardness of joints. O(joints), and O(V) where all is kept.
FalloffMap map_under(const FalloffMap& map, FalloffLaw from, FalloffLaw to);

/// A falloff that depends on the pose (Dionne and de Lasa 2014, section 9): a value of the parameter that shapes
/// the law, by how far a joint is turned against its parent from the bind pose. falloff_at (sinew/deform.h) puts it
/// into a FalloffMap.
struct AngleFalloff {
    std::uint32_t joint = 0;  ///< whose angle
    /// Degrees 0..180, rising, and values; linear between them, constant beyond.
    std::vector<std::array<float, 2>> keys;
    /// Per vertex (V), from 0 (not at all) to 1 (fully); empty: everywhere the joint acts.
    std::vector<float> selection = {};
};

struct FalloffOptions {
    FalloffLaw law = FalloffLaw::inverse_power;
    float alpha = 0.1f;        ///< 0..1: 0 soft, 1 hard; every law reads it
    float lambda_min = 5;      ///< > 0; λ at α = 0, of every law but inverse_quadratic
    float lambda_max = 30;     ///< ≥ lambda_min; λ at α = 1
    float tolerance = 1e-3f;   ///< d_tol, > 0
    float smoothness = 0.03f;  ///< exponential: the distance over which influence falls to 1/e, > 0
    /// Cubic Hermite and linear: maximum reach, > 0. The reach of a vertex's row is the distance of the
    /// first joint beyond the nearest `neighbours`, and at most the threshold. So influence fades to zero where the
    /// limit of influences cuts. If even the nearest joint is beyond the threshold, it has all the weight.
    float threshold = 0.5f;
    /// ≥ 0. 0: the limit of influences in the FinishOptions passed to weigh; apply_falloff alone has no limit.
    int neighbours = 0;
    float power = 1;  ///< power: the exponent at the default α (where λ = 7.5), > 0 and at most 100
    FalloffMap map;
};
/// Values of the map are checked like the option that they replace.
Status check(const FalloffOptions& options);

/// The parameter that a FalloffMap overrides: alpha, smoothness or threshold.
float FalloffOptions::*shape_of(FalloffLaw law);

/// Distance to strength, row by row, relative to the row's strongest (so nothing overflows): the strongest
/// has strength 1. Rows that list only unreachable joints become empty. FalloffLaw::power is not for distances: an
/// error, as is a map whose lengths do not fit. O(V · width), parallel.
Result<InfluenceTable> apply_falloff(const DistanceTable& distances, const FalloffOptions& options,
                                     Context* context = nullptr);
/// The same for strengths. FalloffLaw::power only.
Result<InfluenceTable> apply_falloff(const InfluenceTable& strengths, const FalloffOptions& options,
                                     Context* context = nullptr);

/// How the limit of influences is applied.
enum class LimitRule {
    fade,  ///< subtract the (K+1)-th strength before normalising: continuous in the vertex's position
    cut,   ///< keep the K strongest as they are: creases where the K-th and the next are close
};

struct FinishOptions {
    int max_influences = 4;  ///< 1..8, or all_influences
    LimitRule limit_rule = LimitRule::fade;
    float prune = 1e-4f;  ///< drop weights below this after normalising, then normalise again; 0..0.5
};
Status check(const FinishOptions& options);

/// Limit, prune, normalise. O(V · width), parallel.
Result<SkinWeights> finish(const InfluenceTable& influences, const FinishOptions& options,
                           Context* context = nullptr);

/// finish(apply_falloff(distances, falloff), finish) in one pass and to the same bits, for distances that are kept.
/// For inverse_power, only the strengths that the limit keeps, and one more, are computed.
Result<SkinWeights> weigh(const DistanceTable& distances, const FalloffOptions& falloff,
                          const FinishOptions& finish, Context* context = nullptr);
/// The same for strengths that are kept.
Result<SkinWeights> weigh(const InfluenceTable& strengths, const FalloffOptions& falloff,
                          const FinishOptions& finish, Context* context = nullptr);

}  // namespace sinew
