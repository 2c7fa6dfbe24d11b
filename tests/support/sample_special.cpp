// SPDX-License-Identifier: MIT
// Samples for parts of the format that real files do not use, or use rarely, and for scale.
#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>

#include "sample_catalogue.hpp"

namespace neffld::sample {
namespace {

/// A plain way from input to output, so that special samples have something to run.
Wait pass_through(Subgraph& graph, const char* from, const char* to, std::uint64_t run) {
  const Wait in = graph.move(
      "qSPIO0", {copy(rows(from, 0, run, 128, static_cast<std::int64_t>(run)), sbuf(0, run))});
  return graph.move(
      "qPoolIO0", {copy(sbuf(0, run), rows(to, 0, run, 128, static_cast<std::int64_t>(run)))}, in);
}

void io_queues(Subgraph& graph) {
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qPoolIO0", "out", Engine::pool, 24);
}

/// `pointer`, `list`, `tmp-buf`, a raw constant and a shared `virtual`.
SampleNeff pointers_v3(std::string_view name, std::uint64_t seed) {
  constexpr std::uint64_t run = 256;
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 64});
  builder.output("y", "float32", {128, 64});
  Subgraph& graph = builder.empty_subgraph();
  const auto weights = graph.raw_file("weights", builder.random().bytes(1000), 4096);
  graph.add({.name = "temporary", .type = "tmp-buf", .size = 128 * run, .alignment = 8192});
  graph.add({.name = "temporary_plain", .type = "tmp-buf", .size = 100});
  graph.add({.name = "shared_spill",
             .type = "virtual",
             .size = 4096,
             .backing_offset = 4096,
             .backing_buf = "shared"});
  const auto pointer = [&](const char* cell, std::uint32_t to) {
    return graph.add({.name = cell, .type = "pointer", .size = 8, .referenced = to});
  };
  pointer("to_input", graph.id_of("x"));
  pointer("to_output", graph.id_of("y"));
  pointer("to_weights", weights);
  pointer("to_temporary", graph.id_of("temporary"));
  pointer("to_spill", graph.id_of("shared_spill"));
  graph.add({.name = "some", .type = "list", .list = {weights, graph.id_of("x"), weights}});
  graph.dge_table("DGETable0", {graph.id_of("y"), graph.id_of("x"), weights});
  io_queues(graph);
  graph.queue("qSPSpillReload0", "data", Engine::sp, 40);
  const Wait in = graph.move("qSPIO0", {copy(rows("x", 0, run, 128, run), sbuf(0, run))});
  const Wait there = graph.move("qSPSpillReload0",
                                {copy(sbuf(0, run), rows("temporary", 0, run, 128, run)),
                                 copy(rows("weights", 0, 1000, 1, 1000, "uint8"),
                                      rows("shared_spill", 0, 1000, 1, 1000, "uint8"))},
                                in);
  const Wait back = graph.move("qSPSpillReload0",
                               {copy(rows("temporary", 0, run, 128, run), sbuf(512, run))}, there);
  graph.finish({graph.move("qPoolIO0", {copy(sbuf(512, run), rows("y", 0, run, 128, run))}, back)});
  builder.empty_subgraph();
  return builder.build();
}

/// Three activation sets whose tables are not multiples of 64 bytes.
SampleNeff act_sets_v3(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 32});
  builder.output("y", "float32", {128, 32});
  Subgraph& graph = builder.empty_subgraph();
  graph.act_set({"first_set", 37, 9, 25});
  graph.act_set({"second_set", 1, 1, 1});
  graph.act_set({"a_third_set", 100, 64, 3});
  io_queues(graph);
  const Wait in = graph.move("qSPIO0", {copy(rows("x", 0, 128, 128, 128), sbuf(0, 128))});
  graph.stream(Engine::act).add(act_table_load(0)).add(act_table_load(2));
  const Wait cleared = graph.compute(Engine::act, memset_zero("float32", {2048, 1}));
  Wait done = in;
  for (std::uint8_t set = 0; set < 2; ++set) {
    graph.stream(Engine::act).add(act_table_load(set));
    const std::uint32_t from = set * 256u;
    if (set == 0) graph.wait(Engine::act, cleared);
    done = graph.compute(
        Engine::act,
        activate(1, "float32", {from, 32}, "float32", 2048, "float32", {from + 256, 32}), done);
  }
  graph.finish({graph.move("qPoolIO0", {copy(sbuf(512, 128), rows("y", 0, 128, 128, 128))}, done)});
  builder.empty_subgraph();
  return builder.build();
}

