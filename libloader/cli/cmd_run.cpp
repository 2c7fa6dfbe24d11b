// SPDX-License-Identifier: MIT
// run: execute a model on the simulated device with arrays from files, and keep its outputs.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "execution_log.hpp"
#include "json_out.hpp"
#include "loading.hpp"
#include "neffld/forwarding_file.hpp"
#include "neffld/sim_control.hpp"
#include "neffld/text.hpp"
#include "npy/npy.hpp"
#include "output_folder.hpp"
#include "run_tensors.hpp"
#include "tensor_source.hpp"

namespace neffld::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

tl::unexpected<Error> usage(const char* option, std::string text) {
  return fail(Status::invalid, ErrorClass::usage, {.path = option}, std::move(text));
}

/// What there is to tell about a run.
struct RunReport {
  std::string file, device, architecture, model;
  double load_seconds = 0;
  struct Tensor {
    std::string name, place;  ///< file name or what stands for one
    TensorInfo info;
  };
  std::vector<Tensor> inputs, outputs;
  struct Execution {
    double seconds = 0;
    ExecutionReport device;
  };
  std::vector<Execution> executions;
  std::vector<std::string> warnings;
};

std::string as_text(const RunReport& report, const ExecutionLog* profile) {
  std::string text = fmt::format("device {} ({})\n\n{}\n", report.device, report.architecture,
                                 one_line(report.file));
  text += fmt::format("  model       {}\n", one_line(report.model));
  for (const RunReport::Tensor& tensor : report.inputs) {
    text += fmt::format("  input       {} {} from {}\n", one_line(tensor.name),
                        tensor_text(tensor.info.dtype, tensor.info.shape), one_line(tensor.place));
  }
  for (const RunReport::Tensor& tensor : report.outputs) {
    text += fmt::format("  output      {} {}{}{}\n", one_line(tensor.name),
                        tensor_text(tensor.info.dtype, tensor.info.shape),
                        tensor.place.empty() ? "" : " to ", one_line(tensor.place));
  }
  text += fmt::format("  load        {:.3f} s\n", report.load_seconds);
  for (const RunReport::Execution& execution : report.executions) {
    text += fmt::format("  executed    {:.3f} s\n", execution.seconds);
  }
  for (const std::string& warning : report.warnings) {
    text += fmt::format("  warning     {}\n", one_line(warning));
  }
  return profile ? text + profile->table() : text;
}

std::string as_json(const RunReport& report, const ExecutionLog* profile) {
  JsonOut out;
  out.indent(1);
  const auto tensors = [&](std::string_view key, const std::vector<RunReport::Tensor>& list,
                           std::string_view place) {
    out.array(key, list, [&](const RunReport::Tensor& tensor) {
      out.object([&] {
        out.field("name", tensor.name);
        out.field("dtype", tensor.info.dtype);
        out.array("shape", tensor.info.shape, [&](std::uint64_t dim) { out.value(dim); });
        out.field("bytes", tensor.info.size);
        if (!tensor.place.empty()) out.field(place, tensor.place);
      });
    });
  };
  out.object([&] {
    out.field("schema", std::uint32_t{1});
    out.field("file", report.file);
    out.field("device", report.device);
    out.field("architecture", report.architecture);
    out.field("model", report.model);
    tensors("inputs", report.inputs, "from");
    tensors("outputs", report.outputs, "to");
    out.field("load_seconds", report.load_seconds);
    out.array("executions", report.executions, [&](const RunReport::Execution& execution) {
      out.object([&] {
        out.field("seconds", execution.seconds);
        out.array("cores", execution.device.cores, [&](const CoreExecution& core) {
          out.object([&] {
            out.field("core", core.core);
            out.field("device_seconds", static_cast<double>(core.end - core.begin) * 1e-12);
          });
        });
      });
    });
    out.strings("warnings", report.warnings);
    if (profile) out.object("profile", [&] { profile->to_json(out); });
  });
  return std::string(out.text()) + "\n";
}

/// Lets a log watch a simulated device for as long as it lives.
class Watch {
 public:
  Watch(SimDevice& device, ExecutionLog& log) : device_(device) { sim_set_observer(device, &log); }
  ~Watch() { sim_set_observer(device_, nullptr); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  SimDevice& device_;
};

struct RunCommand {
  LoadingOptions loading;
  InputOptions inputs;
  std::string file, out, save_inputs, trace, report = "text";
  std::optional<std::uint64_t> seed, schedule;
  std::uint32_t repeat = 1;
  double timeout = 0;
  bool force = false, profile = false;

  /// Everything that can be known to be wrong before the model is loaded.
  Result<void> check_options() const {
    if (repeat == 0) return usage("--repeat", "found 0, expected at least 1");
    if (!(timeout >= 0 && timeout <= 1e6)) {
      return usage("--timeout",
                   fmt::format("found {}, expected seconds from 0 to 1000000", timeout));
    }
    NEFFLD_TRY(check_output(trace, files_read()));
    NEFFLD_TRY(check_output(trace, {loading.device.record}));
    return check_output(loading.device.record, files_read());
  }

