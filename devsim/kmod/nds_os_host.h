/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* The kernel host's half of nds_os.h: kernel mutexes, errno names and string functions. */
#ifndef NDS_OS_HOST_H
#define NDS_OS_HOST_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/types.h>

#ifndef CONFIG_64BIT
#error "the device model needs a 64-bit kernel"
#endif

/* Everything the model has to say is about a client's mistake, so it is for debugging only. */
#define NDS_OS_PRINT pr_debug

typedef struct mutex nds_mutex_t;

/* Macros, so that lockdep sees one class for each place of initialisation. */
#define nds_mutex_init(mutex) mutex_init(mutex)
#define nds_mutex_destroy(mutex) mutex_destroy(mutex)

/*
 * A client may keep a queue busy for a minute. Others then wait killably first, because the kernel
 * complains about tasks that wait uninterruptibly for long; only a killed task waits the other way,
 * for the lock must be taken in any case.
 */
static inline void nds_mutex_lock(nds_mutex_t* mutex) {
  if (mutex_lock_killable(mutex)) mutex_lock(mutex);
}

static inline bool nds_mutex_lock_unless_killed(nds_mutex_t* mutex) {
  return !mutex_lock_killable(mutex);
}

static inline void nds_mutex_unlock(nds_mutex_t* mutex) {
  mutex_unlock(mutex);
}

#endif
