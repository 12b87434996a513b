// Edits, for the subcommands that accept them.
#pragma once

#include "command.h"
#include "sinew/edits.h"
#include "sinew/io.h"

namespace sinew::cli {

struct EditOptions {
    std::string file;                ///< --edits
    std::vector<std::string> locks;  ///< --lock
    bool only_missing = false;       ///< --only-missing
    bool strict = false;             ///< --strict: a lock that matches no joint is an error
};

/// --edits FILE, and with `keep` also --lock and --only-missing.
void add_edit_options(CLI::App& command, EditOptions& options, bool keep);

/// Reads the file, adds the locks of the options, finds mirror planes. Locks keep scene.weights, which must
/// outlive the result; an error if the scene has no weights. Falloffs that depend on the pose are evaluated at
/// `transforms` (empty: the bind pose).
Result<Adjustments> read_edits(const io::Scene& scene, const EditOptions& options, Context* context,
                               std::span<const Transform> transforms = {});

}  // namespace sinew::cli
