// Bindings in files: --save-binding, --reuse and --binding.
#pragma once

#include "command.h"
#include "sinew/bind.h"
#include "sinew/io.h"

namespace sinew::cli {

/// Reads a binding; errors begin with the file's name.
Result<Binding> read_binding(const std::string& path);

/// The binding of a scene's mesh from that of the same or another mesh on its skeleton. Which joints deform is then
/// what the binding says, and the scene's skeleton is marked so. `path` is for messages.
Result<Binding> rebind(const Binding& binding, io::Scene& scene, const std::string& path, Context* context);

/// That no option is given that would need a bind anew: those of the groups "Method" and "Joints".
Status check_reuse(const CLI::App& command);

}  // namespace sinew::cli
