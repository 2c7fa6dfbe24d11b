// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "neffld/arch.hpp"

using namespace neffld;

TEST_CASE("core windows follow the formula of spec 03 section 7.3") {
  const ArchTable& v3 = arch_table(Arch::v3);
  for (std::uint64_t core = 0; core < 8; ++core) {
    const std::uint64_t expected =
        (core >> 2) << 47 | ((core >> 1) & 1) << 38 | (2 + (core & 1)) << 36;
    CHECK(v3.tpb_base[core] == expected);
  }
  const ArchTable& v2 = arch_table(Arch::v2);
  CHECK(v2.tpb_base[1] - v2.tpb_base[0] == 0x400'0000);
}

TEST_CASE("the state buffer of v3 core 5 lies where spec 03 section 10.1 says") {
  const ArchTable& v3 = arch_table(Arch::v3);
  CHECK(v3.tpb_base[5] == 0x803000000000);
  CHECK(v3.tpb_base[5] + 3 * v3.sbuf_partition_stride + 0x10 == 0x8030000C0010);
}

TEST_CASE("an address names its HBM, addresses between HBMs name none") {
  const ArchTable& v3 = arch_table(Arch::v3);
  CHECK(hbm_of(v3, 0) == 0);
  CHECK(hbm_of(v3, 0x5'FFFF'FFFF) == 0);
  CHECK(hbm_of(v3, 0x6'0000'0000) == 4);
  CHECK(hbm_of(v3, 0x8040'0000'0000) == 3);
  CHECK(hbm_of(arch_table(Arch::v2), 0x13'FFFF'FFFF) == 1);
}
