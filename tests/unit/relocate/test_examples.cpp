// SPDX-License-Identifier: MIT
// The worked examples: descriptor vectors of spec 04 section 4, E1, E2, E3 and E5 of spec 05.
#include <fmt/format.h>

#include <algorithm>

#include "block_author.hpp"
#include "image.hpp"
#include "ring_writer.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

// ---- spec 04 section 4 ----

std::array<std::string, 2> pair_of(std::uint32_t bytes, bool strong_order, bool last,
                                   std::uint32_t meta = NEURON_UDMA_META_COPY) {
  std::vector<std::uint8_t> tx(16), rx(16);
  Ledger ledger;
  RingWriter writer(Patcher(tx, 0, 0, ledger), Patcher(rx, 0, 1, ledger), strong_order);
  RingWriter::Pair pair;
  pair.from.value = 0x100'0000;
  pair.to.value = 0x200'0000;
  pair.from_bytes = pair.to_bytes = bytes;
  pair.meta = meta;
  pair.last = last;
  REQUIRE(writer.append(pair));
  CHECK(writer.used() == 1);
  CHECK(ledger.count_of(0, RelocForm::ring_pointer) == 2);
  return {to_hex(tx), to_hex(rx)};
}

TEST_CASE("descriptor bytes are the test vectors of the format") {
  CHECK(pair_of(4096, false, false)[0] == "00 10 00 0d 03 00 08 01 00 00 00 01 00 00 00 00");
  CHECK(pair_of(4096, false, false)[1] == "00 10 00 01 00 00 00 00 00 00 00 02 00 00 00 00");
  CHECK(pair_of(65536, false, false)[0] == "00 00 00 0d 03 00 08 01 00 00 00 01 00 00 00 00");
  CHECK(pair_of(4096, false, true)[0] == "00 10 00 4d 03 00 08 01 00 00 00 01 00 00 00 00");
  CHECK(pair_of(4096, false, false, NEURON_UDMA_META_COPY | NEURON_UDMA_META_WRITE_BARRIER)[0] ==
        "00 10 00 0d 03 00 08 05 00 00 00 01 00 00 00 00");
  CHECK(pair_of(4096, true, true)[1] == "00 10 00 21 00 00 00 00 00 00 00 02 00 00 00 00");
  CHECK(pair_of(4096, true, true)[0] == "00 10 00 0d 03 00 08 01 00 00 00 01 00 00 00 00");
}

TEST_CASE("a ring planned too small is an error, not an overflow") {
  std::vector<std::uint8_t> tx(16), rx(16);
  Ledger ledger;
  RingWriter writer(Patcher(tx, 0, 0, ledger), Patcher(rx, 0, 1, ledger), true);
  RingPointer pointer;
  REQUIRE(writer.append_copy(pointer, pointer, 65536, {}));
  check_refused(writer.append_copy(pointer, pointer, 1, {}),
                {"", "ring", std::nullopt, "Failed to add descriptor 2 to a vring planned for 1"});
  CHECK(writer.used() == 1);
}

TEST_CASE("a ring is as long as its shorter half, and the other half stays as it is") {
  for (const bool tx_is_short : {false, true}) {
    std::vector<std::uint8_t> tx(tx_is_short ? 16 : 32), rx(tx_is_short ? 32 : 16);
    Ledger ledger;
    RingWriter writer(Patcher(tx, 0, 0, ledger), Patcher(rx, 0, 1, ledger), true);
    const RingPointer pointer;
    REQUIRE(writer.append_copy(pointer, pointer, 64, {}));
    const auto tx_before = tx, rx_before = rx;
    check_refused(
        writer.append_copy(pointer, pointer, 64, {}),
        {"", "ring", std::nullopt, "Failed to add descriptor 2 to a vring planned for 1"});
    CHECK(tx == tx_before);
    CHECK(rx == rx_before);
    CHECK(ledger.count_of(0, RelocForm::ring_pointer) == 2);
  }
}

TEST_CASE("a descriptor of no bytes or of more than 64 KiB is refused") {
  std::vector<std::uint8_t> tx(16), rx(16);
  Ledger ledger;
  RingWriter writer(Patcher(tx, 0, 0, ledger), Patcher(rx, 0, 1, ledger), true);
  for (const auto& [from, to] : {std::pair(0u, 4u), {4u, 0u}, {65537u, 4u}, {4u, 65537u}}) {
    RingWriter::Pair pair;
    pair.from_bytes = from;
    pair.to_bytes = to;
    check_refused(writer.append(pair),
                  {"", "descriptor", std::nullopt,
                   fmt::format("lengths are {} and {}, expected 1 to 65536 bytes", from, to)});
  }
  CHECK(writer.used() == 0);
}

