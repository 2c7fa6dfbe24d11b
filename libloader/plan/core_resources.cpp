// SPDX-License-Identifier: MIT
// Allocations that belong to a core rather than to a model: exec rings, request buffer, scratchpad
// pages (decision 34, spec 03 section 4).
#include <fmt/format.h>

#include <algorithm>

#include "builders.hpp"

namespace neffld {
namespace {

constexpr std::uint32_t exec_ring_descriptors = 8192;
constexpr std::uint64_t request_buffer_bytes = 64;
constexpr std::uint64_t scratchpad_page_align = 4ull << 20;
constexpr std::uint32_t max_scratchpad_pages = 1024;
constexpr std::uint64_t backing_align = 4096;  // spec 03 section 3.2 item 3

CoreState state_of(const PlanOptions& options, std::uint32_t core) {
  return core < options.cores.size() ? options.cores[core] : CoreState{};
}

void add_shared(Plan& plan, std::uint32_t kbin, SectionKind kind, std::uint32_t index,
                std::uint64_t size, std::uint64_t align, MemCategory category, std::string owner) {
  const KbinPlan& on = plan.kbins[kbin];
  plan.requests.push_back(
      {size, align, on.hbm, on.core, category, kind, kbin, index, std::move(owner), true});
}

/// Arena offset and size of one core (spec 03 section 4.2 items 2 and 3, paged placement).
struct Arena {
  std::uint64_t local_offset = 0;
  std::uint64_t bytes = 0;
};

Arena lay_out_arena(std::uint64_t shared_bytes, std::uint64_t local_bytes, std::uint64_t page) {
  const std::uint64_t rest = shared_bytes % page;
  const std::uint64_t slack = page - rest;
  std::uint64_t base = shared_bytes;
  // A local area that would straddle the page the shared area ends in starts on the next page.
  if (rest != 0 && slack < local_bytes) base += slack;
  return {base, local_bytes ? base + local_bytes : shared_bytes};
}

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return value / by + (value % by != 0);
}

Result<void> check_pages(const Kbin& kbin, std::uint64_t bytes, std::uint64_t page) {
  const std::uint64_t pages = divide_up(bytes, page);
  if (pages <= max_scratchpad_pages) return {};
  return fail(Status::resource, ErrorClass::resource, {.member = kbin.name},
              fmt::format("Number of scratchpad pages requested exceeded the max (requested: {}, "
                          "max: {})",
                          pages, max_scratchpad_pages));
}

/// Puts the `virtual` variables of one kbin on pages; what does not fit stays unplaced and gets an
/// allocation of its own in plan_variables (spec 03 section 3.2 item 3).
Result<void> place_virtuals(const Kbin& kbin, KbinPlan& out, std::uint64_t local_offset,
                            std::uint32_t sharing_core, std::uint64_t page) {
  for (const Variable& variable : kbin.variables) {
    if (variable.kind != VarKind::virtual_buf || variable.size == 0) continue;
    const bool shared = uses_shared_arena(variable.backing_buf);
    const std::uint64_t offset = (shared ? 0 : local_offset) + variable.backing_offset;
    const std::uint64_t in_page = offset % page;
    if (variable.size > page - in_page) continue;
    if (in_page % backing_align != 0) {
      return invalid({.member = kbin.name, .path = variable.name},
                     fmt::format("scratchpad addresses need to be 4K aligned, found arena offset "
                                 "0x{:x}",
                                 offset));
    }
    Placement& placement = out.variables[variable.var_id];
    placement.kind = Placement::Kind::page;
    placement.request = static_cast<std::uint32_t>(offset / page);
    placement.core = shared ? sharing_core : out.core;
    placement.offset = in_page;
  }
  return {};
}

}  // namespace

Result<void> plan_exec_queues(Plan& plan, const PlanOptions& options) {
  constexpr std::uint64_t ring_bytes = 16ull * exec_ring_descriptors;
  for (std::uint32_t i = 0; i < plan.kbins.size(); ++i) {
    if (state_of(options, plan.kbins[i].core).has_exec_queue) continue;
    add_shared(plan, i, SectionKind::exec_tx_ring, 0, ring_bytes, 256, MemCategory::dma_rings,
               "exec tx ring");
    add_shared(plan, i, SectionKind::exec_rx_ring, 0, ring_bytes, 256, MemCategory::dma_rings,
               "exec rx ring");
    add_shared(plan, i, SectionKind::request_buffer, 0, request_buffer_bytes, 64, MemCategory::misc,
               "request buffer");
  }
  return {};
}

Result<void> plan_scratchpad(std::span<const Kbin> kbins, Plan& plan, const PlanOptions& options) {
  const std::uint64_t page = options.scratchpad_page_bytes;
  if (page == 0 || page % (512ull << 20) != 0 || page >= (4ull << 30)) {
    return fail(Status::invalid, ErrorClass::usage, {.path = "scratchpad page size"},
                fmt::format("found {} bytes, expected a multiple of 512 MiB below 4 GiB", page));
  }
  std::uint64_t shared_bytes = 0;
  for (const Kbin& kbin : kbins) shared_bytes = std::max(shared_bytes, kbin.shared_scratchpad_size);
  for (std::uint32_t i = 0; i < kbins.size(); ++i) {
    // Each area is checked before they are added up, so that the sum cannot wrap.
    const std::uint64_t local_bytes = kbins[i].local_scratchpad_size;
    NEFFLD_TRY(check_pages(kbins[i], std::max(shared_bytes, local_bytes), page));
    const Arena arena = lay_out_arena(i == 0 ? shared_bytes : 0, local_bytes, page);
    NEFFLD_TRY(check_pages(kbins[i], arena.bytes, page));
    plan.arena_bytes[i] = arena.bytes;
    const auto pages = static_cast<std::uint32_t>(divide_up(arena.bytes, page));
    plan.arena_pages[i] = pages;
    const CoreState core = state_of(options, plan.kbins[i].core);
    if (core.scratchpad_pages != 0 && core.scratchpad_page_bytes != page) {
      return fail(Status::invalid, ErrorClass::usage, {.path = "scratchpad page size"},
                  fmt::format("found {} bytes, but core {} has pages of {} bytes in use", page,
                              plan.kbins[i].core, core.scratchpad_page_bytes));
    }
    const std::uint32_t have = core.scratchpad_pages;
    for (std::uint32_t n = have; n < pages; ++n) {
      add_shared(plan, i, SectionKind::scratchpad_page, n, page, scratchpad_page_align,
                 MemCategory::scratchpad, fmt::format("scratchpad page {}", n));
    }
    NEFFLD_TRY(
        place_virtuals(kbins[i], plan.kbins[i], arena.local_offset, plan.kbins[0].core, page));
  }
  return {};
}

}  // namespace neffld
