/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_handle.h"

#include "nds_chunk.h"
#include "neuron_abi/ioctl.h"

static struct nds_handle_slot* slot_of(const struct nds_handle_table* table, uint64_t handle) {
  return &table->leaf[handle / NDS_HANDLE_LEAF_SLOTS][handle % NDS_HANDLE_LEAF_SLOTS];
}

void nds_handle_table_destroy(struct nds_handle_table* table) {
  uint32_t index;

  for (index = 0; index < NDS_HANDLE_LEAVES; index++) nds_os_free(table->leaf[index]);
  memset(table, 0, sizeof *table);
}

/* The next never used index, 0 if there is none. */
static uint64_t grow(struct nds_handle_table* table) {
  uint64_t handle = table->highest + 1;
  struct nds_handle_slot** leaf;

  /* The real driver breaks for good at the limit; here the call just fails (06 12.8). */
  if (handle > NEURON_MAX_HANDLE) return 0;
  leaf = &table->leaf[handle / NDS_HANDLE_LEAF_SLOTS];
  if (!*leaf) *leaf = nds_os_alloc(NDS_HANDLE_LEAF_SLOTS * sizeof **leaf);
  if (!*leaf) return 0;
  table->highest = handle;
  return handle;
}

int nds_handle_mint(struct nds_handle_table* table, struct nds_chunk* chunk) {
  uint64_t handle = table->first_free;

  if (handle)
    table->first_free = slot_of(table, handle)->next_free;
  else
    handle = grow(table);
  if (!handle) return -ENOMEM;
  slot_of(table, handle)->chunk = chunk;
  chunk->handle = handle;
  table->live++;
  return 0;
}

void nds_handle_drop(struct nds_handle_table* table, struct nds_chunk* chunk) {
  struct nds_handle_slot* slot;

  if (!chunk->handle) return;
  slot = slot_of(table, chunk->handle);
  slot->chunk = NULL;
  slot->next_free = table->first_free;
  table->first_free = chunk->handle;
  chunk->handle = 0;
  table->live--;
}

struct nds_chunk* nds_handle_find(const struct nds_handle_table* table, uint64_t handle) {
  if (!handle || handle > table->highest) return NULL;
  return slot_of(table, handle)->chunk;
}
