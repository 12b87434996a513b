// Bytes as text, as in data uris.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinew {

/// Empty if the text is not base64. Padding may be missing.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text);
std::string encode_base64(std::span<const std::byte> bytes);

}  // namespace sinew
