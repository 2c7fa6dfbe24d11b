// SPDX-License-Identifier: MIT
// Which rings exist when, and what their descriptors carry: static, template, indirect, several
// instances, packets, limits (spec 04 sections 5, 6 and 8; decisions 12, 21, 31).
#include <fmt/format.h>

#include <algorithm>

#include "ring_writer.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

struct Rings {
  explicit Rings(Arch arch = Arch::v3) : program(arch) { memory = program.file("m", 1 << 20); }
  DmaDescriptor run(std::uint64_t bytes) const {
    return copy(side(memory, 0, {bytes}), side(memory, 1 << 19, {bytes}));
  }
  Result<Plan> plan(const PlanOptions& options = {}) {
    const Kbin& kbin = program.kbin();
    return plan_model(std::span(&kbin, 1), options);
  }
  /// TX half of ring `number`, used descriptors only.
  std::vector<std::uint8_t> tx(const Plan& plan, std::size_t number = 0) {
    const Kbin& kbin = program.kbin();
    const Relocated result = relocated(std::span(&kbin, 1), plan, made_up_addresses(plan));
    const RingPlan& ring = plan.kbins[0].rings[number];
    auto bytes = result.sections.at(*ring.tx_request);
    bytes.resize(std::size_t{16} * ring.used);
    return bytes;
  }
  Program program;
  std::uint32_t memory = 0;
};

// ---- instances ----

TEST_CASE("a queue set may have 1, 511, 512 and 513 instances") {
  for (const std::uint32_t count : {1u, 511u, 512u, 513u}) {
    Rings rings;
    const auto queue = rings.program.queue("q", Engine::sp, 2);
    rings.program.queue_set(queue).instances.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      rings.program.queue_set(queue).instances.push_back(fmt::format("q_{}", i));
    }
    // The last instance first: rings are laid out by instance, not by trigger.
    for (const std::uint32_t i : {count - 1, 0u}) {
      DmaBlock& block = rings.program.block(queue, i, {rings.run(8), rings.run(8)}, false);
      block.instance = i;
      rings.program.slot(Engine::sp, sample::dma_trigger(fmt::format("q_{}", i), i));
      if (count == 1) break;
    }
    const auto plan = rings.plan();
    REQUIRE(plan);
    const KbinPlan& planned = plan->kbins[0];
    REQUIRE(planned.rings.size() == 2 * count);
    const auto filled = std::count_if(planned.rings.begin(), planned.rings.end(),
                                      [](const RingPlan& ring) { return ring.allocated != 0; });
    CHECK(filled == (count == 1 ? 2 : 4));
    CHECK(planned.rings.back().instance == count - 1);
    CHECK(planned.rings.back().used == 2);
    CHECK(planned.rings.back().allocated == 64);
    CHECK(rings.tx(*plan, 2 * count - 1).size() == 32);
    CHECK(request_of(*plan, fmt::format("ring q.{}.1 rx", count - 1)) != 0);
  }
}

TEST_CASE("a queue set may have 65536 instances and no more") {
  for (const std::uint32_t count : {65536u, 65537u}) {
    Rings rings;
    const auto queue = rings.program.queue("q", Engine::sp, 1);
    rings.program.queue_set(queue).instances.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      rings.program.queue_set(queue).instances.push_back(fmt::format("q_{}", i));
    }
    rings.program.block(queue, 0, {rings.run(8)}, false).instance = count - 1;
    rings.program.slot(Engine::sp, sample::dma_trigger(fmt::format("q_{}", count - 1), 0));
    const auto plan = rings.plan();
    if (count > 65536) {
      check_refused(
          plan, {"sg00", "q", std::nullopt, "found 65537 queue instances, expected at most 65536",
                 Status::resource});
      continue;
    }
    REQUIRE(plan);
    CHECK(plan->kbins[0].rings.back().instance == 65535);
    CHECK(rings.tx(*plan, count - 1).size() == 32);
  }
}

