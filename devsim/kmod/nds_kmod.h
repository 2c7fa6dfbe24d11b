/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* What the files of the kernel host share. */
#ifndef NDS_KMOD_H
#define NDS_KMOD_H

#include <linux/device.h>
#include <linux/fs.h>
#include <linux/mm_types.h>

#include "nds.h"

#define NDS_KMOD_VERSION "0.1.0"

/* nds_kmod_params.c: the module's parameters after a check. */
struct nds_kmod_params {
  struct nds_config config; /* of every device, but for its index */
  unsigned int devices;
  const char* prefix; /* of the device nodes' names */
  umode_t node_mode;
  unsigned long mem_limit; /* bytes that clients may make the module hold */
};

/* 0, or -EINVAL after one sentence in the log. */
int nds_kmod_params_check(struct nds_kmod_params* out);
/* Whether CAP_SYS_RAWIO counts. */
bool nds_kmod_raw_mappings(void);
/* How long one doorbell may run a device, milliseconds, 0 = no limit. */
u32 nds_kmod_execution_limit(void);

/* nds_kmod_main.c: how long executions of all devices may take from now on. */
void nds_kmod_limit_executions(u32 milliseconds);

/*
 * nds_kmod_os.c: the bytes that the module holds, pages and the model's structs alike. What it held
 * when the limit was set, for the bare devices, does not count. Charging fails at the limit.
 */
void nds_kmod_set_limit(unsigned long bytes);
unsigned long nds_kmod_used(void);
bool nds_kmod_charge(size_t bytes);
void nds_kmod_uncharge(size_t bytes);

/* nds_kmod_space.c */
/* The page that holds a byte, referenced; made if there is none. NULL = no memory or the limit. */
struct page* nds_kmod_space_page(struct nds_space* space, u64 offset);

/* nds_kmod_file.c */
extern const struct file_operations nds_kmod_file_operations;

/* nds_kmod_main.c: the device of a minor number, or NULL. */
struct nds_device* nds_kmod_device_of(dev_t number);

/*
 * nds_kmod_sysfs.c: the facts of the model below the node's folder. `tree` is NULL after a failed
 * add; remove takes NULL. 0 or a negative errno.
 */
struct nds_kmod_tree;
int nds_kmod_tree_add(struct device* node, struct nds_device* device, struct nds_kmod_tree** tree);
void nds_kmod_tree_remove(struct nds_kmod_tree* tree);
/* The same for what all devices share, in the folder of the class. */
extern const struct attribute_group* nds_kmod_class_groups[];

#endif
