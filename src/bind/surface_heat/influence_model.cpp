#include "bind/surface_heat/influence_model.h"

#include <algorithm>
#include <cmath>

#include "bind/surface_heat/influence_model_numbers.h"
#include "core/lanes.h"
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
constexpr std::size_t kAtOnce = 16;  // nodes of a layer
static_assert(InfluenceModel::kFirst % kAtOnce == 0 && InfluenceModel::kSecond == kAtOnce);
template <std::size_t n>
using Nodes = Row<float, kAtOnce, n>;

/// sums[c] += x[c] * weights.
template <std::size_t n>
void add_products(Nodes<n> (&sums)[kTogether], const float* x, std::size_t step, const float* weights) {
    Nodes<n> w;
    w.load(weights);
    for (std::size_t c = 0; c < kTogether; ++c) sums[c].add(x[c * step], w);
}

/// The outputs for kTogether candidates, in vectors of n numbers. `of_joint`: the sums of the first layer over
/// joint and mesh.
template <std::size_t n>
void output(const float* const (&of_joint)[kTogether], const float* pairs, float* out) {
    constexpr std::size_t inputs = Features::kPair, first = InfluenceModel::kFirst;
    float normal[kTogether * inputs], hidden[kTogether * first];
    for (std::size_t c = 0; c < kTogether; ++c)
        for (std::size_t i = 0; i < inputs; ++i) normal[c * inputs + i] = normalised(pairs[c * inputs + i], i);
    Nodes<n> sums[kTogether];
    for (std::size_t h = 0; h < first; h += kAtOnce) {
        for (std::size_t c = 0; c < kTogether; ++c) sums[c].load(of_joint[c] + h);
        for (std::size_t i = 0; i < inputs; ++i)
            add_products<n>(sums, normal + i, inputs, kFirstWeights[i].data() + h);
        for (std::size_t c = 0; c < kTogether; ++c) {
            sums[c].raise_to_zero();
            sums[c].store(hidden + c * first + h);
        }
    }
    for (Nodes<n>& each : sums) each.load(kSecondBias.data());
    for (std::size_t h = 0; h < first; ++h) add_products<n>(sums, hidden + h, first, kSecondWeights[h].data());
    for (std::size_t c = 0; c < kTogether; ++c) {
        std::array<float, kAtOnce> second;
        sums[c].raise_to_zero();
        sums[c].store(second.data());
        out[c] = 0;
        for (std::size_t g = 0; g < kAtOnce; ++g) out[c] += second[g] * kLastWeights[g];
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
    template <std::size_t bytes>
    static void with(std::span<const float* const> of_joint, const float* pairs, float* out) {
        for (std::size_t c = 0; c < of_joint.size(); c += kTogether) {
            const float* together[kTogether];
            std::copy_n(of_joint.begin() + static_cast<std::ptrdiff_t>(c), kTogether, together);
            output<bytes / sizeof(float)>(together, pairs + c * Features::kPair, out + c);
        }
    }
#if defined(SINEW_VECTORS)
    SINEW_FOR_AVX2 static void avx2(std::span<const float* const> of_joint, const float* pairs, float* out) {
        with<kAvx2Vector>(of_joint, pairs, out);
    }
    SINEW_FOR_AVX512 static void avx512(std::span<const float* const> of_joint, const float* pairs, float* out) {
        with<kAvx512Vector>(of_joint, pairs, out);
    }
    static auto choose() { return best_of(with<kAnyVector>, avx2, avx512); }
#else
    static auto choose() { return with<kAnyVector>; }
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
