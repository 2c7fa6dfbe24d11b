// SPDX-License-Identifier: MIT
// What the engines do with single records: waits, updates, registers, branches, transfers (spec 05
// A1 to A5, spec 10 sections 1 and 7).
#include <catch2/catch.hpp>

#include "program.hpp"

using namespace devsim_test;

namespace {

/// A device with one core that executes, and some memory.
struct Fixture {
  explicit Fixture(std::uint32_t architecture = 3)
      : device(architecture), client(device), core(device, client, architecture) {
    memory = client.alloc({1_MiB});
    pa = client.pa(memory);
  }
  /// Runs one program on an engine; the errors it ended with.
  std::vector<neuron_notification> run(const Program& program,
                                       std::uint32_t engine = NEURON_ENGINE_SP) {
    core.set(engine, program);
    REQUIRE(core.execute() == 0);
    return core.errors();
  }
  std::uint32_t word(std::uint64_t offset) const {
    std::uint32_t value = 0;
    REQUIRE(client.copy(memory, &value, 4, offset, false) == 0);
    return value;
  }

  Device device;
  Client client;
  Core core;
  std::uint64_t memory = 0, pa = 0;
};

std::uint32_t field(const neuron_notification& record) {
  return record.subtype >> 8;
}

/// The program is refused at its first record, at this byte of it.
void check_refused(const Record& record, std::uint32_t byte) {
  Fixture fixture;
  const auto errors = fixture.run({record});
  CAPTURE(byte, record.bytes()[0]);
  REQUIRE(errors.size() == 1);
  CHECK(error_class(errors[0]) == NEURON_EXEC_RECORD_REFUSED);
  CHECK((errors[0].subtype & 0xFF) == NEURON_ENGINE_SP);
  CHECK(field(errors[0]) == byte);
  CHECK(neuron_notification_pc(&errors[0]) == 1);
}

}  // namespace

TEST_CASE("waits on semaphores compare unsigned") {
  struct Case {
    std::uint32_t mode, present, wanted;
    bool holds;
  };
  const Case cases[] = {
      {wait_eq, 5, 5, true},  {wait_eq, 5, 6, false},         {wait_lt, 4, 5, true},
      {wait_lt, 5, 5, false}, {wait_le, 5, 5, true},          {wait_le, 6, 5, false},
      {wait_gt, 6, 5, true},  {wait_gt, 5, 5, false},         {wait_ge, 5, 5, true},
      {wait_ge, 4, 5, false}, {wait_ge, 0x80000000, 7, true}, {wait_lt, 0xFFFFFFFF, 7, false},
  };
  Fixture fixture;
  for (const Case& c : cases) {
    CAPTURE(c.mode, c.present, c.wanted);
    const auto errors = fixture.run({semaphore_record().update(assign, 20).value(c.present),
                                     semaphore_record().wait(c.mode, 20, c.wanted)});
    if (c.holds) {
      CHECK(errors.empty());
      continue;
    }
    REQUIRE(errors.size() == 1);
    CHECK(error_class(errors[0]) == NEURON_EXEC_STALLED);
    CHECK(neuron_notification_pc(&errors[0]) == 2);
  }
}

TEST_CASE("waits on events hold, clear and set them") {
  Fixture fixture;
  const auto run = [&](std::uint32_t before, std::uint32_t mode) {
    return fixture.run({semaphore_record().update(before, 40), semaphore_record().wait(mode, 40)});
  };
  CHECK(run(set_event, wait_set).empty());
  CHECK(fixture.core.event(40) == 1);
  CHECK(run(set_event, wait_set_then_clear).empty());
  CHECK(fixture.core.event(40) == 0);
  CHECK(run(clear_event, wait_clear).empty());
  CHECK(fixture.core.event(40) == 0);
  CHECK(run(clear_event, wait_clear_then_set).empty());
  CHECK(fixture.core.event(40) == 1);
  CHECK(run(clear_event, wait_set).size() == 1);
  CHECK(run(set_event, wait_clear).size() == 1);
}

