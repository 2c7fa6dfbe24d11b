// SPDX-License-Identifier: MIT
// Running descriptors: copies, doorbells, semaphores, casts, errors (spec 06 section 12.12).
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "client.hpp"

using namespace devsim_test;

namespace {

/// A queue with a TX and an RX ring, and descriptors to be run on it.
class Queue {
 public:
  Queue(const Client& client, std::uint32_t engine, std::uint32_t queue, std::uint32_t length = 64)
      : client_(client), engine_(engine), queue_(queue) {
    tx_ = client.alloc({length * 16ull, 0, 0, 0, 0, NEURON_MEM_DMA_RINGS_DEVICE});
    rx_ = client.alloc({length * 16ull, 0, 0, 0, 0, NEURON_MEM_DMA_RINGS_DEVICE});
    neuron_dma_queue_init init{engine, queue, length, length, tx_, rx_, 0, 0};
    REQUIRE(client.call(NEURON_IOCTL_DMA_QUEUE_INIT, init) == 0);
  }

  void tx(std::uint64_t pa, std::uint32_t bytes, std::uint32_t meta = NEURON_UDMA_META_COPY) {
    put(tx_, tx_count_++, {bytes & 0xFFFF, meta, pa});
  }
  void rx(std::uint64_t pa, std::uint32_t bytes) { put(rx_, rx_count_++, {bytes & 0xFFFF, 0, pa}); }
  void copy(std::uint64_t to, std::uint64_t from, std::uint32_t bytes) {
    tx(from, bytes);
    rx(to, bytes);
  }
  long start(std::uint32_t tx_count, std::uint32_t rx_count) const {
    neuron_dma_queue_copy_start argument{engine_, queue_, tx_count, rx_count};
    return client_.call(NEURON_IOCTL_DMA_QUEUE_COPY_START, argument);
  }
  long start() const { return start(tx_count_, rx_count_); }
  std::uint32_t tx_head() const { return state().first.head_pointer; }
  std::uint32_t rx_head() const { return state().second.head_pointer; }
  std::uint32_t rx_tail() const { return state().second.tail_pointer; }
  std::uint32_t engine_state() const {
    neuron_dma_eng_state state{};
    neuron_dma_eng_get_state get{engine_, reinterpret_cast<std::uintptr_t>(&state)};
    REQUIRE(client_.call(NEURON_IOCTL_DMA_ENG_GET_STATE, get) == 0);
    return state.tx_state;
  }

 private:
  std::pair<neuron_dma_queue_state, neuron_dma_queue_state> state() const {
    neuron_dma_queue_state tx{};
    neuron_dma_queue_state rx{};
    neuron_dma_queue_get_state get{engine_, queue_, reinterpret_cast<std::uintptr_t>(&tx),
                                   reinterpret_cast<std::uintptr_t>(&rx)};
    REQUIRE(client_.call(NEURON_IOCTL_DMA_QUEUE_GET_STATE, get) == 0);
    return {tx, rx};
  }
  void put(std::uint64_t ring, std::uint32_t index, neuron_udma_tx_desc desc) const {
    desc.len_ctrl |= NEURON_UDMA_FIRST | NEURON_UDMA_LAST | 1u << NEURON_UDMA_RING_ID_SHIFT;
    neuron_dma_copy_descriptors64 argument{ring, reinterpret_cast<std::uintptr_t>(&desc), 1,
                                           index * 16ull, NEURON_QUEUE_TX};
    REQUIRE(client_.call(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, argument) == 0);
  }

