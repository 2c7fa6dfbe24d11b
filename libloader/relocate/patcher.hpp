// SPDX-License-Identifier: MIT
// The one patch primitive: every relocated field is written here, checked and recorded.
#pragma once

#include <fmt/format.h>

#include "neffld/relocate.hpp"

namespace neffld {

/// Writes relocated fields of one section.
class Patcher {
 public:
  Patcher(MutableBytes section, std::uint32_t kbin, std::uint32_t request, Ledger& ledger)
      : section_(section), kbin_(kbin), request_(request), ledger_(&ledger) {}

  /// Writes the low `width` bytes of `value` at `offset` and adds a ledger row. The span and the
  /// width are checked: a field that does not fit its section, or a value that does not fit its
  /// field, is an error and writes nothing.
  Result<void> patch(std::uint64_t offset, std::uint8_t width, RelocForm form, std::uint64_t value,
                     Symbol symbol, SourceRecord source) {
    if (width == 0 || width > 8 || offset > section_.size() || width > section_.size() - offset ||
        (width < 8 && value >> (8 * width) != 0)) [[unlikely]] {
      return refuse(offset, width, form, value);
    }
    std::uint64_t old_value = 0;
    for (std::uint8_t i = 0; i < width; ++i) {
      const std::uint64_t at = offset + i;
      old_value |= static_cast<std::uint64_t>(section_[at]) << (8 * i);
      section_[at] = static_cast<std::uint8_t>(value >> (8 * i));
    }
    ledger_->add({offset, old_value, value, kbin_, request_, width, form, symbol, source});
    return {};
  }

  MutableBytes section() const { return section_; }

 private:
  Result<void> refuse(std::uint64_t offset, std::uint8_t width, RelocForm form,
                      std::uint64_t value) const {
    return invalid({.path = std::string(reloc_form_name(form)), .offset = offset},
                   fmt::format("value 0x{:x} of width {} does not fit: the section has {} bytes",
                               value, width, section_.size()));
  }

  MutableBytes section_;
  std::uint32_t kbin_;
  std::uint32_t request_;
  Ledger* ledger_;
};

}  // namespace neffld