TEST_CASE("updates change semaphores and events, on read and on completion") {
  struct Case {
    std::uint32_t mode, value, result;
  };
  // The semaphore is 10 before.
  const Case cases[] = {{3, 0, 11}, {4, 0, 9}, {5, 7, 17}, {7, 3, 7}, {9, 99, 99}};
  Fixture fixture;
  for (const Case& c : cases) {
    for (const std::uint32_t flag : {0u, NEURON_UPDATE_ON_COMPLETION}) {
      CAPTURE(c.mode, flag);
      CHECK(fixture
                .run({semaphore_record().update(assign, 30).value(10),
                      Record(NEURON_OP_NOP).update(c.mode | flag, 30).value(c.value)})
                .empty());
      CHECK(fixture.core.semaphore(30) == c.result);
    }
  }
  CHECK(fixture
            .run({Record(NEURON_OP_NOP).update(1, 50), Record(NEURON_OP_NOP).update(17, 51),
                  Record(NEURON_OP_NOP).update(17, 52), Record(NEURON_OP_NOP).update(2, 52)})
            .empty());
  CHECK(fixture.core.event(50) == 1);
  CHECK(fixture.core.event(51) == 1);
  CHECK(fixture.core.event(52) == 0);
}

TEST_CASE("an EVENT_SEMAPHORE has a second wait and a second update") {
  Fixture fixture;
  const auto both = [](std::uint32_t second_wanted) {
    return semaphore_record()
        .wait(wait_ge, 20, 1)
        .update(increment, 22)
        .u8(NEURON_AT_SECOND_WAIT_MODE, wait_ge)
        .u8(NEURON_AT_SECOND_WAIT_INDEX, 21)
        .u32(NEURON_AT_SECOND_WAIT_VALUE, second_wanted)
        .u8(NEURON_AT_SECOND_UPDATE_MODE, add)
        .u8(NEURON_AT_SECOND_UPDATE_INDEX, 23)
        .u32(NEURON_AT_SECOND_UPDATE_VALUE, 16);
  };
  const Program raise = {semaphore_record().update(increment, 20),
                         semaphore_record().update(assign, 21).value(2)};
  CHECK(fixture.run(raise + Program{both(2)}).empty());
  CHECK(fixture.core.semaphore(22) == 1);
  CHECK(fixture.core.semaphore(23) == 16);
  const auto errors = fixture.run(raise + Program{both(3)});
  REQUIRE(errors.size() == 1);
  CHECK(error_class(errors[0]) == NEURON_EXEC_STALLED);
  CHECK(fixture.core.semaphore(22) == 0);
  // The same bytes are payload in other records.
  CHECK(fixture.run({set_register(0, 0).u8(NEURON_AT_SECOND_WAIT_MODE, 99)}).empty());
}

