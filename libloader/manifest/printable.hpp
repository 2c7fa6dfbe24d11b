// SPDX-License-Identifier: MIT
// Text from a file made safe for one line of a message.
#pragma once

#include <string>
#include <string_view>

namespace neffld {

/// one_line() of `text`, which is cut if it is long ("..."), so that a hostile name can neither
/// break a line of output nor fill it.
std::string printable(std::string_view text);

}  // namespace neffld
