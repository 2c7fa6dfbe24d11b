// SPDX-License-Identifier: MIT
// Records that sections are made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neffld/bytes.hpp"
#include "neffld/layout.hpp"

namespace neffld {

enum class RecordKind : std::uint8_t {
  instruction,
  descriptor_tx,
  descriptor_rx,
  cell,
  ucode_function,
  bytes
};

RecordKind record_kind(SectionKind kind);
std::uint64_t record_size(RecordKind kind);          ///< bytes; 16 for plain bytes
std::string_view record_kind_name(RecordKind kind);  ///< "instruction", "descriptor", ...
/// A whole record in words.
std::string record_text(RecordKind kind, Bytes record, const Locator& locator,
                        std::uint32_t subgraph);

}  // namespace neffld
