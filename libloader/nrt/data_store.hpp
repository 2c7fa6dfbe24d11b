// SPDX-License-Identifier: MIT
// The process's data store in the driver: counters by core, who the process is, and which models it
// holds, for other processes to read (spec 06 section 8, spec 07 section 6.4).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neffld/device_file.hpp"
#include "nrt/nrt_status.h"

namespace neffld::nrt {

/// Counters of a core, by their place in the store (spec 07 section 6.4).
enum class Counter : std::uint32_t {
  generic_fail = 16,
  resource_error = 17,
  resource_core_error = 18,
  invalid_error = 19,
  unsupported_version = 20,
  code_bytes = 22,
  tensor_bytes = 23,
  constant_bytes = 24,
  scratchpad_bytes = 25,
  other_bytes = 26,
  model_loads = 27,
  inferences = 28,
  macs = 29,
  out_of_bounds = 30,
};

// The counters are where the driver looks for them. What follows lies in the part of a store whose
// layout nobody has told, so it is ours (docs/choices.md) and written on simulated devices only.

constexpr std::uint32_t store_process_offset = 1248;  ///< behind the counters of cores 0 to 3
constexpr std::uint32_t store_models_offset = 2048;
constexpr std::uint32_t store_model_slots = 210;  ///< as many as fit before the counters' extension

struct StoreProcess {
  char magic[4];  ///< "NPRC"
  std::uint32_t framework;
  char tag[64];  ///< NEURON_PROCESS_TAG
  char runtime_version[32];
  char framework_version[32];
  char fal_version[32];
};
static_assert(sizeof(StoreProcess) == 168);

struct StoreModel {
  std::uint32_t h_nn;  ///< 0: a free slot
  std::uint32_t h_model;
  std::uint32_t core;  ///< physical, on the device
  std::uint32_t subgraph;
  std::uint32_t subgraphs;  ///< of the model
  std::uint32_t gid;
  std::uint8_t uuid[16];
  std::uint64_t mac_count;
  std::uint64_t trace_uuid;
  char name[192];
  std::uint64_t reserved;
};
static_assert(sizeof(StoreModel) == 256);

/// No place in a store.
constexpr std::uint32_t no_slot = ~std::uint32_t{0};

/// The store of one open device. Without one (the driver has none, or it is full) nothing happens:
/// counters never make a call fail. May be used by several threads.
class DataStore {
 public:
  /// Asks the driver for this process's store; leaves the counters of earlier files of it.
  static std::unique_ptr<DataStore> open(std::shared_ptr<DeviceFile> file);
  ~DataStore();
  DataStore(const DataStore&) = delete;
  DataStore& operator=(const DataStore&) = delete;

  bool exists() const { return memory_ != nullptr; }
  void add(std::uint32_t core, Counter counter, std::uint64_t amount) noexcept;
  void set(std::uint32_t core, Counter counter, std::uint64_t value) noexcept;
  /// The counter a failed load or execution raises, if its status has one.
  void count_status(std::uint32_t core, NRT_STATUS status) noexcept;
  void write_process(const StoreProcess& process) noexcept;
  /// Takes a free slot for a model on a core; none is no error.
  std::uint32_t add_model(const StoreModel& model) noexcept;
  void remove_model(std::uint32_t slot) noexcept;

 private:
  explicit DataStore(std::shared_ptr<DeviceFile> file) : file_(std::move(file)) {}

  std::shared_ptr<DeviceFile> file_;
  std::uint8_t* memory_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace neffld::nrt
