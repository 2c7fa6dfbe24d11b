// SPDX-License-Identifier: MIT
#include "manifest/printable.hpp"

#include "neffld/text.hpp"

namespace neffld {

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 120;
  if (text.size() <= longest) return one_line(text);
  std::size_t end = longest;
  while (end != 0 && (text[end] & 0xC0) == 0x80) --end;  // no half of a UTF-8 sequence
  return one_line(text.substr(0, end)) + "...";
}

}  // namespace neffld
