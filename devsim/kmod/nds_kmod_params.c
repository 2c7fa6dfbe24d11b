/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* Module parameters. All have defaults; a wrong one stops the load with one sentence in the log. */
#include <linux/ctype.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "nds_kernel.h"
#include "nds_kmod.h"
#include "nds_os.h"
#include "neuron_abi/address_map.h"
#include "neuron_abi/ioctl.h"

#define LONGEST_PREFIX 16
#define LEAST_LIMIT (16ull << 20)

static int get_used(char* text, const struct kernel_param* param) {
  return sprintf(text, "%llu\n", (u64)nds_kmod_used());
}

static const struct kernel_param_ops used_ops = {.set = nds_refuse_value, .get = get_used};

static uint devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "number of devices, 1 to 64 (default 1)");

static uint arch = NEURON_ARCH_V3;
module_param(arch, uint, 0444);
MODULE_PARM_DESC(arch, "architecture: 2 = trn1 and inf2, 3 = trn2, 4 = trn3 (default 3)");

static u64 hbm_bytes;
module_param_cb(hbm_bytes, &nds_bytes_ops, &hbm_bytes, 0444);
MODULE_PARM_DESC(
    hbm_bytes,
    "size of each HBM, K, M and G allowed: a multiple of 4K, more than 16M and at most "
    "the architecture's; 0 = the architecture's (default 0)");

static u64 mem_limit;
module_param_cb(mem_limit, &nds_bytes_ops, &mem_limit, 0444);
MODULE_PARM_DESC(
    mem_limit,
    "memory that clients of all devices together may take, K, M and G allowed, at least "
    "16M; 0 = half of the machine's (default 0)");

static uint driver_minor = 24;
module_param(driver_minor, uint, 0444);
MODULE_PARM_DESC(driver_minor,
                 "driver generation to act as: 24, 27 or 30 for 2.24, 2.27 or 2.30 "
                 "(default 24)");

static bool clean_errors;
module_param(clean_errors, bool, 0444);
MODULE_PARM_DESC(clean_errors,
                 "answer errnos where the real driver returns positive residues or ignores wrong "
                 "handles (default N)");

static uint pci_domain;
module_param(pci_domain, uint, 0444);
MODULE_PARM_DESC(pci_domain, "PCI domain that the devices say they are in (default 0)");

static bool raw_mappings;
module_param(raw_mappings, bool, 0444);
MODULE_PARM_DESC(raw_mappings,
                 "let processes with CAP_SYS_RAWIO map any device address, as the real driver does "
                 "(default N)");

/* Of one doorbell, in milliseconds. Its caller can always be killed. */
static uint execution_limit = 60000;

static int set_execution_limit(const char* text, const struct kernel_param* param) {
  int error = kstrtouint(text, 0, &execution_limit);

  if (!error) nds_kmod_limit_executions(execution_limit);
  return error;
}

static int get_execution_limit(char* text, const struct kernel_param* param) {
  return sprintf(text, "%u\n", execution_limit);
}

static const struct kernel_param_ops execution_limit_ops = {.set = set_execution_limit,
                                                            .get = get_execution_limit};

u32 nds_kmod_execution_limit(void) {
  return execution_limit;
}

module_param_cb(execution_limit, &execution_limit_ops, NULL, 0644);
MODULE_PARM_DESC(execution_limit,
                 "milliseconds that one doorbell may run a device, 0 = as long as it takes; may be "
                 "changed at any time (default 60000)");

static uint revision;
module_param(revision, uint, 0444);
MODULE_PARM_DESC(revision, "PCI revision, 0 = hardware, 240 = emulator, 255 = QEMU (default 0)");

static uint cores;
module_param(cores, uint, 0444);
MODULE_PARM_DESC(cores, "cores of each device, 0 = the architecture's (default 0)");

static bool inf2;
module_param(inf2, bool, 0444);
MODULE_PARM_DESC(inf2, "with arch=2: an inf2 device, not a trn1 one (default N)");

static char* prefix = "neuron";
module_param(prefix, charp, 0444);
MODULE_PARM_DESC(
    prefix,
    "name of the nodes before their number, up to 16 of a-z, 0-9 and _, beginning with "
    "a letter (default neuron)");

