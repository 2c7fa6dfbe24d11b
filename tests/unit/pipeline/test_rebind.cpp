// SPDX-License-Identifier: MIT
// Binding again: the last binding is in force, the rings of earlier ones are kept by address (spec
// 04 section 8.3).
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>

#include "devices.hpp"
#include "queues.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr std::uint64_t place_a = 0x100000000, place_b = 0x200000000, place_c = 0x300000000;

void bind(Bench& bench, LoadedModel& model, std::uint64_t first) {
  const auto bound = bench.session->bind(model, io_addresses(model.parsed, first));
  if (!bound) FAIL(to_sentence(bound.error()));
}

/// How often the session has made a call so far.
std::uint64_t count(Bench& bench, std::uint32_t command) {
  const auto& calls = bench.session->calls();
  const auto found = calls.find(command);
  return found == calls.end() ? 0 : found->second;
}

struct Work {
  std::uint64_t allocations, frees, descriptor_copies, copies;
  bool operator==(const Work&) const = default;
};
Work work_of(Bench& bench) {
  return {count(bench, NEURON_IOCTL_MEM_ALLOC_V2MT64), count(bench, NEURON_IOCTL_MEM_FREE),
          count(bench, NEURON_IOCTL_DMA_COPY_DESCRIPTORS64),
          count(bench, NEURON_IOCTL_MEM_BUF_COPY64)};
}

/// What the device holds for every section that relocation gives contents to.
std::map<std::uint32_t, std::vector<std::uint8_t>> contents(Bench& bench, LoadedModel& model) {
  std::map<std::uint32_t, std::vector<std::uint8_t>> found;
  for (const AllocationInfo& info : model.allocations) {
    if (info.usage != MemUsage::rings_io && info.usage != MemUsage::rings_spill &&
        info.usage != MemUsage::runtime) {
      continue;
    }
    const auto index = static_cast<std::uint32_t>(&info - model.allocations.data());
    found[index] = peek(bench, info.handle, info.requested);
  }
  return found;
}

std::vector<std::uint64_t> counts_of(const LoadedModel& model) {
  std::vector<std::uint64_t> counts;
  for (std::uint32_t kbin = 0; kbin < model.plan.kbins.size(); ++kbin) {
    for (std::size_t form = 0; form < reloc_form_count; ++form) {
      counts.push_back(model.ledger.count_of(kbin, static_cast<RelocForm>(form)));
    }
  }
  return counts;
}

void check_verifies(Bench& bench, LoadedModel& model) {
  const auto verified = bench.session->verify(model);
  if (!verified) FAIL_CHECK(to_sentence(verified.error()));
}

std::uint64_t bound_rings(const LoadedModel& model) {
  std::uint64_t rings = 0;
  for (const KbinPlan& kbin : model.plan.kbins) {
    for (const RingPlan& ring : kbin.rings) {
      if (kbin.queue_sets[ring.queue_set].is_template && ring.tx_request) rings += 2;
    }
  }
  return rings;
}

}  // namespace

TEST_CASE("a binding that was there before is found again: nothing is allocated or copied") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    Bench bench(architecture_of(name));
    LoadedModel& model = load(bench, name);
    bind(bench, model, place_a);
    const auto at_a = layout(model);
    const auto device_at_a = contents(bench, model);
    const auto held_a = bench.held().first;
    bind(bench, model, place_b);
    CHECK(bench.held().first == held_a + bound_rings(model));
    CHECK(queues_hold(bench, model));
    check_verifies(bench, model);
    const auto held = bench.held();
    const auto counts = counts_of(model);

    const Work before = work_of(bench);
    bind(bench, model, place_a);
    const Work after = work_of(bench);
    CHECK(after.allocations == before.allocations);
    CHECK(after.frees == before.frees);
    CHECK(after.descriptor_copies == before.descriptor_copies);
    bool has_cells = false;
    for (const Request& request : model.plan.requests) {
      has_cells |= request.kind == SectionKind::pointer_cells || request.kind == SectionKind::table;
    }
    if (!has_cells) CHECK(after.copies == before.copies);
    CHECK(bench.held() == held);
    CHECK(layout(model) == at_a);
    CHECK(contents(bench, model) == device_at_a);
    CHECK(counts_of(model) == counts);
    CHECK(queues_hold(bench, model));
    check_verifies(bench, model);
    REQUIRE(bench.session->unload(model));
    CHECK(bench.held().first == 0);
  }
}

