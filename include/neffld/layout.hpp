// SPDX-License-Identifier: MIT
// What lives where on the device: the symbol table of one loaded model. Images carry it in a note
// (docs/report.md), so tools read a live device and an image alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/arch.hpp"
#include "neffld/error.hpp"
#include "neffld/kbin.hpp"
#include "neffld/plan.hpp"

namespace neffld {

struct LoadedModel;

/// Name of a section kind, e.g. "ring_tx", as layouts write it.
std::string_view section_kind_name(SectionKind kind);
std::optional<SectionKind> section_kind_of(std::string_view name);

struct Layout {
  /// One allocation.
  struct Section {
    SectionKind kind = SectionKind::variable;
    std::uint64_t pa = 0, size = 0;  ///< bytes asked for
    std::uint32_t core = 0;          ///< physical
    std::uint32_t subgraph = 0;
    std::uint32_t index = 0;  ///< as Request::index
    bool shared = false;      ///< outlives the model
    std::string owner;        ///< as in reports, e.g. "variable w"
  };
  struct Variable {
    std::string name;
    VarKind kind = VarKind::tmp_buf;
    std::uint64_t size = 0;           ///< bytes
    std::optional<std::uint64_t> pa;  ///< absent: no address (yet)
    std::vector<std::uint32_t> list;  ///< tables: var ids in order
  };
  struct Queue {
    std::string name;
    Engine owner = Engine::pool;
    std::optional<std::uint32_t> id;  ///< hardware queue on DMA engines 0.. of the core
    bool is_template = false;         ///< its rings wait for addresses of inputs and outputs
    std::vector<std::uint32_t> semaphores;
  };
  struct Ring {
    std::uint32_t queue = 0, instance = 0, k = 0;
    std::uint32_t used = 0, allocated = 0;  ///< descriptors of each half
    std::optional<std::uint32_t> tx, rx;    ///< section indices; absent before bind
  };
  /// `count` image slots from `image` on come from NEFF slots `source`, `source` + 1, ...; with
  /// `step` 0 all of them from `source`.
  struct Run {
    std::uint32_t image = 0, count = 0, source = 0, step = 1;
  };
  struct Stream {
    std::uint32_t slots_in = 0, slots_out = 0;
    std::optional<std::uint32_t> section;
    std::vector<Run> runs;  ///< ascending; slots in no run are the loader's own
  };
  struct Subgraph {
    std::string name;
    std::uint32_t core = 0;  ///< physical
    std::vector<Variable> variables;
    std::vector<Queue> queues;
    std::vector<Ring> rings;
    std::array<Stream, engine_count> streams;

    const Stream& stream(Engine e) const { return streams[static_cast<std::size_t>(e)]; }
  };

  Arch arch = Arch::v3;
  std::string name, uuid;
  std::vector<Section> sections;  ///< in allocation order
  std::vector<Subgraph> subgraphs;

  /// Ordinal of the subgraph on a physical core.
  std::optional<std::uint32_t> subgraph_of_core(std::uint32_t core) const;
};

/// The layout of a model that is on a device.
Result<Layout> layout_of(const LoadedModel& model);

/// The NEFF slot an image slot comes from; nothing for preamble, postamble and out of range.
std::optional<std::uint32_t> source_slot(const Layout::Stream& stream, std::uint64_t image_slot);

/// The layout as JSON in ASCII, and back. Reading trusts nothing: a layout that contradicts itself
/// (indices out of range, unknown names) is an error with the key named.
std::string layout_to_json(const Layout& layout);
Result<Layout> layout_from_json(std::string_view text);

/// Something at a device address.
struct Place {
  enum class Kind : std::uint8_t {
    nothing,         ///< no known window
    section,         ///< index = section
    variable,        ///< index = var_id of `subgraph`; not in a section of its own
    sbuf,            ///< offset in the core's SBUF window
    psum,            ///< offset in the core's PSUM window
    event,           ///< index = event number
    semaphore,       ///< index = semaphore, part = SemaphoreRegister
    queue_register,  ///< index = hardware queue, part = DMA engine of the core * 2 + (1 for RX)
    engine_window,   ///< offset = engine-local
    hbm,             ///< index = HBM; memory of nobody here
    host,            ///< host memory
  };
  enum SemaphoreRegister : std::uint32_t { read = 0, set = 1, increment = 2, decrement = 3 };

  Kind kind = Kind::nothing;
  std::uint32_t core = 0;                 ///< physical, for core-local kinds
  std::optional<std::uint32_t> subgraph;  ///< ordinal; absent on a core without one
  std::uint32_t index = 0, part = 0;
  std::uint64_t offset = 0;  ///< bytes behind the start of the thing
};

/// Finds what lives at addresses of one layout, which must outlive it.
class Locator {
 public:
  explicit Locator(const Layout& layout);

  /// Windows of the device, sections, then variables without a section (scratchpad, bound inputs
  /// and outputs; of several the one with the lowest id).
  Place locate(std::uint64_t address) const;
  /// All variables that hold the byte at `address`, in order of subgraph and id.
  std::vector<Place> variables_at(std::uint64_t address) const;
  /// Text of a place, e.g. "sg00 semaphore 8 increment" or "sg00 variable w + 0x40".
  std::string text(const Place& place) const;
  std::string text(std::uint64_t address) const { return text(locate(address)); }
  const Layout& layout() const { return layout_; }

 private:
  struct Interval {
    std::uint64_t first = 0, end = 0, highest_end = 0;
    std::uint32_t subgraph = 0, index = 0;
  };
  std::optional<Place> device_window(std::uint64_t address) const;
  std::string owner_text(const Place& place) const;

  const Layout& layout_;
  std::vector<Interval> sections_, variables_;  ///< ascending by `first`
};

/// Name of a register of a hardware queue, "" when it has none we know.
std::string_view queue_register_name(bool rx, std::uint64_t offset);

}  // namespace neffld
