// Saves a document with new weights: its JSON text and its bytes stay, only skin weights are replaced.
//
//   - Nothing is renumbered. Accessors and bufferViews that only the old weights used are used again. Further ones
//     are appended, so no unused object is left behind.
//   - Bytes of free views are used again too, and are cut off at the end of the buffer: binding a file that sinew
//     wrote does not make it grow.
//   - A primitive with more sets than it needs keeps them, with zeros, unless the objects that become free are the
//     last of their lists and can be cut off. So weights of 8 joints that are bound again with 4 leave an empty
//     second set in a foreign file (the alternative is an unused accessor), and none in a file of sinew.
#include "io/gltf_save.h"
#include "core/try.h"

namespace sinew::io {

Result<SavedFile> write_document(const Document& document, const Scene& scene, const SkinWeights& weights,
                                 const SaveOptions& options, bool glb, bool fresh) {
    using namespace gltf_save;
    const Request request{document, scene, weights, options, glb, fresh};
    Plan plan;
    SINEW_TRY(check(request));
    plan_blocks(request, plan);
    plan_matrices(request, plan);
    SINEW_TRY(add_draco_data(request, plan));
    find_free_slots(request, plan);
    SINEW_TRY(add_clip_data(request, plan));
    choose_sets(request, plan);
    choose_buffer(request, plan);
    SINEW_TRY(add_weight_data(request, plan));
    SINEW_TRY(add_moved_shapes(request, plan));
    SINEW_TRY(add_bind_matrices(request, plan));
    assign_slots(request, plan);
    store_bytes(request, plan);
    SINEW_TRY_LET(SavedFile file, write_json(request, plan));
    file.refers_to = external_uris(document, glb);
    return pack(std::move(file), request);
}

std::vector<std::string> external_uris(const Document& document, bool glb) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < document.count("buffers"); ++i)
        if (document.buffers[i].origin == Document::Origin::external && !(glb && !document.glb && i == 0))
            out.push_back(string_of(member(*document.at("buffers", i), "uri")));
    for (std::size_t i = 0; i < document.count("images"); ++i)
        if (const std::string uri = string_of(member(*document.at("images", i), "uri"));
            !uri.empty() && !uri.starts_with("data:"))
            out.push_back(uri);
    return out;
}

}  // namespace sinew::io
