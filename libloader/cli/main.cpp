// SPDX-License-Identifier: MIT
// neffld: load, look into and take apart NEFF files.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "commands.hpp"
#include "file_size_signal.hpp"
#include "loading.hpp"
#include "neffld/sim_control.hpp"
#include "neffld/text.hpp"
#include "version.hpp"

namespace {

constexpr const char* footer =
    R"(Exit codes: 0 done, 1 the answer is no (verification failed), 2 usage, 3 file, 4 format,
5 unsupported, 6 resource, 7 device.)";

int report_error(const neffld::Error& error) {
  const auto sentence = fmt::format("neffld: {}\n", neffld::to_sentence(error));
  neffld::cli::print_aside(sentence);
  return neffld::exit_code(error.error_class);
}

/// The commands whose words were understood, such as "neffld", "trace" and "show".
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> commands = {&app};
  while (!commands.back()->get_subcommands().empty()) {
    commands.push_back(commands.back()->get_subcommands().front());
  }
  return commands;
}

std::string names_of(const std::vector<const CLI::App*>& commands) {
  std::string names;
  for (const CLI::App* command : commands)
    names += (names.empty() ? "" : " ") + command->get_name();
  return names;
}

/// The variable a wrong value comes from, if it was none of the words; else the option.
std::string with_variable(const CLI::App& command, const std::string& text,
                          const std::vector<std::string>& words) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name(), variable = option->get_envname();
    const std::size_t at = text.find(name), end = at + name.size();
    const bool told = at != std::string::npos && (end == text.size() || text[end] != '-');
    if (variable.empty() || !told) continue;
    for (const std::string& word : words) {
      if (word == name || word.starts_with(name + "=")) return text;
    }
    return text.substr(0, at) + variable + text.substr(end);
  }
  return text;
}

/// What is wrong with the arguments.
std::string usage_text(const CLI::App& command, const CLI::ParseError& error,
                       const std::vector<std::string>& words) {
  const std::vector<const CLI::App*> known = command.get_subcommands({});
  const std::vector<std::string> unknown = command.remaining();
  const bool no_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (!no_command || unknown.empty()) return with_variable(command, error.what(), words);
  if (known.empty()) {  // of an unknown option and a missing file the option is the cause
    return fmt::format("The following argument was not expected: {}", unknown.front());
  }
  std::string names;
  for (const CLI::App* one : known) names += (names.empty() ? "" : ", ") + one->get_name();
  return fmt::format("found '{}', expected a command: {}", unknown.front(), names);
}

/// Help and version to stdout; what is wrong with the arguments, which may hold anything, as one
/// sentence.
int report_usage(CLI::App& app, const CLI::ParseError& error,
                 const std::vector<std::string>& words) {
  std::ostringstream help, ignored;
  if (app.exit(error, help, ignored) == 0) {
    const auto printed = neffld::cli::print_text(help.str());
    return printed ? 0 : report_error(printed.error());
  }
  const auto commands = commands_of(app);
  const std::string names = names_of(commands);
  const auto sentence =
      fmt::format("{}: {}; {} --help tells the options\n", names,
                  neffld::one_line(usage_text(*commands.back(), error, words)), names);
  neffld::cli::print_aside(sentence);
  return neffld::exit_code(neffld::ErrorClass::usage);
}

int run(int argc, char** argv) {
  CLI::App app("neffld: an open loader-linker for NEFF files (AWS Neuron executables)", "neffld");
  app.set_version_flag("--version", std::string("neffld ") + neffld::cli::version);
  app.require_subcommand(1);
  app.immediate_callback();  // or variables of options would be judged for commands without them
  app.footer(footer);
  neffld::cli::Action action;
  neffld::cli::add_inspect(app, action);
  neffld::cli::add_plan(app, action);
  neffld::cli::add_load(app, action);
  neffld::cli::add_dump(app, action);
  neffld::cli::add_relocs(app, action);
  neffld::cli::add_explain(app, action);
  neffld::cli::add_check(app, action);
  neffld::cli::add_diff(app, action);
  neffld::cli::add_disasm(app, action);
  neffld::cli::add_ip(app, action);
  neffld::cli::add_trace(app, action);
  neffld::cli::add_pack(app, action);
  neffld::cli::add_unpack(app, action);
  neffld::cli::add_repro(app, action);
  neffld::cli::add_conformance(app, action);
  neffld::cli::add_bench(app, action);
  neffld::cli::add_run(app, action);
  neffld::cli::add_run_with(app, action);
  neffld::cli::add_shim(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_usage(app, error, {argv + std::min(argc, 1), argv + argc});
  }
  const std::uint64_t before = neffld::sim_memory_failures();
  auto result = neffld::guarded(action);
  if (result) return 0;
  // A device in this process that gets no memory answers as a real one whose own is full.
  if (neffld::sim_memory_failures() != before && !neffld::is_host_shortage(result.error())) {
    neffld::Error& error = result.error();
    error.status = neffld::Status::resource;
    error.error_class = neffld::ErrorClass::resource;
    error.text += fmt::format("; the simulated device: {}", neffld::host_memory_exhausted);
  }
  return report_error(result.error());
}

/// A standard descriptor the caller has closed would be given to the next file that is opened, and
/// the report written into it. What takes its place can be read (nothing) and not written, so that
/// a report that goes nowhere stays an error.
void hold_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(standard, F_GETFD) == -1 && errno == EBADF) {
      static_cast<void>(open("/dev/null", O_RDONLY));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_descriptors();
  neffld::cli::ignore_file_size_signal();
  try {
    return run(argc, argv);
  } catch (...) {
    return report_error(neffld::error_from_current_exception());
  }
}
