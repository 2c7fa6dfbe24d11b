/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * The host bridge: a PCI domain with one bus, a card in each slot. Configuration space is what the
 * kernel and drivers were seen to touch (spec 11 A.2): a plain header without capabilities and
 * interrupts.
 */
#include <linux/module.h>
#include <linux/pci.h>

#include "vpci.h"

#define CLASS_OTHER_SYSTEM_PERIPHERAL 0x0880u
#define WRITABLE_COMMAND                                                             \
  (PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR | \
   PCI_COMMAND_INTX_DISABLE)

static struct pci_sysdata sysdata = {.node = NUMA_NO_NODE};
static struct vpci_card* cards;
static unsigned int card_count;
static struct pci_bus* root;

static void put(u8* space, unsigned int at, u32 value, unsigned int bytes) {
  for (; bytes; bytes--, at++, value >>= 8) space[at] = (u8)value;
}

/* A 64-bit BAR: address and type, and which bits of the address can be written. */
static void put_bar(struct vpci_card* card, unsigned int index, const struct vpci_bar* bar,
                    u32 type) {
  unsigned int at = PCI_BASE_ADDRESS_0 + 4 * index;
  u64 mask = ~(bar->bytes - 1);

  if (!bar->bytes) return;
  put(card->space, at, (u32)bar->at | type | PCI_BASE_ADDRESS_MEM_TYPE_64, 4);
  put(card->space, at + 4, (u32)(bar->at >> 32), 4);
  put(card->writable, at, (u32)mask & ~0xFu, 4);
  put(card->writable, at + 4, (u32)(mask >> 32), 4);
}

/* The register BAR of emulated devices is BAR 2, also on V2 (11 A.2). */
static unsigned int register_bar(const struct vpci_params* params) {
  return params->config.revision == NDS_REVISION_QEMU ? 2 : 0;
}

void vpci_config_init(struct vpci_card* card, const struct vpci_params* params) {
  memset(card->space, 0, sizeof card->space);
  memset(card->writable, 0, sizeof card->writable);
  put(card->space, PCI_VENDOR_ID, VPCI_VENDOR, 2);
  put(card->space, PCI_DEVICE_ID, params->device_id, 2);
  put(card->space, PCI_REVISION_ID, params->config.revision, 1);
  put(card->space, PCI_CLASS_DEVICE, CLASS_OTHER_SYSTEM_PERIPHERAL, 2);
  put(card->space, PCI_SUBSYSTEM_VENDOR_ID, VPCI_VENDOR, 2);
  put(card->space, PCI_SUBSYSTEM_ID, params->device_id, 2);
  put(card->writable, PCI_COMMAND, WRITABLE_COMMAND, 2);
  put(card->writable, PCI_CACHE_LINE_SIZE, 0xFFFF, 2); /* and the latency timer */
  put(card->writable, PCI_INTERRUPT_LINE, 0xFF, 1);
  put_bar(card, register_bar(params), &card->registers, 0);
  put_bar(card, 4, &card->memory, PCI_BASE_ADDRESS_MEM_PREFETCH);
}

static struct vpci_card* card_in_slot(unsigned int devfn) {
  unsigned int slot = PCI_SLOT(devfn);

  return PCI_FUNC(devfn) || slot >= card_count || !cards[slot].model ? NULL : &cards[slot];
}

static int read_config(struct pci_bus* bus, unsigned int devfn, int where, int bytes, u32* value) {
  const struct vpci_card* card = card_in_slot(devfn);
  u32 all = 0;
  int index;

  *value = ~0u;
  if (bus->number || !card) return PCIBIOS_DEVICE_NOT_FOUND;
  for (index = bytes - 1; index >= 0; index--) {
    unsigned int at = (unsigned int)(where + index);

    all = all << 8 | (at < sizeof card->space ? card->space[at] : 0);
  }
  *value = all;
  return PCIBIOS_SUCCESSFUL;
}

