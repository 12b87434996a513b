// A falloff law, applied to one vertex at a time.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "sinew/weights.h"

namespace sinew {

/// One vertex: its joints, the input of the law (distances in unit-cube units, or strengths), and the resulting
/// strengths.
struct LawRow {
    std::vector<std::uint32_t> joint;
    std::vector<double> value;
    std::vector<double> strength;
    std::vector<double> exponent;  // for the powers

    void clear() {
        joint.clear();
        value.clear();
    }
};

/// Keeps a reference to the options, which must have passed check().
class Law {
public:
    /// `limit`: of influences, for laws whose reach depends on it (FalloffOptions::neighbours); all_influences:
    /// no limit.
    explicit Law(const FalloffOptions& options, int limit = all_influences)
        : o_(options),
          base_(options.*shape_of(options.law)),
          neighbours_(static_cast<std::size_t>(options.neighbours > 0 ? options.neighbours : limit)) {}

    /// Computes row.strength, relative to the strongest.
    void apply(std::size_t vertex, LawRow& row) const;

    /// A vertex's own value of the parameter that shapes the law, and its share: 0 if it has no value.
    struct OwnValue {
        double value = 0, share = 0;
        double over(double rest) const {
            return share == 1 ? value : share == 0 ? rest : share * value + (1 - share) * rest;
        }
    };
    OwnValue of_vertex(std::size_t v) const;

    /// Whether α may differ from joint to joint; α of a joint.
    bool has_alpha_of_joints() const;
    double alpha_of_joint(std::uint32_t j) const;

    /// The exponent: of distance for inverse_power, of the law's strength for the others. Not for
    /// inverse_quadratic.
    double exponent(double alpha) const;

private:
    double length_of_joint(std::uint32_t j) const;
    template <typename LengthAt>
    double alpha_of_row(LawRow& row, LengthAt&& length_at) const;
    template <typename LengthAt>
    void shape(LawRow& row, LengthAt&& length_at, double alpha) const;

    const FalloffOptions& o_;
    const double base_;             // parameter that shapes the law
    const std::size_t neighbours_;  // the reach ends at the first joint beyond these; 0: no such end
};

/// The checks of apply_falloff: options, maps that do not fit `vertices` and these joints, and tables.
Status check_map(const FalloffOptions& options, std::size_t vertices, std::span<const std::uint32_t> joints);
Status check_distances(const DistanceTable& distances, const FalloffOptions& options);
Status check_strengths(const InfluenceTable& strengths, const FalloffOptions& options);

/// Appends the entries above 0 (as floats), by falling strength, then by joint. Returns their number.
std::size_t sorted_strengths(const LawRow& row, std::uint32_t* joint, float* strength);

}  // namespace sinew
