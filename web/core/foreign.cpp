// Files that are not glTF, in the module of the core. FBX is rare and its code large: a module of its own has it
// (fbx.cpp), which whoever starts this one hands over as Module.fbx before such a file is opened or saved.
#include <emscripten.h>

#include <algorithm>
#include <cstdlib>

#include "fbx.h"
#include "io/fbx_write.h"
#include "io/foreign.h"
#include "io/formats.h"
#include "io/reader_process.h"

// clang-format off
/// The answer, from malloc; null: there is no memory.
EM_JS(uint8_t*, sinew_fbx, (int task, const void* from, size_t size, const void* more, size_t more_size, const char* name,
                            uint32_t* length), {
    const answer = Module['fbx'](task, HEAPU8.slice(from, from + size), HEAPU8.slice(more, more + more_size), UTF8ToString(name));
    const at = answer.length && _malloc(answer.length);
    if (at) HEAPU8.set(answer, at);
    HEAPU32[length >> 2] = answer.length;
    return at;
})
EM_JS(int, sinew_has_fbx, (), { return Module['fbx'] ? 1 : 0; })
// clang-format on

namespace sinew::io {

namespace {

/// Calls use(answer) with what the module of FBX made.
template <typename Use>
auto ask(sinew_web::FbxTask task, std::span<const std::byte> bytes, std::span<const std::byte> more,
         const std::string& name, const Use& use) -> decltype(use(bytes)) {
    if (!sinew_has_fbx()) return input_error(name, "the reader of FBX is not there");
    std::uint32_t length = 0;
    const std::unique_ptr<std::uint8_t, decltype(&std::free)> answer(
        sinew_fbx(static_cast<int>(task), bytes.data(), bytes.size(), more.data(), more.size(), name.c_str(),
                  &length),
        &std::free);
    if (!answer) return Error{ErrorCode::too_large, name + ": there is not enough memory for its FBX"};
    const std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(answer.get()) + 1, length - 1);
    if (*answer != sinew_web::kFbxDone) return Error{static_cast<ErrorCode>(*answer), std::string(as_text(rest))};
    return use(rest);
}

Result<SavedFile> ask_for_file(sinew_web::FbxTask task, std::span<const std::byte> bytes,
                               std::span<const std::byte> more, const std::string& name) {
    return ask(task, bytes, more, name, [](auto answer) -> Result<SavedFile> { return unpacked_file(answer); });
}

}  // namespace

Result<std::shared_ptr<Document>> fbx_document(const FileBytes& bytes, const std::string& name,
                                               const std::shared_ptr<ModelFiles>&, Context* context) {
    return ask(sinew_web::FbxTask::read, bytes.bytes, {}, name, [&](auto answer) {
        auto document = unpacked(answer, name, context);
        if (document) {
            // The other module finds the rest again when it changes the file.
            (*document)->fbx = std::make_shared<FbxOrigin>();
            (*document)->fbx->bytes = bytes.kept();
        }
        return document;
    });
}

Result<SavedFile> make_fbx(std::span<const std::byte> glb, const std::string& name,
                           const std::shared_ptr<ModelFiles>&, FbxUnit unit) {
    return ask_for_file(sinew_web::FbxTask::make, glb, std::as_bytes(std::span(&unit, 1)), name);
}

Result<SavedFile> change_fbx(const Document& document, const FbxRows& rows) {
    return ask_for_file(sinew_web::FbxTask::change, *document.fbx->bytes, packed(rows), document.name);
}

Result<std::vector<std::byte>> read_in_own_process(std::span<const std::byte>, const std::string& name, ModelFiles&,
                                                   const ReaderLimits&, const Context*) {
    return input_error(name, "this format is not read here (export the model as .glb or .fbx)");
}

}  // namespace sinew::io
