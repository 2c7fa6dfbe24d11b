// SPDX-License-Identifier: MIT
// A thousand times open, load, unload, close: nothing adds up, neither on the device nor here.
#include <malloc.h>

#include <unistd.h>
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "neffld/container.hpp"
#include "neffld/session.hpp"
#include "neffld/sim_control.hpp"
#include "sample_catalogue.hpp"
#include "sample_neff.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr int warm_up = 50, cycles = 1000;

/// Bytes the C library has handed out; 0 where a sanitizer replaces it (which finds leaks itself).
std::size_t heap_bytes() {
  return mallinfo2().uordblks;
}

/// Resident pages of this process.
long resident_pages() {
  std::ifstream file("/proc/self/statm");
  long size = 0, resident = 0;
  file >> size >> resident;
  return resident;
}

long mappings() {
  std::ifstream file("/proc/self/maps");
  std::string line;
  long count = 0;
  while (std::getline(file, line)) ++count;
  return count;
}

/// Mappings that may be more than before without one being left behind each time: the sanitizers'
/// allocator, under which heap_bytes() is 0, makes some of its own.
long spare_mappings() {
  return heap_bytes() == 0 ? 25 : 2;
}

struct Held {
  std::uint64_t handles, device_bytes, host_bytes;
  bool operator==(const Held&) const = default;
};

Held held_by(SimDevice& device) {
  const SimDevice::Counters counters = device.counters();
  return {counters.live_handles, counters.live_device_bytes, sim_live_host_bytes(device)};
}

void cycle(SimDevice& device, Bytes packed) {
  auto file = device.open();
  REQUIRE(file);
  auto session = Session::open(std::move(*file));
  REQUIRE(session);
  auto parsed = parse_model(packed, (*session)->arch());
  REQUIRE(parsed);
  const auto model = (*session)->load(std::move(*parsed));
  REQUIRE(model);
  REQUIRE((*session)->unload(**model));
}

}  // namespace

TEST_CASE("a thousand loads leave counters, handles and memory at their start values") {
  const auto packed = sample::pack(sample::make_sample("vecadd-v3"));
  REQUIRE(packed);
  const auto device = *SimDevice::create({});
  const Held start = held_by(*device);
  for (int i = 0; i < warm_up; ++i) cycle(*device, *packed);
  CHECK(held_by(*device) == start);
  const std::size_t heap = heap_bytes();
  const long resident = resident_pages(), maps = mappings();
  for (int i = 0; i < cycles; ++i) cycle(*device, *packed);
  CHECK(held_by(*device) == start);
  // One cycle takes far more than these, so a leak of any of its parts shows.
  CHECK(heap_bytes() <= heap + 4096);
  CHECK(mappings() <= maps + spare_mappings());
  if (heap != 0) CHECK(resident_pages() <= resident + (1 << 20) / sysconf(_SC_PAGESIZE));
}

TEST_CASE("devices that come and go leave no memory and no mapping behind") {
  const auto one = [] {
    SimOptions options;
    options.hbm_bytes = 64 << 20;
    const auto device = SimDevice::create(options);
    REQUIRE(device);
    REQUIRE((*device)->open());
  };
  for (int i = 0; i < 5; ++i) one();
  const std::size_t heap = heap_bytes();
  const long maps = mappings();
  for (int i = 0; i < 50; ++i) one();
  CHECK(heap_bytes() <= heap + 4096);
  CHECK(mappings() <= maps + spare_mappings());
}
