// A falloff law, applied to one vertex at a time.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "sinew/weights.h"

namespace sinew {

/// One vertex: its joints and what the law is applied to (distances in unit-cube units, or strengths), and room for
/// the strengths that come of it.
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
    /// `limit`: of influences, for laws whose reach it sets (FalloffOptions::neighbours); all_influences: none.
    explicit Law(const FalloffOptions& options, int limit = all_influences)
        : o_(options),
          base_(options.*shape_of(options.law)),
          neighbours_(static_cast<std::size_t>(options.neighbours > 0 ? options.neighbours : limit)) {}

    /// Fills row.strength, relative to the strongest.
    void apply(std::size_t vertex, LawRow& row) const;

    /// A vertex's own value of the parameter that shapes the law, and how much it counts: 0 where it has none.
    struct Own {
        double value = 0, share = 0;
        double over(double rest) const {
            return share == 1 ? value : share == 0 ? rest : share * value + (1 - share) * rest;
        }
    };
    Own of_vertex(std::size_t v) const;

    /// Whether α may differ from joint to joint; and α of a joint.
    bool has_alpha_of_joints() const;
    double alpha_of_joint(std::uint32_t j) const;

    /// Of inverse_power the power of distance, of other laws that of the law's strength. Not of inverse_quadratic.
    double exponent(double alpha) const;

private:
    double length_of_joint(std::uint32_t j) const;
    template <typename LengthAt>
    double alpha_of_row(LawRow& row, LengthAt&& length_at) const;
    template <typename LengthAt>
    void shape(LawRow& row, LengthAt&& length_at, double alpha) const;

    const FalloffOptions& o_;
    const double base_;             // of the parameter that shapes the law
    const std::size_t neighbours_;  // the first joint beyond these ends the reach; 0: none does
};

/// What apply_falloff refuses: options, maps that are not of `vertices` and of these joints, and tables.
Status check_map(const FalloffOptions& options, std::size_t vertices, std::span<const std::uint32_t> joints);
Status check_distances(const DistanceTable& distances, const FalloffOptions& options);
Status check_strengths(const InfluenceTable& strengths, const FalloffOptions& options);

/// Appends to the row, sorted by falling strength, then by joint, what is above 0 as a float. Returns how many.
std::size_t sorted_strengths(const LawRow& row, std::uint32_t* joint, float* strength);

}  // namespace sinew
