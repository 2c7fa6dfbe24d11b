// SPDX-License-Identifier: MIT
#include "shrink_member.hpp"

#include <algorithm>
#include <utility>

#include "json_tree.hpp"
#include "npy/npy_frame.hpp"

namespace neffld {
namespace {

constexpr std::size_t slot_bytes = 64;
constexpr std::size_t most_byte_units = 1 << 20;

using Buffer = std::vector<std::uint8_t>;

bool is_zero(const Buffer& bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

/// From the document's first level down: what goes above need not be tried below.
bool shrink_json(Document& document, std::size_t member, JsonPart& root, std::size_t most_parts) {
  bool changed = false;
  for (unsigned depth = 1;; ++depth) {
    const std::vector<JsonPart*> parts = parts_at(root, depth);
    if (parts.empty()) return changed;
    const auto keep = [&parts](const Kept& kept) {
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i]->kept = kept[i];
    };
    const Kept kept = remove_units(parts.size(), most_parts, [&](const Kept& some) {
      if (!document.may_try()) return false;
      keep(some);
      return document.replace(member, json_text(root));
    });
    keep(kept);
    changed |= std::ranges::find(kept, false) != kept.end();
  }
}

/// Keeps the length, and what an array says about its elements: a reader may insist on both.
Buffer zeroed(const Document& document, const PackMember& member) {
  const std::size_t from = document.is_constant(member) ? elements_offset(member) : 0;
  Buffer bytes = member.bytes;
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end(), std::uint8_t{0});
  return bytes;
}

bool zero(Document& document, std::size_t member) {
  if (!document.may_try()) return false;
  const PackMember& content = document.members()[member];
  Buffer bytes = zeroed(document, content);
  return bytes != content.bytes && document.replace(member, std::move(bytes));
}

bool shrink_bytes(Document& document, std::size_t member, std::size_t unit,
                  std::size_t most_parts) {
  const Buffer bytes = document.members()[member].bytes;
  const std::vector<std::size_t> units = even_units(bytes.size(), unit);
  const Kept kept = remove_units(units.size(), most_parts, [&](const Kept& some) {
    return document.may_try() && document.replace(member, kept_bytes(bytes, units, some));
  });
  return std::ranges::find(kept, false) != kept.end();
}

/// What cannot go may still be of no interest.
bool zero_units(Document& document, std::size_t member, std::size_t unit) {
  const Buffer bytes = document.members()[member].bytes;
  const std::vector<std::size_t> units = even_units(bytes.size(), unit);
  remove_units(units.size(), any_parts, [&](const Kept& some) {
    if (!document.may_try()) return false;
    Buffer changed = zeroed_bytes(bytes, units, some);
    // Asking again what is there already would only cost time.
    return changed == document.members()[member].bytes || document.replace(member, changed);
  });
  return document.members()[member].bytes != bytes;
}

/// Zeros all look the same: only their number is left to reduce.
bool shorten(Document& document, std::size_t member) {
  bool changed = false;
  for (;;) {
    const Buffer& bytes = document.members()[member].bytes;
    if (bytes.empty() || !document.replace(member, Buffer(bytes.size() / 2))) return changed;
    changed = true;
  }
}

}  // namespace

std::size_t elements_offset(const PackMember& member) {
  const auto frame = npy_frame(member.name, member.bytes, member.bytes.size(), 3);
  if (!as_text(member.bytes).starts_with("\x93NUMPY")) return 0;
  // Where a broken header ends is not known; numpy's own have this length.
  constexpr std::uint64_t usual = 128;
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(frame ? frame->data_offset : usual, member.bytes.size()));
}

void zero_arrays(Document& document) {
  std::vector<PackMember> members = document.members();
  for (PackMember& member : members) {
    if (document.is_constant(member)) member.bytes = zeroed(document, member);
  }
  document.replace_all(std::move(members));
}

bool shrink_member(Document& document, std::size_t member, std::size_t most_parts,
                   bool keep_weights) {
  const PackMember& content = document.members()[member];
  if (content.bytes.empty() || !document.may_try()) return false;
  if (!document.is_constant(content) && content.name.ends_with(".json")) {
    if (auto root = parse_json_parts(content.bytes)) {
      return shrink_json(document, member, *root, most_parts);
    }
    // Byte by byte where that is not without end.
    return shrink_bytes(document, member, 1 + content.bytes.size() / most_byte_units, most_parts);
  }
  if (document.is_constant(content) && keep_weights) return false;
  if (document.replace(member, {})) return true;
  bool changed = zero(document, member);
  if (document.is_constant(content)) return changed;
  if (is_zero(content.bytes)) return shorten(document, member) || changed;
  changed |= shrink_bytes(document, member, slot_bytes, most_parts);
  if (most_parts == any_parts) changed |= zero_units(document, member, slot_bytes);
  return changed;
}

}  // namespace neffld
