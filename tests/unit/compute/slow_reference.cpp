// SPDX-License-Identifier: MIT
#include "slow_reference.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace neffld::compute::test {
namespace {

struct Float {
  int mantissa, exponent;  ///< stored bits
};
Float format_of(unsigned dtype) {
  return dtype == 6 ? Float{7, 8} : dtype == 7 ? Float{10, 5} : Float{23, 8};
}
bool is_float_code(unsigned dtype) {
  return dtype == 6 || dtype == 7 || dtype == 10;
}

float rounded(double value) {
  return static_cast<float>(value);
}

float scalar_operation(unsigned op, float a, float b) {
  const double x = a, y = b;
  const bool p = a != 0, q = b != 0;
  switch (op) {
    case 0x00:
      return a;
    case 0x04:
      return rounded(x + y);
    case 0x05:
      return rounded(x - y);
    case 0x06:
      return rounded(x * y);
    case 0x07:
      return rounded(x / y);
    case 0x08:
      return std::isnan(a) ? a : a > b ? a : b;
    case 0x09:
      return std::isnan(a) ? a : a < b ? a : b;
    case 0x0D:
      return p && q;
    case 0x0E:
      return p || q;
    case 0x0F:
      return p != q;
    case 0x12:
      return a == b;
    case 0x13:
      return a > b;
    case 0x14:
      return a >= b;
    case 0x15:
      return a <= b;
    case 0x16:
      return a < b;
    case 0x17:
      return std::fabs(rounded(x - y));
    case 0x18:
      return a != b;
    case 0x19:
      return std::fabs(a);
    case 0x1D:
      return rounded(1.0 / rounded(std::sqrt(x)));
    default:
      throw std::logic_error("operation the reference does not have");
  }
}

bool is_integer_operation(unsigned op) {
  return (op >= 0x01 && op <= 0x03) || (op >= 0x0A && op <= 0x0C) || op == 0x10 || op == 0x11 ||
         op >= 0xC4;
}

struct Range {
  long long least, most;
};
Range range_of(unsigned dtype) {
  switch (dtype) {
    case 2:
      return {-128, 127};
    case 3:
      return {0, 255};
    case 4:
      return {-32768, 32767};
    case 5:
      return {0, 65535};
    case 8:
      return {-2147483648LL, 2147483647LL};
    default:
      return {0, 4294967295LL};
  }
}

long long integer_operation(unsigned op, long long a, long long b, unsigned dtype) {
  const Range range = range_of(dtype);
  const unsigned width = 8 * element_size(dtype);
  const double x = static_cast<double>(a), y = static_cast<double>(b);
  // Beyond 2^53 a double is not exact, but further out than every limit.
  const auto clamp = [&](double z) {
    return z < static_cast<double>(range.least)  ? range.least
           : z > static_cast<double>(range.most) ? range.most
                                                 : static_cast<long long>(z);
  };
  const unsigned long long raw = static_cast<unsigned long long>(a) & (~0ull >> (64 - width));
  const bool negative = (raw >> (width - 1) & 1) != 0;
  const bool far = b < 0 || b >= static_cast<long long>(width);
  switch (op) {
    case 0x0A:
      return a & b;
    case 0x0B:
      return a | b;
    case 0x0C:
      return a ^ b;
    case 0x02:
    case 0x10:
      return far ? 0 : static_cast<long long>(raw << b);
    case 0x11:
      return far ? 0 : static_cast<long long>(raw >> b);
    case 0x03: {
      unsigned long long result = raw;  // one bit at a time, the sign comes in
      for (long long i = 0; i < (far ? width : b); ++i) {
        result = result >> 1 | (negative ? 1ull << (width - 1) : 0);
      }
      return static_cast<long long>(result);
    }
    case 0xC4:
      return clamp(x + y);
    case 0xC5:
      return clamp(x * y);
    case 0xC6:
      return clamp(x - y);
    default:
      throw std::logic_error("operation the reference does not have");
  }
}

}  // namespace

unsigned element_size(unsigned dtype) {
  return dtype <= 3 ? 1 : dtype <= 7 ? 2 : 4;
}

bool is_nan_element(unsigned dtype, std::uint32_t bits) {
  return is_float_code(dtype) && std::isnan(decode_element(dtype, bits));
}

