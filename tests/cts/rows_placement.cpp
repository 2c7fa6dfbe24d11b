// SPDX-License-Identifier: MIT
// Where chunks go: pools, fit, alignment, the contiguous scratchpad (spec 06 sections 5.1 to 5.3).
#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

constexpr std::uint64_t mib = 1ull << 20;
constexpr std::uint32_t scratchpad = NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE;

std::uint64_t main_start(const Trial& t, std::uint32_t hbm) {
  return t.facts().hbm_base(hbm) + NEURON_HBM_CARVEOUT_SIZE;
}

/// Small HBMs of emulated devices have no small pool (spec 11 B.2.20).
void needs_small_pool(const Trial& t) {
  if (t.facts().hbm_bytes <= NEURON_HBM_SMALL_POOL_SIZE) t.skip("this HBM has no small pool");
}

void first_addresses(Trial& t) {
  needs_small_pool(t);
  for (std::uint32_t hbm = 0; hbm < t.facts().hbms(); ++hbm) {
    t.equal(fmt::format("the first MiB of HBM {}", hbm), "address",
            t.place({.size = mib, .hbm = hbm}), main_start(t, hbm));
    t.equal(fmt::format("the first page of HBM {}", hbm), "address",
            t.place({.size = page, .hbm = hbm}), t.facts().small_pool(hbm));
  }
}

void pool_border(Trial& t) {
  needs_small_pool(t);
  t.equal("an allocation of 512 KiB", "address", t.place({NEURON_SMALL_ALLOC_MAX}),
          t.facts().small_pool(0));
  t.equal("an allocation of 512 KiB + 1", "address", t.place({NEURON_SMALL_ALLOC_MAX + 1}),
          main_start(t, 0));
}

void sizes_round_up(Trial& t) {
  const std::uint64_t first = t.place({1});
  t.equal("one byte, then one byte", "address", t.place({1}), first + page);
  const std::uint64_t third = t.place({page + 1});
  t.equal("4097 bytes, then one byte", "address", t.place({1}), third + 2 * page);
}

void first_fit(Trial& t) {
  const std::uint64_t a = t.chunk({4 * page});
  t.chunk({page});
  const std::uint64_t c = t.chunk({page});
  t.chunk({page});
  const std::uint64_t hole = t.pa_of(a);
  const std::uint64_t upper = t.pa_of(c);
  t.result("MEM_FREE", t.client().free(a), 0);
  t.result("MEM_FREE", t.client().free(c), 0);
  t.equal("one page, holes of 4 and 1 pages", "address", t.place({page}), hole);
  t.equal("three pages", "address", t.place({3 * page}), hole + page);
  t.equal("one page more", "address", t.place({page}), upper);
}

void neighbours_merge(Trial& t) {
  const std::uint64_t a = t.chunk({page});
  const std::uint64_t b = t.chunk({page});
  t.chunk({page});
  const std::uint64_t start = t.pa_of(a);
  t.result("MEM_FREE", t.client().free(b), 0);
  t.result("MEM_FREE", t.client().free(a), 0);
  t.equal("two pages after freeing two neighbours", "address", t.place({2 * page}), start);
}

void core_does_not_place(Trial& t) {
  const std::uint64_t first = t.place({.size = page, .nc = 0});
  t.equal("a page for core 1", "address", t.place({.size = page, .nc = 1}), first + page);
}

void align_power_of_two(Trial& t) {
  t.chunk({.size = mib});
  const std::uint64_t address = t.place({.size = 2 * mib, .align = 64 * mib});
  t.equal("2 MiB aligned to 64 MiB", "address", address, t.facts().hbm_base(0) + 64 * mib);
}

void odd_aligns(Trial& t) {
  // With m = ceil(align / page) - 1 the driver takes the lowest free page index, adds m, clears
  // the bits of m, and looks again behind if that page is taken.
  needs_small_pool(t);
  const std::uint64_t start = t.facts().small_pool(0);
  t.chunk({page});
  t.equal("an allocation with align 4097", "address", t.place({.size = page, .align = 4097}),
          start + 2 * page);
  t.equal("an allocation with align 12288", "address", t.place({.size = page, .align = 12288}),
          start + page);
  t.equal("a second one with align 12288", "address", t.place({.size = page, .align = 12288}),
          start + 5 * page);
}

void scratchpad_from_the_top(Trial& t) {
  needs_small_pool(t);
  const std::uint64_t end = t.facts().small_pool(0);
  t.equal("the first scratchpad MiB", "address", t.place({.size = mib, .type = scratchpad}),
          end - mib);
  t.equal("two scratchpad MiB more", "address", t.place({.size = 2 * mib, .type = scratchpad}),
          end - 3 * mib);
}

void scratchpad_out_of_order(Trial& t) {
  needs_small_pool(t);
  const std::uint64_t end = t.facts().small_pool(0);
  const std::uint64_t first = t.chunk({.size = mib, .type = scratchpad});
  const std::uint64_t second = t.chunk({.size = mib, .type = scratchpad});
  t.result("MEM_FREE of the older chunk", t.client().free(first), 0);
  std::uint64_t handle = 0;
  t.result("a scratchpad that meets the survivor",
           t.client().alloc({.size = mib, .type = scratchpad}, handle), -ENOMEM);
  t.result("MEM_FREE of the survivor", t.client().free(second), 0);
  t.equal("a scratchpad after both are free", "address", t.place({.size = mib, .type = scratchpad}),
          end - mib);
}

