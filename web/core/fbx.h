// What the module of the core (foreign.cpp) asks that of FBX (fbx.cpp), with two lists of bytes. The answer is one
// byte, kFbxDone or an ErrorCode; then what was asked for, or a message. Nothing at all: there was not enough
// memory.
#pragma once

#include <cstdint>

namespace sinew_web {

enum class FbxTask {
    read,    ///< an FBX; nothing -> packed(Document)
    make,    ///< a GLB; an FbxUnit -> packed(SavedFile)
    change,  ///< an FBX; packed(FbxRows) -> packed(SavedFile)
};
inline constexpr std::uint8_t kFbxDone = 255;

}  // namespace sinew_web
