// Replaces gltf_draco.cpp in a build without Draco.
#include "io/gltf_accessor.h"

namespace sinew::io {

Result<DracoMesh> read_draco(const Document& document, const Json&, const std::string& asker) {
    return document.error(
        asker + ": this build of sinew cannot read " + draco_extension +
        " (remove the compression with another program, or by `sinew bind decompress` of a build that has it)");
}

}  // namespace sinew::io
