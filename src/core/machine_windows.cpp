#include <algorithm>
#include <thread>

#include "core/machine.h"

namespace sinew {

int usable_processors() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

}  // namespace sinew
