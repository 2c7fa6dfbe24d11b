// SPDX-License-Identifier: MIT
// What the host hands to the device: requests, doorbells, queues of a new owner (spec 04 section 9,
// decisions 24 and 33).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "bench.hpp"
#include "exec_ring.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

const AllocationInfo& allocation(const LoadedModel& model, std::string_view owner,
                                 std::uint32_t core) {
  const auto found = std::find_if(
      model.allocations.begin(), model.allocations.end(),
      [&](const AllocationInfo& info) { return info.owner == owner && info.core == core; });
  REQUIRE(found != model.allocations.end());
  return *found;
}

neuron_exec_request request_of(FakeBench& bench, const LoadedModel& first, std::uint32_t core) {
  std::array<std::uint8_t, sizeof(neuron_exec_request)> bytes{};
  REQUIRE(bench.session->read(allocation(first, "request buffer", core).handle, 0, bytes));
  neuron_exec_request request{};
  std::memcpy(&request, bytes.data(), sizeof request);
  return request;
}

}  // namespace

TEST_CASE("a software queue counts laps as the rules of spec 04 say") {
  SoftwareQueue queue(4);
  CHECK(queue.at(0).index == 0);
  CHECK(queue.at(0).ring_id == 1);
  queue.advance(3);
  CHECK(queue.at(0).index == 3);
  CHECK(queue.at(1).index == 0);
  CHECK(queue.at(1).ring_id == 2);
  queue.advance(1);
  CHECK(queue.at(0).index == 0);
  CHECK(queue.at(0).ring_id == 2);
  queue.advance(4);
  CHECK(queue.at(0).index == 0);
  CHECK(queue.at(0).ring_id == 3);
  queue.advance(2);
  queue.advance(3);
  CHECK(queue.at(0).index == 1);
  CHECK(queue.at(0).ring_id == 0);
}

TEST_CASE("a request names the five images, the table and what has to be loaded") {
  FakeBench bench;
  LoadedModel& model = bench.bound("dge-lnc2-v3");
  const ExecutionReport first = bench.run(model);
  CHECK(first.switched);
  CHECK(first.tables_loaded);
  for (std::uint32_t core = 0; core < 2; ++core) {
    const neuron_exec_request request = request_of(bench, model, core);
    CHECK(request.do_model_switch == 1);
    CHECK(request.reload_seq_config == 1);
    CHECK(request.load_act_dve_tables == 1);
    CHECK(request.cc_dma_increment == 0);
    for (std::uint32_t engine = 0; engine < engine_count; ++engine) {
      const auto image = model.plan.kbins[core].streams[engine].request;
      CHECK(neuron_exec_image(&request, engine) == model.addresses.sections[image]);
    }
    CHECK(request.dge_table_pa == allocation(model, "table DGETable0", core).pa);
  }
  const ExecutionReport second = bench.run(model);
  CHECK_FALSE(second.switched);
  CHECK_FALSE(second.tables_loaded);
  const neuron_exec_request request = request_of(bench, model, 1);
  CHECK(request.do_model_switch == 0);
  CHECK(request.load_act_dve_tables == 0);
}

TEST_CASE("all cores are armed before the first doorbell") {
  FakeBench bench;
  LoadedModel& model = bench.bound("dge-lnc2-v3");
  std::vector<std::uint64_t> copies;
  bench.fake->at_doorbell = [&](FakeDevice& device, std::uint32_t core) {
    copies.push_back(bench.session->calls().at(NEURON_IOCTL_DMA_COPY_DESCRIPTORS64));
    device.complete(core);
  };
  bench.run(model);
  bench.run(model);
  CHECK(bench.fake->doorbells == std::vector<std::uint32_t>{0, 1, 0, 1});
  CHECK(bench.fake->armed == std::vector<std::uint32_t>{2, 2, 2, 2});
  REQUIRE(copies.size() == 4);
  CHECK(copies[0] == copies[1]);
  CHECK(copies[2] == copies[3]);
}

