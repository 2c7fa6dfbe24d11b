// SPDX-License-Identifier: MIT
#include "remove_units.hpp"

#include <algorithm>

namespace neffld {
namespace {

/// One pass over the list; `size` units at a time.
void remove_chunks(Kept& kept, std::size_t size, const std::function<bool(const Kept&)>& passes) {
  const std::size_t chunks = (kept.size() + size - 1) / size;
  for (std::size_t chunk = chunks; chunk-- > 0;) {
    const auto begin = kept.begin() + static_cast<std::ptrdiff_t>(chunk * size);
    const auto end =
        begin + static_cast<std::ptrdiff_t>(std::min(size, kept.size() - chunk * size));
    if (std::find(begin, end, true) == end) continue;
    const Kept before(begin, end);
    std::fill(begin, end, false);
    if (!passes(kept)) std::copy(before.begin(), before.end(), begin);
  }
}

Bytes unit_at(Bytes bytes, const std::vector<std::size_t>& starts, std::size_t i) {
  const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : bytes.size();
  return bytes.subspan(starts[i], end - starts[i]);
}

}  // namespace

Kept remove_units(std::size_t count, std::size_t most_parts,
                  const std::function<bool(const Kept&)>& passes) {
  Kept kept(count, true);
  const std::size_t least = std::max<std::size_t>(1, count / most_parts);
  for (std::size_t size = count; size >= least && size != 0;) {
    remove_chunks(kept, size, passes);
    size = size == 1 ? 0 : (size + 1) / 2;
  }
  return kept;
}

std::vector<std::size_t> even_units(std::size_t size, std::size_t unit) {
  std::vector<std::size_t> starts((size + unit - 1) / unit);
  for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = i * unit;
  return starts;
}

std::vector<std::uint8_t> kept_bytes(const std::vector<std::uint8_t>& bytes,
                                     const std::vector<std::size_t>& starts, const Kept& kept) {
  std::vector<std::uint8_t> left;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    const Bytes unit = unit_at(bytes, starts, i);
    left.insert(left.end(), unit.begin(), unit.end());
  }
  return left;
}

std::vector<std::uint8_t> zeroed_bytes(const std::vector<std::uint8_t>& bytes,
                                       const std::vector<std::size_t>& starts, const Kept& kept) {
  std::vector<std::uint8_t> left = bytes;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::size_t size = unit_at(bytes, starts, i).size();
    if (!kept[i]) std::fill_n(left.begin() + static_cast<std::ptrdiff_t>(starts[i]), size, 0);
  }
  return left;
}

}  // namespace neffld
