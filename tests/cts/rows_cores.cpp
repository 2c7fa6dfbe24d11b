// SPDX-License-Identifier: MIT
// Core states and resets (spec 06 section 4.4).
#include <unistd.h>

#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

void state(const Trial& t, std::uint32_t nc, std::uint32_t asked, std::uint32_t expected) {
  std::uint32_t now = 77;
  t.result(fmt::format("CINIT_SET_STATE {} of core {}", asked, nc),
           t.client().core_init(nc, asked, now), 0);
  t.equal(fmt::format("CINIT_SET_STATE {} of core {}", asked, nc), "new state", now, expected);
}

void reset(const Trial& t, std::uint32_t map) {
  neuron_nc_reset request{map, 0};
  t.result(fmt::format("NC_RESET of map {:#x}", map),
           t.client().call(NEURON_IOCTL_NC_RESET, request), 0);
  neuron_nc_reset_ready ready{request.request_id, 77};
  t.result("NC_RESET_READY", t.client().call(NEURON_IOCTL_NC_RESET_READY, ready), 0);
  t.equal("NC_RESET_READY", "result", ready.result, 0);
}

void life_of_a_core(Trial& t) {
  reset(t, 1);
  state(t, 0, NEURON_CINIT_STARTED, NEURON_CINIT_STARTED);
  state(t, 0, 9, NEURON_CINIT_STARTED);
  state(t, 0, NEURON_CINIT_COMPLETED, NEURON_CINIT_COMPLETED);
  state(t, 0, NEURON_CINIT_STARTED, NEURON_CINIT_COMPLETED);
  state(t, 0, NEURON_CINIT_INVALID, NEURON_CINIT_COMPLETED);
}

void completed_needs_started(Trial& t) {
  reset(t, 2);
  state(t, 1, NEURON_CINIT_COMPLETED, NEURON_CINIT_INVALID);
  state(t, 1, 0, NEURON_CINIT_INVALID);
}

void core_limits(Trial& t) {
  std::uint32_t now = 77;
  const std::uint32_t cores = t.facts().cores();
  t.result("CINIT_SET_STATE of a core that is not there", t.client().core_init(cores, 9, now),
           -E2BIG);
  t.equal("CINIT_SET_STATE of a core that is not there", "new state", now, 77);
  neuron_nc_model_started_count count{cores, 0};
  t.result("NC_MODEL_STARTED_COUNT of a core that is not there",
           t.client().call(NEURON_IOCTL_NC_MODEL_STARTED_COUNT, count), -E2BIG);
}

void started_count(Trial& t) {
  reset(t, 1);
  neuron_nc_model_started_count count{0, 77};
  t.result("NC_MODEL_STARTED_COUNT", t.client().call(NEURON_IOCTL_NC_MODEL_STARTED_COUNT, count),
           0);
  t.equal("NC_MODEL_STARTED_COUNT after a reset", "count", count.started_count, 0);
}

void request_id(Trial& t) {
  neuron_nc_reset request{1, 12345};
  t.result("NC_RESET", t.client().call(NEURON_IOCTL_NC_RESET, request), 0);
  neuron_nc_reset_ready ready{request.request_id, 77};
  t.equal("NC_RESET", "request id", request.request_id, static_cast<std::uint32_t>(getpid()));
  t.result("NC_RESET_READY", t.client().call(NEURON_IOCTL_NC_RESET_READY, ready), 0);
}

void second_request(Trial& t) {
  neuron_nc_reset request{1, 0};
  t.result("NC_RESET", t.client().call(NEURON_IOCTL_NC_RESET, request), 0);
  neuron_nc_reset again{2, 0};
  const int result = t.client().call(NEURON_IOCTL_NC_RESET, again);
  neuron_nc_reset_ready ready{request.request_id, 77};
  t.result("NC_RESET_READY", t.client().call(NEURON_IOCTL_NC_RESET_READY, ready), 0);
  t.residue("NC_RESET while one is pending", result, 1, -EBUSY);
}

void ready_consumes(Trial& t) {
  reset(t, 1);
  neuron_nc_reset_ready ready{static_cast<std::uint32_t>(getpid()), 77};
  t.result("NC_RESET_READY a second time", t.client().call(NEURON_IOCTL_NC_RESET_READY, ready), 0);
  t.equal("NC_RESET_READY a second time", "result", ready.result, 1);
}

void ready_unknown(Trial& t) {
  neuron_nc_reset_ready ready{0x7FFFFFF0, 77};
  t.result("NC_RESET_READY of an unknown request",
           t.client().call(NEURON_IOCTL_NC_RESET_READY, ready), 0);
  t.equal("NC_RESET_READY of an unknown request", "result", ready.result, 1);
}

void odd_maps(Trial& t) {
  reset(t, 0);
  reset(t, 0x100);
  reset(t, NEURON_NC_RESET_WHOLE_DEVICE);
}

void reset_keeps_memory(Trial& t) {
  const std::uint64_t handle = t.chunk({1 << 20});
  const Bytes bytes = pattern(70000, 13);
  t.write(handle, bytes);
  reset(t, NEURON_NC_RESET_WHOLE_DEVICE);
  t.same_bytes("NC_RESET of all cores, then a read", t.read(handle, bytes.size()), bytes);
}

void reset_of_another_core(Trial& t) {
  reset(t, 3);
  state(t, 0, NEURON_CINIT_STARTED, NEURON_CINIT_STARTED);
  reset(t, 2);
  state(t, 0, 0, NEURON_CINIT_STARTED);
}

void old_device_reset(Trial& t) {
  t.result("DEVICE_RESET", t.client().at(NEURON_IOCTL_DEVICE_RESET, 0), 0);
  std::uint8_t ready = 9;
  t.result("DEVICE_READY", t.client().call(NEURON_IOCTL_DEVICE_READY, ready), 0);
  t.equal("DEVICE_READY", "result", ready, 1);
}

}  // namespace

void add_cores(Rows& rows) {
  const auto intrusive = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) {
    add(rows, name, run, spec).safety = Safety::intrusive;
  };
  intrusive("cores.init-states", life_of_a_core, "06 4.4, 11 B.2.14");
  intrusive("cores.completed-needs-started", completed_needs_started, "11 B.2.14");
  add(rows, "cores.limits", core_limits, "06 4.4");
  intrusive("cores.reset-clears-started-count", started_count, "06 4.4");
  intrusive("cores.reset-request-is-the-process", request_id, "06 4.4");
  intrusive("cores.second-reset-while-pending", second_request, "06 4.4, 11 B.3");
  intrusive("cores.ready-consumes-the-request", ready_consumes, "06 4.4, 11 B.3");
  add(rows, "cores.ready-of-unknown-request", ready_unknown, "06 4.4");
  intrusive("cores.reset-of-odd-maps", odd_maps, "11 A.3");
  intrusive("cores.reset-keeps-memory", reset_keeps_memory, "06 4.4, 11 B.3");
  intrusive("cores.reset-of-another-core", reset_of_another_core, "06 4.4");
  intrusive("cores.device-reset", old_device_reset, "06 4.4");
}

}  // namespace neffld::cts
