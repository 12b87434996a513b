// Kernel: insertion into sorted rows, in vectors and plain. x is the label; s is the slot of its joint, or the last
// slot if the row does not have the joint. If x < row[s], the new row is min(row[k], max(row[k-1], x)) up to s and
// unchanged after it.
#include "field/label_rows.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/processor.h"
#ifdef SINEW_VECTORS
#include <immintrin.h>
#endif

namespace sinew {
namespace {

template <int K>
std::size_t take_plain(LabelRow<K>* rows, std::size_t width, const Offer* offers, std::size_t n, Offer* taken) {
    const int last = static_cast<int>(width) - 1;
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Offer o = offers[i];
        Label* row = rows[o.leaf].label;
        int s = last;
        for (int k = 0; k < last; ++k) s = ((row[k] ^ o.label) & kLabelJointMask) == 0 ? k : s;
        taken[count] = o;
        if ((o.label | kLabelDirectionMask) >= row[s]) continue;
        ++count;
        for (; s > 0 && row[s - 1] > o.label; --s) row[s] = row[s - 1];
        row[s] = o.label;
    }
    return count;
}

template <int K>
std::size_t keep_current_plain(const LabelRow<K>* rows, const Offer* labels, std::size_t n, Offer* out) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        bool found = false;
        for (const Label label : rows[labels[i].leaf].label) found |= label == labels[i].label;
        out[count] = labels[i];
        count += found;
    }
    return count;
}

#ifdef SINEW_VECTORS

// Lane k of entry s is set for k <= s; no lane of entry K.
template <int K>
constexpr auto kThrough = [] {
    std::array<std::array<std::uint64_t, K>, K + 1> out{};
    for (std::size_t s = 0; s < K; ++s)
        for (std::size_t k = 0; k <= s; ++k) out[s][k] = ~std::uint64_t{0};
    return out;
}();

template <int K>
__attribute__((target("avx2"))) std::size_t take_avx2(LabelRow<K>* rows, std::size_t width, const Offer* offers,
                                                      std::size_t n, Offer* taken) {
    constexpr int parts = K / 4;
    const __m256i joints = _mm256_set1_epi64x(static_cast<long long>(kLabelJointMask));
    const __m256i zero = _mm256_setzero_si256();
    const unsigned last = 1u << (width - 1);
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Offer o = offers[i];
        Label* row = rows[o.leaf].label;
        const __m256i x = _mm256_set1_epi64x(static_cast<long long>(o.label));
        __m256i old[parts];
        unsigned same = 0;
        for (int p = 0; p < parts; ++p) {
            old[p] = _mm256_load_si256(reinterpret_cast<const __m256i*>(row) + p);
            const __m256i equal = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_xor_si256(old[p], x), joints), zero);
            same |= static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal))) << (4 * p);
        }
        const auto s = static_cast<std::size_t>(std::countr_zero(same | last));
        const bool takes = (o.label | kLabelDirectionMask) < row[s];
        taken[count] = o;
        count += takes;
        const auto* through = reinterpret_cast<const __m256i*>(kThrough<K>[takes ? s : K].data());
        __m256i before = zero;  // the previous part; its last label is in the last lane
        for (int p = 0; p < parts; ++p) {
            // row[k-1]
            const __m256i rotated = _mm256_permute4x64_epi64(old[p], 0x93);
            const __m256i shifted = _mm256_blend_epi32(rotated, before, 3);
            before = rotated;
            const __m256i larger = _mm256_blendv_epi8(x, shifted, _mm256_cmpgt_epi64(shifted, x));
            const __m256i less = _mm256_cmpgt_epi64(old[p], larger);
            const __m256i moves = _mm256_and_si256(less, _mm256_loadu_si256(through + p));
            _mm256_store_si256(reinterpret_cast<__m256i*>(row) + p, _mm256_blendv_epi8(old[p], larger, moves));
        }
    }
    return count;
}

template <int K>
__attribute__((target("avx2"))) std::size_t still_there_avx2(const LabelRow<K>* rows, const Offer* labels,
                                                             std::size_t n, Offer* out) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Offer o = labels[i];
        const auto* row = reinterpret_cast<const __m256i*>(rows[o.leaf].label);
        const __m256i x = _mm256_set1_epi64x(static_cast<long long>(o.label));
        __m256i found = _mm256_cmpeq_epi64(_mm256_load_si256(row), x);
        for (int p = 1; p < K / 4; ++p)
            found = _mm256_or_si256(found, _mm256_cmpeq_epi64(_mm256_load_si256(row + p), x));
        out[count] = o;
        count += !_mm256_testz_si256(found, found);
    }
    return count;
}

#endif

template <int K>
struct Kernels {
    std::array<RowKernel<K>, 2> list{};
    std::size_t count = 0;
    Kernels() {
        list[count++] = {take_plain<K>, keep_current_plain<K>};
#ifdef SINEW_VECTORS
        if constexpr (K >= 4)
            if (vectors() >= Vectors::avx2) list[count++] = {take_avx2<K>, still_there_avx2<K>};
#endif
    }
};

template <int K>
const Kernels<K>& kernels() {
    static const Kernels<K> made;
    return made;
}

}  // namespace

template <int K>
const RowKernel<K>& RowKernel<K>::best() {
    return kernels<K>().list[kernels<K>().count - 1];
}
template <int K>
const RowKernel<K>* RowKernel<K>::all(std::size_t& count) {
    count = kernels<K>().count;
    return kernels<K>().list.data();
}

template struct RowKernel<1>;
template struct RowKernel<4>;
template struct RowKernel<8>;
template struct RowKernel<16>;

}  // namespace sinew
