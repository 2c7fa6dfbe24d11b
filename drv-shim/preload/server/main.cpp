// SPDX-License-Identifier: MIT
// neuron-shim-server: the devices of a session. Started by `neffld shim` or by the first program
// that LD_PRELOAD gives libneuron_shim.so; prints its folder, a line, when it is ready.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "server.hpp"

namespace neffld::shim {
namespace {

/// The environment variable's text, or nothing.
std::optional<std::string> variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return std::nullopt;
  return text;
}

tl::unexpected<Error> bad_value(const char* name, const std::string& found, const char* allowed) {
  return fail(Status::invalid, ErrorClass::usage, {.path = name},
              fmt::format("found '{}', expected {}", found, allowed));
}

Result<bool> yes_or_no(const char* name) {
  const auto text = variable(name);
  if (!text || *text == "0") return false;
  if (*text == "1") return true;
  return bad_value(name, *text, "0 or 1");
}

Result<SessionOptions> read_options() {
  SessionOptions options;
  if (const auto device = variable("NEFFLD_SHIM_DEVICE")) {
    if (*device == "node") {
      options.pass_through = true;
    } else if (*device == "sim:v2") {
      options.architecture = 2;
    } else if (*device != "sim" && *device != "sim:v3") {
      return bad_value("NEFFLD_SHIM_DEVICE", *device,
                       "sim:v2, sim:v3 or sim, or node to record a real device");
    }
  }
  if (const auto count = variable("NEFFLD_SHIM_COUNT")) {
    const char* end = count->data() + count->size();
    const auto read = std::from_chars(count->data(), end, options.count);
    if (read.ec != std::errc() || read.ptr != end || options.count < 1 || options.count > 64) {
      return bad_value("NEFFLD_SHIM_COUNT", *count, "a number of devices, 1 to 64");
    }
  }
  if (const auto driver = variable("NEFFLD_SHIM_DRIVER")) {
    if (*driver != "2.24" && *driver != "2.27" && *driver != "2.30") {
      return bad_value("NEFFLD_SHIM_DRIVER", *driver, "2.24, 2.27 or 2.30");
    }
    options.driver_minor =
        static_cast<std::uint32_t>(std::strtoul(driver->c_str() + 2, nullptr, 10));
  }
  NEFFLD_ASSIGN(options.clean_errors, yes_or_no("NEFFLD_SHIM_CLEAN_ERRORS"));
  return options;
}

Result<std::unique_ptr<CallLog>> make_log(const SessionOptions& options) {
  const auto path = variable("NEFFLD_SHIM_TRACE");
  NEFFLD_ASSIGN(const bool data, yes_or_no("NEFFLD_SHIM_TRACE_DATA"));
  if (!path) {
    if (!options.pass_through) return std::unique_ptr<CallLog>();
    return fail(Status::invalid, ErrorClass::usage, {.path = "NEFFLD_SHIM_TRACE"},
                "is not set: NEFFLD_SHIM_DEVICE=node records what a real device is asked");
  }
  // A real driver may take the machine down with it.
  const TraceOptions trace{data, options.pass_through};
  const std::string name =
      options.pass_through ? "/dev/neuron*" : fmt::format("sim:v{}", options.architecture);
  return CallLog::create(*path, trace, name, !options.pass_through);
}

Result<std::int32_t> owner_of(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "--owner") == 0) {
    char* end = nullptr;
    const long owner = std::strtol(words[2], &end, 10);
    if (*end == '\0' && owner > 0) return static_cast<std::int32_t>(owner);
  }
  return fail(Status::invalid, ErrorClass::usage, {},
              "use neffld shim: this program is started by it");
}

/// Tells whoever waits for it where the session is.
void tell_folder(const std::string& folder) {
  fmt::print("{}\n", folder);
  std::fflush(stdout);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) std::fclose(stdout);
}

Result<void> serve(int count, char** words) {
  NEFFLD_ASSIGN(const std::int32_t owner, owner_of(count, words));
  NEFFLD_ASSIGN(const SessionOptions options, read_options());
  NEFFLD_ASSIGN(auto log, make_log(options));
  std::unique_ptr<Devices> devices;
  if (!options.pass_through) {
    NEFFLD_ASSIGN(devices, Devices::create(options));
  }
  NEFFLD_ASSIGN(SessionFolder folder, SessionFolder::create());
  Server server(std::move(folder), std::move(devices), std::move(log));
  NEFFLD_TRY(server.start(owner));
  tell_folder(server.folder());
  return server.run();
}

}  // namespace
}  // namespace neffld::shim

int main(int count, char** words) {
  // What ends the program from a terminal must not take the devices away first.
  // A trace that may not grow any more (ulimit -f) is no reason, either.
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);
  const auto served = neffld::shim::serve(count, words);
  if (served) return 0;
  neffld::shim::tell(served.error());
  return 1;
}
