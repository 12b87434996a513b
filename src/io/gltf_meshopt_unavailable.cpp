// Replaces gltf_meshopt.cpp in a build without meshoptimizer.
#include "io/gltf_accessor.h"

namespace sinew::io {

Result<std::vector<std::byte>> decode_meshopt(std::span<const std::byte>, std::size_t, std::size_t,
                                              const std::string&, const std::string&) {
    return Error{ErrorCode::input,
                 "this build of sinew cannot read meshopt compression (remove it with another program, or by "
                 "`sinew bind decompress` of a build that has it)"};
}

}  // namespace sinew::io
