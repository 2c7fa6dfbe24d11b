// SPDX-License-Identifier: MIT
#include "fan_out.hpp"

#include <fmt/format.h>

#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace neffld {
namespace {

/// Threads that are joined whatever happens: they use what their starter holds.
class Joined {
 public:
  explicit Joined(std::uint32_t count) { threads_.reserve(count); }
  ~Joined() { join(); }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

  /// Throws std::system_error if there is no thread.
  template <class Body>
  void start(Body&& body) {
    threads_.emplace_back(std::forward<Body>(body));
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

using Results = std::vector<std::optional<Result<void>>>;

/// Starts one thread a subgraph; those that could not be started leave no result.
Result<void> run_all(std::uint32_t count, const BuildOne& build, Results& results) {
  Joined threads(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    try {
      threads.start([&, i] { results[i] = guarded([&] { return build(i); }); });
    } catch (const std::system_error& error) {
      return fail(Status::resource, ErrorClass::resource, {},
                  fmt::format("Failed to create thread {} of {}, one for each subgraph: {}", i + 1,
                              count, error.code().message()));
    }
  }
  threads.join();
  return {};
}

}  // namespace

Result<void> fan_out(std::uint32_t count, const BuildOne& build, const UndoOne& undo,
                     bool one_thread) {
  if (count > most_subgraphs) {
    return fail(Status::invalid, ErrorClass::unsupported, {.path = "$.graphs"},
                fmt::format("found {} subgraphs, expected at most {}", count, most_subgraphs));
  }
  Results results(count);
  Result<void> first;
  if (count == 1 || one_thread) {
    for (std::uint32_t i = 0; i < count; ++i) {
      results[i] = guarded([&] { return build(i); });
      if (!*results[i]) break;
    }
  } else {
    first = guarded([&] { return run_all(count, build, results); });
  }
  for (auto& result : results) {
    if (first && result && !*result) first = std::move(*result);
  }
  if (first) return {};
  for (std::uint32_t i = count; i-- > 0;) {
    if (results[i] && *results[i]) undo(i);
  }
  return first;
}

}  // namespace neffld
