// SPDX-License-Identifier: MIT
#include "table_hash.hpp"

#include "neffld/sha256.hpp"

namespace neffld {
namespace {

bool is_table(SectionKind kind) {
  switch (kind) {
    case SectionKind::act_bucket:
    case SectionKind::act_control:
    case SectionKind::act_profiles:
    case SectionKind::act_directory:
    case SectionKind::dve_opcode:
    case SectionKind::dve_control_fast:
    case SectionKind::dve_control_slow:
    case SectionKind::dve_datapath:
    case SectionKind::dve_param_ram:
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<TableHash> hash_tables(DeviceCalls& calls, const Plan& plan, std::uint32_t kbin,
                              std::span<const DeviceMemory> by_request) {
  Sha256 hash;
  bool any = false;
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    const Request& request = plan.requests[i];
    if (request.kbin != kbin || !is_table(request.kind)) continue;
    any = true;
    std::vector<std::uint8_t> bytes(request.size);
    NEFFLD_TRY(calls.copy_out(by_request[i].handle, 0, bytes));
    std::array<std::uint8_t, 16> head{};
    store_le(MutableBytes(head), 0, static_cast<std::uint64_t>(request.kind));
    store_le(MutableBytes(head), 8, request.size);
    hash.add(head);
    hash.add(bytes);
  }
  return any ? hash.finish() : TableHash{};
}

}  // namespace neffld
