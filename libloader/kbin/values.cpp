// SPDX-License-Identifier: MIT
// Small values that several sections of a subgraph have in common.
#include <fmt/format.h>

#include "kbin/context.hpp"
#include "manifest/printable.hpp"

namespace neffld {

Bytes read_file_value(JsonCursor& cursor, const Subgraph& subgraph) {
  const std::string_view file = cursor.string();
  if (!cursor.ok()) return {};
  const Member* member = subgraph.find(file);
  if (member == nullptr) {
    cursor.fail(
        fmt::format("the member \"{}\" is not in the archive", printable(subgraph.path_of(file))));
    return {};
  }
  return member->bytes;
}

bool read_fabric_path(JsonCursor& cursor) {
  const std::string_view path = cursor.string();
  if (cursor.ok() && path != "main" && path != "alt") {
    cursor.fail(fmt::format("found \"{}\", expected \"main\" or \"alt\"", printable(path)));
  }
  return path == "alt";
}

std::uint32_t read_semaphore(JsonCursor& cursor) {
  const std::uint32_t semaphore = cursor.u32(255);
  const bool reserved = semaphore <= 2 || (semaphore >= 240 && semaphore <= 245);
  if (cursor.ok() && reserved) {
    cursor.fail(
        fmt::format("semaphore {} is the runtime's own, as are 0 to 2 and 240 to 245",
                    semaphore));
  }
  return semaphore;
}

std::vector<std::uint32_t> read_u32_array(JsonCursor& cursor) {
  std::vector<std::uint32_t> values;
  cursor.begin_array();
  while (cursor.next_element()) values.push_back(cursor.u32());
  return values;
}

}  // namespace neffld
