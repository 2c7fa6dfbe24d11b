// SPDX-License-Identifier: MIT
// Indirect memcpy rings: descriptors that write addresses into later descriptors of their own ring
// pair name them relative to rings whose place is not known until they are allocated (spec 05 B5).
#pragma once

#include <span>

#include "patcher.hpp"

namespace neffld {

/// One ring pair of an indirect memcpy set. Pointers in the TX half are never relative.
struct ImcpyRing {
  Patcher rx;              ///< writes the RX half
  std::uint32_t used = 0;  ///< descriptors of each half
  /// Where the halves lie and which requests they are.
  std::uint64_t tx_address = 0, rx_address = 0;
  std::uint32_t tx_request = 0, rx_request = 0;
};

/// Makes the ring-relative pointers of a set's RX descriptors absolute. Bit 62 of a pointer means
/// "relative to the TX ring", bit 63 "to the RX ring"; pointers with neither stay as they are. The
/// 62-bit offset covers the template bit, so this runs instead of, never after, the template pass.
/// Errors: NRT_FAILURE for a set without descriptors; NRT_INVALID for both bits, or a write that
/// does not end inside the used descriptors of the ring it names. Nothing of a refused ring pair is
/// fit for a device.
Result<void> absolutise_imcpy(std::span<ImcpyRing> rings);

}  // namespace neffld