double decode_element(unsigned dtype, std::uint32_t bits) {
  if (!is_float_code(dtype)) {
    const Range range = range_of(dtype);
    const long long raw = bits;
    return static_cast<double>(raw > range.most ? raw - 2 * (range.most + 1) : raw);
  }
  const Float f = format_of(dtype);
  const std::uint32_t mantissa = bits & ((1u << f.mantissa) - 1);
  const int biased = static_cast<int>(bits >> f.mantissa & ((1u << f.exponent) - 1));
  const int bias = (1 << (f.exponent - 1)) - 1;
  const double sign = (bits >> (f.mantissa + f.exponent) & 1) != 0 ? -1 : 1;
  if (biased == (1 << f.exponent) - 1) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  if (biased == 0) return sign * std::ldexp(mantissa, 1 - bias - f.mantissa);
  return sign * std::ldexp(mantissa + std::ldexp(1, f.mantissa), biased - bias - f.mantissa);
}

std::uint32_t encode_element(unsigned dtype, float value) {
  if (!is_float_code(dtype)) {
    const Range range = range_of(dtype);
    if (std::isnan(value)) return 0;
    const double whole = std::nearbyint(static_cast<double>(value));
    const long long clamped = whole <= static_cast<double>(range.least)  ? range.least
                              : whole >= static_cast<double>(range.most) ? range.most
                                                                         : std::llrint(whole);
    return static_cast<std::uint32_t>(clamped) & (~0u >> (32 - 8 * element_size(dtype)));
  }
  const Float f = format_of(dtype);
  const int bias = (1 << (f.exponent - 1)) - 1;
  const auto top = static_cast<std::uint32_t>((1 << f.exponent) - 1) << f.mantissa;
  const std::uint32_t sign = std::signbit(value) ? 1u << (f.mantissa + f.exponent) : 0;
  if (std::isnan(value)) return sign | top | 1u << (f.mantissa - 1);
  const double magnitude = std::fabs(static_cast<double>(value));
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | top;
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::nearbyint(std::ldexp(magnitude, f.mantissa - exponent));
  // The hidden bit of `units` adds one to the exponent field, a carry another.
  const auto field = static_cast<std::uint32_t>(exponent + bias - 1) << f.mantissa;
  const std::uint32_t bits = field + static_cast<std::uint32_t>(units);
  return sign | std::min(bits, top);
}

std::vector<SlowReference::Element> SlowReference::elements(Bytes record, std::size_t pattern,
                                                            unsigned dims, unsigned dtype,
                                                            unsigned partition) {
  const auto address = load_le<std::uint32_t>(record, pattern);
  const bool psum = (address >> 25 & 1) != 0;
  const std::uint32_t stride = psum ? 0x8000 : 0x40000;
  const std::uint32_t inside = address & 0x1FF'FFFF;
  std::array<long, 4> step{};
  std::array<long, 4> num{1, 1, 1, 1};
  for (unsigned i = 0; i < dims; ++i) {
    step[i] = static_cast<std::int16_t>(load_le<std::uint16_t>(record, pattern + 4 + 2 * i));
    num[i] = load_le<std::uint16_t>(record, pattern + 4 + 2 * dims + 2 * i);
  }
  std::vector<Element> result;
  for (long l = 0; l < num[3]; ++l)
    for (long k = 0; k < num[2]; ++k)
      for (long j = 0; j < num[1]; ++j)
        for (long i = 0; i < num[0]; ++i) {
          const long away = i * step[0] + j * step[1] + k * step[2] + l * step[3];
          const long byte = static_cast<long>(inside % stride) + away * element_size(dtype);
          const std::size_t row = inside / stride + partition;
          if (byte < 0 || byte >= static_cast<long>(window)) throw std::logic_error("window");
          result.push_back({psum, row * window + static_cast<std::size_t>(byte)});
        }
  return result;
}

SlowReference::Element SlowReference::scalar_element(Bytes record, std::size_t at,
                                                     unsigned partition) {
  const auto address = load_le<std::uint32_t>(record, at);
  const bool psum = (address >> 25 & 1) != 0;
  const std::uint32_t stride = psum ? 0x8000 : 0x40000, inside = address & 0x1FF'FFFF;
  return {psum, (inside / stride + partition) * window + inside % stride};
}

std::uint32_t SlowReference::bits(const Element& element, unsigned dtype) const {
  std::uint32_t raw = 0;
  const auto& space = element.psum ? memory_.psum : memory_.sbuf;
  std::memcpy(&raw, &space[element.at], element_size(dtype));
  return raw;
}

float SlowReference::value(const Element& element, unsigned dtype) const {
  return rounded(decode_element(dtype, bits(element, dtype)));
}

void SlowReference::put_bits(const Element& element, unsigned dtype, std::uint32_t raw) {
  auto& space = element.psum ? memory_.psum : memory_.sbuf;
  std::memcpy(&space[element.at], &raw, element_size(dtype));
}

