/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Special mappings: what RESOURCE_MMAP_INFO hands out and mmap accepts (spec 06 section 6). */
#include "nds_internal.h"

#define SEMAPHORE_WINDOW NEURON_EVENT_UNIT_SIZE

/* The cookies of V3 cores are no addresses; the other offsets are. */
#define V3_TPB_COOKIE 0x2000000000ull
#define V3_TPB_COOKIE_STRIDE 0x4000000ull

static uint64_t tpb_cookie(const struct nds_device* device, uint32_t core) {
  if (nds_is_v2(device)) return neuron_v2_tpb_base(core);
  return V3_TPB_COOKIE + core * V3_TPB_COOKIE_STRIDE;
}

static int tpb_resource(const struct nds_device* device, uint32_t core, uint32_t resource,
                        struct nds_resource* out) {
  if (core >= device->profile->cores) return -EINVAL;
  out->space = device->windows[core].space;
  if (resource == NEURON_MMAP_SEMAPHORE) {
    out->mmap_offset = tpb_cookie(device, core) + NEURON_BAR0_TPB_EVENTS;
    out->bytes = SEMAPHORE_WINDOW;
    out->space_offset = nds_tpb_events(device);
    return 0;
  }
  out->mmap_offset = tpb_cookie(device, core);
  out->bytes = NEURON_SBUF_SIZE;
  return resource == NEURON_MMAP_SBUF ? 0 : -EINVAL;
}

static int topsp_resource(const struct nds_device* device, uint32_t topsp, uint32_t resource,
                          struct nds_resource* out) {
  const struct nds_window* window;

  if (topsp >= device->profile->topsps) return -EINVAL;
  window = nds_topsp_window(device, topsp);
  out->space = window->space;
  out->mmap_offset = window->base;
  out->bytes = resource == NEURON_MMAP_ALL ? NEURON_TOPSP_SIZE : SEMAPHORE_WINDOW;
  out->read_only = resource == NEURON_MMAP_ALL;
  return resource == NEURON_MMAP_ALL || resource == NEURON_MMAP_SEMAPHORE ? 0 : -EINVAL;
}

static int hbm_resource(const struct nds_device* device, uint32_t index, uint32_t resource,
                        struct nds_resource* out) {
  if (nds_is_v2(device)) return -EINVAL;
  if (index >= device->profile->hbm_count || resource != NEURON_MMAP_DMEM) return -EINVAL;
  out->space = device->hbm[index].space;
  out->mmap_offset = device->hbm[index].base;
  out->bytes = device->hbm[index].bytes;
  return 0;
}

static int find_resource(const struct nds_device* device, uint32_t block, uint32_t index,
                         uint32_t resource, struct nds_resource* out) {
  memset(out, 0, sizeof *out);
  switch (block) {
    case NEURON_MMAP_BLOCK_TPB:
      return tpb_resource(device, index, resource, out);
    case NEURON_MMAP_BLOCK_TOPSP:
      return topsp_resource(device, index, resource, out);
    case NEURON_MMAP_BLOCK_HBM:
      return hbm_resource(device, index, resource, out);
    default:
      return -EINVAL;
  }
}

long nds_resource_mmap_info(struct nds_call* call) {
  struct neuron_resource_mmap_info argument;
  struct nds_resource resource;
  long result = nds_get(call, &argument, sizeof argument);

  if (!result)
    result = find_resource(call->device, argument.block, argument.block_id, argument.resource,
                           &resource);
  if (result) return result;
  argument.offset = resource.mmap_offset;
  argument.size = resource.bytes;
  return nds_put(call, &argument, sizeof argument);
}

bool nds_resource_at(const struct nds_device* device, uint64_t offset, uint64_t bytes,
                     struct nds_resource* out) {
  uint32_t block, index, resource;

  for (block = 0; block <= NEURON_MMAP_BLOCK_HBM; block++)
    for (index = 0; index < NDS_MAX_TOPSPS; index++)
      for (resource = 0; resource <= NEURON_MMAP_DMEM; resource++)
        if (!find_resource(device, block, index, resource, out) && out->mmap_offset == offset &&
            out->bytes == bytes)
          return true;
  return false;
}
