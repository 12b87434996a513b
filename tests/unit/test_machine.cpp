// What a process may use of the machine, in the files that Linux shows to a container.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

#include "core/machine.h"
#include "temporary_folder.h"

namespace sinew::test_machine {
namespace {

class Groups : public ::testing::Test {
protected:
    void write(const std::string& file, const std::string& text) {
        std::filesystem::create_directories((root_ / file).parent_path());
        test::write_text(root_ / file, text);
    }
    GroupLimits limits(const std::string& membership) { return group_limits(membership, root_.path().string()); }

private:
    const test::TemporaryFolder root_;
};

TEST_F(Groups, WithoutLimitsAreInfinite) {
    write("cpu.max", "max 100000\n");
    write("memory.max", "max\n");
    for (const char* const membership : {"0::/\n", "0::/a/b\n", "", "nonsense"}) {
        EXPECT_EQ(limits(membership).processors, INFINITY) << membership;
        EXPECT_EQ(limits(membership).memory, INFINITY) << membership;
    }
}

TEST_F(Groups, OfAContainerAreAtTheRoot) {
    write("cpu.max", "250000 100000\n");
    write("memory.max", "17179869184\n");
    EXPECT_EQ(limits("0::/\n").processors, 2.5);
    EXPECT_EQ(limits("0::/docker/5e1\n").processors, 2.5);
    EXPECT_EQ(limits("0::/docker/5e1\n").memory, 17179869184.0);
}

TEST_F(Groups, TakeTheLeastLimitAbove) {
    write("a/cpu.max", "100000 100000\n");
    write("a/b/cpu.max", "400000 100000\n");
    write("a/b/memory.max", "1000\n");
    write("a/memory.max", "2000\n");
    EXPECT_EQ(limits("0::/a/b\n").processors, 1);
    EXPECT_EQ(limits("0::/a/b\n").memory, 1000);
    EXPECT_EQ(limits("0::/a\n").memory, 2000);
    EXPECT_EQ(limits("0::/\n").processors, INFINITY);
}

TEST_F(Groups, OfVersion1HaveControllers) {
    write("cpu,cpuacct/a/cpu.cfs_quota_us", "150000\n");
    write("cpu,cpuacct/a/cpu.cfs_period_us", "50000\n");
    write("cpu,cpuacct/b/cpu.cfs_quota_us", "-1\n");
    write("cpu,cpuacct/b/cpu.cfs_period_us", "100000\n");
    write("memory/memory.limit_in_bytes", "4096\n");
    const std::string rest = "1:name=systemd:/\n4:memory:/c\n";
    EXPECT_EQ(limits("3:cpu,cpuacct:/a\n" + rest).processors, 3);
    EXPECT_EQ(limits("3:cpu,cpuacct:/b\n" + rest).processors, INFINITY);
    EXPECT_EQ(limits("3:cpu,cpuacct:/b\n" + rest).memory, 4096);
}

TEST(Machine, HasProcessorsAndMemory) {
    EXPECT_GE(usable_processors(), 1);
    EXPECT_GT(usable_memory(), 1 << 20);
}

#if defined(__linux__)
TEST(Machine, CountsTheProcessorsOfTheThread) {
    std::thread([] {
        cpu_set_t set;
        ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
        int first = 0;
        while (!CPU_ISSET(first, &set)) ++first;
        CPU_ZERO(&set);
        CPU_SET(first, &set);
        ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
        EXPECT_EQ(usable_processors(), 1);
    }).join();
}
#endif

}  // namespace
}  // namespace sinew::test_machine
