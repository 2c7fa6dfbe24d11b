// SPDX-License-Identifier: MIT
#include "sample_slots.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "neffld/bytes.hpp"

namespace neffld::sample {
namespace {

struct Dtype {
  std::string_view name;
  std::uint8_t code;
  std::uint32_t size;
};

constexpr std::array<Dtype, 10> dtypes = {{{"float32", 10, 4},
                                           {"float16", 7, 2},
                                           {"bfloat16", 6, 2},
                                           {"int8", 2, 1},
                                           {"uint8", 3, 1},
                                           {"int16", 4, 2},
                                           {"uint16", 5, 2},
                                           {"int32", 8, 4},
                                           {"uint32", 9, 4},
                                           {"uint64", 1, 8}}};

const Dtype& find_dtype(std::string_view name) {
  const auto* row = std::find_if(dtypes.begin(), dtypes.end(),
                                 [&](const Dtype& dtype) { return dtype.name == name; });
  if (row == dtypes.end()) throw std::invalid_argument("no dtype " + std::string(name));
  return *row;
}

template <class T>
void put(Slot& slot, std::size_t offset, T value) {
  store_le<T>(slot, offset, value);
}

void put_name(Slot& slot, std::string_view name) {
  if (name.empty() || name.size() > 31) {
    throw std::invalid_argument("name must have 1..31 characters: " + std::string(name));
  }
  std::copy(name.begin(), name.end(), slot.begin() + 0x0C);
}

/// T3 / T4 operand: ADDR4, i16 step[rank], u16 num[rank].
void put_operand(Slot& slot, std::size_t offset, std::size_t rank, Operand operand) {
  put<std::uint32_t>(slot, offset, operand.address);
  for (std::size_t dim = 0; dim < rank; ++dim) {
    const bool inner = dim == 0;
    put<std::int16_t>(slot, offset + 4 + 2 * dim, inner ? operand.step : std::int16_t{1});
    put<std::uint16_t>(slot, offset + 4 + 2 * rank + 2 * dim,
                       inner ? operand.count : std::uint16_t{1});
  }
}

void put_side(Slot& slot, std::size_t base, std::size_t geometry, const DgeSide& side) {
  put<std::uint32_t>(slot, base, side.offset);
  put<std::uint16_t>(slot, base + 4, side.index);
  slot[base + 7] = side.table ? 0x20 : 0x10;
  put<std::int32_t>(slot, geometry, side.step[0]);
  put<std::int32_t>(slot, geometry + 4, side.step[1]);
  put<std::uint16_t>(slot, geometry + 8, side.num[0]);
  put<std::uint16_t>(slot, geometry + 10, side.num[1]);
  put<std::uint16_t>(slot, geometry + 12, side.run);
}

/// The common part of CD and CE: one u32 at `offset` of a variable.
Slot one_word(std::uint8_t opcode, std::uint32_t var_id, std::uint32_t offset) {
  Slot slot = make_slot(opcode);
  slot[0x0C] = dtype_code("uint32");
  slot[0x0E] = slot[0x0F] = 1;  // num_elem
  put<std::uint32_t>(slot, 0x10, var_id);
  put<std::uint32_t>(slot, 0x14, offset);
  put<std::int32_t>(slot, 0x18, 4);
  put<std::int32_t>(slot, 0x1C, 4);
  return slot;
}

constexpr std::uint8_t partitions = 128;

Slot unary(std::uint8_t opcode, std::string_view in_dtype, Operand in, std::string_view dtype,
           Operand out) {
  Slot slot = make_slot(opcode);
  put_operand(slot, 0x0C, 4, in);
  slot[0x20] = dtype_code(in_dtype);
  slot[0x21] = dtype_code(dtype);
  slot[0x22] = partitions;
  put_operand(slot, 0x2C, 4, out);
  return slot;
}

}  // namespace

std::uint8_t dtype_code(std::string_view name) {
  return find_dtype(name).code;
}
std::uint32_t dtype_size(std::string_view name) {
  return find_dtype(name).size;
}

std::uint32_t engine_semaphore(Engine engine) {
  switch (engine) {
    case Engine::act:
      return 4;
    case Engine::pe:
      return 5;
    case Engine::dve:
      return 6;
    case Engine::pool:
      return 7;
    case Engine::sp:
      return 3;
  }
  throw std::invalid_argument("no such engine");
}

Slot make_slot(std::uint8_t opcode) {
  Slot slot = {};
  slot[0] = opcode;
  slot[1] = 0x10;  // inst_word_len: 16 words
  return slot;
}

void set_wait(Slot& slot, Wait wait) {
  if (!wait.any()) return;
  slot[4] = 5;
  slot[5] = static_cast<std::uint8_t>(wait.semaphore);
  put<std::uint32_t>(slot, 8, wait.value);
}

void set_update(Slot& slot, std::uint32_t semaphore) {
  slot[6] = 0x13;
  slot[7] = static_cast<std::uint8_t>(semaphore);
}

Slot ordering_mode() {
  return make_slot(0xB1);
}

Slot branch_label(std::uint32_t id) {
  Slot slot = make_slot(0xCC);
  put<std::uint32_t>(slot, 0x0C, id);
  return slot;
}

Slot event_wait(Wait first, Wait second) {
  Slot slot = make_slot(0xA0);
  set_wait(slot, first);
  if (second.any()) {
    slot[0x20] = 5;
    slot[0x21] = static_cast<std::uint8_t>(second.semaphore);
    put<std::uint32_t>(slot, 0x24, second.value);
  }
  return slot;
}

Slot nop(Wait wait) {
  Slot slot = make_slot(0xA4);
  set_wait(slot, wait);
  return slot;
}

Slot dma_trigger(std::string_view queue, std::uint32_t block, Wait wait) {
  Slot slot = make_slot(0xC1);
  set_wait(slot, wait);
  put_name(slot, queue);
  put<std::uint32_t>(slot, 0x30, block);
  return slot;
}

Slot dma_rearm(std::string_view queue) {
  Slot slot = make_slot(0xC2);
  put_name(slot, queue);
  return slot;
}

Slot act_table_load(std::uint8_t set) {
  Slot slot = make_slot(0x23);
  slot[0x23] = set;
  return slot;
}

Slot tensor_load(std::uint32_t var_id, std::uint32_t offset, std::uint8_t target_register) {
  Slot slot = one_word(0xCE, var_id, offset);
  slot[0x20] = target_register;
  return slot;
}

Slot tensor_store(std::uint32_t var_id, std::uint32_t offset, std::uint32_t value) {
  Slot slot = one_word(0xCD, var_id, offset);
  slot[0x0D] = 1;  // data source: immediate
  put<std::uint32_t>(slot, 0x20, value);
  return slot;
}

Slot branch_to_label(std::uint32_t id) {
  Slot slot = make_slot(0xA9);
  slot[0x0D] = dtype_code("uint32");
  slot[0x0E] = 2;  // target mode: label
  put<std::uint32_t>(slot, 0x30, id);
  return slot;
}

Slot branch_by(std::int32_t slots, std::uint8_t compare) {
  Slot slot = make_slot(0xA9);
  slot[0x0C] = compare;
  slot[0x0D] = dtype_code("uint32");
  slot[0x0E] = 3;  // target mode: relative
  put<std::uint64_t>(slot, 0x30, static_cast<std::uint32_t>(slots * 64));
  return slot;
}

Slot branch_hint(std::uint32_t label) {
  Slot slot = make_slot(0xDD);
  slot[0x0E] = 2;
  put<std::uint32_t>(slot, 0x30, label);
  return slot;
}

Slot dma_barrier(Wait wait) {
  Slot slot = make_slot(0xC3);
  set_wait(slot, wait);
  return slot;
}

Slot read_var_addr(std::uint32_t var_id, std::uint32_t offset, std::uint8_t low,
                   std::uint8_t high) {
  Slot slot = make_slot(0xC9);
  put<std::uint32_t>(slot, 0x10, var_id);
  put<std::uint32_t>(slot, 0x14, offset);
  slot[0x20] = low;
  slot[0x21] = high;
  return slot;
}

Slot function_begin(std::string_view name, std::uint8_t low, std::uint8_t high) {
  Slot slot = make_slot(0xD1);
  put_name(slot, name);
  slot[0x31] = low;
  slot[0x32] = high;
  return slot;
}

Slot function_return() {
  return make_slot(0xD2);
}

Slot function_call(std::string_view name) {
  Slot slot = make_slot(0xD3);
  put_name(slot, name);
  return slot;
}

Slot exit_execution() {
  Slot slot = make_slot(0xDF);
  slot[0x0C] = 1;
  return slot;
}

Slot extension(std::uint8_t compute) {
  Slot slot{};
  slot[0] = 0xDA;
  slot[3] = compute;
  return slot;
}

Slot dma_direct2d(const DgeCopy& copy, std::uint8_t semaphore, Wait wait) {
  Slot slot = make_slot(0xD4);
  set_wait(slot, wait);
  slot[0x0D] = semaphore;
  slot[0x0E] = copy.increment;
  put_side(slot, 0x10, 0x18, copy.from);
  put_side(slot, 0x28, 0x30, copy.to);
  slot[0x3E] = copy.from_dtype;
  slot[0x3F] = copy.to_dtype;
  return slot;
}

Slot tensor_tensor(std::uint8_t alu_op, std::string_view dtype, Operand a, Operand b, Operand out) {
  Slot slot = make_slot(0x41);
  const std::uint8_t code = dtype_code(dtype);
  slot[0x0C] = static_cast<std::uint8_t>(code | code << 4);
  slot[0x0D] = code;
  slot[0x0E] = alu_op;
  slot[0x0F] = partitions;
  put_operand(slot, 0x10, 3, a);
  put_operand(slot, 0x20, 3, b);
  put_operand(slot, 0x30, 3, out);
  return slot;
}

Slot tensor_copy(std::string_view dtype, Operand in, Operand out) {
  return unary(0x46, dtype, in, dtype, out);
}

Slot tensor_cast(std::string_view in_dtype, Operand in, std::string_view dtype, Operand out) {
  return unary(0x47, in_dtype, in, dtype, out);
}

Slot memset_zero(std::string_view dtype, Operand out) {
  Slot slot = make_slot(0x49);
  put<std::uint32_t>(slot, 0x1C, out.count);
  slot[0x20] = dtype_code(dtype);
  slot[0x22] = partitions;
  put_operand(slot, 0x2C, 4, out);
  return slot;
}

Slot load_weights(std::string_view dtype, std::uint32_t address) {
  Slot slot = make_slot(0x01);
  const std::uint32_t last = address + 127 * dtype_size(dtype);
  put_operand(slot, 0x10, 3, {last, 128, -1});
  slot[0x20] = dtype_code(dtype);
  slot[0x26] = slot[0x27] = partitions;
  slot[0x2C] = slot[0x2D] = 0x0F;
  return slot;
}

Slot matmul(std::string_view dtype, Operand moving, Operand psum_out) {
  Slot slot = make_slot(0x02);
  put_operand(slot, 0x10, 3, moving);
  slot[0x20] = dtype_code(dtype);
  slot[0x26] = slot[0x27] = partitions;
  slot[0x2B] = 3;
  slot[0x2C] = slot[0x2D] = 0x0F;
  put_operand(slot, 0x30, 3, psum_out);
  return slot;
}

Slot activate(std::uint8_t function, std::string_view in_dtype, Operand in,
              std::string_view bias_dtype, std::uint32_t bias, std::string_view dtype,
              Operand out) {
  Slot slot = make_slot(0x21);
  put_operand(slot, 0x10, 3, in);
  slot[0x20] = static_cast<std::uint8_t>(dtype_code(in_dtype) | dtype_code(bias_dtype) << 4);
  slot[0x21] = dtype_code(dtype);
  slot[0x22] = partitions;
  slot[0x23] = function;
  put<std::uint32_t>(slot, 0x24, 0x3F800000);  // scale 1.0
  put<std::uint32_t>(slot, 0x28, bias);
  put_operand(slot, 0x30, 3, out);
  return slot;
}

Stream::Stream(Arch arch) {
  add(ordering_mode());
  if (arch != Arch::v2) add(branch_label());
}

Stream& Stream::add(const Slot& slot) {
  bytes_.insert(bytes_.end(), slot.begin(), slot.end());
  return *this;
}

}  // namespace neffld::sample
