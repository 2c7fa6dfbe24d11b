// SPDX-License-Identifier: MIT
#include "stager.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "builders.hpp"
#include "neuron_abi/address_map.h"

namespace neffld {
namespace {

// Queue id 13 of these DMA engines loads the engine tables (decision 3).
constexpr std::uint32_t internal_queue = 13;
constexpr std::uint32_t act_engine = 2, dve_engine = 3;

struct RingPair {
  std::uint32_t engine = 0, queue = 0, descriptors = 0;
  std::uint32_t tx_request = 0, rx_request = 0;
};

neuron_dma_queue_init make_init(const KbinPlan& kbin, const RingPair& ring,
                                const std::vector<DeviceMemory>& by_request) {
  neuron_dma_queue_init init{};
  init.eng_id = NEURON_DMA_ENGINES_PER_CORE * kbin.core + ring.engine;
  init.qid = ring.queue;
  init.tx_desc_count = init.rx_desc_count = ring.descriptors;
  init.tx_handle = by_request[ring.tx_request].handle;
  init.rx_handle = by_request[ring.rx_request].handle;
  return init;
}

void add_table_ring(const KbinPlan& kbin, const std::optional<TableLoadPlan>& load,
                    std::uint32_t engine, const std::vector<DeviceMemory>& by_request,
                    std::vector<neuron_dma_queue_init>& inits) {
  if (!load) return;
  inits.push_back(make_init(
      kbin,
      {engine, internal_queue, linear_ring_size(load->used), load->tx_request, load->rx_request},
      by_request));
}

}  // namespace

Result<void> allocate_all(DeviceCalls& calls, std::span<const Request> requests,
                          AllocationList& list) {
  list.reserve(list.size() + requests.size());  // a handle must never be lost to missing memory
  for (const Request& request : requests) {
    NEFFLD_ASSIGN(const DeviceMemory memory, calls.allocate(request));
    list.add(memory);
  }
  return {};
}

Result<void> check_pages(const Plan& plan, const Addresses& addresses) {
  constexpr std::uint64_t backing_align = 4096;
  for (std::size_t k = 0; k < plan.kbins.size(); ++k) {
    const std::uint32_t core = plan.kbins[k].core;
    for (std::uint32_t i = 0; i < plan.scratchpad.cores[k].pages; ++i) {
      const auto& pages = addresses.scratchpad_pages.at(core);
      if (pages[i] % backing_align != 0) {
        return fail(Status::failure, ErrorClass::device, {.path = "scratchpad"},
                    fmt::format("Page needs to be 4K aligned, the driver put page {} of core {} at "
                                "0x{:x}",
                                i, core, pages[i]));
      }
      if (!plan.scratchpad.contiguous || i == 0) continue;
      const std::uint64_t expected = pages[i - 1] - contiguous_page_bytes;
      if (pages[i] == expected) continue;
      return fail(Status::resource, ErrorClass::resource, {.path = "scratchpad"},
                  fmt::format("Could not grow contiguous scratchpad beyond {} bytes: page {} of "
                              "core {} is at 0x{:x}, expected 0x{:x}",
                              i * contiguous_page_bytes, i, core, pages[i], expected));
    }
  }
  return {};
}

SectionSink device_sink(DeviceCalls& calls, const std::vector<DeviceMemory>& by_request,
                        const Plan& plan, std::function<void(std::uint64_t)> copied) {
  return [&calls, &by_request, &plan,
          copied = std::move(copied)](const SectionContent& content) -> Result<void> {
    const std::uint64_t handle = by_request[content.request].handle;
    Result<void> result;
    if (content.descriptors) {
      const SectionKind kind = plan.requests[content.request].kind;
      const bool tx = kind == SectionKind::ring_tx || kind == SectionKind::act_tx_ring ||
                      kind == SectionKind::dve_tx_ring;
      result = calls.copy_descriptors(handle, content.bytes, tx);
    } else {
      result = calls.copy_in(handle, 0, content.bytes);
    }
    if (!result) {
      result.error().where.member = plan.requests[content.request].owner;
      return result;
    }
    if (copied) copied(content.bytes.size());
    return {};
  };
}

SectionSink compare_sink(DeviceCalls& calls, const std::vector<DeviceMemory>& by_request,
                         const Plan& plan, std::uint64_t& compared) {
  return [&calls, &by_request, &plan, &compared, buffer = std::vector<std::uint8_t>()](
             const SectionContent& content) mutable -> Result<void> {
    buffer.resize(content.bytes.size());
    if (auto read = calls.copy_out(by_request[content.request].handle, 0, buffer); !read) {
      read.error().where.member = plan.requests[content.request].owner;
      return read;
    }
    const auto difference =
        std::mismatch(content.bytes.begin(), content.bytes.end(), buffer.begin());
    if (difference.first != content.bytes.end()) {
      const auto at = static_cast<std::uint64_t>(difference.first - content.bytes.begin());
      return fail(Status::failure, ErrorClass::check,
                  {.member = plan.requests[content.request].owner, .offset = at},
                  fmt::format("the device holds 0x{:02x}, relocation wrote 0x{:02x}",
                              *difference.second, *difference.first));
    }
    compared += content.bytes.size();
    return {};
  };
}

std::uint64_t planned_content_bytes(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const Request& request : plan.requests) {
    const bool library = request.kind == SectionKind::ucode_libraries ||
                         request.kind == SectionKind::ucode_table;
    if ((library || !request.shared) && request.category != MemCategory::scratchpad_not_shared) {
      bytes += request.size;
    }
  }
  return bytes;
}

std::vector<neuron_dma_queue_init> queue_inits(const KbinPlan& kbin,
                                               const std::vector<DeviceMemory>& by_request,
                                               bool templates) {
  std::vector<neuron_dma_queue_init> inits;
  if (!templates) {
    add_table_ring(kbin, kbin.act, act_engine, by_request, inits);
    add_table_ring(kbin, kbin.dve, dve_engine, by_request, inits);
  }
  for (const RingPlan& ring : kbin.rings) {
    const QueueSetPlan& set = kbin.queue_sets[ring.queue_set];
    if (set.is_template != templates || ring.instance != 0 || !ring.tx_request) continue;
    inits.push_back(
        make_init(kbin, {ring.k, *set.queue_id, ring.allocated, *ring.tx_request, *ring.rx_request},
                  by_request));
  }
  return inits;
}

std::vector<neuron_dma_queue_init> queue_inits(const Plan& plan,
                                               const std::vector<DeviceMemory>& by_request,
                                               bool templates) {
  std::vector<neuron_dma_queue_init> inits;
  for (const KbinPlan& kbin : plan.kbins) {
    const auto own = queue_inits(kbin, by_request, templates);
    inits.insert(inits.end(), own.begin(), own.end());
  }
  return inits;
}

}  // namespace neffld
