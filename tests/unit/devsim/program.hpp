// SPDX-License-Identifier: MIT
// Hand-made programs and a core that executes them, as the runtime of the host would ask it to.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "client.hpp"
#include "neuron_abi/execution.h"
#include "neuron_abi/instruction.h"

namespace devsim_test {

/// An instruction record; setters give the record back, so that they can be chained.
class Record {
 public:
  explicit Record(std::uint8_t opcode) {
    bytes_[NEURON_AT_OPCODE] = opcode;
    bytes_[NEURON_AT_WORD_LENGTH] = NEURON_RECORD_WORD_LENGTH;
  }
  Record& u8(std::size_t at, std::uint32_t value) { return put(at, value, 1); }
  Record& u16(std::size_t at, std::uint32_t value) { return put(at, value, 2); }
  Record& u32(std::size_t at, std::uint32_t value) { return put(at, value, 4); }
  Record& u64(std::size_t at, std::uint64_t value) { return put(at, value, 8); }
  Record& wait(std::uint32_t mode, std::uint32_t index, std::uint32_t value = 0) {
    return u8(NEURON_AT_WAIT_MODE, mode).u8(NEURON_AT_WAIT_INDEX, index).value(value);
  }
  Record& update(std::uint32_t mode, std::uint32_t index) {
    return u8(NEURON_AT_UPDATE_MODE, mode).u8(NEURON_AT_UPDATE_INDEX, index);
  }
  Record& value(std::uint32_t value) { return u32(NEURON_AT_SEMAPHORE_VALUE, value); }
  const std::array<std::uint8_t, 64>& bytes() const { return bytes_; }

 private:
  Record& put(std::size_t at, std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      bytes_.at(at + i) = static_cast<std::uint8_t>(value >> 8 * i);
    return *this;
  }
  std::array<std::uint8_t, 64> bytes_ = {};
};

using Program = std::vector<Record>;

// Wait and update modes of spec 05 A1.
enum Mode : std::uint32_t {
  wait_eq = 1,
  wait_lt,
  wait_le,
  wait_gt,
  wait_ge,
  wait_set = 6,
  wait_set_then_clear = 7,
  wait_clear = 14,
  wait_clear_then_set = 15,
  set_event = 17,
  clear_event = 18,
  increment = 19,
  decrement = 20,
  add = 21,
  subtract = 23,
  assign = 25,
};

inline Record semaphore_record() {
  return Record(NEURON_OP_EVENT_SEMAPHORE);
}
inline Record wait_for(std::uint32_t semaphore, std::uint32_t at_least) {
  return semaphore_record().wait(wait_ge, semaphore, at_least);
}
inline Record write_csr(std::uint64_t address, std::uint32_t value) {
  return Record(NEURON_OP_WRITE)
      .u8(NEURON_AT_WRITE_SIZE, 4)
      .u64(NEURON_AT_WRITE_ADDRESS, address)
      .u32(NEURON_AT_WRITE_VALUE, value);
}
/// A register becomes an immediate.
inline Record set_register(std::uint32_t index, std::uint32_t value) {
  return Record(NEURON_OP_MOVE)
      .u8(NEURON_AT_OPERATION, 1)
      .u8(NEURON_AT_DTYPE, NEURON_DTYPE_U32)
      .u8(NEURON_AT_SOURCE, NEURON_SOURCE_IMMEDIATE)
      .u8(NEURON_AT_MOVE_TARGETS, index)
      .u32(NEURON_AT_MOVE_IMMEDIATES, value);
}
inline Record alu(std::uint32_t operation, std::uint32_t source, std::uint32_t target,
                  std::uint32_t immediate, std::uint32_t dtype = NEURON_DTYPE_U32) {
  return Record(NEURON_OP_ALU)
      .u8(NEURON_AT_OPERATION, operation)
      .u8(NEURON_AT_DTYPE, dtype)
      .u8(NEURON_AT_SOURCE, NEURON_SOURCE_IMMEDIATE)
      .u8(NEURON_AT_ALU_SOURCE, source)
      .u8(NEURON_AT_ALU_TARGET, target)
      .u32(NEURON_AT_ALU_IMMEDIATE, immediate);
}
/// Relative branch by a number of records if `register op immediate` holds.
inline Record branch_if(std::uint32_t operation, std::uint32_t left, std::uint32_t immediate,
                        std::int32_t records, std::uint32_t dtype = NEURON_DTYPE_U32) {
  return Record(NEURON_OP_COMPARE_BRANCH)
      .u8(NEURON_AT_OPERATION, operation)
      .u8(NEURON_AT_DTYPE, dtype)
      .u8(NEURON_AT_SOURCE, NEURON_TARGET_RELATIVE)
      .u8(NEURON_AT_COMPARE_LEFT, left)
      .u32(NEURON_AT_COMPARE_IMMEDIATE, immediate)
      .u32(NEURON_AT_BRANCH_OFFSET, static_cast<std::uint32_t>(records * 64));
}
inline Record branch(std::int32_t records) {
  return branch_if(0, 0, 0, records);
}
/// Stores one 32-bit register.
inline Record store_register(std::uint64_t address, std::uint32_t index) {
  return Record(NEURON_OP_TENSOR_STORE)
      .u8(NEURON_AT_TENSOR_DTYPE, NEURON_DTYPE_U32)
      .u8(NEURON_AT_TENSOR_COUNTS, 1)
      .u8(NEURON_AT_TENSOR_COUNTS + 1, 1)
      .u64(NEURON_AT_TENSOR_ADDRESS, address)
      .u8(NEURON_AT_TENSOR_REGISTERS, index);
}

struct Side {
  std::uint64_t address = 0;  ///< with its marker
  std::uint32_t run = 0;      ///< bytes, 65536 and 0 are the same
  std::int32_t step0 = 0, step1 = 0;
  std::uint32_t dtype = NEURON_DTYPE_FP32;
};
/// A direct transfer of count0 * count1 runs that adds to a semaphore.
Record transfer(const Side& from, const Side& to, std::uint32_t count0, std::uint32_t count1,
                std::uint32_t semaphore, std::uint32_t add_to_it);

/// What kind of error an error record tells.
inline std::uint32_t error_class(const neuron_notification& record) {
  return record.sub_id;
}

/// A core with exec ring, notification rings and one image an engine.
class Core {
 public:
  Core(const Device& device, const Client& client, std::uint32_t architecture,
       std::uint32_t core = 0, std::uint32_t notification_bytes = NEURON_NQ_RING_BYTES);

