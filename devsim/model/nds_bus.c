/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_bus.h"

#include "nds_internal.h"

uint64_t nds_tpb_base(const struct nds_device* device, uint32_t core) {
  return nds_is_v2(device) ? neuron_v2_tpb_base(core) : neuron_v3_tpb_base(core);
}

uint64_t nds_tpb_events(const struct nds_device* device) {
  return nds_is_v2(device) ? NEURON_V2_TPB_EVENTS : NEURON_V3_TPB_EVENTS;
}

const struct nds_window* nds_topsp_window(const struct nds_device* device, uint32_t topsp) {
  uint32_t per_die = nds_is_v2(device) ? NEURON_V2_TOPSPS : NEURON_V3_TOPSPS / 2;

  return &device->windows[device->first_topsp_window + topsp / per_die * device->topsps_per_die +
                          topsp % per_die];
}

static int add_window(struct nds_device* device, uint64_t base, uint64_t bytes) {
  struct nds_window* window = &device->windows[device->window_count];

  window->space = nds_os_space_create(bytes, base);
  if (!window->space) return -ENOMEM;
  window->base = base;
  window->bytes = bytes;
  device->window_count++;
  return 0;
}

static int add_topsps(struct nds_device* device) {
  uint32_t dies = nds_is_v2(device) ? 1 : 2;
  /* The driver lets PROGRAM_ENGINE reach ten a die on V3, although eight exist (06 7.3). */
  uint32_t per_die = nds_is_v2(device) ? NEURON_V2_TOPSPS : NEURON_V3_TOPSP_WINDOWS / 2;
  uint32_t die, index;
  int error = 0;

  device->first_topsp_window = device->window_count;
  device->topsps_per_die = per_die;
  for (die = 0; die < dies; die++) {
    for (index = 0; !error && index < per_die; index++) {
      uint64_t base = nds_is_v2(device)
                          ? neuron_v2_topsp_base(index)
                          : neuron_v3_topsp_base(die * 8) + index * NEURON_V3_TOPSP_STRIDE;

      error = add_window(device, base, NEURON_TOPSP_SIZE);
    }
  }
  return error;
}

/* Windows 0 .. cores-1 are the cores; the TOPSPs and the rest follow. */
int nds_bus_create(struct nds_device* device) {
  uint64_t tpb_bytes = nds_is_v2(device) ? NEURON_V2_TPB_SIZE : NEURON_V3_TPB_SIZE;
  uint32_t index;
  int error = 0;

  for (index = 0; !error && index < device->profile->cores; index++)
    error = add_window(device, nds_tpb_base(device, index), tpb_bytes);
  if (!error) error = add_topsps(device);
  for (index = 0; !error && !nds_is_v2(device) && index < NEURON_V3_HBMS; index++)
    error = add_window(device, neuron_v3_preproc_base(index), NEURON_V3_PREPROC_SIZE);
  if (error) return error;
  device->bar0_space = nds_os_space_create(device->profile->bar0_bytes, 0);
  return device->bar0_space ? 0 : -ENOMEM;
}

void nds_bus_destroy(struct nds_device* device) {
  while (device->window_count) nds_os_space_destroy(device->windows[--device->window_count].space);
  if (device->bar0_space) nds_os_space_destroy(device->bar0_space);
}

static struct nds_target memory_target(struct nds_space* space, uint64_t offset, uint64_t end) {
  struct nds_target target = {
      .kind = NDS_TARGET_MEMORY, .space = space, .offset = offset, .bytes = end - offset};

  return target;
}

/* A core's aperture is memory with the event unit cut out. */
static struct nds_target core_target(struct nds_device* device, uint32_t core, uint64_t offset) {
  const struct nds_window* window = &device->windows[core];
  uint64_t events = nds_tpb_events(device);
  struct nds_target target = {.kind = NDS_TARGET_EVENTS, .index = core};

  if (offset < events) return memory_target(window->space, offset, events);
  if (offset - events >= NEURON_EVENT_UNIT_SIZE)
    return memory_target(window->space, offset, window->bytes);
  target.offset = offset - events;
  target.bytes = NEURON_EVENT_UNIT_SIZE - target.offset;
  return target;
}

