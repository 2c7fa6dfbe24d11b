// SPDX-License-Identifier: MIT
// The kbin: one physical core's section table, the product of "build" (spec 02 sections 4-12).
// All views point into the Container the kbin was built from, which must outlive it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/arch.hpp"
#include "neffld/bytes.hpp"
#include "neffld/container.hpp"
#include "neffld/error.hpp"
#include "neffld/manifest.hpp"

namespace neffld {

/// mem_ref kind (spec 02 section 5.2); numbers are kbin_mr_type.
enum class VarKind : std::uint8_t {
  state_buffer = 1,
  file = 3,
  tmp_buf = 4,
  input = 5,
  output = 6,
  pointer = 7,
  virtual_buf = 8,
  list = 9,
  dge_table = 10,
  remote = 11,
};
/// The `type` string of def.json.
std::string_view var_kind_name(VarKind kind);

enum class BackingBuf : std::uint8_t { local = 0, shared = 1, sharded = 2, main = 3 };

/// Which of a subgraph's two scratchpad arenas a `virtual` variable lives in. [ours], the weakest
/// guess of the placement rules (spec 03 R4; spec 02 section 16.6 pairs them differently), so it is
/// in this one place: SHARED and MAIN use the shared arena, LOCAL and SHARDED the local one.
inline bool uses_shared_arena(BackingBuf buffer) {
  return buffer == BackingBuf::shared || buffer == BackingBuf::main;
}

/// mem_ref: one variable of the subgraph. Index in Kbin::variables = var_id.
struct Variable {
  std::string name;
  VarKind kind = VarKind::tmp_buf;
  std::uint32_t var_id = 0;
  std::uint64_t size = 0;       ///< bytes; payload size for `file`; 0 for state_buffer and tables
  std::uint64_t alignment = 0;  ///< bytes, 0 or a power of two
  std::string dtype;            ///< metadata text
  std::vector<std::uint64_t> shape;
  Bytes payload;                               ///< `file`: the bytes to copy in
  std::string file_name;                       ///< `file`: member base name
  std::uint64_t backing_offset = 0;            ///< `virtual`: byte offset in the arena
  BackingBuf backing_buf = BackingBuf::local;  ///< `virtual`
  bool fabric_alt = false;                     ///< fabric_path is "alt"
  std::uint32_t referenced_var_id = 0;         ///< `pointer`
  bool io_ref = false;                         ///< `pointer`: the pointee is input or output
  std::vector<std::uint32_t> list;             ///< `list`, `dge-table`: var ids in order
  std::uint32_t remote_subgraph = 0;           ///< `remote`: kbin index
  std::uint32_t remote_var_id = 0;             ///< `remote`
};

/// kbin_dma_ring_type (spec 02 section 10.5), the ones JSON can name.
enum class RingType : std::uint8_t {
  data = 6,
  in = 7,
  out = 8,
  indirect_memcpy = 9,
  dynamic_act_table = 11,
  embedding_update = 15,
};

/// A queue set (bundle): up to 16 hardware rings that move one block's elements together.
struct QueueSet {
  std::string name;
  std::string type;  ///< text of def.json: "in", "data", "dynamic", ...
  RingType ring_type = RingType::data;
  Engine owner = Engine::pool;
  std::uint32_t num_queues = 1;
  std::vector<std::uint32_t> semaphores;       ///< semaphore or semaphore_set
  std::vector<std::uint32_t> sync_semaphores;  ///< pseudo-serialisation set
  std::vector<std::string> instances;          ///< at least one; the queue's name by default
  bool dynamic = false;                        ///< DGE queue: no ring, no static descriptors
  bool hw_dge = false;
  bool pinned = false;
  std::uint64_t dge_scratch_offset = 0, dge_scratch_size = 0;  ///< SBUF partition bytes
};

enum class DmaOp : std::uint8_t { copy, cast, transpose, fma, add, min, max };
std::string_view dma_op_name(DmaOp op);

/// Instruction/SDMA dtype codes (spec 05 A1), e.g. 2 int8, 3 uint8, 6 bf16, 7 fp16, 10 fp32.
std::uint32_t dtype_bytes(std::uint32_t dtype_code);

/// One side of a descriptor. Index 0 is innermost; sizes[0] and all steps are in bytes, the other
/// sizes are counts.
struct AccessPattern {
  std::uint32_t var_id = 0;
  std::uint8_t dims = 0;     ///< 1..4
  std::uint8_t dtype = 3;    ///< instruction dtype code; default uint8
  std::uint64_t offset = 0;  ///< bytes in the variable
  std::array<std::uint64_t, 4> sizes = {1, 1, 1, 1};
  std::array<std::int64_t, 4> steps = {0, 0, 0, 0};
};

struct DmaDescriptor {
  DmaOp op = DmaOp::copy;
  std::uint8_t tiling_dims = 1;
  std::uint8_t priority_class = 0;
  std::uint32_t transpose_element_size = 0;           ///< bytes
  std::array<std::uint32_t, 4> transpose_shape = {};  ///< [W,Z,Y,X] of one tile
  AccessPattern from, to;
  std::optional<std::uint32_t> cce;  ///< index in Kbin::cce; set for fma, add, min and max
};

/// What a descriptor with compute (fma, add, min, max) has beyond its first source. Kept apart
/// because such descriptors are rare and the common record must stay small.
struct CceInfo {
  std::vector<AccessPattern> extra_sources;  ///< sources 1.. (source 0 is DmaDescriptor::from)
  std::vector<double> scales;                ///< one per source, source 0 included
  std::optional<double> constant;            ///< initial value of min and max
  std::uint32_t constant_dtype = 0;          ///< 0 without a constant
};

/// One DMA block: what a single trigger moves.
struct DmaBlock {
  std::uint32_t id = 0;
  std::uint32_t queue_set = 0;                               ///< index in Kbin::queue_sets
  std::uint32_t instance = 0;                                ///< index in QueueSet::instances
  std::uint32_t first_descriptor = 0, descriptor_count = 0;  ///< in Kbin::descriptors
  std::optional<std::uint32_t> semaphore, event;
  std::vector<std::uint32_t> remote_semaphores;
  std::string function;          ///< "" = main
  Engine engine = Engine::pool;  ///< whose JSON file holds it
  bool section_start = false;
};

/// One engine's instruction stream: raw 64-byte slots.
struct EngineProgram {
  std::string json_member;  ///< empty when def.json does not name the engine
  std::string bin_member;
  Bytes slots;  ///< verbatim bytes
  std::uint64_t slot_count() const { return slots.size() / 64; }
};

/// profile_meta_data record (spec 02 section 7.2); field order of the file.
struct ActProfile {
  std::uint32_t func_id = 0, symmetry_point = 0;
  std::uint8_t sym_invert_sign = 0, symmetry_opt_en = 0, symmetry_opt_use_neg_region = 0;
  std::uint8_t imm_bias = 0;
  std::int32_t exp_offset = 0;
  std::uint32_t pwl_control_base_pos = 0, pwl_control_base_neg = 0;
  std::uint8_t small_pos_exp_threshold = 0, small_neg_exp_threshold = 0;
  std::uint8_t large_pos_exp_threshold = 0, large_neg_exp_threshold = 0;
  std::uint16_t small_pos_pwl_control = 0, small_neg_pwl_control = 0;
  std::uint16_t large_pos_pwl_control = 0, large_neg_pwl_control = 0;
  std::uint32_t large_pos_mantissa_threshold = 0, large_neg_mantissa_threshold = 0;
  std::uint32_t fnan_result = 0, fpinf_result = 0, fninf_result = 0, fzero_result = 0;
  std::uint32_t fma_const_0 = 0, fma_const_1 = 0;
  std::uint8_t fma_indirection_src_sel = 0;
};

struct ActSet {
  std::string name;
  Bytes bucket, control;
  std::vector<ActProfile> profiles;  ///< at most 25
};

struct DveTables {
  Bytes opcode, control_fast, control_slow, datapath;  ///< control_slow empty with one table
};

struct Carveout {
  std::uint64_t offset = 0, size = 0, start_partition = 0, partitions = 0;
};

struct Fp8Config {
  bool range_extension = false, ocp_sat = false, sis = false, sns = false;
  std::uint32_t emax_e4m3 = 0, emax_e5m2 = 0;
};

struct UcodeFunction {
  std::string name;
  std::int64_t opcode = 0;
  std::optional<std::int64_t> sub_opcode;
};
struct UcodeLibrary {
  std::string name;
  Bytes content;
  std::uint32_t flags = 0, cpu_id = 0, total_cpus = 0;
  std::vector<UcodeFunction> functions;
};

struct Kbin {
  std::string name;  ///< subgraph name, "sg00"
  std::string dir;   ///< folder its files resolve in, "sg00"
  Arch arch = Arch::any;
  std::vector<Variable> variables;               ///< index = var_id
  std::vector<std::uint32_t> variables_by_name;  ///< var ids in byte-wise order of the names
  std::vector<QueueSet> queue_sets;              ///< ascending name ("kbin order")
  std::vector<DmaBlock> blocks;  ///< top-level `dma`, then engines pe, act, pool, dve, sp
  std::vector<DmaDescriptor> descriptors;
  std::vector<CceInfo> cce;
  std::array<EngineProgram, engine_count> engines;
  std::vector<ActSet> act_sets;
  std::optional<std::uint32_t> act_semaphore;
  std::optional<DveTables> dve;
  std::vector<Carveout> carveouts;
  std::optional<Fp8Config> fp8;
  std::uint64_t num_streams = 1;
  std::vector<std::vector<std::vector<std::uint32_t>>> replica_groups;
  std::vector<std::vector<std::array<std::uint32_t, 2>>> src_target_pairs;
  std::vector<UcodeLibrary> ucode_libraries;                            ///< ascending name
  std::uint64_t local_scratchpad_size = 0, shared_scratchpad_size = 0;  ///< bytes
  std::vector<std::string> warnings;

  const EngineProgram& engine(Engine e) const { return engines[static_cast<std::size_t>(e)]; }
  std::optional<std::uint32_t> find_queue_set(std::string_view queue_name) const;
  const Variable* find_variable(std::string_view variable_name) const;
};

struct BuildOptions {
  bool allow_legacy = false;  ///< NEURON_RT_ALLOW_LEGACY_NEFF
  std::uint32_t json_depth = default_json_depth;
  std::uint64_t max_variables = 1'048'576;
};

/// Builds the kbins of all graphs, in graph order, and resolves `remote` variables between them
/// (spec 02 sections 3-12, decisions 7, 10, 35). `manifest.arch` must be resolved. Issues no device
/// call. The kbins are independent of each other until the remote pass, so they may be built in
/// parallel.
Result<std::vector<Kbin>> build_kbins(const Container& container, const Manifest& manifest,
                                      const BuildOptions& options = {});

}  // namespace neffld
