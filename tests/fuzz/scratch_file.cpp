// SPDX-License-Identifier: MIT
#include "scratch_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

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

ScratchFolder::ScratchFolder()
    : path_((std::filesystem::temp_directory_path() / "neffld-fuzz-XXXXXX").string()) {
  promise(mkdtemp(path_.data()) != nullptr, "a folder can be made", std::strerror(errno));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace neffld::fuzz
