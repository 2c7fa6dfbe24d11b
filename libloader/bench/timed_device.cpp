// SPDX-License-Identifier: MIT
#include "timed_device.hpp"

#include <chrono>

#include "neuron_abi/ioctl.h"

namespace neffld::bench {
namespace {

TimedDevice::Kind kind_of(std::uint32_t command) {
  switch (command) {
    case NEURON_IOCTL_MEM_ALLOC_V2MT64:
    case NEURON_IOCTL_MEM_GET_EXTENDED_INFO:
      return TimedDevice::Kind::allocate;
    case NEURON_IOCTL_MEM_BUF_COPY64:
    case NEURON_IOCTL_DMA_COPY_DESCRIPTORS64:
      return TimedDevice::Kind::copy;
    case NEURON_IOCTL_DMA_QUEUE_INIT_BATCH:
      return TimedDevice::Kind::queues;
    default:
      return TimedDevice::Kind::other;
  }
}

}  // namespace

void TimedDevice::count_copy(std::uint32_t command, const void* argument) noexcept {
  if (command == NEURON_IOCTL_DMA_COPY_DESCRIPTORS64) {
    copied_ +=
        std::uint64_t{16} * static_cast<const neuron_dma_copy_descriptors64*>(argument)->num_descs;
    return;
  }
  const auto& copy = *static_cast<const neuron_mem_buf_copy64*>(argument);
  if (!copy.copy_to_mem_handle) return;
  copied_ += copy.size;
  const auto* from = reinterpret_cast<const std::uint8_t*>(copy.buffer_ptr);
  auto view = watched_.upper_bound(from);
  if (view != watched_.begin() && from < (--view)->second) direct_ += copy.size;
}

int TimedDevice::ioctl(std::uint32_t command, void* argument) noexcept {
  const Kind kind = kind_of(command);
  ++calls_;
  if (kind == Kind::copy) count_copy(command, argument);
  if (kind == Kind::copy && !keep_) return 0;
  const auto begin = std::chrono::steady_clock::now();
  const int answer = inner_->ioctl(command, argument);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  nanoseconds_[static_cast<std::size_t>(kind)] += static_cast<std::uint64_t>(took.count());
  return answer;
}

void TimedDevice::watch(Bytes bytes) {
  if (!bytes.empty()) watched_[bytes.data()] = bytes.data() + bytes.size();
}

void TimedDevice::reset() {
  for (auto& time : nanoseconds_) time = 0;
  calls_ = copied_ = direct_ = 0;
}

double TimedDevice::seconds(Kind kind) const {
  return static_cast<double>(nanoseconds_[static_cast<std::size_t>(kind)]) * 1e-9;
}

}  // namespace neffld::bench