TEST_CASE("what has no rule is refused, with the byte that says so") {
  check_refused(semaphore_record().wait(8, 20), NEURON_AT_WAIT_MODE);
  check_refused(semaphore_record().update(6, 20), NEURON_AT_UPDATE_MODE);
  check_refused(semaphore_record().update(0x16, 20), NEURON_AT_UPDATE_MODE);
  check_refused(semaphore_record().update(0x10, 20), NEURON_AT_UPDATE_MODE);
  check_refused(semaphore_record().u8(NEURON_AT_SECOND_WAIT_MODE, 8), NEURON_AT_SECOND_WAIT_MODE);
  check_refused(semaphore_record().u8(NEURON_AT_SECOND_UPDATE_MODE, 40),
                NEURON_AT_SECOND_UPDATE_MODE);
  check_refused(Record(NEURON_OP_NOP).u8(NEURON_AT_WORD_LENGTH, 8), NEURON_AT_WORD_LENGTH);
  check_refused(Record(NEURON_OP_NOP).u8(NEURON_AT_DEBUG_COMMAND, 1), NEURON_AT_DEBUG_COMMAND);
  for (const std::uint32_t opcode :
       {0x00u, 0xC1u, 0xD4u, 0xFFu, 0x0Fu, 0x75u, 0xB0u, 0xB2u, 0xB3u, 0xB4u, 0xBBu, 0xBDu, 0xF1u})
    check_refused(Record(static_cast<std::uint8_t>(opcode)), 0);
  check_refused(write_csr(0, 1).u8(NEURON_AT_WRITE_SIZE, 8), NEURON_AT_WRITE_SIZE);
  check_refused(write_csr(0x200000000000, 1), NEURON_AT_WRITE_ADDRESS);
  check_refused(write_csr(neuron_v3_topsp_base(0) + 0x615A0, 1), NEURON_AT_WRITE_ADDRESS);
  check_refused(set_register(0, 0).u8(NEURON_AT_OPERATION, 9), NEURON_AT_OPERATION);
  check_refused(set_register(0, 0).u8(NEURON_AT_DTYPE, NEURON_DTYPE_FP32), NEURON_AT_DTYPE);
  check_refused(set_register(0, 0).u8(NEURON_AT_SOURCE, 2), NEURON_AT_SOURCE);
  check_refused(alu(0x1A, 0, 0, 0), NEURON_AT_OPERATION);
  check_refused(alu(4, 0, 0, 0, NEURON_DTYPE_FP32), NEURON_AT_DTYPE);
  check_refused(alu(4, 0, 0, 0).u8(NEURON_AT_SOURCE, 0), NEURON_AT_SOURCE);
  check_refused(branch_if(13, 0, 0, 1), NEURON_AT_OPERATION);
  check_refused(branch_if(1, 0, 0, 1, NEURON_DTYPE_FP32), NEURON_AT_DTYPE);
  check_refused(branch(1).u8(NEURON_AT_SOURCE, 2), NEURON_AT_SOURCE);
  check_refused(branch(1).u32(NEURON_AT_BRANCH_OFFSET, 32), NEURON_AT_BRANCH_OFFSET);
  check_refused(Record(NEURON_OP_NOTIFY), NEURON_AT_UPDATE_MODE);
  check_refused(Record(NEURON_OP_NOTIFY).update(increment, NEURON_SEMAPHORE_DONE).u8(0x0C, 1),
                0x0C);
}

TEST_CASE("a refused record has no effect and stops all engines of its core") {
  Fixture fixture;
  fixture.core.set(NEURON_ENGINE_PE, {wait_for(20, 1)});
  const auto errors = fixture.run({Record(NEURON_OP_RANGE_CLEAR).update(increment, 20)});
  REQUIRE(errors.size() == 1);
  CHECK(fixture.core.semaphore(20) == 0);
  CHECK(fixture.core.semaphore(NEURON_SEMAPHORE_INFERENCE_START) == 0);
  // The next request begins anew.
  fixture.core.set_all_empty();
  for (std::uint32_t i = 4; i < 9; ++i) (void)fixture.core.take(i);
  CHECK(fixture.core.execute() == 0);
  CHECK(fixture.core.ended());
}

TEST_CASE("registers move, compute and reach memory") {
  Fixture fixture;
  Record moves = Record(NEURON_OP_MOVE);
  moves.u8(NEURON_AT_OPERATION, 2).u8(NEURON_AT_DTYPE, NEURON_DTYPE_U32);
  moves.u8(NEURON_AT_MOVE_SOURCES, 3).u8(NEURON_AT_MOVE_SOURCES + 1, 200);
  moves.u8(NEURON_AT_MOVE_TARGETS, 4).u8(NEURON_AT_MOVE_TARGETS + 1, 255);
  struct Operation {
    std::uint32_t code, left, right, result, dtype;
  };
  const Operation operations[] = {
      {4, 7, 5, 12, 9},
      {5, 7, 5, 2, 9},
      {6, 7, 5, 35, 9},
      {8, 0xFFFFFFFF, 5, 0xFFFFFFFF, 9},
      {8, 0xFFFFFFFF, 5, 5, 8},
      {9, 0xFFFFFFFF, 5, 5, 9},
      {9, 0xFFFFFFFF, 5, 0xFFFFFFFF, 8},
      {0xA, 12, 10, 8, 9},
      {0xB, 12, 10, 14, 9},
      {0xC, 12, 10, 6, 9},
      {0x10, 3, 4, 48, 9},
      {0x11, 48, 4, 3, 9},
      {0x10, 3, 32, 0, 9},
      {4, 0xFFFFFFFF, 2, 1, 8},
  };
  Program program = {set_register(3, 0xAAAA5555), set_register(200, 77), moves,
                     store_register(fixture.pa, 4), store_register(fixture.pa + 4, 255)};
  std::uint64_t at = 8;
  for (const Operation& operation : operations) {
    program.push_back(set_register(1, operation.left));
    program.push_back(alu(operation.code, 1, 2, operation.right, operation.dtype));
    program.push_back(store_register(fixture.pa + at, 2));
    at += 4;
  }
  CHECK(fixture.run(program).empty());
  CHECK(fixture.word(0) == 0xAAAA5555);
  CHECK(fixture.word(4) == 77);
  at = 8;
  for (const Operation& operation : operations) {
    CAPTURE(operation.code, operation.dtype);
    CHECK(fixture.word(at) == operation.result);
    at += 4;
  }
}

