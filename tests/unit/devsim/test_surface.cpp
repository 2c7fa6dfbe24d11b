// SPDX-License-Identifier: MIT
// The rest of the ioctl surface: cores, notification queues, registers, stores, mappings.
#include <catch2/catch.hpp>
#include <string>

#include "client.hpp"
#include "nds_user.h"

using namespace devsim_test;

namespace {

constexpr std::uint64_t bar_address = 0x100000000;

long bar(const Client& client, std::uint32_t command, std::uint64_t offset, std::uint32_t& value,
         std::uint32_t bar_index = 0) {
  std::uint64_t address = bar_address + offset;
  neuron_bar_rw argument{bar_index, reinterpret_cast<std::uintptr_t>(&address),
                         reinterpret_cast<std::uintptr_t>(&value), 1};
  return client.call(command, argument);
}

long notification_queue(const Client& client, neuron_notifications_init_v2& argument) {
  return client.call(NEURON_IOCTL_NOTIFICATIONS_INIT_V2, argument);
}

}  // namespace

TEST_CASE("semaphores count, cut their index to 16 bits and stay in their core") {
  const Device device(2);
  const Client client(device);
  neuron_semaphore argument{0, 5, 100};
  CHECK(client.call(NEURON_IOCTL_SEMAPHORE_WRITE, argument) == 0);
  argument.value = 4;
  CHECK(client.call(NEURON_IOCTL_SEMAPHORE_INCREMENT, argument) == 0);
  argument.value = 50;
  CHECK(client.call(NEURON_IOCTL_SEMAPHORE_DECREMENT, argument) == 0);
  argument.semaphore_index = 65541;
  CHECK(client.call(NEURON_IOCTL_SEMAPHORE_READ, argument) == 0);
  CHECK(argument.value == 54);
  argument = {0, 256, 0};
  CHECK(client.call(NEURON_IOCTL_SEMAPHORE_READ, argument) == -EINVAL);
  argument = {2, 0, 0};
  CHECK(client.call(NEURON_IOCTL_SEMAPHORE_READ, argument) == -E2BIG);
  neuron_event event{0, 256, 3};
  CHECK(client.call(NEURON_IOCTL_EVENT_SET, event) == 0);
  event = {0, 257, 3};
  CHECK(client.call(NEURON_IOCTL_EVENT_SET, event) == -EINVAL);
  event = {200, 0, 3};
  CHECK(client.call(NEURON_IOCTL_EVENT_GET, event) == -EINVAL);
}

TEST_CASE("a reset takes notification queues, events and rings, and leaves memory") {
  const Device device(3);
  const Client client(device);
  const auto chunk = client.alloc({1_MiB});
  const auto bytes = pattern(4096, 1);
  REQUIRE(client.write(chunk, bytes) == 0);
  neuron_cinit_set_state init{0, NEURON_CINIT_STARTED, 0};
  REQUIRE(client.call(NEURON_IOCTL_CINIT_SET_STATE, init) == 0);
  neuron_semaphore semaphore{0, 5, 1};
  REQUIRE(client.call(NEURON_IOCTL_SEMAPHORE_WRITE, semaphore) == 0);
  neuron_notifications_init_v2 queue{0, 0, 1, 4, 4096, 1, 0, 0, 0, 0};
  REQUIRE(notification_queue(client, queue) == 0);
  CHECK(queue.mem_handle == 2);
  neuron_notifications_init_v2 topsp{1, 1, 1, 0, 4096, 1, 0, 0, 0, 0};
  REQUIRE(notification_queue(client, topsp) == 0);
  CHECK(device.counters().live_handles == 3);

  neuron_nc_reset reset{1, 0};
  CHECK(client.call(NEURON_IOCTL_NC_RESET, reset) == 0);
  CHECK(reset.request_id == 100);
  CHECK(client.call(NEURON_IOCTL_NC_RESET, reset) == 1);
  neuron_nc_reset_ready ready{100, 9};
  CHECK(client.call(NEURON_IOCTL_NC_RESET_READY, ready) == 0);
  CHECK(ready.result == 0);
  CHECK(client.call(NEURON_IOCTL_NC_RESET_READY, ready) == 0);
  CHECK(ready.result == 1);

  CHECK(device.counters().live_handles == 1);
  CHECK(client.read(chunk, 4096) == bytes);
  CHECK(client.call(NEURON_IOCTL_SEMAPHORE_READ, semaphore) == 0);
  CHECK(semaphore.value == 0);
  init = {0, NEURON_CINIT_COMPLETED, 0};
  CHECK(client.call(NEURON_IOCTL_CINIT_SET_STATE, init) == 0);
  CHECK(init.new_state == NEURON_CINIT_INVALID);
}

