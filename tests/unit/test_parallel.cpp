// Loops over threads, and the pool that they use.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "characters/shapes.h"
#include "core/parallel.h"
#include "core/sums.h"
#include "sanitized.h"
#include "sinew/bind.h"
#include "sinew/edits.h"
#include "sinew/quality.h"
#include "sinew/transfer.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace sinew::test_parallel {
namespace {

TEST(SumOf, AddsAllItemsInTheirOrder) {
    using Items = std::vector<std::size_t>;
    for (const std::size_t n : {0u, 1u, 99u, 100u, 200u, 250u}) {
        const auto items = sum_of<Items>(
            nullptr, n, [](Items& to, std::size_t i) { to.push_back(i); },
            [](Items& to, const Items& more) {
                EXPECT_FALSE(more.empty());
                to.insert(to.end(), more.begin(), more.end());
            },
            100);
        Items all(n);
        std::iota(all.begin(), all.end(), std::size_t{0});
        EXPECT_EQ(items, all);
    }
}

TEST(ThreadPool, EveryItemRunsOnce) {
    for (const unsigned threads : {1u, 2u, 3u, 9u, 4u})
        for (const std::size_t items : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
            std::vector<std::atomic<int>> runs(items);
            Team(threads).share(items, [&](std::size_t item) { ++runs[item]; });
            for (const auto& n : runs) EXPECT_EQ(n.load(), 1);
        }
}

/// Whether `arrived` reaches a number within a minute.
bool reaches(const std::atomic<int>& arrived, int number) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (arrived.load() < number) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

TEST(ThreadPool, ThreadsRunTogether) {
    // Each of three items waits for the others, which only three threads can do.
    std::atomic<int> arrived{0};
    Team(3).share(3, [&](std::size_t) {
        ++arrived;
        EXPECT_TRUE(reaches(arrived, 3));
    });
}

TEST(ThreadPool, CallersAtTheSameTimeEachHaveThreads) {
    // Each item waits for all others, of both callers.
    std::atomic<int> arrived{0};
    const auto call = [&] {
        Team(3).share(3, [&](std::size_t) {
            ++arrived;
            EXPECT_TRUE(reaches(arrived, 6)) << "a caller has too few threads";
        });
    };
    std::thread other(call);
    call();
    other.join();
}

TEST(ThreadPool, ATeamLeavesTheOthersTheirPartOfTheThreads) {
    const unsigned all = static_cast<unsigned>(max_threads());
    EXPECT_EQ(Team(1'000'000).size(), all + 1);
    const Team first(2), second(1'000'000), third(1'000'000), fourth(1'000'000);
    EXPECT_EQ(first.size(), 2u);
    EXPECT_EQ(second.size(), all / 2 + 1);
    EXPECT_EQ(third.size(), all / 3 + 1);
    EXPECT_GE(fourth.size(), 2u);
}

TEST(ThreadPool, ACallWithinACallRunsOnItsOwnThread) {
    std::atomic<int> runs{0}, elsewhere{0};
    Team(4).share(8, [&](std::size_t) {
        const std::thread::id here = std::this_thread::get_id();
        Team(4).share(10, [&](std::size_t) {
            ++runs;
            elsewhere += std::this_thread::get_id() != here;
        });
    });
    EXPECT_EQ(runs.load(), 80);
    EXPECT_EQ(elsewhere.load(), 0);
}

TEST(ThreadPool, ManyCallersAreServed) {
    std::atomic<int> runs{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] {
            for (int time = 0; time < 1000; ++time) Team(3).share(7, [&](std::size_t) { ++runs; });
        });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(runs.load(), 4 * 1000 * 7);
}

TEST(ThreadPool, AnExceptionIsThrownAgainAndThePoolGoesOn) {
    for (int time = 0; time < 100; ++time) {
        EXPECT_THROW(Team(4).share(
                         20, [](std::size_t item) { item % 7 == 3 ? throw std::runtime_error("enough") : void(); }),
                     std::runtime_error);
        std::atomic<std::size_t> sum{0};
        Team(4).share(20, [&](std::size_t item) { sum += item; });
        EXPECT_EQ(sum.load(), 190u);
    }
}

