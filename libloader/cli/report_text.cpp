// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <iterator>

#include "model_facts.hpp"
#include "neffld/text.hpp"
#include "report.hpp"

namespace neffld::cli {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string counts_line(const std::map<std::string, std::uint64_t>& counts) {
  std::string line;
  for (const auto& [name, count] : counts) {
    fmt::format_to(std::back_inserter(line), "{}{} {}", line.empty() ? "" : ", ", count, name);
  }
  return line.empty() ? "none" : line;
}

void print_container(Out out, const ParsedModel& parsed) {
  const NeffHeader& header = parsed.header;
  fmt::format_to(out, "  uuid        {}\n", header_uuid(header));
  fmt::format_to(out, "  format      NEFF {}.{}, packager {}, features 0x{:x}, vnc size {}\n",
                 std::uint64_t{header.neff_version_major}, std::uint64_t{header.neff_version_minor},
                 std::uint64_t{header.pkg_version}, std::uint64_t{header.feature_bits},
                 std::uint32_t{header.vnc_size});
  if (!parsed.container) return;
  const ContainerFacts& facts = parsed.container->facts();
  fmt::format_to(out, "  payload     {} stored, {} inflated, {} members, {}, hash {}\n",
                 human_bytes(facts.stored_bytes), human_bytes(facts.inflated_bytes),
                 parsed.container->members().size(), facts.tar_dialect,
                 hash_form_name(facts.hash_form));
}

void print_tensors(Out out, const char* label, const std::map<std::string, TensorInfo>& tensors) {
  for (const auto& [name, tensor] : tensors) {
    fmt::format_to(out, "  {:<11} {} {} {}\n", label, one_line(name),
                   tensor_text(tensor.dtype, tensor.shape), human_bytes(tensor.size));
  }
}

void print_times(Out out, const std::vector<StageTime>& times) {
  fmt::format_to(out, "\n  stage       time         bytes\n");
  for (const StageTime& time : times) {
    fmt::format_to(out, "  {:<10} {:8.3f} ms {:>12}\n", stage_name(time.stage), time.seconds * 1e3,
                   human_bytes(time.bytes));
  }
}

void print_variables(Out out, const Kbin& kbin, const KbinPlan& plan, const LoadedModel* loaded) {
  fmt::format_to(out, "\n    id  kind          address             size  variable\n");
  for (const Variable& variable : kbin.variables) {
    std::string address = "-";
    if (loaded) {
      if (const auto pa = variable_address(kbin, plan, loaded->addresses, variable.var_id)) {
        address = fmt::format("0x{:x}", *pa);
      } else if (variable.kind == VarKind::input || variable.kind == VarKind::output) {
        address = "(at execution)";
      }
    }
    fmt::format_to(out, "  {:>4}  {:<12} {:>15} {:>11}  {}\n", variable.var_id,
                   var_kind_name(variable.kind), address,
                   human_bytes(variable_size(kbin, variable)), one_line(variable.name));
  }
}

void print_queues(Out out, const Kbin& kbin, const KbinPlan& plan) {
  if (kbin.queue_sets.empty()) return;
  fmt::format_to(out, "\n  queue set            type     owner  rings  hw queue  descriptors\n");
  for (std::size_t i = 0; i < kbin.queue_sets.size(); ++i) {
    const QueueSet& queue = kbin.queue_sets[i];
    const QueueSetPlan& set = plan.queue_sets[i];
    std::uint64_t descriptors = 0;
    for (std::uint32_t r = 0; r < set.ring_count; ++r) {
      descriptors += plan.rings[set.first_ring + r].used;
    }
    fmt::format_to(out, "  {:<20} {:<8} {:<6} {:>5} {:>9} {:>12}{}\n", one_line(queue.name),
                   queue.type, engine_name(queue.owner), queue.num_queues,
                   set.queue_id ? fmt::format("{}", *set.queue_id) : "-", descriptors,
                   set.is_template ? "  template until inputs and outputs are bound" : "");
  }
}

void print_instructions(Out out, const KbinPlan& plan, const LoadedModel* loaded) {
  fmt::format_to(out, "\n  engine  slots in  slots out  image\n");
  for (const Engine engine : all_engines) {
    const StreamPlan& stream = plan.streams[static_cast<std::size_t>(engine)];
    fmt::format_to(
        out, "  {:<6} {:>9} {:>10}  {}\n", engine_name(engine), stream.slots_in, stream.slots_out,
        loaded ? fmt::format("0x{:x}", loaded->addresses.sections[stream.request]) : "-");
  }
}

void print_subgraph(Out out, const ReportItem& item, std::uint32_t i) {
  const Kbin& kbin = item.parsed->kbins[i];
  const KbinPlan* plan = item.plan ? &item.plan->kbins[i] : nullptr;
  const SubgraphFacts facts = subgraph_facts(kbin, plan);
  fmt::format_to(out, "\nsubgraph {}", one_line(kbin.name));
  if (plan) fmt::format_to(out, " on core {}, HBM {}", plan->core, plan->hbm);
  fmt::format_to(out, "\n  variables   {}\n", counts_line(facts.variables));
  fmt::format_to(out, "  constants   {}, scratchpad {}\n", human_bytes(facts.constants_bytes),
                 human_bytes(facts.scratchpad_bytes));
  fmt::format_to(out, "  slots       pe {}, act {}, pool {}, dve {}, sp {}\n", facts.slots[0],
                 facts.slots[1], facts.slots[2], facts.slots[3], facts.slots[4]);
  if (!plan) return;
  const DmaTotals& dma = plan->totals;
  fmt::format_to(out, "  dma         {} blocks, {} descriptors, {} elements, {}\n", dma.blocks,
                 dma.descriptors, dma.elements, human_bytes(dma.bytes));
  fmt::format_to(out, "  dge         {} operations, {} elements, {}\n", dma.dge_operations,
                 dma.dge_elements, human_bytes(dma.dge_bytes));
  print_variables(out, kbin, *plan, item.loaded);
  print_queues(out, kbin, *plan);
  print_instructions(out, *plan, item.loaded);
  if (!item.loaded) return;
  fmt::format_to(out, "\n  relocations ");
  for (std::size_t f = 0; f < reloc_form_count; ++f) {
    const auto form = static_cast<RelocForm>(f);
    if (const std::uint64_t count = item.loaded->ledger.count_of(i, form)) {
      fmt::format_to(out, " {} {}", reloc_form_name(form), count);
    }
  }
  fmt::format_to(out, "\n");
}

void print_allocations(Out out, const LoadedModel& loaded) {
  fmt::format_to(out, "\nallocations\n   seq  address               size  cat  core  owner\n");
  std::uint64_t total = 0;
  std::array<std::uint64_t, mem_usage_count> by_usage{};
  for (const AllocationInfo& info : loaded.allocations) {
    by_usage[static_cast<std::size_t>(info.usage)] += info.size;
    fmt::format_to(out, "  {:>4}  0x{:<14x} {:>11}  {:>3}  {:>4}  {}\n", info.seq, info.pa,
                   human_bytes(info.size), info.category, info.core, one_line(info.owner));
    total += info.size;
  }
  fmt::format_to(out, "  {} allocations, {} of device memory\n", loaded.allocations.size(),
                 human_bytes(total));
  for (std::size_t i = 0; i < mem_usage_count; ++i) {
    if (by_usage[i] == 0) continue;
    fmt::format_to(out, "    {:<20} {:>11}\n", mem_usage_name(static_cast<MemUsage>(i)),
                   human_bytes(by_usage[i]));
  }
}

void print_item(Out out, const ReportItem& item) {
  const ParsedModel& parsed = *item.parsed;
  fmt::format_to(out, "{}\n  model       {}\n", one_line(item.file),
                 one_line(header_name(parsed.header)));
  print_container(out, parsed);
  if (!parsed.manifest.kelf_member.empty()) {
    fmt::format_to(out, "  target      {} ({})\n", target_text(parsed.manifest.target),
                   arch_name(parsed.manifest.arch));
    print_tensors(out, "input", parsed.manifest.inputs);
    print_tensors(out, "output", parsed.manifest.outputs);
  }
  for (std::uint32_t i = 0; i < parsed.kbins.size(); ++i) print_subgraph(out, item, i);
  if (item.loaded) print_allocations(out, *item.loaded);
  print_times(out, parsed.times);
  const std::vector<std::string> warnings = model_warnings(item);
  if (!warnings.empty()) fmt::format_to(out, "\n");
  for (const std::string& warning : warnings)
    fmt::format_to(out, "  warning: {}\n", one_line(warning));
  if (item.loaded) {
    fmt::format_to(out, "\n  loaded: NN {}, model {}{}{}\n", item.loaded->h_nn,
                   item.loaded->h_model,
                   item.loaded->queues_initialised ? ", queues initialised" : "",
                   item.loaded->bound ? ", bound" : "");
  }
}

}  // namespace

