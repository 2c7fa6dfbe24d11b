// SPDX-License-Identifier: MIT
// The one patch primitive: every relocated field is written here, checked and recorded.
#pragma once

#include <type_traits>

#include "neffld/relocate.hpp"

namespace neffld {

/// Writes relocated fields of one section.
class Patcher {
 public:
  Patcher(MutableBytes section, std::uint32_t kbin, std::uint32_t request, Ledger& ledger)
      : section_(section),
        kbin_(kbin),
        request_(request),
        ledger_(&ledger),
        counts_(&ledger.counts(kbin)) {}

  /// Writes `value` as a little-endian `T` at `offset` and adds a ledger row. The span is checked,
  /// and the value fits by its type: a field that leaves its section is an error and writes
  /// nothing.
  template <class T>
  Result<void> patch(std::uint64_t offset, RelocForm form, T value, const Symbol& symbol,
                     SourceRecord source) {
    if (try_patch(offset, form, value, symbol, source)) [[likely]]
      return {};
    return refuse(offset, sizeof(T), form);
  }
  /// The same, and false instead of the error: for the two loops that patch most fields of a model.
  /// A Result costs more than a patch, because an empty one is cleared as a whole.
  template <class T>
  bool try_patch(std::uint64_t offset, RelocForm form, T value, const Symbol& symbol,
                 SourceRecord source) {
    return write<T>(offset, form, value, symbol, source,
                    [&] { return load_le<T>(section_, offset); });
  }
  /// try_patch() for a field that nothing has been written to yet: `before` is what it would have
  /// held. It goes to the ledger and nowhere else.
  template <class T>
  bool try_patch_fresh(std::uint64_t offset, RelocForm form, T before, T value,
                       const Symbol& symbol, SourceRecord source) {
    return write<T>(offset, form, value, symbol, source, [&] { return before; });
  }

  MutableBytes section() const { return section_; }

 private:
  template <class T, class Before>
  bool write(std::uint64_t offset, RelocForm form, T value, const Symbol& symbol,
             SourceRecord source, Before before) {
    static_assert(std::is_unsigned_v<T>);
    if (offset > section_.size() || sizeof(T) > section_.size() - offset) [[unlikely]] {
      return false;
    }
    ++(*counts_)[static_cast<std::size_t>(form)];
    if (ledger_->wants_rows()) [[unlikely]] {
      ledger_->pass({offset, before(), value, kbin_, request_, sizeof(T), form, symbol, source});
    }
    store_le<T>(section_, offset, value);
    return true;
  }
  Result<void> refuse(std::uint64_t offset, std::size_t width, RelocForm form) const;

  MutableBytes section_;
  std::uint32_t kbin_;
  std::uint32_t request_;
  Ledger* ledger_;
  Ledger::Counts* counts_;
};

}  // namespace neffld
