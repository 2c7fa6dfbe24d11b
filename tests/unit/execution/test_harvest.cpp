// SPDX-License-Identifier: MIT
// What the host makes of the notification records of an execution (spec 04 sections 10 and 11).
#include <catch2/catch.hpp>

#include "bench.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr const char* plain_sample = "vecadd-v3";
constexpr std::uint32_t dve = NEURON_ENGINE_DVE, sp = NEURON_ENGINE_SP;

bool says(const Error& error, std::string_view part) {
  return error.text.find(part) != std::string::npos;
}

/// Completes every core but the first, about which `answer` tells at the last doorbell.
void answer_first_core(FakeBench& bench, std::function<void(FakeDevice&)> answer) {
  bench.fake->at_doorbell = [answer = std::move(answer)](FakeDevice& device, std::uint32_t core) {
    if (core == 0) return;
    device.complete(core);
    answer(device);
  };
}

void all_but(FakeDevice& device, std::uint32_t engine) {
  for (std::uint32_t other = 0; other < engine_count; ++other) {
    if (other == engine) continue;
    device.start(0, other);
    device.end(0, other);
  }
}

}  // namespace

TEST_CASE("an execution reports begin and end of every core from START and END of its engines") {
  FakeBench bench;
  const ExecutionReport report = bench.run(bench.bound(plain_sample));
  REQUIRE(report.cores.size() == 2);
  CHECK(report.records == 20);
  CHECK(report.warnings.empty());
  for (std::uint32_t core = 0; core < 2; ++core) {
    const CoreExecution& one = report.cores[core];
    CHECK(one.core == core);
    CHECK(one.begin == one.engines[0].begin);
    CHECK(one.end == one.engines[4].end);
    for (const EngineSpan& engine : one.engines) CHECK(engine.begin < engine.end);
  }
  CHECK(report.cores[0].end < report.cores[1].begin);
}

TEST_CASE("a START or END that never comes is a timeout that names core and engine") {
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  answer_first_core(bench, [](FakeDevice& device) {
    all_but(device, sp);
    device.start(0, sp);
  });
  Error error = bench.failure(model);
  CHECK(error.status == Status::timeout);
  CHECK(says(error, "missing infer_status notification: core 0: SP posted no END"));
  answer_first_core(bench, [](FakeDevice& device) { all_but(device, dve); });
  error = bench.failure(model);
  CHECK(error.status == Status::timeout);
  CHECK(says(error, "DVE posted no START"));
  bench.fake->at_doorbell = {};
  bench.run(model);
}

TEST_CASE("records in the wrong order are a failure") {
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  answer_first_core(bench, [](FakeDevice& device) {
    all_but(device, sp);
    device.end(0, sp);
    device.start(0, sp);
  });
  Error error = bench.failure(model);
  CHECK(error.status == Status::failure);
  CHECK(says(error, "core 0 SP posted END before START"));
  answer_first_core(bench, [](FakeDevice& device) {
    all_but(device, sp);
    device.start(0, sp);
    device.start(0, sp);
  });
  error = bench.failure(model);
  CHECK(error.status == Status::failure);
  CHECK(says(error, "posted START twice"));
  bench.fake->at_doorbell = {};
  bench.run(model);
}

TEST_CASE("records of another kind are a failure, those of debugging are not") {
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  neuron_notification record{};
  Status expected = Status::success;
  const auto with_record = [&](unsigned subtype, unsigned sub_id, std::uint8_t type) {
    record.kind = type;
    record.subtype = static_cast<std::uint16_t>(subtype);
    record.sub_id = static_cast<std::uint16_t>(sub_id);
    answer_first_core(bench, [&](FakeDevice& device) {
      all_but(device, sp);
      device.start(0, sp);
      device.post(0, NEURON_NQ_INDEX_INFER_STATUS + sp, record);
      device.end(0, sp);
    });
    const auto report = bench.session->execute(model);
    INFO("subtype " << subtype << " sub id " << sub_id);
    CHECK((report ? Status::success : report.error().status) == expected);
  };
  constexpr std::uint8_t explicit_sp = NEURON_NOTIFICATION_EXPLICIT + 4 * sp;
  for (const unsigned sub_id : {6U, 7U, 8U}) with_record(6, sub_id, explicit_sp);
  expected = Status::exec_oob;
  for (const unsigned sub_id : {0U, 1U, 5U, 9U, 10U}) with_record(6, sub_id, explicit_sp);
  expected = Status::hw_error;
  with_record(6, 11, explicit_sp);
  expected = Status::failure;
  for (const unsigned subtype : {0U, 1U, 4U, 5U, 7U, 9U}) with_record(subtype, 0, explicit_sp);
  with_record(2, 0, NEURON_NOTIFICATION_EXPLICIT);
}

