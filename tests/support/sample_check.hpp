// SPDX-License-Identifier: MIT
// An independent checker of NEFF members: it shares no code with the loader or the generator's
// writers. It knows the invariants of spec 08 sections 2 to 4 and runs the token model of
// section 5.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "neffld/arch.hpp"
#include "neffld/bytes.hpp"

namespace neffld::sample {

/// Members by name; views into the caller's bytes.
using MemberMap = std::map<std::string, Bytes, std::less<>>;

/// Totals of one subgraph, as the report counts them.
struct SubgraphFacts {
  std::string name;
  std::uint64_t variables = 0, queue_sets = 0, blocks = 0, descriptors = 0;
  std::uint64_t elements = 0;  ///< innermost runs, transposes excluded
  std::uint64_t bytes = 0;     ///< destination bytes, transposes included
  std::uint64_t casts = 0, transposes = 0;
  std::uint64_t dge_operations = 0, dge_elements = 0, dge_bytes = 0;  ///< source bytes
  std::uint64_t constants_bytes = 0, scratchpad_bytes = 0;
  std::array<std::uint64_t, engine_count> slots = {};
};

struct CheckResult {
  std::vector<std::string> problems;  ///< empty: the model is well formed and runs to its end
  std::vector<SubgraphFacts> subgraphs;
};

CheckResult check_members(const MemberMap& members);

namespace check {

struct VariableRow {
  std::string name, type;
  std::uint32_t id = 0;
  std::uint64_t size = 0;
  std::vector<std::uint32_t> list;
};

struct SideRow {
  std::string var, dtype;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, steps;
};

struct DescriptorRow {
  SideRow from, to;
  std::string op;  ///< "transpose" when the transpose keys are there
};

struct BlockRow {
  std::uint32_t id = 0, semaphore = 0;
  std::string queue;
  std::vector<std::uint32_t> remote;
  std::vector<DescriptorRow> descriptors;
};

struct QueueRow {
  std::string name, type;
  std::size_t owner = 0;
  std::uint32_t count = 1;
  std::vector<std::uint32_t> semaphores;
  std::vector<BlockRow> blocks;  ///< in file order
};

/// One subgraph as the checker sees it.
struct Graph {
  std::string name;
  bool v3 = false;
  std::map<std::string, VariableRow, std::less<>> variables;
  std::map<std::string, QueueRow, std::less<>> queues;
  std::array<Bytes, engine_count> streams;
};

using Problems = std::vector<std::string>;

/// Reads one subgraph; throws std::runtime_error when a member or key is missing.
Graph read_graph(const MemberMap& members, const std::string& name, const std::string& definition,
                 bool v3, SubgraphFacts& facts, Problems& problems);
void check_geometry(const Graph& graph, SubgraphFacts& facts, Problems& problems);
void check_streams(const Graph& graph, SubgraphFacts& facts, Problems& problems);
/// Runs all subgraphs together until no engine can go on (spec 08 section 5).
void run_tokens(const std::vector<Graph>& graphs, Problems& problems);

}  // namespace check
}  // namespace neffld::sample