void SlowReference::put(const Element& element, unsigned dtype, float result) {
  put_bits(element, dtype, encode_element(dtype, result));
}

void SlowReference::load_weights(Bytes record) {
  const unsigned dtype = record[0x20], mode = record[0x21], columns = record[0x27];
  empty_pass_ = dtype == 10 && mode == 1 && record[0x22] == 0;
  for (unsigned k = 0; k < record[0x26]; ++k) {
    const auto row = elements(record, 0x10, 3, dtype, k);
    for (unsigned j = 0; j < columns; ++j) weights_[k][columns - 1 - j] = bits(row[j], dtype);
  }
}

void SlowReference::matmul(Bytes record) {
  const unsigned dtype = record[0x20], rows = record[0x26], columns = record[0x27];
  const bool transpose = record[0x22] != 0, begin = (record[0x2B] & 1) != 0;
  const unsigned out = transpose ? dtype : 10;
  std::vector<std::vector<double>> moving(rows), weights(rows);
  for (unsigned k = 0; k < rows; ++k) {
    for (const Element& each : elements(record, 0x10, 3, dtype, k)) {
      moving[k].push_back(decode_element(dtype, bits(each, dtype)));
    }
    for (const std::uint32_t each : weights_[k]) {
      weights[k].push_back(empty_pass_ ? 0 : decode_element(dtype, each));
    }
  }
  for (unsigned m = 0; m < columns; ++m) {
    const auto destination = elements(record, 0x30, 3, out, m);
    std::vector<double> sums(destination.size());
    std::vector<std::uint32_t> picked(destination.size());
    for (std::size_t n = 0; n < destination.size(); ++n) {
      for (unsigned k = 0; k < rows; ++k) {
        if (moving[k][n] == 1) picked[n] = weights_[k][m];
        if (!empty_pass_) sums[n] += moving[k][n] * weights[k][m];
      }
      if (!begin) sums[n] += value(destination[n], 10);
    }
    for (std::size_t n = 0; n < destination.size(); ++n) {
      if (transpose) {
        put_bits(destination[n], out, picked[n]);
      } else {
        put(destination[n], 10, rounded(sums[n]));
      }
    }
  }
}

void SlowReference::tensor_tensor(Bytes record) {
  const unsigned in0 = record[0x0C] & 0xF, in1 = record[0x0C] >> 4, out = record[0x0D];
  const unsigned op = record[0x0E];
  for (unsigned p = 0; p < record[0x0F]; ++p) {
    const auto a = elements(record, 0x10, 3, in0, p), b = elements(record, 0x20, 3, in1, p);
    const auto to = elements(record, 0x30, 3, out, p);
    std::vector<std::uint32_t> results;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (is_integer_operation(op)) {
        const auto x = static_cast<long long>(decode_element(in0, bits(a[i], in0)));
        const auto y = static_cast<long long>(decode_element(in1, bits(b[i], in1)));
        results.push_back(static_cast<std::uint32_t>(integer_operation(op, x, y, out)));
      } else {
        results.push_back(
            encode_element(out, scalar_operation(op, value(a[i], in0), value(b[i], in1))));
      }
    }
    for (std::size_t i = 0; i < to.size(); ++i) put_bits(to[i], out, results[i]);
  }
}

void SlowReference::reduce(Bytes record) {
  const unsigned in = record[0x20], out = record[0x21], op = record[0x24];
  std::size_t group = 1;
  for (unsigned i = 0; i + 1 < record[0x25]; ++i) {
    group *= load_le<std::uint16_t>(record, 0x18 + 2 * i);
  }
  for (unsigned p = 0; p < record[0x22]; ++p) {
    const auto from = elements(record, 0x0C, 4, in, p), to = elements(record, 0x2C, 4, out, p);
    std::vector<std::uint32_t> results;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (is_integer_operation(op)) {
        auto sum = static_cast<long long>(decode_element(in, bits(from[i * group], in)));
        for (std::size_t j = 1; j < group; ++j) {
          const auto next = decode_element(in, bits(from[i * group + j], in));
          sum = integer_operation(op, sum, static_cast<long long>(next), out);
        }
        results.push_back(static_cast<std::uint32_t>(sum));
        continue;
      }
      float sum = value(from[i * group], in);
      for (std::size_t j = 1; j < group; ++j) {
        sum = scalar_operation(op, sum, value(from[i * group + j], in));
      }
      results.push_back(encode_element(out, record[0x23] != 0 ? -sum : sum));
    }
    for (std::size_t i = 0; i < to.size(); ++i) put_bits(to[i], out, results[i]);
  }
}

