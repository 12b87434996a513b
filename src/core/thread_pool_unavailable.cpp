// Replaces thread_pool.cpp in a build without threads: WebAssembly for pages that are not cross-origin isolated.
#include "core/thread_pool.h"

namespace sinew {

int core_count() { return 1; }
int max_threads() { return 1; }

Team::Team(unsigned) {}
Team::~Team() = default;

void Team::run(const std::function<void(unsigned, const std::function<bool()>&)>& body) {
    body(0, [] { return true; });
}

void Team::share(std::size_t items, const std::function<void(std::size_t)>& body) {
    for (std::size_t item = 0; item < items; ++item) body(item);
}

}  // namespace sinew
