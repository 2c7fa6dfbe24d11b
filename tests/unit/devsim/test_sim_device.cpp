// SPDX-License-Identifier: MIT
// The in-process back end: SimDevice and DeviceFile.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <string>
#include <thread>

#include "neffld/device_file.hpp"
#include "neffld/sim_control.hpp"
#include "neuron_abi/ioctl.h"

using neffld::DeviceFile;
using neffld::SimDevice;

namespace {

std::uint64_t alloc(DeviceFile& file, std::uint64_t size, std::uint32_t hbm = 0, bool host = false,
                    std::uint64_t align = 0) {
  std::uint64_t handle = 0;
  neuron_mem_alloc_v2mt64 argument{};
  argument.size = size;
  argument.dram_channel = hbm;
  argument.mem_type = NEURON_MEM_TENSORS_DEVICE;
  argument.host_memory = host;
  argument.align = align;
  argument.mem_handle_ptr = reinterpret_cast<std::uintptr_t>(&handle);
  return file.ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &argument) == 0 ? handle : 0;
}

std::uint64_t mmap_offset(DeviceFile& file, std::uint64_t handle) {
  neuron_mem_get_extended_info info{};
  info.mem_handle = handle;
  return file.ioctl(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, &info) == 0 ? info.mmap_offset : 1;
}

int copy(DeviceFile& file, std::uint64_t handle, void* buffer, std::uint64_t size,
         std::uint64_t offset, bool in) {
  neuron_mem_buf_copy64 argument{};
  argument.mem_handle = handle;
  argument.buffer_ptr = reinterpret_cast<std::uintptr_t>(buffer);
  argument.size = size;
  argument.offset = offset;
  argument.copy_to_mem_handle = in ? 1 : 0;
  return file.ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &argument);
}

int release(DeviceFile& file, std::uint64_t handle) {
  neuron_mem_free argument{handle};
  return file.ioctl(NEURON_IOCTL_MEM_FREE, &argument);
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

}  // namespace

TEST_CASE("a 96 GiB device costs little until it is touched") {
  const auto before = resident_bytes();
  auto device = SimDevice::create({});
  REQUIRE(device);
  auto file = (*device)->open();
  REQUIRE(file);
  for (std::uint32_t hbm = 0; hbm < 4; ++hbm) {
    CHECK(alloc(**file, 22ull << 30, hbm) != 0);
    CHECK(alloc(**file, 512ull << 20, hbm) != 0);
  }
  std::uint8_t byte = 1;
  CHECK(copy(**file, 1, &byte, 1, 21ull << 30, true) == 0);
  CHECK(resident_bytes() - before < (64ull << 20));
}

TEST_CASE("zeroing a large chunk gives its memory back") {
  auto device = SimDevice::create({});
  REQUIRE(device);
  auto file = (*device)->open();
  REQUIRE(file);
  constexpr std::uint64_t size = 20ull << 30;
  constexpr std::uint64_t offsets[] = {0, 5ull << 30, size - (1 << 20)};
  const auto handle = alloc(**file, size);
  std::vector<std::uint8_t> bytes(1 << 20, 7);
  for (const std::uint64_t offset : offsets) {
    REQUIRE(copy(**file, handle, bytes.data(), bytes.size(), offset, true) == 0);
  }
  const auto before = resident_bytes();
  neuron_memset64 set{handle, 3, 0, size - 6};
  CHECK((*file)->ioctl(NEURON_IOCTL_MEMSET64, &set) == 0);
  CHECK(resident_bytes() <= before + (16ull << 20));
  for (const std::uint64_t offset : offsets) {
    REQUIRE(copy(**file, handle, bytes.data(), bytes.size(), offset, false) == 0);
    const auto kept = std::count(bytes.begin(), bytes.end(), std::uint8_t{7});
    CHECK(kept == (offset == offsets[1] ? 0 : 3));
  }
}

