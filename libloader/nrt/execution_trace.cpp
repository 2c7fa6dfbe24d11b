// SPDX-License-Identifier: MIT
#include "execution_trace.hpp"

#include <fmt/format.h>

namespace neffld::nrt {
namespace {

constexpr std::string_view type = "nc_exec_running";
constexpr std::uint64_t events_a_span = 2;

void append_event(std::string& text, std::string_view phase, std::uint64_t id, std::uint32_t vnc,
                  std::uint64_t time) {
  text += fmt::format(
      R"({}{{"event_type":"{}","phase":"{}","tracking_id":{},"nc_idx":{},"data":{{"nc_timestamp_ns":{}}}}})",
      text.empty() ? "" : ",", type, phase, id, vnc, time);
}

}  // namespace

void ExecutionTrace::start(const CaptureFilter& filter) {
  const std::scoped_lock lock(mutex_);
  filter_ = filter;
  on_ = true;
}

void ExecutionTrace::stop() {
  const std::scoped_lock lock(mutex_);
  on_ = false;
}

void ExecutionTrace::add(std::uint32_t vnc, std::uint64_t begin_ns, std::uint64_t end_ns) {
  const std::scoped_lock lock(mutex_);
  if (!on_ || filter_.off.contains(type)) return;
  if (const auto core = filter_.cores.find(vnc); core != filter_.cores.end() && !core->second) {
    return;
  }
  auto& spans = by_core_[vnc];
  spans.push_back({++last_id_, begin_ns, end_ns});
  while (spans.size() > filter_.max_events_per_core / events_a_span) spans.pop_front();
}

std::string ExecutionTrace::fetch(std::uint64_t most, std::optional<std::uint64_t> vnc) {
  const std::scoped_lock lock(mutex_);
  std::string events;
  for (auto& [core, spans] : by_core_) {
    if (vnc && *vnc != core) continue;
    for (std::uint64_t i = 0; i < most / events_a_span && !spans.empty(); ++i) {
      const Span& span = spans.front();
      append_event(events, "start", span.id, core, span.begin_ns);
      append_event(events, "stop", span.id, core, span.end_ns);
      spans.pop_front();
    }
  }
  return fmt::format(R"({{"events":[{}]}})", events);
}

}  // namespace neffld::nrt
