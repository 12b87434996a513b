// The objects of an FBX file, by id: their properties, and what is connected to what. Version 6 knows them by name.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/fbx_records.h"

namespace sinew::io {

/// Units of time in a second.
inline constexpr double kFbxTicks = 46186158000;

class FbxObjects {
public:
    /// Of an object to another one, or to one of its properties.
    struct Link {
        std::size_t object = 0;
        std::string property;  ///< empty: to the object
    };
    struct Object {
        std::string name;
        std::string_view type;              ///< of its record: Model, Geometry, Deformer …
        std::string kind;                   ///< LimbNode, Mesh, Skin, Cluster …
        const FbxRecord* record = nullptr;  ///< null of the root
        const std::map<std::string_view, std::span<const FbxValue>>* defaults = nullptr;  ///< of its type
        std::vector<Link> sources{}, targets{};  ///< connected to it, and it to them; in the file's order
        bool is(std::string_view a, std::string_view b = {}) const { return type == a && (b.empty() || kind == b); }
    };
    static constexpr std::size_t root = 0, missing = static_cast<std::size_t>(-1);

    /// Errors: no objects, an encrypted file, a version before 6.
    static Result<FbxObjects> read(const FbxFile& file, std::vector<std::string>& warnings);

    const FbxFile& file() const { return *file_; }
    const std::vector<Object>& all() const { return all_; }
    const Object& operator[](std::size_t object) const { return all_[object]; }

    /// The first source, or target, of this type (and kind); missing if there is none.
    std::size_t source(std::size_t object, std::string_view type, std::string_view kind = {}) const;
    std::size_t target(std::size_t object, std::string_view type) const;
    /// An object by its id, or in version 6 its name; missing if there is none.
    std::size_t by_id(const FbxValue& id) const;
    /// Whether there is an object "Type::name" of version 6.
    bool knows(const std::string& name) const { return by_key_.contains(name); }

    /// Values of a property of the object, else of the defaults of its type; empty if neither has it.
    std::span<const FbxValue> values(std::size_t object, std::string_view property) const;
    double number(std::size_t object, std::string_view property, double otherwise) const;
    std::array<double, 3> triple(std::size_t object, std::string_view property,
                                 std::array<double, 3> otherwise) const;

    /// The same of the scene's settings.
    double setting(std::string_view property, double otherwise) const;

private:
    std::optional<std::string> key_of(const FbxValue& id) const;

    const FbxFile* file_ = nullptr;
    std::vector<Object> all_;
    std::map<std::string, std::size_t> by_key_;
    std::map<std::string_view, std::map<std::string_view, std::span<const FbxValue>>> defaults_;  // by type
    const FbxRecord* settings_ = nullptr;
};

/// "Model" and "hip" of "Model::hip", or in binary of "hip" 0 1 "Model".
std::pair<std::string, std::string> fbx_name(const std::string& text);

}  // namespace sinew::io
