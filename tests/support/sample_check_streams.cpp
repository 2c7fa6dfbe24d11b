// SPDX-License-Identifier: MIT
// Streams: form of every slot, D4 operands, and the token model (spec 08 sections 4 and 5).
#include <algorithm>
#include <array>
#include <vector>

#include "sample_check.hpp"

namespace neffld::sample::check {
namespace {

constexpr std::uint8_t op_event = 0xA0, op_branch = 0xA9, op_trigger = 0xC1, op_label = 0xCC,
                       op_function = 0xD1, op_return = 0xD2, op_call = 0xD3, op_dge = 0xD4,
                       op_exit = 0xDF;

std::string queue_name(Bytes slot) {
  const std::string_view field = as_text(slot.subspan(0x0C, 32));
  return std::string(field.substr(0, field.find('\0')));
}

bool reserved(std::uint32_t semaphore) {  // decision 39
  return semaphore < 3 || (semaphore >= 240 && semaphore <= 245);
}

/// Extent check of one D4 operand; the SBUF limit is per partition.
std::string dge_side_problem(const Graph& graph, Bytes slot, std::size_t base,
                             std::size_t geometry) {
  const std::uint8_t marker = slot[base + 7];
  const std::uint32_t index = load_le<std::uint16_t>(slot, base + 4);
  std::uint32_t id = index;
  if (marker == 0x20) {
    const auto table = std::find_if(graph.variables.begin(), graph.variables.end(),
                                    [](auto& row) { return row.second.type == "dge-table"; });
    if (table == graph.variables.end() || index >= table->second.list.size()) {
      return "table entry " + std::to_string(index) + " does not exist";
    }
    id = table->second.list[index];
  } else if (marker != 0x10) {
    return "operand marker is neither 0x10 nor 0x20";
  }
  const auto variable = std::find_if(graph.variables.begin(), graph.variables.end(),
                                     [&](auto& row) { return row.second.id == id; });
  if (variable == graph.variables.end()) return "unknown variable id " + std::to_string(id);
  std::int64_t extent = load_le<std::uint16_t>(slot, geometry + 12);
  const std::int64_t offset = load_le<std::uint32_t>(slot, base);
  const bool sbuf = variable->second.type == "state-buffer";
  std::int64_t partitions = 1;
  for (std::size_t dim = 0; dim < 2; ++dim) {
    const std::int64_t step = load_le<std::int32_t>(slot, geometry + 4 * dim);
    const std::int64_t num = load_le<std::uint16_t>(slot, geometry + 8 + 2 * dim);
    if (num == 0) return "a count is zero";
    if (sbuf && step == 262144) {
      partitions = num;
    } else {
      extent += (num - 1) * step;
    }
  }
  if (sbuf) return offset % 262144 + extent <= 229368 && partitions <= 128 ? "" : "leaves SBUF";
  const bool fits = offset + extent <= static_cast<std::int64_t>(variable->second.size);
  return fits ? "" : "leaves " + variable->second.name;
}

std::string dge_problem(const Graph& graph, Bytes slot, std::size_t engine) {
  const std::uint8_t semaphore = slot[0x0D];
  const auto queue = std::find_if(graph.queues.begin(), graph.queues.end(), [&](auto& row) {
    return row.second.type == "dynamic" && row.second.owner == engine;
  });
  if (queue == graph.queues.end()) return "its engine owns no dynamic queue";
  const auto& set = queue->second.semaphores;
  if (std::find(set.begin(), set.end(), semaphore) == set.end()) {
    return "its semaphore is outside the queue's set";
  }
  std::string problem = dge_side_problem(graph, slot, 0x10, 0x18);
  return problem.empty() ? dge_side_problem(graph, slot, 0x28, 0x30) : problem;
}

std::string slot_problem(const Graph& graph, Bytes slot, std::size_t engine) {
  if (slot[1] != 0x10 || slot[2] != 0 || slot[3] != 0) return "bytes 1..3 are not 10 00 00";
  if ((slot[4] != 0 && slot[4] != 5) || (slot[6] != 0 && slot[6] != 0x13)) {
    return "a wait or update mode that real files do not use";
  }
  if ((slot[4] != 0 && reserved(slot[5])) || (slot[6] != 0 && reserved(slot[7]))) {
    return "names a reserved semaphore";
  }
  return slot[0] == op_dge ? dge_problem(graph, slot, engine) : "";
}

}  // namespace

void check_streams(const Graph& graph, SubgraphFacts& facts, Problems& problems) {
  std::map<std::string, std::uint32_t> fired;
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    const Bytes stream = graph.streams[engine];
    const std::string where = graph.name + " engine " + std::to_string(engine);
    if (stream.size() % 64 != 0) problems.push_back(where + ": size is not a multiple of 64");
    for (std::size_t at = 0; stream.size() - at >= 64; at += 64) {
      const Bytes slot = stream.subspan(at, 64);
      std::string problem = slot_problem(graph, slot, engine);
      if (slot[0] == op_trigger) {
        const std::string name = queue_name(slot);
        const auto queue = graph.queues.find(name);
        if (queue == graph.queues.end() || queue->second.owner != engine) {
          problem = "triggers " + name + ", which is not a queue of its engine";
        } else if (load_le<std::uint32_t>(slot, 0x30) != fired[name]++) {
          problem = "triggers a block of " + name + " out of order";
        }
      } else if (slot[0] == op_dge) {
        const std::uint64_t elements =
            std::uint64_t{load_le<std::uint16_t>(slot, 0x20)} * load_le<std::uint16_t>(slot, 0x22);
        ++facts.dge_operations;
        facts.dge_elements += elements;
        facts.dge_bytes += elements * load_le<std::uint16_t>(slot, 0x24);
      }
      if (!problem.empty()) {
        problems.push_back(where + " slot " + std::to_string(at / 64) + ": " + problem);
      }
    }
  }
  for (const auto& [name, queue] : graph.queues) {
    if (fired[name] != queue.blocks.size()) {
      problems.push_back(graph.name + " " + name + ": not every block is triggered once");
    }
  }
}

