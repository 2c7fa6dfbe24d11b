// SPDX-License-Identifier: MIT
// Samples with static DMA blocks in the style of groups A and B of spec 08: blocks fired by C1.
#include <array>
#include <string>

#include "sample_catalogue.hpp"

namespace neffld::sample {
namespace {

constexpr std::uint8_t alu_add = 4;

/// left + right -> sum in two column tiles. With `fifo` DVE waits for the last load of a tile only
/// and relies on the order inside each ring, as the real program does (spec 10 s8).
SampleNeff vecadd(std::string_view name, Arch arch, std::uint64_t seed, bool fifo) {
  constexpr std::uint16_t columns = 48;  // of one tile
  constexpr std::uint64_t run = columns * 4, stride = 2 * run;
  SampleBuilder builder(std::string(name), arch, seed);
  builder.input("left", "float32", {128 * columns * 2});
  builder.input("right", "float32", {128 * columns * 2});
  builder.output("sum", "float32", {128 * columns * 2});
  Subgraph& graph = builder.subgraph();
  graph.state_buffer();
  graph.input("left", builder.bytes("left"));
  graph.input("right", builder.bytes("right"));
  graph.output("sum", builder.bytes("sum"));
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qPoolIO0", "in", Engine::pool, 24);
  std::vector<Wait> stored;
  for (std::uint32_t tile = 0; tile < 2; ++tile) {
    const std::uint64_t column = tile * run;
    const std::uint32_t a = 1024 + tile * 4096, b = a + 1024, c = a + 2048;
    const Wait left =
        graph.move("qSPIO0", {copy(rows("left", column, run, 128, stride), sbuf(a, run))});
    const Wait right =
        graph.move("qSPIO0", {copy(rows("right", column, run, 128, stride), sbuf(b, run))});
    if (!fifo) graph.wait(Engine::dve, left, right);
    const Wait added = graph.compute(
        Engine::dve, tensor_tensor(alu_add, "float32", {a, columns}, {b, columns}, {c, columns}),
        fifo ? right : Wait{});
    stored.push_back(
        graph.move("qPoolIO0", {copy(sbuf(c, run), rows("sum", column, run, 128, stride))}, added));
  }
  graph.finish(stored);
  if (arch != Arch::v2) builder.empty_subgraph();
  return builder.build();
}

SampleNeff vecadd_v3(std::string_view name, std::uint64_t seed) {
  return vecadd(name, Arch::v3, seed, true);
}

SampleNeff vecadd_v2(std::string_view name, std::uint64_t seed) {
  return vecadd(name, Arch::v2, seed, false);
}

/// 128x128 identity in fp16, the constant of real convolution files.
std::vector<std::uint8_t> identity_f16() {
  std::vector<std::uint8_t> matrix(128 * 128 * 2);
  for (std::size_t i = 0; i < 128; ++i) matrix[(i * 128 + i) * 2 + 1] = 0x3C;  // 1.0
  return matrix;
}

/// feature = kernel^T * image + shift, with a spill of the result through two `virtual` buffers.
SampleNeff conv_like_v2(std::string_view name, std::uint64_t seed) {
  constexpr std::uint16_t n = 64;
  constexpr std::uint32_t kernel = 0, image = 512, shift = 1024, shift_row = 1088, eye = 2048,
                          result = 4096, again = 8192;
  SampleBuilder builder(std::string(name), Arch::v2, seed);
  builder.input("image", "float16", {128, n});
  builder.input("kernel", "float16", {128, 128});
  builder.input("shift", "float16", {128});
  builder.output("feature", "float32", {128, n});
  Subgraph& graph = builder.subgraph();
  graph.state_buffer();
  graph.input("image", builder.bytes("image"));
  graph.input("kernel", builder.bytes("kernel"));
  graph.input("shift", builder.bytes("shift"));
  graph.output("feature", builder.bytes("feature"));
  graph.file("eye_1", "<f2", {128, 128, 1, 1}, identity_f16());
  graph.scratch("-t3_i0_RematSpillSave0_sg0000", 32768, 0);
  graph.scratch("spill1", 16384, 32768);
  graph.act_set({"curves_and_others"});
  graph.queue("qSPSpillReload0", "data", Engine::sp, 24);
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qPoolIO0", "in", Engine::pool, 56);
  graph.queue("qPoolSpillReload0", "data", Engine::pool, 40);

  // The kernel arrives in one block of 14 descriptors of 18 bytes and one of 4 bytes a row.
  std::vector<Descriptor> pieces;
  for (std::uint64_t at = 0; at < 256; at += 18) {
    const std::uint64_t run = std::min<std::uint64_t>(18, 256 - at);
    pieces.push_back(
        copy(rows("kernel", at, run, 128, 256, "float16"), sbuf(kernel + at, run, 128, "float16")));
  }
  const Wait kernel_in = graph.move("qSPIO0", pieces);
  const Wait image_in = graph.move("qSPIO0", {copy(rows("image", 0, n * 2, 128, n * 2, "float16"),
                                                   sbuf(image, n * 2, 128, "float16"))});
  // One block that mixes two inputs, and a one-partition row without num_tiling_dimensions.
  Descriptor row =
      copy(rows("shift", 0, 256, 1, 256, "float16"), sbuf(shift_row, 256, 1, "float16"));
  row.tiling_dims = 0;
  const Wait shift_in = graph.move(
      "qSPIO0", {copy(rows("shift", 0, 2, 128, 2, "float16"), sbuf(shift, 2, 128, "float16")), row,
                 copy(rows("image", 0, 2, 1, 2, "float16"), sbuf(shift + 4, 2, 1, "float16"))});
  const Wait eye_in = graph.move(
      "qSPSpillReload0",
      {copy(rows("eye_1", 0, 256, 128, 256, "float16"), sbuf(eye, 256, 128, "float16"))});

  graph.wait(Engine::pe, kernel_in, image_in);
  graph.stream(Engine::pe).add(load_weights("float16", kernel));
  const Wait product = graph.compute(Engine::pe, matmul("float16", {image, n}, {psum(0), n}));
  graph.stream(Engine::pe).add(load_weights("float16", eye));
  graph.stream(Engine::act).add(act_table_load(0));
  graph.wait(Engine::act, shift_in, product);
  const Wait activated = graph.compute(
      Engine::act, activate(1, "float32", {psum(0), n}, "float16", shift, "float32", {result, n}));
  const Wait cleared = graph.compute(Engine::dve, memset_zero("float32", {again, 2 * n}), eye_in);

  const std::uint64_t run = n * 4;
  const Wait spilled =
      graph.move("qPoolSpillReload0",
                 {copy(sbuf(result, run), rows("-t3_i0_RematSpillSave0_sg0000", 0, run, 128, run))},
                 activated);
  const Wait moved =
      graph.move("qPoolSpillReload0",
                 {copy(rows("-t3_i0_RematSpillSave0_sg0000", 0, run / 2, 64, run),
                       rows("spill1", 0, run / 2, 64, run)),
                  copy(rows("-t3_i0_RematSpillSave0_sg0000", run / 2, run / 2, 64, run),
                       rows("spill1", run / 2, run / 2, 64, run))},
                 spilled);
  graph.wait(Engine::sp, cleared, moved);
  const Wait low =
      graph.move("qSPSpillReload0", {copy(rows("spill1", 0, run, 64, run), sbuf(again, run, 64))});
  Side upper = sbuf(again + 64 * sb_partition_stride, run, 64);
  const Wait high = graph.move(
      "qSPSpillReload0",
      {copy(rows("-t3_i0_RematSpillSave0_sg0000", 64 * run, run, 64, run), upper)}, spilled);
  graph.wait(Engine::dve, low, high);
  const Wait final_copy =
      graph.compute(Engine::dve, tensor_copy("float32", {again, n}, {again + 1024, n}));
  graph.finish({graph.move(
      "qPoolIO0", {copy(sbuf(again + 1024, run), rows("feature", 0, run, 128, run))}, final_copy)});
  return builder.build();
}

/// Six queue sets of five kinds of owner and use (spec 08 s2.6, group B), and two outputs.
SampleNeff many_queues_v3(std::string_view name, std::uint64_t seed) {
  constexpr std::uint64_t run = 512;
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 128});
  builder.output("y", "float32", {128, 128});
  builder.output("z", "float32", {128, 128});
  Subgraph& graph = builder.empty_subgraph();
  graph.file("table_1", "<f4", {128, 128}, builder.random().bytes(128 * run));
  graph.scratch("act_spill", 128 * run, 0);
  graph.scratch("dve_spill", 128 * run, 128 * run);
  graph.scratch("pool_spill", 128 * run, 256 * run);
  struct Set {
    const char* name;
    const char* type;
    Engine owner;
    std::uint32_t first;
  };
  // Semaphore ranges are not in the order of names.
  constexpr std::array<Set, 6> sets = {{{"qSPIO0", "in", Engine::sp, 40},
                                        {"qPoolIO0", "in", Engine::pool, 8},
                                        {"qSPSpillReload0", "data", Engine::sp, 88},
                                        {"qPoolSpillReload0", "data", Engine::pool, 24},
                                        {"qActSpillReload0", "data", Engine::act, 72},
                                        {"qDVESpillReload0", "data", Engine::dve, 56}}};
  for (const auto& set : sets) graph.queue(set.name, set.type, set.owner, set.first);

