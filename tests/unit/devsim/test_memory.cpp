// SPDX-License-Identifier: MIT
// Handles, lookups, copies and their limits (spec 06 sections 4.5, 4.6 and 5.4).
#include <sys/mman.h>

#include <catch2/catch.hpp>

#include "client.hpp"

using namespace devsim_test;

namespace {

/// Two pages of which only the first may be touched.
class HalfMapped {
 public:
  HalfMapped() {
    base_ = static_cast<std::uint8_t*>(
        ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(base_ + 4096, 4096, PROT_NONE);
  }
  ~HalfMapped() { ::munmap(base_, 8192); }
  HalfMapped(const HalfMapped&) = delete;
  HalfMapped& operator=(const HalfMapped&) = delete;
  std::uint8_t* base() const { return base_; }

 private:
  std::uint8_t* base_;
};

constexpr std::uint64_t bad_address = 8;

}  // namespace

TEST_CASE("handles start at 1 and are reused last in, first out") {
  const Device device(3);
  const Client client(device);
  for (std::uint64_t i = 1; i <= 5; ++i) CHECK(client.alloc({4096}) == i);
  CHECK(client.free(2) == 0);
  CHECK(client.free(4) == 0);
  CHECK(client.alloc({4096}) == 4);
  CHECK(client.alloc({4096}) == 2);
  CHECK(client.alloc({4096}) == 6);
}

TEST_CASE("unknown handles are refused, with all 64 bits compared") {
  const Device device(3);
  const Client client(device);
  REQUIRE(client.alloc({4096}) == 1);
  for (const std::uint64_t handle : {0ull, 2ull, 0x100000001ull, ~0ull}) {
    CHECK(client.free(handle) == -EINVAL);
    CHECK(client.pa(handle) == ~0ull);
    neuron_mem_get_extended_info info{};
    info.mem_handle = handle;
    CHECK(client.call(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, info) == EINVAL);
    CHECK(info.size == 0);
  }
  CHECK(client.free(1) == 0);
  CHECK(client.free(1) == -EINVAL);
}

TEST_CASE("a fault while storing the handle takes the allocation back") {
  const Device device(3);
  const Client client(device);
  neuron_mem_alloc_v2mt64 argument{};
  argument.size = 4096;
  argument.mem_type = NEURON_MEM_TENSORS_DEVICE;
  for (const std::uint64_t pointer : {0ull, 8ull}) {
    argument.mem_handle_ptr = pointer;
    CHECK(client.call(NEURON_IOCTL_MEM_ALLOC_V2MT64, argument) == 8);
  }
  CHECK(client.alloc({4096}) == 1);
  CHECK(client.pa(1) == 0x5C0000000);
}

TEST_CASE("faults on argument structs leave the driver's residue") {
  const Device device(3);
  const Client client(device);
  CHECK(client.raw(NEURON_IOCTL_MEM_ALLOC_V2MT64, bad_address) == 56);
  CHECK(client.raw(NEURON_IOCTL_MEM_ALLOC, bad_address) == -EACCES);
  CHECK(client.raw(NEURON_IOCTL_MEM_FREE, bad_address) == 8);
  CHECK(client.raw(NEURON_IOCTL_DEVICE_BASIC_INFO, bad_address) == 8);
  CHECK(client.raw(NEURON_IOCTL_MEM_BUF_COPY64, bad_address) == 40);
  CHECK(client.raw(NEURON_IOCTL_DMA_QUEUE_INIT, bad_address) == -EACCES);
  CHECK(client.raw(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, bad_address) == -EACCES);
  CHECK(client.raw(NEURON_IOCTL_DRIVER_INFO_GET, bad_address) == 24);
  CHECK(client.raw(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, 0) == 48);
  auto clean = Device::config_of(3);
  clean.strictness = NDS_CLEAN;
  const Device strict(clean);
  const Client other(strict);
  CHECK(other.raw(NEURON_IOCTL_MEM_ALLOC_V2MT64, bad_address) == -EFAULT);
  CHECK(other.raw(NEURON_IOCTL_MEM_ALLOC, bad_address) == -EACCES);
}

TEST_CASE("structs may end exactly at the end of a page") {
  const Device device(3);
  const Client client(device);
  const HalfMapped memory;
  const auto at_end = [&](std::uint32_t command, std::size_t size) {
    std::memset(memory.base(), 0, 4096);
    return client.raw(command, reinterpret_cast<std::uintptr_t>(memory.base() + 4096 - size));
  };
  CHECK(at_end(NEURON_IOCTL_COMPATIBLE_VERSION, 8) == 0);
  CHECK(at_end(NEURON_IOCTL_DRIVER_INFO_GET, 24) == 0);
  CHECK(at_end(NEURON_IOCTL_DEVICE_INFO, 80) == 0);
  CHECK(at_end(NEURON_IOCTL_MEM_ALLOC_V2MT, 48) == -ENOMEM);  // size 0
  CHECK(at_end(NEURON_IOCTL_MEM_ALLOC_V2, 40) == -ENOMEM);
  CHECK(at_end(NEURON_IOCTL_CRWL_NC_RANGE_MARK, 24) == 0);
  CHECK(at_end(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, 80) == 0);
  CHECK(at_end(NEURON_IOCTL_DMA_QUEUE_GET_STATE, 24) == 48);  // its pointers are null
  CHECK(at_end(NEURON_IOCTL_MEM_ALLOC_V2MT64, 55) == 1);
}

TEST_CASE("copies move bytes and stay inside the rounded size") {
  const Device device(3);
  const Client client(device);
  const auto chunk = client.alloc({5000});
  const auto other = client.alloc({4096});
  const auto bytes = pattern(8192, 1);
  CHECK(client.write(chunk, bytes) == 0);
  CHECK(client.read(chunk, 8192) == bytes);
  CHECK(client.copy(chunk, bytes.data(), 8193, 0, true) == -EINVAL);
  CHECK(client.copy(chunk, bytes.data(), 0, 8192, true) == 0);
  CHECK(client.copy(chunk, bytes.data(), 0, 8193, true) == -EINVAL);
  CHECK(client.copy(chunk, bytes.data(), 1, 8192, true) == -EINVAL);
  // The real driver's sum wraps here and the neighbour is overwritten.
  CHECK(client.copy(chunk, bytes.data(), 16, ~0ull - 7, true) == -EINVAL);
  CHECK(client.copy(chunk, bytes.data(), ~0ull, 1, true) == -EINVAL);
  CHECK(client.copy(chunk, bytes.data(), 1ull << 63, 1ull << 63, true) == -EINVAL);
  CHECK(client.copy(chunk, bytes.data(), 1ull << 32, 0, true) == -EINVAL);
  CHECK(client.read(other, 4096) == std::vector<std::uint8_t>(4096, 0));
}

TEST_CASE("bad user buffers leave residues, per 64 KiB piece for device memory") {
  const Device device(3);
  const Client client(device);
  const auto in_hbm = client.alloc({1_MiB});
  const auto in_host = client.alloc({1_MiB, 0, 1, 0, 0, NEURON_MEM_MISC_HOST});
  const auto* bad = reinterpret_cast<const void*>(bad_address);
  for (const bool in : {true, false}) {
    CHECK(client.copy(in_hbm, bad, 100, 0, in) == 100);
    CHECK(client.copy(in_host, bad, 100, 0, in) == 100);
    CHECK(client.copy(in_hbm, bad, 200000, 0, in) == 65536);
    CHECK(client.copy(in_host, bad, 200000, 0, in) == 200000);
    CHECK(client.copy(in_hbm, nullptr, 1, 0, in) == 1);
  }
  const HalfMapped memory;
  for (const bool in : {true, false}) {
    CHECK(client.copy(in_hbm, memory.base(), 8192, 0, in) == 4096);
    CHECK(client.copy(in_host, memory.base(), 8192, 0, in) == 4096);
    CHECK(client.copy(in_host, memory.base() + 4090, 10, 0, in) == 4);
  }
  neuron_mem_buf_copy64 zero_copy{in_hbm, bad_address, 100, 0, 1};
  CHECK(client.call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64, zero_copy) == -ENOMEM);
}

