/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * What the device model needs from its host. The model itself is freestanding C: it calls only
 * these functions and the string functions that both the C library and kernels have (memcpy,
 * memcmp, memset, strlen, strcmp, strncmp, snprintf). A host provides "nds_os_host.h" on its
 * include path (devsim/user for the in-process device, devsim/kmod for the kernel module), which
 * defines
 *
 *   nds_mutex_t and nds_mutex_init / _destroy / _lock / _unlock, and nds_mutex_lock_unless_killed:
 *   false if the calling process was killed while it waited
 *
 * and brings in the errno names and the string functions, and implements the functions below.
 */
#ifndef NDS_OS_H
#define NDS_OS_H

#include "nds_os_host.h"
#include "neuron_abi/types.h"

/* Zeroed memory, NULL if there is none. May be large (up to a few MiB). */
void* nds_os_alloc(size_t bytes);
void nds_os_free(void* memory);

/*
 * User memory. Both return the number of bytes NOT copied: 0 is success, n means that nothing was
 * copied. They never crash on a bad address.
 */
size_t nds_os_from_user(void* to, uint64_t user, size_t bytes);
size_t nds_os_to_user(uint64_t user, const void* from, size_t bytes);

/*
 * A space is a sparse array of bytes: one HBM, the host memory of the device, one core's aperture.
 * It reads as zero until written and costs nothing until touched. Offsets and sizes are bytes; the
 * caller has checked that [offset, offset + bytes) lies inside the space. A host whose caller can
 * be killed may end a long transfer then with -EINTR, which nobody sees; filling with zero it may
 * not.
 */
struct nds_space;
/* `address`: where the device sees the first byte, for hosts that show it (registers: 0). */
struct nds_space* nds_os_space_create(uint64_t bytes, uint64_t address);
void nds_os_space_destroy(struct nds_space* space);

/*
 * These return 0 or -ENOMEM (no memory for the first touch of a page). Filling with zero gives
 * memory back where it can and never fails.
 */
int nds_os_space_read(struct nds_space* space, uint64_t offset, void* to, size_t bytes);
int nds_os_space_write(struct nds_space* space, uint64_t offset, const void* from, size_t bytes);
int nds_os_space_fill(struct nds_space* space, uint64_t offset, uint8_t value, uint64_t bytes);
/* The two ranges may overlap (memmove). */
int nds_os_space_copy(struct nds_space* to, uint64_t to_offset, struct nds_space* from,
                      uint64_t from_offset, uint64_t bytes);

/*
 * Bulk transfers between user memory and a space; *uncopied = bytes behind the first bad user
 * address, 0 if all went well. Return 0 or -ENOMEM as above.
 */
int nds_os_space_from_user(struct nds_space* space, uint64_t offset, uint64_t user, uint64_t bytes,
                           uint64_t* uncopied);
int nds_os_space_to_user(struct nds_space* space, uint64_t offset, uint64_t user, uint64_t bytes,
                         uint64_t* uncopied);

/*
 * Called now and then by work that may last: lets others run. True if the calling process has been
 * killed, so that nobody waits for the result; such work then stops where it can.
 */
bool nds_os_yield(void);

/* Nanoseconds of a clock that never goes back. */
uint64_t nds_os_now(void);

/* Lets a thread run that waits for a lock which the caller has just released. */
void nds_os_give_way(void);

/* Whether the calling process may map any device address (CAP_SYS_RAWIO, spec 06 section 6). */
bool nds_os_may_map_raw(void);

/* One line for the person who debugs a client; the host decides whether it is shown. */
void nds_os_log(const char* format, ...) __attribute__((format(printf, 1, 2)));

#endif
