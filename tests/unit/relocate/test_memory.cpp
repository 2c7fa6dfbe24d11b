// SPDX-License-Identifier: MIT
// The driver's allocator as the planner imagines it, against the device model (spec 03 section 10,
// spec 11 B.1).
#include "neffld/memory.hpp"

#include <fmt/format.h>

#include "sample_neff.hpp"
#include "stager.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

constexpr std::uint64_t kib = 1024, memory_mib = 1024 * kib;

struct Target {
  Target(std::uint32_t architecture, std::uint64_t bytes) : hbm_bytes(bytes) {
    auto created = SimDevice::create({.architecture = architecture, .hbm_bytes = bytes});
    REQUIRE(created);
    device = *created;
    auto opened = device->open();
    REQUIRE(opened);
    file = std::move(*opened);
    arch = static_cast<Arch>(architecture);
  }
  std::vector<std::uint64_t> sizes() const {
    return hbm_bytes ? std::vector{hbm_bytes} : std::vector<std::uint64_t>{};
  }
  MemoryMap map() const {
    auto fresh = MemoryMap::fresh(arch, sizes());
    REQUIRE(fresh);
    return std::move(*fresh);
  }
  Arch arch = Arch::any;
  std::uint64_t hbm_bytes;
  std::shared_ptr<SimDevice> device;
  std::unique_ptr<DeviceFile> file;
};

