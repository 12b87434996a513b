#include "io/fbx_objects.h"

#include <algorithm>

#include "core/try.h"
#include "io/formats.h"

namespace sinew::io {

namespace {

/// Properties of a record, in version 7 or 6.
const FbxRecord* properties_of(const FbxRecord* record) {
    if (!record) return nullptr;
    const FbxRecord* const found = record->find("Properties70");
    return found ? found : record->find("Properties60");
}

/// The values of a record of a property, after its name, types and flags.
std::span<const FbxValue> values_of(const FbxRecord& property, const FbxRecord& list) {
    const std::size_t before = list.name == "Properties70" ? 4 : 3;
    return std::span(property.values).subspan(std::min(before, property.values.size()));
}

std::span<const FbxValue> find(const FbxRecord* properties, std::string_view name) {
    if (properties)
        for (const FbxRecord& property : properties->records)
            if (!property.values.empty() && as_text(property.values[0].bytes) == name)
                return values_of(property, *properties);
    return {};
}

}  // namespace

std::pair<std::string, std::string> fbx_name(const std::string& text) {
    if (const std::size_t at = text.find(std::string("\0\1", 2)); at != text.npos)
        return {text.substr(at + 2), text.substr(0, at)};
    if (const std::size_t at = text.find("::"); at != text.npos) return {text.substr(0, at), text.substr(at + 2)};
    return {"", text};
}

std::optional<std::string> FbxObjects::key_of(const FbxValue& id) const {
    if (id.type == 'S') {
        const auto [type, name] = fbx_name(file_->text(id));
        return type + "::" + name;
    }
    const auto number = file_->whole(id);
    if (!number) return std::nullopt;
    return std::to_string(*number);
}

Result<FbxObjects> FbxObjects::read(const FbxFile& file, std::vector<std::string>& warnings) {
    FbxObjects out;
    out.file_ = &file;
    const FbxRecord& top = file.root();
    if (const FbxRecord* header = top.find("FBXHeaderExtension"))
        if (const FbxRecord* kind = header->find("EncryptionType");
            kind && !kind->values.empty() && file.whole(kind->values[0]).value_or(0) != 0)
            return file.error(*kind, "the file is encrypted (export it without a password)");
    const FbxRecord* const objects = top.find("Objects");
    if (file.version() != 0 && file.version() < 6000)
        return file.error(top, "version " + std::to_string(file.version()) +
                                   " of FBX is older than 6000 (export it as 7.4 or later)");
    if (!objects) return file.error(top, "the file has no Objects");

    if (const FbxRecord* definitions = top.find("Definitions"))
        for (const FbxRecord& type : definitions->records)
            if (const FbxRecord* list = properties_of(type.find("PropertyTemplate")); list && !type.values.empty())
                for (const FbxRecord& property : list->records)
                    if (!property.values.empty())
                        out.defaults_[as_text(type.values[0].bytes)].emplace(as_text(property.values[0].bytes),
                                                                             values_of(property, *list));
    // In version 6 they are among the objects.
    const FbxRecord* const settings = top.find("GlobalSettings");
    out.settings_ = properties_of(settings ? settings : objects->find("GlobalSettings"));

    out.all_.push_back({"", "Model", "Root"});
    out.by_key_ = {{"0", root}, {"Model::Scene", root}};
    std::size_t repeated = 0;
    for (const FbxRecord& record : objects->records) {
        if (record.values.empty()) continue;
        const auto key = out.key_of(record.values[0]);
        if (!key) return file.error(record, "its id is not a whole number");
        const bool named = record.values[0].type == 'S';
        Object object{"", record.name, "", &record};
        if (named || record.values.size() > 1)
            object.name = fbx_name(file.text(record.values[named ? 0 : 1])).second;
        if (const std::size_t at = named ? 1 : 2; record.values.size() > at)
            object.kind = file.text(record.values[at]);
        if (const auto found = out.defaults_.find(record.name); found != out.defaults_.end())
            object.defaults = &found->second;
        repeated += !out.by_key_.emplace(*key, out.all_.size()).second;
        out.all_.push_back(std::move(object));
    }
    if (repeated)
        warnings.push_back(
            std::to_string(repeated) +
            " objects of the file have the id of another one: their connections are those of the first");

    if (const FbxRecord* connections = top.find("Connections"))
        for (const FbxRecord& record : connections->records) {  // kind, source, target, property of the target
            if (record.values.size() < 3) continue;
            const std::size_t source = out.by_id(record.values[1]), target = out.by_id(record.values[2]);
            if (source == missing || target == missing || source == target) continue;
            std::string property;
            if (record.values.size() > 3 && file.text(record.values[0]) == "OP")
                property = file.text(record.values[3]);
            out.all_[source].targets.push_back({target, property});
            out.all_[target].sources.push_back({source, std::move(property)});
        }
    return out;
}

std::size_t FbxObjects::by_id(const FbxValue& id) const {
    const auto key = key_of(id);
    if (!key) return missing;
    const auto found = by_key_.find(*key);
    return found == by_key_.end() ? missing : found->second;
}

std::size_t FbxObjects::source(std::size_t object, std::string_view type, std::string_view kind) const {
    for (const Link& link : all_[object].sources)
        if (all_[link.object].is(type, kind)) return link.object;
    return missing;
}

std::size_t FbxObjects::target(std::size_t object, std::string_view type) const {
    for (const Link& link : all_[object].targets)
        if (all_[link.object].is(type)) return link.object;
    return missing;
}

std::span<const FbxValue> FbxObjects::values(std::size_t object, std::string_view property) const {
    const auto own = find(properties_of(all_[object].record), property);
    const auto* const defaults = all_[object].defaults;
    if (!own.empty() || !defaults) return own;
    const auto found = defaults->find(property);
    return found == defaults->end() ? own : found->second;
}

double FbxObjects::number(std::size_t object, std::string_view property, double otherwise) const {
    const auto found = values(object, property);
    return found.empty() ? otherwise : file_->number(found[0]).value_or(otherwise);
}

std::array<double, 3> FbxObjects::triple(std::size_t object, std::string_view property,
                                         std::array<double, 3> otherwise) const {
    const auto found = values(object, property);
    for (std::size_t k = 0; k < 3 && found.size() >= 3; ++k)
        otherwise[k] = file_->number(found[k]).value_or(otherwise[k]);
    return otherwise;
}

double FbxObjects::setting(std::string_view property, double otherwise) const {
    const auto found = find(settings_, property);
    return found.empty() ? otherwise : file_->number(found[0]).value_or(otherwise);
}

}  // namespace sinew::io
