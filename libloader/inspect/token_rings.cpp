// SPDX-License-Identifier: MIT
#include "token_rings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neuron_abi/address_map.h"
#include "neuron_abi/udma.h"

namespace neffld {

bool write_event_unit(TokenCores& cores, const Place& place, std::uint32_t value) {
  if (place.offset != 0 || place.index >= 256) return false;
  TokenCore& core = cores[place.core];
  if (place.kind == Place::Kind::event) {
    core.events[place.index] = value;
    return true;
  }
  if (place.kind != Place::Kind::semaphore) return false;
  std::uint32_t& semaphore = core.semaphores[place.index];
  switch (place.part) {
    case Place::set:
      semaphore = value;
      return true;
    case Place::increment:
      semaphore += value;
      return true;
    case Place::decrement:
      semaphore -= value;
      return true;
    default:
      return false;
  }
}

TokenRings::TokenRings(const Locator& locator, const DeviceMemoryView& memory, TokenCores& cores,
                       TokenResult& result, std::uint64_t max_descriptors)
    : locator_(locator),
      memory_(memory),
      cores_(cores),
      result_(result),
      max_descriptors_(max_descriptors) {
  const Layout& layout = locator.layout();
  for (std::uint32_t s = 0; s < layout.subgraphs.size(); ++s) {
    const Layout::Subgraph& subgraph = layout.subgraphs[s];
    for (const Layout::Ring& ring : subgraph.rings) {
      const Layout::Queue& queue = subgraph.queues[ring.queue];
      // Queues are initialised with their first instance (decision 33).
      if (!queue.id || !ring.tx || !ring.rx || ring.instance != 0) continue;
      Ring& mine = rings_[{subgraph.core, ring.k, *queue.id}];
      mine.tx_pa = layout.sections[*ring.tx].pa;
      mine.rx_pa = layout.sections[*ring.rx].pa;
      mine.used = ring.used;
      mine.subgraph = s;
      mine.owner = queue.owner;
      mine.name = locator.text({Place::Kind::section, subgraph.core, s, *ring.rx, 0, 0});
    }
  }
}

Result<void> TokenRings::fetch(Ring& ring) {
  if (ring.read) return {};
  const std::size_t bytes = std::size_t{NEURON_UDMA_DESC_SIZE} * ring.used;
  ring.tx.resize(bytes);
  ring.rx.resize(bytes);
  NEFFLD_TRY(memory_.read(ring.tx_pa, ring.tx));
  NEFFLD_TRY(memory_.read(ring.rx_pa, ring.rx));
  ring.read = true;
  return {};
}

Place TokenRings::poked(const Ring& ring, std::uint64_t index) const {
  const auto target = load_le<std::uint64_t>(
      Bytes(ring.rx), index * NEURON_UDMA_DESC_SIZE + NEURON_UDMA_DESC_PTR_OFFSET);
  const ArchTable& arch = arch_table(locator_.layout().arch);
  for (std::uint32_t core = 0; core < arch.cores_per_device; ++core) {
    // Nearly all descriptors move data; only these are worth a look at the map.
    const std::uint64_t unit = arch.tpb_base[core] + arch.event_unit;
    if (target - unit < NEURON_EVENT_UNIT_SIZE) return locator_.locate(target);
  }
  return {};
}

Result<std::string> TokenRings::advance(Ring& ring) {
  const std::uint64_t end = std::min(ring.tx_tail, ring.rx_tail);
  if (std::max(ring.tx_tail, ring.rx_tail) > ring.used) {
    return fmt::format("publishes {} descriptors of {}, which holds {}",
                       std::max(ring.tx_tail, ring.rx_tail), ring.name, ring.used);
  }
  if (ring.head < end) NEFFLD_TRY(fetch(ring));
  for (; ring.head < end && result_.descriptors < max_descriptors_; ++ring.head) {
    ++result_.descriptors;
    const Place place = poked(ring, ring.head);
    if (place.kind == Place::Kind::nothing) continue;
    std::uint8_t word[4] = {};
    NEFFLD_TRY(memory_.read(
        load_le<std::uint64_t>(Bytes(ring.tx),
                               ring.head * NEURON_UDMA_DESC_SIZE + NEURON_UDMA_DESC_PTR_OFFSET),
        word));
    if (write_event_unit(cores_, place, load_le<std::uint32_t>(Bytes(word), 0))) ++result_.pokes;
  }
  return std::string();
}

Result<std::string> TokenRings::write(const Place& place, std::uint32_t value) {
  const bool rx = place.part % 2 != 0;
  const auto found = rings_.find({place.core, place.part / 2, place.index});
  const bool reset = place.offset == (rx ? NEURON_UDMA_S2M_Q_SW_CTRL : NEURON_UDMA_M2S_Q_SW_CTRL);
  if (found == rings_.end()) {
    if (value == 0 || (place.offset != NEURON_UDMA_Q_TAIL_INC && !reset)) return std::string();
    if (reset) return std::string();
    return fmt::format("publishes {} descriptors on {}, which has no ring", value,
                       locator_.text(place));
  }
  Ring& ring = found->second;
  if (reset && value & NEURON_UDMA_Q_SW_CTRL_RESET) {
    (rx ? ring.rx_tail : ring.tx_tail) = 0;
    ring.head = 0;
  } else if (place.offset == NEURON_UDMA_Q_TAIL_INC) {
    (rx ? ring.rx_tail : ring.tx_tail) += value;
    return advance(ring);
  }
  return std::string();
}

Result<void> TokenRings::for_each_left(
    std::uint32_t subgraph, Engine owner,
    const std::function<void(std::uint32_t, std::uint32_t)>& each) {
  for (auto& [key, ring] : rings_) {
    if (ring.subgraph != subgraph || ring.owner != owner || ring.head >= ring.used) continue;
    NEFFLD_TRY(fetch(ring));
    for (std::uint64_t i = ring.head; i < ring.used; ++i) {
      const Place place = poked(ring, i);
      if (place.kind == Place::Kind::semaphore) each(place.core, place.index);
    }
  }
  return {};
}

}  // namespace neffld
