#include "io/fbx_builder.h"

#include <cmath>

#include "io/fbx_objects.h"

namespace sinew::io {

std::int64_t fbx_time(double seconds) { return std::llround(seconds * kFbxTicks); }

FbxBuilder::Object FbxBuilder::object(std::string_view record, const std::string& name, const std::string& type,
                                      const std::string& kind) {
    const Id id = ++last_;
    objects_.push_back(file_.make(record, {id, file_.full_name(type, name), kind}, 1, true));
    ++counts_[std::string(record)];
    return {id, &objects_.back()};
}

FbxRecord& FbxBuilder::add(FbxRecord& to, std::string_view name, const std::vector<FbxItem>& items, bool block) {
    to.records.push_back(file_.make(name, items, 2, block));
    return to.records.back();
}

void FbxBuilder::property(FbxRecord& properties, const std::string& name, const std::string& type,
                          std::initializer_list<FbxItem> values) {
    const bool animated = type.starts_with("Lcl") || type == "Number" || type == "Color";
    const std::string label = type == "double"  ? "Number"
                              : type == "int"   ? "Integer"
                              : type == "KTime" ? "Time"
                                                : "";
    std::vector<FbxItem> items{name, type, animated ? "" : label, std::string(animated ? "A" : "")};
    items.insert(items.end(), values);
    add(properties, "P", items);
}

void FbxBuilder::connect(Id from, Id to, const std::string& property) {
    std::vector<FbxItem> items{std::string(property.empty() ? "OO" : "OP"), from, to};
    if (!property.empty()) items.push_back(property);
    links_.push_back(file_.make("C", items, 1));
}

std::vector<std::byte> FbxBuilder::bytes(double metres, double seconds) {
    // The identity and the time that the end of the file belongs to (FbxFile::empty).
    static constexpr unsigned char kIdentity[] = {0x28, 0xb3, 0x2a, 0xeb, 0xb6, 0x24, 0xcc, 0xc2,
                                                  0xbf, 0xc8, 0xb0, 0x2a, 0xa9, 0x2b, 0xfc, 0xf1};
    const std::string creator = "sinew " SINEW_VERSION;
    FbxRecord& root = file_.root();
    root.records.reserve(16);

    FbxRecord& header = add(root, "FBXHeaderExtension", {}, true);
    add(header, "FBXHeaderVersion", {std::int32_t{1003}});
    add(header, "FBXVersion", {std::int32_t{7500}});
    add(header, "EncryptionType", {std::int32_t{0}});
    add(header, "Creator", {creator});
    const auto* const identity = reinterpret_cast<const std::byte*>(kIdentity);
    add(root, "FileId", {std::vector<std::byte>(identity, identity + sizeof kIdentity)});
    add(root, "CreationTime", {std::string("1970-01-01 10:00:00:000")});
    add(root, "Creator", {creator});

    FbxRecord& settings = add(root, "GlobalSettings", {}, true);
    add(settings, "Version", {std::int32_t{1000}});
    FbxRecord& space = properties(settings);
    for (const auto& [name, value] :
         {std::pair("UpAxis", 1), std::pair("UpAxisSign", 1), std::pair("FrontAxis", 2),
          std::pair("FrontAxisSign", 1), std::pair("CoordAxis", 0), std::pair("CoordAxisSign", 1),
          std::pair("OriginalUpAxis", 1), std::pair("OriginalUpAxisSign", 1)})
        property(space, name, "int", {std::int32_t{value}});
    property(space, "UnitScaleFactor", "double", {metres * 100});
    property(space, "OriginalUnitScaleFactor", "double", {metres * 100});
    property(space, "TimeMode", "enum", {std::int32_t{6}});  // 30 frames a second
    property(space, "TimeSpanStart", "KTime", {std::int64_t{0}});
    property(space, "TimeSpanStop", "KTime", {fbx_time(seconds)});

    FbxRecord& documents = add(root, "Documents", {}, true);
    add(documents, "Count", {std::int32_t{1}});
    FbxRecord& scene = add(documents, "Document", {Id{999999}, std::string("Scene"), std::string("Scene")}, true);
    add(scene, "RootNode", {kScene});
    add(root, "References", {}, true);

    FbxRecord& definitions = add(root, "Definitions", {}, true);
    add(definitions, "Version", {std::int32_t{100}});
    counts_["GlobalSettings"] = 1;
    std::int32_t all = 0;
    for (const auto& [record, count] : counts_) all += count;
    add(definitions, "Count", {all});
    for (const auto& [record, count] : counts_)
        add(add(definitions, "ObjectType", {record}, true), "Count", {count});

    FbxRecord& objects = add(root, "Objects", {}, true);
    objects.records.assign(std::make_move_iterator(objects_.begin()), std::make_move_iterator(objects_.end()));
    FbxRecord& connections = add(root, "Connections", {}, true);
    connections.records = std::move(links_);
    FbxRecord& takes = add(root, "Takes", {}, true);
    add(takes, "Current", {std::string()});
    return file_.bytes();
}

}  // namespace sinew::io
