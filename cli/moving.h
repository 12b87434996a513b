// Weights of one file for the mesh of another: for `sinew transfer` and `sinew clean`.
#pragma once

#include <optional>

#include "command.h"
#include "sinew/transfer.h"

namespace sinew::cli {

/// The character whose weights are taken, and the file that gets them.
struct MovingScenes {
    io::Scene source;
    std::optional<io::Scene> other;  ///< none: the source
    const io::Scene& target() const { return other ? *other : source; }
};
/// Reads both; `target` is empty if they are one file. A target without a skin takes the skeleton of the source.
/// `purpose`: what is done to the weights, for the error if there are none. No output may replace a file that one
/// of them refers to; the first output is the target with new weights.
Result<MovingScenes> load_moving(const std::string& source, const std::string& target, const std::string& purpose,
                                 const MachineOptions& machine, std::span<const NamedFile> outputs,
                                 Context* context);

/// Weights of the source's mesh for the mesh of the target, on its joints, which are matched by name.
Result<Transfer> transfer_to(const io::Scene& target, const std::string& target_name, const io::Scene& source,
                             const std::string& source_name, const SkinWeights& weights, TransferOptions options,
                             Context* context);

}  // namespace sinew::cli
