/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
#include "nds_pool.h"

#define PAGE_SHIFT_ 12
#define WORD_BITS 64ull
#define BLOCK_PAGES 4096ull
#define BLOCK_WORDS (BLOCK_PAGES / WORD_BITS)

static uint64_t minimum(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static bool taken(const struct nds_pool* pool, uint64_t page) {
  return (pool->bits[page / WORD_BITS] >> (page % WORD_BITS)) & 1u;
}

/* First page in [from, limit) whose bit is `value`, or limit. */
static uint64_t find_bit(const struct nds_pool* pool, uint64_t from, uint64_t limit, bool value) {
  while (from < limit) {
    uint64_t word = pool->bits[from / WORD_BITS];
    uint64_t found;

    if (!value) word = ~word;
    word &= ~0ull << (from % WORD_BITS);
    if (word) {
      found = (from & ~(WORD_BITS - 1)) + (uint64_t)__builtin_ctzll(word);
      return minimum(found, limit);
    }
    from = (from & ~(WORD_BITS - 1)) + WORD_BITS;
  }
  return limit;
}

/* As find_bit over the whole pool; blocks that are all free or all taken are stepped over. */
static uint64_t find_page(const struct nds_pool* pool, uint64_t from, bool value) {
  while (from < pool->pages) {
    const struct nds_pool_block* block = &pool->blocks[from / BLOCK_PAGES];
    uint64_t start = from & ~(BLOCK_PAGES - 1);
    uint64_t end = minimum(start + BLOCK_PAGES, pool->pages);
    bool skip = value ? block->longest == end - start : block->longest == 0;

    if (!skip) {
      uint64_t found = find_bit(pool, from, end, value);

      if (found < end) return found;
    }
    from = end;
  }
  return pool->pages;
}

static void summarize(struct nds_pool* pool, uint64_t index) {
  struct nds_pool_block* block = &pool->blocks[index];
  uint64_t start = index * BLOCK_PAGES;
  uint64_t end = minimum(start + BLOCK_PAGES, pool->pages);
  uint64_t page = start;
  uint64_t longest = 0;

  block->head = (uint16_t)(find_bit(pool, start, end, true) - start);
  block->tail = 0;
  while (page < end) {
    uint64_t first = find_bit(pool, page, end, false);
    uint64_t last = find_bit(pool, first, end, true);

    if (last - first > longest) longest = last - first;
    if (last == end) block->tail = (uint16_t)(last - first);
    page = last;
  }
  block->longest = (uint16_t)longest;
}

static void set_range(struct nds_pool* pool, uint64_t page, uint64_t count, bool value) {
  uint64_t end = page + count;
  uint64_t index;

  for (index = page; index < end;) {
    uint64_t bit = index % WORD_BITS;
    uint64_t run = minimum(WORD_BITS - bit, end - index);
    uint64_t mask = (run == WORD_BITS ? ~0ull : ((1ull << run) - 1)) << bit;

    if (value)
      pool->bits[index / WORD_BITS] |= mask;
    else
      pool->bits[index / WORD_BITS] &= ~mask;
    index += run;
  }
  for (index = page / BLOCK_PAGES; index <= (end - 1) / BLOCK_PAGES; index++)
    summarize(pool, index);
}

int nds_pool_init(struct nds_pool* pool, uint64_t base, uint64_t bytes) {
  uint64_t index;

  memset(pool, 0, sizeof *pool);
  pool->base = base;
  pool->pages = bytes >> PAGE_SHIFT_;
  pool->block_count = (pool->pages + BLOCK_PAGES - 1) / BLOCK_PAGES;
  if (!pool->pages) return 0;
  pool->bits = nds_os_alloc((size_t)(pool->block_count * BLOCK_WORDS * sizeof *pool->bits));
  pool->blocks = nds_os_alloc((size_t)(pool->block_count * sizeof *pool->blocks));
  if (!pool->bits || !pool->blocks) {
    nds_pool_destroy(pool);
    return -ENOMEM;
  }
  for (index = 0; index < pool->block_count; index++) summarize(pool, index);
  return 0;
}

void nds_pool_destroy(struct nds_pool* pool) {
  nds_os_free(pool->bits);
  nds_os_free(pool->blocks);
  memset(pool, 0, sizeof *pool);
}

/* First run of `count` free pages inside one block. The block has one. */
static uint64_t run_in_block(const struct nds_pool* pool, uint64_t index, uint64_t count) {
  uint64_t page = index * BLOCK_PAGES;
  uint64_t end = minimum(page + BLOCK_PAGES, pool->pages);

  for (;;) {
    uint64_t first = find_bit(pool, page, end, false);
    uint64_t last = find_bit(pool, first, end, true);

    if (last - first >= count) return first;
    page = last;
  }
}

/* Lowest page that starts `count` free pages, or pool->pages. */
static uint64_t first_fit(const struct nds_pool* pool, uint64_t count) {
  uint64_t index;
  uint64_t run = 0; /* free pages that end where the current block starts */

  for (index = 0; index < pool->block_count; index++) {
    const struct nds_pool_block* block = &pool->blocks[index];
    uint64_t start = index * BLOCK_PAGES;
    uint64_t length = minimum(BLOCK_PAGES, pool->pages - start);

    if (run + block->head >= count) return start - run;
    if (block->longest >= count) return run_in_block(pool, index, count);
    run = block->head == length ? run + length : block->tail;
  }
  return pool->pages;
}

/*
 * The kernel's bitmap search with an alignment mask, step for step: for masks that are not of the
 * form 2^k - 1 the result depends on the order of the candidates (spec 11 B.1).
 */
static uint64_t aligned_fit(const struct nds_pool* pool, uint64_t count, uint64_t align) {
  uint64_t mask = ((align + 0xFFF) >> PAGE_SHIFT_) - 1;
  uint64_t shift = (pool->base & (align - 1)) >> PAGE_SHIFT_;
  uint64_t from = 0;

  for (;;) {
    uint64_t page = find_page(pool, from, false);
    uint64_t blocked;

    page = ((page + shift + mask) & ~mask) - shift;
    if (page > pool->pages || count > pool->pages - page) return pool->pages;
    blocked = find_page(pool, page, true);
    if (blocked - page >= count) return page;
    from = blocked + 1;
  }
}

uint64_t nds_pool_take(struct nds_pool* pool, uint64_t bytes, uint64_t align) {
  uint64_t count = bytes >> PAGE_SHIFT_;
  uint64_t page;

  if (!count || count > pool->pages) return NDS_POOL_NO_SPACE;
  page = align > 4096 ? aligned_fit(pool, count, align) : first_fit(pool, count);
  if (page >= pool->pages) return NDS_POOL_NO_SPACE;
  set_range(pool, page, count, true);
  return pool->base + (page << PAGE_SHIFT_);
}

bool nds_pool_take_at(struct nds_pool* pool, uint64_t address, uint64_t bytes) {
  uint64_t page;
  uint64_t count = bytes >> PAGE_SHIFT_;

  if (!count || !nds_pool_contains(pool, address)) return false;
  page = (address - pool->base) >> PAGE_SHIFT_;
  if (count > pool->pages - page) return false;
  if (taken(pool, page) || find_page(pool, page, true) - page < count) return false;
  set_range(pool, page, count, true);
  return true;
}

void nds_pool_give(struct nds_pool* pool, uint64_t address, uint64_t bytes) {
  set_range(pool, (address - pool->base) >> PAGE_SHIFT_, bytes >> PAGE_SHIFT_, false);
}
