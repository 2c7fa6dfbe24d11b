// SPDX-License-Identifier: MIT
// Everything known about one device address.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neffld/device_image.hpp"
#include "neffld/layout.hpp"
#include "neffld/relocate.hpp"

namespace neffld {

struct LoadedModel;

/// The record around an address: an instruction, a descriptor, a cell of a table, else 16 bytes.
struct ExplainedRecord {
  std::string kind;                          ///< "instruction", "descriptor", "cell", "bytes"
  std::uint64_t address = 0, number = 0;     ///< number counts records of its section from 0
  std::vector<std::uint8_t> bytes;           ///< as the device holds them; empty: nothing there
  std::string text;                          ///< decoded
  std::optional<std::uint32_t> source_slot;  ///< instruction: record of the NEFF
};

struct Explanation {
  std::uint64_t address = 0;
  Place place;
  std::string what;               ///< text of the place
  std::vector<std::string> also;  ///< further variables that hold the byte
  std::optional<ExplainedRecord> record;
  std::vector<LedgerRow> patches;     ///< fields of the record that relocation rewrote
  std::vector<LedgerRow> references;  ///< fields elsewhere that hold exactly this address
  std::uint64_t reference_count = 0;  ///< all of them; `references` keeps the first few
};

/// What the layout and the memory say. Errors: memory that cannot be read.
Result<Explanation> explain_address(const Locator& locator, const DeviceMemoryView& memory,
                                    std::uint64_t address);

/// Adds what the ledger says, by relocating the model once more (pure; the device stays as it is).
Result<void> explain_patches(const LoadedModel& model, std::vector<Explanation>& explanations);

/// A descriptor in words: bytes, flags, pointer.
std::string descriptor_text(Bytes descriptor, bool rx, const Locator& locator);

}  // namespace neffld