TEST_CASE("a full notification queue has a status of its own") {
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  answer_first_core(bench, [](FakeDevice& device) {
    neuron_notification debug{};
    debug.kind = NEURON_NOTIFICATION_EXPLICIT + 4 * sp;
    debug.subtype = NEURON_NOTIFICATION_CUSTOM;
    debug.sub_id = 6;
    all_but(device, sp);
    device.start(0, sp);
    for (std::uint32_t i = 0; i < 5000; ++i) {
      device.post(0, NEURON_NQ_INDEX_INFER_STATUS + sp, debug);
    }
    device.end(0, sp);
  });
  const Error error = bench.failure(model);
  CHECK(error.status == Status::exec_sw_nq_overflow);
  CHECK(says(error, "a notification queue of core 0 overflowed"));
  bench.fake->at_doorbell = {};
  bench.run(model);
  bench.run(model);
}

TEST_CASE("each class of error has its status and names engine, slot and record") {
  struct Row {
    std::uint16_t error_class;
    Status status;
    const char* part;
  };
  // Slot 3 of DVE's image is NEFF slot 2, the compute record.
  constexpr std::array<Row, 9> rows = {{
      {NEURON_EXEC_NUMERICAL, Status::exec_completed_with_num_err, "a result is NaN or infinite"},
      {NEURON_EXEC_TRANSIENT, Status::exec_completed_with_err, "a transient error"},
      {NEURON_EXEC_SW_SEQUENCER, Status::exec_completed_with_err, "sequencer"},
      {NEURON_EXEC_RECORD_REFUSED, Status::invalid, "byte 0x0e is 0x04"},
      {NEURON_EXEC_NO_COMPUTE, Status::invalid, "this device runs none"},
      {NEURON_EXEC_DMA_ABORT, Status::exec_hw_err_dma_abort, "names no memory"},
      {NEURON_EXEC_OUT_OF_MEMORY, Status::resource, "no host memory"},
      {NEURON_EXEC_ENDLESS, Status::timeout, "its time was up"},
      {NEURON_EXEC_FETCH, Status::exec_completed_with_err, "lies in no memory"},
  }};
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  for (const Row& row : rows) {
    answer_first_core(bench, [&](FakeDevice& device) {
      device.error(0, sp, NEURON_EXEC_STALLED, 0);
      device.error(0, dve, row.error_class, 2, 0x0E);
    });
    const Error error = bench.failure(model);
    INFO(error.text);
    CHECK(error.status == row.status);
    CHECK(says(error, row.part));
    CHECK(says(error, "sg00 DVE slot 2 (image slot 2, TENSOR_TENSOR"));
    CHECK(error.where.member == model.parsed.kbins[0].engine(Engine::dve).bin_member);
    answer_first_core(bench, [](FakeDevice& device) { device.complete(0); });
    bench.run(model);
  }
}

TEST_CASE("an endless program is told by what ended it") {
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  for (const std::uint32_t quiet : {0u, NEURON_EXEC_QUIET}) {
    answer_first_core(
        bench, [&](FakeDevice& device) { device.error(0, dve, NEURON_EXEC_ENDLESS, 2, quiet); });
    const Error error = bench.failure(model);
    INFO(error.text);
    CHECK(error.status == Status::timeout);
    CHECK(says(error, "its time was up") == (quiet == 0));
    CHECK(says(error, "100 million records on end without computing or moving") == (quiet != 0));
  }
}