/// A v3 file with one subgraph only, for logical cores of one physical core.
SampleNeff single_core_v3(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  builder.feature_bits(0);
  Subgraph& graph = builder.empty_subgraph();
  io_queues(graph);
  graph.finish({pass_through(graph, "x", "y", 64)});
  return builder.build();
}

/// Semaphore values beyond 15 bits on v2 (spec 08 s4.1 has 44 805).
SampleNeff deep_sync_v2(std::string_view name, std::uint64_t seed) {
  constexpr std::uint32_t steps = 40'000;
  SampleBuilder builder(std::string(name), Arch::v2, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  Subgraph& graph = builder.empty_subgraph();
  io_queues(graph);
  Wait done = pass_through(graph, "x", "y", 64);
  for (std::uint32_t i = 0; i < steps; ++i) {
    done = graph.compute(Engine::dve, tensor_copy("float32", {1024, 1}, {2048, 1}),
                         i == 0 ? done : Wait{});
  }
  graph.finish({done});
  return builder.build();
}

/// Queue sets of 1, 4 and 16 rings, a queue that moves nothing, and a rearm at the end.
SampleNeff rearm_v2(std::string_view name, std::uint64_t seed) {
  constexpr std::uint64_t run = 128;
  SampleBuilder builder(std::string(name), Arch::v2, seed);
  builder.input("x", "float32", {128, 32});
  builder.output("y", "float32", {128, 32});
  Subgraph& graph = builder.empty_subgraph();
  graph.scratch("mid", 128 * run, 0);
  graph.queue("qSPIO0", "in", Engine::sp, 8, 4);
  graph.queue("qSPSpillReload0", "data", Engine::sp, 12, 1);
  graph.queue("qActSpillReload0", "data", Engine::act, 13, 3);
  graph.queue("qPoolIO0", "out", Engine::pool, 16);
  Wait step;
  for (std::uint64_t part = 0; part < 6; ++part) {
    step = graph.move("qSPIO0", {copy(rows("x", part * 20 * run, run, 20, run),
                                      rows("mid", part * 20 * run, run, 20, run))});
  }
  step = graph.move("qSPIO0",
                    {copy(rows("x", 120 * run, run, 8, run), rows("mid", 120 * run, run, 8, run))},
                    step);
  step = graph.move("qSPSpillReload0", {copy(rows("mid", 0, run, 128, run), sbuf(0, run))}, step);
  graph.wait(Engine::sp, step);
  graph.stream(Engine::sp).add(dma_rearm("qSPSpillReload0"));
  graph.finish({graph.move("qPoolIO0", {copy(sbuf(0, run), rows("y", 0, run, 128, run))}, step)});
  return builder.build();
}

/// sg01 reads a variable of sg00 and a block of sg00 signals a semaphore of the sibling core.
SampleNeff remote_lnc2_v3(std::string_view name, std::uint64_t seed) {
  constexpr std::uint64_t run = 64;
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  for (std::uint32_t core = 0; core < 2; ++core) {
    Subgraph& graph = builder.empty_subgraph();
    io_queues(graph);
    graph.queue("qSPSpillReload0", "data", Engine::sp, 40);
    Block block;
    block.queue = "qSPSpillReload0";
    if (core == 0) {
      graph.file("shared_weights", "<f4", {128, 16}, builder.random().bytes(128 * run));
      block.remote_semaphores = {200};  // outside every set: sg01 never waits for it
      block.descriptors = {copy(rows("shared_weights", 0, run, 128, run), sbuf(1024, run))};
    } else {
      graph.add({.name = "shared_weights_remote_sg0", .type = "remote"});
      block.descriptors = {
          copy(rows("shared_weights_remote_sg0", 0, run, 128, run), sbuf(1024, run))};
    }
    const Wait weights = graph.move_block(block);
    const std::uint64_t half = core * 64 * run;
    const Wait in = graph.move("qSPIO0", {copy(rows("x", half, run, 64, run), sbuf(0, run, 64))});
    graph.wait(Engine::dve, weights, in);
    const Wait sum =
        graph.compute(Engine::dve, tensor_tensor(4, "float32", {0, 16}, {1024, 16}, {2048, 16}));
    graph.finish(
        {graph.move("qPoolIO0", {copy(sbuf(2048, run, 64), rows("y", half, run, 64, run))}, sum)});
  }
  return builder.build();
}

/// Records real files do not use: tensor load and store, a forward branch over a slot that would
/// hang, several labels, and a block that sets an event.
SampleNeff records_v3(std::string_view name, std::uint64_t seed) {
  constexpr std::uint64_t run = 64;
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  Subgraph& graph = builder.empty_subgraph();
  const auto weights = graph.file("weights_1", "<f4", {128, 16}, builder.random().bytes(128 * run));
  const auto cell = graph.add({.name = "cell", .type = "tmp-buf", .size = 64, .alignment = 64});
  const auto spill = graph.scratch("spill", 4096, 8192);
  io_queues(graph);
  graph.queue("qSPSpillReload0", "data", Engine::sp, 40, 1);
  Block block;
  block.queue = "qSPSpillReload0";
  block.event = 20;  // an event needs a set of one ring (decision 36)
  block.descriptors = {copy(rows("weights_1", 0, run, 128, run), sbuf(1024, run))};
  const Wait loaded = graph.move_block(block);
  graph.wait(Engine::act, loaded);
  graph.stream(Engine::act)
      .add(tensor_load(weights, 0x104, 12))
      .add(tensor_store(cell, 0x20, 0xC0FFEE11))
      .add(tensor_store(spill, 0xFFC, 0x600DF00D));
  graph.stream(Engine::pe)
      .add(branch_to_label(7))
      .add(nop({210, 1}))  // never true: reaching it would hang the engine
      .add(branch_label(7))
      .add(branch_label(8));
  graph.finish({pass_through(graph, "x", "y", run)});
  builder.empty_subgraph();
  return builder.build();
}

/// One GPSIMD library, which models on the core share.
SampleNeff library_v2(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v2, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  Subgraph& graph = builder.empty_subgraph();
  graph.ucode_library({.name = "all.so", .bytes = 5000, .stem = "function", .functions = 18});
  io_queues(graph);
  graph.finish({pass_through(graph, "x", "y", 64)});
  return builder.build();
}

/// Three GPSIMD libraries of the model, of odd sizes, listed in another order than by name.
SampleNeff libraries_v2(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v2, seed);
  builder.input("x", "float32", {128, 16});
  builder.output("y", "float32", {128, 16});
  Subgraph& graph = builder.empty_subgraph();
  graph.ucode_library(
      {.name = "last.so", .bytes = 1, .stem = "l", .functions = 2, .total_cpus = 1});
  graph.ucode_library(
      {.name = "built_in.so", .bytes = 4097, .stem = "b", .functions = 28, .built_in = true});
  graph.ucode_library(
      {.name = "first.so", .bytes = 65, .stem = "f", .functions = 0, .total_cpus = 0});
  io_queues(graph);
  graph.finish({pass_through(graph, "x", "y", 64)});
  return builder.build();
}

