// SPDX-License-Identifier: MIT
// One wrong relocation at a time, made in the memory of the device: execution finds each, as a
// wrong number, a transfer out of bounds or a deadlock that names where.
#include <array>
#include <catch2/catch.hpp>

#include "model_run.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

constexpr std::size_t record_bytes = 64;
constexpr std::uint8_t direct_transfer = 0xB8;  // what D4 becomes
constexpr std::size_t source = 0x10;            // its address operands: offset, entry, marker
constexpr std::uint8_t table_marker = 0x20;

using Record = std::array<std::uint8_t, record_bytes>;

struct Found {
  std::uint64_t address = 0;
  Record bytes{};
};

/// The first record of an image that `wanted` takes.
template <class Wanted>
std::optional<Found> find_record(ModelRun& run, Engine engine, Wanted wanted) {
  const std::vector<std::uint8_t> image =
      run.read(run.image(0, engine), run.image_slots(0, engine) * record_bytes);
  for (std::size_t at = 0; at < image.size(); at += record_bytes) {
    Found found;
    found.address = run.image(0, engine) + at;
    std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(at), record_bytes, found.bytes.begin());
    if (wanted(found.bytes)) return found;
  }
  return std::nullopt;
}

bool is_right(ModelRun& run) {
  return run.judge().good;
}

/// Nothing of a wrong run stays behind.
void check_recovers(ModelRun& run) {
  CHECK(is_right(run));
}

}  // namespace

TEST_CASE("a direct transfer from a wrong place gives wrong numbers") {
  if (!real_file("12")) return;
  ModelRun run("12");
  run.set_inputs(1);
  REQUIRE(is_right(run));
  const auto load = find_record(run, Engine::pool, [](const Record& record) {
    return record[0] == direct_transfer && record[source + 7] == table_marker;
  });
  REQUIRE(load);
  Record wrong = load->bytes;
  wrong[source] = static_cast<std::uint8_t>(wrong[source] + 2);  // one element further
  run.write(load->address, wrong);
  CHECK_FALSE(is_right(run));
  run.write(load->address, load->bytes);
  check_recovers(run);
}

TEST_CASE("a direct transfer from nowhere is told") {
  if (!real_file("12")) return;
  ModelRun run("12");
  run.set_inputs(1);
  const auto load = find_record(run, Engine::pool, [](const Record& record) {
    return record[0] == direct_transfer && record[source + 7] == table_marker;
  });
  REQUIRE(load);
  Record wrong = load->bytes;
  // An address instead of a table entry, in no memory and no register of the device.
  store_le<std::uint64_t>(wrong, source, 0x00F0'1234'5678'0000);
  run.write(load->address, wrong);
  const auto result = run.execute();
  REQUIRE_FALSE(result);
  CHECK(result.error().status == Status::exec_hw_err_dma_abort);
  INFO(to_sentence(result.error()));
  CHECK(to_sentence(result.error()).find("POOL") != std::string::npos);
  run.write(load->address, load->bytes);
  check_recovers(run);
}

TEST_CASE("swapped entries of an address table give wrong numbers") {
  if (!real_file("12")) return;
  ModelRun run("12");
  run.set_inputs(1);
  const Kbin& kbin = run.model().parsed.kbins[0];
  for (const neffld::Variable& variable : kbin.variables) {
    if (variable.kind != VarKind::dge_table) continue;
    const auto address =
        variable_address(kbin, run.model().plan.kbins[0], run.model().addresses, variable.var_id);
    REQUIRE(address);
    const std::vector<std::uint8_t> right = run.read(*address, 16);
    std::vector<std::uint8_t> swapped(right.begin() + 8, right.end());
    swapped.insert(swapped.end(), right.begin(), right.begin() + 8);
    run.write(*address, swapped);
    CHECK_FALSE(is_right(run));
    run.write(*address, right);
    check_recovers(run);
    return;
  }
  FAIL("the model has no table");
}

TEST_CASE("tensors bound the other way round give wrong numbers") {
  if (!real_file("12")) return;
  ModelRun run("12");
  run.set_inputs(1);
  const auto bind = [&](const std::string& x, const std::string& y) {
    const auto bound = run.session().bind(
        run.model(),
        {{"x", run.tensor(x)}, {"y", run.tensor(y)}, {"output0", run.tensor("output0")}});
    REQUIRE(bound);
  };
  bind("y", "x");
  CHECK_FALSE(is_right(run));
  bind("x", "y");
  check_recovers(run);
}

TEST_CASE("one wrong ring descriptor gives wrong numbers") {
  if (!real_file("05")) return;
  ModelRun run("05");
  run.set_inputs(1);
  REQUIRE(is_right(run));
  const std::uint64_t first = run.tensor("a_vec"), end = first + 256000 * 4;
  for (const RingPlan& ring : run.model().plan.kbins[0].rings) {
    if (!ring.tx_request || ring.used == 0) continue;
    const std::uint64_t address = run.model().addresses.sections[*ring.tx_request];
    const std::vector<std::uint8_t> descriptor = run.read(address, 16);
    const auto from = load_le<std::uint64_t>(descriptor, 8);
    if (from < first || from >= end) continue;
    std::vector<std::uint8_t> wrong = descriptor;
    store_le<std::uint64_t>(wrong, 8, from + 4);
    run.write(address, wrong);
    const reference::Comparison result = run.judge();
    CHECK_FALSE(result.good);
    CHECK(result.different < 10000);  // one element of the transfer, not everything
    run.write(address, descriptor);
    check_recovers(run);
    return;
  }
  FAIL("no ring reads a_vec");
}

TEST_CASE("a wrong semaphore count is a deadlock that names engine, semaphore and values") {
  if (!real_file("05")) return;
  ModelRun run("05");
  run.set_inputs(1);
  // The wait for the second load: 16 rings, each one count (spec 08 section 5).
  const auto wait = find_record(run, Engine::dve, [](const Record& record) {
    return record[4] == 5 && load_le<std::uint32_t>(record, 8) == 16;
  });
  REQUIRE(wait);
  Record wrong = wait->bytes;
  wrong[8] = 17;
  run.write(wait->address, wrong);
  const auto result = run.execute();
  REQUIRE_FALSE(result);
  CHECK(result.error().status == Status::timeout);
  const std::string text = to_sentence(result.error());
  INFO(text);
  CHECK(text.find("DVE") != std::string::npos);
  CHECK(text.find("semaphore " + std::to_string(wait->bytes[5])) != std::string::npos);
  CHECK(text.find("17") != std::string::npos);
  CHECK(text.find("16") != std::string::npos);
  run.write(wait->address, wait->bytes);
  check_recovers(run);
}