TEST_CASE("an error beats an engine that waits, and a completed execution forgets who waited") {
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  answer_first_core(bench, [](FakeDevice& device) {
    device.error(0, sp, NEURON_EXEC_STALLED, 1);
    device.complete(0);
  });
  CHECK(bench.run(model).records == 21);
  answer_first_core(bench, [](FakeDevice& device) {
    device.complete(0);
    device.error(0, dve, NEURON_EXEC_NUMERICAL, 2);
  });
  CHECK(bench.failure(model).status == Status::exec_completed_with_num_err);
}

TEST_CASE("a deadlock names every engine that waits, its record and the semaphore") {
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  answer_first_core(bench, [](FakeDevice& device) {
    all_but(device, dve);
    device.start(0, dve);
    device.error(0, dve, NEURON_EXEC_STALLED, 2);
    device.error(0, sp, NEURON_EXEC_STALLED, 0);
  });
  const Error error = bench.failure(model);
  CHECK(error.status == Status::timeout);
  CHECK(says(error, "sg00 DVE waits at slot 2 (image slot 2, TENSOR_TENSOR"));
  CHECK(says(error, ") for semaphore 9 >= 16, is 0"));
  CHECK(
      says(error, "; sg00 SP waits at image slot 0 (the start gate) for semaphore 244 > 0, is 0"));
}

TEST_CASE("who waits is told by the last doorbell only") {
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  // The first core waits for the second; then it is the second that waits.
  bench.fake->at_doorbell = [](FakeDevice& device, std::uint32_t core) {
    if (core == 0) {
      device.error(0, dve, NEURON_EXEC_STALLED, 2);
    } else {
      device.complete(0);
      device.error(1, sp, NEURON_EXEC_STALLED, 0);
    }
  };
  const Error error = bench.failure(model);
  CHECK(error.status == Status::timeout);
  CHECK(says(error, "the program cannot go on: sg01 SP waits at image slot 0"));
  CHECK_FALSE(says(error, "sg00"));
}

TEST_CASE("a ring that names no memory is told by queue and DMA engine") {
  FakeBench bench;
  LoadedModel& model = bench.bound(plain_sample);
  answer_first_core(bench, [](FakeDevice& device) {
    device.error(0, NEURON_EXEC_RING, NEURON_EXEC_DMA_ABORT, 5 | 1 << 4);
  });
  const Error error = bench.failure(model);
  CHECK(error.status == Status::exec_hw_err_dma_abort);
  CHECK(says(error, "a descriptor of queue 1 on DMA engine 5 of core 0, qSPIO0 names no memory"));
  const auto says_of_class = [&](std::uint16_t error_class, Status status, std::string_view part) {
    answer_first_core(bench, [&](FakeDevice& device) {
      device.error(0, NEURON_EXEC_RING, error_class, 5 | 1 << 4);
    });
    const Error told = bench.failure(model);
    INFO(told.text);
    CHECK(told.status == status);
    CHECK(says(told, part));
  };
  says_of_class(NEURON_EXEC_OUT_OF_MEMORY, Status::resource,
                "no host memory left for what queue 1 on DMA engine 5 of core 0, qSPIO0 moves");
  says_of_class(NEURON_EXEC_ENDLESS, Status::timeout, "one doorbell gave queue 1 on DMA engine 5");
}

TEST_CASE("notification rings and exec rings wrap many times") {
  FakeBench bench(2);
  LoadedModel& model = bench.bound("vecadd-v2");
  // Two records of each engine: 4096 of them are 2048 executions. Two pairs a request: 4096 make a
  // lap of the exec ring.
  constexpr unsigned executions = 4 * 4096 + 10;
  for (unsigned i = 0; i < executions; ++i) {
    const auto report = bench.session->execute(model);
    if (!report) FAIL("execution " << i << ": " << to_sentence(report.error()));
    REQUIRE(report->records == 10);
    REQUIRE(bench.fake->armed.back() == 2);
  }
  CHECK(bench.fake->pairs_of_other_laps == 2 * (3 * 4096));
}
