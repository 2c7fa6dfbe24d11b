// SPDX-License-Identifier: MIT
// Queue initialisation, descriptor vetting and read-back (spec 06 section 4.7, spec 11 B.2).
#include <catch2/catch.hpp>

#include "client.hpp"

using namespace devsim_test;

namespace {

struct State {
  long result = 0;
  neuron_dma_queue_state tx{};
  neuron_dma_queue_state rx{};
};

State state_of(const Client& client, std::uint32_t engine, std::uint32_t queue) {
  State state;
  neuron_dma_queue_get_state get{engine, queue, reinterpret_cast<std::uintptr_t>(&state.tx),
                                 reinterpret_cast<std::uintptr_t>(&state.rx)};
  state.result = client.call(NEURON_IOCTL_DMA_QUEUE_GET_STATE, get);
  return state;
}

long init(const Client& client, neuron_dma_queue_init entry) {
  return client.call(NEURON_IOCTL_DMA_QUEUE_INIT, entry);
}

long write_descs(const Client& client, std::uint64_t handle, const void* descs, std::uint32_t count,
                 std::uint64_t offset, std::uint32_t type) {
  neuron_dma_copy_descriptors64 argument{handle, reinterpret_cast<std::uintptr_t>(descs), count,
                                         offset, type};
  return client.call(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, argument);
}

neuron_udma_tx_desc pointing_to(std::uint64_t pa) {
  return {NEURON_UDMA_FIRST | NEURON_UDMA_LAST | 64, NEURON_UDMA_META_COPY, pa};
}

long copy_out(const Client& client, std::uint32_t engine, std::uint32_t queue, std::uint32_t type,
              std::uint32_t start, std::uint32_t count, void* buffer) {
  neuron_dma_descriptor_copyout argument{engine, queue, type,
                                         start,  count, reinterpret_cast<std::uintptr_t>(buffer)};
  return client.call(NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, argument);
}

}  // namespace

TEST_CASE("a fresh queue is enabled and has no ring") {
  const Device device(3);
  const Client client(device);
  const auto state = state_of(client, 0, 0);
  CHECK(state.result == 0);
  CHECK(state.tx.sw_status == NEURON_DMA_QUEUE_ENABLED);
  CHECK(state.tx.length == 0);
  CHECK(state_of(client, 131, 15).result == 0);
  CHECK(state_of(client, 132, 0).result == -EINVAL);
  CHECK(state_of(client, 0, 16).result == -EINVAL);
  const Device v2(2);
  const Client on_v2(v2);
  CHECK(state_of(on_v2, 33, 15).result == 0);
  CHECK(state_of(on_v2, 34, 0).result == -EINVAL);
}

TEST_CASE("queue init answers as the driver does") {
  const Device device(3);
  const Client client(device);
  const auto a = client.alloc({4096});
  const auto b = client.alloc({4096});
  CHECK(init(client, {5, 0, 48, 32, a, b, 0, 0}) == 0);
  const auto state = state_of(client, 5, 0);
  CHECK(state.tx.base_addr == client.pa(a));
  CHECK(state.tx.length == 48);
  CHECK(state.rx.base_addr == client.pa(b));
  CHECK(state.rx.length == 32);
  struct Row {
    std::uint32_t tx, rx;
    long result;
  };
  for (const auto row : {Row{16, 32, -EINVAL}, Row{32, 16, -EINVAL}, Row{33, 32, -EPERM},
                         Row{32, 40, -EPERM}, Row{0, 0, -EINVAL}, Row{0xFFFFF0, 32, 0},
                         Row{0x1000000, 32, -EINVAL}, Row{4096, 4096, 0}}) {
    CAPTURE(row.tx, row.rx);
    CHECK(init(client, {5, 0, row.tx, row.rx, a, b, 0, 0}) == row.result);
  }
  CHECK(init(client, {5, 0, 32, 0, a, 0, 0, 0}) == -EINVAL);
  CHECK(init(client, {5, 0, 32, 32, 0, 0, 0, 0}) == 0);
  CHECK(state_of(client, 5, 0).tx.base_addr == 0);
  CHECK(init(client, {5, 1, 32, 32, 12345, 12346, 0, 0}) == 0);  // unknown handles: no ring
  CHECK(init(client, {5, 0, 32, 32, a, b, a, 0}) == -EPERM);     // completion ring
  CHECK(init(client, {5, 0, 512, 512, a, b, a, 0}) == -EINVAL);  // and too small for it
  CHECK(init(client, {5, 16, 32, 32, a, b, 0, 0}) == -EINVAL);
  CHECK(init(client, {132, 0, 32, 32, a, b, 0, 0}) == -EINVAL);
  CHECK(init(client, {131, 5, 32, 32, a, b, 0, 0}) == 0);
  CHECK(init(client, {131, 1, 32, 32, a, b, 0, 0}) == -EINVAL);  // the driver's own copy queue
  const Device v2(2);
  const Client on_v2(v2);
  const auto ring = on_v2.alloc({4096});
  CHECK(init(on_v2, {33, 1, 32, 32, ring, ring, 0, 0}) == 0);
  CHECK(init(on_v2, {33, 0, 32, 32, ring, ring, 0, 0}) == -EINVAL);
  CHECK(init(on_v2, {34, 0, 32, 32, ring, ring, 0, 0}) == -EINVAL);
}

