// SPDX-License-Identifier: MIT
#include "json_out.hpp"
#include "model_facts.hpp"
#include "report.hpp"
#include "version.hpp"

namespace neffld::cli {
namespace {

constexpr std::uint32_t report_schema = 1;

void write_container(JsonOut& out, const ParsedModel& parsed) {
  const NeffHeader& header = parsed.header;
  out.object("container", [&] {
    if (parsed.container) {
      const ContainerFacts& facts = parsed.container->facts();
      out.field("file_bytes", facts.file_bytes);
      out.field("stored_bytes", facts.stored_bytes);
      out.field("gzip_bytes", facts.gzip_bytes);
      out.field("padding_bytes", facts.padding_bytes);
      out.field("tar_bytes", facts.inflated_bytes);
      out.field("members", std::uint64_t{parsed.container->members().size()});
      out.field("tar_dialect", facts.tar_dialect);
      out.field("hash", hash_form_name(facts.hash_form));
    }
    out.field("pkg_version", std::uint64_t{header.pkg_version});
    out.field("neff_version", fmt::format("{}.{}", std::uint64_t{header.neff_version_major},
                                          std::uint64_t{header.neff_version_minor}));
    out.hex("feature_bits", header.feature_bits);
    out.strings("features", feature_names(header.feature_bits));
    out.field("vnc_size", std::uint32_t{header.vnc_size});
  });
}

void write_tensors(JsonOut& out, std::string_view key,
                   const std::map<std::string, TensorInfo>& tensors) {
  out.array(key, tensors, [&](const auto& entry) {
    out.object([&] {
      out.field("name", entry.first);
      out.field("dtype", entry.second.dtype);
      out.array("shape", entry.second.shape, [&](std::uint64_t dim) { out.value(dim); });
      out.field("size", entry.second.size);
    });
  });
}

void write_graph(JsonOut& out, const Manifest& manifest) {
  out.object("graph", [&] {
    out.field("kelf", manifest.kelf_member);
    out.field("target", manifest.target);
    out.field("arch", arch_name(manifest.arch));
    write_tensors(out, "inputs", manifest.inputs);
    write_tensors(out, "outputs", manifest.outputs);
    out.field("mac_count", manifest.mac_count);
  });
}

void write_dma(JsonOut& out, const DmaTotals& dma) {
  out.object("dma", [&] {
    out.field("blocks", dma.blocks);
    out.field("descriptors", dma.descriptors);
    out.field("elements", dma.elements);
    out.field("bytes", dma.bytes);
    out.field("casts", dma.casts);
    out.field("transposes", dma.transposes);
  });
  out.object("dge", [&] {
    out.field("operations", dma.dge_operations);
    out.field("elements", dma.dge_elements);
    out.field("bytes", dma.dge_bytes);
  });
}

void write_facts(JsonOut& out, const SubgraphFacts& facts) {
  if (facts.dma) write_dma(out, *facts.dma);
  out.field("constants_bytes", facts.constants_bytes);
  out.field("scratchpad_bytes", facts.scratchpad_bytes);
}

void write_variables(JsonOut& out, const Kbin& kbin, const KbinPlan* plan,
                     const LoadedModel* loaded) {
  out.array("variables", kbin.variables, [&](const Variable& variable) {
    out.object([&] {
      out.field("var_id", variable.var_id);
      out.field("name", variable.name);
      out.field("kind", var_kind_name(variable.kind));
      std::optional<std::uint64_t> address;
      if (loaded) address = variable_address(kbin, *plan, loaded->addresses, variable.var_id);
      if (address) {
        out.hex("pa", *address);
      } else {
        out.null("pa");
      }
      out.field("size", variable_size(kbin, variable));
    });
  });
}

void write_queue_sets(JsonOut& out, const Kbin& kbin, const KbinPlan& plan) {
  std::vector<std::uint64_t> blocks(kbin.queue_sets.size());
  for (const DmaBlock& block : kbin.blocks) ++blocks[block.queue_set];
  std::size_t i = 0;
  out.array("queue_sets", kbin.queue_sets, [&](const QueueSet& queue) {
    out.object([&] {
      out.field("name", queue.name);
      out.field("type", queue.type);
      out.field("owner", engine_name(queue.owner));
      if (plan.queue_sets[i].queue_id) {
        out.field("queue_id", *plan.queue_sets[i].queue_id);
      } else {
        out.null("queue_id");
      }
      out.field("num_queues", queue.num_queues);
      out.field("blocks", blocks[i]);
      out.field("template", plan.queue_sets[i].is_template);
      out.field("dynamic", queue.dynamic);
    });
    ++i;
  });
}

void write_section_address(JsonOut& out, const LoadedModel* loaded,
                           std::optional<std::uint32_t> request) {
  if (loaded && request && *request < loaded->addresses.sections.size()) {
    out.hex("pa", loaded->addresses.sections[*request]);
  } else {
    out.null("pa");
  }
}

void write_instructions(JsonOut& out, const KbinPlan& plan, const LoadedModel* loaded) {
  out.array("instructions", all_engines, [&](Engine engine) {
    const StreamPlan& stream = plan.streams[static_cast<std::size_t>(engine)];
    out.object([&] {
      out.field("engine", engine_name(engine));
      write_section_address(out, loaded, stream.request);
      out.field("slots_in", stream.slots_in);
      out.field("slots_out", stream.slots_out);
    });
  });
}

void write_ring(JsonOut& out, const LoadedModel* loaded, std::string_view queue,
                const RingPlan& ring) {
  for (const bool tx : {true, false}) {
    out.object([&] {
      out.field("queue", queue);
      out.field("instance", ring.instance);
      out.field("k", ring.k);
      out.field("side", tx ? "tx" : "rx");
      write_section_address(out, loaded, tx ? ring.tx_request : ring.rx_request);
      out.field("allocated", ring.allocated);
      out.field("used", ring.used);
    });
  }
}

/// The internal rings have no queue set; they are named after the tables they load.
void write_table_ring(JsonOut& out, const Plan& plan, const LoadedModel* loaded,
                      const std::optional<TableLoadPlan>& load, std::string_view queue) {
  if (!load) return;
  RingPlan ring;
  ring.used = load->used;
  ring.allocated = static_cast<std::uint32_t>(plan.requests[load->tx_request].size / 16);
  ring.tx_request = load->tx_request;
  ring.rx_request = load->rx_request;
  write_ring(out, loaded, queue, ring);
}

void write_rings(JsonOut& out, const Kbin& kbin, const Plan& plan, const KbinPlan& kbin_plan,
                 const LoadedModel* loaded) {
  const std::array<int, 1> once = {0};
  out.array("rings", once, [&](int) {
    write_table_ring(out, plan, loaded, kbin_plan.act, "qActTable");
    write_table_ring(out, plan, loaded, kbin_plan.dve, "qDveTable");
    for (const RingPlan& ring : kbin_plan.rings) {
      write_ring(out, loaded, kbin.queue_sets[ring.queue_set].name, ring);
    }
  });
}

void write_relocations(JsonOut& out, const Ledger& ledger, std::uint32_t kbin) {
  out.object("relocations", [&] {
    for (std::size_t i = 0; i < reloc_form_count; ++i) {
      const auto form = static_cast<RelocForm>(i);
      if (const std::uint64_t count = ledger.count_of(kbin, form)) {
        out.field(reloc_form_name(form), count);
      }
    }
  });
}

void write_subgraph(JsonOut& out, const ReportItem& item, std::uint32_t i) {
  const Kbin& kbin = item.parsed->kbins[i];
  const KbinPlan* plan = item.plan ? &item.plan->kbins[i] : nullptr;
  out.object([&] {
    out.field("name", kbin.name);
    if (plan) {
      out.field("core", plan->core);
      out.field("hbm", plan->hbm);
    }
    write_variables(out, kbin, plan, item.loaded);
    if (plan) {
      write_queue_sets(out, kbin, *plan);
      write_instructions(out, *plan, item.loaded);
      write_rings(out, kbin, *item.plan, *plan, item.loaded);
    }
    write_facts(out, subgraph_facts(kbin, plan));
    if (item.loaded) write_relocations(out, item.loaded->ledger, i);
  });
}

void write_totals(JsonOut& out, const ReportItem& item) {
  SubgraphFacts sum;
  for (std::size_t i = 0; i < item.parsed->kbins.size(); ++i) {
    sum += subgraph_facts(item.parsed->kbins[i], item.plan ? &item.plan->kbins[i] : nullptr);
  }
  out.object("totals", [&] {
    const auto counts = [&](std::string_view key, const auto& map) {
      out.object(key, [&] {
        for (const auto& [name, count] : map) out.field(name, count);
      });
    };
    counts("variables", sum.variables);
    counts("queue_sets", sum.queue_sets);
    out.object("slots", [&] {
      for (const Engine engine : all_engines) {
        out.field(engine_name(engine), sum.slots[static_cast<std::size_t>(engine)]);
      }
    });
    write_facts(out, sum);
  });
}

void write_allocations(JsonOut& out, const LoadedModel& loaded) {
  out.array("allocations", loaded.allocations, [&](const AllocationInfo& info) {
    out.object([&] {
      out.field("seq", info.seq);
      out.hex("pa", info.pa);
      out.field("size", info.size);
      out.field("requested", info.requested);
      out.field("align", info.align);
      out.field("category", info.category);
      out.field("usage", mem_usage_name(info.usage));
      out.field("hbm", info.hbm);
      out.field("core", info.core);
      out.field("owner", info.owner);
    });
  });
}

void write_model(JsonOut& out, const ReportItem& item) {
  const ParsedModel& parsed = *item.parsed;
  out.object([&] {
    out.field("file", item.file);
    out.field("name", header_name(parsed.header));
    out.field("uuid", header_uuid(parsed.header));
    if (item.loaded) {
      out.object("handles", [&] {
        out.field("h_nn", item.loaded->h_nn);
        out.field("h_model", item.loaded->h_model);
      });
      out.field("queues_initialised", item.loaded->queues_initialised);
      out.field("bound", item.loaded->bound);
    }
    write_container(out, parsed);
    if (!parsed.manifest.kelf_member.empty()) write_graph(out, parsed.manifest);
    out.array("stages", parsed.times, [&](const StageTime& time) {
      out.object([&] {
        out.field("name", stage_name(time.stage));
        out.field("seconds", time.seconds);
        out.field("bytes", time.bytes);
      });
    });
    if (!parsed.kbins.empty()) {
      std::uint32_t i = 0;
      out.array("subgraphs", parsed.kbins, [&](const Kbin&) { write_subgraph(out, item, i++); });
      write_totals(out, item);
    }
    if (item.loaded) write_allocations(out, *item.loaded);
    out.strings("warnings", model_warnings(item));
  });
}

}  // namespace

std::string report_json(const Report& report) {
  JsonOut out;
  out.indent(1);
  out.object([&] {
    out.field("schema", report_schema);
    out.field("neffld", version);
    if (!report.device.empty()) {
      out.object("device", [&] {
        out.field("name", report.device);
        out.field("architecture", report.architecture);
        out.field("simulated", report.simulated);
        out.field("ioctls", report.ioctls);
      });
    }
    out.array("models", report.items, [&](const ReportItem& item) { write_model(out, item); });
  });
  return std::string(out.text()) + "\n";
}

}  // namespace neffld::cli
