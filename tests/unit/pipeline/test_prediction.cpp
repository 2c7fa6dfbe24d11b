// SPDX-License-Identifier: MIT
// What a plan says about memory is what the load then takes: addresses, sizes, counters (spec 03
// section 9).
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "devices.hpp"
#include "neffld/memory.hpp"
#include "neffld/sim_control.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

/// A model's bytes by the driver's counter names, on one core.
using Counters = std::map<std::string, std::uint64_t>;

const char* counter_name(MemCategory category) {
  switch (category) {
    case MemCategory::code:
      return "model_code";
    case MemCategory::constants:
      return "constants";
    case MemCategory::scratchpad:
    case MemCategory::contiguous_scratchpad:
      return "model_shared_scratchpad";
    case MemCategory::misc:
      return "runtime_memory";
    case MemCategory::scratchpad_not_shared:
      return "nonshared_scratchpad";
    case MemCategory::dma_rings:
      return "dma_rings";
  }
  return "unknown";
}

constexpr std::array all_counters = {"uncategorized",
                                     "model_code",
                                     "tensors",
                                     "constants",
                                     "model_shared_scratchpad",
                                     "runtime_memory",
                                     "nonshared_scratchpad",
                                     "notifications",
                                     "dma_rings",
                                     "collectives"};

Counters device_counters(const Bench& bench, std::uint32_t core) {
  Counters counters;
  for (const char* name : all_counters) {
    const auto text =
        sim_fact(*bench.device,
                 fmt::format("neuron_core{}/stats/memory_usage/device_mem/{}/present", core, name));
    REQUIRE(text);
    if (const std::uint64_t bytes = std::stoull(*text)) counters[name] = bytes;
  }
  return counters;
}

Counters planned_counters(const CoreUsage& usage) {
  Counters counters;
  for (std::size_t i = 0; i < usage.size(); ++i) {
    const auto category = mem_category(static_cast<MemUsage>(i));
    if (usage[i].given) counters[counter_name(category)] += usage[i].given;
  }
  return counters;
}

void check_counters(const Bench& bench, const Plan& plan) {
  const auto cores = account(plan.requests);
  for (const auto& [core, usage] : cores) {
    CHECK(device_counters(bench, core) == planned_counters(usage));
  }
}

/// The forecast of a load and a bind on a fresh device.
struct Prediction {
  Plan plan;
  std::vector<Region> regions;
};

Prediction predict(const ParsedModel& model, const ScratchpadOptions& scratchpad) {
  PlanOptions options;
  options.scratchpad = scratchpad;
  auto plan = plan_model(model.kbins, options);
  REQUIRE(plan);
  REQUIRE(plan_bound_rings(model.kbins, *plan));
  auto map = MemoryMap::fresh(plan->arch);
  REQUIRE(map);
  MemoryForecast forecasted = forecast(*map, *plan);
  REQUIRE_FALSE(forecasted.miss);
  return {std::move(*plan), std::move(forecasted.regions)};
}

void check_allocations(const LoadedModel& model, const Prediction& prediction) {
  REQUIRE(model.allocations.size() <= prediction.regions.size());
  for (std::size_t i = 0; i < model.allocations.size(); ++i) {
    INFO(model.allocations[i].owner);
    REQUIRE(model.allocations[i].owner == prediction.plan.requests[i].owner);
    REQUIRE(model.allocations[i].pa == prediction.regions[i].pa);
    REQUIRE(model.allocations[i].size == prediction.regions[i].size);
  }
}

