// SPDX-License-Identifier: MIT
// Reading memory a caller named, which may not be there: an address that is wrong must give the
// driver's answer, not kill the recorder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "neffld/bytes.hpp"

namespace neffld::shim {

/// Copies from this process's memory; returns the bytes before the first that cannot be read.
std::size_t read_caller(std::uint64_t address, MutableBytes out) noexcept;

/// Copies into this process's memory; false if it may not be written as a whole.
bool write_caller(std::uint64_t address, Bytes bytes) noexcept;

}  // namespace neffld::shim
