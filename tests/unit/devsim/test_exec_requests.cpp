// SPDX-License-Identifier: MIT
// Requests, rings, notifications and errors of executions (spec 04 sections 9 to 12, spec 10
// section 8).
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "program.hpp"

using namespace devsim_test;

namespace {

nds_exec_counters counters_of(const Device& device) {
  nds_exec_counters counters{};
  nds_device_exec_counters(device.get(), &counters);
  return counters;
}

}  // namespace

TEST_CASE("an execution reports start and end of every engine") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Device device(architecture);
    const Client client(device);
    Core core(device, client, architecture, 1);
    core.set(NEURON_ENGINE_DVE, {Record(NEURON_OP_NOP), Record(NEURON_OP_NOP)});
    REQUIRE(core.execute() == 0);
    std::uint64_t latest = 0;
    for (std::uint32_t engine = 0; engine < NEURON_ENGINES_PER_CORE; ++engine) {
      const auto taken = core.take(NEURON_NQ_INDEX_INFER_STATUS + engine);
      REQUIRE(taken.size() == 2);
      CHECK(taken[0].kind == (0x80 | (6 + 4 * engine)));
      CHECK(taken[0].subtype == NEURON_NOTIFICATION_START);
      CHECK(taken[1].subtype == NEURON_NOTIFICATION_END);
      CHECK(neuron_notification_pc(&taken[0]) == 0);
      CHECK(neuron_notification_pc(&taken[1]) == (engine == NEURON_ENGINE_DVE ? 3 : 1));
      CHECK(taken[0].timestamp < taken[1].timestamp);
      CHECK(taken[1].timestamp > latest);
      latest = taken[1].timestamp;
      CHECK(core.semaphore(NEURON_SEMAPHORE_ENGINE_START + engine) == 0);
    }
    CHECK(core.errors().empty());
    CHECK(core.semaphore(NEURON_SEMAPHORE_INFERENCE_START) == 0);
    CHECK(core.semaphore(NEURON_SEMAPHORE_DONE) == 5);
    CHECK(counters_of(device).executions == 1);
  }
}

TEST_CASE("a doorbell without a request does nothing") {
  const Device device(3);
  const Client client(device);
  // No exec ring: only the semaphore counts.
  neuron_semaphore doorbell{2, 0, 1};
  CHECK(client.call(NEURON_IOCTL_SEMAPHORE_INCREMENT, doorbell) == 0);
  Core core(device, client, 3);
  CHECK(core.ring() == 0);
  CHECK(core.semaphore(0) == 1);
  CHECK(core.take(4).empty());
  CHECK(counters_of(device).records == 0);
}

TEST_CASE("an execution begins with clear semaphores and events") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  for (const std::uint32_t index : {1u, 2u, 3u, 100u, 239u, 246u}) {
    neuron_semaphore set{0, index, 7};
    REQUIRE(client.call(NEURON_IOCTL_SEMAPHORE_WRITE, set) == 0);
    neuron_event event{0, index, 1};
    REQUIRE(client.call(NEURON_IOCTL_EVENT_SET, event) == 0);
  }
  REQUIRE(core.execute() == 0);
  CHECK(core.ended());
  for (const std::uint32_t index : {1u, 2u, 246u}) CHECK(core.semaphore(index) == 7);
  for (const std::uint32_t index : {3u, 100u, 239u}) CHECK(core.semaphore(index) == 0);
  for (const std::uint32_t index : {1u, 2u, 3u, 100u, 239u, 246u}) CHECK(core.event(index) == 0);
}

TEST_CASE("requests go on through laps of the exec ring and all its phases") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  // Two pairs a request: a lap is 4096 requests, and the phase is the first one again after four.
  const std::uint32_t requests = 4 * NEURON_EXEC_RING_DESCS / 2 + 3;
  for (std::uint32_t i = 0; i < requests; ++i) {
    REQUIRE(core.execute() == 0);
    if (core.ended()) continue;
    FAIL("request " << i << " did not end");
  }
  CHECK(counters_of(device).executions == requests);
  CHECK_FALSE(core.overflowed());
}

