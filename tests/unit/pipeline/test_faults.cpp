// SPDX-License-Identifier: MIT
// Every device call may fail: the first failure is reported, nothing leaks, the next load works.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>

#include "devices.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr int positive_residue = 64;  // a short copy of old drivers: bytes that were not moved
constexpr int answers[] = {-ENOMEM, -EINVAL, -EBUSY, -EFAULT, -EINTR, positive_residue};
// The sweep stays quick on models with thousands of calls: this many points each, prime strides
// move them between answers.
constexpr std::uint64_t points = 400;

std::string answer_text(int answer) {
  switch (answer) {
    case -ENOMEM:
      return "ENOMEM";
    case -EINVAL:
      return "EINVAL";
    case -EBUSY:
      return "EBUSY";
    case -EFAULT:
      return "EFAULT";
    case -EINTR:
      return "EINTR";
    default:
      return "positive result 64";
  }
}

void check_error(const Error& error, std::uint32_t command, int answer) {
  const std::string sentence = to_sentence(error);
  INFO(sentence);
  CHECK(sentence.find(answer_text(answer)) != std::string::npos);
  CHECK(sentence.find('\n') == std::string::npos);
  const bool out_of_memory = command == NEURON_IOCTL_MEM_ALLOC_V2MT64 && answer == -ENOMEM;
  CHECK(error.error_class == (out_of_memory ? ErrorClass::resource : ErrorClass::device));
  CHECK(error.status == (out_of_memory ? Status::resource : Status::failure));
}

std::uint64_t stride_of(std::uint64_t calls) {
  return std::max<std::uint64_t>(1, calls / points) | 1;
}

void arm(Bench& bench, std::uint64_t call, int answer) {
  bench.script->fail_at = bench.script->calls + call;
  bench.script->answer = answer;
}

void disarm(Bench& bench) {
  bench.script->fail_at = 0;
}

}  // namespace

TEST_CASE("a load reports the first failing call, leaves the device as it was, and works again") {
  for (const std::string& name : loadable_samples()) {
    Bench bench(architecture_of(name));
    const auto held = bench.held();
    const std::uint64_t before = bench.script->calls;
    LoadedModel& model = load(bench, name);
    const std::uint64_t calls = bench.script->calls - before;
    const auto expected = layout(model);
    REQUIRE(bench.session->unload(model));
    REQUIRE(bench.held() == held);

    // Parsing makes no call of the device.
    const ParsedModel source = parsed(name);
    std::size_t turn = 0;
    for (std::uint64_t call = 1; call <= calls; call += stride_of(calls)) {
      const int answer = answers[turn++ % std::size(answers)];
      INFO(name << ", call " << call << " of " << calls << " answers " << answer);
      ParsedModel again = source;
      arm(bench, call, answer);
      const auto failed = bench.session->load(std::move(again));
      disarm(bench);
      REQUIRE_FALSE(failed);
      check_error(failed.error(), bench.script->failed_command, answer);
      REQUIRE(bench.held() == held);
      REQUIRE(bench.session->models().empty());
    }
    LoadedModel& last = load(bench, name);
    CHECK(layout(last) == expected);
    CHECK(bench.session->verify(last));
  }
}

TEST_CASE("every answer at every call of a small load is a failure without a leak") {
  Bench bench;
  const auto held = bench.held();
  const std::uint64_t before = bench.script->calls;
  REQUIRE(bench.session->unload(load(bench, "empty-v3")));
  const std::uint64_t calls = bench.script->calls - before;
  std::uint64_t swallowed = 0;
  for (const int answer : answers) {
    for (std::uint64_t call = 1; call <= calls; ++call) {
      INFO("call " << call << " of " << calls << " answers " << answer);
      arm(bench, call, answer);
      const auto loaded = bench.session->load(parsed("empty-v3"));
      disarm(bench);
      if (loaded) {  // the rest of `calls` belongs to the unload
        ++swallowed;
        REQUIRE(bench.session->unload(**loaded));
      } else {
        check_error(loaded.error(), bench.script->failed_command, answer);
      }
      REQUIRE(bench.held() == held);
    }
  }
  CHECK(swallowed < std::size(answers) * calls / 2);
}

