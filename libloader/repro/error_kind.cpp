// SPDX-License-Identifier: MIT
#include "error_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace neffld {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Decimal, 0x hexadecimal, or bare hexadecimal as sizes and hashes have it.
bool is_number(std::string_view word) {
  if (word.starts_with("0x")) return std::ranges::all_of(word.substr(2), is_hex);
  return std::ranges::all_of(word, is_hex) && std::ranges::any_of(word, is_digit);
}

/// Whether a number behind this word says where something is: "slot 7", "after 512 bytes".
bool tells_position(std::string_view word) {
  return word == "after" || word == "byte" || word == "record" || word == "slot";
}

/// End of the quoted name or of the word at `begin`.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  if (text[begin] == '\'' || text[begin] == '"') {
    const std::size_t quote = text.find(text[begin], begin + 1);
    if (quote != std::string_view::npos) return quote + 1;
  }
  std::size_t end = begin;
  while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
  return std::max(end, begin + 1);
}

/// The text with "#" for positions, and for other numbers from the one with index `first` on.
std::string without_numbers(std::string_view text, unsigned first) {
  std::string kind;
  unsigned numbers = 0;
  bool position = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_word(text, at);
    const std::string_view word = text.substr(at, end - at);
    const bool replace = is_number(word) && (position || numbers++ >= first);
    kind += replace ? std::string_view("#") : word;
    if (word != " ") position = tells_position(word);
    at = end;
  }
  return kind;
}

/// "$.dma[12].desc[0].to_off" as "$.dma[#].desc[#].to_off"; a key in brackets is quoted and stays.
std::string without_indexes(std::string_view path) {
  std::string kind;
  for (std::size_t at = 0; at < path.size(); ++at) {
    kind += path[at];
    if (path[at] != '[') continue;
    const std::size_t end = path.find_first_not_of("0123456789", at + 1);
    if (end == std::string_view::npos || end == at + 1 || path[end] != ']') continue;
    kind += '#';
    at = end - 1;
  }
  return kind;
}

}  // namespace

std::string error_kind(const Error& error) {
  const bool amounts =
      error.error_class == ErrorClass::resource || error.error_class == ErrorClass::device;
  return fmt::format(
      "{} {} {}\n{}\n{}{}\n{}", status_name(error.status), static_cast<int>(error.error_class),
      error.where.member, without_indexes(error.where.path), error.where.record ? "record" : "",
      error.where.offset ? "offset" : "", without_numbers(error.text, amounts ? 0 : 1));
}

ErrorTest wanted_error(const Error& shown, const std::string& wanted) {
  if (wanted.empty()) {
    return [kind = error_kind(shown)](const Error& error) { return error_kind(error) == kind; };
  }
  if (wanted.starts_with("NRT_")) {
    return [wanted](const Error& error) { return status_name(error.status) == wanted; };
  }
  return [wanted, status = shown.status, error_class = shown.error_class](const Error& error) {
    return error.status == status && error.error_class == error_class &&
           to_sentence(error).find(wanted) != std::string::npos;
  };
}

}  // namespace neffld
