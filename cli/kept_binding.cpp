#include "kept_binding.h"
#include "core/try.h"
#include "sinew/bind.h"

namespace sinew::cli {
namespace {

Error with_file(Error error, const std::string& path) {
    error.message = path + ": " + error.message;
    return error;
}

}  // namespace

Result<Binding> read_binding(const std::string& path, Context* context) {
    SINEW_TRY_LET(std::vector<std::byte> bytes, io::read_file(path, context));
    Result<Binding> binding = Binding::from_bytes(bytes);
    if (!binding) return with_file(binding.error(), path);
    keep_in_memory(bytes.size(), context);  // its tables lie in the file as they are
    return binding;
}

Result<Binding> rebind(const Binding& binding, io::Scene& scene, const std::string& path, Context* context) {
    Result<Binding> own = sinew::rebind(binding, scene.mesh(), scene.part_of_vertex, scene.skeleton, context);
    if (!own) {
        if (own.error().code == ErrorCode::cancelled) return own.error();
        return with_file(own.error(), path);
    }
    for (std::size_t j = 0; j < scene.skeleton.joints.size(); ++j) {
        scene.skeleton.joints[j].deform = own->skeleton().joints[j].deform;
        scene.skeleton.joints[j].reason = own->skeleton().joints[j].reason;
    }
    return own;
}

Status check_reuse(const CLI::App& command) {
    std::string given;
    for (const CLI::Option* option : command.get_options())
        if (option->count() > 0 && (option->get_group().starts_with("Method") || option->get_group() == "Joints") &&
            !option->check_name("--strict"))
            given += (given.empty() ? "" : ", ") + option->get_name();
    if (given.empty()) return Done{};
    return Error{ErrorCode::usage, "--reuse takes the distances of an earlier bind, but " + given +
                                       " needs new distances: remove it, or bind without --reuse"};
}

}  // namespace sinew::cli
