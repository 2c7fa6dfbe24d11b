// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace neffld::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto quiet_time = std::chrono::milliseconds(500);
constexpr auto refresh_time = std::chrono::milliseconds(100);
constexpr std::uint64_t json_step_bytes = 16u << 20;

/// Where nobody can read it (a full disk, a terminal that hung up) progress is lost, not the work.
void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

/// A line whenever the stage changes, ends, or moved another 16 MiB.
class JsonLines {
 public:
  void operator()(const Progress& progress) {
    const bool changed = last_stage_ != progress.stage;
    const bool ended = progress.done != last_done_ && progress.done == progress.total;
    if (!changed && !ended && progress.done - last_done_ < json_step_bytes) return;
    last_stage_ = progress.stage;
    last_done_ = progress.done;
    say(fmt::format("{{\"phase\":\"{}\",\"done\":{},\"total\":{}}}\n", stage_name(progress.stage),
                    progress.done, progress.total));
  }

 private:
  std::optional<Stage> last_stage_;
  std::uint64_t last_done_ = 0;
};

/// A line that rewrites itself.
class TerminalLine {
 public:
  ~TerminalLine() {
    if (shown_) say("\r\x1b[K");
  }
  /// Whether it is time for another line.
  bool due() {
    const auto now = Clock::now();
    if (now - begin_ < quiet_time || now - last_ < refresh_time) return false;
    last_ = now;
    return true;
  }
  void show(const std::string& text) {
    shown_ = true;
    say("\r\x1b[K" + text);
  }

 private:
  Clock::time_point begin_ = Clock::now(), last_{};
  bool shown_ = false;
};

double mebibytes(std::uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

class LoadLine {
 public:
  void operator()(const Progress& progress) {
    if (!line_.due()) return;
    std::string text =
        fmt::format("{} {:.1f} MiB", stage_name(progress.stage), mebibytes(progress.done));
    if (progress.total) text += fmt::format(" of about {:.1f}", mebibytes(progress.total));
    line_.show(text);
  }

 private:
  TerminalLine line_;
};

class ReproLine {
 public:
  void operator()(const ReproProgress& progress) {
    if (!line_.due()) return;
    line_.show(fmt::format("tried {} files in {:.0f} s, {} showed the error, the last has {} bytes",
                           progress.tried, progress.seconds, progress.taken, progress.bytes));
  }

 private:
  TerminalLine line_;
};

template <class Value, class Printer>
std::function<void(const Value&)> wrap() {
  return [printer = std::make_shared<Printer>()](const Value& progress) { (*printer)(progress); };
}

}  // namespace

ProgressSink make_progress(bool json) {
  if (json) return wrap<Progress, JsonLines>();
  if (isatty(STDERR_FILENO)) return wrap<Progress, LoadLine>();
  return {};
}

std::function<void(const ReproProgress&)> make_repro_progress() {
  if (isatty(STDERR_FILENO)) return wrap<ReproProgress, ReproLine>();
  return {};
}

}  // namespace neffld::cli