// ---- spec 05 E: the fixture program with the addresses the examples choose ----

enum Var : std::uint32_t { input, sb, output, gradient_in, gradient_out };

struct Fixture {
  Fixture() : program(Arch::v2) {
    program.add(VarKind::input, "input", 128);
    program.state_buffer();
    program.add(VarKind::output, "output", 128);
    program.add(VarKind::tmp_buf, "gradient_in", 128);
    program.add(VarKind::tmp_buf, "gradient_out", 128);
    in_queue = program.queue("q_gradient_in", Engine::pool, 1, {10});
    out_queue = program.queue("q_gradient_out", Engine::pool, 1, {11});
  }

  void plan_it() {
    plan = planned(kbins());
    addresses = made_up_addresses(plan);
    const auto put = [&](const char* owner, std::uint64_t address) {
      addresses.sections[request_of(plan, owner)] = address;
    };
    put("variable gradient_in", 0x1'0000'1000);
    put("variable gradient_out", 0x1'0000'2000);
    put("constant block", 0x1'0000'4000 - 4);  // its word 1 is the signal source
  }
  std::span<const Kbin> kbins() { return {&program.kbin(), 1}; }

  std::string slot(Engine engine, std::size_t index) {
    const Relocated result = relocated(kbins(), plan, addresses);
    const auto& image =
        result.sections.at(plan.kbins[0].streams[static_cast<std::size_t>(engine)].request);
    return to_hex(Bytes(image).subspan(64 * index, 64));
  }

  Program program;
  std::uint32_t in_queue = 0, out_queue = 0;
  Plan plan;
  Addresses addresses;
};

std::string wide(std::string_view text) {  // a full slot
  return to_hex(slot_of(text));
}