TEST_CASE("notification queues program their registers") {
  const Device device(3);
  const Client client(device);
  neuron_notifications_init_v2 queue{2, 0, 1, 4, 8192, 0, 1, 0, 0, 0};
  REQUIRE(notification_queue(client, queue) == 0);
  CHECK(queue.mmap_offset == ~0ull);
  const auto pa = client.pa(queue.mem_handle);
  CHECK(pa == 0x4000000000 + 0x5C0000000);
  std::uint32_t value = 0;
  const std::uint64_t block = 0x6401000 + 0x28 * 4;
  CHECK(bar(client, NEURON_IOCTL_BAR_READ, block + 0x100, value) == 0);
  CHECK(value == static_cast<std::uint32_t>(pa));
  CHECK(bar(client, NEURON_IOCTL_BAR_READ, block + 0x104, value) == 0);
  CHECK(value == pa >> 32);
  CHECK(bar(client, NEURON_IOCTL_BAR_READ, block + 0x108, value) == 0);
  CHECK(value == 8192);
  queue = {0, 2, 1, 0, 4095, 1, 0, 0, 0, 0};
  CHECK(notification_queue(client, queue) == -ENOSYS);
  queue = {0, 0, 6, 0, 4096, 1, 0, 0, 0, 0};
  CHECK(notification_queue(client, queue) == -EINVAL);
  queue = {0, 0, 1, 0, 0, 1, 0, 0, 0, 0};
  CHECK(notification_queue(client, queue) == -ENOMEM);
}

TEST_CASE("the register BAR shows cores, engines and plain registers") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Device device(architecture);
    const Client client(device);
    const bool v2 = architecture == 2;
    const std::uint64_t core = (v2 ? NEURON_V2_BAR0_TPB : NEURON_V3_BAR0_TPB) + 0x4000000;
    std::uint32_t value = 1;
    // Events and semaphores of core 1.
    CHECK(bar(client, NEURON_IOCTL_BAR_WRITE, core + NEURON_BAR0_TPB_EVENTS + 0x1800 + 4 * 7,
              value) == 0);
    neuron_semaphore semaphore{1, 7, 0};
    CHECK(client.call(NEURON_IOCTL_SEMAPHORE_READ, semaphore) == 0);
    CHECK(semaphore.value == 1);
    // SBUF through the BAR and through the device address.
    value = 0x12345678;
    CHECK(bar(client, NEURON_IOCTL_BAR_WRITE, core + 0x40, value) == 0);
    const auto chunk = client.alloc({4096});
    const std::uint64_t sbuf = v2 ? neuron_v2_tpb_base(1) : neuron_v3_tpb_base(1);
    std::uint32_t written = 0x9ABCDEF0;
    neuron_program_engine_nc64 program{1, sbuf + 0x44, reinterpret_cast<std::uintptr_t>(&written),
                                       4, 0};
    CHECK(client.call(NEURON_IOCTL_PROGRAM_ENGINE_NC64, program) == 0);
    CHECK(bar(client, NEURON_IOCTL_BAR_READ, core + 0x40, value) == 0);
    CHECK(value == 0x12345678);
    CHECK(bar(client, NEURON_IOCTL_BAR_READ, core + 0x44, value) == 0);
    CHECK(value == 0x9ABCDEF0);
    // Ring base and doorbell of a queue are not the host's to write, its configuration is.
    const std::uint64_t engine = v2 ? neuron_v2_bar0_dma_engine(17) : neuron_v3_bar0_dma_engine(17);
    for (const std::uint32_t reg : {0x28u, 0x2Cu, 0x38u, 0x44u, 0x48u}) {
      CHECK(bar(client, NEURON_IOCTL_BAR_WRITE, engine + neuron_udma_rx_register(15, reg), value) ==
            -EINVAL);
    }
    CHECK(bar(client, NEURON_IOCTL_BAR_WRITE, engine + neuron_udma_rx_register(15, 0x20), value) ==
          0);
    CHECK(bar(client, NEURON_IOCTL_BAR_READ, engine + neuron_udma_rx_register(15, 0x20), value) ==
          0);
    CHECK(value == 0x9ABCDEF0);
    neuron_dma_queue_init init{17, 15, 64, 32, chunk, chunk, 0, 0};
    REQUIRE(client.call(NEURON_IOCTL_DMA_QUEUE_INIT, init) == 0);
    CHECK(bar(client, NEURON_IOCTL_BAR_READ, engine + neuron_udma_tx_register(15, 0x30), value) ==
          0);
    CHECK(value == 64);
  }
}

