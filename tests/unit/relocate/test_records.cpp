// SPDX-License-Identifier: MIT
// What the translator accepts in a stream, record by record; every refusal names member, slot and
// reason (spec 05 A2-A6, decisions 36 and 39).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "isa/opcodes.hpp"
#include "support.hpp"
#include "translator.hpp"

namespace neffld::test {
namespace {

/// Plans a program whose slot 2 on `engine` is `slot`, behind two harmless ones.
Result<Plan> plan_with(Program& program, Engine engine, const sample::Slot& slot) {
  program.slot(engine, sample::ordering_mode());
  program.slot(engine, sample::nop({}));
  program.slot(engine, slot);
  const Kbin& kbin = program.kbin();
  return plan_model(std::span(&kbin, 1));
}

Result<Plan> plan_record(Arch arch, Engine engine, const sample::Slot& slot) {
  Program program(arch);
  return plan_with(program, engine, slot);
}

Expected refusal(Engine engine, std::string text) {
  return {fmt::format("sg00/{}.bin", engine_name(engine)), "slot", 2, std::move(text)};
}

// The legality of spec 05 A2, written down a second time: opcodes of v2 and of v3.
const std::set<int> v3_only = {0x06, 0x07, 0x81, 0xBC, 0xBD, 0xBE,
                               0xBF, 0xD7, 0xE4, 0xE9, 0xF1, 0xF2};
const std::set<int> v2_only = {0x87, 0x88, 0x8A, 0x8B, 0x8C, 0x8D, 0x8F};
const std::set<int> v4_only = {0x08, 0x09, 0x0A, 0x25, 0xB4, 0xE0, 0xE1, 0xE2, 0xE3};

std::set<int> opcodes_of_all() {
  std::set<int> all;
  const auto add = [&](int first, int last) {
    for (int code = first; code <= last; ++code) all.insert(code);
  };
  add(0x01, 0x05), add(0x21, 0x24), add(0x30, 0x30), add(0x41, 0x4F), add(0x51, 0x54);
  add(0x58, 0x58), add(0x5E, 0x6F), add(0x70, 0x74), add(0x76, 0x7F), add(0x82, 0x86);
  add(0x8E, 0x8E), add(0x92, 0x96), add(0x98, 0x9F), add(0xA0, 0xAB), add(0xB0, 0xB3);
  add(0xB5, 0xB5), add(0xB8, 0xB8), add(0xBB, 0xBB), add(0xC1, 0xDF), add(0xE5, 0xE8);
  add(0xEA, 0xEA), add(0xF0, 0xF0);
  all.erase(0x75);
  all.erase(0xD7);
  return all;
}

std::set<int> legal_on(Arch arch) {
  std::set<int> all = opcodes_of_all();
  if (arch == Arch::v2) all.insert(v2_only.begin(), v2_only.end());
  if (arch != Arch::v2) all.insert(v3_only.begin(), v3_only.end());
  if (arch == Arch::v4) all.insert(v4_only.begin(), v4_only.end());
  return all;
}

Engine engine_for(int opcode) {
  if (opcode <= 0x0A) return Engine::pe;
  if (opcode <= 0x30) return Engine::act;
  return Engine::pool;
}

TEST_CASE("every opcode byte is known exactly where the table says") {
  for (const Arch arch : {Arch::v2, Arch::v3, Arch::v4}) {
    const std::set<int> legal = legal_on(arch);
    for (int code = 0; code < 256; ++code) {
      INFO(arch_name(arch) << fmt::format(" 0x{:02X}", code));
      const auto& opcode = isa::opcode_of(arch, static_cast<std::uint8_t>(code));
      CHECK((opcode.treatment != isa::Treatment::unknown) == (legal.count(code) != 0));
      CHECK(opcode.name.empty() == (legal.count(code) == 0));
    }
  }
}

TEST_CASE("unknown opcodes are refused with the published text, on the right generation") {
  for (const Arch arch : {Arch::v2, Arch::v3}) {
    for (int code = 0; code < 256; ++code) {
      if (legal_on(arch).count(code)) continue;
      const Engine engine = engine_for(code);
      const auto result =
          plan_record(arch, engine, sample::make_slot(static_cast<std::uint8_t>(code)));
      check_refused(result,
                    refusal(engine, fmt::format("Unsupported hardware operator code {} found "
                                                "in neff: 0x{:02X} is no opcode of {}",
                                                code, code, arch_name(arch))));
    }
  }
}

/// Pseudo records of spec 05 A4 without a rule to lower them (section U), and why.
const std::map<int, std::string> not_lowered = {{0xC4, "PSEUDO_DMAMEMCPY_FULL_IND"},
                                                {0xC5, "PSEUDO_SEMAPHORE_SET"},
                                                {0xC6, "PSEUDO_LOAD_ACT_FUNC_SET"},
                                                {0xC7, "PSEUDO_TRIGGER_ALL_REDUCE"},
                                                {0xCA, "PSEUDO_EMBEDDING_UPDATE"},
                                                {0xCF, "PSEUDO_DMASWAP_QUEUE_SET"},
                                                {0xD0, "PSEUDO_SET_RNG_SEED"},
                                                {0xD6, "PSEUDO_RANGE_CHECK"},
                                                {0xD7, "PSEUDO_JPEG_DECODE"},
                                                {0xD9, "PSEUDO_TRIGGER_COLLECTIVE_2"},
                                                {0xDB, "PSEUDO_CUR_PROCESSING_RANK_ID"},
                                                {0xDC, "PSEUDO_GID_LOAD"},
                                                {0xDE, "PSEUDO_TENSOR_COMPLETION"}};

TEST_CASE("real records are copied verbatim") {
  for (const Arch arch : {Arch::v2, Arch::v3}) {
    for (const int code : legal_on(arch)) {
      if ((code >= 0xC1 && code <= 0xDF) || code == 0xA9) continue;
      INFO(arch_name(arch) << fmt::format(" 0x{:02X}", code));
      const Engine engine = engine_for(code);
      sample::Slot slot = sample::make_slot(static_cast<std::uint8_t>(code));
      for (std::size_t i = 0x0C; i < slot.size(); ++i) slot[i] = static_cast<std::uint8_t>(i);
      if (code == 0xA0) std::fill(slot.begin() + 0x20, slot.end(), 0);
      const auto plan = plan_record(arch, engine, slot);
      REQUIRE(plan);
      CHECK(plan->kbins[0].streams[static_cast<std::size_t>(engine)].main_slots == 3);
    }
  }
}

TEST_CASE("pseudo records without a known lowering are refused by engine, slot, name and reason") {
  for (const Arch arch : {Arch::v2, Arch::v3}) {
    for (const Engine engine : all_engines) {
      for (const auto& [code, name] : not_lowered) {
        if (arch == Arch::v2 && code == 0xD7) continue;  // no opcode of v2
        const auto plan =
            plan_record(arch, engine, sample::make_slot(static_cast<std::uint8_t>(code)));
        check_refused(plan, refusal(engine, fmt::format("Unsupported hardware operator code {} "
                                                        "found in neff: {} on engine {} cannot be "
                                                        "lowered, ",
                                                        code, name, engine_name(engine))));
        const std::string& text = plan.error().text;
        CHECK((text.ends_with("its payload is not known") ||
               text.ends_with("the records it becomes are not known")));
        CHECK(plan.error().error_class == ErrorClass::unsupported);
      }
    }
  }
}

TEST_CASE("a verbatim record keeps every byte") {
  Program program(Arch::v3);
  sample::Slot slot = sample::make_slot(0x41);
  for (std::size_t i = 2; i < slot.size(); ++i) slot[i] = static_cast<std::uint8_t>(0x80 + i);
  slot[4] = 5, slot[5] = 9, slot[6] = 0x13, slot[7] = 6;
  program.slot(Engine::dve, slot);
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins);
  const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
  CHECK(to_hex(Bytes(result.sections.at(plan.kbins[0].streams[3].request)).subspan(64, 64)) ==
        to_hex(slot));
}

TEST_CASE("records of one engine are refused on another") {
  for (const Engine engine : all_engines) {
    if (engine != Engine::pe) {
      check_refused(plan_record(Arch::v2, engine, sample::make_slot(0x02)),
                    refusal(engine, fmt::format("opcode 0x02 MATMUL is illegal on engine {}",
                                                engine_name(engine))));
    }
    if (engine != Engine::act) {
      check_refused(plan_record(Arch::v2, engine, sample::make_slot(0x23)),
                    refusal(engine, "opcode 0x23 ACTIVATION_TABLE_LOAD is illegal on engine"));
    }
  }
  CHECK(plan_record(Arch::v2, Engine::pe, sample::make_slot(0x02)));
}

TEST_CASE("a record is 16 words long") {
  for (const int words : {0, 8, 15, 17, 255}) {
    sample::Slot slot = sample::nop({});
    slot[1] = static_cast<std::uint8_t>(words);
    check_refused(
        plan_record(Arch::v3, Engine::dve, slot),
        refusal(Engine::dve, fmt::format("record length is {} words, expected 16", words)));
  }
}

TEST_CASE("reserved semaphores are refused in waits and updates, everywhere") {
  const std::set<int> reserved = {0, 1, 2, 240, 241, 242, 243, 244, 245};
  for (int semaphore = 0; semaphore < 256; ++semaphore) {
    INFO("semaphore " << semaphore);
    const auto index = static_cast<std::uint8_t>(semaphore);
    const auto check = [&](const sample::Slot& slot) {
      const auto plan = plan_record(Arch::v3, Engine::sp, slot);
      CHECK(plan.has_value() == (reserved.count(semaphore) == 0));
      if (!plan) {
        check_error(plan.error(),
                    refusal(Engine::sp, fmt::format("semaphore {} is reserved", semaphore)));
      }
    };
    sample::Slot slot = sample::nop({});
    slot[4] = 5, slot[5] = index;
    check(slot);
    slot = sample::nop({});
    slot[6] = 0x13, slot[7] = index;
    check(slot);
    slot = sample::make_slot(0xA0);
    slot[0x20] = 5, slot[0x21] = index;
    check(slot);
    slot = sample::make_slot(0xA0);
    slot[0x22] = 0x15, slot[0x23] = index;
    check(slot);
  }
}

TEST_CASE("modes that name no semaphore leave the index alone") {
  for (const int mode : {0, 6, 7, 14, 15}) {
    sample::Slot slot = sample::nop({});
    slot[4] = static_cast<std::uint8_t>(mode), slot[5] = 240;
    CHECK(plan_record(Arch::v3, Engine::sp, slot));
  }
  for (const int mode : {0, 1, 2, 17, 18}) {
    sample::Slot slot = sample::nop({});
    slot[6] = static_cast<std::uint8_t>(mode), slot[7] = 1;
    CHECK(plan_record(Arch::v3, Engine::sp, slot));
  }
  // Only A0 has a second block; elsewhere those bytes are operands.
  sample::Slot slot = sample::make_slot(0x41);
  slot[0x20] = 5, slot[0x21] = 0;
  CHECK(plan_record(Arch::v3, Engine::dve, slot));
}

TEST_CASE("every wait and update mode that names a semaphore is recognised") {
  for (const int mode : {1, 2, 3, 4, 5})
    CHECK(isa::waits_on_semaphore(static_cast<std::uint8_t>(mode)));
  for (const int mode : {0, 6, 7, 14, 15, 32, 255}) {
    CHECK_FALSE(isa::waits_on_semaphore(static_cast<std::uint8_t>(mode)));
  }
  for (const int mode : {3, 4, 5, 6, 7, 9, 10, 19, 20, 21, 22, 23, 25, 26}) {
    CHECK(isa::updates_semaphore(static_cast<std::uint8_t>(mode)));
  }
  for (const int mode : {0, 1, 2, 16, 17, 18, 0x33, 255}) {
    CHECK_FALSE(isa::updates_semaphore(static_cast<std::uint8_t>(mode)));
  }
}

TEST_CASE("a record that cannot be lowered is refused where it stands in a file") {
  const SampleModel model = sample_model("refused-v3");
  check_refused(plan_model(model.parsed.kbins),
                {"sg00/PE.bin", "slot", 2, "PSEUDO_SEMAPHORE_SET on engine pe cannot be lowered"});
}

// ---- C1 and C2 ----

Program with_queues() {
  Program program(Arch::v3);
  const auto a = program.add(VarKind::tmp_buf, "a", 64);
  const auto queue = program.queue("qSP", Engine::sp, 2);
  program.queue("qPool", Engine::pool, 2);
  program.dynamic_queue("qDyn", Engine::sp);
  program.block(queue, 7, {copy(side(a, 0, {8}), side(a, 8, {8}))}, false);
  return program;
}

TEST_CASE("a trigger must name a block of a queue set of its own engine") {
  const auto check = [](const sample::Slot& slot, std::string text) {
    Program program = with_queues();
    check_refused(plan_with(program, Engine::sp, slot), refusal(Engine::sp, std::move(text)));
  };
  check(sample::dma_trigger("qNone", 7), "names queue 'qNone', which def.json does not define");
  sample::Slot nameless = sample::dma_trigger("qSP", 7);
  nameless[0x0C] = 0;
  check(nameless, "names queue '', which def.json does not define");
  check(sample::dma_trigger("qSP", 8), "queue 'qSP' has no DMA block 8");
  check(sample::dma_trigger("qPool", 7), "queue 'qPool' is owned by engine pool");
  check(sample::dma_trigger("qDyn", 7), "triggers dynamic queue 'qDyn', which has no ring");
  check(sample::dma_rearm("qNone"), "names queue 'qNone', which def.json does not define");
  check(sample::dma_rearm("qPool"), "queue 'qPool' is owned by engine pool");
  check(sample::dma_rearm("qDyn"), "triggers dynamic queue 'qDyn', which has no ring");
  sample::Slot unterminated = sample::dma_trigger("qSP", 7);
  std::fill(unterminated.begin() + 0x0C, unterminated.begin() + 0x2C, std::uint8_t{'q'});
  check(unterminated, "names queue 'qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq'");
  sample::Slot reserved = sample::dma_trigger("qSP", 7);
  reserved[4] = 5, reserved[5] = 2;
  check(reserved, "semaphore 2 is reserved");

  Program program = with_queues();
  const auto plan = plan_with(program, Engine::sp, sample::dma_trigger("qSP", 7));
  REQUIRE(plan);
  CHECK(plan->kbins[0].streams[4].main_slots == 2 + 4);
  CHECK(plan->kbins[0].streams[4].triggers == std::vector<std::uint32_t>{0});
}

TEST_CASE("a trigger of an instance lays its block on the instance's rings") {
  Program program(Arch::v3);
  const auto a = program.add(VarKind::tmp_buf, "a", 64);
  const auto queue = program.queue("q", Engine::sp, 1);
  program.queue_set(queue).instances = {"q_a", "q_b"};
  const auto one = copy(side(a, 0, {8}), side(a, 8, {8}));
  program.block(queue, 0, {one, one}, false);
  program.block(queue, 0, {one}, false).instance = 1;
  program.slot(Engine::sp, sample::dma_trigger("q_b", 0));
  program.slot(Engine::sp, sample::dma_trigger("q", 0));  // the set's name means instance 0
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins);
  CHECK(plan.kbins[0].queue_sets[0].triggered_blocks ==
        std::vector<std::vector<std::uint32_t>>{{0}, {1}});
  REQUIRE(plan.kbins[0].rings.size() == 2);
  CHECK(plan.kbins[0].rings[0].used == 3);
  CHECK(plan.kbins[0].rings[1].used == 2);
}

