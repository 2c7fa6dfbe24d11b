// SPDX-License-Identifier: MIT
// Activation functions from the tables a core was given (spec 10 section 6).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "neffld/bytes.hpp"

namespace neffld::compute {

/// The engine-local windows as the table ring fills them (libloader/stage/act_tables.cpp).
struct ActTables {
  Bytes buckets, controls, profiles, directory;
};

/// One function, ready to run: every bucket it can reach exists.
class Function {
 public:
  /// y = f(x) for `count` values; in place is fine.
  void evaluate(float* out, const float* in, std::size_t count) const;

 private:
  friend class FunctionSet;

  struct Bucket {
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0, x0 = 0;
  };
  /// Buckets of the values with one exponent: base + ((mantissa >> shift) & mask).
  struct Slice {
    std::uint32_t base = 0, shift = 0, mask = 0;
  };
  /// Of one sign. The exponent where the large values begin is cut by the mantissa.
  struct Region {
    std::array<Slice, 256> slices;
    std::uint32_t large_exponent = 256, large_mantissa = 0, large_bucket = 0;
  };
  float evaluate_one(float x) const;

  const Bucket* buckets_ = nullptr;
  std::array<Region, 2> regions_;  ///< positive, negative
  bool symmetric_ = false, inverts_sign_ = false;
  float zero_ = 0, positive_infinity_ = 0, negative_infinity_ = 0, nan_ = 0;
};

/// The set an ACTIVATION_TABLE_LOAD named: a copy of its tables and the functions used so far.
class FunctionSet {
 public:
  /// The set number `index` of the tables. Error: why there is none.
  static tl::expected<FunctionSet, std::string> load(const ActTables& tables, std::uint32_t index);

  FunctionSet(FunctionSet&&) = default;
  FunctionSet& operator=(FunctionSet&&) = default;

  /// The function with this id; it lives as long as the set. Error: the set has none, or it is not
  /// modelled.
  tl::expected<const Function*, std::string> function(std::uint32_t id);

 private:
  FunctionSet() = default;
  tl::expected<Function, std::string> build(Bytes profile) const;
  std::optional<std::string> build_region(Bytes profile, bool negative,
                                          Function::Region& region) const;
  Bytes profile_of(std::uint32_t id) const;

  std::vector<Function::Bucket> buckets_;
  std::vector<std::uint32_t> controls_;
  std::vector<std::uint8_t> profiles_;
  std::map<std::uint32_t, Function> functions_;
};

}  // namespace neffld::compute
