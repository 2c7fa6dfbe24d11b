// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "repro/remove_units.hpp"

using namespace neffld;

namespace {

/// What is left when all of `needed` must be there, and how many lists were judged.
std::pair<std::set<std::size_t>, unsigned> left(std::size_t count, std::size_t most_parts,
                                                const std::set<std::size_t>& needed) {
  unsigned judged = 0;
  const Kept kept = remove_units(count, most_parts, [&](const Kept& some) {
    ++judged;
    return std::ranges::all_of(needed, [&](std::size_t i) { return some[i]; });
  });
  std::set<std::size_t> result;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) result.insert(i);
  }
  return {result, judged};
}

}  // namespace

TEST_CASE("exactly the units that are needed are left") {
  for (const std::set<std::size_t>& needed :
       {std::set<std::size_t>{}, {0}, {999}, {0, 999}, {3, 4, 5, 500}}) {
    CHECK(left(1000, any_parts, needed).first == needed);
  }
  CHECK(left(0, any_parts, {}).first.empty());
  CHECK(left(1, any_parts, {0}).first == std::set<std::size_t>{0});
}

TEST_CASE("a list nobody needs takes one try, one unit of many few") {
  CHECK(left(1'000'000, any_parts, {}).second == 1);
  CHECK(left(1'000'000, any_parts, {123456}).second < 100);
}

TEST_CASE("a coarse pass takes few tries and leaves large pieces") {
  const auto [units, judged] = left(1024, 4, {100});
  CHECK(units.size() == 256);
  CHECK(judged <= 7);
}

TEST_CASE("units of bytes are cut out or zeroed, the last one may be short") {
  const std::vector<std::uint8_t> bytes = {1, 2, 3, 4, 5};
  const std::vector<std::size_t> starts = even_units(bytes.size(), 2);
  CHECK(starts == std::vector<std::size_t>{0, 2, 4});
  CHECK(kept_bytes(bytes, starts, {true, false, true}) == std::vector<std::uint8_t>{1, 2, 5});
  CHECK(zeroed_bytes(bytes, starts, {false, true, false}) ==
        std::vector<std::uint8_t>{0, 0, 3, 4, 0});
  CHECK(even_units(0, 64).empty());
}