void scratchpad_ignores_align(Trial& t) {
  needs_small_pool(t);
  t.equal("a scratchpad page aligned to 1 GiB", "address",
          t.place({.size = page, .align = 1ull << 30, .type = scratchpad}),
          t.facts().small_pool(0) - page);
}

void too_large(Trial& t) {
  std::uint64_t handle = 0;
  t.result("an allocation of a whole HBM", t.client().alloc({t.facts().hbm_bytes}, handle),
           -ENOMEM);
}

void alternate_pool(Trial& t) {
  needs_small_pool(t);
  // Fill main, then ask for more than 512 KiB: the small pool serves it (spec 11 B.2.5).
  const std::uint64_t main_bytes =
      t.facts().hbm_bytes - NEURON_HBM_SMALL_POOL_SIZE - NEURON_HBM_CARVEOUT_SIZE;
  t.equal("all of the main pool", "address", t.place({main_bytes}), main_start(t, 0));
  t.equal("one MiB more", "address", t.place({mib}), t.facts().small_pool(0));
}

void dump_lists(Trial& t) {
  needs_small_pool(t);
  t.chunk({mib});
  t.chunk({page});
  neuron_mem_chunk_info list[8] = {};
  neuron_dump_mem_chunks dump{0, 8, 0, pointer(list)};
  t.result("DUMP_MEM_CHUNKS", t.client().call(NEURON_IOCTL_DUMP_MEM_CHUNKS, dump), 0);
  t.equal("DUMP_MEM_CHUNKS", "count", dump.num_entries_out, 3);
  t.equal("DUMP_MEM_CHUNKS", "first address", list[0].pa, t.facts().hbm_base(0));
  t.equal("DUMP_MEM_CHUNKS", "first type", list[0].mem_type, NEURON_MEM_NCDEV_DEVICE);
  t.equal("DUMP_MEM_CHUNKS", "second address", list[1].pa, main_start(t, 0));
  t.equal("DUMP_MEM_CHUNKS", "third address", list[2].pa, t.facts().small_pool(0));
}

void dump_too_few(Trial& t) {
  t.chunk({page});
  neuron_mem_chunk_info list[1] = {};
  neuron_dump_mem_chunks dump{0, 1, 0, pointer(list)};
  t.result("DUMP_MEM_CHUNKS with one slot", t.client().call(NEURON_IOCTL_DUMP_MEM_CHUNKS, dump),
           -EAGAIN);
  t.holds("DUMP_MEM_CHUNKS with one slot", dump.num_entries_out >= 2,
          std::to_string(dump.num_entries_out), "the true count, at least 2");
}

void dump_no_such_hbm(Trial& t) {
  neuron_dump_mem_chunks dump{t.facts().hbms(), 0, 9, 0};
  t.result("DUMP_MEM_CHUNKS of an HBM that is not there",
           t.client().call(NEURON_IOCTL_DUMP_MEM_CHUNKS, dump), 0);
  t.equal("DUMP_MEM_CHUNKS of an HBM that is not there", "count", dump.num_entries_out, 0);
}

}  // namespace

void add_placement(Rows& rows) {
  const auto idle = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) {
    add(rows, name, run, spec).needs = Needs::idle;
  };
  idle("placement.first-addresses", first_addresses, "06 5.3, 03 10.1, 11 B.3");
  idle("placement.small-pool-takes-512-KiB", pool_border, "06 5.1");
  idle("placement.sizes-round-up-to-pages", sizes_round_up, "06 5.1");
  idle("placement.first-fit-by-address", first_fit, "06 5.2, 11 B.3");
  idle("placement.freed-neighbours-merge", neighbours_merge, "06 5.2, 11 B.3");
  idle("placement.core-does-not-place", core_does_not_place, "06 5.1");
  idle("placement.power-of-two-align", align_power_of_two, "06 5.1");
  idle("placement.odd-aligns", odd_aligns, "11 B.1");
  idle("placement.scratchpad-grows-down", scratchpad_from_the_top, "06 5.1, 11 B.3");
  idle("placement.scratchpad-freed-out-of-order", scratchpad_out_of_order, "11 B.2.4");
  idle("placement.scratchpad-ignores-align", scratchpad_ignores_align, "06 5.1");
  add(rows, "placement.too-large", too_large, "06 5.1");
  add(rows, "placement.alternate-pool", alternate_pool, "06 5.1, 11 B.2.5").needs = Needs::idle;
  rows.back().safety = Safety::intrusive;  // takes a whole HBM for a moment
  idle("placement.dump-lists-by-address", dump_lists, "06 4.5");
  add(rows, "placement.dump-with-too-few-slots", dump_too_few, "11 B.2.17");
  add(rows, "placement.dump-of-no-hbm", dump_no_such_hbm, "06 4.5");
}

}  // namespace neffld::cts
