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
    bool placed = false;               ///< the output was stated
    /// All files of its processes, also those that its options and those after -- name. Set by the batch.
    std::vector<NamedFile> reads, writes;

    /// The words of `sinew bind` for it, without those that the batch adds.
    std::vector<std::string> bind_words() const;
};

struct BatchList {
    std::vector<BatchItem> items;
    std::vector<std::string> left_out;  ///< OBJ files in folders: they hold no skeleton
};

/// Reads the inputs in their order. An input is a model; a folder, whose models are taken with those of its
/// folders; a list of models (.txt, one on each line); or a manifest (.jsonl, docs/batch.md). Outputs lie in
/// `folder`, with the path that the input has in its folder. A missing file, a folder that cannot be read and an
/// unknown key are errors that name the place.
Result<BatchList> read_batch(const std::vector<std::string>& inputs, const std::string& folder);

/// Keeps apart what the results bring along: two .gltf of different folders may refer to different files by one
/// name. Then each gets a folder of its own in `folder`, unless its place was stated, which is an error. Returns a
/// message about what was moved, or nothing.
Result<std::string> keep_companions_apart(std::vector<BatchItem>& items, const std::string& folder);

/// No file that is written may be another one that is written, or that any item reads; otherwise an error. Paths
/// are compared without links. `own`: other files that the batch writes.
Status keep_apart(const std::vector<BatchItem>& items, std::span<const NamedFile> own);

}  // namespace sinew::cli
