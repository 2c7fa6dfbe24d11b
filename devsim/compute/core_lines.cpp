// SPDX-License-Identifier: MIT
// Records that work element by element: partition by partition, and in each everything is read
// before anything is written. That is the same as reading the whole operand first, because two
// operands of a record either start at the same partition or have none in common (the quadrant
// rule, spec 10 section 3.2).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core.hpp"
#include "decoder.hpp"

namespace neffld::compute {
namespace {

constexpr std::uint32_t function_identity = 1, function_exp = 7, function_copy = 128;

}  // namespace

/// The value for partition number `index` of the record's operands.
float Core::scalar_of(const ScalarOperand& scalar, std::size_t index) {
  if (!scalar.pointer) return scalar.value;
  OperandView view;
  view.space = scalar.space;
  view.dtype = scalar.dtype;
  view.partition = scalar.partition;
  view.offset = scalar.offset;
  view.dims = 1;
  view.step[0] = static_cast<std::int32_t>(element_bytes(scalar.dtype));
  view.count[0] = view.elements = 1;
  float value = 0;
  kernels_->load(&value, at(view, index), walk_of(view));
  return value;
}

Core::Outcome Core::activate(const Record& record) {
  const Function* function = nullptr;
  const bool by_table = record.function != function_identity && record.function != function_copy;
  if (by_table && !functions_) {
    return RecordError{0x23, "function needs a table, expected an ACTIVATION_TABLE_LOAD before"};
  }
  if (by_table) {
    auto found = functions_->function(record.function);
    if (!found) return RecordError{0x23, std::move(found.error())};
    function = *found;
  }
  const bool exact = mutation_ == Mutation::exact_exp && record.function == function_exp;
  const Walk from = walk_of(record.source), to = walk_of(record.destination);
  float* values = line(0, from.elements);
  for (std::size_t p = 0; p < record.source.partitions; ++p) {
    const float scale = mutation_ == Mutation::scale_ignored ? 1 : scalar_of(record.scale, p);
    const float bias = mutation_ == Mutation::bias_ignored ? 0 : scalar_of(record.bias, p);
    kernels_->load(values, at(record.source, p), from);
    kernels_->scale_bias(values, values, scale, bias, from.elements);
    if (exact) {
      std::transform(values, values + from.elements, values, [](float x) { return std::exp(x); });
    } else if (function != nullptr) {
      function->evaluate(values, values, from.elements);
    }
    kernels_->store(at(record.destination, p), values, to);
  }
  return std::nullopt;
}

void Core::tensor_tensor(const Record& record) {
  const Walk first = walk_of(record.source), second = walk_of(record.source1);
  const Walk to = walk_of(record.destination);
  float* a = line(0, first.elements);
  float* b = line(1, second.elements);
  for (std::size_t p = 0; p < record.source.partitions; ++p) {
    kernels_->load(a, at(record.source, p), first);
    kernels_->load(b, at(record.source1, p), second);
    kernels_->binary(record.alu0, a, a, b, first.elements);
    kernels_->store(at(record.destination, p), a, to);
  }
}

void Core::reduce(const Record& record) {
  const Walk from = walk_of(record.source), to = walk_of(record.destination);
  float* values = line(0, from.elements);
  float* results = line(1, to.elements);
  for (std::size_t p = 0; p < record.source.partitions; ++p) {
    kernels_->load(values, at(record.source, p), from);
    kernels_->reduce(record.alu0, results, values, to.elements, record.reduced, record.negate);
    kernels_->store(at(record.destination, p), results, to);
  }
}

void Core::tensor_scalar(const Record& record) {
  const Walk from = walk_of(record.source), to = walk_of(record.destination);
  float* values = line(0, from.elements);
  for (std::size_t p = 0; p < record.source.partitions; ++p) {
    const float scalar0 = scalar_of(record.scalar0, p), scalar1 = scalar_of(record.scalar1, p);
    kernels_->load(values, at(record.source, p), from);
    if (record.alu0 != Alu::bypass) {
      kernels_->with_scalar(record.alu0, values, values, scalar0, record.reverse0, from.elements);
    }
    if (record.alu1 != Alu::bypass) {
      kernels_->with_scalar(record.alu1, values, values, scalar1, record.reverse1, from.elements);
    }
    kernels_->store(at(record.destination, p), values, to);
  }
}

/// One value for one: the change of type, and RECIPROCAL.
void Core::convert(const Record& record) {
  const Walk from = walk_of(record.source), to = walk_of(record.destination);
  float* values = line(0, from.elements);
  for (std::size_t p = 0; p < record.source.partitions; ++p) {
    kernels_->load(values, at(record.source, p), from);
    if (record.op == Op::reciprocal) {
      kernels_->with_scalar(Alu::divide, values, values, 1, true, from.elements);
    }
    kernels_->store(at(record.destination, p), values, to);
  }
}

void Core::move_bits(const Record& record) {
  const Walk from = walk_of(record.source), to = walk_of(record.destination);
  bits_.resize(std::max(bits_.size(), from.elements * from.size));
  for (std::size_t p = 0; p < record.source.partitions; ++p) {
    kernels_->load_bits(bits_.data(), at(record.source, p), from);
    kernels_->store_bits(at(record.destination, p), bits_.data(), to);
  }
}

void Core::fill(const Record& record) {
  const Walk to = walk_of(record.destination);
  bits_.resize(std::max(bits_.size(), to.elements * to.size));
  for (std::size_t i = 0; i < to.elements; ++i) {
    std::memcpy(bits_.data() + i * to.size, &record.value, to.size);
  }
  for (std::size_t p = 0; p < record.destination.partitions; ++p) {
    kernels_->store_bits(at(record.destination, p), bits_.data(), to);
  }
}

}  // namespace neffld::compute