namespace {

struct Core {
  std::array<std::uint64_t, 256> semaphores = {};
  std::array<std::size_t, engine_count> position = {};
  std::array<std::vector<std::size_t>, engine_count> returns;  ///< where its calls go on
};

bool may_run(const Core& core, Bytes slot) {
  const auto met = [&](std::size_t mode, std::size_t value) {
    return slot[mode] == 0 ||
           core.semaphores[slot[mode + 1]] >= load_le<std::uint32_t>(slot, value);
  };
  return met(4, 8) && (slot[0] != op_event || met(0x20, 0x24));
}

/// Transfers complete at once; a block adds one for each of its queue's rings.
void execute(const Graph& graph, std::vector<Core>& cores, std::size_t self, Bytes slot) {
  Core& core = cores[self];
  if (slot[6] != 0) ++core.semaphores[slot[7]];
  if (slot[0] == op_dge) core.semaphores[slot[0x0D]] += slot[0x0E];
  if (slot[0] != op_trigger) return;
  const auto queue = graph.queues.find(queue_name(slot));
  const std::uint32_t id = load_le<std::uint32_t>(slot, 0x30);
  if (queue == graph.queues.end() || id >= queue->second.blocks.size()) return;  // reported before
  const BlockRow& block = queue->second.blocks[id];
  core.semaphores[block.semaphore % 256] += queue->second.count;
  for (std::size_t other = 0; other < cores.size(); ++other) {
    if (other == self) continue;
    for (const auto remote : block.remote) {
      cores[other].semaphores[remote % 256] += queue->second.count;
    }
  }
}

}  // namespace

namespace {

/// Offset of the first record of that opcode whose field at 0x0C starts with the same bytes.
std::size_t find_record(Bytes stream, std::uint8_t opcode, Bytes field) {
  for (std::size_t at = 0; stream.size() - at >= 64; at += 64) {
    const Bytes other = stream.subspan(at + 0x0C, field.size());
    if (stream[at] == opcode && std::equal(field.begin(), field.end(), other.begin())) return at;
  }
  return stream.size();
}

/// Where an engine goes on; where it is, if it never will. Comparisons in samples are never true.
std::size_t next_position(Bytes stream, std::size_t at, std::vector<std::size_t>& returns) {
  const Bytes slot = stream.subspan(at, 64);
  switch (slot[0]) {
    case op_function:  // behind MAIN
    case op_exit:
      return stream.size();
    case op_call: {
      const std::size_t function = find_record(stream, op_function, slot.subspan(0x0C, 32));
      if (function == stream.size()) return at;
      returns.push_back(at + 64);
      return function + 64;
    }
    case op_return: {
      if (returns.empty()) return at;
      const std::size_t back = returns.back();
      returns.pop_back();
      return back;
    }
    case op_branch: {
      if (slot[0x0C] != 0) return at + 64;
      std::size_t target = at;
      if (slot[0x0E] == 2) target = find_record(stream, op_label, slot.subspan(0x30, 4));
      if (slot[0x0E] == 3) target += load_le<std::uint32_t>(slot, 0x30);
      return target > at && target < stream.size() ? target : at;  // a loop is never passed
    }
    default:
      return at + 64;
  }
}

}  // namespace

void run_tokens(const std::vector<Graph>& graphs, Problems& problems) {
  std::vector<Core> cores(graphs.size());
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t self = 0; self < graphs.size(); ++self) {
      for (std::size_t engine = 0; engine < engine_count; ++engine) {
        const Bytes stream = graphs[self].streams[engine];
        std::size_t& at = cores[self].position[engine];
        while (stream.size() - at >= 64 && may_run(cores[self], stream.subspan(at, 64))) {
          const std::size_t next = next_position(stream, at, cores[self].returns[engine]);
          if (next == at) break;
          execute(graphs[self], cores, self, stream.subspan(at, 64));
          at = next;
          progress = true;
        }
      }
    }
  }
  for (std::size_t self = 0; self < graphs.size(); ++self) {
    for (std::size_t engine = 0; engine < engine_count; ++engine) {
      const std::size_t at = cores[self].position[engine];
      if (graphs[self].streams[engine].size() - at >= 64) {
        problems.push_back(graphs[self].name + " engine " + std::to_string(engine) +
                           " never passes slot " + std::to_string(at / 64));
      }
    }
  }
}

}  // namespace neffld::sample::check
