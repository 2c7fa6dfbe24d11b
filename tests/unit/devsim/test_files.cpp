// SPDX-License-Identifier: MIT
// Attach slots, the gate, free access, lifetimes and command selection (spec 06 sections 2 and 3).
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>

#include "client.hpp"

using namespace devsim_test;

TEST_CASE("sixteen processes attach, the next one is busy") {
  const Device device(3);
  std::vector<std::unique_ptr<Client>> clients;
  for (std::int32_t tgid = 1; tgid <= 16; ++tgid) {
    clients.push_back(std::make_unique<Client>(device, tgid));
    REQUIRE(clients.back()->status() == 0);
  }
  CHECK(Client(device, 17).status() == -EBUSY);
  CHECK(Client(device, 16).status() == 0);
  CHECK(Client(device, 17, 1).status() == 0);  // free access does not attach
  clients.pop_back();
  CHECK(Client(device, 17).status() == 0);
}

TEST_CASE("free access reaches only the miscellaneous commands") {
  const Device device(3);
  const Client client(device, 5, 1);
  neuron_driver_info info{};
  CHECK(client.call(NEURON_IOCTL_DRIVER_INFO_GET, info) == 0);
  CHECK(info.feature_flags1 == 0xFF);
  CHECK(client.call(NEURON_IOCTL_DRIVER_INFO_SET, info) == -524);
  std::uint64_t handle = 0;
  CHECK(client.alloc({4096}, handle) == -EINVAL);
  neuron_device_info device_info{};
  CHECK(client.call(NEURON_IOCTL_DEVICE_INFO, device_info) == -EINVAL);
  const Client mode3(device, 5, 3);
  CHECK(mode3.alloc({4096}, handle) == -EINVAL);
  nds_mapping mapping{};
  CHECK(nds_file_mmap(client.file(), 5, 0, 4096, &mapping) == -EACCES);
}

TEST_CASE("an unattached process fails the gate but uses ungated siblings") {
  const Device device(3);
  const Client parent(device, 10);
  const auto chunk = parent.alloc({1_MiB});
  const auto child = [&](std::uint32_t command, auto& argument) {
    return nds_file_ioctl(parent.file(), 11, command, reinterpret_cast<std::uintptr_t>(&argument));
  };
  neuron_mem_free free_argument{chunk};
  CHECK(child(NEURON_IOCTL_MEM_FREE, free_argument) == -EACCES);
  neuron_mem_copy narrow{chunk, chunk, 4, 0, 8};
  CHECK(child(NEURON_IOCTL_MEM_COPY, narrow) == -EACCES);
  neuron_mem_copy64 copy{chunk, chunk, 4, 0, 8};
  CHECK(child(NEURON_IOCTL_MEM_COPY64, copy) == 0);
  neuron_mem_get_extended_info info{};
  info.mem_handle = chunk;
  CHECK(child(NEURON_IOCTL_MEM_GET_EXTENDED_INFO, info) == 0);
  CHECK(info.pid == 10);
  neuron_dma_queue_init_batch batch{};
  CHECK(child(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, batch) == 0);
  // The real kernel crashes on this one.
  std::uint64_t handle = 0;
  neuron_mem_alloc_v2mt64 alloc{};
  alloc.size = 4096;
  alloc.mem_handle_ptr = reinterpret_cast<std::uintptr_t>(&handle);
  CHECK(child(NEURON_IOCTL_MEM_ALLOC_V2MT64, alloc) == -EACCES);
  CHECK(handle == 0);
  nds_file_flush(parent.file(), 11);  // the child's exit has no effect
  CHECK(parent.pa(chunk) == 0x1000000);
}

TEST_CASE("a process that goes takes its chunks along, and only its own") {
  const Device device(3);
  const Client stays(device, 1);
  const auto kept = stays.alloc({1_MiB});
  {
    const Client goes(device, 2);
    CHECK(goes.alloc({1_MiB}) == 2);
    CHECK(goes.alloc({4096}) == 3);
    CHECK(goes.read(kept, 16).size() == 16);  // handles are the device's, not the process's
    CHECK(device.counters().live_handles == 3);
  }
  CHECK(device.counters().live_handles == 1);
  CHECK(device.counters().live_device_bytes == 1_MiB);
  CHECK(stays.pa(kept) == 0x1000000);
  CHECK(stays.alloc({1_MiB}) == 2);
  CHECK(stays.pa(2) == 0x1100000);
}

TEST_CASE("two files of one process share its chunks until both are closed") {
  const Device device(3);
  Client first(device, 1);
  const Client second(device, 1);
  const auto chunk = first.alloc({4096});
  first.close();
  CHECK(second.pa(chunk) != ~0ull);
  CHECK(device.counters().live_handles == 1);
}

