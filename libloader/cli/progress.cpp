// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

namespace neffld::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto quiet_time = std::chrono::milliseconds(500);
constexpr auto refresh_time = std::chrono::milliseconds(100);
constexpr std::uint64_t json_step_bytes = 16u << 20;

/// A line whenever the stage changes, ends, or moved another 16 MiB.
class JsonLines {
 public:
  void operator()(const Progress& progress) {
    const bool changed = last_stage_ != progress.stage;
    const bool ended = progress.done != last_done_ && progress.done == progress.total;
    if (!changed && !ended && progress.done - last_done_ < json_step_bytes) return;
    last_stage_ = progress.stage;
    last_done_ = progress.done;
    fmt::print(stderr, "{{\"phase\":\"{}\",\"done\":{},\"total\":{}}}\n",
               stage_name(progress.stage), progress.done, progress.total);
  }

 private:
  std::optional<Stage> last_stage_;
  std::uint64_t last_done_ = 0;
};

class TerminalLine {
 public:
  ~TerminalLine() {
    if (shown_) fmt::print(stderr, "\r\x1b[K");
  }
  void operator()(const Progress& progress) {
    const auto now = Clock::now();
    if (now - begin_ < quiet_time || now - last_ < refresh_time) return;
    last_ = now;
    shown_ = true;
    fmt::print(stderr, "\r\x1b[K{} {:.1f} MiB", stage_name(progress.stage),
               static_cast<double>(progress.done) / (1 << 20));
    if (progress.total) {
      fmt::print(stderr, " of about {:.1f}", static_cast<double>(progress.total) / (1 << 20));
    }
    std::fflush(stderr);
  }

 private:
  Clock::time_point begin_ = Clock::now(), last_{};
  bool shown_ = false;
};

template <class Printer>
ProgressSink wrap() {
  return
      [printer = std::make_shared<Printer>()](const Progress& progress) { (*printer)(progress); };
}

}  // namespace

ProgressSink make_progress(bool json) {
  if (json) return wrap<JsonLines>();
  if (isatty(STDERR_FILENO)) return wrap<TerminalLine>();
  return {};
}

}  // namespace neffld::cli
