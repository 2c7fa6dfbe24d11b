// SPDX-License-Identifier: MIT
// The complete allocation order of decision 34, read off two samples.
#include <fmt/format.h>

#include "support.hpp"

namespace neffld::test {
namespace {

/// The requests in order; the rings of a queue set are one line, after checking that they come as
/// ring 0 tx, ring 0 rx, ring 1 tx, ...
std::vector<std::string> outline(const Plan& plan) {
  std::vector<std::string> lines;
  const auto at_core = [&](std::uint32_t core) {
    return plan.kbins.size() == 1 ? std::string() : fmt::format(" @{}", core);
  };
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    const Request& request = plan.requests[i];
    if (request.kind != SectionKind::ring_tx) {
      lines.push_back(request.owner + at_core(request.core));
      continue;
    }
    const std::string stem = request.owner.substr(0, request.owner.size() - 4);  // without "0 tx"
    std::uint32_t k = 0;
    for (;; ++k, i += 2) {
      const auto is = [&](std::size_t at, const char* half) {
        return at < plan.requests.size() && plan.requests[at].core == request.core &&
               plan.requests[at].owner == fmt::format("{}{} {}", stem, k, half);
      };
      if (!is(i, "tx") || !is(i + 1, "rx")) break;
    }
    --i;
    lines.push_back(fmt::format("{}* ({} pairs){}", stem, k, at_core(request.core)));
  }
  return lines;
}

TEST_CASE(
    "the allocation order of a v2 model: core, scratchpad, variables, then the core's build") {
  const SampleModel model = sample_model("conv-like-v2");
  const std::vector<std::string> expected = {"exec tx ring",
                                             "exec rx ring",
                                             "request buffer",
                                             "scratchpad page 0",
                                             "variable eye_1",
                                             "constant block",
                                             "act bucket",
                                             "act control",
                                             "act profiles",
                                             "act directory",
                                             "act tx ring",
                                             "act rx ring",
                                             "dve opcode",
                                             "dve control",
                                             "dve datapath",
                                             "dve param ram",
                                             "dve tx ring",
                                             "dve rx ring",
                                             "instructions pe",
                                             "instructions act",
                                             "instructions pool",
                                             "instructions dve",
                                             "instructions sp",
                                             "ring qPoolSpillReload0.0.* (16 pairs)",
                                             "ring qSPSpillReload0.0.* (16 pairs)"};
  Plan plan = planned(model.parsed.kbins);
  CHECK(outline(plan) == expected);
  const std::size_t loaded = plan.requests.size();
  REQUIRE(plan_bound_rings(model.parsed.kbins, plan));
  const auto all = outline(plan);
  CHECK(std::vector(all.begin() + static_cast<std::ptrdiff_t>(expected.size()), all.end()) ==
        std::vector<std::string>{"ring qPoolIO0.0.* (16 pairs)", "ring qSPIO0.0.* (16 pairs)"});
  CHECK(plan.requests.size() == loaded + 64);
}

TEST_CASE("the allocation order of a v3 model on two cores") {
  const SampleModel model = sample_model("pointers-v3");
  const std::vector<std::string> expected = {
      // What the cores have once, ascending.
      "exec tx ring @0", "exec rx ring @0", "request buffer @0", "exec tx ring @1",
      "exec rx ring @1", "request buffer @1",
      // Scratchpad pages, then the variables of all subgraphs by var_id.
      "scratchpad page 0 @0", "variable weights @0", "variable temporary @0",
      "variable temporary_plain @0",
      // The build of core 0.
      "constant block @0", "pointer cells @0", "table DGETable0 @0", "dve opcode @0",
      "dve control fast @0", "dve control slow @0", "dve datapath @0", "dve param ram @0",
      "dve tx ring @0", "dve rx ring @0", "instructions pe @0", "instructions act @0",
      "instructions pool @0", "instructions dve @0", "instructions sp @0",
      "ring qSPSpillReload0.0.* (16 pairs) @0",
      // The build of core 1, whose program is empty.
      "constant block @1", "dve opcode @1", "dve control fast @1", "dve control slow @1",
      "dve datapath @1", "dve param ram @1", "dve tx ring @1", "dve rx ring @1",
      "instructions pe @1", "instructions act @1", "instructions pool @1", "instructions dve @1",
      "instructions sp @1"};
  CHECK(outline(planned(model.parsed.kbins)) == expected);

  // A later load on the same cores starts with its own memory.
  PlanOptions options;
  options.cores = {{true, 1, 512ull << 20}, {true, 0, 0}};
  const auto later = outline(planned(model.parsed.kbins, options));
  CHECK(later == std::vector(expected.begin() + 7, expected.end()));
}

TEST_CASE("sizes, alignments and driver categories of what every load allocates") {
  const SampleModel model = sample_model("conv-like-v2");
  const Plan plan = planned(model.parsed.kbins);
  struct Row {
    const char* owner;
    std::uint64_t size, align;
    MemCategory category;
    bool shared;
  };
  for (const Row& row :
       {Row{"exec tx ring", 131072, 256, MemCategory::dma_rings, true},
        Row{"exec rx ring", 131072, 256, MemCategory::dma_rings, true},
        Row{"request buffer", 64, 64, MemCategory::misc, true},
        Row{"scratchpad page 0", 512u << 20, 4u << 20, MemCategory::scratchpad, true},
        Row{"constant block", 64, 64, MemCategory::misc, false},
        Row{"dve opcode", 0x800, 64, MemCategory::misc, false},
        Row{"dve control", 0x800, 64, MemCategory::misc, false},
        Row{"dve datapath", 0x2000, 64, MemCategory::misc, false},
        Row{"dve param ram", 1024, 64, MemCategory::misc, false},
        Row{"dve tx ring", 1024, 256, MemCategory::dma_rings, false}}) {
    INFO(row.owner);
    const Request& request = plan.requests[request_of(plan, row.owner)];
    CHECK(request.size == row.size);
    CHECK(request.align == row.align);
    CHECK(request.category == row.category);
    CHECK(request.shared == row.shared);
  }
}

}  // namespace
}  // namespace neffld::test
