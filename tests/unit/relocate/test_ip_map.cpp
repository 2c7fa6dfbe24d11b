// SPDX-License-Identifier: MIT
// Device instruction pointers back to instructions of the NEFF (spec 05 A8, example E6).
#include "support.hpp"

namespace neffld::test {
namespace {

std::vector<std::uint64_t> numbers(const IpMap& map) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t at = 0; at < map.main_bytes; at += 64) {
    const auto number = neff_ip(map, map.main_offset + at);
    REQUIRE(number);
    result.push_back(*number);
  }
  return result;
}

TEST_CASE("E6: two expanded triggers and a plain record") {
  Program program(Arch::v2);
  const auto a = program.add(VarKind::tmp_buf, "a", 64);
  const auto queue = program.queue("q", Engine::pool, 1);
  for (std::uint32_t id : {0u, 1u}) {
    program.block(queue, id, {copy(side(a, 0, {8}), side(a, 8, {8}))});
  }
  program.slot(Engine::pool, sample::event_wait({8, 2}));
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const Plan plan = planned(kbins);
  const auto map = build_ip_map(kbins, plan, 0, Engine::pool);
  REQUIRE(map);
  CHECK(map->main_offset == 64);
  CHECK(map->main_bytes == 5 * 64);
  CHECK(numbers(*map) == std::vector<std::uint64_t>{1, 1, 2, 2, 3});
  std::vector<IpRow> rows;
  for (const IpRow& row : map->rows) {
    if (row.section == IpSection::main) rows.push_back(row);
  }
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].offset == 0);
  CHECK(rows[1].offset == 0x80);
  for (const IpRow& row : rows) {
    CHECK(row.count == 1);
    CHECK(row.change == IpChange::insert);
  }
  // Preamble and postamble rows anchor the map: whole size at their start.
  REQUIRE(map->rows.size() == 4);
  CHECK(map->rows.front().section == IpSection::preamble);
  CHECK(map->rows.front().offset == 0);
  CHECK(map->rows.front().count == 1);
  CHECK(map->rows.back().section == IpSection::postamble);
  CHECK(map->rows.back().offset == 6 * 64);
  CHECK(map->rows.back().count == 2);
}

TEST_CASE("E6: a label between expansions") {
  IpMap map;
  map.main_bytes = 7 * 64;
  map.rows = {{0, 2, IpChange::insert, IpSection::main},
              {0xC0, 1, IpChange::remove, IpSection::main},
              {0x100, 1, IpChange::insert, IpSection::main}};
  CHECK(numbers(map) == std::vector<std::uint64_t>{1, 1, 1, 3, 4, 4, 5});
}

TEST_CASE("a modified record counts once on both sides") {
  IpMap map;
  map.main_bytes = 3 * 64;
  map.rows = {{64, 1, IpChange::modify, IpSection::main}};
  CHECK(numbers(map) == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("pointers outside the main buffer are refused") {
  IpMap map;
  map.main_offset = 64;
  map.main_bytes = 128;
  CHECK(neff_ip(map, 64).value() == 1);
  CHECK(neff_ip(map, 128 + 63).value() == 2);
  for (const unsigned long long outside : {0ull, 63ull, 192ull, ~0ull}) {
    check_refused(neff_ip(map, outside),
                  {"", "", std::nullopt, "is out of bounds of the main buffer"});
  }
}

TEST_CASE("labels in front of, behind and between triggers keep the numbers right") {
  Program program(Arch::v3);
  const auto a = program.add(VarKind::tmp_buf, "a", 64);
  const auto queue = program.queue("q", Engine::sp, 3);
  const auto one = copy(side(a, 0, {8}), side(a, 8, {8}));
  program.slot(Engine::sp, sample::branch_label());  // 1
  program.slot(Engine::sp, sample::branch_label());  // 2
  program.block(queue, 0, {one});                    // 3: 6 slots
  program.slot(Engine::sp, sample::branch_label());  // 4
  program.block(queue, 1, {one});                    // 5: 6 slots
  program.slot(Engine::sp, sample::nop({8, 1}));     // 6
  program.slot(Engine::sp, sample::branch_label());  // 7
  const std::span<const Kbin> kbins(&program.kbin(), 1);
  const auto map = build_ip_map(kbins, planned(kbins), 0, Engine::sp);
  REQUIRE(map);
  CHECK(numbers(*map) == std::vector<std::uint64_t>{3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 5, 5, 6});
}

}  // namespace
}  // namespace neffld::test
