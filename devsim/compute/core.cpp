// SPDX-License-Identifier: MIT
#include "core.hpp"

#include "decoder.hpp"

namespace neffld::compute {

Walk walk_of(const OperandView& view) {
  Walk walk;
  walk.dtype = view.dtype;
  walk.size = element_bytes(view.dtype);
  walk.dims = view.dims;
  walk.elements = view.elements;
  for (std::size_t i = 0; i < view.dims; ++i) {
    walk.step[i] = view.step[i];
    walk.count[i] = view.count[i];
  }
  return walk;
}

std::uint8_t* Core::at(const OperandView& view, std::size_t index) const {
  const std::size_t partition = view.partition + index;
  return view.space == Space::psum ? memory_.psum + partition * psum_stride + view.offset
                                   : memory_.sbuf + partition * sbuf_stride + view.offset;
}

float* Core::line(std::size_t number, std::size_t elements) {
  if (lines_[number].size() < elements) lines_[number].resize(elements);
  return lines_[number].data();
}

void Core::start() {
  weights_.loaded = false;
  functions_.reset();
}

tl::expected<void, RecordError> Core::run(Bytes bytes) {
  auto decoded = decode_mutated(bytes, arch_, mutation_);
  if (!decoded) return tl::unexpected(std::move(decoded.error()));
  const Record& record = *decoded;
  Outcome refused;
  switch (record.op) {
    case Op::load_weights:
      load_weights(record);
      break;
    case Op::matmul:
      refused = matmul(record);
      break;
    case Op::activate:
      refused = activate(record);
      break;
    case Op::load_functions: {
      auto set = FunctionSet::load(memory_.act, record.function);
      if (!set) return tl::unexpected(RecordError{0x23, std::move(set.error())});
      functions_ = std::move(*set);
      break;
    }
    case Op::tensor_tensor:
      is_integer_alu(record.alu0) ? combine_integers(record) : tensor_tensor(record);
      break;
    case Op::reduce:
      is_integer_alu(record.alu0) ? reduce_integers(record) : reduce(record);
      break;
    case Op::tensor_scalar:
      tensor_scalar(record);
      break;
    case Op::copy:
    case Op::cast:
      record.source.dtype == record.destination.dtype ? move_bits(record) : convert(record);
      break;
    case Op::reciprocal:
      convert(record);
      break;
    case Op::memset:
      fill(record);
      break;
  }
  if (refused) return tl::unexpected(std::move(*refused));
  return {};
}

}  // namespace neffld::compute