TEST_CASE("reads outside the BAR are refused instead of reading the kernel") {
  const Device device(3);
  const Client client(device);
  std::uint32_t value = 0;
  CHECK(bar(client, NEURON_IOCTL_BAR_READ, 0ull - bar_address, value) == -EINVAL);
  CHECK(bar(client, NEURON_IOCTL_BAR_READ, NEURON_V3_BAR0_SIZE, value) == -EINVAL);
  CHECK(bar(client, NEURON_IOCTL_BAR_READ, NEURON_V3_BAR0_SIZE - 4, value) == 0);
  CHECK(bar(client, NEURON_IOCTL_BAR_READ, 2, value) == -EINVAL);
  CHECK(bar(client, NEURON_IOCTL_BAR_READ, 0, value, 4) == -EINVAL);
  CHECK(bar(client, NEURON_IOCTL_BAR_WRITE, 0, value, 2) == -EINVAL);
  neuron_bar_rw many{0, 0, 0, 101};
  CHECK(client.call(NEURON_IOCTL_BAR_READ, many) == -EINVAL);
  many.count = 2;
  CHECK(client.call(NEURON_IOCTL_BAR_READ, many) == 16);
}

TEST_CASE("program engine accepts its windows only") {
  const Device v3(3);
  const Client on_v3(v3);
  const Device v2(2);
  const Client on_v2(v2);
  std::vector<std::uint8_t> bytes(70000, 5);
  const auto program = [&](const Client& client, std::uint64_t dst, std::uint64_t size,
                           std::uint32_t nc = 0) {
    neuron_program_engine_nc64 argument{nc, dst, reinterpret_cast<std::uintptr_t>(bytes.data()),
                                        size, 0};
    return client.call(NEURON_IOCTL_PROGRAM_ENGINE_NC64, argument);
  };
  CHECK(program(on_v3, 0x2000000000 + 0x804000000 - 4096, 4096) == 0);
  CHECK(program(on_v3, 0x2000000000 + 0x804000000 - 4096, 4097) == -ENOMEM);
  CHECK(program(on_v3, 0x1000000, 70000) == 0);
  CHECK(program(on_v3, 0x8280000000 + 9 * 0x40000000ull, 4) == 0);
  CHECK(program(on_v3, 0x8280000000 + 10 * 0x40000000ull, 4) == -ENOMEM);
  CHECK(program(on_v3, 0x805200000000, 4) == 0);
  CHECK(program(on_v3, ~0ull, 2) == -ENOMEM);
  CHECK(program(on_v3, 0x2000000000, 0) == -ENOMEM);
  CHECK(program(on_v3, 0x2000000000, 4, 8) == -ENOMEM);
  CHECK(program(on_v2, 0xFFFC0000000 + 0x4000000 - 8, 16) == -EFAULT);  // one access, two cores
  CHECK(program(on_v2, 0xFFFC8000000, 4) == -ENOMEM);
  CHECK(program(on_v2, 0x1000000, 4) == -ENOMEM);
  CHECK(program(on_v2, 0xFFFD0000000, 4, 7) == 0);
}

