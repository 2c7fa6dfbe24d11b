// SPDX-License-Identifier: MIT
// What lives at a device address (spec 03 section 7, 05 B4 and B6, decision 1).
#include <fmt/format.h>

#include <algorithm>

#include "neffld/layout.hpp"
#include "neffld/text.hpp"
#include "neuron_abi/address_map.h"
#include "neuron_abi/udma.h"

namespace neffld {
namespace {

constexpr std::uint64_t upper_block_bytes = 0x200'0000;  // PSUM, events, engine windows
constexpr std::uint32_t hardware_queues = 16;

/// True and the distance when `address` lies in [base, base + size).
bool inside(std::uint64_t address, std::uint64_t base, std::uint64_t size, std::uint64_t& offset) {
  offset = address - base;
  return address >= base && offset < size;
}

/// The event unit of a core: events and four views of every semaphore.
std::optional<Place> in_event_unit(std::uint64_t offset, Place place) {
  place.index = static_cast<std::uint32_t>(offset % NEURON_EVENT_UNIT_WINDOW_SIZE) /
                NEURON_EVENT_UNIT_ENTRY_SIZE;
  place.offset = offset % NEURON_EVENT_UNIT_ENTRY_SIZE;
  if (offset < NEURON_EVENT_UNIT_WINDOW_SIZE) {
    place.kind = Place::Kind::event;
    return place;
  }
  if (offset < NEURON_EVENT_UNIT_SEM_READ) return std::nullopt;
  place.kind = Place::Kind::semaphore;
  place.part = static_cast<std::uint32_t>((offset - NEURON_EVENT_UNIT_SEM_READ) /
                                          NEURON_EVENT_UNIT_WINDOW_SIZE);
  if (place.part > Place::decrement) return std::nullopt;
  return place;
}

/// Queue registers of one DMA engine.
std::optional<Place> in_dma_engine(std::uint64_t offset, std::uint32_t engine, Place place) {
  const bool rx = offset >= NEURON_UDMA_S2M_BLOCK;
  const std::uint64_t in_block = offset - (rx ? NEURON_UDMA_S2M_BLOCK : NEURON_UDMA_M2S_BLOCK);
  const std::uint64_t page = in_block / NEURON_UDMA_QUEUE_STRIDE;
  if (page == 0 || page > hardware_queues) return std::nullopt;
  place.kind = Place::Kind::queue_register;
  place.index = static_cast<std::uint32_t>(page - 1);
  place.part = 2 * engine + (rx ? 1 : 0);
  place.offset = in_block % NEURON_UDMA_QUEUE_STRIDE;
  return place;
}

std::string plus(std::uint64_t offset) {
  return offset ? fmt::format(" + 0x{:x}", offset) : std::string();
}

constexpr std::string_view semaphore_registers[] = {"read", "set", "increment", "decrement"};

/// Hardware queue 13 carries the loader's own rings (decision 3).
std::string_view internal_queue_name(std::uint32_t engine) {
  constexpr std::string_view names[] = {"exec model", "io queue switcher", "act tables",
                                        "dve tables"};
  return engine < std::size(names) ? names[engine] : std::string_view();
}

}  // namespace

std::string_view queue_register_name(bool rx, std::uint64_t offset) {
  switch (offset) {
    case NEURON_UDMA_Q_CFG:
      return "config";
    case NEURON_UDMA_Q_STATUS:
      return "status";
    case NEURON_UDMA_Q_BASE_LO:
      return "base_lo";
    case NEURON_UDMA_Q_BASE_HI:
      return "base_hi";
    case NEURON_UDMA_Q_LENGTH:
      return "length";
    case NEURON_UDMA_Q_HEAD:
      return "head";
    case NEURON_UDMA_Q_TAIL_INC:
      return "tail_increment";
    case 0x3C:
      return "tail";
    case 0x40:
      return "current";
    default:
      break;
  }
  if (offset == (rx ? NEURON_UDMA_S2M_Q_SW_CTRL : NEURON_UDMA_M2S_Q_SW_CTRL)) return "sw_ctrl";
  return {};
}

Locator::Locator(const Layout& layout) : layout_(layout) {
  const auto add = [](std::vector<Interval>& list, std::uint64_t first, std::uint64_t size,
                      std::uint32_t subgraph, std::uint32_t index) {
    if (size != 0) list.push_back({first, first + size, 0, subgraph, index});
  };
  for (std::uint32_t i = 0; i < layout.sections.size(); ++i) {
    const Layout::Section& section = layout.sections[i];
    add(sections_, section.pa, section.size, section.subgraph, i);
  }
  for (std::uint32_t s = 0; s < layout.subgraphs.size(); ++s) {
    const auto& variables = layout.subgraphs[s].variables;
    for (std::uint32_t i = 0; i < variables.size(); ++i) {
      const Layout::Variable& variable = variables[i];
      if (variable.pa && variable.kind != VarKind::state_buffer) {
        add(variables_, *variable.pa, variable.size, s, i);
      }
    }
  }
  for (auto* list : {&sections_, &variables_}) {
    std::stable_sort(list->begin(), list->end(),
                     [](const Interval& a, const Interval& b) { return a.first < b.first; });
    std::uint64_t highest = 0;
    for (Interval& interval : *list) {
      highest = std::max(highest, interval.end);
      interval.highest_end = highest;
    }
  }
}

std::optional<Place> Locator::device_window(std::uint64_t address) const {
  const ArchTable& arch = arch_table(layout_.arch);
  std::uint64_t offset = 0;
  for (std::uint32_t core = 0; core < arch.cores_per_device; ++core) {
    Place place;
    place.core = core;
    place.subgraph = layout_.subgraph_of_core(core);
    const std::uint64_t base = arch.tpb_base[core];
    if (inside(address, base, arch.sbuf_aperture, offset)) {
      place.kind = Place::Kind::sbuf;
      place.offset = offset;
      return place;
    }
    if (inside(address, base + arch.event_unit, NEURON_EVENT_UNIT_SIZE, offset)) {
      if (auto found = in_event_unit(offset, place)) return found;
    }
    // PSUM starts the upper block, whose offset engine windows share on both generations.
    const std::uint64_t upper = base + arch.engine_window + arch.sbuf_aperture;
    if (inside(address, upper, NEURON_PSUM_SIZE, offset)) {
      place.kind = Place::Kind::psum;
      place.offset = offset;
      return place;
    }
    if (inside(address, upper, upper_block_bytes, offset)) {
      place.kind = Place::Kind::engine_window;
      place.offset = address - base - arch.engine_window;
      return place;
    }
    for (std::uint32_t k = 0; k < NEURON_DMA_ENGINES_PER_CORE; ++k) {
      const std::uint64_t engine = arch.dma_engine_base[core] + arch.dma_engine_stride * k;
      if (!inside(address, engine, NEURON_DMA_ENGINE_SIZE, offset)) continue;
      if (auto found = in_dma_engine(offset, k, place)) return found;
    }
  }
  return std::nullopt;
}

Place Locator::locate(std::uint64_t address) const {
  const auto after =
      std::upper_bound(sections_.begin(), sections_.end(), address,
                       [](std::uint64_t a, const Interval& i) { return a < i.first; });
  if (after != sections_.begin()) {
    const Interval& interval = *std::prev(after);
    const Layout::Section& section = layout_.sections[interval.index];
    if (address < interval.end && section.kind != SectionKind::scratchpad_page) {
      return {Place::Kind::section,
              section.core,
              layout_.subgraph_of_core(section.core),
              interval.index,
              0,
              address - interval.first};
    }
  }
  if (const auto held = variables_at(address); !held.empty()) return held.front();
  if (after != sections_.begin() && address < std::prev(after)->end) {
    const Interval& interval = *std::prev(after);
    const std::uint32_t core = layout_.sections[interval.index].core;
    return {Place::Kind::section, core, layout_.subgraph_of_core(core),
            interval.index,       0,    address - interval.first};
  }
  if (auto window = device_window(address)) return *window;
  const ArchTable& arch = arch_table(layout_.arch);
  Place place;
  if (const std::uint32_t hbm = hbm_of(arch, address); hbm != arch.hbm_count) {
    place.kind = Place::Kind::hbm;
    place.index = hbm;
    place.offset = address - arch.hbm_base[hbm];
    return place;
  }
  const bool host = arch.arch == Arch::v2
                        ? (address & NEURON_V2_HOST_MASK) == NEURON_V2_HOST_BASE
                        : (address & NEURON_V3_HOST_MASK) != 0 && address >> 47 == 0;
  place.kind = host ? Place::Kind::host : Place::Kind::nothing;
  place.offset = address;
  return place;
}

std::vector<Place> Locator::variables_at(std::uint64_t address) const {
  std::vector<Place> found;
  auto i = std::upper_bound(variables_.begin(), variables_.end(), address,
                            [](std::uint64_t a, const Interval& x) { return a < x.first; });
  while (i != variables_.begin()) {
    --i;
    if (i->highest_end <= address) break;  // nothing before this one reaches so far
    if (address >= i->end) continue;
    found.push_back({Place::Kind::variable, layout_.subgraphs[i->subgraph].core, i->subgraph,
                     i->index, 0, address - i->first});
  }
  std::sort(found.begin(), found.end(), [](const Place& a, const Place& b) {
    return std::pair(*a.subgraph, a.index) < std::pair(*b.subgraph, b.index);
  });
  return found;
}

std::string Locator::owner_text(const Place& place) const {
  return place.subgraph ? one_line(layout_.subgraphs[*place.subgraph].name)
                        : fmt::format("core {}", place.core);
}

std::string Locator::text(const Place& place) const {
  const std::string owner = owner_text(place);
  switch (place.kind) {
    case Place::Kind::section:
      return fmt::format("{} {}{}", owner, one_line(layout_.sections[place.index].owner),
                         plus(place.offset));
    case Place::Kind::variable:
      return fmt::format("{} variable {}{}", owner,
                         one_line(layout_.subgraphs[*place.subgraph].variables[place.index].name),
                         plus(place.offset));
    case Place::Kind::sbuf: {
      const std::uint64_t stride = arch_table(layout_.arch).sbuf_partition_stride;
      return fmt::format("{} SBUF partition {}{}", owner, place.offset / stride,
                         plus(place.offset % stride));
    }
    case Place::Kind::psum:
      return fmt::format("{} PSUM{}", owner, plus(place.offset));
    case Place::Kind::event:
      return fmt::format("{} event {}{}", owner, place.index, plus(place.offset));
    case Place::Kind::semaphore:
      return fmt::format("{} semaphore {} {}{}", owner, place.index,
                         semaphore_registers[place.part], plus(place.offset));
    case Place::Kind::queue_register: {
      const bool rx = place.part % 2 != 0;
      std::string queue = fmt::format("hardware queue {}", place.index);
      if (place.index == 13) {
        queue = fmt::format("internal queue {}", internal_queue_name(place.part / 2));
      } else if (place.subgraph) {
        for (const Layout::Queue& set : layout_.subgraphs[*place.subgraph].queues) {
          if (set.id == place.index) queue = one_line(set.name);
        }
      }
      const std::string_view name = queue_register_name(rx, place.offset);
      return fmt::format(
          "{} {}[{}] {} {}", owner, queue, place.part / 2, rx ? "rx" : "tx",
          name.empty() ? fmt::format("register 0x{:x}", place.offset) : std::string(name));
    }
    case Place::Kind::engine_window:
      return fmt::format("{} engine window{}", owner, plus(place.offset));
    case Place::Kind::hbm:
      return fmt::format("HBM {}{}, not allocated by these models", place.index,
                         plus(place.offset));
    case Place::Kind::host:
      return "host memory";
    case Place::Kind::nothing:
      break;
  }
  return "nothing known";
}

}  // namespace neffld