TEST_CASE("a ring of notifications that nobody reads drops records and says so") {
  const Device device(3);
  const Client client(device);
  // 16 records, of which one stays free.
  Core core(device, client, 3, 0, 256);
  for (int i = 0; i < 7; ++i) REQUIRE(core.execute() == 0);
  CHECK_FALSE(core.overflowed());
  REQUIRE(core.execute() == 0);
  CHECK(core.overflowed());
  const auto taken = core.take(NEURON_NQ_INDEX_INFER_STATUS);
  CHECK(taken.size() == 15);
  CHECK(taken.back().subtype == NEURON_NOTIFICATION_START);
  // Freed, the ring goes on where it was.
  for (std::uint32_t i = 5; i < 9; ++i) (void)core.take(i);
  REQUIRE(core.execute() == 0);
  CHECK(core.ended());
}

TEST_CASE("what a core signals before the other core starts is lost") {
  const Device device(3);
  const Client client(device);
  Core a(device, client, 3, 0), b(device, client, 3, 1);
  a.set(NEURON_ENGINE_SP, {write_csr(b.increment_csr(20), 1), wait_for(21, 5)});
  b.set(NEURON_ENGINE_POOL, {wait_for(20, 1), write_csr(a.increment_csr(21), 5)});
  a.arm();
  b.arm();
  REQUIRE(a.ring() == 0);
  // The other core does not run yet: SP waits.
  const auto errors = a.errors();
  REQUIRE(errors.size() == 1);
  CHECK(error_class(errors[0]) == NEURON_EXEC_STALLED);
  CHECK(errors[0].subtype == NEURON_ENGINE_SP);
  CHECK(neuron_notification_pc(&errors[0]) == 2);
  REQUIRE(b.ring() == 0);
  // What b's start cleared was there before: semaphore 20 of b is back at 0.
  CHECK(b.errors().size() == 1);
}

TEST_CASE("cores that wait for each other before they signal end together") {
  const Device device(3);
  const Client client(device);
  Core a(device, client, 3, 0), b(device, client, 3, 1);
  a.set(NEURON_ENGINE_SP, {wait_for(21, 5), write_csr(b.increment_csr(20), 1)});
  b.set(NEURON_ENGINE_POOL, {write_csr(a.increment_csr(21), 5), wait_for(20, 1)});
  a.arm();
  b.arm();
  REQUIRE(a.ring() == 0);
  CHECK(a.errors().size() == 1);
  REQUIRE(b.ring() == 0);
  CHECK(a.ended());
  CHECK(b.ended());
}

TEST_CASE("a deadlock is reported for every engine that waits, and given up by the next request") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  core.set(NEURON_ENGINE_PE, {Record(NEURON_OP_NOP), wait_for(20, 1)});
  core.set(NEURON_ENGINE_ACT, {wait_for(21, 1), Record(NEURON_OP_NOP).update(increment, 20)});
  REQUIRE(core.execute() == 0);
  const auto errors = core.errors();
  REQUIRE(errors.size() == 2);
  CHECK(error_class(errors[0]) == NEURON_EXEC_STALLED);
  CHECK(errors[0].subtype == NEURON_ENGINE_PE);
  CHECK(neuron_notification_pc(&errors[0]) == 2);
  CHECK(errors[1].subtype == NEURON_ENGINE_ACT);
  CHECK(neuron_notification_pc(&errors[1]) == 1);
  CHECK(core.semaphore(0) == 1);
  for (std::uint32_t i = 4; i < 9; ++i) (void)core.take(i);
  core.set_all_empty();
  REQUIRE(core.execute() == 0);
  CHECK(core.ended());
  CHECK(core.semaphore(0) == 0);
  CHECK(counters_of(device).failures == 1);
}

TEST_CASE("an endless program ends at the limit") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  nds_device_set_execution_limit(device.get(), 30);
  core.set(NEURON_ENGINE_ACT, {Record(NEURON_OP_NOP), branch(0)});
  REQUIRE(core.execute() == 0);
  const auto errors = core.errors();
  REQUIRE(!errors.empty());
  bool found = false;
  for (const auto& error : errors) {
    CHECK(error_class(error) == NEURON_EXEC_ENDLESS);
    found = found || (error.subtype == NEURON_ENGINE_ACT && neuron_notification_pc(&error) == 2);
  }
  CHECK(found);
  CHECK(core.semaphore(0) == 0);
}

