/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_firmware.h"

#include "nds_internal.h"
#include "nds_topology.h"

/* Registers by which a device of revision 0xFF is reset; they read as 0 when it is done. */
#define V2_QEMU_RESET 0x30647010ull
#define V3_QEMU_RESET 0x6300010ull

#define LONGEST_READ NEURON_MAX_BAR_RW_COUNT

struct request_header {
  uint8_t sequence;
  uint8_t command;
  uint16_t bytes; /* with this header */
  uint32_t checksum;
};

struct response_header {
  uint8_t sequence;
  uint8_t error;
  uint16_t bytes; /* with this header */
};

static uint32_t misc_word(struct nds_device* device, uint32_t offset) {
  uint32_t value = 0;

  (void)nds_bar_read_register(device, nds_bar_misc_ram(device) + offset, &value);
  return value;
}

static void set_word(struct nds_device* device, uint64_t offset, uint32_t value) {
  if (nds_bar_write_register(device, offset, value))
    nds_os_log("no memory for the register at %llx", (unsigned long long)offset);
}

static void set_misc_word(struct nds_device* device, uint32_t offset, uint32_t value) {
  set_word(device, nds_bar_misc_ram(device) + offset, value);
}

/* Two words of the misc RAM, high one first. */
static uint64_t address_at(struct nds_device* device, uint32_t high) {
  return (uint64_t)misc_word(device, high) << 32 | misc_word(device, high + 4);
}

/* A core's own bits in a reset map: the core and its TOPSPs (06 9). */
static uint32_t map_of(const struct nds_device* device, uint32_t core) {
  return nds_is_v2(device) ? 1u << core | 7u << (8 + 3 * core) : 0x10101u << core;
}

/*
 * Executions, queues, events and notification rings go; HBM stays. [ours] A map names a core by any
 * bit.
 */
static void reset_cores(struct nds_device* device, uint32_t map) {
  uint32_t core;

  for (core = 0; core < device->profile->cores; core++) {
    if (!(map & map_of(device, core))) continue;
    nds_exec_reset_core(device, core);
    nds_events_clear(device, core);
    nds_nq_reset_registers(device, core);
    nds_dma_clear_core(device, core);
  }
}

static void reset(struct nds_device* device) {
  uint32_t type = misc_word(device, NDS_MISC_RAM_RESET_TYPE);

  if (nds_is_silent(device, NDS_SILENT_RESET)) return;
  reset_cores(device, type & NDS_RESET_DEVICE ? ~0u : misc_word(device, NDS_MISC_RAM_RESET_MAP));
  set_misc_word(device, NDS_MISC_RAM_RESET_STATUS, 0);
  set_misc_word(device, NDS_MISC_RAM_RESET_TYPE, 0);
}

/* The register at an address that a client named: an offset of the register BAR (06 12.7). */
static uint32_t counter_at(struct nds_device* device, uint64_t address) {
  uint32_t value = 0;

  if (address % 4 == 0 && address < device->profile->bar0_bytes)
    (void)nds_bar_read_register(device, address, &value);
  return value;
}

/* Values of registers, each named by a 64-bit address; `bytes` counts what was written. */
static uint8_t answer_read(struct nds_device* device, uint64_t from, uint32_t count, uint64_t to,
                           uint16_t* bytes) {
  uint32_t index;

  if (!count || count > LONGEST_READ) return NDS_FIRMWARE_FAILED;
  for (index = 0; index < count; index++) {
    uint64_t address = 0;
    uint32_t value;
    int error = nds_bus_read(device, from + 8ull * index, &address, sizeof address);

    value = counter_at(device, address);
    if (!error) error = nds_bus_write(device, to + 4ull * index, &value, sizeof value);
    if (error) return NDS_FIRMWARE_FAILED;
  }
  *bytes = (uint16_t)(*bytes + 4 * count);
  return NDS_FIRMWARE_OK;
}

/* The checksum is not looked at: nothing between host and device can change the request. */
static void answer(struct nds_device* device) {
  uint64_t from = address_at(device, NDS_MISC_RAM_REQUEST_HI);
  uint64_t to = address_at(device, NDS_MISC_RAM_RESPONSE_HI);
  struct request_header request;
  struct response_header response = {.error = NDS_FIRMWARE_UNKNOWN, .bytes = sizeof response};

  if (nds_is_silent(device, NDS_SILENT_MAILBOX)) return;
  if (nds_bus_read(device, from, &request, sizeof request)) {
    nds_os_log("firmware: no request at %llx", (unsigned long long)from);
    return;
  }
  response.sequence = request.sequence;
  if (request.bytes < sizeof request)
    response.error = NDS_FIRMWARE_FAILED;
  else if (request.command == NDS_FIRMWARE_READ)
    response.error =
        answer_read(device, from + sizeof request, (uint32_t)(request.bytes - sizeof request) / 8,
                    to + sizeof response, &response.bytes);
  else if (request.command == NDS_FIRMWARE_POST)
    response.error = NDS_FIRMWARE_OK; /* the words are in the misc RAM already */
  /* Last, because the host waits for its sequence number. */
  if (nds_bus_write(device, to, &response, sizeof response))
    nds_os_log("firmware: no memory for a response at %llx", (unsigned long long)to);
}

static bool is_qemu_reset(const struct nds_device* device, uint64_t offset) {
  return device->config.revision == NDS_REVISION_QEMU &&
         offset == (nds_is_v2(device) ? V2_QEMU_RESET : V3_QEMU_RESET);
}

/* V3 writes the map of cores, 0 = all; V2 only asks, and says what by the firmware's words. */
static void qemu_reset(struct nds_device* device, uint64_t offset, uint32_t value) {
  if (nds_is_silent(device, NDS_SILENT_RESET)) return;
  if (!nds_is_v2(device)) reset_cores(device, value ? value : ~0u);
  set_word(device, offset, 0);
}

void nds_firmware_written(struct nds_device* device, uint64_t offset, uint32_t value) {
  if (is_qemu_reset(device, offset)) qemu_reset(device, offset, value);
  if (offset != nds_bar_misc_ram(device) + NDS_MISC_RAM_TRIGGER || !value) return;
  if (misc_word(device, NDS_MISC_RAM_RESET_TYPE))
    reset(device);
  else
    answer(device);
}

void nds_firmware_start(struct nds_device* device) {
  set_misc_word(device, NDS_MISC_RAM_ROUTING_ID,
                nds_routing_id(device, device->config.device_index));
  set_misc_word(device, NDS_MISC_RAM_SERIAL_LO, device->config.device_index);
  reset_cores(device, ~0u);
}
