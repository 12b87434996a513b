// Weights of one file for the mesh of another: for `sinew transfer` and `sinew clean`.
#pragma once

#include "command.h"
#include "sinew/transfer.h"

namespace sinew::cli {

/// Reads the file that gets the weights. Without a skin it takes the skeleton of the source.
Result<io::Scene> load_target(const std::string& path, const io::Scene& source, io::LoadOptions options,
                              Context* context);

/// Weights of the source's mesh for the mesh of the target, on its joints, which are matched by name.
Result<Transfer> transfer_to(const io::Scene& target, const std::string& target_name, const io::Scene& source,
                             const std::string& source_name, const SkinWeights& weights, TransferOptions options,
                             Context* context);

}  // namespace sinew::cli
