// SPDX-License-Identifier: MIT
#include "failure_report.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <array>
#include <atomic>

#include "environment.hpp"
#include "error_ring.hpp"
#include "log.hpp"
#include "neffld/text.hpp"
#include "runtime.hpp"
#include "version.hpp"

namespace neffld::nrt {
namespace {

std::array<std::atomic<bool>, 4> reported;

std::string surroundings(NRT_STATUS status, const char* api) {
  std::string text = "Neuron Runtime failure information\n";
  text += "------------->8------------[ cut here ]------------>8-------------\n";
  text += fmt::format("NRT version: {} ({})\n", runtime_version, open_version_text());
  utsname machine{};
  if (uname(&machine) == 0) {
    text += fmt::format("Kernel: {}\nNodename: {}\n", machine.release, machine.nodename);
  }
  text += fmt::format("\nFailure: {} in {}\n", nrt_get_status_as_str(status), api);
  Runtime& runtime = Runtime::get();
  if (const Runtime::Call call(runtime); call.state() == State::init) {
    text += fmt::format("Device: {}\nLNC: {}\nVisible cores: ", runtime.topology().device,
                        runtime.topology().core_size);
    for (std::uint32_t core = 0; core < runtime.core_count(); ++core) {
      text += fmt::format("{}{}", core == 0 ? "" : ", ", core);
    }
    text += "\n";
  }
  text += "Environment:\n";
  for (const auto& [name, value] : environment()) {
    text += fmt::format("\t{}={}\n", one_line(name), one_line(value));
  }
  return text + "------------->8------------[ cut to here ]------------>8----------";
}

}  // namespace

int status_rank(NRT_STATUS status) {
  switch (static_cast<int>(status)) {
    case NRT_SUCCESS:
      return 0;
    case NRT_TIMEOUT:
    case NRT_HW_ERROR:
    case NRT_EXEC_HW_ERR_COLLECTIVES:
    case NRT_EXEC_SW_NQ_OVERFLOW:
    case NRT_NETWORK_PROXY_FAILURE:
      return 2;
    default:
      return status >= NRT_EXEC_COMPLETED_WITH_ERR ? 3 : 1;
  }
}

void report_failure(NRT_STATUS status, const char* api) {
  if (reported.at(static_cast<std::size_t>(status_rank(status))).exchange(true)) return;
  const bool dumps = !dump_folder().empty();
  if (!dumps && !log_enabled(Level::error, "NRT")) return;
  const std::string text = surroundings(status, api);
  log(Level::error, "NRT", "nrt_infodump", text);
  if (!dumps) return;
  if (const std::string path = dump_errors(text); !path.empty()) {
    log(Level::error, "NRT", "nrt_core_dump", fmt::format("the last errors are in {}", path));
  }
}

void reset_failure_reports() {
  for (auto& flag : reported) flag = false;
}

}  // namespace neffld::nrt
