// SPDX-License-Identifier: MIT
// Appends records to an instruction image, patches their fields and keeps the IP map.
#pragma once

#include <algorithm>

#include "isa/record.hpp"
#include "patcher.hpp"

namespace neffld {

/// The image of one engine while it is written, into memory of the planned size. What was there
/// before is overwritten where at() has passed.
class ImageWriter {
 public:
  ImageWriter(MutableBytes image, std::uint32_t kbin, std::uint32_t request, Ledger& ledger)
      : image_(image), patcher_(image, kbin, request, ledger) {}

  /// Bytes written so far: the place of the next record.
  std::uint64_t at() const { return at_; }
  std::uint64_t size() const { return image_.size(); }

  /// The record of the NEFF that the next records stand for.
  void set_source(std::uint64_t slot) {
    source_ = {SourceRecord::Kind::slot, static_cast<std::uint32_t>(slot)};
  }
  void clear_source() { source_ = {}; }
  /// Bits of byte 3 that every record gets from now on (functions).
  void set_hint(std::uint8_t bits) { hint_ = bits; }

  /// Appends a record; `hint` are further bits of its byte 3.
  Result<void> append(Bytes slot, std::uint8_t hint = 0) {
    if (image_.size() - at_ < isa::slot_bytes) [[unlikely]]
      return overflow();
    std::copy_n(slot.data(), isa::slot_bytes, image_.data() + at_);
    at_ += isa::slot_bytes;
    hint |= hint_;
    return hint == 0 ? Result<void>() : set_bits(isa::at_debug_hint, hint);
  }

  /// Appends records as they are.
  Result<void> append_run(Bytes slots) {
    if (image_.size() - at_ < slots.size()) [[unlikely]]
      return overflow();
    std::copy_n(slots.data(), slots.size(), image_.data() + at_);
    at_ += slots.size();
    return {};
  }

  /// Appends a register WRITE and patches its address and value. False when there is no room for
  /// it, which overflow() says.
  bool append_write(const isa::Slot& slot, std::uint64_t address, RelocForm form,
                    std::uint32_t value, const Symbol& symbol) {
    if (image_.size() - at_ < isa::slot_bytes) [[unlikely]]
      return false;
    const std::uint64_t own = at_;
    std::copy_n(slot.data(), isa::slot_bytes, image_.data() + own);
    at_ += isa::slot_bytes;
    const auto hint = static_cast<std::uint8_t>(slot[isa::at_debug_hint] | hint_);
    return (hint == slot[isa::at_debug_hint] ||
            patcher_.try_patch(own + isa::at_debug_hint, RelocForm::record_byte, hint, {},
                               source_)) &&
           patcher_.try_patch(own + isa::at_write_address, RelocForm::queue_register, address,
                              symbol, source_) &&
           patcher_.try_patch(own + isa::at_write_value, form, value, symbol, source_);
  }
  Result<void> overflow() const;

  /// Patches a field of the record appended last.
  template <class T>
  Result<void> patch(std::size_t offset, RelocForm form, T value, Symbol symbol = {}) {
    return patcher_.patch(at_ - isa::slot_bytes + offset, form, value, symbol, source_);
  }
  Result<void> patch_opcode(std::uint8_t opcode) {
    return patch(isa::at_opcode, RelocForm::opcode, opcode);
  }
  /// Sets a byte of the record appended last, if it is not what it should be already.
  Result<void> set_byte(std::size_t offset, std::uint8_t value) {
    if (image_[at_ - isa::slot_bytes + offset] == value) return {};
    return patch(offset, RelocForm::record_byte, value);
  }
  /// Makes the record appended last a relative branch to an image slot.
  Result<void> patch_target(std::uint32_t image_slot, Symbol symbol) {
    NEFFLD_TRY(set_byte(isa::at_branch_target_mode, isa::target_relative));
    const std::uint64_t own = at_ - isa::slot_bytes;
    // The 8-byte field holds the signed 32-bit offset zero-extended (spec 05 A5).
    const auto distance =
        static_cast<std::uint32_t>(std::uint64_t{image_slot} * isa::slot_bytes - own);
    return patch(isa::at_branch_immediate, RelocForm::branch_offset, std::uint64_t{distance},
                 symbol);
  }

 private:
  Result<void> set_bits(std::size_t offset, std::uint8_t bits) {
    const std::uint8_t old = image_[at_ - isa::slot_bytes + offset];
    return set_byte(offset, static_cast<std::uint8_t>(old | bits));
  }
  MutableBytes image_;
  Patcher patcher_;
  SourceRecord source_;
  std::uint8_t hint_ = 0;
  std::uint64_t at_ = 0;
};

}  // namespace neffld
