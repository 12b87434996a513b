// MTL: the materials of an OBJ file, as far as glTF has them: base colour, opacity, roughness, metal, and one
// picture.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/try.h"
#include "io/formats.h"
#include "io/gltf_document.h"

namespace sinew::io {

namespace {

/// Where a file of an OBJ or MTL may be: as it is named, else with this file name beside the OBJ (names of another
/// machine).
std::vector<std::filesystem::path> places_of(std::string file, const std::string& name, const ModelFiles& files) {
    std::replace(file.begin(), file.end(), '\\', '/');
    std::string uri;  // place_of decodes it
    for (const char c : file) uri += c == '%' ? std::string("%25") : std::string(1, c);
    std::vector<std::filesystem::path> out;
    for (const std::string& at : {uri, uri.substr(uri.find_last_of('/') + 1)})
        if (auto path = files.place_of(at, name, "a material"); path && (out.empty() || out[0] != *path))
            out.push_back(std::move(*path));
    return out;
}

/// Null if none can be read.
Result<ModelFiles::Bytes> read_beside(const std::string& file, const std::string& name, ModelFiles& files) {
    for (const std::filesystem::path& path : places_of(file, name, files)) {
        auto bytes = files.read(path);
        if (bytes || bytes.error().code == ErrorCode::too_large) return bytes;
    }
    return ModelFiles::Bytes();
}

/// The words behind a keyword, of each of its lines.
std::vector<std::string> words_behind(std::string_view keyword, std::string_view text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        std::string_view line = text.substr(at, text.find_first_of("\r\n", at) - at);
        at += line.size() + 1;
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        if (!line.starts_with(keyword)) continue;
        line.remove_prefix(keyword.size());
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin != 0 && begin != line.npos)
            out.emplace_back(line.substr(begin, line.find_last_not_of(" \t") + 1 - begin));
    }
    return out;
}

/// The file name behind the options of a map ("-s 1 1 1 -clamp on skin.png"). Names may contain blanks.
std::string file_of_map(const std::string& words) {
    static const std::map<std::string, int> arguments{
        {"-blendu", 1}, {"-blendv", 1}, {"-cc", 1},     {"-clamp", 1},   {"-boost", 1}, {"-mm", 2},  {"-o", 3},
        {"-s", 3},      {"-t", 3},      {"-texres", 1}, {"-imfchan", 1}, {"-bm", 1},    {"-type", 1}};
    std::istringstream in(words);
    std::string word, out;
    while (in >> word) {
        const auto option = out.empty() ? arguments.find(word) : arguments.end();
        if (option == arguments.end()) {
            out += (out.empty() ? "" : " ") + word;
            continue;
        }
        for (int k = 0; k < option->second && in >> word; ++k)
            if (k > 0 && !parse_float(word)) {  // -o, -s and -t may have fewer numbers
                out = word;
                break;
            }
    }
    return out;
}

void read_library(std::string_view text, std::map<std::string, MeshLook::Material*>& materials) {
    MeshLook::Material* at = nullptr;
    bool colored = false;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream in(line);
        std::string keyword, rest;
        in >> keyword;
        std::getline(in >> std::ws, rest);
        while (!rest.empty() && (rest.back() == '\r' || rest.back() == ' ' || rest.back() == '\t')) rest.pop_back();
        if (keyword == "newmtl") {
            const auto found = materials.find(rest);
            at = found == materials.end() ? nullptr : found->second;
            colored = false;
        }
        if (!at) continue;
        std::istringstream numbers(rest);
        std::array<float, 3> value{};
        std::size_t count = 0;
        for (std::string word; count < 3 && numbers >> word; ++count) {
            const auto number = parse_float(word);
            if (!number) break;
            value[count] = std::clamp(*number, 0.0f, keyword == "Ns" ? 1e6f : 1.0f);
        }
        if (keyword == "Kd" && count > 0) {
            if (count < 3) value[1] = value[2] = value[0];
            std::copy(value.begin(), value.end(), at->color.begin());
            colored = true;
        } else if (keyword == "d" && count > 0) {
            at->color[3] = value[0];
        } else if (keyword == "Tr" && count > 0) {
            at->color[3] = 1 - value[0];
        } else if (keyword == "Pr" && count > 0) {
            at->roughness = value[0];
        } else if (keyword == "Pm" && count > 0) {
            at->metallic = value[0];
        } else if (keyword == "Ns" && count > 0 && at->roughness == 1) {
            at->roughness = std::sqrt(2 / (value[0] + 2));  // of a Blinn-Phong exponent
        } else if (keyword == "map_Kd") {
            at->picture = file_of_map(rest);
        }
        // Black beneath a picture is what programs write that ignore the colour then.
        if (colored && !at->picture.empty() && at->color[0] + at->color[1] + at->color[2] == 0)
            at->color[0] = at->color[1] = at->color[2] = 1;
    }
}

}  // namespace

Result<std::vector<std::filesystem::path>> files_of_obj(std::string_view text, const std::filesystem::path& path,
                                                        const Context* context) {
    ModelFiles files(folder_of(path), context, true);
    std::set<std::filesystem::path> seen;
    std::vector<std::filesystem::path> out;
    const auto add = [&](std::filesystem::path file) {
        if (seen.insert(file).second) out.push_back(std::move(file));
    };
    for (const std::string& library : words_behind("mtllib", text))
        for (const std::filesystem::path& place : places_of(library, path.string(), files)) {
            if (seen.contains(place)) continue;
            add(place);
            const auto bytes = files.read(place, context);
            if (!bytes && bytes.error().code == ErrorCode::too_large) return bytes.error();
            if (!bytes) continue;
            for (const std::string& map : words_behind("map_Kd", as_text(**bytes)))
                for (auto& picture : places_of(file_of_map(map), path.string(), files)) add(std::move(picture));
        }
    return out;
}

Status read_obj_materials(const std::vector<std::string>& libraries, const std::string& name, ModelFiles& files,
                          std::vector<MeshLook::Material>& materials, std::vector<std::string>& warnings) {
    std::map<std::string, MeshLook::Material*> by_name;
    for (MeshLook::Material& material : materials) by_name.emplace(material.name, &material);
    if (by_name.empty()) return Done{};
    for (const std::string& library : libraries) {
        // One name, which may contain blanks, or several.
        SINEW_TRY_LET(const auto bytes, read_beside(library, name, files));
        if (bytes) read_library(as_text(*bytes), by_name);
        std::istringstream words(library);
        for (std::string word; !bytes && words >> word;) {
            SINEW_TRY_LET(const auto one, read_beside(word, name, files));
            if (one)
                read_library(as_text(*one), by_name);
            else
                warnings.push_back("materials: " + name + ": '" + printable(word) + "' cannot be read");
        }
    }
    for (MeshLook::Material& material : materials) {
        if (material.picture.empty()) continue;
        SINEW_TRY_LET(const auto bytes, read_beside(material.picture, name, files));
        const std::string kind = bytes ? image_kind(*bytes) : "";
        if (kind == "image/png" || kind == "image/jpeg") {
            material.pixels = bytes;
            continue;
        }
        const std::string picture = "'" + printable(material.picture) + "'";
        warnings.push_back(
            "the picture of material '" + printable(material.name) + "' is left out: " +
            (bytes ? picture + " is neither PNG nor JPEG" : name + ": " + picture + " cannot be read"));
    }
    return Done{};
}

}  // namespace sinew::io
