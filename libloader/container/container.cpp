// SPDX-License-Identifier: MIT
// Parsing: header gates, integrity, inflate, tar walk (spec 01 sections 2 to 5).
#include "neffld/container.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "archive_walk.hpp"
#include "arena.hpp"
#include "gzip.hpp"
#include "payload_hash.hpp"

namespace neffld {

struct Container::State {
  NeffHeader header;
  ContainerFacts facts;
  Arena arena;  ///< empty for a payload that is a plain tar: then the views are into the file
  MemberTable table;
};

Container::Container(std::unique_ptr<State> state) : state_(std::move(state)) {}
Container::Container(Container&&) noexcept = default;
Container& Container::operator=(Container&&) noexcept = default;
Container::~Container() = default;

const NeffHeader& Container::header() const {
  return state_->header;
}
std::span<const Member> Container::members() const {
  return state_->table.members;
}
const ContainerFacts& Container::facts() const {
  return state_->facts;
}

const Member* Container::find(std::string_view name) const {
  const auto& members = state_->table.members;
  const auto found = std::ranges::lower_bound(members, name, {}, &Member::name);
  return found != members.end() && found->name == name ? &*found : nullptr;
}

namespace {

/// The tar inside the payload: inflated into the container's arena, or the payload itself.
Result<Bytes> open_payload(Container::State& state, Bytes payload, const ContainerLimits& limits) {
  ContainerFacts& facts = state.facts;
  facts.gzip = is_gzip(payload);
  if (!facts.gzip) {
    facts.inflated_bytes = payload.size();
    if (payload.size() > limits.inflated_bytes) {
      return fail(Status::resource, ErrorClass::resource, {},
                  fmt::format("the payload has {} bytes, the limit is {}", payload.size(),
                              limits.inflated_bytes));
    }
    return payload;
  }
  NEFFLD_ASSIGN(Inflated inflated, inflate_payload(payload, limits.inflated_bytes));
  facts.gzip_bytes = inflated.gzip_bytes;
  facts.padding_bytes = inflated.padding_bytes;
  facts.inflated_bytes = inflated.size;
  state.arena = std::move(inflated.arena);
  return Bytes(state.arena.bytes()).first(static_cast<std::size_t>(inflated.size));
}

/// Hashing takes a third of the time of inflating and more, and neither digest can be split. So a
/// large payload is hashed in a second thread; for a small one a thread would cost more than it
/// saves. Where threads have run out, the hash is made when its result is asked for.
std::future<Result<HashForm>> start_hash(const NeffHeader& header, Bytes payload) {
  constexpr std::size_t worth_a_thread = std::size_t{128} << 10;
  const auto lazily = std::launch::deferred;
  return std::async(payload.size() < worth_a_thread ? lazily : std::launch::async | lazily,
                    [&header, payload] { return verify_payload_hash(header, payload); });
}

/// Fills arena and member table. A wrong hash is reported before what follows from the damage.
Result<void> open_verified(Container::State& state, Bytes payload,
                           const ContainerOptions& options) {
  const auto open = [&]() -> Result<void> {
    NEFFLD_ASSIGN(const Bytes tar, open_payload(state, payload, options.limits));
    NEFFLD_ASSIGN(state.table, walk_archive(tar, options.limits, state.facts));
    return {};
  };
  if (!options.verify_hash) return open();
  auto hash = start_hash(state.header, payload);
  Result<void> opened = open();
  NEFFLD_ASSIGN(state.facts.hash_form, hash.get());
  return opened;
}

}  // namespace

Result<Container> parse_container(Bytes file, const ContainerOptions& options) {
  return guarded([&]() -> Result<Container> {
    auto state = std::make_unique<Container::State>();
    ContainerFacts& facts = state->facts;
    NEFFLD_ASSIGN(state->header, check_header(file));
    facts.file_bytes = file.size();
    facts.stored_bytes = state->header.data_size;
    const Bytes payload = file.subspan(sizeof(NeffHeader), facts.stored_bytes);
    const std::uint64_t behind = file.size() - sizeof(NeffHeader) - payload.size();
    if (behind != 0) {
      facts.warnings.push_back(fmt::format("{} bytes behind the payload are ignored", behind));
    }
    NEFFLD_TRY(open_verified(*state, payload, options));
    return Container(std::move(state));
  });
}

}  // namespace neffld