TEST_CASE("resources are mapped by their exact offset and length") {
  const Device device(3);
  const Client client(device);
  neuron_resource_mmap_info info{NEURON_MMAP_BLOCK_TPB, 1, NEURON_MMAP_SEMAPHORE, 0, 0};
  REQUIRE(client.call(NEURON_IOCTL_RESOURCE_MMAP_INFO, info) == 0);
  CHECK(info.offset == 0x2002700000 + 0x4000000);
  CHECK(info.size == 0x2000);
  nds_mapping mapping{};
  REQUIRE(nds_file_mmap(client.file(), 100, info.offset, info.size, &mapping) == 0);
  CHECK_FALSE(mapping.read_only);
  CHECK(nds_file_mmap(client.file(), 100, info.offset, info.size / 2, &mapping) == -EPERM);
  neuron_semaphore semaphore{1, 3, 41};
  REQUIRE(client.call(NEURON_IOCTL_SEMAPHORE_WRITE, semaphore) == 0);
  const auto* view =
      static_cast<const std::uint8_t*>(nds_user_space_address(mapping.space, mapping.offset));
  std::uint32_t value = 0;
  std::memcpy(&value, view + 0x1000 + 4 * 3, 4);
  CHECK(value == 41);
  info = {NEURON_MMAP_BLOCK_TOPSP, 15, NEURON_MMAP_ALL, 0, 0};
  REQUIRE(client.call(NEURON_IOCTL_RESOURCE_MMAP_INFO, info) == 0);
  CHECK(info.offset == 0x808280000000 + 7 * 0x40000000ull);
  REQUIRE(nds_file_mmap(client.file(), 100, info.offset, info.size, &mapping) == 0);
  CHECK(mapping.read_only);
  info = {NEURON_MMAP_BLOCK_TPB, 8, NEURON_MMAP_SEMAPHORE, 0, 0};
  CHECK(client.call(NEURON_IOCTL_RESOURCE_MMAP_INFO, info) == -EINVAL);
}

TEST_CASE("another process sees a chunk read-only") {
  const Device device(3);
  const Client owner(device, 1);
  const Client other(device, 2);
  const auto chunk = owner.alloc({8192});
  nds_mapping mapping{};
  REQUIRE(nds_file_mmap(owner.file(), 1, owner.pa(chunk) + 4096, 8192, &mapping) == 0);
  CHECK_FALSE(mapping.read_only);
  CHECK(mapping.offset == owner.pa(chunk));  // from the chunk's start
  REQUIRE(nds_file_mmap(other.file(), 2, owner.pa(chunk), 8192, &mapping) == 0);
  CHECK(mapping.read_only);
  REQUIRE(nds_file_mmap(other.file(), 2, 0, 16_MiB, &mapping) == 0);  // the carve-out is everyone's
  CHECK_FALSE(mapping.read_only);
}

TEST_CASE("asynchronous copies keep the driver's book of contexts") {
  const Device device(3);
  const Client client(device);
  const auto a = client.alloc({200_MiB});
  const auto b = client.alloc({200_MiB});
  const auto copy = [&](std::int32_t previous, std::uint64_t size, std::int32_t& context) {
    neuron_mem_copy_async64 argument{a, b, size, 0, 0, 0, previous, 77};
    const long result = client.call(NEURON_IOCTL_MEM_COPY_ASYNC64, argument);
    context = argument.wait_handle;
    return result;
  };
  const auto wait = [&](std::int32_t context) {
    neuron_mem_copy_async_wait argument{a, b, context};
    return client.call(NEURON_IOCTL_MEM_COPY_ASYNC_WAIT, argument);
  };
  std::int32_t context = 0;
  CHECK(copy(-1, 4096, context) == 0);
  CHECK(context == 1);
  CHECK(copy(1, 4096, context) == 0);
  CHECK(context == 2);
  CHECK(wait(1) == -EINVAL);
  CHECK(wait(2) == 0);
  CHECK(wait(2) == -EINVAL);
  CHECK(copy(2, 4096, context) == -EINVAL);
  CHECK(context == 77);
  CHECK(copy(0, 4096, context) == 0);
  CHECK(context == 0);
  CHECK(copy(3, 4096, context) == -EINVAL);
  CHECK(copy(-1, 133169153, context) == -EINVAL);
  CHECK(wait(1) == -EINVAL);
}

