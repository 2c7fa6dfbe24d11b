// SPDX-License-Identifier: MIT
// Where the fields of each command's argument are, so that recorded calls can be replayed by name.
// Independent of include/neuron_abi on purpose: the two check each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace transcripts {

struct Field {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 4;
  char kind = 'i';  // i = in, o = out, p = pointer to an 8-byte value, b = pointer to a buffer
};

struct Layout {
  std::size_t size = 0;
  std::vector<Field> fields;
};

// name | bytes | field@offset[:size][+ out, ^ pointer to a value, * pointer to a buffer] ...
inline constexpr std::string_view layout_table = R"(
DEVICE_READY 1 result@0:1+
DEVICE_INFO 80 architecture@0+ revision@4+ connected_device_count@8+ bar_address0@48:8+ bar_address1@56:8+ bar_size0@64:8+ bar_size1@72:8+ c0@12+ c1@16+ c2@20+ c3@24+ c4@28+ c5@32+ c6@36+ c7@40+
DEVICE_INIT 4 mem_regions@0
DEVICE_RELEASE 4
DEVICE_APP_PID 4 pid@0+
DEVICE_GET_ALL_APPS_INFO 168 apps_info_flags@0:2 capacity@4 size@8+ pid0@16+ nc_lock_map0@20:1+ host_mem0@152:8+ device_mem0@160:8+
BAR_READ 32 bar@0 address@8:8* data@16:8* count@24
BAR_WRITE 32 bar@0 address@8:8* data@16:8* count@24
POST_METRIC 16 data@0:8* data_size@8
MEM_ALLOC 32 size@0:8 host_memory@8 dram_channel@12 dram_region@16 nc_id@20 mem_handle@24:8^
MEM_FREE 8 mem_handle@0:8
MEM_COPY 32 src_mem_handle@0:8 dst_mem_handle@8:8 size@16 src_offset@20 dst_offset@24
MEM_COPY64 40 src_mem_handle@0:8 dst_mem_handle@8:8 size@16:8 src_offset@24:8 dst_offset@32:8
MEM_BUF_COPY 32 mem_handle@0:8 buffer@8:8* size@16 offset@20 copy_to_mem_handle@24
MEM_BUF_COPY64 40 mem_handle@0:8 buffer@8:8* size@16:8 offset@24:8 copy_to_mem_handle@32
MEM_BUF_ZEROCOPY64 40 mem_handle@0:8 buffer@8:8* size@16:8 offset@24:8 copy_to_mem_handle@32
MEM_GET_PA 16 mem_handle@0:8 pa@8:8^
MEM_GET_INFO 24 mem_handle@0:8 mmap_offset@8:8^ pa@16:8^
PROGRAM_ENGINE 24 dst@0:8 buffer@8:8* size@16 offset@20
MEMSET 24 mem_handle@0:8 offset@8:8 value@16 size@20
MEMSET64 32 mem_handle@0:8 offset@8:8 value@16 size@24:8
MEM_GET_EXTENDED_INFO 48 mem_handle@0:8 version@8+ host_memory@12+ mmap_offset@16:8+ pa@24:8+ pid@32+ size@40:8+
DMA_ENG_INIT 4 eng_id@0
DMA_ENG_SET_STATE 8 eng_id@0 state@4
DMA_ENG_GET_STATE 16 eng_id@0 state@8:8*
DMA_QUEUE_INIT 48 eng_id@0 qid@4 tx_desc_count@8 rx_desc_count@12 tx_handle@16:8 rx_handle@24:8 rxc_handle@32:8 axi_port@40
DMA_QUEUE_RELEASE 8 eng_id@0 qid@4
DMA_QUEUE_COPY_START 16 eng_id@0 qid@4 tx_desc_count@8 rx_desc_count@12
DMA_ACK_COMPLETED 12 eng_id@0 qid@4 count@8
DMA_QUEUE_GET_STATE 24 eng_id@0 qid@4 tx@8:8* rx@16:8*
DMA_COPY_DESCRIPTORS 32 mem_handle@0:8 buffer@8:8* num_descs@16 offset@20 queue_type@24
DMA_COPY_DESCRIPTORS64 40 mem_handle@0:8 buffer@8:8* num_descs@16 offset@24:8 queue_type@32
DMA_DESCRIPTOR_COPYOUT 32 eng_id@0 qid@4 type@8 start_index@12 count@16 buffer@24:8*
DMA_QUIESCE_QUEUES 264 nc_id@0 engine_count@4
SEMAPHORE_INCREMENT 12 nc_id@0 semaphore_index@4 value@8
SEMAPHORE_DECREMENT 12 nc_id@0 semaphore_index@4 value@8
SEMAPHORE_WRITE 12 nc_id@0 semaphore_index@4 value@8
SEMAPHORE_READ 12 nc_id@0 semaphore_index@4 value@8+
EVENT_SET 12 nc_id@0 event_index@4 value@8
EVENT_GET 12 nc_id@0 event_index@4 value@8+
NOTIFICATIONS_INIT_V1 24 nc_id@0 nq_type@4 engine_index@8 size@12 mmap_offset@16:8+
NOTIFICATIONS_DESTROY_V1 8 mmap_offset@0:8
NOTIFICATIONS_INIT_V2 48 nq_dev_id@0 nq_dev_type@4 nq_type@8 engine_index@12 size@16 on_host_memory@20 dram_channel@24 dram_region@28 mmap_offset@32:8+ mem_handle@40:8+
NOTIFICATIONS_INIT_WITH_REALLOC_V2 56 nq_dev_id@0 nq_dev_type@4 nq_type@8 engine_index@12 size@16 on_host_memory@20 dram_channel@24 dram_region@28 force_alloc_mem@32 mmap_offset@40:8+ mem_handle@48:8+
NOTIFICATIONS_QUEUE_INFO 12 nq_dev_id@0:1 nq_dev_type@1:1 nq_type@2:1 engine_index@3:1 head@4 phase_bit@8
READ_HW_COUNTERS 24 address@0:8* data@8:8* count@16
ACQUIRE_NEURON_DS 24 pid@0 mmap_offset@8:8+ size@16+
RELEASE_NEURON_DS 24 pid@0 mmap_offset@8:8+ size@16+
CRWL_READER_ENTER 36 nc_id@0 u0@4:1 u1@5:1
CRWL_READER_EXIT 36 nc_id@0 u0@4:1 u1@5:1
CRWL_WRITER_ENTER 36 nc_id@0 u0@4:1 u1@5:1
CRWL_WRITER_DOWNGRADE 36 nc_id@0 u0@4:1 u1@5:1
CRWL_NC_RANGE_MARK 24 nc_count@0 start_nc_index@4 end_nc_index@8 max_nc_available@12+ bitmap@16:8+
CRWL_NC_RANGE_UNMARK 24 nc_count@0 start_nc_index@4 end_nc_index@8 max_nc_available@12+ bitmap@16:8+
CRWL_NC_RANGE_MARK_EXT0 80 nc_count@0 start_nc_index@4 end_nc_index@8 max_nc_available@12+ b0@16:8+ b1@24:8+ b2@32:8+ b3@40:8+ b4@48:8+ b5@56:8+ b6@64:8+ b7@72:8+
CRWL_NC_RANGE_UNMARK_EXT0 80 nc_count@0 start_nc_index@4 end_nc_index@8 max_nc_available@12+ b0@16:8+ b1@24:8+ b2@32:8+ b3@40:8+ b4@48:8+ b5@56:8+ b6@64:8+ b7@72:8+
CINIT_SET_STATE 12 nc_id@0 state@4 new_state@8+
NC_MODEL_STARTED_COUNT 16 nc_id@0 started_count@8:8+
COMPATIBLE_VERSION 8 max@0+ min@4+
DEVICE_BASIC_INFO 8 architecture@0+ revision@4+
DEVICE_BDF 8 bus_number@0+ slot@4:1+ func@5:1+
DEVICE_BDF_EXT 16 nd_index@0 domain@4+ bus_number@8+ slot@12:1+ func@13:1+
MEM_ALLOC_V2 40 size@0:8 align@8:8 host_memory@16 dram_channel@20 dram_region@24 nc_id@28 mem_handle@32:8^
MEM_ALLOC_V2MT 48 size@0:8 align@8:8 host_memory@16 dram_channel@20 dram_region@24 nc_id@28 mem_type@32 mem_handle@40:8^
MEM_ALLOC_V2MT64 56 size@0:8 align@8:8 host_memory@16 dram_channel@20 dram_region@24 nc_id@28 mem_type@32 mem_handle@40:8^ pad@48
NC_RESET 8 nc_map@0 request_id@4+
NC_RESET_READY 8 request_id@0 result@4+
PROGRAM_ENGINE_NC 32 nc_id@0 dst@8:8 buffer@16:8* size@24 offset@28
PROGRAM_ENGINE_NC64 40 nc_id@0 dst@8:8 buffer@16:8* size@24:8 offset@32:8
DEVICE_RESET 4
DEVICE_RESET_STATUS 1 result@0:1+
DMABUF_FD 24 va@0:8 size@8:8 fd@16:8^
MEM_COPY_ASYNC 48 src_mem_handle@0:8 dst_mem_handle@8:8 size@16 src_offset@20 dst_offset@24 host_prefetch_addr@32:8 pwait_handle@40 wait_handle@44+
MEM_COPY_ASYNC64 56 src_mem_handle@0:8 dst_mem_handle@8:8 size@16:8 src_offset@24:8 dst_offset@32:8 host_prefetch_addr@40:8 pwait_handle@48 wait_handle@52+
MEM_COPY_ASYNC_WAIT 24 src_mem_handle@0:8 dst_mem_handle@8:8 pwait_handle@16
DRIVER_INFO_GET 24 architecture@0+ revision@4+ version@8+ size@12+ feature_flags1@16:8+
DRIVER_INFO_SET 24 architecture@0+ revision@4+ version@8+ size@12+ feature_flags1@16:8+
MEM_MC_GET_INFO 24 pa@0:8 mmap_offset@8:8+ size@16:8+
MEM_MC_GET_INFO_V2 32 pa@0:8 mmap_offset@8:8+ size@16:8+ mem_handle@24:8+
RESOURCE_MMAP_INFO 32 block@0 block_id@4 resource@8 offset@16:8+ size@24:8+
PRINTK 16 buffer@0:8* size@8 action@12
HOST_DEVICE_ID 4 host_device_id@0+
HOST_DEVICE_ID_TO_RID_MAP 260 count@0+ r0@4+ r1@8+ r2@12+ r3@16+ r4@20+ r5@24+ r6@28+ r7@32+ r8@36+ r9@40+ r10@44+ r11@48+ r12@52+ r13@56+ r14@60+ r15@64+ r63@256+
DUMP_MEM_CHUNKS 24 hbm_index@0 num_entries_in@4 num_entries_out@8+ data@16:8*
NC_PID_STATE_DUMP 16 size@0 nc_id@4 filter_log_owner@8 log_dump_limit@12
HBM_SCRUB_START 16 nc_id@0 hbm_index@4 axi_port@8 init_val@12
HBM_SCRUB_WAIT 8 nc_id@0 hbm_index@4
GET_LOGICAL_TO_PHYSICAL_NC_MAP 16 map@0:8* max_map_entries@8 mapping_version@12
POD_INFO 260 sz@0:2 pod_type@2:1+ pod_sz@259:1+
POD_STATUS 268 sz@0:2 state@260+ pod_type@264:1+ pod_sz@265:1+ node_id@266:1+
POD_STATUS_V2 276 sz@0:2 state@260+ pod_type@264:1+ pod_sz@265:1+ node_id@266:1+ mode@268+ modes_supported@272+
POD_CTRL 16 sz@0:2 ctrl@4 timeout@8 state@12+
POD_CTRL_V2 20 sz@0:2 ctrl@4 timeout@8 state@12+ mode@16
DMA_QUEUE_INIT_BATCH 12296 count@0 eng_id@8 qid@12 tx_desc_count@16 rx_desc_count@20 tx_handle@24:8 rx_handle@32:8 rxc_handle@40:8 axi_port@48
)";

