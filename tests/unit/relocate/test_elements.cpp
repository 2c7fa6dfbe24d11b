// SPDX-License-Identifier: MIT
// How blocks become elements, pieces and ring counts (decisions 4, 8, 9, 32), against a
// reference that walks element by element.
#include "elements.hpp"

#include <algorithm>

#include "neuron_abi/udma.h"
#include "sample_neff.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

/// One descriptor pair as the rules describe it.
struct Piece {
  std::uint32_t ring;
  std::uint64_t from, to, from_bytes, to_bytes;
};

/// Element by element, nothing clever. Offsets are relative to the variables.
std::vector<Piece> reference(const Kbin& kbin, const DmaBlock& block, std::uint32_t rings) {
  std::vector<Piece> pieces;
  std::uint64_t element = 0;
  for (std::uint32_t d = 0; d < block.descriptor_count; ++d) {
    const DmaDescriptor& descriptor = kbin.descriptors[block.first_descriptor + d];
    const bool transpose = descriptor.op == DmaOp::transpose;
    const std::uint64_t from_unit =
        transpose ? descriptor.transpose_element_size
                  : (descriptor.op == DmaOp::cast ? dtype_bytes(descriptor.from.dtype) : 1);
    const std::uint64_t to_unit =
        transpose ? descriptor.transpose_element_size
                  : (descriptor.op == DmaOp::cast ? dtype_bytes(descriptor.to.dtype) : 1);
    const auto& f = descriptor.from;
    const auto& t = descriptor.to;
    const std::uint64_t columns = transpose ? f.sizes[0] / from_unit : 1;
    const auto size = [](const AccessPattern& s, std::size_t dim) {
      return static_cast<std::int64_t>(dim < s.dims ? s.sizes[dim] : 1);
    };
    for (std::int64_t k = 0; k < size(f, 3); ++k) {
      for (std::int64_t j = 0; j < size(f, 2); ++j) {
        for (std::int64_t i = 0; i < size(f, 1); ++i) {
          for (std::uint64_t x = 0; x < columns; ++x) {
            const std::int64_t sx = static_cast<std::int64_t>(x);
            std::int64_t from = static_cast<std::int64_t>(f.offset) + k * f.steps[3] +
                                j * f.steps[2] + i * f.steps[1];
            std::int64_t to = static_cast<std::int64_t>(t.offset) + k * t.steps[3] + j * t.steps[2];
            if (transpose) {
              from += sx * static_cast<std::int64_t>(from_unit);
              to += sx * t.steps[1] + i * static_cast<std::int64_t>(to_unit);
            } else {
              to += i * t.steps[1];
            }
            const std::uint64_t units = transpose ? 1 : f.sizes[0] / from_unit;
            const std::uint64_t most = 65536 / std::max(from_unit, to_unit);
            for (std::uint64_t done = 0; done < units; done += most) {
              const std::uint64_t now = std::min(most, units - done);
              pieces.push_back({static_cast<std::uint32_t>(element % rings),
                                static_cast<std::uint64_t>(from) + done * from_unit,
                                static_cast<std::uint64_t>(to) + done * to_unit, now * from_unit,
                                now * to_unit});
            }
            ++element;
          }
        }
      }
    }
  }
  return pieces;
}

std::uint64_t length_of(Bytes descriptor) {
  const auto field = load_le<std::uint32_t>(descriptor, 0) & NEURON_UDMA_LEN_MASK;
  return field ? field : 65536;
}

