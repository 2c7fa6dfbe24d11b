// SPDX-License-Identifier: MIT
// Which mappings of this address space are a device's, for the trace.
#pragma once

namespace neffld::shim {

/// At most 1024 at once; of more it is not told when they go.
void remember_mapping(long address);
/// True if it was remembered; it is not any more.
bool forget_mapping(long address);

}  // namespace neffld::shim