static ushort node_mode = 0666;
module_param(node_mode, ushort, 0444);
MODULE_PARM_DESC(node_mode, "permissions of the nodes, octal with a leading 0 (default 0666)");

module_param_cb(mem_used, &used_ops, NULL, 0444);
MODULE_PARM_DESC(mem_used, "read only: bytes that count against mem_limit now");

bool nds_kmod_raw_mappings(void) {
  return raw_mappings;
}

static bool prefix_is_valid(void) {
  const char* at = prefix;

  if (!islower(*at) || strlen(prefix) > LONGEST_PREFIX) return false;
  while (islower(*at) || isdigit(*at) || *at == '_') at++;
  return !*at;
}

static int check_generation(enum nds_generation* out) {
  switch (driver_minor) {
    case 24:
      *out = NDS_GENERATION_2_24;
      return 0;
    case 27:
      *out = NDS_GENERATION_2_27;
      return 0;
    case 30:
      *out = NDS_GENERATION_2_30;
      return 0;
    default:
      return nds_bad_number("driver_minor", driver_minor, "24, 27 or 30");
  }
}

/* What the architecture bounds. */
static int check_sizes(void) {
  static const struct {
    u64 hbm_bytes;
    uint cores;
  } limits[] = {
      [NEURON_ARCH_V2] = {NEURON_V2_HBM_SIZE, NEURON_V2_CORES},
      [NEURON_ARCH_V3] = {NEURON_V3_HBM_SIZE, NEURON_V3_CORES},
      [NEURON_ARCH_V4] = {NEURON_V4_HBM_SIZE, NEURON_V3_CORES},
  };

  if (arch < NEURON_ARCH_V2 || arch > NEURON_ARCH_V4)
    return nds_bad_number("arch", arch, "2, 3 or 4");
  if (hbm_bytes && (hbm_bytes % NEURON_PAGE_SIZE || hbm_bytes <= NEURON_HBM_CARVEOUT_SIZE ||
                    hbm_bytes > limits[arch].hbm_bytes))
    return nds_bad_number(
        "hbm_bytes", hbm_bytes,
        "0, or a multiple of 4096 above 16 MiB and up to the architecture's HBM size");
  if (cores > limits[arch].cores)
    return nds_bad_number("cores", cores,
                          "at most the architecture's, 2 for arch 2, 8 for 3 and 4");
  return inf2 && arch != NEURON_ARCH_V2 ? nds_bad_parameters("parameter inf2 needs arch=2") : 0;
}

int nds_kmod_params_check(struct nds_kmod_params* out) {
  int error;

  memset(out, 0, sizeof *out);
  error = check_sizes();
  if (!error) error = check_generation(&out->config.generation);
  if (error) return error;
  if (!devices || devices > NEURON_MAX_DEVICES)
    return nds_bad_number("devices", devices, "1 to 64");
  if (revision > 0xFF) return nds_bad_number("revision", revision, "0 to 255");
  if (node_mode > 0777) return nds_bad_parameters("parameter node_mode must be 0 to 0777");
  if (mem_limit && mem_limit < LEAST_LIMIT)
    return nds_bad_number("mem_limit", mem_limit, "0 or at least 16 MiB");
  if (!prefix_is_valid())
    return nds_bad_parameters(
        "parameter prefix must be 1 to 16 of a-z, 0-9 and _, beginning with a letter");
  out->config.architecture = arch;
  out->config.revision = revision;
  out->config.pci_domain = pci_domain;
  out->config.hbm_bytes = hbm_bytes;
  out->config.cores = cores;
  out->config.pci_device_id = inf2 ? NDS_PCI_INF2 : 0;
  out->config.strictness = clean_errors ? NDS_CLEAN : NDS_AS_MEASURED;
  out->config.page_bytes = PAGE_SIZE;
  out->devices = devices;
  out->prefix = prefix;
  out->node_mode = node_mode;
  out->mem_limit = mem_limit ? mem_limit : totalram_pages() / 2 << PAGE_SHIFT;
  return 0;
}
