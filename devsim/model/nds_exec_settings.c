/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* What a host may set about executions and see of them. */
#include "nds_internal.h"

void nds_device_set_compute(struct nds_device* device, enum nds_compute_mode mode,
                            const struct nds_compute* compute) {
  static const struct nds_compute nobody;

  nds_dma_lock(device);
  device->exec.mode = mode;
  device->exec.compute = compute ? *compute : nobody;
  nds_dma_unlock(device);
}

void nds_device_set_schedule(struct nds_device* device, uint64_t seed, uint32_t flags) {
  nds_dma_lock(device);
  device->exec.random = seed;
  device->exec.schedule_flags = flags;
  nds_dma_unlock(device);
}

void nds_device_set_observer(struct nds_device* device, const struct nds_observer* observer) {
  static const struct nds_observer nobody;

  nds_dma_lock(device);
  device->exec.observer = observer ? *observer : nobody;
  nds_dma_unlock(device);
}

void nds_device_set_execution_limit(struct nds_device* device, uint32_t milliseconds) {
  nds_dma_lock(device);
  device->exec.limit_ms = milliseconds;
  nds_dma_unlock(device);
}

struct nds_space* nds_device_core_space(const struct nds_device* device, uint32_t core,
                                        uint64_t* bytes) {
  if (core >= device->profile->cores) return NULL;
  *bytes = device->windows[core].bytes;
  return device->windows[core].space;
}

uint64_t nds_exec_begin_observing(const struct nds_device* device) {
  return device->exec.observer.record || device->exec.observer.transfer ? nds_os_now() : 0;
}

void nds_exec_observe_ring(const struct nds_device* device, uint32_t queue_index, uint32_t bytes,
                           uint64_t begin) {
  const struct nds_observer* observer = &device->exec.observer;
  uint32_t engine = queue_index / NEURON_MAX_DMA_QUEUES;
  uint32_t engines = device->profile->cores * NEURON_DMA_ENGINES_PER_CORE;

  /* The driver's copy engines belong to no core. */
  if (!observer->transfer || engine >= engines) return;
  observer->transfer(observer->context, engine / NEURON_DMA_ENGINES_PER_CORE, engine,
                     queue_index % NEURON_MAX_DMA_QUEUES, bytes, begin, nds_os_now());
}

void nds_exec_observe_direct(const struct nds_device* device, uint32_t core, uint32_t engine,
                             uint64_t bytes, uint64_t begin) {
  const struct nds_observer* observer = &device->exec.observer;

  if (!observer->transfer) return;
  observer->transfer(observer->context, core, NDS_OBSERVED_DIRECT, engine, bytes, begin,
                     nds_os_now());
}

void nds_exec_observe_record(const struct nds_device* device, uint32_t core, uint32_t engine,
                             uint32_t slot, uint8_t opcode, uint64_t begin) {
  const struct nds_observer* observer = &device->exec.observer;

  if (!observer->record) return;
  observer->record(observer->context, core, engine, slot, opcode, begin, nds_os_now());
}