TEST_CASE("a bind that fails leaves the model loaded and unbound, and can be tried again") {
  for (const std::string& name : loadable_samples()) {
    Bench bench(architecture_of(name));
    LoadedModel& first = load(bench, name);
    const std::uint64_t before = bench.script->calls;
    const IoMap io = io_addresses(first.parsed);
    REQUIRE(bench.session->bind(first, io));
    const std::uint64_t calls = bench.script->calls - before;
    const auto expected = layout(first);
    std::vector<std::uint64_t> relocations;
    for (std::size_t form = 0; form < reloc_form_count; ++form) {
      relocations.push_back(first.ledger.count_of(0, static_cast<RelocForm>(form)));
    }
    REQUIRE(bench.session->unload(first));

    LoadedModel& model = load(bench, name);
    const auto held = bench.held();
    const auto loaded = layout(model);
    std::size_t turn = 0;
    for (std::uint64_t call = 1; call <= calls; call += stride_of(calls)) {
      const int answer = answers[turn++ % std::size(answers)];
      INFO(name << ", call " << call << " of " << calls << " answers " << answer);
      arm(bench, call, answer);
      const auto failed = bench.session->bind(model, io);
      disarm(bench);
      REQUIRE_FALSE(failed);
      check_error(failed.error(), bench.script->failed_command, answer);
      REQUIRE(bench.held() == held);
      REQUIRE(layout(model) == loaded);
      REQUIRE_FALSE(model.bound);
      const auto verified = bench.session->verify(model);
      if (!verified) FAIL_CHECK(to_sentence(verified.error()));
    }
    INFO(name);
    const auto bound = bench.session->bind(model, io);
    if (!bound) FAIL(to_sentence(bound.error()));
    CHECK(layout(model) == expected);
    CHECK(bench.session->verify(model));
    for (std::size_t form = 0; form < reloc_form_count; ++form) {
      INFO(reloc_form_name(static_cast<RelocForm>(form)));
      CHECK(model.ledger.count_of(0, static_cast<RelocForm>(form)) == relocations[form]);
    }
    REQUIRE(bench.session->unload(model));
    CHECK(bench.held().first == 0);
  }
}

TEST_CASE("an unload reports the first call that failed and frees everything else") {
  Bench probe;
  const std::uint64_t before = load(probe, "vecadd-v3").allocations.size();
  for (std::uint64_t call = 1; call <= before + 1; ++call) {
    Bench bench;
    LoadedModel& model = load(bench, "vecadd-v3");
    arm(bench, call, -EBUSY);
    const auto unloaded = bench.session->unload(model);
    disarm(bench);
    INFO("call " << call << " of " << before + 1);
    REQUIRE_FALSE(unloaded);
    const bool stops_queues = call == 1;
    const std::uint32_t command =
        stops_queues ? NEURON_IOCTL_DMA_QUEUE_INIT_BATCH : NEURON_IOCTL_MEM_FREE;
    CHECK(bench.script->failed_command == command);
    check_error(unloaded.error(), command, -EBUSY);
    CHECK(bench.session->models().empty());
    // The one that the device refused to free, and no other.
    CHECK(bench.held().first == (stops_queues ? 0 : 1));
    // It is tried again as soon as the loader has to do with the device.
    const auto again = bench.session->load(parsed("vecadd-v3"));
    REQUIRE(again);
    CHECK(bench.session->verify(**again));
    REQUIRE(bench.session->unload(**again));
    CHECK(bench.held().first == 0);
  }
}

TEST_CASE("a verify whose device call fails says so and changes nothing") {
  Bench bench;
  LoadedModel& model = load(bench, "vecadd-v3");
  const auto held = bench.held();
  for (const int answer : answers) {
    arm(bench, 3, answer);
    const auto verified = bench.session->verify(model);
    disarm(bench);
    REQUIRE_FALSE(verified);
    check_error(verified.error(), bench.script->failed_command, answer);
  }
  CHECK(bench.held() == held);
  CHECK(bench.session->verify(model));
}

TEST_CASE("a session is not opened on a device whose first calls fail") {
  for (std::uint64_t call = 1; call <= 2; ++call) {
    for (const int answer : answers) {
      auto device = SimDevice::create({});
      REQUIRE(device);
      auto file = (*device)->open();
      REQUIRE(file);
      const auto script = std::make_shared<Script>();
      script->fail_at = call;
      script->answer = answer;
      const auto session = Session::open(std::make_unique<ScriptedFile>(std::move(*file), script));
      REQUIRE_FALSE(session);
      check_error(session.error(), script->failed_command, answer);
    }
  }
}
