// SPDX-License-Identifier: MIT
// Semaphores and events (spec 06 section 4.8).
#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

std::uint32_t semaphore_value(const Trial& t, std::uint32_t nc, std::uint32_t index) {
  std::uint32_t value = 0xAAAAAAAA;
  t.result(fmt::format("SEMAPHORE_READ of core {}, index {}", nc, index),
           t.client().semaphore(NEURON_IOCTL_SEMAPHORE_READ, nc, index, value), 0);
  return value;
}

void change(const Trial& t, std::uint32_t command, std::uint32_t nc, std::uint32_t index,
            std::uint32_t value) {
  t.result(fmt::format("semaphore command {:#x} of core {}, index {}", command, nc, index),
           t.client().semaphore(command, nc, index, value), 0);
}

void arithmetic(Trial& t) {
  change(t, NEURON_IOCTL_SEMAPHORE_WRITE, 0, 100, 10);
  change(t, NEURON_IOCTL_SEMAPHORE_INCREMENT, 0, 100, 5);
  t.equal("10 plus 5", "semaphore", semaphore_value(t, 0, 100), 15);
  change(t, NEURON_IOCTL_SEMAPHORE_DECREMENT, 0, 100, 7);
  t.equal("15 minus 7", "semaphore", semaphore_value(t, 0, 100), 8);
}

void every_core_and_index(Trial& t) {
  const std::uint32_t last = t.facts().cores() - 1;
  change(t, NEURON_IOCTL_SEMAPHORE_WRITE, 0, 255, 1);
  change(t, NEURON_IOCTL_SEMAPHORE_WRITE, last, 255, 2);
  change(t, NEURON_IOCTL_SEMAPHORE_WRITE, last, 0, 3);
  t.equal("core 0", "semaphore 255", semaphore_value(t, 0, 255), 1);
  t.equal("the last core", "semaphore 255", semaphore_value(t, last, 255), 2);
  t.equal("the last core", "semaphore 0", semaphore_value(t, last, 0), 3);
}

void index_is_16_bits(Trial& t) {
  change(t, NEURON_IOCTL_SEMAPHORE_WRITE, 0, 100, 42);
  t.equal("SEMAPHORE_READ of index 65636", "semaphore", semaphore_value(t, 0, 65636), 42);
}

void semaphore_limits(Trial& t) {
  std::uint32_t value = 0;
  const std::uint32_t cores = t.facts().cores();
  for (const std::uint32_t command :
       {NEURON_IOCTL_SEMAPHORE_READ, NEURON_IOCTL_SEMAPHORE_WRITE, NEURON_IOCTL_SEMAPHORE_INCREMENT,
        NEURON_IOCTL_SEMAPHORE_DECREMENT}) {
    t.result(fmt::format("semaphore command {:#x} of index 256", command),
             t.client().semaphore(command, 0, 256, value), -EINVAL);
    t.result(fmt::format("semaphore command {:#x} of a core that is not there", command),
             t.client().semaphore(command, cores, 0, value), -E2BIG);
    t.result(fmt::format("semaphore command {:#x} of core 2^32 - 1", command),
             t.client().semaphore(command, 0xFFFFFFFF, 0, value), -E2BIG);
  }
}

void core_before_index(Trial& t) {
  std::uint32_t value = 0;
  t.result("SEMAPHORE_READ with core and index wrong",
           t.client().semaphore(NEURON_IOCTL_SEMAPHORE_READ, t.facts().cores(), 256, value),
           -E2BIG);
}

void semaphore_faults(Trial& t) {
  t.residue("SEMAPHORE_READ at a bad pointer",
            t.client().at(NEURON_IOCTL_SEMAPHORE_READ, bad_pointer), 12);
}

