/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Who am I, where am I, who uses me (spec 06 sections 1 and 4.1). */
#include "nds_internal.h"
#include "nds_topology.h"

#define PRINTK_MAX 512u

static uint64_t features(enum nds_generation generation) {
  switch (generation) {
    case NDS_GENERATION_2_24:
      return 0xFF;
    case NDS_GENERATION_2_27:
      return 0x1FF;
    case NDS_GENERATION_2_30:
      return 0x1FFF;
  }
  return 0;
}

long nds_device_basic_info(struct nds_call* call) {
  struct neuron_device_basic_info info = {
      .architecture = call->device->profile->architecture,
      .revision = call->device->config.revision,
  };

  return nds_put(call, &info, sizeof info);
}

long nds_driver_info(struct nds_call* call) {
  struct neuron_driver_info info = {
      .architecture = call->device->profile->architecture,
      .revision = call->device->config.revision,
      .size = sizeof info,
      .feature_flags1 = features(call->device->config.generation),
  };

  /* Selected by number alone; then direction and size decide (11 B.1). */
  if (NEURON_IOCTL_DIR_OF(call->command) == NEURON_IOCTL_DIR_WRITE) return -NDS_ENOTSUPP;
  if (NEURON_IOCTL_DIR_OF(call->command) != NEURON_IOCTL_DIR_READ) return -EINVAL;
  if (NEURON_IOCTL_SIZE_OF(call->command) < sizeof info) return -EINVAL;
  return nds_put(call, &info, sizeof info);
}

long nds_compatible_version(struct nds_call* call) {
  struct neuron_compatible_version range = {
      .max = call->device->profile->compatible_max,
      .min = call->device->profile->compatible_min,
  };

  return nds_put(call, &range, sizeof range);
}

long nds_device_info(struct nds_call* call) {
  struct neuron_device_info info;
  uint32_t total = nds_device_total(call->device->machine);

  /* memset, because an initializer leaves the padding to chance and it goes to the user. */
  memset(&info, 0, sizeof info);
  info.architecture = call->device->profile->architecture;
  info.revision = call->device->config.revision;
  info.connected_device_count = nds_neighbours(call->device, total, info.connected_devices);
  info.bar_address[0] = nds_bar0_address(call->device);
  info.bar_size[0] = call->device->profile->bar0_bytes;
  return nds_put(call, &info, sizeof info);
}

/* The virtual machine puts each device into the slot of its routing id, on bus 0. */
long nds_device_bdf(struct nds_call* call) {
  struct neuron_device_bdf bdf;

  memset(&bdf, 0, sizeof bdf);
  bdf.slot = (uint8_t)nds_routing_id(call->device, call->device->config.device_index);
  return nds_put(call, &bdf, sizeof bdf);
}

/* Copies what the answer needs from another device, under the lock that keeps it alive. */
static int bdf_of(struct nds_machine* machine, uint32_t index, struct neuron_device_bdf_ext* bdf) {
  const struct nds_device* device;
  int error = -EINVAL;

  nds_mutex_lock(&machine->lock);
  device = index < NEURON_MAX_DEVICES ? machine->devices[index] : NULL;
  if (device) {
    bdf->domain = device->config.pci_domain;
    bdf->bus_number = 0;
    bdf->slot = (uint8_t)nds_routing_id(device, index);
    bdf->func = 0;
    error = 0;
  }
  nds_mutex_unlock(&machine->lock);
  return error;
}

long nds_device_bdf_ext(struct nds_call* call) {
  struct neuron_device_bdf_ext bdf;
  long result = nds_get(call, &bdf, sizeof bdf);
  uint32_t index;

  if (result) return result;
  /* Relative to the opened device, cut to 8 bits (11 B.1); 64 and up kill the real kernel. */
  index = (call->device->config.device_index + bdf.nd_index) & 0xFF;
  result = bdf_of(call->device->machine, index, &bdf);
  return result ? result : nds_put(call, &bdf, sizeof bdf);
}

long nds_host_device_id(struct nds_call* call) {
  struct neuron_host_device_id id = {.host_device_id = call->device->config.device_index};

  return nds_put(call, &id, sizeof id);
}

/* Selected by number; only the size counts. */
long nds_host_device_id_to_rid_map(struct nds_call* call) {
  struct neuron_host_device_id_to_rid_map map = {0};
  struct nds_machine* machine = call->device->machine;
  uint32_t index;

  if (NEURON_IOCTL_SIZE_OF(call->command) != sizeof map) return -EINVAL;
  nds_mutex_lock(&machine->lock);
  for (index = 0; index < NEURON_MAX_DEVICES; index++) {
    if (!machine->devices[index]) continue;
    map.count++;
    map.host_did_to_rid_map[index] = nds_routing_id(machine->devices[index], index);
  }
  nds_mutex_unlock(&machine->lock);
  return nds_put(call, &map, sizeof map);
}

