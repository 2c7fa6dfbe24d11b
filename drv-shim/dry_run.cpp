// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cerrno>
#include <mutex>

#include "capture.hpp"
#include "neffld/back_ends.hpp"
#include "neuron_abi/ioctl.h"
#include "no_throw.hpp"
#include "trace_text.hpp"

namespace neffld {
namespace {

using namespace shim;

/// Questions that change nothing: the device itself is asked.
bool is_question(std::uint32_t command) {
  return command == NEURON_IOCTL_COMPATIBLE_VERSION || command == NEURON_IOCTL_DRIVER_INFO_GET ||
         command == NEURON_IOCTL_DEVICE_BASIC_INFO;
}

class DryRun final : public DeviceFile {
 public:
  DryRun(std::unique_ptr<DeviceFile> device, std::unique_ptr<DeviceFile> stand_in, LineSink print)
      : device_(std::move(device)),
        stand_in_(std::move(stand_in)),
        print_(std::move(print)),
        traits_{device_->traits().name + " (dry run)", device_->traits().simulated},
        capture_(false) {}

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    const std::lock_guard lock(mutex_);
    int result = -ENOMEM;
    // What cannot be printed is not answered either.
    const Result<void> printed = no_throw([&]() -> Result<void> {
      TraceCall call = capture_.before(++calls_, command, argument);
      DeviceFile& target = is_question(command) ? *device_ : *stand_in_;
      result = target.ioctl(command, argument);
      capture_.after(call, argument, result);
      print_(fmt::format("{} {} -> {}", is_question(command) ? "asked:" : "not made:",
                         describe_sent(call), describe_reply(call)));
      return {};
    });
    return printed ? result : -ENOMEM;
  }

  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    print_(fmt::format("not made: mmap offset={:#x} length={:#x}", offset, length));
    return stand_in_->mmap(offset, length, writable);
  }
  void munmap(void* address, std::uint64_t length) noexcept override {
    stand_in_->munmap(address, length);
  }
  const DeviceTraits& traits() const noexcept override { return traits_; }

 private:
  std::unique_ptr<DeviceFile> device_, stand_in_;
  LineSink print_;
  DeviceTraits traits_;
  std::mutex mutex_;
  Capture capture_;
  std::uint64_t calls_ = 0;
};

}  // namespace

Result<std::unique_ptr<DeviceFile>> dry_run(std::unique_ptr<DeviceFile> device, LineSink print) {
  return no_throw([&]() -> Result<std::unique_ptr<DeviceFile>> {
    static_cast<void>(all_commands());
    neuron_device_basic_info basic{};
    if (const int answer = device->ioctl(NEURON_IOCTL_DEVICE_BASIC_INFO, &basic)) {
      return fail(Status::failure, ErrorClass::device, {.member = device->traits().name},
                  fmt::format("the driver answered {} to the question for its architecture",
                              result_name(answer)));
    }
    SimOptions options;
    options.architecture = basic.architecture;
    NEFFLD_ASSIGN(const std::shared_ptr<SimDevice> sim, SimDevice::create(options));
    NEFFLD_ASSIGN(std::unique_ptr<DeviceFile> stand_in, sim->open());
    print(
        fmt::format("dry run: {} is asked for versions, architecture and features only; every "
                    "other answer (handles, addresses, sizes, bytes read back) is invented by an "
                    "empty simulated v{} device",
                    device->traits().name, basic.architecture));
    return std::make_unique<DryRun>(std::move(device), std::move(stand_in), std::move(print));
  });
}

}  // namespace neffld