Request random_request(sample::Random& random, std::uint32_t hbms) {
  constexpr std::array<std::uint64_t, 8> sizes = {
      1, 4096, 4097, 512 * kib, 512 * kib + 1, 3 * memory_mib, 20 * memory_mib, 64 * memory_mib};
  Request request;
  request.size = sizes[random.below(sizes.size())] + random.below(3) * random.below(300'000);
  request.align = random.below(3) == 0 ? 1ull << random.below(25) : 0;
  request.hbm = static_cast<std::uint32_t>(random.below(hbms));
  request.owner = "random";
  if (random.below(8) == 0) {
    request.category = MemCategory::contiguous_scratchpad;
    request.size = 64 * memory_mib;
    request.align = 0;
  }
  return request;
}

/// The same map, made from what the driver says is in use.
MemoryMap map_of_chunks(const Target& target, DeviceCalls& calls, std::uint32_t hbms) {
  std::vector<Region> taken, contiguous;
  for (std::uint32_t hbm = 0; hbm < hbms; ++hbm) {
    const auto chunks = calls.chunks(hbm);
    REQUIRE(chunks);
    for (const auto& chunk : *chunks) {
      (chunk.mem_type == 19 ? contiguous : taken).push_back({chunk.pa, chunk.size});
    }
  }
  auto map = MemoryMap::in_use(target.arch, target.sizes(), taken, contiguous);
  REQUIRE(map);
  return std::move(*map);
}

TEST_CASE("every request gets the address the driver gives, or none when it gives none") {
  std::size_t refused = 0, granted = 0;
  for (const auto& [architecture, hbm_bytes] :
       std::vector<std::pair<std::uint32_t, std::uint64_t>>{{2, 0},
                                                            {3, 0},
                                                            {3, 64 * memory_mib},
                                                            {3, 1024 * memory_mib},
                                                            {2, 1100 * memory_mib},
                                                            {3, 1536 * memory_mib}}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const Target target(architecture, hbm_bytes);
      DeviceCalls calls(*target.file);
      MemoryMap map = target.map();
      sample::Random random(seed);
      for (int i = 0; i < 300; ++i) {
        const Request request = random_request(random, map.hbm_count());
        const auto device = calls.allocate(request);
        const auto predicted = map.allocate(request);
        INFO("v" << architecture << " HBM " << hbm_bytes << " seed " << seed << " request " << i
                 << ": " << request.size << " align " << request.align);
        REQUIRE(device.has_value() == predicted.has_value());
        ++(device ? granted : refused);
        if (!device) continue;
        REQUIRE(device->pa == predicted->pa);
        REQUIRE(device->size == predicted->size);
      }
      const MemoryMap same = map_of_chunks(target, calls, map.hbm_count());
      for (std::uint32_t hbm = 0; hbm < map.hbm_count(); ++hbm) {
        CHECK(same.hbm(hbm).free == map.hbm(hbm).free);
        CHECK(same.hbm(hbm).largest_block == map.hbm(hbm).largest_block);
      }
    }
  }
  CHECK(granted > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("a map made of holes continues as the driver does") {
  const Target target(3, 1536 * memory_mib);
  DeviceCalls calls(*target.file);
  AllocationList list(calls);
  Request comb;
  comb.size = 5 * memory_mib;
  for (int i = 0; i < 90; ++i) list.add(calls.allocate(comb).value());
  for (std::size_t i = 0; i < list.size(); i += 2) REQUIRE(calls.free(list.live()[i].handle));
  MemoryMap map = map_of_chunks(target, calls, 4);
  CHECK(map.hbm(0).largest_block < map.hbm(0).free);
  sample::Random random(7);
  for (int i = 0; i < 200; ++i) {
    Request request = random_request(random, 1);
    const auto device = calls.allocate(request);
    const auto predicted = map.allocate(request);
    INFO("request " << i << ": " << request.size << " align " << request.align);
    REQUIRE(device.has_value() == predicted.has_value());
    if (device) REQUIRE(device->pa == predicted->pa);
  }
  list.forget();
}

TEST_CASE("HBM sizes an architecture cannot have are refused") {
  for (const std::uint64_t size : std::vector<std::uint64_t>{
           1, 4096, 16 * memory_mib, 17 * memory_mib + 1, (24ull << 30) + 4096, ~0ull}) {
    const auto map = MemoryMap::fresh(Arch::v3, std::vector{size});
    REQUIRE_FALSE(map);
    CHECK(map.error().error_class == ErrorClass::usage);
  }
  CHECK_FALSE(
      MemoryMap::fresh(Arch::v3, std::vector<std::uint64_t>{17 * memory_mib, 17 * memory_mib}));
  const auto each =
      MemoryMap::fresh(Arch::v3, std::vector<std::uint64_t>{17 * memory_mib, 18 * memory_mib,
                                                            19 * memory_mib, 20 * memory_mib});
  REQUIRE(each);
  CHECK(each->hbm(0).free == 1 * memory_mib);
  CHECK(each->hbm(3).size == 20 * memory_mib);
  CHECK(each->hbm(3).free == 4 * memory_mib);
}

TEST_CASE("usage by core adds up to the page-rounded sizes") {
  const SampleModel model = sample_model("scratchpad-lnc2-v3");
  const Plan plan = planned(model.parsed.kbins);
  const auto cores = account(plan.requests);
  REQUIRE(cores.size() == 2);
  std::uint64_t given = 0, requested = 0, allocations = 0;
  for (const auto& [core, usage] : cores) {
    for (const UsageTotals& totals : usage) {
      given += totals.given;
      requested += totals.requested;
      allocations += totals.allocations;
    }
  }
  std::uint64_t rounded = 0, asked = 0;
  for (const Request& request : plan.requests) {
    CHECK(request.category == mem_category(request.usage));
    rounded += (request.size + 4095) / 4096 * 4096;
    asked += request.size;
  }
  CHECK(given == rounded);
  CHECK(requested == asked);
  CHECK(allocations == plan.requests.size());
  const auto bytes = [&](std::uint32_t core, MemUsage usage) {
    return cores.at(core)[static_cast<std::size_t>(usage)].given;
  };
  CHECK(bytes(0, MemUsage::constants) == 8192);
  CHECK(bytes(0, MemUsage::scratchpad) == 4096);
  CHECK(bytes(0, MemUsage::shared_scratchpad) == 512 * memory_mib);
  CHECK(bytes(1, MemUsage::rings_spill) > 0);
  CHECK(bytes(1, MemUsage::rings_io) == 0);  // templates have no memory before bind
}

TEST_CASE("the missing bytes are exactly what makes a plan fit") {
  Program program(Arch::v3);
  program.file("w", 40 * memory_mib, 1 * memory_mib);
  program.scratch("s", 4096, 0);
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  PlanOptions options;
  options.scratchpad.contiguous = true;
  const Plan plan = planned(kbins, options);
  const std::uint64_t small = 32 * memory_mib;
  auto map = MemoryMap::fresh(Arch::v3, std::vector{small});
  REQUIRE(map);
  const MemoryForecast missed = forecast(*map, plan);
  REQUIRE(missed.miss);
  CHECK(plan.requests[missed.miss->request].kind == SectionKind::scratchpad_page);
  CHECK(missed.regions.size() == missed.miss->request);
  CHECK(missed.miss->hbm.largest_block < 64 * memory_mib);
  const auto fits = [&](std::uint64_t bytes) {
    auto room = MemoryMap::fresh(Arch::v3, std::vector{bytes});
    REQUIRE(room);
    return !forecast(*room, plan).miss;
  };
  REQUIRE(missed.miss->short_by);
  CHECK(fits(small + *missed.miss->short_by));
  CHECK_FALSE(fits(small + *missed.miss->short_by - 4096));
}

TEST_CASE("the missing bytes of what no HBM can hold are not made up") {
  const auto short_by = [](std::uint64_t bytes, std::size_t count = 1) {
    Program program(Arch::v3);
    for (std::size_t i = 0; i < count; ++i) {
      program.add(VarKind::tmp_buf, fmt::format("t{}", i), bytes);
    }
    const Plan plan = planned(std::span(&program.kbin(), 1));
    auto map = MemoryMap::fresh(Arch::v3);
    REQUIRE(map);
    const MemoryForecast missed = forecast(*map, plan);
    REQUIRE(missed.miss);
    return missed.miss->short_by;
  };
  // What is asked for, less what the first pool of an HBM of 24 GiB has behind the 16 MiB of the
  // firmware.
  constexpr std::uint64_t have = 23 * 1024 * memory_mib - 16 * memory_mib;
  for (const unsigned bits : {40u, 50u, 51u, 60u, 61u}) {
    INFO(bits);
    CHECK(short_by(1ull << bits) == (1ull << bits) - have);
  }
  CHECK(short_by(1ull << 60, 2) == (1ull << 61) - have);
  CHECK(short_by(1ull << 63) == std::nullopt);
  CHECK(short_by(~0ull) == std::nullopt);
  CHECK(short_by(1ull << 62, 3) == std::nullopt);
}

TEST_CASE("scratchpad settings that would fit are found, and only those") {
  Program program(Arch::v3);
  program.scratch("s", 4096, 0);
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const auto ways = [&](std::uint64_t hbm, PlanOptions options = {}) {
    const auto map = MemoryMap::fresh(Arch::v3, std::vector{hbm});
    REQUIRE(map);
    return ways_to_fit(kbins, options, *map);
  };
  CHECK(ways(400 * memory_mib) ==
        std::vector<std::string>{"a contiguous scratchpad (--contiguous-scratchpad)"});
  CHECK(ways(40 * memory_mib).empty());
  PlanOptions large;
  large.scratchpad.page_bytes = 3584 * memory_mib;
  CHECK(ways(2048 * memory_mib, large).size() == 2);
  Program without(Arch::v3);
  without.file("w", 40 * memory_mib);
  const auto map = MemoryMap::fresh(Arch::v3, std::vector{32 * memory_mib});
  CHECK(ways_to_fit(std::span(&without.kbin(), 1), {}, *map).empty());
}

}  // namespace
}  // namespace neffld::test
