// SPDX-License-Identifier: MIT
// What every core has once, before its first model: exec rings and request buffer (decision 34).
#include "builders.hpp"
#include "core_state.hpp"

namespace neffld {
namespace {

constexpr std::uint32_t exec_ring_descriptors = 8192;
constexpr std::uint64_t request_buffer_bytes = 64;

}  // namespace

CoreState state_of(const PlanOptions& options, std::uint32_t core) {
  return core < options.cores.size() ? options.cores[core] : CoreState{};
}

void add_shared(Plan& plan, std::uint32_t kbin, SectionKind kind, std::uint32_t index,
                std::uint64_t size, std::uint64_t align, MemUsage usage, std::string owner) {
  const KbinPlan& on = plan.kbins[kbin];
  plan.requests.push_back({size, align, on.hbm, on.core, usage, mem_category(usage), kind, kbin,
                           index, std::move(owner), true});
}

Result<void> plan_exec_queues(Plan& plan, const PlanOptions& options) {
  constexpr std::uint64_t ring_bytes = 16ull * exec_ring_descriptors;
  for (std::uint32_t i = 0; i < plan.kbins.size(); ++i) {
    if (state_of(options, plan.kbins[i].core).has_exec_queue) continue;
    add_shared(plan, i, SectionKind::exec_tx_ring, 0, ring_bytes, 256, MemUsage::rings_runtime,
               "exec tx ring");
    add_shared(plan, i, SectionKind::exec_rx_ring, 0, ring_bytes, 256, MemUsage::rings_runtime,
               "exec rx ring");
    add_shared(plan, i, SectionKind::request_buffer, 0, request_buffer_bytes, 64, MemUsage::runtime,
               "request buffer");
  }
  return {};
}

}  // namespace neffld
