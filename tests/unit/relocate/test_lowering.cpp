// SPDX-License-Identifier: MIT
// Pseudo records that become one real record (spec 05 A4, U). Triggers, tensor and transfer records
// are in test_records and test_operands, control flow in test_control_flow.
#include <fmt/format.h>

#include "support.hpp"

namespace neffld::test {
namespace {

/// One slot on an engine of a program with a few variables; the record it becomes.
struct LoweringRig {
  explicit LoweringRig(Arch arch = Arch::v3, Engine on = Engine::pool) : program(arch), engine(on) {
    file = program.file("f", 4096);
    buffer = program.state_buffer();
    in = program.add(VarKind::input, "in", 256);
  }
  Result<Plan> plan() {
    const Kbin& kbin = program.kbin();
    return plan_model(std::span(&kbin, 1));
  }
  Bytes record(std::size_t number = 0) {
    const auto made = plan();
    REQUIRE(made);
    kept_plan = *made;
    addresses = made_up_addresses(*made);
    const Kbin& kbin = program.kbin();
    result = relocated(std::span(&kbin, 1), *made, addresses);
    const auto& stream = made->kbins[0].streams[static_cast<std::size_t>(engine)];
    return Bytes(result.sections.at(stream.request)).subspan(64 * (number + 1), 64);
  }
  void refused(const sample::Slot& slot, std::string text) {
    program.slot(engine, slot);
    check_refused(plan(),
                  {fmt::format("sg00/{}.bin", engine_name(engine)), "slot", 0, std::move(text)});
  }
  std::uint64_t address(std::uint32_t var_id) {
    return variable_address(program.kbin(), kept_plan.kbins[0], addresses, var_id).value();
  }