struct nc_map_answer {
  uint32_t entries;
  struct neuron_nc_map_entry entry[NEURON_MAX_NC_MAP_ENTRIES];
};

/* The whole requested area is written, also for devices that are not there (06 4.1). */
long nds_nc_map(struct nds_call* call) {
  struct neuron_nc_map argument;
  struct nc_map_answer* answer;
  uint32_t index;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (nds_is_v2(call->device)) return -NDS_ENOTSUPP;
  if (argument.max_map_entries > NEURON_MAX_NC_MAP_ENTRIES) return -EINVAL;
  if (argument.mapping_version != 0) return -EINVAL;
  answer = nds_os_alloc(sizeof *answer);
  if (!answer) return -ENOMEM;
  answer->entries = argument.max_map_entries;
  for (index = 0; index < argument.max_map_entries; index++) {
    uint32_t device_index = index / NEURON_V3_CORES;

    answer->entry[index].device_id = device_index;
    answer->entry[index].device_nc_idx =
        nds_physical_core(call->device, device_index, index % NEURON_V3_CORES);
  }
  result = nds_put_at(
      call, argument.map_ptr, answer,
      offsetof(struct nc_map_answer, entry) + argument.max_map_entries * sizeof answer->entry[0]);
  nds_os_free(answer);
  return result;
}

long nds_device_app_pid(struct nds_call* call) {
  int32_t pid;

  nds_mutex_lock(&call->device->lock);
  pid = call->device->slots[0].tgid;
  nds_mutex_unlock(&call->device->lock);
  return nds_put(call, &pid, sizeof pid);
}

/* Everything one attached process holds. Needs the device lock. */
static void describe_app(const struct nds_device* device, int32_t tgid, uint32_t flags,
                         struct neuron_app_info* info) {
  const struct nds_chunk* chunk;
  uint32_t core;

  memset(info, 0, sizeof *info);
  info->pid = tgid;
  for (core = 0; (flags & NEURON_APP_INFO_LOCKS) && core < device->profile->cores; core++) {
    const struct nds_core_lock* lock = &device->cores[core].lock;

    if (!lock->writing || lock->writer != tgid) continue;
    info->nc_lock_map = (uint8_t)(info->nc_lock_map | 1u << core);
    if (core < 4) memcpy(info->uuid[core], lock->uuid, sizeof info->uuid[core]);
  }
  if (!(flags & NEURON_APP_INFO_MEMORY)) return;
  for (chunk = device->chunks.oldest; chunk; chunk = chunk->newer) {
    (void)nds_os_yield();
    if (chunk->tgid != tgid || chunk->lifespan == NDS_LIFE_DEVICE) continue;
    if (chunk->host)
      info->host_mem_size += chunk->bytes;
    else
      info->device_mem_size += chunk->bytes;
  }
}

/* Describes at most `capacity` attached processes and returns how many. Needs the device lock. */
static uint32_t describe_apps(const struct nds_device* device,
                              const struct neuron_get_apps_info* argument,
                              struct neuron_app_info* app) {
  uint32_t count = 0;
  uint32_t slot;

  for (slot = 0; slot < NEURON_MAX_ATTACHED_PROCESSES && count < argument->capacity; slot++) {
    int32_t tgid = device->slots[slot].tgid;

    if (tgid) describe_app(device, tgid, argument->apps_info_flags, &app[count++]);
  }
  return count;
}

long nds_device_get_all_apps_info(struct nds_call* call) {
  struct neuron_get_apps_info argument;
  struct neuron_app_info* app;
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  app = nds_os_alloc(NEURON_MAX_ATTACHED_PROCESSES * sizeof *app);
  if (!app) return -ENOMEM;
  nds_mutex_lock(&call->device->lock);
  argument.size = describe_apps(call->device, &argument, app);
  nds_mutex_unlock(&call->device->lock);
  result = nds_put(call, &argument, sizeof argument);
  if (!result && argument.size)
    result = nds_put_at(call, call->argument + sizeof argument, app, argument.size * sizeof *app);
  nds_os_free(app);
  return result;
}

/* A line for the log. */
long nds_printk(struct nds_call* call) {
  struct neuron_printk argument;
  char text[PRINTK_MAX];
  long result = nds_get(call, &argument, sizeof argument);

  if (result) return result;
  if (argument.size > sizeof text) return -EFAULT;
  /* Size 0 reads out of bounds in the real driver and returns 0 (11 B.4). */
  if (!argument.size) return 0;
  result = nds_fault(call, nds_os_from_user(text, argument.buffer_ptr, argument.size));
  if (result) return result;
  if (text[argument.size - 1]) return -EBADMSG;
  nds_os_log("client %d: %s", call->tgid, text);
  return 0;
}
