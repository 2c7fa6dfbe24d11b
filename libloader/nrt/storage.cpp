// SPDX-License-Identifier: MIT
#include "storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "log.hpp"

namespace neffld::nrt {
namespace {

constexpr std::uint64_t bounce_bytes = 4ull << 20;  // between two device ranges

tl::unexpected<Error> memory_gone() {
  return fail(Status::invalid, ErrorClass::usage, {},
              "the tensor's device memory was freed by nrt_close()");
}

}  // namespace

void StorageList::add(Storage* storage) {
  const std::scoped_lock lock(mutex_);
  live_.insert(storage);
}

void StorageList::remove(Storage* storage) noexcept {
  const std::scoped_lock lock(mutex_);
  live_.erase(storage);
}

void StorageList::release_all() noexcept {
  // A storage that is being destroyed waits in remove() until its turn here is over.
  const std::scoped_lock lock(mutex_);
  for (Storage* storage : live_) storage->release();
}

Result<std::shared_ptr<Storage>> Storage::on_device(StorageList& list, const DevicePlace& place,
                                                    std::uint64_t size, const std::string& name) {
  auto storage = std::shared_ptr<Storage>(new Storage);
  NEFFLD_ASSIGN(storage->memory_, place.device->allocate(size, place.hbm, place.core,
                                                         fmt::format("tensor {}", name)));
  storage->device_ = true;
  storage->place_ = place;
  storage->size_ = size;
  list.add(storage.get());
  storage->list_ = &list;
  return storage;
}

Result<std::shared_ptr<Storage>> Storage::on_host(std::uint64_t size) {
  auto storage = std::shared_ptr<Storage>(new Storage);
  storage->host_ = static_cast<std::uint8_t*>(std::calloc(size, 1));
  if (storage->host_ == nullptr) {
    return fail(Status::resource, ErrorClass::resource, {},
                fmt::format("Failed to allocate {} bytes of host memory", size));
  }
  storage->owned_ = true;
  storage->size_ = size;
  return storage;
}

std::shared_ptr<Storage> Storage::attached(void* buffer, std::uint64_t size) {
  auto storage = std::shared_ptr<Storage>(new Storage);
  storage->host_ = static_cast<std::uint8_t*>(buffer);
  storage->size_ = size;
  return storage;
}

Storage::~Storage() {
  if (list_ != nullptr) list_->remove(this);
  release();
  if (owned_) std::free(host_);
}

void Storage::release() noexcept {
  const std::unique_lock lock(mutex_);
  if (!is_device() || gone_) return;
  gone_ = true;
  if (host_ != nullptr) place_.device->unmap(host_, memory_.size);
  host_ = nullptr;
  const auto freed = guarded([&] { return place_.device->free(memory_.handle); });
  if (!freed) log_inner_error("TDRV", "tensor_free", freed.error().text);
  place_.device.reset();
}

bool Storage::gone() const {
  const std::shared_lock lock(mutex_);
  return gone_;
}

Result<void> Storage::read_unlocked(std::uint64_t offset, MutableBytes out) {
  if (!is_device()) {
    if (!out.empty()) std::memcpy(out.data(), host_ + offset, out.size());
    return {};
  }
  if (gone_) return memory_gone();
  return place_.device->copy_out(memory_.handle, offset, out);
}

Result<void> Storage::write_unlocked(std::uint64_t offset, Bytes bytes) {
  if (!is_device()) {
    if (!bytes.empty()) std::memmove(host_ + offset, bytes.data(), bytes.size());
    return {};
  }
  if (gone_) return memory_gone();
  return place_.device->copy_in(memory_.handle, offset, bytes);
}

void Storage::begin_use(bool writes) {
  const std::unique_lock lock(mutex_);
  ++(writes ? pending_writes_ : pending_reads_);
}

void Storage::end_use(bool writes) noexcept {
  {
    const std::unique_lock lock(mutex_);
    --(writes ? pending_writes_ : pending_reads_);
  }
  use_ended_.notify_all();
}

std::shared_lock<std::shared_mutex> Storage::lock_for_read() {
  std::shared_lock lock(mutex_);
  use_ended_.wait(lock, [&] { return readable(); });
  return lock;
}

std::unique_lock<std::shared_mutex> Storage::lock_for_write() {
  std::unique_lock lock(mutex_);
  use_ended_.wait(lock, [&] { return writable(); });
  return lock;
}

Result<void> Storage::read(std::uint64_t offset, MutableBytes out, bool wait) {
  if (!wait) return read_unlocked(offset, out);
  const auto lock = lock_for_read();
  return read_unlocked(offset, out);
}

Result<void> Storage::write(std::uint64_t offset, Bytes bytes, bool wait) {
  if (!wait) return write_unlocked(offset, bytes);
  const auto lock = lock_for_write();
  return write_unlocked(offset, bytes);
}

Result<void> Storage::fill(std::uint64_t offset, std::uint64_t size, std::uint8_t value) {
  const auto lock = lock_for_write();
  if (!is_device()) {
    std::memset(host_ + offset, value, size);
    return {};
  }
  const std::vector<std::uint8_t> pattern(std::min(size, bounce_bytes), value);
  for (std::uint64_t done = 0; done < size; done += pattern.size()) {
    const std::uint64_t piece = std::min<std::uint64_t>(size - done, pattern.size());
    NEFFLD_TRY(write_unlocked(offset + done, Bytes(pattern).first(piece)));
  }
  return {};
}

Result<void> Storage::copy(Storage& from, std::uint64_t from_offset, Storage& to,
                           std::uint64_t to_offset, std::uint64_t size) {
  // Two copies that cross must take the two locks in one order.
  std::unique_lock<std::shared_mutex> write_lock(to.mutex_, std::defer_lock);
  std::shared_lock<std::shared_mutex> read_lock(from.mutex_, std::defer_lock);
  const bool same = &from == &to;
  for (;;) {
    if (same) {
      write_lock.lock();
    } else {
      std::lock(read_lock, write_lock);
    }
    // Waits for the executions of one storage with neither lock held.
    const bool read_waits = !from.readable();
    if (!read_waits && to.writable()) break;
    write_lock.unlock();
    if (!same) read_lock.unlock();
    if (read_waits) {
      static_cast<void>(from.lock_for_read());
    } else {
      static_cast<void>(to.lock_for_write());
    }
  }
  if (!from.is_device()) {
    return to.write_unlocked(to_offset, Bytes(from.host_ + from_offset, size));
  }
  if (!to.is_device()) {
    return from.read_unlocked(from_offset, MutableBytes(to.host_ + to_offset, size));
  }
  std::vector<std::uint8_t> bounce(std::min(size, bounce_bytes));
  // Overlapping upwards: from the end, so that nothing is overwritten before it is read.
  const bool backwards = &from == &to && to_offset > from_offset;
  for (std::uint64_t done = 0; done < size;) {
    const std::uint64_t piece = std::min<std::uint64_t>(size - done, bounce.size());
    const std::uint64_t at = backwards ? size - done - piece : done;
    const MutableBytes bytes = MutableBytes(bounce).first(piece);
    NEFFLD_TRY(from.read_unlocked(from_offset + at, bytes));
    NEFFLD_TRY(to.write_unlocked(to_offset + at, bytes));
    done += piece;
  }
  return {};
}

std::uint8_t* Storage::address() {
  const std::unique_lock lock(mutex_);
  if (is_device() && !gone_ && host_ == nullptr) {
    host_ = static_cast<std::uint8_t*>(place_.device->map(memory_));
  }
  return host_;
}

}  // namespace neffld::nrt
