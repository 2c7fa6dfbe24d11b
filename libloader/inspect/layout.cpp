// SPDX-License-Identifier: MIT
// From a loaded model to its layout.
#include "neffld/layout.hpp"

#include <algorithm>

#include "neffld/session.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t slot_bytes = 64;

struct KindName {
  SectionKind kind;
  std::string_view name;
};
constexpr KindName kind_names[] = {
    {SectionKind::exec_tx_ring, "exec_tx_ring"},
    {SectionKind::exec_rx_ring, "exec_rx_ring"},
    {SectionKind::request_buffer, "request_buffer"},
    {SectionKind::scratchpad_page, "scratchpad_page"},
    {SectionKind::variable, "variable"},
    {SectionKind::constant_block, "constant_block"},
    {SectionKind::pointer_cells, "pointer_cells"},
    {SectionKind::table, "table"},
    {SectionKind::act_bucket, "act_bucket"},
    {SectionKind::act_control, "act_control"},
    {SectionKind::act_profiles, "act_profiles"},
    {SectionKind::act_directory, "act_directory"},
    {SectionKind::act_tx_ring, "act_tx_ring"},
    {SectionKind::act_rx_ring, "act_rx_ring"},
    {SectionKind::dve_opcode, "dve_opcode"},
    {SectionKind::dve_control_fast, "dve_control_fast"},
    {SectionKind::dve_control_slow, "dve_control_slow"},
    {SectionKind::dve_datapath, "dve_datapath"},
    {SectionKind::dve_param_ram, "dve_param_ram"},
    {SectionKind::dve_tx_ring, "dve_tx_ring"},
    {SectionKind::dve_rx_ring, "dve_rx_ring"},
    {SectionKind::ucode_libraries, "ucode_libraries"},
    {SectionKind::ucode_table, "ucode_table"},
    {SectionKind::instructions, "instructions"},
    {SectionKind::ring_tx, "ring_tx"},
    {SectionKind::ring_rx, "ring_rx"},
};

/// Walks the rows of one section of an IP map (spec 05 A8) and writes down where each image slot
/// comes from. Returns the source slots passed.
class RunBuilder {
 public:
  explicit RunBuilder(std::vector<Layout::Run>& runs) : runs_(runs) {}

  void walk(const IpMap& map, IpSection section, std::uint64_t offset, std::uint64_t bytes) {
    image_ = static_cast<std::uint32_t>(offset / slot_bytes);
    const auto first = image_;
    const auto end = static_cast<std::uint32_t>((offset + bytes) / slot_bytes);
    for (const IpRow& row : map.rows) {
      if (row.section != section) continue;
      const auto at = first + static_cast<std::uint32_t>(row.offset / slot_bytes);
      verbatim(std::min(at, end));
      switch (row.change) {
        case IpChange::insert:  // one source record became 1 + count
          add(row.count + 1, 0);
          ++source_;
          break;
        case IpChange::remove:
          source_ += row.count;
          break;
        case IpChange::modify:
          break;  // one to one, like a copy
      }
    }
    verbatim(end);
  }

 private:
  void verbatim(std::uint32_t end) {
    if (end <= image_) return;
    const std::uint32_t count = end - image_;
    add(count, 1);
    source_ += count;
  }
  void add(std::uint32_t count, std::uint32_t step) {
    runs_.push_back({image_, count, source_, step});
    image_ += count;
  }

  std::vector<Layout::Run>& runs_;
  std::uint32_t image_ = 0, source_ = 0;
};

Result<Layout::Stream> stream_of(const LoadedModel& model, std::uint32_t kbin, Engine engine) {
  const StreamPlan& planned = model.plan.kbins[kbin].streams[static_cast<std::size_t>(engine)];
  Layout::Stream stream;
  stream.slots_in = static_cast<std::uint32_t>(planned.slots_in);
  stream.slots_out = static_cast<std::uint32_t>(planned.slots_out);
  stream.section = planned.request;
  NEFFLD_ASSIGN(const IpMap map, build_ip_map(model.parsed.kbins, model.plan, kbin, engine));
  RunBuilder runs(stream.runs);
  runs.walk(map, IpSection::main, map.main_offset, map.main_bytes);
  runs.walk(map, IpSection::function, map.function_offset, map.function_bytes);
  return stream;
}

