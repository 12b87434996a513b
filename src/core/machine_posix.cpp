#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

#include "core/machine.h"

namespace sinew {
namespace {

/// The beginning of a file of the system, or nothing.
std::string text_of(const std::string& path) {
    std::string text(4096, '\0');
    std::FILE* const file = std::fopen(path.c_str(), "r");
    text.resize(file ? std::fread(text.data(), 1, text.size(), file) : 0);
    if (file) std::fclose(file);
    return text;
}

/// A number of a file, or a larger one than any limit: "max", -1 and a missing file are no limit.
double limit_in(std::istream& text) {
    double limit = 0;
    return text >> limit && limit > 0 ? limit : INFINITY;
}
double limit_of(const std::string& path) {
    std::istringstream text(text_of(path));
    return limit_in(text);
}

/// Those that the system may give to this thread.
double processors_of_thread() {
#if defined(__linux__)
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
#endif
    return std::max(1u, std::thread::hardware_concurrency());
}

GroupLimits own_limits() {
#if defined(__linux__)
    return group_limits(text_of("/proc/self/cgroup"), "/sys/fs/cgroup");
#else
    return {INFINITY, INFINITY};
#endif
}

}  // namespace

GroupLimits group_limits(const std::string& membership, const std::string& root) {
    GroupLimits out{INFINITY, INFINITY};
    const auto lower = [](double& to, double limit) { to = std::min(to, limit); };
    std::istringstream lines(membership);
    for (std::string line; std::getline(lines, line);) {  // number:controllers:/path; version 2 has no controllers
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const std::string base = root + (controllers.empty() ? "" : "/" + controllers);
        // In a container the path may be that of the machine, which it does not see: then its root has the limit.
        for (std::string path = line.substr(second + 1);; path.resize(path.find_last_of('/'))) {
            const std::string group = base + path + "/";
            std::istringstream time(text_of(group + "cpu.max"));  // "quota period"
            const double quota = limit_in(time);
            lower(out.processors, quota / limit_in(time));
            lower(out.memory, limit_of(group + "memory.max"));
            lower(out.processors, limit_of(group + "cpu.cfs_quota_us") / limit_of(group + "cpu.cfs_period_us"));
            lower(out.memory, limit_of(group + "memory.limit_in_bytes"));
            if (path.find_last_of('/') == std::string::npos) break;
        }
    }
    return out;
}

int usable_processors() {
    const double quota = std::max(1.0, std::ceil(own_limits().processors));
    return static_cast<int>(std::min(quota, processors_of_thread()));
}

double usable_memory() {
    const double machine =
        static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    return std::min(std::max(machine, 0.0), own_limits().memory);
}

}  // namespace sinew
