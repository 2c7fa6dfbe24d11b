/* SPDX-License-Identifier: MIT */
/* Who the device is, what it tells in sysfs, and who may open it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "smoke.h"

static void show_fact(const char* path) {
  char text[256] = "";
  int length = host->fact(path, text, sizeof text);

  text[strcspn(text, "\n")] = '\0';
  printf("fact %s: %s (%d)\n", path, text, length);
}

static void show_device(int file) {
  struct neuron_device_info info = {0};
  struct neuron_driver_info driver = {0};
  struct neuron_compatible_version range = {0};
  struct neuron_pod_status pod = {.sz = sizeof pod};
  struct neuron_nc_map map = {0};
  uint32_t entries[1 + 2 * 8] = {0};

  say("DEVICE_INFO", call(file, NEURON_IOCTL_DEVICE_INFO, &info));
  say("architecture", (int)info.architecture);
  say("revision", (int)info.revision);
  say("neighbours", (int)info.connected_device_count);
  say_hex("register BAR", info.bar_size[0]);
  say("DRIVER_INFO_GET", call(file, NEURON_IOCTL_DRIVER_INFO_GET, &driver));
  expect("features", driver.feature_flags1, 0xFF);
  say("DRIVER_INFO_SET", call(file, NEURON_IOCTL_DRIVER_INFO_SET, &driver));
  say("COMPATIBLE_VERSION", call(file, NEURON_IOCTL_COMPATIBLE_VERSION, &range));
  printf("runtime numbers: %u..%u\n", range.min, range.max);
  say("POD_STATUS", call(file, NEURON_IOCTL_POD_STATUS, &pod));
  say("pod state", (int)pod.state);
  map.map_ptr = (uintptr_t)entries;
  map.max_map_entries = 8;
  say("NC_MAP", call(file, NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP, &map));
  say_hex("NC_MAP digest", digest((const uint8_t*)entries, sizeof entries));
}

/* Files opened for writing only serve the few commands that need no device (06 2). */
static void free_access(void) {
  int file = host->open(O_WRONLY);
  struct neuron_device_basic_info info;
  struct neuron_mem_free memory = {1};
  struct mapping mapping;

  say("free access: BASIC_INFO", call(file, NEURON_IOCTL_DEVICE_BASIC_INFO, &info));
  expect("free access: MEM_FREE", (uint64_t)-call(file, NEURON_IOCTL_MEM_FREE, &memory), EINVAL);
  mapping = host->map(file, 0, 4096);
  expect("free access: mmap", (uint64_t)-mapping.error, EACCES);
  host->close(file);
}

void smoke_identity(void) {
  static const char* const facts[] = {
      "core_count",
      "connected_devices",
      "reset",
      "fw_api_version",
      "info/serial_number",
      "info/architecture/device_name",
      "neuron_core0/info/architecture/arch_type",
      "neuron_core1/stats/other_info/reset_req_count",
      "neuron_core9/info/architecture/arch_type",
      "stats/hardware/mem_ecc_uncorrected",
      "stats/memory_usage/host_mem/tensors/peak",
      "stats/power/utilization",
      "neuron_core0/stats/status/success/total",
      "neuron_core1/stats/status/hw_repairable_hbm_ue_error/present",
      "neuron_core0/stats/status/success/peak",
      "/node_id_2",
      "/node_id_4",
      "/server_id_2",
      "/server_id_4",
      "/ultraserver_mode",
      "/node_id_3",
  };
  size_t index;
  int file = host->open(O_RDWR);

  for (index = 0; index < sizeof facts / sizeof facts[0]; index++) show_fact(facts[index]);
  show_device(file);
  free_access();
  host->close(file);
}
