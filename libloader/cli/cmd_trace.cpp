// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "loading.hpp"
#include "neffld/back_ends.hpp"
#include "neffld/trace.hpp"
#include "neuron_abi/ioctl.h"
#include "shim_run.hpp"

namespace neffld::cli {
namespace {

Result<void> show(const std::string& file) {
  NEFFLD_ASSIGN(const auto reader, TraceReader::open(file));
  for (;;) {
    NEFFLD_ASSIGN(const auto event, reader->next());
    if (!event) return {};
    std::string line;
    if (event->info) line = to_line(*event->info);
    if (event->call) line = to_line(*event->call);
    if (event->mapping) line = to_line(*event->mapping);
    NEFFLD_TRY(print_text(line + "\n"));
  }
}

/// Prints the outcome; a difference is the answer no.
Result<void> tell(const CompareReport& report, const char* what) {
  std::string text;
  for (const TraceDifference& difference : report.differences) text += to_line(difference) + "\n";
  text += fmt::format("{} calls compared, {} differences", report.calls, report.differences.size());
  if (report.not_compared != 0) {
    text += fmt::format(
        ", {} buffers not compared (the trace has only hashes of what was written; "
        "record with --record-data)",
        report.not_compared);
  }
  if (report.translated != 0) {
    text += fmt::format(", {} handles and addresses are other than recorded", report.translated);
  }
  NEFFLD_TRY(print_text(text + "\n"));
  if (report.differences.empty()) return {};
  return fail(Status::failure, ErrorClass::check, {},
              fmt::format("{}: first at call {}", what, report.differences.front().call));
}

/// The architecture of the recorded device, from the first answer that tells it; "sim" then means
/// the same. 3 if none of the first calls does.
Result<std::uint32_t> recorded_architecture(const std::string& file) {
  constexpr int calls_looked_at = 16;
  NEFFLD_ASSIGN(const auto reader, TraceReader::open(file));
  for (int calls = 0; calls < calls_looked_at;) {
    const auto event = reader->next();
    if (!event || !*event) break;  // damage is told by the replay itself
    const auto& call = (*event)->call;
    if (!call) continue;
    ++calls;
    const bool tells = call->command == NEURON_IOCTL_DRIVER_INFO_GET ||
                       call->command == NEURON_IOCTL_DEVICE_BASIC_INFO;
    if (tells && call->result == 0 && call->received.size() >= 4) {
      return load_le<std::uint32_t>(call->received, 0);
    }
  }
  return 3;
}

struct TraceCommand {
  std::string first, second;
  DeviceOptions device;
  bool all = false, literal = false;

  Result<void> diff() const {
    NEFFLD_ASSIGN(const auto a, TraceReader::open(first));
    NEFFLD_ASSIGN(const auto b, TraceReader::open(second));
    NEFFLD_ASSIGN(const CompareReport report, diff_traces(*a, *b, {all}));
    return tell(report, "the traces differ");
  }

  Result<void> replay() const {
    NEFFLD_ASSIGN(const auto reader, TraceReader::open(first));
    DeviceOptions options = device;
    options.print = print_note;
    NEFFLD_ASSIGN(options.sim_architecture, recorded_architecture(first));
    NEFFLD_ASSIGN(const OpenedDevice opened, open_device(options));
    NEFFLD_ASSIGN(const CompareReport report, replay_trace(*reader, *opened.file, {all, literal}));
    return tell(report, "the device answers differently");
  }
};

}  // namespace

void add_trace(CLI::App& app, Action& run) {
  CLI::App* trace = app.add_subcommand(
      "trace", "Record device calls, look at them, send them again, compare them");
  trace->require_subcommand(1);
  auto state = std::make_shared<TraceCommand>();

  CLI::App* show_command = trace->add_subcommand("show", "Print one line a call");
  show_command->add_option("TRACE", state->first, "Trace file")->required();
  show_command->callback([state, &run] { run = [state] { return show(state->first); }; });

  CLI::App* record_command = trace->add_subcommand(
      "record",
      "Run a program and record its calls to /dev/neuronN: neffld trace record -o TRACE -- "
      "PROGRAM");
  auto record = std::make_shared<ShimOptions>();
  record->device = "node";
  record_command->add_option("program", record->program, "The program and its arguments, after --");
  record_command->add_option("-o,--output", record->trace, "Trace file")
      ->required()
      ->check(not_empty());
  record_command
      ->add_option("--device", record->device,
                   "node: the machine's devices, calls are passed on (default); sim:v2, sim:v3")
      ->check(CLI::IsMember({"node", "sim", "sim:v2", "sim:v3"}));
  record_command->add_option("--count", record->count, "Simulated devices")
      ->check(CLI::Range(1, 64));
  record_command->add_flag("--record-data", record->trace_data,
                           "Also keep what buffer copies carry, not only its hash");
  record_command->callback([record, &run] {
    run = [record] { return run_under_shim(*record, "neffld trace record -o TRACE"); };
  });

  CLI::App* replay_command = trace->add_subcommand(
      "replay", "Send the calls to a device and compare every reply; exit 1 if one differs");
  replay_command->add_option("TRACE", state->first, "Trace file")->required();
  add_device_name_options(*replay_command, state->device);
  replay_command->add_flag("--all", state->all, "Go on after the first call that differs");
  replay_command->add_flag("--literal", state->literal,
                           "Handles and addresses must be the recorded ones");
  replay_command->callback([state, &run] { run = [state] { return state->replay(); }; });

  CLI::App* diff_command =
      trace->add_subcommand("diff", "Compare two traces call by call; exit 1 if they differ");
  diff_command->add_option("A", state->first, "Trace file")->required();
  diff_command->add_option("B", state->second, "Trace file")->required();
  diff_command->add_flag("--all", state->all, "Go on after the first call that differs");
  diff_command->callback([state, &run] { run = [state] { return state->diff(); }; });
}

}  // namespace neffld::cli
