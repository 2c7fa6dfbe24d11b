// SPDX-License-Identifier: MIT
// Fuzz targets: what a hostile input of each kind goes through. libFuzzer drives each of them as a
// program of its own (scripts/lane fuzz), the test `fuzz corpus` all of them with fixed inputs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/bytes.hpp"

namespace neffld::fuzz {

using Input = std::vector<std::uint8_t>;

struct Target {
  std::string_view name;
  std::string_view input;  ///< what the bytes are, in a line
  std::size_t most_bytes;  ///< longer inputs find nothing that shorter ones do not
  /// Takes any bytes. What must never happen ends the program: see broken() in support.hpp.
  void (*run)(Bytes input);
  /// Good inputs, made by the project's writer; the same ones each time.
  std::vector<Input> (*seeds)();
  /// Texts and byte strings that mean something in the format.
  std::vector<std::string> (*words)();
};

// One a file, target_*.cpp.
extern const Target raw_file, tar_archive, json_members, instruction_streams, npy_headers,
    activation_chain, dve_chain, library_chain, ioctl_calls, trace_reader, image_reader,
    image_layout;

/// All of them, in ascending name order.
std::span<const Target* const> all_targets();
/// Null: there is none of that name.
const Target* find_target(std::string_view name);

}  // namespace neffld::fuzz
