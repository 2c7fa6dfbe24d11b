// SPDX-License-Identifier: MIT
#include "log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <mutex>
#include <system_error>
#include <vector>

#include "error_ring.hpp"
#include "local_time.hpp"
#include "log_settings.hpp"
#include "neffld/text.hpp"

namespace neffld::nrt {
namespace {

constexpr std::array level_tags = {"", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"};

/// All sinks. Never destroyed: threads may log until the process ends.
class Logger {
 public:
  static Logger& instance() {
    static Logger* const logger = new Logger;
    return *logger;
  }

  void configure() {
    LogSettings settings = read_log_settings();
    std::vector<std::string> complaints = settings.complaints;
    {
      const std::scoped_lock lock(mutex_);
      // The environment is read at the first message and by every nrt_init.
      if (complaints == settings_.complaints) complaints.clear();
      settings_ = std::move(settings);
    }
    for (const std::string& complaint : complaints) {
      write(Level::error, "NLOG", "configure_log", complaint);
    }
  }
  void set_kernel_log(std::function<void(std::string_view)> sink) {
    const std::scoped_lock lock(mutex_);
    kernel_.swap(sink);
  }
  bool enabled(Level level, std::string_view component) {
    const std::scoped_lock lock(mutex_);
    const LogSinks& sinks = settings_.sinks(component);
    return level <= std::max({sinks.console, sinks.syslog, sinks.file});
  }
  bool coalescing() {
    const std::scoped_lock lock(mutex_);
    return settings_.coalescing;
  }
  void write(Level level, std::string_view component, std::string_view function,
             std::string_view message);

  std::mutex& mutex() { return mutex_; }

 private:
  Logger() { configure(); }
  void to_console(Level level, const std::string& line);
  void to_file(Level level, const LogSinks& sinks, const std::string& line);
  void to_console_instead(const std::string& path, int code);
  void to_kernel(std::string_view body);

  std::mutex mutex_;  ///< settings, and one message at a time
  LogSettings settings_;
  std::string last_refusal_;  ///< of a file that could not be opened
  std::function<void(std::string_view)> kernel_;
};

/// Everything of a text in as few write(2) calls as the kernel makes of it.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(fd, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
}

/// "2026-Nov-30 12:00:00.000001": local time, English month whatever the locale.
std::string timestamp() {
  static constexpr std::array months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  using namespace std::chrono;
  const local_seconds local = local_time(now.tv_sec);
  const local_days day = floor<days>(local);
  const year_month_day date(day);
  const hh_mm_ss time(local - day);
  return fmt::format("{:04}-{}-{:02} {:02}:{:02}:{:02}.{:06}", static_cast<int>(date.year()),
                     months[static_cast<unsigned>(date.month()) - 1],
                     static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), now.tv_nsec / 1000);
}

void Logger::to_console(Level level, const std::string& line) {
  const int fd = level == Level::error ? STDERR_FILENO : STDOUT_FILENO;
  const char* color = level == Level::error ? "\033[91m" : level == Level::warn ? "\033[95m" : "";
  if (*color != 0 && isatty(fd) == 1) {
    write_all(fd, fmt::format("{}{}\033[0m\n", color, line));
  } else {
    write_all(fd, line + "\n");
  }
}

void Logger::to_kernel(std::string_view body) {
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    if (end > 0) kernel_(body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
  }
}

void Logger::to_file(Level level, const LogSinks& sinks, const std::string& line) {
  // A pipe nobody reads must not hold the program up.
  const int fd = open(sinks.path.c_str(),
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);
  if (fd >= 0) {
    write_all(fd, line + "\n");
    close(fd);
    last_refusal_.clear();
  } else if (errno != ENXIO) {  // such a pipe
    to_console_instead(sinks.path, errno);
    to_console(level, line);
  }
}

/// Tells, once for each run of failures of a file, why the console gets what was meant for it.
void Logger::to_console_instead(const std::string& path, int code) {
  const std::string reason = std::generic_category().message(code);
  std::string text = fmt::format("the log file {} cannot be opened: {}", one_line(path), reason);
  if (text == last_refusal_) return;
  to_console(Level::error, text + "; its lines go to the console");
  last_refusal_ = std::move(text);
}

void Logger::write(Level level, std::string_view component, std::string_view function,
                   std::string_view message) {
  static constexpr std::array priorities = {LOG_ERR,  LOG_ERR,   LOG_WARNING,
                                            LOG_INFO, LOG_DEBUG, LOG_DEBUG};
  const std::scoped_lock lock(mutex_);
  const LogSinks& sinks = settings_.sinks(component);
  const bool shown = level <= std::max({sinks.console, sinks.syslog, sinks.file});
  if (!shown && level != Level::error) return;
  const std::string body =
      fmt::format("{:>5} {:>5}:{:<40}{}", level_tags[static_cast<std::size_t>(level)], component,
                  function, message);
  const std::string line =
      fmt::format("{} {:>5}:{:<5} {}", timestamp(), getpid(), syscall(SYS_gettid), body);
  if (level == Level::error) {
    ErrorRing::get().add(line);
    if (shown && kernel_) to_kernel(body);
  }
  if (!shown) return;
  if (level <= sinks.console) to_console(level, line);
  if (level <= sinks.file) to_file(level, sinks, line);
  if (level <= sinks.syslog) {
    syslog(LOG_USER | priorities[static_cast<std::size_t>(level)], "%s", body.c_str());
  }
}

/// What this thread's API call has kept back.
struct Kept {
  const char* api = nullptr;
  std::vector<std::string> lines;
};
thread_local Kept kept;

}  // namespace

void configure_log() {
  Logger::instance().configure();
}

void set_kernel_log(std::function<void(std::string_view line)> sink) {
  Logger::instance().set_kernel_log(std::move(sink));
}

bool log_enabled(Level level, std::string_view component) {
  return Logger::instance().enabled(level, component);
}

void log(Level level, std::string_view component, std::string_view function,
         std::string_view message) {
  Logger::instance().write(level, component, function, message);
}

void log_inner_error(std::string_view component, std::string_view function,
                     std::string_view message) {
  if (kept.api == nullptr || !Logger::instance().coalescing()) {
    log(Level::error, component, function, message);
    return;
  }
  kept.lines.push_back(fmt::format("{}:{} {}", component, function, message));
}

void log_api_error(std::string_view api, std::string_view message, std::string_view hint) {
  std::string block(message);
  for (auto line = kept.lines.rbegin(); line != kept.lines.rend(); ++line) block += "\n\t" + *line;
  if (!hint.empty()) block += fmt::format(" Resolution: {}", hint);
  kept.lines.clear();
  log(Level::error, "NRT", api, block);
}

LogScope::LogScope(const char* api) : api_(api) {
  kept.api = api;
  kept.lines.clear();
}

LogScope::~LogScope() {
  kept.api = nullptr;
  if (kept.lines.empty()) return;
  try {
    std::string block = "Generic API Failure";
    for (auto line = kept.lines.rbegin(); line != kept.lines.rend(); ++line) {
      block += "\n\t" + *line;
    }
    log(Level::error, "NLOG", api_, block);
  } catch (...) {
    // No memory for the message: the status of the call has to do.
  }
  kept.lines.clear();
}

void lock_log_for_fork() {
  Logger::instance().mutex().lock();
}

void unlock_log_after_fork() {
  Logger::instance().mutex().unlock();
}

}  // namespace neffld::nrt
