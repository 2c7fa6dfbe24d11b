// SPDX-License-Identifier: MIT
// neffld run-with: runs a program with our libnrt.so.1 in place of another one.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "commands.hpp"
#include "file_size_signal.hpp"
#include "libraries.hpp"
#include "loading.hpp"
#include "shell_text.hpp"

namespace neffld::cli {
namespace {

struct RunWith {
  std::vector<std::string> program;
  std::string device;
  bool print = false;

  Result<void> run() const;

  /// A wrong one would be found by the program only, in nrt_init().
  Result<void> check_device() const {
    for (const char* known : {"", "auto", "sim", "sim:v2", "sim:v3"}) {
      if (device == known) return {};
    }
    if (device.find('/') == std::string::npos) {
      return fail(Status::invalid, ErrorClass::usage, {.path = "--device"},
                  fmt::format("'{}' is no device, expected sim, sim:v2, sim:v3, auto or the path "
                              "of a node",
                              device));
    }
    if (access(device.c_str(), F_OK) == 0) return {};
    return fail(Status::failure, ErrorClass::file, {.member = device},
                fmt::format("no device node: {}", std::strerror(errno)));
  }
};

Result<void> RunWith::run() const {
  NEFFLD_ASSIGN(std::string path, library_folder("../nrt", "libnrt.so.1"));
  if (const char* before = std::getenv("LD_LIBRARY_PATH"); before != nullptr && *before != 0) {
    path += fmt::format(":{}", before);
  }
  if (print) {
    NEFFLD_TRY(check_device());
    return print_text(export_line("LD_LIBRARY_PATH", path) +
                      (device.empty() ? "" : export_line("NEFFLD_DEVICE", device)));
  }
  if (program.empty()) {
    return fail(Status::invalid, ErrorClass::usage, {},
                "no program was given: neffld run-with -- PROGRAM [ARGUMENT...]");
  }
  NEFFLD_TRY(check_device());
  setenv("LD_LIBRARY_PATH", path.c_str(), 1);
  if (!device.empty()) setenv("NEFFLD_DEVICE", device.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  restore_file_size_signal();
  execvp(words[0], words.data());
  return fail(Status::failure, ErrorClass::file, {.member = program[0]},
              fmt::format("cannot be run: {}", std::strerror(errno)));
}

}  // namespace

void add_run_with(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand(
      "run-with", "Run a program with this project's libnrt.so.1: neffld run-with -- PROGRAM");
  auto state = std::make_shared<RunWith>();
  command->add_option("program", state->program, "The program and its arguments, after --");
  command->add_option("--device", state->device,
                      "sim, sim:v2, sim:v3, auto or the path of a node (sets NEFFLD_DEVICE)");
  command->add_flag("--print", state->print,
                    "Print the environment lines for a shell instead of running anything");
  command->callback([state, &run] { run = [state] { return state->run(); }; });
}

}  // namespace neffld::cli
