// SPDX-License-Identifier: MIT
// What a close gives back, and who may use a handle (spec 06 section 2).
#include <algorithm>
#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

void handles_are_the_devices(Trial& t) {
  const std::uint64_t handle = t.chunk({page});
  const Bytes bytes = pattern(page, 18);
  t.write(handle, bytes);
  const Client other = t.open_another();
  Bytes seen(page);
  t.result("MEM_BUF_COPY64 through another open file", other.read(handle, seen), 0);
  t.same_bytes("MEM_BUF_COPY64 through another open file", seen, bytes);
  t.result("MEM_FREE through another open file", other.free(handle), 0);
  t.result("MEM_FREE through the first file", t.client().free(handle), -EINVAL);
}

void one_of_two_closes(Trial& t) {
  const std::uint64_t handle = t.chunk({page});
  { const Client other = t.open_another(); }
  std::uint64_t address = 0;
  t.result("MEM_GET_PA after the process closed its other file", t.client().pa(handle, address), 0);
}

void counts_return(Trial& t) {
  const std::uint32_t before = t.chunks_in(0);
  const std::uint64_t small = t.chunk({page});
  const std::uint64_t large = t.chunk({8 << 20});
  t.equal("DUMP_MEM_CHUNKS after two allocations", "count", t.chunks_in(0), before + 2);
  t.result("MEM_FREE", t.client().free(small), 0);
  t.result("MEM_FREE", t.client().free(large), 0);
  t.equal("DUMP_MEM_CHUNKS after two frees", "count", t.chunks_in(0), before);
}

void many_handles(Trial& t) {
  const std::uint32_t before = t.chunks_in(0);
  std::vector<std::uint64_t> handles;
  handles.reserve(500);
  for (int i = 0; i < 500; ++i) handles.push_back(t.chunk({page}));
  for (const std::uint64_t handle : handles) t.result("MEM_FREE", t.client().free(handle), 0);
  t.equal("DUMP_MEM_CHUNKS after 500 allocations and frees", "count", t.chunks_in(0), before);
}

void failed_calls_keep_nothing(Trial& t) {
  const std::uint32_t before = t.chunks_in(0);
  std::uint64_t handle = 0;
  neuron_mem_alloc_v2mt64 bad{};
  bad.size = page;
  bad.mem_handle_ptr = bad_pointer;
  for (int i = 0; i < 20; ++i) {
    t.client().alloc({.size = page, .nc = 8}, handle);
    t.client().alloc({t.facts().hbm_bytes}, handle);
    t.client().call(NEURON_IOCTL_MEM_ALLOC_V2MT64, bad);
  }
  t.equal("DUMP_MEM_CHUNKS after 60 failed allocations", "count", t.chunks_in(0), before);
}

void reused_memory(Trial& t) {
  // The driver does not clear chunks: it is the caller's business, and tools rely on it.
  const std::uint64_t first = t.chunk({page});
  const std::uint64_t address = t.pa_of(first);
  const Bytes bytes = pattern(page, 19);
  t.write(first, bytes);
  t.result("MEM_FREE", t.client().free(first), 0);
  const std::uint64_t second = t.chunk({page});
  t.equal("the next allocation", "address", t.pa_of(second), address);
  t.same_bytes("the next allocation", t.read(second, page), bytes);
}

void app_sees_itself(Trial& t) {
  t.chunk({1 << 20});
  struct {
    neuron_get_apps_info head;
    neuron_app_info apps[16];
  } reply{};
  reply.head.capacity = 16;
  reply.head.apps_info_flags = NEURON_APP_INFO_MEMORY;
  t.result("DEVICE_GET_ALL_APPS_INFO",
           t.client().raw(NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO, &reply), 0);
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < reply.head.size && i < 16; ++i) {
    largest = std::max(largest, reply.apps[i].device_mem_size);
  }
  t.holds("DEVICE_GET_ALL_APPS_INFO with 1 MiB allocated", largest >= 1 << 20,
          fmt::format("{} bytes of device memory", largest), "at least 1048576");
}

}  // namespace

void add_lifetimes(Rows& rows) {
  add(rows, "lifetimes.handles-belong-to-the-device", handles_are_the_devices, "06 2, 11 B.3");
  add(rows, "lifetimes.one-of-two-files-closes", one_of_two_closes, "06 2");
  add(rows, "lifetimes.counts-return", counts_return, "06 4.5").needs = Needs::idle;
  add(rows, "lifetimes.many-handles", many_handles, "06 5.4").needs = Needs::idle;
  add(rows, "lifetimes.failed-calls-keep-nothing", failed_calls_keep_nothing, "11 B.2.3").needs =
      Needs::idle;
  add(rows, "lifetimes.memory-is-not-cleared", reused_memory, "06 5.2").needs = Needs::idle;
  add(rows, "lifetimes.process-sees-its-memory", app_sees_itself, "06 4.1");
}

}  // namespace neffld::cts
