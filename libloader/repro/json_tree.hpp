// SPDX-License-Identifier: MIT
// A JSON document whose parts can be left out. Numbers stay the text they were, and keys that occur
// twice do so again: both may be what a load stumbles over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "neffld/bytes.hpp"

namespace neffld {

/// A value with the key it has in its object. An aggregate's text is empty.
struct JsonPart {
  enum class Kind : std::uint8_t { bare, text, object, array };
  Kind kind = Kind::bare;  ///< bare: a number, true, false or null as it is written
  bool kept = true;        ///< written; parts below one that is not kept are not written either
  std::string key;
  std::string text;
  std::vector<JsonPart> parts;
};

/// Nothing for what is no JSON, nested more than 200 levels deep, or of more than 2 million values.
std::optional<JsonPart> parse_json_parts(Bytes text);

/// The parts that are kept, without white space.
std::vector<std::uint8_t> json_text(const JsonPart& root);

/// What is kept `depth` levels below `root`, in document order.
std::vector<JsonPart*> parts_at(JsonPart& root, unsigned depth);

}  // namespace neffld