  const Client& client_;
  std::uint32_t engine_;
  std::uint32_t queue_;
  std::uint64_t tx_ = 0;
  std::uint64_t rx_ = 0;
  std::uint32_t tx_count_ = 0;
  std::uint32_t rx_count_ = 0;
};

std::uint32_t semaphore(const Client& client, std::uint32_t core, std::uint32_t index) {
  neuron_semaphore argument{core, index, 0};
  REQUIRE(client.call(NEURON_IOCTL_SEMAPHORE_READ, argument) == 0);
  return argument.value;
}

template <class T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Converts through a cast descriptor and returns the raw bytes.
std::vector<std::uint8_t> cast(std::uint32_t from, std::uint32_t to,
                               const std::vector<std::uint8_t>& in, std::uint32_t out_bytes) {
  const Device device(3);
  const Client client(device);
  const auto source = client.alloc({4096});
  const auto sink = client.alloc({4096});
  REQUIRE(client.write(source, in) == 0);
  Queue queue(client, 0, 0);
  queue.tx(client.pa(source), static_cast<std::uint32_t>(in.size()),
           NEURON_UDMA_META_COPY | NEURON_UDMA_META_OP_CAST << NEURON_UDMA_META_OP_SHIFT |
               from << NEURON_UDMA_CAST_SRC_SHIFT | to << NEURON_UDMA_CAST_DST_SHIFT);
  queue.rx(client.pa(sink), out_bytes);
  REQUIRE(queue.start() == 0);
  if (queue.engine_state() == NEURON_DMA_ENG_ABORT) return {};
  return client.read(sink, out_bytes);
}

}  // namespace

TEST_CASE("descriptors copy between HBM, host memory and SBUF") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Device device(architecture);
    const Client client(device);
    const auto a = client.alloc({1_MiB});
    const auto b = client.alloc({1_MiB, 0, 1, 0, 0, NEURON_MEM_MISC_HOST});
    const std::uint64_t sbuf = architecture == 2 ? neuron_v2_tpb_base(1) : neuron_v3_tpb_base(5);
    const auto bytes = pattern(65536, 1);
    REQUIRE(client.write(a, bytes) == 0);
    Queue queue(client, 3, 2);
    queue.copy(sbuf + 3 * 0x40000, client.pa(a), 65536);  // length 0 in the descriptor
    queue.copy(client.pa(b) + 5, sbuf + 3 * 0x40000, 65535);
    queue.copy(client.pa(a) + 100000, client.pa(b) + 5, 1);
    REQUIRE(queue.start() == 0);
    CHECK(client.read(b, 65535, 5) == std::vector<std::uint8_t>(bytes.begin(), bytes.end() - 1));
    CHECK(client.read(a, 1, 100000)[0] == bytes[0]);
    CHECK(queue.tx_head() == 3);
    CHECK(queue.engine_state() == NEURON_DMA_ENG_IDLE);
  }
}

TEST_CASE("TX bytes stream into RX descriptors of other sizes") {
  const Device device(3);
  const Client client(device);
  const auto a = client.alloc({64_KiB});
  const auto b = client.alloc({64_KiB});
  const auto bytes = pattern(4000, 2);
  REQUIRE(client.write(a, bytes) == 0);
  Queue queue(client, 7, 3);
  for (std::uint64_t i = 0; i < 4; ++i) queue.tx(client.pa(a) + 1000 * i, 1000);
  queue.rx(client.pa(b), 1500);
  queue.rx(client.pa(b) + 1500, 2500);
  REQUIRE(queue.start() == 0);
  CHECK(client.read(b, 4000) == bytes);
  CHECK(queue.tx_head() == 4);
  CHECK(queue.rx_head() == 2);
}

TEST_CASE("RX descriptors wait for TX") {
  const Device device(3);
  const Client client(device);
  const auto a = client.alloc({4096});
  Queue queue(client, 1, 1);
  queue.copy(client.pa(a) + 64, client.pa(a), 64);
  queue.copy(client.pa(a) + 128, client.pa(a), 64);
  REQUIRE(client.write(a, pattern(64, 3)) == 0);
  CHECK(queue.start(0, 2) == 0);
  CHECK(queue.rx_head() == 0);
  CHECK(queue.rx_tail() == 2);
  CHECK(queue.start(1, 1) == 0);
  CHECK(queue.rx_head() == 1);
  CHECK(client.read(a, 64, 64) == pattern(64, 3));
  CHECK(client.read(a, 1, 128)[0] == 0);
}

