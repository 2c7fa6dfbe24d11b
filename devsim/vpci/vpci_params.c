/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Module parameters. A wrong one stops the load with one sentence in the log. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "nds_kernel.h"
#include "neuron_abi/address_map.h"
#include "vpci.h"

/* Where bus addresses of the host's memory may end: what the address map has room for. */
#define HOST_BYTES (1ull << 46)

static u64 reserved_bytes, reserved_at;

/* SIZE@START, as memmap= has it but for the sign. */
static int set_memory(const char* text, const struct kernel_param* param) {
  const char* rest;
  int error = nds_parse_bytes(text, &reserved_bytes, &rest);

  if (error || *rest != '@') return -EINVAL;
  error = nds_parse_bytes(rest + 1, &reserved_at, &rest);
  return error || nds_value_ends(rest) ? error : -EINVAL;
}

static int get_memory(char* text, const struct kernel_param* param) {
  return sprintf(text, "%llu@%llu\n", reserved_bytes, reserved_at);
}

static const struct kernel_param_ops memory_ops = {.set = set_memory, .get = get_memory};

/* The two commands take the number of a card. */
static int set_unplug(const char* text, const struct kernel_param* param) {
  uint index;
  int error = kstrtouint(text, 0, &index);

  return error ? error : vpci_unplug(index);
}

static int set_plug(const char* text, const struct kernel_param* param) {
  uint index;
  int error = kstrtouint(text, 0, &index);

  return error ? error : vpci_plug(index);
}

static const struct kernel_param_ops unplug_ops = {.set = set_unplug};
static const struct kernel_param_ops plug_ops = {.set = set_plug};

static int get_accesses(char* text, const struct kernel_param* param) {
  return sprintf(text, "%lu\n", vpci_trap_count());
}

static const struct kernel_param_ops accesses_ops = {.set = nds_refuse_value, .get = get_accesses};

module_param_cb(memory, &memory_ops, NULL, 0444);
MODULE_PARM_DESC(memory,
                 "SIZE@START: reserved memory for the BARs, K, M, G and T allowed (required); "
                 "reserve it with memmap=SIZE$START on the kernel's command line");

static uint devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "number of cards, 1 to 32 (default 1)");

static uint device_id = VPCI_TRN2;
module_param(device_id, uint, 0444);
MODULE_PARM_DESC(device_id, "PCI device id: 0x7164 = trn1, 0x7264 = inf2, 0x7364 = trn2 (default)");

static uint revision;
module_param(revision, uint, 0444);
MODULE_PARM_DESC(revision, "PCI revision: 0 = hardware, 240 = emulator, 255 = QEMU (default 0)");

static u64 register_bar;
module_param_cb(register_bar, &nds_bytes_ops, &register_bar, 0444);
MODULE_PARM_DESC(register_bar,
                 "size of the register BAR, a power of two not below the architecture's, K, M and "
                 "G allowed (default 0 = the architecture's: 1G, on trn2 4G)");

static u64 memory_bar;
module_param_cb(memory_bar, &nds_bytes_ops, &memory_bar, 0444);
MODULE_PARM_DESC(memory_bar,
                 "size of the memory BAR, a power of two from 1M, K, M, G and T allowed (default 0 "
                 "= the architecture's: 32G, on trn2 256G)");

static bool no_memory_bar;
module_param(no_memory_bar, bool, 0444);
MODULE_PARM_DESC(no_memory_bar, "the cards have no memory BAR (default N)");

static uint cores;
module_param(cores, uint, 0444);
MODULE_PARM_DESC(cores, "cores of each card, 0 = the architecture's (default 0)");

static int domain = 1;
module_param(domain, int, 0444);
MODULE_PARM_DESC(domain, "PCI domain of the cards, 0 to 65535; must not exist yet (default 1)");

module_param_cb(unplug, &unplug_ops, NULL, 0200);
MODULE_PARM_DESC(unplug, "write only: number of a card that is pulled out without a warning");

module_param_cb(plug, &plug_ops, NULL, 0200);
MODULE_PARM_DESC(plug, "write only: number of a card that is put back into its slot");

