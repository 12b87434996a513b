#include <windows.h>

#include <algorithm>
#include <thread>

#include "core/machine.h"

namespace sinew {

int usable_processors() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

double usable_memory() {
    MEMORYSTATUSEX memory{};
    memory.dwLength = sizeof(memory);
    return ::GlobalMemoryStatusEx(&memory) ? static_cast<double>(memory.ullTotalPhys) : 0;
}

}  // namespace sinew
