/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Making and unmaking machines and devices: what the driver's probe does (spec 06 section 5.3). */
#include "nds_internal.h"

/* Bus addresses of the device's host memory (06 12.6). What is below is the driver's own. */
#define HOST_FIRST 0x10000000ull

/* The largest pages of kernels that drive such devices. */
#define MAX_PAGE_BYTES 0x10000u

int nds_machine_create(struct nds_machine** out) {
  struct nds_machine* machine = nds_os_alloc(sizeof *machine);

  if (!machine) return -ENOMEM;
  nds_mutex_init(&machine->lock);
  *out = machine;
  return 0;
}

void nds_machine_destroy(struct nds_machine* machine) {
  nds_mutex_destroy(&machine->lock);
  nds_os_free(machine);
}

/* The firmware's carve-out is an ordinary chunk at the bottom of the HBM. */
static int take_carveout(struct nds_device* device, uint32_t index) {
  struct nds_alloc_request request = {
      .bytes = NEURON_HBM_CARVEOUT_SIZE,
      .dram_channel = index,
      .nc_id = index,
      .mem_type = NEURON_MEM_NCDEV_DEVICE,
      .lifespan = NDS_LIFE_DEVICE,
  };
  struct nds_chunk* chunk;

  return nds_chunk_alloc(device, &request, &chunk);
}

static int create_hbm(struct nds_device* device, uint32_t index) {
  struct nds_hbm* hbm = &device->hbm[index];
  uint64_t small = NEURON_HBM_SMALL_POOL_SIZE;
  int error;

  hbm->base = device->profile->hbm_base[index];
  hbm->bytes = device->config.hbm_bytes;
  /* A small pool as large as the HBM is dropped (06 5.3). */
  if (small >= hbm->bytes) small = 0;
  hbm->space = nds_os_space_create(hbm->bytes, hbm->base);
  if (!hbm->space) return -ENOMEM;
  error = nds_pool_init(&hbm->main, hbm->base, hbm->bytes - small);
  if (error) return error;
  error = nds_pool_init(&hbm->small, hbm->base + hbm->bytes - small, small);
  if (error) return error;
  return take_carveout(device, index);
}

static int create_memory(struct nds_device* device) {
  uint32_t index;
  int error;

  device->host_space = nds_os_space_create(device->config.host_bytes, device->profile->host_base);
  if (!device->host_space) return -ENOMEM;
  error = nds_pool_init(&device->host_pool, HOST_FIRST, NDS_HOST_END - HOST_FIRST);
  for (index = 0; !error && index < device->profile->hbm_count; index++)
    error = create_hbm(device, index);
  return error;
}

static void destroy_memory(struct nds_device* device) {
  uint32_t index;

  for (index = 0; index < NDS_MAX_HBMS; index++) {
    struct nds_hbm* hbm = &device->hbm[index];

    if (hbm->space) nds_os_space_destroy(hbm->space);
    nds_pool_destroy(&hbm->main);
    nds_pool_destroy(&hbm->small);
  }
  if (device->host_space) nds_os_space_destroy(device->host_space);
  nds_pool_destroy(&device->host_pool);
}

static void free_device(struct nds_device* device) {
  nds_cores_destroy(device);
  nds_chunk_free_all(device, NDS_LIFE_DEVICE, 0);
  nds_dma_destroy(device);
  nds_handle_table_destroy(&device->handles);
  nds_bus_destroy(device);
  destroy_memory(device);
  nds_mutex_destroy(&device->events_lock);
  nds_mutex_destroy(&device->dma.lock);
  nds_mutex_destroy(&device->exec.run_lock);
  nds_mutex_destroy(&device->lock);
  nds_os_free(device);
}

static bool config_is_valid(const struct nds_config* config, const struct nds_profile* profile) {
  uint64_t bytes = config->hbm_bytes;

  if (!profile || config->device_index >= NEURON_MAX_DEVICES) return false;
  if (config->pci_device_id &&
      (config->pci_device_id != NDS_PCI_INF2 || config->architecture != NEURON_ARCH_V2))
    return false;
  if (config->cores > profile->cores) return false;
  if (config->host_bytes && config->host_bytes < NDS_HOST_END) return false;
  if (config->page_bytes &&
      (config->page_bytes < NEURON_PAGE_SIZE || config->page_bytes > MAX_PAGE_BYTES ||
       config->page_bytes & (config->page_bytes - 1)))
    return false;
  if (!bytes) return true;
  return bytes % NEURON_PAGE_SIZE == 0 && bytes > NEURON_HBM_CARVEOUT_SIZE &&
         bytes <= profile->hbm_bytes;
}

/* Enters the device into the machine's table: 0 or -EINVAL if the index is taken. */
static int join(struct nds_machine* machine, struct nds_device* device) {
  struct nds_device** place = &machine->devices[device->config.device_index];
  int error = 0;

  nds_mutex_lock(&machine->lock);
  if (*place)
    error = -EINVAL;
  else
    *place = device;
  nds_mutex_unlock(&machine->lock);
  return error;
}

/* What the configuration changes in the architecture's table. */
static void adapt_profile(struct nds_device* device, const struct nds_profile* profile) {
  device->own_profile = *profile;
  if (device->config.cores) device->own_profile.cores = device->config.cores;
  if (!device->config.hbm_bytes) device->config.hbm_bytes = profile->hbm_bytes;
  if (!device->config.host_bytes) device->config.host_bytes = NDS_HOST_END;
  if (!device->config.page_bytes) device->config.page_bytes = NEURON_PAGE_SIZE;
}

int nds_device_create(struct nds_machine* machine, const struct nds_config* config,
                      struct nds_device** out) {
  const struct nds_profile* profile = nds_profile_of(config->architecture);
  struct nds_device* device;
  int error;

  if (!config_is_valid(config, profile)) return -EINVAL;
  device = nds_os_alloc(sizeof *device);
  if (!device) return -ENOMEM;
  device->machine = machine;
  device->config = *config;
  adapt_profile(device, profile);
  device->profile = &device->own_profile;
  nds_mutex_init(&device->lock);
  nds_mutex_init(&device->exec.run_lock);
  nds_mutex_init(&device->dma.lock);
  nds_mutex_init(&device->events_lock);
  nds_cores_init(device);
  error = create_memory(device);
  if (!error) error = nds_bus_create(device);
  if (!error) error = nds_stores_create(device);
  if (!error) error = nds_dma_init(device);
  if (!error) error = join(machine, device);
  if (error) {
    free_device(device);
    return error;
  }
  *out = device;
  return 0;
}

void nds_device_destroy(struct nds_device* device) {
  struct nds_machine* machine = device->machine;

  nds_mutex_lock(&machine->lock);
  machine->devices[device->config.device_index] = NULL;
  nds_mutex_unlock(&machine->lock);
  free_device(device);
}

void nds_device_silence(struct nds_device* device, uint32_t parts) {
  __atomic_store_n(&device->silent, parts, __ATOMIC_RELAXED);
}

bool nds_is_silent(const struct nds_device* device, uint32_t part) {
  return __atomic_load_n(&device->silent, __ATOMIC_RELAXED) & part;
}

void nds_device_counters(struct nds_device* device, struct nds_counters* out) {
  nds_mutex_lock(&device->lock);
  *out = device->counters;
  out->live_handles = device->handles.live;
  nds_mutex_unlock(&device->lock);
}

void nds_device_exec_counters(struct nds_device* device, struct nds_exec_counters* out) {
  nds_dma_lock(device);
  *out = device->exec.counters;
  nds_dma_unlock(device);
}
