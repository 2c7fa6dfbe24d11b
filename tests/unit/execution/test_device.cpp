// SPDX-License-Identifier: MIT
// Executions on the simulated device itself.
#include <algorithm>
#include <catch2/catch.hpp>

#include "../pipeline/devices.hpp"
#include "device_calls.hpp"
#include "neffld/sim_control.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

/// A session on a device that handles compute records so, and memory of the test's own there.
struct Desk {
  Desk(std::uint32_t architecture, SimCompute compute) {
    auto created = SimDevice::create({.architecture = architecture, .compute = compute});
    REQUIRE(created);
    device = *created;
    auto file = device->open();
    auto second = device->open();
    REQUIRE((file && second));
    own_file = std::move(*second);
    calls = std::make_unique<DeviceCalls>(*own_file);
    auto opened = Session::open(std::move(*file));
    REQUIRE(opened);
    session = std::move(*opened);
  }

  /// Loads a sample and binds it to memory whose bytes are a pattern.
  LoadedModel& bound(const std::string& name) {
    auto loaded = session->load(parsed(name));
    if (!loaded) FAIL(to_sentence(loaded.error()));
    LoadedModel& model = **loaded;
    IoMap io;
    for (const auto* tensors : {&model.parsed.manifest.inputs, &model.parsed.manifest.outputs}) {
      for (const auto& [tensor, info] : *tensors) {
        Request request;
        request.size = info.size;
        auto memory = calls->allocate(request);
        REQUIRE(memory);
        std::vector<std::uint8_t> bytes(info.size);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
          bytes[i] = static_cast<std::uint8_t>(i * 13 + i / 251);
        }
        REQUIRE(calls->copy_in(memory->handle, 0, bytes));
        io[tensor] = memory->pa;
        handles[{model.h_model, tensor}] = memory->handle;
      }
    }
    const auto done = session->bind(model, std::move(io));
    if (!done) FAIL(to_sentence(done.error()));
    return model;
  }
  void run(LoadedModel& model) {
    const auto report = session->execute(model);
    if (!report) FAIL(to_sentence(report.error()));
    REQUIRE(report->cores.size() == model.plan.kbins.size());
    for (const CoreExecution& core : report->cores) {
      for (const EngineSpan& engine : core.engines) {
        CHECK(core.begin <= engine.begin);
        CHECK(engine.begin < engine.end);
        CHECK(engine.end <= core.end);
      }
    }
  }
  /// All outputs of a model, one behind the other.
  std::vector<std::uint8_t> outputs(const LoadedModel& model) {
    std::vector<std::uint8_t> all;
    for (const auto& [name, info] : model.parsed.manifest.outputs) {
      std::vector<std::uint8_t> bytes(info.size);
      REQUIRE(calls->copy_out(handles.at({model.h_model, name}), 0, bytes));
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }

  std::shared_ptr<SimDevice> device;
  std::unique_ptr<DeviceFile> own_file;
  std::unique_ptr<DeviceCalls> calls;
  std::unique_ptr<Session> session;
  std::map<std::pair<std::uint32_t, std::string>, std::uint64_t> handles;
};

std::vector<std::string> samples_of(std::uint32_t architecture) {
  std::vector<std::string> names = loadable_samples();
  std::erase_if(names, [&](const auto& name) { return architecture_of(name) != architecture; });
  return names;
}

}  // namespace

TEST_CASE("every sample executes to its end, alone and with all others resident") {
  for (const std::uint32_t architecture : {2u, 3u}) {
    Desk desk(architecture, SimCompute::skip);
    std::vector<LoadedModel*> models;
    for (const std::string& name : samples_of(architecture)) {
      models.push_back(&desk.bound(name));
      desk.run(*models.back());
    }
    for (int round = 0; round < 2; ++round) {
      for (LoadedModel* model : models) desk.run(*model);
    }
    while (!models.empty()) {
      desk.run(*models.front());
      REQUIRE(desk.session->unload(*models.back()));
      models.pop_back();
    }
  }
}

TEST_CASE("outputs do not depend on the order in which engines and rings go on") {
  for (const char* name : {"vecadd-v3", "many-queues-v3", "transpose-v3", "dge-lnc2-v3",
                           "scratchpad-lnc2-v3", "rearm-v2", "virtual-overlap-v2"}) {
    std::vector<std::uint8_t> expected;
    for (const std::uint64_t seed : {0u, 1u, 2u, 3u}) {
      Desk desk(architecture_of(name), SimCompute::skip);
      sim_set_schedule(*desk.device, seed);
      LoadedModel& model = desk.bound(name);
      desk.run(model);
      desk.run(model);
      const auto outputs = desk.outputs(model);
      if (seed == 0) expected = outputs;
      INFO(name << " with seed " << seed);
      CHECK(outputs == expected);
    }
  }
}

TEST_CASE("a device that computes nothing names the first compute record and goes on with others") {
  Desk desk(3, SimCompute::refuse);
  LoadedModel& computes = desk.bound("vecadd-v3");
  LoadedModel& moves = desk.bound("copy-shapes-v3");
  desk.run(moves);
  const auto expected = desk.outputs(moves);
  for (int i = 0; i < 3; ++i) {
    const auto refused = desk.session->execute(computes);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().status == Status::invalid);
    CHECK(refused.error().text ==
          "sg00 DVE slot 2 (image slot 2, TENSOR_TENSOR_ARITH_OP): a compute record, and this "
          "device runs none");
    desk.run(moves);
    CHECK(desk.outputs(moves) == expected);
  }
}
