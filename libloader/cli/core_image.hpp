// SPDX-License-Identifier: MIT
// The device image: live allocations as an ELF64 core file (design "The device image").
#pragma once

#include <string>

#include "neffld/session.hpp"

namespace neffld::cli {

/// Writes the memory of every allocation of every model of `session` to `path`: one PT_LOAD each,
/// p_paddr = device address, p_filesz = allocated size; one note per model with name and uuid.
/// With `compress` the file is zstd-compressed. Errors: class file, or the device's.
Result<void> write_core_image(Session& session, const std::string& path, bool compress);

}  // namespace neffld::cli
