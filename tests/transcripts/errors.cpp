// SPDX-License-Identifier: MIT
#include "errors.hpp"

#include <cerrno>
#include <stdexcept>

namespace transcripts {
namespace {

constexpr struct {
  const char* name;
  int value;
} errors[] = {{"EPERM", EPERM},        {"ENOENT", ENOENT}, {"E2BIG", E2BIG},   {"ENOMEM", ENOMEM},
              {"EACCES", EACCES},      {"EFAULT", EFAULT}, {"EBUSY", EBUSY},   {"EINVAL", EINVAL},
              {"ENOTTY", ENOTTY},      {"EFBIG", EFBIG},   {"ENOSYS", ENOSYS}, {"EBADMSG", EBADMSG},
              {"EALREADY", EALREADY},  {"ENOTSUPP", 524},  {"ENODEV", ENODEV}, {"EAGAIN", EAGAIN},
              {"ETIMEDOUT", ETIMEDOUT}};

}  // namespace

std::string result_text(long result) {
  for (const auto& error : errors) {
    if (result == -error.value) return error.name;
  }
  return std::to_string(result);
}

long result_of(const std::string& text) {
  for (const auto& error : errors) {
    if (text == error.name) return -error.value;
  }
  std::size_t used = 0;
  const long result = std::stol(text, &used);
  if (used != text.size()) throw std::runtime_error("unknown result " + text);
  return result;
}

}  // namespace transcripts
