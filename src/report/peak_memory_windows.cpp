// The function is then in kernel32.dll, which every program loads.
#define PSAPI_VERSION 2
#include <windows.h>
// After windows.h.
#include <psapi.h>

#include "report/report.h"

namespace sinew {

std::size_t peak_memory_bytes() {
    PROCESS_MEMORY_COUNTERS counters{};
    ::GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters);
    return counters.PeakWorkingSetSize;
}

}  // namespace sinew
