// SPDX-License-Identifier: MIT
// The scratchpad: arenas of `virtual` variables on pages that belong to a core (spec 03 section 4).
#include <fmt/format.h>

#include <algorithm>

#include "builders.hpp"
#include "core_state.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t mebibyte = 1ull << 20;
constexpr std::uint64_t page_unit = 512 * mebibyte;
constexpr std::uint64_t page_limit = 4096 * mebibyte;
constexpr std::uint64_t page_align = 4 * mebibyte;
constexpr std::uint32_t max_pages = 1024;
constexpr std::uint64_t backing_align = 4096;  // spec 03 section 3.2 item 3

std::uint64_t pages_for(std::uint64_t value, std::uint64_t by) {
  return value / by + (value % by != 0);
}

std::uint32_t logical_core_size(const PlanOptions& options, const ArchTable& arch) {
  return options.logical_core_size ? options.logical_core_size : arch.default_logical_core_size;
}

Result<void> check_page_size(std::uint64_t page) {
  if (page != 0 && page % page_unit == 0 && page < page_limit) return {};
  return fail(Status::invalid, ErrorClass::usage, {.path = "scratchpad page size"},
              fmt::format("found {} bytes, expected a multiple of 512 MiB below 4 GiB", page));
}

/// Decides the mode. The original falls back to paged without a word; we say why.
void choose_mode(const PlanOptions& options, const ArchTable& arch, ScratchpadPlan& scratchpad) {
  scratchpad.page_bytes = options.scratchpad.page_bytes;
  if (!options.scratchpad.contiguous) return;
  if (!options.driver_has_contiguous) {
    scratchpad.fallback = "the driver has no contiguous scratchpad (feature bit 0x80)";
  } else if (arch.cores_per_hbm > 1 && logical_core_size(options, arch) != 2) {
    scratchpad.fallback = fmt::format("Contiguous Scratchpad feature is disabled on LNC {}",
                                      logical_core_size(options, arch));
  } else {
    scratchpad.contiguous = true;
    scratchpad.page_bytes = contiguous_page_bytes;
  }
}

/// Arenas on one core need every core of its HBM (spec 03 section 4.2 item 4).
Result<void> check_ownership(const PlanOptions& options, const ArchTable& arch) {
  if (logical_core_size(options, arch) >= arch.cores_per_hbm) return {};
  return fail(Status::invalid, ErrorClass::usage, {.path = "scratchpad on a single core"},
              fmt::format("current process does not own all physical cores on HBM: a logical core "
                          "of size {} has {} of {}",
                          logical_core_size(options, arch), logical_core_size(options, arch),
                          arch.cores_per_hbm));
}

Result<void> check_pages(const Kbin& kbin, std::uint64_t bytes, std::uint64_t page) {
  const std::uint64_t pages = pages_for(bytes, page);
  if (pages <= max_pages) return {};
  return fail(Status::resource, ErrorClass::resource, {.member = kbin.name},
              fmt::format("Number of scratchpad pages requested exceeded the max (requested: {}, "
                          "max: {})",
                          pages, max_pages));
}

/// Where the areas lie in their arenas, and how large the arenas are.
struct Arenas {
  std::vector<std::uint32_t> home;    ///< by kbin: whose arena its local area is in
  std::vector<std::uint64_t> offset;  ///< by kbin: of its local area
};

/// Spec 03 section 4.2 items 2 and 3: the shared area at the start of the first core's arena, then
/// the local ones, each on its own core or all on the first.
Result<Arenas> lay_out(std::span<const Kbin> kbins, bool single_core, ScratchpadPlan& scratchpad) {
  const std::uint64_t page = scratchpad.page_bytes;
  std::uint64_t shared = 0;
  for (const Kbin& kbin : kbins) shared = std::max(shared, kbin.shared_scratchpad_size);
  scratchpad.cores.resize(kbins.size());
  scratchpad.cores[0].bytes = shared;
  Arenas arenas;
  for (std::uint32_t i = 0; i < kbins.size(); ++i) {
    const std::uint64_t size = kbins[i].local_scratchpad_size;
    // Each area is checked before it is added, so that no sum can wrap.
    NEFFLD_TRY(check_pages(kbins[i], std::max(shared, size), page));
    arenas.home.push_back(single_core ? 0 : i);
    std::uint64_t& run = scratchpad.cores[arenas.home[i]].bytes;
    const std::uint64_t rest = run % page, slack = page - rest;
    std::uint64_t base = run;
    // An area that would straddle the page the one before it ends in starts on the next page.
    if (!scratchpad.contiguous && rest != 0 && slack < size) base += slack;
    arenas.offset.push_back(base);
    run = size ? base + size : run;
    NEFFLD_TRY(check_pages(kbins[i], run, page));
  }
  for (ScratchpadPlan::Core& core : scratchpad.cores) {
    core.pages = static_cast<std::uint32_t>(pages_for(core.bytes, page));
  }
  return arenas;
}

