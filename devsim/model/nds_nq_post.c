/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* The device's end of notification queues (spec 04 section 10). */
#include "nds_internal.h"

/* Registers of one queue, as they lie in the notific block. */
struct queue_registers {
  uint32_t base_lo;
  uint32_t base_hi;
  uint32_t bytes;
  uint32_t head; /* records */
  uint32_t tail;
};
NEURON_ABI_FIELD(struct queue_registers, tail, NEURON_NOTIFIC_TAIL - NEURON_NOTIFIC_BASE_LO);

static void write_register(struct nds_device* device, uint64_t place, uint32_t value) {
  if (nds_os_space_write(device->bar0_space, place, &value, sizeof value))
    nds_os_log("no memory for the registers of a notification queue");
}

static void note_overflow(struct nds_device* device, uint32_t core) {
  uint64_t place = nds_bar_core_notific(device, core) + NEURON_NOTIFIC_INTC_LINE;
  uint32_t word = 0;

  (void)nds_os_space_read(device->bar0_space, place, &word, sizeof word);
  write_register(device, place, word | NEURON_NOTIFIC_INTC_OVERFLOW);
}

/* Picoseconds, later than every time given before. */
static uint64_t timestamp(struct nds_device* device) {
  uint64_t now = nds_os_now() * 1000;

  if (now <= device->exec.last_timestamp) now = device->exec.last_timestamp + 1;
  device->exec.last_timestamp = now;
  return now;
}

/* Writes the record and moves the tail. */
static void append(struct nds_device* device, uint32_t core, uint32_t index, uint64_t registers,
                   const struct queue_registers* queue, struct neuron_notification* record) {
  uint32_t records = queue->bytes / sizeof *record;
  uint64_t base = queue->base_lo | (uint64_t)queue->base_hi << 32;
  uint32_t next = (queue->tail + 1) % records;
  uint8_t* laps = &device->cores[core].nq.laps[index];

  if (!(*laps & 1)) record->kind |= NEURON_NOTIFICATION_PHASE;
  if (nds_bus_write(device, base + (uint64_t)queue->tail * sizeof *record, record, sizeof *record))
    nds_os_log("notification queue %u of core %u lies in no memory", index, core);
  if (!next) ++*laps;
  write_register(device, registers + NEURON_NOTIFIC_TAIL, next);
}

void nds_nq_post(struct nds_device* device, uint32_t core, uint32_t index,
                 struct neuron_notification record) {
  uint64_t registers = nds_bar_core_notific(device, core) + index * NEURON_NOTIFIC_STRIDE;
  struct queue_registers queue;
  uint32_t records;

  memset(&queue, 0, sizeof queue);
  (void)nds_os_space_read(device->bar0_space, registers + NEURON_NOTIFIC_BASE_LO, &queue,
                          sizeof queue);
  records = queue.bytes / sizeof record;
  if (!records) return;
  /* The host may write what it likes into the registers. */
  queue.head %= records;
  queue.tail %= records;
  if ((queue.tail + 1) % records == queue.head) {
    note_overflow(device, core);
    return;
  }
  record.timestamp = timestamp(device);
  append(device, core, index, registers, &queue, &record);
}

void nds_nq_reset_registers(struct nds_device* device, uint32_t core) {
  uint64_t block = nds_bar_core_notific(device, core);
  uint64_t bytes =
      NEURON_NOTIFIC_BASE_LO + NDS_NQ_IDS * NEURON_NOTIFIC_STRIDE - NEURON_NOTIFIC_INTC_LINE;

  memset(device->cores[core].nq.laps, 0, sizeof device->cores[core].nq.laps);
  (void)nds_os_space_fill(device->bar0_space, block + NEURON_NOTIFIC_INTC_LINE, 0, bytes);
}