/// Loads and binds a file as planned, and compares after each step.
void check_file(Bytes file, std::uint32_t architecture, const ScratchpadOptions& scratchpad) {
  auto model = parse_model(file, Arch::any);
  if (!model) FAIL(to_sentence(model.error()));
  Bench bench(architecture);
  const std::uint64_t calls = bench.script->calls;
  const Prediction prediction = predict(*model, scratchpad);
  CHECK(bench.script->calls == calls);
  LoadOptions options;
  options.scratchpad = scratchpad;
  const auto loaded = bench.session->load(std::move(*model), options);
  if (!loaded) FAIL(to_sentence(loaded.error()));
  CHECK((*loaded)->plan.scratchpad.contiguous == scratchpad.contiguous);
  check_allocations(**loaded, prediction);
  check_counters(bench, (*loaded)->plan);
  const auto verified = bench.session->verify(**loaded);
  if (!verified) FAIL(to_sentence(verified.error()));
  // Bindings lie where nothing of the loader is: above the scratchpad, below the small pool.
  REQUIRE(bench.session->bind(**loaded, io_addresses((*loaded)->parsed, 0x2'0000'0000)));
  CHECK((*loaded)->allocations.size() == prediction.regions.size());
  check_allocations(**loaded, prediction);
  check_counters(bench, (*loaded)->plan);
  std::uint64_t bytes = 0;
  for (const Region& region : prediction.regions) bytes += region.size;
  CHECK(bench.held() == std::pair{std::uint64_t{prediction.regions.size()}, bytes});
  REQUIRE(bench.session->unload(**loaded));
  CHECK(bench.held().first == 0);
  for (std::uint32_t core = 0; core < 2; ++core) CHECK(device_counters(bench, core).empty());
}

std::vector<ScratchpadOptions> modes() {
  ScratchpadOptions contiguous, single;
  contiguous.contiguous = true;
  single.single_core = true;
  return {{}, contiguous, single};
}

}  // namespace

TEST_CASE("the plan of every sample is what its load takes, in every scratchpad mode") {
  for (const std::string& name : loadable_samples()) {
    for (const ScratchpadOptions& mode : modes()) {
      INFO(name << (mode.contiguous ? " contiguous" : mode.single_core ? " single core" : ""));
      check_file(sample_bytes(name), architecture_of(name), mode);
    }
  }
}

TEST_CASE("the plan of every real file is what its load takes, in both scratchpad modes") {
  const char* folder = std::getenv("NEFFLD_NEFFS");
  if (folder == nullptr) {
    WARN("skipped: NEFFLD_NEFFS does not name a folder of NEFF files");
    return;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".neff") continue;
    const std::string name = entry.path().filename();
    INFO(name);
    const auto file = read_file(entry.path().string());
    REQUIRE(file);
    const std::uint32_t architecture = name.find("-v2-") != std::string::npos ? 2 : 3;
    for (std::size_t mode = 0; mode < 2; ++mode) check_file(*file, architecture, modes()[mode]);
  }
}

TEST_CASE(
    "files planned one after the other are predicted like models loaded one after the other") {
  for (const ScratchpadOptions& mode : modes()) {
    Bench bench;
    auto map = MemoryMap::fresh(Arch::v3);
    REQUIRE(map);
    std::vector<CoreState> cores;
    for (const char* name : {"vecadd-v3", "scratchpad-lnc2-v3", "dge-v3", "oversized-v3"}) {
      INFO(name);
      PlanOptions options;
      options.scratchpad = mode;
      options.cores = cores;
      const ParsedModel model = parsed(name);
      const auto plan = plan_model(model.kbins, options);
      REQUIRE(plan);
      const MemoryForecast forecasted = forecast(*map, *plan);
      REQUIRE_FALSE(forecasted.miss);
      advance(cores, *plan);
      LoadOptions load_options;
      load_options.scratchpad = mode;
      const LoadedModel& loaded = load(bench, name, load_options);
      REQUIRE(loaded.allocations.size() == forecasted.regions.size());
      for (std::size_t i = 0; i < loaded.allocations.size(); ++i) {
        REQUIRE(loaded.allocations[i].pa == forecasted.regions[i].pa);
      }
    }
  }
}

TEST_CASE(
    "with the bytes a plan misses the load succeeds, with a page less it fails as predicted") {
  for (const char* name : {"vecadd-v3", "scratchpad-lnc2-v3", "dge-v3", "placement-v2"}) {
    for (const bool contiguous : {false, true}) {
      INFO(name << (contiguous ? " contiguous" : ""));
      const std::uint32_t architecture = architecture_of(name);
      PlanOptions options;
      options.scratchpad.contiguous = contiguous;
      LoadOptions load_options;
      load_options.scratchpad.contiguous = contiguous;
      const ParsedModel model = parsed(name);
      const auto plan = plan_model(model.kbins, options);
      REQUIRE(plan);
      constexpr std::uint64_t tiny = (16 << 20) + 4096;
      auto map = MemoryMap::fresh(plan->arch, std::vector{tiny});
      const MemoryForecast missed = forecast(*map, *plan);
      REQUIRE(missed.miss);
      const std::uint64_t need = tiny + missed.miss->short_by.value();
      Bench enough(architecture, need);
      CHECK(enough.session->load(parsed(name), load_options));
      Bench less(architecture, need - 4096);
      load_options.hbm_bytes = need - 4096;
      const auto failed = less.session->load(parsed(name), load_options);
      REQUIRE_FALSE(failed);
      CHECK(failed.error().status == Status::resource);
      CHECK(failed.error().error_class == ErrorClass::resource);
      CHECK_THAT(failed.error().text, Catch::Contains("the load misses by 4096 bytes"));
      CHECK(less.held().first == 0);
    }
  }
}

