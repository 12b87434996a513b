// sinew/cutout_files.h: files of flat figures. Reads bones JSON, writes glTF and skeleton JSON of Spine
// (docs/cutout.md).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinew/core.h"
#include "sinew/cutout.h"

namespace sinew::io {

/// Reads bones JSON (docs/cutout.md). With `picture` the figure has one layer, that picture, and the file must not
/// have "layers". Without it the file must have "layers", whose pictures are read relative to the file's folder.
/// Errors name the file and the entry. Context::memory_limit applies to the decoded pictures.
Result<CutoutFigure> load_cutout(const std::filesystem::path& bones,
                                 const std::optional<std::filesystem::path>& picture, Context* context = nullptr);

/// The same from text, with one decoded picture: `layer` has its name, path, picture and PNG file. `bones` must not
/// have "layers". `name` is used in messages.
Result<CutoutFigure> parse_cutout(std::string_view bones, const std::string& name, CutoutLayer layer);

/// The same for bones with "layers". `pictures`, in any order, have their path (the value of "image"), picture and
/// PNG file. A missing picture is an error (io); pictures that no layer names are ignored.
Result<CutoutFigure> parse_layers(std::string_view bones, const std::string& name,
                                  std::span<const CutoutLayer> pictures);

enum class AlphaMode { mask, blend };

struct CutoutGltfOptions {
    double pixels_per_unit = 100;  ///< pixels of the canvas per scene unit
    AlphaMode alpha_mode = AlphaMode::mask;
    float alpha_cutoff = 0.5f;  ///< of AlphaMode::mask
};

/// The figure as glTF: a node per joint, and per layer a node, a mesh, a skin of its joints, and an unlit material
/// with its picture embedded. The distance between layers is 1/1000 of the canvas's longest side; the first layer
/// is at z = 0, the others follow towards +z. The origin is the lower left corner of the canvas. `parts`: one per
/// layer, from cut_out. `glb`: binary glTF, else JSON with embedded buffers.
Result<std::vector<std::byte>> cutout_gltf(const CutoutFigure& figure, std::span<const CutoutPart> parts,
                                           const CutoutGltfOptions& options, bool glb);

/// The figure as skeleton JSON of Spine 4.1: bones along their segments below a root at the lower left corner of
/// the canvas, a slot per layer in draw order, and weighted mesh attachments. `folder`: the folder of the written
/// file, to which the paths of pictures are relative.
Result<std::string> cutout_spine(const CutoutFigure& figure, std::span<const CutoutPart> parts,
                                 const std::filesystem::path& folder);

}  // namespace sinew::io