TEST_CASE("a doorbell of a stream runs a ring, and the ring signals") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    const Device device(architecture);
    const Client client(device);
    Core core(device, client, architecture, 1);
    const auto memory = client.alloc({64_KiB});
    const std::uint64_t pa = client.pa(memory);
    auto bytes = pattern(4096, 3);
    bytes[4] = 1;
    bytes[5] = bytes[6] = bytes[7] = 0;
    REQUIRE(client.write(memory, bytes) == 0);
    ModelQueue queue(client, architecture, 16 + 3, 2);
    queue.copy(pa + 0x1000, pa, 4096);
    queue.copy(core.increment_csr(20), pa + 4, 4);
    core.set(NEURON_ENGINE_SP, queue.doorbell(2) + Program{wait_for(20, 1)});
    // Twice: the second execution begins with the ring at its start.
    for (int i = 0; i < 2; ++i) {
      REQUIRE(client.write(memory, std::vector<std::uint8_t>(4096), 4096) == 0);
      REQUIRE(core.execute() == 0);
      CHECK(core.ended());
      CHECK(client.read(memory, 4096, 4096) == bytes);
    }
  }
}

TEST_CASE("a doorbell of a stream is refused when its ring has not so many descriptors free") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  const std::uint64_t pa = client.place({4096});
  ModelQueue queue(client, 3, 4, 6);
  for (std::uint32_t i = 0; i < 64; ++i) queue.copy(pa + 1024 + 4 * i, pa + 4 * i, 4);
  const auto refused_at = [&](const Program& program, std::uint32_t slot) {
    core.set(NEURON_ENGINE_SP, program);
    REQUIRE(core.execute() == 0);
    const auto errors = core.errors();
    REQUIRE(errors.size() == 1);
    CHECK(error_class(errors[0]) == NEURON_EXEC_RECORD_REFUSED);
    CHECK(errors[0].subtype == (NEURON_ENGINE_SP | NEURON_AT_WRITE_VALUE << 8));
    CHECK(neuron_notification_pc(&errors[0]) == slot);
  };
  const Program rx_only = {queue.doorbell(40)[0]};
  refused_at(queue.doorbell(65), 1);
  refused_at(rx_only + rx_only, 2);
  // A queue that has no rings.
  refused_at(
      {write_csr(neuron_v3_dma_engine(4) + neuron_udma_tx_register(9, NEURON_UDMA_Q_TAIL_INC), 1)},
      1);
  // What has run is free again.
  core.set(NEURON_ENGINE_SP, queue.doorbell(64) + queue.doorbell(40) + queue.doorbell(40));
  for (std::uint32_t i = 4; i < 9; ++i) (void)core.take(i);
  REQUIRE(core.execute() == 0);
  CHECK(core.ended());
}

TEST_CASE("a ring that names no memory aborts the execution of its core") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3, 1);
  const auto memory = client.alloc({4096});
  ModelQueue queue(client, 3, 16 + 5, 7);
  queue.copy(0x200000000000, client.pa(memory), 64);
  core.set(NEURON_ENGINE_POOL, queue.doorbell(1) + Program{wait_for(20, 1)});
  REQUIRE(core.execute() == 0);
  const auto errors = core.errors();
  REQUIRE(errors.size() == 1);
  CHECK(error_class(errors[0]) == NEURON_EXEC_DMA_ABORT);
  CHECK(errors[0].subtype == NEURON_EXEC_RING);
  CHECK(neuron_notification_pc(&errors[0]) == (5 | 7 << 4));
  // The engine is usable again for the next request.
  for (std::uint32_t i = 4; i < 9; ++i) (void)core.take(i);
  core.set_all_empty();
  REQUIRE(core.execute() == 0);
  CHECK(core.ended());
}