TEST_CASE("a full ring runs and wraps") {
  const Device device(2);
  const Client client(device);
  const auto a = client.alloc({4096});
  Queue queue(client, 1, 1, 32);
  for (std::uint32_t i = 0; i < 32; ++i)
    queue.copy(client.pa(a) + 4 + 4 * i, client.pa(a) + 4 * i, 4);
  REQUIRE(client.write(a, {1, 2, 3, 4}) == 0);
  for (int lap = 0; lap < 3; ++lap) {
    REQUIRE(queue.start() == 0);
    CHECK(queue.tx_head() == 0);
  }
  CHECK(client.read(a, 4, 128) == std::vector<std::uint8_t>{1, 2, 3, 4});
}

TEST_CASE("start is refused where the driver refuses it or would crash") {
  const Device device(3);
  const Client client(device);
  Queue queue(client, 3, 2);
  CHECK(queue.start(65, 1) == -EPERM);
  CHECK(queue.start(1, 65) == -EPERM);
  CHECK(queue.start(1, 0) == -EINVAL);
  const auto start = [&](std::uint32_t engine, std::uint32_t id) {
    neuron_dma_queue_copy_start argument{engine, id, 1, 1};
    return client.call(NEURON_IOCTL_DMA_QUEUE_COPY_START, argument);
  };
  CHECK(start(3, 16) == -EPERM);
  CHECK(start(132, 0) == -EINVAL);
  CHECK(start(3, 5) == -EPERM);  // never initialised
  const auto ring = client.alloc({4096});
  neuron_dma_queue_init tx_only{4, 4, 32, 32, ring, 0, 0, 0};
  REQUIRE(client.call(NEURON_IOCTL_DMA_QUEUE_INIT, tx_only) == 0);
  CHECK(start(4, 4) == -EINVAL);
  const Device v2(2);
  const Client on_v2(v2);
  neuron_dma_queue_copy_start absent{100, 0, 1, 1};
  CHECK(on_v2.call(NEURON_IOCTL_DMA_QUEUE_COPY_START, absent) == -EPERM);
}

TEST_CASE("a descriptor that names nothing aborts its engine") {
  const Device device(3);
  const Client client(device);
  const auto a = client.alloc({4096});
  for (const std::uint64_t hole :
       {0x600000000ull, 0x5FFFFFFFFull, 0x200000000000ull, ~0ull >> 18, 0x802702000ull}) {
    Queue queue(client, 9, 0);
    queue.copy(hole, client.pa(a), 64);
    CHECK(queue.start() == 0);
    CHECK(queue.tx_head() == 0);
    CHECK(queue.engine_state() == NEURON_DMA_ENG_ABORT);
    neuron_dma_eng_set_state state{9, NEURON_DMA_SET_NORMAL};
    CHECK(client.call(NEURON_IOCTL_DMA_ENG_SET_STATE, state) == 0);
  }
}

TEST_CASE("descriptors poke semaphores and events") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Device device(architecture);
    const Client client(device);
    const bool v2 = architecture == 2;
    const std::uint64_t unit = v2 ? neuron_v2_tpb_base(1) + NEURON_V2_TPB_EVENTS
                                  : neuron_v3_tpb_base(1) + NEURON_V3_TPB_EVENTS;
    const std::uint64_t one = v2 ? NEURON_V2_EVENT_ACCEL_SET : NEURON_V3_EVENT_ACCEL_SET;
    const auto a = client.alloc({4096});
    REQUIRE(client.write(a, bytes_of<std::uint32_t>({7, 3})) == 0);
    Queue queue(client, 0, 0);
    queue.copy(unit + NEURON_EVENT_UNIT_SEM_SET + 4 * 20, client.pa(a), 4);
    queue.copy(unit + NEURON_EVENT_UNIT_SEM_INCREMENT + 4 * 20, one, 4);
    queue.copy(unit + NEURON_EVENT_UNIT_SEM_INCREMENT + 4 * 20, client.pa(a), 4);
    queue.copy(unit + NEURON_EVENT_UNIT_SEM_DECREMENT + 4 * 20, client.pa(a) + 4, 4);
    queue.copy(unit + 4 * 9, one, 4);
    queue.copy(client.pa(a) + 8, unit + NEURON_EVENT_UNIT_SEM_READ + 4 * 20, 4);
    REQUIRE(queue.start() == 0);
    CHECK(semaphore(client, 1, 20) == 7 + 1 + 7 - 3);
    CHECK(semaphore(client, 0, 20) == 0);
    neuron_event event{1, 9, 0};
    CHECK(client.call(NEURON_IOCTL_EVENT_GET, event) == 0);
    CHECK(event.value == 1);
    CHECK(client.read(a, 4, 8) == bytes_of<std::uint32_t>({12}));
  }
}

