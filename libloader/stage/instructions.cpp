// SPDX-License-Identifier: MIT
// Instruction images, one per engine (spec 05 A7, spec 04 section 2.2 step 13).
#include <fmt/format.h>

#include "builders.hpp"
#include "image.hpp"
#include "isa/record.hpp"

namespace neffld {

Result<void> plan_instructions(PlanContext& context) {
  for (const Engine engine : all_engines) {
    const auto number = static_cast<std::uint32_t>(engine);
    StreamPlan& stream = context.out().streams[number];
    stream.request =
        context.add(SectionKind::instructions, number, stream.slots_out * isa::slot_bytes,
                    context.arch.instruction_alignment, MemCategory::code,
                    fmt::format("instructions {}", engine_name(engine)));
  }
  return {};
}

Result<void> emit_instructions(const EmitContext& context) {
  const ImageInput input{context.kbin(), context.planned(), context.arch, context.addresses,
                         context.kbin_index};
  for (const Engine engine : all_engines) {
    NEFFLD_ASSIGN(EngineImage image, assemble_image(input, engine, context.ledger));
    const StreamPlan& stream = context.planned().streams[static_cast<std::size_t>(engine)];
    NEFFLD_TRY(context.sink({stream.request, image.bytes, false}));
    context.ledger.set_ip_map(context.kbin_index, engine, std::move(image.ip));
  }
  return {};
}

}  // namespace neffld
