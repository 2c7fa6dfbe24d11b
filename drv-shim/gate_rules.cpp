// SPDX-License-Identifier: MIT
#include "gate_rules.hpp"

#include "neuron_abi/ioctl.h"

namespace neffld::shim {
namespace {

constexpr const char* acts = "makes the device act";
constexpr const char* queue_of_ours = "initialises a queue by rules that are this program's own";
constexpr const char* reset = "resets cores";
constexpr const char* other_users = "reaches what other processes use";

constexpr GateRule rules[] = {
    // who the device is
    {NEURON_IOCTL_COMPATIBLE_VERSION, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DRIVER_INFO_GET, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DEVICE_BASIC_INFO, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DEVICE_INFO, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DEVICE_READY, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DEVICE_RESET_STATUS, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DEVICE_APP_PID, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DEVICE_GET_ALL_APPS_INFO, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DEVICE_BDF, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DEVICE_BDF_EXT, Verdict::allowed, Check::neighbour, nullptr},
    {NEURON_IOCTL_HOST_DEVICE_ID, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_HOST_DEVICE_ID_TO_RID_MAP, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_GET_LOGICAL_TO_PHYSICAL_NC_MAP, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_POD_INFO, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_POD_STATUS, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_POD_STATUS_V2, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_NC_MODEL_STARTED_COUNT, Verdict::allowed, Check::none, nullptr},
    // memory
    {NEURON_IOCTL_MEM_ALLOC, Verdict::allowed, Check::allocate, nullptr},
    {NEURON_IOCTL_MEM_ALLOC_V2, Verdict::allowed, Check::allocate, nullptr},
    {NEURON_IOCTL_MEM_ALLOC_V2MT, Verdict::allowed, Check::allocate, nullptr},
    {NEURON_IOCTL_MEM_ALLOC_V2MT64, Verdict::allowed, Check::allocate, nullptr},
    {NEURON_IOCTL_MEM_ALLOC_V2MT64_PA, Verdict::allowed, Check::allocate, nullptr},
    {NEURON_IOCTL_MEM_FREE, Verdict::allowed, Check::free_handle, nullptr},
    {NEURON_IOCTL_MEM_GET_PA, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_MEM_GET_INFO, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_MEM_GET_EXTENDED_INFO, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_MEM_MC_GET_INFO, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_MEM_MC_GET_INFO_V2, Verdict::never, Check::none,
     "makes a handle for memory that was not allocated here"},
    {NEURON_IOCTL_DUMP_MEM_CHUNKS, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_RESOURCE_MMAP_INFO, Verdict::allowed, Check::none, nullptr},
    // copies
    {NEURON_IOCTL_MEM_BUF_COPY, Verdict::allowed, Check::buffer_copy, nullptr},
    {NEURON_IOCTL_MEM_BUF_COPY64, Verdict::allowed, Check::buffer_copy, nullptr},
    {NEURON_IOCTL_MEM_BUF_ZEROCOPY64, Verdict::allowed, Check::buffer_copy, nullptr},
    {NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V27, Verdict::allowed, Check::buffer_copy, nullptr},
    {NEURON_IOCTL_MEM_BUF_ZEROCOPY64_V30, Verdict::allowed, Check::buffer_copy, nullptr},
    {NEURON_IOCTL_MEM_COPY, Verdict::allowed, Check::chunk_copy, nullptr},
    {NEURON_IOCTL_MEM_COPY64, Verdict::allowed, Check::chunk_copy, nullptr},
    {NEURON_IOCTL_MEM_COPY64_V30, Verdict::allowed, Check::chunk_copy, nullptr},
    {NEURON_IOCTL_MEMSET, Verdict::allowed, Check::fill, nullptr},
    {NEURON_IOCTL_MEMSET64, Verdict::allowed, Check::fill, nullptr},
    {NEURON_IOCTL_DMA_COPY_DESCRIPTORS, Verdict::allowed, Check::descriptors, nullptr},
    {NEURON_IOCTL_DMA_COPY_DESCRIPTORS64, Verdict::allowed, Check::descriptors, nullptr},
    {NEURON_IOCTL_HBM_SCRUB_START, Verdict::never, Check::none, "overwrites all of an HBM"},
    {NEURON_IOCTL_PROGRAM_ENGINE, Verdict::never, Check::none, acts},
    {NEURON_IOCTL_PROGRAM_ENGINE_NC, Verdict::never, Check::none, acts},
    {NEURON_IOCTL_PROGRAM_ENGINE_NC64, Verdict::never, Check::none, acts},
    // DMA engines and queues
    {NEURON_IOCTL_DMA_ENG_INIT, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DMA_ENG_GET_STATE, Verdict::allowed, Check::engine, nullptr},
    {NEURON_IOCTL_DMA_ENG_SET_STATE, Verdict::never, Check::none, acts},
    {NEURON_IOCTL_DMA_QUEUE_GET_STATE, Verdict::allowed, Check::engine_queue, nullptr},
    {NEURON_IOCTL_DMA_DESCRIPTOR_COPYOUT, Verdict::allowed, Check::engine_queue, nullptr},
    {NEURON_IOCTL_DMA_QUEUE_INIT, Verdict::experimental, Check::queue_init, queue_of_ours},
    {NEURON_IOCTL_DMA_QUEUE_INIT_BATCH, Verdict::experimental, Check::queue_batch, queue_of_ours},
    {NEURON_IOCTL_DMA_QUEUE_RELEASE, Verdict::allowed, Check::none, nullptr},
    {NEURON_IOCTL_DMA_QUEUE_COPY_START, Verdict::never, Check::none, "hands work to a DMA engine"},
    {NEURON_IOCTL_DMA_ACK_COMPLETED, Verdict::never, Check::none, "moves a queue's head"},
    // cores, semaphores, events, registers
    {NEURON_IOCTL_SEMAPHORE_READ, Verdict::allowed, Check::core_register, nullptr},
    {NEURON_IOCTL_EVENT_GET, Verdict::allowed, Check::core_register, nullptr},
    {NEURON_IOCTL_SEMAPHORE_INCREMENT, Verdict::never, Check::none, "rings a doorbell"},
    {NEURON_IOCTL_SEMAPHORE_DECREMENT, Verdict::never, Check::none, acts},
    {NEURON_IOCTL_SEMAPHORE_WRITE, Verdict::never, Check::none, acts},
    {NEURON_IOCTL_EVENT_SET, Verdict::never, Check::none, acts},
    {NEURON_IOCTL_BAR_READ, Verdict::never, Check::none,
     "reads any kernel address the driver is given"},
    {NEURON_IOCTL_BAR_WRITE, Verdict::never, Check::none, "writes registers"},
    {NEURON_IOCTL_DEVICE_RESET, Verdict::never, Check::none, "resets other processes' cores too"},
    {NEURON_IOCTL_NC_RESET, Verdict::experimental, Check::core_map, reset},
    {NEURON_IOCTL_NC_RESET_READY, Verdict::experimental, Check::none, reset},
    {NEURON_IOCTL_CINIT_SET_STATE, Verdict::experimental, Check::core, "changes a core's state"},
    {NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, Verdict::never, Check::none,
     "is made by the gate itself"},
    {NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0, Verdict::never, Check::none,
     "is made by the gate itself"},
    {NEURON_IOCTL_ACQUIRE_NEURON_DS, Verdict::never, Check::none, other_users},
    {NEURON_IOCTL_RELEASE_NEURON_DS, Verdict::never, Check::none, other_users},
    {NEURON_IOCTL_POST_METRIC, Verdict::never, Check::none, other_users},
};

}  // namespace

const GateRule* find_gate_rule(std::uint32_t command) {
  for (const GateRule& rule : rules) {
    if (rule.command == command) return &rule;
  }
  return nullptr;
}

}  // namespace neffld::shim
