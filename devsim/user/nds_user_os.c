/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/* nds_os.h for a process: allocation, logging and spaces. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "nds_os.h"
#include "nds_user.h"
#include "nds_user_probe.h"

#define HUGE_PAGE 0x200000ull
#define DROP_BYTES 0x800000ull /* zero fills from this size on drop pages instead of writing */

/* User memory is probed and copied in turns, so that probing does not evict what it touched. */
#define PROBE_PIECE 0x200000ull
#define CACHE_LINE ((size_t)64)
#define BUFFER_LEAST 0x1000u
#define BUFFER_MOST 0x20000u

/* memcpy must not even see a null pointer, which is what an unreadable address may be. */
static void copy_bytes(void* to, const void* from, uint64_t bytes) {
  if (bytes) memcpy(to, from, bytes);
}

struct nds_space {
  uint8_t* bytes;
  uint64_t size;
  int file;       /* -1 = memory of this process alone */
  uint64_t place; /* of the first byte in the file */
};

static void (*log_sink)(const char* line);
static __thread bool raw_mappings;
static bool shared_spaces;
static _Atomic uint64_t memory_failures;
static __thread int space_error;
static __thread const struct nds_user_caller* caller; /* NULL = this process */

/*
 * Buffers that bulk data passes through start on a cache line: copying to any other address takes
 * half as long again (rep movsb of Zen). What is larger stays untouched until it is used.
 */
static void* zeroed(size_t bytes) {
  void* memory;

  if (bytes < BUFFER_LEAST || bytes > BUFFER_MOST) return calloc(1, bytes);
  memory = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) & ~(CACHE_LINE - 1));
  return memory ? memset(memory, 0, bytes) : NULL;
}

void* nds_os_alloc(size_t bytes) {
  void* memory = zeroed(bytes);

  if (!memory) memory_failures++;
  return memory;
}

void nds_os_free(void* memory) {
  free(memory);
}

void nds_user_set_log(void (*sink)(const char* line)) {
  log_sink = sink;
}

void nds_user_allow_raw_mappings(bool allowed) {
  raw_mappings = allowed;
}

bool nds_os_may_map_raw(void) {
  return raw_mappings;
}

/* The scheduler needs no help, and a killed process runs none of this unless it is another one. */
bool nds_os_yield(void) {
  return caller && caller->is_gone(caller->context);
}

void nds_user_share_spaces(bool shared) {
  shared_spaces = shared;
}

void nds_user_set_caller(const struct nds_user_caller* who) {
  caller = who;
}

