// The table of falloff laws: one row has all that other files need about a law. Its formula is a case of Law::shape
// (falloff.cpp).
#pragma once

#include <array>
#include <string_view>

#include "sinew/weights.h"

namespace sinew {

struct LawTableRow {
    FalloffLaw law;
    std::string_view name;
    /// The option that shapes the law (shape_of): the hardness α, or a length.
    float FalloffOptions::*shape;
    bool reads_lambda;  ///< its exponent follows from FalloffOptions::lambda_min and lambda_max
    bool of_strengths;  ///< it acts on strengths (heat, weights); the others on distances
};

inline constexpr std::array kLaws{
    LawTableRow{FalloffLaw::inverse_power, "inverse-power", &FalloffOptions::alpha, true, false},
    LawTableRow{FalloffLaw::inverse_quadratic, "inverse-quadratic", &FalloffOptions::alpha, false, false},
    LawTableRow{FalloffLaw::exponential, "exponential", &FalloffOptions::smoothness, true, false},
    LawTableRow{FalloffLaw::cubic_hermite, "cubic-hermite", &FalloffOptions::threshold, true, false},
    LawTableRow{FalloffLaw::linear, "linear", &FalloffOptions::threshold, true, false},
    LawTableRow{FalloffLaw::power, "power", &FalloffOptions::alpha, true, true},
};

/// Null for a value that is no law.
constexpr const LawTableRow* find_law(FalloffLaw law) {
    const auto place = static_cast<std::size_t>(law);
    return place < kLaws.size() ? &kLaws[place] : nullptr;
}
static_assert(
    [] {
        for (const LawTableRow& row : kLaws)
            if (find_law(row.law) != &row) return false;
        return true;
    }(),
    "rows are in the order of FalloffLaw");

}  // namespace sinew
