// A small neural network that corrects the weights of surface-heat, learned from characters that artists weighted.
// A method of this project (docs/notes/learned-correction.md says how it was trained and judged);
// scripts/research/train-correction writes its numbers to influence_model_numbers.h.
#pragma once

#include <array>
#include <vector>

#include "bind/surface_heat/influence_features.h"

namespace sinew {

/// Two hidden layers over the features of a vertex and a joint. Its output is added to the logarithm of the
/// joint's weight: positive where artists gave more to such a joint than surface heat does. The features of joints
/// and mesh enter the first layer once for each joint.
class InfluenceModel {
public:
    static constexpr std::size_t kFirst = 32, kSecond = 16;

    explicit InfluenceModel(const InfluenceFeatures& features, std::size_t joints);

    /// Corrects the weights of the candidates of each row; they sum to 1. `pairs`: of
    /// InfluenceFeatures::pair_features, for one row after the other. `strength`: 0 changes nothing, 1 trusts the
    /// network fully. About 1,400 products for each candidate; many rows at a time take a fraction of the time.
    void correct(std::span<InfluenceFeatures::Candidates> rows, std::span<const float> pairs,
                 double strength) const;

private:
    struct Outputs;

    std::vector<std::array<float, kFirst>> of_joint_;
};

}  // namespace sinew
