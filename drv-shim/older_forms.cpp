// SPDX-License-Identifier: MIT
#include "older_forms.hpp"

#include <cerrno>
#include <limits>

#include "neuron_abi/ioctl.h"
#include "neffld/forwarding_file.hpp"

namespace neffld::shim {
namespace {

constexpr std::uint64_t most_32 = std::numeric_limits<std::uint32_t>::max();

class OlderForms final : public ForwardingFile {
 public:
  explicit OlderForms(std::unique_ptr<DeviceFile> inner) : ForwardingFile(std::move(inner)) {}

  int ioctl(std::uint32_t command, void* argument) noexcept override {
    const int answer = inner_->ioctl(command, argument);
    if (answer != -EINVAL || argument == nullptr) return answer;
    switch (command) {
      case NEURON_IOCTL_DRIVER_INFO_GET:
        return driver_info(*static_cast<neuron_driver_info*>(argument));
      case NEURON_IOCTL_MEM_ALLOC_V2MT64:
        return allocate(*static_cast<const neuron_mem_alloc_v2mt64*>(argument));
      case NEURON_IOCTL_MEM_BUF_COPY64:
        return copy(*static_cast<const neuron_mem_buf_copy64*>(argument));
      case NEURON_IOCTL_DMA_COPY_DESCRIPTORS64:
        return descriptors(*static_cast<const neuron_dma_copy_descriptors64*>(argument));
      case NEURON_IOCTL_DMA_QUEUE_INIT_BATCH:
        return queues(*static_cast<neuron_dma_queue_init_batch*>(argument));
      default:
        return answer;
    }
  }


 private:
  int driver_info(neuron_driver_info& info) {
    neuron_device_basic_info basic{};
    if (const int answer = inner_->ioctl(NEURON_IOCTL_DEVICE_BASIC_INFO, &basic)) return answer;
    info = {basic.architecture, basic.revision, 0, sizeof info, 0};
    return 0;
  }

  int allocate(const neuron_mem_alloc_v2mt64& wanted) {
    neuron_mem_alloc_v2mt typed{wanted.size,         wanted.align,         wanted.host_memory,
                                wanted.dram_channel, wanted.dram_region,   wanted.nc_id,
                                wanted.mem_type,     wanted.mem_handle_ptr};
    const int answer = inner_->ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT, &typed);
    // The category only picks a counter, except 19, which no older form can ask for.
    if (answer != -EINVAL || wanted.mem_type == NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE) {
      return answer;
    }
    neuron_mem_alloc_v2 plain{wanted.size,          wanted.align,       wanted.host_memory,
                              wanted.dram_channel,  wanted.dram_region, wanted.nc_id,
                              wanted.mem_handle_ptr};
    return inner_->ioctl(NEURON_IOCTL_MEM_ALLOC_V2, &plain);
  }

  int copy(const neuron_mem_buf_copy64& wanted) {
    if (wanted.size > most_32 || wanted.offset > most_32) return -EINVAL;
    neuron_mem_buf_copy narrow{
        wanted.mem_handle, wanted.buffer_ptr, static_cast<std::uint32_t>(wanted.size),
        static_cast<std::uint32_t>(wanted.offset), wanted.copy_to_mem_handle};
    return inner_->ioctl(NEURON_IOCTL_MEM_BUF_COPY, &narrow);
  }

  int descriptors(const neuron_dma_copy_descriptors64& wanted) {
    if (wanted.offset > most_32) return -EINVAL;
    neuron_dma_copy_descriptors narrow{wanted.mem_handle, wanted.buffer_ptr, wanted.num_descs,
                                       static_cast<std::uint32_t>(wanted.offset),
                                       wanted.queue_type};
    return inner_->ioctl(NEURON_IOCTL_DMA_COPY_DESCRIPTORS, &narrow);
  }

  /// One by one; like the batch, the first failure is the answer and earlier queues stay.
  int queues(neuron_dma_queue_init_batch& batch) {
    if (batch.count > NEURON_MAX_QUEUE_INIT_BATCH) return -E2BIG;
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      if (const int answer = inner_->ioctl(NEURON_IOCTL_DMA_QUEUE_INIT, &batch.entries[i])) {
        return answer;
      }
    }
    return 0;
  }
};

}  // namespace

std::unique_ptr<DeviceFile> use_older_forms(std::unique_ptr<DeviceFile> device) {
  return std::make_unique<OlderForms>(std::move(device));
}

}  // namespace neffld::shim
