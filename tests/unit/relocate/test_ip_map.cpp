// SPDX-License-Identifier: MIT
// Device instruction pointers back to instructions of the NEFF (spec 05 A8, example E6).
#include <fmt/format.h>

#include "ip_map.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

/// The map every relocation produces.
IpMap map_of(std::span<const Kbin> kbins, Engine engine) {
  const Plan plan = planned(kbins);
  Ledger ledger;
  const SectionSink nothing = [](const SectionContent&) { return Result<void>(); };
  REQUIRE(relocate(kbins, plan, made_up_addresses(plan), ledger, nothing));
  const IpMap* map = ledger.ip_map(0, engine);
  REQUIRE(map);
  CHECK(map->warnings.empty());
  return *map;
}

/// Anchors, so that a hand-made map is complete.
IpMap anchored(std::vector<IpRow> rows, std::uint64_t main_slots) {
  IpMap map;
  map.rows = std::move(rows);
  map.rows.push_back({0, 1, IpChange::insert, IpSection::preamble});
  map.rows.push_back({0, 2, IpChange::insert, IpSection::postamble});
  map.main_bytes = 64 * main_slots;
  return map;
}

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
  const IpMap pool = map_of(std::span(&program.kbin(), 1), Engine::pool);
  const IpMap* map = &pool;
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
  const IpMap map = anchored({{0, 2, IpChange::insert, IpSection::main},
                              {0xC0, 1, IpChange::remove, IpSection::main},
                              {0x100, 1, IpChange::insert, IpSection::main}},
                             7);
  CHECK(numbers(map) == std::vector<std::uint64_t>{1, 1, 1, 3, 4, 4, 5});
}

