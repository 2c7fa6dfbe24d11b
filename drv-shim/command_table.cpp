// SPDX-License-Identifier: MIT
#include "command_table.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "neuron_abi/ioctl.h"

namespace neffld::shim {
namespace {

std::vector<CommandInfo> make_table() {
  std::vector<CommandInfo> table = device_commands();
  for (auto part : {memory_commands(), dma_commands()}) {
    std::move(part.begin(), part.end(), std::back_inserter(table));
  }
  std::sort(table.begin(), table.end(),
            [](const CommandInfo& a, const CommandInfo& b) { return a.value < b.value; });
  return table;
}

}  // namespace

std::uint64_t Length::of(Bytes argument) const {
  if (width == 0) return base;
  const std::uint64_t count = field_value(argument, offset, width);
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  return count > (most - base) / unit ? most : base + count * unit;
}

bool Direction::is_sent(Bytes argument) const {
  return field == 0 ? sent : field_value(argument, field, 4) != 0;
}

std::uint32_t CommandInfo::records(Bytes argument) const {
  if (repeat.stride == 0) return 0;
  const auto count = field_value(argument, repeat.count_offset, 4);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, repeat.limit));
}

std::uint64_t CommandInfo::argument_bytes(Bytes head) const {
  return bytes + (repeat.behind ? std::uint64_t{records(head)} * repeat.stride : 0);
}

std::span<const CommandInfo> all_commands() {
  static const std::vector<CommandInfo> table = make_table();
  return table;
}

const CommandInfo* find_command(std::uint32_t value) {
  constexpr std::uint32_t zerocopy_number = NEURON_IOCTL_NR(NEURON_IOCTL_MEM_BUF_ZEROCOPY64);
  const auto table = all_commands();
  const auto found = std::lower_bound(
      table.begin(), table.end(), value,
      [](const CommandInfo& info, std::uint32_t wanted) { return info.value < wanted; });
  if (found != table.end() && found->value == value) return &*found;
  // The one command with a pointer that drivers take whatever size its value names.
  if (NEURON_IOCTL_NR(value) != zerocopy_number) return nullptr;
  return find_command(NEURON_IOCTL_MEM_BUF_ZEROCOPY64);
}

std::uint64_t field_value(Bytes argument, std::uint32_t offset, std::uint32_t bytes) {
  if (bytes > 8 || offset > argument.size() || bytes > argument.size() - offset) return 0;
  std::uint64_t value = 0;
  for (std::uint32_t i = bytes; i > 0; --i) value = value << 8 | argument[offset + i - 1];
  return value;
}

void set_field(MutableBytes argument, std::uint32_t offset, std::uint32_t bytes,
               std::uint64_t value) {
  if (bytes > 8 || offset > argument.size() || bytes > argument.size() - offset) return;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    argument[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

}  // namespace neffld::shim