/// Plans and relocates the program and compares every data descriptor with the reference.
void check_against_reference(Program& program, std::uint32_t rings) {
  const Kbin& kbin = program.kbin();
  const std::span<const Kbin> kbins(&kbin, 1);
  const Plan plan = planned(kbins);
  const Addresses addresses = made_up_addresses(plan);
  const Relocated result = relocated(kbins, plan, addresses);
  std::vector<std::uint32_t> used(rings);
  for (const std::uint32_t index : plan.kbins[0].queue_sets[0].triggered_blocks[0]) {
    const DmaBlock& block = kbin.blocks[index];
    const auto pieces = reference(kbin, block, rings);
    BlockCounter expected{};
    for (const Piece& piece : pieces) ++expected[piece.ring];
    for (std::uint32_t k = 0; k < rings; ++k) ++expected[k];  // the semaphore
    CHECK(count_block(kbin, block, rings) == expected);
    CHECK(plan.kbins[0].block_counters[index] == expected);
    const auto base = [&](const AccessPattern& s) {
      const Placement& place = plan.kbins[0].variables[s.var_id];
      return place.kind == Placement::Kind::fixed ? place.address
                                                  : addresses.sections[place.request];
    };
    const DmaDescriptor& first = kbin.descriptors[block.first_descriptor];
    for (const Piece& piece : pieces) {
      const RingPlan& ring = plan.kbins[0].rings[piece.ring];
      const std::size_t at = 16u * used[piece.ring]++;
      const Bytes tx = Bytes(result.sections.at(*ring.tx_request)).subspan(at, 16);
      const Bytes rx = Bytes(result.sections.at(*ring.rx_request)).subspan(at, 16);
      const bool same = load_le<std::uint64_t>(tx, 8) == base(first.from) + piece.from &&
                        load_le<std::uint64_t>(rx, 8) == base(first.to) + piece.to &&
                        length_of(tx) == piece.from_bytes && length_of(rx) == piece.to_bytes;
      if (!same) {
        FAIL("ring " << piece.ring << " descriptor " << at / 16 << ": tx " << to_hex(tx) << " rx "
                     << to_hex(rx) << ", expected offsets " << piece.from << " -> " << piece.to
                     << ", bytes " << piece.from_bytes << " -> " << piece.to_bytes);
      }
    }
    for (std::uint32_t k = 0; k < rings; ++k) {  // every ring signals every block once
      const RingPlan& ring = plan.kbins[0].rings[k];
      const Bytes rx = Bytes(result.sections.at(*ring.rx_request)).subspan(16u * used[k]++, 16);
      CHECK(length_of(rx) == 4);
    }
  }
  for (std::uint32_t k = 0; k < rings; ++k) {
    const RingPlan& ring = plan.kbins[0].rings[k];
    CHECK(ring.used == used[k]);
    const Bytes slack = Bytes(result.sections.at(*ring.tx_request)).subspan(16u * used[k]);
    CHECK(std::count(slack.begin(), slack.end(), 0) == static_cast<std::ptrdiff_t>(slack.size()));
  }
}

constexpr std::uint64_t room = 64ull << 20;

struct ElementRig {
  explicit ElementRig(Arch arch, std::uint32_t rings) : program(arch) {
    source = program.add(VarKind::tmp_buf, "a", room);
    target = program.add(VarKind::tmp_buf, "b", room);
    queue = program.queue("q", Engine::sp, rings);
  }
  Program program;
  std::uint32_t source, target, queue;
};

TEST_CASE("random copy blocks expand as the element walk says") {
  sample::Random random(7);
  const std::vector<std::uint64_t> runs = {1, 2, 512, 65535, 65536, 65537, 200000};
  for (const std::uint32_t rings : {1u, 3u, 16u}) {
    for (int round = 0; round < 12; ++round) {
      INFO("rings " << rings << " round " << round);
      ElementRig rig(round % 2 ? Arch::v2 : Arch::v3, rings);
      for (std::uint32_t id = 0; id < 3; ++id) {
        std::vector<DmaDescriptor> descriptors;
        for (std::uint64_t d = 0; d <= random.below(3); ++d) {
          std::vector<std::uint64_t> sizes = {runs[random.below(runs.size())]};
          std::vector<std::int64_t> from_steps, to_steps;
          for (std::uint64_t dim = random.below(4); dim > 0; --dim) {
            sizes.push_back(1 + random.below(5));
            from_steps.push_back(static_cast<std::int64_t>(random.below(400000)) - 200000);
            to_steps.push_back(static_cast<std::int64_t>(random.below(400000)) - 200000);
          }
          descriptors.push_back(
              copy(side(rig.source, room / 2 + random.below(99), sizes, from_steps),
                   side(rig.target, room / 2 + random.below(99), sizes, to_steps)));
        }
        rig.program.block(rig.queue, id, descriptors);
      }
      check_against_reference(rig.program, rings);
    }
  }
}

TEST_CASE("casts cut long runs at equal element counts") {
  for (const std::uint64_t values : {1ull, 16384ull, 16385ull, 50000ull}) {
    INFO(values << " values");
    ElementRig rig(Arch::v3, 3);
    DmaDescriptor cast = copy(side(rig.source, 0, {values, 4}, {65536}, 2),
                              side(rig.target, 64, {4 * values, 4}, {262144}, 10));
    cast.op = DmaOp::cast;
    rig.program.block(rig.queue, 0, {cast});
    rig.program.block(rig.queue, 1, {cast, cast});
    check_against_reference(rig.program, 3);
  }
}

