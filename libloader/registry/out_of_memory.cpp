// SPDX-License-Identifier: MIT
#include "out_of_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "neffld/memory.hpp"

namespace neffld {
namespace {

/// One line of the memory table: a model on a core, or everybody else.
struct Row {
  std::string core, owner;
  CoreUsage usage{};
  std::uint64_t other = 0;  ///< bytes whose use is not known
};

std::uint64_t total_of(const Row& row) {
  std::uint64_t total = row.other;
  for (const UsageTotals& usage : row.usage) total += usage.given;
  return total;
}

/// Rows of one model's allocations on an HBM, one a core.
template <class Allocation, class Facts>
void add_rows(std::vector<Row>& rows, const std::string& owner,
              std::span<const Allocation> allocations, Facts facts) {
  std::map<std::uint32_t, Row> by_core;
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    const auto [here, core, usage, size] = facts(i);
    if (!here) continue;
    by_core[core].usage[static_cast<std::size_t>(usage)].given += size;
  }
  for (auto& [core, row] : by_core) {
    row.core = fmt::format("{}", core);
    row.owner = owner;
    rows.push_back(std::move(row));
  }
}

std::vector<Row> rows_of(const FullDevice& full, std::uint32_t hbm,
                         std::span<const neuron_mem_chunk_info> chunks) {
  using Facts = std::tuple<bool, std::uint32_t, MemUsage, std::uint64_t>;
  std::vector<Row> rows;
  for (const auto& model : full.models) {
    std::vector<AllocationInfo> own = model->allocations;
    if (const auto kept = full.kept.find(model.get()); kept != full.kept.end()) {
      own.insert(own.end(), kept->second.begin(), kept->second.end());
    }
    const std::span<const AllocationInfo> all(own);
    add_rows(rows, fmt::format("{}", model->h_model), all, [&](std::size_t i) -> Facts {
      return {own[i].hbm == hbm, own[i].core, own[i].usage, own[i].size};
    });
  }
  add_rows(rows, "(loading)", full.allocated, [&](std::size_t i) -> Facts {
    const Request& request = full.plan.requests[full.first + i];
    return {request.hbm == hbm, request.core, request.usage, full.allocated[i].size};
  });
  std::uint64_t known = 0, all = 0;
  for (const Row& row : rows) known += total_of(row);
  for (const neuron_mem_chunk_info& chunk : chunks) all += chunk.size;
  if (all > known) rows.push_back({"-", "(driver and others)", {}, all - known});
  return rows;
}

std::string table_of(const std::vector<Row>& rows) {
  std::string text = fmt::format("{:>4} {:>20} {:>12}", "NC", "NEFF", "Total");
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < mem_usage_count; ++i) {
    fmt::format_to(out, " {:>17}", mem_usage_name(static_cast<MemUsage>(i)));
  }
  text += '\n';
  for (const Row& row : rows) {
    fmt::format_to(out, "{:>4} {:>20} {:>12}", row.core, row.owner, report_size(total_of(row)));
    for (const UsageTotals& usage : row.usage) {
      fmt::format_to(out, " {:>17}", report_size(usage.given));
    }
    text += '\n';
  }
  return text;
}

std::string cores_of(const ArchTable& arch, std::uint32_t hbm) {
  std::string text;
  for (std::uint32_t core = 0; core < arch.cores_per_device; ++core) {
    if (default_hbm(arch, core) != hbm) continue;
    text += fmt::format("{}NC {}", text.empty() ? "" : " and ", core);
  }
  return text;
}