/// Turns random bytes into bf16 numbers around 0, which compress about as weights do.
void shape_as_bf16(std::vector<std::uint8_t>& bytes) {
  for (std::size_t at = 1; at < bytes.size(); at += 2) {
    const std::uint8_t bits = bytes[at];
    const int halvings = std::countr_one(static_cast<unsigned>(bits & 7));  // 0 to 3
    bytes[at] = static_cast<std::uint8_t>((bits & 0x80) | (0x3E - halvings));
  }
}

void add_weights(Subgraph& graph, Random& random, std::uint64_t total, bool bf16) {
  constexpr std::uint64_t piece_limit = 64ull << 20;
  std::uint64_t number = 0;
  for (std::uint64_t left = total; left != 0;) {
    const std::uint64_t piece = std::min(left, piece_limit);
    std::vector<std::uint8_t> bytes = random.bytes(piece);
    if (bf16) shape_as_bf16(bytes);
    graph.file("weight_" + std::to_string(number++), "|u1", {piece}, std::move(bytes));
    left -= piece;
  }
}

/// Loads in blocks of 128 elements into SBUF, over and over the input.
Wait add_loads(Subgraph& graph, const ScaleParameters& p, std::uint64_t input_bytes) {
  const std::uint64_t block_bytes = 128 * p.element_bytes;
  Wait done;
  for (std::uint64_t block = 0; block * 128 < p.elements; ++block) {
    const std::uint64_t at = block * block_bytes % (input_bytes - block_bytes + 1);
    done = graph.move(block % 4 == 3 ? "qSPSpillReload0" : "qSPIO0",
                      {copy(rows(block % 4 == 3 ? "spill" : "x", at, p.element_bytes, 128,
                                 static_cast<std::int64_t>(p.element_bytes), "uint8"),
                            sbuf(block % 8 * p.element_bytes, p.element_bytes, 128, "uint8"))});
  }
  return done;
}

