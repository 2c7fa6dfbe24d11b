// SPDX-License-Identifier: MIT
// Each command that takes a handle, with the handle of another process: handles belong to the
// device (spec 06 section 2). Three callers: an attached process, one that is not attached but has
// inherited a file, and anyone after the owner has gone.
#include <cerrno>
#include <cstring>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

constexpr std::uint32_t bytes = 64;

/// A chunk of another process, and one of the caller's or of that process.
struct Handles {
  std::uint64_t foreign, second;
};

using Use = int (*)(const Client& client, const Handles& handles);

int buf_copy(const Client& c, const Handles& h) {
  Bytes buffer(bytes);
  neuron_mem_buf_copy argument{h.foreign, pointer(buffer.data()), bytes, 0, 0};
  return c.call(NEURON_IOCTL_MEM_BUF_COPY, argument);
}
int buf_copy64(const Client& c, const Handles& h) {
  return c.write(h.foreign, pattern(bytes, 5));
}
int zero_copy(const Client& c, const Handles& h) {
  Bytes buffer(bytes);
  neuron_mem_buf_copy64 argument{h.foreign, pointer(buffer.data()), bytes, 0, 1};
  return c.call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64, argument);
}
int copy_from(const Client& c, const Handles& h) {
  neuron_mem_copy argument{h.foreign, h.second, bytes, 0, 0};
  return c.call(NEURON_IOCTL_MEM_COPY, argument);
}
int copy64_from(const Client& c, const Handles& h) {
  return c.copy_chunk(h.foreign, h.second, bytes);
}
int copy64_to(const Client& c, const Handles& h) {
  return c.copy_chunk(h.second, h.foreign, bytes);
}
int copy64_v30(const Client& c, const Handles& h) {
  neuron_mem_copy64_v30 argument{{h.foreign, h.second, bytes, 0, 0}, 0, 0};
  return c.call(NEURON_IOCTL_MEM_COPY64_V30, argument);
}
int async_copy(const Client& c, const Handles& h) {
  neuron_mem_copy_async argument{};
  argument.src_mem_handle = h.foreign;
  argument.dst_mem_handle = h.second;
  argument.size = bytes;
  argument.pwait_handle = NEURON_ASYNC_SYNC;
  return c.call(NEURON_IOCTL_MEM_COPY_ASYNC, argument);
}
int async_copy64(const Client& c, const Handles& h) {
  neuron_mem_copy_async64 argument{};
  argument.src_mem_handle = h.second;
  argument.dst_mem_handle = h.foreign;
  argument.size = bytes;
  argument.pwait_handle = NEURON_ASYNC_SYNC;
  return c.call(NEURON_IOCTL_MEM_COPY_ASYNC64, argument);
}
int fill(const Client& c, const Handles& h) {
  neuron_memset argument{h.foreign, 0, 1, bytes};
  return c.call(NEURON_IOCTL_MEMSET, argument);
}
int fill64(const Client& c, const Handles& h) {
  return c.fill(h.foreign, 0, 2, bytes);
}
int get_pa(const Client& c, const Handles& h) {
  std::uint64_t address = 0;
  return c.pa(h.foreign, address);
}
int get_info(const Client& c, const Handles& h) {
  std::uint64_t offset = 0, address = 0;
  neuron_mem_get_info argument{h.foreign, pointer(&offset), pointer(&address)};
  return c.call(NEURON_IOCTL_MEM_GET_INFO, argument);
}
int get_extended_info(const Client& c, const Handles& h) {
  neuron_mem_get_extended_info argument{};
  argument.mem_handle = h.foreign;
  return c.call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, argument);
}
int copy_descriptors(const Client& c, const Handles& h) {
  const neuron_udma_tx_desc descriptor{16, 0, 0};
  neuron_dma_copy_descriptors argument{};
  argument.mem_handle = h.foreign;
  argument.buffer_ptr = pointer(&descriptor);
  argument.num_descs = 1;
  argument.queue_type = NEURON_QUEUE_TX;
  return c.call(NEURON_IOCTL_DMA_COPY_DESCRIPTORS, argument);
}
int copy_descriptors64(const Client& c, const Handles& h) {
  const neuron_udma_tx_desc descriptor{16, 0, 0};
  return c.descriptors(h.foreign, &descriptor, 1, 0, NEURON_QUEUE_TX);
}
int queue_init(const Client& c, const Handles& h) {
  return c.queue_init({2, 3, 64, 64, h.foreign, h.foreign, 0, 0});
}
int queue_init_batch(const Client& c, const Handles& h) {
  auto batch = std::make_unique<neuron_dma_queue_init_batch>();
  batch->count = 1;
  batch->entries[0] = {2, 4, 64, 64, h.foreign, h.foreign, 0, 0};
  return c.call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, *batch);
}

