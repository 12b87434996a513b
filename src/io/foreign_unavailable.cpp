// Replaces foreign_assimp.cpp in a build without assimp (SINEW_ASSIMP): foreign files are errors.
#include "io/foreign.h"

namespace sinew::io {

Result<ForeignScene> read_foreign(std::span<const std::byte>, const std::string& name, ModelFiles&) {
    return Error{ErrorCode::input,
                 name +
                     ": this sinew was built without assimp, which reads such files (build it with "
                     "-DSINEW_ASSIMP=ON, or export the model as .glb)"};
}

}  // namespace sinew::io
