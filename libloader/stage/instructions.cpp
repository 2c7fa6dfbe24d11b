// SPDX-License-Identifier: MIT
// Instruction images, one per engine (spec 05 A7, spec 04 section 2.2 step 13).
#include <fmt/format.h>

#include <algorithm>

#include "builders.hpp"
#include "host_pages.hpp"
#include "image.hpp"
#include "isa/record.hpp"

namespace neffld {
namespace {

std::uint64_t largest_image(const KbinPlan& planned) {
  std::uint64_t slots = 0;
  for (const StreamPlan& stream : planned.streams) slots = std::max(slots, stream.slots_out);
  return slots * isa::slot_bytes;
}

}  // namespace

Result<void> plan_instructions(PlanContext& context) {
  for (const Engine engine : all_engines) {
    const auto number = static_cast<std::uint32_t>(engine);
    StreamPlan& stream = context.out().streams[number];
    stream.request =
        context.add(SectionKind::instructions, number, stream.slots_out * isa::slot_bytes,
                    context.arch.instruction_alignment, MemUsage::code,
                    fmt::format("instructions {}", engine_name(engine)));
  }
  return {};
}

Result<void> emit_instructions(const EmitContext& context) {
  const ImageInput input{context.kbin(), context.planned(), context.arch, context.addresses,
                         context.kbin_index};
  const HostPages memory(largest_image(context.planned()));  // in turn: its pages are touched once
  for (const Engine engine : all_engines) {
    const StreamPlan& stream = context.planned().streams[static_cast<std::size_t>(engine)];
    const MutableBytes image = memory.bytes().first(stream.slots_out * isa::slot_bytes);
    NEFFLD_ASSIGN(IpMap map, assemble_image(input, engine, image, context.ledger));
    NEFFLD_TRY(context.sink({stream.request, image, false}));
    context.ledger.set_ip_map(context.kbin_index, engine, std::move(map));
  }
  return {};
}

}  // namespace neffld
