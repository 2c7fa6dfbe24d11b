// SPDX-License-Identifier: MIT
// Byte views and alignment-safe little-endian field types for file and device structs.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace neffld {

using Bytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// An unaligned little-endian integer as it lies in a file or in device memory. It has alignment
/// one, so structs made of it have no padding and may be overlaid on any byte.
template <class T>
class Le {
  static_assert(std::is_integral_v<T>);

 public:
  Le() = default;
  Le(T value) { *this = value; }
  operator T() const {
    std::make_unsigned_t<T> value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<std::make_unsigned_t<T>>(static_cast<std::make_unsigned_t<T>>(byte_[i])
                                                    << (8 * i));
    }
    return static_cast<T>(value);
  }
  Le& operator=(T value) {
    auto rest = static_cast<std::make_unsigned_t<T>>(value);
    for (auto& byte : byte_) {
      byte = static_cast<std::uint8_t>(rest);
      if constexpr (sizeof(T) > 1) rest = static_cast<std::make_unsigned_t<T>>(rest >> 8);
    }
    return *this;
  }

 private:
  std::uint8_t byte_[sizeof(T)] = {};
};

using Le16 = Le<std::uint16_t>;
using Le32 = Le<std::uint32_t>;
using Le64 = Le<std::uint64_t>;
static_assert(sizeof(Le64) == 8 && alignof(Le64) == 1);

/// Reads a little-endian integer at `bytes[offset]`. The caller has checked the bounds.
template <class T>
T load_le(Bytes bytes, std::size_t offset) {
  std::conditional_t<std::endian::native == std::endian::little, T, Le<T>> field;
  std::memcpy(&field, bytes.data() + offset, sizeof field);
  return field;
}

/// Writes a little-endian integer at `bytes[offset]`. The caller has checked the bounds.
template <class T>
void store_le(MutableBytes bytes, std::size_t offset, T value) {
  const std::conditional_t<std::endian::native == std::endian::little, T, Le<T>> field(value);
  std::memcpy(bytes.data() + offset, &field, sizeof field);
}

}  // namespace neffld
