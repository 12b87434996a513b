#include "core/try.h"
#include "io/foreign.h"

namespace sinew::io {

Result<std::shared_ptr<Document>> fbx_document(const FileBytes& bytes, const std::string& name,
                                               const std::shared_ptr<ModelFiles>& files, Context*) {
    SINEW_TRY_LET(ForeignScene scene, read_fbx(bytes, name, *files));
    return foreign_document(std::move(scene), name);
}

}  // namespace sinew::io
