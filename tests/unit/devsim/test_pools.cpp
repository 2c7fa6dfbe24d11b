// SPDX-License-Identifier: MIT
// Where allocations land (spec 03 section 10, spec 06 section 5, spec 11 B.1 and B.2).
#include <catch2/catch.hpp>
#include <random>

#include "client.hpp"

using namespace devsim_test;

namespace {

constexpr std::uint64_t v3_small = 0x5C0000000;
constexpr std::uint64_t v2_small = 0x3C0000000;
constexpr auto type19 = std::uint32_t{NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE};

void worked_example(std::uint32_t architecture, std::uint64_t base, std::uint32_t hbm,
                    std::uint64_t small) {
  const Device device(architecture);
  const Client client(device);
  CHECK(client.place({512_MiB, 4_MiB, 0, hbm}) == base + 0x1000000);
  CHECK(client.place({3_MiB, 0, 0, hbm}) == base + 0x21000000);
  CHECK(client.place({100_KiB, 0, 0, hbm}) == base + small);
  CHECK(client.place({4, 0, 0, hbm}) == base + small + 0x19000);
  CHECK(client.place({640_KiB, 64_KiB, 0, hbm}) == base + 0x21300000);
  CHECK(client.place({64_MiB, 0, 0, hbm, 0, type19}) == base + small - 0x4000000);
  CHECK(client.place({64_MiB, 0, 0, hbm, 0, type19}) == base + small - 0x8000000);
}

}  // namespace

TEST_CASE("the worked example of spec 03 section 10.1 lands where it says") {
  worked_example(3, 0, 0, v3_small);
  worked_example(3, 0x804000000000, 3, v3_small);
  worked_example(2, 0, 0, v2_small);
  worked_example(2, 0x1000000000, 1, v2_small);
  worked_example(4, 0x4000000000, 1, 0x8C0000000);
}

TEST_CASE("up to 512 KiB go to the small pool, more to main") {
  const Device device(3);
  const Client client(device);
  CHECK(client.place({512_KiB}) == v3_small);
  CHECK(client.place({512_KiB + 1}) == 0x1000000);
  CHECK(client.place({1}) == v3_small + 512_KiB);
}

TEST_CASE("a full pool falls over to the other one") {
  const Device device(3);
  const Client client(device);
  SECTION("small to main") {
    for (int i = 0; i < 2048; ++i) REQUIRE(client.place({512_KiB}) >= v3_small);
    CHECK(client.place({512_KiB}) == 0x1000000);
    CHECK(client.place({4_KiB, 1_MiB}) == 0x1100000);
  }
  SECTION("main to small") {
    REQUIRE(client.place({v3_small - 16_MiB}) == 0x1000000);
    CHECK(client.place({64_MiB}) == v3_small);
    CHECK(client.place({64_MiB, 64_MiB}) == v3_small + 64_MiB);
    std::uint64_t handle = 0;
    CHECK(client.alloc({1_GiB}, handle) == -ENOMEM);
  }
}

TEST_CASE("freed neighbours merge and the lowest hole is used first") {
  const Device device(2);
  const Client client(device);
  std::vector<std::uint64_t> handles;
  for (int i = 0; i < 8; ++i) handles.push_back(client.alloc({1_MiB}));
  CHECK(client.free(handles[1]) == 0);
  CHECK(client.free(handles[2]) == 0);
  CHECK(client.free(handles[5]) == 0);
  CHECK(client.place({1536_KiB}) == 0x1000000 + 1_MiB);
  CHECK(client.place({1_MiB}) == 0x1000000 + 5_MiB);
  CHECK(client.place({520_KiB}) == 0x1000000 + 8_MiB);
  CHECK(client.place({512_KiB}) == v2_small);
}

TEST_CASE("alignments that are no power of two follow the driver's bitmap search") {
  const Device device(3);
  const Client client(device);
  REQUIRE(client.place({4_KiB}) == v3_small);
  // 4097 makes 8 KiB steps, and the result only has to have the bits of align - 1 clear.
  CHECK(client.place({4_KiB, 4097}) == v3_small + 0x2000);
  CHECK(client.place({4_KiB}) == v3_small + 0x1000);
  // 12288: pages with bit 1 clear, but not the lowest such page: free page 3 leads to 5, not to 4.
  CHECK(client.place({4_KiB, 12288}) == v3_small + 0x5000);
  CHECK(client.place({4_KiB, 12288}) == v3_small + 0x8000);
  CHECK(client.place({4_KiB, 12288}) == v3_small + 0x9000);
  SECTION("2^31 - 1 steps by 2 GiB") {
    CHECK(client.place({1_MiB, 0x7FFFFFFF}) == 2_GiB);
    std::uint64_t handle = 0;
    CHECK(client.alloc({1_MiB, 0x80000000}, handle) == -EINVAL);
  }
}