/// The memory of the chunks' HBM with or without what this load has taken so far. Only that HBM is
/// known: a model's cores share one.
Result<MemoryMap> memory_of(const FullDevice& full, std::span<const neuron_mem_chunk_info> chunks,
                            bool with_this_load) {
  std::set<std::uint64_t> own;
  for (const DeviceMemory& memory : full.allocated) own.insert(memory.pa);
  std::vector<Region> taken, contiguous;
  for (const neuron_mem_chunk_info& chunk : chunks) {
    if (!with_this_load && own.contains(chunk.pa)) continue;
    const bool grows_down = chunk.mem_type == NEURON_MEM_CONTIGUOUS_SCRATCHPAD_DEVICE;
    (grows_down ? contiguous : taken).push_back({chunk.pa, chunk.size});
  }
  const std::uint64_t hbm_bytes =
      full.hbm_bytes ? full.hbm_bytes : arch_table(full.plan.arch).hbm_size;
  return MemoryMap::in_use(full.plan.arch, std::span(&hbm_bytes, 1), taken, contiguous);
}

/// "misses by", and what would help.
std::string remedies(const FullDevice& full, const MemoryMap& before) {
  MemoryMap map = before.copy();
  const MemoryForecast predicted = forecast(map, full.plan, full.first);
  std::string text;
  if (predicted.miss) {
    text = predicted.miss->short_by
               ? fmt::format("the load misses by {} bytes", *predicted.miss->short_by)
               : std::string("HBMs of any size would not do");
  }
  const auto ways = full.first == 0 ? ways_to_fit(full.parsed.kbins, full.options, before)
                                    : std::vector<std::string>();
  for (std::size_t i = 0; i < ways.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "; it would fit with " : " or with ", ways[i]);
  }
  return text;
}

std::string details_of(const FullDevice& full, const Request& request, const std::string& failure,
                       std::span<const neuron_mem_chunk_info> chunks) {
  const ArchTable& arch = arch_table(full.plan.arch);
  std::string text;
  auto out = std::back_inserter(text);
  if (request.kind == SectionKind::scratchpad_page) {
    text += "Failed to allocate virtual scratchpad!\n";
    if (full.plan.scratchpad.contiguous) {
      fmt::format_to(out, "Could not grow contiguous scratchpad beyond {} bytes\n",
                     request.index * contiguous_page_bytes);
    }
  }
  fmt::format_to(out, "LNC size is {}. Neuron Cores using this HBM: {}\n",
                 full.options.logical_core_size ? full.options.logical_core_size
                                                : arch.default_logical_core_size,
                 cores_of(arch, request.hbm));
  fmt::format_to(out, "{}\n", failure);
  if (request.align) {
    text +=
        "Aligned allocations may fail even if HBM has space for the actual size requested, due "
        "to running out of alignment boundaries\n";
  }
  fmt::format_to(out, "Displaying Current Memory Utilization:\n{}",
                 table_of(rows_of(full, request.hbm, chunks)));
  text += "NEFF id to name mapping:\n";
  for (const auto& model : full.models) {
    fmt::format_to(out, "  {}: {}\n", model->h_model, header_name(model->parsed.header));
  }
  fmt::format_to(out, "  (loading): {}\n", header_name(full.parsed.header));
  return text;
}

}  // namespace

Error explain_out_of_memory(Error error, const FullDevice& full, std::string& report) {
  const std::size_t failed = full.first + full.allocated.size();
  if (error.error_class != ErrorClass::resource || failed >= full.plan.requests.size()) {
    return error;
  }
  const Request& request = full.plan.requests[failed];
  const auto chunks = full.calls.chunks(request.hbm);
  if (!chunks) return error;  // a driver that does not tell: the sentence stands alone
  const auto now = memory_of(full, *chunks, true);
  const auto before = memory_of(full, *chunks, false);
  if (!now || !before) return error;
  report = details_of(full, request, error.text, *chunks);
  const MemoryMap::Hbm hbm = now->hbm(request.hbm);
  const std::string help = remedies(full, *before);
  error.text += fmt::format(
      "; HBM {} has {} of {} bytes free, the largest free block is {} bytes{}{}", request.hbm,
      hbm.free, hbm.size, hbm.largest_block, help.empty() ? "" : "; ", help);
  return error;
}

}  // namespace neffld
