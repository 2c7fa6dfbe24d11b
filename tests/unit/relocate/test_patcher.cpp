// SPDX-License-Identifier: MIT
// The patch primitive: every relocated field goes through it.
#include "patcher.hpp"

#include <algorithm>
#include <limits>

#include "support.hpp"

namespace neffld::test {
namespace {

struct Bench {
  explicit Bench(std::size_t size) : section(size, 0xEE) {}
  std::vector<std::uint8_t> section;
  std::vector<LedgerRow> rows;
  Ledger ledger{[this](const LedgerRow& row) { rows.push_back(row); }};
  Patcher patcher() { return Patcher(section, 3, 17, ledger); }
  template <class T>
  Result<void> patch(std::uint64_t offset, T value) {
    return patcher().patch(offset, RelocForm::var_address, value, {Symbol::Kind::variable, 5, 0x40},
                           {SourceRecord::Kind::slot, 9});
  }
};

template <class T>
void check_span() {
  constexpr std::uint64_t size = 64, width = sizeof(T);
  struct Row {
    std::uint64_t offset;
    bool fits;
  };
  const std::vector<Row> rows = {{0, true},
                                 {size - width - 1, true},
                                 {size - width, true},
                                 {size - width + 1, false},
                                 {size - 1, width == 1},
                                 {size, false},
                                 {0ull - 8, false},
                                 {0ull - width, false},
                                 {~0ull, false}};
  for (const Row& row : rows) {
    INFO("width " << width << " offset " << row.offset);
    Bench bench(size);
    const auto result = bench.patch<T>(row.offset, 0x7F);
    CHECK(result.has_value() == row.fits);
    CHECK(bench.rows.size() == (row.fits ? 1 : 0));
    CHECK(bench.ledger.count_of(3, RelocForm::var_address) == (row.fits ? 1 : 0));
    const auto untouched = std::count(bench.section.begin(), bench.section.end(), 0xEE);
    CHECK(untouched == static_cast<std::ptrdiff_t>(size - (row.fits ? width : 0)));
    if (result) continue;
    check_error(result.error(), {"", "var_address", std::nullopt, "the section has 64 bytes"});
    CHECK(result.error().where.offset == row.offset);
  }
}

TEST_CASE("a field must lie inside its section as a whole") {
  check_span<std::uint8_t>();
  check_span<std::uint16_t>();
  check_span<std::uint32_t>();
  check_span<std::uint64_t>();
}

TEST_CASE("no field fits an empty section") {
  Bench empty(0);
  CHECK_FALSE(empty.patch<std::uint8_t>(0, 0));
  CHECK_FALSE(empty.patch<std::uint64_t>(0, 0));
}

template <class T>
void check_extremes() {
  for (const T value : {T{0}, T{1}, std::numeric_limits<T>::max()}) {
    Bench bench(16);
    REQUIRE(bench.patch<T>(4, value));
    for (std::size_t i = 0; i < 4; ++i) CHECK(bench.section[i] == 0xEE);
    for (std::size_t i = 4 + sizeof(T); i < 16; ++i) CHECK(bench.section[i] == 0xEE);
    CHECK(load_le<T>(bench.section, 4) == value);
  }
}

TEST_CASE("the least and the greatest value of a field leave its neighbours alone") {
  check_extremes<std::uint8_t>();
  check_extremes<std::uint16_t>();
  check_extremes<std::uint32_t>();
  check_extremes<std::uint64_t>();
}

TEST_CASE("fields are replaced, not merged, at any alignment, and neighbours stay") {
  for (std::uint64_t offset = 0; offset < 8; ++offset) {
    INFO("offset " << offset);
    Bench bench(24);
    REQUIRE(bench.patch<std::uint64_t>(offset, 0x0123'4567'89AB'CDEF));
    REQUIRE(bench.patch<std::uint64_t>(offset, 0x1000'0000'0000'0002));
    std::vector<std::uint8_t> expected(24, 0xEE);
    const auto value = hex("02 00 00 00 00 00 00 10");
    std::copy(value.begin(), value.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
    CHECK(bench.section == expected);
    REQUIRE(bench.rows.size() == 2);
    CHECK(bench.rows[0].old_value == 0xEEEE'EEEE'EEEE'EEEE);
    CHECK(bench.rows[1].old_value == 0x0123'4567'89AB'CDEF);
  }
}

TEST_CASE("a ledger row says where, what before, what after, and why") {
  Bench bench(32);
  bench.section = hex("00*8 11 22 33 44 00*20");
  REQUIRE(bench.patch<std::uint32_t>(8, 0xCAFE));
  REQUIRE(bench.rows.size() == 1);
  const LedgerRow& row = bench.rows[0];
  CHECK(row.kbin == 3);
  CHECK(row.request == 17);
  CHECK(row.offset == 8);
  CHECK(row.width == 4);
  CHECK(row.old_value == 0x44332211);
  CHECK(row.new_value == 0xCAFE);
  CHECK(row.form == RelocForm::var_address);
  CHECK(row.symbol.kind == Symbol::Kind::variable);
  CHECK(row.symbol.index == 5);
  CHECK(row.symbol.addend == 0x40);
  CHECK(row.source.kind == SourceRecord::Kind::slot);
  CHECK(row.source.index == 9);
  CHECK(bench.ledger.count_of(3, RelocForm::var_address) == 1);
  CHECK(bench.ledger.count_of(3, RelocForm::opcode) == 0);
  CHECK(bench.ledger.count_of(0, RelocForm::var_address) == 0);
  CHECK(bench.ledger.count_of(99, RelocForm::var_address) == 0);
}

TEST_CASE("every relocation form has a name of its own") {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < reloc_form_count; ++i) {
    names.push_back(reloc_form_name(static_cast<RelocForm>(i)));
    CHECK(names.back() != "unknown");
  }
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
}

}  // namespace
}  // namespace neffld::test
