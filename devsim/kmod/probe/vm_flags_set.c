/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Compiles where flags of a memory range are changed by functions only (Linux 6.3). */
#include <linux/mm.h>

void probe(struct vm_area_struct* range);
void probe(struct vm_area_struct* range) {
  vm_flags_set(range, VM_DONTCOPY);
  vm_flags_clear(range, VM_WRITE);
}