/// Fills the streams: PE most of it, then DVE and ACT, as in real convolutions.
void add_slots(Subgraph& graph, std::uint64_t slots, Wait start) {
  constexpr std::array<Engine, 10> turn = {Engine::pe,  Engine::pe, Engine::pe,  Engine::dve,
                                           Engine::pe,  Engine::pe, Engine::dve, Engine::pe,
                                           Engine::act, Engine::pe};
  std::uint64_t present = 0;
  for (const Engine engine : all_engines) present += graph.stream(engine).slots();
  const Slot copy_slot = tensor_copy("float32", {1024, 8}, {2048, 8});
  const Slot matmul_slot = matmul("float16", {1024, 64}, {psum(0), 64});
  for (std::uint64_t i = 0; present + i < slots; ++i) {
    const Engine engine = turn[i % turn.size()];
    graph.compute(engine, engine == Engine::pe ? matmul_slot : copy_slot,
                  i % 16 == 0 ? start : Wait{});
  }
}

SampleNeff scale_default(std::string_view, std::uint64_t seed) {
  ScaleParameters parameters;
  parameters.seed = seed;
  return make_scale_sample(parameters);
}

constexpr std::array<CatalogueEntry, 10> special_entries = {
    {{"pointers-v3", "pointer cells, list, dge-table, tmp-buf, raw constant, shared virtual",
      pointers_v3},
     {"act-sets-v3", "three activation sets of odd sizes", act_sets_v3},
     {"single-core-v3", "one subgraph, vnc size 1", single_core_v3},
     {"deep-sync-v2", "semaphore values beyond 15 bits", deep_sync_v2},
     {"rearm-v2", "queue sets of 1, 3, 4 and 16 rings, one unused, C2", rearm_v2},
     {"remote-lnc2-v3", "remote variable and remote semaphore between two subgraphs",
      remote_lnc2_v3},
     {"records-v3", "tensor load and store, a forward branch, labels, a block with an event",
      records_v3},
     {"library-v2", "one GPSIMD library, which belongs to the core", library_v2},
     {"libraries-v2", "three GPSIMD libraries of the model", libraries_v2},
     {"scale", "a large model; sizes are parameters", scale_default}}};

}  // namespace

SampleNeff make_scale_sample(const ScaleParameters& p) {
  if (p.element_bytes == 0 || p.element_bytes > 4096) {
    throw std::invalid_argument("element bytes must be 1..4096");
  }
  if (p.subgraphs == 0 || (p.arch == Arch::v2 && p.subgraphs > 1)) {
    throw std::invalid_argument("subgraphs must be 1 on v2 and at least 1 on v3");
  }
  const std::uint64_t input_bytes = 64 * 128 * p.element_bytes;
  SampleBuilder builder("scale", p.arch, p.seed);
  builder.input("x", "uint8", {input_bytes});
  builder.output("y", "uint8", {128 * p.element_bytes});
  for (std::uint32_t core = 0; core < p.subgraphs; ++core) {
    Subgraph& graph = builder.empty_subgraph();
    graph.scratch("spill", input_bytes, 0);
    add_weights(graph, builder.random(), p.weights_bytes, p.bf16_weights);
    for (std::uint64_t id = graph.variable_count(); id < p.variables; ++id) {
      graph.scratch("extra_" + std::to_string(id), 4096, (id % 1024) * 4096);
    }
    io_queues(graph);
    graph.queue("qSPSpillReload0", "data", Engine::sp, 40);
    const Wait loaded = add_loads(graph, p, input_bytes);
    add_slots(graph, p.slots, loaded);
    graph.finish({graph.move("qPoolIO0",
                             {copy(sbuf(0, p.element_bytes, 128, "uint8"),
                                   rows("y", 0, p.element_bytes, 128,
                                        static_cast<std::int64_t>(p.element_bytes), "uint8"))},
                             loaded)});
  }
  return builder.build();
}

std::span<const CatalogueEntry> catalogue_parts::special_samples() {
  return special_entries;
}

}  // namespace neffld::sample