TEST_CASE("a clean device refuses unknown handles and rings longer than their chunk") {
  auto config = Device::config_of(3);
  config.strictness = NDS_CLEAN;
  const Device device(config);
  const Client client(device);
  const auto a = client.alloc({4096});
  CHECK(init(client, {5, 0, 256, 256, a, a, 0, 0}) == 0);
  CHECK(init(client, {5, 0, 272, 256, a, a, 0, 0}) == -EINVAL);
  CHECK(init(client, {5, 0, 32, 32, a, 99, 0, 0}) == -EINVAL);
}

TEST_CASE("a batch stops at its first failure and keeps what came before") {
  const Device device(3);
  const Client client(device);
  const auto a = client.alloc({4096});
  neuron_dma_queue_init_batch batch{};
  batch.count = 2;
  batch.entries[0] = {6, 2, 32, 32, a, a, 0, 0};
  CHECK(client.call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, batch) == -EINVAL);  // all-zero second entry
  CHECK(state_of(client, 6, 2).tx.base_addr == client.pa(a));
  batch.count = 255;
  for (std::uint32_t i = 0; i < 255; ++i) batch.entries[i] = {i / 16, i % 16, 32, 48, a, a, 0, 0};
  CHECK(client.call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, batch) == 0);
  CHECK(state_of(client, 15, 14).rx.length == 48);
  for (const std::uint32_t count : {256u, 0xFFFFFFFFu}) {
    batch.count = count;
    CHECK(client.call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, batch) == -E2BIG);
  }
  batch.count = 0;
  CHECK(client.call(NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, batch) == 0);
}

TEST_CASE("only pointers into host memory are vetted") {
  const Device device(3);
  const Client client(device);
  const auto ring = client.alloc({4096});
  const auto host = client.alloc({4096, 0, 1, 0, 0, NEURON_MEM_MISC_HOST});
  const auto base = client.pa(host);
  const auto write = [&](std::uint64_t pa) {
    const auto desc = pointing_to(pa);
    return write_descs(client, ring, &desc, 1, 0, NEURON_QUEUE_TX);
  };
  CHECK(write(base) == 0);
  CHECK(write(base + 4095) == 0);  // the length is not looked at
  CHECK(write(base + 4096) == -EINVAL);
  CHECK(write(base - 1) == -EINVAL);
  CHECK(write(NEURON_V3_HOST_BASE) == -EINVAL);
  CHECK(write(0xFFFFFFFFFFFFFFFF) == -EINVAL);
  CHECK(write(0x3FFFFFFFFFFF) == 0);
  CHECK(client.free(host) == 0);
  CHECK(write(base) == -EINVAL);
  const Device v2(2);
  const Client on_v2(v2);
  const auto ring2 = on_v2.alloc({4096});
  auto desc = pointing_to(0x100010000000);
  CHECK(write_descs(on_v2, ring2, &desc, 1, 0, NEURON_QUEUE_RX) == -EINVAL);
  desc = pointing_to(0x300010000000);  // other route bits: not the host
  CHECK(write_descs(on_v2, ring2, &desc, 1, 0, NEURON_QUEUE_RX) == 0);
}

