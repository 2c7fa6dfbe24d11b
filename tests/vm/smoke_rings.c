/* SPDX-License-Identifier: MIT */
/* Queues, descriptors, semaphores, events. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "smoke.h"

#define COUNT 64u

static struct neuron_udma_tx_desc tx[COUNT], rx[COUNT], back[COUNT];

static void add(uint32_t index, uint64_t to, uint64_t from, uint32_t bytes) {
  tx[index] = (struct neuron_udma_tx_desc){bytes & 0xFFFF, NEURON_UDMA_META_COPY, from};
  rx[index] = (struct neuron_udma_tx_desc){bytes & 0xFFFF, 0, to};
}

static int put(int file, uint64_t ring, const void* descriptors, uint32_t type) {
  struct neuron_dma_copy_descriptors64 argument = {ring, (uintptr_t)descriptors, COUNT, 0, type};

  return call(file, NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, &argument);
}

static void show_queue(int file, uint32_t engine, uint32_t queue) {
  struct neuron_dma_queue_state t = {0}, r = {0};
  struct neuron_dma_queue_get_state get = {engine, queue, (uintptr_t)&t, (uintptr_t)&r};
  struct neuron_dma_eng_state state = {0};
  struct neuron_dma_eng_get_state get_state = {engine, (uintptr_t)&state};

  say("QUEUE_GET_STATE", call(file, NEURON_IOCTL_DMA_QUEUE_GET_STATE, &get));
  say("ENG_GET_STATE", call(file, NEURON_IOCTL_DMA_ENG_GET_STATE, &get_state));
  printf("queue %u.%u: base 0x%llx 0x%llx length %u %u head %u %u tail %u %u engine %u\n", engine,
         queue, (unsigned long long)t.base_addr, (unsigned long long)r.base_addr, t.length,
         r.length, t.head_pointer, r.head_pointer, t.tail_pointer, r.tail_pointer, state.tx_state);
}

static int start(int file, uint32_t engine, uint32_t queue, uint32_t t, uint32_t r) {
  struct neuron_dma_queue_copy_start argument = {engine, queue, t, r};

  return call(file, NEURON_IOCTL_DMA_QUEUE_COPY_START, &argument);
}

static void run_queue(int file, uint64_t data, uint64_t host_data, bool rings_on_host) {
  struct memory ring = {
      .bytes = COUNT * 16,
      .host = rings_on_host,
      .type = rings_on_host ? NEURON_MEM_DMA_RINGS_HOST : NEURON_MEM_DMA_RINGS_DEVICE};
  int error;
  uint64_t tx_ring = allocate(file, ring, &error);
  uint64_t rx_ring = allocate(file, ring, &error);
  uint64_t pa = address_of(file, data);
  struct neuron_dma_queue_init init = {3, 2, COUNT, COUNT, tx_ring, rx_ring, 0, 0};
  struct neuron_dma_descriptor_copyout out = {3, 2, NEURON_QUEUE_RX, 0, COUNT, (uintptr_t)back};
  uint8_t bytes[64];
  uint32_t index;

  say("QUEUE_INIT", call(file, NEURON_IOCTL_DMA_QUEUE_INIT, &init));
  for (index = 0; index < COUNT; index++) add(index, pa + 64 + 64 * index, pa + 64 * index, 64);
  add(10, address_of(file, host_data), pa, 64);
  say("descriptors TX", put(file, tx_ring, tx, NEURON_QUEUE_TX));
  say("descriptors RX", put(file, rx_ring, rx, NEURON_QUEUE_RX));
  say("descriptors type 2", put(file, rx_ring, rx, 2));
  say("COPYOUT", call(file, NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, &out));
  expect("written equals read", (uint64_t)memcmp(rx, back, sizeof rx), 0);
  out.count = COUNT + 1;
  say("COPYOUT too many", call(file, NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, &out));
  out.count = 0;
  say("COPYOUT none", call(file, NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, &out));
  scramble(bytes, sizeof bytes, 5);
  say("write", copy(file, data, 0, bytes, sizeof bytes, true));
  say("start 2 of 3", start(file, 3, 2, 2, 3));
  show_queue(file, 3, 2);
  say("start the rest", start(file, 3, 2, COUNT - 2, COUNT - 3));
  show_queue(file, 3, 2);
  say("start none", start(file, 3, 2, 1, 0));
  say("start too many", start(file, 3, 2, COUNT + 1, 1));
  say("start an unused queue", start(file, 4, 2, 1, 1));
  say("read", copy(file, host_data, 0, back, 64, false));
  expect("bytes", digest((const uint8_t*)back, 64), digest(bytes, 64));
  say("free", free_handle(file, rx_ring));
  say("free", free_handle(file, tx_ring));
  say("COPYOUT of a freed ring", call(file, NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, &out));
}

/* A descriptor may raise a semaphore, or name nothing. */
static void side_effects(int file, uint64_t data) {
  int error;
  uint64_t tx_ring = allocate(file, (struct memory){.bytes = COUNT * 16}, &error);
  uint64_t rx_ring = allocate(file, (struct memory){.bytes = COUNT * 16}, &error);
  uint64_t pa = address_of(file, data);
  struct neuron_dma_queue_init init = {5, 0, COUNT, COUNT, tx_ring, rx_ring, 0, 0};
  struct neuron_semaphore semaphore = {0, 9, 0};
  struct neuron_device_basic_info info = {0};
  uint32_t five = 5;
  uint64_t events;

  (void)call(file, NEURON_IOCTL_DEVICE_BASIC_INFO, &info);
  events = info.architecture == NEURON_ARCH_V2 ? neuron_v2_tpb_base(0) + NEURON_V2_TPB_EVENTS
                                               : neuron_v3_tpb_base(0) + NEURON_V3_TPB_EVENTS;
  say("QUEUE_INIT", call(file, NEURON_IOCTL_DMA_QUEUE_INIT, &init));
  say("write", copy(file, data, 0, &five, sizeof five, true));
  add(0, events + NEURON_EVENT_UNIT_SEM_INCREMENT + 9 * 4, pa, 4);
  add(1, 0x200000000000ull, pa, 4);
  say("descriptors TX", put(file, tx_ring, tx, NEURON_QUEUE_TX));
  say("descriptors RX", put(file, rx_ring, rx, NEURON_QUEUE_RX));
  say("start", start(file, 5, 0, 1, 1));
  say("SEMAPHORE_READ", call(file, NEURON_IOCTL_SEMAPHORE_READ, &semaphore));
  expect("semaphore", semaphore.value, 5);
  say("start into nothing", start(file, 5, 0, 1, 1));
  show_queue(file, 5, 0);
}