TEST_CASE("the rings of ACT and DVE tables run before the engines when the request says so") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  const auto memory = client.alloc({4096});
  const std::uint64_t pa = client.pa(memory);
  REQUIRE(client.write(memory, {9, 8, 7, 6, 1, 0, 0, 0}) == 0);
  const std::uint64_t unit = core.increment_csr(0) - NEURON_EVENT_UNIT_SEM_INCREMENT;
  ModelQueue act(client, 3, NEURON_ACT_RING_ENGINE, NEURON_RUNTIME_QUEUE);
  act.copy(core.window() + NEURON_V3_ENGINE_WINDOW + 0x2500000, pa, 4);
  act.copy(unit + 4 * NEURON_EVENT_ACT_TABLES_LOAD, pa + 4, 4);
  ModelQueue dve(client, 3, NEURON_DVE_RING_ENGINE, NEURON_RUNTIME_QUEUE);
  dve.copy(unit + 4 * NEURON_EVENT_DVE_TABLES_LOAD, pa + 4, 4);
  const auto waits = Program{semaphore_record().wait(wait_set, NEURON_EVENT_ACT_TABLES_LOAD),
                             semaphore_record().wait(wait_set, NEURON_EVENT_DVE_TABLES_LOAD)};
  core.set(NEURON_ENGINE_ACT, waits);
  REQUIRE(core.execute() == 0);
  CHECK(core.errors().size() == 1);
  for (std::uint32_t i = 4; i < 9; ++i) (void)core.take(i);
  core.set_load_tables(true);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(core.execute() == 0);
    CHECK(core.ended());
  }
  CHECK(core.memory(NEURON_V3_ENGINE_WINDOW + 0x2500000)[0] == 9);
}

TEST_CASE("one doorbell may stand for several requests") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  // Three requests rung at once are run one after the other.
  for (int i = 0; i < 3; ++i) core.arm();
  neuron_semaphore three{0, 0, 3};
  REQUIRE(client.call(NEURON_IOCTL_SEMAPHORE_INCREMENT, three) == 0);
  CHECK(counters_of(device).executions == 3);
  CHECK(core.semaphore(0) == 0);
}

TEST_CASE("a random order gives the results of the deterministic one") {
  // SP fills SBUF by ring and direct transfer, POOL moves it on when told, ACT copies back.
  const auto result = [](std::uint64_t seed, std::uint32_t flags, bool& ended) {
    const Device device(3);
    const Client client(device);
    Core core(device, client, 3);
    const auto memory = client.alloc({256_KiB});
    const std::uint64_t pa = client.pa(memory);
    auto bytes = pattern(64_KiB, 21);
    const std::uint8_t one[] = {1, 0, 0, 0};
    std::copy(one, one + 4, bytes.begin());
    REQUIRE(client.write(memory, bytes) == 0);
    const std::uint64_t sbuf = core.window();
    ModelQueue in(client, 3, 2, 0, 128), on(client, 3, 3, 1, 128);
    // Block 0 and 1 in one ring, only the last signals: needs the ring's order (10 section 8).
    for (std::uint32_t i = 0; i < 32; ++i) in.copy(sbuf + 256 * i, pa + 256 * i, 256);
    in.copy(core.increment_csr(20), pa, 4);
    for (std::uint32_t i = 0; i < 32; ++i)
      on.copy(sbuf + 0x40000 + 256 * i, sbuf + 256 * (31 - i), 256);
    on.copy(core.increment_csr(21), pa, 4);
    core.set(NEURON_ENGINE_SP,
             in.doorbell(33) + Program{transfer({pa + 0x8000, 1024, 1024},
                                                {sbuf + 0x80000, 1024, 0x40000}, 8, 1, 22, 16)});
    core.set(NEURON_ENGINE_POOL, Program{wait_for(20, 1)} + on.doorbell(33));
    core.set(NEURON_ENGINE_ACT,
             {wait_for(21, 1), transfer({sbuf + 0x40000, 8192}, {pa + 0x20000, 8192}, 1, 1, 23, 16),
              wait_for(22, 16),
              transfer({sbuf + 0x80000, 1024, 0x40000}, {pa + 0x30000, 1024, 1024}, 8, 1, 23, 16)});
    core.set(NEURON_ENGINE_PE, {wait_for(23, 32)});
    nds_device_set_schedule(device.get(), seed, flags);
    REQUIRE(core.execute() == 0);
    ended = core.ended();
    return client.read(memory, 128_KiB, 0x20000);
  };
  bool ended = false;
  const auto expected = result(0, 0, ended);
  REQUIRE(ended);
  std::uint32_t different = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    CHECK(result(seed, 0, ended) == expected);
    CHECK(ended);
    different += result(seed, NDS_SCHEDULE_NO_FIFO, ended) != expected;
    CHECK(ended);
  }
  // Without the rings' order the signal outruns the data.
  CHECK(different > 0);
}

