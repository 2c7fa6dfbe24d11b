// SPDX-License-Identifier: MIT
#include "process.hpp"

#include <cinttypes>
#include <cstdio>

namespace neffld::cts {
namespace {

class ProcessFile final : public DeviceFile {
 public:
  ProcessFile(Process& process, int descriptor) : process_(process), descriptor_(descriptor) {
    traits_.name = "descriptor " + std::to_string(descriptor);
  }
  int ioctl(std::uint32_t command, void* argument) noexcept override {
    return process_.ioctl(descriptor_, command, argument);
  }
  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    return process_.mmap(descriptor_, offset, length, writable);
  }
  void munmap(void* address, std::uint64_t length) noexcept override {
    process_.munmap(address, length);
  }
  const DeviceTraits& traits() const noexcept override { return traits_; }

 private:
  Process& process_;
  int descriptor_;
  DeviceTraits traits_;
};

}  // namespace

Client Process::client(int descriptor) {
  return Client(std::make_unique<ProcessFile>(*this, descriptor));
}

bool is_writable(const void* address) {
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(fopen("/proc/self/maps", "r"), fclose);
  char line[512];
  while (maps != nullptr && fgets(line, sizeof line, maps.get()) != nullptr) {
    std::uint64_t start = 0, end = 0;
    char permissions[5] = "";
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, permissions) != 3) continue;
    if (start <= pointer(address) && pointer(address) < end) return permissions[1] == 'w';
  }
  return false;
}

}  // namespace neffld::cts
