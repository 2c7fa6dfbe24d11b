// SPDX-License-Identifier: MIT
// Processes of the in-process device.
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "process.hpp"

namespace neffld::cts {
namespace {

/// Larger than any process number of Linux, so that none is this process's own.
constexpr std::int32_t first_id = 1 << 23;

class SimProcess final : public Process {
 public:
  SimProcess(std::shared_ptr<SimDevice> device, std::int32_t id)
      : device_(std::move(device)), id_(id) {}
  ~SimProcess() override { exit(); }
  SimProcess(const SimProcess&) = delete;
  SimProcess& operator=(const SimProcess&) = delete;

  std::int32_t id() const override { return id_; }

  int open(Access access) override {
    std::unique_ptr<DeviceFile> file;
    const int error = sim_open_as(*device_, id_, access, file);
    return error != 0 ? error : keep(std::move(file));
  }

  int dup(int descriptor) override {
    const auto found = files_.find(descriptor);
    if (found == files_.end()) return -EBADF;
    std::unique_ptr<DeviceFile> file;
    const int error = sim_share(*found->second, id_, file);
    return error != 0 ? error : keep(std::move(file));
  }

  int close(int descriptor) override { return files_.erase(descriptor) == 1 ? 0 : -EBADF; }

  std::unique_ptr<Process> fork() override {
    auto child = std::make_unique<SimProcess>(device_, next_id());
    for (const auto& [descriptor, file] : files_) {
      if (sim_share(*file, child->id_, child->files_[descriptor]) != 0) return nullptr;
    }
    child->next_ = next_;
    return child;
  }

  // Descriptors close in ascending order, as the kernel does it.
  void exit() override {
    while (!files_.empty()) files_.erase(files_.begin());
  }

  int ioctl(int descriptor, std::uint32_t command, void* argument) override {
    const auto found = files_.find(descriptor);
    return found == files_.end() ? -EBADF : found->second->ioctl(command, argument);
  }

  Result<void*> mmap(int descriptor, std::uint64_t offset, std::uint64_t length,
                     bool writable) override {
    const auto found = files_.find(descriptor);
    if (found == files_.end()) {
      return fail(Status::failure, ErrorClass::device, {}, std::strerror(EBADF));
    }
    return found->second->mmap(offset, length, writable);
  }
  void munmap(void* /*address*/, std::uint64_t /*length*/) override {}

  static std::int32_t next_id() {
    static std::int32_t last = first_id;
    return ++last;
  }

 private:
  int keep(std::unique_ptr<DeviceFile> file) {
    files_[next_] = std::move(file);
    return next_++;
  }

  std::shared_ptr<SimDevice> device_;
  std::int32_t id_;
  std::map<int, std::unique_ptr<DeviceFile>> files_;
  int next_ = 3;
};

}  // namespace

std::unique_ptr<Process> start_sim_process(std::shared_ptr<SimDevice> device) {
  return std::make_unique<SimProcess>(std::move(device), SimProcess::next_id());
}

}  // namespace neffld::cts