TEST_CASE("a second binding has rings of its own and the ledger of a first one") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    Bench fresh(architecture_of(name));
    LoadedModel& once = load(fresh, name);
    bind(fresh, once, place_b);
    Bench bench(architecture_of(name));
    LoadedModel& twice = load(bench, name);
    bind(bench, twice, place_a);
    const auto at_a = twice.allocations;
    bind(bench, twice, place_b);
    CHECK(counts_of(twice) == counts_of(once));
    REQUIRE(twice.allocations.size() == once.allocations.size());
    REQUIRE(twice.plan.requests.size() == once.plan.requests.size());
    CHECK(twice.addresses.sections.size() == twice.plan.requests.size());
    CHECK(twice.addresses.io == once.addresses.io);
    const std::size_t loaded = twice.allocations.size() - bound_rings(twice);
    for (std::size_t i = 0; i < twice.allocations.size(); ++i) {
      CHECK(twice.allocations[i].owner == once.allocations[i].owner);
      CHECK((twice.allocations[i].handle == at_a[i].handle) == (i < loaded));
      CHECK((twice.allocations[i].seq == at_a[i].seq) == (i < loaded));
    }
    // Only addresses of tensors differ between the rings, so these bytes are equal.
    const auto ring = [&](Bench& where, const LoadedModel& model, std::size_t i) {
      return peek(where, model.allocations[i].handle, model.allocations[i].requested);
    };
    for (std::size_t i = loaded; i < twice.allocations.size(); ++i) {
      INFO(twice.allocations[i].owner);
      CHECK(ring(bench, twice, i) == ring(fresh, once, i));
    }
  }
}

TEST_CASE("binding to the addresses in force makes no device call") {
  Bench bench;
  LoadedModel& model = load(bench, "pointers-v3");
  bind(bench, model, place_a);
  const std::uint64_t calls = bench.script->calls;
  bind(bench, model, place_a);
  CHECK(bench.script->calls == calls);
  check_verifies(bench, model);
}

TEST_CASE("one address that differs makes another binding") {
  Bench bench;
  LoadedModel& model = load(bench, "vecadd-v3");
  bind(bench, model, place_a);
  for (const char* name : {"left", "right", "sum"}) {
    const auto held = bench.held().first;
    IoMap io = io_addresses(model.parsed, place_a);
    io[name] = place_c;
    REQUIRE(bench.session->bind(model, io));
    CHECK(bench.held().first == held + bound_rings(model));
    check_verifies(bench, model);
  }
}

TEST_CASE("the least recently used rings are freed when the cache is full") {
  Bench bench;
  LoadOptions options;
  options.io_ring_sets = 2;
  LoadedModel& model = load(bench, "vecadd-v3", options);
  const auto loaded = bench.held().first;
  const auto made_by = [&](std::uint64_t place) {
    const std::uint64_t before = work_of(bench).allocations;
    bind(bench, model, place);
    check_verifies(bench, model);
    CHECK(queues_hold(bench, model));
    return work_of(bench).allocations - before;
  };
  const std::uint64_t set = made_by(place_a);
  CHECK(set == bound_rings(model));
  CHECK(made_by(place_b) == set);
  CHECK(made_by(place_a) == 0);
  CHECK(made_by(place_c) == set);  // takes the place of b
  CHECK(bench.held().first == loaded + 2 * set);
  CHECK(made_by(place_a) == 0);
  CHECK(made_by(place_b) == set);  // takes the place of c
  CHECK(made_by(place_a) == 0);
  CHECK(made_by(place_c) == set);
  CHECK(bench.held().first == loaded + 2 * set);
  REQUIRE(bench.session->unload(model));
  CHECK(bench.held().first == 0);
}

TEST_CASE("a cache of none or one keeps the binding in force only") {
  for (const std::uint32_t size : {0u, 1u}) {
    Bench bench;
    LoadOptions options;
    options.io_ring_sets = size;
    LoadedModel& model = load(bench, "vecadd-v3", options);
    const auto loaded = bench.held().first;
    for (const std::uint64_t place : {place_a, place_b, place_a, place_a}) {
      bind(bench, model, place);
      CHECK(bench.held().first == loaded + bound_rings(model));
      CHECK(queues_hold(bench, model));
      check_verifies(bench, model);
    }
  }
}

