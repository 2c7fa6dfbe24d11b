/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Event units: 256 events and 256 semaphores a core. The values lie in the core's memory at the
 * place of the event words and of the semaphores' read window, so a mapped window shows them. A
 * store through a mapping changes events but cannot act on semaphores: plain memory does not trap.
 */
#include "nds_internal.h"

static uint64_t place_of(const struct nds_device* device, uint64_t offset) {
  return nds_tpb_events(device) + offset;
}

/* Reading never fails: it allocates nothing. */
static uint32_t load(struct nds_device* device, uint32_t core, uint64_t offset) {
  uint32_t value = 0;

  (void)nds_os_space_read(device->windows[core].space, place_of(device, offset), &value,
                          sizeof value);
  return value;
}

static void store(struct nds_device* device, uint32_t core, uint64_t offset, uint32_t value) {
  if (nds_os_space_write(device->windows[core].space, place_of(device, offset), &value,
                         sizeof value))
    nds_os_log("core %u: no memory for its event unit", core);
  __atomic_add_fetch(&device->cores[core].events_version, 1, __ATOMIC_RELEASE);
}

uint64_t nds_events_version(const struct nds_device* device, uint32_t core) {
  return __atomic_load_n(&device->cores[core].events_version, __ATOMIC_ACQUIRE);
}

uint32_t nds_events_read(struct nds_device* device, uint32_t core, uint64_t offset) {
  uint64_t index = offset % NEURON_EVENT_UNIT_WINDOW_SIZE;
  uint32_t value;

  /* All four semaphore windows read as the value. */
  if (offset >= NEURON_EVENT_UNIT_SEM_READ) offset = NEURON_EVENT_UNIT_SEM_READ + index;
  nds_mutex_lock(&device->events_lock);
  value = load(device, core, offset);
  nds_mutex_unlock(&device->events_lock);
  return value;
}

void nds_events_write(struct nds_device* device, uint32_t core, uint64_t offset, uint32_t value) {
  uint64_t semaphore = NEURON_EVENT_UNIT_SEM_READ + offset % NEURON_EVENT_UNIT_WINDOW_SIZE;
  uint64_t window = offset - offset % NEURON_EVENT_UNIT_WINDOW_SIZE;

  nds_mutex_lock(&device->events_lock);
  switch (window) {
    case NEURON_EVENT_UNIT_SEM_READ:
      break; /* read only */
    case NEURON_EVENT_UNIT_SEM_SET:
      store(device, core, semaphore, value);
      break;
    case NEURON_EVENT_UNIT_SEM_INCREMENT:
      store(device, core, semaphore, load(device, core, semaphore) + value);
      break;
    case NEURON_EVENT_UNIT_SEM_DECREMENT:
      store(device, core, semaphore, load(device, core, semaphore) - value);
      break;
    default:
      store(device, core, offset, value);
      break;
  }
  nds_mutex_unlock(&device->events_lock);
}

static void clear(struct nds_device* device, uint32_t core, uint64_t offset, uint64_t bytes) {
  if (nds_os_space_fill(device->windows[core].space, place_of(device, offset), 0, bytes))
    nds_os_log("core %u: no memory for its event unit", core);
  __atomic_add_fetch(&device->cores[core].events_version, 1, __ATOMIC_RELEASE);
}

void nds_events_clear(struct nds_device* device, uint32_t core) {
  nds_mutex_lock(&device->events_lock);
  clear(device, core, 0, NEURON_EVENT_UNIT_SIZE);
  nds_mutex_unlock(&device->events_lock);
}

void nds_events_begin(struct nds_device* device, uint32_t core) {
  uint64_t first =
      neuron_semaphore_offset(NEURON_EVENT_UNIT_SEM_READ, NEURON_SEMAPHORE_FIRST_CLEARED);
  uint64_t end =
      neuron_semaphore_offset(NEURON_EVENT_UNIT_SEM_READ, NEURON_SEMAPHORE_LAST_CLEARED + 1);

  nds_mutex_lock(&device->events_lock);
  clear(device, core, NEURON_EVENT_UNIT_EVENTS, NEURON_EVENT_COUNT * NEURON_EVENT_UNIT_ENTRY_SIZE);
  clear(device, core, first, end - first);
  nds_mutex_unlock(&device->events_lock);
}

