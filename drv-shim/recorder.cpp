// SPDX-License-Identifier: MIT
#include <mutex>

#include "capture.hpp"
#include "neffld/forwarding_file.hpp"
#include "neffld/trace.hpp"
#include "no_throw.hpp"

namespace neffld {
namespace {

using namespace shim;

class Recorder final : public ForwardingFile {
 public:
  Recorder(std::unique_ptr<DeviceFile> inner, std::shared_ptr<TraceWriter> writer)
      : ForwardingFile(std::move(inner)),
        writer_(std::move(writer)),
        capture_(writer_->options().keep_data) {
    static_cast<void>(all_commands());  // built here, where it may throw
    writer_->info("device", inner_->traits().name);
    writer_->info("simulated", inner_->traits().simulated ? "yes" : "no");
    writer_->info("data", writer_->options().keep_data ? "kept" : "hashed");
  }

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    const std::lock_guard lock(mutex_);
    TraceCall call;
    const Result<void> captured = no_throw([&]() -> Result<void> {
      call = capture_.before(calls_ + 1, command, argument);
      return {};
    });
    if (!captured) {
      writer_->info("not recorded", "a call: out of memory");
      return inner_->ioctl(command, argument);
    }
    ++calls_;
    writer_->begin(call);
    const int result = inner_->ioctl(command, argument);
    const Result<void> finished = no_throw([&]() -> Result<void> {
      capture_.after(call, argument, result);
      return {};
    });
    if (!finished) call.payloads.clear();  // half of them would read as all of them
    writer_->end(call);
    return result;
  }

  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    const std::lock_guard lock(mutex_);
    auto address = inner_->mmap(offset, length, writable);
    writer_->mapping({offset, length, writable, true, address.has_value()});
    return address;
  }

  void munmap(void* address, std::uint64_t length) noexcept override {
    const std::lock_guard lock(mutex_);
    inner_->munmap(address, length);
    writer_->mapping({0, length, false, false, true});
  }

 private:
  std::shared_ptr<TraceWriter> writer_;
  Capture capture_;
  std::mutex mutex_;
  std::uint64_t calls_ = 0;
};

}  // namespace

std::unique_ptr<DeviceFile> record_calls(std::unique_ptr<DeviceFile> device,
                                         std::shared_ptr<TraceWriter> writer) {
  return std::make_unique<Recorder>(std::move(device), std::move(writer));
}

}  // namespace neffld
