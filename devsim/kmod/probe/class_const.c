/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Whether the attributes of a class get their class as a const struct (Linux 6.4). */
#include <linux/device.h>

static ssize_t show(const struct class* class, const struct class_attribute* attribute,
                    char* text) {
  return 0;
}

struct class_attribute probed = {.show = show};
