// SPDX-License-Identifier: MIT
// What tensors keep their bytes in (spec 07 section 3.9).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>

#include "device.hpp"
#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld::nrt {

class Storage;

/// The device storages that are alive, so that closing can free their memory.
class StorageList {
 public:
  void add(Storage* storage);
  void remove(Storage* storage) noexcept;
  /// Frees the device memory of every storage in the list; the storages stay.
  void release_all() noexcept;
  /// For whoever forks: held meanwhile, or the child could wait for a thread that it does not have.
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::set<Storage*> live_;
};

/// Where to allocate device memory.
struct DevicePlace {
  std::shared_ptr<Device> device;
  std::uint32_t vnc = 0;   ///< visible index
  std::uint32_t core = 0;  ///< physical core on the device that is charged
  std::uint32_t hbm = 0;
};

/// A run of bytes on a device, of our own host memory or of the caller's. Reads share it, writes
/// have it alone, and both wait for executions that use it. Bounds are the caller's business.
class Storage {
 public:
  static Result<std::shared_ptr<Storage>> on_device(StorageList& list, const DevicePlace& place,
                                                    std::uint64_t size, const std::string& name);
  /// Zeroed host memory. Error: NRT_RESOURCE.
  static Result<std::shared_ptr<Storage>> on_host(std::uint64_t size);
  /// Caller memory, never freed here.
  static std::shared_ptr<Storage> attached(void* buffer, std::uint64_t size);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  bool is_device() const { return device_; }
  /// Where device memory is, until it is released.
  const DevicePlace& place() const { return place_; }
  const DeviceMemory& memory() const { return memory_; }
  std::uint64_t size() const { return size_; }
  /// The device memory was freed by nrt_close().
  bool gone() const;

  /// `wait`: not while somebody else or an execution writes (for write: uses it at all).
  Result<void> read(std::uint64_t offset, MutableBytes out, bool wait = true);
  Result<void> write(std::uint64_t offset, Bytes bytes, bool wait = true);
  Result<void> fill(std::uint64_t offset, std::uint64_t size, std::uint8_t value);
  /// Copies as memmove would; `from` and `to` may be the same storage.
  static Result<void> copy(Storage& from, std::uint64_t from_offset, Storage& to,
                           std::uint64_t to_offset, std::uint64_t size);
  /// Address of the first byte in this process, null if there is none. Maps device memory once.
  std::uint8_t* address();

  /// An execution reads or writes the storage from now on, until as many end_use() calls. Waits for
  /// nobody but host accesses that are going on: executions order themselves by their queue.
  void begin_use(bool writes);
  void end_use(bool writes) noexcept;

  /// Frees device memory early, once, and lets the device go.
  void release() noexcept;

 private:
  Storage() = default;
  Result<void> read_unlocked(std::uint64_t offset, MutableBytes out);
  Result<void> write_unlocked(std::uint64_t offset, Bytes bytes);
  bool readable() const { return pending_writes_ == 0; }
  bool writable() const { return pending_writes_ == 0 && pending_reads_ == 0; }
  std::shared_lock<std::shared_mutex> lock_for_read();
  std::unique_lock<std::shared_mutex> lock_for_write();

  mutable std::shared_mutex mutex_;
  std::condition_variable_any use_ended_;
  std::uint64_t pending_reads_ = 0, pending_writes_ = 0;  ///< executions that use the storage
  StorageList* list_ = nullptr;
  bool device_ = false;  ///< device memory, be it gone by now
  DevicePlace place_;
  DeviceMemory memory_;
  bool gone_ = false;
  std::uint8_t* host_ = nullptr;  ///< host bytes, or the mapping of device memory
  bool owned_ = false;            ///< `host_` came from calloc
  std::uint64_t size_ = 0;
};

}  // namespace neffld::nrt
