/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * neuron_vpci: simulated Neuron devices as PCI cards, for testing drivers.
 *
 *   driver under test         readl, writel, dma_map...; knows nothing of this module
 *     |            |
 *   probe          registers
 *     |            |
 *   vpci_bus.c   vpci_trap.c  host bridge, configuration; every access to a register is caught
 *     |            |
 *   vpci_card.c               a card: its lock, in its slot or pulled out
 *     |
 *   device model              devsim/model: registers, firmware, DMA engines, event units
 *     |
 *   vpci_space.c              HBM and core memories in the BARs; the machine's memory
 *   vpci_reserved.c           memory for the BARs, reserved by memmap= on the command line
 *
 * Files, ioctls and memory management are the driver's; the model's own are not used.
 */
#include <linux/module.h>
#include <linux/mutex.h>

#include "nds_kernel.h"
#include "vpci.h"

static struct vpci_params params;
static struct nds_machine* machine;
static struct resource window;
static struct vpci_card cards[VPCI_MAX_CARDS];

/* Parameters may be written while the module is loaded or unloaded. */
static DEFINE_MUTEX(slots_lock);
static bool ready;

struct vpci_card* vpci_card_at(u64 at, u64 bytes) {
  unsigned int index;

  for (index = 0; index < params.cards; index++) {
    const struct vpci_bar* bar = &cards[index].registers;

    if (at >= bar->at && at - bar->at < bar->bytes && bytes <= bar->bytes - (at - bar->at))
      return &cards[index];
  }
  return NULL;
}

void nds_silence_all(u32 parts) {
  unsigned int index;

  mutex_lock(&slots_lock);
  for (index = 0; ready && index < params.cards; index++) vpci_card_silence(&cards[index], parts);
  mutex_unlock(&slots_lock);
}

int vpci_plug(unsigned int index) {
  int error = -ENODEV;

  mutex_lock(&slots_lock);
  if (ready && index < params.cards) {
    error = vpci_card_insert(&cards[index], machine, &params);
    if (!error) error = vpci_bus_added(&cards[index]);
  }
  mutex_unlock(&slots_lock);
  return error;
}

int vpci_unplug(unsigned int index) {
  int error = -ENODEV;

  mutex_lock(&slots_lock);
  if (ready && index < params.cards) {
    error = vpci_card_pull(&cards[index]);
    if (!error) vpci_bus_removed(&cards[index]);
  }
  mutex_unlock(&slots_lock);
  return error;
}

static void destroy_cards(void) {
  unsigned int index;

  for (index = 0; index < params.cards; index++) vpci_card_destroy(&cards[index]);
  nds_machine_destroy(machine);
}

static int create_cards(void) {
  unsigned int index;
  int error = nds_machine_create(&machine);

  if (error) return error;
  for (index = 0; !error && index < params.cards; index++) {
    cards[index].index = index;
    error = vpci_card_create(&cards[index], machine, &params);
  }
  if (error) {
    pr_err("neuron_vpci: no memory for card %u (%d)\n", index - 1, error);
    destroy_cards();
  }
  return error;
}

/* All that is needed before a card can be seen. */
static int prepare(void) {
  int error = vpci_params_check(&params);

  if (!error) error = vpci_place(&params, cards);
  if (!error) error = vpci_space_find_host();
  if (!error) error = vpci_reserve(&params, &window);
  return error;
}

static void set_ready(bool now) {
  mutex_lock(&slots_lock);
  ready = now;
  mutex_unlock(&slots_lock);
}

static int __init load(void) {
  int error = prepare();

  if (error) return error;
  error = create_cards();
  if (error) goto no_cards;
  error = vpci_trap_install();
  if (error) goto no_trap;
  error = vpci_bus_create(&params, &window, cards);
  if (error) goto no_bus;
  set_ready(true);
  pr_info("neuron_vpci: %u cards %04x:%04x in PCI domain %d\n", params.cards, VPCI_VENDOR,
          params.device_id, params.domain);
  return 0;

no_bus:
  vpci_trap_remove();
no_trap:
  destroy_cards();
no_cards:
  vpci_unreserve(&window);
  return error;
}

/* A driver that has registers mapped keeps the module (vpci_trap.c). */
static void __exit unload(void) {
  set_ready(false);
  vpci_bus_destroy();
  vpci_trap_remove();
  destroy_cards();
  vpci_unreserve(&window);
}

module_init(load);
module_exit(unload);

MODULE_DESCRIPTION("Simulated AWS Neuron devices as PCI cards, for testing drivers");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION(VPCI_VERSION);
