// SPDX-License-Identifier: MIT
// The base of decorators of DeviceFile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "neffld/device_file.hpp"

namespace neffld {

/// Passes everything on to `inner_`, which it shares; a decorator overrides what it changes. By itself
/// it is a second owner of one open file.
class ForwardingFile : public DeviceFile {
 public:
  explicit ForwardingFile(std::shared_ptr<DeviceFile> inner) : inner_(std::move(inner)) {}

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    return inner_->ioctl(command, argument);
  }
  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    return inner_->mmap(offset, length, writable);
  }
  void munmap(void* address, std::uint64_t length) noexcept override {
    inner_->munmap(address, length);
  }
  const DeviceTraits& traits() const noexcept override { return inner_->traits(); }
  void limit_execution(std::chrono::milliseconds limit) noexcept override {
    inner_->limit_execution(limit);
  }
  std::string refusal() const override { return inner_->refusal(); }

 protected:
  const std::shared_ptr<DeviceFile> inner_;
};

}  // namespace neffld