static void semaphores(int file) {
  struct neuron_semaphore semaphore = {1, 255, 41};
  struct neuron_event event = {1, 256, 7};

  say("SEMAPHORE_WRITE", call(file, NEURON_IOCTL_SEMAPHORE_WRITE, &semaphore));
  semaphore.value = 3;
  say("SEMAPHORE_INCREMENT", call(file, NEURON_IOCTL_SEMAPHORE_INCREMENT, &semaphore));
  semaphore.value = 1;
  say("SEMAPHORE_DECREMENT", call(file, NEURON_IOCTL_SEMAPHORE_DECREMENT, &semaphore));
  say("SEMAPHORE_READ", call(file, NEURON_IOCTL_SEMAPHORE_READ, &semaphore));
  expect("semaphore", semaphore.value, 43);
  semaphore.semaphore_index = 256;
  say("semaphore 256", call(file, NEURON_IOCTL_SEMAPHORE_READ, &semaphore));
  semaphore.nc_id = 8;
  say("semaphore of core 8", call(file, NEURON_IOCTL_SEMAPHORE_READ, &semaphore));
  say("EVENT_SET 256", call(file, NEURON_IOCTL_EVENT_SET, &event));
  event.value = 0;
  say("EVENT_GET 256", call(file, NEURON_IOCTL_EVENT_GET, &event));
  expect("event", event.value, 7);
  event.event_index = 257;
  say("EVENT_GET 257", call(file, NEURON_IOCTL_EVENT_GET, &event));
  event.nc_id = 0xFFFFFFFF;
  say("EVENT_GET of core 2^32-1", call(file, NEURON_IOCTL_EVENT_GET, &event));
}

void smoke_rings(void) {
  int file = host->open(O_RDWR);
  int error;
  uint64_t data = allocate(file, (struct memory){.bytes = 0x10000}, &error);
  uint64_t host_data = allocate(file, (struct memory){.bytes = 4096, .host = true}, &error);

  run_queue(file, data, host_data, false);
  run_queue(file, data, host_data, true);
  side_effects(file, data);
  semaphores(file);
  host->close(file);
}
