// SPDX-License-Identifier: MIT
// neffld: load, look into and take apart NEFF files.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>

#include "commands.hpp"
#include "file_size_signal.hpp"
#include "loading.hpp"
#include "neffld/text.hpp"
#include "version.hpp"

namespace {

constexpr const char* footer =
    R"(Exit codes: 0 done, 1 the answer is no (verification failed), 2 usage, 3 file, 4 format,
5 unsupported, 6 resource, 7 device.)";

int report_error(const neffld::Error& error) {
  const auto sentence = fmt::format("neffld: {}\n", neffld::one_line(neffld::to_sentence(error)));
  neffld::cli::print_aside(sentence);
  return neffld::exit_code(error.error_class);
}

/// The command words that were understood, such as "neffld trace show".
std::string command_of(const CLI::App& app) {
  std::string words = "neffld";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    words += ' ' + at->get_name();
  }
  return words;
}

/// Help and version to stdout; what is wrong with the arguments, which may hold anything, as one
/// sentence.
int report_usage(CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream help, ignored;
  if (app.exit(error, help, ignored) == 0) {
    const auto printed = neffld::cli::print_text(help.str());
    return printed ? 0 : report_error(printed.error());
  }
  const std::string command = command_of(app);
  const auto sentence = fmt::format("{}: {}; {} --help tells the options\n", command,
                                    neffld::one_line(error.what()), command);
  neffld::cli::print_aside(sentence);
  return neffld::exit_code(neffld::ErrorClass::usage);
}

int run(int argc, char** argv) {
  CLI::App app("neffld: an open loader-linker for NEFF files (AWS Neuron executables)", "neffld");
  app.set_version_flag("--version", std::string("neffld ") + neffld::cli::version);
  app.require_subcommand(1);
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
    return report_usage(app, error);
  }
  const auto result = neffld::guarded(action);
  return result ? 0 : report_error(result.error());
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
