// SPDX-License-Identifier: MIT
// Copies between the host, chunks and absolute addresses (spec 06 section 4.6).
#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

constexpr std::uint64_t piece = 64 << 10;

void round_trip(Trial& t) {
  const Bytes bytes = pattern(200001, 1);
  const std::uint64_t handle = t.chunk({bytes.size()});
  t.write(handle, bytes);
  t.same_bytes("MEM_BUF_COPY64 there and back", t.read(handle, bytes.size()), bytes);
}

void at_offsets(Trial& t) {
  const std::uint64_t handle = t.chunk({2 * piece});
  const Bytes bytes = pattern(100, 2);
  t.write(handle, Bytes(2 * piece, 0x11));
  t.write(handle, bytes, piece - 50);
  t.same_bytes("a write over a 64 KiB border", t.read(handle, 100, piece - 50), bytes);
  t.same_bytes("the bytes before it", t.read(handle, 8, piece - 58), Bytes(8, 0x11));
  t.same_bytes("the bytes behind it", t.read(handle, 8, piece + 50), Bytes(8, 0x11));
}

void older_buffer_form(Trial& t) {
  const std::uint64_t handle = t.chunk({page});
  const Bytes bytes = pattern(64, 3);
  neuron_mem_buf_copy argument{handle, pointer(bytes.data()), 64, 128, 1};
  t.result("MEM_BUF_COPY", t.client().call(NEURON_IOCTL_MEM_BUF_COPY, argument), 0);
  t.same_bytes("MEM_BUF_COPY", t.read(handle, 64, 128), bytes);
}

void host_chunk(Trial& t) {
  const std::uint64_t handle = t.chunk({.size = page, .host = 1, .type = 0});
  const Bytes bytes = pattern(page, 4);
  t.write(handle, bytes);
  t.same_bytes("a host chunk there and back", t.read(handle, page), bytes);
}

void bounds(Trial& t) {
  const std::uint64_t handle = t.chunk({5000});
  Bytes bytes(8193);
  const Client& c = t.client();
  t.result("8192 bytes to a chunk of 5000", c.copy(handle, bytes.data(), 8192, 0, true), 0);
  t.result("8193 bytes to a chunk of 5000", c.copy(handle, bytes.data(), 8193, 0, true), -EINVAL);
  t.result("2 bytes at offset 8191", c.copy(handle, bytes.data(), 2, 8191, true), -EINVAL);
  t.result("0 bytes at offset 8192", c.copy(handle, bytes.data(), 0, 8192, true), 0);
  t.result("0 bytes at offset 8193", c.copy(handle, bytes.data(), 0, 8193, true), -EINVAL);
  t.result("1 byte at offset 2^63", c.copy(handle, bytes.data(), 1, 1ull << 63, false), -EINVAL);
}

void offset_wrap(Trial& t) {
  // In driver 2.24 the sum of offset and size wraps and the copy reaches the neighbour
  // (spec 11 B.2.7); the simulated device refuses it in every generation (spec 06 12.5).
  const std::uint64_t handle = t.chunk({page});
  Bytes bytes(16);
  t.result("16 bytes at offset 2^64 - 8",
           t.client().copy(handle, bytes.data(), 16, 0ull - 8, false), -EINVAL);
  t.result("2^64 - 1 bytes at offset 8", t.client().copy(handle, bytes.data(), ~0ull, 8, false),
           -EINVAL);
}

void unknown_handles(Trial& t) {
  const std::uint64_t handle = t.chunk({page});
  Bytes bytes(16);
  t.result("MEM_BUF_COPY64 of handle 0", t.client().write(0, bytes), -EINVAL);
  t.result("MEM_BUF_COPY64 of an unknown handle", t.client().write(no_handle, bytes), -EINVAL);
  t.result("MEM_COPY64 from an unknown handle", t.client().copy_chunk(no_handle, handle, 16),
           -EINVAL);
  t.result("MEM_COPY64 to an unknown handle", t.client().copy_chunk(handle, no_handle, 16),
           -EINVAL);
  t.result("MEMSET64 of an unknown handle", t.client().fill(no_handle, 0, 0, 16), -EINVAL);
}

void buffer_faults(Trial& t) {
  const std::uint64_t handle = t.chunk({2 * page});
  const BeforeUnmapped buffer(page);
  const Client& c = t.client();
  t.residue("8192 bytes of which 4096 are mapped", c.copy(handle, buffer.data(), 8192, 0, true),
            4096);
  t.residue("a read of 8192 bytes into 4096", c.copy(handle, buffer.data(), 8192, 0, false), 4096);
  neuron_mem_buf_copy64 argument{handle, bad_pointer, 16, 0, 1};
  t.residue("16 bytes from a bad pointer", c.call(NEURON_IOCTL_MEM_BUF_COPY64, argument), 16);
}

