/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Who am I: version handshake and basic facts (spec 06 sections 1 and 4.1). */
#include "nds_internal.h"

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
  struct neuron_device_info info = {
      .architecture = call->device->profile->architecture,
      .revision = call->device->config.revision,
  };

  /* The client only adds register offsets to it (06 12.7). */
  info.bar_address[0] = 0x100000000ull * (call->device->config.device_index + 1ull);
  info.bar_size[0] = call->device->profile->bar0_bytes;
  return nds_put(call, &info, sizeof info);
}
