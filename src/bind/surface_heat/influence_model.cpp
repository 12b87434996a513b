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

// Candidates that are computed together: one waits for the sums of the other. Narrow vectors fill the registers
// sooner.
#if defined(SINEW_VECTORS)
constexpr std::size_t kTogether = 4;
#else
constexpr std::size_t kTogether = 2;
#endif
constexpr std::size_t kLanes = 16;
static_assert(InfluenceModel::kFirst % kLanes == 0 && InfluenceModel::kSecond == kLanes);
using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

/// sums[c] += x[c] * weights. By reference: how vectors are passed depends on the processor.
void add_products(Lanes (&sums)[kTogether], const float* x, std::size_t step, const float* weights) {
    Lanes w;
    std::memcpy(&w, weights, sizeof w);
    for (std::size_t c = 0; c < kTogether; ++c) sums[c] += x[c * step] * w;
}

/// The outputs for kTogether candidates. `of_joint`: the sums of the first layer over joint and mesh.
void output(const float* const (&of_joint)[kTogether], const float* pairs, float* out) {
    constexpr std::size_t inputs = Features::kPair, first = InfluenceModel::kFirst;
    float normal[kTogether * inputs], hidden[kTogether * first];
    for (std::size_t c = 0; c < kTogether; ++c)
        for (std::size_t i = 0; i < inputs; ++i) normal[c * inputs + i] = normalised(pairs[c * inputs + i], i);
    Lanes sums[kTogether];
    for (std::size_t h = 0; h < first; h += kLanes) {
        for (std::size_t c = 0; c < kTogether; ++c) std::memcpy(&sums[c], of_joint[c] + h, sizeof(Lanes));
        for (std::size_t i = 0; i < inputs; ++i)
            add_products(sums, normal + i, inputs, kFirstWeights[i].data() + h);
        for (std::size_t c = 0; c < kTogether; ++c) {
            sums[c] = sums[c] < 0 ? Lanes{} : sums[c];
            std::memcpy(hidden + c * first + h, &sums[c], sizeof(Lanes));
        }
    }
    for (Lanes& each : sums) std::memcpy(&each, kSecondBias.data(), sizeof(Lanes));
    for (std::size_t h = 0; h < first; ++h) add_products(sums, hidden + h, first, kSecondWeights[h].data());
    Lanes last;
    std::memcpy(&last, kLastWeights.data(), sizeof last);
    for (std::size_t c = 0; c < kTogether; ++c) {
        const Lanes each = (sums[c] < 0 ? Lanes{} : sums[c]) * last;
        out[c] = 0;
        for (std::size_t g = 0; g < kLanes; ++g) out[c] += each[g];
    }
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

/// The outputs for all candidates, with several instruction sets: the same sums in the same order.
struct InfluenceModel::Outputs {
    /// The count of all three is a multiple of kTogether.
    static void plain(std::span<const float* const> of_joint, const float* pairs, float* out) {
        for (std::size_t c = 0; c < of_joint.size(); c += kTogether) {
            const float* together[kTogether];
            std::copy_n(of_joint.begin() + static_cast<std::ptrdiff_t>(c), kTogether, together);
            output(together, pairs + c * Features::kPair, out + c);
        }
    }
#if defined(SINEW_VECTORS)
    SINEW_FOR_AVX2 static void avx2(std::span<const float* const> of_joint, const float* pairs, float* out) {
        plain(of_joint, pairs, out);
    }
    SINEW_FOR_AVX512 static void avx512(std::span<const float* const> of_joint, const float* pairs, float* out) {
        plain(of_joint, pairs, out);
    }
    static auto choose() { return best_of(plain, avx2, avx512); }
#else
    static auto choose() { return plain; }
#endif
};

void InfluenceModel::correct(std::span<Features::Candidates> rows, std::span<const float> pairs,
                             double strength) const {
    static const auto outputs = Outputs::choose();
    std::vector<const float*> of_joint;
    for (const Features::Candidates& among : rows)
        for (std::size_t c = 0; c < among.count; ++c) of_joint.push_back(of_joint_[among.slot[c]].data());
    std::vector<float> padded(pairs.begin(), pairs.end());
    of_joint.resize((of_joint.size() + kTogether - 1) / kTogether * kTogether, of_joint_[0].data());
    padded.resize(of_joint.size() * Features::kPair);
    std::vector<float> z(of_joint.size());
    outputs(of_joint, padded.data(), z.data());
    const float* own = z.data();
    for (Features::Candidates& among : rows) {
        std::array<double, Features::kMost> logarithm;
        double largest = -INFINITY, sum = 0;
        for (std::size_t c = 0; c < among.count; ++c) {
            logarithm[c] = among.logarithm[c] + strength * kLog2e * static_cast<double>(own[c]);
            largest = std::max(largest, logarithm[c]);
        }
        own += among.count;
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
}

}  // namespace sinew
