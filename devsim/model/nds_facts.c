/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_facts.h"

#include "nds_internal.h"
#include "nds_topology.h"

#define UNKNOWN_CATEGORY 0u

/* Names by category number; the memory types map to them below (spec 03 section 9.1). */
static const char* const host_names[NDS_HOST_CATEGORIES] = {
    "uncategorized", "application_memory", "tensors",       "constants",
    "dma_buffers",   "driver_memory",      "notifications", "dma_rings",
};

static const char* const device_names[NDS_DEVICE_CATEGORIES] = {
    "uncategorized",           "model_code",     "tensors",       "constants",
    "model_shared_scratchpad", "runtime_memory", "driver_memory", "collectives",
    "nonshared_scratchpad",    "notifications",  "dma_rings",
};

/* Which counter code and misc host memory go to is not documented; both are the application's. */
static uint32_t host_category(uint32_t mem_type) {
  switch (mem_type) {
    case NEURON_MEM_CODE_HOST:
    case NEURON_MEM_MISC_HOST:
      return 1;
    case NEURON_MEM_TENSORS_HOST:
      return 2;
    case NEURON_MEM_CONSTANTS_HOST:
      return 3;
    case NEURON_MEM_NCDEV_HOST:
      return 5;
    case NEURON_MEM_NOTIFICATION_HOST:
      return 6;
    case NEURON_MEM_DMA_RINGS_HOST:
      return 7;
    default:
      return UNKNOWN_CATEGORY;
  }
}

static uint32_t device_category(uint32_t mem_type) {
  switch (mem_type) {
    case NEURON_MEM_CODE_DEVICE:
      return 1;
    case NEURON_MEM_TENSORS_DEVICE:
      return 2;
    case NEURON_MEM_CONSTANTS_DEVICE:
      return 3;
    case NEURON_MEM_SCRATCHPAD_DEVICE:
    case NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE:
      return 4;
    case NEURON_MEM_MISC_DEVICE:
      return 5;
    case NEURON_MEM_NCDEV_DEVICE:
      return 6;
    case NEURON_MEM_COLLECTIVES_DEVICE:
      return 7;
    case NEURON_MEM_SCRATCHPAD_NONSHARED_DEVICE:
      return 8;
    case NEURON_MEM_NOTIFICATION_DEVICE:
      return 9;
    case NEURON_MEM_DMA_RINGS_DEVICE:
      return 10;
    default:
      return UNKNOWN_CATEGORY;
  }
}

static struct nds_usage* usage_of(struct nds_device* device, const struct nds_chunk* chunk) {
  if (chunk->host) return &device->facts.host[host_category(chunk->mem_type)];
  return &device->facts.device[chunk->nc_id][device_category(chunk->mem_type)];
}

void nds_facts_charge(struct nds_device* device, const struct nds_chunk* chunk) {
  struct nds_usage* usage = usage_of(device, chunk);

  usage->total += chunk->bytes;
  usage->present += chunk->bytes;
  if (usage->present > usage->peak) usage->peak = usage->present;
}

void nds_facts_discharge(struct nds_device* device, const struct nds_chunk* chunk) {
  usage_of(device, chunk)->present -= chunk->bytes;
}

/* Steps over `prefix` and a following slash, if the path starts with them. */
static bool take(const char** path, const char* prefix) {
  size_t length = strlen(prefix);

  if (strncmp(*path, prefix, length) != 0) return false;
  if ((*path)[length] != '/' && (*path)[length] != '\0') return false;
  *path += length + ((*path)[length] == '/');
  return true;
}

static int number(char* text, size_t bytes, uint64_t value) {
  return snprintf(text, bytes, "%llu", (unsigned long long)value);
}

/* "category/total" and so on. */
static int usage_fact(const struct nds_usage* usage, const char* const* names, uint32_t count,
                      const char* path, char* text, size_t bytes) {
  uint32_t index;

  for (index = 0; index < count; index++) {
    if (!take(&path, names[index])) continue;
    if (take(&path, "total")) return number(text, bytes, usage[index].total);
    if (take(&path, "present")) return number(text, bytes, usage[index].present);
    if (take(&path, "peak")) return number(text, bytes, usage[index].peak);
    break;
  }
  return -ENOENT;
}

