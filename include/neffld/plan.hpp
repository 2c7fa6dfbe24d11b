// SPDX-License-Identifier: MIT
// The memory plan: every device allocation a load makes, in order, before any device call
// (spec 03 sections 2-4, decisions 3, 20, 21, 33, 34).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/arch.hpp"
#include "neffld/error.hpp"
#include "neffld/kbin.hpp"

namespace neffld {

/// Driver memory categories (`mem_type` of MEM_ALLOC_V2MT64, spec 03 section 9.1).
enum class MemCategory : std::uint32_t {
  code = 8,
  constants = 10,
  scratchpad = 11,
  misc = 12,
  scratchpad_not_shared = 15,
  dma_rings = 18,
  contiguous_scratchpad = 19,  ///< the driver counts it with `scratchpad`
};

/// What memory is for, finer than the driver's categories: the columns of memory reports (spec 03
/// section 9.1), in their order. Tensors, collectives and notifications are never the loader's.
enum class MemUsage : std::uint8_t {
  code,
  constants,
  shared_scratchpad,
  scratchpad,  ///< variables of their own: `tmp-buf` and `virtual` ones that fit no page
  runtime,
  rings_io,
  rings_spill,
  rings_runtime,
};
inline constexpr std::size_t mem_usage_count = 8;
/// "model code", "dma rings io" and so on, as memory reports print them.
std::string_view mem_usage_name(MemUsage usage);
/// The driver's category of a usage; shared scratchpad pages have another one in contiguous mode.
MemCategory mem_category(MemUsage usage);

/// What an allocation holds; together with `kbin` and `index` of the request it names one section.
enum class SectionKind : std::uint8_t {
  exec_tx_ring,
  exec_rx_ring,
  request_buffer,
  scratchpad_page,  ///< index = page number
  variable,         ///< index = var_id
  constant_block,
  pointer_cells,
  table,  ///< index = var_id
  act_bucket,
  act_control,
  act_profiles,
  act_directory,
  act_tx_ring,
  act_rx_ring,
  dve_opcode,
  dve_control_fast,
  dve_control_slow,
  dve_datapath,
  dve_param_ram,
  dve_tx_ring,
  dve_rx_ring,
  ucode_libraries,
  ucode_table,
  instructions,  ///< index = engine
  ring_tx,       ///< index = ring number in KbinPlan::rings
  ring_rx,
};

/// One allocation of the plan. A request index is its position in Plan::requests.
struct Request {
  std::uint64_t size = 0;   ///< bytes asked for
  std::uint64_t align = 0;  ///< bytes, 0 or a power of two
  std::uint32_t hbm = 0;    ///< HBM number
  std::uint32_t core = 0;   ///< physical core; charged for it (nc_id)
  MemUsage usage = MemUsage::runtime;
  MemCategory category = MemCategory::misc;
  SectionKind kind = SectionKind::variable;
  std::uint32_t kbin = 0;
  std::uint32_t index = 0;
  std::string owner;    ///< as printed in reports, e.g. "variable w"
  bool shared = false;  ///< belongs to the core and outlives the model (exec rings, scratchpad)
};

/// Where a variable is. `section`: at `requests[request]` + `offset`; `page`: at that page of the
/// core's scratchpad + `offset`, which in contiguous mode may reach into the pages above it;
/// `fixed`: at `address`.
struct Placement {
  enum class Kind : std::uint8_t { unplaced, section, page, fixed, host_only };
  Kind kind = Kind::unplaced;
  std::uint32_t request = 0;  ///< section: request index; page: page number of `core`
  std::uint32_t core = 0;     ///< page: the physical core whose scratchpad it is
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
};

/// One hardware ring pair of a queue set: ring k of one instance.
struct RingPlan {
  std::uint32_t queue_set = 0, instance = 0, k = 0;
  std::uint32_t used = 0;       ///< descriptors of each half
  std::uint32_t allocated = 0;  ///< descriptors of each half, 0 when the ring is empty
  std::optional<std::uint32_t> tx_request, rx_request;  ///< absent for templates before bind
};

struct QueueSetPlan {
  std::optional<std::uint32_t> queue_id;  ///< hardware queue on DMA engines 0..n-1 of the core
  bool is_template = false;               ///< some descriptor names an input or output
  bool uses_cast = false;
  /// Blocks in the program order of their triggers, one list an instance (decision 5).
  std::vector<std::vector<std::uint32_t>> triggered_blocks;
  std::uint32_t first_ring = 0, ring_count = 0;  ///< in KbinPlan::rings
};

/// MAIN or a function of a stream (spec 05 A6 step 1). Its triggers and calls are the ranges of
/// StreamPlan::triggers and StreamPlan::calls.
struct BodyPlan {
  std::string name;                               ///< "" = MAIN
  std::uint32_t first_slot = 0, end_slot = 0;     ///< records of the NEFF
  std::uint32_t image_slot = 0, image_slots = 0;  ///< where it lies in the image
  std::uint8_t return_low = 0, return_high = 0;   ///< registers the caller leaves the way back in
  bool runs_once = false;                         ///< in one execution, whatever branches do
  std::uint32_t first_trigger = 0, end_trigger = 0, first_call = 0, end_call = 0;
};

/// A record that becomes a relative branch, or hints at one: A9, DD, DF.
struct JumpPlan {
  std::uint32_t slot = 0;    ///< record of the NEFF
  std::uint32_t target = 0;  ///< slot of the image
};

/// A FUNCTION_CALL.
struct CallPlan {
  std::uint32_t slot = 0;          ///< record of the NEFF
  std::uint32_t callee = 0;        ///< in StreamPlan::bodies
  std::uint32_t next_trigger = 0;  ///< first of StreamPlan::triggers behind it
};

struct StreamPlan {
  std::vector<std::uint32_t> triggers;  ///< block index of each DMA_TRIGGER, in stream order
  std::vector<BodyPlan> bodies;         ///< MAIN, then the functions
  std::vector<JumpPlan> jumps;          ///< in stream order
  std::vector<CallPlan> calls;          ///< in stream order
  /// Number of its first C8 or CB in the subgraph's list of collectives, which counts from 1.
  std::uint32_t first_collective = 1;
  std::uint64_t slots_in = 0;    ///< records of the NEFF
  std::uint64_t main_slots = 0;  ///< MAIN after lowering
  std::uint64_t slots_out = 0;   ///< whole image: preamble, main, postamble, functions
  std::uint32_t request = 0;
};

/// Blocks in the order one execution triggers them: calls are followed where they stand. This is
/// the order rings hold them in, because a tail increment consumes a ring linearly. [ours]; spec 05
/// U says "MAIN, then functions", which is the same unless MAIN uses a queue after such a call.
std::vector<std::uint32_t> trigger_order(const StreamPlan& stream);

/// dbtc: the descriptors one laid-down copy of a block puts on each ring of its queue set, the same
/// number on TX and RX (spec 04 section 2.3). A DMA trigger publishes exactly these.
using BlockCounter = std::array<std::uint32_t, 16>;

/// An input or output as executions bind it, by name (kbl_fmap_t, spec 04 section 2.3).
struct FeatureMap {
  std::string name;
  std::uint64_t min_size = 0;  ///< bytes a bound tensor must have at least
  std::uint32_t var_id = 0;
};

/// Sums for the report (neffs README section 3 has the units).
struct DmaTotals {
  std::uint64_t blocks = 0, descriptors = 0, elements = 0, bytes = 0, casts = 0, transposes = 0;
  std::uint64_t dge_operations = 0, dge_elements = 0, dge_bytes = 0;
};

/// Engine tables and the internal ring that loads them.
struct TableLoadPlan {
  std::uint32_t first = 0;                       ///< request of the first table; the others follow
  std::uint32_t tx_request = 0, rx_request = 0;  ///< of the ring
  std::uint32_t used = 0;                        ///< descriptors of each half
};

/// SHA-256 of all that is staged of a GPSIMD library.
using LibraryId = std::array<std::uint8_t, 32>;

/// GPSIMD libraries of a subgraph (spec 04 section 2.3).
struct LibrarySetPlan {
  /// Request of their memory, the one of the function table follows; absent: a model before this
  /// one has staged what they share.
  std::optional<std::uint32_t> first;
  std::optional<LibraryId> shared;  ///< a library that is alone belongs to the core
};

struct KbinPlan {
  std::uint32_t core = 0;  ///< physical core
  std::uint32_t hbm = 0;
  std::vector<Placement> variables;  ///< index = var_id
  std::vector<QueueSetPlan> queue_sets;
  std::vector<RingPlan> rings;               ///< queue set, instance, k ascending
  std::vector<BlockCounter> block_counters;  ///< by block index
  std::array<StreamPlan, engine_count> streams;
  std::uint32_t constant_block = 0;            ///< request index
  std::optional<std::uint32_t> pointer_cells;  ///< request index
  std::vector<std::uint32_t> pointer_vars;     ///< var ids, ascending: cell order
  std::optional<TableLoadPlan> act;            ///< bucket, control, profiles, directory
  std::optional<TableLoadPlan> dve;            ///< opcode, control (fast, slow), datapath, RAM
  std::optional<LibrarySetPlan> libraries;     ///< GPSIMD libraries
  std::vector<FeatureMap> inputs, outputs;     ///< in var_id order
  /// Descriptors that retarget the device to an execution's tensors (spec 04 section 13 rule 23).
  std::uint64_t exec_queue_descriptors = 0;
  std::uint32_t collectives = 0;  ///< C8 and CB records: engines in order, each stream in order
  DmaTotals totals;
  std::vector<std::string> warnings;
};

/// A `virtual` variable that fits no scratchpad page and gets memory of its own.
struct OversizedVariable {
  std::uint32_t kbin = 0, var_id = 0;
  std::uint64_t size = 0;
};

/// The scratchpad of a model (spec 03 section 4).
struct ScratchpadPlan {
  bool contiguous = false;
  std::uint64_t page_bytes = 0;
  struct Core {
    std::uint64_t bytes = 0;  ///< arena of the kbin's core: what the pages have to cover
    std::uint32_t pages = 0;  ///< pages the model holds there
  };
  std::vector<Core> cores;  ///< by kbin
  std::vector<OversizedVariable> oversized;
  /// Smallest page size that leaves nothing oversized; 0: nothing is, or no page size does.
  std::uint64_t advised_page_bytes = 0;
  std::string fallback;  ///< why the mode is paged although contiguous was asked for; else empty
};

struct Plan {
  Arch arch = Arch::any;
  std::uint64_t packet_bytes = 0;  ///< PlanOptions::packet_bytes
  std::vector<Request> requests;   ///< in allocation order
  std::vector<KbinPlan> kbins;
  ScratchpadPlan scratchpad;
};

/// What is already on the physical cores of the target (decision 34: later loads reuse it).
struct CoreState {
  bool has_exec_queue = false;
  std::uint32_t scratchpad_pages = 0;
  std::uint64_t scratchpad_page_bytes = 0;  ///< of those pages; 0 without any
  bool contiguous = false;                  ///< those pages are contiguous ones
  std::vector<LibraryId> libraries;         ///< GPSIMD libraries that models share there
};

/// Page size in contiguous mode (spec 03 section 4.1).
inline constexpr std::uint64_t contiguous_page_bytes = 64ull << 20;

struct ScratchpadOptions {
  std::uint64_t page_bytes = 512ull << 20;  ///< paged mode; a multiple of 512 MiB below 4 GiB
  bool contiguous = false;                  ///< ask for contiguous mode (spec 03 R6)
  bool single_core = false;  ///< paged mode: the local arenas of all cores on the first (R7)
};

struct PlanOptions {
  std::uint32_t logical_core = 0;
  std::uint32_t logical_core_size = 0;  ///< 0 = the architecture's
  ScratchpadOptions scratchpad;
  bool driver_has_contiguous = true;  ///< driver feature bit 0x80 (spec 03 section 4.1)
  std::uint64_t max_ring_descriptors = 16'777'200;
  /// Limit of all rings of a model together. They are authored in host memory before anything is
  /// copied, and a small file can ask for any number of descriptors.
  std::uint64_t max_ring_bytes = 1ull << 30;
  /// Packs the copies of a block into packets of at most this many bytes (spec 04 section 5,
  /// decision 12); 0 = each copy is a packet of its own.
  std::uint64_t packet_bytes = 0;
  std::vector<CoreState> cores;  ///< by physical core; missing = fresh
};

/// Plans one model. Errors: NRT_INVALID for programs that cannot be lowered (engine, slot and
/// reason named), NRT_RESOURCE when descriptors, queues or pages are not enough.
Result<Plan> plan_model(std::span<const Kbin> kbins, const PlanOptions& options = {});

/// Adds the ring allocations of the template queue sets, which exist only once inputs and outputs
/// have addresses (decision 21). Returns the number of requests added.
Result<std::uint32_t> plan_bound_rings(std::span<const Kbin> kbins, Plan& plan);

}  // namespace neffld
