/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* A card: the model behind its BARs, in its slot or out of it. */
#include <linux/io.h>
#include <linux/slab.h>

#include "nds_kernel.h"
#include "vpci.h"

/* A program may not keep the writer of its doorbell, who has interrupts off, for longer. */
#define LONGEST_EXECUTION_MS 1000u

#define ALL_ONES(bytes) (~0ull >> (64 - 8 * (bytes)))

static int place_view(struct vpci_card* card, const struct nds_card_view* view) {
  const struct vpci_bar* bar = view->hbm ? &card->memory : &card->registers;
  u64 shown = view->bytes;

  /* A smaller BAR shows less; the rest of the memory is there all the same. */
  if (view->bar_offset >= bar->bytes) return 0;
  shown = min(shown, bar->bytes - view->bar_offset);
  return vpci_space_place(view->space, view->space_offset, shown, bar->mapped + view->bar_offset);
}

static int place_views(struct vpci_card* card, const struct nds_device* model) {
  struct nds_card_view view;
  u32 index;
  int error = 0;

  for (index = 0; !error && nds_card_view_at(model, index, &view); index++)
    error = place_view(card, &view);
  vpci_space_is_host(nds_card_host_memory(model));
  return error;
}

int vpci_card_insert(struct vpci_card* card, struct nds_machine* machine,
                     const struct vpci_params* params) {
  struct nds_config config = params->config;
  struct nds_device* model;
  unsigned long flags;
  int error;

  if (card->model) return -EBUSY;
  config.device_index = card->index;
  error = nds_device_create(machine, &config, &model);
  if (error) return error;
  error = place_views(card, model);
  if (error) {
    nds_device_destroy(model);
    return error;
  }
  vpci_config_init(card, params);
  spin_lock_irqsave(&card->lock, flags);
  nds_card_start(model);
  nds_device_set_execution_limit(model, LONGEST_EXECUTION_MS);
  nds_device_silence(model, nds_silent_parts());
  card->model = model;
  spin_unlock_irqrestore(&card->lock, flags);
  return 0;
}

int vpci_card_pull(struct vpci_card* card) {
  struct nds_device* model;
  unsigned long flags;

  spin_lock_irqsave(&card->lock, flags);
  model = card->model;
  card->model = NULL;
  spin_unlock_irqrestore(&card->lock, flags);
  if (!model) return -ENODEV;
  nds_device_destroy(model);
  return 0;
}

/* As drivers map them, so that no two views of a page disagree about caching. */
static int map_bars(struct vpci_card* card) {
  card->registers.mapped = (__force void*)ioremap(card->registers.at, card->registers.bytes);
  if (!card->registers.mapped) return -ENOMEM;
  if (!card->memory.bytes) return 0;
  card->memory.mapped = memremap(card->memory.at, card->memory.bytes, MEMREMAP_WC);
  return card->memory.mapped ? 0 : -ENOMEM;
}

int vpci_card_create(struct vpci_card* card, struct nds_machine* machine,
                     const struct vpci_params* params) {
  int error;

  spin_lock_init(&card->lock);
  error = map_bars(card);
  return error ? error : vpci_card_insert(card, machine, params);
}

void vpci_card_destroy(struct vpci_card* card) {
  (void)vpci_card_pull(card);
  if (card->registers.mapped) iounmap((void __force __iomem*)card->registers.mapped);
  if (card->memory.mapped) memunmap(card->memory.mapped);
  card->registers.mapped = NULL;
  card->memory.mapped = NULL;
}

static u64 read_locked(struct vpci_card* card, u64 offset, unsigned int bytes) {
  unsigned int shift = 8 * (offset % 4);
  u64 value = nds_card_read(card->model, offset - offset % 4);

  if (shift + 8 * bytes > 32)
    value |= (u64)nds_card_read(card->model, offset - offset % 4 + 4) << 32;
  return value >> shift & ALL_ONES(bytes);
}

static void write_locked(struct vpci_card* card, u64 offset, unsigned int bytes, u64 value) {
  u64 word = offset - offset % 4;
  unsigned int shift = 8 * (offset % 4);
  u64 mask = ALL_ONES(bytes) << shift;

  value = value << shift & mask;
  for (; mask; mask >>= 32, value >>= 32, word += 4) {
    u32 kept = (u32)mask == ~0u ? 0 : nds_card_read(card->model, word) & ~(u32)mask;

    if ((u32)mask) nds_card_write(card->model, word, kept | (u32)value);
  }
}

u64 vpci_card_read(struct vpci_card* card, u64 offset, unsigned int bytes) {
  unsigned long flags;
  u64 value = ALL_ONES(bytes);

  spin_lock_irqsave(&card->lock, flags);
  if (card->model) value = read_locked(card, offset, bytes);
  spin_unlock_irqrestore(&card->lock, flags);
  pr_debug("neuron_vpci: card %u reads %llx: %llx\n", card->index, offset, value);
  return value;
}

void vpci_card_write(struct vpci_card* card, u64 offset, unsigned int bytes, u64 value) {
  unsigned long flags;

  pr_debug("neuron_vpci: card %u writes %llx: %llx\n", card->index, offset, value);
  spin_lock_irqsave(&card->lock, flags);
  if (card->model) write_locked(card, offset, bytes, value);
  spin_unlock_irqrestore(&card->lock, flags);
}

/* Work that a silent part has left never runs later: its memory may be somebody else's by then. */
void vpci_card_silence(struct vpci_card* card, u32 parts) {
  unsigned long flags;

  spin_lock_irqsave(&card->lock, flags);
  if (card->model) {
    nds_card_drop_work(card->model);
    nds_device_silence(card->model, parts);
  }
  spin_unlock_irqrestore(&card->lock, flags);
}