TEST_CASE("closing a duplicate detaches early") {
  const Device device(3);
  const Client client(device, 1);
  const auto chunk = client.alloc({4096});
  nds_file_flush(client.file(), 1);
  CHECK(device.counters().live_handles == 0);
  CHECK(client.free(chunk) == -EACCES);
}

TEST_CASE("handles of the next run follow the age of the chunks that survived") {
  const Device device(3);
  const auto run = [&](bool shuffle) {
    const Client client(device, 1);
    std::vector<std::uint64_t> handles;
    for (int i = 0; i < 4; ++i) handles.push_back(client.alloc({4096}));
    if (shuffle) {
      client.free(handles[0]);
      handles.push_back(client.alloc({4096}));  // the youngest chunk has the lowest handle
    }
    return handles;
  };
  CHECK(run(false) == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(run(true) == std::vector<std::uint64_t>{1, 2, 3, 4, 1});
  CHECK(run(false) == std::vector<std::uint64_t>{2, 3, 4, 1});
}

TEST_CASE("a dying process loses its rings but keeps instruction fetch") {
  const Device device(3);
  const Client watcher(device, 1);
  {
    const Client client(device, 2);
    const auto ring = client.alloc({4096});
    for (const std::uint32_t queue : {3u, 14u}) {
      neuron_dma_queue_init init{0, queue, 64, 64, ring, ring, 0, 0};
      REQUIRE(client.call(NEURON_IOCTL_DMA_QUEUE_INIT, init) == 0);
    }
  }
  neuron_dma_queue_state tx{};
  neuron_dma_queue_state rx{};
  const auto base = [&](std::uint32_t queue) {
    neuron_dma_queue_get_state get{0, queue, reinterpret_cast<std::uintptr_t>(&tx),
                                   reinterpret_cast<std::uintptr_t>(&rx)};
    REQUIRE(watcher.call(NEURON_IOCTL_DMA_QUEUE_GET_STATE, get) == 0);
    return tx.base_addr;
  };
  CHECK((base(3) & NEURON_V3_HOST_MASK) == NEURON_V3_HOST_BASE);
  CHECK(tx.length == 64);
  CHECK(base(14) == 0x5C0000000);
}

TEST_CASE("commands are told apart by all of their 32 bits") {
  const Device device(3);
  const Client client(device);
  std::uint8_t big[512] = {};
  const auto address = reinterpret_cast<std::uintptr_t>(big);
  for (const std::uint32_t command :
       {0x80404E66u, 0x80284E66u, 0xC0384E66u, 0x00004E66u, 0x80380066u, 0x80304E17u, 0x801C4E17u,
        0x80284E18u, 0x80284E1Cu, 0x80304E26u, 0x80084E64u, 0x40084164u, 0xC0144E7Du, 0x80084E00u,
        0x80084EFFu, 0xC0184E6Eu, 0x80104E6Eu, 0xC0404E66u, 0u,          0xFFFFFFFFu}) {
    CAPTURE(command);
    CHECK(client.raw(command, address) == -EINVAL);
  }
  CHECK(client.raw(0x80204E6Eu, address) == 0);  // DRIVER_INFO_GET: direction R, size 24 or more
  CHECK(device.counters().ioctls == 21);
  CHECK(device.counters().unknown_ioctls == 18);
}

TEST_CASE("newer generations accept their own siblings") {
  auto config = Device::config_of(3);
  config.generation = NDS_GENERATION_2_30;
  const Device device(config);
  const Client client(device);
  neuron_driver_info info{};
  CHECK(client.call(NEURON_IOCTL_DRIVER_INFO_GET, info) == 0);
  CHECK(info.feature_flags1 == 0x1FFF);
  std::uint64_t handle = 0;
  neuron_mem_alloc_v2mt64_pa alloc{};
  alloc.size = 4096;
  alloc.mem_handle_ptr = reinterpret_cast<std::uintptr_t>(&handle);
  CHECK(client.call(NEURON_IOCTL_MEM_ALLOC_V2MT64_PA, alloc) == 0);
  CHECK(alloc.pa == 0x5C0000000);
  const auto bytes = pattern(4096, 9);
  neuron_mem_buf_zerocopy64_v30 copy{};
  copy.mem_handle = handle;
  copy.buffer_ptr = reinterpret_cast<std::uintptr_t>(bytes.data());
  copy.size = bytes.size();
  copy.is_copy_to_device = 1;
  copy.h2t_qid = -1;
  CHECK(client.call(NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V30, copy) == 0);
  CHECK(client.read(handle, 4096) == bytes);
  neuron_mem_copy64_v30 move{{handle, handle, 16, 0, 2048}, 1, 2};
  CHECK(client.call(NEURON_IOCTL_MEM_COPY64_V30, move) == 0);
  CHECK(client.read(handle, 16, 2048) == client.read(handle, 16));
}

TEST_CASE("padding of replies is zero") {
  const Device device(3);
  const Client client(device);
  std::vector<std::uint8_t> reply(80, 0xFF);
  const auto address = reinterpret_cast<std::uintptr_t>(reply.data());
  REQUIRE(client.raw(NEURON_IOCTL_DEVICE_INFO, address) == 0);
  CHECK(std::count(reply.begin() + 44, reply.begin() + 48, 0) == 4);
  reply.assign(80, 0xFF);
  REQUIRE(client.raw(NEURON_IOCTL_DEVICE_BDF, address) == 0);
  CHECK(std::count(reply.begin() + 6, reply.begin() + 8, 0) == 2);
  CHECK(reply[8] == 0xFF);
  std::vector<std::uint8_t> state(48, 0xFF);
  neuron_dma_queue_get_state get{0, 0, reinterpret_cast<std::uintptr_t>(state.data()), address};
  REQUIRE(client.call(NEURON_IOCTL_DMA_QUEUE_GET_STATE, get) == 0);
  CHECK(std::count(state.begin() + 44, state.end(), 0) == 4);
}

TEST_CASE("identity of each architecture") {
  struct Row {
    std::uint32_t architecture, min, max;
  };
  for (const auto row : {Row{2, 5, 7}, Row{3, 10, 11}, Row{4, 10, 11}}) {
    const Device device(row.architecture);
    const Client client(device);
    neuron_compatible_version version{};
    CHECK(client.call(NEURON_IOCTL_COMPATIBLE_VERSION, version) == 0);
    CHECK(version.min == row.min);
    CHECK(version.max == row.max);
    neuron_device_basic_info basic{};
    CHECK(client.call(NEURON_IOCTL_DEVICE_BASIC_INFO, basic) == 0);
    CHECK(basic.architecture == row.architecture);
    neuron_device_info info{};
    CHECK(client.call(NEURON_IOCTL_DEVICE_INFO, info) == 0);
    CHECK(info.connected_device_count == 0);
    CHECK(info.bar_size[1] == 0);
  }
  CHECK(Device(1).status() == -EINVAL);
  CHECK(Device(5).status() == -EINVAL);
  CHECK(Device(3, 16_MiB).status() == -EINVAL);
  CHECK(Device(3, 1_GiB + 1).status() == -EINVAL);
  CHECK(Device(3, 25_GiB).status() == -EINVAL);
}

TEST_CASE("core ranges are shared out between processes") {
  const Device device(3);
  const Client client(device, 1);
  const auto mark = [](const Client& who, std::uint32_t count, std::uint32_t start,
                       std::uint32_t end, neuron_crwl_nc_map_ext0& map) {
    map = {};
    map.nc_count = count;
    map.start_nc_index = start;
    map.end_nc_index = end;
    return who.call(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, map);
  };
  neuron_crwl_nc_map_ext0 map{};
  CHECK(mark(client, 0, 0, 0, map) == 0);
  CHECK(map.bitmap[0] == 0);
  CHECK(mark(client, 1, 2, 2, map) == 0);
  CHECK(map.bitmap[0] == 4);
  // From 1: core 1 alone is too short, the scan goes on at 4.
  CHECK(mark(client, 2, 1, 7, map) == 0);
  CHECK(map.bitmap[0] == 0x30);
  CHECK(mark(client, 5, 0, 7, map) == -EBUSY);
  CHECK(map.max_nc_available == 2);
  CHECK(mark(client, 1, 3, 2, map) == -EINVAL);
  CHECK(mark(client, 1, 0, 512, map) == -EINVAL);
  CHECK(mark(client, 1, 0, 511, map) == 0);
  const Client other(device, 2, 1);
  neuron_crwl_nc_map narrow{0, 0, 0, 0, ~0ull};
  CHECK(other.call(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK, narrow) == 0);  // not its cores
  CHECK(mark(client, 1, 2, 2, map) == -EBUSY);
  CHECK(client.call(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK, narrow) == 0);
  CHECK(mark(client, 8, 0, 7, map) == 0);
  CHECK(map.bitmap[0] == 0xFF);
}

TEST_CASE("marks go with the free-access file, not with the normal one") {
  const Device device(3);
  neuron_crwl_nc_map map{1, 0, 0, 0, 0};
  {
    const Client normal(device, 1);
    REQUIRE(normal.call(NEURON_IOCTL_CRWL_NC_RANGE_MARK, map) == 0);
  }
  {
    const Client free_access(device, 1, 1);
    map = {1, 0, 0, 0, 0};
    CHECK(free_access.call(NEURON_IOCTL_CRWL_NC_RANGE_MARK, map) == -EBUSY);
  }
  const Client next(device, 1, 1);
  map = {1, 0, 0, 0, 0};
  CHECK(next.call(NEURON_IOCTL_CRWL_NC_RANGE_MARK, map) == 0);
}
