// SPDX-License-Identifier: MIT
// Text from a file made safe for one line of a message.
#pragma once

#include <string>
#include <string_view>

namespace neffld {

/// `text` with control characters and quotes escaped and long text cut ("..."), so that a hostile
/// name can neither break a line of output nor fill it.
std::string printable(std::string_view text);

}  // namespace neffld