TEST_CASE("a read-only buffer cannot be copied into") {
  const Device device(2);
  const Client client(device);
  const auto chunk = client.alloc({4096});
  auto* page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(client.copy(chunk, page, 64, 0, true) == 0);
  CHECK(client.copy(chunk, page, 64, 0, false) == 64);
  ::munmap(page, 4096);
}

TEST_CASE("handle to handle copies work between HBMs and host memory") {
  const Device device(3);
  const Client client(device);
  const auto a = client.alloc({1_MiB});
  const auto b = client.alloc({1_MiB, 0, 0, 3});
  const auto c = client.alloc({1_MiB, 0, 1, 0, 0, NEURON_MEM_MISC_HOST});
  const auto bytes = pattern(300000, 2);
  REQUIRE(client.write(a, bytes, 7) == 0);
  neuron_mem_copy64 copy{a, b, bytes.size(), 7, 99};
  CHECK(client.call(NEURON_IOCTL_MEM_COPY64, copy) == 0);
  copy = {b, c, bytes.size(), 99, 1};
  CHECK(client.call(NEURON_IOCTL_MEM_COPY64, copy) == 0);
  CHECK(client.read(c, bytes.size(), 1) == bytes);
  copy = {a, b, 2, 1_MiB - 1, 0};
  CHECK(client.call(NEURON_IOCTL_MEM_COPY64, copy) == -EINVAL);
  copy = {a, b, 2, 0, 1_MiB - 1};
  CHECK(client.call(NEURON_IOCTL_MEM_COPY64, copy) == -EINVAL);
  copy = {a, 77, 2, 0, 0};
  CHECK(client.call(NEURON_IOCTL_MEM_COPY64, copy) == -EINVAL);
  neuron_mem_copy narrow{a, c, 64, 7, 2};
  CHECK(client.call(NEURON_IOCTL_MEM_COPY, narrow) == 0);
  CHECK(client.read(c, 64, 2) == std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 64));
}

