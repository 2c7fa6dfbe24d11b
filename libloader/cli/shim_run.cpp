// SPDX-License-Identifier: MIT
#include "shim_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "file_size_signal.hpp"
#include "libraries.hpp"
#include "loading.hpp"
#include "program_check.hpp"
#include "shell_text.hpp"

namespace neffld::cli {
namespace {

constexpr char library_name[] = "libneuron_shim.so";
constexpr char server_name[] = "neuron-shim-server";
constexpr char in_build[] = "../../drv-shim/preload";

tl::unexpected<Error> system_error(const char* what) {
  return fail(Status::failure, ErrorClass::resource, {},
              fmt::format("{}: {}", what, std::strerror(errno)));
}

class Pipe {
 public:
  Pipe() { static_cast<void>(pipe2(ends_, O_CLOEXEC)); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool good() const { return ends_[1] >= 0; }
  int from() const { return ends_[0]; }
  int to() const { return ends_[1]; }
  void close_end(int which) {
    if (ends_[which] >= 0) close(std::exchange(ends_[which], -1));
  }
  /// Everything up to the other end's close.
  std::string read_all() {
    std::string text;
    char piece[256];
    for (ssize_t got; (got = read(from(), piece, sizeof piece)) != 0;) {
      if (got < 0 && errno != EINTR) break;
      if (got > 0) text.append(piece, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int ends_[2] = {-1, -1};
};

/// The variables the server and the library read.
std::vector<std::pair<std::string, std::string>> settings(const ShimOptions& options) {
  return {
      {"NEFFLD_SHIM_DEVICE", options.device},
      {"NEFFLD_SHIM_COUNT", std::to_string(options.count)},
      {"NEFFLD_SHIM_DRIVER", options.driver},
      {"NEFFLD_SHIM_CLEAN_ERRORS", options.clean_errors ? "1" : "0"},
      {"NEFFLD_SHIM_TRACE", options.trace},
      {"NEFFLD_SHIM_TRACE_DATA", options.trace_data ? "1" : "0"},
  };
}

std::string preload_list(const std::string& folder) {
  const char* before = std::getenv("LD_PRELOAD");
  const std::string library = folder + "/" + library_name;
  return before != nullptr && *before != 0 ? fmt::format("{}:{}", library, before) : library;
}

/// The child that becomes the program as soon as it is told where its devices are.
[[noreturn]] void become_program(const ShimOptions& options, const std::string& preload,
                                 Pipe& session, Pipe& failure) {
  session.close_end(1);
  const std::string folder = session.read_all();
  if (folder.empty()) _exit(127);
  setenv("LD_PRELOAD", preload.c_str(), 1);
  setenv("NEFFLD_SHIM_SESSION", folder.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : options.program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  restore_file_size_signal();
  execvp(words[0], words.data());
  const std::string text = std::strerror(errno);
  static_cast<void>(!write(failure.to(), text.data(), text.size()));
  _exit(127);
}

[[noreturn]] void become_server(const ShimOptions& options, const std::string& path, pid_t owner,
                                Pipe& ready) {
  for (const auto& [name, value] : settings(options)) setenv(name.c_str(), value.c_str(), 1);
  unsetenv("LD_PRELOAD");  // a session within a session: the outer one's devices are not its
  unsetenv("NEFFLD_SHIM_SESSION");
  dup2(ready.to(), STDOUT_FILENO);
  const std::string number = std::to_string(owner);
  execl(path.c_str(), server_name, "--owner", number.c_str(), nullptr);
  _exit(127);
}

/// The server, which will write the trace, has no way to say why it cannot.
Result<void> check_trace(const std::string& trace, const std::string& program) {
  // Its streams and other descriptors are the server's own there.
  for (const char* folder : {"/dev/fd/", "/dev/std", "/proc/"}) {
    if (!trace.starts_with(folder)) continue;
    return fail(Status::invalid, ErrorClass::usage, {.member = trace},
                "leads to a standard stream or another descriptor, expected the name of a file");
  }
  NEFFLD_TRY(check_output(trace, {program}));
  std::error_code ignored;
  const auto kind = std::filesystem::status(trace, ignored).type();
  const bool direct = kind == std::filesystem::file_type::character ||
                      kind == std::filesystem::file_type::fifo;  // written to, not replaced
  return direct ? Result<void>() : check_writable(trace);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

volatile sig_atomic_t forward_to = 0;

/// A terminal's signals reach the program by themselves, they come from the kernel; those that a
/// process sends to us are passed on.
void pass_on(int number, siginfo_t* info, void* /*context*/) {
  const bool by_terminal = info->si_code > 0 && (number == SIGINT || number == SIGQUIT);
  if (!by_terminal) kill(forward_to, number);
}

void pass_on_signals(pid_t child) {
  forward_to = child;
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO;
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

}  // namespace

Result<std::string> shim_environment(const ShimOptions& options) {
  NEFFLD_ASSIGN(const std::string folder, library_folder(in_build, library_name));
  std::string text = export_line("LD_PRELOAD", preload_list(folder));
  for (const auto& [name, value] : settings(options)) text += export_line(name, value);
  return text;
}

Result<void> run_under_shim(const ShimOptions& options, const char* command) {
  if (options.program.empty()) {
    return fail(Status::invalid, ErrorClass::usage, {},
                fmt::format("no program was given: {} -- PROGRAM [ARGUMENT...]", command));
  }
  NEFFLD_ASSIGN(const std::string program, find_program(options.program[0]));
  std::string warning;
  NEFFLD_TRY(check_preload(program, warning));
  if (!warning.empty()) print_note(warning);
  if (!options.trace.empty()) NEFFLD_TRY(check_trace(options.trace, program));
  NEFFLD_ASSIGN(const std::string folder, library_folder(in_build, library_name));
  const std::string preload = preload_list(folder);
  Pipe session, failure;
  if (!session.good() || !failure.good()) return system_error("no pipe can be made");

  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return system_error("no process can be made");
  if (child == 0) become_program(options, preload, session, failure);
  session.close_end(0);
  failure.close_end(1);
  Pipe ready;  // made now, so that the program's process does not hold it open
  const pid_t server = fork();
  if (server == 0) become_server(options, folder + "/" + server_name, child, ready);
  ready.close_end(1);
  std::string place = server > 0 ? ready.read_all() : std::string();
  if (place.empty()) {
    session.close_end(1);
    wait_for(child);
    if (server > 0) wait_for(server);
    return fail(Status::failure, ErrorClass::resource, {},
                "the program was not run: its devices or its trace could not be made");
  }
  place.pop_back();  // the line's end
  pass_on_signals(child);
  static_cast<void>(!write(session.to(), place.data(), place.size()));
  session.close_end(1);
  const std::string reason = failure.read_all();
  const int status = wait_for(child);
  const int served = wait_for(server);
  if (!reason.empty()) {
    return fail(Status::failure, ErrorClass::file, {.member = options.program[0]},
                fmt::format("cannot be run: {}", reason));
  }
  if (served == 0) {
    if (status != 0) std::exit(status);
    return {};
  }
  std::error_code ignored;
  std::filesystem::remove_all(place, ignored);  // a killed server leaves its folder
  return fail(
      Status::failure, ErrorClass::file, {.path = options.trace},
      fmt::format("the server of the devices ended with status {}; the program ended with {}",
                  served, status));
}

}  // namespace neffld::cli
