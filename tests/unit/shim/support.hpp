// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/device_file.hpp"
#include "neffld/trace.hpp"
#include "scratch_folder.hpp"

namespace neffld::test {

std::unique_ptr<DeviceFile> fresh_device(std::uint32_t architecture = 3);

/// Answers calls with a function, and passes those it does not answer to a simulated device.
class FakeFile final : public DeviceFile {
 public:
  using Answer = std::function<std::optional<int>(std::uint32_t, void*)>;
  FakeFile(Answer answer, DeviceTraits traits, std::uint32_t architecture = 3);
  int ioctl(std::uint32_t command, void* argument) noexcept override;
  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    return inner_->mmap(offset, length, writable);
  }
  void munmap(void* address, std::uint64_t length) noexcept override {
    inner_->munmap(address, length);
  }
  const DeviceTraits& traits() const noexcept override { return traits_; }
  /// Every command that arrived; outlives the file.
  std::shared_ptr<std::vector<std::uint32_t>> calls =
      std::make_shared<std::vector<std::uint32_t>>();

 private:
  Answer answer_;
  DeviceTraits traits_;
  std::unique_ptr<DeviceFile> inner_;
};

/// A file of a driver that is not ours.
inline DeviceTraits foreign() {
  return {"/dev/neuron0", false};
}

/// Parses and loads a sample; the error if it fails.
Result<void> try_load(std::unique_ptr<DeviceFile> device, std::string_view name);
/// Loads a sample on a device, verifies and unloads it, and closes the device.
void load_sample(std::unique_ptr<DeviceFile> device, std::string_view name);
/// Records load_sample() on a fresh device.
void record_sample(const std::string& path, std::string_view name,
                   const TraceOptions& options = {});

std::vector<std::uint8_t> read_all(const std::string& path);
void write_all(const std::string& path, Bytes bytes);
/// Reads a trace to its end; the events, or the error.
Result<std::vector<TraceEvent>> events_of(Bytes trace);
std::uint64_t address_of(const void* pointer);

}  // namespace neffld::test
