// SPDX-License-Identifier: MIT
#include "core_unit.hpp"

#include <cstring>

#include "block_author.hpp"
#include "neuron_abi/address_map.h"

namespace neffld {
namespace {

/// Fresh rings hold nothing the device could take for a request: what was here before may carry the
/// ring id of the first lap.
Result<void> clear_rings(DeviceCalls& calls, std::span<const DeviceMemory> exec) {
  const std::vector<std::uint8_t> zeros(std::size_t{NEURON_UDMA_DESC_SIZE} *
                                        NEURON_EXEC_RING_DESCS);
  NEFFLD_TRY(calls.copy_descriptors(exec[0].handle, zeros, true));
  return calls.copy_descriptors(exec[1].handle, zeros, false);
}

Result<void> init_exec_queue(DeviceCalls& calls, std::uint32_t core,
                             std::span<const DeviceMemory> exec) {
  neuron_dma_queue_init init{};
  init.eng_id = NEURON_DMA_ENGINES_PER_CORE * core + NEURON_EXEC_RING_ENGINE;
  init.qid = NEURON_RUNTIME_QUEUE;
  init.tx_desc_count = init.rx_desc_count = NEURON_EXEC_RING_DESCS;
  init.tx_handle = exec[0].handle;
  init.rx_handle = exec[1].handle;
  return calls.init_queues(std::span(&init, 1));
}

/// An engine that met an address without memory stands still until it is told otherwise.
Result<void> wake_engines(DeviceCalls& calls, std::uint32_t core) {
  const std::uint32_t first = NEURON_DMA_ENGINES_PER_CORE * core;
  for (std::uint32_t k = 0; k < NEURON_DMA_ENGINES_PER_CORE; ++k) {
    NEFFLD_ASSIGN(const std::uint32_t state, calls.engine_state(first + k));
    if (state != NEURON_DMA_ENG_ABORT) continue;
    NEFFLD_TRY(calls.set_engine_state(first + k, NEURON_DMA_SET_NORMAL));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<CoreUnit>> CoreUnit::make(DeviceCalls& calls, DeviceFile& file,
                                                 const ArchTable& arch, std::uint32_t core,
                                                 std::span<const DeviceMemory> exec) {
  NEFFLD_TRY(clear_rings(calls, exec));
  NEFFLD_TRY(init_exec_queue(calls, core, exec));
  NEFFLD_TRY(wake_engines(calls, core));
  NEFFLD_TRY(calls.write_semaphore(core, NEURON_SEMAPHORE_INFERENCE_START, 0));
  std::vector<NotificationRing> status;
  for (std::uint32_t engine = 0; engine < engine_count; ++engine) {
    NEFFLD_ASSIGN(auto ring, NotificationRing::make(calls, file, arch.arch, core, NEURON_NQ_NOTIFY,
                                                    NEURON_NQ_INDEX_INFER_STATUS + engine));
    status.push_back(std::move(ring));
  }
  NEFFLD_ASSIGN(auto errors, NotificationRing::make(calls, file, arch.arch, core, NEURON_NQ_ERROR,
                                                    NEURON_NQ_INDEX_ERROR));
  NEFFLD_TRY(calls.write_register(notific_block(arch.arch, core) + NEURON_NOTIFIC_INTC_LINE, 0));
  return std::unique_ptr<CoreUnit>(new CoreUnit(
      arch, core, ExecRing(exec[0], exec[1], NEURON_EXEC_RING_DESCS, arch.caps.strong_order_writes),
      exec[2], std::move(status), std::move(errors)));
}

Result<void> CoreUnit::arm(DeviceCalls& calls, const neuron_exec_request& request,
                           std::uint64_t one) {
  std::array<std::uint8_t, sizeof request> bytes{};
  std::memcpy(bytes.data(), &request, sizeof request);
  NEFFLD_TRY(calls.copy_in(request_.handle, 0, bytes));
  const std::uint64_t mailbox = arch_.tpb_base[core_] + arch_.event_unit + NEURON_EXEC_MAILBOX;
  const std::array<ExecRing::Copy, 2> copies = {
      {{request_.pa, mailbox, sizeof request},
       {one, event_register(arch_, core_, NEURON_EVENT_REQUEST_LOAD), sizeof(std::uint32_t)}}};
  return ring_.append(calls, copies);
}

Result<void> CoreUnit::ring_doorbell(DeviceCalls& calls) {
  return calls.increment_semaphore(core_, NEURON_SEMAPHORE_INFERENCE_START);
}

Result<bool> CoreUnit::overflowed(DeviceCalls& calls) const {
  NEFFLD_ASSIGN(const std::uint32_t line,
                calls.read_register(notific_block(arch_.arch, core_) + NEURON_NOTIFIC_INTC_LINE));
  return (line & NEURON_NOTIFIC_INTC_OVERFLOW) != 0;
}

}  // namespace neffld
