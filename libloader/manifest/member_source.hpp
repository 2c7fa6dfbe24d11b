// SPDX-License-Identifier: MIT
// How the JSON readers reach archive members.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "neffld/container.hpp"

namespace neffld {

/// Finds a member by its full name, or returns null. Readers take this instead of a Container, so
/// that they can be fed from a table.
using MemberSource = std::function<const Member*(std::string_view name)>;

inline MemberSource members_of(const Container& container) {
  return [&container](std::string_view name) { return container.find(name); };
}

/// `file` inside the folder of a subgraph (spec 01 section 7.3).
inline std::string in_folder(std::string_view folder, std::string_view file) {
  return folder.empty() ? std::string(file) : std::string(folder) + "/" + std::string(file);
}

}  // namespace neffld