TEST_CASE("transfers of a random order keep their memory and report their errors") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  const auto memory = client.alloc({4096});
  // More transfers than may be on their way at once.
  Program many;
  for (std::uint32_t i = 0; i < 100; ++i)
    many.push_back(
        transfer({client.pa(memory), 4}, {client.pa(memory) + 64 + 4 * i, 4}, 1, 1, 20, 1));
  core.set(NEURON_ENGINE_SP, many + Program{wait_for(20, 100)});
  nds_device_set_schedule(device.get(), 7, 0);
  REQUIRE(core.execute() == 0);
  CHECK(core.ended());
  CHECK(core.semaphore(20) == 100);
  core.set(NEURON_ENGINE_SP,
           {Record(NEURON_OP_NOP),
            transfer({0x200000000000, 4}, {client.pa(memory), 4}, 1, 1, 20, 1), wait_for(20, 1)});
  REQUIRE(core.execute() == 0);
  const auto errors = core.errors();
  REQUIRE(errors.size() == 1);
  CHECK(error_class(errors[0]) == NEURON_EXEC_DMA_ABORT);
  CHECK(errors[0].subtype == (NEURON_ENGINE_SP | NEURON_AT_DMA_SOURCE << 8));
  CHECK(neuron_notification_pc(&errors[0]) == 2);
}

TEST_CASE("an observer sees records and transfers") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  const std::uint64_t pa = client.place({4096});
  ModelQueue queue(client, 3, 4, 6);
  queue.copy(pa + 64, pa, 60);
  core.set(NEURON_ENGINE_SP,
           queue.doorbell(1) + Program{transfer({pa, 32}, {pa + 128, 32}, 2, 1, 20, 1)});
  struct Seen {
    std::vector<std::array<std::uint32_t, 4>> records;
    std::vector<std::array<std::uint64_t, 4>> transfers;
    bool ordered = true;
  } seen;
  nds_observer observer{};
  observer.context = &seen;
  observer.record = [](void* context, std::uint32_t of, std::uint32_t engine, std::uint32_t slot,
                       std::uint32_t opcode, std::uint64_t begin, std::uint64_t end) {
    auto& all = *static_cast<Seen*>(context);
    if (engine == NEURON_ENGINE_SP) all.records.push_back({of, engine, slot, opcode});
    all.ordered = all.ordered && begin != 0 && begin <= end;
  };
  observer.transfer = [](void* context, std::uint32_t of, std::uint32_t engine, std::uint32_t index,
                         std::uint64_t bytes, std::uint64_t begin, std::uint64_t end) {
    auto& all = *static_cast<Seen*>(context);
    all.transfers.push_back({of, engine, index, bytes});
    all.ordered = all.ordered && begin != 0 && begin <= end;
  };
  nds_device_set_observer(device.get(), &observer);
  REQUIRE(core.execute() == 0);
  CHECK(core.ended());
  CHECK(seen.ordered);
  REQUIRE(seen.records.size() == 6);
  CHECK(seen.records[1] == std::array<std::uint32_t, 4>{0, NEURON_ENGINE_SP, 1, NEURON_OP_WRITE});
  CHECK(seen.records[5][2] == 5);
  // The two pairs of the request, the ring's pair, the direct transfer.
  REQUIRE(seen.transfers.size() == 4);
  CHECK(seen.transfers[2] == std::array<std::uint64_t, 4>{0, 4, 6, 60});
  CHECK(seen.transfers[3] ==
        std::array<std::uint64_t, 4>{0, NDS_OBSERVED_DIRECT, NEURON_ENGINE_SP, 64});
  nds_device_set_observer(device.get(), nullptr);
  REQUIRE(core.execute() == 0);
  CHECK(seen.records.size() == 6);
}

