// SPDX-License-Identifier: MIT
// Arrays in files as numpy writes them (.npy, format versions 1 to 3), little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"

namespace neffld {

/// Type of an element: numpy's kind letter and the size. "f4" float32, "i1" int8, "V2" two bytes
/// without a meaning for numpy, which is how bfloat16 is written.
struct NpyType {
  char kind = 'V';                  ///< one of b i u f c V
  std::uint32_t element_bytes = 1;  ///< 1 to 16
  bool operator==(const NpyType&) const = default;
};

/// "float32", "bfloat16" or "V2": the name of neff.json, or numpy's for types NEFFs do not have.
std::string npy_type_name(NpyType type);

/// What a .npy file says about its elements.
struct NpyArray {
  NpyType type;
  bool fortran_order = false;  ///< first index fastest
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0, data_bytes = 0;  ///< the elements in the file
};

/// As many first bytes of a file as read_npy_start() needs to see, if there are so many.
inline constexpr std::size_t npy_start_bytes = 12 + 65536;

/// Reads the start of a .npy file of `size` bytes, called `name` in errors. Refused, each by name:
/// big-endian types, structured types, objects and texts, more than 64 dims, texts of more than
/// 65536 bytes, and anything but exactly as many bytes as the elements need. Errors: class format,
/// NRT_INVALID.
Result<NpyArray> read_npy_start(std::string_view name, Bytes first, std::uint64_t size);

/// Elements in Fortran order put into C order (last index fastest).
std::vector<std::uint8_t> to_c_order(const NpyArray& array, Bytes elements);

/// What stands before the elements of a C-order array: version 1 (or 2 if the text is too long for
/// it), padded so that elements start at a multiple of 64 bytes.
std::vector<std::uint8_t> npy_header(NpyType type, const std::vector<std::uint64_t>& shape);

/// The type a tensor of a model is written with, by its name in neff.json: bfloat16 as V2, as the
/// compiler writes its constants. Names that are not known are one byte, V1.
NpyType npy_type_of(std::string_view dtype);
/// True if elements of `type` are values of the model's `dtype`: the type npy_type_of gives, for
/// bfloat16 also u2 (raw bits), for unknown names any one-byte type.
bool npy_type_fits(NpyType type, std::string_view dtype);

}  // namespace neffld