TEST_CASE("without an option sixteen bindings are kept") {
  Bench bench;
  LoadedModel& model = load(bench, "vecadd-v3");
  const auto loaded = bench.held().first;
  for (std::uint64_t i = 0; i < 20; ++i) {
    bind(bench, model, place_a + i * 0x10000000);
    CHECK(bench.held().first == loaded + std::min<std::uint64_t>(i + 1, 16) * bound_rings(model));
  }
}

TEST_CASE("an address on rings that are kept is refused") {
  Bench bench;
  LoadedModel& model = load(bench, "vecadd-v3");
  bind(bench, model, place_a);
  const std::vector<AllocationInfo> kept(
      model.allocations.end() - static_cast<std::ptrdiff_t>(bound_rings(model)),
      model.allocations.end());
  bind(bench, model, place_b);
  bool kept_named = false;
  for (const AllocationInfo& ring : kept) {
    IoMap io = io_addresses(model.parsed, place_c);
    io["left"] = ring.pa;
    const auto refused = bench.session->bind(model, io);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().error_class == ErrorClass::usage);
    for (const AllocationInfo& info : kept) {
      const std::string named = fmt::format("\"{}\" at 0x{:x}", info.owner, info.pa);
      kept_named |= refused.error().text.find(named) != std::string::npos;
    }
  }
  CHECK(kept_named);
  CHECK(model.addresses.io == io_addresses(model.parsed, place_b));
  check_verifies(bench, model);
}

TEST_CASE("a bind without memory counts the kept rings as the model's and changes nothing") {
  Bench bench(3, 64 << 20);
  LoadOptions options;
  options.hbm_bytes = 64 << 20;
  options.io_ring_sets = 10000;
  LoadedModel& model = load(bench, "vecadd-v3", options);
  Result<void> bound;
  std::pair<std::uint64_t, std::uint64_t> held;
  std::uint64_t sets = 0;
  for (; bound && sets < options.io_ring_sets; ++sets) {
    held = bench.held();
    bound = bench.session->bind(model, io_addresses(model.parsed, place_a + sets * 0x100000));
  }
  REQUIRE_FALSE(bound);
  --sets;  // the last one has failed
  CHECK(sets > 100);
  CHECK(bound.error().error_class == ErrorClass::resource);
  CHECK(bench.held() == held);
  check_verifies(bench, model);
  CHECK(queues_hold(bench, model));
  std::uint64_t io_bytes = 0;
  for (const AllocationInfo& info : model.allocations) {
    if (info.usage == MemUsage::rings_io) io_bytes += info.size;
  }
  const std::string& report = bench.session->memory_report();
  INFO(report);
  const auto mib = static_cast<double>(sets * io_bytes) / (1 << 20);
  CHECK(report.find(fmt::format(" {:.3f}MB ", mib)) != std::string::npos);
}

TEST_CASE("a bind that fails in the middle leaves the binding before in force") {
  constexpr int answers[] = {-ENOMEM, -EINVAL, -EBUSY, -EFAULT, -EINTR, 64};
  constexpr std::uint64_t points = 200;
  for (const std::string& name : loadable_samples()) {
    for (const std::uint32_t capacity : {default_io_ring_sets, 1u}) {
      LoadOptions options;
      options.io_ring_sets = capacity;
      Bench bench(architecture_of(name));
      std::uint64_t calls = 0;
      {
        LoadedModel& probe = load(bench, name, options);
        bind(bench, probe, place_a);
        const std::uint64_t before = bench.script->calls;
        bind(bench, probe, place_b);
        calls = bench.script->calls - before;
        REQUIRE(bench.session->unload(probe));
      }
      LoadedModel& model = load(bench, name, options);
      bind(bench, model, place_a);
      const auto held = bench.held();
      auto at_a = layout(model);
      const auto counts = counts_of(model);
      const bool owner = model.queues_initialised;
      const auto device_at_a = contents(bench, model);
      const std::uint64_t stride = std::max<std::uint64_t>(1, calls / points) | 1;
      std::size_t turn = 0;
      for (std::uint64_t call = 1; call <= calls; call += stride) {
        INFO(name << ", cache " << capacity << ", call " << call << " of " << calls);
        bench.script->fail_at = bench.script->calls + call;
        bench.script->answer = answers[turn++ % std::size(answers)];
        bench.script->half_copy = turn % 2 == 0;
        const auto bound = bench.session->bind(model, io_addresses(model.parsed, place_b));
        bench.script->fail_at = 0;
        if (bound) {  // the call that failed was to free what fell out of the cache
          REQUIRE(capacity == 1);
          REQUIRE(bench.script->failed_command == NEURON_IOCTL_MEM_FREE);
          CHECK(model.addresses.io == io_addresses(model.parsed, place_b));
          CHECK(bench.held().first > held.first);
          check_verifies(bench, model);
          bind(bench, model, place_a);
          at_a = layout(model);
        } else {
          CHECK(model.bound);
          CHECK(layout(model) == at_a);
        }
        REQUIRE(bench.held().first == held.first);
        CHECK(model.addresses.io == io_addresses(model.parsed, place_a));
        CHECK(model.queues_initialised == owner);
        CHECK(counts_of(model) == counts);
        REQUIRE(queues_hold(bench, model));
        if (!bound) REQUIRE(contents(bench, model) == device_at_a);
        check_verifies(bench, model);
      }
      bind(bench, model, place_b);
      check_verifies(bench, model);
      REQUIRE(bench.session->unload(model));
      CHECK(bench.held().first == 0);
    }
  }
}

