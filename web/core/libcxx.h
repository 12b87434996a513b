// What the C++ library of Debian's emscripten 3.1.6 (libc++ 13) lacks of C++20 and sinew uses. Included before
// every file of the WebAssembly build, and of no other. To be removed with a later emscripten.
#pragma once

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>
#include <version>

namespace std {

#if !defined(__cpp_lib_bit_cast)
template <typename To, typename From>
constexpr To bit_cast(const From& from) noexcept {
    return __builtin_bit_cast(To, from);
}
#endif

#if !defined(__cpp_lib_atomic_ref)
/// Of an integer, in the orders that are asked for here: relaxed.
template <typename T>
class atomic_ref {
public:
    explicit atomic_ref(T& value) : at_(&value) {}
    T load(memory_order) const { return __atomic_load_n(at_, __ATOMIC_RELAXED); }
    void store(T value, memory_order) const { __atomic_store_n(at_, value, __ATOMIC_RELAXED); }
    bool compare_exchange_strong(T& expected, T value, memory_order) const {
        return __atomic_compare_exchange_n(at_, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    T fetch_or(T bits, memory_order) const { return __atomic_fetch_or(at_, bits, __ATOMIC_RELAXED); }

private:
    T* at_;
};
#endif

#if !defined(__cpp_lib_smart_ptr_for_overwrite)
template <typename T, enable_if_t<is_unbounded_array_v<T>, int> = 0>
unique_ptr<T> make_unique_for_overwrite(size_t count) {
    return unique_ptr<T>(new remove_extent_t<T>[count]);
}
#endif

#if !defined(__cpp_lib_to_chars)

/// A decimal number at the start of the range: what strtod reads there, but no hexadecimals, no signs of plus, no
/// spaces.
template <typename T, enable_if_t<is_floating_point_v<T>, int> = 0>
from_chars_result from_chars(const char* first, const char* last, T& value) {
    const char* at = first;
    if (at != last && *at == '-') ++at;
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const char* const digits = at;
    bool any = false;
    while (at != last && digit(*at)) ++at, any = true;
    if (at != last && *at == '.') {
        ++at;
        while (at != last && digit(*at)) ++at, any = true;
    }
    if (any) {
        if (const char* e = at; e != last && (*e == 'e' || *e == 'E')) {
            ++e;
            if (e != last && (*e == '+' || *e == '-')) ++e;
            if (e != last && digit(*e)) {
                while (e != last && digit(*e)) ++e;
                at = e;
            }
        }
    } else {
        at = digits;
        for (const char* word : {"infinity", "inf", "nan"}) {
            const char* c = at;
            const char* w = word;
            while (*w && c != last && (*c | 32) == *w) ++c, ++w;
            if (!*w) {
                any = true;
                at = c;
                break;
            }
        }
        if (!any) return {first, errc::invalid_argument};
    }
    const string word(first, at);  // strtod needs an end
    errno = 0;
    T read;
    if constexpr (sizeof(T) == sizeof(float))
        read = strtof(word.c_str(), nullptr);
    else
        read = static_cast<T>(strtod(word.c_str(), nullptr));
    if (errno == ERANGE) return {at, errc::result_out_of_range};
    value = read;
    return {at, errc{}};
}

/// The shortest text that reads back as the same number, fixed or scientific, whichever is shorter.
template <typename T, enable_if_t<is_floating_point_v<T>, int> = 0>
to_chars_result to_chars(char* first, char* last, T value) {
    string out;
    if (!isfinite(value)) {
        out = isnan(value) ? (signbit(value) ? "-nan" : "nan") : (value < 0 ? "-inf" : "inf");
    } else {
        char text[40];
        const int most = sizeof(T) == sizeof(float) ? 9 : 17;
        for (int n = 1; n <= most; ++n) {
            snprintf(text, sizeof text, "%.*e", n - 1, static_cast<double>(value));
            const T back = sizeof(T) == sizeof(float) ? static_cast<T>(strtof(text, nullptr))
                                                      : static_cast<T>(strtod(text, nullptr));
            if (back == value) break;
        }
        string digits;
        const char* c = text;
        const bool negative = *c == '-';
        for (c += negative; *c != 'e'; ++c)
            if (*c != '.') digits += *c;
        const int exponent = atoi(c + 1);
        while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
        const int n = static_cast<int>(digits.size());
        string fixed;
        if (exponent >= n - 1) {
            // All of its digits, as the standard asks of the fixed form.
            char whole[400];
            snprintf(whole, sizeof whole, "%.0f", fabs(static_cast<double>(value)));
            fixed = whole;
        } else if (exponent >= 0) {
            fixed = digits.substr(0, exponent + 1) + "." + digits.substr(exponent + 1);
        } else {
            fixed = "0." + string(-exponent - 1, '0') + digits;
        }
        string scientific = digits.substr(0, 1) + (n > 1 ? "." + digits.substr(1) : "");
        snprintf(text, sizeof text, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        scientific += text;
        out = (negative ? "-" : "") + (fixed.size() <= scientific.size() ? fixed : scientific);
    }
    if (static_cast<ptrdiff_t>(out.size()) > last - first) return {last, errc::value_too_large};
    memcpy(first, out.data(), out.size());
    return {first + out.size(), errc{}};
}

/// With a number of digits. (The page has no locale but "C".)
inline to_chars_result to_chars(char* first, char* last, double value, chars_format format, int digits) {
    const int n = snprintf(first, last - first, format == chars_format::fixed ? "%.*f" : "%.*g", digits, value);
    return n < last - first ? to_chars_result{first + n, errc{}} : to_chars_result{last, errc::value_too_large};
}
#endif

}  // namespace std
