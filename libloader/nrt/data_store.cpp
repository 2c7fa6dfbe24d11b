// SPDX-License-Identifier: MIT
#include "data_store.hpp"

#include <atomic>
#include <cstring>

#include "neffld/error.hpp"
#include "neuron_abi/ioctl.h"

namespace neffld::nrt {
namespace {

// Spec 06 section 8.
constexpr std::uint64_t whole_store = 67200;
constexpr std::uint64_t first_cores = 256, later_cores = 57984;
constexpr std::uint64_t first_counters = 31, later_counters = 96;  ///< of 8 bytes, a core
constexpr std::uint32_t first_core_count = 4, core_count = 16;
constexpr char signature[4] = {'n', 'd', 's', 0};
constexpr std::uint32_t version = 1;  ///< [ours]: no source names the number

static_assert(store_process_offset ==
              first_cores + std::uint64_t{first_core_count} * first_counters * 8);
static_assert(store_process_offset + sizeof(StoreProcess) <= store_models_offset);
static_assert(store_models_offset + std::uint64_t{store_model_slots} * sizeof(StoreModel) <= 55936);

std::uint64_t counter_offset(std::uint32_t core, Counter counter) {
  const auto id = static_cast<std::uint64_t>(counter);
  return core < first_core_count
             ? first_cores + (core * first_counters + id) * 8
             : later_cores + ((core - first_core_count) * later_counters + id) * 8;
}

}  // namespace

std::unique_ptr<DataStore> DataStore::open(std::shared_ptr<DeviceFile> file) {
  std::unique_ptr<DataStore> store(new DataStore(std::move(file)));
  if (!store->file_->traits().simulated) return store;  // the gate refuses it anyway
  neuron_neuron_ds argument{};
  if (store->file_->ioctl(NEURON_IOCTL_ACQUIRE_NEURON_DS, &argument) != 0) return store;
  const auto mapped = store->file_->mmap(argument.mmap_offset, argument.size, true);
  if (!mapped || argument.size < whole_store) {
    store->file_->ioctl(NEURON_IOCTL_RELEASE_NEURON_DS, &argument);
    return store;
  }
  store->memory_ = static_cast<std::uint8_t*>(*mapped);
  store->size_ = argument.size;
  std::memcpy(store->memory_, signature, sizeof signature);
  std::memcpy(store->memory_ + sizeof signature, &version, sizeof version);
  return store;
}

DataStore::~DataStore() {
  if (memory_ == nullptr) return;
  file_->munmap(memory_, size_);
  neuron_neuron_ds argument{};
  file_->ioctl(NEURON_IOCTL_RELEASE_NEURON_DS, &argument);
}

// Readers are other processes, so every counter is one untorn store.
void DataStore::add(std::uint32_t core, Counter counter, std::uint64_t amount) noexcept {
  if (memory_ == nullptr || core >= core_count) return;
  auto* at = reinterpret_cast<std::uint64_t*>(memory_ + counter_offset(core, counter));
  std::atomic_ref(*at).fetch_add(amount, std::memory_order_relaxed);
}

void DataStore::set(std::uint32_t core, Counter counter, std::uint64_t value) noexcept {
  if (memory_ == nullptr || core >= core_count) return;
  auto* at = reinterpret_cast<std::uint64_t*>(memory_ + counter_offset(core, counter));
  std::atomic_ref(*at).store(value, std::memory_order_relaxed);
}

void DataStore::count_status(std::uint32_t core, NRT_STATUS status) noexcept {
  switch (status) {
    case NRT_FAILURE:
      return add(core, Counter::generic_fail, 1);
    case NRT_INVALID:
      return add(core, Counter::invalid_error, 1);
    case NRT_RESOURCE:
      return add(core, Counter::resource_error, 1);
    case NRT_LOAD_NOT_ENOUGH_NC:
      return add(core, Counter::resource_core_error, 1);
    case NRT_UNSUPPORTED_NEFF_VERSION:
      return add(core, Counter::unsupported_version, 1);
    case NRT_EXEC_OOB:
      return add(core, Counter::out_of_bounds, 1);
    default:
      return;
  }
}

void DataStore::write_process(const StoreProcess& process) noexcept {
  if (memory_ != nullptr) std::memcpy(memory_ + store_process_offset, &process, sizeof process);
}

// A slot belongs to whoever has changed its h_nn from 0; the rest is written behind that, h_nn
// last.
std::uint32_t DataStore::add_model(const StoreModel& model) noexcept {
  constexpr std::uint32_t taken = ~std::uint32_t{0};
  if (memory_ == nullptr) return no_slot;
  for (std::uint32_t slot = 0; slot < store_model_slots; ++slot) {
    std::uint8_t* const at = memory_ + store_models_offset + slot * sizeof model;
    const std::atomic_ref h_nn(*reinterpret_cast<std::uint32_t*>(at));
    std::uint32_t free = 0;
    if (!h_nn.compare_exchange_strong(free, taken)) continue;
    constexpr std::size_t key = sizeof model.h_nn;
    std::memcpy(at + key, reinterpret_cast<const std::uint8_t*>(&model) + key, sizeof model - key);
    h_nn.store(model.h_nn, std::memory_order_release);
    return slot;
  }
  return no_slot;
}

void DataStore::remove_model(std::uint32_t slot) noexcept {
  if (memory_ == nullptr || slot >= store_model_slots) return;
  auto* at =
      reinterpret_cast<std::uint32_t*>(memory_ + store_models_offset + slot * sizeof(StoreModel));
  std::atomic_ref(*at).store(0, std::memory_order_release);
}

}  // namespace neffld::nrt
