/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Spaces for a kernel: a sparse array of pages, each allocated when it is first written or mapped.
 *
 * No lock is held while user memory is touched: a page is found and referenced under the array's
 * own lock and then used without one. A page leaves the array (a fill with zero does that) only
 * when nobody else refers to it, so mappings and copies in flight keep theirs, which is then
 * cleared in place. That also makes the count of pages in use exact.
 *
 * A 64-bit kernel has no high memory, so every page has an address.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "nds_kmod.h"
#include "nds_os.h"

/* An allocation that fails tells the client so; it must not kill anybody or fill the log. */
#define QUIETLY (__GFP_NOWARN | __GFP_RETRY_MAYFAIL)

struct nds_space {
  struct xarray pages; /* by offset / PAGE_SIZE; absent = zero */
};

static struct page* new_page(gfp_t flags) {
  struct page* page;

  if (!nds_kmod_charge(PAGE_SIZE)) return NULL;
  page = alloc_page(GFP_USER | __GFP_ACCOUNT | QUIETLY | flags);
  if (!page) nds_kmod_uncharge(PAGE_SIZE);
  return page;
}

static void drop_page(struct page* page) {
  put_page(page);
  nds_kmod_uncharge(PAGE_SIZE);
}

struct nds_space* nds_os_space_create(uint64_t bytes, uint64_t address) {
  struct nds_space* space = nds_os_alloc(sizeof *space);

  (void)bytes; /* the caller stays inside, and a larger array costs nothing */
  (void)address;
  if (space) xa_init_flags(&space->pages, XA_FLAGS_ACCOUNT);
  return space;
}

void nds_os_space_destroy(struct nds_space* space) {
  struct page* page;
  unsigned long index;

  xa_for_each(&space->pages, index, page) {
    drop_page(page);
    cond_resched();
  }
  xa_destroy(&space->pages);
  nds_os_free(space);
}

/* The page with a reference for the caller, or NULL for a hole. */
static struct page* find_page(struct nds_space* space, unsigned long index) {
  struct page* page;

  xa_lock(&space->pages);
  page = xa_load(&space->pages, index);
  if (page) get_page(page);
  xa_unlock(&space->pages);
  return page;
}

/* Enters a new page, which then belongs to the space: 0, -EBUSY (there is one) or -ENOMEM. */
static int enter_page(struct nds_space* space, unsigned long index, struct page* page) {
  return xa_insert(&space->pages, index, page, GFP_KERNEL_ACCOUNT | QUIETLY);
}

/* The page with a reference for the caller, made if there is none; NULL = no memory. */
static struct page* touch_page(struct nds_space* space, unsigned long index) {
  struct page* page = find_page(space, index);
  int error = -EBUSY;

  while (!page && error == -EBUSY) {
    page = new_page(__GFP_ZERO);
    if (!page) return NULL;
    get_page(page);
    error = enter_page(space, index, page);
    if (!error) return page;
    put_page(page);
    drop_page(page);
    page = find_page(space, index);
  }
  return page;
}

struct page* nds_kmod_space_page(struct nds_space* space, u64 offset) {
  return touch_page(space, (unsigned long)(offset >> PAGE_SHIFT));
}

/* The part of a transfer that lies in one page. */
struct piece {
  unsigned long index;
  size_t start; /* in the page */
  size_t bytes;
};

static struct piece piece_at(uint64_t offset, uint64_t bytes) {
  struct piece piece = {
      .index = (unsigned long)(offset >> PAGE_SHIFT),
      .start = offset_in_page(offset),
  };

  piece.bytes = min_t(uint64_t, bytes, PAGE_SIZE - piece.start);
  return piece;
}

static void read_piece(struct nds_space* space, struct piece piece, void* to) {
  struct page* page = find_page(space, piece.index);

  if (page) {
    memcpy(to, page_address(page) + piece.start, piece.bytes);
    put_page(page);
  } else {
    memset(to, 0, piece.bytes);
  }
}

static int write_piece(struct nds_space* space, struct piece piece, const void* from) {
  struct page* page = touch_page(space, piece.index);

  if (!page) return -ENOMEM;
  memcpy(page_address(page) + piece.start, from, piece.bytes);
  put_page(page);
  return 0;
}

