// Reports of fuzz targets when an invariant fails.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "sinew/core.h"
#include "sinew/weights.h"

/// Prints the failure and aborts, which libFuzzer counts as a finding.
inline void require(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "invariant broken: %s\n", what.c_str());
    std::abort();
}

/// A refusal must have a reason, and must not be an internal error.
inline void require_refusal(const sinew::Error& error) {
    require(!error.message.empty(), "an error without a message");
    require(error.code != sinew::ErrorCode::internal, "internal error: " + error.message);
}

/// The invariant of SkinWeights, for rows that are not empty.
inline void require_row(std::span<const sinew::Influence> row, std::size_t joints, std::size_t vertex) {
    const std::string place = " at vertex " + std::to_string(vertex);
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        require(row[i].weight > 0 && row[i].weight <= 1, "weight outside (0, 1]" + place);
        require(row[i].joint < joints, "joint out of range" + place);
        require(i == 0 || row[i].weight <= row[i - 1].weight, "row not sorted" + place);
        for (std::size_t j = 0; j < i; ++j) require(row[i].joint != row[j].joint, "joint twice" + place);
        sum += row[i].weight;
    }
    require(std::abs(sum - 1) <= 2e-7 * static_cast<double>(row.size()), "sum is not 1" + place);
}