  Program program;
  Engine engine;
  std::uint32_t file = 0, buffer = 0, in = 0;
  Plan kept_plan;
  Addresses addresses;
  Relocated result;
};

sample::Slot with_events(sample::Slot slot) {
  slot[4] = 5, slot[5] = 22, slot[6] = 0x13, slot[7] = 12, slot[8] = 7, slot[9] = 1;
  return slot;
}

TEST_CASE("barriers become a drain that keeps the events and nothing else") {
  for (const Arch arch : {Arch::v2, Arch::v3}) {
    for (const int opcode : {0xC3, 0xD5, 0xD8}) {
      for (const Engine engine : all_engines) {
        LoweringRig rig(arch, engine);
        sample::Slot slot = with_events(sample::make_slot(static_cast<std::uint8_t>(opcode)));
        std::fill(slot.begin() + 0x0C, slot.end(), std::uint8_t{0xAA});
        rig.program.slot(engine, slot);
        CHECK(to_hex(rig.record()) == to_hex(slot_of("a2 10 00 00 05 16 13 0c 07 01 00 00")));
        REQUIRE(rig.result.counts.count_of(0, RelocForm::opcode) == 1);
      }
    }
  }
}

TEST_CASE("reading a variable's address becomes a move into a register pair") {
  LoweringRig rig;
  rig.program.slot(rig.engine, with_events(sample::read_var_addr(rig.file, 0x123, 0x30, 0x31)));
  rig.program.slot(rig.engine, sample::read_var_addr(rig.buffer, 0x40010, 2, 3));
  const auto move = [&](std::string_view events, std::uint64_t address, std::string_view pair) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += fmt::format("{:02x} ", address >> (8 * i) & 255);
    return to_hex(
        slot_of(fmt::format("a7 10 00 00 {} 02 09 01 00 00*8 {} 00*6 {}", events, pair, bytes)));
  };
  const std::string first = to_hex(rig.record(0)), second = to_hex(rig.record(1));
  CHECK(first == move("05 16 13 0c 07 01 00 00", rig.address(rig.file) + 0x123, "30 31"));
  CHECK(second == move("00*8", arch_table(Arch::v3).tpb_base[0] + 0x40010, "02 03"));
}

TEST_CASE("an address outside its variable, or of a tensor not known yet, is refused") {
  LoweringRig last;
  last.program.slot(last.engine, sample::read_var_addr(last.file, 4095, 2, 3));
  CHECK(last.plan());
  LoweringRig beyond;
  beyond.refused(sample::read_var_addr(beyond.file, 4096, 2, 3),
                 "invalid offset in f, 4096 < (4096 + 1)");
  LoweringRig input;
  input.refused(sample::read_var_addr(input.in, 0, 2, 3), "names input variable in");
  LoweringRig unknown;
  unknown.refused(sample::read_var_addr(99, 0, 2, 3), "names variable 99");
}

TEST_CASE("tensor loads and stores move at most 32 elements") {
  LoweringRig rig;
  sample::Slot slot = sample::tensor_load(rig.file, 0, 1);
  slot[0x0E] = 8, slot[0x0F] = 4;
  rig.program.slot(rig.engine, slot);
  CHECK(rig.plan());
  LoweringRig wide;
  slot[0x0F] = 5;
  wide.refused(slot, "moves 40 elements, expected at most 32");
}

// ---- extensions ----

struct Transfers : LoweringRig {
  Transfers() {
    program.dynamic_queue("d", engine, {8});
    transfer.from = {false, static_cast<std::uint16_t>(file), 0, {0, 0}, {1, 1}, 64};
    transfer.to = {false, static_cast<std::uint16_t>(buffer), 0, {0, 0}, {1, 1}, 64};
  }
  void extended(const sample::Slot& extension) {
    program.slot(engine, sample::dma_direct2d(transfer, 8));
    program.slot(engine, extension);
  }
  sample::DgeCopy transfer;
};

TEST_CASE("an extension that asks for nothing is removed behind its transfer") {
  Transfers rig;
  rig.extended(sample::extension());
  rig.program.slot(rig.engine, sample::nop({}));
  CHECK(rig.record(0)[0] == 0xB8);
  CHECK(rig.record(1)[0] == 0xA4);
  CHECK(rig.kept_plan.kbins[0].streams[2].main_slots == 2);
}

TEST_CASE("an extension that asks for more, or follows something else, is refused") {
  for (std::size_t at = 2; at < 64; ++at) {
    if (at == 3) continue;  // the compute operation, below
    Transfers rig;
    sample::Slot extension = sample::extension();
    extension[at] = 1;
    rig.extended(extension);
    check_refused(rig.plan(), {"sg00/pool.bin", "slot", 1,
                               fmt::format("PSEUDO_EXTENSION has 0x1 at byte 0x{:x}", at)});
  }
  Transfers compute;
  compute.extended(sample::extension(1));
  check_refused(compute.plan(),
                {"sg00/pool.bin", "slot", 1, "has compute operation 1, which cannot be lowered"});
  LoweringRig alone;
  alone.refused(sample::extension(), "does not follow a PSEUDO_DMA_DIRECT2D");
  Transfers twice;
  twice.extended(sample::extension());
  twice.program.slot(twice.engine, sample::extension());
  check_refused(twice.plan(),
                {"sg00/pool.bin", "slot", 2, "does not follow a PSEUDO_DMA_DIRECT2D"});
}

// ---- collectives ----

sample::Slot collective(std::uint8_t opcode, std::uint32_t input, std::uint32_t output) {
  sample::Slot slot = sample::make_slot(opcode);
  slot[0x0C] = 4, slot[0x0D] = 10;
  store_le<std::uint32_t>(slot, 0x10, input);
  store_le<std::uint32_t>(slot, 0x14, output);
  store_le<std::uint64_t>(slot, 0x18, 16);
  slot[0x20] = opcode == 0xC8 ? 1 : 0;
  return slot;
}

struct Collectives : LoweringRig {
  explicit Collectives(Arch arch = Arch::v3) : LoweringRig(arch) {
    program.edit().replica_groups = {{{0, 1}}};
    program.edit().src_target_pairs = {{{0, 1}}};
  }
};

TEST_CASE("collectives write their number in the subgraph's list to the trigger register") {
  for (const auto& [arch, address] :
       {std::pair{Arch::v2, 0xFFFD0060848ull}, {Arch::v3, 0x82800615A0ull}}) {
    Collectives rig(arch);
    rig.program.slot(Engine::act, collective(0xC8, rig.in, rig.file));
    rig.program.slot(rig.engine, with_events(collective(0xC8, rig.in, rig.file)));
    rig.program.slot(rig.engine, collective(0xCB, rig.file, rig.file));
    for (std::uint32_t i = 0; i < 2; ++i) {
      const Bytes record = rig.record(i);
      CHECK(record[0] == 0xA5);
      CHECK(record[0x0C] == 4);
      CHECK(load_le<std::uint64_t>(record, 0x10) == address);
      CHECK(load_le<std::uint32_t>(record, 0x18) == i + 2);  // ACT has the first
      CHECK(record[5] == (i == 0 ? 22 : 0));
    }
    CHECK(rig.kept_plan.kbins[0].collectives == 3);
    CHECK(rig.result.counts.count_of(0, RelocForm::collective_index) == 3);
  }
}

TEST_CASE("collectives that make no sense are refused") {
  const auto check = [](std::size_t at, std::uint8_t value, std::string text) {
    Collectives rig;
    sample::Slot slot = collective(0xC8, rig.in, rig.file);
    slot[at] = value;
    rig.refused(slot, std::move(text));
  };
  check(0x0C, 5, "reduce operation is 5, expected 4, 6, 8 or 9");
  check(0x0C, 200, "reduce operation is 200");
  check(0x0D, 0, "dtype code is 0");
  check(0x0E, 1, "group is 1, expected one below 1");
  check(0x10, 77, "byte 0x10 names variable 77");
  check(0x14, 77, "byte 0x14 names variable 77");
  check(0x18, 65, "invalid offset in in, 64 < (0 + 65)");
  check(0x18, 0, "invalid offset in in, 64 < (0 + 0)");
  check(0x20, 2, "collective type is 2, expected 1 (all-reduce)");
  check(0x30, 49, "invalid offset in in, 64 < (49 + 16)");
  check(0x3F, 0xFF, "invalid offset in f, 1024 < (");
}

}  // namespace
}  // namespace neffld::test
