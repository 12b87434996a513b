// A build without Draco and meshoptimizer (WebAssembly): compressed files are refused, with a way out.
#include "io/gltf_accessor.h"

namespace sinew::io {

Result<std::vector<std::byte>> decode_meshopt(std::span<const std::byte>, std::size_t, std::size_t,
                                              const std::string&, const std::string&) {
    return Error{ErrorCode::input,
                 "this build of sinew has no meshoptimizer (use the command line, or save the model uncompressed)"};
}

Result<DracoMesh> read_draco(const Document& document, const Json&, const std::string& place) {
    return document.error(place +
                          " is compressed with Draco, which this build of sinew does not read (use the "
                          "command line, or save the model uncompressed)");
}

}  // namespace sinew::io
