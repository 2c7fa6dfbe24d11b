// SPDX-License-Identifier: MIT
// Operator new of a test program, which can be told to fail.
#pragma once

namespace neffld::test {

/// The program decides with it, at every allocation by operator new, whether there is no memory:
/// true is std::bad_alloc, or null from the forms that do not throw. Every program that links
/// replaced_new.cpp defines it. May allocate, which asks it again.
bool refuse_new() noexcept;

}  // namespace neffld::test
