/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

#include "nds.h"
#include "nds_kernel.h"

int nds_parse_bytes(const char* text, u64* out, const char** rest) {
  char* end;

  if (!isdigit(*text)) return -EINVAL;
  *out = memparse(text, &end);
  *rest = end;
  return 0;
}

bool nds_value_ends(const char* text) {
  return !*text || !strcmp(text, "\n");
}

static int set_bytes(const char* text, const struct kernel_param* param) {
  const char* rest;
  int error = nds_parse_bytes(text, param->arg, &rest);

  return error || nds_value_ends(rest) ? error : -EINVAL;
}

static int get_bytes(char* text, const struct kernel_param* param) {
  return sprintf(text, "%llu\n", *(u64*)param->arg);
}

const struct kernel_param_ops nds_bytes_ops = {.set = set_bytes, .get = get_bytes};

int nds_refuse_value(const char* text, const struct kernel_param* param) {
  return -EINVAL;
}

static const char* const parts[] = {"nothing", "dma", "mailbox", "reset"};
static const u32 part_bits[] = {0, NDS_SILENT_DMA, NDS_SILENT_MAILBOX, NDS_SILENT_RESET};
static uint silent; /* index into parts */

static int set_silent(const char* text, const struct kernel_param* param) {
  int index = sysfs_match_string(parts, text);

  if (index < 0) return -EINVAL;
  silent = (uint)index;
  nds_silence_all(part_bits[silent]);
  return 0;
}

static int get_silent(char* text, const struct kernel_param* param) {
  return sprintf(text, "%s\n", parts[silent]);
}

static const struct kernel_param_ops silent_ops = {.set = set_silent, .get = get_silent};

module_param_cb(silent, &silent_ops, NULL, 0644);
MODULE_PARM_DESC(silent,
                 "part of the devices that does not answer: nothing, dma, mailbox or reset; may be "
                 "changed at any time (default nothing)");

u32 nds_silent_parts(void) {
  return part_bits[silent];
}

int nds_bad_parameters(const char* sentence) {
  pr_err(KBUILD_MODNAME ": %s\n", sentence);
  return -EINVAL;
}

int nds_bad_number(const char* name, u64 value, const char* allowed) {
  pr_err(KBUILD_MODNAME ": parameter %s is %llu, but it must be %s\n", name, value, allowed);
  return -EINVAL;
}
