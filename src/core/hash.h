// A hash of bytes, for checksums and for identifying meshes. Not cryptographic.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

namespace sinew {

/// 64 bits that depend on every bit of the input and on `seed`, so that pieces can be chained. The same on
/// every little-endian machine. O(bytes), eight at a time. The mixing function is that of MurmurHash (Appleby).
inline std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
    constexpr std::uint64_t factor = 0xc6a4a7935bd1e995u;
    std::uint64_t h = seed ^ (bytes.size() * factor);
    const auto mix = [&](std::uint64_t word) {
        word *= factor;
        word ^= word >> 47;
        h = (h ^ word * factor) * factor;
    };
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        mix(word);
    }
    if (at < bytes.size()) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, bytes.size() - at);
        mix(word);
    }
    h = (h ^ h >> 47) * factor;
    return h ^ h >> 47;
}

}  // namespace sinew