TEST_CASE("one pointer into unknown host memory refuses its piece as a whole, wherever it is") {
  constexpr std::uint32_t piece = 0x10000 / sizeof(neuron_udma_tx_desc), count = 2 * piece + 100;
  for (const std::uint32_t generation : {2u, 3u}) {
    const Device device(generation);
    const Client client(device);
    const std::uint64_t bytes = count * sizeof(neuron_udma_tx_desc);
    const auto good = pointing_to(0x1000000);
    const auto bad = pointing_to(generation == 2 ? 0x100010000000 : NEURON_V3_HOST_BASE);
    for (const std::uint32_t place : {0u, piece - 1, piece, 2 * piece - 1, 2 * piece, count - 1}) {
      CAPTURE(generation, place);
      const auto ring = client.alloc({bytes});
      std::vector descs(count, good);
      descs[place] = bad;
      CHECK(write_descs(client, ring, descs.data(), count, 0, NEURON_QUEUE_TX) == -EINVAL);
      const auto held = client.read(ring, bytes);
      const std::size_t before = place / piece * piece * sizeof good;
      CHECK(std::memcmp(held.data(), descs.data(), before) == 0);
      CHECK(std::all_of(held.begin() + static_cast<std::ptrdiff_t>(before), held.end(),
                        [](std::uint8_t byte) { return byte == 0; }));
      CHECK(client.free(ring) == 0);
    }
  }
}

TEST_CASE("host memory of another device is accepted if the process is attached there") {
  const Machine machine;
  nds_device* devices[2] = {};
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto config = Device::config_of(3, 1_GiB);
    config.device_index = i;
    REQUIRE(nds_device_create(machine.get(), &config, &devices[i]) == 0);
  }
  auto taken = Device::config_of(3, 1_GiB);
  nds_device* none = nullptr;
  CHECK(nds_device_create(machine.get(), &taken, &none) == -EINVAL);
  nds_file* files[2] = {};
  REQUIRE(nds_file_open(devices[0], 1, 2, &files[0]) == 0);
  REQUIRE(nds_file_open(devices[1], 1, 2, &files[1]) == 0);
  const auto call = [&](int device, std::uint32_t command, auto& argument) {
    return nds_file_ioctl(files[device], 1, command, reinterpret_cast<std::uintptr_t>(&argument));
  };
  const auto alloc = [&](int device, std::uint64_t size, std::uint32_t host) {
    std::uint64_t handle = 0;
    neuron_mem_alloc_v2mt64 argument{};
    argument.size = size;
    argument.host_memory = host;
    argument.mem_handle_ptr = reinterpret_cast<std::uintptr_t>(&handle);
    REQUIRE(call(device, NEURON_IOCTL_MEM_ALLOC_V2MT64, argument) == 0);
    return handle;
  };
  const auto ring = alloc(0, 4096, 0);
  alloc(1, 1_MiB, 1);
  const auto desc = pointing_to(NEURON_V3_HOST_BASE + 0x10000000 + 0x1000);
  const auto write = [&] {
    neuron_dma_copy_descriptors64 argument{ring, reinterpret_cast<std::uintptr_t>(&desc), 1, 0, 0};
    return call(0, NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, argument);
  };
  CHECK(write() == 0);
  nds_file_flush(files[1], 1);
  CHECK(write() == -EINVAL);
  nds_file_release(files[1]);
  nds_file_flush(files[0], 1);
  nds_file_release(files[0]);
  nds_device_destroy(devices[1]);
  nds_device_destroy(devices[0]);
}

