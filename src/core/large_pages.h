// Large pages for large arrays with random access.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/parallel.h"

namespace sinew {

inline constexpr std::size_t kLargePage = std::size_t{1} << 21;
/// Minimum size in bytes of zeroed arrays whose pages are committed on first write. Below it, reusing freed
/// memory is faster.
#if defined(__linux__)
inline constexpr std::size_t kSparseFrom = 8 * kLargePage;
#else
inline constexpr std::size_t kSparseFrom = ~std::size_t{0};
#endif

/// Requests pages of 2 MB for memory that has not been written yet, from 2 MB on. Does nothing if the system has
/// no such pages; only speed depends on it. A page table walk has several levels, more on a virtual machine, and
/// costs more than a cache miss. The first writes to 512 small pages cost more than clearing one large page. The
/// pages at both ends count, too, whatever else lies on them: a page fault costs several microseconds if two
/// threads take it.
inline void ask_for_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes < kLargePage) return;
    constexpr std::uintptr_t page = kLargePage;
    const auto at = reinterpret_cast<std::uintptr_t>(begin);
    const std::uintptr_t first = at & ~(page - 1), last = (at + bytes + page - 1) & ~(page - 1);
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

/// An allocator for vectors that all threads fill. Memory is on large pages if available. Entries are not
/// initialised, not by their types either, so that no single thread writes all pages first. From 2 MB on the size
/// is rounded up to whole large pages, so that freed memory fits the next array. It does not begin at a large page:
/// the allocator of glibc 2.36 cannot reuse freed memory of the same size for what must.
template <typename T>
struct LargeAllocator : std::allocator<T> {
    template <typename U>
    struct rebind {
        using other = LargeAllocator<U>;
    };
    T* allocate(std::size_t n) {
        if (!is_large(n)) return std::allocator<T>::allocate(n);
        const std::size_t whole = (n * sizeof(T) + kLargePage - 1) & ~(kLargePage - 1);
        void* const at = ::operator new (whole, std::align_val_t{alignof(T)});
        ask_for_large_pages(at, whole);
        return static_cast<T*>(at);
    }
    void deallocate(T* at, std::size_t n) noexcept {
        if (!is_large(n)) return std::allocator<T>::deallocate(at, n);
        ::operator delete (at, std::align_val_t{alignof(T)});
    }
    static bool is_large([[maybe_unused]] std::size_t n) {
#if defined(__linux__)
        return n * sizeof(T) >= kLargePage;
#else
        return false;  // there is nothing to request
#endif
    }
    template <typename U>
    void construct(U*) noexcept {
        static_assert(std::is_aggregate_v<U> || std::is_trivially_default_constructible_v<U>);
        static_assert(std::is_trivially_destructible_v<U>);
    }
    template <typename U, typename... Values>
    void construct(U* at, Values&&... values) {
        std::construct_at(at, std::forward<Values>(values)...);
    }
};
template <typename T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

/// Zeroed memory, on large pages if available. On Linux a large array commits a page only when it is first
/// written. Code that traverses much of it must not overwrite zeros with zeros. Throws std::bad_alloc.
inline void* allocate_zeros(std::size_t bytes) {
#if defined(__linux__)
    if (bytes >= kSparseFrom) {
        // More than requested, so that it can begin at a large page.
        const std::size_t whole = (bytes + kLargePage - 1) & ~(kLargePage - 1);
        void* const mapped =
            mmap(nullptr, whole + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) throw std::bad_alloc();
        auto* const first = static_cast<std::byte*>(mapped);
        const std::size_t before = -reinterpret_cast<std::uintptr_t>(mapped) & (kLargePage - 1);
        if (before > 0) munmap(first, before);
        munmap(first + before + whole, kLargePage - before);
        ask_for_large_pages(first + before, whole);
        return first + before;
    }
    if (bytes >= kLargePage) {
        void* const at = ::operator new(bytes);
        ask_for_large_pages(at, bytes);
        return std::memset(at, 0, bytes);
    }
#endif
    if (void* const at = std::calloc(std::max<std::size_t>(1, bytes), 1)) return at;
    throw std::bad_alloc();
}
inline void free_zeros(void* at, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
    if (bytes >= kSparseFrom) {
        munmap(at, (bytes + kLargePage - 1) & ~(kLargePage - 1));
        return;
    }
    if (bytes >= kLargePage) return ::operator delete(at);
#endif
    std::free(at);
}

/// An array of zeros from allocate_zeros.
template <typename T>
class ZeroArray {
public:
    ZeroArray() = default;
    explicit ZeroArray(std::size_t n)
        : at_(static_cast<T*>(allocate_zeros(std::max<std::size_t>(1, n) * sizeof(T)))), size_(n) {}
    ZeroArray(ZeroArray&& other) noexcept
        : at_(std::exchange(other.at_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    ZeroArray& operator=(ZeroArray&& other) noexcept {
        std::swap(at_, other.at_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~ZeroArray() {
        if (at_) free_zeros(at_, std::max<std::size_t>(1, size_) * sizeof(T));
    }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t k) { return at_[k]; }
    const T& operator[](std::size_t k) const { return at_[k]; }

private:
    static_assert(std::is_trivial_v<T>);
    T* at_ = nullptr;
    std::size_t size_ = 0;
};

/// Gives the memory of a vector back. `vector = {}` assigns an empty list of values, and keeps its memory.
template <typename Vector>
void release(Vector& vector) {
    vector = Vector();
}

/// Reserves n entries in an empty vector, on large pages if available.
template <typename T>
void reserve_large(std::vector<T>& empty, std::size_t n) {
    empty.reserve(n);
    ask_for_large_pages(empty.data(), n * sizeof(T));
}

/// Fills an empty vector with n copies of a value. The system clears each page on its first write, which takes
/// longer than the copies. For large vectors all threads touch the pages first.
template <typename T>
void assign_large(std::vector<T>& empty, std::size_t n, const T& value, const Context* context) {
    reserve_large(empty, n);
    constexpr std::size_t page = 4096, many = std::size_t{1} << 23;
    auto* const bytes = reinterpret_cast<volatile unsigned char*>(empty.data());
    const std::size_t size = n * sizeof(T);
    parallel_chunks(context, size < many ? 0 : size, kLargePage,
                    [&](std::size_t, std::size_t begin, std::size_t end) {
                        for (std::size_t at = begin; at < end; at += page) bytes[at] = 0;
                    });
    empty.assign(n, value);
}

}  // namespace sinew
