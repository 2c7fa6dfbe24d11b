// SPDX-License-Identifier: MIT
// Indirect memcpy rings become absolute (spec 05 B5, worked example E4).
#include "imcpy.hpp"
#include "support.hpp"

namespace neffld::test {
namespace {

constexpr std::uint64_t tx_pa = 0x1'2000'0000, rx_pa = 0x1'2000'0400;

/// The ring pair of example E4 with a pointer of choice in RX descriptor 0.
struct CopyRings {
  std::vector<std::uint8_t> rx =
      hex("08 00 00 01 00 00 00 00 18 00 00 00 00 00 00 40"
          "00 01 00 01 00 00 00 00 00 90 00 00 01 00 00 00");
  std::vector<LedgerRow> rows;
  Ledger ledger{[this](const LedgerRow& row) { rows.push_back(row); }};

  Result<void> run(std::uint32_t used = 2) {
    std::vector<ImcpyRing> rings;
    rings.push_back({Patcher(rx, 1, 41, ledger), used, tx_pa, rx_pa, 40, 41});
    return absolutise_imcpy(rings);
  }
  std::string descriptor(std::size_t i) const { return to_hex(Bytes(rx).subspan(16 * i, 16)); }
  void point(std::uint64_t pointer, std::uint16_t length = 8) {
    store_le(MutableBytes(rx), 0, length);
    store_le(MutableBytes(rx), 8, pointer);
  }
};

TEST_CASE("E4: a TX-relative pointer becomes an address in the TX ring, others stay") {
  CopyRings rings;
  REQUIRE(rings.run());
  CHECK(rings.descriptor(0) == "08 00 00 01 00 00 00 00 18 00 00 20 01 00 00 00");
  CHECK(rings.descriptor(1) == "00 01 00 01 00 00 00 00 00 90 00 00 01 00 00 00");
  REQUIRE(rings.rows.size() == 1);
  const LedgerRow& row = rings.rows[0];
  CHECK(row.kbin == 1);
  CHECK(row.request == 41);
  CHECK(row.offset == 8);
  CHECK(row.width == 8);
  CHECK(row.form == RelocForm::ring_section);
  CHECK(row.old_value == 0x4000'0000'0000'0018);
  CHECK(row.new_value == 0x1'2000'0018);
  CHECK(row.symbol.kind == Symbol::Kind::section);
  CHECK(row.symbol.index == 40);
  CHECK(row.symbol.addend == 0x18);
}

TEST_CASE("E4: an RX-relative pointer becomes an address in the RX ring") {
  CopyRings rings;
  rings.point(0x8000'0000'0000'0018);
  REQUIRE(rings.run());
  CHECK(rings.descriptor(0) == "08 00 00 01 00 00 00 00 18 04 00 20 01 00 00 00");
  CHECK(rings.rows.at(0).symbol.index == 41);
}

TEST_CASE("a pointer relative to both rings is refused") {
  CopyRings rings;
  rings.point(0xC000'0000'0000'0018);
  check_refused(rings.run(), {"", "RX descriptor", 0, "relative to both rings"});
  CHECK(rings.rows.empty());
}

TEST_CASE("a relative write must end inside the used descriptors") {
  struct Row {
    std::uint64_t offset;
    std::uint16_t length;
    bool fits;
  };
  for (const Row& row :
       {Row{24, 8, true}, Row{25, 8, false}, Row{0, 32, true}, Row{0, 33, false}, Row{32, 1, false},
        Row{31, 1, true}, Row{0, 0, false} /* 65536 bytes */, Row{0x3FFF'FFFF'FFFF'FFFF, 8, false},
        Row{0x3FFF'FFFF'FFFF'FFF8, 8, false}}) {
    for (const std::uint64_t tag : {1ull << 62, 1ull << 63}) {
      INFO("offset " << row.offset << " length " << row.length);
      CopyRings rings;
      rings.point(tag | row.offset, row.length);
      const auto before = rings.rx;
      const auto result = rings.run();
      CHECK(result.has_value() == row.fits);
      if (row.fits) continue;
      check_refused(result, {"", "RX descriptor", 0, "inside the ring's 32 used bytes"});
      CHECK(rings.rx == before);
    }
  }
}

TEST_CASE("descriptors behind `used` are not touched, and `used` cannot leave the ring") {
  CopyRings rings;
  store_le<std::uint64_t>(MutableBytes(rings.rx), 24, 0x4000'0000'0000'0000);
  rings.point(0x4000'0000'0000'0000);
  REQUIRE(rings.run(1));
  CHECK(rings.descriptor(1) == "00 01 00 01 00 00 00 00 00 00 00 00 00 00 00 40");
  check_refused(rings.run(3), {"", "RX descriptor", 1, "48 used bytes"} /* 256 bytes at 0 */);
  CopyRings longer;
  store_le<std::uint64_t>(MutableBytes(longer.rx), 24, 0x9000);
  check_refused(longer.run(3), {"", "RX descriptor", 2, "the ring has 32 bytes"});
}

TEST_CASE("a set without descriptors is a failure, not a success") {
  check_refused(
      absolutise_imcpy({}),
      {"", "", std::nullopt, "trying to load an empty indirect memcpy vring set", Status::failure});
  CopyRings rings;
  check_refused(
      rings.run(0),
      {"", "", std::nullopt, "trying to load an empty indirect memcpy vring set", Status::failure});
}

TEST_CASE("the 62-bit offset covers the template bit") {
  CopyRings rings;
  rings.point(0x2000'0000'0000'0018);  // bit 61 alone is no tag of this pass
  REQUIRE(rings.run());
  CHECK(rings.rows.empty());
  rings.point(0x6000'0000'0000'0018);
  check_refused(rings.run(), {"", "RX descriptor", 0, "ring offset 0x2000000000000018"});
}

}  // namespace
}  // namespace neffld::test
