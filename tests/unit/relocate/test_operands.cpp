// SPDX-License-Identifier: MIT
// Address operands: D4, CD and CE, their forms and bounds (spec 05 A3, 08 s4.2, decisions 11, 18,
// 36, 38).
#include <fmt/format.h>

#include "operand.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

using sample::DgeCopy;
using sample::DgeSide;

/// SB, in, out, f (file), v (virtual), p (pointer), l (list), a dge-table [out, in], one DGE queue.
struct OperandRig {
  explicit OperandRig(Arch arch = Arch::v3) : program(arch) {
    sb = program.state_buffer();
    in = program.add(VarKind::input, "in", 4096);
    out = program.add(VarKind::output, "out", 8192);
    f = program.file("f", 4096);
    v = program.scratch("v", 4096, 0);
    p = program.add(VarKind::pointer, "p", 8);
    program.variable(p).referenced_var_id = f;
    l = program.add(VarKind::list, "l");
    table = program.add(VarKind::dge_table, "t");
    program.variable(table).list = {out, in};
    r = program.add(VarKind::remote, "r", 64);
    program.dynamic_queue("qDyn", Engine::pool, {20, 21, 22});
    slot = sample::dma_direct2d(good(), 21);
  }
  Program program;
  std::uint32_t sb, in, out, f, v, p, l, table, r;
  sample::Slot slot;

  /// 4 rows of 16 bytes of f to 4 partitions.
  DgeCopy good() const {
    DgeCopy copy;
    copy.from = {false, static_cast<std::uint16_t>(f), 0, {16, 0}, {4, 1}, 16};
    copy.to = {false, static_cast<std::uint16_t>(sb), 0, {0x40000, 0}, {4, 1}, 16};
    return copy;
  }
  Result<Plan> plan(Engine engine = Engine::pool) {
    program.slot(engine, slot);
    const Kbin& kbin = program.kbin();
    return plan_model(std::span(&kbin, 1));
  }
  void expect_refused(std::string text, Engine engine = Engine::pool) {
    INFO(text);
    check_refused(plan(engine),
                  {fmt::format("sg00/{}.bin", engine_name(engine)), "slot", 0, std::move(text)});
  }
};

TEST_CASE("a D4 needs a copy, one dynamic queue of its engine and a semaphore of its set") {
  {
    OperandRig rig;
    CHECK(rig.plan());
  }
  for (const int op : {1, 2, 3, 255}) {
    OperandRig rig;
    rig.slot[0x0F] = static_cast<std::uint8_t>(op);
    rig.expect_refused(fmt::format("dge_op is {}, expected 0 (copy)", op));
  }
  {
    OperandRig rig;
    rig.expect_refused("engine sp owns 0 dynamic queues, expected exactly 1", Engine::sp);
  }
  {
    OperandRig rig;
    rig.program.dynamic_queue("qDyn2", Engine::pool, {21});
    rig.expect_refused("engine pool owns 2 dynamic queues, expected exactly 1");
  }
  for (const int semaphore : {19, 23, 0, 255}) {
    OperandRig rig;
    rig.slot[0x0D] = static_cast<std::uint8_t>(semaphore);
    rig.expect_refused(fmt::format(
        "completion semaphore {} is not in the semaphore_set of queue qDyn", semaphore));
  }
  for (const int semaphore : {20, 21, 22}) {  // any of the set, in any order (decision 38)
    OperandRig rig;
    rig.slot[0x0D] = static_cast<std::uint8_t>(semaphore);
    CHECK(rig.plan());
  }
}

TEST_CASE("only the variable and the table marker are understood") {
  for (const int marker : {0x00, 0x04, 0x08, 0x2D, 0x68, 0x21, 0x30, 0x50, 0x80, 0xC0, 0xFF}) {
    for (const std::size_t at : {0x10u, 0x28u}) {
      OperandRig rig;
      rig.slot[at + 7] = static_cast<std::uint8_t>(marker);
      rig.expect_refused(fmt::format("operand at byte 0x{:x} has marker 0x{:02x}", at, marker));
    }
  }
}