  const auto hbm = [&](const char* var) { return rows(var, 0, run, 128, run); };
  Wait done;
  for (std::uint32_t round = 0; round < 20; ++round) {  // 20 > 16: semaphores are used again
    const Wait in = graph.move("qSPIO0", {copy(hbm("x"), sbuf(0, run))}, done);
    const Wait table = graph.move("qSPSpillReload0", {copy(hbm("table_1"), sbuf(run, run))}, in);
    const Wait act = graph.move("qActSpillReload0", {copy(sbuf(0, run), hbm("act_spill"))}, in);
    const Wait dve =
        graph.move("qDVESpillReload0", {copy(sbuf(run, run), hbm("dve_spill"))}, table);
    graph.wait(Engine::pool, act, dve);
    const Wait pool = graph.move("qPoolSpillReload0", {copy(sbuf(0, run), hbm("pool_spill")),
                                                       copy(sbuf(run, run), sbuf(2 * run, run))});
    const Wait back =
        graph.move("qSPSpillReload0", {copy(hbm("pool_spill"), sbuf(3 * run, run))}, pool);
    const Wait y = graph.move("qPoolIO0", {copy(sbuf(3 * run, run), hbm("y"))}, back);
    const Wait z = graph.move("qPoolIO0", {copy(sbuf(2 * run, run), hbm("z"))}, back);
    graph.wait(Engine::sp, y, z);
    done = z;
  }
  graph.finish({done});
  builder.empty_subgraph();
  return builder.build();
}