/* Counters of executions and of hardware errors: the model has neither. */
static const char* const zeros_of_core[] = {
    "stats/other_info/model_load_count", "stats/other_info/reset_fail_count",
    "stats/other_info/inference_count",  "stats/other_info/flop_count",
    "stats/other_info/nc_time_in_use",
};
/* How executions ended: stats/status/NAME/total and present. */
static const char* const statuses[] = {
    "success",
    "failure",
    "timeout",
    "exec_bad_input",
    "hw_error",
    "generic_error",
    "resource_error",
    "resource_nc_error",
    "invalid_error",
    "unsupported_neff_version",
    "oob_error",
    "execute_completed_with_error",
    "execute_completed_with_num_error",
    "execute_failed_to_queue",
    "execute_sw_nq_overflow",
    "execute_sw_semaphore_error",
    "execute_sw_event_error",
    "execute_sw_psum_collision",
    "execute_sw_sequencer_fatal",
    "hw_collectives_error",
    "hw_hbm_ue_error",
    "hw_nc_ue_error",
    "hw_dma_abort_error",
    "hw_repairable_hbm_ue_error",
};
#define STATUSES (sizeof statuses / sizeof statuses[0])
#define STATUS_FOLDER "stats/status"
static const char* const zeros_of_device[] = {
    "stats/hardware/sram_ecc_uncorrected",
    "stats/hardware/mem_ecc_uncorrected",
    "stats/hardware/mem_ecc_repairable_uncorrected",
};
#define CORE_ZEROS (sizeof zeros_of_core / sizeof zeros_of_core[0])
#define DEVICE_ZEROS (sizeof zeros_of_device / sizeof zeros_of_device[0])

static bool is_one_of(const char* path, const char* const* names, size_t count) {
  size_t index;

  for (index = 0; index < count; index++)
    if (!strcmp(path, names[index])) return true;
  return false;
}

static int status_fact(const char* path, char* text, size_t bytes) {
  size_t index;

  for (index = 0; index < STATUSES; index++) {
    if (!take(&path, statuses[index])) continue;
    if (!strcmp(path, "total") || !strcmp(path, "present")) return number(text, bytes, 0);
    break;
  }
  return -ENOENT;
}

static int core_fact(const struct nds_device* device, uint32_t core, const char* path, char* text,
                     size_t bytes) {
  if (!strcmp(path, "info/architecture/arch_type"))
    return snprintf(text, bytes, "NCv%u", device->profile->architecture);
  if (!strcmp(path, "stats/other_info/reset_req_count"))
    return number(text, bytes, device->facts.resets[core]);
  if (take(&path, "stats/memory_usage/device_mem"))
    return usage_fact(device->facts.device[core], device_names, NDS_DEVICE_CATEGORIES, path, text,
                      bytes);
  if (take(&path, STATUS_FOLDER)) return status_fact(path, text, bytes);
  return is_one_of(path, zeros_of_core, CORE_ZEROS) ? number(text, bytes, 0) : -ENOENT;
}

/* "neuron_coreM/rest": true, and the core and the rest. */
static bool take_core(const struct nds_device* device, const char** path, uint32_t* core) {
  static const char prefix[] = "neuron_core";
  const char* digit = *path + sizeof prefix - 1;

  /* At most eight cores: one digit. */
  if (strncmp(*path, prefix, sizeof prefix - 1) != 0 || *digit < '0' || *digit > '9') return false;
  if (digit[1] != '/' || (uint32_t)(*digit - '0') >= device->profile->cores) return false;
  *core = (uint32_t)(*digit - '0');
  *path = digit + 2;
  return true;
}

/*
 * Status, time and the least, greatest and mean power in percent. Only the status of a silent
 * device was measured (11 B.2 item 18); the zeros behind it are ours.
 */
#define POWER_PATH "stats/power/utilization"
#define POWER_TEXT "POWER_STATUS_NO_DATA,0,0.00,0.00,0.00\n"

struct architecture_names {
  const char* arch_type;
  const char* instance_type;
  const char* device_name;
};

/* trn2 and inf2 both say NDv3; that is the driver's, not a slip (06 8). */
static struct architecture_names names_of(const struct nds_device* device) {
  static const struct architecture_names trn1 = {"NDv2", "Trn1", "Trainium1"};
  static const struct architecture_names inf2 = {"NDv3", "Inf2", "Inferentia2"};
  static const struct architecture_names trn2 = {"NDv3", "Trn2", "Trainium2"};
  static const struct architecture_names trn3 = {"NDv4", "Trn3", "Trainium3"};

  if (device->config.pci_device_id == NDS_PCI_INF2) return inf2;
  if (nds_is_v2(device)) return trn1;
  return device->profile->architecture == NEURON_ARCH_V3 ? trn2 : trn3;
}

static int architecture_fact(const struct nds_device* device, const char* path, char* text,
                             size_t bytes) {
  struct architecture_names names = names_of(device);

  if (!strcmp(path, "arch_type")) return snprintf(text, bytes, "%s", names.arch_type);
  if (!strcmp(path, "instance_type")) return snprintf(text, bytes, "%s", names.instance_type);
  if (!strcmp(path, "device_name")) return snprintf(text, bytes, "%s", names.device_name);
  return -ENOENT;
}

static int neighbours_fact(const struct nds_device* device, uint32_t total, char* text,
                           size_t bytes) {
  uint32_t id[4] = {0};
  uint32_t count = nds_neighbours(device, total, id);
  uint32_t index;
  int length = 0;

  for (index = 0; index < count && (size_t)length < bytes; index++)
    length += snprintf(text + length, bytes - (size_t)length, "%s%u", index ? ", " : "", id[index]);
  if ((size_t)length < bytes) length += snprintf(text + length, bytes - (size_t)length, "\n");
  return length;
}

