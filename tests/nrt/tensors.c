/* SPDX-License-Identifier: MIT */
/* Tensors of every placement hold what was written, through slices, batches, copies and addresses;
 * and the device memory they take is counted and given back. */
#include <string.h>

#include "check.h"

enum { size = 1000 };

static void fill(unsigned char* bytes, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; ++i) bytes[i] = (unsigned char)(i * 7 + seed);
}

static nrt_tensor_t* make(nrt_tensor_placement_t placement, const char* name) {
  nrt_tensor_t* tensor = NULL;
  const int vnc = placement == NRT_TENSOR_PLACEMENT_DEVICE ? 0 : -1;
  CHECK_OK(nrt_tensor_allocate(placement, vnc, size, name, &tensor));
  CHECK(nrt_tensor_get_size(tensor) == size);
  return tensor;
}

static void one_placement(nrt_tensor_placement_t placement) {
  nrt_tensor_t *tensor = make(placement, "t"), *slice = NULL, *inner = NULL;
  unsigned char bytes[size], back[size];
  unsigned char* va;
  fill(bytes, size, 1);
  CHECK_OK(nrt_tensor_write(tensor, bytes, 0, size));
  CHECK_OK(nrt_tensor_read(tensor, back, 0, size));
  CHECK(memcmp(bytes, back, size) == 0);

  CHECK_OK(nrt_tensor_allocate_slice(tensor, 100, 800, "s", &slice));
  CHECK_OK(nrt_tensor_allocate_slice(slice, 50, 10, NULL, &inner));
  CHECK(nrt_tensor_get_size(inner) == 10);
  CHECK_OK(nrt_tensor_memset(inner, 2, 0x1EE, 3));
  memset(bytes + 152, 0xEE, 3);
  CHECK_OK(nrt_tensor_read(tensor, back, 0, size));
  CHECK(memcmp(bytes, back, size) == 0);
  va = nrt_tensor_get_va(inner);
  CHECK(va != NULL);
  if (va) {
    CHECK(va[2] == 0xEE && va == (unsigned char*)nrt_tensor_get_va(tensor) + 150);
    va[0] = 0x42;
    CHECK_OK(nrt_tensor_read(tensor, back, 150, 1));
    CHECK(back[0] == 0x42);
  }
  /* The storage lives as long as somebody looks at it. */
  nrt_tensor_free(&tensor);
  nrt_tensor_free(&slice);
  CHECK_OK(nrt_tensor_read(inner, back, 2, 3));
  CHECK(back[0] == 0xEE && back[2] == 0xEE);
  nrt_tensor_free(&inner);
}

static void copies(nrt_tensor_placement_t from, nrt_tensor_placement_t to) {
  nrt_tensor_t *source = make(from, "source"), *target = make(to, "target");
  unsigned char bytes[size], back[size];
  fill(bytes, size, 3);
  CHECK_OK(nrt_tensor_write(source, bytes, 0, size));
  CHECK_OK(nrt_tensor_memset(target, 0, 0, size));
  CHECK_OK(nrt_tensor_copy(source, 10, target, 20, 900));
  CHECK_OK(nrt_tensor_read(target, back, 20, 900));
  CHECK(memcmp(bytes + 10, back, 900) == 0);
  CHECK_OK(nrt_tensor_read(target, back, 920, 1));
  CHECK(back[0] == 0);
  /* Overlap in both directions. */
  CHECK_OK(nrt_tensor_copy(source, 0, source, 100, 900));
  CHECK_OK(nrt_tensor_read(source, back, 100, 900));
  CHECK(memcmp(bytes, back, 900) == 0);
  CHECK_OK(nrt_tensor_write(source, bytes, 0, size));
  CHECK_OK(nrt_tensor_copy(source, 100, source, 0, 900));
  CHECK_OK(nrt_tensor_read(source, back, 0, 900));
  CHECK(memcmp(bytes + 100, back, 900) == 0);
  nrt_tensor_free(&source);
  nrt_tensor_free(&target);
}