TEST_CASE("a modified record counts once on both sides") {
  const IpMap map = anchored({{64, 1, IpChange::modify, IpSection::main}}, 3);
  CHECK(numbers(map) == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("pointers outside the main buffer are refused") {
  IpMap map = anchored({}, 2);
  map.main_offset = 64;
  CHECK(neff_ip(map, 64).value() == 1);
  CHECK(neff_ip(map, 128 + 63).value() == 2);
  for (const unsigned long long outside : {0ull, 63ull, 192ull, ~0ull}) {
    check_refused(neff_ip(map, outside),
                  {"", "", std::nullopt, "is out of bounds of the main buffer", Status::failure});
  }
  map.function_offset = 64 + 128 + 128;
  map.function_bytes = 64;
  CHECK(neff_ip(map, 320).value() == 3);
  for (const unsigned long long outside : {0ull, 192ull, 319ull, 384ull}) {
    check_refused(
        neff_ip(map, outside),
        {"", "", std::nullopt,
         fmt::format("device_ip 0x{:x} is out of bounds of main and function buffer", outside),
         Status::failure});
  }
}

TEST_CASE("a map without its anchor rows is refused") {
  IpMap map = anchored({}, 2);
  map.rows.pop_back();
  check_refused(neff_ip(map, 0), {"", "", std::nullopt,
                                  "Failed to find section 1 in the patch list", Status::failure});
  map.rows.clear();
  check_refused(
      device_ips(map, 1),
      {"", "", std::nullopt, "Failed to find section 0 in the patch list", Status::failure});
}

TEST_CASE("rows that cannot be kept leave a warning and the map goes on") {
  IpMap map;
  IpMapBuilder builder(map);
  builder.begin(IpSection::main, 0);
  builder.lowered(1ull << 32, 1, 3);
  builder.lowered(1ull << 33, 1, 0);
  builder.lowered(64, 1, 1);
  builder.lowered(128, 1, 2);
  builder.end(1ull << 34, 9);
  REQUIRE(map.rows.size() == 1);
  CHECK(map.rows[0].offset == 128);
  CHECK(map.warnings ==
        std::vector<std::string>{"Failed to add patch insert info. Debug info may be inaccurate"});
}

/// Checks both directions against the plain list of source records: `emitted[i]` records stand for
/// instruction i + 1; `gap` records of the postamble lie behind the first `main` ones.
void check_both_ways(const IpMap& map, const std::vector<std::uint64_t>& emitted,
                     std::size_t main) {
  std::uint64_t at = map.main_offset;
  CHECK(map.source_slots == emitted.size());
  for (std::size_t i = 0; i < emitted.size(); ++i) {
    if (i == main) at = map.function_offset;
    INFO("instruction " << i + 1);
    const auto place = device_ips(map, i + 1);
    REQUIRE(place);
    CHECK(place->offset == at);
    CHECK(place->count == emitted[i]);
    for (std::uint64_t k = 0; k < emitted[i]; ++k) {
      const auto number = neff_ip(map, at + 64 * k);
      REQUIRE(number);
      CHECK(*number == i + 1);
    }
    at += 64 * emitted[i];
  }
  check_refused(device_ips(map, 0),
                {"", "", std::nullopt, "instruction 0 does not exist", Status::failure});
  check_refused(device_ips(map, emitted.size() + 1),
                {"", "", std::nullopt, "does not exist, expected 1 to", Status::failure});
}

TEST_CASE("functions count behind MAIN, whatever was inserted or removed in either") {
  Program program(Arch::v3);
  const auto a = program.add(VarKind::tmp_buf, "a", 64);
  const auto queue = program.queue("q", Engine::sp, 2);
  const auto one = copy(side(a, 0, {8}), side(a, 8, {8}));
  using namespace sample;
  program.slot(Engine::sp, branch_label(1));      // 0
  program.slot(Engine::sp, nop({}));              // 1
  program.slot(Engine::sp, function_call("f"));   // 2
  program.block(queue, 0, {one});                 // 4
  program.slot(Engine::sp, branch_label(2));      // 0
  program.slot(Engine::sp, function_begin("f"));  // 0
  program.slot(Engine::sp, dma_barrier());        // 1
  program.slot(Engine::sp, branch_label(1));      // 0
  program.slot(Engine::sp, function_return());    // 2
  program.slot(Engine::sp, function_begin("g"));  // 0
  program.slot(Engine::sp, nop({}));              // 1
  program.slot(Engine::sp, exit_execution());     // 1
  const IpMap map = map_of(std::span(&program.kbin(), 1), Engine::sp);
  CHECK(map.main_bytes == 7 * 64);
  CHECK(map.function_offset == (1 + 7 + 2) * 64);
  CHECK(map.function_bytes == 5 * 64);
  check_both_ways(map, {0, 1, 2, 4, 0, 0, 1, 0, 2, 0, 1, 1}, 5);
}

TEST_CASE("the map of every sample agrees with the records in its image") {
  // A record that was copied as it is must be found at the place the map gives for it.
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const SampleModel model = sample_model(name);
    const std::span<const Kbin> kbins = model.parsed.kbins;
    const Plan plan = planned(kbins);
    const Relocated result = relocated(kbins, plan, made_up_addresses(plan));
    std::uint64_t wrong = 0;
    for (const Engine engine : all_engines) {
      const IpMap& map = *result.counts.ip_map(0, engine);
      const Bytes slots = kbins[0].engine(engine).slots;
      const Bytes image =
          result.sections.at(plan.kbins[0].streams[static_cast<std::size_t>(engine)].request);
      for (std::uint64_t slot = 0; slot < slots.size() / 64; ++slot) {
        const auto place = device_ips(map, slot + 1);
        if (!place) {
          ++wrong;
          continue;
        }
        for (std::uint64_t k = 0; k < place->count; ++k) {
          wrong += neff_ip(map, place->offset + 64 * k).value_or(0) != slot + 1;
        }
        const Bytes source = slots.subspan(64 * slot, 64);
        if (source[0] == 0xC1 || source[0] == 0xC2) {
          const std::string_view text = as_text(source).substr(0x0C, 32);
          const auto queue = kbins[0].find_queue_set(text.substr(0, text.find('\0')));
          wrong += queue && place->count != 2ull * kbins[0].queue_sets[*queue].num_queues;
        }
        const bool pseudo = (source[0] >= 0xC1 && source[0] <= 0xDF) || source[0] == 0xA9;
        if (pseudo) continue;
        const Bytes made = image.subspan(place->offset, 64);
        // Byte 3 marks records of functions.
        wrong +=
            place->count != 1 || !std::equal(source.begin() + 4, source.end(), made.begin() + 4);
      }
    }
    CHECK(wrong == 0);
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
  const IpMap map = map_of(std::span(&program.kbin(), 1), Engine::sp);
  CHECK(numbers(map) == std::vector<std::uint64_t>{3, 3, 3, 3, 3, 3, 5, 5, 5, 5, 5, 5, 6});
}

}  // namespace
}  // namespace neffld::test
