/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* What the files of the PCI host share. */
#ifndef VPCI_H
#define VPCI_H

#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "nds_card.h"

#define VPCI_VERSION "0.1.0"
#define VPCI_MAX_CARDS 32u /* slots of one bus */
#define VPCI_VENDOR 0x1D0Fu
#define VPCI_TRN1 0x7164u
#define VPCI_INF2 0x7264u
#define VPCI_TRN2 0x7364u

/* vpci_params.c: the module's parameters after a check. */
struct vpci_params {
  struct nds_config config; /* of every card, but for its index */
  u16 device_id;
  unsigned int cards;
  int domain;
  u64 register_bytes; /* sizes of the BARs */
  u64 memory_bytes;   /* 0 = no memory BAR */
  u64 reserved_at;
  u64 reserved_bytes;
};

/* 0, or -EINVAL after one sentence in the log. */
int vpci_params_check(struct vpci_params* out);

/* vpci_reserved.c: the reserved memory that holds the BARs. */
/* 0 or a negative errno after a sentence. `window` then is the memory in the kernel's map. */
int vpci_reserve(const struct vpci_params* params, struct resource* window);
void vpci_unreserve(struct resource* window);
/* Places the BARs of all cards: 0, or -ENOSPC after a sentence. */
struct vpci_card;
int vpci_place(const struct vpci_params* params, struct vpci_card* cards);

struct vpci_bar {
  u64 at; /* physical address */
  u64 bytes;
  void* mapped; /* the card's own view of it */
};

/* A card. The lock guards the model and what is below it. */
struct vpci_card {
  unsigned int index;
  struct vpci_bar registers;
  struct vpci_bar memory; /* bytes = 0: none */
  spinlock_t lock;
  struct nds_device* model;        /* NULL: not in its slot */
  u8 space[PCI_STD_HEADER_SIZEOF]; /* configuration, and which of its bits can be written */
  u8 writable[PCI_STD_HEADER_SIZEOF];
};

/* vpci_card.c */
/* 0 or -ENOMEM; the BARs have been placed. Destroy also after a failed create. */
int vpci_card_create(struct vpci_card* card, struct nds_machine* machine,
                     const struct vpci_params* params);
void vpci_card_destroy(struct vpci_card* card);
/* In or out of its slot: a card that is out reads as all ones. 0, -EBUSY, -ENODEV or -ENOMEM. */
int vpci_card_insert(struct vpci_card* card, struct nds_machine* machine,
                     const struct vpci_params* params);
int vpci_card_pull(struct vpci_card* card);
/*
 * Access to 1, 2, 4 or 8 bytes inside the register BAR. Registers are words: what is narrower
 * changes its part of the word, what is wider goes word by word.
 */
u64 vpci_card_read(struct vpci_card* card, u64 offset, unsigned int bytes);
void vpci_card_write(struct vpci_card* card, u64 offset, unsigned int bytes, u64 value);
void vpci_card_silence(struct vpci_card* card, u32 parts);

/* vpci_bus.c: the host bridge with all cards. 0 or a negative errno. */
int vpci_bus_create(const struct vpci_params* params, struct resource* window,
                    struct vpci_card* cards);
void vpci_bus_destroy(void);
/* Makes the kernel notice that a card has come or gone. */
int vpci_bus_added(const struct vpci_card* card);
void vpci_bus_removed(const struct vpci_card* card);
/* Fills in the configuration space. */
void vpci_config_init(struct vpci_card* card, const struct vpci_params* params);

/* vpci_main.c */
/* The card whose register BAR holds [at, at + bytes), or NULL. */
struct vpci_card* vpci_card_at(u64 at, u64 bytes);
int vpci_plug(unsigned int index);
int vpci_unplug(unsigned int index);

/* vpci_space.c */
/* Shows a part of a space at an address instead of in pages of its own; 0 or -ENOMEM. */
int vpci_space_place(struct nds_space* space, u64 offset, u64 bytes, void* at);
/* Makes a space the memory of this machine: an offset is a physical address. */
void vpci_space_is_host(struct nds_space* space);
/* Learns where the machine's memory is: 0 or -ENOMEM. Before any space is used. */
int vpci_space_find_host(void);

/* vpci_trap.c */
/* Catches every access to the register BARs from now on. 0 or a negative errno after a sentence. */
int vpci_trap_install(void);
void vpci_trap_remove(void);
/* Accesses since the load. */
unsigned long vpci_trap_count(void);

#endif