module_param_cb(accesses, &accesses_ops, NULL, 0444);
MODULE_PARM_DESC(accesses, "read only: accesses to registers that were caught since the load");

static bool is_v2(void) {
  return device_id != VPCI_TRN2;
}

static int check_bars(struct vpci_params* out) {
  u64 least = is_v2() ? NEURON_V2_BAR0_SIZE : NEURON_V3_BAR0_SIZE;
  u64 usual = is_v2() ? NEURON_V2_HBM_SIZE * NEURON_V2_HBMS : 1ull << 38;

  out->register_bytes = register_bar ? register_bar : least;
  if (!is_power_of_2(out->register_bytes) || out->register_bytes < least)
    return nds_bad_number("register_bar", register_bar,
                          "a power of two, at least 1 GiB, on trn2 4 GiB");
  if (no_memory_bar)
    return memory_bar ? nds_bad_parameters("no_memory_bar and memory_bar exclude each other") : 0;
  out->memory_bytes = memory_bar ? memory_bar : usual;
  if (!is_power_of_2(out->memory_bytes) || out->memory_bytes < 1u << 20)
    return nds_bad_number("memory_bar", memory_bar, "a power of two, at least 1 MiB");
  return 0;
}

/* Drivers divide the memory BAR of an emulated V3 device among the HBMs. */
static int check_hbms(struct vpci_params* out) {
  u64 bytes = out->memory_bytes / NEURON_V3_HBMS;

  if (is_v2() || out->config.revision != NDS_REVISION_QEMU) return 0;
  if (bytes <= NEURON_HBM_CARVEOUT_SIZE)
    return nds_bad_parameters("revision 255 of trn2 needs a memory BAR of at least 128 MiB");
  out->config.hbm_bytes = min_t(u64, bytes, NEURON_V3_HBM_SIZE);
  return 0;
}

static int check_memory(struct vpci_params* out) {
  if (!reserved_bytes)
    return nds_bad_parameters(
        "parameter memory=SIZE@START must name the memory that memmap=SIZE$START reserves");
  if (!PAGE_ALIGNED(reserved_bytes | reserved_at))
    return nds_bad_parameters("parameter memory must begin and end at multiples of 4096");
  if (reserved_at + reserved_bytes > HOST_BYTES || reserved_at + reserved_bytes < reserved_at)
    return nds_bad_parameters("parameter memory must end below 64 TiB");
  out->reserved_at = reserved_at;
  out->reserved_bytes = reserved_bytes;
  return 0;
}

static int check_identity(struct vpci_params* out) {
  if (!devices || devices > VPCI_MAX_CARDS) return nds_bad_number("devices", devices, "1 to 32");
  if (device_id != VPCI_TRN1 && device_id != VPCI_INF2 && device_id != VPCI_TRN2)
    return nds_bad_number("device_id", device_id, "0x7164, 0x7264 or 0x7364");
  if (revision > 0xFF) return nds_bad_number("revision", revision, "0 to 255");
  if (cores > (is_v2() ? NEURON_V2_CORES : NEURON_V3_CORES))
    return nds_bad_number("cores", cores, "at most the architecture's, 2, on trn2 8");
  if (domain < 0 || domain > 0xFFFF)
    return nds_bad_parameters("parameter domain must be 0 to 65535");
  out->config.architecture = is_v2() ? NEURON_ARCH_V2 : NEURON_ARCH_V3;
  out->config.revision = revision;
  out->config.cores = cores;
  out->config.pci_domain = (u32)domain;
  out->config.pci_device_id = device_id == VPCI_INF2 ? NDS_PCI_INF2 : 0;
  out->config.host_bytes = HOST_BYTES;
  out->device_id = (u16)device_id;
  out->cards = devices;
  out->domain = domain;
  return 0;
}

int vpci_params_check(struct vpci_params* out) {
  int error;

  memset(out, 0, sizeof *out);
  error = check_identity(out);
  if (!error) error = check_bars(out);
  if (!error) error = check_hbms(out);
  return error ? error : check_memory(out);
}
