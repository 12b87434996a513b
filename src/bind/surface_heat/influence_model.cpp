#include "bind/surface_heat/influence_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bind/surface_heat/influence_model_numbers.h"
#include "core/processor.h"
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

template <std::size_t N>
using Lanes [[gnu::vector_size(N * sizeof(float))]] = float;

/// sums += x * weights. By reference: how vectors are passed depends on the processor.
template <typename Vector>
void add_product(Vector& sums, float x, const float* weights) {
    Vector w;
    std::memcpy(&w, weights, sizeof w);
    sums += x * w;
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

float InfluenceModel::output(const std::array<float, kFirst>& of_joint, const float* pair) {
    // As vectors: otherwise compilers turn the loops around and add up numbers one by one.
    using First = Lanes<kFirst>;
    using Second = Lanes<kSecond>;
    First first;
    std::memcpy(&first, of_joint.data(), sizeof first);
    for (std::size_t input = 0; input < Features::kPair; ++input)
        add_product(first, normalised(pair[input], input), kFirstWeights[input].data());
    first = first < 0 ? First{} : first;
    Second second, last;
    std::memcpy(&second, kSecondBias.data(), sizeof second);
    for (std::size_t h = 0; h < kFirst; ++h) add_product(second, first[h], kSecondWeights[h].data());
    std::memcpy(&last, kLastWeights.data(), sizeof last);
    second = (second < 0 ? Second{} : second) * last;
    float out = 0;
    for (std::size_t g = 0; g < kSecond; ++g) out += second[g];
    return out;
}

/// The outputs for all candidates, with several instruction sets: the same sums in the same order.
struct InfluenceModel::Outputs {
    static void plain(const InfluenceModel& model, const Features::Candidates& among, const float* pairs,
                      float* out) {
        for (std::size_t c = 0; c < among.count; ++c)
            out[c] = output(model.of_joint_[among.slot[c]], pairs + c * Features::kPair);
    }
#if defined(SINEW_VECTORS)
    SINEW_FOR_AVX2 static void avx2(const InfluenceModel& model, const Features::Candidates& among,
                                    const float* pairs, float* out) {
        plain(model, among, pairs, out);
    }
    SINEW_FOR_AVX512 static void avx512(const InfluenceModel& model, const Features::Candidates& among,
                                        const float* pairs, float* out) {
        plain(model, among, pairs, out);
    }
    static auto choose() { return best_of(plain, avx2, avx512); }
#else
    static auto choose() { return plain; }
#endif
};

void InfluenceModel::correct(Features::Candidates& among, std::span<const float> pairs, double strength) const {
    static const auto outputs = Outputs::choose();
    std::array<float, Features::kMost> z;
    outputs(*this, among, pairs.data(), z.data());
    std::array<double, Features::kMost> logarithm;
    double largest = -INFINITY, sum = 0;
    for (std::size_t c = 0; c < among.count; ++c) {
        logarithm[c] = portable_log2(among.weight[c] + kFloor) + strength * kLog2e * static_cast<double>(z[c]);
        largest = std::max(largest, logarithm[c]);
    }
    for (std::size_t c = 0; c < among.count; ++c) {
        among.weight[c] = portable_exp2(std::max(logarithm[c] - largest, -100.0));
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
