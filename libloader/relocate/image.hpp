// SPDX-License-Identifier: MIT
// Assembles one engine's instruction image: preamble, lowered stream, postamble (spec 05 A6, A7).
#pragma once

#include "neffld/relocate.hpp"
#include "neuron_abi/udma.h"
#include "patcher.hpp"

namespace neffld {

/// Device register addresses of a queue set's rings on one core.
struct QueueRegisters {
  const ArchTable& arch;
  std::uint32_t core = 0;

  /// `reg` is a NEURON_UDMA_* register offset; ring `k` is DMA engine k of the core.
  std::uint64_t tx(std::uint32_t k, std::uint32_t queue, std::uint32_t reg) const {
    return engine_base(k) + neuron_udma_tx_register(queue, reg);
  }
  std::uint64_t rx(std::uint32_t k, std::uint32_t queue, std::uint32_t reg) const {
    return engine_base(k) + neuron_udma_rx_register(queue, reg);
  }

 private:
  std::uint64_t engine_base(std::uint32_t k) const {
    return arch.dma_engine_base[core] + arch.dma_engine_stride * k;
  }
};

struct ImageInput {
  const Kbin& kbin;
  const KbinPlan& planned;
  const ArchTable& arch;
  const Addresses& addresses;
  std::uint32_t kbin_index = 0;
};

/// Writes one engine's image into `image`, which has the planned size, and tells where its records
/// come from.
Result<IpMap> assemble_image(const ImageInput& input, Engine engine, MutableBytes image,
                             Ledger& ledger);

}  // namespace neffld
