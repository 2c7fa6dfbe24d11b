// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "isa/fields.hpp"
#include "isa/opcodes.hpp"
#include "neffld/disassembler.hpp"
#include "sample_slots.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

TEST_CASE("field descriptions stay inside their record, ascend and do not overlap") {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    std::size_t next = isa::has_events(static_cast<std::uint8_t>(opcode)) ? 0x0C : 4;
    for (const isa::Field& field : isa::fields_of(static_cast<std::uint8_t>(opcode))) {
      INFO(fmt::format("{:02X} {}", opcode, field.name));
      const bool queue_name = field.kind == isa::FieldKind::text;
      CHECK(field.width > 0);
      CHECK(field.offset >= next);
      CHECK(field.offset + field.width <= 64);
      CHECK((queue_name || field.width <= 20));
      next = std::size_t{field.offset} + field.width;
    }
  }
}

TEST_CASE("every opcode with fields is an opcode of some architecture") {
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    const auto code = static_cast<std::uint8_t>(opcode);
    if (isa::fields_of(code).empty()) continue;
    INFO(opcode);
    CHECK_FALSE(isa::opcode_of(Arch::v4, code).name.empty());
  }
}

TEST_CASE("records read as the specification explains them") {
  const Staged staged("dge-v3");
  const Locator locator(staged.layout);
  const DisassemblyContext context{locator, 0};
  const auto text = [&](const sample::Slot& slot) { return disassemble(slot, context); };
  CHECK(text(sample::event_wait({11, 528}, {6, 751})) == "wait=S[11]>=528 wait2=S[6]>=751");
  CHECK(text(sample::nop({46, 224})) == "wait=S[46]>=224");
  CHECK(text(sample::dma_trigger("qPoolIO0", 3, {4, 19})) ==
        "wait=S[4]>=19 queue=qPoolIO0 block=3");
  CHECK(text(sample::branch_label(7)) == "label=L7");
  CHECK(mnemonic(Arch::v3, sample::nop({})) == "A4 NOP");
  sample::Slot unknown = {0xFE, 0x10};
  CHECK(mnemonic(Arch::v3, unknown) == "FE unknown");
  unknown[0x3F] = 0xAB;
  CHECK(text(unknown) == "+0x3f=ab");  // nothing is hidden
}

TEST_CASE("names cannot drive the terminal") {
  const Staged staged("vecadd-v3");
  const Locator locator(staged.layout);
  const std::string text = disassemble(sample::dma_trigger("q\x1b[2J\xc2\x9b\xe2\x80\xae", 0),
                                       DisassemblyContext{locator, 0});
  CHECK(text == "queue=q\\x1b[2J\\u{9b}\\u{202e}");
}

TEST_CASE("any 64 bytes disassemble to one line") {
  const Staged staged("vecadd-v2");
  const Locator locator(staged.layout);
  const DisassemblyContext context{locator, 99};  // no such subgraph either
  std::vector<std::uint8_t> record(64);
  std::uint64_t state = 1;
  for (unsigned round = 0; round < 4096; ++round) {
    for (auto& byte : record) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<std::uint8_t>(state >> 56);
    }
    record[0] = static_cast<std::uint8_t>(round);
    const std::string text = disassemble(record, context);
    CHECK(std::none_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
    static_cast<void>(addresses_in(record));
  }
}

TEST_CASE("image slots know the NEFF slots they come from") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Staged staged(name);
    for (std::uint32_t s = 0; s < staged.layout.subgraphs.size(); ++s) {
      for (const Engine engine : all_engines) {
        const Layout::Stream& stream = staged.layout.subgraphs[s].stream(engine);
        const Bytes slots = staged.model->parsed.kbins[s].engine(engine).slots;
        const auto image = read_section(*staged.memory, staged.layout.sections[*stream.section]);
        CHECK_FALSE(source_slot(stream, 0));  // the preamble
        CHECK_FALSE(source_slot(stream, stream.slots_out));
        for (std::uint32_t i = 0; i < stream.slots_out; ++i) {
          const auto source = source_slot(stream, i);
          if (!source) continue;
          REQUIRE(*source < slots.size() / 64);
          // A record that is copied is the same on both sides, but for a branch's target and, in
          // functions, for the function bit of byte 3 (spec 05 A6).
          const Bytes before = slots.subspan(64 * std::size_t{*source}, 64);
          if (isa::opcode_of(staged.layout.arch, before[0]).treatment == isa::Treatment::verbatim) {
            const std::ptrdiff_t same = before[0] == isa::op_compare_branch ? 4 : 64;
            const auto after = image.begin() + 64 * i;
            CHECK(std::equal(before.begin(), before.begin() + 3, after));
            CHECK((before[3] | 1) == (after[3] | 1));
            CHECK(std::equal(before.begin() + 4, before.begin() + same, after + 4));
          }
        }
      }
    }
  }
}
