/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Core ranges: one table for all devices of the machine, by which processes share out the cores
 * (spec 06 section 4.3). Marks belong to processes, not to files.
 */
#include "nds_internal.h"

static uint32_t first_core(const struct nds_call* call) {
  return call->device->config.device_index * call->device->profile->cores;
}

static bool is_ext0(const struct nds_call* call) {
  return call->command == NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0 ||
         call->command == NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0;
}

/* Bytes of the form the caller uses; the short one is a prefix of the long one. */
static size_t form_bytes(const struct nds_call* call) {
  return is_ext0(call) ? sizeof(struct neuron_crwl_nc_map_ext0) : sizeof(struct neuron_crwl_nc_map);
}

static uint32_t bitmap_bits(const struct nds_call* call) {
  return is_ext0(call) ? NEURON_MAX_CORE_MARKS : 64;
}

static uint32_t free_run(const int32_t* owner, uint32_t from, uint32_t last, uint32_t wanted) {
  uint32_t run = 0;

  while (run < wanted && from + run <= last && !owner[from + run]) run++;
  return run;
}

/*
 * The driver's scan: the core after a blocking one is not tried as a start, because the scan goes
 * on at j + 2 (11 B.3). Returns the first core of the range, or NEURON_MAX_CORE_MARKS.
 */
static uint32_t find_range(const int32_t* owner, uint32_t start, uint32_t end, uint32_t wanted,
                           uint32_t* longest) {
  uint32_t index = start;

  while (index <= end) {
    uint32_t run;

    if (owner[index]) {
      index++;
      continue;
    }
    run = free_run(owner, index, end, wanted);
    if (run >= wanted) return index;
    if (run > *longest) *longest = run;
    index += run + 2;
  }
  return NEURON_MAX_CORE_MARKS;
}

static void note_core(struct neuron_crwl_nc_map_ext0* map, uint32_t bit, uint32_t bits) {
  if (bit < bits) map->bitmap[bit / 64] |= 1ull << (bit % 64);
}

static long mark(struct nds_call* call, struct neuron_crwl_nc_map_ext0* map) {
  int32_t* owner = call->device->machine->core_owner;
  uint32_t shift = first_core(call);
  uint32_t first, index;

  map->max_nc_available = 0;
  memset(map->bitmap, 0, sizeof map->bitmap);
  if (map->start_nc_index > map->end_nc_index) return -EINVAL;
  if (map->end_nc_index >= NEURON_MAX_CORE_MARKS ||
      map->end_nc_index + shift >= NEURON_MAX_CORE_MARKS)
    return -EINVAL;
  first = find_range(owner, map->start_nc_index + shift, map->end_nc_index + shift, map->nc_count,
                     &map->max_nc_available);
  if (first == NEURON_MAX_CORE_MARKS) return -EBUSY;
  for (index = first; index < first + map->nc_count; index++) {
    owner[index] = call->tgid;
    note_core(map, index - shift, bitmap_bits(call));
  }
  return 0;
}

long nds_range_mark(struct nds_call* call) {
  struct neuron_crwl_nc_map_ext0 map = {0};
  long result = nds_get_for_reply(call, &map, form_bytes(call));
  long fault;

  if (result) return result;
  nds_mutex_lock(&call->device->machine->lock);
  result = mark(call, &map);
  nds_mutex_unlock(&call->device->machine->lock);
  /* Copied back also when nothing was free: max_nc_available tells how much is. */
  fault = nds_put(call, &map, form_bytes(call));
  return fault ? fault : result;
}

long nds_range_unmark(struct nds_call* call) {
  struct neuron_crwl_nc_map_ext0 map = {0};
  int32_t* owner = call->device->machine->core_owner;
  uint32_t shift = first_core(call);
  uint32_t bit;
  long result = nds_get(call, &map, form_bytes(call));

  if (result) return result;
  nds_mutex_lock(&call->device->machine->lock);
  for (bit = 0; bit < bitmap_bits(call) && bit + shift < NEURON_MAX_CORE_MARKS; bit++)
    if ((map.bitmap[bit / 64] >> (bit % 64)) & 1 && owner[bit + shift] == call->tgid)
      owner[bit + shift] = 0;
  nds_mutex_unlock(&call->device->machine->lock);
  return 0;
}

void nds_marks_drop(struct nds_machine* machine, int32_t tgid) {
  uint32_t index;

  nds_mutex_lock(&machine->lock);
  for (index = 0; index < NEURON_MAX_CORE_MARKS; index++)
    if (machine->core_owner[index] == tgid) machine->core_owner[index] = 0;
  nds_mutex_unlock(&machine->lock);
}
