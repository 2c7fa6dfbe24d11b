// SPDX-License-Identifier: MIT
// The memory of a replay: the buffers that calls are given, and what the device must hold.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace transcripts {

/// Bytes that differ from seed to seed and from place to place.
void write_pattern(std::uint8_t* to, std::uint64_t bytes, std::uint64_t seed);

/// 16 MiB that end at an unreachable page.
class Buffer {
 public:
  static constexpr std::uint64_t bytes = 16 << 20;
  explicit Buffer(std::uint64_t usable = bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::uint8_t* data() const { return data_; }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(data_); }

 private:
  std::uint8_t* data_;
  std::uint64_t usable_;
};

/// What the device's memory must hold after the calls so far, by device address. Zero at first.
class Shadow {
 public:
  void write(std::uint64_t to, const std::uint8_t* from, std::uint64_t bytes);
  void fill(std::uint64_t to, std::uint8_t value, std::uint64_t bytes);
  /// In pieces of 64 KiB in ascending order, as the device's descriptors run.
  void copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  std::vector<std::uint8_t> read(std::uint64_t from, std::uint64_t bytes) const;

 private:
  struct Page {
    std::uint8_t value = 0;  ///< of every byte, while `bytes` is empty
    std::vector<std::uint8_t> bytes;
  };
  template <class Visit>
  void each(std::uint64_t from, std::uint64_t bytes, Visit visit);
  std::map<std::uint64_t, Page> pages_;
};

}  // namespace transcripts
