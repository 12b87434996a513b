// What a process may use of the machine. Limits of containers count: of Docker, Kubernetes and systemd, which are
// control groups of Linux.
#pragma once

#include <cstddef>
#include <string>

namespace sinew {

/// Processors, at least 1: those that the process may run on or, if that is less, as many as its quota of time pays
/// for.
int usable_processors();

/// Bytes of memory: of the machine, or the limit of the process's control groups if that is less; 0 if unknown. Not
/// on Windows, where nothing asks.
double usable_memory();

/// Limits of control groups; infinite where there is none.
struct GroupLimits {
    double processors, memory;  ///< time of processors per time; bytes
};

/// The least limits of the groups of a process and of those above them, of versions 1 and 2. `membership`: the text
/// of /proc/self/cgroup. `root`: /sys/fs/cgroup.
GroupLimits group_limits(const std::string& membership, const std::string& root);

}  // namespace sinew
