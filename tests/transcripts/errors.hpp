// SPDX-License-Identifier: MIT
// Results as text: errno names, or the driver's own positive number.
#pragma once

#include <string>

namespace transcripts {

/// "0", "22" or "EINVAL"; an errno without a name as its number, "-77".
std::string result_text(long result);
/// The number behind such a text.
long result_of(const std::string& text);

}  // namespace transcripts
