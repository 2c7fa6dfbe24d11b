// SPDX-License-Identifier: MIT
// Writing descriptors into chunks and reading rings back (spec 06 section 4.7).
#include <cerrno>
#include <cstring>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

constexpr std::uint32_t ring_engine = 5;
constexpr std::uint32_t count = 64;

/// Descriptors that point to the chunk itself.
std::vector<neuron_udma_tx_desc> made_for(const Trial& t, std::uint64_t handle) {
  std::vector<neuron_udma_tx_desc> made(count);
  const std::uint64_t address = t.pa_of(handle);
  for (std::uint32_t i = 0; i < count; ++i) made[i] = {16 + i, NEURON_UDMA_META_COPY, address + i};
  return made;
}

Bytes bytes_of(const std::vector<neuron_udma_tx_desc>& descriptors) {
  Bytes bytes(descriptors.size() * sizeof(neuron_udma_tx_desc));
  std::memcpy(bytes.data(), descriptors.data(), bytes.size());
  return bytes;
}

int write_one(const Trial& t, std::uint64_t ring, std::uint64_t address) {
  const neuron_udma_tx_desc one{64, NEURON_UDMA_META_COPY, address};
  return t.client().descriptors(ring, &one, 1, 0, NEURON_QUEUE_TX);
}

void written_bytes(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  const auto made = made_for(t, ring);
  t.result("DMA_COPY_DESCRIPTORS64",
           t.client().descriptors(ring, made.data(), count, 512, NEURON_QUEUE_RX), 0);
  t.same_bytes("DMA_COPY_DESCRIPTORS64 at offset 512", t.read(ring, count * 16, 512),
               bytes_of(made));
}

void older_descriptor_form(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  const auto made = made_for(t, ring);
  neuron_dma_copy_descriptors argument{ring, pointer(made.data()), count, 16, NEURON_QUEUE_TX};
  t.result("DMA_COPY_DESCRIPTORS", t.client().call(NEURON_IOCTL_DMA_COPY_DESCRIPTORS, argument), 0);
  t.same_bytes("DMA_COPY_DESCRIPTORS", t.read(ring, count * 16, 16), bytes_of(made));
}

void host_ring(Trial& t) {
  const std::uint64_t ring = t.chunk({.size = 4096, .host = 1, .type = NEURON_MEM_DMA_RINGS_HOST});
  const auto made = made_for(t, ring);
  t.result("DMA_COPY_DESCRIPTORS64 to a host chunk",
           t.client().descriptors(ring, made.data(), count, 0, NEURON_QUEUE_TX), 0);
  t.same_bytes("DMA_COPY_DESCRIPTORS64 to a host chunk", t.read(ring, count * 16), bytes_of(made));
}

void any_offset(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  const auto made = made_for(t, ring);
  t.result("DMA_COPY_DESCRIPTORS64 at offset 7",
           t.client().descriptors(ring, made.data(), 2, 7, NEURON_QUEUE_TX), 0);
}

void descriptor_bounds(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  const auto made = made_for(t, ring);
  const auto at = [&](std::uint32_t number, std::uint64_t offset) {
    return t.client().descriptors(ring, made.data(), number, offset, NEURON_QUEUE_TX);
  };
  t.result("the last descriptor of a page", at(1, 4080), 0);
  t.result("one descriptor at offset 4081", at(1, 4081), -EINVAL);
  t.result("descriptors behind the chunk", at(1, 8192), -EINVAL);
  t.result("descriptors for an unknown handle",
           t.client().descriptors(2999999, made.data(), 1, 0, NEURON_QUEUE_TX), -EINVAL);
}

void queue_types(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  const auto made = made_for(t, ring);
  t.result("descriptors of type 2", t.client().descriptors(ring, made.data(), 1, 0, 2), -EPERM);
  t.result("descriptors of type 3", t.client().descriptors(ring, made.data(), 1, 0, 3), -EPERM);
  t.result("no descriptors of type 3", t.client().descriptors(ring, made.data(), 0, 0, 3), 0);
}

void fault(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  neuron_dma_copy_descriptors64 argument{ring, bad_pointer, 2, 0, NEURON_QUEUE_TX};
  t.residue("2 descriptors from a bad pointer",
            t.client().call(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, argument), 32);
}

void host_pointers_vetted(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  const std::uint64_t host = t.chunk({.size = 4096, .host = 1, .type = 0});
  const std::uint64_t address = t.pa_of(host);
  t.result("a descriptor to a host chunk", write_one(t, ring, address), 0);
  t.result("a descriptor to its last byte", write_one(t, ring, address + 4095), 0);
  t.result("a descriptor to address 0 of the host", write_one(t, ring, t.facts().host_base()),
           -EINVAL);
  t.result("MEM_FREE", t.client().free(host), 0);
  t.result("a descriptor to the freed host chunk", write_one(t, ring, address), -EINVAL);
}

void device_pointers_not_vetted(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  t.result("a descriptor to a device address nothing has",
           write_one(t, ring, t.facts().hbm_base(1) - 16), 0);
}

