/* SPDX-License-Identifier: MIT */
/* Prints what the environment makes of the cores: counts before init, init, counts after it. */
#include <stdio.h>

#include "nrt/nec.h"
#include "nrt/nrt.h"

int main(void) {
  nrt_instance_info_t instance = {0};
  uint32_t total = 0, visible = 0, size = 0;
  const NRT_STATUS first = nrt_get_total_vnc_count(&total);
  const NRT_STATUS second = nrt_get_visible_vnc_count(&visible);
  NRT_STATUS init;
  printf("before %d %d total %u visible %u\n", first, second, total, visible);
  init = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  printf("init %d\n", init);
  if (init != NRT_SUCCESS) return 0;
  nrt_get_total_vnc_count(&total);
  nrt_get_visible_vnc_count(&visible);
  nec_get_virtual_core_size(&size);
  nrt_get_instance_info(&instance, sizeof instance);
  printf("after total %u visible %u size %u devices %d family %u instance %u arch %s\n", total,
         visible, size, nec_get_device_count(NULL, 0), instance.family, instance.size,
         instance.arch_name);
  nrt_close();
  return 0;
}
