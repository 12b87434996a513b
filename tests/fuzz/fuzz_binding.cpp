// Reads any bytes as a kept binding. An accepted binding must give weights, write the same bytes, and bind another
// mesh, or fail with a reason. The checksum is made valid first, because an attacker can do the same.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/hash.h"
#include "require.h"
#include "sinew/bind.h"

namespace {

using namespace sinew;

// A box around a skeleton of two joints, as in the seeds, moved by `at`.
struct Box {
    std::vector<Vec3> positions;
    std::vector<Triangle> triangles;
    std::vector<std::uint32_t> skin;
    Skeleton skeleton;

    explicit Box(float at) {
        for (int i = 0; i < 8; ++i)
            positions.push_back({at + (i & 1 ? 1.0f : -1.0f), i & 2 ? 0.2f : -0.2f, i & 4 ? 0.2f : -0.2f});
        for (const Triangle& t : std::initializer_list<Triangle>{{0, 2, 1},
                                                                 {1, 2, 3},
                                                                 {4, 5, 6},
                                                                 {5, 7, 6},
                                                                 {0, 1, 4},
                                                                 {1, 5, 4},
                                                                 {2, 6, 3},
                                                                 {3, 6, 7},
                                                                 {0, 4, 2},
                                                                 {2, 4, 6},
                                                                 {1, 3, 5},
                                                                 {3, 7, 5}})
            triangles.push_back(t);
        skin = {0, 0, 0, 0, 0, 0, 0, 1};
        skeleton.joints = {{"a", -1, {-0.9f, 0, 0}, {}}, {"b", 0, {0, 0, 0}, {}}, {"c", 1, {0.5f, 0, 0}, {}}};
        skeleton.skins = {{0, 1, 2}, {1, 2}};
    }
    MeshView mesh() const { return {positions, triangles, skin}; }
};

void write_seeds(const std::string& folder) {
    const Box box(0);
    for (int kind = 0; kind < 4; ++kind) {
        BindOptions options = preset(kind == 3 ? Method::connectivity : Method::geodesic_voxel);
        options.voxels.resolution = 32;
        options.keep_volume = kind < 2;
        if (kind == 1) options.finish.max_influences = all_influences;
        const auto binding = bind(box.mesh(), box.skeleton, options);
        require(binding.ok(), "a seed was refused");
        const std::vector<std::byte> bytes = binding->to_bytes();
        std::ofstream(folder + "/" + std::to_string(kind) + ".binding", std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
}

// The bytes without the section of options, which may be spelled differently or be missing in the input, while the
// writer spells all of them. Sections start at byte 12, each with a name of 4 bytes and a size of 8
// (docs/binding.md).
std::vector<std::byte> without_options(std::vector<std::byte> bytes) {
    std::size_t at = 12;
    while (at + 12 <= bytes.size()) {
        std::uint64_t size = 0;
        std::memcpy(&size, bytes.data() + at + 4, 8);
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        if (std::memcmp(bytes.data() + at, "opts", 4) == 0) {
            bytes.erase(begin, begin + 12 + static_cast<std::ptrdiff_t>(size));
            break;
        }
        at += 12 + size;
    }
    bytes.resize(bytes.size() - 8);  // the checksum
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    if (const char* folder = std::getenv("SINEW_SEEDS")) write_seeds(folder);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> bytes(size);
    if (size > 0) std::memcpy(bytes.data(), data, size);
    if (size >= 8) {
        const std::uint64_t sum = hash_bytes(std::span(bytes).first(size - 8));
        std::memcpy(bytes.data() + size - 8, &sum, 8);
    }
    const auto binding = Binding::from_bytes(bytes);
    if (!binding) return require_refusal(binding.error()), 0;
    const std::vector<std::byte> written = binding->to_bytes();
    require(without_options(written) == without_options(bytes), "a binding is written otherwise than it was read");
    const auto reread = Binding::from_bytes(written);
    require(reread.ok() && reread->to_bytes() == written, "options are written otherwise than they were read");
    const auto check_weights = [](const Binding& b) {
        const auto weights = b.weights();
        if (!weights) return require_refusal(weights.error());
        require(weights->vertex_count() == b.coverage().size(), "weights have another vertex count");
        for (std::size_t v = 0; v < weights->vertex_count(); ++v)
            if (const auto row = (*weights)[v]; !row.empty()) require_row(row, b.skeleton().joints.size(), v);
    };
    check_weights(*binding);
    const Box box(0.05f);
    const auto again = binding->rebind(box.mesh(), box.skeleton);
    if (!again) return require_refusal(again.error()), 0;
    check_weights(*again);
    return 0;
}
