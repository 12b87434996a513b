// A build without Draco (WebAssembly): files that it compressed are refused, with a way out.
#include "io/gltf_accessor.h"

namespace sinew::io {

Result<DracoMesh> read_draco(const Document& document, const Json&, const std::string& place) {
    return document.error(place +
                          " is compressed with Draco, which this build of sinew does not read (use the "
                          "command line, or save the model uncompressed)");
}

}  // namespace sinew::io
