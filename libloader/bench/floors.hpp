// SPDX-License-Identifier: MIT
// What a load is compared with: other libraries doing the part they can do.
#pragma once

#include <span>

#include "neffld/container.hpp"

namespace neffld::bench {

/// zlib inflates the gzip member of `payload` into fresh memory of huge pages and checks its CRC.
/// `bytes` is the size it inflates to. The memory is kept in `memory` until the next call.
class ZlibFloor {
 public:
  ZlibFloor();
  ~ZlibFloor();
  /// Gives the memory of the last run back.
  void release();
  Result<void> run(Bytes payload, std::uint64_t bytes);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// RapidJSON with its default flags and allocators makes a DOM of every member.
class DomFloor {
 public:
  DomFloor();
  ~DomFloor();
  /// Frees the documents of the last run.
  void release();
  Result<void> run(std::span<const Member* const> members);

 private:
  struct Documents;
  std::unique_ptr<Documents> documents_;
};

/// RapidJSON reads every member once and nobody listens.
Result<void> scan_json(std::span<const Member* const> members);

}  // namespace neffld::bench
