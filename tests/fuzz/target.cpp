// SPDX-License-Identifier: MIT
#include "target.hpp"

#include <array>

namespace neffld::fuzz {

std::span<const Target* const> all_targets() {
  static constexpr std::array targets = {&activation_chain, &dve_chain,           &image_layout,
                                         &image_reader,     &instruction_streams, &ioctl_calls,
                                         &json_members,     &library_chain,       &npy_headers,
                                         &raw_file,         &tar_archive,         &trace_reader};
  return targets;
}

const Target* find_target(std::string_view name) {
  for (const Target* target : all_targets()) {
    if (target->name == name) return target;
  }
  return nullptr;
}

}  // namespace neffld::fuzz