void events(Trial& t) {
  std::uint32_t value = 1;
  t.result("EVENT_SET", t.client().event(NEURON_IOCTL_EVENT_SET, 0, 9, value), 0);
  value = 77;
  t.result("EVENT_GET", t.client().event(NEURON_IOCTL_EVENT_GET, 0, 9, value), 0);
  t.equal("EVENT_GET after EVENT_SET 1", "event", value, 1);
  value = 0;
  t.result("EVENT_SET", t.client().event(NEURON_IOCTL_EVENT_SET, 0, 9, value), 0);
  value = 77;
  t.result("EVENT_GET", t.client().event(NEURON_IOCTL_EVENT_GET, 0, 9, value), 0);
  t.equal("EVENT_GET after EVENT_SET 0", "event", value, 0);
}

void event_limits(Trial& t) {
  std::uint32_t value = 0;
  t.result("EVENT_GET 255", t.client().event(NEURON_IOCTL_EVENT_GET, 0, 255, value), 0);
  t.result("EVENT_GET 256", t.client().event(NEURON_IOCTL_EVENT_GET, 0, 256, value), 0);
  t.result("EVENT_GET 257", t.client().event(NEURON_IOCTL_EVENT_GET, 0, 257, value), -EINVAL);
}

void event_core_out_of_range(Trial& t) {
  std::uint32_t value = 0;
  for (const std::uint32_t core : {200u, 255u, 0xFFFFFFFFu}) {
    t.result(fmt::format("EVENT_GET of core {}", core),
             t.client().event(NEURON_IOCTL_EVENT_GET, core, 0, value), -EINVAL);
  }
}

void event_index_is_16_bits(Trial& t) {
  std::uint32_t value = 1;
  t.result("EVENT_SET", t.client().event(NEURON_IOCTL_EVENT_SET, 0, 9, value), 0);
  value = 77;
  t.result("EVENT_GET 65545", t.client().event(NEURON_IOCTL_EVENT_GET, 0, 65545, value), 0);
  t.equal("EVENT_GET 65545", "event", value, 1);
}

void window(Trial& t) {
  neuron_resource_mmap_info info{NEURON_MMAP_BLOCK_TPB, 0, NEURON_MMAP_SEMAPHORE, 0, 0};
  t.result("RESOURCE_MMAP_INFO", t.client().call(NEURON_IOCTL_RESOURCE_MMAP_INFO, info), 0);
  t.equal("RESOURCE_MMAP_INFO", "size", info.size, NEURON_EVENT_UNIT_SIZE);
  const auto view = t.client().file().mmap(info.offset, info.size, false);
  t.holds("mmap of the semaphore window", view.has_value(), "a refusal", "a mapping");
  change(t, NEURON_IOCTL_SEMAPHORE_WRITE, 0, 100, 1234);
  const auto* words = static_cast<const volatile std::uint32_t*>(*view);
  const std::uint32_t seen = words[(NEURON_EVENT_UNIT_SEM_READ / 4) + 100];
  t.client().file().munmap(*view, info.size);
  t.equal("the semaphore window", "word of semaphore 100", seen, 1234);
}

}  // namespace

void add_sync(Rows& rows) {
  const auto intrusive = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) {
    add(rows, name, run, spec).safety = Safety::intrusive;
  };
  intrusive("sync.semaphore-arithmetic", arithmetic, "06 4.8");
  intrusive("sync.semaphores-of-all-cores", every_core_and_index, "06 4.8");
  intrusive("sync.semaphore-index-is-16-bits", index_is_16_bits, "06 4.8, 11 B.3");
  add(rows, "sync.semaphore-limits", semaphore_limits, "06 4.8, 11 B.3");
  add(rows, "sync.core-is-checked-before-index", core_before_index, "06 4.8");
  add(rows, "sync.semaphore-fault", semaphore_faults, "06 2");
  intrusive("sync.events", events, "06 4.8");
  add(rows, "sync.event-256-is-accepted", event_limits, "06 4.8, 11 B.3");
  intrusive("sync.event-index-is-16-bits", event_index_is_16_bits, "11 B.3");
  add(rows, "sync.event-core-out-of-range", event_core_out_of_range, "11 B.4").safety =
      Safety::simulated;
  intrusive("sync.semaphore-window", window, "06 6, 11 B.3");
}

}  // namespace neffld::cts
