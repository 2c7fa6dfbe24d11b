// SPDX-License-Identifier: MIT
#include "completion.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>

#include "log.hpp"

namespace neffld::nrt {
namespace {

/// What waiters for outputs sleep on; never destroyed.
struct Completions {
  std::mutex mutex;
  std::condition_variable changed;
};
Completions& completions() {
  static Completions* const one = new Completions;
  return *one;
}

}  // namespace

void complete_output(Tensor& tensor) {
  {
    const std::scoped_lock lock(completions().mutex);
    ++tensor.completions;
  }
  completions().changed.notify_all();
}

void reset_output(Tensor& tensor) {
  const std::scoped_lock lock(completions().mutex);
  tensor.completions = 0;
}

Result<void> wait_for_output(const Tensor& tensor, std::int64_t timeout, std::uint64_t expected) {
  using Clock = std::chrono::steady_clock;
  constexpr auto heartbeat = std::chrono::seconds(30);
  const auto start = Clock::now();
  const auto done = [&] { return tensor.completions >= expected; };
  std::unique_lock lock(completions().mutex);
  for (;;) {
    auto step = std::chrono::microseconds(heartbeat);
    if (timeout >= 0) {
      const auto waited =
          std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
      const std::chrono::microseconds limit(timeout);
      if (waited >= limit && !done()) {
        return fail(Status::timeout, ErrorClass::check, {},
                    fmt::format("tensor '{}' was completed {} times in {} us, expected {}",
                                tensor.name(), tensor.completions.load(), timeout, expected));
      }
      if (waited < limit) step = std::min(step, limit - waited);
    }
    if (completions().changed.wait_for(lock, step, done)) return {};
    if (timeout < 0) {
      log(Level::warn, "NRT", "nrt_tensor_check_output_completion",
          fmt::format("still waiting for tensor '{}'", tensor.name()));
    }
  }
}

}  // namespace neffld::nrt
