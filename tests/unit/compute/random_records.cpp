// SPDX-License-Identifier: MIT
#include "random_records.hpp"

#include <algorithm>
#include <cstring>

namespace neffld::compute::test {
namespace {

constexpr Alu binary_operations[] = {Alu::add,      Alu::subtract,    Alu::mult,       Alu::divide,
                                     Alu::max,      Alu::min,         Alu::logical_or, Alu::eq,
                                     Alu::gt,       Alu::ge,          Alu::le,         Alu::lt,
                                     Alu::ne,       Alu::add,         Alu::max,        Alu::mult,
                                     Alu::abs_diff, Alu::logical_and, Alu::logical_xor};
constexpr Alu bit_operations[] = {Alu::bit_and,           Alu::bit_or,      Alu::bit_xor,
                                  Alu::shift_left,        Alu::shift_right, Alu::shift_left_signed,
                                  Alu::shift_right_signed};
constexpr Alu integer_operations[] = {Alu::int_add, Alu::int_mult, Alu::int_subtract};
constexpr Alu reductions[] = {Alu::add, Alu::mult, Alu::max, Alu::min};
constexpr Alu unary_operations[] = {Alu::bypass, Alu::abs, Alu::rsqrt};

}  // namespace

Dtype RandomRecords::dtype() {
  return static_cast<Dtype>(2 + below(9));
}

Dtype RandomRecords::integer_dtype() {
  constexpr Dtype all[] = {Dtype::i8, Dtype::u8, Dtype::i16, Dtype::u16, Dtype::i32, Dtype::u32};
  return one_of(all);
}

RandomRecords::Partitions RandomRecords::partitions_of_record() {
  constexpr unsigned firsts[] = {0, 0, 0, 32, 64, 96};
  const unsigned first = one_of(firsts);
  const unsigned most = first == 0 ? 128 : first == 64 ? 64 : 32;
  return {first, 1 + below(std::min(most, 40u))};
}

std::vector<unsigned> RandomRecords::factors(unsigned elements, unsigned dims) {
  std::vector<unsigned> counts(dims, 1);
  for (unsigned left = elements, divisor = 2; left > 1;) {
    if (left % divisor != 0) {
      ++divisor;
      continue;
    }
    counts[below(dims)] *= divisor;
    left /= divisor;
  }
  return counts;
}

Tensor RandomRecords::tensor(Dtype dtype, unsigned elements, unsigned dims, bool psum_space,
                             std::uint32_t partition, bool may_repeat) {
  const auto size = static_cast<int>(element_bytes(dtype));
  const int room = static_cast<int>(window) / size;
  Tensor tensor;
  int low = 0, high = 0, nested = 1;
  const unsigned style = below(3);  // contiguous, anything, nested with gaps
  for (const unsigned count : factors(elements, dims)) {
    Dim dim{nested, count};
    if (style == 1) dim.step = static_cast<int>(below(13)) - 6;
    if (style == 1 && dim.step == 0 && !may_repeat) dim.step = 7;
    if (style == 2) dim.step = nested * static_cast<int>(1 + below(2));
    if (style == 2 && below(4) == 0) dim.step = -dim.step;
    const int reach = dim.step * static_cast<int>(count - 1);
    (reach < 0 ? low : high) += reach;
    nested = std::abs(dim.step) * static_cast<int>(count);
    tensor.dims.push_back(dim);
  }
  if (high - low >= room)
    return this->tensor(dtype, elements, dims, psum_space, partition, may_repeat);
  const auto first = static_cast<unsigned>(-low);
  const unsigned start = first + below(static_cast<unsigned>(room - (high - low)));
  const auto offset = static_cast<std::uint32_t>(start * static_cast<unsigned>(size));
  tensor.address = psum_space ? psum(offset, partition) : sbuf(offset, partition);
  return tensor;
}

/// Makes the scalar a pointer or not.
Draft RandomRecords::with_scalars(Draft draft, std::size_t source, std::size_t at,
                                  unsigned pointer_code, unsigned partition) {
  const bool pointer = below(2) == 0;
  draft.u8(source, pointer ? pointer_code : 1 - pointer_code);
  if (!pointer) return draft.f32(at, static_cast<float>(below(64)) / 8 - 4);
  const std::uint32_t offset = 4 * below(window / 4);
  return draft.u32(at, below(2) ? psum(offset, partition) : sbuf(offset, partition));
}

Draft RandomRecords::next_tensor_tensor(Partitions where, unsigned elements) {
  Dtype in0 = dtype(), in1 = dtype(), out = dtype();
  Alu op = one_of(binary_operations);
  if (below(3) == 0) {
    in0 = in1 = out = integer_dtype();
    op = one_of(bit_operations);
  } else if (below(4) == 0) {
    in0 = integer_dtype();
    in1 = integer_dtype();
    out = integer_dtype();
    op = one_of(integer_operations);
  }
  const Tensor a = tensor(in0, elements, 3, below(2), where.first, true);
  const Tensor b = tensor(in1, elements, 3, below(2), where.first, true);
  Tensor to = tensor(out, elements, 3, below(2), where.first, true);
  if (below(3) == 0 && out == in1) to = b;  // in place
  return tensor_tensor(a, b, to, in0, in1, out, where.count, op);
}

Draft RandomRecords::next_reduce(Partitions where) {
  Dtype in = dtype(), out = dtype();
  Alu op = one_of(reductions);
  unsigned negate = below(2);
  if (below(4) == 0) {
    in = out = integer_dtype();
    op = bit_operations[below(3)];
    negate = 0;
  }
  const Tensor from = tensor(in, 1 + below(200), 4, below(2), where.first, true);
  const unsigned axis = 2 + below(4);
  unsigned left = 1;
  for (unsigned i = axis - 1; i < 4; ++i) left *= from.dims[i].count;
  const Tensor to = tensor(out, left, 4, below(2), where.first, true);
  return reduce(from, to, in, out, where.count, op, axis).u8(0x23, negate);
}

Draft RandomRecords::next_tensor_scalar(Partitions where, unsigned elements) {
  const Dtype in = dtype(), out = dtype();
  const Tensor from = tensor(in, elements, 3, below(2), where.first, true);
  const Tensor to = tensor(out, elements, 3, below(2), where.first, true);
  Draft draft = tensor_scalar(from, to, in, out, where.count, Alu::add, 0);
  unsigned reverse = below(4);
  for (const unsigned n : {0u, 1u}) {
    const bool unary = below(3) == 0;
    draft.u8(0x24 + n, code(unary ? one_of(unary_operations) : one_of(binary_operations)));
    if (unary) reverse &= ~(1u << n);
  }
  draft = with_scalars(draft, 0x23, 0x28, 1, where.first);
  return with_scalars(draft, 0x27, 0x2C, 1, where.first).u8(0x26, reverse);
}

Draft RandomRecords::next_activate(Partitions where, unsigned elements) {
  const Dtype in = dtype(), out = dtype();
  const Tensor from = tensor(in, elements, 3, below(2), where.first, true);
  const Tensor to = tensor(out, elements, 3, below(2), where.first, true);
  Draft draft = activate(from, to, in, out, where.count, below(2) ? 1 : 128);
  draft = with_scalars(draft, 0x0D, 0x24, 1, where.first);
  draft = with_scalars(draft, 0x0F, 0x28, 0, where.first);
  return draft.u8(0x20, code(in) | 10u << 4);
}

Draft RandomRecords::next_copy(Partitions where, unsigned elements, std::uint8_t opcode) {
  const Dtype in = dtype();
  const Dtype out = opcode == 0x46 ? in : dtype();
  const Tensor from = tensor(in, elements, 4, below(2), where.first, true);
  Tensor to = tensor(out, elements, 4, below(2), where.first, true);
  if (below(3) == 0) {  // partly over the source
    to = {from.address, {{1, elements}}};
    if ((from.address & 0x7FFF) + elements * 4 > window) to.dims[0].step = -1;
    if (to.dims[0].step == -1 && (from.address & 0x7FFF) < elements * 4) to.address -= 0;
  }
  Draft draft = copy_like(opcode, from, to, in, out, where.count);
  return decode(draft.bytes(), Arch::v3) ? draft : next_copy(where, elements, opcode);
}

Draft RandomRecords::next() {
  const Partitions where = partitions_of_record();
  const unsigned elements = 1 + below(220);
  switch (below(7)) {
    case 0:
      return next_tensor_tensor(where, elements);
    case 1:
      return next_reduce(where);
    case 2:
      return next_tensor_scalar(where, elements);
    case 3:
      return next_activate(where, elements);
    case 4: {
      const Dtype type = dtype();
      const std::uint32_t mask = ~0u >> (32 - 8 * element_bytes(type));
      return memset_record(tensor(type, elements, 4, below(2), where.first, true), type,
                           where.count, static_cast<std::uint32_t>(random_()) & mask);
    }
    default: {
      constexpr std::uint8_t opcodes[] = {0x46, 0x47, 0x48};
      return next_copy(where, elements, one_of(opcodes));
    }
  }
}

void RandomRecords::fill(Windows& windows, bool raw, unsigned dtype) {
  for (auto* space : {&windows.sbuf, &windows.psum}) {
    if (raw) {
      for (std::size_t i = 0; i < space->size(); i += 8) {
        const std::uint64_t word = random_();
        std::memcpy(&(*space)[i], &word, 8);
      }
      continue;
    }
    fill_values(*space, dtype, 4001, 16);
  }
}

void RandomRecords::fill_values(std::vector<std::uint8_t>& space, unsigned dtype, unsigned count,
                                float divisor) {
  const unsigned size = element_size(dtype), half = count / 2;
  std::uint32_t values[256];
  for (std::uint32_t& value : values) {
    const float whole = static_cast<float>(below(count)) - static_cast<float>(half);
    value = encode_element(dtype, whole / divisor);
  }
  std::uint64_t indexes = 0;
  for (std::size_t i = 0; i < space.size(); i += size) {
    if (i / size % 8 == 0) indexes = random_();
    std::memcpy(&space[i], &values[indexes & 0xFF], size);
    indexes >>= 8;
  }
}

}  // namespace neffld::compute::test