TEST_CASE("E1: a template pair on the host, resolved when the input is bound") {
  Fixture f;
  f.program.block(f.in_queue, 0, {copy(side(input, 0, {128}), side(gradient_in, 0, {128}))});
  f.program.block(f.out_queue, 0, {copy(side(gradient_out, 0, {128}), side(output, 0, {128}))});
  f.plan_it();
  std::map<std::string, std::string> host;
  REQUIRE(author_template_vrings(
      f.kbins(), f.plan, f.addresses, [&](const HostVring& vring) -> Result<void> {
        const auto& set = f.program.kbin().queue_sets[vring.ring->queue_set];
        host[set.name + (vring.tx ? " tx" : " rx")] = to_hex(vring.bytes);
        return {};
      }));
  const std::string signal_tx = " 04 00 00 4d 03 00 08 01 00 40 00 00 01 00 00 00";
  const std::string signal_10 = " 04 00 00 01 00 00 00 00 28 18 70 c2 ff 0f 00 00";
  CHECK(host["q_gradient_in tx"] == "80 00 00 4d 03 00 08 01 00 00 00 00 00 00 00 20" + signal_tx);
  CHECK(host["q_gradient_in rx"] == "80 00 00 01 00 00 00 00 00 10 00 00 01 00 00 00" + signal_10);
  CHECK(host["q_gradient_out rx"].substr(0, 47) ==
        "80 00 00 01 00 00 00 00 00 00 00 00 20 00 00 20");

  f.addresses.io = {{"input", 0x1'0000'0000}, {"output", 0x1'0000'3000}};
  const Relocated bound = relocated_bound(f.kbins(), f.plan, f.addresses);
  const auto ring = [&](const char* owner) {
    return to_hex(Bytes(bound.sections.at(request_of(f.plan, owner))).first(32));
  };
  CHECK(ring("ring q_gradient_in.0.0 tx") ==
        "80 00 00 4d 03 00 08 01 00 00 00 00 01 00 00 00" + signal_tx);
  CHECK(ring("ring q_gradient_in.0.0 rx") ==
        "80 00 00 01 00 00 00 00 00 10 00 00 01 00 00 00" + signal_10);
  CHECK(ring("ring q_gradient_out.0.0 rx").substr(0, 47) ==
        "80 00 00 01 00 00 00 00 00 30 00 00 01 00 00 00");
  // Row of the input pointer: the template before, the address after.
  const auto row = std::find_if(bound.rows.begin(), bound.rows.end(), [](const LedgerRow& r) {
    return r.form == RelocForm::ring_io && r.symbol.index == output;
  });
  REQUIRE(row != bound.rows.end());
  CHECK(row->old_value == 0x2000'0020'0000'0000);
  CHECK(row->new_value == 0x1'0000'3000);
}

TEST_CASE("E2: a tensor load by var-id becomes one by address") {
  Fixture f;
  f.program.slot(Engine::sp, slot_of("ce 10 00 00 00 00 00 00 00 00 00 00 09 00 01 01"
                                     "04 00 00 00 40 00 00 00 01 00 00 00 01 00 00 00 05"));
  f.program.slot(Engine::sp, slot_of("cd 10 00 00 00 00 00 00 00 00 00 00 09 00 01 01"
                                     "04 00 00 00 40 00 00 00 01 00 00 00 01 00 00 00 05"));
  f.plan_it();
  CHECK(f.slot(Engine::sp, 1) == wide("aa 10 00 00 00 00 00 00 00 00 00 00 09 00 01 01"
                                      "40 20 00 00 01 00 00 00 01 00 00 00 01 00 00 00 05"));
  CHECK(f.slot(Engine::sp, 2) == wide("ab 10 00 00 00 00 00 00 00 00 00 00 09 00 01 01"
                                      "40 20 00 00 01 00 00 00 01 00 00 00 01 00 00 00 05"));
  Ledger ledger;
  REQUIRE(relocate(f.kbins(), f.plan, f.addresses, ledger,
                   [](const SectionContent&) { return Result<void>(); }));
  const IpMap* map = ledger.ip_map(0, Engine::sp);
  REQUIRE(map);
  const auto main_rows = std::count_if(map->rows.begin(), map->rows.end(), [](const IpRow& row) {
    return row.section == IpSection::main;
  });
  CHECK(main_rows == 0);  // one slot each: no patch row
}

TEST_CASE("E3: a DMA_DIRECT2D gets both operands, SBUF through its window") {
  Fixture f;
  f.program.dynamic_queue("q_dynamic", Engine::act, {12});
  f.program.slot(Engine::act, slot_of("d4 10 00 00 04 16 00 00 00 00 00 00 00 0c 01 00"
                                      "00 00 00 00 04 00 00 10 00 00 00 00 00 00 00 00"
                                      "01 00 01 00 80 00 00 00 00 02 00 00 01 00 00 10"
                                      "00 00 00 00 00 00 00 00 01 00 01 00 80 00 0a 0a"));
  f.plan_it();
  CHECK(f.slot(Engine::act, 1) == wide("b8 10 00 00 04 16 00 00 00 00 00 00 00 0c 01 00"
                                       "00 20 00 00 01 00 00 00 00 00 00 00 00 00 00 00"
                                       "01 00 01 00 80 00 00 00 00 02 00 c0 ff 0f 00 00"
                                       "00 00 00 00 00 00 00 00 01 00 01 00 80 00 0a 0a"));
  const Relocated result = relocated(f.kbins(), f.plan, f.addresses);
  CHECK(result.counts.count_of(0, RelocForm::var_address) == 2);
  CHECK(result.counts.count_of(0, RelocForm::opcode) == 1);
}

TEST_CASE("E5: a DMA trigger becomes RX and TX tail increments, wait on the first") {
  Fixture f;
  f.program.block(f.out_queue, 0, {copy(side(gradient_out, 0, {128}), side(output, 0, {128}))},
                  false);
  f.program.slot(Engine::pool, slot_of("c1 10 00 00 04 16 00 00 00 00 00 00 71 5f 67 72 61 64 69 65"
                                       "6e 74 5f 6f 75 74"));
  f.plan_it();
  CHECK(f.slot(Engine::pool, 1) == wide("a5 10 00 00 04 16 00 00 00 00 00 00 04 00 00 00"
                                        "38 20 02 f0 ff 0f 00 00 02"));
  CHECK(f.slot(Engine::pool, 2) == wide("a5 10 00 00 00 00 00 00 00 00 00 00 04 00 00 00"
                                        "38 20 00 f0 ff 0f 00 00 02"));
}

TEST_CASE("a trigger's wait goes on its first write and its update on its last, with their value") {
  Fixture f;
  f.program.block(f.in_queue, 0, {copy(side(gradient_out, 0, {8}), side(gradient_in, 0, {8}))},
                  false);
  sample::Slot both = sample::dma_trigger("q_gradient_in", 0, {22, 0x1234});
  sample::set_update(both, 23);
  f.program.slot(Engine::pool, both);
  f.plan_it();
  CHECK(f.slot(Engine::pool, 1).substr(0, 47) == "a5 10 00 00 05 16 00 00 34 12 00 00 04 00 00 00");
  CHECK(f.slot(Engine::pool, 2).substr(0, 47) == "a5 10 00 00 00 00 13 17 34 12 00 00 04 00 00 00");
}

TEST_CASE("with several rings only the very first and the very last write synchronise") {
  Program program(Arch::v3);
  const auto a = program.add(VarKind::tmp_buf, "a", 64);
  const auto queue = program.queue("q", Engine::sp, 3);
  program.block(queue, 0, {copy(side(a, 0, {8}), side(a, 8, {8}))}, false);
  sample::Slot both = sample::dma_trigger("q", 0, {22, 7});
  sample::set_update(both, 23);
  program.slot(Engine::sp, both);
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins);
  const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
  const Bytes image = result.sections.at(plan.kbins[0].streams[4].request);
  for (std::size_t slot = 1; slot <= 6; ++slot) {
    INFO("write " << slot);
    const std::string sync = slot == 1   ? "05 16 00 00 07 00 00 00"
                             : slot == 6 ? "00 00 13 17 07 00 00 00"
                                         : "00 00 00 00 00 00 00 00";
    CHECK(to_hex(image.subspan(64 * slot + 4, 8)) == sync);
  }
}