TEST_CASE("residents of one core take turns: the queues go over, tables only if they differ") {
  FakeBench bench;
  LoadedModel& a = bench.bound("vecadd-v3", 0x100000000);
  LoadedModel& b = bench.bound("cast-v3", 0x110000000);
  LoadedModel& same = bench.bound("vecadd-v3", 0x120000000);
  const auto batches = [&] { return bench.fake->queue_init_batches; };
  CHECK(a.queues_initialised);

  std::uint64_t before = batches();
  CHECK(bench.run(a).switched);
  CHECK(batches() == before);  // its own since it was loaded
  CHECK_FALSE(bench.run(a).switched);

  const ExecutionReport to_b = bench.run(b);
  CHECK(to_b.switched);
  CHECK(to_b.tables_loaded);  // another sample has other tables
  CHECK(batches() == before + 1);
  CHECK(b.queues_initialised);
  CHECK_FALSE(a.queues_initialised);

  CHECK(bench.run(a).tables_loaded);
  const ExecutionReport to_same = bench.run(same);
  CHECK(to_same.switched);
  CHECK_FALSE(to_same.tables_loaded);  // the same file
  CHECK(batches() == before + 3);

  // A binding of a resident that does not own the queues leaves them alone.
  before = batches();
  REQUIRE(bench.session->bind(a, io_addresses(a.parsed, 0x130000000)));
  CHECK(batches() == before);
  bench.run(a);
  CHECK(batches() == before + 1);

  // The owner goes and takes its rings out of the queues; the next one programs them.
  REQUIRE(bench.session->unload(a));
  CHECK(batches() == before + 2);
  bench.run(same);
  CHECK(batches() == before + 3);
  REQUIRE(bench.session->unload(same));
  REQUIRE(bench.session->unload(b));
  bench.run(bench.bound("vecadd-v3"));
}

TEST_CASE("models on different cores do not disturb each other") {
  FakeBench bench;
  LoadedModel& first = bench.bound("vecadd-v3");
  LoadOptions other_core;
  other_core.logical_core = 2;
  auto loaded = bench.session->load(parsed("vecadd-v3"), other_core);
  REQUIRE(loaded);
  LoadedModel& second = **loaded;
  REQUIRE(bench.session->bind(second, io_addresses(second.parsed, 0x110000000)));
  bench.run(first);
  bench.run(second);
  CHECK(bench.fake->doorbells == std::vector<std::uint32_t>{0, 1, 4, 5});
  CHECK_FALSE(bench.run(first).switched);
  CHECK_FALSE(bench.run(second).switched);
}

TEST_CASE("what cannot be executed is refused before the device hears of it") {
  FakeBench bench;
  LoadedModel& unbound = bench.unbound("vecadd-v3");
  const auto calls = [&] { return bench.device->counters().ioctls; };
  std::uint64_t before = calls();
  Error error = bench.failure(unbound);
  CHECK(error.status == Status::invalid);
  CHECK(error.text.find("not bound") != std::string::npos);
  CHECK(calls() == before);

  FakeBench hardware(3, false);
  LoadedModel& model = hardware.bound("vecadd-v3");
  before = hardware.device->counters().ioctls;
  error = hardware.failure(model);
  CHECK(error.status == Status::invalid);
  CHECK(error.error_class == ErrorClass::unsupported);
  CHECK(error.text.find("real hardware") != std::string::npos);
  CHECK(hardware.device->counters().ioctls == before);
}

TEST_CASE("after any call that fails the next execution works") {
  FakeBench bench;
  LoadedModel& model = bench.bound("dge-lnc2-v3");
  LoadedModel& other = bench.bound("vecadd-v3", 0x110000000);
  bool finished = false;
  for (std::uint64_t call = 1; !finished; ++call) {
    REQUIRE(call < 400);
    bench.script->answer = -5;
    bench.script->fail_at = bench.script->calls + call;
    const auto report = bench.session->execute(model);
    finished = bench.script->calls < bench.script->fail_at;
    bench.script->fail_at = 0;
    INFO("call " << call);
    if (!finished) CHECK_FALSE(report);
    const auto next = bench.session->execute(other);
    if (!next) FAIL(to_sentence(next.error()));
    CHECK(next->cores.size() == 2);
  }
  CHECK(bench.run(model).cores.size() == 2);
}

TEST_CASE("a doorbell that fails leaves nothing behind that the next request could trip over") {
  FakeBench bench;
  LoadedModel& model = bench.bound("dge-lnc2-v3");
  bench.run(model);
  // The second core is armed but never rung.
  bench.script->answer = -5;
  for (int i = 0; i < 3; ++i) {
    bench.fake->at_doorbell = [&](FakeDevice& device, std::uint32_t core) {
      if (core == 0) device.error(0, 0, NEURON_EXEC_RECORD_REFUSED, 1);
    };
    CHECK(bench.failure(model).status == Status::invalid);
    bench.fake->at_doorbell = {};
    bench.run(model);
    CHECK(bench.fake->armed.back() == 2);
  }
}
