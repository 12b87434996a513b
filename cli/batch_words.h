// The options of a batch that are words for other commands, and which characters of the list it takes.
#pragma once

#include <string>
#include <vector>

#include "batch_run.h"
#include "command.h"

namespace sinew::cli {

/// The files that words of a command name.
struct WordFiles {
    std::vector<NamedFile> reads, writes;
};

/// The output is no option after --.
Status check_output_words(const BatchArguments& args);

/// Options after -- that name a file to write: each character would write it.
Status check_shared_files(const WordFiles& shared, std::size_t count);

/// Reads options and gates of all items, before any work: a misspelled one would fail every character. Sets the
/// files that the items read and write, without those that all would write, which it returns.
Result<WordFiles> read_words(const BatchArguments& args, std::vector<BatchItem>& items);

/// Numbers of the list by --only ("7" or "7-9", from 1) and --shard ("3/16": of 16 parts the third), in their
/// order.
Result<std::vector<std::size_t>> chosen_items(const BatchArguments& args, std::size_t count);

/// One command for each of these items, for queue managers. Each works on the item of that number alone, with the
/// other options of the batch.
void print_commands(const CLI::App& command, const BatchArguments& args, const std::vector<std::size_t>& chosen);

}  // namespace sinew::cli
