// SPDX-License-Identifier: MIT
#include "kbin/payload.hpp"

#include <fmt/format.h>

namespace neffld {

Result<Bytes> payload_of(std::string_view member, Bytes bytes) {
  if (!member.ends_with(".npy")) return bytes;
  const auto problem = [&](std::uint64_t offset, std::string text) {
    return invalid({std::string(member), "", std::nullopt, offset}, std::move(text));
  };
  // Magic (6 bytes), version (2), length of the text header (2).
  constexpr std::size_t fixed = 10;
  constexpr std::uint16_t magic = 0x4E93;
  if (bytes.size() < fixed) {
    return problem(0, fmt::format("NUMPY header is cut off, the member has {} bytes and at least "
                                  "{} are needed",
                                  bytes.size(), fixed));
  }
  if (const auto found = load_le<std::uint16_t>(bytes, 0); found != magic) {
    return problem(0, fmt::format("NUMPY {} bad header {:x} != 0x4e93", member, found));
  }
  if (as_text(bytes.subspan(1, 5)) != "NUMPY") {
    return problem(1, "the magic behind its first byte is not \"NUMPY\"");
  }
  if (bytes[6] != 1) {
    return problem(
        6, fmt::format("NUMPY format version {} is not supported, only version 1 is", bytes[6]));
  }
  const std::size_t header = load_le<std::uint16_t>(bytes, 8);
  if (header > bytes.size() - fixed) {
    return problem(8, fmt::format("NUMPY header length {} does not fit in the {} bytes behind it",
                                  header, bytes.size() - fixed));
  }
  return bytes.subspan(fixed + header);
}

}  // namespace neffld
