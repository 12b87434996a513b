// What a batch binds: characters from folders, lists and manifests.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "sinew/core.h"

namespace sinew::cli {

/// One character.
struct BatchItem {
    std::string input, output;
    std::string skeleton, edits;       ///< files; empty: none
    std::string reference;             ///< compared with the result; empty: none
    std::vector<std::string> options;  ///< of sinew bind, as words of the command line
    std::vector<std::string> gates;    ///< of sinew compare
    std::string check;                 ///< "default" or a profile of sinew check; empty: no check
    std::string place;                 ///< where its options stand, for messages: "night.jsonl line 3"

    /// The words of `sinew bind` for it, without those that the batch adds.
    std::vector<std::string> bind_words() const;
};

struct BatchList {
    std::vector<BatchItem> items;
    std::vector<std::string> left_out;  ///< OBJ files in folders: they hold no skeleton
};

/// Options of bind that name a file to write.
inline constexpr std::array<std::string_view, 3> kFileOptions{"--report", "--save-binding", "--weights-json"};

/// Reads the inputs in their order. An input is a model; a folder, whose models are taken with those of its
/// folders; a list of models (.txt, one on each line); or a manifest (.jsonl, docs/batch.md). Outputs lie in
/// `folder`, with the path that the input has in its folder. Two items with one output, an output that would
/// replace a file that an item needs, a missing file and an unknown key are errors that name the place.
/// `own`: other files that the batch writes, as NamedFile of command.h.
Result<BatchList> read_batch(const std::vector<std::string>& inputs, const std::string& folder,
                             std::span<const NamedFile> own);

}  // namespace sinew::cli
