// The library for JSON, with trees that are freed without memory. Where nlohmann::json destroys a tree, it puts all
// of it on a list, so that a deep one takes no stack. If memory is full, that ends the program. The trees here are
// no deeper than io::parse_json allows, and are destroyed one within the other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sinew {

/// std::allocator by another name, so that these are types of their own: a host may use nlohmann::json, too.
template <typename T>
struct JsonMemory : std::allocator<T> {
    JsonMemory() = default;
    template <typename U>
    JsonMemory(const JsonMemory<U>&) noexcept {}
};

using Json =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, double, JsonMemory>;
/// Members keep their order.
using OrderedJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                                         std::uint64_t, double, JsonMemory>;

template <typename Value, typename Kind>
void free_json(Value& value, Kind kind) {
    if (kind == Kind::object) delete value.object;
    if (kind == Kind::array) delete value.array;
    if (kind == Kind::string) delete value.string;
    if (kind == Kind::binary) delete value.binary;
}

}  // namespace sinew

namespace nlohmann {

template <>
inline void sinew::Json::json_value::destroy(value_t kind) {
    sinew::free_json(*this, kind);
}

template <>
inline void sinew::OrderedJson::json_value::destroy(value_t kind) {
    sinew::free_json(*this, kind);
}

}  // namespace nlohmann