TEST_CASE("a descriptor rings another queue's doorbell") {
  const Device device(3);
  const Client client(device);
  const auto a = client.alloc({4096});
  REQUIRE(client.write(a, bytes_of<std::uint32_t>({1, 0xABCD})) == 0);
  Queue inner(client, 20, 5);
  inner.copy(client.pa(a) + 64, client.pa(a) + 4, 4);
  Queue outer(client, 2, 0);
  const std::uint64_t engine = neuron_v3_dma_engine(20);
  outer.copy(engine + neuron_udma_rx_register(5, NEURON_UDMA_Q_TAIL_INC), client.pa(a), 4);
  outer.copy(engine + neuron_udma_tx_register(5, NEURON_UDMA_Q_TAIL_INC), client.pa(a), 4);
  REQUIRE(outer.start() == 0);
  CHECK(client.read(a, 4, 64) == bytes_of<std::uint32_t>({0xABCD}));
  CHECK(inner.tx_head() == 1);
}

TEST_CASE("a ring that rings itself ends") {
  const Device device(3, 1_GiB);
  const Client client(device);
  const auto a = client.alloc({4096});
  REQUIRE(client.write(a, bytes_of<std::uint32_t>({2})) == 0);
  Queue queue(client, 2, 0, 32);
  const std::uint64_t engine = neuron_v3_dma_engine(2);
  for (int i = 0; i < 16; ++i) {
    queue.copy(engine + neuron_udma_rx_register(0, NEURON_UDMA_Q_TAIL_INC), client.pa(a), 4);
    queue.copy(engine + neuron_udma_tx_register(0, NEURON_UDMA_Q_TAIL_INC), client.pa(a), 4);
  }
  CHECK(queue.start() == 0);
  CHECK(queue.engine_state() == NEURON_DMA_ENG_ABORT);
}

TEST_CASE("register writes re-aim and reset a queue") {
  const Device device(3);
  const Client client(device);
  const auto a = client.alloc({4096});
  const auto other = client.alloc({4096});
  Queue queue(client, 20, 5);
  const std::uint64_t pa = client.pa(other);
  REQUIRE(client.write(
              a, bytes_of<std::uint32_t>({static_cast<std::uint32_t>(pa),
                                          static_cast<std::uint32_t>(pa >> 32), 48, 0x100})) == 0);
  Queue outer(client, 2, 0);
  const std::uint64_t engine = neuron_v3_dma_engine(20);
  outer.copy(engine + neuron_udma_tx_register(5, NEURON_UDMA_Q_BASE_LO), client.pa(a), 8);
  outer.copy(engine + neuron_udma_tx_register(5, NEURON_UDMA_Q_LENGTH), client.pa(a) + 8, 4);
  outer.copy(engine + neuron_udma_rx_register(5, NEURON_UDMA_S2M_Q_SW_CTRL), client.pa(a) + 12, 4);
  CHECK(queue.start(0, 7) == 0);
  REQUIRE(outer.start() == 0);
  neuron_dma_queue_state tx{};
  neuron_dma_queue_state rx{};
  neuron_dma_queue_get_state get{20, 5, reinterpret_cast<std::uintptr_t>(&tx),
                                 reinterpret_cast<std::uintptr_t>(&rx)};
  REQUIRE(client.call(NEURON_IOCTL_DMA_QUEUE_GET_STATE, get) == 0);
  CHECK(tx.base_addr == pa);
  CHECK(tx.length == 48);
  CHECK(rx.tail_pointer == 0);
}

