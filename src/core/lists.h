// Lists of numbers that follow each other in one array.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/large_pages.h"
#include "core/parallel.h"

namespace sinew {

/// For loops over entries in which each thread keeps those of some keys, in their order: calls work(is_mine) in
/// several threads; each key is_mine in one of them.
template <typename Work>
void each_key_range(Context* context, std::size_t keys, const Work& work) {
    const auto most = static_cast<std::size_t>(thread_count(context));
    const std::size_t ranges = keys < 4096 ? 1 : std::min<std::size_t>(most, 8);
    parallel_for(context, ranges, 1, [&](std::size_t r) {
        const std::size_t low = keys * r / ranges, size = keys * (r + 1) / ranges - low;
        work([=](std::uint32_t key) { return key - low < size; });
    });
}

/// The entries of all parts, one part after the other; the parts are freed.
template <typename Part>
LargeVector<typename Part::value_type> join(std::vector<Part> parts, Context* context) {
    std::vector<std::size_t> first(parts.size() + 1, 0);
    for (std::size_t k = 0; k < parts.size(); ++k) first[k + 1] = first[k] + parts[k].size();
    LargeVector<typename Part::value_type> all(first.back());
    parallel_for(context, parts.size(), 1, [&](std::size_t k) {
        std::copy(parts[k].begin(), parts[k].end(), all.begin() + static_cast<std::ptrdiff_t>(first[k]));
        release(parts[k]);
    });
    return all;
}

/// What add(out, i) adds for all numbers below `count`, in their order. make_add() gives each thread its own `add`
/// for up to `grain` numbers at a time.
template <typename Entry, typename MakeAdd>
std::vector<Entry> collect(std::size_t count, std::size_t grain, Context* context, const MakeAdd& make_add) {
    std::vector<std::vector<Entry>> parts((count + grain - 1) / grain);
    parallel_chunks(context, count, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        auto add = make_add();
        for (std::size_t i = begin; i < end; ++i) add(parts[chunk], i);
    });
    std::size_t size = 0;
    for (const std::vector<Entry>& part : parts) size += part.size();
    std::vector<Entry> all;
    reserve_large(all, size);
    for (std::vector<Entry>& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
        release(part);
    }
    return all;
}

/// One list of numbers for each key.
struct Lists {
    LargeVector<std::uint32_t> first;  ///< keys + 1: where the list of each key begins
    LargeVector<std::uint32_t> value;

    /// `fill(to)` calls to(key, value) for every entry, in the same order each time it is called, from several
    /// threads. The order within a list is that of the calls. O(keys + entries x threads), of which each thread
    /// writes its share.
    template <typename Fill>
    Lists(std::size_t keys, Context* context, const Fill& fill) : first(keys + 1, 0) {
        const auto each_entry = [&](const auto& of_entry) {
            each_key_range(context, keys, [&](const auto& is_mine) {
                fill([&](std::uint32_t key, std::uint32_t v) {
                    if (is_mine(key)) of_entry(key, v);
                });
            });
        };
        each_entry([&](std::uint32_t key, std::uint32_t) { ++first[key + 1]; });
        for (std::size_t i = 0; i < keys; ++i) first[i + 1] += first[i];
        value.resize(first.back());
        // Each start moves to its end, which is the next start; then all move back by one key.
        each_entry([&](std::uint32_t key, std::uint32_t v) { value[first[key]++] = v; });
        std::copy_backward(first.begin(), first.end() - 1, first.end());
        first[0] = 0;
    }
    Lists() : first(1, 0) {}

    std::size_t size() const { return first.size() - 1; }
    std::span<const std::uint32_t> of(std::size_t key) const {
        return {value.data() + first[key], value.data() + first[key + 1]};
    }
};

}  // namespace sinew