uint64_t nds_os_now(void) {
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void nds_os_give_way(void) {
  (void)sched_yield();
}

void nds_os_log(const char* format, ...) {
  char line[256];
  va_list arguments;

  if (!log_sink) return;
  va_start(arguments, format);
  (void)vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  log_sink(line);
}

/* Reserved, never committed: 96 GiB of HBM cost address space only. */
static void* map_space(struct nds_space* space) {
  int flags = space->file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  off_t place = space->file < 0 ? 0 : (off_t)space->place;

  return mmap(NULL, space->size, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, space->file, place);
}

/* 0 or -1. A file is as long as its last address, and all of it that nobody writes is a hole. */
static int make_file(struct nds_space* space, uint64_t address) {
  space->file = memfd_create("neuron", MFD_CLOEXEC);
  space->place = address;
  return space->file < 0 ? -1 : ftruncate(space->file, (off_t)(address + space->size));
}

struct nds_space* nds_os_space_create(uint64_t bytes, uint64_t address) {
  struct nds_space* space = calloc(1, sizeof *space);
  void* memory = MAP_FAILED;

  if (!space) {
    memory_failures++;
    return NULL;
  }
  space->file = -1;
  space->size = bytes;
  if (!shared_spaces || !make_file(space, address)) memory = map_space(space);
  space_error = memory == MAP_FAILED ? errno : 0;
  if (memory == MAP_FAILED) {
    memory_failures++;
    if (space->file >= 0) (void)close(space->file);
    free(space);
    return NULL;
  }
  /* 512 times fewer page faults: most of a load's time, because every byte is touched once. */
  if (bytes >= HUGE_PAGE) (void)madvise(memory, bytes, MADV_HUGEPAGE);
  (void)madvise(memory, bytes, MADV_DONTDUMP);
  space->bytes = memory;
  return space;
}

void nds_os_space_destroy(struct nds_space* space) {
  (void)munmap(space->bytes, space->size);
  if (space->file >= 0) (void)close(space->file);
  free(space);
}

void* nds_user_space_address(struct nds_space* space, uint64_t offset) {
  return space->bytes + offset;
}

uint64_t nds_user_memory_failures(void) {
  return memory_failures;
}

int nds_user_space_error(void) {
  return space_error;
}

uint8_t* nds_user_core_memory(struct nds_device* device, uint32_t core, uint64_t offset) {
  uint64_t bytes = 0;
  struct nds_space* space = nds_device_core_space(device, core, &bytes);

  return space && offset < bytes ? space->bytes + offset : NULL;
}

int nds_user_space_file(const struct nds_space* space, uint64_t offset, uint64_t* place) {
  *place = space->place + offset;
  return space->file;
}

int nds_os_space_read(struct nds_space* space, uint64_t offset, void* to, size_t bytes) {
  memcpy(to, space->bytes + offset, bytes);
  return 0;
}

int nds_os_space_write(struct nds_space* space, uint64_t offset, const void* from, size_t bytes) {
  memcpy(space->bytes + offset, from, bytes);
  return 0;
}

/* 0 if the range's pages are gone. */
static int give_back(struct nds_space* space, uint64_t offset, uint64_t bytes) {
  int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

  if (space->file < 0) return madvise(space->bytes + offset, bytes, MADV_DONTNEED);
  return fallocate(space->file, mode, (off_t)(space->place + offset), (off_t)bytes);
}

/* Whole pages inside [offset, offset + bytes) go back to the system and read as zero again. */
static void drop_pages(struct nds_space* space, uint64_t offset, uint64_t bytes) {
  uint64_t first = (offset + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  uint64_t end = (offset + bytes) & ~(HUGE_PAGE - 1);

  if (first < end && !give_back(space, first, end - first)) {
    memset(space->bytes + offset, 0, first - offset);
    memset(space->bytes + end, 0, offset + bytes - end);
  } else {
    memset(space->bytes + offset, 0, bytes);
  }
}

int nds_os_space_fill(struct nds_space* space, uint64_t offset, uint8_t value, uint64_t bytes) {
  /* Zeroing a HBM must not make it resident. */
  if (!value && bytes >= DROP_BYTES)
    drop_pages(space, offset, bytes);
  else
    memset(space->bytes + offset, value, bytes);
  return 0;
}

int nds_os_space_copy(struct nds_space* to, uint64_t to_offset, struct nds_space* from,
                      uint64_t from_offset, uint64_t bytes) {
  memmove(to->bytes + to_offset, from->bytes + from_offset, bytes);
  return 0;
}

int nds_os_space_from_user(struct nds_space* space, uint64_t offset, uint64_t user, uint64_t bytes,
                           uint64_t* uncopied) {
  if (caller && space->file >= 0) {
    *uncopied = caller->to_file(caller->context, space->file, space->place + offset, user, bytes);
    return 0;
  }
  *uncopied = bytes;
  while (*uncopied) {
    uint64_t piece = *uncopied < PROBE_PIECE ? *uncopied : PROBE_PIECE;
    uint64_t good = nds_user_readable(user, piece);

    copy_bytes(space->bytes + offset, (const void*)(uintptr_t)user, good);
    *uncopied -= good;
    if (good < piece) return 0;
    user += piece;
    offset += piece;
  }
  return 0;
}

int nds_os_space_to_user(struct nds_space* space, uint64_t offset, uint64_t user, uint64_t bytes,
                         uint64_t* uncopied) {
  if (caller && space->file >= 0) {
    *uncopied = caller->from_file(caller->context, space->file, space->place + offset, user, bytes);
    return 0;
  }
  *uncopied = bytes;
  while (*uncopied) {
    uint64_t piece = *uncopied < PROBE_PIECE ? *uncopied : PROBE_PIECE;
    uint64_t good = nds_user_writable(user, piece);

    copy_bytes((void*)(uintptr_t)user, space->bytes + offset, good);
    *uncopied -= good;
    if (good < piece) return 0;
    user += piece;
    offset += piece;
  }
  return 0;
}

size_t nds_os_from_user(void* to, uint64_t user, size_t bytes) {
  size_t good;

  if (caller) return caller->read(caller->context, to, user, bytes);
  good = (size_t)nds_user_readable(user, bytes);

  copy_bytes(to, (const void*)(uintptr_t)user, good);
  return bytes - good;
}

size_t nds_os_to_user(uint64_t user, const void* from, size_t bytes) {
  size_t good;

  if (caller) return caller->write(caller->context, user, from, bytes);
  good = (size_t)nds_user_writable(user, bytes);

  copy_bytes((void*)(uintptr_t)user, from, good);
  return bytes - good;
}
