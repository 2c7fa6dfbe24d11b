/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* nds_os.h for a kernel without users: memory. The spaces are in vpci_space.c. */
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "nds_os.h"

/* While registers act, interrupts are off and nothing may sleep; such blocks are small. */
void* nds_os_alloc(size_t bytes) {
  if (irqs_disabled()) return kzalloc(bytes, GFP_ATOMIC | __GFP_NOWARN);
  return kvzalloc(bytes, GFP_KERNEL);
}

void nds_os_free(void* memory) {
  kvfree(memory);
}

/* No file of the model is ever open here, so no user memory is reached. */
size_t nds_os_from_user(void* to, uint64_t user, size_t bytes) {
  return bytes;
}

size_t nds_os_to_user(uint64_t user, const void* from, size_t bytes) {
  return bytes;
}

bool nds_os_yield(void) {
  return false;
}

uint64_t nds_os_now(void) {
  return ktime_get_mono_fast_ns();
}

/* Nobody waits: who has the card's lock has the whole model. */
void nds_os_give_way(void) {}

bool nds_os_may_map_raw(void) {
  return false;
}
