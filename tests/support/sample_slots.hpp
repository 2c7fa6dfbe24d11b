// SPDX-License-Identifier: MIT
// 64-byte instruction slots and streams of synthetic NEFFs (spec 05 A1, spec 08 section 4).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "neffld/arch.hpp"

namespace neffld::sample {

using Slot = std::array<std::uint8_t, 64>;

/// "semaphore >= value". Semaphore 0 belongs to the runtime (decision 39), so it stands for none.
struct Wait {
  std::uint32_t semaphore = 0;
  std::uint32_t value = 0;
  bool any() const { return semaphore != 0; }
};

/// Instruction dtype code of a JSON dtype name (spec 05 A1); throws on an unknown name.
std::uint8_t dtype_code(std::string_view name);
/// Bytes of one element of a JSON dtype name.
std::uint32_t dtype_size(std::string_view name);

/// Semaphore that compute records of an engine increment (spec 08 s4.1: ACT 4, PE 5, DVE 6; ours
/// for the two engines that never compute in real files).
std::uint32_t engine_semaphore(Engine engine);

/// PSUM address of a byte offset, for the operands of compute records (spec 08 s4.3).
constexpr std::uint32_t psum(std::uint32_t byte) {
  return 0x2000000u + byte;
}

Slot make_slot(std::uint8_t opcode);
/// Wait mode 5 (GE) in the header of a slot; nothing when `wait` names no semaphore.
void set_wait(Slot& slot, Wait wait);
/// Update mode 0x13: +1 on completion.
void set_update(Slot& slot, std::uint32_t semaphore);

// ---- control and pseudo records (spec 08 s4.2) ----
Slot ordering_mode();                                                           ///< B1
Slot branch_label(std::uint32_t id = 0);                                        ///< CC
Slot event_wait(Wait first, Wait second = {});                                  ///< A0
Slot nop(Wait wait);                                                            ///< A4
Slot dma_trigger(std::string_view queue, std::uint32_t block, Wait wait = {});  ///< C1
Slot dma_rearm(std::string_view queue);                                         ///< C2
Slot act_table_load(std::uint8_t set);                                          ///< 23
/// CE (load) or CD (store of one immediate): one u32 of a variable (spec 05 A4, A5).
Slot tensor_load(std::uint32_t var_id, std::uint32_t offset, std::uint8_t target_register);
Slot tensor_store(std::uint32_t var_id, std::uint32_t offset, std::uint32_t value);
/// A9, always taken, to the label of that id (target mode 2).
Slot branch_to_label(std::uint32_t id);
/// A9 to the record `slots` further (target mode 3). `compare` as spec 05 A5: 0 is always, 4 is
/// "not equal 0", which a register that nothing wrote does not meet.
Slot branch_by(std::int32_t slots, std::uint8_t compare = 0);
Slot branch_hint(std::uint32_t label);  ///< DD
Slot dma_barrier(Wait wait = {});       ///< C3
Slot read_var_addr(std::uint32_t var_id, std::uint32_t offset, std::uint8_t low,
                   std::uint8_t high);                                                      ///< C9
Slot function_begin(std::string_view name, std::uint8_t low = 20, std::uint8_t high = 21);  ///< D1
Slot function_return();                                                                     ///< D2
Slot function_call(std::string_view name);                                                  ///< D3
Slot exit_execution();                     ///< DF, code 1
Slot extension(std::uint8_t compute = 0);  ///< DA behind a D4

/// One side of a D4 record. `table` selects marker 0x20 (index = position in the dge-table list),
/// otherwise marker 0x10 (index = var_id). Index 0 of steps and counts is the inner one.
struct DgeSide {
  bool table = false;
  std::uint16_t index = 0;
  std::uint32_t offset = 0;  ///< bytes
  std::array<std::int32_t, 2> step = {0, 0};
  std::array<std::uint16_t, 2> num = {1, 1};
  std::uint16_t run = 0;  ///< bytes per element
};

struct DgeCopy {
  DgeSide from, to;
  std::uint8_t from_dtype = 10, to_dtype = 10;
  std::uint8_t increment = 16;
};
Slot dma_direct2d(const DgeCopy& copy, std::uint8_t semaphore, Wait wait = {});  ///< D4

// ---- compute records (spec 10 section 5); a contiguous operand of `count` elements ----
struct Operand {
  std::uint32_t address = 0;  ///< ADDR4
  std::uint16_t count = 1;
  std::int16_t step = 1;  ///< elements
};
Slot tensor_tensor(std::uint8_t alu_op, std::string_view dtype, Operand a, Operand b, Operand out);
Slot tensor_copy(std::string_view dtype, Operand in, Operand out);  ///< 46
Slot tensor_cast(std::string_view in_dtype, Operand in, std::string_view dtype,
                 Operand out);                          ///< 47
Slot memset_zero(std::string_view dtype, Operand out);  ///< 49
/// LDWEIGHTS of a 128-column matrix; walks backwards, as the array loads the last column first.
Slot load_weights(std::string_view dtype, std::uint32_t address);
/// MATMUL, begin flag set: stores fp32 into PSUM.
Slot matmul(std::string_view dtype, Operand moving, Operand psum_out);
/// ACTIVATE with scale 1 and a pointer bias.
Slot activate(std::uint8_t function, std::string_view in_dtype, Operand in,
              std::string_view bias_dtype, std::uint32_t bias, std::string_view dtype, Operand out);

/// The bytes of one `<Engine>.bin`.
class Stream {
 public:
  /// Starts like real streams: B1, and on v3 a label behind it (spec 08 section 4).
  explicit Stream(Arch arch);
  Stream() = default;  ///< really empty
  Stream& add(const Slot& slot);
  std::size_t slots() const { return bytes_.size() / 64; }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace neffld::sample
