// SPDX-License-Identifier: MIT
#include "function_set.hpp"

#include <fmt/format.h>

#include <bit>

namespace neffld::compute {
namespace {

constexpr std::size_t directory_entry = 24, profile_size = 76, table_entry = 32;
constexpr std::uint32_t exponents = 256, special_exponent = 255;
constexpr std::uint32_t mantissa_bits = 0x7F'FFFF;

// Offsets in a profile (spec 02 section 10.4 and libloader/stage/act_tables.cpp).
constexpr std::size_t at_function = 0, at_symmetry_point = 4, at_invert_sign = 8, at_symmetry = 9,
                      at_negative_region = 10, at_exponent_offset = 12, at_control_base = 16,
                      at_small_exponent = 24, at_large_exponent = 26, at_small_bucket = 28,
                      at_large_bucket = 32, at_large_mantissa = 36, at_nan = 48,
                      at_positive_infinity = 52, at_negative_infinity = 56, at_zero = 60,
                      at_operand_source = 72;

/// One part of a buffer, or nothing if it is not inside.
std::optional<Bytes> piece_of(Bytes buffer, std::uint32_t offset, std::uint32_t size) {
  if (offset > buffer.size() || size > buffer.size() - offset) return std::nullopt;
  return buffer.subspan(offset, size);
}

}  // namespace

float Function::evaluate_one(float x) const {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t exponent = bits >> 23 & 0xFF, mantissa = bits & mantissa_bits;
  const bool negative = bits >> 31 != 0;
  if (exponent == special_exponent) {
    return mantissa != 0 ? nan_ : negative ? negative_infinity_ : positive_infinity_;
  }
  if ((bits & 0x7FFF'FFFF) == 0) return zero_;
  const bool folded = symmetric_ && negative;
  const Region& region = regions_[negative && !symmetric_ ? 1 : 0];
  std::uint32_t index = region.large_bucket;
  if (exponent != region.large_exponent || mantissa < region.large_mantissa) {
    const Slice& slice = region.slices[exponent];
    index = slice.base + (mantissa >> slice.shift & slice.mask);
  }
  const Bucket& bucket = buckets_[index];
  const float t = (folded ? -x : x) - bucket.x0;
  const float y = bucket.d0 + t * (bucket.d1 + t * (bucket.d2 + t * bucket.d3));
  return folded && inverts_sign_ ? -y : y;
}

void Function::evaluate(float* out, const float* in, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) out[i] = evaluate_one(in[i]);
}

tl::expected<FunctionSet, std::string> FunctionSet::load(const ActTables& tables,
                                                         std::uint32_t index) {
  const std::size_t at = index * directory_entry;
  if (at + directory_entry > tables.directory.size()) {
    return tl::unexpected(fmt::format("set is {}, expected one below {}", index,
                                      tables.directory.size() / directory_entry));
  }
  const Bytes entry = tables.directory.subspan(at, directory_entry);
  const auto word = [&](std::size_t i) { return load_le<std::uint32_t>(entry, 4 * i); };
  const auto buckets = piece_of(tables.buckets, word(0), word(1));
  const auto controls = piece_of(tables.controls, word(2), word(3));
  const auto profiles = piece_of(tables.profiles, word(4), word(5));
  if (!buckets || !controls || !profiles) {
    return tl::unexpected(
        fmt::format("set is {}, whose directory entry leaves the tables: bucket {}+{}, control "
                    "{}+{}, profile {}+{}",
                    index, word(0), word(1), word(2), word(3), word(4), word(5)));
  }
  if (profiles->size() < profile_size) {
    return tl::unexpected(fmt::format("set is {}, expected one that was loaded", index));
  }
  FunctionSet set;
  for (std::size_t i = 0; i + table_entry <= buckets->size(); i += table_entry) {
    const auto value = [&](std::size_t n) { return load_le<float>(*buckets, i + 4 * n); };
    set.buckets_.push_back({value(0), value(1), value(2), value(3), value(4)});
  }
  for (std::size_t i = 0; i + table_entry <= controls->size(); i += table_entry) {
    set.controls_.push_back(load_le<std::uint32_t>(*controls, i));
  }
  set.profiles_.assign(profiles->begin(), profiles->end());
  return set;
}

Bytes FunctionSet::profile_of(std::uint32_t id) const {
  const Bytes all(profiles_);
  for (std::size_t at = 0; at + profile_size <= all.size(); at += profile_size) {
    const Bytes profile = all.subspan(at, profile_size);
    if (load_le<std::uint32_t>(profile, at_function) == id) return profile;
  }
  return {};
}

/// The slices of one sign. Returns what is wrong with the tables.
std::optional<std::string> FunctionSet::build_region(Bytes profile, bool negative,
                                                     Function::Region& region) const {
  const std::size_t sign = negative ? 1 : 0;
  const std::uint32_t small_exponent = profile[at_small_exponent + sign];
  const std::uint32_t large_exponent = profile[at_large_exponent + sign];
  const auto offset = load_le<std::int32_t>(profile, at_exponent_offset);
  const auto base = load_le<std::uint32_t>(profile, at_control_base + 4 * sign);
  const std::uint32_t small_bucket = load_le<std::uint16_t>(profile, at_small_bucket + 2 * sign);
  region.large_bucket = load_le<std::uint16_t>(profile, at_large_bucket + 2 * sign);
  region.large_exponent = large_exponent;
  region.large_mantissa = load_le<std::uint32_t>(profile, at_large_mantissa + 4 * sign);
  if (small_bucket >= buckets_.size() || region.large_bucket >= buckets_.size()) {
    return fmt::format("buckets {} and {}, expected ones below {}", small_bucket,
                       region.large_bucket, buckets_.size());
  }
  for (std::uint32_t e = 0; e < special_exponent; ++e) {
    Function::Slice& slice = region.slices[e];
    if (e < small_exponent || e > large_exponent) {
      slice.base = e < small_exponent ? small_bucket : region.large_bucket;
      // A value below the small threshold is small even where the large ones would begin.
      if (e == large_exponent) region.large_exponent = exponents;
      continue;
    }
    if (e == large_exponent && region.large_mantissa == 0) continue;  // all of it is large
    const std::int64_t entry = std::int64_t{base} + e - 127 - offset;
    if (entry < 0 || entry >= static_cast<std::int64_t>(controls_.size())) {
      return fmt::format("control entry {}, expected one of {}", entry, controls_.size());
    }
    const std::uint32_t control = controls_[static_cast<std::size_t>(entry)];
    slice.shift = control >> 11 & 0x1F;
    slice.mask = (1u << (control >> 16 & 0xF)) - 1;
    slice.base = control & 0x7FF;
    const std::uint32_t last = slice.base + (mantissa_bits >> slice.shift & slice.mask);
    if (last >= buckets_.size()) {
      return fmt::format("bucket {}, expected one below {}", last, buckets_.size());
    }
  }
  return std::nullopt;
}

tl::expected<Function, std::string> FunctionSet::build(Bytes profile) const {
  const auto id = load_le<std::uint32_t>(profile, at_function);
  if (profile[at_operand_source] != 0) {
    return tl::unexpected(
        fmt::format("function is {}, which needs an operand (source {}) that is "
                    "not modelled",
                    id, profile[at_operand_source]));
  }
  const bool symmetric = profile[at_symmetry] != 0;
  if (symmetric && (profile[at_negative_region] != 0 ||
                    load_le<std::uint32_t>(profile, at_symmetry_point) != 0)) {
    return tl::unexpected(
        fmt::format("function is {}, whose symmetry is not modelled, expected "
                    "one around 0 by the positive region",
                    id));
  }
  Function function;
  function.buckets_ = buckets_.data();
  function.symmetric_ = symmetric;
  function.inverts_sign_ = profile[at_invert_sign] != 0;
  function.zero_ = load_le<float>(profile, at_zero);
  function.positive_infinity_ = load_le<float>(profile, at_positive_infinity);
  function.negative_infinity_ = load_le<float>(profile, at_negative_infinity);
  function.nan_ = load_le<float>(profile, at_nan);
  for (std::size_t sign = 0; sign < (symmetric ? 1u : 2u); ++sign) {
    if (auto wrong = build_region(profile, sign == 1, function.regions_[sign])) {
      return tl::unexpected(fmt::format("function is {}, whose tables name {}", id, *wrong));
    }
  }
  return function;
}

tl::expected<const Function*, std::string> FunctionSet::function(std::uint32_t id) {
  const auto known = functions_.find(id);
  if (known != functions_.end()) return &known->second;
  const Bytes profile = profile_of(id);
  if (profile.empty()) {
    return tl::unexpected(fmt::format("function is {}, which the loaded set does not have", id));
  }
  auto built = build(profile);
  if (!built) return tl::unexpected(std::move(built.error()));
  return &functions_.emplace(id, *built).first->second;
}

}  // namespace neffld::compute
