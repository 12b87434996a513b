// Bindings in files: --save-binding, --reuse and --binding.
#pragma once

#include "command.h"
#include "sinew/binding.h"
#include "sinew/io.h"

namespace sinew::cli {

/// Reads a binding, with keep_in_memory; errors begin with the file's name.
Result<Binding> read_binding(const std::string& path, Context* context);

/// A binding of the scene's mesh from a binding of the same or another mesh on its skeleton. The binding also
/// determines which joints deform; the scene's skeleton is marked accordingly. `path` is for messages.
Result<Binding> rebind(const Binding& binding, io::Scene& scene, const std::string& path, Context* context);

/// Refuses options that need a new bind: the groups "Method" and "Joints".
Status check_reuse(const CLI::App& command);

}  // namespace sinew::cli
