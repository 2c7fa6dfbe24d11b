// SPDX-License-Identifier: MIT
// Geometry of static blocks (spec 08 section 3, decisions 10, 11 and 32).
#include <algorithm>

#include "sample_check.hpp"
#include "sample_slots.hpp"

namespace neffld::sample::check {
namespace {

constexpr std::int64_t partition_stride = 262144;

struct Range {
  std::int64_t low = 0, high = 0;  ///< first and last byte
  void add(std::int64_t size, std::int64_t step) {
    const std::int64_t span = (size - 1) * step;
    (span < 0 ? low : high) += span;
  }
};

bool sbuf_fits(const SideRow& side, std::int64_t limit) {
  Range partitions{side.offset / partition_stride, side.offset / partition_stride};
  Range bytes{side.offset % partition_stride, side.offset % partition_stride};
  for (std::size_t dim = 0; dim < side.sizes.size(); ++dim) {
    const std::int64_t step = side.steps[dim];
    if (side.sizes[dim] == 1) continue;
    if (step % partition_stride == 0) {
      partitions.add(side.sizes[dim], step / partition_stride);
    } else {
      bytes.add(side.sizes[dim], step);
    }
  }
  return partitions.low >= 0 && partitions.high < 128 && bytes.low >= 0 && bytes.high < limit;
}

bool hbm_fits(const SideRow& side, std::uint64_t size) {
  Range bytes{side.offset, side.offset};
  for (std::size_t dim = 0; dim < side.sizes.size(); ++dim) {
    bytes.add(side.sizes[dim], side.sizes[dim] == 1 ? 0 : side.steps[dim]);
  }
  return bytes.low >= 0 && static_cast<std::uint64_t>(bytes.high) < size;
}

std::string side_problem(const Graph& graph, const SideRow& side) {
  const auto variable = graph.variables.find(side.var);
  if (variable == graph.variables.end()) return "unknown variable " + side.var;
  if (side.sizes.empty() || side.sizes.size() > 4 || side.sizes.size() != side.steps.size()) {
    return "sizes and steps of " + side.var + " are not 1..4 pairs";
  }
  if (side.steps[0] != 1) return "the inner step of " + side.var + " is not 1";
  if (*std::min_element(side.sizes.begin(), side.sizes.end()) < 1) return "a size is zero";
  if (variable->second.type == "state-buffer") {
    const std::int64_t limit = graph.v3 ? 229368 : 0x30000;
    return sbuf_fits(side, limit) ? "" : "SBUF side leaves its partitions";
  }
  if (variable->second.type == "remote") return "";  // the sibling's size is checked there
  return hbm_fits(side, variable->second.size) ? "" : "extent leaves " + side.var;
}

std::int64_t product(const std::vector<std::int64_t>& sizes, std::size_t from) {
  std::int64_t result = 1;
  for (std::size_t dim = from; dim < sizes.size(); ++dim) result *= sizes[dim];
  return result;
}

std::string pair_problem(const DescriptorRow& d) {
  if (d.op == "copy") return d.from.sizes == d.to.sizes ? "" : "the sides of a copy differ";
  if (d.op == "transpose") {
    const bool same = product(d.from.sizes, 0) == product(d.to.sizes, 0);
    return same ? "" : "the sides of a transpose differ in bytes";
  }
  if (d.op != "cast") return "unexpected op " + d.op;
  const std::int64_t from = dtype_size(d.from.dtype), to = dtype_size(d.to.dtype);
  const bool whole = d.from.sizes[0] % from == 0 && d.to.sizes[0] % to == 0;
  const bool outer = std::equal(d.from.sizes.begin() + 1, d.from.sizes.end(),
                                d.to.sizes.begin() + 1, d.to.sizes.end());
  return whole && outer && d.from.sizes[0] / from == d.to.sizes[0] / to
             ? ""
             : "the sides of a cast differ in elements";
}

void count(const DescriptorRow& descriptor, SubgraphFacts& facts) {
  ++facts.descriptors;
  facts.bytes += static_cast<std::uint64_t>(product(descriptor.to.sizes, 0));
  if (descriptor.op == "transpose") {
    ++facts.transposes;
    return;
  }
  if (descriptor.op == "cast") ++facts.casts;
  facts.elements += static_cast<std::uint64_t>(product(descriptor.to.sizes, 1));
}

}  // namespace

void check_geometry(const Graph& graph, SubgraphFacts& facts, Problems& problems) {
  for (const auto& [name, queue] : graph.queues) {
    std::uint32_t expected = 0;
    for (const auto& block : queue.blocks) {
      const std::string where = graph.name + " " + name + " block " + std::to_string(block.id);
      ++facts.blocks;
      if (block.id != expected++) problems.push_back(where + ": ids do not count up from 0");
      if (block.semaphore != queue.semaphores[block.id % queue.semaphores.size()]) {
        problems.push_back(where + ": semaphore is not set[id mod n]");
      }
      for (const auto& descriptor : block.descriptors) {
        std::string problem = side_problem(graph, descriptor.from);
        if (problem.empty()) problem = side_problem(graph, descriptor.to);
        if (problem.empty()) problem = pair_problem(descriptor);
        if (!problem.empty()) problems.push_back(where + ": " + problem);
        count(descriptor, facts);
      }
    }
  }
}

}  // namespace neffld::sample::check
