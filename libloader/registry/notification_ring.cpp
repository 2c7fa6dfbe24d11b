// SPDX-License-Identifier: MIT
#include "notification_ring.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "neuron_abi/address_map.h"

namespace neffld {
namespace {

constexpr std::size_t record_words = sizeof(neuron_notification) / sizeof(std::uint32_t);

}  // namespace

std::uint64_t notific_block(Arch arch, std::uint32_t core) {
  return arch == Arch::v2 ? neuron_v2_bar0_core_notific(core) : neuron_v3_bar0_core_notific(core);
}

Result<NotificationRing> NotificationRing::make(DeviceCalls& calls, DeviceFile& file, Arch arch,
                                                std::uint32_t core, neuron_nq_type type,
                                                std::uint32_t engine_index) {
  NEFFLD_ASSIGN(const std::uint64_t offset,
                calls.init_notifications(core, type, engine_index, NEURON_NQ_RING_BYTES));
  NEFFLD_ASSIGN(void* const memory, file.mmap(offset, NEURON_NQ_RING_BYTES, true));
  // Memory that was in use before may hold records of another time.
  std::memset(memory, 0, NEURON_NQ_RING_BYTES);
  const std::uint64_t registers =
      notific_block(arch, core) + std::uint64_t{NEURON_NOTIFIC_STRIDE} * engine_index;
  NotificationRing ring(file, static_cast<std::uint32_t*>(memory), registers + NEURON_NOTIFIC_HEAD);
  NEFFLD_TRY(calls.write_register(registers + NEURON_NOTIFIC_HEAD, 0));
  return ring;
}

NotificationRing::NotificationRing(NotificationRing&& other) noexcept
    : file_(other.file_),
      words_(std::exchange(other.words_, nullptr)),
      head_register_(other.head_register_),
      head_(other.head_),
      released_(other.released_),
      phase_(other.phase_) {}

NotificationRing::~NotificationRing() {
  if (words_ != nullptr) file_->munmap(words_, NEURON_NQ_RING_BYTES);
}

std::optional<neuron_notification> NotificationRing::next() {
  std::array<std::uint32_t, record_words> words{};
  std::uint32_t* const place = words_ + std::size_t{head_} * record_words;
  // A simulated device has written the record when the doorbell returns.
  words[0] = std::atomic_ref(place[0]).load(std::memory_order_acquire);
  if (((words[0] >> 24) & NEURON_NOTIFICATION_PHASE) != phase_) return std::nullopt;
  for (std::size_t i = 1; i < record_words; ++i) {
    words[i] = std::atomic_ref(place[i]).load(std::memory_order_relaxed);
  }
  if (++head_ == records) {
    head_ = 0;
    phase_ ^= NEURON_NOTIFICATION_PHASE;
  }
  neuron_notification record{};
  std::memcpy(&record, words.data(), sizeof record);
  return record;
}

Result<void> NotificationRing::release(DeviceCalls& calls) {
  if (head_ == released_) return {};
  NEFFLD_TRY(calls.write_register(head_register_, head_));
  released_ = head_;
  return {};
}

}  // namespace neffld