static long semaphore_offset(struct nds_call* call, const struct neuron_semaphore* argument,
                             uint64_t window, uint64_t* offset) {
  /* The driver keeps 16 bits of the index (11 B.3). */
  uint32_t index = argument->semaphore_index & 0xFFFF;

  if (argument->nc_id >= call->device->profile->cores) return -E2BIG;
  if (index >= NEURON_SEMAPHORE_COUNT) return -EINVAL;
  *offset = neuron_semaphore_offset(window, index);
  return 0;
}

static long semaphore_write(struct nds_call* call, uint64_t window) {
  struct neuron_semaphore argument;
  uint64_t offset;
  long result = nds_get(call, &argument, sizeof argument);

  if (!result) result = semaphore_offset(call, &argument, window, &offset);
  if (!result) nds_events_write(call->device, argument.nc_id, offset, argument.value);
  return result;
}

/* Semaphore 0 is the doorbell of its core (spec 04 section 9). */
long nds_semaphore_increment(struct nds_call* call) {
  struct neuron_semaphore argument;
  uint64_t offset;
  long result = nds_get(call, &argument, sizeof argument);

  if (!result) result = semaphore_offset(call, &argument, NEURON_EVENT_UNIT_SEM_INCREMENT, &offset);
  if (result) return result;
  nds_events_write(call->device, argument.nc_id, offset, argument.value);
  if (offset == NEURON_EVENT_UNIT_SEM_INCREMENT)
    nds_exec_doorbell(call->device, argument.nc_id, argument.value, call->tgid);
  return 0;
}

long nds_semaphore_decrement(struct nds_call* call) {
  return semaphore_write(call, NEURON_EVENT_UNIT_SEM_DECREMENT);
}

long nds_semaphore_write(struct nds_call* call) {
  return semaphore_write(call, NEURON_EVENT_UNIT_SEM_SET);
}

long nds_semaphore_read(struct nds_call* call) {
  struct neuron_semaphore argument;
  uint64_t offset;
  long result = nds_get(call, &argument, sizeof argument);

  if (!result) result = semaphore_offset(call, &argument, NEURON_EVENT_UNIT_SEM_READ, &offset);
  if (result) return result;
  argument.value = nds_events_read(call->device, argument.nc_id, offset);
  return nds_put(call, &argument, sizeof argument);
}

/*
 * Index 256 is one too many, but the driver takes it. It does not check the core at all, which
 * crashes it or hits foreign registers (11 B.4).
 */
static long event_offset(struct nds_call* call, const struct neuron_event* argument,
                         uint64_t* offset) {
  uint32_t index = argument->event_index & 0xFFFF;

  if (argument->nc_id >= call->device->profile->cores) return -EINVAL;
  if (index > NEURON_EVENT_COUNT) return -EINVAL;
  *offset = neuron_event_offset(index);
  return 0;
}

long nds_event_set(struct nds_call* call) {
  struct neuron_event argument;
  uint64_t offset;
  long result = nds_get(call, &argument, sizeof argument);

  if (!result) result = event_offset(call, &argument, &offset);
  if (!result) nds_events_write(call->device, argument.nc_id, offset, argument.value);
  return result;
}

long nds_event_get(struct nds_call* call) {
  struct neuron_event argument;
  uint64_t offset;
  long result = nds_get(call, &argument, sizeof argument);

  if (!result) result = event_offset(call, &argument, &offset);
  if (result) return result;
  argument.value = nds_events_read(call->device, argument.nc_id, offset);
  return nds_put(call, &argument, sizeof argument);
}