TEST_CASE("a queue that names inputs or outputs has one instance") {
  Rings rings;
  const auto in = rings.program.add(VarKind::input, "in", 64);
  const auto queue = rings.program.queue("q", Engine::sp, 1);
  rings.program.queue_set(queue).instances = {"q_a", "q_b"};
  rings.program.block(queue, 0, {copy(side(in, 0, {8}), side(rings.memory, 0, {8}))}, false);
  check_refused(rings.plan(), {"sg00", "q", std::nullopt,
                               "found 2 instances of a queue that names inputs or outputs"});
}

// ---- indirect memcpy ----

TEST_CASE("indirect rings are allocated behind cells and tables, before everything else") {
  Rings rings;
  const auto plain = rings.program.queue("a", Engine::sp, 1);
  const auto indirect = rings.program.queue("b", Engine::sp, 1);
  rings.program.queue_set(indirect).ring_type = RingType::indirect_memcpy;
  rings.program.block(plain, 0, {rings.run(8)});
  rings.program.block(indirect, 0, {rings.run(8)});
  const auto plan = rings.plan();
  REQUIRE(plan);
  const auto tx = request_of(*plan, "ring b.0.0 tx");
  CHECK(request_of(*plan, "ring b.0.0 rx") == tx + 1);
  CHECK(tx == plan->kbins[0].constant_block + 1);
  CHECK(tx < request_of(*plan, "instructions pe"));
  CHECK(request_of(*plan, "ring a.0.0 tx") > request_of(*plan, "instructions sp"));
  CHECK(rings.tx(*plan, 1) == rings.tx(*plan, 0));  // without tags they are like any other
}

TEST_CASE("an empty indirect set, or one that names a tensor, is refused") {
  Rings empty;
  const auto queue = empty.program.queue("b", Engine::sp, 2);
  empty.program.queue_set(queue).ring_type = RingType::indirect_memcpy;
  empty.program.block(queue, 0, {empty.run(8)}, false);  // never triggered
  check_refused(empty.plan(),
                {"sg00", "b", std::nullopt, "trying to load an empty indirect memcpy vring set",
                 Status::failure});
  Rings tensor;
  const auto in = tensor.program.add(VarKind::input, "in", 64);
  const auto other = tensor.program.queue("b", Engine::sp, 1);
  tensor.program.queue_set(other).ring_type = RingType::indirect_memcpy;
  tensor.program.block(other, 0, {copy(side(in, 0, {8}), side(tensor.memory, 0, {8}))});
  check_refused(tensor.plan(),
                {"sg00", "b", std::nullopt, "an indirect memcpy queue names an input or output"});
}

// ---- packets ----

constexpr std::uint32_t first = 1u << 26, last = 1u << 27, concat = 1u << 31;

std::vector<std::uint32_t> controls(const std::vector<std::uint8_t>& tx) {
  std::vector<std::uint32_t> found;
  for (std::size_t at = 0; at < tx.size(); at += 16) {
    found.push_back(load_le<std::uint32_t>(tx, at) & (first | last | concat));
  }
  return found;
}

TEST_CASE("packing joins the copies of a block up to the packet size, never the signals") {
  for (const Arch arch : {Arch::v2, Arch::v3}) {
    Rings rings(arch);
    const auto queue = rings.program.queue("q", Engine::sp, 1);
    rings.program.block(queue, 0,
                        {rings.run(2000), rings.run(2000), rings.run(96), rings.run(1),
                         rings.run(5000), rings.run(65536)});
    rings.program.block(queue, 1, {rings.run(8), rings.run(8)});
    PlanOptions options;
    const auto off = rings.plan(options);
    options.packet_bytes = 4096;
    const auto on = rings.plan(options);
    REQUIRE(on);
    const std::uint32_t alone = first | last;
    CHECK(controls(rings.tx(*off)) == std::vector<std::uint32_t>(6 + 1 + 2 + 1, alone));
    // 2000 + 2000 + 96 fill a packet; larger copies are packets of their own.
    CHECK(controls(rings.tx(*on)) == std::vector<std::uint32_t>{first | concat, concat, last, alone,
                                                                alone, alone, alone, first | concat,
                                                                last, alone});
    // Nothing else changes: lengths, barriers, counts.
    auto packed = rings.tx(*on), single = rings.tx(*off);
    for (auto* half : {&packed, &single}) {
      for (std::size_t at = 3; at < half->size(); at += 16) (*half)[at] &= 0x73;
    }
    CHECK(packed == single);
    CHECK(on->kbins[0].block_counters == off->kbins[0].block_counters);
  }
}

