// SPDX-License-Identifier: MIT
#include "judge.hpp"

#include <utility>

namespace neffld {

void end_if_shortage(const Error& error) {
  if (is_host_shortage(error)) throw HostShortage{error};
}

Judge::Judge(const LoadProbe& probe, ErrorTest same, const ReproOptions& options)
    : probe_(probe), same_(std::move(same)), options_(options) {}

bool Judge::may_try() {
  stopped_ = stopped_ || work_.tried >= options_.tries || !(seconds() < options_.seconds);
  return !stopped_;
}

bool Judge::shows(Bytes file) {
  if (!may_try()) return false;
  const std::optional<Error> error = probe_(file);
  const bool same = error && same_(*error);
  ++work_.tried;
  if (same) {
    ++work_.taken;
    work_.bytes = file.size();
  }
  work_.seconds = seconds();
  if (options_.progress) options_.progress(work_);
  return same;
}

double Judge::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace neffld
