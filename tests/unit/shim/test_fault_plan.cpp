// SPDX-License-Identifier: MIT
// The tests' own tool: faults happen where the plan says, and nowhere else.
#include <catch2/catch.hpp>
#include <cerrno>

#include "fault_plan.hpp"
#include "neuron_abi/ioctl.h"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

std::shared_ptr<FaultLog> log_of(std::vector<Fault> plan, bool loads) {
  auto log = std::make_shared<FaultLog>();
  const auto result = try_load(plan_faults(fresh_device(), std::move(plan), log), "vecadd-v3");
  INFO((result ? std::string("loaded") : to_sentence(result.error())));
  CHECK(result.has_value() == loads);
  return log;
}

}  // namespace

TEST_CASE("an empty plan changes nothing") {
  const auto log = log_of({}, true);
  CHECK(log->struck.empty());
  CHECK(log->calls > 20);
  CHECK(log->allocated > 0);
}

TEST_CASE("the nth call, or the nth of a command, fails as planned") {
  const auto any = log_of({{Fault::Kind::answer, 3, std::nullopt, -EIO}}, false);
  CHECK(any->struck == std::vector<std::uint32_t>{NEURON_IOCTL_MEM_ALLOC_V2MT64});
  const auto residue = log_of({{Fault::Kind::after, 2, NEURON_IOCTL_MEM_BUF_COPY64, 40}}, false);
  CHECK(residue->struck == std::vector<std::uint32_t>{NEURON_IOCTL_MEM_BUF_COPY64});
  const auto half = log_of({{Fault::Kind::short_copy, 1, std::nullopt, 0}}, false);
  CHECK(half->struck == std::vector<std::uint32_t>{NEURON_IOCTL_MEM_BUF_COPY64});
  const auto never = log_of({{Fault::Kind::answer, 100000, std::nullopt, -EIO}}, true);
  CHECK(never->struck.empty());
}

TEST_CASE("memory runs out at the planned byte and not before") {
  const std::uint64_t needed = log_of({}, true)->allocated;
  log_of({{Fault::Kind::out_of_memory, needed, std::nullopt, 0}}, true);
  const auto log = log_of({{Fault::Kind::out_of_memory, needed - 1, std::nullopt, 0}}, false);
  CHECK(log->struck == std::vector<std::uint32_t>{NEURON_IOCTL_MEM_ALLOC_V2MT64});
}
