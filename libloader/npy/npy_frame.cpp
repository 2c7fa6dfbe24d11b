// SPDX-License-Identifier: MIT
#include "npy/npy_frame.hpp"

#include <fmt/format.h>

namespace neffld {

Result<NpyFrame> npy_frame(std::string_view name, Bytes bytes, std::uint64_t size,
                           unsigned newest) {
  const auto problem = [&](std::uint64_t offset, std::string text) {
    return invalid({std::string(name), "", std::nullopt, offset}, std::move(text));
  };
  // Magic (6 bytes), version (2), length of the text header (2, from version 2 on 4).
  constexpr std::size_t shortest = 10, length_at = 8;
  constexpr std::uint16_t magic = 0x4E93;
  if (bytes.size() < shortest) {
    return problem(0, fmt::format("NUMPY header is cut off, there are {} bytes and at least {} are "
                                  "needed",
                                  bytes.size(), shortest));
  }
  if (const auto found = load_le<std::uint16_t>(bytes, 0); found != magic) {
    return problem(0, fmt::format("NUMPY {} bad header {:x} != 0x4e93", name, found));
  }
  if (as_text(bytes.subspan(1, 5)) != "NUMPY") {
    return problem(1, "the magic behind its first byte is not \"NUMPY\"");
  }
  const unsigned version = bytes[6];
  if (version < 1 || version > newest) {
    return problem(6, newest == 1
                          ? fmt::format("NUMPY format version {} is not supported, only version 1 "
                                        "is",
                                        version)
                          : fmt::format("NUMPY format version {} is not supported, versions 1 to "
                                        "{} are",
                                        version, newest));
  }
  const std::size_t text_at = version == 1 ? shortest : length_at + 4;
  if (bytes.size() < text_at) {
    return problem(0, fmt::format("NUMPY header is cut off, there are {} bytes and at least {} are "
                                  "needed",
                                  bytes.size(), text_at));
  }
  const std::size_t text = version == 1 ? load_le<std::uint16_t>(bytes, length_at)
                                        : load_le<std::uint32_t>(bytes, length_at);
  if (text > size - text_at) {
    return problem(length_at,
                   fmt::format("NUMPY header length {} does not fit in the {} bytes behind it",
                               text, size - text_at));
  }
  return NpyFrame{version, text_at, text_at + text};
}

}  // namespace neffld