TEST_CASE("two blocks of one id in one ring instance are refused") {
  Program program = with_queues();
  const auto one = copy(side(0, 0, {8}), side(0, 8, {8}));
  program.block(0, 7, {one}, false);
  const Kbin& kbin = program.kbin();
  check_refused(plan_model(std::span(&kbin, 1)),
                {"sg00", "qSP", std::nullopt, "DMA block id 7 occurs twice"});
}

TEST_CASE("blocks lie in the order of their triggers, once per trigger") {
  Program program(Arch::v3);
  const auto a = program.add(VarKind::tmp_buf, "a", 64);
  const auto queue = program.queue("q", Engine::sp, 1);
  for (std::uint32_t id : {4u, 2u, 9u}) {
    program.block(queue, id, {copy(side(a, id, {id}), side(a, 32, {id}))}, false);
  }
  for (const std::uint32_t id : {2u, 4u, 2u})
    program.slot(Engine::sp, sample::dma_trigger("q", id));
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins);
  CHECK(plan.kbins[0].queue_sets[0].triggered_blocks[0] == std::vector<std::uint32_t>{1, 0, 1});
  const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
  const Bytes tx = result.sections.at(*plan.kbins[0].rings[0].tx_request);
  std::vector<std::uint32_t> lengths;
  for (std::size_t i = 0; i < 6; i += 2) lengths.push_back(load_le<std::uint16_t>(tx, 16 * i));
  CHECK(lengths == std::vector<std::uint32_t>{2, 4, 2});
  REQUIRE(plan.kbins[0].warnings.size() == 1);
  CHECK(plan.kbins[0].warnings[0] ==
        "sg00: block 9 of queue q is never triggered and not laid down");
}