TEST_CASE("a cast names both dtypes in its transmit descriptors") {
  ElementRig rig(Arch::v3, 1);
  DmaDescriptor cast = copy(side(rig.source, 0, {128}, {}, 10), side(rig.target, 0, {64}, {}, 7));
  cast.op = DmaOp::cast;
  rig.program.block(rig.queue, 0, {cast});
  const std::span<const Kbin> kbins(&rig.program.kbin(), 1);
  const Plan plan = planned(kbins);
  const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
  const Bytes tx = result.sections.at(*plan.kbins[0].rings[0].tx_request);
  const Bytes rx = result.sections.at(*plan.kbins[0].rings[0].rx_request);
  CHECK(load_le<std::uint32_t>(tx, 0) == (128u | 0x0D00'0000u));
  CHECK(load_le<std::uint32_t>(tx, 4) == (0x0108'0003u | 7u << 20 | 10u << 6 | 7u << 10));
  CHECK(load_le<std::uint32_t>(rx, 0) == (64u | 0x2100'0000u));
  CHECK(load_le<std::uint32_t>(tx, 16 + 4) == 0x0108'0003u);  // the signal is a plain copy
}

TEST_CASE("transposes move one matrix element a pair, source rows outer") {
  for (const std::uint32_t element : {2u, 4u}) {
    for (const std::uint32_t rings : {1u, 3u, 16u}) {
      ElementRig rig(Arch::v3, rings);
      constexpr std::uint64_t y = 5, x = 7;
      DmaDescriptor transpose =
          copy(side(rig.source, 16, {x * element, y, 2, 3}, {4096, 65536, -262144}),
               side(rig.target, 32, {y * element, x, 2, 3}, {8192, 131072, 524288}));
      transpose.from.offset = 1 << 20;
      transpose.op = DmaOp::transpose;
      transpose.tiling_dims = 2;
      transpose.transpose_element_size = element;
      transpose.transpose_shape = {1, 1, y, x};
      rig.program.block(rig.queue, 0, {transpose});
      check_against_reference(rig.program, rings);
      const std::span<const Kbin> kbins(&rig.program.kbin(), 1);
      const DmaTotals totals = planned(kbins).kbins[0].totals;
      CHECK(totals.transposes == 1);
      CHECK(totals.elements == 0);
      CHECK(totals.bytes == 6 * x * y * element);
    }
  }
}

TEST_CASE("element j lies on ring j mod n, counted over the block's descriptors, anew per block") {
  ElementRig rig(Arch::v3, 3);
  const auto rows = [&](std::uint64_t count) {
    return copy(side(rig.source, 0, {16, count}, {16}), side(rig.target, 0, {16, count}, {16}));
  };
  rig.program.block(rig.queue, 0, {rows(4), rows(1), rows(2)});
  rig.program.block(rig.queue, 1, {rows(1)});
  const std::span<const Kbin> kbins(&rig.program.kbin(), 1);
  const Plan plan = planned(kbins);
  // 7 elements: 3, 2, 2; then one more on ring 0 of the next block; one signal a ring and block.
  CHECK(plan.kbins[0].block_counters[0] == BlockCounter{4, 3, 3});
  CHECK(plan.kbins[0].block_counters[1] == BlockCounter{2, 1, 1});
  CHECK(plan.kbins[0].rings[0].used == 6);
  CHECK(plan.kbins[0].rings[1].used == 4);
}

TEST_CASE("all pieces of a long element stay on its ring") {
  ElementRig rig(Arch::v2, 3);
  rig.program.block(rig.queue, 0,
                    {copy(side(rig.source, 0, {200000, 2}, {262144}),
                          side(rig.target, 0, {200000, 2}, {262144}))});
  const std::span<const Kbin> kbins(&rig.program.kbin(), 1);
  const Plan plan = planned(kbins);
  CHECK(plan.kbins[0].block_counters[0] == BlockCounter{5, 5, 1});
  // v2 orders with DMB: on the last piece of an element and on every signal (decision 31).
  const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
  const Bytes tx = result.sections.at(*plan.kbins[0].rings[0].tx_request);
  std::vector<std::uint32_t> controls;
  for (std::size_t i = 0; i < 5; ++i) controls.push_back(load_le<std::uint32_t>(tx, 16 * i));
  CHECK(controls == std::vector<std::uint32_t>{0x0D00'0000, 0x0D00'0000, 0x0D00'0000,
                                               0x4D00'0000 | (200000 - 3 * 65536), 0x4D00'0004});
}

TEST_CASE("v3 orders every write with the receive flag and never uses DMB") {
  ElementRig rig(Arch::v3, 1);
  rig.program.block(rig.queue, 0,
                    {copy(side(rig.source, 0, {200000}), side(rig.target, 0, {200000}))});
  const std::span<const Kbin> kbins(&rig.program.kbin(), 1);
  const Plan plan = planned(kbins);
  const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
  for (std::size_t i = 0; i < 5; ++i) {
    const Bytes tx = result.sections.at(*plan.kbins[0].rings[0].tx_request);
    const Bytes rx = result.sections.at(*plan.kbins[0].rings[0].rx_request);
    CHECK((load_le<std::uint32_t>(tx, 16 * i) & 0xFFFF'0000) == 0x0D00'0000);
    CHECK((load_le<std::uint32_t>(rx, 16 * i) & 0xFFFF'0000) == 0x2100'0000);
  }
}

TEST_CASE("hostile counts stop at a limit instead of wrapping") {
  CHECK(saturating_multiply(1ull << 63, 2) == element_limit);
  CHECK(saturating_multiply(~0ull, ~0ull) == element_limit);
  CHECK(saturating_multiply(0, ~0ull) == 0);
  CHECK(saturating_add(element_limit, 1) == element_limit);
  CHECK(saturating_add(~0ull, ~0ull) == element_limit);
  CHECK(saturating_add(3, 4) == 7);
  ElementRig rig(Arch::v3, 1);
  rig.program.block(rig.queue, 0,
                    {copy(side(rig.source, 0, {~0ull, ~0ull, ~0ull, ~0ull}),
                          side(rig.target, 0, {~0ull, ~0ull, ~0ull, ~0ull}))});
  CHECK(count_block(rig.program.kbin(), rig.program.kbin().blocks[0], 1)[0] == counter_limit);
  CHECK(expand(rig.program.kbin().descriptors[0]).pieces == 1ull << 48);
}

TEST_CASE("a block without a semaphore of its own takes turns with its set's") {
  ElementRig rig(Arch::v3, 1);
  rig.program.queue_set(rig.queue).semaphores = {20, 21, 22};
  const auto one = copy(side(rig.source, 0, {4}), side(rig.target, 0, {4}));
  for (std::uint32_t id = 0; id < 5; ++id) rig.program.block(rig.queue, id, {one});
  rig.program.block(rig.queue, 5, {one}).semaphore = 77;
  const Kbin& kbin = rig.program.kbin();
  std::vector<std::uint32_t> raised;
  for (const DmaBlock& block : kbin.blocks) raised.push_back(block_semaphore(kbin, block).value());
  CHECK(raised == std::vector<std::uint32_t>{20, 21, 22, 20, 21, 77});
  rig.program.queue_set(rig.queue).semaphores.clear();
  CHECK_FALSE(block_semaphore(rig.program.kbin(), rig.program.kbin().blocks[0]));
  CHECK(count_block(rig.program.kbin(), rig.program.kbin().blocks[0], 1)[0] == 1);
}

TEST_CASE(
    "a block ends with event, semaphore and remote semaphores, in this order, on every ring") {
  std::vector<Program> programs;
  for (const char* name : {"sg00", "sg01"}) {
    Program& program = programs.emplace_back(Arch::v3, name);
    const auto a = program.add(VarKind::tmp_buf, "a", 64);
    const auto queue = program.queue("q", Engine::sp, name[3] == '0' ? 1 : 2, {30});
    DmaBlock& block = program.block(queue, 0, {copy(side(a, 0, {8}), side(a, 8, {8}))});
    if (name[3] == '0') block.event = 40;
    block.remote_semaphores = {50, 51};
  }
  const auto kbins = kbins_of(programs);
  const Plan plan = planned(kbins);
  const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
  const auto targets = [&](std::size_t kbin, std::size_t ring) {
    const RingPlan& r = plan.kbins[kbin].rings[ring];
    std::vector<std::uint64_t> pointers;
    for (std::uint32_t i = 0; i < r.used; ++i) {
      pointers.push_back(load_le<std::uint64_t>(result.sections.at(*r.rx_request), 16 * i + 8));
    }
    return pointers;
  };
  constexpr std::uint64_t events0 = 0x20'0000'0000 + 0x8'0270'0000;
  constexpr std::uint64_t events1 = 0x30'0000'0000 + 0x8'0270'0000;
  const auto first = targets(0, 0);
  REQUIRE(first.size() == 5);
  CHECK(std::vector(first.begin() + 1, first.end()) ==
        std::vector<std::uint64_t>{events0 + 4 * 40, events0 + 0x1800 + 4 * 30,
                                   events1 + 0x1800 + 4 * 50, events1 + 0x1800 + 4 * 51});
  const auto second = targets(1, 1);  // no element on ring 1, but its signals
  CHECK(second == std::vector<std::uint64_t>{events1 + 0x1800 + 4 * 30, events0 + 0x1800 + 4 * 50,
                                             events0 + 0x1800 + 4 * 51});
}

}  // namespace
}  // namespace neffld::test
