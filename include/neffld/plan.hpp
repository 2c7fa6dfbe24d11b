// SPDX-License-Identifier: MIT
// The memory plan: every device allocation a load makes, in order, before any device call
// (spec 03 sections 2-4, decisions 3, 20, 21, 33, 34).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "neffld/arch.hpp"
#include "neffld/error.hpp"
#include "neffld/kbin.hpp"

namespace neffld {

/// Driver memory categories (`mem_type` of MEM_ALLOC_V2MT64, spec 03 section 9.1).
enum class MemCategory : std::uint32_t {
  code = 8,
  tensors = 9,
  constants = 10,
  scratchpad = 11,
  misc = 12,
  scratchpad_not_shared = 15,
  dma_rings = 18,
};

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
  MemCategory category = MemCategory::misc;
  SectionKind kind = SectionKind::variable;
  std::uint32_t kbin = 0;
  std::uint32_t index = 0;
  std::string owner;    ///< as printed in reports, e.g. "variable w"
  bool shared = false;  ///< belongs to the core and outlives the model (exec rings, scratchpad)
};

/// Where a variable is. `section`: at `requests[request]` + `offset`; `fixed`: at `address`.
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
  std::optional<std::uint32_t> act_first;      ///< bucket; control, profiles, ... follow
  std::optional<std::uint32_t> dve_first;      ///< opcode; the other tables and rings follow
  std::uint32_t act_descriptors = 0, dve_descriptors = 0;  ///< per half
  std::vector<FeatureMap> inputs, outputs;                 ///< in var_id order
  /// Descriptors that retarget the device to an execution's tensors (spec 04 section 13 rule 23).
  std::uint64_t exec_queue_descriptors = 0;
  std::uint32_t collectives = 0;  ///< C8 and CB records: engines in order, each stream in order
  DmaTotals totals;
  std::vector<std::string> warnings;
};

struct Plan {
  Arch arch = Arch::any;
  std::uint64_t packet_bytes = 0;  ///< PlanOptions::packet_bytes
  std::vector<Request> requests;   ///< in allocation order
  std::vector<KbinPlan> kbins;
  std::vector<std::uint64_t> arena_bytes;  ///< scratchpad bytes needed, per kbin core
  std::vector<std::uint32_t> arena_pages;  ///< scratchpad pages needed, per kbin core
};

/// What is already on the physical cores of the target (decision 34: later loads reuse it).
struct CoreState {
  bool has_exec_queue = false;
  std::uint32_t scratchpad_pages = 0;
  std::uint64_t scratchpad_page_bytes = 0;  ///< of those pages; 0 without any
};

struct PlanOptions {
  std::uint32_t logical_core = 0;
  std::uint32_t logical_core_size = 0;  ///< 0 = the architecture's
  std::uint64_t scratchpad_page_bytes = 512ull << 20;
  std::uint64_t max_ring_descriptors = 16'777'200;
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
