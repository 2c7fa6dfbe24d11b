// SPDX-License-Identifier: MIT
// The character device back end: a node of the real driver or of neuron_sim.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

#include "descriptor.hpp"
#include "neffld/back_ends.hpp"
#include "neuron_abi/ioctl.h"
#include "no_throw.hpp"
#include "node_checks.hpp"
#include "older_forms.hpp"

namespace neffld {
namespace {

using namespace shim;

/// What the loader uses of the feature word; a driver that lacks one of these needs older forms.
constexpr std::uint64_t features_used =
    NEURON_FEATURE_BATCH_QUEUE_INIT | NEURON_FEATURE_MEM_TYPE | NEURON_FEATURE_MEM_ALLOC64;

class NodeFile final : public DeviceFile {
 public:
  /// `free_access` is open for writing only. Core marks go through it: the driver drops them when
  /// such a file closes, so they do not outlive a killed process (spec 06 section 2).
  NodeFile(Descriptor free_access, Descriptor attached, DeviceTraits traits)
      : free_access_(std::move(free_access)),
        attached_(std::move(attached)),
        traits_(std::move(traits)) {}

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    const bool mark = command == NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0 ||
                      command == NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0;
    const int fd = mark ? free_access_.get() : attached_.get();
    const int result = ::ioctl(fd, command, argument);
    return result < 0 ? -errno : result;
  }

  Result<void*> mmap(std::uint64_t offset, std::uint64_t length, bool writable) override {
    // A reply, not a guess: the kernel would see a negative offset.
    const bool fits = offset <= static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
    void* address = MAP_FAILED;
    errno = EINVAL;
    if (fits) {
      address = ::mmap(nullptr, length, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED,
                       attached_.get(), static_cast<off_t>(offset));
    }
    if (address != MAP_FAILED) return address;
    const int error = errno;
    return fail(Status::failure, ErrorClass::device, {.member = traits_.name},
                fmt::format("mmap of {} bytes at device offset {:#x}: {}", length, offset,
                            std::strerror(error)));
  }

  void munmap(void* address, std::uint64_t length) noexcept override { ::munmap(address, length); }

  const DeviceTraits& traits() const noexcept override { return traits_; }

 private:
  Descriptor free_access_, attached_;
  DeviceTraits traits_;
};

}  // namespace

Result<std::unique_ptr<DeviceFile>> open_node(const std::string& path, const NodeOptions& options) {
  return no_throw([&]() -> Result<std::unique_ptr<DeviceFile>> {
    NEFFLD_TRY(check_path(path, options));
    // Free access: takes no slot, does not wait for a reset and still tells who the driver is.
    Descriptor free_access(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (free_access.get() < 0) return open_error(path, errno, 0);
    NEFFLD_ASSIGN(const NodeFacts facts, ask_driver(free_access.get(), path, options));
    NEFFLD_TRY(check_versions(facts, path));
    Descriptor attached(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY));
    if (attached.get() < 0) return open_error(path, errno, facts.number);
    std::unique_ptr<DeviceFile> file = std::make_unique<NodeFile>(
        std::move(free_access), std::move(attached), DeviceTraits{path, facts.simulated});
    if (facts.has_driver_info && (facts.features & features_used) == features_used) return file;
    return use_older_forms(std::move(file));
  });
}

}  // namespace neffld