void handle_copies(Trial& t) {
  const Bytes bytes = pattern(3 * piece + 77, 5);
  const std::uint64_t from = t.chunk({bytes.size()});
  const std::uint64_t to = t.chunk({.size = bytes.size() + 100, .hbm = 1, .nc = 1});
  t.write(from, bytes);
  t.result("MEM_COPY64 between HBMs", t.client().copy_chunk(from, to, bytes.size(), 0, 100), 0);
  t.same_bytes("MEM_COPY64 between HBMs", t.read(to, bytes.size(), 100), bytes);
}

void handle_copy_bounds(Trial& t) {
  const std::uint64_t small = t.chunk({page});
  const std::uint64_t large = t.chunk({2 * page});
  const Client& c = t.client();
  t.result("MEM_COPY64 beyond the source", c.copy_chunk(small, large, page + 1), -EINVAL);
  t.result("MEM_COPY64 beyond the destination", c.copy_chunk(large, small, page + 1), -EINVAL);
  t.result("MEM_COPY64 of the whole source", c.copy_chunk(small, large, page, 0, page), 0);
}

void older_handle_form(Trial& t) {
  const std::uint64_t from = t.chunk({page});
  const std::uint64_t to = t.chunk({page});
  const Bytes bytes = pattern(64, 6);
  t.write(from, bytes, 32);
  neuron_mem_copy argument{from, to, 64, 32, 128};
  t.result("MEM_COPY", t.client().call(NEURON_IOCTL_MEM_COPY, argument), 0);
  t.same_bytes("MEM_COPY", t.read(to, 64, 128), bytes);
}

void host_to_device(Trial& t) {
  const std::uint64_t host = t.chunk({.size = page, .host = 1, .type = 0});
  const std::uint64_t device = t.chunk({page});
  const Bytes bytes = pattern(page, 7);
  t.write(host, bytes);
  t.result("MEM_COPY64 from a host chunk", t.client().copy_chunk(host, device, page), 0);
  t.same_bytes("MEM_COPY64 from a host chunk", t.read(device, page), bytes);
}

void fills(Trial& t) {
  const std::uint64_t handle = t.chunk({3 * piece});
  t.write(handle, Bytes(3 * piece, 0x22));
  t.result("MEMSET64", t.client().fill(handle, 10, 0x12345678, 2 * piece + 5), 0);
  t.same_bytes("MEMSET64 with value 0x12345678", t.read(handle, 2 * piece + 5, 10),
               Bytes(2 * piece + 5, 0x78));
  t.same_bytes("the bytes before it", t.read(handle, 10), Bytes(10, 0x22));
  t.same_bytes("the bytes behind it", t.read(handle, 10, 2 * piece + 15), Bytes(10, 0x22));
  t.result("MEMSET64 beyond the chunk", t.client().fill(handle, 1, 0, 3 * piece), -EINVAL);
}

void fills_host(Trial& t) {
  const std::uint64_t handle = t.chunk({.size = 2 * piece, .host = 1, .type = 0});
  t.result("MEMSET64 of a host chunk", t.client().fill(handle, 0, 0xAB, 2 * piece), 0);
  t.same_bytes("MEMSET64 of a host chunk", t.read(handle, 2 * piece), Bytes(2 * piece, 0xAB));
}

void older_fill_form(Trial& t) {
  const std::uint64_t handle = t.chunk({page});
  neuron_memset argument{handle, 16, 0x101, 32};
  t.result("MEMSET", t.client().call(NEURON_IOCTL_MEMSET, argument), 0);
  t.same_bytes("MEMSET with value 0x101", t.read(handle, 32, 16), Bytes(32, 1));
}

void zero_copy(Trial& t) {
  const Bytes bytes = pattern(3 * piece + 5, 8);
  const std::uint64_t handle = t.chunk({bytes.size()});
  neuron_mem_buf_copy64 in{handle, pointer(bytes.data()), bytes.size(), 0, 1};
  t.result("MEM_BUF_ZEROCOPY64", t.client().call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64, in), 0);
  t.same_bytes("MEM_BUF_ZEROCOPY64", t.read(handle, bytes.size()), bytes);
  Bytes back(bytes.size());
  neuron_mem_buf_copy64 out{handle, pointer(back.data()), back.size(), 0, 0};
  t.result("MEM_BUF_ZEROCOPY64 back", t.client().call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64, out), 0);
  t.same_bytes("MEM_BUF_ZEROCOPY64 back", back, bytes);
}

