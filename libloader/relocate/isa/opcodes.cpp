// SPDX-License-Identifier: MIT
#include "isa/opcodes.hpp"

#include <array>

namespace neffld::isa {
namespace {

// A byte never changes its meaning between generations; only its legality does.
enum Generations : std::uint8_t { all, v2_only, v3_up, v4_up };

struct Row {
  std::uint8_t code;
  std::string_view name;
  Generations generations;
  std::int8_t only_engine;
  Treatment treatment;
  std::string_view reason = {};
};

// Why spec 05 U leaves a pseudo record out.
constexpr std::string_view no_payload = "its payload is not known";
constexpr std::string_view no_records = "the records it becomes are not known";

// Sources: spec 05 A2 (real records), A4 (pseudo records).
constexpr Row rows[] = {
    {0x01, "LDWEIGHTS", all, 0, Treatment::verbatim},
    {0x02, "MATMUL", all, 0, Treatment::verbatim},
    {0x03, "PE_REG_WRITE", all, 0, Treatment::verbatim},
    {0x04, "WEIGHT_MASK", all, 0, Treatment::verbatim},
    {0x05, "WEIGHT_SHIFT", all, 0, Treatment::verbatim},
    {0x06, "LDTAGS", v3_up, 0, Treatment::verbatim},
    {0x07, "MATMUL_SPARSE", v3_up, 0, Treatment::verbatim},
    {0x08, "PE_MANAGE_SEED", v4_up, 0, Treatment::verbatim},
    {0x09, "LDWEIGHTS_MX", v4_up, 0, Treatment::verbatim},
    {0x0A, "MATMUL_MX", v4_up, 0, Treatment::verbatim},
    {0x21, "ACTIVATE", all, 1, Treatment::verbatim},
    {0x22, "ACTIVATE_QUANTIZE", all, 1, Treatment::verbatim},
    {0x23, "ACTIVATION_TABLE_LOAD", all, 1, Treatment::verbatim},
    {0x24, "ACTIVATION_READ_ACCUMULATOR", all, 1, Treatment::verbatim},
    {0x25, "ACTIVATE2", v4_up, 1, Treatment::verbatim},
    {0x30, "EXPONENTIAL", all, 1, Treatment::verbatim},
    {0x41, "TENSOR_TENSOR_ARITH_OP", all, -1, Treatment::verbatim},
    {0x42, "TENSOR_REDUCE_ARITH_OP", all, -1, Treatment::verbatim},
    {0x43, "TENSOR_SCALAR_ARITH_OP", all, -1, Treatment::verbatim},
    {0x44, "TENSOR_SCALAR_PTR_ARITH_OP", all, -1, Treatment::verbatim},
    {0x45, "POOL", all, -1, Treatment::verbatim},
    {0x46, "COPY", all, -1, Treatment::verbatim},
    {0x47, "CAST", all, -1, Treatment::verbatim},
    {0x48, "RECIPROCAL", all, -1, Treatment::verbatim},
    {0x49, "MEMSET", all, -1, Treatment::verbatim},
    {0x4A, "REG_LOAD", all, -1, Treatment::verbatim},
    {0x4B, "REG_STORE", all, -1, Treatment::verbatim},
    {0x4C, "REG_SHUFFLE", all, -1, Treatment::verbatim},
    {0x4D, "RNG", all, -1, Treatment::verbatim},
    {0x4E, "TENSOR_CUMULATIVE_ARITH_OP", all, -1, Treatment::verbatim},
    {0x4F, "TENSOR_SCALAR_PTR_MULTI_ARITH", all, -1, Treatment::verbatim},
    {0x51, "TENSOR_TENSOR_BITVEC_OP", all, -1, Treatment::verbatim},
    {0x52, "TENSOR_REDUCE_BITVEC_OP", all, -1, Treatment::verbatim},
    {0x53, "TENSOR_SCALAR_BITVEC_OP", all, -1, Treatment::verbatim},
    {0x54, "TENSOR_SCALAR_PTR_BITVEC_OP", all, -1, Treatment::verbatim},
    {0x58, "MAX_POOL_SELECT", all, -1, Treatment::verbatim},
    {0x5E, "TENSOR_CUMULATIVE_BITVEC_OP", all, -1, Treatment::verbatim},
    {0x5F, "TENSOR_SCALAR_PTR_MULTI_BITVEC", all, -1, Treatment::verbatim},
    {0x60, "BATCH_NORM_STATS", all, -1, Treatment::verbatim},
    {0x61, "BN_STATS_2", all, -1, Treatment::verbatim},
    {0x62, "BN_AGGREGATE", all, -1, Treatment::verbatim},
    {0x63, "BN_GRAD_ACCUMULATE", all, -1, Treatment::verbatim},
    {0x64, "BN_PARAM_LOAD", all, -1, Treatment::verbatim},
    {0x65, "BN_BACK_PROP", all, -1, Treatment::verbatim},
    {0x66, "LOAD_PARAMETER_RAM", all, -1, Treatment::verbatim},
    {0x67, "POOL_BUFFER_LOAD", all, -1, Treatment::verbatim},
    {0x68, "GATHER", all, -1, Treatment::verbatim},
    {0x69, "LOAD_MASK_SELECT", all, -1, Treatment::verbatim},
    {0x6A, "STREAM_SHUFFLE", all, -1, Treatment::verbatim},
    {0x6B, "STREAM_TRANSPOSE", all, -1, Treatment::verbatim},
    {0x6C, "MAX8", all, -1, Treatment::verbatim},
    {0x6D, "MATCH_VALUE_LOAD", all, -1, Treatment::verbatim},
    {0x6E, "FIND_INDEX8", all, -1, Treatment::verbatim},
    {0x6F, "MATCH_REPLACE8", all, -1, Treatment::verbatim},
    {0x70, "TENSOR_SCALAR_IMM_LD_ARITH", all, -1, Treatment::verbatim},
    {0x71, "TENSOR_SCALAR_IMM_LD_BITVEC", all, -1, Treatment::verbatim},
    {0x72, "COPY_PREDICATED", all, -1, Treatment::verbatim},
    {0x73, "ROI_ALIGN", all, -1, Treatment::verbatim},
    {0x74, "TENSOR_SCALAR_ADDR", all, -1, Treatment::verbatim},
    {0x76, "RAND", all, -1, Treatment::verbatim},
    {0x77, "RAND_GET_STATE", all, -1, Treatment::verbatim},
    {0x78, "RAND_SET_STATE", all, -1, Treatment::verbatim},
    {0x79, "EMBEDDING_UPDATE", all, -1, Treatment::verbatim},
    {0x7A, "LOAD_POOL_ARGUMENT", all, -1, Treatment::verbatim},
    {0x7B, "TENSOR_DEQUANTIZE", all, -1, Treatment::verbatim},
    {0x7C, "CROSS_LANE_REDUCE_ARITH", all, -1, Treatment::verbatim},
    {0x7D, "CROSS_LANE_REDUCE_BITVEC", all, -1, Treatment::verbatim},
    {0x7E, "IOTA", all, -1, Treatment::verbatim},
    {0x7F, "DROPOUT", all, -1, Treatment::verbatim},
    {0x81, "JPEG_DECODE", v3_up, -1, Treatment::verbatim},
    {0x82, "TRANSPOSE_BN_STATS_2", all, -1, Treatment::verbatim},
    {0x83, "TRANSPOSE_TENSOR_REDUCE_ARITH", all, -1, Treatment::verbatim},
    {0x84, "TRANSPOSE_TENSOR_REDUCE_BITVEC", all, -1, Treatment::verbatim},
    {0x85, "CUSTOM_OP_HEADER", all, -1, Treatment::verbatim},
    {0x86, "CUSTOM_OP_PAYLOAD", all, -1, Treatment::verbatim},
    {0x87, "RETIRED_87", v2_only, -1, Treatment::verbatim},
    {0x88, "RETIRED_88", v2_only, -1, Treatment::verbatim},
    {0x8A, "RETIRED_8A", v2_only, -1, Treatment::verbatim},
    {0x8B, "RETIRED_8B", v2_only, -1, Treatment::verbatim},
    {0x8C, "RETIRED_8C", v2_only, -1, Treatment::verbatim},
    {0x8D, "RETIRED_8D", v2_only, -1, Treatment::verbatim},
    {0x8E, "BN_PARAM_LOAD_2", all, -1, Treatment::verbatim},
    {0x8F, "RETIRED_8F", v2_only, -1, Treatment::verbatim},
    {0x92, "TENSOR_SCALAR_AFFINE_SELECT", all, -1, Treatment::verbatim},
    {0x93, "TRANSPOSE_TENSOR_SCALAR_ARITH", all, -1, Treatment::verbatim},
    {0x94, "BN_GRAD_ACCUMULATE_2", all, -1, Treatment::verbatim},
    {0x95, "MODIFY_POOL_CONFIG", all, -1, Treatment::verbatim},
    {0x96, "SORT", all, -1, Treatment::verbatim},
    {0x98, "TENSOR_SCALAR_SELECT", all, -1, Treatment::verbatim},
    {0x99, "CAST_PREDICATED", all, -1, Treatment::verbatim},
    {0x9A, "TENSOR_SCALAR_CACHE_REDUCE", all, -1, Treatment::verbatim},
    {0x9B, "DVE_READ_ACCUMULATOR", all, -1, Treatment::verbatim},
    {0x9C, "TENSOR_REDUCE_RANGE_CHECK", all, -1, Treatment::verbatim},
    {0x9D, "SCALAR_TENSOR_TENSOR_ARITH", all, -1, Treatment::verbatim},
    {0x9E, "SCALAR_TENSOR_TENSOR_BITVEC", all, -1, Treatment::verbatim},
    {0x9F, "ENGINE_NOP", all, -1, Treatment::verbatim},
    {0xA0, "EVENT_SEMAPHORE", all, -1, Treatment::verbatim},
    {0xA1, "HALT", all, -1, Treatment::verbatim},
    {0xA2, "DRAIN", all, -1, Treatment::verbatim},
    {0xA3, "INSTRUCTION_FLUSH", all, -1, Treatment::verbatim},
    {0xA4, "NOP", all, -1, Treatment::verbatim},
    {0xA5, "WRITE", all, -1, Treatment::verbatim},
    {0xA6, "NOTIFY", all, -1, Treatment::verbatim},
    {0xA7, "MOVE", all, -1, Treatment::verbatim},
    {0xA8, "ALU_OP", all, -1, Treatment::verbatim},
    {0xA9, "COMPARE_BRANCH", all, -1, Treatment::branch},
    {0xAA, "TENSOR_LOAD", all, -1, Treatment::verbatim},
    {0xAB, "TENSOR_STORE", all, -1, Treatment::verbatim},
    {0xB0, "EVENT_SEMAPHORE_RANGE_CLEAR", all, -1, Treatment::verbatim},
    {0xB1, "SET_ORDERING_MODE", all, -1, Treatment::verbatim},
    {0xB2, "MOVE_SHAPE", all, -1, Treatment::verbatim},
    {0xB3, "POLL_SEM", all, -1, Treatment::verbatim},
    {0xB4, "TEST_EVENT_SEM", v4_up, -1, Treatment::verbatim},
    {0xB5, "BRANCH_PREFETCH_HINT", all, -1, Treatment::verbatim},
    {0xB8, "DMAMEMCPY", all, -1, Treatment::verbatim},
    {0xBB, "DMA_INDIRECT", all, -1, Treatment::verbatim},
    {0xBC, "RANGE_SELECT", v3_up, -1, Treatment::verbatim},
    {0xBD, "DMA_TRANSPOSE", v3_up, -1, Treatment::verbatim},
    {0xBE, "GET_SEQUENCE_BOUNDS", v3_up, -1, Treatment::verbatim},
    {0xBF, "SB2SB_COLLECTIVE", v3_up, -1, Treatment::verbatim},
    {0xC1, "PSEUDO_DMA_TRIGGER", all, -1, Treatment::dma_trigger},
    {0xC2, "PSEUDO_DMA_REARM", all, -1, Treatment::dma_rearm},
    {0xC3, "PSEUDO_DMA_BARRIER", all, -1, Treatment::barrier},
    {0xC4, "PSEUDO_DMAMEMCPY_FULL_IND", all, -1, Treatment::pseudo_refused, no_records},
    {0xC5, "PSEUDO_SEMAPHORE_SET", all, -1, Treatment::pseudo_refused, no_payload},
    {0xC6, "PSEUDO_LOAD_ACT_FUNC_SET", all, -1, Treatment::pseudo_refused, no_payload},
    {0xC7, "PSEUDO_TRIGGER_ALL_REDUCE", all, -1, Treatment::pseudo_refused, no_payload},
    {0xC8, "PSEUDO_TRIGGER_COLLECTIVE", all, -1, Treatment::collective},
    {0xC9, "PSEUDO_READ_VAR_ADDR", all, -1, Treatment::read_var_addr},
    {0xCA, "PSEUDO_EMBEDDING_UPDATE", all, -1, Treatment::pseudo_refused, no_records},
    {0xCB, "PSEUDO_SEND_RECV", all, -1, Treatment::collective},
    {0xCC, "PSEUDO_BRANCH_LABEL", all, -1, Treatment::branch_label},
    {0xCD, "PSEUDO_TENSOR_STORE", all, -1, Treatment::tensor_store},
    {0xCE, "PSEUDO_TENSOR_LOAD", all, -1, Treatment::tensor_load},
    {0xCF, "PSEUDO_DMASWAP_QUEUE_SET", all, -1, Treatment::pseudo_refused, no_records},
    {0xD0, "PSEUDO_SET_RNG_SEED", all, -1, Treatment::pseudo_refused, no_payload},
    {0xD1, "PSEUDO_FUNCTION_BEGIN", all, -1, Treatment::function_begin},
    {0xD2, "PSEUDO_FUNCTION_RETURN", all, -1, Treatment::function_return},
    {0xD3, "PSEUDO_FUNCTION_CALL", all, -1, Treatment::function_call},
    {0xD4, "PSEUDO_DMA_DIRECT2D", all, -1, Treatment::dma_direct2d},
    {0xD5, "PSEUDO_SYNC_BARRIER", all, -1, Treatment::barrier},
    {0xD6, "PSEUDO_RANGE_CHECK", all, -1, Treatment::pseudo_refused, no_records},
    {0xD7, "PSEUDO_JPEG_DECODE", v3_up, -1, Treatment::pseudo_refused, no_records},
    {0xD8, "PSEUDO_CORE_BARRIER", all, -1, Treatment::barrier},
    {0xD9, "PSEUDO_TRIGGER_COLLECTIVE_2", all, -1, Treatment::pseudo_refused, no_records},
    {0xDA, "PSEUDO_EXTENSION", all, -1, Treatment::extension},
    {0xDB, "PSEUDO_CUR_PROCESSING_RANK_ID", all, -1, Treatment::pseudo_refused, no_payload},
    {0xDC, "PSEUDO_GID_LOAD", all, -1, Treatment::pseudo_refused, no_payload},
    {0xDD, "PSEUDO_BRANCH_PREFETCH_HINT", all, -1, Treatment::branch_hint},
    {0xDE, "PSEUDO_TENSOR_COMPLETION", all, -1, Treatment::pseudo_refused, no_payload},
    {0xDF, "PSEUDO_INST", all, -1, Treatment::inst},
    {0xE0, "SPARSITY_COMPRESS", v4_up, -1, Treatment::verbatim},
    {0xE1, "SPARSITY_COMPRESS_TAG", v4_up, -1, Treatment::verbatim},
    {0xE2, "RAND2", v4_up, -1, Treatment::verbatim},
    {0xE3, "QUANTIZE_MX", v4_up, -1, Treatment::verbatim},
    {0xE4, "CONV_LUT_LOAD", v3_up, -1, Treatment::verbatim},
    {0xE5, "TENSOR_TENSOR_SCAN_ARITH", all, -1, Treatment::verbatim},
    {0xE6, "TENSOR_SCALAR_CACHE_CUMULATIVE", all, -1, Treatment::verbatim},
    {0xE7, "INDIRECT_COPY", all, -1, Treatment::verbatim},
    {0xE8, "COPY_PREDICATED_SCALAR", all, -1, Treatment::verbatim},
    {0xE9, "DVE_READ_INDICES", v3_up, -1, Treatment::verbatim},
    {0xEA, "SELECT_REDUCE", all, -1, Treatment::verbatim},
    {0xF0, "EXTENDED_INST", all, -1, Treatment::verbatim},
    {0xF1, "DMA_GATHER_TRANSPOSE", v3_up, -1, Treatment::verbatim},
    {0xF2, "NONZERO_WITH_COUNT", v3_up, -1, Treatment::verbatim},
};

constexpr bool legal(Generations generations, Arch arch) {
  switch (generations) {
    case all:
      return true;
    case v2_only:
      return arch == Arch::v2;
    case v3_up:
      return arch != Arch::v2;
    case v4_up:
      return arch == Arch::v4;
  }
  return false;
}

constexpr std::array<Opcode, 256> make_table(Arch arch) {
  std::array<Opcode, 256> made{};
  for (const Row& row : rows) {
    if (legal(row.generations, arch)) {
      made[row.code] = {row.name, row.treatment, row.only_engine, row.reason};
    }
  }
  return made;
}

constexpr auto table_v2 = make_table(Arch::v2);
constexpr auto table_v3 = make_table(Arch::v3);
constexpr auto table_v4 = make_table(Arch::v4);

}  // namespace

const Opcode* opcode_table(Arch arch) {
  switch (arch) {
    case Arch::v2:
      return table_v2.data();
    case Arch::v4:
      return table_v4.data();
    case Arch::v3:
    case Arch::any:
      break;
  }
  return table_v3.data();
}

}  // namespace neffld::isa
