// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <stdexcept>

#include "nds_user.h"

namespace devsim_test {
namespace {

void check(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

std::uint64_t engine_base(std::uint32_t architecture, std::uint32_t engine) {
  return architecture == 2 ? neuron_v2_dma_engine(engine) : neuron_v3_dma_engine(engine);
}

}  // namespace

Program operator+(Program first, const Program& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Record transfer(const Side& from, const Side& to, std::uint32_t count0, std::uint32_t count1,
                std::uint32_t semaphore, std::uint32_t add_to_it) {
  Record record(NEURON_OP_DMA_MEMCPY);
  record.u8(NEURON_AT_DMA_SEMAPHORE, semaphore).u8(NEURON_AT_DMA_INCREMENT, add_to_it);
  record.u8(NEURON_AT_DMA_SOURCE_DTYPE, from.dtype).u8(NEURON_AT_DMA_TARGET_DTYPE, to.dtype);
  const auto put = [&](const Side& side, std::size_t at) {
    record.u64(at, side.address);
    record.u32(at + 8, static_cast<std::uint32_t>(side.step0));
    record.u32(at + 12, static_cast<std::uint32_t>(side.step1));
    record.u16(at + 16, count0).u16(at + 18, count1).u16(at + 20, side.run & 0xFFFF);
  };
  put(from, NEURON_AT_DMA_SOURCE);
  put(to, NEURON_AT_DMA_TARGET);
  return record;
}

Core::Core(const Device& device, const Client& client, std::uint32_t architecture,
           std::uint32_t core, std::uint32_t notification_bytes)
    : device_(device), client_(client), architecture_(architecture), core_(core) {
  constexpr std::uint64_t ring_bytes = NEURON_EXEC_RING_DESCS * 16ull;
  tx_ = client.alloc({ring_bytes, 0, 0, 0, core, NEURON_MEM_DMA_RINGS_DEVICE});
  rx_ = client.alloc({ring_bytes, 0, 0, 0, core, NEURON_MEM_DMA_RINGS_DEVICE});
  request_ = client.alloc({64});
  constants_ = client.alloc({64});
  check(client.write(constants_, {0, 0, 0, 0, 1, 0, 0, 0}) == 0, "constants");
  neuron_dma_queue_init init{core * NEURON_DMA_ENGINES_PER_CORE + NEURON_EXEC_RING_ENGINE,
                             NEURON_RUNTIME_QUEUE,
                             NEURON_EXEC_RING_DESCS,
                             NEURON_EXEC_RING_DESCS,
                             tx_,
                             rx_,
                             0,
                             0};
  check(client.call(NEURON_IOCTL_DMA_QUEUE_INIT, init) == 0, "exec ring");
  init_notifications(NEURON_NQ_INDEX_ERROR, NEURON_NQ_ERROR, notification_bytes);
  for (std::uint32_t engine = 0; engine < NEURON_ENGINES_PER_CORE; ++engine)
    init_notifications(NEURON_NQ_INDEX_INFER_STATUS + engine, NEURON_NQ_NOTIFY, notification_bytes);
  set_all_empty();
}

void Core::init_notifications(std::uint32_t index, std::uint32_t type, std::uint32_t bytes) {
  neuron_notifications_init_realloc_v2 init{};
  init.nq_dev_id = core_;
  init.nq_dev_type = NEURON_NQ_DEV_CORE;
  init.nq_type = type;
  init.engine_index = index;
  init.size = bytes;
  init.on_host_memory = 1;
  init.force_alloc_mem = 1;
  check(client_.call(NEURON_IOCTL_NOTIFICATIONS_INIT_WITH_REALLOC_V2, init) == 0, "notifications");
  nds_mapping mapping{};
  const std::uint64_t mapped = (bytes + 4095) / 4096 * 4096;
  check(nds_file_mmap(client_.file(), 100, init.mmap_offset, mapped, &mapping) == 0, "mmap");
  queues_.at(index).records = static_cast<const neuron_notification*>(
      nds_user_space_address(mapping.space, mapping.offset));
  queues_.at(index).count = bytes / 16;
}

void Core::set(std::uint32_t engine, const Program& program) {
  const std::uint32_t gate = NEURON_SEMAPHORE_ENGINE_START + engine;
  Program whole = {semaphore_record().wait(wait_gt, gate, 0).update(decrement, gate)};
  whole = whole + program;
  whole.push_back(Record(NEURON_OP_NOTIFY).update(increment, NEURON_SEMAPHORE_DONE));
  whole.push_back(branch(-static_cast<std::int32_t>(whole.size())));
  std::vector<std::uint8_t> bytes;
  for (const Record& record : whole)
    bytes.insert(bytes.end(), record.bytes().begin(), record.bytes().end());
  const auto handle = client_.alloc({bytes.size(), 0x8000});
  check(handle != 0 && client_.write(handle, bytes) == 0, "image");
  images_.at(engine) = client_.pa(handle);
}

void Core::set_all_empty() {
  for (std::uint32_t engine = 0; engine < NEURON_ENGINES_PER_CORE; ++engine) set(engine, {});
}

void Core::put(std::uint64_t ring, const neuron_udma_tx_desc& descriptor) const {
  neuron_dma_copy_descriptors64 argument{ring, reinterpret_cast<std::uintptr_t>(&descriptor), 1,
                                         cursor_ * 16ull, NEURON_QUEUE_TX};
  check(client_.call(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, argument) == 0, "descriptors");
}

void Core::append(std::uint64_t to, std::uint64_t from, std::uint32_t bytes) {
  const std::uint32_t len_ctrl = bytes | phase_ << NEURON_UDMA_RING_ID_SHIFT;
  put(tx_, {len_ctrl | NEURON_UDMA_FIRST | NEURON_UDMA_LAST, NEURON_UDMA_META_COPY, from});
  put(rx_, {len_ctrl, 0, to});
  if (++cursor_ < NEURON_EXEC_RING_DESCS) return;
  cursor_ = 0;
  phase_ = (phase_ + 1) & 3;
}

std::uint64_t Core::window() const {
  return architecture_ == 2 ? neuron_v2_tpb_base(core_) : neuron_v3_tpb_base(core_);
}

std::uint64_t Core::increment_csr(std::uint32_t index) const {
  return window() + (architecture_ == 2 ? NEURON_V2_TPB_EVENTS : NEURON_V3_TPB_EVENTS) +
         NEURON_EVENT_UNIT_SEM_INCREMENT + 4ull * index;
}

std::uint8_t* Core::memory(std::uint64_t offset) const {
  return nds_user_core_memory(device_.get(), core_, offset);
}

void Core::arm() {
  neuron_exec_request request{};
  for (std::uint32_t engine = 0; engine < NEURON_ENGINES_PER_CORE; ++engine) {
    request.eng_addr_lo[engine] = static_cast<std::uint32_t>(images_[engine]);
    request.eng_addr_hi[engine] = static_cast<std::uint32_t>(images_[engine] >> 32);
  }
  request.load_act_dve_tables = load_tables_ ? 1 : 0;
  request.dge_table_pa = dge_table_;
  check(client_.copy(request_, &request, sizeof request, 0, true) == 0, "request");
  const std::uint64_t unit = increment_csr(0) - NEURON_EVENT_UNIT_SEM_INCREMENT;
  append(unit + NEURON_EXEC_MAILBOX, client_.pa(request_), sizeof request);
  append(unit + 4 * NEURON_EVENT_REQUEST_LOAD, client_.pa(constants_) + 4, 4);
}

long Core::ring() const {
  neuron_semaphore doorbell{core_, NEURON_SEMAPHORE_INFERENCE_START, 1};
  return client_.call(NEURON_IOCTL_SEMAPHORE_INCREMENT, doorbell);
}

std::uint64_t Core::notific() const {
  return 0x100000000ull + (architecture_ == 2 ? neuron_v2_bar0_core_notific(core_)
                                              : neuron_v3_bar0_core_notific(core_));
}

std::uint32_t Core::read_register(std::uint64_t offset) const {
  std::uint64_t address = notific() + offset;
  std::uint32_t value = 0;
  neuron_bar_rw argument{};
  argument.address_ptr = reinterpret_cast<std::uintptr_t>(&address);
  argument.data_ptr = reinterpret_cast<std::uintptr_t>(&value);
  argument.count = 1;
  check(client_.call(NEURON_IOCTL_BAR_READ, argument) == 0, "register");
  return value;
}

void Core::write_register(std::uint64_t offset, std::uint32_t value) const {
  std::uint64_t address = notific() + offset;
  neuron_bar_rw argument{};
  argument.address_ptr = reinterpret_cast<std::uintptr_t>(&address);
  argument.data_ptr = reinterpret_cast<std::uintptr_t>(&value);
  argument.count = 1;
  check(client_.call(NEURON_IOCTL_BAR_WRITE, argument) == 0, "register");
}

std::vector<neuron_notification> Core::take(std::uint32_t index, bool keep) {
  Queue& queue = queues_.at(index);
  std::vector<neuron_notification> taken;
  while (((queue.records[queue.next].kind & NEURON_NOTIFICATION_PHASE) != 0) == queue.phase) {
    taken.push_back(queue.records[queue.next]);
    if (++queue.next < queue.count) continue;
    queue.next = 0;
    queue.phase = !queue.phase;
  }
  if (!keep) write_register(index * NEURON_NOTIFIC_STRIDE + NEURON_NOTIFIC_HEAD, queue.next);
  return taken;
}

bool Core::ended() {
  bool all = true;
  for (std::uint32_t engine = 0; engine < NEURON_ENGINES_PER_CORE; ++engine) {
    const auto taken = take(NEURON_NQ_INDEX_INFER_STATUS + engine);
    all = all && taken.size() == 2 && taken[0].subtype == NEURON_NOTIFICATION_START &&
          taken[1].subtype == NEURON_NOTIFICATION_END;
  }
  return errors().empty() && all;
}

bool Core::overflowed() const {
  return (read_register(NEURON_NOTIFIC_INTC_LINE) & NEURON_NOTIFIC_INTC_OVERFLOW) != 0;
}

std::uint32_t Core::semaphore(std::uint32_t index) const {
  neuron_semaphore argument{core_, index, 0};
  check(client_.call(NEURON_IOCTL_SEMAPHORE_READ, argument) == 0, "semaphore");
  return argument.value;
}

std::uint32_t Core::event(std::uint32_t index) const {
  neuron_event argument{core_, index, 0};
  check(client_.call(NEURON_IOCTL_EVENT_GET, argument) == 0, "event");
  return argument.value;
}

ModelQueue::ModelQueue(const Client& client, std::uint32_t architecture, std::uint32_t engine,
                       std::uint32_t queue, std::uint32_t length)
    : client_(client), base_(engine_base(architecture, engine)), queue_(queue) {
  tx_ = client.alloc({length * 16ull, 0, 0, 0, 0, NEURON_MEM_DMA_RINGS_DEVICE});
  rx_ = client.alloc({length * 16ull, 0, 0, 0, 0, NEURON_MEM_DMA_RINGS_DEVICE});
  neuron_dma_queue_init init{engine, queue, length, length, tx_, rx_, 0, 0};
  check(client.call(NEURON_IOCTL_DMA_QUEUE_INIT, init) == 0, "queue");
}

void ModelQueue::copy(std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
                      std::uint32_t meta) {
  const std::uint32_t len_ctrl = (bytes & 0xFFFF) | 1u << NEURON_UDMA_RING_ID_SHIFT;
  const neuron_udma_tx_desc descriptors[] = {
      {len_ctrl | NEURON_UDMA_FIRST | NEURON_UDMA_LAST, meta, from}, {len_ctrl, 0, to}};
  for (int side = 0; side < 2; ++side) {
    neuron_dma_copy_descriptors64 argument{side == 0 ? tx_ : rx_,
                                           reinterpret_cast<std::uintptr_t>(&descriptors[side]), 1,
                                           used_ * 16ull, NEURON_QUEUE_TX};
    check(client_.call(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, argument) == 0, "descriptors");
  }
  ++used_;
}

Program ModelQueue::doorbell(std::uint32_t pairs) const {
  return {write_csr(base_ + neuron_udma_rx_register(queue_, NEURON_UDMA_Q_TAIL_INC), pairs),
          write_csr(base_ + neuron_udma_tx_register(queue_, NEURON_UDMA_Q_TAIL_INC), pairs)};
}

}  // namespace devsim_test
