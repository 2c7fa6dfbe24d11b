// SPDX-License-Identifier: MIT
// Nearly every descriptor of a real file is the text of one shortly before it with other offsets:
// the last texts are kept and compared with what follows, and most of a file is read that way.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "manifest/json_cursor.hpp"
#include "neffld/kbin.hpp"

namespace neffld {

/// One descriptor as text around its offsets.
class DescriptorForm {
 public:
  using Side = AccessPattern DmaDescriptor::*;

  /// Recording, by whoever reads the descriptor: `start`, then `offset_begins` and `offset_ends`
  /// around each offset, then `finish`.
  void start(const JsonCursor& cursor) {
    count_ = 0;
    begin_ = cursor.at();
  }
  void offset_begins(const JsonCursor& cursor, Side side) {
    texts_[count_] = {begin_, cursor.at()};
    sides_[count_++] = side;
  }
  void offset_ends(const JsonCursor& cursor) { begin_ = cursor.at(); }
  void finish(const JsonCursor& cursor, const DmaDescriptor& descriptor) {
    texts_[count_++] = {begin_, cursor.at()};
    descriptor_ = descriptor;
  }

  /// Reads the next descriptor if it is this one with any offsets; else nothing has happened.
  bool take(JsonCursor& cursor, DmaDescriptor& descriptor) const {
    std::array<std::uint64_t, most_offsets> offsets;
    if (!cursor.take_form(std::span(texts_).first(count_), offsets)) return false;
    descriptor = descriptor_;
    for (std::size_t i = 0; i + 1 < count_; ++i) (descriptor.*sides_[i]).offset = offsets[i];
    return true;
  }

 private:
  static constexpr std::size_t most_offsets = 2;

  std::array<std::string_view, most_offsets + 1> texts_;
  std::array<Side, most_offsets> sides_{};
  std::size_t count_ = 0;  ///< of texts; 0: none is kept
  const char* begin_ = nullptr;
  DmaDescriptor descriptor_;
};

/// The last two forms: loads and stores may alternate. They hold for one JSON text.
class DescriptorForms {
 public:
  bool take(JsonCursor& cursor, DmaDescriptor& descriptor) {
    if (forms_[last_].take(cursor, descriptor)) return true;
    if (!forms_[1 - last_].take(cursor, descriptor)) return false;
    last_ = 1 - last_;
    return true;
  }
  void keep(const DescriptorForm& form) {
    last_ = 1 - last_;
    forms_[last_] = form;
  }
  void forget() { forms_ = {}; }

 private:
  std::array<DescriptorForm, 2> forms_;
  std::size_t last_ = 0;
};

}  // namespace neffld
