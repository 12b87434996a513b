// Numbers as text, independent of the locale.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace sinew {

/// A whole word as a number of type T. Also accepts NaN and infinities.
template <typename T>
std::optional<T> number_of(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

/// The shortest text that reads back as the same number.
template <typename T>
std::string shortest_text(T value) {
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace sinew