void zero_copy_faults(Trial& t) {
  const std::uint64_t handle = t.chunk({page});
  neuron_mem_buf_copy64 bad{handle, bad_pointer, 16, 0, 1};
  t.result("MEM_BUF_ZEROCOPY64 of a bad pointer",
           t.client().call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64, bad), -ENOMEM);
  Bytes bytes(16);
  neuron_mem_buf_copy64 beyond{handle, pointer(bytes.data()), 16, page - 8, 1};
  t.result("MEM_BUF_ZEROCOPY64 beyond the chunk",
           t.client().call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64, beyond), -EINVAL);
}

void scratchpad_limit(Trial& t) {
  // One handle addresses the merged scratchpad: the limit is the end of the main pool.
  constexpr std::uint32_t type = NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE;
  const std::uint64_t upper = t.chunk({.size = page, .type = type});
  const std::uint64_t lower = t.chunk({.size = page, .type = type});
  const Bytes bytes = pattern(2 * page, 9);
  t.write(lower, bytes);
  t.same_bytes("the upper chunk of a scratchpad", t.read(upper, page),
               Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(page), bytes.end()));
  Bytes more(2 * page + 1);
  t.result("one byte beyond the scratchpad", t.client().read(lower, more), -EINVAL);
}

int async(const Trial& t, std::uint64_t from, std::uint64_t to, std::uint64_t size,
          std::int32_t previous, std::int32_t& context) {
  neuron_mem_copy_async64 argument{from, to, size, 0, 0, 0, previous, context};
  const int result = t.client().call(NEURON_IOCTL_MEM_COPY_ASYNC64, argument);
  context = argument.wait_handle;
  return result;
}

int wait_for(const Trial& t, std::int32_t context) {
  neuron_mem_copy_async_wait argument{0, 0, context};
  return t.client().call(NEURON_IOCTL_MEM_COPY_ASYNC_WAIT, argument);
}

void async_contexts(Trial& t) {
  const std::uint64_t a = t.chunk({page});
  const std::uint64_t b = t.chunk({page});
  std::int32_t context = 77;
  neuron_mem_copy_async_wait wait{a, b, 1};
  const auto done = [&](std::int32_t which) {
    wait.pwait_handle = which;
    return t.client().call(NEURON_IOCTL_MEM_COPY_ASYNC_WAIT, wait);
  };
  t.result("the first asynchronous copy", async(t, a, b, page, NEURON_ASYNC_NONE, context), 0);
  t.equal("the first asynchronous copy", "context", static_cast<std::uint32_t>(context), 1);
  t.result("a copy that waits for context 1", async(t, a, b, page, NEURON_ASYNC_1, context), 0);
  t.equal("a copy that waits for context 1", "context", static_cast<std::uint32_t>(context), 2);
  t.result("waiting for a finished context", done(NEURON_ASYNC_1), -EINVAL);
  t.result("waiting for context 2", done(NEURON_ASYNC_2), 0);
  t.result("waiting for it again", done(NEURON_ASYNC_2), -EINVAL);
  t.result("a synchronous copy", async(t, a, b, page, NEURON_ASYNC_SYNC, context), 0);
  t.equal("a synchronous copy", "context", static_cast<std::uint32_t>(context), 0);
}

void async_refusals(Trial& t) {
  const std::uint64_t a = t.chunk({page});
  const std::uint64_t b = t.chunk({page});
  std::int32_t context = 77;
  t.result("an asynchronous copy after context 3", async(t, a, b, page, 3, context), -EINVAL);
  t.result("an asynchronous copy after an idle context",
           async(t, a, b, page, NEURON_ASYNC_2, context), -EINVAL);
  t.equal("an asynchronous copy after an idle context", "context",
          static_cast<std::uint32_t>(context), 77);
  t.result("waiting for context 0", wait_for(t, NEURON_ASYNC_SYNC), -EINVAL);
  t.result("waiting for context -1", wait_for(t, NEURON_ASYNC_NONE), -EINVAL);
}

