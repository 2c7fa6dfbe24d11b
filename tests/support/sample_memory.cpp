// SPDX-License-Identifier: MIT
// Samples for where variables go: every backing of `virtual` ones, remotes both ways, variables
// larger than a scratchpad page, sizes and alignments at the allocator's edges.
#include <array>
#include <initializer_list>
#include <string>

#include "sample_catalogue.hpp"

namespace neffld::sample {
namespace {

constexpr std::uint64_t memory_run = 64;
constexpr std::uint64_t mib = 1ull << 20;

void queues(Subgraph& graph) {
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qPoolIO0", "out", Engine::pool, 24);
  graph.queue("qSPSpillReload0", "data", Engine::sp, 40);
}

void add_virtual(Subgraph& graph, const char* name, std::uint64_t size, std::uint64_t offset,
                 const char* buffer) {
  graph.add({.name = name,
             .type = "virtual",
             .size = size,
             .backing_offset = offset,
             .backing_buf = buffer});
}

Descriptor copy_rows(const std::string& from, std::uint64_t from_offset, const std::string& to,
                     std::uint64_t to_offset, std::uint64_t count = 64) {
  return copy(rows(from, from_offset, memory_run, count, memory_run),
              rows(to, to_offset, memory_run, count, memory_run));
}

/// What each subgraph has for the other.
void add_siblings(Subgraph& graph, std::uint32_t core, Random& random) {
  const std::string own = std::to_string(core), other = std::to_string(1 - core);
  graph.file("weights" + own, "<f4", {128, 16}, random.bytes(128 * memory_run));
  graph.add(
      {.name = "temporary" + own, .type = "tmp-buf", .size = 64 * memory_run, .alignment = 4096});
  for (const char* name : {"weights", "temporary"}) {
    graph.add({.name = name + other + "_remote_sg" + other, .type = "remote"});
  }
  for (const char* name : {"local_b", "main", "sharded"}) {
    graph.add({.name = std::string(name) + "_remote_sg" + other, .type = "remote"});
  }
}

void add_cells(Subgraph& graph, std::uint32_t core) {
  const std::string other = std::to_string(1 - core);
  const auto id = [&](const std::string& name) { return graph.id_of(name); };
  const auto pointer = [&](const char* cell, std::uint32_t to) {
    return graph.add({.name = cell, .type = "pointer", .size = 8, .referenced = to});
  };
  const auto to_remote = pointer("to_remote", id("weights" + other + "_remote_sg" + other));
  pointer("to_shared", id("shared"));
  pointer("to_input", id("x"));
  graph.dge_table("DGETable0",
                  {id("y"), to_remote, id("sharded_remote_sg" + other), id("local_a")});
}

/// Two subgraphs: `virtual` variables in all four buffers, some over each other, and remotes of
/// every kind of variable the sibling can have, with pointers and table entries to them.
SampleNeff scratchpad_lnc2_v3(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  for (std::uint32_t core = 0; core < 2; ++core) {
    Subgraph& graph = builder.empty_subgraph();
    queues(graph);
    add_virtual(graph, "local_a", 8192, 0, "");
    add_virtual(graph, "local_b", 8192, 4096, "local");
    add_virtual(graph, "sharded", 4096, 16384, "sharded");
    add_virtual(graph, "shared", 12288, 0, "shared");
    add_virtual(graph, "main", 4096 + core * 4096ull, 16384, "main");
    add_siblings(graph, core, builder.random());
    add_cells(graph, core);
    const std::string other = std::to_string(1 - core);
    const auto data = [&](std::vector<Descriptor> descriptors, Wait gate) {
      return graph.move("qSPSpillReload0", std::move(descriptors), gate);
    };
    // Each core writes its own half of what both see.
    const std::uint64_t half = core * 64 * memory_run;
    Wait step = graph.move("qSPIO0", {copy_rows("x", half, "local_a", 0)});
    step = data({copy_rows("local_a", 0, "local_b", 4096)}, step);
    step = data({copy_rows("local_b", 4096, "sharded", 0, 32)}, step);
    step = data({copy_rows("sharded", 0, "main", core * 2048, 32)}, step);
    step = data({copy_rows("weights" + other + "_remote_sg" + other, half, "shared", core * 4096)},
                step);
    step = data({copy_rows("shared", core * 4096, "temporary" + other + "_remote_sg" + other, 0)},
                step);
    step = data({copy(rows("local_b", 4096, memory_run, 64, memory_run), sbuf(0, memory_run, 64))},
                step);
    graph.finish({graph.move(
        "qPoolIO0", {copy(sbuf(0, memory_run, 64), rows("y", half, memory_run, 64, memory_run))},
        step)});
  }
  return builder.build();
}

/// `virtual` variables that straddle a page of 512 MiB or are larger than one.
SampleNeff oversized_v3(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  Subgraph& graph = builder.empty_subgraph();
  queues(graph);
  graph.scratch("fits", 8192, 0);
  graph.scratch("straddles", 65536, 512 * mib - 4096);
  graph.scratch("large", 600 * mib, 8192);
  graph.scratch("exactly", 512 * mib, 512 * mib);
  Wait step = graph.move("qSPIO0", {copy_rows("x", 0, "large", 600 * mib - 128 * memory_run, 128)});
  const auto data = [&](std::vector<Descriptor> descriptors) {
    step = graph.move("qSPSpillReload0", std::move(descriptors), step);
  };
  data({copy_rows("large", 600 * mib - 128 * memory_run, "straddles", 0, 128)});
  data({copy_rows("straddles", 0, "fits", 0, 128)});
  data({copy_rows("fits", 0, "exactly", 512 * mib - 128 * memory_run, 128)});
  data({copy(rows("exactly", 512 * mib - 128 * memory_run, memory_run, 128, memory_run),
             sbuf(0, memory_run))});
  graph.finish({graph.move(
      "qPoolIO0", {copy(sbuf(0, memory_run), rows("y", 0, memory_run, 128, memory_run))}, step)});
  builder.empty_subgraph();
  return builder.build();
}

/// Sizes around a page and around what the small pool takes, alignments from none to 8 MiB.
SampleNeff placement_v2(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v2, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  Subgraph& graph = builder.empty_subgraph();
  queues(graph);
  std::uint32_t number = 0;
  for (const std::uint64_t size :
       std::initializer_list<std::uint64_t>{1, 4095, 4096, 4097, 100'000}) {
    graph.raw_file("weights" + std::to_string(number), builder.random().bytes(size),
                   number % 2 ? 65536ull << number : 0);
    ++number;
  }
  for (const std::uint64_t size :
       std::initializer_list<std::uint64_t>{524'287, 524'288, 524'289, 3 * mib + 1, 8192}) {
    graph.add({.name = "temporary" + std::to_string(number),
               .type = "tmp-buf",
               .size = size,
               .alignment = number % 3 ? 0 : 8 * mib});
    ++number;
  }
  graph.scratch("spill", 128 * memory_run, 4096);
  graph.add({.name = "cell", .type = "pointer", .size = 8, .referenced = graph.id_of("weights3")});
  graph.add({.name = "some", .type = "list", .list = {graph.id_of("x"), graph.id_of("spill")}});
  Wait step = graph.move("qSPIO0", {copy_rows("x", 0, "spill", 0, 128)});
  step = graph.move("qSPSpillReload0", {copy_rows("spill", 0, "temporary9", 0, 128)}, step);
  step = graph.move("qSPSpillReload0",
                    {copy(rows("temporary9", 0, memory_run, 128, memory_run), sbuf(0, memory_run))},
                    step);
  graph.finish({graph.move(
      "qPoolIO0", {copy(sbuf(0, memory_run), rows("y", 0, memory_run, 128, memory_run))}, step)});
  return builder.build();
}

constexpr std::array<CatalogueEntry, 3> memory_entries = {
    {{"scratchpad-lnc2-v3", "virtuals in all four buffers, remotes of every kind both ways",
      scratchpad_lnc2_v3},
     {"oversized-v3", "virtual variables that straddle a scratchpad page or exceed it",
      oversized_v3},
     {"placement-v2", "sizes around a page and the small pool's limit, alignments to 8 MiB",
      placement_v2}}};

}  // namespace

std::span<const CatalogueEntry> catalogue_parts::memory_samples() {
  return memory_entries;
}

}  // namespace neffld::sample
