#include "batch_items.h"
#include "io/json.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "command.h"
#include "core/try.h"
#include "sinew/content.h"

namespace sinew::cli {
namespace {

namespace fs = std::filesystem;
using json = Json;

// In a folder only files that hold a character by themselves.
constexpr std::array<std::string_view, 5> kModels{".glb", ".gltf", ".vrm", ".fbx", ".dae"};

bool is_model(const fs::path& path) {
    const std::string extension = io::extension_of(path.string());
    return std::find(kModels.begin(), kModels.end(), extension) != kModels.end();
}

/// The output of an input with this name in its folder: glTF keeps its kind, everything else becomes GLB.
std::string output_of(const fs::path& folder, fs::path name) {
    const std::string extension = io::extension_of(name.string());
    if (extension != ".glb" && extension != ".gltf" && extension != ".vrm") name += ".glb";
    return (folder / name).lexically_normal().string();
}

/// Whether the output of a manifest is a model within the folder; links are followed.
Status check_place(const fs::path& folder, const std::string& name, const std::string& place) {
    const fs::path plain = fs::path(name).lexically_normal();
    std::error_code failed;
    const fs::path real = fs::weakly_canonical(folder / plain, failed), root = fs::weakly_canonical(folder, failed);
    const bool within = plain.is_relative() && !plain.empty() && plain.has_filename() && *plain.begin() != ".." &&
                        std::mismatch(root.begin(), root.end(), real.begin(), real.end()).first == root.end();
    if (!within)
        return Error{ErrorCode::input,
                     place + ": output must be a path in the output folder, not '" + printable(name) + "'"};
    if (Status ok = io::check_output(plain); !ok) return Error{ErrorCode::input, place + ": " + ok.error().message};
    return Done{};
}

/// Appends `--WORD VALUE` for each key. A list repeats the option; true gives the word alone.
Status add_words(const json& values, const std::string& place, std::vector<std::string>& words) {
    if (!values.is_object()) return Error{ErrorCode::input, place + " must be an object"};
    for (const auto& [key, value] : values.items()) {
        const std::vector<json> all = value.is_array() ? value.get<std::vector<json>>() : std::vector<json>{value};
        for (const json& one : all) {
            if (one.is_boolean() && one.get<bool>()) {
                words.push_back("--" + key);
            } else if (one.is_string() || one.is_number()) {
                words.push_back("--" + key);
                words.push_back(one.is_string() ? one.get<std::string>() : one.dump());
            } else {
                return Error{ErrorCode::input, place + "." + key + " must be a string, a number, true or a list"};
            }
        }
    }
    return Done{};
}

Result<BatchItem> read_line(const std::string& line, const fs::path& base, const fs::path& folder,
                            const std::string& place) {
    SINEW_TRY(io::check_json_depth(line, place));
    const json j = json::parse(line, nullptr, false);
    if (!j.is_object()) return Error{ErrorCode::input, place + ": not a JSON object"};
    BatchItem item;
    item.place = place;
    const std::map<std::string, std::string*> files{{"input", &item.input},
                                                    {"output", &item.output},
                                                    {"skeleton", &item.skeleton},
                                                    {"edits", &item.edits},
                                                    {"reference", &item.reference}};
    std::string name;
    for (const auto& [key, value] : j.items()) {
        if (const auto file = files.find(key); file != files.end()) {
            if (!value.is_string()) return Error{ErrorCode::input, place + ": " + key + " must be a string"};
            name = value.get<std::string>();
            if (key == "output") SINEW_TRY(check_place(folder, name, place));
            *file->second = ((key == "output" ? folder : base) / name).lexically_normal().string();
        } else if (key == "options") {
            if (value.is_object() && value.contains("output"))
                return Error{ErrorCode::input,
                             place + ": options.output: give it as \"output\", beside \"options\""};
            SINEW_TRY(add_words(value, place + ": options", item.options));
        } else if (key == "gates") {
            json of_compare = value;
            if (value.is_object() && value.contains("check")) {
                if (!value["check"].is_string())
                    return Error{ErrorCode::input,
                                 place + ": gates.check must be a string: \"default\" or a profile of sinew check"};
                item.check = value["check"].get<std::string>();
                of_compare.erase("check");
            }
            SINEW_TRY(add_words(of_compare, place + ": gates", item.gates));
        } else {
            return Error{ErrorCode::input,
                         fmt::format("{}: unknown key '{}' (known: input, output, skeleton, edits, "
                                     "reference, options, gates)",
                                     place, printable(key))};
        }
    }
    if (item.input.empty()) return Error{ErrorCode::input, place + ": it has no input"};
    if (!item.gates.empty() && item.reference.empty())
        return Error{ErrorCode::input,
                     place + ": gates compare with a reference, and it has none (give \"reference\": FILE)"};
    item.placed = !item.output.empty();
    if (!item.placed) item.output = output_of(folder, fs::path(j["input"].get<std::string>()).filename());
    return item;
}

Status add_lines(const std::string& path, const std::string& folder, std::vector<BatchItem>& items) {
    SINEW_TRY_LET(const std::vector<std::byte> bytes, io::read_file(path));
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const fs::path base = fs::path(path).parent_path();
    const bool manifest = io::extension_of(path) == ".jsonl";
    for (std::size_t number = 1; !text.empty(); ++number) {
        std::string line(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (number == 1 && (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")))
            return Error{ErrorCode::input, path + ": the list is UTF-16; save it as UTF-8"};
        if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // a byte order mark
        if (line.ends_with('\r')) line.pop_back();
        const std::size_t begin = line.find_first_not_of(" \t");
        if (begin == std::string::npos || (!manifest && line[begin] == '#')) continue;
        if (manifest) {
            SINEW_TRY_LET(BatchItem item, read_line(line, base, folder, fmt::format("{} line {}", path, number)));
            items.push_back(std::move(item));
        } else {
            BatchItem item;
            item.input = (base / line).lexically_normal().string();
            item.output = output_of(folder, fs::path(line).filename());
            items.push_back(std::move(item));
        }
    }
    return Done{};
}

Status add_folder(const fs::path& path, const std::string& folder, BatchList& list) {
    std::error_code failed;
    std::vector<fs::path> found;
    const fs::path out = fs::weakly_canonical(folder, failed);
    fs::path now = path;  // for the message: an error leaves no place
    for (auto at = fs::recursive_directory_iterator(path, failed);
         !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
        std::error_code ignored;
        now = at->path();
        if (at->is_directory(ignored) && fs::weakly_canonical(at->path(), ignored) == out)
            at.disable_recursion_pending();  // earlier results are no inputs
        else if (at->is_regular_file(ignored) && is_model(at->path()))
            found.push_back(at->path());
        else if (at->is_regular_file(ignored) && io::extension_of(at->path().string()) == ".obj")
            list.left_out.push_back(at->path().string());
    }
    if (failed) return Error{ErrorCode::io, "cannot read the folder " + now.string() + ": " + failed.message()};
    std::sort(found.begin(), found.end());
    for (const fs::path& file : found) {
        BatchItem item;
        item.input = file.string();
        item.output = output_of(folder, file.lexically_relative(path));
        list.items.push_back(std::move(item));
    }
    return Done{};
}

}  // namespace

Result<std::string> keep_companions_apart(std::vector<BatchItem>& items, const std::string& folder) {
    // With the same tree of folders below inputs and outputs, files keep their places: nothing can meet.
    const auto root_of = [&](const BatchItem& item) {
        const fs::path in = fs::path(item.input).parent_path().lexically_normal();
        const fs::path below =
            fs::path(item.output).parent_path().lexically_relative(fs::path(folder).lexically_normal());
        std::vector<fs::path> parts(in.begin(), in.end());
        for (auto at = below.end(); at != below.begin();) {
            --at;
            if (*at == ".") continue;
            if (parts.empty() || parts.back() != *at) return "*" + item.input;  // another tree
            parts.pop_back();
        }
        fs::path root;
        for (const fs::path& part : parts) root /= part;
        return root.string();
    };
    std::set<std::string> roots;
    std::vector<BatchItem*> texts;  // what keeps its files beside it
    for (BatchItem& item : items)
        if (io::extension_of(item.output) == ".gltf") texts.push_back(&item), roots.insert(root_of(item));
    if (roots.size() < 2) return std::string();

    struct Source {
        fs::path path;
        std::vector<BatchItem*> items;
    };
    std::map<std::string, std::vector<Source>> brought;  // by the place beside the outputs
    for (BatchItem* item : texts) {
        const auto files = io::files_beside(item->input);
        if (!files) continue;  // its bind says why
        for (const io::ReferencedFile& file : *files) {
            std::vector<Source>& sources =
                brought[(fs::path(item->output).parent_path() / file.name).lexically_normal().string()];
            const auto known = std::find_if(sources.begin(), sources.end(), [&](const Source& source) {
                if (source.path == file.path) return true;
                const Result<bool> same = io::same_bytes(source.path, file.path);
                return same && *same;
            });
            if (known == sources.end())
                sources.push_back({file.path, {item}});
            else
                known->items.push_back(item);
        }
    }
    std::set<BatchItem*> moved;
    std::string first;
    for (const auto& [place, sources] : brought) {
        if (sources.size() < 2) continue;
        const BatchItem &a = *sources[0].items[0], &b = *sources[1].items[0];
        const std::string both =
            fmt::format("{} and {} refer to different files that would both be {}", printable(a.input, 300),
                        printable(b.input, 300), printable(place, 300));
        if (first.empty()) first = both;
        std::size_t stated = 0;  // sources with a result that cannot be moved
        for (const Source& source : sources) {
            stated +=
                std::any_of(source.items.begin(), source.items.end(), [](auto* item) { return item->placed; });
            for (BatchItem* item : source.items)
                if (!item->placed) moved.insert(item);
        }
        if (stated > 1)
            return Error{ErrorCode::usage, both + " (give them outputs in folders of their own in the manifest)"};
    }
    for (BatchItem* item : moved) {
        const fs::path output(item->output);
        item->output = (output.parent_path() / output.stem() / output.filename()).string();
    }
    if (moved.empty()) return std::string();
    return fmt::format("{}: {} such results have folders of their own, as {}", first, moved.size(),
                       printable((*moved.begin())->output, 300));
}

Status keep_apart(const std::vector<BatchItem>& items, std::span<const NamedFile> own) {
    const auto real = [](const std::string& path) {
        std::error_code failed;
        const fs::path found = fs::weakly_canonical(path, failed);
        return failed ? path : found.string();
    };
    struct Use {
        const BatchItem* item;
        std::string role;
        bool is_read;
    };
    std::map<std::string, Use> uses;
    for (const BatchItem& item : items)
        for (const auto& [role, path] : item.reads) uses.emplace(real(path), Use{&item, role, true});
    const auto of = [](const Use& use) {
        return use.role == "an input" ? use.role : use.role + " of " + use.item->input;
    };
    for (const BatchItem& item : items)
        for (const auto& [role, path] : item.writes) {
            const auto [use, is_new] = uses.emplace(real(path), Use{&item, role, false});
            if (is_new) continue;
            if (use->second.is_read)
                return Error{ErrorCode::usage,
                             fmt::format("{} of {} would replace {}: {} (name another {})", role, item.input,
                                         of(use->second), path, role == "the result" ? "folder with -o" : "file")};
            return Error{
                ErrorCode::usage,
                fmt::format("{} and {} would both be written to {} (give one another output in a manifest)",
                            use->second.item->input, item.input, path)};
        }
    for (const NamedFile& file : own)
        if (const auto use = uses.find(real(file.path)); !file.path.empty() && use != uses.end())
            return Error{ErrorCode::usage, fmt::format("{} {} would replace {} (name another file)", file.role,
                                                       file.path, of(use->second))};
    return Done{};
}

std::vector<std::string> BatchItem::bind_words() const {
    std::vector<std::string> words{"bind", input, "-o", output};
    if (!skeleton.empty()) words.insert(words.end(), {"--skeleton", skeleton});
    if (!edits.empty()) words.insert(words.end(), {"--edits", edits});
    words.insert(words.end(), options.begin(), options.end());
    return words;
}

Result<BatchList> read_batch(const std::vector<std::string>& inputs, const std::string& folder) {
    BatchList list;
    std::vector<BatchItem>& items = list.items;
    for (const std::string& input : inputs) {
        std::error_code failed;
        const std::string extension = io::extension_of(input);
        Status ok = Done{};
        if (fs::is_directory(input, failed)) {
            ok = add_folder(input, folder, list);
        } else if (!fs::exists(input, failed)) {
            return Error{ErrorCode::io, input + ": there is no such file or folder"};
        } else if (extension == ".jsonl" || extension == ".txt") {
            ok = add_lines(input, folder, items);
        } else {
            BatchItem item;
            item.input = input;
            item.output = output_of(folder, fs::path(input).filename());
            items.push_back(std::move(item));
        }
        if (!ok) return ok.error();
    }
    std::set<fs::path> taken;  // a manifest of the same call may give a skeleton to some
    for (const BatchItem& item : items) {
        std::error_code failed;
        taken.insert(fs::weakly_canonical(item.input, failed));
    }
    std::erase_if(list.left_out, [&](const std::string& file) {
        std::error_code failed;
        return taken.count(fs::weakly_canonical(file, failed)) > 0;
    });
    std::sort(list.left_out.begin(), list.left_out.end());
    return list;
}

}  // namespace sinew::cli