void SlowReference::tensor_scalar(Bytes record) {
  const unsigned in = record[0x20], out = record[0x21];
  for (unsigned p = 0; p < record[0x22]; ++p) {
    const auto scalar = [&](std::size_t source, std::size_t at) {
      if (record[source] == 0) return load_le<float>(record, at);
      return value(scalar_element(record, at, p), 10);
    };
    const auto from = elements(record, 0x10, 3, in, p), to = elements(record, 0x30, 3, out, p);
    std::vector<float> results;
    for (const Element& element : from) {
      float x = value(element, in);
      for (const unsigned n : {0u, 1u}) {
        const unsigned op = record[0x24 + n];
        if (op == 0) continue;
        const float s = scalar(n == 0 ? 0x23 : 0x27, n == 0 ? 0x28 : 0x2C);
        const bool reversed = (record[0x26] >> n & 1) != 0;
        x = reversed ? scalar_operation(op, s, x) : scalar_operation(op, x, s);
      }
      results.push_back(x);
    }
    for (std::size_t i = 0; i < to.size(); ++i) put(to[i], out, results[i]);
  }
}

/// Functions 1 and 128 only.
void SlowReference::activate(Bytes record) {
  const unsigned in = record[0x20] & 0xF, bias_dtype = record[0x20] >> 4, out = record[0x21];
  for (unsigned p = 0; p < record[0x22]; ++p) {
    const float scale = record[0x0D] == 0 ? load_le<float>(record, 0x24)
                                          : value(scalar_element(record, 0x24, p), 10);
    const float bias = record[0x0F] == 1 ? load_le<float>(record, 0x28)
                                         : value(scalar_element(record, 0x28, p), bias_dtype);
    const auto from = elements(record, 0x10, 3, in, p), to = elements(record, 0x30, 3, out, p);
    std::vector<float> results;
    for (const Element& element : from) {
      results.push_back(scalar_operation(4, scalar_operation(6, value(element, in), scale), bias));
    }
    for (std::size_t i = 0; i < to.size(); ++i) put(to[i], out, results[i]);
  }
}

void SlowReference::copy_like(Bytes record) {
  const unsigned in = record[0x20], out = record[0x21], opcode = record[0];
  for (unsigned p = 0; p < record[0x22]; ++p) {
    const auto from = elements(record, 0x0C, 4, in, p), to = elements(record, 0x2C, 4, out, p);
    std::vector<std::uint32_t> results;
    for (const Element& element : from) {
      if (opcode == 0x48) {
        results.push_back(encode_element(out, scalar_operation(7, 1, value(element, in))));
      } else {
        results.push_back(in == out ? bits(element, in) : encode_element(out, value(element, in)));
      }
    }
    for (std::size_t i = 0; i < to.size(); ++i) put_bits(to[i], out, results[i]);
  }
}

void SlowReference::fill(Bytes record) {
  const unsigned dtype = record[0x20];
  for (unsigned p = 0; p < record[0x22]; ++p) {
    for (const Element& element : elements(record, 0x2C, 4, dtype, p)) {
      put_bits(element, dtype, load_le<std::uint32_t>(record, 0x28));
    }
  }
}

void SlowReference::run(Bytes record) {
  switch (record[0]) {
    case 0x01:
      return load_weights(record);
    case 0x02:
      return matmul(record);
    case 0x21:
      return activate(record);
    case 0x41:
      return tensor_tensor(record);
    case 0x42:
      return reduce(record);
    case 0x43:
    case 0x44:
      return tensor_scalar(record);
    case 0x46:
    case 0x47:
    case 0x48:
      return copy_like(record);
    case 0x49:
      return fill(record);
    default:
      throw std::logic_error("opcode the reference does not have");
  }
}

void SlowReference::visit_destination(Bytes record, const Visit& visit) {
  std::size_t pattern = 0x30;
  unsigned dims = 3, dtype = record[0x21], count = record[0x22];
  if (record[0] == 0x01 || record[0] == 0x23) return;
  if (record[0] == 0x02) {
    dtype = record[0x22] != 0 ? record[0x20] : 10;
    count = record[0x27];
  } else if (record[0] == 0x41) {
    dtype = record[0x0D];
    count = record[0x0F];
  } else if (record[0] == 0x42 || (record[0] >= 0x46 && record[0] <= 0x49)) {
    pattern = 0x2C;
    dims = 4;
    if (record[0] == 0x49) dtype = record[0x20];
  }
  for (unsigned p = 0; p < count; ++p) {
    for (const Element& e : elements(record, pattern, dims, dtype, p)) visit(e.psum, e.at, dtype);
  }
}

}  // namespace neffld::compute::test
