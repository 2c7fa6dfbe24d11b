// SPDX-License-Identifier: MIT
// The token self-test: real programs end, and one increment less is found where it is missed. The
// increments are looked up here without the model, from the bytes on the device alone.
#include <algorithm>
#include <map>
#include <set>

#include "neffld/sync_model.hpp"
#include "neuron_abi/address_map.h"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

using Semaphore = std::pair<std::uint32_t, std::uint32_t>;  // subgraph, number

/// One increment on the device and the bytes that take it away.
struct Increment {
  std::string kind;  // "record", "signal", "transfer"
  std::uint64_t address = 0;
  std::vector<std::uint8_t> without;
};

struct Found {
  std::map<Semaphore, std::uint64_t> total;
  std::map<Semaphore, std::uint64_t> highest_wait;
  std::map<Semaphore, std::vector<Increment>> increments;
};

void scan_streams(const Staged& staged, std::uint32_t s, Found& found) {
  for (const Layout::Stream& stream : staged.layout.subgraphs[s].streams) {
    const Layout::Section& section = staged.layout.sections[*stream.section];
    const std::vector<std::uint8_t> image = read_section(*staged.memory, section);
    for (std::uint64_t at = 64; at + 2 * 64 < image.size(); at += 64) {  // MAIN only
      const Bytes record = Bytes(image).subspan(at, 64);
      const auto wait = [&](std::size_t mode, std::size_t value) {
        if (record[mode] != 5) return;
        std::uint64_t& highest = found.highest_wait[{s, record[mode + 1]}];
        highest = std::max<std::uint64_t>(highest, load_le<std::uint32_t>(record, value));
      };
      wait(4, 8);
      if (record[0] == 0xA0) wait(0x20, 0x24);
      if (record[6] == 0x13) {
        ++found.total[{s, record[7]}];
        found.increments[{s, record[7]}].push_back({"record", section.pa + at + 6, {0, 0}});
      }
      if (record[0] == 0xB8) {
        found.total[{s, record[0x0D]}] += record[0x0E];
        found.increments[{s, record[0x0D]}].push_back(
            {"transfer", section.pa + at + 0x0E, {static_cast<std::uint8_t>(record[0x0E] - 1)}});
      }
    }
  }
}

void scan_rings(const Staged& staged, std::uint32_t s, Found& found) {
  const ArchTable& arch = arch_table(staged.layout.arch);
  const auto sbuf = arch.tpb_base[staged.layout.subgraphs[s].core];
  std::vector<std::uint8_t> elsewhere(8);
  store_le<std::uint64_t>(elsewhere, 0, sbuf);
  for (const Layout::Ring& ring : staged.layout.subgraphs[s].rings) {
    if (!ring.rx) continue;
    const Layout::Section& section = staged.layout.sections[*ring.rx];
    const std::vector<std::uint8_t> bytes = read_section(*staged.memory, section);
    for (std::uint32_t i = 0; i < ring.used; ++i) {
      const auto target = load_le<std::uint64_t>(Bytes(bytes), 16 * std::size_t{i} + 8);
      for (std::uint32_t t = 0; t < staged.layout.subgraphs.size(); ++t) {
        const std::uint64_t increments = arch.tpb_base[staged.layout.subgraphs[t].core] +
                                         arch.event_unit + NEURON_EVENT_UNIT_SEM_INCREMENT;
        if (target - increments >= 0x400) continue;
        const auto number = static_cast<std::uint32_t>((target - increments) / 4);
        ++found.total[{t, number}];
        found.increments[{t, number}].push_back({"signal", section.pa + 16 * i + 8, elsewhere});
      }
    }
  }
}

Found scan(const Staged& staged) {
  Found found;
  for (std::uint32_t s = 0; s < staged.layout.subgraphs.size(); ++s) {
    scan_streams(staged, s, found);
    scan_rings(staged, s, found);
  }
  return found;
}

TokenResult tokens(const Layout& layout, const DeviceMemoryView& memory) {
  auto result = run_tokens(layout, memory);
  if (!result) FAIL(to_sentence(result.error()));
  return std::move(*result);
}

/// The stopped engine stands at a record of the image that waits for what it says.
void check_place(const Staged& staged, const StoppedEngine& stopped) {
  const Layout::Subgraph& subgraph = staged.layout.subgraphs[stopped.subgraph];
  const Layout::Stream& stream = subgraph.stream(stopped.engine);
  std::vector<std::uint8_t> record(64);
  REQUIRE(staged.memory->read(staged.layout.sections[*stream.section].pa + 64 * stopped.image_slot,
                              record));
  const bool first = record[4] == 5 && record[5] == stopped.index &&
                     load_le<std::uint32_t>(Bytes(record), 8) == stopped.wanted;
  const bool second = record[0] == 0xA0 && record[0x20] == 5 && record[0x21] == stopped.index &&
                      load_le<std::uint32_t>(Bytes(record), 0x24) == stopped.wanted;
  CHECK((first || second));
  // The same wait stands in the NEFF's own record.
  REQUIRE(stopped.source_slot);
  const Bytes slots = staged.model->parsed.kbins[stopped.subgraph].engine(stopped.engine).slots;
  const Bytes source = slots.subspan(64 * std::size_t{*stopped.source_slot}, 64);
  CHECK(((source[4] == 5 && source[5] == stopped.index) ||
         (source[0] == 0xA0 && source[0x21] == stopped.index)));
}

