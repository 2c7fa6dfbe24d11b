// SPDX-License-Identifier: MIT
#include "loading.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "commands.hpp"
#include "neffld/packet_limits.hpp"
#include "progress.hpp"

namespace neffld::cli {
namespace {

/// `architecture` is what "sim" takes from the first file.
Result<void> open_session(Loading& loading, const LoadingOptions& options, Arch architecture) {
  DeviceOptions device = options.device;
  device.sim_architecture = static_cast<std::uint32_t>(architecture);
  device.print = print_note;  // stdout is the report's
  NEFFLD_ASSIGN(OpenedDevice opened, options.open(device));
  loading.trace = std::move(opened.trace);
  NEFFLD_ASSIGN(loading.session, Session::open(std::move(opened.file)));
  return {};
}

/// The architecture a device name fixes before any file is read.
Arch named_arch(const std::string& device) {
  if (device == "sim:v2") return Arch::v2;
  if (device == "sim:v3") return Arch::v3;
  return Arch::any;
}

Result<std::map<std::string, std::uint64_t, std::less<>>> parse_binds(
    const std::vector<std::string>& binds) {
  std::map<std::string, std::uint64_t, std::less<>> io;
  for (const std::string& bind : binds) {
    const std::size_t equals = bind.rfind('=');
    const std::string_view number = equals == std::string::npos
                                        ? std::string_view()
                                        : std::string_view(bind).substr(equals + 1);
    const bool hex = number.starts_with("0x") || number.starts_with("0X");
    const char* begin = number.data() + (hex ? 2 : 0);
    const char* end = number.data() + number.size();
    std::uint64_t address = 0;
    const auto [rest, error] = std::from_chars(begin, end, address, hex ? 16 : 10);
    if (number.empty() || error != std::errc() || rest != end) {
      return fail(
          Status::invalid, ErrorClass::usage, {.path = "--bind"},
          fmt::format("found '{}', expected NAME=ADDRESS (0x hexadecimal or decimal)", bind));
    }
    if (!io.emplace(bind.substr(0, equals), address).second) {
      return fail(Status::invalid, ErrorClass::usage, {.path = "--bind"},
                  fmt::format("'{}' is given twice", bind.substr(0, equals)));
    }
  }
  return io;
}

/// Every name of --bind is an input or output of some file.
Result<void> check_bind_names(const std::vector<std::string>& binds, const Report& report) {
  NEFFLD_ASSIGN(const auto io, parse_binds(binds));
  for (const auto& bind : io) {
    const std::string& name = bind.first;
    const bool known =
        std::any_of(report.items.begin(), report.items.end(), [&name](const ReportItem& item) {
          return item.parsed->manifest.inputs.contains(name) ||
                 item.parsed->manifest.outputs.contains(name);
        });
    if (!known) {
      return fail(Status::invalid, ErrorClass::usage, {.path = "--bind"},
                  fmt::format("'{}' is no input or output of the loaded files", name));
    }
  }
  return {};
}

/// Stage plan without a device.
Result<std::unique_ptr<Plan>> plan_only(ParsedModel& parsed, const LoadingOptions& options,
                                        const ProgressSink& progress) {
  NEFFLD_ASSIGN(Plan plan, plan_parsed_model(parsed, plan_options(options), progress));
  return std::make_unique<Plan>(std::move(plan));
}

Result<void> load_on_device(Loading& loading, ParsedModel parsed, const LoadingOptions& options,
                            Stage until, const ProgressSink& progress, ReportItem& item) {
  if (!loading.session) {
    NEFFLD_TRY(open_session(loading, options, parsed.manifest.arch));
    loading.report.device = loading.session->device().name;
    loading.report.architecture = arch_name(loading.session->arch());
    loading.report.simulated = loading.session->device().simulated;
  }
  LoadOptions load;
  load.logical_core = options.core;
  const PlanOptions plan = plan_options(options);
  load.scratchpad = plan.scratchpad;
  load.max_ring_bytes = plan.max_ring_bytes;
  load.packet_bytes = plan.packet_bytes;
  load.until = until;
  // What is printed or kept for comparison should be the same each time.
  load.one_thread = options.one_thread || options.device.dry_run || !options.device.record.empty();
  load.progress = progress;
  NEFFLD_ASSIGN(LoadedModel * model, loading.session->load(std::move(parsed), load));
  item.loaded = model;
  item.parsed = &model->parsed;
  item.plan = &model->plan;
  if (options.binds.empty()) return {};
  NEFFLD_ASSIGN(auto io, parse_binds(options.binds));
  return loading.session->bind(*model, std::move(io));
}

Result<void> load_bytes(Loading& loading, const std::string& file, Bytes bytes,
                        const LoadingOptions& options, Stage until, const ProgressSink& progress) {
  ParseOptions parse = parse_options(options, std::min(until, Stage::build));
  parse.progress = progress;
  const Arch device = loading.session ? loading.session->arch() : named_arch(options.device.name);
  NEFFLD_ASSIGN(ParsedModel parsed, parse_model(bytes, device, parse));
  if (options.parsed) NEFFLD_TRY(options.parsed(parsed));
  ReportItem item{file, nullptr, nullptr, nullptr};
  if (until >= Stage::stage) {
    NEFFLD_TRY(load_on_device(loading, std::move(parsed), options, until, progress, item));
  } else {
    loading.parsed.push_back(std::make_unique<ParsedModel>(std::move(parsed)));
    item.parsed = loading.parsed.back().get();
    if (until == Stage::plan) {
      NEFFLD_ASSIGN(std::unique_ptr<Plan> plan,
                    plan_only(*loading.parsed.back(), options, progress));
      loading.plans.push_back(std::move(plan));
      item.plan = loading.plans.back().get();
    }
  }
  loading.report.items.push_back(std::move(item));
  return {};
}

Result<void> load_file(Loading& loading, const std::string& file, const LoadingOptions& options,
                       Stage until, const ProgressSink& progress) {
  const ParseOptions parse = parse_options(options, Stage::parse);
  NEFFLD_ASSIGN(const std::vector<std::uint8_t> bytes,
                read_file(file, parse.container.limits.file_bytes()));
  auto loaded = load_bytes(loading, file, bytes, options, until, progress);
  if (!loaded && loading.session) print_aside(loading.session->memory_report());
  return loaded;
}

/// Checks a number; `wrong` tells of one what is wrong with it, or nothing.
template <class Wrong>
CLI::Validator checked_number(Wrong wrong) {
  return CLI::Validator(
      [wrong](std::string& text) -> std::string {
        return wrong(std::strtoull(text.c_str(), nullptr, 0));
      },
      "");
}

CLI::Validator scratchpad_page() {
  return checked_number([](std::uint64_t mib) {
    return mib != 0 && mib % 512 == 0 && mib < 4096
               ? std::string()
               : fmt::format("found {} MiB, expected a multiple of 512 below 4096", mib);
  });
}

CLI::Validator packet_size() {
  return checked_number([](std::uint64_t bytes) {
    return bytes == 0 || (bytes >= least_packet_bytes && bytes <= most_packet_bytes)
               ? std::string()
               : fmt::format("found {}, expected 0 or {} to {}", bytes, least_packet_bytes,
                             most_packet_bytes);
  });
}

/// Whether there is such a device is told when it is opened.
CLI::Validator device_name() {
  return CLI::Validator(
      [](std::string& text) {
        for (const char* known : {"auto", "sim", "sim:v2", "sim:v3"}) {
          if (text == known) return std::string();
        }
        if (text.find('/') != std::string::npos) return std::string();
        return fmt::format(
            "'{}' is no device, expected sim, sim:v2, sim:v3, auto or the path of a node", text);
      },
      "");
}

}  // namespace

Error in_file(Error error, const std::string& file) {
  if (error.where.member.empty()) {
    error.where.member = file;
  } else if (error.where.member != file) {
    error.where.member = file + ": " + error.where.member;
  }
  return error;
}

namespace {

/// /dev/stdout and the like where a file is behind it: the link would be replaced, for everybody.
bool leads_to_standard_stream(const std::string& path) {
  struct stat link {
  }, target{}, stream{};
  if (lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
  if (stat(path.c_str(), &target) != 0 || !S_ISREG(target.st_mode)) return false;
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fstat(number, &stream) == 0 && stream.st_dev == target.st_dev &&
        stream.st_ino == target.st_ino) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<void> check_output(const std::string& output, const std::vector<std::string>& inputs) {
  if (output.empty()) return {};
  if (leads_to_standard_stream(output)) {
    return fail(Status::invalid, ErrorClass::usage, {.member = output},
                "leads to a standard stream of this command, expected the name of a file");
  }
  std::error_code error;
  const auto path = std::filesystem::weakly_canonical(output, error);
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    // A file that is not there yet has its path only.
    const bool same = std::filesystem::equivalent(output, input, error) && !error;
    if (same || (path == std::filesystem::weakly_canonical(input, error) && !error)) {
      return fail(Status::invalid, ErrorClass::usage, {.member = output},
                  fmt::format("is {} too, expected another file to write", input));
    }
  }
  return {};
}

void LoadingOptions::add_container_options(CLI::App& command) {
  const ContainerLimits limits;
  command.add_flag("--no-verify", no_verify,
                   "Skip the header hash; gzip CRC and length, tar checksums and sizes are always "
                   "verified");
  command
      .add_option(
          "--max-inflated", max_inflated,
          fmt::format("Limit of the inflated payload in bytes (default {})", limits.inflated_bytes))
      ->check(unsigned_number());
  command
      .add_option("--max-members", max_members,
                  fmt::format("Limit of archive members (default {})", limits.members))
      ->check(unsigned_number());
}

void LoadingOptions::add_parse_options(CLI::App& command) {
  add_container_options(command);
  command.add_flag("--allow-legacy", allow_legacy,
                   "Load files for another architecture or without the SBUF reservation, with a "
                   "warning");
  command
      .add_option("--max-json-depth", max_json_depth,
                  fmt::format("Limit of JSON nesting (default {})", BuildOptions().json_depth))
      ->check(unsigned_number(UINT32_MAX));
}

void LoadingOptions::add_device_options(CLI::App& command) {
  add_device_name_options(command, device);
  command.add_flag("--dry-run", device.dry_run,
                   "Print the device calls on stderr instead of making them");
  add_plan_options(command);
  command
      .add_option("--bind", binds,
                  "NAME=ADDRESS: give an input or output a device address; every name of the model "
                  "must be given")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--progress", progress, "json: one line per phase and step on stderr")
      ->check(CLI::IsMember({"json"}));
}

void LoadingOptions::add_plan_options(CLI::App& command) {
  command.add_option("--core", core, "Logical core to load on")
      ->check(unsigned_number(UINT32_MAX))
      ->capture_default_str();
  command
      .add_option("--scratchpad-page-size", scratchpad_page_mib,
                  "Scratchpad page size in MiB, a multiple of 512 below 4096")
      ->check(unsigned_number() & scratchpad_page())
      ->envname("NEURON_SCRATCHPAD_PAGE_SIZE")
      ->capture_default_str();
  command
      .add_flag(
          "--contiguous-scratchpad", contiguous_scratchpad,
          "Back the scratchpad with contiguous pages of 64 MiB, where driver and logical core "
          "size allow it")
      ->envname("NEURON_RT_CONTIGUOUS_SCRATCHPAD");
  command
      .add_flag("--scratchpad-on-single-core", scratchpad_on_single_core,
                "Put the scratchpad of every subgraph on the first core")
      ->envname("NEURON_RT_DBG_SCRATCHPAD_ON_SINGLE_CORE");
  command
      .add_option("--max-ring-bytes", max_ring_bytes,
                  "Limit of the memory of a model's descriptor rings in bytes")
      ->check(unsigned_number())
      ->capture_default_str();
  command
      .add_option("--packet-bytes", packet_bytes,
                  "Pack the copies of a DMA block into packets of at most this many bytes, 4096 to "
                  "1048575; 0: every copy is a packet")
      ->check(unsigned_number() & packet_size())
      ->envname("NEURON_RT_DBG_DMA_PACKETIZATION_SIZE")
      ->capture_default_str();
}

void LoadingOptions::add_record_options(CLI::App& command) {
  CLI::Option* record =
      command.add_option("--record", device.record, "Write every device call into this trace file")
          ->check(not_empty());
  command
      .add_flag(
          "--record-data", device.record_data,
          "Also keep the bytes of buffer copies (weights) in the trace, not only their hashes")
      ->needs(record);
}

void add_device_name_options(CLI::App& command, DeviceOptions& device) {
  command
      .add_option("--device", device.name,
                  "sim (the architecture the file names), sim:v2, sim:v3, auto (the first usable "
                  "node, else sim) or the path of a node")
      ->check(device_name())
      ->envname("NEFFLD_DEVICE")
      ->capture_default_str();
  command
      .add_option("--device-prefix", device.nodes.prefix,
                  "Nodes that auto looks for are /dev/PREFIX0, /dev/PREFIX1, ...")
      ->capture_default_str();
  command.add_flag("--experimental", device.experimental,
                   "Also reset cores and initialise queues on a device that is not simulated");
}

Result<void> Loading::close() {
  session.reset();
  return trace ? trace->finish() : Result<void>();
}

ParseOptions parse_options(const LoadingOptions& options, Stage until) {
  ParseOptions parse;
  parse.until = until;
  parse.container.verify_hash = !options.no_verify;
  parse.build.allow_legacy = options.allow_legacy;
  if (options.max_inflated) parse.container.limits.inflated_bytes = options.max_inflated;
  if (options.max_members) parse.container.limits.members = options.max_members;
  if (options.max_json_depth) parse.build.json_depth = options.max_json_depth;
  return parse;
}

PlanOptions plan_options(const LoadingOptions& options) {
  PlanOptions plan;
  plan.logical_core = options.core;
  plan.scratchpad.page_bytes = options.scratchpad_page_mib << 20;
  plan.scratchpad.contiguous = options.contiguous_scratchpad;
  plan.scratchpad.single_core = options.scratchpad_on_single_core;
  plan.max_ring_bytes = options.max_ring_bytes;
  plan.packet_bytes = options.packet_bytes;
  return plan;
}

Result<Stage> parse_stage(const std::string& name) {
  for (const Stage stage : {Stage::guard, Stage::parse, Stage::graph, Stage::build, Stage::plan,
                            Stage::stage, Stage::relocate}) {
    if (stage_name(stage) == name) return stage;
  }
  return fail(
      Status::invalid, ErrorClass::usage, {.path = "--until"},
      fmt::format("found '{}', expected guard, parse, graph, build, plan, stage or relocate",
                  name));
}

Result<Loading> load_files(const LoadingOptions& options) {
  NEFFLD_ASSIGN(const Stage until, parse_stage(options.until));
  if (until != Stage::relocate && !options.binds.empty()) {
    return fail(Status::invalid, ErrorClass::usage, {.path = "--bind"},
                "needs a complete load, expected no --until");
  }
  if (until < Stage::stage && !options.device.record.empty()) {
    return fail(Status::invalid, ErrorClass::usage, {.path = "--record"},
                "records device calls, and there are none before the stage \"stage\"");
  }
  NEFFLD_TRY(check_output(options.device.record, options.files));
  const ProgressSink progress = make_progress(options.progress == "json");
  Loading loading;
  for (const std::string& file : options.files) {
    if (auto result = load_file(loading, file, options, until, progress); !result) {
      return tl::unexpected<Error>(in_file(std::move(result.error()), file));
    }
  }
  NEFFLD_TRY(check_bind_names(options.binds, loading.report));
  if (loading.session) {
    for (const auto& [command, count] : loading.session->calls()) loading.report.ioctls += count;
  }
  return loading;
}

Result<void> try_load(Bytes bytes, const LoadingOptions& options) {
  NEFFLD_ASSIGN(const Stage until, parse_stage(options.until));
  Loading loading;
  return load_bytes(loading, "", bytes, options, until, {});
}

Result<void> print_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return {};
  }
  return fail(Status::failure, ErrorClass::file, {.member = "standard output"}, "cannot write");
}

void print_aside(const std::string& text) noexcept {
  std::fputs(text.c_str(), stderr);
}

void print_note(std::string_view line) {
  print_aside(fmt::format("neffld: {}\n", one_line(line)));
}

}  // namespace neffld::cli
