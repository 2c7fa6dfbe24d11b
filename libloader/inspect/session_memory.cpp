// SPDX-License-Identifier: MIT
// Device memory of a live session by address.
#include <fmt/format.h>

#include <algorithm>

#include "neffld/device_image.hpp"
#include "neffld/session.hpp"

namespace neffld {
namespace {

class SessionMemory final : public DeviceMemoryView {
 public:
  explicit SessionMemory(Session& session) : session_(session) {
    for (const auto& model : session.models()) {
      for (const AllocationInfo& info : model->allocations) {
        held_.push_back({info.pa, info.size, info.handle});
      }
    }
    std::sort(held_.begin(), held_.end(), [](const Held& a, const Held& b) { return a.pa < b.pa; });
  }

  Result<void> read(std::uint64_t address, MutableBytes out) const override {
    const auto after = std::upper_bound(held_.begin(), held_.end(), address,
                                        [](std::uint64_t a, const Held& h) { return a < h.pa; });
    if (after != held_.begin()) {
      const Held& held = *std::prev(after);
      const std::uint64_t offset = address - held.pa;
      if (offset <= held.size && out.size() <= held.size - offset) {
        return session_.read(held.handle, offset, out);
      }
    }
    return fail(Status::invalid, ErrorClass::check, {.member = session_.device().name},
                fmt::format("holds no {} bytes of these models at 0x{:x}", out.size(), address));
  }

 private:
  struct Held {
    std::uint64_t pa = 0, size = 0, handle = 0;
  };
  Session& session_;
  std::vector<Held> held_;
};

}  // namespace

std::unique_ptr<DeviceMemoryView> session_memory(Session& session) {
  return std::make_unique<SessionMemory>(session);
}

}  // namespace neffld
