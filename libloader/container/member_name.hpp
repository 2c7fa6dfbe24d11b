// SPDX-License-Identifier: MIT
// Rules for member names, shared by the reader, the writer and the unpacker.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace neffld {

/// `name` for a message: control and non-ASCII bytes as \xNN, long names shortened.
std::string printable_name(std::string_view name);

/// Why an archive may not hold a member of this name, or nothing. `name` is as the loader looks it
/// up, "./" already removed. The rules keep every reader of the archive and every tool that
/// unpacks it at the same list of files.
std::optional<std::string> name_problem(std::string_view name);

/// Why an otherwise legal name cannot become a file under a folder ("a//b", "a/./b"), or nothing.
std::optional<std::string> unpack_problem(std::string_view name);

}  // namespace neffld
