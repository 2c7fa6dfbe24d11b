// SPDX-License-Identifier: MIT
// Device memory without a device: what a plan takes by usage, where the driver's allocator would
// put it, and what is missing (spec 03 sections 9 and 10, spec 11 B.1).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "neffld/arch.hpp"
#include "neffld/error.hpp"
#include "neffld/plan.hpp"

namespace neffld {

/// Bytes of one usage on one core.
struct UsageTotals {
  std::uint64_t requested = 0;  ///< bytes asked for
  std::uint64_t given = 0;      ///< the same, rounded to pages as the driver does
  std::uint64_t allocations = 0;
};
using CoreUsage = std::array<UsageTotals, mem_usage_count>;  ///< by MemUsage

/// What requests take, by physical core. Equals what the driver counts for them, since it counts
/// page-rounded sizes too.
std::map<std::uint32_t, CoreUsage> account(std::span<const Request> requests);

/// A piece of device memory.
struct Region {
  std::uint64_t pa = 0;
  std::uint64_t size = 0;  ///< bytes
};

/// The HBMs of one device as the driver's allocator sees them: two pools each, first fit, pages of
/// 4 KiB, contiguous scratchpad pages down from the end of the first pool.
class MemoryMap {
 public:
  /// A device nobody uses. `hbm_bytes`: one size for all HBMs, one for each, or none for the
  /// architecture's. Error class usage: a size the architecture cannot have.
  static Result<MemoryMap> fresh(Arch arch, std::span<const std::uint64_t> hbm_bytes = {});
  /// A device of which `taken` is in use, the driver's own memory included. Contiguous pages (type
  /// 19) are given apart: the next one goes below them.
  static Result<MemoryMap> in_use(Arch arch, std::span<const std::uint64_t> hbm_bytes,
                                  std::span<const Region> taken,
                                  std::span<const Region> contiguous);
  MemoryMap(MemoryMap&&) noexcept;
  MemoryMap& operator=(MemoryMap&&) noexcept;
  ~MemoryMap();
  MemoryMap copy() const;
  /// The same with every HBM larger by `bytes`, a multiple of 4096.
  MemoryMap grown(std::uint64_t bytes) const;

  /// Allocates as the driver would; nothing when it would answer ENOMEM.
  std::optional<Region> allocate(const Request& request);

  struct Hbm {
    std::uint64_t size = 0, free = 0;
    std::uint64_t largest_block = 0;  ///< largest run of free bytes
  };
  Hbm hbm(std::uint32_t number) const;
  std::uint32_t hbm_count() const;

 private:
  struct State;
  explicit MemoryMap(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// The request that does not fit, and the memory of its HBM at that moment.
struct MemoryMiss {
  std::uint32_t request = 0;
  std::uint64_t size = 0;  ///< page-rounded
  MemoryMap::Hbm hbm;
  /// With HBMs larger by that much the whole plan fits; absent: no size the driver knows would do.
  std::optional<std::uint64_t> short_by;
};

struct MemoryForecast {
  std::vector<Region> regions;  ///< by request from `first` on; ends before the one that misses
  std::optional<MemoryMiss> miss;
};

/// Allocates the requests of a plan from `first` on in `map`, in order, up to the first that
/// misses.
MemoryForecast forecast(MemoryMap& map, const Plan& plan, std::size_t first = 0);

/// Scratchpad settings with which the model would fit `map` although it does not with `options`,
/// best first, as sentences: other page sizes, contiguous pages.
std::vector<std::string> ways_to_fit(std::span<const Kbin> kbins, const PlanOptions& options,
                                     const MemoryMap& map);

/// The states of the cores once a plan made for `cores` is loaded.
void advance(std::vector<CoreState>& cores, const Plan& plan);

}  // namespace neffld
