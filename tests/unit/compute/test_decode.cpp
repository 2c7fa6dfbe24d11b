// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "records.hpp"

using namespace neffld;
using namespace neffld::compute;
using namespace neffld::compute::test;

namespace {

Record decoded(const Draft& draft, Arch arch = Arch::v3) {
  auto record = decode(draft.bytes(), arch);
  if (!record) FAIL(fmt::format("byte 0x{:02x}: {}", record.error().field, record.error().text));
  return *record;
}

/// Refused at that byte, with a sentence that has the words.
void refused(const Draft& draft, unsigned field, std::string_view words, Arch arch = Arch::v3) {
  const auto record = decode(draft.bytes(), arch);
  REQUIRE_FALSE(record);
  INFO(record.error().text);
  CHECK(record.error().field == field);
  CHECK(record.error().text.find(words) != std::string::npos);
}

struct Shape {
  Space space;
  std::uint32_t offset;
  std::vector<Dim> dims;  ///< steps in bytes
};
void check_view(const OperandView& view, const Shape& shape) {
  CHECK(view.space == shape.space);
  CHECK(view.offset == shape.offset);
  REQUIRE(view.dims == shape.dims.size());
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    CHECK(view.step[i] == shape.dims[i].step);
    CHECK(view.count[i] == shape.dims[i].count);
  }
}

const Tensor line{sbuf(0x100), {{1, 64}}};
const Tensor other{sbuf(0x1000), {{1, 64}}};
const Tensor bank{psum(0), {{1, 64}}};

Draft some_weights() {
  return load_weights({sbuf(0), {{1, 128}}}, Dtype::fp16, 128, 128);
}
Draft some_matmul() {
  return matmul(line, bank, Dtype::fp16, 128, 128, 3);
}
Draft some_activate() {
  return activate(line, other, Dtype::fp32, Dtype::fp32, 128, 7);
}
Draft some_add() {
  return tensor_tensor(line, line, other, Dtype::fp32, Dtype::fp32, Dtype::fp32, 128, Alu::add);
}
Draft some_reduce() {
  return reduce({sbuf(0), {{1, 4}, {4, 8}}}, {sbuf(0x1000), {{1, 8}}}, Dtype::fp32, Dtype::fp32,
                128, Alu::max, 2);
}
Draft some_scalar() {
  return tensor_scalar(line, other, Dtype::fp32, Dtype::fp32, 128, Alu::mult, 2);
}
Draft some_copy() {
  return copy_like(0x46, line, other, Dtype::i32, Dtype::i32, 128);
}
Draft some_memset() {
  return memset_record(other, Dtype::fp16, 128, 0);
}

}  // namespace

TEST_CASE("the worked examples of the specification decode to what it says of them") {
  const Record weights = decoded(
      Draft::from_hex("01100000 05040000 01000000 00000000 fe400000 ffff0000 e0ff2000 01000400"
                      "07000000 00008080 00000000 0f0f0000 00000000 00000000 00000000 00000000"));
  CHECK(weights.op == Op::load_weights);
  check_view(weights.source, {Space::sbuf, 0x40FE, {{-2, 128}}});  // (-1,-32)x(32,4) is one line
  CHECK(weights.source.dtype == Dtype::fp16);
  CHECK((weights.rows == 128 && weights.columns == 128));

  const Record product = decoded(
      Draft::from_hex("02100000 00001305 00000000 00000000 007f0300 01000000 00004000 01000100"
                      "07000000 00008080 00000001 0f0f0000 00000002 01000000 00004000 01000100"));
  CHECK(product.op == Op::matmul);
  CHECK(product.begin);
  CHECK_FALSE(product.transpose);
  check_view(product.source, {Space::sbuf, 0x37F00, {{2, 64}}});
  check_view(product.destination, {Space::psum, 0, {{4, 64}}});
  CHECK(product.destination.dtype == Dtype::fp32);

  const Record transposed = decoded(
      Draft::from_hex("02100000 00001305 00000000 00000000 007b0300 01000000 00008000 01000100"
                      "07000100 00008080 00000003 0f0f0000 00080002 01000000 00008000 01000100"));
  CHECK(transposed.transpose);
  check_view(transposed.source, {Space::sbuf, 0x37B00, {{2, 128}}});
  check_view(transposed.destination, {Space::psum, 0x800, {{2, 128}}});
  CHECK(transposed.destination.dtype == Dtype::fp16);

  const Record exp = decoded(
      Draft::from_hex("21100000 05061304 19000000 00000000 f85f0300 01000100 01000002 01000100"
                      "aa0a8007 0000803f 40c00000 00000000 60c00000 01000100 01000002 01000100"));
  CHECK(exp.op == Op::activate);
  CHECK(exp.function == 7);
  CHECK((exp.scale.value == 1 && !exp.scale.pointer));
  CHECK((exp.bias.pointer && exp.bias.space == Space::sbuf && exp.bias.offset == 0xC040));
  CHECK(exp.bias.dtype == Dtype::fp32);
  check_view(exp.source, {Space::sbuf, 0x35FF8, {{4, 512}}});
  check_view(exp.destination, {Space::sbuf, 0xC060, {{4, 512}}});
  CHECK(exp.source.partitions == 128);

  const Record max = decoded(
      Draft::from_hex("42100000 051a1306 10000000 f81f0300 01000100 01000100 00020100 01000100"
                      "0a0a8000 08020000 00000000 20c00000 01000100 01000100 01000100 01000100"));
  CHECK(max.op == Op::reduce);
  CHECK(max.alu0 == Alu::max);
  CHECK(max.reduced == 512);
  check_view(max.source, {Space::sbuf, 0x31FF8, {{4, 512}}});
  check_view(max.destination, {Space::sbuf, 0xC020, {{4, 1}}});
}

