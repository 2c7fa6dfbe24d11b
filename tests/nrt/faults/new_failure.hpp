// SPDX-License-Identifier: MIT
// operator new of this test program: it can be told to fail, once.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace neffld::test {

/// Which allocation fails: the `nth` (from 1) of those made below a function whose name contains
/// `inside`, by any thread; an empty name counts all. `on_strike` runs in the failing thread,
/// before it sees the failure.
struct NewFailure {
  std::uint64_t nth = 1;
  std::string inside;
  std::function<void()> on_strike;
};

/// Arms a failure for its own lifetime.
class FailingNew {
 public:
  explicit FailingNew(NewFailure failure);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
  bool struck() const;
  std::uint64_t seen() const;  ///< allocations that counted
  /// Functions the failed allocation was made in, outermost last.
  std::vector<std::string> frames() const;
};

/// A call stack, taken without allocating memory.
class CallStack {
 public:
  void take() noexcept;
  /// Names of the functions that have external linkage, demangled, outermost last.
  std::vector<std::string> names() const;

 private:
  static constexpr int depth = 64;
  void* frames_[depth] = {};
  int count_ = 0;
};

}  // namespace neffld::test