/// Pages of different kinds never mix on a core.
Result<void> check_present_pages(const ScratchpadPlan& scratchpad, const CoreState& core,
                                 std::uint32_t number) {
  if (core.scratchpad_pages == 0 || (core.contiguous == scratchpad.contiguous &&
                                     core.scratchpad_page_bytes == scratchpad.page_bytes)) {
    return {};
  }
  const auto mode = [](bool contiguous) { return contiguous ? "contiguous" : "paged"; };
  return fail(Status::invalid, ErrorClass::usage, {.path = "scratchpad page size"},
              fmt::format("found {} bytes ({}), but core {} has pages of {} bytes ({}) in use",
                          scratchpad.page_bytes, mode(scratchpad.contiguous), number,
                          core.scratchpad_page_bytes, mode(core.contiguous)));
}

/// Requests the pages that the cores do not have yet.
Result<void> request_pages(Plan& plan, const PlanOptions& options) {
  const ScratchpadPlan& scratchpad = plan.scratchpad;
  for (std::uint32_t i = 0; i < plan.kbins.size(); ++i) {
    if (scratchpad.cores[i].pages == 0) continue;
    const CoreState core = state_of(options, plan.kbins[i].core);
    NEFFLD_TRY(check_present_pages(scratchpad, core, plan.kbins[i].core));
    for (std::uint32_t n = core.scratchpad_pages; n < scratchpad.cores[i].pages; ++n) {
      add_shared(plan, i, SectionKind::scratchpad_page, n, scratchpad.page_bytes,
                 scratchpad.contiguous ? 0 : page_align, MemUsage::shared_scratchpad,
                 fmt::format("scratchpad page {}", n));
      if (scratchpad.contiguous) {
        plan.requests.back().category = MemCategory::contiguous_scratchpad;
      }
    }
  }
  return {};
}

/// The page that holds an arena offset, and the offset behind the page's address. Contiguous pages
/// grow down: offset 0 is the start of the model's last page (03 R5).
struct PageOffset {
  std::uint32_t page = 0;
  std::uint64_t offset = 0;
};
std::optional<PageOffset> find_page(const ScratchpadPlan& scratchpad, std::uint32_t pages,
                                    std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t page = scratchpad.page_bytes;
  if (scratchpad.contiguous) return PageOffset{pages - 1, offset};
  if (size > page - offset % page) return std::nullopt;
  return PageOffset{static_cast<std::uint32_t>(offset / page), offset % page};
}

/// Puts the `virtual` variables of one kbin on pages; what does not fit stays unplaced and gets an
/// allocation of its own in plan_variables (spec 03 section 3.2 item 3).
Result<void> place_virtuals(const Kbin& kbin, std::uint32_t kbin_index, const Arenas& arenas,
                            Plan& plan) {
  for (const Variable& variable : kbin.variables) {
    if (variable.kind != VarKind::virtual_buf || variable.size == 0) continue;
    const bool shared = uses_shared_arena(variable.backing_buf);
    const std::uint32_t home = shared ? 0 : arenas.home[kbin_index];
    const std::uint64_t offset = (shared ? 0 : arenas.offset[kbin_index]) + variable.backing_offset;
    const auto at =
        find_page(plan.scratchpad, plan.scratchpad.cores[home].pages, offset, variable.size);
    if (!at) {
      plan.scratchpad.oversized.push_back({kbin_index, variable.var_id, variable.size});
      continue;
    }
    if (offset % backing_align != 0) {
      return invalid({.member = kbin.name, .path = variable.name},
                     fmt::format("scratchpad addresses need to be 4K aligned, found arena offset "
                                 "0x{:x}",
                                 offset));
    }
    Placement& placement = plan.kbins[kbin_index].variables[variable.var_id];
    placement.kind = Placement::Kind::page;
    placement.request = at->page;
    placement.core = plan.kbins[home].core;
    placement.offset = at->offset;
  }
  return {};
}

