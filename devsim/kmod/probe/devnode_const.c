/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Compiles where a class names the nodes of constant devices (Linux 6.2). */
#include <linux/device.h>

static char* node_name(const struct device* node, umode_t* mode) {
  return NULL;
}

struct class probe;
struct class probe = {.devnode = node_name};
