// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "inspected.hpp"
#include "json_out.hpp"
#include "model_facts.hpp"
#include "neffld/compatibility.hpp"
#include "neffld/sync_model.hpp"
#include "neffld/text.hpp"

namespace neffld::cli {
namespace {

/// What was found out about one file; parts that were not asked for are absent.
struct Findings {
  std::string file;
  std::optional<Compatibility> offline;
  std::optional<TokenResult> run;
  Layout layout;  ///< of the run

  bool good() const {
    return (!offline || offline->compatible()) &&
           (!run || run->outcome == TokenResult::Outcome::finished);
  }
};

void line(std::string& text, std::string_view name, std::string_view content) {
  text += fmt::format("  {:<11} {}\n", name, content);
}

std::string stopped_text(const Layout& layout, const StoppedEngine& s) {
  const std::string source =
      s.source_slot ? fmt::format("NEFF slot {}", *s.source_slot) : std::string("the loader's own");
  return fmt::format("{} {} image slot {} ({}), {}: {}{}",
                     one_line(layout.subgraphs[s.subgraph].name), engine_name(s.engine),
                     s.image_slot, source, s.record, s.reason,
                     s.nobody_left ? "; nothing that is left raises it" : "");
}

void offline_text(std::string& text, const Compatibility& c) {
  line(text, "format",
       fmt::format("NEFF {}.{}, package {}, features 0x{:x}",
                   std::uint64_t{c.header.neff_version_major},
                   std::uint64_t{c.header.neff_version_minor}, std::uint64_t{c.header.pkg_version},
                   std::uint64_t{c.header.feature_bits}));
  for (const FeatureVerdict& feature : c.features) {
    line(text, "feature", fmt::format("bit {} {}: {}", feature.bit, feature.name, feature.state));
  }
  if (!c.target.empty() || c.file_arch != Arch::any) {
    line(text, "target",
         fmt::format("{} ({}), checked for {}", target_text(c.target), arch_name(c.file_arch),
                     arch_name(c.arch)));
  }
  if (c.needs_interface) {
    line(text, "driver",
         fmt::format("needs runtime interface {} at least{}", c.needs_interface,
                     c.driver ? fmt::format(", asked for {} to {}", c.driver->min, c.driver->max)
                              : std::string()));
  }
  if (c.records) line(text, "records", fmt::format("{} checked", c.records));
  for (const Problem& problem : c.problems) {
    std::string place = one_line(problem.member);
    if (problem.record) place += fmt::format(" record {}", *problem.record);
    if (problem.count > 1) place += fmt::format(" and {} more", problem.count - 1);
    line(text, "problem",
         place.empty() ? one_line(problem.text) : place + ": " + one_line(problem.text));
  }
  for (const std::string& note : c.notes) line(text, "note", note);
}

void run_text(std::string& text, const Findings& findings) {
  const TokenResult& run = *findings.run;
  const std::string_view verdict =
      run.outcome == TokenResult::Outcome::finished ? "runs to the end" : outcome_name(run.outcome);
  line(text, "run",
       fmt::format("{}{}{}", verdict, run.note.empty() ? "" : ": ", one_line(run.note)));
  line(text, "executed",
       fmt::format("{} records, {} descriptors, {} of them signals, {} direct transfers",
                   run.records, run.descriptors, run.pokes, run.transfers));
  for (const StoppedEngine& stopped : run.stopped) {
    line(text, "stopped", stopped_text(findings.layout, stopped));
  }
}

std::string_view verdict(const Findings& findings) {
  const bool ends = findings.good();
  if (!findings.offline) return ends ? "runs to its end" : "does not run to its end";
  if (!findings.offline->compatible()) return "not compatible";
  return ends ? "compatible" : "compatible, but it does not run to its end";
}

std::string as_text(const Findings& findings) {
  std::string text = fmt::format("{}: {}\n", one_line(findings.file), verdict(findings));
  if (findings.offline) offline_text(text, *findings.offline);
  if (findings.run) run_text(text, findings);
  return text;
}

void offline_json(JsonLine& out, const Compatibility& c) {
  out.object("header", [&] {
    out.field("version_major", std::uint64_t{c.header.neff_version_major});
    out.field("version_minor", std::uint64_t{c.header.neff_version_minor});
    out.field("package", std::uint64_t{c.header.pkg_version});
    out.hex("feature_bits", c.header.feature_bits);
  });
  out.array("features", c.features, [&](const FeatureVerdict& feature) {
    out.object([&] {
      out.field("bit", std::uint32_t{feature.bit});
      out.field("name", feature.name);
      out.field("state", feature.state);
    });
  });
  out.field("target", c.target);
  out.field("file_arch", arch_name(c.file_arch));
  out.field("arch", arch_name(c.arch));
  out.field("needs_interface", c.needs_interface);
  if (c.driver) {
    out.object("driver", [&] {
      out.field("min", c.driver->min);
      out.field("max", c.driver->max);
    });
  }
  out.field("records", c.records);
  out.array("problems", c.problems, [&](const Problem& problem) {
    out.object([&] {
      out.field("member", problem.member);
      if (problem.record) out.field("record", *problem.record);
      out.field("count", problem.count);
      out.field("text", problem.text);
    });
  });
  out.strings("notes", c.notes);
}

void run_json(JsonLine& out, const Findings& findings) {
  const TokenResult& run = *findings.run;
  out.object("run", [&] {
    out.field("outcome", outcome_name(run.outcome));
    out.field("note", run.note);
    out.field("records", run.records);
    out.field("descriptors", run.descriptors);
    out.field("signals", run.pokes);
    out.field("transfers", run.transfers);
    out.array("stopped", run.stopped, [&](const StoppedEngine& stopped) {
      out.object([&] {
        out.field("subgraph", findings.layout.subgraphs[stopped.subgraph].name);
        out.field("engine", engine_name(stopped.engine));
        out.field("image_slot", stopped.image_slot);
        if (stopped.source_slot) out.field("neff_slot", *stopped.source_slot);
        out.field("record", stopped.record);
        out.field("reason", stopped.reason);
        out.field(stopped.event ? "event" : "semaphore", stopped.index);
        out.field("value", stopped.value);
        out.field("wanted", stopped.wanted);
        out.field("nobody_left", stopped.nobody_left);
      });
    });
  });
}

std::string as_json(const Findings& findings) {
  JsonLine out;
  out.object([&] {
    out.field("file", findings.file);
    out.field("good", findings.good());
    if (findings.offline) offline_json(out, *findings.offline);
    if (findings.run) run_json(out, findings);
  });
  return std::string(out.text()) + "\n";
}

struct CheckCommand {
  std::vector<std::string> files;
  std::string arch, driver, format = "text";
  bool run_tokens_too = false;
  LoadingOptions loading;

