// SPDX-License-Identifier: MIT
#include "mutator.hpp"

#include <algorithm>
#include <cstring>

namespace neffld::fuzz {

Input Mutator::next() {
  Input input = seeds_[below(seeds_.size())];
  for (std::size_t changes = 1 + below(8); changes > 0; --changes) change(input);
  if (input.size() > most_bytes_) input.resize(most_bytes_);
  return input;
}

void Mutator::change(Input& input) {
  if (input.empty()) input.push_back(0);
  const std::size_t at = below(input.size());
  const std::size_t piece = std::min(1 + below(64), input.size() - at);
  switch (below(8)) {
    case 0:
      input[at] ^= static_cast<std::uint8_t>(1u << below(8));
      return;
    case 1:
      input[at] = static_cast<std::uint8_t>(random_.next());
      return;
    case 2: {  // a number that is a limit somewhere
      constexpr std::uint64_t limits[] = {
          0,          1,          0x7F,       0xFF,       0x7FFF,     0xFFFF, 0x7FFFFFFF,
          0xFFFFFFFF, 1ull << 32, ~0ull >> 1, 1ull << 63, ~0ull - 63, ~0ull};
      const std::uint64_t value = limits[below(std::size(limits))];
      std::memcpy(input.data() + at, &value,
                  std::min(std::size_t{1} << below(4), input.size() - at));
      return;
    }
    case 3:
      return replace(input, at, piece, {});
    case 4: {  // twice
      const Input copy(input.begin() + static_cast<std::ptrdiff_t>(at),
                       input.begin() + static_cast<std::ptrdiff_t>(at + piece));
      return replace(input, at, 0, copy);
    }
    case 5:
      return replace(input, at, 0, foreign());
    case 6: {
      const Bytes other = foreign();
      return replace(input, at, std::min(other.size(), input.size() - at), other);
    }
    default:  // a digit of a text
      for (std::size_t i = at; i < input.size(); ++i) {
        if (input[i] < '0' || input[i] > '9') continue;
        input[i] = static_cast<std::uint8_t>('0' + below(10));
        return;
      }
  }
}

Bytes Mutator::foreign() {
  if (!words_.empty() && below(2) == 0) return as_bytes(words_[below(words_.size())]);
  const Input& other = seeds_[below(seeds_.size())];
  if (other.empty()) return {};
  const std::size_t at = below(other.size());
  return Bytes(other).subspan(at, std::min(1 + below(128), other.size() - at));
}

void Mutator::replace(Input& input, std::size_t at, std::size_t bytes, Bytes with) const {
  const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
  const auto behind = input.erase(place, place + static_cast<std::ptrdiff_t>(bytes));
  input.insert(behind, with.begin(), with.end());
}

}  // namespace neffld::fuzz
