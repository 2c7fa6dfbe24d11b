/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* nds_os.h for a kernel, but for the spaces: memory, user memory, signals and logging. */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "nds_os.h"

/* Charged to the caller's memory cgroup; failing is the caller's business and not worth a splat. */
void* nds_os_alloc(size_t bytes) {
  return kvzalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}

void nds_os_free(void* memory) {
  kvfree(memory);
}

size_t nds_os_from_user(void* to, uint64_t user, size_t bytes) {
  return copy_from_user(to, u64_to_user_ptr(user), bytes);
}

size_t nds_os_to_user(uint64_t user, const void* from, size_t bytes) {
  return copy_to_user(u64_to_user_ptr(user), from, bytes);
}

bool nds_os_yield(void) {
  cond_resched();
  return fatal_signal_pending(current);
}

/* Everything the model has to say is about a client's mistake, so it is for debugging only. */
void nds_os_log(const char* format, ...) {
  struct va_format line;
  va_list arguments;

  va_start(arguments, format);
  line.fmt = format;
  line.va = &arguments;
  pr_debug("neuron_sim: %pV\n", &line);
  va_end(arguments);
}
