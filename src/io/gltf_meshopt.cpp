// The streams of EXT_meshopt_compression and KHR_meshopt_compression. The only file that uses meshoptimizer.
#include <meshoptimizer.h>

#include <algorithm>

#include "io/gltf_accessor.h"

namespace sinew::io {

namespace {

Error refuse(const std::string& reason) { return {ErrorCode::input, reason}; }

}  // namespace

Result<std::vector<std::byte>> decode_meshopt(std::span<const std::byte> stream, std::size_t count,
                                              std::size_t stride, const std::string& mode,
                                              const std::string& filter) {
    // The rules of the extension, and the maximum output of a byte of a stream: 64 bytes of constant attributes, a
    // triangle, an index. So a small file cannot request a large allocation.
    const std::size_t available = stream.size();
    if (mode == "ATTRIBUTES") {
        if (stride == 0 || stride > 256 || stride % 4 != 0)
            return refuse("byteStride of ATTRIBUTES must be a multiple of 4 up to 256");
        if (count > available * 64 / stride)
            return refuse("its stream is too short for " + std::to_string(count) + " elements");
    } else if (mode == "TRIANGLES" || mode == "INDICES") {
        if (stride != 2 && stride != 4) return refuse("byteStride of indices must be 2 or 4");
        if (mode == "TRIANGLES" && count % 3 != 0) return refuse("count of TRIANGLES must be a multiple of 3");
        if (count / 3 > available)
            return refuse("its stream is too short for " + std::to_string(count) + " indices");
    } else {
        return refuse("unknown mode \"" + printable(mode) + "\"");
    }
    const bool octahedral = filter == "OCTAHEDRAL", quaternion = filter == "QUATERNION";
    const bool exponential = filter == "EXPONENTIAL";
    if (filter != "NONE" && (mode != "ATTRIBUTES" || !(octahedral || quaternion || exponential)))
        return refuse("unknown filter \"" + printable(filter) + "\"");
    if (octahedral && stride != 4 && stride != 8) return refuse("byteStride of OCTAHEDRAL must be 4 or 8");
    if (quaternion && stride != 8) return refuse("byteStride of QUATERNION must be 8");

    std::vector<std::byte> out(count * stride);
    if (count == 0) return out;
    const auto* data = reinterpret_cast<const unsigned char*>(stream.data());
    int status = 0;
    if (mode == "ATTRIBUTES")
        status = meshopt_decodeVertexBuffer(out.data(), count, stride, data, available);
    else if (mode == "TRIANGLES")
        status = meshopt_decodeIndexBuffer(out.data(), count, stride, data, available);
    else
        status = meshopt_decodeIndexSequence(out.data(), count, stride, data, available);
    if (status != 0) return refuse("its stream is damaged (code " + std::to_string(status) + ")");
    // The filters process four components at a time, whatever their values.
    if (octahedral) meshopt_decodeFilterOct(out.data(), count, stride);
    if (quaternion) meshopt_decodeFilterQuat(out.data(), count, stride);
    if (exponential) meshopt_decodeFilterExp(out.data(), count, stride);
    return out;
}

}  // namespace sinew::io