TEST_CASE("cast blocks convert as decision 9 says") {
  const auto f = [](float value) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, &value, 4);
    return raw;
  };
  SECTION("float32 to bfloat16, nearest even") {
    const auto out = cast(10, 6,
                          bytes_of<std::uint32_t>({f(1.0f), 0x3F808000, 0x3F818000, 0x3F808001,
                                                   0xFF800000, 0x7FC00001, 0x7F7FFFFF}),
                          14);
    CHECK(out == bytes_of<std::uint16_t>({0x3F80, 0x3F80, 0x3F82, 0x3F81, 0xFF80, 0x7FC0, 0x7F80}));
  }
  SECTION("float32 to float16, nearest even, subnormal, overflow") {
    const auto out =
        cast(10, 7,
             bytes_of<std::uint32_t>({f(1.0f), f(-2.5f), f(65504.0f), f(65520.0f), f(65519.0f),
                                      f(std::ldexp(1.0f, -24)), f(std::ldexp(1.0f, -25)),
                                      f(std::ldexp(1.5f, -25)), f(std::ldexp(1023.5f, -24)),
                                      f(-0.0f), f(1.00048828125f)}),
             22);
    CHECK(out == bytes_of<std::uint16_t>({0x3C00, 0xC100, 0x7BFF, 0x7C00, 0x7BFF, 0x0001, 0x0000,
                                          0x0001, 0x0400, 0x8000, 0x3C00}));
  }
  SECTION("float16 to float32, all values") {
    std::vector<std::uint16_t> halves;
    for (std::uint32_t i = 0; i < 0x7C00; i += 31) halves.push_back(static_cast<std::uint16_t>(i));
    const auto out = cast(7, 10, bytes_of(halves), static_cast<std::uint32_t>(halves.size() * 4));
    REQUIRE(out.size() == halves.size() * 4);
    for (std::size_t i = 0; i < halves.size(); ++i) {
      const std::uint32_t exponent = halves[i] >> 10;
      const float mantissa = static_cast<float>(halves[i] & 0x3FF);
      const float expected = exponent == 0
                                 ? std::ldexp(mantissa, -24)
                                 : std::ldexp(1024.0f + mantissa, static_cast<int>(exponent) - 25);
      float got = 0;
      std::memcpy(&got, out.data() + 4 * i, 4);
      CHECK(got == expected);
    }
  }
  SECTION("integers") {
    CHECK(cast(2, 10, {0xFF, 0x80, 0x7F, 0}, 16) ==
          bytes_of<std::uint32_t>({f(-1), f(-128), f(127), f(0)}));
    CHECK(cast(3, 6, {0xFF, 1}, 4) == bytes_of<std::uint16_t>({0x437F, 0x3F80}));
    CHECK(cast(8, 10,
               bytes_of<std::int32_t>({std::numeric_limits<std::int32_t>::min(), 16777217, -3}),
               12) == bytes_of<std::uint32_t>({f(-2147483648.0f), f(16777216.0f), f(-3)}));
    CHECK(cast(9, 10, bytes_of<std::uint32_t>({0xFFFFFFFF, 16777219}), 8) ==
          bytes_of<std::uint32_t>({f(4294967296.0f), f(16777220.0f)}));
    CHECK(cast(4, 7, bytes_of<std::int16_t>({-1, 2049}), 4) ==
          bytes_of<std::uint16_t>({0xBC00, 0x6800}));
  }
  SECTION("equal types are copied, unequal counts and unknown types abort") {
    CHECK(cast(8, 8, bytes_of<std::uint32_t>({0xDEADBEEF}), 4) ==
          bytes_of<std::uint32_t>({0xDEADBEEF}));
    CHECK(cast(10, 7, bytes_of<std::uint32_t>({1, 2}), 2).empty());
    CHECK(cast(1, 7, bytes_of<std::uint32_t>({1, 2}), 2).empty());
    CHECK(cast(10, 8, bytes_of<std::uint32_t>({1}), 4).empty());
  }
}