TEST_CASE("registers are loaded and stored as small tensors") {
  Fixture fixture;
  REQUIRE(fixture.client.write(fixture.memory, pattern(4096, 5)) == 0);
  const auto bytes = fixture.client.read(fixture.memory, 4096);
  Record load = Record(NEURON_OP_TENSOR_LOAD);
  // 2 x 3 elements of 2 bytes, steps of 1 and 8 elements.
  load.u8(NEURON_AT_TENSOR_DTYPE, NEURON_DTYPE_I16).u8(NEURON_AT_TENSOR_COUNTS, 2);
  load.u8(NEURON_AT_TENSOR_COUNTS + 1, 3).u64(NEURON_AT_TENSOR_ADDRESS, fixture.pa + 10);
  load.u32(NEURON_AT_TENSOR_STEPS, 1).u32(NEURON_AT_TENSOR_STEPS + 4, 8);
  Program program = {load};
  for (std::uint32_t i = 0; i < 6; ++i) {
    program[0].u8(NEURON_AT_TENSOR_REGISTERS + i, 10 + i);
    program.push_back(store_register(fixture.pa + 0x8000 + 4 * i, 10 + i));
  }
  Record immediates = Record(NEURON_OP_TENSOR_STORE);
  immediates.u8(NEURON_AT_TENSOR_DTYPE, NEURON_DTYPE_U32).u8(NEURON_AT_TENSOR_SOURCE, 1);
  immediates.u8(NEURON_AT_TENSOR_COUNTS, 2).u8(NEURON_AT_TENSOR_COUNTS + 1, 1);
  immediates.u64(NEURON_AT_TENSOR_ADDRESS, fixture.pa + 0x9000);
  immediates.u32(NEURON_AT_TENSOR_STEPS, 4).u32(NEURON_AT_TENSOR_REGISTERS, 0x11223344);
  immediates.u32(NEURON_AT_TENSOR_REGISTERS + 4, 0x55667788);
  program.push_back(immediates);
  CHECK(fixture.run(program).empty());
  for (std::uint32_t i = 0; i < 6; ++i) {
    std::int16_t expected = 0;
    std::memcpy(&expected, bytes.data() + 10 + 2 * (i % 2 + 8 * (i / 2)), 2);
    CHECK(fixture.word(0x8000 + 4 * i) == static_cast<std::uint32_t>(std::int32_t{expected}));
  }
  CHECK(fixture.word(0x9000) == 0x11223344);
  CHECK(fixture.word(0x9010) == 0x55667788);
  check_refused(load.u8(NEURON_AT_TENSOR_COUNTS, 17), NEURON_AT_TENSOR_COUNTS);
  check_refused(load.u8(NEURON_AT_TENSOR_COUNTS, 0), NEURON_AT_TENSOR_COUNTS);
  check_refused(load.u8(NEURON_AT_TENSOR_COUNTS, 2).u32(NEURON_AT_TENSOR_STEPS + 4, 0x800000),
                NEURON_AT_TENSOR_STEPS);
  check_refused(load.u8(NEURON_AT_TENSOR_DTYPE, 1), NEURON_AT_TENSOR_DTYPE);
  check_refused(Record(NEURON_OP_TENSOR_LOAD).u8(NEURON_AT_TENSOR_DTYPE, 9).u8(0x0D, 1),
                NEURON_AT_TENSOR_SOURCE);
}

