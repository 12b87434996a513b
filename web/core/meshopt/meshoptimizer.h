// What io/gltf_meshopt.cpp calls of meshoptimizer, answered by its own decoder for JavaScript, which whoever starts
// the module hands over as Module.meshopt. It is of the version that Debian has, 0.18, and gives the same bytes.
#pragma once

#include <emscripten.h>

#include <cstddef>

// The kinds are those of the decoder: 0 attributes, 1 triangles, 2 indices.
// clang-format off
EM_JS(int, sinew_meshopt, (int kind, void* to, size_t count, size_t stride, const unsigned char* from, size_t size, int filter), {
    const decoder = Module['meshopt'];
    if (!decoder) return 1;
    // Copies: where there are threads the module's memory is shared, which not every function takes.
    const source = HEAPU8.slice(from, from + size);
    const target = new Uint8Array(count * stride);
    try {
        if (kind === 0) decoder['decodeVertexBuffer'](target, count, stride, source, ['NONE', 'OCTAHEDRAL', 'QUATERNION', 'EXPONENTIAL'][filter]);
        else if (kind === 1) decoder['decodeIndexBuffer'](target, count, stride, source);
        else decoder['decodeIndexSequence'](target, count, stride, source);
    } catch (error) {
        return 1;
    }
    HEAPU8.set(target, to);
    return 0;
})
// clang-format on

namespace sinew_web {
/// The stream that was decoded last: filters come by themselves here, and there together with their stream.
struct Last {
    const unsigned char* from = nullptr;
    size_t size = 0;
};
inline thread_local Last last;
inline int meshopt(int kind, void* to, size_t count, size_t stride, const unsigned char* from, size_t size) {
    last = {from, size};
    return sinew_meshopt(kind, to, count, stride, from, size, 0);
}
inline void filtered(int filter, void* to, size_t count, size_t stride) {
    sinew_meshopt(0, to, count, stride, last.from, last.size, filter);
}
}  // namespace sinew_web

inline int meshopt_decodeVertexBuffer(void* to, size_t count, size_t stride, const unsigned char* from,
                                      size_t size) {
    return sinew_web::meshopt(0, to, count, stride, from, size);
}
inline int meshopt_decodeIndexBuffer(void* to, size_t count, size_t stride, const unsigned char* from,
                                     size_t size) {
    return sinew_web::meshopt(1, to, count, stride, from, size);
}
inline int meshopt_decodeIndexSequence(void* to, size_t count, size_t stride, const unsigned char* from,
                                       size_t size) {
    return sinew_web::meshopt(2, to, count, stride, from, size);
}
inline void meshopt_decodeFilterOct(void* to, size_t count, size_t stride) {
    sinew_web::filtered(1, to, count, stride);
}
inline void meshopt_decodeFilterQuat(void* to, size_t count, size_t stride) {
    sinew_web::filtered(2, to, count, stride);
}
inline void meshopt_decodeFilterExp(void* to, size_t count, size_t stride) {
    sinew_web::filtered(3, to, count, stride);
}
