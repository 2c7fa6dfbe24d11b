/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The public face of the device model: machines, devices, files, ioctl and mmap, as a kernel
 * module or an in-process back end needs them. Everything else in devsim/model is private.
 *
 * Results are the driver's own: 0, a negative errno, or a positive residue of a user copy that
 * faulted (spec 06 section 2).
 */
#ifndef NDS_H
#define NDS_H

#include "neuron_abi/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nds_machine; /* all devices of one host; owner of the core marks */
struct nds_device;  /* one accelerator */
struct nds_file;    /* one open file of a device */
struct nds_space;

/* Driver generation whose command set is accepted (spec 06 sections 1 and 12.1). */
enum nds_generation {
  NDS_GENERATION_2_24 = 0, /* as measured (spec 11) */
  NDS_GENERATION_2_27 = 1,
  NDS_GENERATION_2_30 = 2,
};

#define NDS_REVISION_EMULATOR 0xF0u
#define NDS_REVISION_QEMU 0xFFu
#define NDS_PCI_INF2 0x7264u /* a V2 device with other routing ids and neighbours */

/* How odd results of the real driver are answered. */
enum nds_strictness {
  NDS_AS_MEASURED = 0, /* positive residues, ignored ring start index: as the real driver */
  NDS_CLEAN = 1,       /* plain errnos instead; unknown ring handles are refused */
};

struct nds_config {
  uint32_t architecture; /* NEURON_ARCH_V2, _V3 or _V4 */
  uint32_t revision;     /* PCI revision: 0 hardware, 0xF0 emulator, 0xFF QEMU */
  uint32_t device_index; /* place in the machine, 0..63 */
  uint64_t hbm_bytes;    /* size of each HBM, 0 = the architecture's */
  uint32_t cores;        /* 0 = the architecture's; fewer only on emulators */
  uint64_t host_bytes;   /* bus addresses of host memory end here; 0 = the model's own memory */
  uint32_t pci_domain;
  uint32_t pci_device_id; /* 0 = the architecture's training device; NDS_PCI_INF2 is known too */
  enum nds_generation generation;
  enum nds_strictness strictness;
  uint32_t page_bytes; /* of the host's kernel: a power of two, 4096 to 65536; 0 = 4096 */
};

struct nds_counters {
  uint64_t live_handles;
  uint64_t live_device_bytes; /* rounded sizes of live allocations in HBM */
  uint64_t live_host_bytes;   /* the same in the device's host memory */
  uint64_t ioctls;
  uint64_t unknown_ioctls; /* answered -EINVAL because no command matched */
};

/* What executions did since the device was made. */
struct nds_exec_counters {
  uint64_t executions;       /* that reached their end */
  uint64_t failures;         /* that an error ended */
  uint64_t records;          /* executed, of all kinds */
  uint64_t compute_records;  /* run by the host's compute */
  uint64_t skipped_compute;  /* compute records that NDS_COMPUTE_SKIP stepped over */
  uint64_t direct_transfers; /* that moved their data */
};

/* Where an mmap goes (spec 06 section 6). */
struct nds_mapping {
  struct nds_space* space;
  uint64_t offset; /* bytes from the start of the space */
  uint64_t bytes;
  bool read_only; /* write permission must be stripped silently */
};

/* 0, -ENOMEM. Destroy the devices first. */
int nds_machine_create(struct nds_machine** out);
void nds_machine_destroy(struct nds_machine* machine);

/*
 * 0, -EINVAL (unknown architecture; hbm_bytes not a page multiple, not larger than the carve-out
 * or larger than the architecture's; index taken), -ENOMEM.
 */
int nds_device_create(struct nds_machine* machine, const struct nds_config* config,
                      struct nds_device** out);
/* Every file must have been released. */
void nds_device_destroy(struct nds_device* device);
void nds_device_counters(struct nds_device* device, struct nds_counters* out);
void nds_device_exec_counters(struct nds_device* device, struct nds_exec_counters* out);

/*
 * The text of a sysfs attribute of the device, by its path below the device's folder, for example
 * "core_count" or "neuron_core0/stats/memory_usage/device_mem/tensors/present" (spec 06 section 8).
 * Returns the length, -ENOENT for an attribute that does not exist, -ENOSPC if it does not fit.
 */
int nds_device_fact(struct nds_device* device, const char* path, char* text, size_t bytes);

/*
 * The path of the attribute number `index`, counted from 0: its length, -ENOENT behind the last
 * one, -ENOSPC if it does not fit.
 */
int nds_device_fact_path(struct nds_device* device, uint32_t index, char* path, size_t bytes);

/*
 * The text of an attribute of the class, which all devices share: node_id_2, node_id_4,
 * server_id_2, server_id_4 and ultraserver_mode, as outside an ultraserver (spec 06 section 8).
 * Results as above.
 */
int nds_class_fact(const char* name, char* text, size_t bytes);

/*
 * From now on parts of the device do not answer; 0 = all do. The driver's waits for them pass at
 * once: what is seen is how they end (spec 11 A.3, A.5, A.6).
 */
