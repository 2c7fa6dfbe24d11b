/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The PCI host's half of nds_os.h. Registers are written where a driver writes them, also with
 * interrupts off, so the model must not sleep: each card has one spinlock around all of it
 * (vpci_card.c), and the model's own locks are nothing.
 */
#ifndef NDS_OS_HOST_H
#define NDS_OS_HOST_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#ifndef CONFIG_X86_64
#error "neuron_vpci needs x86-64: it lives on how this processor faults"
#endif
#ifndef CONFIG_KRETPROBES
#error "neuron_vpci needs a kernel with CONFIG_KPROBES and CONFIG_KRETPROBES"
#endif

/* What the device has to say is about the driver under test, so its author shall see it. */
#define NDS_OS_PRINT pr_notice_ratelimited

typedef struct {
} nds_mutex_t;

static inline void nds_mutex_init(nds_mutex_t* mutex) {}
static inline void nds_mutex_destroy(nds_mutex_t* mutex) {}
static inline void nds_mutex_lock(nds_mutex_t* mutex) {}
static inline bool nds_mutex_lock_unless_killed(nds_mutex_t* mutex) {
  return true;
}
static inline void nds_mutex_unlock(nds_mutex_t* mutex) {}

#endif