TEST_CASE("the out-of-memory report says what was asked for, what is free and who has the rest") {
  constexpr std::uint64_t mib = 1 << 20;
  Bench bench(3, 700 * mib);
  const LoadedModel& resident = load(bench, "dge-v3");
  const auto held = bench.held();
  const auto failed = bench.session->load(parsed("oversized-v3"), {.hbm_bytes = 700 * mib});
  REQUIRE_FALSE(failed);
  CHECK(bench.held() == held);
  CHECK(bench.session->verify(*bench.session->models()[0]));
  const Error& error = failed.error();
  CHECK(error.where.path == "scratchpad page 1");
  CHECK_THAT(error.text, Catch::Contains("Failed to allocate 512.000MB (alignment: 4.000MB, usage: "
                                         "shared scratchpad) on ND 0:NC 0"));
  CHECK_THAT(error.text, Catch::Contains("HBM 0 has"));
  CHECK_THAT(error.text, Catch::Contains("of 734003200 bytes free, the largest free block is"));
  CHECK_THAT(error.text, Catch::Contains("the load misses by"));
  for (const char* line :
       {"Failed to allocate virtual scratchpad!\n",
        "LNC size is 2. Neuron Cores using this HBM: NC 0 and NC 1\n",
        "Failed to allocate 512.000MB", "Aligned allocations may fail even if HBM has space",
        "Displaying Current Memory Utilization:\n", "(driver and others)", "16.000MB",
        "NEFF id to name mapping:\n", "(loading): oversized-v3"}) {
    CHECK_THAT(bench.session->memory_report(), Catch::Contains(line));
  }
  CHECK_THAT(bench.session->memory_report(),
             Catch::Contains(fmt::format("  {}: dge-v3", resident.h_model)));
}

TEST_CASE("a paged load that does not fit is told that contiguous pages would") {
  constexpr std::uint64_t mib = 1 << 20;
  Bench bench(3, 400 * mib);
  const auto failed = bench.session->load(parsed("dge-v3"), {.hbm_bytes = 400 * mib});
  REQUIRE_FALSE(failed);
  CHECK_THAT(
      failed.error().text,
      Catch::Contains("it would fit with a contiguous scratchpad (--contiguous-scratchpad)"));
  LoadOptions contiguous;
  contiguous.scratchpad.contiguous = true;
  CHECK(bench.session->load(parsed("dge-v3"), contiguous));
}

TEST_CASE(
    "a contiguous scratchpad that something is in the way of fails with the block that is left") {
  constexpr std::uint64_t mib = 1 << 20;
  Bench bench(3, 400 * mib);
  // Another file of the device takes all but a little of the memory, from the bottom.
  neuron_mem_alloc_v2mt64 alloc{};
  std::uint64_t handle = 0;
  alloc.size = 340 * mib;
  alloc.mem_type = NEURON_MEM_TENSORS_DEVICE;
  alloc.mem_handle_ptr = reinterpret_cast<std::uintptr_t>(&handle);
  REQUIRE(bench.peer->ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &alloc) == 0);
  LoadOptions contiguous;
  contiguous.scratchpad.contiguous = true;
  contiguous.hbm_bytes = 400 * mib;
  const auto failed = bench.session->load(parsed("dge-v3"), contiguous);
  REQUIRE_FALSE(failed);
  CHECK_THAT(bench.session->memory_report(),
             Catch::Contains("Could not grow contiguous scratchpad beyond 0 bytes"));
  CHECK_THAT(failed.error().text, Catch::Contains("the largest free block is"));
}
