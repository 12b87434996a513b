#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "bind/row_tables.h"

namespace sinew::test_rows {
namespace {

TEST(Rows, KeysOfDistancesSortAsPairsDo) {
    std::mt19937 random(5);
    for (std::size_t n = 0; n < 40; ++n) {
        std::vector<std::pair<float, std::uint32_t>> row;
        for (std::size_t i = 0; i < n; ++i) {
            const float few = static_cast<float>(random() % 7) / 3;  // so that ties are many
            row.emplace_back(random() % 9 == 0 ? INFINITY : few, static_cast<std::uint32_t>(random() % 1000));
        }
        std::vector<std::uint64_t> keys;
        for (const auto& [distance, joint] : row) keys.push_back(DistanceRows::key(distance, joint));
        sort_keys(keys);
        std::sort(row.begin(), row.end());
        for (std::size_t i = 0; i < n; ++i) {
            EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(keys[i] >> 32)), row[i].first) << n;
            EXPECT_EQ(static_cast<std::uint32_t>(keys[i]), row[i].second) << n;
        }
    }
}

TEST(Rows, ShortAndLongRowsSortAlike) {
    std::mt19937_64 random(6);
    for (std::size_t n = 0; n < 40; ++n) {
        std::vector<std::uint64_t> keys(n);
        for (std::uint64_t& key : keys) key = random() >> (random() % 64);
        std::vector<std::uint64_t> expected = keys;
        std::sort(expected.begin(), expected.end());
        sort_keys(keys);
        EXPECT_EQ(keys, expected) << n;
    }
}

}  // namespace
}  // namespace sinew::test_rows
