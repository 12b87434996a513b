// Grids of bits: memory that is committed page by page, copies, and counts.
#include <bit>
#include <utility>

#include "core/large_pages.h"
#include "core/parallel.h"
#include "sinew/domain.h"
#include "sinew/voxels.h"

namespace sinew {

BitGrid::BitGrid(int resolution, int layers)
    : r_(resolution), layers_(layers), wpr_((resolution + 63) / 64), region_{0, layers} {
    count_ = static_cast<std::size_t>(layers) * resolution * wpr_;
    const std::size_t bytes = count_ * sizeof(std::uint64_t);
    words_ = {static_cast<std::uint64_t*>(allocate_zeros(bytes)),
              [bytes](std::uint64_t* words) { free_zeros(words, bytes); }};
}

BitGrid::BitGrid(const BitGrid& other) : BitGrid(other.r_, other.layers_) {
    restrict_to(other.region());
    for (int z = 0; z < layers_; ++z)
        each_word_range(z, [&](std::size_t first, std::size_t end) {
            for (std::size_t k = first; k < end; ++k)
                if (other.words_[k]) words_[k] = other.words_[k];
        });
}

BitGrid& BitGrid::operator=(BitGrid other) noexcept {
    std::swap(r_, other.r_);
    std::swap(layers_, other.layers_);
    std::swap(wpr_, other.wpr_);
    std::swap(region_, other.region_);
    std::swap(count_, other.count_);
    words_.swap(other.words_);
    return *this;
}

std::size_t BitGrid::count(Context* context) const {
    std::vector<std::size_t> counts(static_cast<std::size_t>(layers_), 0);
    parallel_for(context, counts.size(), 4, [&](std::size_t z) {
        std::size_t n = 0;
        each_word_range(static_cast<int>(z), [&](std::size_t first, std::size_t end) {
            for (std::size_t k = first; k < end; ++k)
                if (words_[k]) n += static_cast<std::size_t>(std::popcount(words_[k]));
        });
        counts[z] = n;
    });
    std::size_t n = 0;
    for (const std::size_t count : counts) n += count;
    return n;
}

}  // namespace sinew
