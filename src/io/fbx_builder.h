// Builds a new FBX file: objects with ids, their properties, and what is connected to what.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/fbx_records.h"

namespace sinew::io {

class FbxBuilder {
public:
    using Id = std::int64_t;
    static constexpr Id kScene = 0;

    struct Object {
        Id id = kScene;
        FbxRecord* record = nullptr;
    };
    /// record: "Model"; type: that of the name, "Model", "SubDeformer" …; kind: "LimbNode", "Cluster" …
    Object object(std::string_view record, const std::string& name, const std::string& type,
                  const std::string& kind);

    /// A record in another one.
    FbxRecord& add(FbxRecord& to, std::string_view name, const std::vector<FbxItem>& items, bool block = false);
    /// The block of properties of an object.
    FbxRecord& properties(FbxRecord& object) { return add(object, "Properties70", {}, true); }
    /// A property of such a block, with its type as the format names it: "Lcl Translation", "Color", "double" …
    void property(FbxRecord& properties, const std::string& name, const std::string& type,
                  std::initializer_list<FbxItem> values);

    /// To an object, or to a property of it.
    void connect(Id from, Id to, const std::string& property = {});

    /// The file. metres: the length of its unit; seconds: the end of its longest animation.
    std::vector<std::byte> bytes(double metres, double seconds);

private:
    FbxFile file_ = FbxFile::empty();
    std::deque<FbxRecord> objects_;
    std::vector<FbxRecord> links_;
    std::map<std::string, std::int32_t> counts_;  // of objects, by record
    Id last_ = 1000000;
};

/// Seconds in the unit of the format.
std::int64_t fbx_time(double seconds);

}  // namespace sinew::io