TEST(Parallel, AnExceptionIsThrownAgain) {
    Context context;
    context.threads = 4;
    EXPECT_THROW(parallel_for(&context, 1000, 10,
                              [](std::size_t i) { i == 500 ? throw std::runtime_error("enough") : void(); }),
                 std::runtime_error);
}

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__SANITIZE_THREAD__)
// ThreadSanitizer ends children that start threads. AddressSanitizer's allocator has locks that may be held at the
// time of a fork; they then stay locked in the child.

int sum_with_threads(int threads) {
    Context context;
    context.threads = threads;
    std::vector<int> squares(100);
    parallel_for(&context, squares.size(), 1, [&](std::size_t i) { squares[i] = static_cast<int>(i * i); });
    return std::accumulate(squares.begin(), squares.end(), 0);
}

// Threads of the parent may still be busy with the end of a loop. They are not in the child, which must not wait
// for them.
TEST(Parallel, AChildOfForkCanUseThreads) {
    if (test::sanitized) return;
    ASSERT_EQ(sum_with_threads(4), 328350);
    for (int time = 0; time < 300; ++time) {
        ASSERT_EQ(sum_with_threads(4), 328350);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            ::alarm(60);  // ends a child that waits
            bool right = true;
            for (int again = 0; again < 5; ++again) right &= sum_with_threads(4) == 328350;
            ::_exit(right ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status)) << "child " << time << " was ended by signal " << WTERMSIG(status);
        ASSERT_EQ(WEXITSTATUS(status), 0);
    }
}

bool binds() {
    const test::Character c = test::u_tube();
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = 32;
    return static_cast<bool>(bind(c.mesh(), c.skeleton, options));
}

/// In a process in which nothing was bound: forks `after` microseconds after another thread has begun to bind. Ends
/// the process, with 0 if the child could bind.
[[noreturn]] void fork_during_the_first_bind(unsigned after) {
    std::thread other(binds);
    ::usleep(after);
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        ::_exit(binds() ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    other.join();
    std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : 2);
}

// A static variable that another thread is initialising at the time of a fork would stay uninitialised in the
// child.
TEST(ParallelDeathTest, AForkDuringTheFirstBindWaitsForWhatIsMadeOnce) {
    if (test::sanitized) return;
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // each in a new process
    for (unsigned after = 0; after < 400; after += 20)
        EXPECT_EXIT(fork_during_the_first_bind(after), ::testing::ExitedWithCode(0), "") << after;
}
#endif

#if defined(__linux__)
/// Calls every function that takes a Context, with one thread; ends the process with 0 if none has started another.
[[noreturn]] void call_with_one_thread() {
    Context one;
    one.threads = 1;
    const test::Character c = test::u_tube(600);
    BindOptions options = preset(Method::geodesic_voxel);
    options.voxels.resolution = 32;
    const auto bound = bind(c.mesh(), c.skeleton, options, &one);
    const auto threads_after = [](const char* call) {
        const std::filesystem::directory_iterator all("/proc/self/task");
        if (std::distance(begin(all), end(all)) == 1) return;
        std::fprintf(stderr, "%s has started threads\n", call);
        std::exit(1);
    };
    threads_after("bind");
    const auto computed = bound->weights(&one);
    const SkinWeights* const weights = &*computed;
    options.domain = DomainKind::uniform;
    estimate_memory(c.mesh(), c.skeleton, options, &one), threads_after("estimate_memory");
    (void)joint_distance(c.mesh(), c.skeleton, 0, options.voxels, {}, &one), threads_after("joint_distance");
    (void)bleed(c.mesh(), c.skeleton, {&weights, 1}, {}, &one), threads_after("bleed");
    (void)compare(c.mesh(), c.skeleton, *weights, *weights, {}, &one), threads_after("compare");
    (void)transfer(c.mesh(), *weights, c.mesh(), {}, &one), threads_after("transfer");
    (void)apply_edits(c.mesh(), *weights, {}, {}, c.skeleton.joints.size(), 4, nullptr, &one),
        threads_after("apply_edits");
    std::exit(0);
}

TEST(ParallelDeathTest, ACallWithOneThreadStartsNoOthers) {
    if (test::sanitized) return;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(call_with_one_thread(), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace sinew::test_parallel
