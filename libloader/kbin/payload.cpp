// SPDX-License-Identifier: MIT
#include "kbin/payload.hpp"

#include "npy/npy_frame.hpp"

namespace neffld {

Result<Bytes> payload_of(std::string_view member, Bytes bytes) {
  if (!member.ends_with(".npy")) return bytes;
  NEFFLD_ASSIGN(const NpyFrame frame, npy_frame(member, bytes, bytes.size(), 1));
  return bytes.subspan(frame.data_offset);
}

}  // namespace neffld