  Result<Arch> asked_arch() const {
    for (const Arch candidate : {Arch::v2, Arch::v3, Arch::v4}) {
      if (arch == arch_name(candidate) || arch == arch_table(candidate).code_name) return candidate;
    }
    return Arch::any;
  }

  /// A model that loads is run; its rings need addresses of inputs and outputs, so it gets some.
  Result<void> run_model(Findings& findings) const {
    LoadingOptions options = loading;
    if (!arch.empty()) {
      NEFFLD_ASSIGN(const Arch asked, asked_arch());
      options.device.name = fmt::format("sim:{}", arch_name(asked));
    }
    NEFFLD_ASSIGN(const Inspected inspected, inspect_file(findings.file, options, true));
    for (const Layout& layout : inspected.layouts) {
      NEFFLD_ASSIGN(findings.run, run_tokens(layout, inspected.memory()));
      findings.layout = layout;
      if (!findings.good()) break;
    }
    return {};
  }

  Result<Findings> examine(const std::string& file) const {
    Findings findings;
    findings.file = file;
    NEFFLD_ASSIGN(const bool image, is_image_file(file));
    if (image && !run_tokens_too) {
      return fail(Status::invalid, ErrorClass::usage, {.member = file},
                  "is an image, expected a NEFF, or --run as well");
    }
    if (!image) {
      CompatibilityOptions options;
      NEFFLD_ASSIGN(options.arch, asked_arch());
      options.driver = driver;
      options.parse = parse_options(loading, Stage::build);
      NEFFLD_ASSIGN(const std::vector<std::uint8_t> bytes,
                    read_file(file, options.parse.container.limits.file_bytes()));
      auto offline = check_compatibility(bytes, options);
      if (!offline) return tl::unexpected<Error>(in_file(std::move(offline.error()), file));
      findings.offline = std::move(*offline);
    }
    if (run_tokens_too && findings.good()) NEFFLD_TRY(run_model(findings));
    return findings;
  }

  Result<void> run() {
    std::uint64_t bad = 0;
    for (const std::string& file : files) {
      NEFFLD_ASSIGN(const Findings findings, examine(file));
      if (!findings.good()) ++bad;
      NEFFLD_TRY(print_text(format == "json" ? as_json(findings) : as_text(findings)));
    }
    if (bad == 0) return {};
    return fail(Status::failure, ErrorClass::check, {},
                fmt::format("{} of {} files failed the check", bad, files.size()));
  }
};

}  // namespace

void add_check(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "check",
      "Say without a device if files can be loaded, and with --run if they come to an end");
  auto state = std::make_shared<CheckCommand>();
  command->add_option("FILE", state->files, "NEFF files; with --run also images")->required();
  command->add_flag("--run", state->run_tokens_too,
                    "Load on the simulated device and run the token self-test: engines, "
                    "semaphores, events and rings, without moving data");
  command->add_option("--arch", state->arch, "v2, v3, v4 or a code name; default: the file's")
      ->check(CLI::IsMember({"v2", "v3", "v4", "sunda", "cayman", "mariana"}));
  command->add_option("--driver", state->driver,
                      "Runtime interfaces the driver accepts, e.g. 10..11, or its releases, e.g. "
                      "2.24..2.30");
  command->add_option("--format", state->format, "text, or json: one object a file")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  state->loading.add_parse_options(*command);
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
