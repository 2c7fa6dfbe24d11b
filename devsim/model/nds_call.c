/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Argument structs in and out of user memory. The real driver hands the raw count of uncopied bytes
 * to user space as a positive result (spec 06 section 2); a clean device answers -EFAULT.
 */
#include "nds_internal.h"

#define LARGEST_RESIDUE 0x7FFFFFFFull /* an ioctl result is an int */

long nds_fault(const struct nds_call* call, uint64_t uncopied) {
  if (!uncopied) return 0;
  if (call->device->config.strictness == NDS_CLEAN) return -EFAULT;
  return (long)(uncopied < LARGEST_RESIDUE ? uncopied : LARGEST_RESIDUE);
}

long nds_get(const struct nds_call* call, void* argument, size_t bytes) {
  return nds_fault(call, nds_os_from_user(argument, call->argument, bytes));
}

long nds_get_for_reply(const struct nds_call* call, void* argument, size_t bytes) {
  long result = nds_get(call, argument, bytes);

  return result ? result : nds_put(call, argument, bytes);
}

long nds_put(const struct nds_call* call, const void* argument, size_t bytes) {
  return nds_put_at(call, call->argument, argument, bytes);
}

long nds_put_at(const struct nds_call* call, uint64_t user, const void* value, size_t bytes) {
  return nds_fault(call, nds_os_to_user(user, value, bytes));
}
