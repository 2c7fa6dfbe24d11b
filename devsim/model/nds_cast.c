/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Cast blocks (decision 9, ours: only the simulated device knows the encoding). Element types go to
 * fp32 exactly where they fit 24 bits, else rounded to nearest even, and from fp32 to 16-bit floats
 * rounded to nearest even. Integer arithmetic only, because a kernel may not use floating point.
 */
#include "nds_internal.h"

#define FP32_INFINITY 0x7F800000u
#define FP32_QUIET 0x00400000u
#define FP32_ABS 0x7FFFFFFFu

/* value / 2^shift, rounded to nearest even. shift is 1..63. */
static uint64_t round_shift(uint64_t value, uint32_t shift) {
  uint64_t half = 1ull << (shift - 1);
  uint64_t rest = value & ((1ull << shift) - 1);
  uint64_t result = value >> shift;

  return result + (rest > half || (rest == half && (result & 1)));
}

static uint32_t fp32_from_integer(uint32_t magnitude, bool negative) {
  uint32_t sign = negative ? 0x80000000u : 0;
  uint32_t top, mantissa;

  if (!magnitude) return 0;
  top = 31u - (uint32_t)__builtin_clz(magnitude);
  mantissa = top <= 23 ? magnitude << (23 - top) : (uint32_t)round_shift(magnitude, top - 23);
  /* The hidden bit adds one to the exponent; a carry out of rounding adds another. */
  return sign | (((126u + top) << 23) + mantissa);
}

static uint32_t fp32_from_fp16(uint32_t half) {
  uint32_t sign = (half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1F;
  uint32_t mantissa = half & 0x3FF;
  uint32_t shift;

  if (exponent == 31) return sign | FP32_INFINITY | mantissa << 13;
  if (exponent) return sign | (exponent + 112) << 23 | mantissa << 13;
  if (!mantissa) return sign;
  shift = (uint32_t)__builtin_clz(mantissa) - 21; /* bring the top bit to bit 10 */
  return sign | (113 - shift) << 23 | ((mantissa << shift) & 0x3FF) << 13;
}

static uint32_t fp16_from_fp32(uint32_t value) {
  uint32_t sign = (value >> 16) & 0x8000u;
  uint32_t magnitude = value & FP32_ABS;
  uint32_t exponent = magnitude >> 23;

  if (magnitude > FP32_INFINITY) return sign | 0x7E00u | (magnitude >> 13 & 0x3FF);
  if (exponent >= 143) return sign | 0x7C00u;
  if (exponent >= 113) return sign | ((uint32_t)round_shift(magnitude, 13) - (112u << 10));
  if (exponent < 102) return sign;
  /* Subnormal: the mantissa with its hidden bit, in units of 2^-24. */
  return sign | (uint32_t)round_shift((magnitude & 0x7FFFFF) | 0x800000, 126 - exponent);
}

static uint32_t bf16_from_fp32(uint32_t value) {
  uint32_t magnitude = value & FP32_ABS;

  if (magnitude > FP32_INFINITY) return (value | FP32_QUIET) >> 16;
  return (value >> 16 & 0x8000u) | (uint32_t)round_shift(magnitude, 16);
}

static uint32_t to_fp32(uint32_t raw, uint32_t dtype) {
  int32_t number;

  switch (dtype) {
    case NEURON_DTYPE_I8:
      number = (int8_t)raw;
      break;
    case NEURON_DTYPE_I16:
      number = (int16_t)raw;
      break;
    case NEURON_DTYPE_I32:
      number = (int32_t)raw;
      break;
    case NEURON_DTYPE_BF16:
      return raw << 16;
    case NEURON_DTYPE_FP16:
      return fp32_from_fp16(raw);
    case NEURON_DTYPE_FP32:
      return raw;
    default:
      return fp32_from_integer(raw, false);
  }
  return fp32_from_integer(number < 0 ? 0u - (uint32_t)number : (uint32_t)number, number < 0);
}

static uint32_t convert(uint32_t raw, uint32_t from, uint32_t to) {
  uint32_t value;

  if (from == to) return raw;
  value = to_fp32(raw, from);
  if (to == NEURON_DTYPE_FP16) return fp16_from_fp32(value);
  return to == NEURON_DTYPE_BF16 ? bf16_from_fp32(value) : value;
}

static bool is_float(uint32_t dtype) {
  return dtype == NEURON_DTYPE_BF16 || dtype == NEURON_DTYPE_FP16 || dtype == NEURON_DTYPE_FP32;
}

/* Both buffers are in memory. */
static void convert_all(const uint8_t* from, uint32_t from_type, uint8_t* to, uint32_t to_type,
                        uint32_t count) {
  uint32_t from_bytes = neuron_dtype_bytes(from_type);
  uint32_t to_bytes = neuron_dtype_bytes(to_type);
  uint32_t index;

  for (index = 0; index < count; index++) {
    uint32_t raw = 0;

    memcpy(&raw, from + index * from_bytes, from_bytes);
    raw = convert(raw, from_type, to_type);
    memcpy(to + index * to_bytes, &raw, to_bytes);
  }
}

bool nds_cast_fits(const struct nds_cast_side* from, const struct nds_cast_side* to) {
  uint32_t from_size = neuron_dtype_bytes(from->dtype);
  uint32_t to_size = neuron_dtype_bytes(to->dtype);

  if (!from_size || !to_size || (from->dtype != to->dtype && !is_float(to->dtype))) return false;
  return from->bytes % from_size == 0 && to->bytes % to_size == 0 &&
         from->bytes / from_size == to->bytes / to_size;
}

int nds_cast(struct nds_device* device, const struct nds_cast_side* from,
             const struct nds_cast_side* to) {
  uint8_t* source = device->dma.scratch;
  uint8_t* sink = source + NEURON_UDMA_MAX_DESC_BYTES;
  int error;

  if (!nds_cast_fits(from, to)) return -EFAULT;
  error = nds_bus_read(device, from->pa, source, from->bytes);
  if (error) return error;
  convert_all(source, from->dtype, sink, to->dtype, from->bytes / neuron_dtype_bytes(from->dtype));
  return nds_bus_write(device, to->pa, sink, to->bytes);
}