TEST_CASE("a packet has at most 64 descriptors") {
  Rings rings;
  const auto queue = rings.program.queue("q", Engine::sp, 1);
  rings.program.block(
      queue, 0,
      {copy(side(rings.memory, 0, {1, 130}, {1}), side(rings.memory, 4096, {1, 130}, {1}))});
  PlanOptions options;
  options.packet_bytes = 4096;
  const auto flags = controls(rings.tx(rings.plan(options).value()));
  REQUIRE(flags.size() == 131);
  for (const std::size_t opening : {0u, 64u, 128u}) CHECK((flags[opening] & first) != 0);
  for (const std::size_t closing : {63u, 127u, 129u}) CHECK((flags[closing] & last) != 0);
  CHECK(std::count_if(flags.begin(), flags.end(), [](auto f) { return (f & first) != 0; }) == 4);
}

// ---- descriptor sizes ----

TEST_CASE("runs of 1, 65535, 65536 and 65537 bytes, and no others, fit one descriptor each") {
  for (const auto& [bytes, lengths] :
       std::vector<std::pair<std::uint64_t, std::vector<std::uint16_t>>>{
           {1, {1}}, {65535, {65535}}, {65536, {0}}, {65537, {0, 1}}}) {
    Rings rings(Arch::v2);
    const auto queue = rings.program.queue("q", Engine::sp, 1);
    rings.program.block(queue, 0, {rings.run(bytes)});
    const auto plan = rings.plan();
    REQUIRE(plan);
    const auto tx = rings.tx(*plan);
    REQUIRE(tx.size() == 16 * (lengths.size() + 1));
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      CHECK(load_le<std::uint16_t>(tx, 16 * i) == lengths[i]);
      const bool barrier = (load_le<std::uint32_t>(tx, 16 * i) >> 30 & 1) != 0;
      CHECK(barrier == (i + 1 == lengths.size()));  // on the last piece only
    }
  }
}

// ---- counts for executions ----

TEST_CASE("the exec queue needs a descriptor for each tensor pointer and six for each bound ring") {
  Rings rings;
  const auto in = rings.program.add(VarKind::input, "in", 64);
  const auto out = rings.program.add(VarKind::output, "out", 128);
  const auto cell = rings.program.add(VarKind::pointer, "to_in", 8);
  rings.program.variable(cell).referenced_var_id = in;
  rings.program.variable(cell).io_ref = true;
  const auto fixed = rings.program.add(VarKind::pointer, "to_m", 8);
  rings.program.variable(fixed).referenced_var_id = rings.memory;
  const auto table = rings.program.add(VarKind::dge_table, "t");
  rings.program.variable(table).list = {in, rings.memory, out};
  const auto queue = rings.program.queue("q", Engine::sp, 3);
  rings.program.block(queue, 0, {copy(side(in, 0, {8}), side(rings.memory, 0, {8}))});
  const auto plain = rings.program.queue("r", Engine::sp, 2);
  rings.program.block(plain, 0, {rings.run(8)});
  const auto plan = rings.plan();
  REQUIRE(plan);
  const KbinPlan& planned = plan->kbins[0];
  CHECK(planned.exec_queue_descriptors == 1 + 1 + 2 + 3 * 6);
  REQUIRE(planned.inputs.size() == 1);
  CHECK(planned.inputs[0].name == "in");
  CHECK(planned.inputs[0].min_size == 64);
  CHECK(planned.inputs[0].var_id == in);
  REQUIRE(planned.outputs.size() == 1);
  CHECK(planned.outputs[0].var_id == out);
}

}  // namespace
}  // namespace neffld::test
