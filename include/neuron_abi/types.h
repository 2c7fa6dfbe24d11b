/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Integer types and the layout assertion of the Neuron device ABI headers. These headers are
 * compiled as C11, as C++20 and inside a kernel module, so they name only what all three have.
 */
#ifndef NEURON_ABI_TYPES_H
#define NEURON_ABI_TYPES_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif
#endif

#ifdef __cplusplus
#define NEURON_ABI_ASSERT(condition, text) static_assert(condition, text)
#else
#define NEURON_ABI_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* Pins the size of an ABI struct. */
#define NEURON_ABI_SIZE(type, bytes) NEURON_ABI_ASSERT(sizeof(type) == (bytes), "size of " #type)
/* Pins the byte offset of a field of an ABI struct. */
#define NEURON_ABI_FIELD(type, field, offset) \
  NEURON_ABI_ASSERT(offsetof(type, field) == (offset), "offset of " #type "." #field)

#endif
