// SPDX-License-Identifier: MIT
// Processes that make calls of all kinds on an in-process device, one choice after the other.
#pragma once

#include <memory>
#include <vector>

#include "world.hpp"

namespace neffld::test {

/// Where decisions come from.
class Choices {
 public:
  virtual ~Choices() = default;
  virtual std::uint64_t next() = 0;
  virtual std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
};

/// splitmix64.
class Random final : public Choices {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() override {
    std::uint64_t value = state_ += 0x9E3779B97F4A7C15ull;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
  }

 private:
  std::uint64_t state_;
};

/// Some processes with their files. What they learn, they use again: handles, addresses, mappings.
class Callers {
 public:
  static constexpr std::size_t processes = 6, descriptors_each = 3, known_handles = 32;

  /// Process numbers are `first_id` and the ones behind it. `choices` must outlive the object.
  Callers(const Playground& playground, Choices& choices, std::int32_t first_id);

  /// Something happens: most often a call; else an open, a close, a share, a mapping, an exit.
  void turn();
  /// All processes exit.
  void leave();

  /// Of all answers, in order.
  std::uint64_t digest() const { return digest_; }
  std::uint64_t accepted() const { return accepted_; }

 private:
  using Files = std::vector<std::unique_ptr<DeviceFile>>;

  void open(std::size_t process);
  /// dup, or a file that another process has inherited.
  void share(std::size_t from);
  void map(std::size_t process);
  /// A chunk and a queue on it, whose descriptors are random but sensible.
  void furnish(std::size_t process);
  /// A register of the queue that furnish() programs.
  std::uint64_t queue_register();
  void call(DeviceFile& file);
  /// Fields get values that mean something elsewhere, limits, or noise.
  void mutate(const shim::CommandInfo& info, Argument& argument);
  std::uint64_t bad_pointer();
  std::uint64_t word();
  std::uint64_t address() { return addresses_[any(addresses_.size())] + choices_.below(0x1000); }
  std::size_t any(std::size_t count) { return static_cast<std::size_t>(choices_.below(count)); }
  void learn(std::vector<std::uint64_t>& known, std::uint64_t value);
  std::int32_t id(std::size_t process) const {
    return first_id_ + static_cast<std::int32_t>(process);
  }
  void note(std::int64_t answer) {
    digest_ = (digest_ ^ static_cast<std::uint64_t>(answer)) * 0x100000001B3ull;
  }

  const Playground& playground_;
  Choices& choices_;
  Buffers buffers_;
  std::int32_t first_id_;
  World world_;
  Files files_[processes];
  std::vector<std::uint64_t> handles_, addresses_;
  std::uint64_t digest_ = 0xCBF29CE484222325ull, accepted_ = 0;
};

}  // namespace neffld::test
