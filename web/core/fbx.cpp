// The module that reads FBX for the page: a file in, a glTF document out. Compressed arrays are decompressed by
// fflate, which whoever starts the module hands over as Module.inflate.
#include <emscripten.h>

#include <algorithm>
#include <new>

#include "core/try.h"
#include "fbx.h"
#include "io/foreign.h"
#include "io/formats.h"
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

/// Textures are looked for in /model. The answer lives until the next call.
extern "C" EMSCRIPTEN_KEEPALIVE const std::byte* sinew_fbx_read(const std::byte* bytes, std::size_t size,
                                                                const char* name, std::uint32_t* length) {
    using namespace sinew;
    static std::vector<std::byte> answer;
    const auto say = [&](std::uint8_t code, std::span<const std::byte> rest) {
        answer.assign(1, std::byte{code});
        answer.insert(answer.end(), rest.begin(), rest.end());
    };
    try {
        const auto read = [&]() -> Result<std::shared_ptr<io::Document>> {
            const auto files = std::make_shared<io::ModelFiles>("/model", nullptr);
            SINEW_TRY(files->add_file(size, name));
            return io::fbx_document({bytes, size}, name, files, nullptr);
        };
        if (const auto document = read())
            say(sinew_web::kFbxRead, io::packed(**document));
        else
            say(static_cast<std::uint8_t>(document.error().code),
                std::as_bytes(std::span(document.error().message)));
    } catch (const std::bad_alloc&) {
        answer = {};
    }
    *length = static_cast<std::uint32_t>(answer.size());
    return answer.data();
}