TEST_CASE("branches loop, compare and go to registers") {
  Fixture fixture;
  // Counts to 10 in register 1.
  CHECK(fixture
            .run({set_register(1, 0), alu(4, 1, 1, 1), branch_if(1, 1, 10, -1),
                  store_register(fixture.pa, 1)})
            .empty());
  CHECK(fixture.word(0) == 10);

  struct Case {
    std::uint32_t op, left, right, dtype;
    bool taken;
  };
  const Case cases[] = {
      {1, 4, 5, 9, true}, {1, 0xFFFFFFFF, 5, 9, false}, {1, 0xFFFFFFFF, 5, 8, true},
      {2, 5, 5, 9, true}, {3, 5, 5, 9, true},           {3, 4, 5, 9, false},
      {4, 4, 5, 9, true}, {5, 5, 5, 9, true},           {5, 4, 5, 9, false},
      {6, 6, 5, 9, true}, {6, 5, 5, 9, false},
  };
  for (const Case& c : cases) {
    for (const std::uint32_t form : {0u, 6u}) {
      CAPTURE(c.op, c.left, c.right, form);
      Record record = branch_if(c.op + form, 1, c.right, 2, c.dtype);
      if (form != 0) record.u8(NEURON_AT_COMPARE_RIGHT, 2);
      CHECK(fixture
                .run({set_register(1, c.left), set_register(2, c.right), set_register(3, 1), record,
                      set_register(3, 0), store_register(fixture.pa, 3)})
                .empty());
      CHECK(fixture.word(0) == (c.taken ? 1 : 0));
    }
  }
}

TEST_CASE("a branch to a register is absolute or relative") {
  Fixture fixture;
  const Program skip = {set_register(3, 0), store_register(fixture.pa, 3)};
  Record relative = branch(0).u8(NEURON_AT_SOURCE, NEURON_TARGET_RELATIVE_REGISTER);
  relative.u8(NEURON_AT_TARGET_LOW, 8);
  CHECK(fixture.run(Program{set_register(3, 1), set_register(8, 128), relative} + skip).empty());
  CHECK(fixture.word(0) == 1);

  // The address is that of the image, so it is patched in once the image has one.
  const auto handle = fixture.client.alloc({4096, 0x8000});
  const std::uint64_t image = fixture.client.pa(handle);
  Record absolute = branch(0).u8(NEURON_AT_SOURCE, NEURON_TARGET_REGISTERS);
  absolute.u8(NEURON_AT_TARGET_LOW, 8).u8(NEURON_AT_TARGET_HIGH, 9);
  // Slot 0 of another memory: store, then come back behind the branch.
  fixture.core.set(NEURON_ENGINE_SP, {});
  const Program there = {set_register(3, 42), store_register(fixture.pa, 3)};
  std::vector<std::uint8_t> bytes;
  for (const Record& record : there)
    bytes.insert(bytes.end(), record.bytes().begin(), record.bytes().end());
  REQUIRE(fixture.client.write(handle, bytes) == 0);
  const auto errors =
      fixture.run({set_register(8, static_cast<std::uint32_t>(image)),
                   set_register(9, static_cast<std::uint32_t>(image >> 32)), absolute});
  CHECK(fixture.word(0) == 42);
  // What follows is zero, which is no record.
  REQUIRE(errors.size() == 1);
  CHECK(error_class(errors[0]) == NEURON_EXEC_RECORD_REFUSED);
}

