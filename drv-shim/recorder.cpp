// SPDX-License-Identifier: MIT
#include <mutex>

#include "call_recorder.hpp"
#include "neffld/forwarding_file.hpp"
#include "neffld/trace.hpp"

namespace neffld {
namespace {

class Recorder final : public ForwardingFile {
 public:
  Recorder(std::unique_ptr<DeviceFile> inner, std::shared_ptr<TraceWriter> writer)
      : ForwardingFile(std::move(inner)),
        recorder_(std::move(writer), inner_->traits().name, inner_->traits().simulated) {}

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    const std::lock_guard lock(mutex_);
    return recorder_.record(command, argument, [&] { return inner_->ioctl(command, argument); });
  }

  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    const std::lock_guard lock(mutex_);
    auto address = inner_->mmap(offset, length, writable);
    recorder_.writer().mapping({offset, length, writable, true, address.has_value()});
    return address;
  }

  void munmap(void* address, std::uint64_t length) noexcept override {
    const std::lock_guard lock(mutex_);
    inner_->munmap(address, length);
    recorder_.writer().mapping({0, length, false, false, true});
  }

 private:
  shim::CallRecorder recorder_;
  std::mutex mutex_;
};

}  // namespace

std::unique_ptr<DeviceFile> record_calls(std::unique_ptr<DeviceFile> device,
                                         std::shared_ptr<TraceWriter> writer) {
  return std::make_unique<Recorder>(std::move(device), std::move(writer));
}

}  // namespace neffld