enum class Gate { none, attached };
/// What an unknown handle gives.
enum class Unknown { einval, plus_22, no_ring };

void check_unknown(const Trial& t, int got, Unknown unknown) {
  const char* sent = "the command with the handle of a process that has gone";
  switch (unknown) {
    case Unknown::einval:
      return t.result(sent, got, -EINVAL);
    case Unknown::plus_22:
      return t.residue(sent, got, EINVAL, -EINVAL);
    case Unknown::no_ring:  // an unknown ring is none; a clean device refuses it
      return t.result(sent, got, t.facts().clean ? -EINVAL : 0);
  }
}

void foreign(Trial& t, Use use, Gate gate, Unknown unknown) {
  Party owner = t.party();
  const Party attached = t.party();
  const Handles handles{t.chunk(owner.client, {page}), t.chunk(attached.client, {page})};
  {
    const Party unattached = t.child_of(owner);
    t.result("the command with a foreign handle, unattached", use(unattached.client, handles),
             gate == Gate::attached ? -EACCES : 0);
  }
  t.result("the command with a foreign handle", use(attached.client, handles), 0);
  owner.process->exit();
  check_unknown(t, use(attached.client, handles), unknown);
}

template <Use use, Gate gate, Unknown unknown = Unknown::einval>
Row& row(Rows& rows, std::string_view name) {
  return add(
      rows, name, [](Trial& t) { foreign(t, use, gate, unknown); }, "06 2, 3, 11 B.3");
}

void mem_free(Trial& t) {
  Party owner = t.party();
  const Party attached = t.party();
  const std::uint64_t handle = t.chunk(owner.client, {page});
  {
    const Party unattached = t.child_of(owner);
    t.result("MEM_FREE of a foreign handle, unattached", unattached.client.free(handle), -EACCES);
  }
  t.result("MEM_FREE of a foreign handle", attached.client.free(handle), 0);
  t.result("MEM_FREE of a foreign handle, twice", attached.client.free(handle), -EINVAL);
  const std::uint64_t next = t.chunk(owner.client, {page});
  owner.process->exit();
  t.result("MEM_FREE of a handle whose owner has gone", attached.client.free(next), -EINVAL);
}

void async_wait(Trial& t) {
  Party owner = t.party();
  const Party other = t.party();
  const std::uint64_t from = t.chunk(owner.client, {page});
  const std::uint64_t to = t.chunk(owner.client, {page});
  neuron_mem_copy_async64 copy{};
  copy.src_mem_handle = from;
  copy.dst_mem_handle = to;
  copy.size = bytes;
  copy.pwait_handle = NEURON_ASYNC_NONE;
  t.result("MEM_COPY_ASYNC64", owner.client.call(NEURON_IOCTL_MEM_COPY_ASYNC64, copy), 0);
  t.equal("MEM_COPY_ASYNC64", "wait handle", static_cast<std::uint64_t>(copy.wait_handle), 1);
  neuron_mem_copy_async_wait wait{from, to, copy.wait_handle};
  {
    const Party unattached = t.child_of(owner);
    t.result("MEM_COPY_ASYNC_WAIT for another process's copy, unattached",
             unattached.client.call(NEURON_IOCTL_MEM_COPY_ASYNC_WAIT, wait), -EACCES);
  }
  // The context is the copy queue's, not the process's.
  t.result("MEM_COPY_ASYNC_WAIT for another process's copy",
           other.client.call(NEURON_IOCTL_MEM_COPY_ASYNC_WAIT, wait), 0);
  t.result("MEM_COPY_ASYNC_WAIT by its owner after that",
           owner.client.call(NEURON_IOCTL_MEM_COPY_ASYNC_WAIT, wait), -EINVAL);
}

void by_address(Trial& t) {
  Party owner = t.party();
  const Party other = t.party();
  const std::uint64_t handle = t.chunk(owner.client, {2 * page});
  std::uint64_t address = 0;
  t.result("MEM_GET_PA", owner.client.pa(handle, address), 0);
  neuron_mem_mc_get_info_v2 info{address + page, 0, 0, 0};
  t.result("MEM_MC_GET_INFO_V2 of a foreign address",
           other.client.call(NEURON_IOCTL_MEM_MC_GET_INFO_V2, info), 0);
  t.equal("MEM_MC_GET_INFO_V2 of a foreign address", "handle", info.mem_handle, handle);
  t.equal("MEM_MC_GET_INFO_V2 of a foreign address", "mmap offset", info.mmap_offset, address);
  owner.process->exit();
  info.pa = address + page;
  t.result("MEM_MC_GET_INFO_V2 of freed memory",
           other.client.call(NEURON_IOCTL_MEM_MC_GET_INFO_V2, info), -ENOMEM);
}

