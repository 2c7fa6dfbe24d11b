// SPDX-License-Identifier: MIT
#include "model_facts.hpp"

#include "neffld/text.hpp"

namespace neffld::cli {

SubgraphFacts subgraph_facts(const Kbin& kbin, const KbinPlan* plan) {
  SubgraphFacts facts;
  for (const Variable& variable : kbin.variables) {
    ++facts.variables[std::string(var_kind_name(variable.kind))];
    if (variable.kind == VarKind::file) facts.constants_bytes += variable.size;
  }
  for (const QueueSet& queue : kbin.queue_sets) ++facts.queue_sets[queue.type];
  for (std::size_t i = 0; i < engine_count; ++i) facts.slots[i] = kbin.engines[i].slot_count();
  if (__builtin_add_overflow(kbin.local_scratchpad_size, kbin.shared_scratchpad_size,
                             &facts.scratchpad_bytes)) {
    facts.scratchpad_bytes = UINT64_MAX;  // more than any plan accepts
  }
  if (plan) facts.dma = plan->totals;
  return facts;
}

std::string target_text(const std::string& target) {
  return target.empty() ? "none given" : one_line(target);
}

std::uint64_t variable_size(const Kbin& kbin, const Variable& variable) {
  switch (variable.kind) {
    case VarKind::state_buffer:
      return arch_table(kbin.arch).sbuf_aperture;
    case VarKind::dge_table:
      return 8 * std::uint64_t{variable.list.size()};
    default:
      return variable.size;
  }
}

SubgraphFacts& operator+=(SubgraphFacts& sum, const SubgraphFacts& part) {
  for (const auto& [kind, count] : part.variables) sum.variables[kind] += count;
  for (const auto& [type, count] : part.queue_sets) sum.queue_sets[type] += count;
  for (std::size_t i = 0; i < engine_count; ++i) sum.slots[i] += part.slots[i];
  sum.constants_bytes += part.constants_bytes;
  sum.scratchpad_bytes += part.scratchpad_bytes;
  if (!part.dma) return sum;
  if (!sum.dma) sum.dma.emplace();
  sum.dma->blocks += part.dma->blocks;
  sum.dma->descriptors += part.dma->descriptors;
  sum.dma->elements += part.dma->elements;
  sum.dma->bytes += part.dma->bytes;
  sum.dma->casts += part.dma->casts;
  sum.dma->transposes += part.dma->transposes;
  sum.dma->dge_operations += part.dma->dge_operations;
  sum.dma->dge_elements += part.dma->dge_elements;
  sum.dma->dge_bytes += part.dma->dge_bytes;
  return sum;
}

}  // namespace neffld::cli
