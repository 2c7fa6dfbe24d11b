// SPDX-License-Identifier: MIT
// Device memory by address: of a live session, or of an ELF core file that `neffld dump` wrote.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "neffld/bytes.hpp"
#include "neffld/error.hpp"
#include "neffld/layout.hpp"

namespace neffld {

class Session;

/// Reads device memory.
class DeviceMemoryView {
 public:
  virtual ~DeviceMemoryView() = default;
  /// Fills `out` from device address `address`. Error (class check): some byte of the range is in
  /// no allocation.
  virtual Result<void> read(std::uint64_t address, MutableBytes out) const = 0;
};

/// The live allocations of a session, which must outlive the view; models loaded later are not
/// seen.
std::unique_ptr<DeviceMemoryView> session_memory(Session& session);

/// Writes the memory of every live allocation of the session as an ELF64 core file (design, "The
/// device image"): one PT_LOAD an allocation at its device address, and for every model a note of
/// type 1 (name and uuid) and one of type 2 (layout). With `compress` the file is one zstd frame.
Result<void> write_core_image(Session& session, const std::string& path, bool compress);

struct ImageLimits {
  std::uint64_t inflated_bytes = 256ull << 30;  ///< of a compressed image
  std::uint64_t resident_bytes = 4ull << 30;    ///< of it without runs of one byte; of programs
  std::uint64_t note_bytes = 1ull << 30;
};

struct ImageSegment {
  std::uint64_t address = 0, size = 0, file_offset = 0;
};

/// An image file, plain or compressed. Segments and layouts are checked when it is opened; memory
/// is read when asked for.
class DeviceImage final : public DeviceMemoryView {
 public:
  /// Errors: class file (cannot be read), format (no such image; the field is named), resource
  /// (limits).
  static Result<std::unique_ptr<DeviceImage>> open(const std::string& path,
                                                   const ImageLimits& limits = {});
  ~DeviceImage() override;

  /// Ascending by address, without overlaps.
  const std::vector<ImageSegment>& segments() const;
  /// Of the models in loading order; empty in images without layout notes.
  const std::vector<Layout>& layouts() const;
  Result<void> read(std::uint64_t address, MutableBytes out) const override;

  struct State;
  explicit DeviceImage(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

/// True when a file starts like an ELF file or a zstd frame.
Result<bool> is_image_file(const std::string& path);

}  // namespace neffld