TEST_CASE("16 rings take 32 writes: RX then TX, ring by ring, each with its own count") {
  Program program(Arch::v3);
  const auto a = program.add(VarKind::tmp_buf, "a", 4096);
  program.queue("q0", Engine::sp, 1);
  const auto queue = program.queue("q1", Engine::sp, 16);
  program.block(queue, 0, {copy(side(a, 0, {8, 19}, {8}), side(a, 1024, {8, 19}, {8}))});
  program.slot(Engine::sp, sample::dma_rearm("q1"));
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins);
  const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
  const Bytes image = result.sections.at(plan.kbins[0].streams[4].request);
  REQUIRE(image.size() == 64 * (1 + 32 + 32 + 2));
  const auto written = [&](std::size_t slot) {
    return std::pair(load_le<std::uint64_t>(image, 64 * slot + 0x10),
                     load_le<std::uint32_t>(image, 64 * slot + 0x18));
  };
  for (std::uint64_t k = 0; k < 16; ++k) {
    INFO("ring " << k);
    const std::uint64_t engine = 0x10'0200'0000 + k * 0x10'0000;
    const std::uint32_t count = k < 3 ? 3 : 2;  // 19 elements and a signal a ring
    CHECK(written(1 + 2 * k) == std::pair(engine + 0x2'0000 + 0x2000 + 0x38, count));
    CHECK(written(2 + 2 * k) == std::pair(engine + 0x2000 + 0x38, count));
    // DMA_REARM: reset bit to S2M sw_ctrl, then M2S sw_ctrl (decision 30).
    CHECK(written(33 + 2 * k) == std::pair(engine + 0x2'0000 + 0x2000 + 0x64, 0x100u));
    CHECK(written(34 + 2 * k) == std::pair(engine + 0x2000 + 0xB0, 0x100u));
  }
}

TEST_CASE("an image is the start gate, the stream, a notify and a branch back") {
  Fixture f;
  f.program.slot(Engine::dve, sample::ordering_mode());
  f.plan_it();
  CHECK(f.slot(Engine::dve, 0) == wide("a0 10 00 00 04 f3 14 f3"));
  CHECK(f.slot(Engine::dve, 1) == wide("b1 10"));
  CHECK(f.slot(Engine::dve, 2) == wide("a6 10 00 00 00 00 13 f5"));
  CHECK(f.slot(Engine::dve, 3) == wide("a9 10 00 02 00*8 00 00 03 00 00*16 00*16 40 ff ff ff"));
  CHECK(f.slot(Engine::pe, 2) == wide("a9 10 00 02 00*8 00 00 03 00 00*16 00*16 80 ff ff ff"));
}

}  // namespace
}  // namespace neffld::test
