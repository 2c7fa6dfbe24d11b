// SPDX-License-Identifier: MIT
// What load, dump and relocs have in common: their options, and taking files to a device.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "neffld/back_ends.hpp"
#include "neffld/session.hpp"
#include "report.hpp"

namespace neffld::cli {

struct LoadingOptions {
  std::vector<std::string> files;
  DeviceOptions device;
  std::string until = "relocate";
  std::string progress;            ///< "" or "json"
  std::vector<std::string> binds;  ///< NAME=ADDRESS
  std::uint32_t core = 0;
  std::uint64_t scratchpad_page_mib = 512;
  bool contiguous_scratchpad = false, scratchpad_on_single_core = false;
  std::uint64_t max_ring_bytes = PlanOptions().max_ring_bytes;
  std::uint64_t packet_bytes = 0;
  bool no_verify = false, allow_legacy = false;
  bool one_thread = false;  ///< LoadOptions::one_thread
  std::uint64_t max_inflated = 0, max_members = 0;
  std::uint32_t max_json_depth = 0;
  /// Opens the device; a command that needs more of it than the session puts itself in between.
  std::function<Result<OpenedDevice>(const DeviceOptions&)> open = open_device;
  /// Sees every model before a device is opened for it; its error ends the command. May be empty.
  std::function<Result<void>(const ParsedModel&)> parsed;

  void add_device_options(CLI::App& command);
  /// What decides where things go: core, scratchpad, limits.
  void add_plan_options(CLI::App& command);
  void add_record_options(CLI::App& command);
  /// What decides which archives are read; add_parse_options() adds these, too.
  void add_container_options(CLI::App& command);
  void add_parse_options(CLI::App& command);
};

/// Everything a command that loads keeps alive: models are parsed and planned, and with a device
/// they are on it.
struct Loading {
  std::unique_ptr<Session> session;                  ///< null while no device was needed
  std::shared_ptr<TraceWriter> trace;                ///< of the session's calls, null without one
  std::vector<std::unique_ptr<ParsedModel>> parsed;  ///< models that stayed on the host
  std::vector<std::unique_ptr<Plan>> plans;
  Report report;

  /// Closes the device and ends its trace; tells if the trace could not be written.
  Result<void> close();
};

/// Adds the options that say which device and how it may be used.
void add_device_name_options(CLI::App& command, DeviceOptions& device);

ParseOptions parse_options(const LoadingOptions& options, Stage until);
PlanOptions plan_options(const LoadingOptions& options);
/// Prefixes the place of an error with the file it is in.
Error in_file(Error error, const std::string& file);
Result<Stage> parse_stage(const std::string& name);
/// Takes the files as far as `options.until` says. On error nothing of them stays on the device.
Result<Loading> load_files(const LoadingOptions& options);

/// Takes the bytes of a file as far as `options.until` says, on a device of its own, and gives
/// everything back. Looks at no other file and prints nothing.
Result<void> try_load(Bytes bytes, const LoadingOptions& options);

/// An output may not be one of the inputs, or of the other outputs: writing it would destroy them;
/// nor may it be /dev/stdout or another link to a standard stream that is a file. Empty names are
/// none. Error class usage.
Result<void> check_output(const std::string& output, const std::vector<std::string>& inputs);

/// Writes text to stdout; error class file when it cannot be written.
Result<void> print_text(std::string_view text);

/// Writes text to stderr. Nobody need be able to read it.
void print_aside(const std::string& text) noexcept;
/// The same of one line, behind the program's name.
void print_note(std::string_view line);

}  // namespace neffld::cli
