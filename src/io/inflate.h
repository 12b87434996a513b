// Streams of zlib.
#pragma once

#include <cstddef>
#include <span>

#include "sinew/core.h"

namespace sinew::io {

/// Decompresses a whole stream into exactly `to`; otherwise an error with the reason alone.
Status inflate(std::span<const std::byte> stream, std::span<std::byte> to);

}  // namespace sinew::io