TEST_CASE("a table entry whose offset is in registers stays as it is; only its index is checked") {
  for (const int marker : {0x24, 0x28, 0x2C}) {
    OperandRig rig;
    rig.slot[0x17] = static_cast<std::uint8_t>(marker);
    std::fill_n(rig.slot.begin() + 0x10, 4, std::uint8_t{0xFF});  // registers, not an offset
    rig.slot[0x14] = rig.slot[0x15] = rig.slot[0x16] = 0;
    CHECK(rig.plan());
    OperandRig beyond;
    beyond.slot = rig.slot;
    beyond.slot[0x14] = 200;
    beyond.expect_refused("operand at byte 0x10 names entry 200 of a dge-table");
  }
}

TEST_CASE("table entries keep marker and index and are bounded by the variable they mean") {
  OperandRig rig;
  DgeCopy copy = rig.good();
  copy.from = {true, 1, 4096 - 64, {16, 0}, {4, 1}, 16};  // entry 1 is `in`
  rig.slot = sample::dma_direct2d(copy, 20);
  const auto plan = rig.plan();
  REQUIRE(plan);
  const Kbin& kbin = rig.program.kbin();
  const Relocated result = relocated(std::span(&kbin, 1), *plan, made_up_addresses(*plan));
  const Bytes image = result.sections.at(plan->kbins[0].streams[2].request);
  CHECK(to_hex(image.subspan(64 + 0x10, 8)) == "c0 0f 00 00 01 00 00 20");
  CHECK(result.counts.count_of(0, RelocForm::var_address) == 1);

  OperandRig beyond;
  copy.from.offset = 4096 - 63;
  beyond.slot = sample::dma_direct2d(copy, 20);
  beyond.expect_refused("invalid offset in in, 4096 < (4033 + 64)");
  OperandRig other;  // entry 0 is `out`, twice as large
  copy.from.index = 0;
  other.slot = sample::dma_direct2d(copy, 20);
  CHECK(other.plan());
  OperandRig missing;
  copy.from.index = 2;
  missing.slot = sample::dma_direct2d(copy, 20);
  missing.expect_refused("operand at byte 0x10 names entry 2 of a dge-table with 2 entries");
}

TEST_CASE("a table entry without any table is refused") {
  Program program(Arch::v3);
  program.state_buffer();
  program.dynamic_queue("qDyn", Engine::pool, {20});
  DgeCopy copy;
  copy.from = {true, 0, 0, {0, 0}, {1, 1}, 4};
  copy.to = {false, 0, 0, {0, 0}, {1, 1}, 4};
  program.slot(Engine::pool, sample::dma_direct2d(copy, 20));
  const Kbin& kbin = program.kbin();
  check_refused(plan_model(std::span(&kbin, 1)),
                {"sg00/pool.bin", "slot", 0, "names entry 0 of a dge-table with 0 entries"});
}

TEST_CASE("variable operands must name something placed at load") {
  const auto with_source = [](std::uint32_t OperandRig::*which, std::string text) {
    OperandRig rig;
    DgeCopy copy = rig.good();
    copy.from.index = static_cast<std::uint16_t>(rig.*which);
    rig.slot = sample::dma_direct2d(copy, 20);
    rig.expect_refused(std::move(text));
  };
  with_source(&OperandRig::in,
              "operand at byte 0x10 names input variable in, expected one that is placed");
  with_source(&OperandRig::out, "names output variable out");
  with_source(&OperandRig::p, "names pointer variable p");
  with_source(&OperandRig::l, "names list variable l");
  with_source(&OperandRig::table, "names dge-table variable t");
  with_source(&OperandRig::r, "names remote variable r");
  OperandRig unknown;
  unknown.slot[0x2C] = 9;
  unknown.expect_refused("operand at byte 0x28 names variable 9, expected an id below 9");
  OperandRig wide;
  wide.slot[0x2E] = 1;  // bits 23:16 of the id count
  wide.expect_refused("names variable 65536, expected an id below 9");
}

