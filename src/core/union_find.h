// Disjoint sets that many threads can join concurrently.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "core/prefetch.h"

namespace sinew {

/// Lock-free union-find. The root of a set is its smallest member, so that sets and roots do not depend on
/// threads or on the order of joins. Every link points to a smaller member of the same set. Only roots are
/// linked, by compare and swap; a path may be shortened at any time.
class DisjointSets {
public:
    DisjointSets(std::size_t n, Context* context) : parent_(n) {
        parallel_for(context, n, 65536, [&](std::size_t i) { parent_[i] = static_cast<std::uint32_t>(i); });
    }
    std::uint32_t root(std::uint32_t i) {
        for (;;) {
            const std::uint32_t parent = at(i).load(std::memory_order_relaxed);
            if (parent == i) return i;
            const std::uint32_t next = at(parent).load(std::memory_order_relaxed);
            if (next == parent) return parent;
            at(i).store(next, std::memory_order_relaxed);
            i = next;
        }
    }
    void join(std::uint32_t a, std::uint32_t b) {
        if (at(a).load(std::memory_order_relaxed) == at(b).load(std::memory_order_relaxed)) return;
        for (;;) {
            a = root(a), b = root(b);
            if (a == b) return;
            if (a < b) std::swap(a, b);
            std::uint32_t expected = a;
            if (at(a).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return;
        }
    }

private:
    std::atomic_ref<std::uint32_t> at(std::uint32_t i) { return std::atomic_ref<std::uint32_t>(parent_[i]); }
    std::vector<std::uint32_t> parent_;
};

/// The same for fewer than 2³¹ members with an orientation relative to their root. A link is the parent's
/// number shifted by one, with "turned" in the lowest bit.
class OrientedSets {
public:
    OrientedSets(std::size_t n, Context* context) : link_(n) {
        parallel_for(context, n, 65536, [&](std::size_t i) { reset(static_cast<std::uint32_t>(i)); });
    }
    /// Makes a member a set of its own again; all members of a set must be reset together.
    void reset(std::uint32_t i) { at(i).store(i << 1, std::memory_order_relaxed); }
    /// Prefetches a member for a later join.
    void prefetch_member(std::uint32_t i) const { prefetch(&link_[i]); }
    /// The root of i, shifted, with i's turn relative to it in the lowest bit.
    std::uint32_t root(std::uint32_t i) {
        std::uint32_t to = i << 1;
        for (;;) {
            const std::uint32_t next = at(to >> 1).load(std::memory_order_relaxed);
            if (next >> 1 == to >> 1) break;
            to = next ^ (to & 1);
        }
        for (std::uint32_t walk = i << 1; walk >> 1 > to >> 1;) {
            const std::uint32_t next = at(walk >> 1).load(std::memory_order_relaxed) ^ (walk & 1);
            if (next >> 1 > to >> 1) at(walk >> 1).store(to ^ (walk & 1), std::memory_order_relaxed);
            walk = next;
        }
        return to;
    }
    /// Joins two members. False if they are in one set already with contradicting orientations; nothing is
    /// changed then. Which of several contradicting joins fails depends on their order; whether any join of a
    /// set fails does not.
    bool join(std::uint32_t a, std::uint32_t b, bool turned) {
        const std::uint32_t link_a = at(a).load(std::memory_order_relaxed),
                            link_b = at(b).load(std::memory_order_relaxed);
        if (link_a == link_b) return !turned;
        for (;;) {
            std::uint32_t ra = root(a), rb = root(b);
            const std::uint32_t turn = (ra & 1) ^ (rb & 1) ^ (turned ? 1u : 0u);
            if (ra >> 1 == rb >> 1) return turn == 0;
            if (ra < rb) std::swap(ra, rb);
            std::uint32_t expected = ra >> 1 << 1;
            if (at(ra >> 1).compare_exchange_strong(expected, (rb >> 1 << 1) | turn, std::memory_order_relaxed))
                return true;
        }
    }

private:
    std::atomic_ref<std::uint32_t> at(std::uint32_t i) { return std::atomic_ref<std::uint32_t>(link_[i]); }
    std::vector<std::uint32_t> link_;
};

}  // namespace sinew
