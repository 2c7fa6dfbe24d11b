// SPDX-License-Identifier: MIT
#include "harvest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neffld {
namespace {

constexpr std::size_t records_a_step = 16;

/// What a custom record of the instruction stream says: out-of-bounds accesses are errors, debug
/// records and completions of single tensors are somebody else's.
Result<void> take_custom(std::string_view engine, std::uint16_t sub_id) {
  const bool out_of_bounds = sub_id <= 5 || sub_id == 9 || sub_id == 10;
  if (sub_id >= 6 && sub_id <= 8) return {};
  return fail(out_of_bounds ? Status::exec_oob : Status::hw_error, ErrorClass::device, {},
              fmt::format("{} reported {} (custom notification {})", engine,
                          out_of_bounds ? "an access out of bounds" : "what nobody knows", sub_id));
}

}  // namespace

std::string_view engine_label(Engine engine) {
  constexpr std::array<std::string_view, engine_count> labels = {"PE", "ACT", "POOL", "DVE", "SP"};
  return labels[static_cast<std::size_t>(engine)];
}

void CoreHarvest::start(std::size_t engine, std::uint64_t time) {
  states_[engine] = State::end_pending;
  report_.engines[engine].begin = time;
  if (report_.begin == 0 || time < report_.begin) report_.begin = time;
}

void CoreHarvest::end(std::size_t engine, std::uint64_t time) {
  states_[engine] = State::complete;
  report_.engines[engine].end = time;
  report_.end = std::max(report_.end, time);
}

Result<void> CoreHarvest::take(Engine engine, const neuron_notification& record) {
  const auto index = static_cast<std::size_t>(engine);
  const auto broken = [&](std::string what) -> Result<void> {
    return fail(Status::failure, ErrorClass::device, {},
                fmt::format("core {} {} {}", unit_->core(), engine_label(engine), what));
  };
  constexpr unsigned types_an_engine = 4;
  const unsigned expected =
      NEURON_NOTIFICATION_EXPLICIT + types_an_engine * static_cast<unsigned>(index);
  if (const unsigned type = record.kind & NEURON_NOTIFICATION_TYPE; type != expected) {
    return broken(fmt::format("posted a notification of type {}, expected {}", type, expected));
  }
  switch (record.subtype) {
    case NEURON_NOTIFICATION_START:
      if (states_[index] != State::start_pending) return broken("posted START twice");
      start(index, record.timestamp);
      return {};
    case NEURON_NOTIFICATION_END:
      if (states_[index] != State::end_pending) return broken("posted END before START");
      end(index, record.timestamp);
      return {};
    case NEURON_NOTIFICATION_CUSTOM:
      return take_custom(engine_label(engine), record.sub_id);
    default:
      return broken(
          fmt::format("posted a notification of subtype {}, expected 2 (START), 3 (END) "
                      "or 6",
                      record.subtype));
  }
}

Result<std::size_t> CoreHarvest::step(DeviceCalls& calls) {
  std::size_t taken = 0;
  for (const Engine engine : all_engines) {
    NotificationRing& ring = unit_->status(engine);
    const auto done = [&] { return states_[static_cast<std::size_t>(engine)] == State::complete; };
    for (std::size_t i = 0; i < records_a_step && !done(); ++i) {
      const auto record = ring.next();
      if (!record) break;
      ++taken;
      NEFFLD_TRY(take(engine, *record));
    }
    NEFFLD_TRY(ring.release(calls));
  }
  return taken;
}

bool CoreHarvest::complete() const {
  return std::all_of(states_.begin(), states_.end(),
                     [](State state) { return state == State::complete; });
}

Result<std::vector<neuron_notification>> CoreHarvest::take_errors(DeviceCalls& calls) {
  std::vector<neuron_notification> records;
  while (const auto record = unit_->errors().next()) records.push_back(*record);
  NEFFLD_TRY(unit_->errors().release(calls));
  return records;
}

std::string CoreHarvest::missing() const {
  std::string text;
  for (const Engine engine : all_engines) {
    const State state = states_[static_cast<std::size_t>(engine)];
    if (state == State::complete) continue;
    text += fmt::format("{}{} posted no {}", text.empty() ? "" : ", ", engine_label(engine),
                        state == State::start_pending ? "START" : "END");
  }
  return text;
}

}  // namespace neffld