TEST_CASE("type 19 grows down from the end of main and never elsewhere") {
  const Device device(3);
  const Client client(device);
  const auto first = client.alloc({1_MiB, 0, 0, 0, 0, type19});
  const auto second = client.alloc({2_MiB, 0, 0, 0, 0, type19});
  CHECK(client.pa(first) == v3_small - 1_MiB);
  CHECK(client.pa(second) == v3_small - 3_MiB);
  SECTION("freed out of order, the survivor blocks until it goes too") {
    CHECK(client.free(first) == 0);
    std::uint64_t handle = 0;
    CHECK(client.alloc({1_MiB, 0, 0, 0, 0, type19}, handle) == -ENOMEM);
    CHECK(client.free(second) == 0);
    CHECK(client.place({1_MiB, 0, 0, 0, 0, type19}) == v3_small - 1_MiB);
  }
  SECTION("an occupied place is out of memory, not an alternate") {
    REQUIRE(client.place({v3_small - 16_MiB - 4_MiB}) == 0x1000000);
    std::uint64_t handle = 0;
    CHECK(client.alloc({2_MiB, 0, 0, 0, 0, type19}, handle) == -ENOMEM);
    CHECK(client.place({1_MiB, 0, 0, 0, 0, type19}) == v3_small - 4_MiB);
  }
}

TEST_CASE("small devices have no small pool") {
  const Device device(3, 1_GiB);
  const Client client(device);
  CHECK(client.place({4_KiB}) == 0x1000000);
  CHECK(client.place({1_MiB, 0, 0, 0, 0, type19}) == 0x40000000 - 1_MiB);
  const Device larger(3, 4_GiB);
  const Client other(larger);
  CHECK(other.place({4_KiB}) == 0xC0000000);
  CHECK(other.place({1_MiB, 0, 0, 0, 0, type19}) == 0xBFF00000);
}

TEST_CASE("an allocation is refused in the driver's order of checks") {
  const Device device(2);
  const Client client(device);
  std::uint64_t handle = 0;
  CHECK(client.alloc({1ull << 63}, handle) == -EINVAL);
  CHECK(client.alloc({(1ull << 63) - 1}, handle) == -ENOMEM);
  CHECK(client.alloc({4096, 0, 0, 2}, handle) == -EINVAL);
  CHECK(client.alloc({4096, 0, 1, 2, 0, NEURON_MEM_MISC_HOST}, handle) == -EINVAL);
  CHECK(client.alloc({4096, 0, 0, 0, 8}, handle) == -EINVAL);
  CHECK(client.alloc({4096, 0, 0, 0, 7}, handle) == 0);
  CHECK(client.alloc({4096, 1, 1, 0, 0, NEURON_MEM_MISC_HOST}, handle) == -EINVAL);
  CHECK(client.alloc({4096, 3, 0}, handle) == 0);
  CHECK(client.alloc({0}, handle) == -ENOMEM);
  CHECK(client.alloc({0, 0, 1, 0, 0, NEURON_MEM_MISC_HOST}, handle) == -ENOMEM);
  CHECK(client.alloc({0, 0, 0, 0, 0, type19}, handle) == -ENOMEM);
  CHECK(client.alloc({1_GiB, 0, 1, 0, 0, NEURON_MEM_MISC_HOST}, handle) == -ENOMEM);
  CHECK(client.alloc({4096, 0, 0, 0, 0, 99}, handle) == 0);
}

TEST_CASE("host memory carries the host base and is placed first fit") {
  const Device v2(2);
  const Client on_v2(v2);
  CHECK(on_v2.place({4096, 0, 1, 0, 0, NEURON_MEM_MISC_HOST}) == 0x100010000000);
  CHECK(on_v2.place({4096, 0, 2, 0, 0, NEURON_MEM_MISC_HOST}) == 0x100010001000);
  const Device v3(3);
  const Client on_v3(v3);
  CHECK(on_v3.place({4096, 0, 1, 0, 0, NEURON_MEM_MISC_HOST}) == 0x400010000000);
}

TEST_CASE("random traffic agrees with a plain first-fit search") {
  // The slow reference: one byte a page.
  constexpr std::uint64_t pages = (1_GiB) >> 12;
  std::vector<std::uint8_t> taken(pages, 0);
  for (std::uint64_t i = 0; i < 4096; ++i) taken[i] = 1;  // carve-out
  const auto reference = [&](std::uint64_t count, std::uint64_t step) {
    for (std::uint64_t first = 0; first + count <= pages; first += step) {
      std::uint64_t run = 0;
      while (run < count && taken[first + run] == 0) ++run;
      if (run == count) return first;
    }
    return pages;
  };
  const Device device(3, 1_GiB);
  const Client client(device);
  std::mt19937 random(7);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> live;  // handle, pages
  for (int round = 0; round < 1500; ++round) {
    if (!live.empty() && random() % 3 == 0) {
      std::swap(live[random() % live.size()], live.back());
      const auto [handle, count] = live.back();
      const std::uint64_t first = client.pa(handle) >> 12;
      std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(first), count, std::uint8_t{0});
      REQUIRE(client.free(handle) == 0);
      live.pop_back();
      continue;
    }
    const std::uint64_t count = 1 + random() % (random() % 8 == 0 ? 6000 : 300);
    const std::uint64_t step = random() % 2 == 0 ? 1 : 1ull << (random() % 12);
    const std::uint64_t expected = reference(count, step);
    const std::uint64_t handle = client.alloc({count << 12, step << 12});
    if (expected == pages) {
      REQUIRE(handle == 0);
      continue;
    }
    REQUIRE(client.pa(handle) == expected << 12);
    std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(expected), count, std::uint8_t{1});
    live.emplace_back(handle, count);
  }
}