static void batches(void) {
  nrt_tensor_t *one = make(NRT_TENSOR_PLACEMENT_DEVICE, "1"),
               *two = make(NRT_TENSOR_PLACEMENT_HOST, "2");
  unsigned char bytes[size], back[size];
  nrt_tensor_batch_op_t first[2] = {{0, 10, bytes}, {500, 20, bytes + 10}},
                        second[1] = {{990, 10, bytes + 30}};
  nrt_tensor_batch_t batch[2] = {{one, first, 2}, {two, second, 1}};
  fill(bytes, size, 9);
  CHECK_OK(nrt_tensor_write_batch(batch, 2, false));
  memset(back, 0, sizeof back);
  first[0].buffer = back;
  first[1].buffer = back + 10;
  second[0].buffer = back + 30;
  CHECK_OK(nrt_tensor_read_batch(batch, 2, true));
  CHECK(memcmp(bytes, back, 40) == 0);
  /* The first failure ends the call: what comes later stays. */
  first[1].size = size;
  memset(back, 0, sizeof back);
  CHECK_STATUS(nrt_tensor_read_batch(batch, 2, false), NRT_INVALID);
  CHECK(memcmp(bytes, back, 10) == 0 && back[30] == 0);
  nrt_tensor_free(&one);
  nrt_tensor_free(&two);
}

static void attached(void) {
  nrt_tensor_t *tensor = make(NRT_TENSOR_PLACEMENT_DEVICE, "a"), *slice = NULL;
  unsigned char buffer[64] = {5}, back[64];
  CHECK_OK(nrt_tensor_memset(tensor, 0, 7, size));
  CHECK_OK(nrt_tensor_allocate_slice(tensor, 0, 8, "s", &slice));
  CHECK_OK(nrt_tensor_attach_buffer(tensor, buffer, sizeof buffer));
  CHECK(nrt_tensor_get_size(tensor) == sizeof buffer && nrt_tensor_get_va(tensor) == buffer);
  CHECK_OK(nrt_tensor_memset(tensor, 1, 6, 1));
  CHECK(buffer[0] == 5 && buffer[1] == 6);
  CHECK_OK(nrt_tensor_read(slice, back, 0, 8));
  CHECK(back[0] == 7);
  nrt_tensor_free(&tensor);
  nrt_tensor_free(&slice);
  CHECK(buffer[1] == 6);
}

static size_t used(void) {
  nrt_vnc_memory_stats_t stats = {0, 0};
  size_t written = 0;
  CHECK_OK(nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &written));
  CHECK(written == sizeof stats && stats.bytes_limit >= (size_t)1 << 30);
  return stats.bytes_used;
}

static void facts(void) {
  nrt_tensor_t *tensor = make(NRT_TENSOR_PLACEMENT_DEVICE, "f"), *slice = NULL;
  nrt_tensor_device_allocation_info_t whole, part;
  CHECK(used() == 4096);
  CHECK_OK(nrt_tensor_allocate_slice(tensor, 64, 8, "s", &slice));
  CHECK_OK(nrt_tensor_get_device_allocation_info(tensor, &whole));
  CHECK_OK(nrt_tensor_get_device_allocation_info(slice, &part));
  CHECK(part.physical_address == whole.physical_address + 64 && part.size == whole.size);
  CHECK(whole.size >= size && whole.hbm_index == 0);
  nrt_tensor_free(&tensor);
  CHECK(used() == 4096);
  nrt_tensor_free(&slice);
  CHECK(used() == 0);
}

/* More than 4 GiB: sizes are 64 bits all the way. */
static void large(void) {
  const size_t bytes = ((size_t)4 << 30) + 4096;
  nrt_tensor_t* tensor = NULL;
  char word[8] = "far", back[8] = "";
  CHECK_OK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes, "large", &tensor));
  CHECK(nrt_tensor_get_size(tensor) == bytes);
  CHECK_OK(nrt_tensor_write(tensor, word, bytes - 8, 8));
  CHECK_OK(nrt_tensor_read(tensor, back, bytes - 8, 8));
  CHECK(memcmp(word, back, 8) == 0);
  nrt_tensor_free(&tensor);
}

int main(void) {
  CHECK_OK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  for (int from = 0; from <= 2; ++from) {
    one_placement((nrt_tensor_placement_t)from);
    for (int to = 0; to <= 2; ++to) {
      copies((nrt_tensor_placement_t)from, (nrt_tensor_placement_t)to);
    }
  }
  batches();
  attached();
  facts();
  large();
  CHECK(used() == 0);
  nrt_close();
  return report("tensors");
}
