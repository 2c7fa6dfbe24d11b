// SPDX-License-Identifier: MIT
// Legal records with random shapes, types and addresses inside the windows of a SlowReference.
#pragma once

#include <random>

#include "records.hpp"
#include "slow_reference.hpp"

namespace neffld::compute::test {

class RandomRecords {
 public:
  explicit RandomRecords(std::uint64_t seed) : random_(seed) {}

  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
  template <class T, std::size_t N>
  T one_of(const T (&choices)[N]) {
    return choices[below(N)];
  }

  /// A record other than LDWEIGHTS, MATMUL and ACTIVATION_TABLE_LOAD.
  Draft next();
  /// Fills the windows with random bits, or with moderate values of `dtype`.
  void fill(Windows& windows, bool raw, unsigned dtype);
  /// Fills with whole numbers from -count / 2 to count / 2, divided.
  void fill_values(std::vector<std::uint8_t>& space, unsigned dtype, unsigned count, float divisor);

  Dtype dtype();
  Dtype integer_dtype();
  /// `elements` elements of a random shape. `near`: at or close to that address.
  Tensor tensor(Dtype dtype, unsigned elements, unsigned dims, bool psum, std::uint32_t partition,
                bool may_repeat);

 private:
  struct Partitions {
    unsigned first, count;
  };
  Partitions partitions_of_record();
  std::vector<unsigned> factors(unsigned elements, unsigned dims);
  Draft with_scalars(Draft draft, std::size_t source, std::size_t at, unsigned pointer_code,
                     unsigned partition);
  Draft next_tensor_tensor(Partitions where, unsigned elements);
  Draft next_reduce(Partitions where);
  Draft next_tensor_scalar(Partitions where, unsigned elements);
  Draft next_activate(Partitions where, unsigned elements);
  Draft next_copy(Partitions where, unsigned elements, std::uint8_t opcode);

  std::mt19937_64 random_;
};

}  // namespace neffld::compute::test
