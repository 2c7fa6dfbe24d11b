// SPDX-License-Identifier: MIT
// Loaded and bound samples, and device memory with some bytes changed.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "devices.hpp"
#include "neffld/auto_bind.hpp"
#include "neffld/device_image.hpp"

namespace neffld::test {

/// A sample or a real file on a device of its own, with inputs and outputs bound.
struct Staged {
  explicit Staged(std::string_view sample);
  /// `file` as bytes; the device is of the architecture it names.
  Staged(Bytes file, std::uint32_t architecture);

  Bench bench;
  LoadedModel* model = nullptr;
  Layout layout;
  std::unique_ptr<DeviceMemoryView> memory;

 private:
  void bind();
};

/// Another view with bytes replaced.
class Overlay final : public DeviceMemoryView {
 public:
  explicit Overlay(const DeviceMemoryView& below) : below_(below) {}
  void set(std::uint64_t address, std::vector<std::uint8_t> bytes);
  Result<void> read(std::uint64_t address, MutableBytes out) const override;

 private:
  const DeviceMemoryView& below_;
  std::map<std::uint64_t, std::uint8_t> bytes_;
};

/// Names and bytes of the real files of NEFFLD_NEFFS; says what is skipped without it.
std::vector<std::pair<std::string, std::vector<std::uint8_t>>> real_files();

std::vector<std::uint8_t> read_section(const DeviceMemoryView& memory,
                                       const Layout::Section& section);

}  // namespace neffld::test
