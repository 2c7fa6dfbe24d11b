// SPDX-License-Identifier: MIT
#include "neffld/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hbm_pool.hpp"
#include "neuron_abi/address_map.h"
#include "neuron_abi/ioctl.h"

namespace neffld {
namespace {

constexpr std::uint64_t mib = 1ull << 20;

std::uint64_t page_rounded(std::uint64_t bytes) {
  constexpr std::uint64_t mask = NEURON_PAGE_SIZE - 1;
  return bytes > ~mask ? ~mask : (bytes + mask) & ~mask;  // a request never wraps to little
}

Result<std::uint64_t> checked_hbm_size(const ArchTable& arch, std::uint64_t bytes) {
  if (bytes % NEURON_PAGE_SIZE == 0 && bytes > NEURON_HBM_CARVEOUT_SIZE && bytes <= arch.hbm_size) {
    return bytes;
  }
  return fail(Status::invalid, ErrorClass::usage, {.path = "HBM size"},
              fmt::format("found {} bytes, expected a multiple of 4096 above 16 MiB and at most {} "
                          "for {}",
                          bytes, arch.hbm_size, arch_name(arch.arch)));
}

/// One size for each HBM of the architecture.
Result<std::vector<std::uint64_t>> hbm_sizes(const ArchTable& arch,
                                             std::span<const std::uint64_t> given) {
  if (given.size() > 1 && given.size() != arch.hbm_count) {
    return fail(Status::invalid, ErrorClass::usage, {.path = "HBM size"},
                fmt::format("found {} sizes, expected 1 or one for each of the {} HBMs of {}",
                            given.size(), arch.hbm_count, arch_name(arch.arch)));
  }
  std::vector<std::uint64_t> sizes(arch.hbm_count, arch.hbm_size);
  for (std::size_t i = 0; i < sizes.size() && !given.empty(); ++i) {
    NEFFLD_ASSIGN(sizes[i], checked_hbm_size(arch, given[given.size() == 1 ? 0 : i]));
  }
  return sizes;
}

/// The least growth of the HBMs with which the requests from `first` on fit; nothing when there is
/// none: a request the driver refuses at any size, or sums beyond what an address can reach.
std::optional<std::uint64_t> missing_bytes(const MemoryMap& before, const Plan& plan,
                                           std::size_t first) {
  const auto fits = [&](std::uint64_t pages) {
    MemoryMap larger = before.grown(pages * NEURON_PAGE_SIZE);
    for (std::size_t i = first; i < plan.requests.size(); ++i) {
      if (!larger.allocate(plan.requests[i])) return false;
    }
    return true;
  };
  constexpr std::uint64_t most = (1ull << 62) / NEURON_PAGE_SIZE;
  std::uint64_t low = 0, high = 1;  // `low` pages are not enough
  while (!fits(high)) {
    if (high == most) return std::nullopt;
    low = std::exchange(high, 2 * high);
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high * NEURON_PAGE_SIZE;
}

}  // namespace

std::map<std::uint32_t, CoreUsage> account(std::span<const Request> requests) {
  std::map<std::uint32_t, CoreUsage> cores;
  for (const Request& request : requests) {
    UsageTotals& totals = cores[request.core][static_cast<std::size_t>(request.usage)];
    totals.requested += request.size;
    totals.given += page_rounded(request.size);
    ++totals.allocations;
  }
  return cores;
}

struct MemoryMap::State {
  std::vector<HbmPools> hbms;
};

MemoryMap::MemoryMap(std::unique_ptr<State> state) : state_(std::move(state)) {}
MemoryMap::MemoryMap(MemoryMap&&) noexcept = default;
MemoryMap& MemoryMap::operator=(MemoryMap&&) noexcept = default;
MemoryMap::~MemoryMap() = default;

Result<MemoryMap> MemoryMap::fresh(Arch arch, std::span<const std::uint64_t> hbm_bytes) {
  NEFFLD_ASSIGN(MemoryMap map, in_use(arch, hbm_bytes, {}, {}));
  // The firmware's part is the driver's first allocation.
  for (HbmPools& hbm : map.state_->hbms) hbm.allocate(NEURON_HBM_CARVEOUT_SIZE, 0);
  return map;
}

Result<MemoryMap> MemoryMap::in_use(Arch arch, std::span<const std::uint64_t> hbm_bytes,
                                    std::span<const Region> taken,
                                    std::span<const Region> contiguous) {
  const ArchTable& table = arch_table(arch);
  NEFFLD_ASSIGN(const std::vector<std::uint64_t> sizes, hbm_sizes(table, hbm_bytes));
  auto state = std::make_unique<State>();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    state->hbms.emplace_back(table.hbm_base[i], sizes[i]);
  }
  const auto occupy = [&](const Region& region, bool is_contiguous) {
    const std::uint32_t hbm = hbm_of(table, region.pa);
    if (hbm < state->hbms.size()) state->hbms[hbm].occupy(region, is_contiguous);
  };
  for (const Region& region : taken) occupy(region, false);
  for (const Region& region : contiguous) occupy(region, true);
  return MemoryMap(std::move(state));
}

MemoryMap MemoryMap::copy() const {
  return MemoryMap(std::make_unique<State>(*state_));
}

MemoryMap MemoryMap::grown(std::uint64_t bytes) const {
  auto state = std::make_unique<State>();
  for (const HbmPools& hbm : state_->hbms) state->hbms.push_back(hbm.grown(bytes));
  return MemoryMap(std::move(state));
}

std::optional<Region> MemoryMap::allocate(const Request& request) {
  if (request.hbm >= state_->hbms.size()) return std::nullopt;
  const std::uint64_t bytes = page_rounded(request.size);
  HbmPools& hbm = state_->hbms[request.hbm];
  const auto address = request.category == MemCategory::contiguous_scratchpad
                           ? hbm.allocate_contiguous(bytes)
                           : hbm.allocate(bytes, request.align);
  if (!address) return std::nullopt;
  return Region{*address, bytes};
}

MemoryMap::Hbm MemoryMap::hbm(std::uint32_t number) const {
  return state_->hbms[number].facts();
}

std::uint32_t MemoryMap::hbm_count() const {
  return static_cast<std::uint32_t>(state_->hbms.size());
}

MemoryForecast forecast(MemoryMap& map, const Plan& plan, std::size_t first) {
  const MemoryMap before = map.copy();
  MemoryForecast result;
  for (std::size_t i = first; i < plan.requests.size(); ++i) {
    const Request& request = plan.requests[i];
    if (const auto region = map.allocate(request)) {
      result.regions.push_back(*region);
      continue;
    }
    result.miss = MemoryMiss{static_cast<std::uint32_t>(i), page_rounded(request.size),
                             map.hbm(request.hbm), missing_bytes(before, plan, first)};
    break;
  }
  return result;
}

std::vector<std::string> ways_to_fit(std::span<const Kbin> kbins, const PlanOptions& options,
                                     const MemoryMap& map) {
  const auto fits = [&](const ScratchpadOptions& scratchpad) {
    PlanOptions trial = options;
    trial.scratchpad = scratchpad;
    const auto plan = plan_model(kbins, trial);
    if (!plan || plan->scratchpad.contiguous != scratchpad.contiguous) return false;
    MemoryMap room = map.copy();
    return std::all_of(plan->requests.begin(), plan->requests.end(),
                       [&](const Request& request) { return room.allocate(request).has_value(); });
  };
  std::vector<std::string> ways;
  const bool uses_scratchpad = std::any_of(kbins.begin(), kbins.end(), [](const Kbin& kbin) {
    return kbin.local_scratchpad_size != 0 || kbin.shared_scratchpad_size != 0;
  });
  if (!uses_scratchpad) return ways;
  ScratchpadOptions contiguous = options.scratchpad;
  contiguous.contiguous = true;
  if (!options.scratchpad.contiguous && fits(contiguous)) {
    ways.push_back("a contiguous scratchpad (--contiguous-scratchpad)");
  }
  for (std::uint64_t page = 512 * mib; page < 4096 * mib; page += 512 * mib) {
    ScratchpadOptions paged = options.scratchpad;
    paged.contiguous = false;
    paged.page_bytes = page;
    if (options.scratchpad.contiguous || page != options.scratchpad.page_bytes) {
      if (!fits(paged)) continue;
      ways.push_back(
          fmt::format("scratchpad pages of {0} MiB (--scratchpad-page-size {0})", page / mib));
      break;
    }
  }
  return ways;
}

void advance(std::vector<CoreState>& cores, const Plan& plan) {
  for (std::size_t i = 0; i < plan.kbins.size(); ++i) {
    const std::uint32_t number = plan.kbins[i].core;
    if (cores.size() <= number) cores.resize(number + 1);
    CoreState& core = cores[number];
    core.has_exec_queue = true;
    const auto& libraries = plan.kbins[i].libraries;
    if (libraries && libraries->shared && libraries->first) {
      core.libraries.push_back(*libraries->shared);
    }
    if (plan.scratchpad.cores[i].pages <= core.scratchpad_pages) continue;
    core.scratchpad_pages = plan.scratchpad.cores[i].pages;
    core.scratchpad_page_bytes = plan.scratchpad.page_bytes;
    core.contiguous = plan.scratchpad.contiguous;
  }
}

}  // namespace neffld
