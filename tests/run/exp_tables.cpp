// SPDX-License-Identifier: MIT
#include "exp_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "neffld/bytes.hpp"

namespace neffld::test {
namespace {

constexpr std::size_t entry_bytes = 32;
constexpr int lowest = -19, highest = 6;  // exponents with intervals of their own
constexpr int exponents = highest - lowest + 1, bias = 127, mantissa_bits = 23;
/// Intervals are at most a quarter wide: t^4/24 is below 1.1e-5 then.
constexpr int whole_exponent = -2;

std::uint32_t bits_of(double value) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::uint32_t mantissa_of(double value) {
  return bits_of(value) & ((1u << mantissa_bits) - 1);
}

class Tables {
 public:
  /// Adds d0 + t (d1 + t (d2 + t d3)), t = x - x0; returns its number.
  std::uint32_t bucket(double d0, double d1, double d2, double d3, double x0) {
    const std::size_t at = tables_.buckets.size();
    tables_.buckets.resize(at + entry_bytes);
    std::size_t place = at;
    for (const double value : {d0, d1, d2, d3, x0}) {
      store_le(tables_.buckets, place, bits_of(value));
      place += sizeof(float);
    }
    return static_cast<std::uint32_t>(at / entry_bytes);
  }

  /// The intervals of one exponent and their control entry.
  void exponent(double sign, int power) {
    const int size = std::max(power - whole_exponent, 0), count = 1 << size;
    const auto base = static_cast<std::uint32_t>(tables_.buckets.size() / entry_bytes);
    for (int i = 0; i < count; ++i) {
      const double x0 = sign * std::ldexp(1 + (i + 0.5) / count, power);
      const double y = std::min<double>(std::exp(x0), std::numeric_limits<float>::max());
      bucket(y, y, y / 2, y / 6, x0);
    }
    const std::size_t at = tables_.controls.size();
    tables_.controls.resize(at + entry_bytes);
    store_le(tables_.controls, at,
             base | static_cast<std::uint32_t>(mantissa_bits - size) << 11 |
                 static_cast<std::uint32_t>(size) << 16);
  }

  ExpTables take() { return std::move(tables_); }

 private:
  ExpTables tables_;
};

}  // namespace

ExpTables make_exp_tables(const std::string& set) {
  Tables made;
  for (const double sign : {-1.0, 1.0}) {
    for (int power = lowest; power <= highest; ++power) made.exponent(sign, power);
  }
  const std::uint32_t small = made.bucket(1, 1, 0, 0, 0);
  const std::uint32_t zero = made.bucket(0, 0, 0, 0, 0);
  const std::uint32_t infinite = made.bucket(std::numeric_limits<double>::infinity(), 0, 0, 0, 0);
  // Where fp32 overflows, and where its smallest number is reached.
  const double overflow = std::log(double{std::numeric_limits<float>::max()});
  const double underflow = -std::log(double{std::numeric_limits<float>::denorm_min()});
  const auto member = [](const char* key, auto value) {
    return fmt::format("\"{}\": {},", key, value);
  };
  ExpTables tables = made.take();
  tables.profile = fmt::format(
      "{{\"bkt_bin\": \"{0}_bkt.bin\", \"ctl_bin\": \"{0}_ctrl.bin\", \"profile_meta_data\": [{{",
      set);
  for (const auto& [key, value] : {std::pair("func_id", int{exp_function}),
                                   {"symmetry_point", 0},
                                   {"sym_invert_sign_point", 0},
                                   {"symmetry_opt_en", 0},
                                   {"symmetry_opt_use_neg_region", 0},
                                   {"imm_bias", 0},
                                   {"exp_offset", lowest},
                                   {"pwl_control_base_pos", exponents},
                                   {"pwl_control_base_neg", 0},
                                   {"small_pos_signal_exp_threshold", bias + lowest},
                                   {"small_neg_signal_exp_threshold", bias + lowest},
                                   {"large_pos_signal_exp_threshold", bias + highest},
                                   {"large_neg_signal_exp_threshold", bias + highest},
                                   {"fma_const_0", 0},
                                   {"fma_const_1", 0},
                                   {"fma_indirection_src_sel", 0}}) {
    tables.profile += member(key, value);
  }
  for (const auto& [key, value] : {std::pair("pos_small_signal_pwl_control", small),
                                   {"neg_small_signal_pwl_control", small},
                                   {"pos_large_signal_pwl_control", infinite},
                                   {"neg_large_signal_pwl_control", zero},
                                   {"large_pos_signal_mantissa_threshold", mantissa_of(overflow)},
                                   {"large_neg_signal_mantissa_threshold", mantissa_of(underflow)},
                                   {"fnan_result", 0x7FC0'0000u},
                                   {"fpinf_result", 0x7F80'0000u},
                                   {"fninf_result", 0u},
                                   {"fzero_result", bits_of(1)},
                                   {"lower_bound", 0xFF7F'FFFFu},
                                   {"upper_bound", 0x7F7F'FFFFu}}) {
    tables.profile += member(key, value);
  }
  tables.profile += "\"func_name\": \"exp_table\", \"use_multipass\": false}]}";
  return tables;
}

}  // namespace neffld::test
