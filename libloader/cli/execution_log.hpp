// SPDX-License-Identifier: MIT
// What engines and rings of a simulated device did, as tables and as a timeline.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "json_out.hpp"
#include "neffld/kbin.hpp"
#include "neffld/plan.hpp"
#include "neffld/sim_control.hpp"

namespace neffld::cli {

/// Collects while executions run. Times are nanoseconds of the host's clock: how long the
/// simulation took, not how long hardware would. A record's time holds that of the transfers it
/// starts, because these complete at once.
class ExecutionLog final : public SimObserver {
 public:
  /// Names queues by the plan. With `timeline` every record is kept, else only sums.
  ExecutionLog(const Plan& plan, std::span<const Kbin> kbins, bool timeline);

  void record(const SimRecordEvent& event) noexcept override;
  void transfer(const SimTransferEvent& event) noexcept override;

  /// Memory ran out while watching: sums and timeline are not complete.
  bool incomplete() const { return incomplete_; }

  /// Tables: records and time by engine and opcode, transfers and bytes by queue.
  std::string table() const;
  void to_json(JsonOut& out) const;
  /// The timeline in the trace-event format that Perfetto and chrome://tracing open: a process a
  /// core, a thread an engine or ring. Transfers a ring makes one after the other are one event.
  std::string trace_events() const;

 private:
  struct Sum {
    std::uint64_t count = 0, ns = 0, bytes = 0;
  };
  struct Work {
    std::uint32_t core, engine, opcode;
    auto operator<=>(const Work&) const = default;
  };
  struct Mover {  ///< a queue of all its rings, or an engine
    std::uint32_t core, queue;
    bool direct;
    auto operator<=>(const Mover&) const = default;
  };
  /// One event of the timeline.
  struct Event {
    std::uint64_t begin, end, bytes;
    std::uint32_t core, track, slot, transfers;
    std::uint8_t opcode;
  };
  void add(const SimRecordEvent& event);
  void add(const SimTransferEvent& event);
  std::string opcode_name(std::uint32_t opcode) const;
  std::string mover_name(const Mover& mover) const;
  std::string track_name(std::uint32_t core, std::uint32_t track) const;

  Arch arch_;
  bool timeline_, incomplete_ = false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> queue_names_;  ///< core, queue
  std::map<Work, Sum> work_;
  std::map<Mover, Sum> moved_;
  std::vector<Event> events_;
};

}  // namespace neffld::cli
