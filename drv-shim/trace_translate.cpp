// SPDX-License-Identifier: MIT
#include "trace_translate.hpp"

#include <algorithm>
#include <string_view>

#include "neuron_abi/ioctl.h"
#include "trace_text.hpp"

namespace neffld::shim {
namespace {

constexpr std::uint64_t page_bytes = 4096;  // the driver's (spec 06 section 5.1)
constexpr std::uint32_t descriptor_bytes = 16, descriptor_address = 8;
constexpr std::uint32_t queue_state_base = 8;  // in the record of DMA_QUEUE_GET_STATE

bool is_handle(std::string_view name) {
  return name == "mem_handle" || name == "src_mem_handle" || name == "dst_mem_handle" ||
         name == "tx_handle" || name == "rx_handle" || name == "rxc_handle";
}

bool is_address(std::string_view name) {
  return name == "pa" || name == "mmap_offset" || name == "dst";
}

bool carries_descriptors(std::uint32_t command) {
  return command == NEURON_IOCTL_DMA_COPY_DESCRIPTORS ||
         command == NEURON_IOCTL_DMA_COPY_DESCRIPTORS64 ||
         command == NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT;
}

std::optional<std::uint64_t> field_named(const CommandInfo& info, Bytes argument,
                                         std::string_view name, bool reply) {
  if (argument.empty()) return std::nullopt;
  for (const CommandField& field : info.fields) {
    if (field.reply != reply || name != field.name) continue;
    return field_value(argument, field.offset, field.bytes);
  }
  return std::nullopt;
}

/// A received value: a field of the reply or the word behind a pointer of that name.
std::optional<std::uint64_t> received(const CommandInfo& info, const TraceCall& call,
                                      std::string_view name) {
  for (const TracePayload& payload : call.payloads) {
    if (payload.sent || !payload.has_bytes || payload.bytes.size() != 8 ||
        payload.pointer >= info.pointers.size()) {
      continue;
    }
    if (pointer_name(info, info.pointers[payload.pointer]) == name) {
      return field_value(payload.bytes, 0, 8);
    }
  }
  return field_named(info, call.received, name, true);
}

}  // namespace

std::uint64_t Translation::handle(std::uint64_t recorded) const {
  const auto found = handles_.find(recorded);
  return found == handles_.end() ? recorded : found->second;
}

std::uint64_t Translation::address(std::uint64_t recorded) const {
  auto found = ranges_.upper_bound(recorded);
  if (found == ranges_.begin()) return recorded;
  --found;
  const std::uint64_t inside = recorded - found->first;
  return inside < found->second.bytes ? found->second.live + inside : recorded;
}

void Translation::fields(const CommandInfo& info, MutableBytes argument, bool replies) const {
  for_each_field(info, argument, [&](const CommandField& field, std::uint32_t offset, int) {
    if (field.reply != replies || field.kind == FieldKind::pointer) return;
    const std::uint64_t value = field_value(argument, offset, field.bytes);
    if (is_handle(field.name)) set_field(argument, offset, field.bytes, handle(value));
    if (is_address(field.name)) set_field(argument, offset, field.bytes, address(value));
  });
}

void Translation::sent(const CommandInfo& info, MutableBytes argument) const {
  fields(info, argument, false);
}

void Translation::sent_payload(const CommandInfo& info, const PointerRule& rule,
                               MutableBytes bytes) const {
  if (!carries_descriptors(info.value) || pointer_name(info, rule) != "buffer") return;
  for (std::size_t at = descriptor_address; at + 8 <= bytes.size(); at += descriptor_bytes) {
    const auto offset = static_cast<std::uint32_t>(at);
    set_field(bytes, offset, 8, address(field_value(bytes, offset, 8)));
  }
}

void Translation::forget(std::uint64_t handle) {
  handles_.erase(handle);
  auto at = range_of_handle_.lower_bound({handle, 0});
  while (at != range_of_handle_.end() && at->first == handle) {
    const auto range = ranges_.find(at->second);
    if (range != ranges_.end() && range->second.handle == handle) ranges_.erase(range);
    at = range_of_handle_.erase(at);
  }
}

void Translation::pair_handle(std::uint64_t recorded, std::uint64_t live, std::uint64_t bytes) {
  const auto known = handles_.find(recorded);
  // Telling a handle again, as for a notification queue that is there, changes nothing.
  if (known != handles_.end() && known->second == live && sizes_[recorded] == bytes) return;
  forget(recorded);
  different_ += recorded != live;
  handles_[recorded] = live;
  sizes_[recorded] = bytes;
}

void Translation::pair_address(std::uint64_t recorded, const Range& range) {
  if (range.bytes > ~std::uint64_t{0} - std::max(recorded, range.live)) return;  // a damaged trace
  auto at = ranges_.upper_bound(recorded);
  if (at != ranges_.begin()) {
    const auto& [start, known] = *std::prev(at);
    const bool same = range.handle == 0 || known.handle == 0 || known.handle == range.handle;
    // What is known is not learnt again: another answer is a difference.
    if (recorded - start < known.bytes && same) return;
    if (recorded - start < known.bytes) --at;
  }
  // What was there before is gone.
  while (at != ranges_.end() && at->first < recorded + range.bytes) at = ranges_.erase(at);
  different_ += recorded != range.live;
  ranges_[recorded] = range;
  range_of_handle_.emplace(range.handle, recorded);
}

void Translation::learn(const TraceCall& recorded, const TraceCall& made) {
  const CommandInfo* info = find_command(recorded.command);
  if (info == nullptr || recorded.result != 0 || made.result != 0) return;
  const std::uint64_t sent_handle =
      field_named(*info, recorded.sent, "mem_handle", false).value_or(0);
  if (recorded.command == NEURON_IOCTL_MEM_FREE) {
    forget(sent_handle);
    return;
  }
  const std::uint64_t asked = field_named(*info, recorded.sent, "size", false).value_or(0);
  const std::uint64_t rounded = asked > ~std::uint64_t{0} - page_bytes
                                    ? 0
                                    : (asked + page_bytes - 1) / page_bytes * page_bytes;
  const auto minted = received(*info, recorded, "mem_handle");
  if (const auto live = received(*info, made, "mem_handle"); minted && live) {
    pair_handle(*minted, *live, rounded);
  }
  // The size is told with the address, or was asked for when the handle was made.
  const auto known = sizes_.find(sent_handle);
  const std::uint64_t told = field_named(*info, recorded.received, "size", true)
                                 .value_or(known != sizes_.end() ? known->second : rounded);
  // Offsets that only stand for a resource are no addresses of chunks.
  if (recorded.command == NEURON_IOCTL_RESOURCE_MMAP_INFO) return;
  for (const char* name : {"pa", "mmap_offset"}) {
    const auto address = received(*info, recorded, name), live = received(*info, made, name);
    // All ones: there is none (notification rings in device memory).
    if (!address || !live || *address == ~std::uint64_t{0}) continue;
    pair_address(*address, {std::max(told, page_bytes), *live, minted.value_or(sent_handle)});
  }
}

TraceCall Translation::expected(const TraceCall& recorded) const {
  TraceCall call = recorded;
  const CommandInfo* info = find_command(recorded.command);
  if (info == nullptr || recorded.result != 0) return call;
  fields(*info, call.received, true);
  for (TracePayload& payload : call.payloads) {
    if (payload.sent || !payload.has_bytes || payload.pointer >= info->pointers.size()) continue;
    const PointerRule& rule = info->pointers[payload.pointer];
    const std::string name = pointer_name(*info, rule);
    sent_payload(*info, rule, payload.bytes);
    if (payload.bytes.size() == 8) {
      const std::uint64_t value = field_value(payload.bytes, 0, 8);
      if (is_handle(name)) set_field(payload.bytes, 0, 8, handle(value));
      if (is_address(name)) set_field(payload.bytes, 0, 8, address(value));
    } else if (recorded.command == NEURON_IOCTL_DMA_QUEUE_GET_STATE) {
      set_field(payload.bytes, queue_state_base, 8,
                address(field_value(payload.bytes, queue_state_base, 8)));
    }
  }
  return call;
}

}  // namespace neffld::shim
