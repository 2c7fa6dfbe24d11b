// SPDX-License-Identifier: MIT
#include "file_size_signal.hpp"

#include <csignal>

namespace neffld::cli {
namespace {

auto before = SIG_DFL;

}  // namespace

void ignore_file_size_signal() {
  before = std::signal(SIGXFSZ, SIG_IGN);
}

void restore_file_size_signal() {
  std::signal(SIGXFSZ, before);
}

}  // namespace neffld::cli