Layout::Variable variable_of(const LoadedModel& model, std::uint32_t kbin,
                             const Variable& variable) {
  Layout::Variable out{variable.name, variable.kind, variable.size, std::nullopt, variable.list};
  out.pa = variable_address(model.parsed.kbins[kbin], model.plan.kbins[kbin], model.addresses,
                            variable.var_id);
  if (variable.kind == VarKind::state_buffer) {
    out.size = arch_table(model.plan.arch).sbuf_aperture;
  } else if (variable.kind == VarKind::dge_table || variable.kind == VarKind::list) {
    out.size = 8 * variable.list.size();
  } else if (variable.kind == VarKind::pointer) {
    out.size = 8;
  }
  return out;
}

Result<Layout::Subgraph> subgraph_of(const LoadedModel& model, std::uint32_t number) {
  const Kbin& kbin = model.parsed.kbins[number];
  const KbinPlan& planned = model.plan.kbins[number];
  Layout::Subgraph out;
  out.name = kbin.name;
  out.core = planned.core;
  for (const Variable& variable : kbin.variables) {
    out.variables.push_back(variable_of(model, number, variable));
  }
  for (std::size_t i = 0; i < kbin.queue_sets.size(); ++i) {
    const QueueSet& queue = kbin.queue_sets[i];
    const QueueSetPlan& set = planned.queue_sets[i];
    out.queues.push_back(
        {queue.name, queue.owner, set.queue_id, set.is_template, queue.semaphores});
  }
  for (const RingPlan& ring : planned.rings) {
    out.rings.push_back({ring.queue_set, ring.instance, ring.k, ring.used, ring.allocated,
                         ring.tx_request, ring.rx_request});
  }
  for (const Engine engine : all_engines) {
    NEFFLD_ASSIGN(out.streams[static_cast<std::size_t>(engine)], stream_of(model, number, engine));
  }
  return out;
}

}  // namespace

std::string_view section_kind_name(SectionKind kind) {
  for (const KindName& entry : kind_names) {
    if (entry.kind == kind) return entry.name;
  }
  return "unknown";
}

std::optional<SectionKind> section_kind_of(std::string_view name) {
  for (const KindName& entry : kind_names) {
    if (entry.name == name) return entry.kind;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Layout::subgraph_of_core(std::uint32_t core) const {
  for (std::uint32_t i = 0; i < subgraphs.size(); ++i) {
    if (subgraphs[i].core == core) return i;
  }
  return std::nullopt;
}

Result<Layout> layout_of(const LoadedModel& model) {
  return guarded([&]() -> Result<Layout> {
    Layout layout;
    layout.arch = model.plan.arch;
    layout.name = header_name(model.parsed.header);
    layout.uuid = header_uuid(model.parsed.header);
    for (std::size_t i = 0; i < model.plan.requests.size(); ++i) {
      const Request& request = model.plan.requests[i];
      layout.sections.push_back({request.kind, model.addresses.sections[i], request.size,
                                 request.core, request.kbin, request.index, request.shared,
                                 request.owner});
    }
    for (std::uint32_t i = 0; i < model.parsed.kbins.size(); ++i) {
      NEFFLD_ASSIGN(Layout::Subgraph subgraph, subgraph_of(model, i));
      layout.subgraphs.push_back(std::move(subgraph));
    }
    return layout;
  });
}

std::optional<std::uint32_t> source_slot(const Layout::Stream& stream, std::uint64_t image_slot) {
  const auto after =
      std::upper_bound(stream.runs.begin(), stream.runs.end(), image_slot,
                       [](std::uint64_t slot, const Layout::Run& run) { return slot < run.image; });
  if (after == stream.runs.begin()) return std::nullopt;
  const Layout::Run& run = *std::prev(after);
  if (image_slot - run.image >= run.count) return std::nullopt;
  return run.source + run.step * static_cast<std::uint32_t>(image_slot - run.image);
}

}  // namespace neffld