TEST_CASE("unit dims are dropped and dims that continue each other become one") {
  const auto view = [](std::vector<Dim> dims) {
    Tensor tensor{sbuf(0x200), std::move(dims)};
    Tensor flat{sbuf(0x8000), {{1, 1}}};
    for (const Dim& dim : tensor.dims) flat.dims[0].count *= dim.count;
    return decoded(copy_like(0x46, tensor, flat, Dtype::fp16, Dtype::fp16, 4)).source;
  };
  check_view(view({{1, 8}, {8, 4}, {32, 2}}), {Space::sbuf, 0x200, {{2, 64}}});
  check_view(view({{1, 8}, {99, 1}, {16, 2}}), {Space::sbuf, 0x200, {{2, 8}, {32, 2}}});
  check_view(view({{1, 1}, {3, 2}, {1, 1}, {-6, 2}}), {Space::sbuf, 0x200, {{6, 2}, {-12, 2}}});
  check_view(view({{0, 5}, {0, 3}}), {Space::sbuf, 0x200, {{0, 15}}});
  check_view(view({{7, 1}}), {Space::sbuf, 0x200, {{2, 1}}});
  const OperandView negative = view({{-1, 8}, {32, 4}});
  CHECK(negative.low == 0x200 - 14);
  CHECK(negative.high == 0x200 + 3 * 64 + 2);
  CHECK(negative.elements == 32);
}

TEST_CASE("an operand stays inside its partition") {
  const auto copy = [](std::uint32_t address, int step, unsigned count) {
    return copy_like(0x46, {address, {{step, count}}}, {sbuf(0x8000), {{1, count}}}, Dtype::fp16,
                     Dtype::fp16, 128);
  };
  decoded(copy(sbuf(0x2FFFE), 1, 1), Arch::v2);
  refused(copy(sbuf(0x30000), 1, 1), 0x0C, "expected 0 to 196607", Arch::v2);
  decoded(copy(sbuf(0x37FFE), 1, 1));
  refused(copy(sbuf(0x38000), 1, 1), 0x0C, "expected 0 to 229375");
  decoded(copy(psum(0x3FFE), 1, 1));
  refused(copy(psum(0x4000), 1, 1), 0x0C, "of its PSUM partitions, expected 0 to 16383");
  decoded(copy(sbuf(14), -1, 8));
  refused(copy(sbuf(14), -1, 9), 0x0C, "reaches bytes -2 to 15");
  refused(copy(sbuf(0x37FFC), 1, 3), 0x0C, "reaches bytes 229372 to 229377");
  refused(copy(sbuf(0), 32767, 8), 0x0C, "reaches bytes 0 to 458739");
}

