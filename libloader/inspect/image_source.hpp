// SPDX-License-Identifier: MIT
// Bytes of an image file by file offset, whether the file is compressed or not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neffld/bytes.hpp"
#include "neffld/device_image.hpp"
#include "neffld/error.hpp"

namespace neffld {

class ImageSource {
 public:
  virtual ~ImageSource() = default;
  virtual std::uint64_t size() const = 0;
  /// The caller has checked the range against size().
  virtual Result<void> read(std::uint64_t offset, MutableBytes out) const = 0;
};

/// Opens a plain file, or inflates a zstd one: blocks that repeat one byte take no memory, so an
/// image of untouched scratchpad pages stays small.
Result<std::unique_ptr<ImageSource>> open_image_source(const std::string& path,
                                                       const ImageLimits& limits);

}  // namespace neffld
