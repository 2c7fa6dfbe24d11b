// SPDX-License-Identifier: MIT
// The hardware queues of a loaded model, asked behind the loader's back.
#pragma once

#include <catch2/catch.hpp>

#include "devices.hpp"
#include "neuron_abi/address_map.h"

namespace neffld::test {

/// One half of a ring that a hardware queue runs through.
struct Half {
  const KbinPlan& kbin;
  const RingPlan& ring;
  std::uint32_t request;
  bool tx;
};

/// Calls `each` for both halves of every ring of every hardware queue of a model.
template <class Each>
void for_each_half(const LoadedModel& model, Each each) {
  for (const KbinPlan& kbin : model.plan.kbins) {
    for (const RingPlan& ring : kbin.rings) {
      if (ring.instance != 0 || !ring.tx_request) continue;
      each(Half{kbin, ring, *ring.tx_request, true});
      each(Half{kbin, ring, *ring.rx_request, false});
    }
  }
}

inline std::uint32_t engine_of(const Half& half) {
  return NEURON_DMA_ENGINES_PER_CORE * half.kbin.core + half.ring.k;
}

inline neuron_dma_queue_state queue_state(Bench& bench, const Half& half) {
  neuron_dma_queue_state tx{}, rx{};
  neuron_dma_queue_get_state argument{};
  argument.eng_id = engine_of(half);
  argument.qid = *half.kbin.queue_sets[half.ring.queue_set].queue_id;
  argument.tx_ptr = reinterpret_cast<std::uintptr_t>(&tx);
  argument.rx_ptr = reinterpret_cast<std::uintptr_t>(&rx);
  REQUIRE(bench.peer->ioctl(NEURON_IOCTL_DMA_QUEUE_GET_STATE, &argument) == 0);
  return half.tx ? tx : rx;
}

inline std::vector<std::uint8_t> copy_out(Bench& bench, const Half& half) {
  std::vector<std::uint8_t> bytes(std::size_t{half.ring.used} * 16);
  neuron_dma_descriptor_copyout argument{};
  argument.eng_id = engine_of(half);
  argument.qid = *half.kbin.queue_sets[half.ring.queue_set].queue_id;
  argument.type = half.tx ? NEURON_QUEUE_TX : NEURON_QUEUE_RX;
  argument.count = half.ring.used;
  argument.buffer_ptr = reinterpret_cast<std::uintptr_t>(bytes.data());
  REQUIRE(bench.peer->ioctl(NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, &argument) == 0);
  return bytes;
}

/// True when every queue of the model has its base at the model's rings.
inline bool queues_hold(Bench& bench, const LoadedModel& model) {
  bool hold = true;
  for_each_half(model, [&](const Half& half) {
    hold &= queue_state(bench, half).base_addr == model.addresses.sections[half.request];
  });
  return hold;
}

}  // namespace neffld::test