/// True if pages of that size leave no variable oversized.
bool all_fit(std::span<const Kbin> kbins, bool single_core, std::uint64_t page) {
  ScratchpadPlan trial;
  trial.page_bytes = page;
  const auto arenas = lay_out(kbins, single_core, trial);
  if (!arenas) return false;
  for (std::size_t i = 0; i < kbins.size(); ++i) {
    for (const Variable& variable : kbins[i].variables) {
      if (variable.kind != VarKind::virtual_buf) continue;
      const bool shared = uses_shared_arena(variable.backing_buf);
      const std::uint64_t offset = (shared ? 0 : arenas->offset[i]) + variable.backing_offset;
      if (!find_page(trial, 0, offset, variable.size)) return false;
    }
  }
  return true;
}

/// What the advice of spec 03 section 9.2 is for: the original prints the largest oversized
/// variable rounded up to 512 MiB, which need not be enough when offsets straddle; this is enough.
void advise(std::span<const Kbin> kbins, bool single_core, ScratchpadPlan& scratchpad) {
  if (scratchpad.oversized.empty()) return;
  std::uint64_t largest = 0;
  for (const OversizedVariable& variable : scratchpad.oversized) {
    largest = std::max(largest, variable.size);
  }
  for (std::uint64_t page = page_unit; page < page_limit; page += page_unit) {
    if (page < largest || !all_fit(kbins, single_core, page)) continue;
    scratchpad.advised_page_bytes = page;
    return;
  }
}

void warn(std::span<const Kbin> kbins, Plan& plan) {
  const ScratchpadPlan& scratchpad = plan.scratchpad;
  if (!scratchpad.fallback.empty()) {
    plan.kbins[0].warnings.push_back(
        fmt::format("{}: scratchpad is paged: {}", kbins[0].name, scratchpad.fallback));
  }
  if (scratchpad.oversized.empty()) return;
  std::uint64_t bytes = 0;
  for (const OversizedVariable& variable : scratchpad.oversized) bytes += variable.size;
  const OversizedVariable& first = scratchpad.oversized.front();
  const std::string advice =
      scratchpad.advised_page_bytes
          ? fmt::format(
                "NEURON_SCRATCHPAD_PAGE_SIZE={0} (MiB) or, in the compiler, "
                "--hbm-scratchpad-page-size={0} gives room",
                scratchpad.advised_page_bytes / mebibyte)
          : std::string("no page size gives room, a contiguous scratchpad does");
  plan.kbins[first.kbin].warnings.push_back(fmt::format(
      "{}: {} virtual variables ({} bytes) do not fit the scratchpad's pages of {} MiB "
      "and get memory of their own, the first is {}; {}",
      kbins[first.kbin].name, scratchpad.oversized.size(), bytes, scratchpad.page_bytes / mebibyte,
      kbins[first.kbin].variables[first.var_id].name, advice));
}

}  // namespace

Result<void> plan_scratchpad(std::span<const Kbin> kbins, Plan& plan, const PlanOptions& options) {
  const ArchTable& arch = arch_table(plan.arch);
  NEFFLD_TRY(check_page_size(options.scratchpad.page_bytes));
  choose_mode(options, arch, plan.scratchpad);
  const bool single_core = plan.scratchpad.contiguous || options.scratchpad.single_core;
  if (single_core) NEFFLD_TRY(check_ownership(options, arch));
  NEFFLD_ASSIGN(const Arenas arenas, lay_out(kbins, single_core, plan.scratchpad));
  NEFFLD_TRY(request_pages(plan, options));
  for (std::uint32_t i = 0; i < kbins.size(); ++i) {
    NEFFLD_TRY(place_virtuals(kbins[i], i, arenas, plan));
  }
  advise(kbins, single_core, plan.scratchpad);
  warn(kbins, plan);
  return {};
}

}  // namespace neffld
