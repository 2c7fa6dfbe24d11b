// SPDX-License-Identifier: MIT
#include "execution_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "neffld/disassembler.hpp"
#include "neffld/text.hpp"
#include "neuron_abi/execution.h"

namespace neffld::cli {
namespace {

constexpr std::uint32_t rings_per_queue = 16;
/// Tracks of a core: engines, what engines move themselves, then rings by queue and DMA engine.
constexpr std::uint32_t first_direct_track = 8, first_ring_track = 16;

std::string_view engine_of(std::uint32_t number) {
  return number < engine_count ? engine_name(static_cast<Engine>(number)) : "unknown";
}

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

/// Text of a JSON string: names come from files.
std::string json_text(std::string_view text) {
  JsonLine out;
  out.value(text);
  return std::string(out.text());
}

}  // namespace

ExecutionLog::ExecutionLog(const Plan& plan, std::span<const Kbin> kbins, bool timeline)
    : arch_(plan.arch), timeline_(timeline) {
  for (std::size_t i = 0; i < plan.kbins.size() && i < kbins.size(); ++i) {
    const std::vector<QueueSetPlan>& sets = plan.kbins[i].queue_sets;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      if (!sets[set].queue_id) continue;
      queue_names_[{plan.kbins[i].core, *sets[set].queue_id}] = kbins[i].queue_sets[set].name;
    }
    queue_names_[{plan.kbins[i].core, NEURON_RUNTIME_QUEUE}] = "runtime";
  }
}

// The device calls these in the middle of an execution, which memory of ours must not end.
void ExecutionLog::record(const SimRecordEvent& event) noexcept {
  try {
    add(event);
  } catch (...) {
    incomplete_ = true;
  }
}

void ExecutionLog::transfer(const SimTransferEvent& event) noexcept {
  try {
    add(event);
  } catch (...) {
    incomplete_ = true;
  }
}

void ExecutionLog::add(const SimRecordEvent& event) {
  Sum& sum = work_[{event.core, event.engine, event.opcode}];
  ++sum.count;
  sum.ns += event.end_ns - event.begin_ns;
  if (!timeline_) return;
  events_.push_back(
      {event.begin_ns, event.end_ns, 0, event.core, event.engine, event.slot, 0, event.opcode});
}

void ExecutionLog::add(const SimTransferEvent& event) {
  Sum& sum = moved_[{event.core, event.queue, event.direct}];
  ++sum.count;
  sum.ns += event.end_ns - event.begin_ns;
  sum.bytes += event.bytes;
  if (!timeline_) return;
  const std::uint32_t track = event.direct ? first_direct_track + event.queue
                                           : first_ring_track + event.queue * rings_per_queue +
                                                 event.dma_engine % rings_per_queue;
  if (!events_.empty() && events_.back().core == event.core && events_.back().track == track) {
    Event& last = events_.back();
    last.end = event.end_ns;
    last.bytes += event.bytes;
    ++last.transfers;
    return;
  }
  events_.push_back({event.begin_ns, event.end_ns, event.bytes, event.core, track, 0, 1, 0});
}

std::string ExecutionLog::opcode_name(std::uint32_t opcode) const {
  std::array<std::uint8_t, instruction_bytes> record{};
  record[0] = static_cast<std::uint8_t>(opcode);
  return mnemonic(arch_, record);
}

std::string ExecutionLog::mover_name(const Mover& mover) const {
  if (mover.direct) return fmt::format("{} itself", engine_of(mover.queue));
  const auto found = queue_names_.find({mover.core, mover.queue});
  if (found != queue_names_.end()) return found->second;
  return fmt::format("queue {}", mover.queue);
}

std::string ExecutionLog::track_name(std::uint32_t core, std::uint32_t track) const {
  if (track < first_direct_track) return std::string(engine_of(track));
  if (track < first_ring_track) return mover_name({core, track - first_direct_track, true});
  const std::uint32_t ring = track - first_ring_track;
  return fmt::format("{} ring {}", mover_name({core, ring / rings_per_queue, false}),
                     ring % rings_per_queue);
}

std::string ExecutionLog::table() const {
  std::string text = "\n  core  engine  opcode                        records      time\n";
  for (const auto& [work, sum] : work_) {
    text +=
        fmt::format("  {:>4}  {:<6}  {:<26} {:>10} {:>8.3f}s\n", work.core, engine_of(work.engine),
                    opcode_name(work.opcode), sum.count, seconds(sum.ns));
  }
  if (moved_.empty()) return text;
  text += "\n  core  moved by                    transfers       bytes      time\n";
  for (const auto& [mover, sum] : moved_) {
    text += fmt::format("  {:>4}  {:<26} {:>10}  {:>10} {:>8.3f}s\n", mover.core,
                        one_line(mover_name(mover)), sum.count, human_bytes(sum.bytes),
                        seconds(sum.ns));
  }
  return text;
}

void ExecutionLog::to_json(JsonOut& out) const {
  out.array("instructions", work_, [&](const auto& row) {
    const auto& work = row.first;  // not a binding, which clang 14 does not capture
    const auto& sum = row.second;
    out.object([&] {
      out.field("core", work.core);
      out.field("engine", engine_of(work.engine));
      out.field("opcode", opcode_name(work.opcode));
      out.field("records", sum.count);
      out.field("seconds", seconds(sum.ns));
    });
  });
  out.array("transfers", moved_, [&](const auto& row) {
    const auto& mover = row.first;
    const auto& sum = row.second;
    out.object([&] {
      out.field("core", mover.core);
      out.field("by", mover_name(mover));
      out.field("transfers", sum.count);
      out.field("bytes", sum.bytes);
      out.field("seconds", seconds(sum.ns));
    });
  });
}

std::string ExecutionLog::trace_events() const {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  auto out = std::back_inserter(text);
  std::set<std::pair<std::uint32_t, std::uint32_t>> tracks;
  std::uint64_t start = UINT64_MAX;
  for (const Event& event : events_) {
    tracks.emplace(event.core, event.track);
    start = std::min(start, event.begin);
  }
  const char* comma = "\n";
  std::uint32_t named_core = UINT32_MAX;
  for (const auto& [core, track] : tracks) {
    if (core != named_core) {
      fmt::format_to(out,
                     "{}{{\"ph\":\"M\",\"pid\":{},\"name\":\"process_name\",\"args\":{{\"name\":"
                     "\"core {}\"}}}}",
                     comma, core, core);
      named_core = core;
      comma = ",\n";
    }
    fmt::format_to(out,
                   ",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"thread_name\",\"args\":{{"
                   "\"name\":{}}}}},\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":"
                   "\"thread_sort_index\",\"args\":{{\"sort_index\":{}}}}}",
                   core, track, json_text(track_name(core, track)), core, track, track);
  }
  std::array<std::string, 256> names;
  for (std::uint32_t opcode = 0; opcode < names.size(); ++opcode) {
    names[opcode] = json_text(opcode_name(opcode));
  }
  const auto microseconds = [](std::uint64_t ns) {
    return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
  };
  for (const Event& event : events_) {
    fmt::format_to(out, "{}{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},", comma,
                   event.core, event.track, microseconds(event.begin - start),
                   microseconds(event.end - event.begin));
    if (event.transfers == 0) {
      fmt::format_to(out, "\"name\":{},\"args\":{{\"image_slot\":{}}}}}", names[event.opcode],
                     event.slot);
    } else {
      fmt::format_to(out, "\"name\":\"transfer\",\"args\":{{\"transfers\":{},\"bytes\":{}}}}}",
                     event.transfers, event.bytes);
    }
    comma = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace neffld::cli