/// Takes away one increment of every kind whose loss must be noticed; returns how many it tried.
std::map<std::uint32_t, std::size_t> take_away(const Staged& staged, std::size_t per_subgraph) {
  std::map<std::uint32_t, std::size_t> tried;
  const Found found = scan(staged);
  std::set<std::pair<std::uint32_t, std::string>> kinds;
  for (const auto& [counted, total] : found.total) {
    const auto& semaphore = counted;  // clang 14 captures no bindings
    const auto highest = found.highest_wait.find(semaphore);
    // Only if somebody waits for the last increment too must one less be noticed.
    if (highest == found.highest_wait.end() || highest->second != total) continue;
    const auto& increments = found.increments.at(semaphore);
    for (const Increment* increment : {&increments.front(), &increments.back()}) {
      if (tried[semaphore.first] >= per_subgraph &&
          !kinds.insert({semaphore.first, increment->kind}).second) {
        continue;
      }
      kinds.insert({semaphore.first, increment->kind});
      ++tried[semaphore.first];
      INFO("subgraph " << semaphore.first << " semaphore " << semaphore.second << " loses a "
                       << increment->kind);
      Overlay changed(*staged.memory);
      changed.set(increment->address, increment->without);
      const TokenResult result = tokens(staged.layout, changed);
      CHECK(result.outcome == TokenResult::Outcome::deadlock);
      const auto missing = std::find_if(
          result.stopped.begin(), result.stopped.end(), [&](const StoppedEngine& stopped) {
            return stopped.subgraph == semaphore.first && stopped.index == semaphore.second &&
                   !stopped.event && stopped.value + 1 == stopped.wanted;
          });
      REQUIRE(missing != result.stopped.end());
      check_place(staged, *missing);
    }
  }
  return tried;
}

}  // namespace

TEST_CASE("every sample runs to its end, and its work is counted") {
  for (const std::string& name : loadable_samples()) {
    INFO(name);
    const Staged staged(name);
    const TokenResult result = tokens(staged.layout, *staged.memory);
    INFO(result.note);
    for (const StoppedEngine& stopped : result.stopped) UNSCOPED_INFO(stopped.reason);
    CHECK(result.outcome == TokenResult::Outcome::finished);
    CHECK(result.stopped.empty());
    std::uint64_t descriptors = 0;
    for (const Layout::Subgraph& subgraph : staged.layout.subgraphs) {
      for (const Layout::Ring& ring : subgraph.rings) descriptors += ring.used;
    }
    CHECK(result.descriptors <= descriptors);
    const std::size_t engines = 5 * staged.layout.subgraphs.size();
    CHECK(result.records >= 3 * engines);  // gate, notify, branch at least
  }
}

TEST_CASE("one increment less is a deadlock at the record that misses it") {
  for (const char* name : {"vecadd-v3", "vecadd-v2", "conv-like-v2", "dge-v3", "dge-lnc2-v3",
                           "many-queues-v3", "remote-lnc2-v3"}) {
    INFO(name);
    const Staged staged(name);
    const auto tried = take_away(staged, 4);
    std::size_t all = 0;
    for (const auto& [subgraph, count] : tried) all += count;
    CHECK(all > 0);
  }
}

TEST_CASE("real files run to their end, and miss one increment where it is missing") {
  std::size_t subgraphs = 0;
  for (const auto& [name, bytes] : real_files()) {
    INFO(name);
    const Staged staged(bytes, name.find("-v2-") != std::string::npos ? 2 : 3);
    const TokenResult result = tokens(staged.layout, *staged.memory);
    INFO(result.note);
    CHECK(result.outcome == TokenResult::Outcome::finished);
    subgraphs += staged.layout.subgraphs.size();
    const auto tried = take_away(staged, 1);
    for (std::uint32_t s = 0; s < staged.layout.subgraphs.size(); ++s) {
      // An empty program has no increment to lose.
      const bool empty = staged.model->parsed.kbins[s].queue_sets.empty();
      CHECK((tried.contains(s) ? tried.at(s) : 0) >= (empty ? 0u : 1u));
    }
  }
  if (subgraphs != 0) CHECK(subgraphs == 20);
}

