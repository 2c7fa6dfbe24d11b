/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* What the two kernel modules share: parameters that both have, and complaints about wrong ones. */
#ifndef NDS_KERNEL_H
#define NDS_KERNEL_H

#include <linux/moduleparam.h>
#include <linux/types.h>

/* A u64 parameter: bytes, with an optional K, M, G or T. */
extern const struct kernel_param_ops nds_bytes_ops;
/* Reads such a number, and `rest` is what follows it: 0 or -EINVAL. */
int nds_parse_bytes(const char* text, u64* out, const char** rest);
/* Whether a value that was written ends here. */
bool nds_value_ends(const char* text);
/* The `set` of a parameter that can only be read. */
int nds_refuse_value(const char* text, const struct kernel_param* param);

/* What the parameter `silent` says now: NDS_SILENT_... */
u32 nds_silent_parts(void);
/* For the module to define: lets parts of all its devices not answer. Called on every change. */
void nds_silence_all(u32 parts);

/* Both say one sentence in the log and return -EINVAL. */
int nds_bad_parameters(const char* sentence);
int nds_bad_number(const char* name, u64 value, const char* allowed);

#endif
