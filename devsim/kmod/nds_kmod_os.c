/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* nds_os.h for a kernel, but for the spaces: memory, user memory and signals. */
#include <linux/capability.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "nds_kmod.h"
#include "nds_os.h"

static atomic_long_t used;
static long base;             /* of it, for the bare devices */
static long limit = LONG_MAX; /* of the rest */

void nds_kmod_set_limit(unsigned long bytes) {
  base = atomic_long_read(&used);
  limit = (long)min_t(unsigned long, bytes, LONG_MAX);
}

unsigned long nds_kmod_used(void) {
  return (unsigned long)(atomic_long_read(&used) - base);
}

bool nds_kmod_charge(size_t bytes) {
  if (atomic_long_add_return((long)bytes, &used) - base <= limit) return true;
  atomic_long_sub((long)bytes, &used);
  return false;
}

void nds_kmod_uncharge(size_t bytes) {
  atomic_long_sub((long)bytes, &used);
}

/* Memory of the model remembers what was charged for it. */
struct block {
  size_t charged;
  u8 bytes[] __aligned(16);
};

/*
 * Also charged to the caller's memory cgroup. Failing is the caller's business: it must not kill
 * anybody or fill the log.
 */
void* nds_os_alloc(size_t bytes) {
  size_t whole = sizeof(struct block) + bytes;
  struct block* block;

  /* More than this the kernel refuses with a splat. */
  if (bytes > INT_MAX - sizeof(struct block) || !nds_kmod_charge(whole)) return NULL;
  block = kvzalloc(whole, GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
  if (!block) {
    nds_kmod_uncharge(whole);
    return NULL;
  }
  block->charged = whole;
  return block->bytes;
}

void nds_os_free(void* memory) {
  struct block* block;

  if (!memory) return;
  block = container_of(memory, struct block, bytes[0]);
  nds_kmod_uncharge(block->charged);
  kvfree(block);
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

uint64_t nds_os_now(void) {
  return ktime_get_ns();
}

void nds_os_give_way(void) {
  cond_resched();
  cpu_relax();
}

bool nds_os_may_map_raw(void) {
  return nds_kmod_raw_mappings() && capable(CAP_SYS_RAWIO);
}
