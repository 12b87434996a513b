// Reads foreign files in a process of its own: on invalid files the library that reads them may crash or never end.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "io/model_files.h"

namespace sinew::io {

/// What the process may use.
struct ReaderLimits {
    unsigned cpu_seconds = 0;
    std::size_t memory = 0;  ///< bytes beyond what it has when it begins to read
};

/// The result of foreign_bytes(bytes, name, files), from a process of its own. A crash, or more time than allowed,
/// is an ErrorCode::input that begins with `name`, more memory an ErrorCode::too_large; neither harms this process.
/// The other process ends with this one, and when the context is cancelled. Where there is no program of this
/// version to start (see serve_as_reader), the file is read in this process, without limits.
Result<std::vector<std::byte>> read_in_own_process(std::span<const std::byte> bytes, const std::string& name,
                                                   ModelFiles& files, const ReaderLimits& limits,
                                                   const Context* context = nullptr);

}  // namespace sinew::io
