// SPDX-License-Identifier: MIT
// A session on a device that answers doorbells as a test's script says.
#pragma once

#include <catch2/catch.hpp>

#include "../pipeline/devices.hpp"
#include "fake_device.hpp"
#include "neffld/session.hpp"

namespace neffld::test {

struct FakeBench {
  explicit FakeBench(std::uint32_t architecture = 3, bool simulated = true) {
    fake->simulated = simulated;
    auto created = SimDevice::create({.architecture = architecture});
    REQUIRE(created);
    device = *created;
    auto file = device->open();
    REQUIRE(file);
    auto answering = std::make_unique<FakeDevice>(std::move(*file), fake, architecture);
    auto opened = Session::open(std::make_unique<ScriptedFile>(std::move(answering), script));
    REQUIRE(opened);
    session = std::move(*opened);
  }

  /// Loads a sample and binds it to addresses of its own.
  LoadedModel& bound(std::string_view name, std::uint64_t io = 0x100000000) {
    LoadedModel& model = unbound(name);
    const auto done = session->bind(model, io_addresses(model.parsed, io));
    if (!done) FAIL(to_sentence(done.error()));
    return model;
  }
  ExecutionReport run(LoadedModel& model, const ExecuteOptions& options = {}) {
    auto report = session->execute(model, options);
    if (!report) FAIL(to_sentence(report.error()));
    return std::move(*report);
  }
  /// The error of an execution that must fail.
  Error failure(LoadedModel& model, const ExecuteOptions& options = {}) {
    auto report = session->execute(model, options);
    REQUIRE_FALSE(report);
    return std::move(report.error());
  }

  /// Loads a sample and gives it no addresses.
  LoadedModel& unbound(std::string_view name) {
    auto model = session->load(parsed(name));
    if (!model) FAIL(to_sentence(model.error()));
    return **model;
  }

  std::shared_ptr<FakeScript> fake = std::make_shared<FakeScript>();
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::shared_ptr<SimDevice> device;
  std::unique_ptr<Session> session;
};

}  // namespace neffld::test
