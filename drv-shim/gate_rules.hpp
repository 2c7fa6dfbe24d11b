// SPDX-License-Identifier: MIT
// Which calls may reach a device that is not simulated (decision 24), as a table.
#pragma once

#include <cstdint>

namespace neffld::shim {

enum class Verdict : std::uint8_t {
  allowed,       ///< after the row's check
  experimental,  ///< only with GateOptions::experimental, and then after the check
  never,
};

/// What must hold for the argument of an allowed call.
enum class Check : std::uint8_t {
  none,
  allocate,       ///< core exists; no host memory of type 19
  free_handle,    ///< allocated here
  buffer_copy,    ///< handle allocated here, range inside the chunk
  chunk_copy,     ///< both handles and ranges
  fill,           ///< MEMSET
  descriptors,    ///< handle and range
  neighbour,      ///< BDF_EXT: the index leads to a device number below 64
  engine,         ///< the engine exists
  engine_queue,   ///< engine and queue exist
  core_register,  ///< semaphore or event of a core that exists
  queue_init,     ///< rings allocated here and large enough, engine and queue are not reserved
  queue_batch,    ///< the same for each entry
  core_map,       ///< NC_RESET: cores that exist, marked here
  core,           ///< a core that exists, marked here
};

struct GateRule {
  std::uint32_t command;
  Verdict verdict;
  Check check;
  const char* why;  ///< of a refusal: "hands work to a DMA engine"
};

/// The row of a command; unknown commands have none and are refused.
const GateRule* find_gate_rule(std::uint32_t command);

}  // namespace neffld::shim