TEST_CASE("partitions follow the quadrant rule") {
  const auto copy = [](unsigned partition, unsigned count) {
    return copy_like(0x46, {sbuf(0, partition), {{1, 8}}}, {psum(0), {{1, 8}}}, Dtype::fp32,
                     Dtype::fp32, count);
  };
  const Record record = decoded(copy(64, 64));
  CHECK((record.source.partition == 64 && record.source.partitions == 64));
  decoded(copy(32, 32));
  decoded(copy(96, 32));
  decoded(copy(0, 128));
  refused(copy(1, 1), 0x0C, "starts at partition 1, expected 0, 32, 64 or 96");
  refused(copy(32, 33), 0x0C, "has 33 partitions from partition 32, expected at most 32");
  refused(copy(64, 65), 0x0C, "expected at most 64");
  refused(copy(96, 33), 0x0C, "expected at most 32");
  refused(some_copy().u8(0x22, 0), 0x22, "partitions is 0, expected 1 to 128");
  refused(some_copy().u8(0x22, 129), 0x22, "partitions is 129, expected 1 to 128");
}

TEST_CASE("addresses of other forms and misaligned ones are refused") {
  refused(some_copy().u8(0x0F, 0x80), 0x0C, "register or indirect form");
  refused(some_copy().u8(0x0F, 0x40), 0x0C, "register or indirect form");
  refused(some_copy().u8(0x2F, 0x20), 0x2C, "dst has address 0x20001000");
  refused(some_copy().u32(0x0C, 0x0400'0000), 0x0C, "expected SBUF (below 0x2000000) or PSUM");
  refused(some_copy().u32(0x0C, psum(0, 128)), 0x0C, "PSUM (0x2000000 to 0x23fffff)");
  refused(some_copy().u32(0x0C, sbuf(2)), 0x0C, "a multiple of 4, the size of its i32 elements");
}

TEST_CASE("element types without arithmetic are refused by name, others accepted") {
  for (unsigned dtype = 0; dtype < 256; ++dtype) {
    const Draft draft = some_copy().u8(0x20, dtype).u8(0x21, dtype);
    INFO(dtype);
    if (dtype >= 2 && dtype <= 10) {
      decoded(draft);
    } else {
      refused(draft, 0x20, "expected i8, u8, i16, u16, bf16, fp16, i32, u32 or fp32");
    }
  }
  refused(some_copy().u8(0x20, 11), 0x20, "in_dtype has element type fp32r (11)");
  refused(some_add().u8(0x0C, 0xEA), 0x0C, "dtypes has element type fp8e4 (14)");
  refused(some_matmul().u8(0x20, 13), 0x20, "fp8e3");
  refused(some_matmul().u8(0x20, 8), 0x20, "dtype is i32, expected bf16, fp16 or fp32");
}

TEST_CASE("both sides of a record have the same number of elements") {
  refused(some_copy().u16(0x38, 63), 0x2C, "dst has 63 elements, expected the 64 of src");
  refused(some_add().u16(0x2A, 32), 0x20, "src1 has 32 elements, expected the 64 of src0");
  refused(some_add().u16(0x3A, 32), 0x30, "dst has 32 elements, expected the 64 of src0");
  refused(some_activate().u16(0x3A, 1), 0x30, "expected the 64 of src");
  refused(some_scalar().u16(0x3A, 1), 0x30, "expected the 64 of src");
  refused(some_matmul().u16(0x3A, 65), 0x30, "dst has 65 elements, expected the 64 of moving");
  refused(some_weights().u8(0x27, 127), 0x10, "src has 128 elements, expected the 127 of columns");
  refused(some_memset().u32(0x1C, 65), 0x1C, "elements is 65, expected the 64 of dst");
  refused(some_copy().u16(0x18, 0), 0x0C, "src has 0 elements");
  refused(some_copy().u16(0x18, 0xFFFF).u16(0x1A, 0xFFFF), 0x0C, "expected 1 to 229376");
  refused(some_matmul().u16(0x1A, 513), 0x10, "moving has 513 elements, expected 1 to 512");
  refused(some_reduce().u16(0x38, 9), 0x2C, "expected the 8 of src after reduction");
}

TEST_CASE("axis codes name how many of the inner dims are reduced") {
  const Tensor source{sbuf(0), {{1, 2}, {2, 3}, {6, 5}, {30, 7}}};
  const auto reduced = [&](unsigned axis, unsigned left) {
    return decoded(reduce(source, {sbuf(0x4000), {{1, left}}}, Dtype::fp32, Dtype::fp32, 1,
                          Alu::add, axis))
        .reduced;
  };
  CHECK(reduced(2, 105) == 2);
  CHECK(reduced(3, 35) == 6);
  CHECK(reduced(4, 7) == 30);
  CHECK(reduced(5, 1) == 210);
  for (const unsigned axis : {0u, 1u, 6u, 255u}) {
    refused(some_reduce().u8(0x25, axis), 0x25, "expected 2 to 5");
  }
}

TEST_CASE("what is not modelled is refused with its field") {
  refused(some_weights().u8(0x23, 1), 0x23, "perf_opt is 1, expected 0");
  refused(some_weights().u16(0x24, 0x100), 0x24, "quant is 256, expected 0");
  refused(some_weights().u8(0x21, 4), 0x21, "fp32_mode is 4, expected 0 to 3");
  refused(some_weights().u8(0x21, 1), 0x21, "fp32_mode is 1 on fp16, expected 0");
  refused(some_weights().u8(0x22, 1), 0x22, "transpose is 1, expected 0", Arch::v2);
  refused(some_weights().u8(0x22, 2), 0x22, "transpose is 2, expected 0 to 1");
  refused(some_weights().u8(0x26, 0), 0x26, "rows is 0, expected 1 to 128");
  refused(some_weights().u8(0x2C, 0), 0x2C, "row_group is 0");
  refused(some_weights().u8(0x2E, 2), 0x2E, "xbus is 2, expected 0");
  decoded(some_weights().u8(0x2E, 2), Arch::v2);
  refused(some_weights().u32(0x10, psum(0)), 0x10, "src is in PSUM, expected SBUF");
  refused(some_matmul().u32(0x10, psum(0)), 0x10, "moving is in PSUM, expected SBUF");
  refused(some_matmul().u32(0x30, sbuf(0)), 0x30, "dst is in SBUF, expected PSUM");
  refused(some_matmul().u8(0x2B, 4), 0x2B, "accumulate is 4, expected 0 to 3");
  refused(some_matmul().u8(0x22, 1).u8(0x2B, 2), 0x2B, "accumulate is 2 with transpose");
  refused(some_matmul().u8(0x2F, 1), 0x2F, "zero_region is 1, expected 0");
  refused(some_matmul().u8(0x28, 7), 0x28, "out_dtype is 7, expected 0");
  refused(matmul(line, bank, Dtype::fp32, 128, 128, 3).u8(0x21, 2), 0x21, "expected 0 or 3");
  refused(some_activate().u8(0x0E, 1), 0x0E, "accumulator is 1, expected 0");
  refused(some_activate().u8(0x0C, 2), 0x0C, "imm_src is 2, expected 0 to 1");
  refused(some_activate().u8(0x0D, 2), 0x0D, "scale_src is 2, expected 0 to 1");
  refused(some_activate().u8(0x0F, 2), 0x0F, "bias_src is 2, expected 0 to 1");
  refused(some_activate().u32(0x2C, 1), 0x2C, "imm is 1, expected 0");
  refused(some_activate().u8(0x23, 4), 0x23, "parametric_relu");
  refused(some_activate().u8(0x0F, 0).u8(0x20, 0xAA).u32(0x28, 2), 0x28, "a multiple of 4");
  refused(some_activate().u8(0x0F, 0).u8(0x20, 0x1A), 0x20, "element type u64 (1)");
  refused(some_activate().u8(0x0D, 1).u32(0x24, sbuf(0x38000)), 0x24, "expected at most 229372");
  refused(some_scalar().u8(0x0C, 1), 0x0C, "accumulator is 1, expected 0");
  refused(some_scalar().u8(0x23, 2), 0x23, "imm0_src is 2, expected 0 to 1");
  refused(some_scalar().u8(0x26, 4), 0x26, "reverse is 4, expected 0 to 3");
  refused(some_scalar().u8(0x26, 2), 0x26, "operation of one argument");
  refused(some_scalar().u8(0x23, 1).u32(0x28, 2), 0x28, "a multiple of 4");
  refused(Draft(some_scalar()).u8(0, 0x44), 0x23, "imm0_src is 0, expected 1");
  refused(some_reduce().u8(0x26, 1), 0x26, "mask is 1, expected 0");
  refused(some_reduce().u8(0x23, 2), 0x23, "negate is 2, expected 0 to 1");
  refused(some_copy().u8(0x21, code(Dtype::fp32)), 0x21, "COPY moves bits");
  refused(some_memset().u8(0x24, 1), 0x24, "serial is 1, expected 0");
  refused(some_memset().u32(0x28, 0x10000), 0x28, "at most 16 bits for fp16");
}

TEST_CASE("operations without a clear meaning are refused, with the list of those that have one") {
  refused(some_add().u8(0x0E, code(Alu::mod)), 0x0E, "op is mod (0x1b), expected one of");
  refused(some_add().u8(0x0E, 0), 0x0E, "op is bypass (0x00)");
  refused(some_add().u8(0x0E, 0x77), 0x0E, "op is unknown (0x77)");
  refused(some_add().u8(0x0E, code(Alu::bit_and)), 0x0E, "op is and on fp32");
  refused(some_add().u8(0x0E, code(Alu::int_add)).u8(0x0C, 0x88).u8(0x0D, 8), 0x0E, "int-add",
          Arch::v2);
  decoded(some_add().u8(0x0E, code(Alu::int_add)).u8(0x0C, 0x88).u8(0x0D, 8));
  refused(some_reduce().u8(0x24, code(Alu::subtract)), 0x24, "expected one of add, mult, max");
  refused(some_scalar().u8(0x24, code(Alu::bit_or)), 0x24, "op0 is or (0x0b)");
  refused(some_scalar().u8(0x25, code(Alu::crc32)), 0x25, "op1 is crc32 (0x1c)");
}

TEST_CASE("bytes without a field must be zero") {
  const std::vector<Draft> drafts = {some_weights(),    some_matmul(), some_activate(),
                                     load_functions(3), some_add(),    some_reduce(),
                                     some_scalar(),     some_copy(),   some_memset()};
  for (const Draft& draft : drafts) {
    decoded(draft);
    const Description& description = *description_of(draft.bytes()[0]);
    for (unsigned at = 0x0C; at < 64; ++at) {
      const bool described =
          std::any_of(description.fields.begin(), description.fields.end(), [&](const auto& field) {
            return at >= field.offset && at < field.offset + unsigned{field.width};
          });
      INFO(description.name << " byte " << at);
      if (!described) refused(Draft(draft).u8(at, 1), at, "it has no known meaning");
    }
  }
}

TEST_CASE("opcodes and architectures outside the tables are refused as a whole") {
  unsigned known = 0;
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    if (is_compute(static_cast<std::uint8_t>(opcode))) {
      ++known;
    } else {
      refused(Draft(static_cast<std::uint8_t>(opcode)), 0,
              fmt::format("compute opcode 0x{:02x} is not modelled", opcode));
    }
  }
  CHECK(known == 12);
  refused(some_copy(), 0, "compute of architecture 4 is not modelled, expected 2 or 3", Arch::v4);
}

TEST_CASE("any 64 bytes are decoded or refused with a field and a sentence") {
  std::uint64_t state = 1;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint8_t>(state >> 56);
  };
  const std::vector<Draft> drafts = {some_weights(), some_matmul(), some_activate(), some_add(),
                                     some_reduce(),  some_scalar(), some_copy(),     some_memset()};
  unsigned accepted = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    Draft draft = drafts[round % drafts.size()];
    for (unsigned change = 0; change <= round % 3; ++change) draft.u8(0x0C + next() % 52, next());
    const auto record = decode(draft.bytes(), round % 2 ? Arch::v2 : Arch::v3);
    if (!record) {
      CHECK(record.error().field < 64);
      CHECK_FALSE(record.error().text.empty());
      continue;
    }
    ++accepted;
    for (const OperandView* view : {&record->source, &record->source1, &record->destination}) {
      if (view->dims == 0) continue;
      CHECK(view->low <= view->offset);
      CHECK(view->offset < view->high);
      CHECK(view->high <= (view->space == Space::psum ? 0x4000u : 0x38000u));
      CHECK(view->partition + view->partitions <= 128);
    }
  }
  CHECK(accepted > 1000);
}