static bool find_window(struct nds_device* device, uint64_t pa, struct nds_target* target) {
  uint32_t index;

  for (index = 0; index < device->window_count; index++) {
    const struct nds_window* window = &device->windows[index];

    if (pa < window->base || pa - window->base >= window->bytes) continue;
    *target = index < device->profile->cores
                  ? core_target(device, index, pa - window->base)
                  : memory_target(window->space, pa - window->base, window->bytes);
    return true;
  }
  return false;
}

static bool find_hbm(struct nds_device* device, uint64_t pa, struct nds_target* target) {
  uint32_t index;

  for (index = 0; index < device->profile->hbm_count; index++) {
    const struct nds_hbm* hbm = &device->hbm[index];

    if (pa < hbm->base || pa - hbm->base >= hbm->bytes) continue;
    *target = memory_target(hbm->space, pa - hbm->base, hbm->bytes);
    return true;
  }
  return false;
}

static bool find_host(struct nds_device* device, uint64_t pa, struct nds_target* target) {
  uint64_t bus = pa - device->profile->host_base;

  if (pa < device->profile->host_base || bus >= device->config.host_bytes) return false;
  *target = memory_target(device->host_space, bus, device->config.host_bytes);
  return true;
}

/* Engines whose registers lie one behind the other. */
struct engine_group {
  uint32_t first;
  uint32_t count;
};

/* Engines with a device address: all on V2, those of the cores on V3. */
static bool find_engine(struct nds_device* device, uint64_t pa, struct nds_target* target) {
  static const struct engine_group v2[4] = {{0, 16}, {16, 16}, {32, 1}, {33, 1}};
  static const struct engine_group v3[4] = {{0, 32}, {32, 32}, {64, 32}, {96, 32}};
  uint64_t stride = nds_is_v2(device) ? NEURON_V2_DMA_STRIDE : NEURON_V3_DMA_STRIDE;
  uint32_t index;

  for (index = 0; index < 4; index++) {
    const struct engine_group* group = nds_is_v2(device) ? &v2[index] : &v3[index];
    uint64_t inside = pa - (nds_is_v2(device) ? neuron_v2_dma_engine(group->first)
                                              : neuron_v3_dma_engine(group->first));

    if (inside >= group->count * stride || inside % stride >= NEURON_DMA_ENGINE_SIZE) continue;
    target->kind = NDS_TARGET_DMA;
    target->index = group->first + (uint32_t)(inside / stride);
    target->offset = inside % stride;
    target->bytes = NEURON_DMA_ENGINE_SIZE - target->offset;
    return true;
  }
  return false;
}

/* The constant words a semaphore poke may read (04 section 5). */
static bool find_constant(const struct nds_device* device, uint64_t pa, struct nds_target* target) {
  uint64_t clear = nds_is_v2(device) ? NEURON_V2_EVENT_ACCEL_CLEAR : NEURON_V3_EVENT_ACCEL_CLEAR;
  uint64_t set = nds_is_v2(device) ? NEURON_V2_EVENT_ACCEL_SET : NEURON_V3_EVENT_ACCEL_SET;

  if (device->profile->architecture == NEURON_ARCH_V4) set = NEURON_V4_EVENT_ACCEL_SET;
  if (pa != clear && pa != set) return false;
  target->kind = NDS_TARGET_CONSTANT;
  target->value = pa == set;
  target->bytes = sizeof target->value;
  return true;
}

struct nds_target nds_bus_resolve(struct nds_device* device, uint64_t pa) {
  struct nds_target target = {.kind = NDS_TARGET_NONE};

  if (find_hbm(device, pa, &target) || find_host(device, pa, &target) ||
      find_window(device, pa, &target) || find_engine(device, pa, &target))
    return target;
  (void)find_constant(device, pa, &target);
  return target;
}

