// SPDX-License-Identifier: MIT
#include "error_ring.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "environment.hpp"
#include "local_time.hpp"
#include "log.hpp"
#include "neffld/container.hpp"

namespace neffld::nrt {

ErrorRing& ErrorRing::get() {
  static ErrorRing* const ring = new ErrorRing;
  return *ring;
}

void ErrorRing::resize(std::uint32_t cores) {
  const std::scoped_lock lock(mutex_);
  room_ = bytes_per_core * (cores == 0 ? 1 : cores);
  shrink();
}

void ErrorRing::shrink() {
  while (used_ > room_ && !lines_.empty()) {
    used_ -= lines_.front().size() + 1;
    lines_.pop_front();
  }
}

void ErrorRing::add(std::string_view line) {
  const std::scoped_lock lock(mutex_);
  lines_.emplace_back(line);
  used_ += line.size() + 1;
  shrink();
}

std::string ErrorRing::text() const {
  const std::scoped_lock lock(mutex_);
  std::string all;
  all.reserve(used_);
  for (const std::string& line : lines_) all.append(line).push_back('\n');
  return all;
}

std::string dump_folder() {
  const auto given = get_env("NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY");
  if (!given) return {};
  std::string folder;
  for (std::size_t i = 0; i < given->size(); ++i) {
    const char token = (*given)[i] == '%' && i + 1 < given->size() ? (*given)[i + 1] : '\0';
    switch (token) {
      case 'p':
        folder += std::to_string(getpid());
        break;
      case 't':
        folder += std::to_string(syscall(SYS_gettid));
        break;
      case 'd': {
        const std::chrono::year_month_day today(
            std::chrono::floor<std::chrono::days>(local_time(std::time(nullptr))));
        folder +=
            fmt::format("{:04}-{:02}-{:02}", static_cast<int>(today.year()),
                        static_cast<unsigned>(today.month()), static_cast<unsigned>(today.day()));
        break;
      }
      case 'i': {
        char name[256] = {};
        static_cast<void>(gethostname(name, sizeof name - 1));
        folder += name;
        break;
      }
      case 'l':
      case 'c':
        break;
      default:
        folder += (*given)[i];
        continue;
    }
    ++i;
  }
  return folder;
}

std::string dump_errors(std::string_view text) {
  static std::atomic<unsigned> number = 0;
  const std::string folder = dump_folder();
  if (folder.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::string path = fmt::format("{}/nrt_{}_{}.log", folder, getpid(), ++number);
  const std::string whole = fmt::format("{}\n{}", text, ErrorRing::get().text());
  const auto written = write_file(path, as_bytes(whole));
  if (written) return path;
  log(Level::warn, "NRT", "nrt_core_dump", to_sentence(written.error()));
  return {};
}

}  // namespace neffld::nrt
