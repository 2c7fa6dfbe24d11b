// SPDX-License-Identifier: MIT
#include "parse_cache.hpp"

#include <isa-l/crc64.h>

#include <algorithm>

namespace neffld {

ParseKey parse_key(Bytes file, const NeffHeader& header, std::uint32_t options) {
  ParseKey key;
  std::copy_n(header.uuid, key.uuid.size(), key.uuid.begin());
  key.size = file.size();
  std::copy_n(header.hash, key.hash.size(), key.hash.begin());
  key.checksum = crc64_ecma_refl(0, file.data(), file.size());
  key.options = options;
  return key;
}

const char* ParseCache::role_text(Role role) {
  switch (role) {
    case Role::creator:
      return "first worker, creating cache";
    case Role::reuse:
      return "using cache";
    case Role::reuse_after_wait:
      return "using cache after wait";
    case Role::after_failure:
      return "cache creation failed, do my own";
    case Role::independent:
      break;
  }
  return "proceeding independently";
}

ParseCache::Lease::Lease(Lease&& other) noexcept
    : cache_(std::exchange(other.cache_, nullptr)),
      model_(std::move(other.model_)),
      role_(other.role_) {}

ParseCache::Lease::~Lease() {
  if (cache_ != nullptr) cache_->drop_reference();
}

void ParseCache::drop_reference() noexcept {
  std::shared_ptr<const ParsedModel> last;  // freed outside the lock
  const std::scoped_lock lock(mutex_);
  if (--references_ > 0) return;
  last.swap(model_);
  state_ = State::uninit;
}

Result<ParseCache::Lease> ParseCache::alone(const Parse& parse, Role role) {
  NEFFLD_ASSIGN(ParsedModel model, parse());
  return Lease(nullptr, std::make_shared<const ParsedModel>(std::move(model)), role);
}

/// The creator's part. The slot is PENDING and holds its reference; whatever happens, the slot
/// settles and everybody who waits is woken.
Result<ParseCache::Lease> ParseCache::create(const Parse& parse) {
  auto made = guarded([&]() -> Result<std::shared_ptr<const ParsedModel>> {
    NEFFLD_ASSIGN(ParsedModel model, parse());
    model.scans = std::make_shared<StreamScans>();
    return std::make_shared<const ParsedModel>(std::move(model));
  });
  {
    const std::scoped_lock lock(mutex_);
    state_ = made ? State::ready : State::failed;
    if (made) model_ = *made;
    settled_.notify_all();
  }
  if (made) return Lease(this, *std::move(made), Role::creator);
  drop_reference();
  return tl::unexpected<Error>(std::move(made.error()));
}

Result<ParseCache::Lease> ParseCache::acquire(const ParseKey& key, const Parse& parse,
                                              OnWait on_wait) {
  const bool anonymous =
      std::all_of(key.uuid.begin(), key.uuid.end(), [](std::uint8_t byte) { return byte == 0; });
  std::unique_lock lock(mutex_);
  const auto count = [&](Role role) { ++counts_.roles[static_cast<std::size_t>(role)]; };
  if (state_ == State::uninit && !anonymous) {
    count(Role::creator);
    state_ = State::pending;
    references_ = 1;
    key_ = key;
    lock.unlock();
    return create(parse);
  }
  const bool same = !anonymous && key_ == key;
  if (same && state_ == State::ready) {
    count(Role::reuse);
    ++references_;
    return Lease(this, model_, Role::reuse);
  }
  if (same && state_ == State::pending) {
    ++references_;  // keeps the slot ours while we sleep
    ++waiting_;
    lock.unlock();
    on_wait();
    lock.lock();
    settled_.wait(lock, [&] { return state_ != State::pending; });
    --waiting_;
    if (state_ == State::ready) {
      count(Role::reuse_after_wait);
      return Lease(this, model_, Role::reuse_after_wait);
    }
    count(Role::after_failure);
    lock.unlock();
    drop_reference();
    return alone(parse, Role::after_failure);
  }
  count(Role::independent);
  lock.unlock();
  return alone(parse, Role::independent);
}

ParseCache::Counts ParseCache::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

std::uint32_t ParseCache::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiting_;
}

bool ParseCache::empty() const {
  const std::scoped_lock lock(mutex_);
  return state_ == State::uninit && references_ == 0 && model_ == nullptr;
}

}  // namespace neffld
