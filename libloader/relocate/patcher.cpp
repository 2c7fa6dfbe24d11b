// SPDX-License-Identifier: MIT
#include "patcher.hpp"

#include <fmt/format.h>

namespace neffld {

Result<void> Patcher::refuse(std::uint64_t offset, std::size_t width, RelocForm form) const {
  return invalid({.path = std::string(reloc_form_name(form)), .offset = offset},
                 fmt::format("a field of {} bytes does not fit: the section has {} bytes", width,
                             section_.size()));
}

}  // namespace neffld
