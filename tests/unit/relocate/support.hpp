// SPDX-License-Identifier: MIT
// Small programs written as kbin records, addresses for their plans, and what relocation made.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/plan.hpp"
#include "neffld/relocate.hpp"
#include "neffld/session.hpp"
#include "sample_slots.hpp"

namespace neffld::test {

/// "80 00 0d" as bytes; blanks and '|' are ignored, "00*5" is five zero bytes.
std::vector<std::uint8_t> hex(std::string_view text);
/// Bytes as "80 00 0d".
std::string to_hex(Bytes bytes);
/// A slot given as hex; shorter text is filled up with zeros.
sample::Slot slot_of(std::string_view text);

/// One side of a descriptor: `sizes[0]` bytes, other sizes counts; `steps` belong to dims 1 and up.
AccessPattern side(std::uint32_t var_id, std::uint64_t offset, std::vector<std::uint64_t> sizes,
                   std::vector<std::int64_t> steps = {}, std::uint8_t dtype = 10);
DmaDescriptor copy(AccessPattern from, AccessPattern to);

/// A subgraph written record by record. It owns the bytes its kbin points to.
class Program {
 public:
  explicit Program(Arch arch, std::string name = "sg00");
  Program(Program&&) = default;

  /// Returns the var_id: ids ascend in order of addition.
  std::uint32_t add(VarKind kind, std::string name, std::uint64_t size = 0,
                    std::uint64_t alignment = 0);
  std::uint32_t state_buffer() { return add(VarKind::state_buffer, "SB"); }
  std::uint32_t file(std::string name, std::uint64_t size, std::uint64_t alignment = 0);
  std::uint32_t scratch(std::string name, std::uint64_t size, std::uint64_t offset,
                        BackingBuf buffer = BackingBuf::local);
  std::uint32_t queue(std::string name, Engine owner, std::uint32_t rings,
                      std::vector<std::uint32_t> semaphores = {8});
  std::uint32_t dynamic_queue(std::string name, Engine owner,
                              std::vector<std::uint32_t> semaphores = {8, 9});
  /// Adds a block and, unless `triggered` is false, its C1 in the owner's stream.
  DmaBlock& block(std::uint32_t queue_set, std::uint32_t id, std::vector<DmaDescriptor> descriptors,
                  bool triggered = true);
  void slot(Engine engine, const sample::Slot& slot);

  Variable& variable(std::uint32_t id) { return kbin_.variables[id]; }
  QueueSet& queue_set(std::uint32_t index) { return kbin_.queue_sets[index]; }
  /// For what has no function here.
  Kbin& edit() { return kbin_; }
  /// The kbin; valid while this program lives and nothing is added.
  const Kbin& kbin();

 private:
  Kbin kbin_;
  std::array<std::vector<std::uint8_t>, engine_count> streams_;
  std::vector<std::unique_ptr<std::vector<std::uint8_t>>> payloads_;
};

std::vector<Kbin> kbins_of(std::vector<Program>& programs);

/// Distinct aligned addresses for every request, `shift` bytes behind the usual ones.
Addresses made_up_addresses(const Plan& plan, std::uint64_t shift = 0);

/// Everything relocation handed out.
struct Relocated {
  std::vector<LedgerRow> rows;
  std::map<std::uint32_t, std::vector<std::uint8_t>> sections;  ///< by request
  Ledger counts;
};
Relocated relocated(std::span<const Kbin> kbins, const Plan& plan, const Addresses& addresses);
/// What bind writes: plans and relocates the bound rings (`plan` and `addresses` grow), then cells
/// and tables.
Relocated relocated_bound(std::span<const Kbin> kbins, Plan& plan, Addresses& addresses,
                          std::uint64_t shift = 0);

Plan planned(std::span<const Kbin> kbins, const PlanOptions& options = {});
/// The request of that owner on a core; the test fails if there is none.
std::uint32_t request_of(const Plan& plan, std::string_view owner, std::uint32_t core = 0);
/// "owner" or "owner @core" lines of a plan.
std::vector<std::string> owners(const Plan& plan);

/// A catalogue sample, parsed up to its kbins.
struct SampleModel {
  std::vector<std::uint8_t> file;
  ParsedModel parsed;
};
SampleModel sample_model(std::string_view name);
/// All samples but the benchmark and the one that is refused, in name order.
std::vector<std::string> loadable_samples();

/// Checks that an error names member, path, record and contains a text.
struct Expected {
  std::string member, path;
  std::optional<std::uint64_t> record;
  std::string text;
  Status status = Status::invalid;
};
void check_error(const Error& error, const Expected& expected);
template <class Value>
void check_refused(const Result<Value>& result, const Expected& expected) {
  INFO("expected: " << expected.text);
  REQUIRE_FALSE(result);
  check_error(result.error(), expected);
}

}  // namespace neffld::test