TEST_CASE("chunks are listed by address") {
  const Device device(3);
  const Client client(device);
  client.alloc({1_MiB});
  client.alloc({4096});
  client.alloc({1_MiB, 0, 0, 1});
  neuron_mem_chunk_info info[8] = {};
  neuron_dump_mem_chunks dump{0, 8, 0, reinterpret_cast<std::uintptr_t>(info)};
  CHECK(client.call(NEURON_IOCTL_DUMP_MEM_CHUNKS, dump) == 0);
  REQUIRE(dump.num_entries_out == 3);
  CHECK(info[0].pa == 0);
  CHECK(info[0].mem_type == NEURON_MEM_NCDEV_DEVICE);
  CHECK(info[1].pa == 0x1000000);
  CHECK(info[2].pa == 0x5C0000000);
  dump = {0, 2, 0, reinterpret_cast<std::uintptr_t>(info)};
  CHECK(client.call(NEURON_IOCTL_DUMP_MEM_CHUNKS, dump) == -EAGAIN);
  CHECK(dump.num_entries_out == 3);
  dump = {4, 0xFFFFFFFF, 9, 0};
  CHECK(client.call(NEURON_IOCTL_DUMP_MEM_CHUNKS, dump) == 0);
  CHECK(dump.num_entries_out == 0);
}

TEST_CASE("scrubbing fills everything above the carve-out") {
  const Device device(3, 1_GiB);
  const Client client(device);
  const auto chunk = client.alloc({1_MiB});
  const auto last = client.alloc({4096, 0, 0, 0, 0, NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE});
  neuron_hbm_scrub_start start{0, 0, 0, 0x01020304};
  CHECK(client.call(NEURON_IOCTL_HBM_SCRUB_START, start) == 0);
  CHECK(client.read(chunk, 5) == std::vector<std::uint8_t>{4, 3, 2, 1, 4});
  CHECK(client.read(last, 4, 4092) == std::vector<std::uint8_t>{4, 3, 2, 1});
  start.init_val = 0;
  CHECK(client.call(NEURON_IOCTL_HBM_SCRUB_START, start) == 0);
  CHECK(client.read(last, 4, 4092) == std::vector<std::uint8_t>(4, 0));
  neuron_hbm_scrub_wait wait{0, 0};
  CHECK(client.call(NEURON_IOCTL_HBM_SCRUB_WAIT, wait) == 0);
  start.hbm_index = 4;
  CHECK(client.call(NEURON_IOCTL_HBM_SCRUB_START, start) == -EPERM);
}

TEST_CASE("data stores belong to processes") {
  const Device device(3);
  const Client first(device, 1);
  neuron_neuron_ds store{0, 0, 0};
  REQUIRE(first.call(NEURON_IOCTL_ACQUIRE_NEURON_DS, store) == 0);
  CHECK(store.size == 256_KiB);
  const auto offset = store.mmap_offset;
  nds_mapping mapping{};
  CHECK(nds_file_mmap(first.file(), 1, offset, 256_KiB, &mapping) == 0);
  {
    const Client second(device, 2);
    store = {0, 0, 0};
    REQUIRE(second.call(NEURON_IOCTL_ACQUIRE_NEURON_DS, store) == 0);
    CHECK(store.mmap_offset != offset);
    store = {1, 0, 0};
    REQUIRE(second.call(NEURON_IOCTL_ACQUIRE_NEURON_DS, store) == 0);
    CHECK(store.mmap_offset == offset);
  }
  store = {2, 0, 0};
  CHECK(first.call(NEURON_IOCTL_ACQUIRE_NEURON_DS, store) == -ENOENT);
  store = {4242, 0, 0};
  CHECK(first.call(NEURON_IOCTL_RELEASE_NEURON_DS, store) == 0);
}

TEST_CASE("per-core locks answer as the driver does") {
  const Device device(3);
  const Client client(device, 1);
  const Client other(device, 2);
  const auto lock = [](const Client& who, std::uint32_t command, std::uint8_t uuid,
                       std::uint32_t core = 0) {
    neuron_crwl argument{};
    argument.nc_id = core;
    argument.uuid[0] = uuid;
    return who.call(command, argument);
  };
  CHECK(lock(client, NEURON_IOCTL_CRWL_READER_ENTER, 1) == -ENOENT);
  CHECK(lock(client, NEURON_IOCTL_CRWL_WRITER_ENTER, 1) == 0);
  CHECK(lock(other, NEURON_IOCTL_CRWL_WRITER_ENTER, 1) == -EBUSY);
  CHECK(lock(other, NEURON_IOCTL_CRWL_READER_ENTER, 1) == -EBUSY);
  CHECK(lock(other, NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 1) == -ENOENT);
  CHECK(lock(client, NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 1) == 0);
  CHECK(lock(other, NEURON_IOCTL_CRWL_READER_ENTER, 1) == 0);
  CHECK(lock(client, NEURON_IOCTL_CRWL_WRITER_ENTER, 1) == -EBUSY);
  CHECK(lock(client, NEURON_IOCTL_CRWL_READER_EXIT, 1) == 0);
  CHECK(lock(client, NEURON_IOCTL_CRWL_READER_EXIT, 1) == -ENOENT);
  CHECK(lock(other, NEURON_IOCTL_CRWL_READER_EXIT, 1) == 0);
  CHECK(lock(client, NEURON_IOCTL_CRWL_WRITER_ENTER, 1) == -EALREADY);
  CHECK(lock(client, NEURON_IOCTL_CRWL_WRITER_ENTER, 1, 8) == -EINVAL);
}