TEST_CASE("an engine that leaves memory reports its fetch") {
  Fixture fixture;
  Record away = branch(0).u8(NEURON_AT_SOURCE, NEURON_TARGET_REGISTERS);
  away.u8(NEURON_AT_TARGET_LOW, 8).u8(NEURON_AT_TARGET_HIGH, 9);
  for (const std::uint64_t target : {std::uint64_t{0x200000000000}, neuron_v3_dma_engine(0)}) {
    const auto errors =
        fixture.run({set_register(8, static_cast<std::uint32_t>(target)),
                     set_register(9, static_cast<std::uint32_t>(target >> 32)), away});
    REQUIRE(errors.size() == 1);
    CHECK(error_class(errors[0]) == NEURON_EXEC_FETCH);
  }
}

TEST_CASE("a halted engine does not end") {
  Fixture fixture;
  const auto errors = fixture.run({Record(NEURON_OP_HALT).update(increment, 20)});
  REQUIRE(errors.size() == 1);
  CHECK(error_class(errors[0]) == NEURON_EXEC_STALLED);
  CHECK(neuron_notification_pc(&errors[0]) == 1);
  CHECK(fixture.core.semaphore(20) == 1);
}

TEST_CASE("records that order what is in order anyway only wait and update") {
  Fixture fixture;
  Program program;
  for (const int opcode : {0x9F, 0xA2, 0xA3, 0xA4, 0xB1, 0xB5})
    program.push_back(Record(static_cast<std::uint8_t>(opcode)).update(increment, 20));
  CHECK(fixture.run(program).empty());
  CHECK(fixture.core.semaphore(20) == 6);
}

TEST_CASE("a direct transfer moves two-dimensional patterns and then signals") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    Fixture fixture(architecture);
    const auto bytes = pattern(64_KiB, 9);
    REQUIRE(fixture.client.write(fixture.memory, bytes) == 0);
    // 4 runs of 64 bytes a row, 8 rows: memory -> SBUF partitions, then back, dense.
    const std::uint64_t sbuf = fixture.core.window() + 0x100;
    const Side in = {fixture.pa + 5, 64, 128, 1024};
    const Side on_chip = {sbuf, 64, 64, 0x40000};
    const Side out = {fixture.pa + 0x80000, 64, 64, 256};
    CHECK(fixture
              .run({transfer(in, on_chip, 4, 8, 20, 16), wait_for(20, 16),
                    transfer(on_chip, out, 4, 8, 21, 3), wait_for(21, 3)})
              .empty());
    CHECK(fixture.core.semaphore(20) == 16);
    CHECK(fixture.core.semaphore(21) == 3);
    std::vector<std::uint8_t> expected;
    for (std::size_t row = 0; row < 8; ++row)
      for (std::size_t run = 0; run < 4; ++run)
        for (std::size_t i = 0; i < 64; ++i)
          expected.push_back(bytes[5 + row * 1024 + run * 128 + i]);
    CHECK(fixture.client.read(fixture.memory, 2048, 0x80000) == expected);
    CHECK(fixture.core.memory(0x100)[0] == bytes[5]);
    CHECK(fixture.core.memory(0x100 + 7 * 0x40000)[255] == expected.back());
  }
}

