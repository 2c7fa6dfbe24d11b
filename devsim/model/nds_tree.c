/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_tree.h"

/* The finalizer of splitmix64. */
static uint64_t hash(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
  return value ^ (value >> 31);
}

/* Splits `tree` into the chunks below and above `pa`. */
static void split(struct nds_chunk* tree, uint64_t pa, struct nds_chunk** below,
                  struct nds_chunk** above) {
  while (tree) {
    if (tree->pa < pa) {
      *below = tree;
      below = &tree->right;
      tree = tree->right;
    } else {
      *above = tree;
      above = &tree->left;
      tree = tree->left;
    }
  }
  *below = NULL;
  *above = NULL;
}

void nds_tree_insert(struct nds_chunk** root, struct nds_chunk* chunk) {
  chunk->priority = hash(chunk->pa);
  while (*root && (*root)->priority >= chunk->priority)
    root = chunk->pa < (*root)->pa ? &(*root)->left : &(*root)->right;
  split(*root, chunk->pa, &chunk->left, &chunk->right);
  *root = chunk;
}

void nds_tree_remove(struct nds_chunk** root, struct nds_chunk* chunk) {
  struct nds_chunk* left = chunk->left;
  struct nds_chunk* right = chunk->right;

  while (*root != chunk) root = chunk->pa < (*root)->pa ? &(*root)->left : &(*root)->right;
  while (left && right) {
    if (left->priority >= right->priority) {
      *root = left;
      root = &left->right;
      left = left->right;
    } else {
      *root = right;
      root = &right->left;
      right = right->left;
    }
  }
  *root = left ? left : right;
}

struct nds_chunk* nds_tree_floor(struct nds_chunk* root, uint64_t pa) {
  struct nds_chunk* best = NULL;

  while (root) {
    if (root->pa <= pa) {
      best = root;
      root = root->right;
    } else {
      root = root->left;
    }
  }
  return best;
}

struct nds_chunk* nds_tree_ceiling(struct nds_chunk* root, uint64_t pa) {
  struct nds_chunk* best = NULL;

  while (root) {
    if (root->pa >= pa) {
      best = root;
      root = root->left;
    } else {
      root = root->right;
    }
  }
  return best;
}