/* Needs the device lock. */
static int fact(const struct nds_device* device, uint32_t total, const char* path, char* text,
                size_t bytes) {
  uint32_t core;

  if (!strcmp(path, "core_count")) return number(text, bytes, device->profile->cores);
  if (!strcmp(path, "connected_devices")) return neighbours_fact(device, total, text, bytes);
  if (!strcmp(path, "reset")) return number(text, bytes, 1); /* ready */
  if (!strcmp(path, "fw_api_version") && device->config.generation != NDS_GENERATION_2_24)
    return number(text, bytes, 0);
  if (!strcmp(path, POWER_PATH)) return snprintf(text, bytes, POWER_TEXT);
  if (!strcmp(path, "info/notify_delay")) return snprintf(text, bytes, "-1");
  if (!strcmp(path, "info/serial_number"))
    return snprintf(text, bytes, "%016llx", (unsigned long long)device->config.device_index);
  if (take(&path, "info/architecture")) return architecture_fact(device, path, text, bytes);
  if (take(&path, "stats/memory_usage/host_mem"))
    return usage_fact(device->facts.host, host_names, NDS_HOST_CATEGORIES, path, text, bytes);
  if (take_core(device, &path, &core)) return core_fact(device, core, path, text, bytes);
  return is_one_of(path, zeros_of_device, DEVICE_ZEROS) ? number(text, bytes, 0) : -ENOENT;
}

int nds_device_fact(struct nds_device* device, const char* path, char* text, size_t bytes) {
  uint32_t total = nds_device_total(device->machine);
  int length;

  nds_mutex_lock(&device->lock);
  length = fact(device, total, path, text, bytes);
  nds_mutex_unlock(&device->lock);
  return length < 0 || (size_t)length < bytes ? length : -ENOSPC;
}

/* Numbers attributes: true, with the rest of the number, if it is not one of `count` names. */
static bool skip(uint32_t* index, size_t count) {
  if (*index < count) return false;
  *index -= (uint32_t)count;
  return true;
}

static int usage_path(const char* folder, const char* const* names, uint32_t index, char* path,
                      size_t bytes) {
  static const char* const values[] = {"total", "present", "peak"};

  return snprintf(path, bytes, "%s/%s/%s", folder, names[index / 3], values[index % 3]);
}

/* A core's attributes, or -ENOENT with the rest of the number. */
static int core_path(uint32_t core, uint32_t* index, char* path, size_t bytes) {
  static const char* const names[] = {"info/architecture/arch_type",
                                      "stats/other_info/reset_req_count"};
  char folder[64];

  if (!skip(index, 2)) return snprintf(path, bytes, "neuron_core%u/%s", core, names[*index]);
  if (!skip(index, CORE_ZEROS))
    return snprintf(path, bytes, "neuron_core%u/%s", core, zeros_of_core[*index]);
  if (!skip(index, STATUSES * 2))
    return snprintf(path, bytes, "neuron_core%u/" STATUS_FOLDER "/%s/%s", core,
                    statuses[*index / 2], *index % 2 ? "present" : "total");
  if (skip(index, NDS_DEVICE_CATEGORIES * 3)) return -ENOENT;
  (void)snprintf(folder, sizeof folder, "neuron_core%u/stats/memory_usage/device_mem", core);
  return usage_path(folder, device_names, *index, path, bytes);
}

static int path_of(const struct nds_device* device, uint32_t index, char* path, size_t bytes) {
  static const char* const names[] = {
      "core_count",
      "connected_devices",
      "reset",
      "info/notify_delay",
      "info/serial_number",
      "info/architecture/arch_type",
      "info/architecture/instance_type",
      "info/architecture/device_name",
      POWER_PATH,
  };
  uint32_t core;

  if (!skip(&index, sizeof names / sizeof names[0]))
    return snprintf(path, bytes, "%s", names[index]);
  if (!skip(&index, DEVICE_ZEROS)) return snprintf(path, bytes, "%s", zeros_of_device[index]);
  if (!skip(&index, NDS_HOST_CATEGORIES * 3))
    return usage_path("stats/memory_usage/host_mem", host_names, index, path, bytes);
  for (core = 0; core < device->profile->cores; core++) {
    int length = core_path(core, &index, path, bytes);

    if (length != -ENOENT) return length;
  }
  if (index || device->config.generation == NDS_GENERATION_2_24) return -ENOENT;
  return snprintf(path, bytes, "fw_api_version");
}

int nds_device_fact_path(struct nds_device* device, uint32_t index, char* path, size_t bytes) {
  int length = path_of(device, index, path, bytes);

  return length < 0 || (size_t)length < bytes ? length : -ENOSPC;
}
