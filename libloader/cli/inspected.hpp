// SPDX-License-Identifier: MIT
// A NEFF on a simulated device or an image file: what explain, disasm, diff and check look at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loading.hpp"
#include "neffld/device_image.hpp"

namespace neffld::cli {

struct Inspected {
  Loading loading;                     ///< of a NEFF; no session for an image
  std::unique_ptr<DeviceImage> image;  ///< null for a NEFF
  std::vector<Layout> layouts;         ///< one a model
  std::unique_ptr<DeviceMemoryView> live;

  const DeviceMemoryView& memory() const { return image ? *image : *live; }
  /// The model behind a layout; null for an image.
  LoadedModel* model(std::size_t i) const {
    return loading.session ? loading.session->models()[i].get() : nullptr;
  }
  bool bound() const;  ///< no input or output is without an address
};

/// Opens an image, or loads a NEFF as `relocs` does. With `bind` a NEFF gets free addresses for its
/// inputs and outputs unless the options give some. Errors: also images without layouts.
Result<Inspected> inspect_file(const std::string& file, LoadingOptions options, bool bind);

/// A device address, 0x hexadecimal or decimal. Errors: class usage.
Result<std::uint64_t> parse_address(const std::string& text, const char* what);

}  // namespace neffld::cli
