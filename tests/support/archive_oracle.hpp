// SPDX-License-Identifier: MIT
// A second reader of tar archives, independent of ours: libarchive. What we accept must be the same
// list of members to it. (It forgives much that we refuse; the other way round nothing follows.)
#pragma once

#include <optional>
#include <string>

#include "neffld/container.hpp"

namespace neffld::test {

/// What libarchive reads differently in an archive that the loader accepts: a warning or an error
/// of its own, another entry, name, type, size, offset or other bytes. Nothing if both agree, or if
/// the loader refuses the archive.
std::optional<std::string> dispute(Bytes tar, const ContainerLimits& limits = {});

}  // namespace neffld::test
