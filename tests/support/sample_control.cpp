// SPDX-License-Identifier: MIT
// Samples for control flow: functions, calls, branches, exits and the records that go with them.
#include <array>
#include <string>

#include "sample_catalogue.hpp"

namespace neffld::sample {
namespace {

constexpr std::uint64_t row_bytes = 64;

Descriptor load_rows(const char* from, std::uint64_t byte) {
  return copy(rows(from, 0, row_bytes, 128, static_cast<std::int64_t>(row_bytes)),
              sbuf(byte, row_bytes));
}

/// MOVE of the immediate 0.
Slot clear_register(std::uint8_t number) {
  Slot slot = make_slot(0xA7);
  slot[0x0C] = 1;
  slot[0x0D] = dtype_code("uint32");
  slot[0x0E] = 1;
  slot[0x18] = number;
  return slot;
}

/// SP: MAIN calls a function that loads the weights; then barriers and addresses of variables.
Wait called_load(Subgraph& graph, std::uint32_t weights, std::uint32_t cell) {
  graph.queue("qSPSpillReload0", "data", Engine::sp, 40, 4);
  graph.stream(Engine::sp)
      .add(function_call("load"))
      .add(dma_barrier())
      .add(make_slot(0xD5))
      .add(make_slot(0xD8))
      .add(read_var_addr(weights, 0x80, 4, 5))
      .add(read_var_addr(cell, 0, 6, 7))
      .add(function_begin("load", 30, 31));
  Block block;
  block.queue = "qSPSpillReload0";
  block.function_start = "load";
  block.descriptors = {load_rows("weights_1", 1024)};
  const Wait loaded = graph.move_block(block);
  graph.stream(Engine::sp).add(function_return());
  return loaded;
}

SampleNeff control_flow(std::string_view name, std::uint64_t seed) {
  const Arch arch = name.ends_with("v2") ? Arch::v2 : Arch::v3;
  SampleBuilder builder(std::string(name), arch, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  Subgraph& graph = builder.empty_subgraph();
  const auto weights =
      graph.file("weights_1", "<f4", {128, 16}, builder.random().bytes(128 * row_bytes));
  const auto cell = graph.add({.name = "cell", .type = "tmp-buf", .size = 64, .alignment = 64});
  graph.queue("qActIO0", "in", Engine::act, 8);
  graph.queue("qPoolIO0", "out", Engine::pool, 24);
  const Wait in = graph.move("qActIO0", {load_rows("x", 0)});
  const Wait loaded = called_load(graph, weights, cell);
  // ACT: one function called twice, another that nobody calls.
  graph.stream(Engine::act)
      .add(function_call("mark"))
      .add(nop({}))
      .add(function_call("mark"))
      .add(function_begin("mark"))
      .add(tensor_store(cell, 0x20, 0xC0FFEE11))
      .add(branch_to_label(3))
      .add(nop({210, 1}))  // never true: reaching it would hang the engine
      .add(branch_label(3))
      .add(function_return())
      .add(function_begin("unused"))
      .add(exit_execution());
  // PE: a hinted forward branch, then an exit over a slot that would hang.
  graph.stream(Engine::pe)
      .add(branch_hint(7))
      .add(branch_to_label(7))
      .add(nop({210, 1}))
      .add(branch_label(7))
      .add(branch_by(2))
      .add(nop({210, 1}))
      .add(exit_execution())
      .add(nop({210, 1}));
  // DVE: a loop that is left at once.
  graph.wait(Engine::dve, in, loaded);
  graph.stream(Engine::dve)
      .add(clear_register(0))
      .add(branch_label(1))
      .add(nop({}))
      .add(branch_by(-1, 4));
  const Wait sum =
      graph.compute(Engine::dve, tensor_tensor(4, "float32", {0, 16}, {1024, 16}, {2048, 16}));
  graph.finish(
      {graph.move("qPoolIO0",
                  {copy(sbuf(2048, row_bytes),
                        rows("y", 0, row_bytes, 128, static_cast<std::int64_t>(row_bytes)))},
                  sum)});
  if (arch == Arch::v3) builder.empty_subgraph();
  return builder.build();
}

/// A record whose lowering nobody knows: loading must refuse it where it stands.
SampleNeff refused_v3(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  Subgraph& graph = builder.empty_subgraph();
  graph.queue("qPoolIO0", "out", Engine::pool, 24);
  const Wait done = graph.move(
      "qPoolIO0", {copy(rows("x", 0, row_bytes, 128, static_cast<std::int64_t>(row_bytes)),
                        rows("y", 0, row_bytes, 128, static_cast<std::int64_t>(row_bytes)))});
  graph.stream(Engine::pe).add(make_slot(0xC5));
  graph.finish({done});
  builder.empty_subgraph();
  return builder.build();
}

constexpr std::array<CatalogueEntry, 3> control_entries = {
    {{"control-flow-v2", "functions, calls, labels, branches, exits, barriers, addresses",
      control_flow},
     {"control-flow-v3", "the same on v3, where streams start with a label", control_flow},
     {"refused-v3", "a record that no loader can lower", refused_v3}}};

}  // namespace

std::span<const CatalogueEntry> catalogue_parts::control_samples() {
  return control_entries;
}

}  // namespace neffld::sample