TEST_CASE("a dying process gives its locks back") {
  const Device device(3);
  neuron_crwl argument{};
  {
    const Client client(device, 1);
    REQUIRE(client.call(NEURON_IOCTL_CRWL_WRITER_ENTER, argument) == 0);
  }
  const Client next(device, 2);
  CHECK(next.call(NEURON_IOCTL_CRWL_WRITER_ENTER, argument) == 0);
}

TEST_CASE("every command answers something for a null argument, and nothing crashes") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Device device(architecture, 1_GiB);
    const Client client(device);
    std::vector<std::uint8_t> noise(16384);
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
      for (std::uint32_t nr = 0; nr < 140; ++nr) {
        for (const std::uint32_t head :
             {0x80084E00u, 0x40084E00u, 0xC0084E00u, 0x80284E00u, 0xC0284E00u, 0x80304E00u,
              0x80384E00u, 0xC0384E00u, 0xC0184E00u, 0xC0204E00u, 0xC0104E00u, 0x80044E00u}) {
          client.raw(head | nr, 0);
          client.raw(head | nr, ~0ull - 4);
          noise = pattern(noise.size(), seed * 1000 + nr);
          // Small numbers reach deeper than random ones.
          for (std::size_t i = 0; i < 256; i += 4) {
            if (noise[i] & 1) std::memset(noise.data() + i + 1, 0, 3);
            if (noise[i] & 2) std::memset(noise.data() + i, 0, 4);
          }
          client.raw(head | nr, reinterpret_cast<std::uintptr_t>(noise.data()));
          if (seed > 2) break;
        }
      }
    }
    CHECK(client.alloc({4096}) != 0);
  }
}

TEST_CASE("facts tell what sysfs would") {
  const Device device(3);
  const Client client(device);
  const auto fact = [&](const std::string& path) {
    char text[64] = {};
    const int length = nds_device_fact(device.get(), path.c_str(), text, sizeof text);
    return length < 0 ? "error " + std::to_string(-length) : std::string(text);
  };
  CHECK(fact("core_count") == "8");
  CHECK(fact("connected_devices") == "\n");
  CHECK(fact("info/architecture/instance_type") == "Trn2");
  CHECK(fact("neuron_core5/info/architecture/arch_type") == "NCv3");
  const std::string tensors = "neuron_core5/stats/memory_usage/device_mem/tensors/";
  const auto chunk = client.alloc({5000, 0, 0, 2, 5});
  CHECK(fact(tensors + "present") == "8192");
  CHECK(client.free(chunk) == 0);
  client.alloc({4096, 0, 0, 2, 5});
  CHECK(fact(tensors + "present") == "4096");
  CHECK(fact(tensors + "peak") == "8192");
  CHECK(fact(tensors + "total") == "12288");
  CHECK(fact("neuron_core0/stats/memory_usage/device_mem/driver_memory/present") == "16777216");
  CHECK(fact("neuron_core0/stats/other_info/reset_req_count") == "1");
  for (const char* path : {"", "core_counts", "neuron_core8/stats/other_info/flop_count",
                           "neuron_core/", "neuron_core5", "stats/memory_usage/host_mem/tensors",
                           "stats/memory_usage/host_mem/tensors/presents"}) {
    CAPTURE(path);
    CHECK(fact(path) == "error " + std::to_string(ENOENT));
  }
  char small[1];
  CHECK(nds_device_fact(device.get(), "core_count", small, sizeof small) == -ENOSPC);
}