void ring_reads_back(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  const auto made = made_for(t, ring);
  t.result("DMA_QUEUE_INIT",
           t.client().queue_init({ring_engine, 0, count, count, ring, ring, 0, 0}), 0);
  t.result("DMA_COPY_DESCRIPTORS64",
           t.client().descriptors(ring, made.data(), count, 0, NEURON_QUEUE_TX), 0);
  Bytes back(count * 16);
  t.result("DMA_DESCRIPTOR_COPYOUT",
           t.client().copy_out(ring_engine, 0, NEURON_QUEUE_TX, 0, count, back.data()), 0);
  t.same_bytes("DMA_DESCRIPTOR_COPYOUT", back, bytes_of(made));
}

/// Reads from index 4 of a ring written with known descriptors.
Bytes from_index_4(const Trial& t, const Memory& memory, Bytes& written) {
  const std::uint64_t ring = t.chunk(memory);
  const auto made = made_for(t, ring);
  written = bytes_of(made);
  t.result("DMA_QUEUE_INIT",
           t.client().queue_init({ring_engine, 0, count, count, ring, ring, 0, 0}), 0);
  t.result("DMA_COPY_DESCRIPTORS64",
           t.client().descriptors(ring, made.data(), count, 0, NEURON_QUEUE_RX), 0);
  Bytes back(16);
  t.result("DMA_DESCRIPTOR_COPYOUT from index 4",
           t.client().copy_out(ring_engine, 0, NEURON_QUEUE_RX, 4, 1, back.data()), 0);
  return back;
}

void device_ring_index(Trial& t) {
  Bytes written;
  const Bytes back = from_index_4(t, {4096}, written);
  // The driver reads from the start whatever the index; a clean device does what was asked.
  const std::ptrdiff_t start = t.facts().clean ? 64 : 0;
  t.same_bytes("DMA_DESCRIPTOR_COPYOUT from index 4 of a device ring", back,
               Bytes(written.begin() + start, written.begin() + start + 16));
}

void host_ring_index(Trial& t) {
  Bytes written;
  const Bytes back =
      from_index_4(t, {.size = 4096, .host = 1, .type = NEURON_MEM_DMA_RINGS_HOST}, written);
  t.same_bytes("DMA_DESCRIPTOR_COPYOUT from index 4 of a host ring", back,
               Bytes(written.begin() + 64, written.begin() + 80));
}

void read_back_order(Trial& t) {
  const std::uint64_t ring = t.chunk({4096});
  Bytes back(256 * 16);
  const auto out = [&](std::uint32_t queue, std::uint32_t type, std::uint32_t start,
                       std::uint32_t number) {
    return t.client().copy_out(ring_engine, queue, type, start, number, back.data());
  };
  t.result("DMA_QUEUE_INIT",
           t.client().queue_init({ring_engine, 0, count, count, ring, ring, 0, 0}), 0);
  t.result("COPYOUT of 0 descriptors from queue 16", out(16, NEURON_QUEUE_TX, 0, 0), -EINVAL);
  t.result("COPYOUT from queue 16", out(16, NEURON_QUEUE_TX, 0, 1), -EINVAL);
  t.result("COPYOUT beyond the ring", out(0, NEURON_QUEUE_TX, 0, count + 1), -EFBIG);
  t.result("COPYOUT from its last index", out(0, NEURON_QUEUE_TX, count - 1, 2), -EFBIG);
  t.result("COPYOUT of the completion ring", out(0, NEURON_QUEUE_COMPLETION, 0, 1), -EINVAL);
}

}  // namespace

void add_descriptors(Rows& rows) {
  add(rows, "descriptors.written-bytes", written_bytes, "06 4.7");
  add(rows, "descriptors.older-form", older_descriptor_form, "06 4.7");
  add(rows, "descriptors.host-ring", host_ring, "06 4.7");
  add(rows, "descriptors.any-offset", any_offset, "11 B.2.11");
  add(rows, "descriptors.bounds", descriptor_bounds, "06 4.7");
  add(rows, "descriptors.queue-types", queue_types, "11 B.2.11");
  add(rows, "descriptors.buffer-fault", fault, "06 2");
  add(rows, "descriptors.host-pointers-are-vetted", host_pointers_vetted, "06 4.7, 11 B.2.11");
  add(rows, "descriptors.device-pointers-are-not", device_pointers_not_vetted, "06 4.7, 11 B.3");
  add(rows, "descriptors.ring-reads-back", ring_reads_back, "06 4.7, 11 B.3").safety =
      Safety::intrusive;
  add(rows, "descriptors.device-ring-ignores-index", device_ring_index, "06 4.7, 11 B.3").safety =
      Safety::intrusive;
  add(rows, "descriptors.host-ring-honours-index", host_ring_index, "06 4.7, 11 B.3").safety =
      Safety::intrusive;
  add(rows, "descriptors.read-back-order-of-checks", read_back_order, "06 4.7, 11 B.3").safety =
      Safety::intrusive;
}

}  // namespace neffld::cts
