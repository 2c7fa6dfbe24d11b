// SPDX-License-Identifier: MIT
// Functions, calls, labels and branches: what they become, and what is refused (spec 05 A4, A6, U,
// decision 36). Expected bytes are written down here, not taken from the loader.
#include <fmt/format.h>

#include "support.hpp"

namespace neffld::test {
namespace {

constexpr Engine engine = Engine::act;

/// A stream on one engine, its image and its ledger.
struct Streamed {
  explicit Streamed(std::vector<sample::Slot> slots, Arch arch = Arch::v3) : program(arch) {
    program.file("f", 4096);
    add(std::move(slots));
  }
  void add(std::vector<sample::Slot> slots) {
    for (const sample::Slot& slot : slots) program.slot(engine, slot);
  }
  Result<Plan> plan() {
    const Kbin& kbin = program.kbin();
    return plan_model(std::span(&kbin, 1));
  }
  const StreamPlan& stream(const Plan& plan) const {
    return plan.kbins[0].streams[static_cast<std::size_t>(engine)];
  }
  /// Image slots as hex, without preamble.
  std::vector<std::string> image() {
    const auto planned = plan();
    REQUIRE(planned);
    addresses = made_up_addresses(*planned);
    request = stream(*planned).request;
    const Kbin& kbin = program.kbin();
    result = relocated(std::span(&kbin, 1), *planned, addresses);
    const Bytes bytes = result.sections.at(request);
    std::vector<std::string> slots;
    for (std::size_t at = 64; at < bytes.size(); at += 64) {
      slots.push_back(to_hex(bytes.subspan(at, 64)));
    }
    return slots;
  }
  std::uint64_t base() const { return addresses.sections[request]; }

