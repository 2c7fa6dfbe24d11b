// SPDX-License-Identifier: MIT
#include "process.hpp"

#include <cstdio>
#include <cstdlib>

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
    // START-END rwxp ...
    char* rest = nullptr;
    const std::uint64_t start = strtoull(line, &rest, 16);
    if (*rest != '-') continue;
    const std::uint64_t end = strtoull(rest + 1, &rest, 16);
    if (start <= pointer(address) && pointer(address) < end)
      return rest[0] == ' ' && rest[2] == 'w';
  }
  return false;
}

}  // namespace neffld::cts