TEST_CASE("a stream that leaves its image and a ring that is overrun are faults with a place") {
  const Staged staged("vecadd-v3");
  const Layout::Stream& stream = staged.layout.subgraphs[0].stream(Engine::sp);
  const std::uint64_t base = staged.layout.sections[*stream.section].pa;
  SECTION("branch out of the image") {
    Overlay changed(*staged.memory);
    const std::uint64_t branch = base + 64 * (std::uint64_t{stream.slots_out} - 1);
    changed.set(branch + 0x30, {0x00, 0x00, 0x00, 0x10});
    const TokenResult result = tokens(staged.layout, changed);
    CHECK(result.outcome == TokenResult::Outcome::fault);
    REQUIRE(result.stopped.size() == 1);
    CHECK(result.stopped[0].engine == Engine::sp);
    CHECK(result.stopped[0].image_slot == stream.slots_out - 1);
  }
  SECTION("more descriptors than the ring holds") {
    Overlay changed(*staged.memory);
    bool done = false;
    for (std::uint64_t slot = 1; slot < stream.slots_out && !done; ++slot) {
      std::vector<std::uint8_t> record(64);
      REQUIRE(staged.memory->read(base + 64 * slot, record));
      if (record[0] != 0xA5) continue;
      changed.set(base + 64 * slot + 0x18, {0xFF, 0xFF});
      done = true;
    }
    REQUIRE(done);
    const TokenResult result = tokens(staged.layout, changed);
    CHECK(result.outcome == TokenResult::Outcome::fault);
    CHECK(result.note.find("which holds") != std::string::npos);
  }
  SECTION("a loop without an end") {
    Overlay changed(*staged.memory);
    changed.set(base + 64, {0xA9, 0x10, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3});
    changed.set(base + 64 + 0x30, {0, 0, 0, 0, 0, 0, 0, 0});
    TokenOptions options;
    options.max_records = 10'000;
    const auto result = run_tokens(staged.layout, changed, options);
    REQUIRE(result);
    CHECK(result->outcome == TokenResult::Outcome::endless);
  }
}

TEST_CASE("a loop that publishes whole rings ends by its descriptors") {
  const Staged staged("vecadd-v3");
  const Layout::Stream& stream = staged.layout.subgraphs[0].stream(Engine::sp);
  const std::uint64_t base = staged.layout.sections[*stream.section].pa;
  // RX and TX tail increments of the first trigger, resets of both rings, and back.
  std::vector<std::uint8_t> rx(64), tx(64);
  std::uint64_t trigger = 1;
  for (;; ++trigger) {
    REQUIRE(trigger + 1 < stream.slots_out);
    REQUIRE(staged.memory->read(base + 64 * trigger, rx));
    REQUIRE(staged.memory->read(base + 64 * (trigger + 1), tx));
    if (rx[0] == 0xA5) break;
  }
  Overlay changed(*staged.memory);
  const auto put = [&](std::uint64_t slot, const std::vector<std::uint8_t>& record) {
    std::vector<std::uint8_t> without_wait = record;
    std::fill(without_wait.begin() + 4, without_wait.begin() + 12, std::uint8_t{0});
    changed.set(base + 64 * slot, without_wait);
  };
  const auto count = load_le<std::uint32_t>(Bytes(tx), 0x18);
  REQUIRE(count > 0);
  put(1, rx);
  put(2, tx);
  rx[0x10] = static_cast<std::uint8_t>(rx[0x10] - 0x38 + 0x64);  // sw_ctrl of both
  tx[0x10] = static_cast<std::uint8_t>(tx[0x10] - 0x38 + 0xB0);
  store_le<std::uint32_t>(MutableBytes(rx), 0x18, 0x100);
  store_le<std::uint32_t>(MutableBytes(tx), 0x18, 0x100);
  put(3, rx);
  put(4, tx);
  std::vector<std::uint8_t> back = {0xA9, 0x10, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  back.resize(64);
  store_le<std::uint32_t>(MutableBytes(back), 0x30, static_cast<std::uint32_t>(-4 * 64));
  put(5, back);
  TokenOptions options;
  options.max_descriptors = 1000;
  const auto result = run_tokens(staged.layout, changed, options);
  REQUIRE(result);
  CHECK(result->outcome == TokenResult::Outcome::endless);
  CHECK(result->descriptors == 1000);
  CHECK(result->records < 10'000);
  CHECK(result->note.find("1000 descriptors ran") != std::string::npos);
}

TEST_CASE("unbound rings are refused, not passed over") {
  Bench bench(3);
  LoadedModel& model = load(bench, "vecadd-v3");
  const auto layout = layout_of(model);
  REQUIRE(layout);
  const auto memory = session_memory(*bench.session);
  const auto result = run_tokens(*layout, *memory);
  REQUIRE_FALSE(result);
  CHECK(result.error().text.find("bound") != std::string::npos);
}
