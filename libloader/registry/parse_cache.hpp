// SPDX-License-Identifier: MIT
// TNC, the temporary NEFF cache: one slot through which loads of the same file that overlap in time
// share one parse (spec 07 section 6.3).
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "neffld/session.hpp"

namespace neffld {

/// Which parse a load asks for. The uuid alone names the slot; the rest keeps two files that share
/// a uuid, or two ways to read one file, from being taken for each other ([ours], spec 07 section
/// 6.3).
struct ParseKey {
  std::array<std::uint8_t, 16> uuid = {};
  std::uint64_t size = 0;               ///< bytes of the file
  std::array<std::uint8_t, 32> hash{};  ///< the header's
  std::uint64_t checksum = 0;           ///< CRC-64 of the whole file
  std::uint32_t options = 0;            ///< the caller's number for its parse options

  bool operator==(const ParseKey&) const = default;
};
/// `file` must have passed check_header().
ParseKey parse_key(Bytes file, const NeffHeader& header, std::uint32_t options);

class ParseCache {
 public:
  using Parse = std::function<Result<ParsedModel>()>;
  /// Told, outside the lock, that a load is going to wait for the creator. May not throw.
  using OnWait = void (*)() noexcept;

  /// What a load did; the numbers count calls since the start.
  enum class Role : std::uint8_t {
    creator,           ///< filled the slot
    reuse,             ///< found it filled
    reuse_after_wait,  ///< waited for the creator
    after_failure,     ///< waited, the creator failed, parsed on its own
    independent,       ///< the slot held something else, parsed on its own
  };
  static const char* role_text(Role role);

  /// A parse result and, for everybody but independents, a reference to the slot. The slot empties
  /// when the last reference goes.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    const ParsedModel& model() const { return *model_; }
    Role role() const { return role_; }

   private:
    friend class ParseCache;
    Lease(ParseCache* cache, std::shared_ptr<const ParsedModel> model, Role role)
        : cache_(cache), model_(std::move(model)), role_(role) {}
    ParseCache* cache_;  ///< null without a reference
    std::shared_ptr<const ParsedModel> model_;
    Role role_;
  };

  /// Takes the slot's result if it fits the key, waits for it if it is being made, or calls
  /// `parse`, outside the lock. A zero uuid is never shared. Errors: those of `parse`.
  Result<Lease> acquire(
      const ParseKey& key, const Parse& parse, OnWait on_wait = []() noexcept {});

  struct Counts {
    std::uint64_t roles[5] = {};
  };
  Counts counts() const;
  /// Loads that wait for the creator now.
  std::uint32_t waiting() const;
  /// Nobody holds the slot.
  bool empty() const;

 private:
  enum class State : std::uint8_t { uninit = 0, pending = 1, ready = 2, failed = 3 };

  Result<Lease> create(const Parse& parse);
  Result<Lease> alone(const Parse& parse, Role role);
  void drop_reference() noexcept;

  mutable std::mutex mutex_;
  std::condition_variable settled_;
  State state_ = State::uninit;
  ParseKey key_;
  std::uint32_t references_ = 0, waiting_ = 0;
  std::shared_ptr<const ParsedModel> model_;
  Counts counts_;
};

}  // namespace neffld
