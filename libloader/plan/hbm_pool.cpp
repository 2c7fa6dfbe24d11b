// SPDX-License-Identifier: MIT
#include "hbm_pool.hpp"

#include <algorithm>

#include "neuron_abi/address_map.h"
#include "neuron_abi/ioctl.h"

namespace neffld {
namespace {

/// The small pool is dropped when it would be all of the HBM (spec 03 section 10).
std::uint64_t small_pool_bytes(std::uint64_t hbm_bytes) {
  return NEURON_HBM_SMALL_POOL_SIZE >= hbm_bytes ? 0 : NEURON_HBM_SMALL_POOL_SIZE;
}

}  // namespace

HbmPool::HbmPool(std::uint64_t base, std::uint64_t bytes)
    : base_(base), end_(base + bytes), free_bytes_(bytes) {
  if (bytes != 0) runs_.emplace(base, base + bytes);
}

void HbmPool::carve(Runs::iterator run, std::uint64_t address, std::uint64_t bytes) {
  const auto [start, end] = *run;
  if (address + bytes < end) runs_.emplace_hint(std::next(run), address + bytes, end);
  if (address == start) {
    runs_.erase(run);
  } else {
    run->second = address;
  }
  free_bytes_ -= bytes;
}

std::optional<std::uint64_t> HbmPool::take(std::uint64_t bytes, std::uint64_t align) {
  const std::uint64_t mask = std::max<std::uint64_t>(align, NEURON_PAGE_SIZE) - 1;
  auto& searched = searched_[mask];
  // The entry of the largest size that is not above this one tells where to start.
  auto known = searched.upper_bound(bytes);
  const std::uint64_t from = known == searched.begin() ? base_ : std::prev(known)->second;
  auto run = runs_.upper_bound(from);
  if (run != runs_.begin()) --run;
  for (; run != runs_.end(); ++run) {
    const std::uint64_t address = (run->first + mask) & ~mask;
    if (address >= run->second || run->second - address < bytes) continue;
    searched[bytes] = run->first;
    for (known = searched.upper_bound(bytes); known != searched.end() && known->second < run->first;
         ++known) {
      known->second = run->first;
    }
    carve(run, address, bytes);
    return address;
  }
  searched[bytes] = end_;
  return std::nullopt;
}

bool HbmPool::take_at(std::uint64_t address, std::uint64_t bytes) {
  auto run = runs_.upper_bound(address);
  if (bytes == 0 || run == runs_.begin()) return false;
  --run;
  if (address >= run->second || run->second - address < bytes) return false;
  carve(run, address, bytes);
  return true;
}

std::uint64_t HbmPool::largest_block() const {
  std::uint64_t largest = 0;
  for (const auto& [start, end] : runs_) largest = std::max(largest, end - start);
  return largest;
}

HbmPools::HbmPools(std::uint64_t base, std::uint64_t bytes)
    : base_(base),
      bytes_(bytes),
      main_(base, bytes - small_pool_bytes(bytes)),
      small_(base + bytes - small_pool_bytes(bytes), small_pool_bytes(bytes)) {}

std::optional<std::uint64_t> HbmPools::allocate(std::uint64_t bytes, std::uint64_t align) {
  const bool small = bytes <= NEURON_SMALL_ALLOC_MAX;
  auto address = (small ? small_ : main_).take(bytes, align);
  if (!address) address = (small ? main_ : small_).take(bytes, align);
  if (address) taken_.push_back({{*address, bytes}, align, false, false});
  return address;
}

std::optional<std::uint64_t> HbmPools::allocate_contiguous(std::uint64_t bytes) {
  const std::uint64_t room = main_.end() - main_.base();
  if (contiguous_bytes_ > room || bytes > room - contiguous_bytes_) return std::nullopt;
  const std::uint64_t address = main_.end() - contiguous_bytes_ - bytes;
  if (!main_.take_at(address, bytes)) return std::nullopt;
  contiguous_bytes_ += bytes;
  taken_.push_back({{address, bytes}, 0, true, false});
  return address;
}

bool HbmPools::occupy(const Region& region, bool contiguous) {
  HbmPool& pool = main_.contains(region.pa) ? main_ : small_;
  if (!pool.take_at(region.pa, region.size)) return false;
  if (contiguous) contiguous_bytes_ += region.size;
  taken_.push_back({region, 0, contiguous, true});
  return true;
}

HbmPools HbmPools::grown(std::uint64_t bytes) const {
  HbmPools larger(base_, bytes_ + bytes);
  for (const Taken& taken : taken_) {
    Region region = taken.region;
    if (taken.contiguous || !main_.contains(region.pa)) region.pa += bytes;
    if (taken.fixed && larger.occupy(region, taken.contiguous)) continue;
    if (taken.contiguous) {
      larger.allocate_contiguous(region.size);
    } else {
      larger.allocate(region.size, taken.align);
    }
  }
  return larger;
}

MemoryMap::Hbm HbmPools::facts() const {
  return {bytes_, main_.free_bytes() + small_.free_bytes(),
          std::max(main_.largest_block(), small_.largest_block())};
}

}  // namespace neffld