/// `virtual` buffers that share bytes on purpose, each used after the other is dead.
SampleNeff virtual_overlap_v2(std::string_view name, std::uint64_t seed) {
  constexpr std::uint64_t run = 64;
  SampleBuilder builder(std::string(name), Arch::v2, seed);
  builder.input("x", "float16", {128, 32});
  builder.output("y", "float16", {128, 32});
  Subgraph& graph = builder.empty_subgraph();
  graph.scratch("early", 128 * run, 4096);
  graph.scratch("late", 128 * run, 8192);  // its first half is the second half of "early"
  graph.scratch("same_place", 128 * run, 4096);
  graph.scratch("far_away", 4096, 1 << 20);
  graph.queue("qSPIO0", "in", Engine::sp, 24);
  graph.queue("qPoolIO0", "in", Engine::pool, 8);
  graph.queue("qSPSpillReload0", "data", Engine::sp, 40);
  graph.queue("qPoolSpillReload0", "data", Engine::pool, 56);
  const auto hbm = [&](const char* var) { return rows(var, 0, run, 128, run, "float16"); };
  const auto on_chip = [&](std::uint64_t at) { return sbuf(at, run, 128, "float16"); };
  Wait step = graph.move("qSPIO0", {copy(hbm("x"), hbm("early"))});
  step = graph.move("qSPSpillReload0", {copy(hbm("early"), on_chip(0))}, step);
  step = graph.move("qPoolSpillReload0", {copy(on_chip(0), hbm("late"))}, step);
  step = graph.move("qSPSpillReload0", {copy(hbm("late"), on_chip(64))}, step);
  step = graph.move("qPoolSpillReload0",
                    {copy(on_chip(64), hbm("same_place")), copy(on_chip(64), on_chip(128))}, step);
  step =
      graph.move("qPoolSpillReload0",
                 {copy(rows("same_place", 0, 32, 64, 64), rows("far_away", 0, 32, 64, 64))}, step);
  graph.finish({graph.move("qPoolIO0", {copy(hbm("same_place"), hbm("y"))}, step)});
  return builder.build();
}

/// Blocks of fewer elements than rings: single rows of one partition (spec 08 s3.3).
SampleNeff one_partition_v2(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v2, seed);
  builder.input("bias", "float32", {17, 64});
  builder.output("copy", "float32", {17, 64});
  Subgraph& graph = builder.empty_subgraph();
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qPoolIO0", "in", Engine::pool, 24);
  std::vector<Wait> stored;
  for (std::uint64_t row = 0; row < 17; ++row) {
    Descriptor load = copy(rows("bias", row * 256, 256, 1, 256),
                           sbuf(2 * row + (row % 128) * sb_partition_stride, 256, 1));
    load.tiling_dims = 0;
    Descriptor store{load.to, rows("copy", row * 256, 256, 1, 256), "copy", 0, 0, {}};
    const Wait loaded = graph.move("qSPIO0", {load});
    stored.push_back(graph.move("qPoolIO0", {store}, loaded));
  }
  graph.finish(stored);
  return builder.build();
}

SampleNeff empty_v3(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "bfloat16", {4, 4});
  builder.output("y", "bfloat16", {4, 4});
  builder.empty_subgraph();
  builder.empty_subgraph().file("unused_1", "<V2", {128, 64}, builder.random().bytes(16384));
  return builder.build();
}

constexpr std::array<CatalogueEntry, 7> static_entries = {
    {{"vecadd-v3", "two inputs, one output, static queues; empty sg01", vecadd_v3},
     {"vecadd-v2", "the same on one v2 core, A0 with two waits", vecadd_v2},
     {"conv-like-v2", "weights, matmul, ACT set, spills, multi-descriptor blocks, two-input block",
      conv_like_v2},
     {"many-queues-v3", "6 queue sets, two outputs, semaphores used more than once",
      many_queues_v3},
     {"virtual-overlap-v2", "virtual variables that share bytes", virtual_overlap_v2},
     {"one-partition-v2", "blocks of one element, no num_tiling_dimensions", one_partition_v2},
     {"empty-v3", "two empty programs and an unused constant", empty_v3}}};

}  // namespace

std::span<const CatalogueEntry> catalogue_parts::static_samples() {
  return static_entries;
}

}  // namespace neffld::sample
