// SPDX-License-Identifier: MIT
// Streams of the real files in the folder NEFFLD_NEFFS: every compute record is modelled.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>

#include "neffld/compute_record.hpp"
#include "real_files.hpp"

using namespace neffld;
using namespace neffld::compute;

namespace {

void check_stream(const Kbin& kbin, const EngineProgram& program,
                  std::map<unsigned, std::uint64_t>& seen) {
  Record weights;
  for (std::size_t at = 0; at < program.slots.size(); at += record_bytes) {
    const Bytes bytes = program.slots.subspan(at, record_bytes);
    if (bytes[0] >= 0xA0) continue;  // control and pseudo records
    const auto record = decode(bytes, kbin.arch);
    if (!record) {
      FAIL(fmt::format("{} slot {}: opcode 0x{:02x} byte 0x{:02x}: {}", program.bin_member,
                       at / record_bytes, bytes[0], record.error().field, record.error().text));
    }
    ++seen[bytes[0]];
    if (record->op == Op::load_weights) weights = *record;
    if (record->op != Op::matmul) continue;
    // What a product is refused for.
    REQUIRE(weights.source.dtype == record->source.dtype);
    REQUIRE(weights.transpose == record->transpose);
    REQUIRE((weights.rows == record->rows && weights.columns == record->columns));
  }
}

}  // namespace

TEST_CASE("every compute record of the real files is modelled, and products fit their weights") {
  const char* folder = std::getenv("NEFFLD_NEFFS");
  if (folder == nullptr) {
    WARN("skipped: NEFFLD_NEFFS is not set, no real stream is decoded");
    return;
  }
  std::map<unsigned, std::uint64_t> seen;
  test::for_each_real_file(folder, [&seen](const std::vector<Kbin>& kbins) {
    for (const Kbin& kbin : kbins) {
      for (const Engine engine : all_engines) check_stream(kbin, kbin.engine(engine), seen);
    }
  });
  CHECK(seen.size() == 11);  // spec 10 section 0
}