static int write_config(struct pci_bus* bus, unsigned int devfn, int where, int bytes, u32 value) {
  struct vpci_card* card = card_in_slot(devfn);
  int index;

  if (bus->number || !card) return PCIBIOS_DEVICE_NOT_FOUND;
  for (index = 0; index < bytes; index++, value >>= 8) {
    unsigned int at = (unsigned int)(where + index);

    if (at >= sizeof card->space) break;
    card->space[at] = (card->space[at] & ~card->writable[at]) | ((u8)value & card->writable[at]);
  }
  return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_operations = {.read = read_config, .write = write_config};

/*
 * The BARs stay where they were placed: the kernel enters them into its map as soon as it finds a
 * card, also on a rescan by somebody else, before it would look for other places.
 */
static int claim(struct pci_dev* device) {
  int index;
  int error = 0;

  for (index = 0; !error && index < PCI_STD_NUM_BARS; index++)
    if (device->resource[index].flags) error = pci_claim_resource(device, index);
  if (error) pci_err(device, "neuron_vpci: the BARs cannot be placed (%d)\n", error);
  return error;
}

static int on_device(struct notifier_block* block, unsigned long event, void* data) {
  struct pci_dev* device = to_pci_dev(data);

  if (event == BUS_NOTIFY_ADD_DEVICE && device->bus->ops == &config_operations) (void)claim(device);
  return NOTIFY_DONE;
}

static struct notifier_block device_block = {.notifier_call = on_device};

static int add_root(struct resource* window) {
  LIST_HEAD(windows);

  pci_add_resource(&windows, window);
  root = pci_create_root_bus(NULL, 0, &config_operations, &sysdata, &windows);
  if (!root) {
    pci_free_resource_list(&windows);
    return -ENOMEM;
  }
  pci_scan_child_bus(root);
  pci_bus_add_devices(root);
  return 0;
}

int vpci_bus_create(const struct vpci_params* params, struct resource* window,
                    struct vpci_card* all) {
  int error;

  if (pci_find_bus(params->domain, 0)) {
    pr_err("neuron_vpci: PCI domain %d is in use, give another one (domain=N)\n", params->domain);
    return -EBUSY;
  }
  cards = all;
  card_count = params->cards;
  sysdata.domain = params->domain;
  error = bus_register_notifier(&pci_bus_type, &device_block);
  if (error) return error;
  pci_lock_rescan_remove();
  error = add_root(window);
  pci_unlock_rescan_remove();
  if (error) bus_unregister_notifier(&pci_bus_type, &device_block);
  return error;
}

void vpci_bus_destroy(void) {
  struct pci_host_bridge* bridge = to_pci_host_bridge(root->bridge);

  pci_lock_rescan_remove();
  pci_stop_root_bus(root);
  pci_remove_root_bus(root);
  pci_free_host_bridge(bridge); /* the reference of whoever made the bus, since kernel 5.8 */
  pci_unlock_rescan_remove();
  root = NULL;
  bus_unregister_notifier(&pci_bus_type, &device_block);
}

int vpci_bus_added(const struct vpci_card* card) {
  struct pci_dev* device;

  pci_lock_rescan_remove();
  device = pci_scan_single_device(root, PCI_DEVFN(card->index, 0));
  if (device) pci_bus_add_devices(root);
  pci_unlock_rescan_remove();
  return device ? 0 : -ENODEV;
}

/* The card is gone already, so drivers are told that it does not answer, as by a hot-plug slot. */
void vpci_bus_removed(const struct vpci_card* card) {
  struct pci_dev* device;

  pci_lock_rescan_remove();
  device = pci_get_slot(root, PCI_DEVFN(card->index, 0));
  if (device) {
    device->error_state = pci_channel_io_perm_failure;
    pci_stop_and_remove_bus_device(device);
    pci_dev_put(device);
  }
  pci_unlock_rescan_remove();
}
