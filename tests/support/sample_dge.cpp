// SPDX-License-Identifier: MIT
// Samples in the style of group C of spec 08: dynamic queues, a dge-table and D4 records.
#include <array>
#include <string>

#include "sample_catalogue.hpp"

namespace neffld::sample {
namespace {

constexpr std::int32_t partition = static_cast<std::int32_t>(sb_partition_stride);

DgeSide variable_side(std::uint32_t id, std::uint32_t offset, std::uint16_t run,
                      std::array<std::int32_t, 2> step, std::array<std::uint16_t, 2> num) {
  return {false, static_cast<std::uint16_t>(id), offset, step, num, run};
}

/// Marker 0x20: entry `position` of the dge-table list.
DgeSide table_side(std::uint16_t position, std::uint32_t offset, std::uint16_t run,
                   std::array<std::int32_t, 2> step, std::array<std::uint16_t, 2> num) {
  return {true, position, offset, step, num, run};
}

/// `run` bytes at `byte` of 128 partitions; with `pieces` > 1 that many neighbouring runs in each.
DgeSide on_chip(std::uint32_t byte, std::uint16_t run, std::uint16_t pieces = 1) {
  if (pieces == 1) return variable_side(0, byte, run, {partition, 1}, {128, 1});
  return variable_side(0, byte, run, {run, partition}, {pieces, 128});
}

DgeCopy plain(DgeSide from, DgeSide to, std::string_view dtype) {
  return {from, to, dtype_code(dtype), dtype_code(dtype), 16};
}

DgeCopy converting(DgeSide from, DgeSide to, std::string_view from_dtype,
                   std::string_view to_dtype) {
  return {from, to, dtype_code(from_dtype), dtype_code(to_dtype), 16};
}

void dynamic_queues(Subgraph& graph, bool with_act) {
  graph.queue("qPoolDynamic", "dynamic", Engine::pool, 24).dge_scratch_size = 16384;
  graph.queue("qSPDynamicHW", "dynamic", Engine::sp, 8);
  if (with_act) graph.queue("qActDynamicHW", "dynamic", Engine::act, 40);
}

/// All forms of D4 operands, an unsorted table list, a cast on the way out, a spill and reloads.
SampleNeff dge_v3(std::string_view name, std::uint64_t seed) {
  constexpr std::uint16_t row = 1024;  // 256 fp32
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("q", "float32", {128, 256});
  builder.input("k", "float32", {128, 256});
  builder.input("v", "float32", {1024, 64});
  builder.output("o", "bfloat16", {512, 128});
  builder.mac_count(1'048'576);
  Subgraph& graph = builder.empty_subgraph();  // q 1, k 2, v 3, o 4
  const auto eye = graph.file("eye_1_sg0000", "<V2", {128, 128}, builder.random().bytes(32768));
  const auto spill = graph.scratch("spill_1", 4u << 20, 0);
  graph.dge_table("DGETable0", {3, 1, 2, 4});
  graph.fp8_config();
  dynamic_queues(graph, true);
  const std::array<std::uint16_t, 2> many = {128, 1};
  const auto row_step = [](std::int32_t bytes) { return std::array<std::int32_t, 2>{bytes, 1}; };

  const Wait eye_in = graph.dge(
      "qSPDynamicHW",
      plain(variable_side(eye, 0, 256, row_step(256), many), on_chip(0, 256), "bfloat16"));
  const Wait q_in = graph.dge("qPoolDynamic", plain(table_side(1, 0, row, row_step(row), many),
                                                    on_chip(4096, row), "float32"));
  const Wait k_in = graph.dge("qPoolDynamic", plain(table_side(2, 0, row, row_step(row), many),
                                                    on_chip(8192, row), "float32"));
  // 8 runs in each of 128 partitions: v is [1024, 64] and row r*128 + p goes to partition p.
  const Wait v_in = graph.dge("qPoolDynamic", plain(table_side(0, 0, 256, {32768, 256}, {8, 128}),
                                                    on_chip(12288, 256, 8), "float32"));
  graph.wait(Engine::dve, q_in, k_in);
  const Wait sum = graph.compute(
      Engine::dve, tensor_tensor(4, "float32", {4096, 256}, {8192, 256}, {16384, 256}));
  graph.wait(Engine::act, sum, eye_in);
  // Spill far into the arena: offsets use many bits.
  const Wait spilled = graph.dge(
      "qActDynamicHW", plain(on_chip(16384, row),
                             variable_side(spill, 0x201000, row, row_step(row), many), "float32"));
  const Wait reloaded = graph.dge("qSPDynamicHW",
                                  plain(variable_side(spill, 0x201000, row, row_step(row), many),
                                        on_chip(20480, row), "float32"),
                                  spilled);
  graph.wait(Engine::dve, reloaded, v_in);
  const Wait total = graph.compute(
      Engine::dve, tensor_tensor(4, "float32", {20480, 256}, {12288, 256}, {24576, 256}));
  const Wait halves =
      graph.compute(Engine::dve, tensor_cast("float32", {12288, 256}, "bfloat16", {28672, 256}));

  std::vector<Wait> stored;
  // o is [512, 128] bf16. First half: fp32 runs of 512 bytes become bf16 runs of 256.
  stored.push_back(
      graph.dge("qPoolDynamic",
                converting(on_chip(24576, 512, 2), table_side(3, 0, 256, {32768, 256}, {2, 128}),
                           "float32", "bfloat16"),
                total));
  // Second half: no conversion, [4,128] runs of 128 bytes.
  stored.push_back(graph.dge(
      "qPoolDynamic",
      plain(on_chip(28672, 128, 4), table_side(3, 65536, 128, {128, 512}, {4, 128}), "bfloat16"),
      halves));
  graph.finish(stored);
  builder.empty_subgraph().file("eye_1_sg0000", "<V2", {128, 128}, builder.random().bytes(32768));
  return builder.build();
}

/// Two real programs; each core moves one half of the rows, and ids differ between the subgraphs.
SampleNeff dge_lnc2_v3(std::string_view name, std::uint64_t seed) {
  constexpr std::uint16_t row = 512, out_row = 256;  // fp32 in, fp16 out
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {256, 128});
  builder.input("y", "float32", {256, 128});
  builder.output("z", "float16", {256, 128});
  builder.feature_bits(0x209C00);
  for (std::uint32_t core = 0; core < 2; ++core) {
    Subgraph& graph = builder.subgraph();
    graph.state_buffer();
    graph.input("x", builder.bytes("x"));
    graph.input("y", builder.bytes("y"));
    const auto bias = graph.file("bias_1", "<f4", {128, 128}, builder.random().bytes(65536));
    // sg00 has one constant more in front of the output: its id is 5 there and 4 in sg01.
    if (core == 0) graph.file("only_in_sg00", "<f2", {128, 64}, builder.random().bytes(16384));
    const auto z = graph.output("z", builder.bytes("z"));
    const auto spill = graph.scratch("spill_sg0" + std::to_string(core), 131072, 0);
    graph.dge_table("DGETable0", {2, 1, z});
    graph.fp8_config();
    dynamic_queues(graph, true);
    const std::array<std::int32_t, 2> step = {row, 1}, out_step = {out_row, 1};
    const std::array<std::uint16_t, 2> many = {128, 1};
    const Wait bias_in = graph.dge(
        "qSPDynamicHW", plain(variable_side(bias, 0, row, step, many), on_chip(0, row), "float32"));
    const Wait x_in = graph.dge("qPoolDynamic", plain(table_side(1, core * 65536, row, step, many),
                                                      on_chip(512, row), "float32"));
    const Wait y_in = graph.dge("qPoolDynamic", plain(table_side(0, core * 65536, row, step, many),
                                                      on_chip(1024, row), "float32"));
    graph.wait(Engine::dve, x_in, y_in);
    const Wait sum = graph.compute(
        Engine::dve, tensor_tensor(4, "float32", {512, 128}, {1024, 128}, {1536, 128}), bias_in);
    const Wait spilled = graph.dge(
        "qActDynamicHW",
        plain(on_chip(1536, row), variable_side(spill, 4096, row, step, many), "float32"), sum);
    const Wait back = graph.dge(
        "qSPDynamicHW",
        plain(variable_side(spill, 4096, row, step, many), on_chip(2048, row), "float32"), spilled);
    const Wait biased = graph.compute(
        Engine::dve, tensor_tensor(4, "float32", {0, 128}, {2048, 128}, {2560, 128}), back);
    graph.finish({graph.dge(
        "qPoolDynamic",
        converting(on_chip(2560, row), table_side(2, core * 32768, out_row, out_step, many),
                   "float32", "float16"),
        biased)});
  }
  return builder.build();
}

constexpr std::array<CatalogueEntry, 2> dge_entries = {
    {{"dge-v3", "dynamic queues, unsorted dge-table, D4 with markers 0x10 and 0x20, casts", dge_v3},
     {"dge-lnc2-v3", "two real subgraphs whose variable ids differ", dge_lnc2_v3}}};

}  // namespace

std::span<const CatalogueEntry> catalogue_parts::dge_samples() {
  return dge_entries;
}

}  // namespace neffld::sample
