// SPDX-License-Identifier: MIT
// Typed device calls: one method per ioctl the loader makes, errors with the errno's name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/device_file.hpp"
#include "neffld/plan.hpp"
#include "neuron_abi/ioctl.h"

namespace neffld {

/// What the driver says about itself.
struct DriverFacts {
  Arch arch = Arch::any;
  std::uint32_t min_version = 0, max_version = 0;  ///< runtime ABI numbers it accepts
  std::uint64_t features = 0;
};

/// A live allocation.
struct DeviceMemory {
  std::uint64_t handle = 0;
  std::uint64_t pa = 0;
  std::uint64_t size = 0;  ///< bytes given, page-rounded
};

/// Category of tensors. The planner's have none: the loader allocates no tensors.
inline constexpr auto tensor_category = static_cast<MemCategory>(NEURON_MEM_TENSORS_DEVICE);

/// Sizes as the original prints them: "4.000GB", "82.344KB", "0.000B" (spec 03 section 9.2).
std::string report_size(std::uint64_t bytes);

/// Calls may be made from several threads; counts() is for when none is in one.
class DeviceCalls {
 public:
  explicit DeviceCalls(DeviceFile& file);

  Result<DriverFacts> driver_facts();
  /// Allocates device memory (MEM_ALLOC_V2MT64) and asks where it is. Errors: NRT_RESOURCE and
  /// class resource on ENOMEM, NRT_FAILURE otherwise.
  Result<DeviceMemory> allocate(const Request& request);
  Result<void> free(std::uint64_t handle);
  /// free() of memory that nobody will ask for again. If the driver refuses for a reason that
  /// passes (EBUSY, EINTR, EAGAIN, ENOMEM), free_refused() tries again.
  Result<void> give_back(std::uint64_t handle);
  /// Frees what give_back() could not, as far as the driver takes it now.
  void free_refused() noexcept;
  /// Host to device in pieces of at most 1 GiB (MEM_BUF_COPY64, decision 34).
  Result<void> copy_in(std::uint64_t handle, std::uint64_t offset, Bytes bytes);
  Result<void> copy_out(std::uint64_t handle, std::uint64_t offset, MutableBytes bytes);
  /// Writes ring descriptors at byte `offset` of a chunk (DMA_COPY_DESCRIPTORS64).
  Result<void> copy_descriptors(std::uint64_t handle, Bytes descriptors, bool tx,
                                std::uint64_t offset = 0);
  /// Initialises queues in batches the driver accepts (DMA_QUEUE_INIT_BATCH): all or none.
  Result<void> init_queues(std::span<const neuron_dma_queue_init> queues);
  /// Takes the rings away from queues, so that the memory they lie in can be freed. There is
  /// nothing to be done if the driver refuses.
  void drop_rings(std::span<const neuron_dma_queue_init> queues) noexcept;
  /// The same for queues that are in use; says if the driver refuses.
  Result<void> stop_queues(std::span<const neuron_dma_queue_init> queues);

  // ---- execution ----

  /// Adds 1 to a semaphore of a core (SEMAPHORE_INCREMENT); of semaphore 0: the doorbell.
  Result<void> increment_semaphore(std::uint32_t core, std::uint32_t index);
  Result<std::uint32_t> read_semaphore(std::uint32_t core, std::uint32_t index);
  Result<void> write_semaphore(std::uint32_t core, std::uint32_t index, std::uint32_t value);
  Result<std::uint32_t> read_event(std::uint32_t core, std::uint32_t index);
  /// Makes a new notification ring of a core in host memory, which takes the place of the one that
  /// is there (NOTIFICATIONS_INIT_WITH_REALLOC_V2). Returns the offset to map it at.
  Result<std::uint64_t> init_notifications(std::uint32_t core, neuron_nq_type type,
                                           std::uint32_t engine_index, std::uint32_t bytes);
  /// A register by its offset in the register BAR (DEVICE_INFO, BAR_READ, BAR_WRITE).
  Result<std::uint32_t> read_register(std::uint64_t offset);
  Result<void> write_register(std::uint64_t offset, std::uint32_t value);
  /// The state of a DMA engine, enum neuron_dma_eng_run_state (DMA_ENG_GET_STATE).
  Result<std::uint32_t> engine_state(std::uint32_t engine);
  Result<void> set_engine_state(std::uint32_t engine, neuron_dma_set_state state);

  /// Every live chunk of an HBM, of all processes, in ascending address order (DUMP_MEM_CHUNKS).
  Result<std::vector<neuron_mem_chunk_info>> chunks(std::uint32_t hbm);

  /// ioctls made so far, by command value.
  const std::map<std::uint32_t, std::uint64_t>& counts() const { return counts_; }

 private:
  int call(std::uint32_t command, void* argument);
  /// The first answer other than 0.
  int point_nowhere(std::span<const neuron_dma_queue_init> queues) noexcept;
  /// "ND 3:NC 5"; the device number is the one its node's name ends in, else 0.
  std::string place_name(std::uint32_t core) const;
  /// The error of a failed call: what the driver answered, or why the back end refused it.
  tl::unexpected<Error> failed(const char* call, int answer, std::string detail) const;
  Result<void> copy(std::uint64_t handle, std::uint64_t offset, std::uint8_t* host,
                    std::uint64_t size, bool to_device);
  Result<void> register_bar();
  Result<void> access_register(std::uint32_t command, std::uint64_t offset, std::uint32_t& value);

  DeviceFile* file_;
  std::vector<std::uint64_t> refused_;             ///< handles; used by one thread at a time
  std::optional<std::uint64_t> register_bar_;      ///< what offsets are added to
  std::map<std::uint32_t, std::uint64_t> counts_;  ///< holds every command from the start
  std::mutex batch_in_use_;
  /// There from the start: queues lose their rings even when host memory is gone.
  std::unique_ptr<neuron_dma_queue_init_batch> batch_;
};

/// Device allocations that free themselves, last one first (03 R16).
class AllocationList {
 public:
  explicit AllocationList(DeviceCalls& calls) : calls_(&calls) {}
  AllocationList(AllocationList&& other) noexcept
      : calls_(other.calls_), live_(std::move(other.live_)) {
    other.live_.clear();
  }
  AllocationList& operator=(AllocationList&&) = delete;
  ~AllocationList() { static_cast<void>(release()); }

  /// Makes room, so that as many `add` calls cannot fail.
  void reserve(std::size_t count) { live_.reserve(count); }
  void add(const DeviceMemory& memory) { live_.push_back(memory); }
  std::span<const DeviceMemory> live() const { return live_; }
  std::size_t size() const { return live_.size(); }
  /// Hands the allocations to somebody else: forgets them without freeing.
  void forget() noexcept { live_.clear(); }
  /// Frees the last allocation; it stays in the list when the driver refuses.
  Result<void> release_last();
  /// Frees the allocations from `keep` on; returns the first error and goes on regardless.
  Result<void> release(std::size_t keep = 0);

 private:
  DeviceCalls* calls_;
  std::vector<DeviceMemory> live_;
};

}  // namespace neffld
