// Numbers as text, independent of the locale.
#pragma once

#include <charconv>
#include <cmath>
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

/// As printf's "%.*g" (general) or "%.*f" (fixed).
inline std::string number_text(double value, int digits, std::chars_format format = std::chars_format::general) {
    char text[400];  // fixed: up to 309 digits before the point
    return {text, std::to_chars(text, text + sizeof text, value, format, digits).ptr};
}

/// A number above 0 rounded to three digits, for messages.
inline std::string short_number(double x) {
    const double scale = x > 0 ? std::pow(10.0, std::floor(std::log10(x)) - 2) : 1;
    return shortest_text(static_cast<float>(std::round(x / scale) * scale));
}

}  // namespace sinew
