// SPDX-License-Identifier: MIT
#include "tensor.hpp"

#include <fmt/format.h>

namespace neffld::nrt {

Result<View> part_of(const Tensor& tensor, std::uint64_t offset, std::uint64_t size) {
  View view = tensor.view();
  const auto refused = [&](std::string why) {
    return fail(Status::invalid, ErrorClass::usage, {},
                fmt::format("tensor '{}' {}", tensor.name(), why));
  };
  if (view.storage == nullptr) return refused("has no storage");
  if (offset > view.size || size > view.size - offset) {
    return refused(fmt::format("has {} bytes, offset {} and length {} reach beyond its end",
                               view.size, offset, size));
  }
  if (view.storage->gone()) return refused("lost its device memory to nrt_close()");
  view.offset += offset;
  view.size = size;
  return view;
}

}  // namespace neffld::nrt
