// SPDX-License-Identifier: MIT
// The compute side of one core: what its records do to SBUF and PSUM (spec 10).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "function_set.hpp"
#include "kernels.hpp"
#include "mutation.hpp"
#include "neffld/compute_record.hpp"

namespace neffld::compute {

/// A core's memory in this process. SBUF and PSUM are 128 partitions apart by their strides
/// (spec 10 section 2); only the bytes that exist are touched.
struct CoreMemory {
  std::uint8_t* sbuf = nullptr;
  std::uint8_t* psum = nullptr;
  ActTables act;
};

/// Engines of a core run one record at a time, so a core is used by one thread at a time.
class Core {
 public:
  Core(const CoreMemory& memory, Arch arch, const Kernels& kernels,
       Mutation mutation = Mutation::none)
      : memory_(memory), arch_(arch), kernels_(&kernels), mutation_(mutation) {}

  /// A new execution: nothing is loaded.
  void start();

  /// Test-only: one rule is read wrong from now on.
  void mutate(Mutation mutation) { mutation_ = mutation; }

  /// Runs one record, whole or not at all. std::bad_alloc: nothing happened.
  tl::expected<void, RecordError> run(Bytes record);

 private:
  /// A sentence of a refusal that depends on earlier records; nullopt: done.
  using Outcome = std::optional<RecordError>;

  // core_array.cpp
  void load_weights(const Record& record);
  Outcome matmul(const Record& record);
  Outcome check_weights(const Record& record) const;
  void pack_weights(const Record& record);
  void pack_bits(const Record& record);
  void pack_moving(const Record& record);
  void add_product(const Record& record);
  Outcome transpose(const Record& record);
  Outcome select_rows(const Record& record);

  // core_lines.cpp
  Outcome activate(const Record& record);
  void tensor_tensor(const Record& record);
  void reduce(const Record& record);
  void tensor_scalar(const Record& record);
  void convert(const Record& record);
  void move_bits(const Record& record);
  void fill(const Record& record);
  float scalar_of(const ScalarOperand& scalar, std::size_t index);

  // core_integers.cpp
  void combine_integers(const Record& record);
  void reduce_integers(const Record& record);

  /// The first element of `view` in its partition number `index`.
  std::uint8_t* at(const OperandView& view, std::size_t index) const;
  float* line(std::size_t number, std::size_t elements);

  CoreMemory memory_;
  Arch arch_;
  const Kernels* kernels_;
  Mutation mutation_;

  struct Weights {
    bool loaded = false, transpose = false;
    bool empty = false;  ///< a pass that carries nothing
    Dtype dtype = Dtype::fp32;
    std::uint8_t rows = 0, columns = 0;
    std::vector<std::uint32_t> bits;  ///< [k][column], of weights to transpose
    std::vector<float> values;        ///< [column / 4][k][4], of others
  } weights_;
  std::optional<FunctionSet> functions_;
  std::vector<float> lines_[3];
  std::vector<float> moving_, result_;
  std::vector<std::uint8_t> bits_;
  std::vector<std::int64_t> integers_[2];
  std::vector<std::uint16_t> selected_;
};

/// `view` as the kernels walk it.
Walk walk_of(const OperandView& view);

}  // namespace neffld::compute
