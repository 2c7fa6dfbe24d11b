// SPDX-License-Identifier: MIT
// Files and probes that stand in for a loader, so that each step can be seen on its own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/repro.hpp"

namespace neffld::test {

using Buffer = std::vector<std::uint8_t>;

Buffer bytes_of(std::string_view text);
std::string text_of(const Buffer& bytes);
PackMember member(std::string name, std::string_view content);
/// Packs or fails the test.
Buffer pack(const std::vector<PackMember>& members);

/// The error of a parsed file; nothing if it has none.
using Look = std::function<std::optional<Error>(const Container&)>;
/// Parses, and asks `look` about what can be parsed.
LoadProbe probe(Look look);

/// The reduced file, taken apart.
Container parsed(const Repro& repro);
std::string content(const Container& container, std::string_view member);

}  // namespace neffld::test