TEST_CASE("traits and counters tell what a device is") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    auto device = SimDevice::create({architecture, 1ull << 30});
    REQUIRE(device);
    {
      auto file = (*device)->open();
      REQUIRE(file);
      CHECK((*file)->traits().name == "sim:v" + std::to_string(architecture));
      CHECK((*file)->traits().simulated);
      const auto handle = alloc(**file, 5000);
      CHECK((*device)->counters().live_handles == 1);
      CHECK((*device)->counters().live_device_bytes == 8192);
      CHECK(release(**file, handle) == 0);
      CHECK((*device)->counters().live_device_bytes == 0);
      CHECK((*device)->counters().ioctls == 2);
      alloc(**file, 1 << 20);
    }
    CHECK((*device)->counters().live_handles == 0);
  }
}

TEST_CASE("an impossible device is refused with a sentence") {
  for (const neffld::SimOptions options : {neffld::SimOptions{7, 0}, neffld::SimOptions{3, 4096},
                                           neffld::SimOptions{2, 24ull << 30}}) {
    const auto device = SimDevice::create(options);
    REQUIRE_FALSE(device);
    CHECK(device.error().text.find("architectures are 2, 3 and 4") != std::string::npos);
  }
}

TEST_CASE("driver generation and error style can be chosen") {
  neffld::SimOptions options;
  options.driver_minor = 27;
  options.clean_errors = true;
  auto device = SimDevice::create(options);
  REQUIRE(device);
  auto file = (*device)->open();
  REQUIRE(file);
  neuron_driver_info info{};
  CHECK((*file)->ioctl(NEURON_IOCTL_DRIVER_INFO_GET, &info) == 0);
  CHECK(info.feature_flags1 == 0x1FF);
  CHECK((*file)->ioctl(NEURON_IOCTL_DRIVER_INFO_GET, nullptr) == -EFAULT);
  options.driver_minor = 25;
  CHECK_FALSE(SimDevice::create(options));
}

TEST_CASE("a device lives as long as its last file") {
  std::unique_ptr<DeviceFile> file;
  {
    auto device = SimDevice::create({3, 1ull << 30});
    REQUIRE(device);
    file = std::move(*(*device)->open());
  }
  CHECK(alloc(*file, 4096) == 1);
}

TEST_CASE("a mapping shows the chunk's bytes") {
  auto device = SimDevice::create({});
  REQUIRE(device);
  auto file = (*device)->open();
  const auto handle = alloc(**file, 1 << 20);
  std::uint64_t offset = 0;
  neuron_mem_get_info info{handle, reinterpret_cast<std::uintptr_t>(&offset),
                           reinterpret_cast<std::uintptr_t>(&offset)};
  REQUIRE((*file)->ioctl(NEURON_IOCTL_MEM_GET_INFO, &info) == 0);
  auto mapping = (*file)->mmap(offset, 1 << 20, true);
  REQUIRE(mapping);
  static_cast<std::uint8_t*>(*mapping)[5] = 42;
  std::uint8_t byte = 0;
  CHECK(copy(**file, handle, &byte, 1, 5, false) == 0);
  CHECK(byte == 42);
  (*file)->munmap(*mapping, 1 << 20);
  CHECK_FALSE((*file)->mmap(offset, 4096, true));
  CHECK_FALSE((*file)->mmap(0x123000000, 4096, true));
}