TEST_CASE("descriptor writes check their place") {
  const Device device(3);
  const Client client(device);
  const auto ring = client.alloc({4096});
  const auto desc = pointing_to(0x1000000);
  CHECK(write_descs(client, ring, &desc, 1, 4080, 0) == 0);
  CHECK(write_descs(client, ring, &desc, 1, 4081, 0) == -EINVAL);
  CHECK(write_descs(client, ring, &desc, 1, 4096, 0) == -EINVAL);
  CHECK(write_descs(client, ring, &desc, 1, 3, 0) == 0);
  CHECK(write_descs(client, ring, &desc, 1, ~0ull - 7, 0) == -EINVAL);
  CHECK(write_descs(client, ring, &desc, 0xFFFFFFFF, 0, 0) == -EINVAL);
  CHECK(write_descs(client, ring, &desc, 0, 0, 7) == 0);
  CHECK(write_descs(client, ring, &desc, 1, 0, 2) == -EPERM);
  CHECK(write_descs(client, ring, &desc, 1, 0, 3) == -EPERM);
  CHECK(write_descs(client, 9999, &desc, 1, 0, 0) == -EINVAL);
  CHECK(write_descs(client, ring, nullptr, 1, 0, 0) == 16);
}

TEST_CASE("read-back returns exactly the descriptors that were written") {
  const Device device(3);
  const Client client(device);
  const bool on_host = GENERATE(false, true);
  const auto chunk = [&] {
    return client.alloc({160000, 0, on_host ? 1u : 0u, 0, 0, NEURON_MEM_DMA_RINGS_DEVICE});
  };
  const auto tx = chunk();
  const auto rx = chunk();
  std::vector<neuron_udma_tx_desc> descs(9000);
  for (std::size_t i = 0; i < descs.size(); ++i) descs[i] = pointing_to(0x1000000 + 64 * i);
  REQUIRE(write_descs(client, tx, descs.data(), 9000, 0, NEURON_QUEUE_TX) == 0);
  REQUIRE(write_descs(client, rx, descs.data() + 8, 32, 0, NEURON_QUEUE_RX) == 0);
  REQUIRE(init(client, {4, 2, 8992, 32, tx, rx, 0, 0}) == 0);
  const auto equal = [&](std::uint32_t type, std::uint32_t start, std::uint32_t count,
                         std::size_t expected) {
    std::vector<neuron_udma_tx_desc> back(count);
    REQUIRE(copy_out(client, 4, 2, type, start, count, back.data()) == 0);
    return std::memcmp(back.data(), descs.data() + expected, count * 16) == 0;
  };
  CHECK(equal(NEURON_QUEUE_TX, 0, 8992, 0));
  CHECK(equal(NEURON_QUEUE_RX, 0, 32, 8));
  // Rings in device memory ignore the start index.
  CHECK(equal(NEURON_QUEUE_TX, 10, 2, on_host ? 10 : 0));
  neuron_udma_tx_desc one{};
  CHECK(copy_out(client, 4, 2, NEURON_QUEUE_TX, 0, 0, &one) == -EINVAL);
  CHECK(copy_out(client, 4, 2, NEURON_QUEUE_TX, 8991, 2, &one) == -EFBIG);
  CHECK(copy_out(client, 4, 2, NEURON_QUEUE_TX, 0xFFFFFFFF, 2, &one) == -EFBIG);
  CHECK(copy_out(client, 4, 2, NEURON_QUEUE_COMPLETION, 0, 1, &one) == -EINVAL);
  CHECK(copy_out(client, 4, 3, NEURON_QUEUE_TX, 0, 1, &one) == -EFBIG);
  CHECK(copy_out(client, 4, 16, NEURON_QUEUE_TX, 0, 1, &one) == -EINVAL);
  CHECK(copy_out(client, 200, 0, NEURON_QUEUE_TX, 0, 1, &one) == -EINVAL);
  CHECK(copy_out(client, 4, 2, NEURON_QUEUE_TX, 0, 1, nullptr) == 16);
  CHECK(client.free(tx) == 0);
  CHECK(copy_out(client, 4, 2, NEURON_QUEUE_TX, 0, 1, &one) == -EINVAL);
}
