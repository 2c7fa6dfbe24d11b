// SPDX-License-Identifier: MIT
// Names in UTF-8 as readers of archives see them: some convert names, and normalise them on the
// way.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace neffld {

/// "is not UTF-8 ..." with the offset of the first wrong byte, or nothing.
std::optional<std::string> utf8_problem(std::string_view text);

/// What keeps a UTF-8 text from being the same in every normal form of composition: a character
/// outside the scripts whose characters are never joined or reordered. Nothing if there is none.
std::optional<std::string> joining_problem(std::string_view utf8);

}  // namespace neffld