TEST_CASE("a direct transfer names memory by table, register or address") {
  Fixture fixture;
  const auto table = fixture.client.alloc({4096});
  const auto bytes = pattern(64_KiB, 11);
  REQUIRE(fixture.client.write(fixture.memory, bytes) == 0);
  const std::uint64_t entries[] = {0, fixture.pa, fixture.pa + 0x40000};
  REQUIRE(fixture.client.copy(table, entries, sizeof entries, 0, true) == 0);
  fixture.core.set_dge_table(fixture.client.pa(table));
  const auto by_table = [](std::uint64_t entry, std::uint64_t offset) {
    return offset | entry << 32 | 0x20ull << 56;
  };
  SECTION("table") {
    // A run size of 0 is 64 KiB.
    CHECK(fixture.run({transfer({by_table(1, 0), 65536}, {by_table(2, 0x100), 0}, 1, 1, 20, 1)})
              .empty());
    CHECK(fixture.client.read(fixture.memory, 64_KiB, 0x40100) == bytes);
  }
  SECTION("table with the offset in a register") {
    CHECK(fixture
              .run({set_register(9, 0x40), transfer({by_table(1, 9) | 0x08ull << 56, 100},
                                                    {fixture.pa + 0x50000, 100}, 1, 1, 20, 1)})
              .empty());
    CHECK(fixture.client.read(fixture.memory, 100, 0x50000) ==
          std::vector<std::uint8_t>(bytes.begin() + 0x40, bytes.begin() + 0x40 + 100));
  }
  SECTION("registers") {
    CHECK(fixture
              .run({set_register(7, static_cast<std::uint32_t>(fixture.pa)),
                    set_register(8, static_cast<std::uint32_t>(fixture.pa >> 32)),
                    transfer({7 | 8 << 8 | 0x80ull << 56, 100}, {fixture.pa + 0x50000, 100}, 1, 1,
                             20, 1)})
              .empty());
    CHECK(fixture.client.read(fixture.memory, 100, 0x50000) ==
          std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 100));
  }
  SECTION("entries that name nothing, and other markers") {
    const auto refused_at = [&](std::uint64_t address) {
      const auto errors = fixture.run({transfer({address, 4}, {fixture.pa, 4}, 1, 1, 20, 1)});
      return errors.size() == 1 && error_class(errors[0]) == NEURON_EXEC_RECORD_REFUSED
                 ? field(errors[0])
                 : 0xFFFF;
    };
    CHECK(refused_at(by_table(0, 0)) == NEURON_AT_DMA_SOURCE + 4);
    CHECK(refused_at(by_table(1, 0) | 1ull << 48) == NEURON_AT_DMA_SOURCE + 6);
    CHECK(refused_at(fixture.pa | 0x10ull << 56) == NEURON_AT_DMA_SOURCE + 7);
    CHECK(refused_at(fixture.pa | 0x24ull << 56) == NEURON_AT_DMA_SOURCE + 7);
    fixture.core.set_dge_table(0);
    CHECK(refused_at(by_table(1, 0)) == NEURON_AT_DMA_SOURCE + 7);
  }
}

TEST_CASE("a direct transfer converts where its types differ") {
  Fixture fixture;
  const std::uint32_t values[] = {0x3F800000, 0xC0200000, 0x3F808000, 0x477FE000};
  REQUIRE(fixture.client.copy(fixture.memory, values, sizeof values, 0, true) == 0);
  const auto to = [&](std::uint32_t dtype) {
    CHECK(fixture
              .run({transfer({fixture.pa, 8, 8, 0, NEURON_DTYPE_FP32},
                             {fixture.pa + 0x1000, 4, 4, 0, dtype}, 2, 1, 20, 1)})
              .empty());
    std::array<std::uint16_t, 4> converted{};
    REQUIRE(fixture.client.copy(fixture.memory, converted.data(), 8, 0x1000, false) == 0);
    return converted;
  };
  CHECK(to(NEURON_DTYPE_FP16) == std::array<std::uint16_t, 4>{0x3C00, 0xC100, 0x3C04, 0x7BFF});
  CHECK(to(NEURON_DTYPE_BF16) == std::array<std::uint16_t, 4>{0x3F80, 0xC020, 0x3F80, 0x4780});
}

TEST_CASE("direct transfers that cannot be done are refused") {
  const std::uint64_t pa = 0x10000000;
  const auto plain = [&] { return transfer({pa, 64}, {pa + 0x1000, 64}, 2, 3, 20, 1); };
  check_refused(plain().u8(NEURON_AT_DMA_COMPUTE_OP, 1), NEURON_AT_DMA_COMPUTE_OP);
  check_refused(plain().u8(NEURON_AT_DMA_SOURCE_BOUND, 1), NEURON_AT_DMA_SOURCE_BOUND);
  check_refused(plain().u8(NEURON_AT_DMA_TARGET_BOUND, 1), NEURON_AT_DMA_TARGET_BOUND);
  check_refused(plain().u16(NEURON_AT_DMA_SOURCE_COUNTS, 0), NEURON_AT_DMA_SOURCE_COUNTS);
  check_refused(plain().u16(NEURON_AT_DMA_TARGET_COUNTS, 3), NEURON_AT_DMA_TARGET_COUNTS);
  check_refused(plain().u16(NEURON_AT_DMA_TARGET_BYTES, 32), NEURON_AT_DMA_TARGET_BYTES);
  // Types that differ in size, equal bytes; a type that cannot be made.
  check_refused(plain().u8(NEURON_AT_DMA_TARGET_DTYPE, NEURON_DTYPE_BF16),
                NEURON_AT_DMA_TARGET_BYTES);
  check_refused(plain().u8(NEURON_AT_DMA_TARGET_DTYPE, NEURON_DTYPE_I32),
                NEURON_AT_DMA_TARGET_BYTES);
}