inline std::map<std::string, Layout, std::less<>> parse_layouts() {
  std::map<std::string, Layout, std::less<>> layouts;
  std::string_view rest = layout_table;
  const auto word = [&rest](std::string_view stops) {
    const auto end = rest.find_first_of(stops);
    const auto text = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
    return std::string(text);
  };
  while (rest.find_first_not_of("\n ") != std::string_view::npos) {
    rest.remove_prefix(rest.find_first_not_of("\n "));
    Layout& layout = layouts[word(" ")];
    rest.remove_prefix(1);
    layout.size = std::stoul(word(" \n"));
    while (!rest.empty() && rest.front() == ' ') {
      rest.remove_prefix(1);
      Field field;
      field.name = word("@");
      rest.remove_prefix(1);
      field.offset = std::stoul(word(":+^* \n"));
      if (!rest.empty() && rest.front() == ':') {
        rest.remove_prefix(1);
        field.size = std::stoul(word("+^* \n"));
      }
      if (!rest.empty() && std::string_view("+^*").find(rest.front()) != std::string_view::npos) {
        field.kind = rest.front() == '+' ? 'o' : rest.front() == '^' ? 'p' : 'b';
        rest.remove_prefix(1);
      }
      layout.fields.push_back(field);
    }
  }
  return layouts;
}

}  // namespace transcripts
