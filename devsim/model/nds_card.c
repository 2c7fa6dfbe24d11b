/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_card.h"

#include "nds_firmware.h"
#include "nds_internal.h"

/* A core shows in two pieces: SBUF and the upper block (06 7.2). */
#define CORE_VIEWS 2u

void nds_card_start(struct nds_device* device) {
  nds_dma_lock(device);
  nds_firmware_start(device);
  nds_dma_unlock(device);
}

uint32_t nds_card_read(struct nds_device* device, uint64_t offset) {
  uint32_t value = 0;

  nds_dma_lock(device);
  (void)nds_bar_read_register(device, offset, &value);
  nds_dma_unlock(device);
  return value;
}

/* Semaphore 0 of a core is its doorbell (04 9). */
static bool is_doorbell(const struct nds_device* device, uint64_t offset, uint32_t* core) {
  uint64_t cores = nds_bar_core(device, 0);
  uint64_t place = NEURON_BAR0_TPB_EVENTS + NEURON_EVENT_UNIT_SEM_INCREMENT;

  if (offset < cores) return false;
  *core = (uint32_t)((offset - cores) / NEURON_BAR0_TPB_STRIDE);
  return *core < device->profile->cores && (offset - cores) % NEURON_BAR0_TPB_STRIDE == place;
}

void nds_card_write(struct nds_device* device, uint64_t offset, uint32_t value) {
  uint32_t core = 0;

  nds_dma_lock(device);
  if (nds_bar_write_register(device, offset, value))
    nds_os_log("no memory for the register at %llx", (unsigned long long)offset);
  nds_firmware_written(device, offset, value);
  nds_dma_run(device);
  nds_dma_unlock(device);
  if (is_doorbell(device, offset, &core)) nds_exec_doorbell(device, core, value, 0);
}

void nds_card_drop_work(struct nds_device* device) {
  nds_dma_lock(device);
  nds_dma_drop_work(device);
  nds_dma_unlock(device);
}

static void core_view(const struct nds_device* device, uint32_t index, struct nds_card_view* out) {
  uint32_t core = index / CORE_VIEWS;
  bool upper = index % CORE_VIEWS;

  out->space = device->windows[core].space;
  out->bytes = NEURON_BAR0_TPB_UPPER;
  out->bar_offset = nds_bar_core(device, core);
  if (!upper) return;
  out->space_offset = nds_is_v2(device) ? NEURON_V2_TPB_UPPER : NEURON_V3_TPB_UPPER;
  out->bar_offset += NEURON_BAR0_TPB_UPPER;
}

static void topsp_view(const struct nds_device* device, uint32_t topsp, struct nds_card_view* out) {
  out->space = nds_topsp_window(device, topsp)->space;
  out->bytes = NEURON_TOPSP_SIZE;
  out->bar_offset = nds_bar_topsp(device, topsp);
}

/* HBMs of an emulated V3 device follow each other without gaps (06 9). */
static uint64_t hbm_bar_offset(const struct nds_device* device, uint32_t index) {
  if (nds_is_v2(device)) return neuron_v2_hbm_bar4(index);
  if (device->config.revision == NDS_REVISION_QEMU) return index * device->config.hbm_bytes;
  return neuron_v3_hbm_bar4(index);
}

static void hbm_view(const struct nds_device* device, uint32_t index, struct nds_card_view* out) {
  out->space = device->hbm[index].space;
  out->bytes = device->hbm[index].bytes;
  out->hbm = true;
  out->bar_offset = hbm_bar_offset(device, index);
}

bool nds_card_view_at(const struct nds_device* device, uint32_t index, struct nds_card_view* out) {
  const struct nds_profile* profile = device->profile;
  uint32_t core_views = profile->cores * CORE_VIEWS;

  memset(out, 0, sizeof *out);
  if (index < core_views)
    core_view(device, index, out);
  else if (index < core_views + profile->topsps)
    topsp_view(device, index - core_views, out);
  else if (index < core_views + profile->topsps + profile->hbm_count)
    hbm_view(device, index - core_views - profile->topsps, out);
  else
    return false;
  return true;
}

struct nds_space* nds_card_host_memory(const struct nds_device* device) {
  return device->host_space;
}
