// SPDX-License-Identifier: MIT
// Device IP to NEFF IP and back (spec 05 A8).
#include "ip_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "host_pages.hpp"
#include "image.hpp"
#include "isa/record.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t slot = isa::slot_bytes;

tl::unexpected<Error> failure(std::string text) {
  return fail(Status::failure, ErrorClass::check, {}, std::move(text));
}

bool has_section(const IpMap& map, IpSection section) {
  return std::any_of(map.rows.begin(), map.rows.end(),
                     [section](const IpRow& row) { return row.section == section; });
}

/// Preamble and postamble rows anchor MAIN between them.
Result<void> check_anchors(const IpMap& map) {
  for (const IpSection anchor : {IpSection::preamble, IpSection::postamble}) {
    if (has_section(map, anchor)) continue;
    return failure(
        fmt::format("Failed to find section {} in the patch list", static_cast<unsigned>(anchor)));
  }
  return {};
}

/// Instruction number of byte `ip` of a section, counting from 1.
std::uint64_t walk(const IpMap& map, IpSection section, std::uint64_t ip) {
  std::uint64_t number = 1, at = 0;
  for (const IpRow& row : map.rows) {
    if (row.section != section) continue;
    if (row.offset > ip || (row.offset == ip && row.change != IpChange::remove)) break;
    number += (row.offset - at) / slot;
    at = row.offset;
    switch (row.change) {
      case IpChange::insert:
        at += slot * std::uint64_t{row.count};
        if (at >= ip) return number;  // inside the expansion
        break;
      case IpChange::remove:
        number += row.count;
        break;
      case IpChange::modify:
        ++number;
        at += slot;
        break;
    }
  }
  return number + (ip - at) / slot;
}

/// Walks a section until instruction `wanted`; on return `number` is the next one behind it.
std::optional<DeviceIps> find(const IpMap& map, IpSection section, std::uint64_t bytes,
                              std::uint64_t wanted, std::uint64_t& number) {
  std::uint64_t at = 0;
  const auto plain = [&](std::uint64_t end) -> std::optional<DeviceIps> {
    const std::uint64_t count = (end - at) / slot;
    if (wanted < number + count) return DeviceIps{at + (wanted - number) * slot, 1};
    number += count;
    at = end;
    return std::nullopt;
  };
  for (const IpRow& row : map.rows) {
    if (row.section != section) continue;
    if (auto found = plain(row.offset)) return found;
    switch (row.change) {
      case IpChange::insert:
        if (wanted == number) return DeviceIps{at, std::uint64_t{row.count} + 1};
        ++number;
        at += slot * (std::uint64_t{row.count} + 1);
        break;
      case IpChange::remove:
        if (wanted < number + row.count) return DeviceIps{at, 0};
        number += row.count;
        break;
      case IpChange::modify:
        if (auto found = plain(at + slot)) return found;
        break;
    }
  }
  return plain(bytes);
}

/// NEFF instructions of MAIN; those of the functions follow.
std::uint64_t main_source_slots(const IpMap& map) {
  return walk(map, IpSection::main, map.main_bytes) - 1;
}

}  // namespace

void IpMapBuilder::append(std::uint64_t offset, std::uint64_t bytes, IpChange change) {
  if (bytes == 0) return;
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  try {
    if (offset <= most && bytes / slot <= most) {
      map_.rows.push_back({static_cast<std::uint32_t>(offset),
                           static_cast<std::uint32_t>(bytes / slot), change, section_});
      return;
    }
  } catch (const std::bad_alloc&) {  // as for any other row that cannot be kept
  }
  if (!map_.warnings.empty()) return;
  map_.warnings.push_back(fmt::format("Failed to add patch {} info. Debug info may be inaccurate",
                                      change == IpChange::remove ? "delete" : "insert"));
}

void IpMapBuilder::close(std::uint64_t image_offset) {
  if (section_ == IpSection::main) map_.main_bytes = image_offset - map_.main_offset;
  if (section_ == IpSection::function) map_.function_bytes = image_offset - map_.function_offset;
}

void IpMapBuilder::begin(IpSection section, std::uint64_t image_offset) {
  close(image_offset);
  section_ = section;
  const bool relative = section == IpSection::main || section == IpSection::function;
  start_ = relative ? image_offset : 0;
  if (section == IpSection::main) map_.main_offset = image_offset;
  if (section == IpSection::function) map_.function_offset = image_offset;
}

void IpMapBuilder::lowered(std::uint64_t image_offset, std::uint64_t source,
                           std::uint64_t emitted) {
  if (emitted > source) append(image_offset - start_, (emitted - source) * slot, IpChange::insert);
  if (emitted < source) append(image_offset - start_, (source - emitted) * slot, IpChange::remove);
}

void IpMapBuilder::end(std::uint64_t image_offset, std::uint64_t source_slots) {
  close(image_offset);
  map_.source_slots = source_slots;
}

Result<std::uint64_t> neff_ip(const IpMap& map, std::uint64_t byte_offset) {
  NEFFLD_TRY(check_anchors(map));
  if (byte_offset >= map.main_offset && byte_offset - map.main_offset < map.main_bytes) {
    return walk(map, IpSection::main, byte_offset - map.main_offset);
  }
  if (map.function_bytes == 0) {
    return failure(
        fmt::format("device_ip 0x{:x} is out of bounds of the main buffer", byte_offset));
  }
  if (byte_offset < map.function_offset ||
      byte_offset - map.function_offset >= map.function_bytes) {
    return failure(
        fmt::format("device_ip 0x{:x} is out of bounds of main and function buffer", byte_offset));
  }
  return main_source_slots(map) + walk(map, IpSection::function, byte_offset - map.function_offset);
}

Result<DeviceIps> device_ips(const IpMap& map, std::uint64_t neff_ip) {
  NEFFLD_TRY(check_anchors(map));
  if (neff_ip != 0 && neff_ip <= map.source_slots) {
    std::uint64_t number = 1;
    if (auto found = find(map, IpSection::main, map.main_bytes, neff_ip, number)) {
      return DeviceIps{map.main_offset + found->offset, found->count};
    }
    if (auto found = find(map, IpSection::function, map.function_bytes, neff_ip, number)) {
      return DeviceIps{map.function_offset + found->offset, found->count};
    }
  }
  return failure(
      fmt::format("instruction {} does not exist, expected 1 to {}", neff_ip, map.source_slots));
}

Result<IpMap> build_ip_map(std::span<const Kbin> kbins, const Plan& plan, std::uint32_t kbin_index,
                           Engine engine) {
  return guarded([&]() -> Result<IpMap> {
    Addresses zero;
    zero.sections.resize(plan.requests.size());
    for (const KbinPlan& kbin : plan.kbins) {
      for (const Placement& placement : kbin.variables) {
        if (placement.kind != Placement::Kind::page) continue;
        auto& pages = zero.scratchpad_pages[placement.core];
        pages.resize(std::max<std::size_t>(pages.size(), placement.request + 1));
      }
    }
    Ledger ledger;
    const ImageInput input{kbins[kbin_index], plan.kbins[kbin_index], arch_table(plan.arch), zero,
                           kbin_index};
    const StreamPlan& stream = input.planned.streams[static_cast<std::size_t>(engine)];
    const HostPages memory(stream.slots_out * isa::slot_bytes);
    return assemble_image(input, engine, memory.bytes(), ledger);
  });
}

}  // namespace neffld
