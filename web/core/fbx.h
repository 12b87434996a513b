// What the module of FBX (fbx.cpp) gives to that of the core (foreign.cpp): one byte, kFbxRead or an ErrorCode;
// then packed(document), or a message. Nothing at all: there was not enough memory.
#pragma once

#include <cstdint>

namespace sinew_web {
inline constexpr std::uint8_t kFbxRead = 255;
}