int nds_os_space_read(struct nds_space* space, uint64_t offset, void* to, size_t bytes) {
  while (bytes) {
    struct piece piece = piece_at(offset, bytes);

    read_piece(space, piece, to);
    to += piece.bytes;
    offset += piece.bytes;
    bytes -= piece.bytes;
  }
  return 0;
}

int nds_os_space_write(struct nds_space* space, uint64_t offset, const void* from, size_t bytes) {
  while (bytes) {
    struct piece piece = piece_at(offset, bytes);
    int error = write_piece(space, piece, from);

    if (error) return error;
    if (nds_os_yield()) return -EINTR;
    from += piece.bytes;
    offset += piece.bytes;
    bytes -= piece.bytes;
  }
  return 0;
}

static int fill_piece(struct nds_space* space, struct piece piece, uint8_t value) {
  struct page* page = touch_page(space, piece.index);

  if (!page) return -ENOMEM;
  memset(page_address(page) + piece.start, value, piece.bytes);
  put_page(page);
  return 0;
}

/* Zeroes a part of a page that may be a hole, without making it. */
static void clear_piece(struct nds_space* space, struct piece piece) {
  struct page* page;
  bool whole = piece.bytes == PAGE_SIZE;

  xa_lock(&space->pages);
  page = xa_load(&space->pages, piece.index);
  if (page && whole && page_ref_count(page) == 1)
    __xa_erase(&space->pages, piece.index);
  else
    whole = false;
  if (page && !whole) get_page(page);
  xa_unlock(&space->pages);
  if (!page) return;
  if (whole) {
    drop_page(page);
  } else {
    memset(page_address(page) + piece.start, 0, piece.bytes);
    put_page(page);
  }
}

/* Holes are stepped over: zeroing a whole HBM costs what was written to it. */
static void clear_range(struct nds_space* space, uint64_t offset, uint64_t bytes) {
  uint64_t end = offset + bytes;
  unsigned long last = (unsigned long)((end - 1) >> PAGE_SHIFT);
  unsigned long index = (unsigned long)(offset >> PAGE_SHIFT);

  while (xa_find(&space->pages, &index, last, XA_PRESENT)) {
    uint64_t from = max_t(uint64_t, offset, (uint64_t)index << PAGE_SHIFT);

    clear_piece(space, piece_at(from, end - from));
    (void)nds_os_yield();
    if (index++ == last) break;
  }
}

int nds_os_space_fill(struct nds_space* space, uint64_t offset, uint8_t value, uint64_t bytes) {
  if (!value && bytes) {
    clear_range(space, offset, bytes);
    return 0;
  }
  while (bytes) {
    struct piece piece = piece_at(offset, bytes);
    int error = fill_piece(space, piece, value);

    if (error) return error;
    if (nds_os_yield()) return -EINTR;
    offset += piece.bytes;
    bytes -= piece.bytes;
  }
  return 0;
}

/* Both parts are equally long. A hole stays a hole where only zeros come in. */
static int copy_piece(struct nds_space* to, struct piece sink, struct nds_space* from,
                      struct piece source) {
  struct page* source_page = find_page(from, source.index);
  struct page* sink_page;

  if (!source_page) {
    clear_piece(to, sink);
    return 0;
  }
  sink_page = touch_page(to, sink.index);
  if (sink_page) {
    memmove(page_address(sink_page) + sink.start, page_address(source_page) + source.start,
            sink.bytes);
    put_page(sink_page);
  }
  put_page(source_page);
  return sink_page ? 0 : -ENOMEM;
}

/* The longest part at the front of both ranges that lies in one page of each. */
static uint64_t front(uint64_t a, uint64_t b, uint64_t bytes) {
  return min3(bytes, (uint64_t)(PAGE_SIZE - offset_in_page(a)),
              (uint64_t)(PAGE_SIZE - offset_in_page(b)));
}

/* The same at the end: the ranges end at a and b, which are not 0. */
static uint64_t back(uint64_t a, uint64_t b, uint64_t bytes) {
  return min3(bytes, (uint64_t)offset_in_page(a - 1) + 1, (uint64_t)offset_in_page(b - 1) + 1);
}

