// Bones JSON of flat figures: skeleton JSON in pixels, with layers (docs/cutout.md).
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "core/try.h"
#include "io/formats.h"
#include "sinew/cutout_files.h"

namespace sinew::io {

namespace {

using json = Json;

/// The file as skeleton JSON: points get a third number, members of figures are removed.
Result<json> as_skeleton(const json& document, const std::string& name) {
    json out = json::object();
    for (const char* list : {"bones", "points"}) {
        const auto found = document.find(list);
        if (found == document.end()) continue;
        json entries = *found;
        if (entries.is_array())
            for (std::size_t i = 0; i < entries.size(); ++i)
                for (const char* key : {"head", "tail", "position"}) {
                    if (!entries[i].is_object() || !entries[i].contains(key) || entries[i][key].is_null()) continue;
                    json& point = entries[i][key];
                    if (!point.is_array() || point.size() != 2)
                        return input_error(name, "entry " + std::to_string(i) + " of \"" + list + "\": \"" + key +
                                                     "\" must be two numbers [x, y], pixels from the upper left "
                                                     "corner");
                    point.push_back(0);
                }
        out[list] = std::move(entries);
    }
    return out;
}

/// A member that is a number; `missing` if there is none.
Result<double> number(const json& object, const char* key, double missing, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return missing;
    if (!found->is_number() || !std::isfinite(found->get<double>()))
        return Error{ErrorCode::input, where + ": \"" + key + "\" must be a number"};
    return found->get<double>();
}

Status read_smoothness(const json& document, const std::string& name, CutoutFigure& figure) {
    constexpr float missing = std::numeric_limits<float>::quiet_NaN();
    for (const char* list : {"bones", "points"}) {
        const auto found = document.find(list);
        if (found == document.end()) continue;
        for (const json& entry : *found) {
            const std::string where =
                "bone '" + printable(figure.skeleton.joints[figure.smoothness.size()].name) + "'";
            const Result<double> value = number(entry, "smoothness", missing, where);
            if (!value) return input_error(name, value.error().message);
            if (*value <= 0 || *value > 16384)
                return input_error(name, where + ": \"smoothness\" must be above 0 and at most 16384 pixels");
            figure.smoothness.push_back(static_cast<float>(*value));
        }
    }
    return Done{};
}

/// The file of a picture, read and decoded.
Status read_picture(const std::filesystem::path& path, CutoutLayer& layer, Context* context) {
    SINEW_TRY_LET(std::vector<std::byte> bytes, read_file(path, context));
    SINEW_TRY_LET(RgbaImage picture, decode_png(bytes, path.string(), context));
    layer.path = path.string();
    layer.png = std::move(bytes);
    layer.picture = std::move(picture);
    return Done{};
}

struct Ordered {
    CutoutLayer layer;
    double order;
};

/// Gives a layer the picture that its entry names: path, pixels and PNG file.
using Pictures = std::function<Status(const std::string& image, CutoutLayer& layer)>;

Result<Ordered> read_layer(const json& entry, std::size_t index, const Skeleton& skeleton,
                           const Pictures& picture_of) {
    const std::string where = "layer " + std::to_string(index);
    if (!entry.is_object()) return Error{ErrorCode::input, where + " must be an object"};
    Ordered out;
    CutoutLayer& layer = out.layer;
    const auto image = entry.find("image");
    if (image == entry.end() || !image->is_string() || image->get<std::string>().empty())
        return Error{ErrorCode::input, where + " needs an \"image\", the path of a PNG from this file's folder"};
    const std::string path = image->get<std::string>();
    layer.name = std::filesystem::path(path).stem().string();
    if (const auto name = entry.find("name"); name != entry.end()) {
        if (!name->is_string() || name->get<std::string>().empty())
            return Error{ErrorCode::input, where + ": \"name\" must be a string that is not empty"};
        layer.name = name->get<std::string>();
    }
    const std::string place = where + " ('" + printable(layer.name) + "')";
    if (const auto offset = entry.find("offset"); offset != entry.end() && !offset->is_null()) {
        const bool two =
            offset->is_array() && offset->size() == 2 && (*offset)[0].is_number() && (*offset)[1].is_number();
        for (std::size_t k = 0; two && k < 2; ++k) layer.offset[k] = (*offset)[k].get<double>();
        if (!two || !(std::abs(layer.offset[0]) <= 65536 && std::abs(layer.offset[1]) <= 65536))
            return Error{ErrorCode::input, place + ": \"offset\" must be two numbers [x, y] within 65536 pixels"};
    }
    SINEW_TRY_LET(out.order, number(entry, "order", static_cast<double>(index), place));

    const auto bones = entry.find("bones");
    const bool all = bones == entry.end() || bones->is_null() ||
                     (bones->is_string() && bones->get_ref<const std::string&>() == "all");
    if (!all && !bones->is_array())
        return Error{ErrorCode::input, place + ": \"bones\" must be a list of names, or \"all\""};
    std::set<std::uint32_t> joints;
    for (std::uint32_t j = 0; all && j < skeleton.joints.size(); ++j) joints.insert(j);
    for (std::size_t k = 0; !all && k < bones->size(); ++k) {
        const json& name = (*bones)[k];
        if (!name.is_string()) return Error{ErrorCode::input, place + ": \"bones\" must be a list of names"};
        bool found = false;
        for (std::uint32_t j = 0; j < skeleton.joints.size(); ++j)
            if (skeleton.joints[j].name == name.get<std::string>()) joints.insert(j), found = true;
        if (!found)
            return Error{ErrorCode::input,
                         place + ": there is no bone '" + printable(name.get<std::string>()) + "'"};
    }
    if (joints.empty()) return Error{ErrorCode::input, place + ": \"bones\" is empty: no bone would move it"};
    layer.joints.assign(joints.begin(), joints.end());
    if (Status read = picture_of(path, layer); !read)
        return Error{read.error().code, place + ": " + read.error().message};
    return out;
}

/// Bones JSON without its layers: the skeleton of the figure, still with y down.
Result<CutoutFigure> read_bones(const json& document, const std::string& name) {
    if (!document.is_object()) return input_error(name, "the bones of a figure must be an object with \"bones\"");
    SINEW_TRY_LET(const json plain, as_skeleton(document, name));
    SINEW_TRY_LET(Skeleton skeleton,
                  parse_skeleton(plain.dump(-1, ' ', false, json::error_handler_t::replace), name));
    CutoutFigure figure;
    figure.skeleton = std::move(skeleton);
    SINEW_TRY(read_smoothness(document, name, figure));
    return figure;
}

Error layers_are_input(const std::string& name) {
    return {ErrorCode::usage,
            name + " has layers, which name their own pictures: give it as the input, without `bones`"};
}

void add_only_layer(CutoutFigure& figure, CutoutLayer layer) {
    for (std::uint32_t j = 0; j < figure.skeleton.joints.size(); ++j) layer.joints.push_back(j);
    figure.layers.push_back(std::move(layer));
}

Status read_layers(const json& document, const std::string& name, const Pictures& picture_of,
                   CutoutFigure& figure) {
    const auto layers = document.find("layers");
    if (layers == document.end() || !layers->is_array() || layers->empty())
        return input_error(name,
                           "there is no picture: \"layers\" must be a list of objects with \"image\" (or "
                           "give a PNG as the input and this file as `bones`)");
    std::vector<Ordered> read;
    std::set<std::string> names;
    for (std::size_t i = 0; i < layers->size(); ++i) {
        Result<Ordered> layer = read_layer((*layers)[i], i, figure.skeleton, picture_of);
        if (!layer) return input_error(name, layer.error().message);
        if (!names.insert(layer->layer.name).second)
            return input_error(
                name, "two layers are called '" + printable(layer->layer.name) + "': give each its own \"name\"");
        read.push_back(std::move(*layer));
    }
    std::stable_sort(read.begin(), read.end(),
                     [](const Ordered& a, const Ordered& b) { return a.order < b.order; });
    for (Ordered& o : read) figure.layers.push_back(std::move(o.layer));
    return Done{};
}

/// A picture that the caller has decoded.
Status check_picture(const CutoutLayer& layer) {
    const RgbaImage& picture = layer.picture;
    if (picture.width < 1 || picture.height < 1 || picture.width > max_pixels || picture.height > max_pixels ||
        picture.rgba.size() != std::size_t{4} * picture.width * picture.height)
        return Error{ErrorCode::input,
                     layer.path + ": a picture has 1 to " + std::to_string(max_pixels) + " pixels along a side"};
    return Done{};
}

/// The canvas around the layers, and the skeleton on it, y up.
Result<CutoutFigure> on_canvas(CutoutFigure figure, const std::string& name) {
    double width = 1, height = 1;
    for (const CutoutLayer& layer : figure.layers) {
        width = std::max(width, std::ceil(layer.offset[0] + layer.picture.width));
        height = std::max(height, std::ceil(layer.offset[1] + layer.picture.height));
    }
    if (width > 16384 || height > 16384)
        return input_error(name, "the layers reach over " + std::to_string(static_cast<long>(width)) + " x " +
                                     std::to_string(static_cast<long>(height)) +
                                     " pixels, and at most 16384 each way are possible (move them together)");
    figure.width = static_cast<int>(width);
    figure.height = static_cast<int>(height);
    for (Joint& joint : figure.skeleton.joints) {
        const auto turned = [&](const Vec3& p) { return Vec3{p.x, static_cast<float>(height - double{p.y}), 0}; };
        joint.position = turned(joint.position);
        if (joint.tail) joint.tail = turned(*joint.tail);
    }
    return figure;
}

}  // namespace

Result<CutoutFigure> parse_cutout(std::string_view bones, const std::string& name, CutoutLayer layer) {
    SINEW_TRY(check_picture(layer));
    SINEW_TRY_LET(const json document, parse_json(bones, name));
    Result<CutoutFigure> figure = read_bones(document, name);
    if (!figure) return figure;
    if (document.contains("layers")) return layers_are_input(name);
    add_only_layer(*figure, std::move(layer));
    return on_canvas(std::move(*figure), name);
}

Result<CutoutFigure> parse_layers(std::string_view bones, const std::string& name,
                                  std::span<const CutoutLayer> pictures) {
    SINEW_TRY_LET(const json document, parse_json(bones, name));
    Result<CutoutFigure> figure = read_bones(document, name);
    if (!figure) return figure;
    const Pictures given = [&](const std::string& image, CutoutLayer& layer) -> Status {
        const auto found =
            std::find_if(pictures.begin(), pictures.end(), [&](const CutoutLayer& p) { return p.path == image; });
        if (found == pictures.end())
            return Error{ErrorCode::io, image + " is not among the pictures that were given"};
        SINEW_TRY(check_picture(*found));
        layer.path = found->path;
        layer.picture = found->picture;
        layer.png = found->png;
        return Done{};
    };
    SINEW_TRY(read_layers(document, name, given, *figure));
    return on_canvas(std::move(*figure), name);
}

Result<CutoutFigure> load_cutout(const std::filesystem::path& bones,
                                 const std::optional<std::filesystem::path>& picture, Context* context) {
    const std::string name = bones.string();
    SINEW_TRY_LET(const std::vector<std::byte> bytes, read_file(bones, context));
    SINEW_TRY_LET(const json document, parse_json(as_text(bytes), name, context));
    Result<CutoutFigure> figure = read_bones(document, name);
    if (!figure) return figure;

    if (picture) {
        if (document.contains("layers")) return layers_are_input(name);
        CutoutLayer layer;
        SINEW_TRY(read_picture(*picture, layer, context));
        layer.name = picture->stem().string();
        add_only_layer(*figure, std::move(layer));
    } else {
        const std::filesystem::path folder = bones.parent_path();
        const Pictures from_files = [&](const std::string& image, CutoutLayer& layer) {
            const std::filesystem::path path(image);
            return read_picture(path.is_absolute() ? path : folder / path, layer, context);
        };
        SINEW_TRY(read_layers(document, name, from_files, *figure));
    }
    return on_canvas(std::move(*figure), name);
}

}  // namespace sinew::io
