// SPDX-License-Identifier: MIT
#include "records.hpp"

namespace neffld::compute::test {

Draft Draft::from_hex(std::string_view text) {
  Draft draft(0);
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n') continue;
    const unsigned digit = static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    std::uint8_t& byte = draft.bytes_.at(digits / 2);
    byte = static_cast<std::uint8_t>(digits % 2 == 0 ? digit << 4 : byte | digit);
    ++digits;
  }
  return draft;
}

Draft& Draft::pattern(std::size_t at, unsigned dims, const Tensor& tensor) {
  u32(at, tensor.address);
  for (unsigned i = 0; i < dims; ++i) {
    const Dim dim = i < tensor.dims.size() ? tensor.dims[i] : Dim{};
    u16(at + 4 + 2 * i, static_cast<std::uint16_t>(dim.step));
    u16(at + 4 + 2 * (dims + i), dim.count);
  }
  return *this;
}

Draft load_weights(const Tensor& source, Dtype dtype, unsigned rows, unsigned columns) {
  Draft draft(0x01);
  draft.pattern(0x10, 3, source).u8(0x20, code(dtype)).u8(0x26, rows).u8(0x27, columns);
  return draft.u8(0x2C, 0x0F).u8(0x2D, 0x0F);
}

Draft matmul(const Tensor& moving, const Tensor& destination, Dtype dtype, unsigned rows,
             unsigned columns, unsigned flags) {
  Draft draft(0x02);
  draft.pattern(0x10, 3, moving).pattern(0x30, 3, destination).u8(0x20, code(dtype));
  draft.u8(0x26, rows).u8(0x27, columns).u8(0x2B, flags);
  return draft.u8(0x2C, 0x0F).u8(0x2D, 0x0F);
}

Draft activate(const Tensor& source, const Tensor& destination, Dtype in, Dtype out,
               unsigned partitions, unsigned function) {
  Draft draft(0x21);
  draft.u8(0x0F, 1).pattern(0x10, 3, source).u8(0x20, code(in)).u8(0x21, code(out));
  draft.u8(0x22, partitions).u8(0x23, function).f32(0x24, 1);
  return draft.pattern(0x30, 3, destination);
}

Draft load_functions(unsigned set) {
  return Draft(0x23).u8(0x23, set);
}

Draft tensor_tensor(const Tensor& source0, const Tensor& source1, const Tensor& destination,
                    Dtype in0, Dtype in1, Dtype out, unsigned partitions, Alu op) {
  Draft draft(0x41);
  draft.u8(0x0C, code(in0) | code(in1) << 4).u8(0x0D, code(out)).u8(0x0E, code(op));
  draft.u8(0x0F, partitions).pattern(0x10, 3, source0).pattern(0x20, 3, source1);
  return draft.pattern(0x30, 3, destination);
}

Draft copy_like(std::uint8_t opcode, const Tensor& source, const Tensor& destination, Dtype in,
                Dtype out, unsigned partitions) {
  Draft draft(opcode);
  draft.pattern(0x0C, 4, source).u8(0x20, code(in)).u8(0x21, code(out)).u8(0x22, partitions);
  return draft.pattern(0x2C, 4, destination);
}

Draft reduce(const Tensor& source, const Tensor& destination, Dtype in, Dtype out,
             unsigned partitions, Alu op, unsigned axis) {
  return copy_like(0x42, source, destination, in, out, partitions)
      .u8(0x24, code(op))
      .u8(0x25, axis);
}

Draft tensor_scalar(const Tensor& source, const Tensor& destination, Dtype in, Dtype out,
                    unsigned partitions, Alu op0, float value) {
  Draft draft(0x43);
  draft.pattern(0x10, 3, source).u8(0x20, code(in)).u8(0x21, code(out)).u8(0x22, partitions);
  return draft.u8(0x24, code(op0)).f32(0x28, value).pattern(0x30, 3, destination);
}

Draft memset_record(const Tensor& destination, Dtype dtype, unsigned partitions,
                    std::uint32_t value) {
  Draft draft(0x49);
  std::uint32_t elements = 1;
  for (const Dim& dim : destination.dims) elements *= dim.count;
  draft.u32(0x1C, elements).u8(0x20, code(dtype)).u8(0x22, partitions).u32(0x28, value);
  return draft.pattern(0x2C, 4, destination);
}

}  // namespace neffld::compute::test