void async_limit(Trial& t) {
  constexpr std::uint64_t most = 2032 * piece;
  const std::uint64_t a = t.chunk({most + page});
  const std::uint64_t b = t.chunk({most + page});
  std::int32_t context = 77;
  t.result("an asynchronous copy of 2032 pieces", async(t, a, b, most, NEURON_ASYNC_NONE, context),
           0);
  t.result(
      "a wait for it",
      [&] {
        neuron_mem_copy_async_wait argument{a, b, context};
        return t.client().call(NEURON_IOCTL_MEM_COPY_ASYNC_WAIT, argument);
      }(),
      0);
  t.result("one byte more", async(t, a, b, most + 1, NEURON_ASYNC_NONE, context), -EINVAL);
}

void program_windows(Trial& t) {
  const Bytes bytes = pattern(4096, 10);
  const std::uint64_t base = t.facts().core_base(0);
  const Client& c = t.client();
  t.result("PROGRAM_ENGINE_NC64 into SBUF", c.program(base, bytes.data(), 64), 0);
  t.result("PROGRAM_ENGINE_NC64 of 0 bytes", c.program(base, bytes.data(), 0), -ENOMEM);
  t.result("PROGRAM_ENGINE_NC64 for core 8", c.program(base, bytes.data(), 4, 8), -ENOMEM);
  t.result("PROGRAM_ENGINE_NC64 to address 2^64 - 4", c.program(0ull - 4, bytes.data(), 8),
           -ENOMEM);
  t.result("PROGRAM_ENGINE_NC64 below the core windows", c.program(base - 4, bytes.data(), 8),
           -ENOMEM);
}

void program_hbm(Trial& t) {
  const std::uint64_t handle = t.chunk({1 << 20});
  const Bytes bytes = pattern(4096, 11);
  const int result = t.client().program(t.pa_of(handle), bytes.data(), bytes.size());
  if (t.facts().v2()) return t.result("PROGRAM_ENGINE_NC64 into HBM", result, -ENOMEM);
  t.result("PROGRAM_ENGINE_NC64 into HBM", result, 0);
  t.same_bytes("PROGRAM_ENGINE_NC64 into HBM", t.read(handle, bytes.size()), bytes);
}

void program_fault(Trial& t) {
  neuron_program_engine_nc64 argument{0, t.facts().core_base(0), bad_pointer, 24, 0};
  t.residue("PROGRAM_ENGINE_NC64 from a bad pointer",
            t.client().call(NEURON_IOCTL_PROGRAM_ENGINE_NC64, argument), 24);
}

}  // namespace

void add_copies(Rows& rows) {
  add(rows, "copies.buffer-round-trip", round_trip, "06 4.6");
  add(rows, "copies.buffer-at-offsets", at_offsets, "06 4.6");
  add(rows, "copies.buffer-older-form", older_buffer_form, "06 4.6");
  add(rows, "copies.buffer-host-chunk", host_chunk, "06 4.6");
  add(rows, "copies.buffer-bounds", bounds, "06 4.5, 11 B.2.7");
  add(rows, "copies.offset-wrap-is-refused", offset_wrap, "06 12.5").safety = Safety::simulated;
  add(rows, "copies.unknown-handles", unknown_handles, "06 4.6");
  add(rows, "copies.buffer-faults", buffer_faults, "11 B.2.8");
  add(rows, "copies.handle-between-hbms", handle_copies, "06 4.6");
  add(rows, "copies.handle-bounds", handle_copy_bounds, "06 4.6");
  add(rows, "copies.handle-older-form", older_handle_form, "06 4.6");
  add(rows, "copies.handle-from-host", host_to_device, "06 4.6");
  add(rows, "copies.memset-low-byte", fills, "06 4.6");
  add(rows, "copies.memset-host-chunk", fills_host, "11 B.2.9");
  add(rows, "copies.memset-older-form", older_fill_form, "06 4.6");
  add(rows, "copies.zero-copy", zero_copy, "06 4.6");
  add(rows, "copies.zero-copy-faults", zero_copy_faults, "06 4.6, 11 B.2.9");
  add(rows, "copies.scratchpad-limit-is-the-pool", scratchpad_limit, "06 4.5").needs = Needs::idle;
  add(rows, "copies.async-contexts", async_contexts, "06 4.6");
  add(rows, "copies.async-refusals", async_refusals, "06 4.6");
  add(rows, "copies.async-limit", async_limit, "11 B.1").safety =
      Safety::intrusive;  // the refused copy has begun, and may still write when its chunk is free
  add(rows, "copies.program-windows", program_windows, "06 4.6, 11 B.2.10").safety =
      Safety::simulated;
  add(rows, "copies.program-hbm", program_hbm, "06 7.3").safety = Safety::simulated;
  add(rows, "copies.program-fault", program_fault, "11 B.2.10").safety = Safety::simulated;
}

}  // namespace neffld::cts