/// Whether a shared mapping may be stored to; the driver strips the permission in silence, the
/// in-process device refuses the request.
bool may_store(const Trial& t, const Client& client, std::uint64_t address, std::uint64_t size) {
  auto mapped = client.file().mmap(address, size, true);
  if (!mapped) {
    const auto readable = client.file().mmap(address, size, false);
    t.holds("mmap for reading", readable.has_value(), "no mapping", "a mapping");
    client.file().munmap(*readable, size);
    return false;
  }
  const bool writable = is_writable(*mapped);
  client.file().munmap(*mapped, size);
  return writable;
}

void mapping_is_read_only(Trial& t) {
  const Party owner = t.party();
  const Party other = t.party();
  const std::uint64_t handle = t.chunk(owner.client, {2 * page});
  std::uint64_t address = 0;
  t.result("MEM_GET_PA", owner.client.pa(handle, address), 0);
  t.holds("mmap by the owner", may_store(t, owner.client, address, 2 * page), "read only",
          "writable");
  t.holds("mmap of a foreign chunk", !may_store(t, other.client, address, 2 * page), "writable",
          "read only");
}

void mapping_shows_bytes(Trial& t) {
  const Party owner = t.party();
  const Party other = t.party();
  const std::uint64_t handle = t.chunk(owner.client, {page});
  const Bytes written = pattern(page, 31);
  t.result("MEM_BUF_COPY64", owner.client.write(handle, written), 0);
  std::uint64_t address = 0;
  t.result("MEM_GET_PA", owner.client.pa(handle, address), 0);
  const auto mapped = other.client.file().mmap(address, page, false);
  t.holds("mmap of a foreign chunk", mapped.has_value(), "no mapping", "a mapping");
  Bytes seen(page);
  std::memcpy(seen.data(), *mapped, page);
  other.client.file().munmap(*mapped, page);
  t.same_bytes("mmap of a foreign chunk", seen, written);
}

}  // namespace

void add_foreign(Rows& rows) {
  constexpr Gate open = Gate::none, gated = Gate::attached;
  row<buf_copy, open>(rows, "foreign-handles.mem-buf-copy");
  row<buf_copy64, open>(rows, "foreign-handles.mem-buf-copy64");
  row<zero_copy, open>(rows, "foreign-handles.mem-buf-zerocopy64").generations = {24, 24};
  row<copy_from, gated>(rows, "foreign-handles.mem-copy");
  row<copy64_from, open>(rows, "foreign-handles.mem-copy64-source");
  row<copy64_to, open>(rows, "foreign-handles.mem-copy64-destination");
  row<copy64_v30, open>(rows, "foreign-handles.mem-copy64-of-2.30").generations = {30, 30};
  row<async_copy, gated>(rows, "foreign-handles.mem-copy-async");
  row<async_copy64, open>(rows, "foreign-handles.mem-copy-async64");
  row<fill, open>(rows, "foreign-handles.memset");
  row<fill64, open>(rows, "foreign-handles.memset64");
  row<get_pa, gated>(rows, "foreign-handles.mem-get-pa");
  row<get_info, gated>(rows, "foreign-handles.mem-get-info");
  row<get_extended_info, open, Unknown::plus_22>(rows, "foreign-handles.mem-get-extended-info");
  row<copy_descriptors, gated>(rows, "foreign-handles.dma-copy-descriptors");
  row<copy_descriptors64, open>(rows, "foreign-handles.dma-copy-descriptors64");
  row<queue_init, gated, Unknown::no_ring>(rows, "foreign-handles.dma-queue-init").safety =
      Safety::intrusive;
  row<queue_init_batch, open, Unknown::no_ring>(rows, "foreign-handles.dma-queue-init-batch")
      .safety = Safety::intrusive;
  add(rows, "foreign-handles.mem-free", mem_free, "06 2, 11 B.3");
  add(rows, "foreign-handles.mem-copy-async-wait", async_wait, "06 4.6");
  add(rows, "foreign-handles.found-by-address", by_address, "06 4.5");
  add(rows, "foreign-handles.mapping-is-read-only", mapping_is_read_only, "06 6, 11 B.1");
  add(rows, "foreign-handles.mapping-shows-the-bytes", mapping_shows_bytes, "06 6");
}

}  // namespace neffld::cts