TEST_CASE("a silent device does not execute") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  core.arm();
  nds_device_silence(device.get(), NDS_SILENT_DMA);
  CHECK(core.ring() == 0);
  CHECK(core.take(4).empty());
}

namespace {

/// Lets a doorbell run an endless program in a thread of its own.
class Endless {
 public:
  explicit Endless(Core& core) {
    core.set(NEURON_ENGINE_SP, {Record(NEURON_OP_NOP), branch(-1)});
    core.arm();
    thread_ = std::thread([this, &core] {
      result_ = core.ring();
      done_ = true;
    });
    while (core.semaphore(NEURON_SEMAPHORE_INFERENCE_START) == 0) std::this_thread::yield();
  }
  ~Endless() {
    if (thread_.joinable()) thread_.join();
  }
  bool done() const { return done_; }
  void join() { thread_.join(); }
  long result() const { return result_; }

 private:
  std::thread thread_;
  std::atomic<bool> done_ = false;
  std::atomic<long> result_ = -1;
};

}  // namespace

TEST_CASE("a reset stops an execution that does not end, other calls go on meanwhile") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3);
  Endless endless(core);
  // Calls that need the same locks.
  for (int i = 0; i < 20; ++i) {
    const auto handle = client.alloc({4096});
    CHECK(client.write(handle, pattern(4096, 1)) == 0);
    ModelQueue queue(client, 3, 20, 0);
  }
  CHECK_FALSE(endless.done());
  neuron_nc_reset reset{};
  reset.nc_map = 1;
  CHECK(client.call(NEURON_IOCTL_NC_RESET, reset) == 0);
  endless.join();
  CHECK(endless.result() == 0);
  CHECK(core.semaphore(0) == 0);
}

TEST_CASE("a reset of one core lets the others go on") {
  const Device device(3);
  const Client client(device);
  Core core(device, client, 3, 0), other(device, client, 3, 1);
  Endless endless(core);
  neuron_nc_reset reset{};
  reset.nc_map = 4;
  CHECK(client.call(NEURON_IOCTL_NC_RESET, reset) == 0);
  // A doorbell of another core joins the one that runs.
  other.arm();
  long result = -1;
  std::thread second([&] { result = other.ring(); });
  while (counters_of(device).executions == 0) std::this_thread::yield();
  CHECK(other.ended());
  CHECK_FALSE(endless.done());
  neuron_nc_reset_ready ready{};
  ready.request_id = 100;
  CHECK(client.call(NEURON_IOCTL_NC_RESET_READY, ready) == 0);
  reset.nc_map = 1;
  CHECK(client.call(NEURON_IOCTL_NC_RESET, reset) == 0);
  endless.join();
  second.join();
  CHECK(result == 0);
}

TEST_CASE("closing the file of a process stops what it executes") {
  const Device device(3);
  const Client watcher(device, 200);
  Client client(device);
  Core core(device, client, 3);
  core.set(NEURON_ENGINE_SP, {wait_for(20, 1)});
  REQUIRE(core.execute() == 0);
  client.close();
  neuron_semaphore count{0, 0, 0};
  REQUIRE(watcher.call(NEURON_IOCTL_SEMAPHORE_READ, count) == 0);
  CHECK(count.value == 0);
  // Nothing is left to run for anybody else's doorbell.
  Core next(device, watcher, 3, 1);
  REQUIRE(next.execute() == 0);
  CHECK(counters_of(device).executions == 1);
}

TEST_CASE("doorbells of several threads end all their requests") {
  const Device device(3);
  std::vector<std::thread> threads;
  std::atomic<std::uint32_t> ended = 0;
  for (std::uint32_t index = 0; index < 4; ++index) {
    threads.emplace_back([&, index] {
      const Client client(device, 100 + static_cast<std::int32_t>(index));
      Core core(device, client, 3, index);
      Program program;
      for (std::uint32_t i = 0; i < 50; ++i)
        program.push_back(Record(NEURON_OP_NOP).update(increment, 20));
      core.set(NEURON_ENGINE_PE, program);
      core.set(NEURON_ENGINE_SP, {wait_for(20, 50)});
      for (int i = 0; i < 50; ++i)
        if (core.execute() == 0 && core.ended()) ++ended;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(ended == 200);
}
