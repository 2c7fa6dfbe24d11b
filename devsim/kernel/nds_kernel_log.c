/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include <linux/printk.h>

#include "nds_os.h"

void nds_os_log(const char* format, ...) {
  struct va_format line;
  va_list arguments;

  va_start(arguments, format);
  line.fmt = format;
  line.va = &arguments;
  NDS_OS_PRINT(KBUILD_MODNAME ": %pV\n", &line);
  va_end(arguments);
}