static int read_words(struct nds_device* device, const struct nds_target* target, uint8_t* to,
                      size_t bytes) {
  size_t done;

  if (target->offset % 4 || bytes % 4) return -EFAULT;
  for (done = 0; done < bytes; done += 4) {
    uint32_t value = target->value;

    if (target->kind == NDS_TARGET_EVENTS)
      value = nds_events_read(device, target->index, target->offset + done);
    if (target->kind == NDS_TARGET_DMA)
      value = nds_dma_register_read(device, target->index, (uint32_t)(target->offset + done));
    memcpy(to + done, &value, sizeof value);
  }
  return 0;
}

static int write_words(struct nds_device* device, const struct nds_target* target,
                       const uint8_t* from, size_t bytes) {
  size_t done;

  if (target->kind == NDS_TARGET_CONSTANT || target->offset % 4 || bytes % 4) return -EFAULT;
  for (done = 0; done < bytes; done += 4) {
    uint32_t value;

    memcpy(&value, from + done, sizeof value);
    if (target->kind == NDS_TARGET_EVENTS)
      nds_events_write(device, target->index, target->offset + done, value);
    else
      nds_dma_register_write(device, target->index, (uint32_t)(target->offset + done), value);
  }
  return 0;
}

static bool fits(const struct nds_target* target, uint64_t bytes) {
  return target->kind != NDS_TARGET_NONE && bytes <= target->bytes;
}

int nds_bus_read(struct nds_device* device, uint64_t pa, void* to, size_t bytes) {
  struct nds_target target = nds_bus_resolve(device, pa);

  if (!fits(&target, bytes)) return -EFAULT;
  if (target.kind == NDS_TARGET_MEMORY)
    return nds_os_space_read(target.space, target.offset, to, bytes);
  return read_words(device, &target, to, bytes);
}

int nds_bus_write(struct nds_device* device, uint64_t pa, const void* from, size_t bytes) {
  struct nds_target target = nds_bus_resolve(device, pa);

  if (!fits(&target, bytes)) return -EFAULT;
  if (target.kind == NDS_TARGET_MEMORY)
    return nds_os_space_write(target.space, target.offset, from, bytes);
  return write_words(device, &target, from, bytes);
}

int nds_bus_copy(struct nds_device* device, uint64_t to, uint64_t from, uint64_t bytes) {
  struct nds_target source = nds_bus_resolve(device, from);
  struct nds_target sink = nds_bus_resolve(device, to);
  uint8_t words[64];
  uint64_t done;

  if (!fits(&source, bytes) || !fits(&sink, bytes)) return -EFAULT;
  if (source.kind == NDS_TARGET_MEMORY && sink.kind == NDS_TARGET_MEMORY)
    return nds_os_space_copy(sink.space, sink.offset, source.space, source.offset, bytes);
  for (done = 0; done < bytes; done += sizeof words) {
    size_t piece = bytes - done < sizeof words ? (size_t)(bytes - done) : sizeof words;
    int error = nds_bus_read(device, from + done, words, piece);

    if (!error) error = nds_bus_write(device, to + done, words, piece);
    if (error) return error;
  }
  return 0;
}

bool nds_bus_is_foreign(struct nds_device* device, uint64_t pa) {
  uint32_t index;

  for (index = device->profile->cores; index < device->window_count; index++)
    if (pa - device->windows[index].base < device->windows[index].bytes) return true;
  return false;
}

bool nds_bus_is_programmable(struct nds_device* device, uint64_t pa, uint64_t bytes) {
  struct nds_target target = {.kind = NDS_TARGET_NONE};
  uint32_t index;

  if (!bytes) return false;
  for (index = 0; index < device->window_count; index++) {
    const struct nds_window* window = &device->windows[index];
    uint64_t base = window->base;
    uint64_t size = window->bytes;

    /* On V2 one window covers both cores. */
    if (nds_is_v2(device) && index < device->profile->cores) {
      base = NEURON_V2_TPB_BASE;
      size = NEURON_V2_CORES * NEURON_V2_TPB_SIZE;
    }
    if (pa >= base && pa - base < size && bytes <= size - (pa - base)) return true;
  }
  if (find_host(device, pa, &target) || (!nds_is_v2(device) && find_hbm(device, pa, &target)))
    return bytes <= target.bytes;
  return false;
}