TEST_CASE("HBM operands stay inside their variable, negative steps and last run included") {
  struct Row {
    std::uint32_t offset;
    std::array<std::int32_t, 2> step;
    std::array<std::uint16_t, 2> num;
    bool fits;
  };
  const std::vector<Row> rows = {{4096 - 64, {16, 0}, {4, 1}, true},
                                 {4096 - 63, {16, 0}, {4, 1}, false},
                                 {4080, {-16, 0}, {4, 1}, true},
                                 {48, {-16, 0}, {4, 1}, true},
                                 {47, {-16, 0}, {4, 1}, false},
                                 {0, {0, 0}, {65535, 65535}, true},
                                 {0, {1024, 2048}, {2, 2}, true},
                                 {0, {1024, 3072}, {2, 2}, false},
                                 {0, {1 << 30, 0}, {1, 1}, true},
                                 {0, {2147483647, 0}, {2, 1}, false},
                                 {0xFFFF'FFFF, {0, 0}, {1, 1}, false},
                                 {2048, {1024, -2048}, {2, 2}, true},
                                 {2047, {1024, -2048}, {2, 2}, false},
                                 {0, {-2147483647 - 1, 0}, {65535, 1}, false},
                                 {0, {2147483647, 2147483647}, {65535, 65535}, false}};
  for (const Row& row : rows) {
    INFO("offset " << row.offset << " steps " << row.step[0] << "," << row.step[1] << " num "
                   << row.num[0] << "," << row.num[1]);
    OperandRig rig;
    DgeCopy copy;
    copy.from = {false, static_cast<std::uint16_t>(rig.f), row.offset, row.step, row.num, 16};
    copy.to = {false, static_cast<std::uint16_t>(rig.v), 0, {0, 0}, row.num, 16};
    rig.slot = sample::dma_direct2d(copy, 20);
    const auto plan = rig.plan();
    CHECK(plan.has_value() == row.fits);
    if (!plan)
      check_error(plan.error(), {"sg00/pool.bin", "slot", 0, "invalid offset in f, 4096 <"});
  }
}

TEST_CASE("a run of 0 means 65536 bytes and a count of 0 is refused") {
  OperandRig rig;
  DgeCopy copy = rig.good();
  copy.from.run = 0;
  rig.slot = sample::dma_direct2d(copy, 20);
  rig.expect_refused("invalid offset in f, 4096 < (0 + 65584)");
  for (const std::size_t at : {0x20u, 0x22u, 0x38u, 0x3Au}) {
    OperandRig zero;
    zero.slot[at] = zero.slot[at + 1] = 0;
    zero.expect_refused("transfer of no bytes: a count is 0");
  }
}

TEST_CASE("SBUF operands stay inside their partitions and off the reserved bytes") {
  struct Row {
    Arch arch;
    bool reserved;
    std::uint32_t offset;
    std::array<std::int32_t, 2> step;
    std::array<std::uint16_t, 2> num;
    std::uint16_t run;
    bool fits;
  };
  constexpr std::int32_t part = 0x40000;
  const std::vector<Row> rows = {{Arch::v2, false, 0x30000 - 512, {part, 0}, {128, 1}, 512, true},
                                 {Arch::v2, false, 0x30000 - 511, {part, 0}, {128, 1}, 512, false},
                                 {Arch::v3, true, 229368 - 512, {part, 0}, {128, 1}, 512, true},
                                 {Arch::v3, true, 229368 - 511, {part, 0}, {128, 1}, 512, false},
                                 {Arch::v3, true, 229368, {part, 0}, {1, 1}, 8, false},
                                 {Arch::v3, false, 0x38000 - 512, {part, 0}, {128, 1}, 512, true},
                                 {Arch::v3, false, 0x38000 - 511, {part, 0}, {128, 1}, 512, false},
                                 {Arch::v3, true, 0, {part, 0}, {129, 1}, 4, false},
                                 {Arch::v3, true, part, {part, 0}, {128, 1}, 4, false},
                                 {Arch::v3, true, 127u * part, {part, 0}, {1, 1}, 4, true},
                                 {Arch::v3, true, 127u * part, {-part, 0}, {128, 1}, 4, true},
                                 {Arch::v3, true, 126u * part, {-part, 0}, {128, 1}, 4, false},
                                 {Arch::v3, true, 0, {256, part}, {4, 128}, 256, true},
                                 {Arch::v3, true, 0, {-256, part}, {4, 128}, 256, false},
                                 {Arch::v3, true, 768, {-256, part}, {4, 128}, 256, true},
                                 {Arch::v3, true, 128u * part, {0, 0}, {1, 1}, 4, false},
                                 {Arch::v3, true, 0xFFFF'FFFF, {0, 0}, {1, 1}, 4, false},
                                 // The step of a single row is irrelevant (spec 08 s3.1).
                                 {Arch::v3, true, 0, {0x7FFF'FFFF, 0}, {1, 1}, 4, true}};
  for (const Row& row : rows) {
    INFO(arch_name(row.arch) << " offset " << row.offset << " step " << row.step[0] << ","
                             << row.step[1] << " run " << row.run);
    OperandRig rig(row.arch);
    if (row.reserved) {
      const_cast<Kbin&>(rig.program.kbin()).carveouts = {{0x37FF8, 8, 0, 128}};
    }
    DgeCopy copy;
    copy.from = {false, static_cast<std::uint16_t>(rig.f), 0, {0, 0}, row.num, row.run};
    copy.to = {false, static_cast<std::uint16_t>(rig.sb), row.offset, row.step, row.num, row.run};
    rig.slot = sample::dma_direct2d(copy, 20);
    const auto plan = rig.plan();
    CHECK(plan.has_value() == row.fits);
    if (!plan) {
      check_error(plan.error(), {"sg00/pool.bin", "slot", 0, "leaves its partitions"});
    }
  }
}

TEST_CASE("var_id 0 means the state buffer when variable 0 is something else") {
  Program program(Arch::v2);
  const auto f = program.file("f", 64);
  const auto sb = program.state_buffer();
  program.dynamic_queue("qDyn", Engine::pool, {20});
  DgeCopy copy;
  copy.from = {false, static_cast<std::uint16_t>(sb), 0x100, {0, 0}, {1, 1}, 16};
  copy.to = {false, 0, 0x200, {0, 0}, {1, 1}, 16};
  program.slot(Engine::pool, sample::dma_direct2d(copy, 20));
  program.slot(Engine::pool, sample::tensor_load(f, 8, 3));  // no PSEUDO_ADDR8: 0 is variable 0
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins);
  const Addresses addresses = made_up_addresses(plan);
  const Relocated result = relocated(kbins, plan, addresses);
  const Bytes image = result.sections.at(plan.kbins[0].streams[2].request);
  CHECK(load_le<std::uint64_t>(image, 64 + 0x10) == 0xFFF'C000'0100);
  CHECK(load_le<std::uint64_t>(image, 64 + 0x28) == 0xFFF'C000'0200);
  CHECK(load_le<std::uint64_t>(image, 128 + 0x10) ==
        addresses.sections[request_of(plan, "variable f")] + 8);
}

TEST_CASE("without a state buffer var_id 0 is variable 0") {
  Program program(Arch::v2);
  program.file("f", 64);
  program.dynamic_queue("qDyn", Engine::pool, {20});
  DgeCopy copy;
  copy.from = {false, 0, 16, {0, 0}, {1, 1}, 16};
  copy.to = {false, 0, 32, {0, 0}, {1, 1}, 16};
  program.slot(Engine::pool, sample::dma_direct2d(copy, 20));
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins);
  const Addresses addresses = made_up_addresses(plan);
  const Relocated result = relocated(kbins, plan, addresses);
  const Bytes image = result.sections.at(plan.kbins[0].streams[2].request);
  CHECK(load_le<std::uint64_t>(image, 64 + 0x28) ==
        addresses.sections[request_of(plan, "variable f")] + 32);
}

TEST_CASE("tensor loads and stores are bounded and need a dtype other than u64") {
  const auto check = [](std::uint32_t var, std::uint32_t offset, int dtype, std::string text) {
    INFO("variable " << var << " offset " << offset << " dtype " << dtype);
    for (const bool load : {true, false}) {
      OperandRig rig;
      rig.slot = load ? sample::tensor_load(var, offset, 5) : sample::tensor_store(var, offset, 7);
      rig.slot[0x0C] = static_cast<std::uint8_t>(dtype);
      if (text.empty()) {
        CHECK(rig.plan());
      } else {
        rig.expect_refused(text);
      }
    }
  };
  const OperandRig names;
  for (const int dtype : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
    check(names.f, 0, dtype, "");
  for (const int dtype : {0, 1, 17, 255}) {
    check(names.f, 0, dtype, fmt::format("dtype code is {}", dtype));
  }
  check(names.f, 4092, 9, "");
  check(names.f, 4093, 9, "invalid offset in f, 4096 < (4093 + 4)");
  check(names.f, 4095, 3, "");
  check(names.f, 0xFFFF'FFFF, 9, "invalid offset in f");
  check(9, 0, 9, "operand at byte 0x10 names variable 9, expected an id below 9");
  check(0xFFFF'FFFF, 0, 9, "names variable 4294967295");
  check(names.sb, 0x3'7FFC, 9, "");
  check(names.sb, 0x3'7FFD, 9, "leaves its partitions");
  check(names.v, 0, 9, "");
  check(names.in, 0, 9, "names input variable in, expected one that is placed at load");
  check(names.out, 0, 9, "names output variable out");
  check(names.l, 0, 9, "names list variable l");
  check(names.table, 0, 9, "names dge-table variable t");
  check(names.p, 0, 9, "");  // how a stream reads a pointer cell
  check(names.p, 4, 9, "offset 4 into pointer variable p, expected 0");
}

TEST_CASE("tensor steps count in elements and may be negative") {
  OperandRig rig;
  rig.slot = sample::tensor_load(rig.f, 4092, 5);
  rig.slot[0x0E] = 4;
  store_le<std::uint32_t>(MutableBytes(rig.slot), 0x18, static_cast<std::uint32_t>(-341));
  CHECK(rig.plan());  // 4092, 2728, 1364, 0
  OperandRig below;
  below.slot = sample::tensor_load(below.f, 4088, 5);
  below.slot[0x0E] = 4;
  store_le<std::uint32_t>(MutableBytes(below.slot), 0x18, static_cast<std::uint32_t>(-341));
  below.expect_refused("invalid offset in f");
}

TEST_CASE("a tensor load or store stays in one 16 MiB window") {
  constexpr std::uint64_t edge = 0x3'0100'0000;
  struct Case {
    std::uint64_t first_byte;  // device address the record names
    std::array<std::uint8_t, 2> counts;
    std::array<std::int32_t, 2> steps;
    bool allowed;
  };
  const Case cases[] = {
      {edge - 4, {1, 1}, {0, 0}, true},   {edge - 3, {1, 1}, {0, 0}, false},
      {edge, {1, 1}, {0, 0}, true},       {edge - 8, {2, 1}, {1, 0}, true},
      {edge - 4, {2, 1}, {1, 0}, false},  {edge, {2, 1}, {-1, 0}, false},
      {edge + 4, {2, 1}, {-1, 0}, true},  {edge - 4, {4, 1}, {-2, 0}, true},
      {edge - 8, {2, 2}, {1, 1}, false},  {edge - 16, {2, 2}, {1, 2}, true},
      {edge + 8, {2, 2}, {-1, -1}, true}, {edge + 4, {2, 2}, {-1, -1}, false},
      {edge + 4, {2, 2}, {1, -1}, true},  {edge, {2, 2}, {1, -1}, false},
  };
  for (const Case& c : cases) {
    for (const bool load : {true, false}) {
      INFO(fmt::format("{:#x} {}x{} by {} and {}", c.first_byte, c.counts[0], c.counts[1],
                       c.steps[0], c.steps[1]));
      OperandRig rig;
      constexpr std::uint32_t middle = 2048;
      rig.slot =
          load ? sample::tensor_load(rig.f, middle, 5) : sample::tensor_store(rig.f, middle, 5);
      for (std::size_t i = 0; i < 2; ++i) {
        rig.slot[0x0E + i] = c.counts[i];
        store_le<std::uint32_t>(MutableBytes(rig.slot), 0x18 + 4 * i,
                                static_cast<std::uint32_t>(c.steps[i]));
      }
      const auto plan = rig.plan();
      REQUIRE(plan);
      Addresses addresses = made_up_addresses(*plan);
      addresses.sections[request_of(*plan, "variable f")] = c.first_byte - middle;
      Ledger ledger;
      const auto result = relocate(std::span(&rig.program.kbin(), 1), *plan, addresses, ledger,
                                   [](const SectionContent&) -> Result<void> { return {}; });
      if (c.allowed) {
        CHECK(result);
      } else {
        check_refused(result,
                      {"sg00/pool.bin", "slot", 0,
                       fmt::format("{} of engine pool: the address at byte 0x10 with the "
                                   "steps at byte 0x18 spans 0x",
                                   load ? "0xCE PSEUDO_TENSOR_LOAD" : "0xCD PSEUDO_TENSOR_STORE")});
      }
    }
  }
}

TEST_CASE("a real tensor load or store with an immediate address stays in one 16 MiB window") {
  const auto plan = [](std::uint8_t opcode, std::uint64_t address, std::uint8_t dtype, int count,
                       int step) {
    OperandRig rig;
    rig.slot = {opcode, 0x10};
    rig.slot[0x0C] = dtype;
    rig.slot[0x0E] = static_cast<std::uint8_t>(count);
    rig.slot[0x0F] = 1;
    store_le<std::uint64_t>(MutableBytes(rig.slot), 0x10, address);
    store_le<std::uint32_t>(MutableBytes(rig.slot), 0x18, static_cast<std::uint32_t>(step));
    return rig.plan();
  };
  constexpr std::uint64_t edge = 0xFF'FF00'0000;
  for (const int code : {0xAA, 0xAB}) {
    INFO(code);
    const auto opcode = static_cast<std::uint8_t>(code);
    CHECK(plan(opcode, edge - 8, 9, 2, 1));
    CHECK(plan(opcode, edge + 4, 9, 2, -1));
    CHECK(plan(opcode, edge - 8, 1, 1, 0));    // u64 is legal in a real record
    CHECK(plan(opcode, edge - 2, 255, 2, 1));  // one byte an element
    CHECK(plan(opcode, edge - 4, 9, 0, 1));    // moves nothing
    check_refused(plan(opcode, edge - 7, 1, 1, 0), {"sg00/pool.bin", "slot", 0, "16 MiB window"});
    check_refused(plan(opcode, edge - 1, 255, 2, 1), {"sg00/pool.bin", "slot", 0, "16 MiB"});
    check_refused(plan(opcode, edge, 9, 2, -1),
                  {"sg00/pool.bin", "slot", 0, "spans 0xfffefffffc to 0xffff000003"});
    for (const std::uint64_t marker : {0x80u, 0x20u, 0x40u}) {  // registers, a table
      CHECK(plan(opcode, (edge - 4) | marker << 56, 9, 2, 1));
    }
  }
}

TEST_CASE("an address that needs the marker byte is refused at relocation") {
  OperandRig rig;
  const auto plan = rig.plan();
  REQUIRE(plan);
  const Kbin& kbin = rig.program.kbin();
  const auto run = [&](std::uint64_t address) {
    Addresses addresses = made_up_addresses(*plan);
    addresses.sections[request_of(*plan, "variable f")] = address;
    Ledger ledger;
    return relocate(std::span(&kbin, 1), *plan, addresses, ledger,
                    [](const SectionContent&) -> Result<void> { return {}; });
  };
  CHECK(run((1ull << 56) - 1));
  check_refused(run(1ull << 56), {"sg00/pool.bin", "slot", 0, "needs more than 56 bits"});
}

TEST_CASE("one variable with sites in two rings, a record and a table is patched everywhere") {
  OperandRig rig;
  const auto q0 = rig.program.queue("q0", Engine::sp, 1),
             q1 = rig.program.queue("q1", Engine::sp, 1);
  rig.program.variable(rig.table).list = {rig.f};
  rig.program.block(q0, 0, {copy(side(rig.f, 3, {5}), side(rig.v, 1, {5}))});
  rig.program.block(q1, 0, {copy(side(rig.v, 7, {9}), side(rig.f, 11, {9}))});
  const auto plan = rig.plan();
  REQUIRE(plan);
  const Kbin& kbin = rig.program.kbin();
  const Addresses addresses = made_up_addresses(*plan);
  const Relocated result = relocated(std::span(&kbin, 1), *plan, addresses);
  const std::uint64_t base = addresses.sections[request_of(*plan, "variable f")];
  std::map<RelocForm, std::vector<std::uint64_t>> sites;
  for (const LedgerRow& row : result.rows) {
    if (row.symbol.kind != Symbol::Kind::variable || row.symbol.index != rig.f) continue;
    CHECK(row.new_value == base + row.symbol.addend);
    sites[row.form].push_back(row.symbol.addend);
  }
  CHECK(sites[RelocForm::ring_pointer] == std::vector<std::uint64_t>{3, 11});
  CHECK(sites[RelocForm::var_address] == std::vector<std::uint64_t>{0});
  CHECK(sites[RelocForm::table_entry] == std::vector<std::uint64_t>{0});
  CHECK(sites[RelocForm::pointer_cell] == std::vector<std::uint64_t>{0});
}

}  // namespace
}  // namespace neffld::test
