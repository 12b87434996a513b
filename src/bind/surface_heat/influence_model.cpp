#include "bind/surface_heat/influence_model.h"

#include <algorithm>
#include <cmath>

#include "bind/surface_heat/influence_model_numbers.h"
#include "weights/power.h"

namespace sinew {
namespace {

using Features = InfluenceFeatures;
using namespace influence_model;

// Added to weights before their logarithm is taken: a joint without heat may get weight.
constexpr double kFloor = 0.01;
// Smaller weights are not worth an influence.
constexpr double kLeast = 0.003;
// Limit of a feature in standard deviations: keeps the output bounded on unusual characters.
constexpr float kLimit = 4;
constexpr double kLog2e = 1.442695040888963407359924681;

static_assert(kInputs == Features::kPair + Features::kJoint + Features::kMesh);

float normalised(float x, std::size_t input) {
    return std::clamp((x - kMean[input]) * kInverseDeviation[input], -kLimit, kLimit);
}

void add(std::array<float, InfluenceModel::kFirst>& sums, float x, std::size_t input) {
    for (std::size_t h = 0; h < sums.size(); ++h) sums[h] += x * kFirstWeights[input][h];
}

}  // namespace

InfluenceModel::InfluenceModel(const InfluenceFeatures& features, std::size_t joints) : of_joint_(joints) {
    for (std::uint32_t slot = 0; slot < joints; ++slot) {
        std::array<float, kFirst>& sums = of_joint_[slot];
        sums = kFirstBias;
        std::size_t input = Features::kPair;
        for (const float x : features.joint_features(slot)) add(sums, normalised(x, input), input), ++input;
        for (const float x : features.mesh_features()) add(sums, normalised(x, input), input), ++input;
    }
}

float InfluenceModel::output(std::uint32_t slot, std::span<const float> pair) const {
    std::array<float, kFirst> first = of_joint_[slot];
    for (std::size_t input = 0; input < pair.size(); ++input) add(first, normalised(pair[input], input), input);
    std::array<float, kSecond> second = kSecondBias;
    for (std::size_t h = 0; h < kFirst; ++h) {
        const float x = std::max(first[h], 0.0f);
        for (std::size_t g = 0; g < kSecond; ++g) second[g] += x * kSecondWeights[h][g];
    }
    float out = 0;
    for (std::size_t g = 0; g < kSecond; ++g) out += std::max(second[g], 0.0f) * kLastWeights[g];
    return out;
}

void InfluenceModel::correct(Features::Candidates& among, std::span<const float> pairs, double strength) const {
    std::array<double, Features::kMost> logarithm;
    double largest = -INFINITY, sum = 0;
    for (std::size_t c = 0; c < among.count; ++c) {
        const auto z =
            static_cast<double>(output(among.slot[c], pairs.subspan(c * Features::kPair, Features::kPair)));
        logarithm[c] = log2_same(among.weight[c] + kFloor) + strength * kLog2e * z;
        largest = std::max(largest, logarithm[c]);
    }
    for (std::size_t c = 0; c < among.count; ++c) {
        among.weight[c] = exp2_same(std::max(logarithm[c] - largest, -100.0));
        sum += among.weight[c];
    }
    double kept = 0;
    for (std::size_t c = 0; c < among.count; ++c) {
        among.weight[c] = std::max(among.weight[c] / sum - kLeast, 0.0);
        kept += among.weight[c];
    }
    for (std::size_t c = 0; c < among.count; ++c) among.weight[c] /= kept;
}

}  // namespace sinew
