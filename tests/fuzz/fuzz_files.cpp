// Reads any bytes as one of the smaller files: skeleton, joint options, pose, edits, weights and figure JSON, and
// pictures as PNG and as pixels. The first byte chooses the reader, the rest is the file.

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "require.h"
#include "sinew/bind.h"
#include "sinew/cutout.h"
#include "sinew/cutout_files.h"
#include "sinew/io.h"

namespace {

using namespace sinew;

// One folder per process; the caller removes $TMPDIR.
const std::filesystem::path& folder() {
    static const std::filesystem::path made = [] {
        const auto at = std::filesystem::temp_directory_path() / ("sinew-fuzz-" + std::to_string(getpid()));
        std::filesystem::create_directories(at);
        return at;
    }();
    return made;
}

std::filesystem::path file(const char* name, std::span<const std::byte> bytes) {
    const auto path = folder() / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
}

// Two quads in a row on joints "hip" and "knee".
const io::Scene& scene() {
    static const io::Scene made = [] {
        Skeleton skeleton;
        skeleton.joints = {{"hip", -1, {0, 0, 0}, {}}, {"knee", 0, {1, 0, 0}, Vec3{2, 0, 0}}};
        auto out = io::make_scene({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}},
                                  {{0, 1, 4}, {0, 4, 3}, {1, 2, 5}, {1, 5, 4}}, skeleton, "quads");
        require(out.ok(), "the scene was refused");
        return std::move(*out);
    }();
    return made;
}

template <typename T>
bool read(const Result<T>& result) {
    if (!result) require_refusal(result.error());
    return result.ok();
}

void require_weights(const SkinWeights& weights, std::size_t joints) {
    for (std::size_t v = 0; v < weights.vertex_count(); ++v)
        if (const auto row = weights[v]; !row.empty()) require_row(row, joints, v);
}

void edit_list(std::span<const std::byte> bytes) {
    const auto adjustments = io::load_edits(scene(), file("edits.json", bytes));
    if (!read(adjustments)) return;
    const MeshView mesh{scene().positions, scene().triangles, {}};
    static const auto binding = bind(mesh, scene().skeleton, preset(Method::closest_distance));
    const BindOptions options = preset(Method::closest_distance);
    const auto edited =
        adjusted_weights(*binding, mesh, scene().skeleton, options.falloff, options.finish, *adjustments);
    if (read(edited)) require_weights(*edited, 2);
}

void outline(const RgbaImage& picture) {
    const auto mesh = outline_mesh(picture);
    if (!read(mesh)) return;
    require(!mesh->triangles.empty(), "an outline without triangles");
    for (const Triangle& t : mesh->triangles) {
        double area = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            require(t[k] < mesh->positions.size(), "a triangle of an outline past the last vertex");
            const Vec3 &a = mesh->positions[t[k]], &b = mesh->positions[t[(k + 1) % 3]];
            area += double{a.x} * b.y - double{b.x} * a.y;
        }
        require(area >= 0, "a triangle of an outline is turned");
    }
}

void pixels(std::span<const std::byte> bytes) {
    if (bytes.size() < 2) return;
    RgbaImage picture;
    picture.width = 1 + static_cast<int>(bytes[0]) % 64;
    bytes = bytes.subspan(1);
    picture.height =
        static_cast<int>(std::min<std::size_t>(bytes.size() / static_cast<std::size_t>(picture.width), 64));
    if (picture.height == 0) return;
    for (std::size_t p = 0; p < static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height);
         ++p)
        picture.rgba.insert(picture.rgba.end(), {0, 0, 0, static_cast<std::uint8_t>(bytes[p])});
    outline(picture);
    const auto png = encode_png(picture);
    if (!read(png)) return;
    const auto again = decode_png(*png, "picture");
    require(again.ok() && *again == picture, "a picture is read otherwise than it was written");
}

void figure(std::span<const std::byte> bytes) {
    static const auto picture = [] {
        RgbaImage square{8, 8, std::vector<std::uint8_t>(256, 255)};
        return file("square.png", *encode_png(square));
    }();
    const auto path = file("figure.json", bytes);
    if (const auto one = io::load_cutout(path, picture); read(one)) {
        const auto parts = cut_out(*one);
        if (read(parts))
            for (const CutoutPart& p : *parts) require_weights(p.weights, one->skeleton.joints.size());
    }
    read(io::load_cutout(path, {}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
    switch (data[0] % 8) {
        case 0: {
            const auto skeleton = io::load_skeleton(file("skeleton.json", bytes));
            if (read(skeleton)) read(check_skeleton(*skeleton));  // it also checks names that come later
            break;
        }
        case 1: {
            Skeleton skeleton = scene().skeleton;
            if (read(io::load_joint_options(file("options.json", bytes), skeleton))) read(check_skeleton(skeleton));
            break;
        }
        case 2: {
            const auto pose = io::load_pose(scene().skeleton, file("pose.json", bytes));
            if (read(pose)) require(pose->size() == 2, "a pose of another number of joints");
            break;
        }
        case 3:
            edit_list(bytes);
            break;
        case 4: {
            const auto weights = io::load_weights_json(scene().skeleton, 6, file("weights.json", bytes));
            if (read(weights)) require_weights(*weights, 2);
            break;
        }
        case 5:
            figure(bytes);
            break;
        case 6:
            if (const auto picture = decode_png(bytes, "picture"); read(picture)) outline(*picture);
            break;
        case 7:
            pixels(bytes);
            break;
        default:
            break;
    }
    return 0;
}