TEST_CASE("with pages of 4, 16 and 64 KiB mappings begin at pages and are whole pages long") {
  for (const std::uint64_t page : {4096u, 16384u, 65536u}) {
    for (const bool host : {false, true}) {
      INFO("pages of " << page << (host ? ", host memory" : ""));
      auto device = neffld::sim_device_with_pages({}, static_cast<std::uint32_t>(page));
      REQUIRE(device);
      auto file = (*device)->open();
      // What is not page-aligned by itself comes first.
      REQUIRE(alloc(**file, 4096, 0, host));
      for (const std::uint64_t size : {page - 1, page, 3 * page, 3 * page + 1}) {
        INFO(size << " bytes");
        // Device memory lies and is rounded by the driver's pages of 4096, host memory by the
        // kernel's.
        const std::uint64_t unit = host ? page : 4096;
        const std::uint64_t rounded = (size + unit - 1) / unit * unit;
        const auto handle = alloc(**file, size, 0, host, host ? 0 : page);
        const std::uint64_t place = mmap_offset(**file, handle);
        CHECK(place % page == 0);
        for (const std::uint64_t length :
             {std::uint64_t{0}, size - 1, size, size + 1, rounded, rounded + 1, rounded + page}) {
          INFO("length " << length);
          const bool fits = length != 0 && (length + page - 1) / page * page == rounded;
          CHECK((*file)->mmap(place, length, true).has_value() == fits);
        }
        const bool whole = rounded % page == 0;
        for (const std::uint64_t off : {std::uint64_t{1}, std::uint64_t{4096}, page / 2, page}) {
          INFO("offset " << off);
          const bool fits = whole && off % page == 0 && off < rounded;
          CHECK((*file)->mmap(place + off, rounded, true).has_value() == fits);
        }
        CHECK_FALSE((*file)->mmap(place, ~std::uint64_t{0}, true));
        CHECK(release(**file, handle) == 0);
      }
    }
  }
  for (const std::uint32_t page : {1u, 2048u, 12288u, 65537u, 131072u, 0x80000000u}) {
    CHECK_FALSE(neffld::sim_device_with_pages({}, page));
  }
}

TEST_CASE("threads allocate, copy and free at the same time") {
  auto device = SimDevice::create({});
  REQUIRE(device);
  auto file = (*device)->open();
  REQUIRE(file);
  std::atomic<int> failures{0};
  const auto work = [&](std::uint8_t seed) {
    std::vector<std::uint8_t> bytes(200000, seed);
    std::vector<std::uint8_t> back(bytes.size());
    for (int round = 0; round < 300; ++round) {
      const auto handle =
          alloc(**file, 150000 + static_cast<std::uint64_t>(round) * 4096, seed % 4);
      const bool good = handle != 0 &&
                        copy(**file, handle, bytes.data(), 140000, 1000, true) == 0 &&
                        copy(**file, handle, back.data(), 140000, 1000, false) == 0 &&
                        std::equal(back.begin(), back.begin() + 140000, bytes.begin()) &&
                        release(**file, handle) == 0;
      if (!good) ++failures;
    }
  };
  std::thread first(work, std::uint8_t{1});
  std::thread second(work, std::uint8_t{5});  // the same HBM
  first.join();
  second.join();
  CHECK(failures == 0);
  CHECK((*device)->counters().live_handles == 0);
  CHECK(alloc(**file, 4096) != 0);
}

TEST_CASE("a chunk freed during a copy stays in place until the copy is done") {
  auto device = SimDevice::create({3, 1ull << 30});
  REQUIRE(device);
  auto file = (*device)->open();
  REQUIRE(file);
  constexpr std::uint64_t size = 8 << 20;
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  // One thread copies from whatever handle 1 is, the other keeps freeing and allocating it.
  std::thread copier([&] {
    std::vector<std::uint8_t> bytes(size);
    while (!stop) {
      const int result = copy(**file, 1, bytes.data(), size, 0, false);
      if (result != 0 && result != -EINVAL) ++wrong;
    }
  });
  for (int round = 0; round < 200; ++round) {
    const auto handle = alloc(**file, size);
    if (handle != 1) ++wrong;
    if (release(**file, handle) != 0) ++wrong;
    if (release(**file, handle) != -EINVAL) ++wrong;
  }
  stop = true;
  copier.join();
  CHECK(wrong == 0);
  CHECK((*device)->counters().live_device_bytes == 0);
}
