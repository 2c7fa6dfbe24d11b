// SPDX-License-Identifier: MIT
#include "fake_device.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "neffld/arch.hpp"
#include "notification_ring.hpp"

namespace neffld::test {

FakeDevice::FakeDevice(std::unique_ptr<DeviceFile> inner, std::shared_ptr<FakeScript> script,
                       std::uint32_t architecture)
    : ForwardingFile(std::move(inner)),
      script_(std::move(script)),
      architecture_(architecture),
      traits_(inner_->traits()) {
  traits_.simulated = script_->simulated;
  neuron_device_info info{};
  REQUIRE(inner_->ioctl(NEURON_IOCTL_DEVICE_INFO, &info) == 0);
  bar_ = info.bar_address[0];
}

int FakeDevice::ioctl(std::uint32_t command, void* argument) noexcept {
  if (command == NEURON_IOCTL_SEMAPHORE_INCREMENT) {
    const auto& semaphore = *static_cast<const neuron_semaphore*>(argument);
    if (semaphore.semaphore_index != NEURON_SEMAPHORE_INFERENCE_START) {
      return inner_->ioctl(command, argument);
    }
    script_->doorbells.push_back(semaphore.nc_id);
    script_->armed.push_back(consume(semaphore.nc_id));
    if (script_->at_doorbell) {
      script_->at_doorbell(*this, semaphore.nc_id);
    } else {
      complete(semaphore.nc_id);
    }
    return 0;
  }
  if (command == NEURON_IOCTL_BAR_READ || command == NEURON_IOCTL_BAR_WRITE) {
    if (take_register(command, *static_cast<const neuron_bar_rw*>(argument))) return 0;
  }
  const int answer = inner_->ioctl(command, argument);
  if (answer != 0) return answer;
  if (command == NEURON_IOCTL_NOTIFICATIONS_INIT_WITH_REALLOC_V2) {
    take_ring(*static_cast<const neuron_notifications_init_realloc_v2*>(argument));
  }
  if (command == NEURON_IOCTL_DMA_QUEUE_INIT_BATCH) {
    take_queues(*static_cast<const neuron_dma_queue_init_batch*>(argument));
  }
  return 0;
}

void FakeDevice::take_ring(const neuron_notifications_init_realloc_v2& init) {
  const auto memory = inner_->mmap(init.mmap_offset, init.size, true);
  REQUIRE(memory);
  rings_[{init.nq_dev_id, init.engine_index}] = {static_cast<std::uint8_t*>(*memory)};
}

void FakeDevice::take_queues(const neuron_dma_queue_init_batch& batch) {
  bool of_model = false;
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    const neuron_dma_queue_init& init = batch.entries[i];
    of_model |= init.qid != NEURON_RUNTIME_QUEUE;
    if (init.qid != NEURON_RUNTIME_QUEUE || init.eng_id % 16 != NEURON_EXEC_RING_ENGINE) continue;
    exec_[init.eng_id / 16] = {init.tx_handle, init.rx_handle};
  }
  script_->queue_init_batches += of_model;
}

/// Heads are remembered; line 61 is the script's.
bool FakeDevice::take_register(std::uint32_t command, const neuron_bar_rw& access) {
  std::uint64_t address = 0;
  std::uint32_t value = 0;
  std::memcpy(&address, reinterpret_cast<const void*>(access.address_ptr), sizeof address);
  std::memcpy(&value, reinterpret_cast<const void*>(access.data_ptr), sizeof value);
  const std::uint64_t offset = address - bar_;
  for (std::uint32_t core = 0; core < (architecture_ == 2 ? 2U : 8U); ++core) {
    const std::uint64_t block = notific_block(static_cast<Arch>(architecture_), core);
    if (offset == block + NEURON_NOTIFIC_INTC_LINE) {
      if (command == NEURON_IOCTL_BAR_WRITE) {
        script_->overflow[core] = (value & NEURON_NOTIFIC_INTC_OVERFLOW) != 0;
      } else {
        value = script_->overflow[core] ? NEURON_NOTIFIC_INTC_OVERFLOW : 0;
        std::memcpy(reinterpret_cast<void*>(access.data_ptr), &value, sizeof value);
      }
      return true;
    }
    for (auto& [key, ring] : rings_) {
      if (key.first != core) continue;
      if (offset == block + NEURON_NOTIFIC_STRIDE * key.second + NEURON_NOTIFIC_HEAD) {
        ring.head = value;
      }
    }
  }
  return false;
}

