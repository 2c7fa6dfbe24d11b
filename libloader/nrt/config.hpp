// SPDX-License-Identifier: MIT
// What the environment asks for: read at init, and again at every load for the load group (spec 07
// section 4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "neffld/session.hpp"

namespace neffld::nrt {

/// A run of virtual cores, numbered over the whole instance.
struct CoreRange {
  std::uint32_t first = 0, count = 0;
};

struct Config {
  std::string device = "sim";                ///< NEFFLD_DEVICE
  std::optional<std::string> fake_instance;  ///< NEURON_RT_FAKE_INSTANCE_TYPE
  std::optional<CoreRange> visible_cores;    ///< NEURON_RT_VISIBLE_CORES
  std::uint32_t num_cores = 0;               ///< NEURON_RT_NUM_CORES, 0 = all
  std::optional<std::uint32_t> core_size;    ///< NEURON_LOGICAL_NC_CONFIG or ..VIRTUAL_CORE_SIZE
  bool skip_compute = false;                 ///< NEFFLD_COMPUTE=skip
  std::uint32_t async_requests = 0;          ///< NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS
  const char* core_size_variable = "NEURON_LOGICAL_NC_CONFIG";  ///< the one that said so
  std::optional<std::uint32_t> sim_core_size;                   ///< NEFFLD_SIM_LNC
};
/// Error: the first value that makes no sense; the others are logged.
Result<Config> read_config();

/// The parameters of one load.
struct LoadKnobs {
  bool validate_hash = false;
  bool allow_legacy = false;
  std::uint32_t timeout_seconds = 0;                  ///< NEURON_RT_EXEC_TIMEOUT, 0 = no limit
  std::uint32_t io_ring_sets = default_io_ring_sets;  ///< NEURON_RT_IO_RING_CACHE_SIZE
  std::uint64_t scratchpad_page_bytes = 512ull << 20;
  std::uint64_t packet_bytes = 0;        ///< NEURON_RT_DBG_DMA_PACKETIZATION_SIZE, 0 = no packets
  bool save_neff = false;                ///< NEURON_RT_INSPECT_ENABLE
  bool save_on_fail = false;             ///< NEURON_RT_INSPECT_ON_FAIL
  std::string save_folder = "./output";  ///< NEURON_RT_INSPECT_OUTPUT_DIR
};
Result<LoadKnobs> read_load_knobs();

}  // namespace neffld::nrt