TEST_CASE("memory that the device did not free at once is freed by the unload") {
  Bench bench;
  LoadOptions options;
  options.io_ring_sets = 1;
  LoadedModel& model = load(bench, "vecadd-v3", options);
  bind(bench, model, place_a);
  bench.script->answer = -EBUSY;
  bench.script->refused = NEURON_IOCTL_MEM_FREE;
  const auto held = bench.held().first;
  bench.script->fail_at = bench.script->calls;
  bind(bench, model, place_b);
  bind(bench, model, place_c);
  CHECK(bench.held().first == held + 2 * bound_rings(model));
  bench.script->fail_at = 0;
  REQUIRE(bench.session->unload(model));
  CHECK(bench.held().first == 0);
}

TEST_CASE("queues that could not be put back are programmed by the next bind") {
  Bench bench;
  LoadedModel& model = load(bench, "many-queues-v3");
  bind(bench, model, place_a);
  bench.script->answer = -EINVAL;
  bench.script->refused = NEURON_IOCTL_DMA_QUEUE_INIT_BATCH;
  bench.script->fail_at = bench.script->calls;
  const auto held = bench.held();
  const auto failed = bench.session->bind(model, io_addresses(model.parsed, place_b));
  bench.script->fail_at = 0;
  REQUIRE_FALSE(failed);
  CHECK(failed.error().text.find("could not be put back") != std::string::npos);
  CHECK_FALSE(model.queues_initialised);
  CHECK(bench.held() == held);
  bind(bench, model, place_a);
  CHECK(model.queues_initialised);
  CHECK(queues_hold(bench, model));
  check_verifies(bench, model);
}

TEST_CASE("two models keep their bindings apart") {
  Bench bench;
  LoadedModel& first = load(bench, "vecadd-v3");
  LoadedModel& second = load(bench, "many-queues-v3");
  REQUIRE_FALSE(second.queues_initialised);
  bind(bench, first, place_a);
  bind(bench, second, place_a);  // the same addresses, other rings
  CHECK(bound_rings(first) != 0);
  const auto at_a = layout(second);
  bind(bench, first, place_b);
  bind(bench, second, place_b);
  CHECK(queues_hold(bench, first));
  CHECK_FALSE(second.queues_initialised);
  check_verifies(bench, first);
  const Work before = work_of(bench);
  bind(bench, second, place_a);
  CHECK(work_of(bench).allocations == before.allocations);
  CHECK(layout(second) == at_a);
  check_verifies(bench, second);
  CHECK(queues_hold(bench, first));
  REQUIRE(bench.session->unload(first));
  // The core is nobody's now: the binding in force may take it.
  bind(bench, second, place_a);
  CHECK(second.queues_initialised);
  CHECK(queues_hold(bench, second));
  bind(bench, second, place_b);
  CHECK(queues_hold(bench, second));
  check_verifies(bench, second);
  REQUIRE(bench.session->unload(second));
  CHECK(bench.held().first == 0);
}
