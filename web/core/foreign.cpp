// Files that are not glTF, in the module of the core. FBX is rare and its reader large: a module of its own has it
// (fbx.cpp), which whoever starts this one hands over as Module.fbx before such a file is opened.
#include <emscripten.h>

#include <algorithm>
#include <cstdlib>

#include "fbx.h"
#include "io/foreign.h"
#include "io/formats.h"
#include "io/reader_process.h"

// clang-format off
/// The answer, from malloc; null: there is no reader, or no memory.
EM_JS(uint8_t*, sinew_fbx, (const void* from, size_t size, const char* name, uint32_t* length), {
    const read = Module['fbx'];
    if (!read) return 0;
    const answer = read(HEAPU8.slice(from, from + size), UTF8ToString(name));
    const at = answer.length && _malloc(answer.length);
    if (at) HEAPU8.set(answer, at);
    HEAPU32[length >> 2] = answer.length;
    return at;
})
EM_JS(int, sinew_has_fbx, (), { return Module['fbx'] ? 1 : 0; })
// clang-format on

namespace sinew::io {

Result<std::shared_ptr<Document>> fbx_document(std::span<const std::byte> bytes, const std::string& name,
                                               const std::shared_ptr<ModelFiles>&, Context* context) {
    if (!sinew_has_fbx()) return input_error(name, "the reader of FBX is not there");
    std::uint32_t length = 0;
    const std::unique_ptr<std::uint8_t, decltype(&std::free)> answer(
        sinew_fbx(bytes.data(), bytes.size(), name.c_str(), &length), &std::free);
    if (!answer) return Error{ErrorCode::too_large, name + ": there is not enough memory to read it"};
    const std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(answer.get()) + 1, length - 1);
    if (*answer != sinew_web::kFbxRead) return Error{static_cast<ErrorCode>(*answer), std::string(as_text(rest))};
    return unpacked(rest, name, context);
}

Result<std::vector<std::byte>> read_in_own_process(std::span<const std::byte>, const std::string& name, ModelFiles&,
                                                   const ReaderLimits&, const Context*) {
    return input_error(name, "this format is not read here (export the model as .glb or .fbx)");
}

}  // namespace sinew::io
