// SPDX-License-Identifier: MIT
// Names come from files: these make them safe to print.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace neffld {

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// `text` for one line of a terminal: valid UTF-8; control characters (C0, C1), separators of lines
/// and paragraphs, characters of no width and the marks that change the direction of text come out
/// as \xNN or \u{NNNN}.
std::string one_line(std::string_view text);

/// "512 B", "1.5 KiB", "20.0 GiB".
std::string human_bytes(std::uint64_t bytes);

}  // namespace neffld