  /// The image of an engine: gate, records, notification, branch to the gate.
  void set(std::uint32_t engine, const Program& program);
  /// Empty images for all engines.
  void set_all_empty();
  void set_dge_table(std::uint64_t pa) { dge_table_ = pa; }
  void set_load_tables(bool load) { load_tables_ = load; }

  /// Appends a request to the exec ring.
  void arm();
  /// The doorbell.
  long ring() const;
  long execute() {
    arm();
    return ring();
  }

  /// New records of a notification queue; frees them on the device unless `keep`.
  std::vector<neuron_notification> take(std::uint32_t index, bool keep = false);
  /// New error records.
  std::vector<neuron_notification> errors() { return take(NEURON_NQ_INDEX_ERROR); }
  /// START and END of every engine, in this order, and no error since the last call.
  bool ended();
  bool overflowed() const;

  std::uint32_t semaphore(std::uint32_t index) const;
  std::uint32_t event(std::uint32_t index) const;
  std::uint64_t increment_csr(std::uint32_t index) const;
  std::uint64_t window() const;  ///< device address of the core's memory
  std::uint8_t* memory(std::uint64_t offset = 0) const;
  std::uint64_t image(std::uint32_t engine) const { return images_[engine]; }

 private:
  void init_notifications(std::uint32_t index, std::uint32_t type, std::uint32_t bytes);
  void append(std::uint64_t to, std::uint64_t from, std::uint32_t bytes);
  void put(std::uint64_t ring, const neuron_udma_tx_desc& descriptor) const;
  std::uint64_t notific() const;
  std::uint32_t read_register(std::uint64_t offset) const;
  void write_register(std::uint64_t offset, std::uint32_t value) const;

  struct Queue {
    const neuron_notification* records = nullptr;
    std::uint32_t count = 0, next = 0;
    bool phase = true;
  };

  const Device& device_;
  const Client& client_;
  std::uint32_t architecture_, core_;
  std::uint64_t tx_ = 0, rx_ = 0;  ///< handles of the exec ring
  std::uint64_t request_ = 0, constants_ = 0;
  std::uint64_t dge_table_ = 0;
  bool load_tables_ = false;
  std::uint32_t cursor_ = 0, phase_ = 1;
  std::array<std::uint64_t, NEURON_ENGINES_PER_CORE> images_ = {};
  std::array<Queue, 9> queues_;
};

/// Rings of one queue of a core's DMA engine; pairs are appended in order.
class ModelQueue {
 public:
  ModelQueue(const Client& client, std::uint32_t architecture, std::uint32_t engine,
             std::uint32_t queue, std::uint32_t length = 64);
  void copy(std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
            std::uint32_t meta = NEURON_UDMA_META_COPY);
  /// Records that announce `pairs` descriptors, RX then TX.
  Program doorbell(std::uint32_t pairs) const;

 private:
  const Client& client_;
  std::uint64_t base_;
  std::uint32_t queue_;
  std::uint64_t tx_, rx_;
  std::uint32_t used_ = 0;
};

Program operator+(Program first, const Program& second);

}  // namespace devsim_test
