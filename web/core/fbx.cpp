// The module that reads and writes FBX for the page (fbx.h). Compressed arrays are decompressed by fflate, which
// whoever starts the module hands over as Module.inflate.
#include <emscripten.h>

#include <algorithm>
#include <new>

#include "core/try.h"
#include "fbx.h"
#include "io/fbx_write.h"
#include "io/foreign.h"
#include "io/formats.h"
#include "io/gltf_nodes.h"
#include "io/inflate.h"

// clang-format off
EM_JS(int, sinew_inflate, (const void* from, size_t size, void* to, size_t length), {
    try {
        const made = Module['inflate'](HEAPU8.subarray(from, from + size));
        if (made.length !== length) return 0;
        HEAPU8.set(made, to);
        return 1;
    } catch (error) {
        return 0;
    }
})
// clang-format on

namespace sinew::io {

Status inflate(std::span<const std::byte> stream, std::span<std::byte> to) {
    if (sinew_inflate(stream.data(), stream.size(), to.data(), to.size())) return Done{};
    return Error{ErrorCode::input,
                 "its compressed bytes are damaged, or are not those of " + std::to_string(to.size()) + " bytes"};
}

}  // namespace sinew::io

namespace {

using namespace sinew;
using Bytes = std::vector<std::byte>;

Result<Bytes> run(sinew_web::FbxTask task, std::span<const std::byte> bytes, std::span<const std::byte> more,
                  const std::string& name) {
    const auto files = std::make_shared<io::ModelFiles>("/model", nullptr);
    SINEW_TRY(files->add_file(bytes.size(), name));
    if (task == sinew_web::FbxTask::make) {
        SINEW_TRY_LET(const auto file, io::make_fbx(bytes, name, files, static_cast<io::FbxUnit>(more[0])));
        return io::packed(file);
    }
    SINEW_TRY_LET(const auto document, io::fbx_document(bytes, name, files, nullptr));
    if (task == sinew_web::FbxTask::read) return io::packed(*document);
    SINEW_TRY(io::read_nodes(*document));
    SINEW_TRY_LET(const auto file, io::change_fbx(*document, io::unpacked_rows(more)));
    return io::packed(file);
}

}  // namespace

/// Textures are looked for in /model. The answer lives until the next call.
extern "C" EMSCRIPTEN_KEEPALIVE const std::byte* sinew_fbx(int task, const std::byte* bytes, std::size_t size,
                                                           const std::byte* more, std::size_t more_size,
                                                           const char* name, std::uint32_t* length) {
    static Bytes answer;
    try {
        const Result<Bytes> made =
            run(static_cast<sinew_web::FbxTask>(task), {bytes, size}, {more, more_size}, name);
        const auto rest = made ? std::span<const std::byte>(*made) : std::as_bytes(std::span(made.error().message));
        answer.assign(1, std::byte{made ? sinew_web::kFbxDone : static_cast<std::uint8_t>(made.error().code)});
        answer.insert(answer.end(), rest.begin(), rest.end());
    } catch (const std::bad_alloc&) {
        answer = {};
    }
    *length = static_cast<std::uint32_t>(answer.size());
    return answer.data();
}
