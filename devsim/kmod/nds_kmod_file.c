/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* The device node: open, ioctl, mmap, flush, release. */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "nds_kmod.h"

/* The driver knows processes by their number in the initial namespace. */
static s32 caller(void) {
  return task_tgid_nr(current);
}

static int open_node(struct inode* inode, struct file* file) {
  struct nds_device* device = nds_kmod_device_of(inode->i_rdev);
  struct nds_file* opened;
  int error;

  if (!device) return -ENXIO;
  error = nds_file_open(device, caller(), file->f_flags, &opened);
  if (!error) file->private_data = opened;
  return error;
}

static int flush_node(struct file* file, fl_owner_t owner) {
  nds_file_flush(file->private_data, caller());
  return 0;
}

static int release_node(struct inode* inode, struct file* file) {
  nds_file_release(file->private_data);
  return 0;
}

static long ioctl_node(struct file* file, unsigned int command, unsigned long argument) {
  return nds_file_ioctl(file->private_data, caller(), command, argument);
}

/* What a mapped range shows; shared by the pieces a range may be split into. */
struct view {
  refcount_t users;
  struct nds_space* space;
  u64 offset; /* in the space, of the page at file offset `first` */
  unsigned long first;
};

static void open_range(struct vm_area_struct* range) {
  struct view* view = range->vm_private_data;

  refcount_inc(&view->users);
}

static void close_range(struct vm_area_struct* range) {
  struct view* view = range->vm_private_data;

  if (refcount_dec_and_test(&view->users)) kfree(view);
}

/* Ranges cannot grow, so the page lies inside what nds_file_mmap allowed. */
static vm_fault_t fault_page(struct vm_fault* fault) {
  const struct view* view = fault->vma->vm_private_data;
  u64 offset = view->offset + ((u64)(fault->pgoff - view->first) << PAGE_SHIFT);

  fault->page = nds_kmod_space_page(view->space, offset);
  /* Not VM_FAULT_OOM: at the limit of this module the machine is not out of memory. */
  return fault->page ? 0 : VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct range_operations = {
    .open = open_range,
    .close = close_range,
    .fault = fault_page,
};

#ifdef NDS_HAVE_VM_FLAGS_SET
static void set_flags(struct vm_area_struct* range, bool read_only) {
  vm_flags_set(range, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
  if (read_only) vm_flags_clear(range, VM_WRITE);
}
#else
static void set_flags(struct vm_area_struct* range, bool read_only) {
  range->vm_flags |= VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP;
  if (read_only) range->vm_flags &= ~VM_WRITE;
}
#endif

static int mmap_node(struct file* file, struct vm_area_struct* range) {
  u64 bytes = range->vm_end - range->vm_start;
  struct nds_mapping mapping;
  struct view* view;
  int error = nds_file_mmap(file->private_data, caller(), (u64)range->vm_pgoff << PAGE_SHIFT, bytes,
                            &mapping);

  if (error) return error;
  /* Chunks are multiples of 4096 bytes, the kernel's pages may be larger. */
  if (!PAGE_ALIGNED(mapping.offset)) return -EINVAL;
  view = kmalloc(sizeof *view, GFP_KERNEL_ACCOUNT);
  if (!view) return -ENOMEM;
  refcount_set(&view->users, 1);
  view->space = mapping.space;
  view->offset = mapping.offset;
  view->first = range->vm_pgoff;
  /* Only the permission goes: mprotect may bring it back, as with the real driver (11 B.1). */
  set_flags(range, mapping.read_only);
  range->vm_private_data = view;
  range->vm_ops = &range_operations;
  return 0;
}

const struct file_operations nds_kmod_file_operations = {
    .owner = THIS_MODULE, /* keeps the module while a node is open */
    .open = open_node,
    .flush = flush_node,
    .release = release_node,
    .unlocked_ioctl = ioctl_node,
    .mmap = mmap_node,
};
