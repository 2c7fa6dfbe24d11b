// SPDX-License-Identifier: MIT
#include "device_compute.hpp"

#include <cerrno>
#include <new>

#include "nds_user.h"
#include "neuron_abi/address_map.h"

namespace neffld::compute {
namespace {

/// The memory of a core, or no SBUF if there is no such core.
CoreMemory memory_of(nds_device* device, std::uint32_t core, Arch arch) {
  const std::uint64_t upper = arch == Arch::v2 ? NEURON_V2_TPB_UPPER : NEURON_V3_TPB_UPPER;
  const std::uint64_t window = arch == Arch::v2 ? NEURON_V2_ENGINE_WINDOW : NEURON_V3_ENGINE_WINDOW;
  const auto piece = [&](std::uint64_t offset, std::uint64_t end) {
    return Bytes(nds_user_core_memory(device, core, window + offset),
                 static_cast<std::size_t>(end - offset));
  };
  CoreMemory memory;
  memory.sbuf = nds_user_core_memory(device, core, 0);
  if (memory.sbuf == nullptr) return memory;
  memory.psum = nds_user_core_memory(device, core, upper);
  memory.act = {piece(NEURON_ACT_BUCKETS, NEURON_ACT_CONTROLS),
                piece(NEURON_ACT_CONTROLS, NEURON_ACT_PROFILES),
                piece(NEURON_ACT_PROFILES, NEURON_ACT_DIRECTORY),
                piece(NEURON_ACT_DIRECTORY, NEURON_ACT_END)};
  return memory;
}

}  // namespace

DeviceCompute::DeviceCompute(nds_device* device, Arch arch) {
  for (std::uint32_t core = 0;; ++core) {
    const CoreMemory memory = memory_of(device, core, arch);
    if (memory.sbuf == nullptr) break;
    cores_.push_back({Core(memory, arch, *available_kernels().front()), {}});
  }
}

void DeviceCompute::mutate(Mutation mutation) {
  for (CoreState& state : cores_) state.core.mutate(mutation);
}

int DeviceCompute::start(void* context, std::uint32_t core) {
  auto& cores = static_cast<DeviceCompute*>(context)->cores_;
  if (core >= cores.size()) return -EINVAL;
  cores[core].core.start();
  cores[core].refusal.clear();
  return 0;
}

int DeviceCompute::run(void* context, std::uint32_t core, std::uint32_t /*engine*/,
                       const std::uint8_t* record, std::uint32_t* field) {
  auto& cores = static_cast<DeviceCompute*>(context)->cores_;
  *field = 0;
  if (core >= cores.size()) return -EINVAL;
  try {
    auto done = cores[core].core.run({record, record_bytes});
    if (done) return 0;
    *field = done.error().field;
    cores[core].refusal = std::move(done.error().text);
    return -EINVAL;
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace neffld::compute
