// SPDX-License-Identifier: MIT
#include "caller_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace neffld::shim {
namespace {

thread_local RemoteCaller* remote;

}  // namespace

CallerScope::CallerScope(RemoteCaller& caller) {
  remote = &caller;
}

CallerScope::~CallerScope() {
  remote = nullptr;
}

std::int32_t caller_process() noexcept {
  return remote != nullptr ? remote->process() : getpid();
}

std::size_t read_caller(std::uint64_t address, MutableBytes out) noexcept {
  if (remote != nullptr) return remote->read(address, out);
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::size_t done = 0;
  // The kernel copies whole runs and stops at a hole, but where inside the run is not promised: on
  // a short count the rest is tried page by page.
  std::uint64_t piece = out.size();
  while (done < out.size()) {
    const std::uint64_t at = address + done;
    if (at < address) break;
    const std::uint64_t wanted = std::min<std::uint64_t>(out.size() - done, piece);
    const iovec to{out.data() + done, wanted};
    const iovec from{reinterpret_cast<void*>(static_cast<std::uintptr_t>(at)), wanted};
    const ssize_t count = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count == static_cast<ssize_t>(wanted)) continue;
    const std::uint64_t to_page_end = page - (address + done) % page;
    if (count <= 0 && piece <= to_page_end) break;
    piece = to_page_end;
  }
  return done;
}

bool write_caller(std::uint64_t address, Bytes bytes) noexcept {
  const iovec from{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  const iovec to{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), bytes.size()};
  return process_vm_writev(getpid(), &from, 1, &to, 1, 0) == static_cast<ssize_t>(bytes.size());
}

}  // namespace neffld::shim