TEST_CASE("an overlapping copy runs in 64 KiB descriptors in ascending order") {
  const Device device(2);
  const Client client(device);
  const auto chunk = client.alloc({1_MiB});
  auto bytes = pattern(256_KiB, 3);
  REQUIRE(client.write(chunk, bytes) == 0);
  neuron_mem_copy64 copy{chunk, chunk, 128_KiB, 0, 64_KiB};
  CHECK(client.call(NEURON_IOCTL_MEM_COPY64, copy) == 0);
  for (std::size_t piece = 0; piece < 2; ++piece) {
    std::memmove(bytes.data() + (piece + 1) * 64_KiB, bytes.data() + piece * 64_KiB, 64_KiB);
  }
  CHECK(client.read(chunk, bytes.size()) == bytes);
}

TEST_CASE("memset uses the low byte and respects the limit") {
  const Device device(3);
  const Client client(device);
  const auto chunk = client.alloc({200000});
  neuron_memset64 set{chunk, 5, 0x11223344, 70001};
  CHECK(client.call(NEURON_IOCTL_MEMSET64, set) == 0);
  const auto bytes = client.read(chunk, 70010);
  CHECK(bytes[4] == 0);
  CHECK(std::count(bytes.begin(), bytes.end(), 0x44) == 70001);
  set = {chunk, 200704, 0, 1};
  CHECK(client.call(NEURON_IOCTL_MEMSET64, set) == -EINVAL);
  set = {chunk, 8, 0, ~0ull - 3};
  CHECK(client.call(NEURON_IOCTL_MEMSET64, set) == -EINVAL);
  neuron_memset narrow{chunk, 0, 9, 64};
  CHECK(client.call(NEURON_IOCTL_MEMSET, narrow) == 0);
  CHECK(client.read(chunk, 65)[63] == 9);
}

TEST_CASE("one handle reaches the whole contiguous scratchpad") {
  const Device device(3);
  const Client client(device);
  const auto upper = client.alloc({1_MiB, 0, 0, 0, 0, 19});
  const auto lower = client.alloc({1_MiB, 0, 0, 0, 0, 19});
  const auto bytes = pattern(1_MiB, 4);
  CHECK(client.write(lower, bytes, 1_MiB) == 0);
  CHECK(client.read(upper, 1_MiB) == bytes);
  CHECK(client.copy(lower, bytes.data(), 1_MiB, 1_MiB + 1, true) == -EINVAL);
}

TEST_CASE("lookups by address and the carve-out's handle") {
  const Device device(3);
  const Client client(device);
  const auto chunk = client.alloc({2_MiB});
  neuron_mem_mc_get_info_v2 info{0x1000000 + 12345, 0, 0, 0};
  CHECK(client.call(NEURON_IOCTL_MEM_MC_GET_INFO_V2, info) == 0);
  CHECK(info.mmap_offset == 0x1000000);
  CHECK(info.size == 2_MiB);
  CHECK(info.mem_handle == chunk);
  info = {0x1000000 + 2_MiB, 0, 0, 0};
  CHECK(client.call(NEURON_IOCTL_MEM_MC_GET_INFO_V2, info) == -ENOMEM);
  for (int i = 0; i < 2; ++i) {
    info = {4096, 1, 1, 1};
    CHECK(client.call(NEURON_IOCTL_MEM_MC_GET_INFO_V2, info) == 0);
    CHECK(info.mem_handle == 2);
    CHECK(info.size == 16_MiB);
  }
  CHECK(client.free(2) == -EINVAL);
  neuron_mem_mc_get_info old{0, 0, 0};
  CHECK(client.call(0x80184E6F, old) == 0);  // any direction
  CHECK(client.call(0xC0284E6F, info) == -EINVAL);
}

TEST_CASE("freed memory is not cleared and fresh memory reads zero") {
  const Device device(3);
  const Client client(device);
  const auto chunk = client.alloc({1_MiB});
  CHECK(client.read(chunk, 64) == std::vector<std::uint8_t>(64, 0));
  const auto bytes = pattern(1_MiB, 5);
  CHECK(client.write(chunk, bytes) == 0);
  CHECK(client.free(chunk) == 0);
  CHECK(client.read(client.alloc({1_MiB}), 1_MiB) == bytes);
}
