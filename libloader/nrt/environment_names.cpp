// SPDX-License-Identifier: MIT
// Names of the NEURON_RT_ variables (spec 07 section 4), without that prefix.
#include <algorithm>
#include <array>

#include "environment.hpp"

namespace neffld::nrt {
namespace {

constexpr std::string_view prefix = "NEURON_RT_";

/// What this library acts on.
constexpr std::array honoured = std::to_array<std::string_view>({
    "ALLOW_LEGACY_NEFF",
    "ASYNC_EXEC_MAX_INFLIGHT_REQUESTS",
    "DBG_DMA_PACKETIZATION_SIZE",
    "EXEC_TIMEOUT",
    "FAKE_INSTANCE_TYPE",
    "INSPECT_ENABLE",
    "INSPECT_ON_FAIL",
    "INSPECT_OUTPUT_DIR",
    "IO_RING_CACHE_SIZE",
    "LOCAL_CORE_DUMP_DIRECTORY",
    "LOG_COALESCING_ENABLED",
    "LOG_LEVEL",
    "LOG_LOCATION",
    "NUM_CORES",
    "ROOT_COMM_ID",
    "VALIDATE_HASH",
    "VIRTUAL_CORE_SIZE",
    "VISIBLE_CORES",
});

/// What other releases act on and this one accepts without effect.
constexpr std::array ignored = std::to_array<std::string_view>({
    "ASYNC_SENDRECV_BOOTSTRAP_PORT",
    "ASYNC_SENDRECV_EXPERIMENTAL_ENABLED",
    "CC_ALG_TYPES",
    "CC_CHANNEL_BUFFER_N",
    "CC_CHUNK_SIZE",
    "CONTIGUOUS_SCRATCHPAD",
    "DBG_BRANCH_LABEL_ALIGN_THRESH",
    "DBG_CC_CCE_REDUCE_DMA_PRIO_PKT_SIZE",
    "DBG_CC_CHECK_SIGS",
    "DBG_CC_DMA_COPY_DMA_PRIO_PKT_SIZE",
    "DBG_CC_DMA_PACKET_SIZE",
    "DBG_CC_FORCE_SINGLE_RANK_RG",
    "DBG_CC_INTER_MESH_MAX_NODES",
    "DBG_CC_NOP",
    "DBG_CC_PROXY_HISTOGRAM_CONFIG",
    "DBG_CC_SORT_RG",
    "DBG_CC_STOCHASTIC_ROUNDING_EN",
    "DBG_CC_STREAM_MODE",
    "DBG_DIRECT_BAR4_WRITE_SIZE",
    "DBG_DISABLE_DGE",
    "DBG_DISABLE_DGE_BOUND_CHECK",
    "DBG_DISABLE_RMV_DST_ROUTE",
    "DBG_DISABLE_RMV_DST_ROUTING",
    "DBG_DMA_PRIO_PKT_SIZE",
    "DBG_DROP_EVENTSEM_NOTIF",
    "DBG_DUMP_INPUTS_ON_ERR",
    "DBG_EARLY_COMPLETION",
    "DBG_EARLY_POSTING",
    "DBG_EMBEDDING_UPDATE_BOUND_CHECK",
    "DBG_ENFORCE_MESH_GLOBAL_HANDSHAKE",
    "DBG_ENFORCE_RDH_GLOBAL_HANDSHAKE",
    "DBG_EXPERIMENTAL_CONTIGUOUS_SCRATCHPAD",
    "DBG_FORCE_2DEV_PROXY",
    "DBG_FORCE_STRICT_ORDERING",
    "DBG_FP8_EMAX_E4M3",
    "DBG_FP8_EMAX_E5M2",
    "DBG_FP8_RANGE_EXT",
    "DBG_FP8_SIS",
    "DBG_FP8_SNS",
    "DBG_HIERARCHICAL_CC",
    "DBG_HIER_CC_PIPELINE",
    "DBG_HW_DECODE_BINS_DIR",
    "DBG_HW_DECODE_TOGGLE",
    "DBG_HYBRID_RING_CC_EN",
    "DBG_INDIRECT_MEMCPY_BOUND_CHECK",
    "DBG_INPUT_DUMP_DIRECTORY",
    "DBG_INST_VALIDITY_CHECK",
    "DBG_INTER_RDH_CHANNEL_BUFFER_SIZE",
    "DBG_INTER_RDH_RECV_WINDOW_N",
    "DBG_INTRA_RDH_CHANNEL_BUFFER_SIZE",
    "DBG_IO_CRC",
    "DBG_KANGARING_CC",
    "DBG_M2S_PREFETCH_THRESHOLD",
    "DBG_MESH_CC",
    "DBG_MESH_CHANNEL_BUFFER_SIZE",
    "DBG_MESH_DOUBLE_BUF",
    "DBG_MS_ENABLE_SKIP_TPB_CONFIG_OPT",
    "DBG_OCP_FP8_SAT",
    "DBG_RDH_CC",
    "DBG_RDH_DOUBLE_BUF",
    "DBG_S2M_PREFETCH_THRESHOLD",
    "DBG_SB_MEMSET",
    "DBG_SCRATCHPAD_ON_SINGLE_CORE",
    "DBG_SEQ_IRAM_BLOCK_SIZES_KB",
    "DBG_SINGLE_CYCLE_RING_ALLR_CC",
    "DBG_TOPSP_EVSEM_NOTIF_ENABLED",
    "DBG_TOPSP_SEMAPHORES_CLEAR_CHECK",
    "DBG_TOPSP_SYSTRACE_INCLUDE_DEFAULT_ALGO",
    "DBG_V4_PLUS",
    "DBG_VECTOR_DGE_SKIP_NOTIF",
    "DBG_VERBOSE_DEV_MEM",
    "DBG_VIRTUAL_SERVER_SIZE",
    "DBG_ZEROCOPY",
    "DEBUG_MEMLOG_MAX_SIZE",
    "DEBUG_STREAM_BUFFER_SIZE",
    "DISABLE_BG_XPOSE",
    "DISABLE_EXECUTION_BARRIER",
    "DISABLE_PACK_DESCRIPTORS",
    "EMBEDDED_SEM_ENB",
    "ENABLE_DEVICE_MEMORY_OOM_LOG",
    "ENABLE_DGE_NOTIFICATIONS",
    "ENABLE_DMA_TRACING",
    "ENABLE_HW_EXECUTION_BARRIER",
    "ENABLE_INTERNODE_EXECUTION_BARRIER",
    "ENABLE_MEMORY_METRICS",
    "ENABLE_P2P",
    "ENABLE_RG_VALIDATION",
    "ENABLE_VERBOSE_NUMERICAL_ERRORS",
    "ERROR_NQ_COALESCE",
    "GPSIMD_STDOUT_QUEUE_SIZE_BYTES",
    "HBM_INIT_VAL",
    "HW_EXECUTION_BARRIER",
    "INSPECT_CPU_UTIL",
    "INSPECT_DEVICE_PROFILE",
    "INSPECT_EVENT_FILTER_NC",
    "INSPECT_EVENT_FILTER_TYPE",
    "INSPECT_HOST_MEMORY",
    "INSPECT_PRECACHE_ENABLE",
    "INSPECT_SYSTEM_PROFILE",
    "INSPECT_SYS_TRACE_MAX_EVENTS_PER_NC",
    "INSTR_FETCH_ON_H2D",
    "INTERNODE_EXECUTION_BARRIER",
    "LOW_LATENCY_TASKS_CPU_AFFINITY",
    "MAP_HBM",
    "MIN_MEM_ERROR_INTERVAL",
    "MULTI_INSTANCE_SHARED_WEIGHTS",
    "NINFER",
    "NUMERICAL_ERRORS_VERBOSITY",
    "ONE_THREAD_PER_CORE",
    "ONE_TMPBUF_ENABLE",
    "ONE_TMPBUF_PAGE_SIZE_MB",
    "OOM_DUMP_DIRECTORY",
    "PROFILING_MODE",
    "RANKS_PER_NETWORK_PROXY",
    "RESET_CORES",
    "S3_CORE_DUMP_PREFIX",
    "STOCHASTIC_ROUNDING_EN",
    "STOCHASTIC_ROUNDING_SEED",
    "TRACE_NUM_ENTRIES",
    "UCODE_LIB_PATH",
    "ULTRASERVER_MODE",
    "ULTRASERVER_NODE_ID",
    "ULTRASERVER_SERVER_ID",
    "ULTRASERVER_SINGLE_NODE",
    "XU_COMPUTE_MAX_QUEUED_REQUESTS",
});

/// Families whose names end in a component, a buffer and so on.
constexpr std::array families = {std::string_view("LOG_LEVEL_"), std::string_view("LOG_LOCATION_"),
                                 std::string_view("PROFILE_BUF_")};

template <class List>
bool lists(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

template <class Keep>
std::vector<std::string> names_that(Keep keep) {
  std::vector<std::string> names;
  for (const auto& [name, value] : environment()) {
    if (name.starts_with(prefix) && !value.empty() &&
        keep(std::string_view(name).substr(prefix.size()))) {
      names.push_back(name);
    }
  }
  return names;
}

bool in_family(std::string_view name) {
  return std::any_of(families.begin(), families.end(),
                     [&](std::string_view family) { return name.starts_with(family); });
}

}  // namespace

std::vector<std::string> unknown_env_names() {
  return names_that([](std::string_view name) {
    return !lists(honoured, name) && !lists(ignored, name) && !in_family(name);
  });
}

std::vector<std::string> ignored_env_names() {
  return names_that([](std::string_view name) { return lists(ignored, name); });
}

}  // namespace neffld::nrt
