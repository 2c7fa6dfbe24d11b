// SPDX-License-Identifier: MIT
// Looking at JSON text eight bytes at a time: the plain strings, small integers and expected keys
// that nearly all of a real file consists of. What is not plain is the cursor's business.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace neffld::json_text {

inline bool is_white(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

inline std::uint64_t load_word(const char* text) {
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  return word;
}

/// Marks every byte of `word` that cannot stand unchanged inside a JSON string: control
/// characters, '"', '\\' and non-ASCII. The lowest mark is exact, higher ones may be false.
inline std::uint64_t special_bytes(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
  const auto zero = [](std::uint64_t w) { return (w - ones) & ~w; };
  const std::uint64_t control = (word - ones * 0x20) & ~word;
  return (control | zero(word ^ ones * '"') | zero(word ^ ones * '\\') | word) & high;
}

/// The closing quote of a string whose first character is at `at`. Null if the string needs
/// decoding or does not end before `end`.
inline const char* plain_string_end(const char* at, const char* end) {
  if constexpr (std::endian::native == std::endian::little) {
    for (; end - at >= 8; at += 8) {
      if (const std::uint64_t marks = special_bytes(load_word(at))) {
        at += std::countr_zero(marks) / 8;
        return *at == '"' ? at : nullptr;
      }
    }
  }
  for (; at != end; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"') return at;
    if (byte < 0x20 || byte == '\\' || byte >= 0x80) return nullptr;
  }
  return nullptr;
}

struct Digits {
  std::uint64_t value;
  unsigned count;  ///< 0 to 8
};

/// The decimal digits that the eight characters at `text` begin with.
inline Digits leading_digits(const char* text) {
  if constexpr (std::endian::native != std::endian::little) {
    Digits found{0, 0};
    for (; found.count < 8 && text[found.count] >= '0' && text[found.count] <= '9'; ++found.count) {
      found.value = found.value * 10 + static_cast<unsigned>(text[found.count] - '0');
    }
    return found;
  }
  constexpr std::uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
  std::uint64_t digits = load_word(text) ^ ones * '0';
  // A byte above 9 gets its high bit; the lowest mark is exact.
  const std::uint64_t others = ((digits + ones * (0x80 - 10)) | digits) & high;
  const unsigned count = others == 0 ? 8 : static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (count == 0) return {0, 0};
  // Leading zeros up to eight digits, then neighbours are joined: 8 of one digit, 4 of two, 2 of
  // four, one of eight. The first digit is the lowest byte.
  digits <<= 64 - 8 * count;
  digits = (digits * (1 + (10ull << 8)) >> 8) & 0x00FF00FF00FF00FF;
  digits = (digits * (1 + (100ull << 16)) >> 16) & 0x0000FFFF0000FFFF;
  return {digits * (1 + (10000ull << 32)) >> 32, count};
}

/// The end of an unsigned integer of at most 15 digits without leading zeros at `at`. Null if it is
/// none, or may be longer, or ends too near to `end` to be read in words.
inline const char* plain_integer_end(const char* at, const char* end, std::uint64_t& value) {
  constexpr std::array<std::uint64_t, 8> powers = {1,     10,     100,     1000,
                                                   10000, 100000, 1000000, 10000000};
  if (end - at < 17) return nullptr;
  const Digits head = leading_digits(at);
  if (head.count == 0 || (*at == '0' && head.count > 1)) return nullptr;
  value = head.value;
  if (head.count < 8) return at + head.count;
  const Digits tail = leading_digits(at + 8);
  if (tail.count == 8) return nullptr;
  value = value * powers[tail.count] + tail.value;
  return at + 8 + tail.count;
}

/// A key as it stands in compact text, `"key":`, ready for comparison.
class KeyPattern {
 public:
  static constexpr std::size_t most_bytes = 32;

  constexpr KeyPattern() = default;
  explicit constexpr KeyPattern(std::string_view key) : key_bytes_(key.size()) {
    if (bytes() > most_bytes) return;  // never matches; the cursor reads such keys the long way
    std::array<char, most_bytes> text{}, mask{};
    text[0] = '"';
    for (std::size_t i = 0; i < key.size(); ++i) text[i + 1] = key[i];
    text[key.size() + 1] = '"';
    text[key.size() + 2] = ':';
    for (std::size_t i = 0; i < bytes(); ++i) mask[i] = '\xFF';
    text_ = std::bit_cast<Words>(text);
    mask_ = std::bit_cast<Words>(mask);
  }

  constexpr std::size_t bytes() const { return key_bytes_ + 3; }
  constexpr std::size_t key_bytes() const { return key_bytes_; }

  /// `most_bytes` can be read at `text`.
  bool matches(const char* text) const {
    const auto different = [&](std::size_t i) {
      return (load_word(text + 8 * i) ^ text_[i]) & mask_[i];
    };
    return (different(0) | different(1) | different(2) | different(3)) == 0;
  }

 private:
  using Words = std::array<std::uint64_t, most_bytes / 8>;
  // A pattern that never matches: no text has a NUL.
  Words text_{}, mask_{0xFF};
  std::size_t key_bytes_ = 0;
};

}  // namespace neffld::json_text