TEST_CASE("a direct transfer from or to nowhere aborts") {
  Fixture fixture;
  const std::uint64_t hole = 0x200000000000;
  const auto side = [&](std::uint64_t from, std::uint64_t to) {
    const auto errors = fixture.run({transfer({from, 64}, {to, 64}, 1, 1, 20, 1)});
    REQUIRE(errors.size() == 1);
    CHECK(error_class(errors[0]) == NEURON_EXEC_DMA_ABORT);
    CHECK((errors[0].subtype & 0xFF) == NEURON_ENGINE_SP);
    return field(errors[0]);
  };
  CHECK(side(hole, fixture.pa) == NEURON_AT_DMA_SOURCE);
  CHECK(side(fixture.pa, hole) == NEURON_AT_DMA_TARGET);
  CHECK(fixture.core.semaphore(20) == 0);
}

TEST_CASE("compute records are refused, skipped or run") {
  Fixture fixture;
  const Program program = {Record(0x46).update(increment, 4), wait_for(4, 1)};
  SECTION("refused unless somebody computes") {
    const auto errors = fixture.run(program);
    REQUIRE(errors.size() == 1);
    CHECK(error_class(errors[0]) == NEURON_EXEC_NO_COMPUTE);
    CHECK(neuron_notification_pc(&errors[0]) == 1);
    CHECK(fixture.core.semaphore(4) == 0);
  }
  SECTION("skipped") {
    nds_device_set_compute(fixture.device.get(), NDS_COMPUTE_SKIP, nullptr);
    CHECK(fixture.run(program).empty());
    nds_exec_counters counters{};
    nds_device_exec_counters(fixture.device.get(), &counters);
    CHECK(counters.skipped_compute == 1);
    CHECK(counters.executions == 1);
  }
  SECTION("run by the host") {
    struct Seen {
      std::uint32_t starts = 0, core = 99, engine = 99;
      std::uint8_t opcode = 0;
      int answer = 0;
    } seen;
    nds_compute compute{};
    compute.context = &seen;
    compute.start = [](void* context, std::uint32_t core) {
      static_cast<Seen*>(context)->starts++;
      static_cast<Seen*>(context)->core = core;
      return 0;
    };
    compute.run = [](void* context, std::uint32_t, std::uint32_t engine, const std::uint8_t* record,
                     std::uint32_t* field) {
      static_cast<Seen*>(context)->engine = engine;
      static_cast<Seen*>(context)->opcode = record[0];
      *field = 0x21;
      return static_cast<Seen*>(context)->answer;
    };
    nds_device_set_compute(fixture.device.get(), NDS_COMPUTE_RUN, &compute);
    CHECK(fixture.run(program, NEURON_ENGINE_DVE).empty());
    CHECK(seen.starts == 1);
    CHECK(seen.core == 0);
    CHECK(seen.engine == NEURON_ENGINE_DVE);
    CHECK(seen.opcode == 0x46);
    seen.answer = -EINVAL;
    auto errors = fixture.run(program, NEURON_ENGINE_DVE);
    REQUIRE(errors.size() == 1);
    CHECK(error_class(errors[0]) == NEURON_EXEC_RECORD_REFUSED);
    CHECK(field(errors[0]) == 0x21);
    seen.answer = -ENOMEM;
    errors = fixture.run(program, NEURON_ENGINE_DVE);
    REQUIRE(errors.size() == 1);
    CHECK(error_class(errors[0]) == NEURON_EXEC_OUT_OF_MEMORY);
    CHECK(seen.starts == 3);
  }
}