#define NDS_SILENT_DMA 1u     /* copies are given up: -EPERM; descriptors stay where they are */
#define NDS_SILENT_MAILBOX 2u /* the firmware: counters and metrics, -EPERM */
#define NDS_SILENT_RESET 4u   /* resets are never acknowledged: open, -EINVAL */
void nds_device_silence(struct nds_device* device, uint32_t parts);

/*
 * Who computes: the model itself moves data and synchronises, compute records are the host's. A
 * host without floating point offers nobody.
 */
struct nds_compute {
  void* context;
  /* A new execution of the core starts. 0 or -ENOMEM. */
  int (*start)(void* context, uint32_t core);
  /*
   * Runs one 64-byte compute record of an engine (enum neuron_engine). 0; -EINVAL: *field is the
   * byte offset of what is illegal or not modelled, 0 = the opcode; -ENOMEM.
   */
  int (*run)(void* context, uint32_t core, uint32_t engine, const uint8_t* record, uint32_t* field);
};

enum nds_compute_mode {
  NDS_COMPUTE_REFUSE = 0, /* a compute record ends the execution with NEURON_EXEC_NO_COMPUTE */
  NDS_COMPUTE_SKIP = 1,   /* it is counted and has no effect but its synchronisation */
  NDS_COMPUTE_RUN = 2,
};

/*
 * A device starts with NDS_COMPUTE_REFUSE. `compute` is copied; it may be NULL unless the mode is
 * NDS_COMPUTE_RUN, and must outlive the device or be replaced. Takes effect at the next request.
 * Its functions are called from the thread whose doorbell runs the device and may use nothing of it
 * but the cores' memory.
 */
void nds_device_set_compute(struct nds_device* device, enum nds_compute_mode mode,
                            const struct nds_compute* compute);

/*
 * The order in which an execution goes on. Without a seed engines take turns, each until it has to
 * wait, and transfers are over when they are started. With a seed a generator picks at random which
 * engine runs how many records, which ring moves a descriptor pair and which engine's oldest direct
 * transfer completes; equal seeds give equal orders. Programs must not see a difference.
 */
#define NDS_SCHEDULE_NO_FIFO 1u /* with a seed: rings lose their order, which programs do see */
void nds_device_set_schedule(struct nds_device* device, uint64_t seed, uint32_t flags);

/*
 * Who watches executions; NULL members are not called. Times are nanoseconds of a monotonic clock.
 * Calls come from the thread whose doorbell runs the device and must not use the device.
 */
#define NDS_OBSERVED_DIRECT ~0u /* dma_engine of a direct transfer; its queue is the engine */
struct nds_observer {
  void* context;
  void (*record)(void* context, uint32_t core, uint32_t engine, uint32_t slot, uint32_t opcode,
                 uint64_t begin_ns, uint64_t end_ns);
  void (*transfer)(void* context, uint32_t core, uint32_t dma_engine, uint32_t queue,
                   uint64_t bytes, uint64_t begin_ns, uint64_t end_ns);
};
/* Copied; NULL = nobody watches. */
void nds_device_set_observer(struct nds_device* device, const struct nds_observer* observer);

/*
 * How long one doorbell may run the device, milliseconds, 0 = as long as it takes (the initial
 * value). What has not ended then ends with NEURON_EXEC_ENDLESS. Whatever the limit, so does an
 * engine after 100 million control records of the device without a compute record or a transfer
 * (NEURON_EXEC_QUIET).
 */
void nds_device_set_execution_limit(struct nds_device* device, uint32_t milliseconds);

/*
 * The memory of a core: SBUF at offset 0, PSUM at NEURON_V2_TPB_UPPER or NEURON_V3_TPB_UPPER, the
 * engine-local windows. *bytes is its size. NULL if there is no such core.
 */
struct nds_space* nds_device_core_space(const struct nds_device* device, uint32_t core,
                                        uint64_t* bytes);

/*
 * open(2). `flags` are the open flags; bit 0 makes it a free-access file. `tgid` names the calling
 * process. 0, -EBUSY (16 processes are attached), -EINVAL (never reset), -ENOMEM.
 */
int nds_file_open(struct nds_device* device, int32_t tgid, uint32_t flags, struct nds_file** out);
/* To be called at every close of every descriptor of the file, before release. */
void nds_file_flush(struct nds_file* file, int32_t tgid);
/* The last reference is gone. */
void nds_file_release(struct nds_file* file);

/* ioctl(2): `command` the full value, `argument` a user address. May run concurrently. */
long nds_file_ioctl(struct nds_file* file, int32_t tgid, uint32_t command, uint64_t argument);

/* mmap(2) lookup: `offset` in bytes. 0, -EPERM, -EINVAL, -EACCES. */
int nds_file_mmap(struct nds_file* file, int32_t tgid, uint64_t offset, uint64_t bytes,
                  struct nds_mapping* out);

#ifdef __cplusplus
}
#endif

#endif
