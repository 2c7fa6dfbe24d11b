// SPDX-License-Identifier: MIT
#include "scratch_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support.hpp"

namespace neffld::fuzz {

ScratchFile::ScratchFile(Bytes content)
    : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)),
      path_("/proc/self/fd/" + std::to_string(descriptor_)) {
  promise(descriptor_ >= 0, "a file can be made", std::strerror(errno));
  put(0, content);
}

void ScratchFile::put(std::uint64_t offset, Bytes content) {
  while (!content.empty()) {
    const ssize_t written =
        pwrite(descriptor_, content.data(), content.size(), static_cast<off_t>(offset));
    promise(written > 0, "a file can be written", std::strerror(errno));
    content = content.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

ScratchFile::~ScratchFile() {
  close(descriptor_);
}

}  // namespace neffld::fuzz