  std::vector<std::string> files_read() const {
    std::vector<std::string> read = {file};
    for (const std::string& given : inputs.files) read.push_back(given.substr(given.find('=') + 1));
    return read;
  }

  /// What watches or steers the engines reaches into the device model, which must be in this
  /// process.
  Result<void> check_device(const SimDevice* sim) const {
    if (sim != nullptr) return {};
    for (const auto& [given, option] :
         {std::pair(!trace.empty(), "--trace"), std::pair(profile, "--profile"),
          std::pair(schedule.has_value(), "--schedule"), std::pair(timeout != 0, "--timeout")}) {
      if (given) return usage(option, "needs a device inside this process: --device sim");
    }
    return {};
  }

  Result<void> run() {
    NEFFLD_TRY(check_options());
    inputs.random = seed.has_value();
    inputs.seed = seed.value_or(0);
    loading.files = {file};
    RunReport told;
    std::shared_ptr<DeviceFile> device;
    std::shared_ptr<SimDevice> sim;
    Sources sources;
    std::optional<OutputFolder> outputs, saved;
    loading.open = [&](const DeviceOptions& options) -> Result<OpenedDevice> {
      NEFFLD_ASSIGN(OpenedDevice opened, open_device(options));
      NEFFLD_TRY(check_device(opened.sim.get()));
      sim = opened.sim;
      device = std::move(opened.file);
      opened.file = std::make_unique<ForwardingFile>(device);
      return opened;
    };
    loading.parsed = [&](const ParsedModel& model) -> Result<void> {
      NEFFLD_ASSIGN(sources, open_inputs(model.manifest, inputs));
      return open_places(model.manifest, outputs, saved);
    };
    const auto start = Clock::now();
    NEFFLD_ASSIGN(Loading loaded, load_files(loading));
    told.load_seconds = seconds_since(start);
    LoadedModel& model = *loaded.session->models().front();
    describe(told, loaded, model, sources);

    NEFFLD_ASSIGN(auto tensors, RunTensors::allocate(device, model));
    NEFFLD_TRY(write_inputs(model.parsed.manifest, *tensors, sources, saved));
    NEFFLD_TRY(loaded.session->bind(model, tensors->addresses()));
    if (schedule && sim) sim_set_schedule(*sim, *schedule);
    ExecutionLog log(model.plan, model.parsed.kbins, !trace.empty());
    NEFFLD_TRY(execute(*loaded.session, model, *tensors, sim.get(), log, told));
    NEFFLD_TRY(write_outputs(model.parsed.manifest, *tensors, outputs, told));
    if (!trace.empty()) NEFFLD_TRY(write_file(trace, as_bytes(log.trace_events())));
    const ExecutionLog* shown = profile ? &log : nullptr;
    if (outputs) outputs->keep();
    if (saved) saved->keep();
    NEFFLD_TRY(print_text(report == "json" ? as_json(told, shown) : as_text(told, shown)));
    loaded.session.reset();
    tensors.reset();  // before the trace ends, which has their calls too
    return loaded.close();
  }

  /// Opens what results go to, so that a place that takes none is known before anything runs.
  Result<void> open_places(const Manifest& manifest, std::optional<OutputFolder>& outputs,
                           std::optional<OutputFolder>& saved) const {
    NEFFLD_TRY(of_option("--out", open_folder(out, manifest.outputs, outputs)));
    NEFFLD_TRY(of_option("--save-inputs", open_folder(save_inputs, manifest.inputs, saved)));
    std::vector<std::string> written;
    NEFFLD_TRY(of_option("--out", add_files(out, manifest.outputs, written)));
    NEFFLD_TRY(of_option("--save-inputs", add_files(save_inputs, manifest.inputs, written)));
    NEFFLD_TRY(of_option("--trace", check_output(trace, written)));
    NEFFLD_TRY(of_option("--record", check_output(loading.device.record, written)));
    return trace.empty() ? Result<void>() : of_option("--trace", check_writable(trace));
  }

  Result<void> open_folder(const std::string& path,
                           const std::map<std::string, TensorInfo>& tensors,
                           std::optional<OutputFolder>& folder) const {
    if (path.empty()) return {};
    NEFFLD_ASSIGN(folder, OutputFolder::open(path, force));
    for (const auto& [name, tensor] : tensors) {
      NEFFLD_TRY(folder->check_free(tensor_file_name(name)));
    }
    return {};
  }

  /// Adds the files that tensors will be written to. None may be one that is read.
  Result<void> add_files(const std::string& path, const std::map<std::string, TensorInfo>& tensors,
                         std::vector<std::string>& written) const {
    if (path.empty()) return {};
    for (const auto& [name, tensor] : tensors) {
      written.push_back(path + "/" + tensor_file_name(name));
      NEFFLD_TRY(check_output(written.back(), files_read()));
    }
    return {};
  }

