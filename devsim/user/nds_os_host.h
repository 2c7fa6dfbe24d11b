/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* The in-process host's half of nds_os.h: pthread mutexes and the C library. */
#ifndef NDS_OS_HOST_H
#define NDS_OS_HOST_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef pthread_mutex_t nds_mutex_t;

static inline void nds_mutex_init(nds_mutex_t* mutex) {
  (void)pthread_mutex_init(mutex, NULL);
}

static inline void nds_mutex_destroy(nds_mutex_t* mutex) {
  (void)pthread_mutex_destroy(mutex);
}

static inline void nds_mutex_lock(nds_mutex_t* mutex) {
  (void)pthread_mutex_lock(mutex);
}

static inline bool nds_mutex_lock_unless_killed(nds_mutex_t* mutex) {
  nds_mutex_lock(mutex);
  return true;
}

static inline void nds_mutex_unlock(nds_mutex_t* mutex) {
  (void)pthread_mutex_unlock(mutex);
}

#endif
