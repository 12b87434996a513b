// What the pages of several commands share: one file each, without external resources.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sinew::cli {

/// Escapes text of the input for use between tags or in an attribute.
std::string escaped(std::string_view text);

std::string base64(std::span<const std::byte> bytes);

/// The content of <style>.
extern const char* const page_style;

}  // namespace sinew::cli