  Program program;
  Relocated result;
  Addresses addresses;
  std::uint32_t request = 0;
};

std::string full(std::string_view text) {
  return to_hex(slot_of(text));
}

/// Always-taken relative branch; `hint` is byte 3.
std::string jump(std::int32_t slots, std::uint8_t hint = 2) {
  const auto offset = static_cast<std::uint32_t>(slots * 64);
  return full(fmt::format("a9 10 00 {:02x} 00*8 00 00 03 00 00*32 {:02x} {:02x} {:02x} {:02x}",
                          hint, offset & 255, offset >> 8 & 255, offset >> 16 & 255, offset >> 24));
}

void check_refusal(std::vector<sample::Slot> slots, std::uint64_t slot, std::string text) {
  Streamed streamed(std::move(slots));
  check_refused(streamed.plan(), {"sg00/act.bin", "slot", slot, std::move(text)});
}

const sample::Slot plain = sample::nop({});

TEST_CASE("a branch to a label becomes an offset in the image, forward and backward") {
  Streamed streamed({sample::branch_label(3), plain, sample::branch_to_label(9), plain, plain,
                     sample::branch_label(9), plain, sample::branch_to_label(3)});
  const auto image = streamed.image();
  REQUIRE(image.size() == 6 + 2);
  CHECK(image[1].substr(0, 44) == "a9 10 00 02 00 00 00 00 00 00 00 00 00 09 03");
  CHECK(image[1].substr(0x30 * 3, 23) == "c0 00 00 00 00 00 00 00");
  CHECK(image[5].substr(0x30 * 3, 23) == "c0 fe ff ff 00 00 00 00");
}

TEST_CASE("a relative branch counts source records, whatever they became") {
  Streamed streamed({sample::branch_by(4), plain, sample::branch_label(), plain,
                     sample::dma_barrier(), sample::branch_by(-1, 4), sample::branch_by(0, 6)});
  const auto image = streamed.image();
  REQUIRE(image.size() == 6 + 2);
  CHECK(image[0].substr(0x30 * 3, 11) == "c0 00 00 00");  // over the label that went away
  CHECK(image[4].substr(0x30 * 3, 11) == "c0 ff ff ff");  // back to the barrier
  CHECK(image[4].substr(0x0C * 3, 2) == "04");            // the comparison stays
  CHECK(image[5].substr(0x30 * 3, 11) == "00 00 00 00");  // to itself
}

TEST_CASE("branches over expanded triggers keep pointing at their target") {
  Streamed streamed({});
  const auto queue = streamed.program.queue("q", engine, 3);
  streamed.add({sample::branch_to_label(1)});
  streamed.program.block(queue, 0, {copy(side(0, 0, {8}), side(0, 8, {8}))});
  streamed.add({sample::branch_label(1), plain});
  const auto image = streamed.image();
  REQUIRE(image.size() == 1 + 6 + 1 + 2);
  CHECK(image[0].substr(0x30 * 3, 11) == "c0 01 00 00");  // 7 slots
  const auto plan = streamed.plan();
  REQUIRE(plan->kbins[0].warnings.size() == 1);
  CHECK(plan->kbins[0].warnings[0] ==
        "sg00/act.bin: slot 0 branches over DMA triggers; when it is taken, later triggers of "
        "their queues move the blocks left over");
}

TEST_CASE("branches that leave their code, or have no target, are refused") {
  check_refusal({plain, sample::branch_to_label(5)}, 1, "branches to label 5, which MAIN does not");
  check_refusal({sample::branch_label(5), sample::branch_label(5), sample::branch_to_label(5)}, 2,
                "branches to label 5, which MAIN has more than once");
  check_refusal({plain, sample::branch_by(-2)}, 1, "branches to slot -1, expected 0 to 1");
  check_refusal({plain, sample::branch_by(1)}, 1,
                "branches to slot 2, expected 0 to 1 inside MAIN");
  check_refusal(
      {sample::branch_by(2), plain, sample::function_begin("f"), sample::function_return()}, 0,
      "branches to slot 2, expected 0 to 1 inside MAIN");
  check_refusal(
      {plain, sample::function_begin("f"), sample::branch_by(-2), sample::function_return()}, 2,
      "branches to slot 0, expected 1 to 3 inside function 'f'");
  check_refusal({sample::branch_label(2), sample::function_begin("f"), sample::branch_to_label(2),
                 sample::function_return()},
                2, "branches to label 2, which function 'f' does not have");
}

TEST_CASE("branch fields out of range are refused") {
  sample::Slot odd = sample::branch_by(1);
  odd[0x30] = 0x20;
  check_refusal({odd, plain}, 0, "branch offset is 32, expected a multiple of 64");
  sample::Slot wide = sample::branch_by(1);
  wide[0x34] = 1;
  check_refusal({wide, plain}, 0,
                "Invalid branch relative offset 0x100000040. Offset must be fit within 32 bits");
  sample::Slot far = sample::branch_by(1);
  far[0x33] = 0x7F;
  check_refusal({far, plain}, 0, "branches to slot 33292289, expected 0 to 1");
  sample::Slot mode = sample::branch_by(1);
  for (const int value : {0, 5, 255}) {
    mode[0x0E] = static_cast<std::uint8_t>(value);
    check_refusal({mode, plain}, 0,
                  fmt::format("branch target mode is {}, expected 1 to 4", value));
  }
  sample::Slot compare = sample::branch_by(1);
  compare[0x0C] = 13;
  check_refusal({compare, plain}, 0, "compare operation is 13, expected 0 to 12");
}

TEST_CASE("a sign-extended offset is the same as a zero-extended one") {
  sample::Slot slot = sample::branch_by(-1, 4);
  std::fill_n(slot.begin() + 0x34, 4, std::uint8_t{0xFF});
  Streamed streamed({plain, slot});
  CHECK(streamed.image()[1].substr(0x30 * 3, 23) == "c0 ff ff ff 00 00 00 00");
}

TEST_CASE("a trigger behind a rearm of its queue is warned of") {
  for (const bool behind : {false, true}) {
    Streamed streamed({});
    const auto queue = streamed.program.queue("q", engine, 1);
    if (!behind) streamed.program.block(queue, 0, {copy(side(0, 0, {8}), side(0, 8, {8}))});
    streamed.add({sample::dma_rearm("q")});
    if (behind) streamed.program.block(queue, 0, {copy(side(0, 0, {8}), side(0, 8, {8}))});
    const auto plan = streamed.plan();
    REQUIRE(plan);
    REQUIRE(plan->kbins[0].warnings.size() == (behind ? 1 : 0));
    if (!behind) continue;
    CHECK(plan->kbins[0].warnings[0] ==
          "sg00/act.bin: slot 1 triggers a queue behind its rearm; the rings start again, so it "
          "moves the blocks of earlier triggers");
  }
}

TEST_CASE("a branch over a call that triggers is warned of, and so is an exit before triggers") {
  const auto warnings_of = [](const std::vector<sample::Slot>& slots) {
    Program program(Arch::v3);
    const auto t = program.add(VarKind::tmp_buf, "t", 64);
    const auto q = program.queue("q", Engine::sp, 1);
    for (const char* function : {"", "f", "g"}) {
      program.block(q, 0, {copy(side(t, 0, {8}), side(t, 8, {8}))}, false).function = function;
    }
    for (const sample::Slot& slot : slots) program.slot(Engine::sp, slot);
    const auto plan = plan_model(std::span(&program.kbin(), 1));
    if (!plan) FAIL(to_sentence(plan.error()));
    std::vector<std::string> found;
    for (const std::string& warning : plan->kbins[0].warnings) {
      if (warning.find("is never triggered") == std::string::npos) found.push_back(warning);
    }
    return found;
  };
  const auto skips = [](int slot) {
    return fmt::format(
        "sg00/sp.bin: slot {} branches over DMA triggers; when it is taken, later "
        "triggers of their queues move the blocks left over",
        slot);
  };
  const auto exits = [](int slot) {
    return fmt::format(
        "sg00/sp.bin: slot {} ends the execution; when it is reached, the DMA "
        "triggers behind it do not run",
        slot);
  };
  using Warnings = std::vector<std::string>;
  using namespace sample;
  const auto trigger = dma_trigger("q", 0);
  Slot raw = dma_trigger("q", 1);
  raw[0x2C] = 1;
  // Over a call of f, which triggers; over one whose callee calls f; over one that does neither.
  CHECK(warnings_of({branch_by(2, 4), function_call("f"), plain, function_begin("f"), trigger,
                     function_return()}) == Warnings{skips(0)});
  CHECK(warnings_of({branch_by(2, 4), function_call("g"), plain, function_begin("g"),
                     function_call("f"), function_return(), function_begin("f"), trigger,
                     function_return()}) == Warnings{skips(0)});
  CHECK(warnings_of({function_call("f"), function_begin("f"), branch_by(2, 4), function_call("g"),
                     function_return(), function_begin("g"), trigger, function_return()}) ==
        Warnings{skips(2)});
  CHECK(warnings_of({branch_by(2, 4), function_call("f"), plain, function_begin("f"), plain,
                     function_return()})
            .empty());
  CHECK(warnings_of({branch_by(2, 4), plain, function_call("f"), function_begin("f"), trigger,
                     function_return()})
            .empty());
  CHECK(warnings_of({branch_by(2, 4), raw, plain}) == Warnings{skips(0)});
  // Exits: in MAIN, before a call that triggers, in a function that comes back to triggers.
  CHECK(warnings_of({trigger, exit_execution()}).empty());
  CHECK(warnings_of({exit_execution(), trigger}) == Warnings{exits(0)});
  CHECK(warnings_of({exit_execution(), raw}) == Warnings{exits(0)});
  CHECK(warnings_of({plain, exit_execution(), function_call("f"), function_begin("f"), trigger,
                     function_return()}) == Warnings{exits(1)});
  CHECK(warnings_of({function_call("f"), trigger, function_begin("f"), exit_execution()}) ==
        Warnings{exits(3)});
  CHECK(warnings_of({trigger, function_call("f"), function_begin("f"), exit_execution()}).empty());
  CHECK(warnings_of({function_call("f"), function_call("f"), trigger, function_begin("f"),
                     function_call("g"), function_return(), function_begin("g"), plain,
                     exit_execution()}) == Warnings{exits(8)});
}

TEST_CASE("branches to a register stay as they are, with a warning") {
  for (const int mode : {1, 4}) {
    sample::Slot slot = sample::branch_by(0);
    slot[0x0E] = static_cast<std::uint8_t>(mode), slot[0x22] = 7, slot[0x23] = 8, slot[0x30] = 0x21;
    Streamed streamed({slot});
    CHECK(streamed.image()[0] == to_hex(slot));
    const auto plan = streamed.plan();
    REQUIRE(plan->kbins[0].warnings.size() == 1);
    CHECK(plan->kbins[0].warnings[0] ==
          "sg00/act.bin: slot 0 branches to a target in a register, which is not translated");
  }
}

TEST_CASE("a prefetch hint becomes a record with the offset of its target") {
  Streamed streamed({sample::branch_hint(4), plain, sample::branch_label(4), plain});
  CHECK(streamed.image()[0] == full("b5 10 00 02 00*8 00 00 03 00 00*32 80 00 00 00"));
  sample::Slot bad = sample::branch_hint(4);
  bad[0x0E] = 1;
  check_refusal({bad}, 0, "branch target mode is 1, expected 2 or 3");
  // A hint is no branch: it may point back over a trigger.
  Streamed back({});
  const auto queue = back.program.queue("q", engine, 1);
  back.add({sample::branch_label(1)});
  back.program.block(queue, 0, {copy(side(0, 0, {8}), side(0, 8, {8}))});
  back.add({sample::branch_hint(1)});
  CHECK(back.plan());
}

TEST_CASE("an exit becomes a branch to the postamble") {
  sample::Slot exit = sample::exit_execution();
  exit[3] = 4, exit[4] = 5, exit[5] = 9, exit[8] = 3;
  Streamed streamed({plain, exit, plain, sample::function_begin("f"), sample::exit_execution()});
  const auto image = streamed.image();
  REQUIRE(image.size() == 3 + 2 + 1);
  CHECK(image[1] == full("a9 10 00 06 05 09 00 00 03 00 00 00 00 00 03 00 00*32 80 00 00 00"));
  CHECK(image[3].substr(0, 2) == "a6");  // the postamble
  CHECK(image[5] == jump(-2, 3));        // from a function
  sample::Slot reload = sample::exit_execution();
  reload[0x0C] = 2;
  check_refusal({reload}, 0, "PSEUDO_INST has code 2, expected 1 (exit execution)");
}

TEST_CASE("functions lie behind the postamble, calls leave the way back in their registers") {
  sample::Slot call = sample::function_call("twice");
  call[4] = 5, call[5] = 9, call[6] = 0x13, call[7] = 4, call[8] = 2;
  sample::Slot leave = sample::function_return();
  leave[4] = 5, leave[5] = 10, leave[8] = 7;
  Streamed streamed({plain, call, sample::function_call("twice"), plain,
                     sample::function_begin("unused", 1, 2), sample::function_return(),
                     sample::function_begin("twice", 0x28, 0x29), plain, leave});
  const auto image = streamed.image();
  // MAIN 1 + 2 + 2 + 1, postamble 2, unused 2, twice 3; offsets count from the preamble.
  REQUIRE(image.size() == 6 + 2 + 2 + 3);
  const auto move = [&](std::string_view events, std::uint64_t back) {
    const std::uint64_t address = streamed.base() + 64 * back;
    std::string bytes;
    for (int i = 0; i < 8; ++i) bytes += fmt::format("{:02x} ", address >> (8 * i) & 255);
    return full(fmt::format("a7 10 00 00 {} 02 09 01 00 00*8 28 29 00*6 {}", events, bytes));
  };
  CHECK(image[1] == move("05 09 00 00 02 00 00 00", 4));
  CHECK(image[2] == full("a9 10 00 02 00 00 13 04 02 00 00 00 00 00 03 00 00*32 00 02 00 00"));
  CHECK(image[3] == move("00*8", 6));
  CHECK(image[4] == jump(6));
  CHECK(image[8] == full("a2 10 00 01"));
  CHECK(image[9] == full("a9 10 00 01 00*8 00 00 01 00 00*16 00 00 01 02"));
  CHECK(image[10] == full("a4 10 00 01"));  // the bit of function bodies
  CHECK(image[11] == full("a2 10 00 01 05 0a 00 00 07"));
  CHECK(image[12] == full("a9 10 00 01 00*8 00 00 01 00 00*16 00 00 28 29"));
}

TEST_CASE("functions that cannot be lowered are refused") {
  using namespace sample;
  check_refusal({function_call("f")}, 0, "calls function 'f', which does not exist");
  check_refusal({function_return()}, 0, "stands outside a function");
  check_refusal({function_begin("f"), function_return(), function_begin("f"), function_return()}, 2,
                "function 'f' occurs twice");
  check_refusal({function_begin("f"), plain}, 1,
                "function 'f' ends with NOP, expected a return, an exit, a halt or a branch");
  check_refusal({function_begin("f")}, 0, "function 'f' ends with PSEUDO_FUNCTION_BEGIN");
  check_refusal({function_begin("f", 3, 3), function_return()}, 0,
                "has register 3 for both halves of its return address");
  sample::Slot nameless = function_begin("f");
  nameless[0x0C] = 0;
  check_refusal({nameless, function_return()}, 0, "the function has no name");
  sample::Slot reset = function_begin("f");
  reset[0x30] = 1;
  check_refusal({reset, function_return()}, 0, "function 'f' resets semaphores when it returns");
  sample::Slot table = function_call("f");
  table[0x30] = 5;
  check_refusal({table, function_begin("f"), function_return()}, 0, "has argument table 5");
  sample::Slot no_table = function_call("f");
  std::fill_n(no_table.begin() + 0x30, 4, std::uint8_t{0xFF});
  CHECK(Streamed({no_table, function_begin("f"), function_return()}).plan());
  sample::Slot waiting = branch_label(1);
  waiting[4] = 5, waiting[5] = 9;
  check_refusal({waiting}, 0, "PSEUDO_BRANCH_LABEL has a wait or an update");
}

TEST_CASE("a function may end with a halt or a branch that is always taken") {
  for (const sample::Slot& last : {sample::make_slot(0xA1), sample::branch_by(-1)}) {
    CHECK(Streamed({sample::function_begin("f"), plain, last}).plan());
  }
  check_refusal({sample::function_begin("f"), plain, sample::branch_by(-1, 1)}, 2,
                "function 'f' ends with COMPARE_BRANCH");
}

// ---- triggers ----

struct WithQueue : Streamed {
  WithQueue() : Streamed({}) { queue = program.queue("q", engine, 1); }
  void block(std::uint32_t id, std::string function = {}) {
    program.block(queue, id, {copy(side(0, 0, {8 + id}), side(0, 64, {8 + id}))}, false).function =
        std::move(function);
  }
  void refused(std::uint64_t slot, std::string text) {
    check_refused(plan(), {"sg00/act.bin", "slot", slot, std::move(text)});
  }
  std::uint32_t queue = 0;
};

TEST_CASE("a trigger that may run more than once is refused by slot") {
  using namespace sample;
  const sample::Slot trigger = dma_trigger("q", 0);
  {
    WithQueue loop;
    loop.block(0);
    loop.add({plain, branch_label(1), trigger, plain, branch_to_label(1), plain});
    loop.refused(2, "0xC1 PSEUDO_DMA_TRIGGER lies in the loop of the branch at slot 4");
  }
  {
    WithQueue nested;
    nested.block(0);
    nested.add({branch_label(1), plain, branch_by(-1, 4), trigger, branch_by(-4, 4)});
    nested.refused(3, "lies in the loop of the branch at slot 4");
  }
  {
    WithQueue outside;
    outside.block(0);
    outside.add({plain, branch_by(-1, 4), trigger, plain, branch_by(-1, 4)});
    CHECK(outside.plan());
  }
  for (const int calls : {0, 2}) {
    WithQueue function;
    function.block(0, "f");
    for (int i = 0; i < calls; ++i) function.add({function_call("f")});
    function.add({function_begin("f"), trigger, function_return()});
    function.refused(static_cast<std::uint64_t>(calls) + 1,
                     fmt::format("lies in function 'f' with {} call sites, expected 1", calls));
  }
  {
    WithQueue inner;
    inner.block(0, "g");
    inner.add({function_call("f"), function_call("f"), function_begin("f"), function_call("g"),
               function_return(), function_begin("g"), trigger, function_return()});
    inner.refused(6, "lies in function 'g', whose caller may run more than once or never");
  }
  {
    WithQueue looped;
    looped.block(0, "f");
    looped.add(
        {function_call("f"), branch_by(-1, 4), function_begin("f"), trigger, function_return()});
    looped.refused(3, "lies in function 'f', whose caller may run more than once or never");
  }
}

TEST_CASE("a transfer of an engine may not run more than once either") {
  Streamed streamed({});
  streamed.program.state_buffer();
  streamed.program.dynamic_queue("d", engine, {8});
  sample::DgeCopy transfer;
  transfer.from = {false, 0, 0, {0, 0}, {1, 1}, 64};
  transfer.to = {false, 1, 0, {0, 0}, {1, 1}, 64};
  streamed.add(
      {sample::branch_label(1), sample::dma_direct2d(transfer, 8), sample::branch_to_label(1)});
  check_refused(streamed.plan(),
                {"sg00/act.bin", "slot", 1, "0xD4 PSEUDO_DMA_DIRECT2D lies in the loop"});
}

TEST_CASE("blocks of functions are their own, and lie where the call stands") {
  using namespace sample;
  WithQueue model;
  for (const std::uint32_t id : {0u, 1u}) model.block(id);
  for (const std::uint32_t id : {0u, 5u}) model.block(id, "f");
  model.block(2, "g");
  model.add({dma_trigger("q", 0), function_call("f"), dma_trigger("q", 1),  //
             function_begin("g"), dma_trigger("q", 2), function_return(),   //
             function_begin("f"), dma_trigger("q", 5), function_call("g"), dma_trigger("q", 0),
             function_return()});
  const auto plan = model.plan();
  REQUIRE(plan);
  // Kbin blocks: 0 main 0, 1 main 1, 2 f 0, 3 f 5, 4 g 2.
  CHECK(plan->kbins[0].queue_sets[0].triggered_blocks[0] ==
        std::vector<std::uint32_t>{0, 3, 4, 2, 1});
  CHECK(model.stream(*plan).triggers == std::vector<std::uint32_t>{0, 1, 4, 3, 2});
  CHECK(plan->kbins[0].warnings.empty());

  WithQueue wrong;
  wrong.block(0, "f");
  wrong.add({dma_trigger("q", 0)});
  wrong.refused(0, "queue 'q' has no DMA block 0");
  WithQueue other;
  other.block(0);
  other.add({function_call("f"), function_begin("f"), dma_trigger("q", 0), function_return()});
  other.refused(2, "queue 'q' has no DMA block 0 of function f");
}

TEST_CASE("functions that call each other in circles are no trap") {
  using namespace sample;
  Streamed streamed({function_call("f"), function_begin("f"), function_call("g"), function_return(),
                     function_begin("g"), function_call("f"), function_return()});
  CHECK(streamed.plan());
  CHECK(trigger_order(streamed.stream(*streamed.plan())).empty());
}

TEST_CASE("a raw trigger publishes its own count on every ring and moves no block") {
  Streamed streamed({});
  streamed.program.queue("q", engine, 2);
  sample::Slot raw = sample::dma_trigger("q", 0x1234, {9, 3});
  raw[0x2C] = 1;
  streamed.add({raw});
  const auto image = streamed.image();
  REQUIRE(image.size() == 4 + 2);
  for (std::size_t i = 0; i < 4; ++i) CHECK(image[i].substr(0x18 * 3, 11) == "34 12 00 00");
  CHECK(image[0].substr(0, 35) == "a5 10 00 00 05 09 00 00 03 00 00 00");
  CHECK(streamed.stream(*streamed.plan()).triggers.empty());
}

}  // namespace
}  // namespace neffld::test