std::uint32_t FakeDevice::control_word(std::uint64_t handle, std::uint32_t index) {
  std::uint32_t word = 0;
  neuron_mem_buf_copy64 copy{};
  copy.mem_handle = handle;
  copy.buffer_ptr = reinterpret_cast<std::uintptr_t>(&word);
  copy.size = sizeof word;
  copy.offset = std::uint64_t{16} * index;
  REQUIRE(inner_->ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &copy) == 0);
  return word;
}

/// The pairs at the cursor that carry the expected ring id on both sides.
std::uint32_t FakeDevice::consume(std::uint32_t core) {
  ExecRing& ring = exec_.at(core);
  const auto fresh = [&](std::uint64_t handle) {
    return ((control_word(handle, ring.cursor) >> 24) & 3) == ring.ring_id;
  };
  std::uint32_t pairs = 0;
  while (fresh(ring.tx) && fresh(ring.rx)) {
    ++pairs;
    script_->pairs_of_other_laps += ring.ring_id != 1;
    if (++ring.cursor == NEURON_EXEC_RING_DESCS) {
      ring.cursor = 0;
      ring.ring_id = (ring.ring_id + 1) & 3;
    }
  }
  return pairs;
}

void FakeDevice::post(std::uint32_t core, std::uint32_t index, neuron_notification record) {
  Ring& ring = rings_.at({core, index});
  const std::uint32_t next = (ring.tail + 1) % NotificationRing::records;
  if (next == ring.head) {
    script_->overflow[core] = true;
    return;
  }
  if (ring.first_phase) record.kind |= NEURON_NOTIFICATION_PHASE;
  record.timestamp = ++clock_;
  std::memcpy(ring.memory + sizeof record * ring.tail, &record, sizeof record);
  if (next == 0) ring.first_phase = !ring.first_phase;
  ring.tail = next;
}

namespace {

neuron_notification status_record(std::uint32_t engine, std::uint16_t subtype) {
  neuron_notification record{};
  record.kind = static_cast<std::uint8_t>(NEURON_NOTIFICATION_EXPLICIT + 4 * engine);
  record.subtype = subtype;
  return record;
}

}  // namespace

void FakeDevice::start(std::uint32_t core, std::uint32_t engine) {
  post(core, NEURON_NQ_INDEX_INFER_STATUS + engine,
       status_record(engine, NEURON_NOTIFICATION_START));
}

void FakeDevice::end(std::uint32_t core, std::uint32_t engine) {
  post(core, NEURON_NQ_INDEX_INFER_STATUS + engine, status_record(engine, NEURON_NOTIFICATION_END));
}

void FakeDevice::complete(std::uint32_t core) {
  for (std::uint32_t engine = 0; engine < engine_count; ++engine) start(core, engine);
  for (std::uint32_t engine = 0; engine < engine_count; ++engine) end(core, engine);
}

void FakeDevice::error(std::uint32_t core, std::uint32_t engine, std::uint16_t error_class,
                       std::uint32_t slot, std::uint32_t byte) {
  neuron_notification record{};
  record.kind = NEURON_NOTIFICATION_TPB_ERROR;
  record.pc_low = static_cast<std::uint16_t>(slot);
  record.pc_high = static_cast<std::uint8_t>(slot >> 16);
  record.sub_id = error_class;
  record.subtype = static_cast<std::uint16_t>(engine | byte << 8);
  post(core, NEURON_NQ_INDEX_ERROR, record);
}

}  // namespace neffld::test