/// Headers of all kinds, the ordinary among them: small numbers, and the edges of semaphores that
/// are reserved.
std::uint8_t header_byte(std::mt19937_64& random) {
  constexpr std::array<std::uint8_t, 14> values = {0,  0,  1,  3,   5,   6,   10,
                                                   16, 19, 26, 100, 239, 240, 245};
  return values[random() % values.size()];
}

TEST_CASE("A record that looks plain at once is one that every rule leaves as it is") {
  std::mt19937_64 random(16);
  for (const Arch arch : {Arch::v2, Arch::v3}) {
    Program program(arch);
    for (const Engine engine : all_engines) {
      const RecordChecker checker(program.kbin(), arch_table(arch), engine);
      std::uint32_t plain = 0, verbatim = 0;
      for (std::uint32_t i = 0; i < 256 * 64; ++i) {
        sample::Slot slot{};
        slot[isa::at_opcode] = static_cast<std::uint8_t>(i);
        slot[isa::at_word_length] = i % 5 == 0 ? header_byte(random) : isa::word_length;
        for (const std::size_t at : {isa::at_wait_mode, isa::at_update_mode,
                                     isa::at_extended_wait_mode, isa::at_extended_update_mode}) {
          slot[at] = header_byte(random);
          slot[at + 1] = header_byte(random);
        }
        const isa::Record record{Bytes(slot)};
        const auto checked = checker.check(record, i);
        if (checked && *checked == isa::Treatment::verbatim) ++verbatim;
        if (!checker.is_plain(record)) continue;
        ++plain;
        CAPTURE(arch_name(arch), engine_name(engine), to_hex(slot));
        REQUIRE(checked);
        REQUIRE(*checked == isa::Treatment::verbatim);
      }
      CHECK(plain > 1000);
      CHECK(plain > verbatim * 9 / 10);
    }
  }
}

}  // namespace
}  // namespace neffld::test