  static Result<void> of_option(const char* option, Result<void> result) {
    if (!result) return tl::unexpected<Error>(in_file(std::move(result.error()), option));
    return result;
  }

  void describe(RunReport& told, const Loading& loaded, const LoadedModel& model,
                const Sources& sources) const {
    told.file = file;
    told.device = loaded.report.device;
    told.architecture = loaded.report.architecture;
    told.model = header_name(model.parsed.header);
    told.warnings = model_warnings(loaded.report.items.front());
    for (const auto& [name, tensor] : model.parsed.manifest.inputs) {
      told.inputs.push_back({name, sources.at(name)->description(), tensor});
    }
  }

  static Result<NewFile> new_npy(OutputFolder& folder, const std::string& name,
                                 const TensorInfo& tensor) {
    NEFFLD_ASSIGN(NewFile file, folder.create(tensor_file_name(name)));
    NEFFLD_TRY(file.append(npy_header(npy_type_of(tensor.dtype), tensor.shape)));
    return file;
  }

  static Result<void> write_inputs(const Manifest& manifest, RunTensors& tensors, Sources& sources,
                                   std::optional<OutputFolder>& saved) {
    for (const auto& [name, tensor] : manifest.inputs) {
      std::optional<NewFile> copy;
      if (saved) {
        NEFFLD_ASSIGN(NewFile made, new_npy(*saved, name, tensor));
        copy.emplace(std::move(made));
      }
      PieceSink also;
      if (copy) also = [&](Bytes piece) { return copy->append(piece); };
      NEFFLD_TRY(tensors.write(name, *sources.at(name), also));
      if (copy) NEFFLD_TRY(copy->finish());
      sources.erase(name);  // its memory and its file
    }
    return {};
  }

  Result<void> execute(Session& session, LoadedModel& model, RunTensors& tensors, SimDevice* sim,
                       ExecutionLog& log, RunReport& told) const {
    std::optional<Watch> watch;
    if (sim != nullptr && (profile || !trace.empty())) watch.emplace(*sim, log);
    ExecuteOptions options;
    options.timeout =
        std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(timeout * 1e3)));
    for (std::uint32_t i = 0; i < repeat; ++i) {
      NEFFLD_TRY(tensors.spoil_outputs());
      const auto start = Clock::now();
      auto executed = session.execute(model, options);
      if (!executed) return tl::unexpected<Error>(in_file(std::move(executed.error()), file));
      told.executions.push_back({seconds_since(start), std::move(*executed)});
    }
    if (log.incomplete()) told.warnings.push_back("memory ran out: the profile is not complete");
    for (const RunReport::Execution& execution : told.executions) {
      for (const std::string& warning : execution.device.warnings) told.warnings.push_back(warning);
    }
    return {};
  }

  static Result<void> write_outputs(const Manifest& manifest, RunTensors& tensors,
                                    std::optional<OutputFolder>& folder, RunReport& told) {
    for (const auto& [name, tensor] : manifest.outputs) {
      told.outputs.push_back({name, "", tensor});
      if (!folder) continue;
      NEFFLD_ASSIGN(NewFile file, new_npy(*folder, name, tensor));
      NEFFLD_TRY(tensors.read(name, [&](Bytes piece) { return file.append(piece); }));
      NEFFLD_TRY(file.finish());
      told.outputs.back().place = file.path();
    }
    return {};
  }
};

}  // namespace

void add_run(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "run", "Execute a NEFF on the simulated device, inputs and outputs as .npy files");
  auto state = std::make_shared<RunCommand>();
  command->add_option("FILE", state->file, "NEFF file")->required();
  command->add_option("--in", state->inputs.files, "NAME=FILE.npy: an input's values")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--random", state->seed,
                   "Seed: inputs without a file get random numbers, floats about normal")
      ->check(unsigned_number());
  command->add_option("--out", state->out, "Write NAME.npy for every output into this folder")
      ->check(not_empty());
  command
      ->add_option("--save-inputs", state->save_inputs,
                   "Write NAME.npy for every input into this folder")
      ->check(not_empty());
  command->add_flag("--force", state->force, "Replace files in these folders");
  command->add_option("--repeat", state->repeat, "Executions on the one load")
      ->check(unsigned_number(UINT32_MAX))
      ->capture_default_str();
  command->add_option("--timeout", state->timeout, "Seconds an execution may take, 0 = no limit")
      ->capture_default_str();
  command
      ->add_option("--trace", state->trace,
                   "Write a timeline of engines and rings (trace-event JSON, for Perfetto)")
      ->check(not_empty());
  command->add_flag("--profile", state->profile,
                    "Tell records and time by engine and opcode, bytes by queue");
  command
      ->add_option("--schedule", state->schedule,
                   "Seed: engines and transfers go on in a random order, 0 = in turns")
      ->check(unsigned_number());
  command->add_option("--report", state->report, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  add_device_name_options(*command, state->loading.device);
  state->loading.add_plan_options(*command);
  state->loading.add_record_options(*command);
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