int nds_os_space_copy(struct nds_space* to, uint64_t to_offset, struct nds_space* from,
                      uint64_t from_offset, uint64_t bytes) {
  /* From the end where a forward copy would overwrite what it has yet to read. */
  bool backwards = to == from && to_offset > from_offset && to_offset - from_offset < bytes;

  while (bytes) {
    uint64_t length = backwards ? back(to_offset + bytes, from_offset + bytes, bytes)
                                : front(to_offset, from_offset, bytes);
    uint64_t skip = backwards ? bytes - length : 0;
    int error = copy_piece(to, piece_at(to_offset + skip, length), from,
                           piece_at(from_offset + skip, length));

    if (error) return error;
    if (nds_os_yield()) return -EINTR;
    if (!backwards) {
      to_offset += length;
      from_offset += length;
    }
    bytes -= length;
  }
  return 0;
}

/*
 * A hole gets a new page that is filled before anybody sees it, so that a page written as a whole
 * need not be zeroed first. What a fault leaves unwritten is zero, and no page stays for nothing.
 */
static int fill_hole(struct nds_space* space, struct piece piece, const void __user* user,
                     size_t* uncopied) {
  bool whole = piece.bytes == PAGE_SIZE;
  struct page* page = new_page(whole ? 0 : __GFP_ZERO);
  void* at;
  int error;

  if (!page) return -ENOMEM;
  at = page_address(page) + piece.start;
  *uncopied = __copy_from_user(at, user, piece.bytes);
  piece.bytes -= *uncopied;
  if (whole) memset(at + piece.bytes, 0, *uncopied);
  if (!piece.bytes) {
    drop_page(page);
    return 0;
  }
  error = enter_page(space, piece.index, page);
  if (!error) return 0;
  /* Somebody else may have made the page meanwhile. */
  if (error == -EBUSY) error = write_piece(space, piece, at);
  drop_page(page);
  return error;
}

static int piece_from_user(struct nds_space* space, struct piece piece, const void __user* user,
                           size_t* uncopied) {
  struct page* page = find_page(space, piece.index);

  if (!page) return fill_hole(space, piece, user, uncopied);
  /* Not copy_from_user, which zeroes what it could not copy. */
  *uncopied = __copy_from_user(page_address(page) + piece.start, user, piece.bytes);
  put_page(page);
  return 0;
}

int nds_os_space_from_user(struct nds_space* space, uint64_t offset, uint64_t user, uint64_t bytes,
                           uint64_t* uncopied) {
  *uncopied = bytes;
  if (!access_ok(u64_to_user_ptr(user), bytes)) return 0;
  while (*uncopied) {
    struct piece piece = piece_at(offset, *uncopied);
    size_t rest = 0;
    int error = piece_from_user(space, piece, u64_to_user_ptr(user), &rest);

    if (error) return error;
    *uncopied -= piece.bytes - rest;
    if (rest) return 0;
    if (nds_os_yield()) return -EINTR;
    user += piece.bytes;
    offset += piece.bytes;
  }
  return 0;
}

/* Returns the bytes not copied. */
static size_t piece_to_user(struct nds_space* space, struct piece piece, void __user* user) {
  struct page* page = find_page(space, piece.index);
  size_t uncopied;

  if (!page) return __clear_user(user, piece.bytes);
  uncopied = __copy_to_user(user, page_address(page) + piece.start, piece.bytes);
  put_page(page);
  return uncopied;
}

int nds_os_space_to_user(struct nds_space* space, uint64_t offset, uint64_t user, uint64_t bytes,
                         uint64_t* uncopied) {
  *uncopied = bytes;
  if (!access_ok(u64_to_user_ptr(user), bytes)) return 0;
  while (*uncopied) {
    struct piece piece = piece_at(offset, *uncopied);
    size_t rest = piece_to_user(space, piece, u64_to_user_ptr(user));

    *uncopied -= piece.bytes - rest;
    if (rest) return 0;
    if (nds_os_yield()) return -EINTR;
    user += piece.bytes;
    offset += piece.bytes;
  }
  return 0;
}
