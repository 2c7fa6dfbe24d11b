// SPDX-License-Identifier: MIT
#include "compute_check.hpp"

#include <fmt/format.h>

#include "harvest.hpp"
#include "isa/opcodes.hpp"
#include "isa/record.hpp"
#include "neffld/compute_record.hpp"

namespace neffld {
namespace {

/// The opcodes below belong to the arithmetic of the engines, those from it on to their control and
/// to transfers (spec 05 A2).
constexpr std::uint8_t first_control_opcode = 0xA0;

Result<void> check_stream(const Kbin& kbin, Arch arch, Engine engine) {
  const EngineProgram& program = kbin.engine(engine);
  for (std::uint64_t slot = 0; slot < program.slot_count(); ++slot) {
    const Bytes record = program.slots.subspan(slot * isa::slot_bytes, isa::slot_bytes);
    const std::uint8_t opcode = record[isa::at_opcode];
    if (opcode >= first_control_opcode) continue;
    const auto decoded = compute::decode(record, arch);
    if (decoded) continue;
    return fail(Status::invalid, ErrorClass::unsupported,
                {.member = program.bin_member, .record = slot, .offset = decoded.error().field},
                fmt::format("{} {} slot {}, opcode 0x{:02x} {}, byte 0x{:02x}: {}", kbin.name,
                            engine_label(engine), slot, opcode, isa::opcode_of(arch, opcode).name,
                            decoded.error().field, decoded.error().text));
  }
  return {};
}

}  // namespace

Result<void> check_compute_records(const LoadedModel& model) {
  for (const Kbin& kbin : model.parsed.kbins) {
    for (const Engine engine : all_engines) {
      NEFFLD_TRY(check_stream(kbin, model.plan.arch, engine));
    }
  }
  return {};
}

}  // namespace neffld