std::string tensor_text(std::string_view dtype, const std::vector<std::uint64_t>& shape) {
  return fmt::format("{}[{}]", one_line(dtype), fmt::join(shape, ","));
}

std::string report_text(const Report& report) {
  std::string text;
  const Out out = std::back_inserter(text);
  if (!report.device.empty()) {
    fmt::format_to(out, "device {} ({}{})\n\n", report.device, report.architecture,
                   report.simulated ? ", simulated" : "");
  }
  for (const ReportItem& item : report.items) {
    if (&item != report.items.data()) fmt::format_to(out, "\n");
    print_item(out, item);
  }
  return text;
}

std::vector<std::string> model_warnings(const ReportItem& item) {
  std::vector<std::string> all;
  const auto append = [&all](const std::vector<std::string>& some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  if (item.parsed->container) {
    const ContainerFacts& facts = item.parsed->container->facts();
    if (facts.hash_form == HashForm::not_checked) {
      all.emplace_back(
          "the header hash was not verified; gzip CRC and length, tar checksums and sizes were");
    }
    append(facts.warnings);
  }
  append(item.parsed->manifest.warnings);
  for (const Kbin& kbin : item.parsed->kbins) append(kbin.warnings);
  if (item.plan) {
    for (const KbinPlan& kbin : item.plan->kbins) append(kbin.warnings);
  }
  return all;
}

}  // namespace neffld::cli
