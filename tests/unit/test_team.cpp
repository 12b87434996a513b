// Threads that run one body together.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/parallel.h"

namespace sinew::test_team {
namespace {

TEST(Team, ThreadsRunOnceAndWaitForEachOther) {
    Team team(4);
    const unsigned size = team.size();
    ASSERT_GE(size, 1u);
    std::vector<int> runs(size, 0), written(size, -1);
    std::atomic<int> wrong{0};
    team.run([&](unsigned rank, const std::function<bool()>& barrier) {
        ++runs[rank];
        for (int round = 0; round < 100; ++round) {
            written[rank] = round;
            if (!barrier()) return;
            for (const int of_other : written) wrong += of_other != round;
            if (!barrier()) return;
        }
    });
    for (const int n : runs) EXPECT_EQ(n, 1);
    EXPECT_EQ(wrong.load(), 0);
}

// One thread may throw while another still leaves the previous barrier. No thread may wait for one that has ended.
TEST(Team, ExceptionsArePropagatedWithoutDeadlock) {
    for (int time = 0; time < 300; ++time) {
        Team team(4);
        const unsigned size = team.size(), thrower = static_cast<unsigned>(time) % size;
        std::atomic<int> left{0};
        try {
            team.run([&](unsigned rank, const std::function<bool()>& barrier) {
                struct Count {
                    std::atomic<int>& of;
                    ~Count() { ++of; }
                } count{left};
                for (int round = 0;; ++round) {
                    if (rank == thrower && round == time / 4 % 3) throw std::runtime_error("enough");
                    if (!barrier()) return;
                }
            });
            ADD_FAILURE() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "enough");
        }
        EXPECT_EQ(left.load(), static_cast<int>(size));
    }
}

TEST(Team, ThreadsAreCapped) {
    Context context;
    context.threads = 1'000'000;
    EXPECT_LE(thread_count(&context), std::max(32, 2 * static_cast<int>(std::thread::hardware_concurrency())));
    std::vector<int> seen(1000, 0);
    parallel_for(&context, seen.size(), 1, [&](std::size_t i) { seen[i] = 1; });
    EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 1000);
}

}  // namespace
}  // namespace sinew::test_team
