// Loads an FBX as a scene and, alternately, reads the file with its records and inflates their arrays; `ratio` is
// that of the medians. Both use one thread. The file is a generated character with normals and uvs: 50 MB of
// arrays, which are compressed here as Blender and Maya do.
#include <benchmark/benchmark.h>
#include <zlib.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>

#include "characters/characters.h"
#include "io/fbx_records.h"
#include "io/formats.h"
#include "io/gltf_scene.h"
#include "io/model_files.h"
#include "sinew/bind.h"
#include "timing.h"

namespace {

using namespace sinew;
using bench::median, bench::seconds_of;
using Bytes = std::vector<std::byte>;

Bytes read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    Bytes bytes(std::filesystem::file_size(path));
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

// Compresses the arrays of all records below one: type, count, encoding, length (4 bytes each), elements.
void compress_below(io::FbxRecord& record, std::deque<Bytes>& made) {
    for (io::FbxRecord& below : record.records) {
        compress_below(below, made);
        if (below.values.size() != 1 || !below.values[0].is_array()) continue;
        const auto elements = below.head.subspan(13);
        if (elements.size() <= 128) continue;
        Bytes& out = made.emplace_back(13 + compressBound(elements.size()));
        uLongf length = out.size() - 13;
        compress2(reinterpret_cast<Bytef*>(&out[13]), &length, reinterpret_cast<const Bytef*>(elements.data()),
                  elements.size(), 1);
        out.resize(13 + length);
        std::memcpy(out.data(), below.head.data(), 5);
        const std::uint32_t ends[] = {1, static_cast<std::uint32_t>(length)};
        std::memcpy(&out[5], ends, sizeof ends);
        below.head = out;
    }
}

// Writes the character. Returns its vertices.
Result<std::size_t> write_character(const std::filesystem::path& path) {
    const test::Character c = test::biped({.cell = 0.005});
    io::MeshLook look;
    for (const Vec3& p : c.positions) look.uvs.push_back({p.x, p.y});
    auto document = io::mesh_document(c.positions, c.triangles, c.name, look);
    if (!document) return document.error();
    const auto scene = io::read_scene(*document, {c.skeleton});
    if (!scene) return scene.error();
    const auto binding = bind(scene->mesh(), scene->skeleton, preset(Method::closest_distance));
    if (!binding) return binding.error();
    if (const auto saved = io::save(*scene, *binding->weights(), path); !saved) return saved.error();
    const Bytes bytes = read(path);
    io::ModelFiles files;
    auto file = io::FbxFile::parse(bytes, c.name, files);
    if (!file) return file.error();
    std::deque<Bytes> made;
    compress_below(file->root(), made);
    const Bytes out = file->bytes();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size()));
    return scene->positions.size();
}

// Inflates the arrays of all records below one. Returns the bytes of their elements.
std::size_t inflate_below(const io::FbxFile& file, const io::FbxRecord& record) {
    std::size_t bytes = 0;
    for (const io::FbxValue& value : record.values) {
        if (value.type == 'd') bytes += 8 * file.reals(record)->size();
        if (value.type == 'i') bytes += 4 * file.indices(record)->size();
    }
    for (const io::FbxRecord& below : record.records) bytes += inflate_below(file, below);
    return bytes;
}

void BM_load_fbx(benchmark::State& state) {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / "sinew-bench.fbx";
    const Result<std::size_t> vertices = write_character(path);
    if (!vertices) return state.SkipWithError(vertices.error().message.c_str());
    std::vector<double> loading, reading;
    std::size_t inflated = 0;
    bool whole = true;
    for ([[maybe_unused]] auto _ : state) {
        loading.push_back(seconds_of([&] {
            const Result<io::Scene> scene = io::load(path);
            whole = whole && scene && scene->positions.size() == *vertices && scene->weights;
        }));
        reading.push_back(seconds_of([&] {
            const Bytes bytes = read(path);
            io::ModelFiles files;
            const Result<io::FbxFile> file = io::FbxFile::parse(bytes, "hero.fbx", files);
            inflated = inflate_below(*file, file->root());
        }));
        state.SetIterationTime(loading.back());
    }
    state.counters["bytes"] = static_cast<double>(std::filesystem::file_size(path));
    std::filesystem::remove(path);
    if (!whole) return state.SkipWithError("CHECK FAILED: not all of the character was loaded");
    state.counters["inflated"] = static_cast<double>(inflated);
    state.counters["read_ms"] = 1000 * median(reading);
    state.counters["ratio"] = median(loading) / median(reading);
}
BENCHMARK(BM_load_fbx)->Iterations(11)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
