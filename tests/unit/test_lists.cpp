// Lists by key, and what threads collect.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "core/lists.h"

namespace sinew::test_lists {
namespace {

TEST(Lists, HoldTheValuesOfEachKeyInTheOrderOfTheCalls) {
    constexpr std::size_t keys = 10'000, entries = 50'000;
    std::mt19937 random(3);
    std::vector<std::uint32_t> key(entries);
    std::vector<std::vector<std::uint32_t>> wanted(keys);
    for (std::uint32_t v = 0; v < entries; ++v)
        wanted[key[v] = static_cast<std::uint32_t>(random() % keys)].push_back(v);
    for (const int threads : {1, 3}) {
        Context context;
        context.threads = threads;
        const Lists lists(keys, &context, [&](const auto& to) {
            for (std::uint32_t v = 0; v < entries; ++v) to(key[v], v);
        });
        ASSERT_EQ(lists.size(), keys);
        for (std::size_t k = 0; k < keys; ++k)
            ASSERT_EQ(std::vector(lists.of(k).begin(), lists.of(k).end()), wanted[k]);
    }
}

TEST(Lists, CollectKeepsTheOrderOfNumbers) {
    for (const int threads : {1, 3}) {
        Context context;
        context.threads = threads;
        const auto even = collect<std::uint32_t>(1000, 7, &context, [] {
            return [](std::vector<std::uint32_t>& out, std::size_t i) {
                if (i % 2 == 0) out.push_back(static_cast<std::uint32_t>(i));
            };
        });
        ASSERT_EQ(even.size(), 500u);
        for (std::size_t k = 0; k < even.size(); ++k) ASSERT_EQ(even[k], 2 * k);
    }
}

TEST(Lists, JoinPutsOnePartAfterTheOther) {
    const auto all = join(std::vector<std::vector<int>>{{1, 2}, {}, {3}}, nullptr);
    EXPECT_EQ(std::vector(all.begin(), all.end()), (std::vector{1, 2, 3}));
}

TEST(Lists, ReleaseGivesTheMemoryBack) {
    std::vector<int> own(1000);
    LargeVector<int> large(std::size_t{1} << 20);
    release(own);
    release(large);
    EXPECT_EQ(own.capacity(), 0u);
    EXPECT_EQ(large.capacity(), 0u);
}

#if defined(__GLIBC__) && !defined(SINEW_SANITIZED)
TEST(LargeVector, FreedMemoryFitsTheNextArraysOfAboutThatSize) {
    (void)LargeVector<int>(4 << 20);  // glibc now takes such sizes from the heap
    std::vector<LargeVector<int>> first;
    std::vector<std::vector<char>> between;  // so that freed arrays do not join each other
    std::set<const void*> freed;
    for (int k = 0; k < 8; ++k) {
        freed.insert(first.emplace_back(1 << 20).data());
        between.emplace_back(3000);
    }
    for (LargeVector<int>& each : first) release(each);
    std::vector<LargeVector<double>> next;
    std::size_t reused = 0;
    for (std::size_t k = 0; k < 8; ++k) reused += freed.count(next.emplace_back((1 << 19) - 100 * k).data());
    EXPECT_GE(reused, 6u);  // 1 if they begin at large pages
}
#endif

}  // namespace
}  // namespace sinew::test_lists
