// SPDX-License-Identifier: MIT
// Every wrong reading of the specification that can be switched on changes what some record does,
// and the right reading differs from none of them by accident.
#include <catch2/catch.hpp>

#include "random_records.hpp"
#include "test_memory.hpp"

using namespace neffld::compute;
using namespace neffld::compute::test;

namespace {

/// What memory is like after the records, or nothing if one of them was refused.
Windows after(Mutation mutation, const std::vector<Draft>& records) {
  TestMemory memory(window, window);
  Windows windows;
  RandomRecords random(31);
  random.fill_values(windows.sbuf, code(Dtype::fp32), 4001, 7);
  random.fill_values(windows.psum, code(Dtype::fp32), 4001, 7);
  memory.put(windows);
  Core core(memory.memory(), neffld::Arch::v3, *available_kernels().front(), mutation);
  for (const Draft& draft : records) {
    if (!core.run(draft.bytes())) return {};
  }
  memory.get(windows);
  return windows;
}

const Tensor line{sbuf(0x100), {{1, 24}}}, other{sbuf(0x800), {{1, 24}}};
const Tensor bank{psum(0), {{1, 24}}};

Draft pass(unsigned mode) {
  return load_weights({sbuf(0), {{1, 32}}}, Dtype::fp32, 16, 32).u8(0x21, mode);
}
Draft product(unsigned flags) {
  return matmul(line, bank, Dtype::fp32, 16, 32, flags).u8(0x21, 3);
}
Draft pool(unsigned axis, unsigned left) {
  return reduce({sbuf(0), {{1, 2}, {2, 3}, {6, 5}}}, {sbuf(0x800), {{1, left}}}, Dtype::fp32,
                Dtype::fp32, 8, Alu::max, axis);
}

struct Case {
  Mutation mutation;
  std::vector<Draft> records;
};

std::vector<Case> cases() {
  const Draft exp = activate(line, other, Dtype::fp32, Dtype::fp32, 8, 1);
  const Draft mixed = tensor_tensor(line, {sbuf(0x400), {{1, 24}}}, other, Dtype::fp32, Dtype::fp16,
                                    Dtype::fp32, 8, Alu::add);
  return {
      {Mutation::weights_not_reversed, {pass(3), product(1)}},
      {Mutation::begin_ignored, {pass(3), product(1)}},
      {Mutation::always_begin, {pass(3), product(0)}},
      {Mutation::drop_low_pass, {pass(1), product(1), pass(2), product(0)}},
      {Mutation::drop_high_pass, {pass(1), product(1), pass(2), product(0)}},
      {Mutation::passes_swapped, {pass(1), product(1), pass(2), product(0)}},
      {Mutation::transpose_writes_fp32,
       {memset_record({sbuf(0x1000), {{1, 1}}}, Dtype::fp16, 1, 0x3C00),
        load_weights({sbuf(0), {{1, 32}}}, Dtype::fp16, 1, 32).u8(0x22, 1),
        matmul({sbuf(0x1000), {{1, 1}}}, {psum(0), {{1, 1}}}, Dtype::fp16, 1, 32, 1).u8(0x22, 1)}},
      {Mutation::steps_in_bytes, {copy_like(0x46, line, other, Dtype::u16, Dtype::u16, 8)}},
      {Mutation::dims_reversed,
       {copy_like(0x46, {sbuf(0), {{1, 6}, {10, 4}}}, other, Dtype::u16, Dtype::u16, 8)}},
      {Mutation::negate_ignored, {pool(2, 15).u8(0x23, 1)}},
      {Mutation::bias_ignored, {Draft(exp).f32(0x28, 3)}},
      {Mutation::scale_ignored, {Draft(exp).f32(0x24, 3)}},
      {Mutation::axis_one_more, {pool(2, 15)}},
      {Mutation::axis_one_less, {pool(3, 5)}},
      {Mutation::nibbles_of_tensor_tensor_swapped, {mixed}},
      {Mutation::nibbles_of_activate_swapped,
       {Draft(exp).u8(0x20, code(Dtype::fp32) | code(Dtype::fp16) << 4)}},
  };
}

}  // namespace

TEST_CASE("each mutation changes what the records it is about do") {
  for (const Case& each : cases()) {
    INFO(static_cast<unsigned>(each.mutation));
    const Windows right = after(Mutation::none, each.records);
    const Windows wrong = after(each.mutation, each.records);
    REQUIRE(right.sbuf != Windows{}.sbuf);  // nothing was refused
    CHECK((right.sbuf != wrong.sbuf || right.psum != wrong.psum));
  }
}
