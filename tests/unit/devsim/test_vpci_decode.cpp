// SPDX-License-Identifier: MIT
// The instructions by which drivers reach registers (devsim/vpci), as assemblers write them.
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "vpci_decode.h"

namespace {

constexpr int kRax = 0, kRcx = 1, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7, kR9 = 9,
              kR12 = 12, kR13 = 13, kR15 = 15;

/// Decodes code that must be known to its end, whatever follows it.
vpci_instruction decode(std::vector<std::uint8_t> code) {
  const auto length = code.size();
  vpci_instruction out{};
  code.insert(code.end(), {0x90, 0x90, 0x90});
  REQUIRE(vpci_decode(code.data(), code.size(), &out));
  CHECK(out.length == length);
  return out;
}

bool is_known(const std::vector<std::uint8_t>& code) {
  vpci_instruction out{};
  return vpci_decode(code.data(), code.size(), &out);
}

void check_address(const vpci_instruction& code, int base, std::int64_t displacement) {
  CHECK(code.base == base);
  CHECK(code.index == VPCI_NO_REGISTER);
  CHECK(code.displacement == displacement);
}

}  // namespace

TEST_CASE("word moves in both directions") {
  auto code = decode({0x8B, 0x07});  // mov (%rdi),%eax
  CHECK(code.operation == VPCI_LOAD);
  CHECK(code.bytes == 4);
  CHECK(code.result_bytes == 4);
  CHECK(code.reg == kRax);
  check_address(code, kRdi, 0);

  code = decode({0x89, 0x9E, 0x24, 0x40, 0xC8, 0x06});  // mov %ebx,0x6c84024(%rsi)
  CHECK(code.operation == VPCI_STORE);
  CHECK(code.reg == kRbx);
  check_address(code, kRsi, 0x6C84024);
}

TEST_CASE("moves of other widths") {
  CHECK(decode({0x8A, 0x07}).bytes == 1);               // mov (%rdi),%al
  CHECK(decode({0x66, 0x89, 0x07}).bytes == 2);         // mov %ax,(%rdi)
  CHECK(decode({0x48, 0x89, 0x07}).bytes == 8);         // mov %rax,(%rdi)
  CHECK(decode({0x48, 0x8B, 0x07}).result_bytes == 8);  // mov (%rdi),%rax
  const auto high = decode({0x88, 0x27});               // mov %ah,(%rdi)
  CHECK(high.reg == kRax);
  CHECK(high.high_byte);
  const auto low = decode({0x40, 0x88, 0x27});  // mov %spl,(%rdi)
  CHECK(low.reg == kRsp);
  CHECK_FALSE(low.high_byte);
}

TEST_CASE("the registers that need a prefix") {
  auto code = decode({0x45, 0x8B, 0x4D, 0xFC});  // mov -4(%r13),%r9d
  CHECK(code.reg == kR9);
  check_address(code, kR13, -4);
  code = decode({0x45, 0x89, 0x3C, 0x24});  // mov %r15d,(%r12)
  CHECK(code.reg == kR15);
  check_address(code, kR12, 0);
}

TEST_CASE("scaled addresses") {
  auto code = decode({0x8B, 0x44, 0x8B, 0x10});  // mov 0x10(%rbx,%rcx,4),%eax
  CHECK(code.base == kRbx);
  CHECK(code.index == kRcx);
  CHECK(code.shift == 2);
  CHECK(code.displacement == 0x10);
  code = decode({0x42, 0x8B, 0x04, 0xA5, 0, 1, 0, 0});  // mov 0x100(,%r12,4),%eax
  CHECK(code.base == VPCI_NO_REGISTER);
  CHECK(code.index == kR12);
  CHECK(code.displacement == 0x100);
  check_address(decode({0x8B, 0x04, 0x24}), kRsp, 0);  // mov (%rsp),%eax
  check_address(decode({0x8B, 0x45, 0x00}), kRbp, 0);  // mov (%rbp),%eax
  check_address(decode({0x89, 0x84, 0x24, 0, 0, 0, 0x80}), kRsp, INT32_MIN);
}

TEST_CASE("immediates are extended with their sign") {
  CHECK(decode({0xC7, 0x07, 1, 0, 0, 0}).immediate == 1);   // movl $1,(%rdi)
  CHECK(decode({0xC6, 0x47, 3, 0xFF}).immediate == ~0ull);  // movb $-1,3(%rdi)
  CHECK(decode({0x66, 0xC7, 0x07, 0x34, 0x12}).immediate == 0x1234);
  const auto wide = decode({0x48, 0xC7, 0x07, 0xFE, 0xFF, 0xFF, 0xFF});  // movq $-2,(%rdi)
  CHECK(wide.bytes == 8);
  CHECK(wide.immediate == ~1ull);
}

TEST_CASE("loads that extend") {
  auto code = decode({0x0F, 0xB6, 0x07});  // movzbl (%rdi),%eax
  CHECK(code.bytes == 1);
  CHECK(code.result_bytes == 4);
  CHECK_FALSE(code.sign);
  code = decode({0x48, 0x0F, 0xBF, 0x07});  // movswq (%rdi),%rax
  CHECK(code.bytes == 2);
  CHECK(code.result_bytes == 8);
  CHECK(code.sign);
  code = decode({0x48, 0x63, 0x07});  // movslq (%rdi),%rax
  CHECK(code.bytes == 4);
  CHECK(code.sign);
}

TEST_CASE("string instructions") {
  auto code = decode({0xF3, 0xA5});  // rep movsl
  CHECK(code.operation == VPCI_MOVE_STRING);
  CHECK(code.bytes == 4);
  CHECK(code.repeated);
  code = decode({0xF3, 0x48, 0xAB});  // rep stosq
  CHECK(code.operation == VPCI_STORE_STRING);
  CHECK(code.bytes == 8);
  CHECK_FALSE(decode({0xA4}).repeated);  // movsb
}

TEST_CASE("what is no access to a register is not known") {
  CHECK_FALSE(is_known({}));
  CHECK_FALSE(is_known({0x8B}));                    // cut
  CHECK_FALSE(is_known({0x8B, 0x87, 1, 2, 3}));     // cut
  CHECK_FALSE(is_known({0x8B, 0xC1}));              // mov %ecx,%eax
  CHECK_FALSE(is_known({0x8B, 0x05, 0, 0, 0, 0}));  // relative to the instruction
  CHECK_FALSE(is_known({0xC7, 0x4F, 0, 0, 0, 0, 0}));
  CHECK_FALSE(is_known({0x01, 0x07}));        // add %eax,(%rdi)
  CHECK_FALSE(is_known({0x65, 0x8B, 0x07}));  // mov %gs:(%rdi),%eax
  CHECK_FALSE(is_known(std::vector<std::uint8_t>(16, 0x66)));
}
