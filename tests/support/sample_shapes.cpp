// SPDX-License-Identifier: MIT
// Samples for the geometry of descriptors: casts, transposes, long runs, 1..4 dims, signed steps.
#include <array>
#include <string>

#include "sample_catalogue.hpp"

namespace neffld::sample {
namespace {

/// Every cast real files use (spec 08 section 3), from constants, inputs and SBUF.
SampleNeff cast_v3(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "float32", {128, 128});
  builder.output("wide", "float32", {128, 256});
  builder.output("narrow", "float16", {128, 256});
  Subgraph& graph = builder.empty_subgraph();
  graph.file("codes_1", "|i1", {128, 128, 1, 1}, builder.random().bytes(16384));
  graph.queue("qSPSpillReload0", "data", Engine::sp, 8);
  graph.queue("qSPIO0", "in", Engine::sp, 24);
  graph.queue("qPoolIO0", "in", Engine::pool, 40);
  const Wait as_f32 =
      graph.move("qSPSpillReload0",
                 {cast(rows("codes_1", 0, 128, 128, 128, "int8"), sbuf(0, 512, 128, "float32"))});
  // Two descriptors in one block, the second with rows of one element.
  const Wait as_f16 = graph.move(
      "qSPSpillReload0",
      {cast(rows("codes_1", 0, 127, 128, 128, "int8"), sbuf(1024, 254, 128, "float16")),
       cast(rows("codes_1", 127, 1, 128, 128, "int8"), sbuf(1024 + 254, 2, 128, "float16"))});
  const Wait in =
      graph.move("qSPIO0", {cast(rows("x", 0, 512, 128, 512), sbuf(2048, 256, 128, "float16"))});
  const Wait plain = graph.move("qSPIO0", {copy(rows("x", 0, 512, 128, 512), sbuf(4096, 512))});
  graph.wait(Engine::pool, as_f32, as_f16);
  graph.wait(Engine::pool, in, plain);
  const Wait f32_out =
      graph.move("qPoolIO0", {copy(sbuf(0, 512), rows("wide", 0, 512, 128, 1024)),
                              copy(sbuf(4096, 512), rows("wide", 512, 512, 128, 1024))});
  const Wait codes_out = graph.move(
      "qPoolIO0",
      {copy(sbuf(1024, 256, 128, "float16"), rows("narrow", 0, 256, 128, 512, "float16"))});
  const Wait cast_out =
      graph.move("qPoolIO0", {cast(sbuf(0, 512), rows("narrow", 256, 256, 128, 512, "float16"))});
  // A second writer of the same bytes: a 3-D cast, in order behind the first.
  Side from{"SB", 4096, {64, 8, 128}, {1, 64, sb_partition_stride}, "float32"};
  Side to{"narrow", 256, {32, 8, 128}, {1, 32, 512}, "float16"};
  const Wait last = graph.move("qPoolIO0", {cast(from, to)}, cast_out);
  graph.finish({f32_out, codes_out, cast_out, last});
  builder.empty_subgraph().file("codes_1", "|i1", {128, 128, 1, 1}, builder.random().bytes(16384));
  return builder.build();
}

/// A transpose from packed rows of `from_run` bytes into SBUF at `byte`; `tiles` tiles lie side by
/// side in each row and land in consecutive groups of partitions.
Descriptor tile_transpose(const std::string& var, std::uint64_t byte, std::uint32_t element,
                          std::uint32_t y, std::uint32_t x, std::uint32_t tiles,
                          const std::string& dtype) {
  const std::uint64_t run = std::uint64_t{x} * element, row = run * tiles;
  const std::uint64_t to_run = std::uint64_t{y} * element;
  const auto step = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  Side from{var, 0, {run, y, tiles, 1}, {1, step(row), step(run), step(row * y)}, dtype};
  Side to{"SB",
          byte,
          {to_run, x, tiles, 1},
          {1, sb_partition_stride, step(x * sb_partition_stride), step(to_run)},
          dtype};
  return transpose(from, to, element, y, x);
}

/// Both shapes of spec 08 s3.4, and the same two forms on small tiles that are not square.
SampleNeff transpose_v3(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("w", "float16", {128, 128, 9});
  builder.input("g", "float32", {128, 128});
  builder.output("wt", "float16", {128, 128});
  builder.output("gt", "float32", {128, 128});
  builder.output("small", "float32", {8, 16});
  Subgraph& graph = builder.empty_subgraph();
  graph.scratch("w_tile", 32768, 0);
  graph.scratch("g_tile", 65536, 32768);
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qSPSpillReload0", "data", Engine::sp, 24);
  graph.queue("qPoolIO0", "in", Engine::pool, 40);
  // One of nine interleaved planes, 16384 elements of 2 bytes (spec 08 s3.3).
  const Wait gathered =
      graph.move("qSPIO0", {copy({"w", 0, {2, 128, 128}, {1, 18, 2304}, "float16"},
                                 {"w_tile", 0, {2, 128, 128}, {1, 2, 256}, "float16"})});
  const Wait copied =
      graph.move("qSPIO0", {copy(rows("g", 0, 512, 128, 512), rows("g_tile", 0, 512, 128, 512))});
  const Wait f16 = graph.move("qSPSpillReload0",
                              {tile_transpose("w_tile", 0, 2, 128, 128, 1, "float16")}, gathered);
  const Wait f32 = graph.move("qSPSpillReload0",
                              {tile_transpose("g_tile", 512, 4, 128, 64, 2, "float32")}, copied);
  const Wait tiny =
      graph.move("qSPSpillReload0", {tile_transpose("g_tile", 2048, 4, 8, 4, 2, "float32"),
                                     tile_transpose("w_tile", 2304, 2, 8, 4, 1, "float16"),
                                     tile_transpose("w_tile", 2560, 2, 2, 16, 1, "float16")});
  graph.wait(Engine::pool, f16, f32);
  const Wait wt = graph.move(
      "qPoolIO0", {copy(sbuf(0, 256, 128, "float16"), rows("wt", 0, 256, 128, 256, "float16"))});
  const Wait gt = graph.move("qPoolIO0", {copy(sbuf(512, 512), rows("gt", 0, 512, 128, 512))});
  const Wait small =
      graph.move("qPoolIO0",
                 {copy(sbuf(2048, 32, 8), rows("small", 0, 32, 8, 64)),
                  copy(sbuf(2304, 16, 4, "float16"), rows("small", 32, 16, 4, 64, "float16")),
                  copy(sbuf(2560, 4, 4, "float16"), rows("small", 288, 4, 4, 64, "float16"))},
                 tiny);
  graph.finish({wt, gt, small});
  builder.empty_subgraph();
  return builder.build();
}

/// Rows around and above the 65536 bytes of one hardware descriptor, 1-byte rows, 3-D copies.
SampleNeff long_runs_v3(std::string_view name, std::uint64_t seed) {
  struct Shape {
    std::uint64_t run, rows;
  };
  constexpr std::array<Shape, 5> shapes = {
      {{1, 33}, {65535, 3}, {65536, 3}, {65537, 3}, {200000, 4}}};
  constexpr std::uint64_t size = 1'800'000;
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "int8", {size});
  builder.output("y", "int8", {size});
  builder.output("f", "float32", {2, 50000});
  Subgraph& graph = builder.empty_subgraph();
  graph.scratch("grid", 524288, 0);
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qPoolIO0", "out", Engine::pool, 24);
  std::uint64_t offset = 0;
  Wait step;
  std::vector<Wait> stored;
  for (const auto& shape : shapes) {
    const Side x =
        rows("x", offset, shape.run, shape.rows, static_cast<std::int64_t>(shape.run), "int8");
    Side y = x;
    y.var = "y";
    const Side on_chip = sbuf(0, shape.run, shape.rows, "int8");
    step = graph.move("qSPIO0", {copy(x, on_chip)}, step);
    step = graph.move("qPoolIO0", {copy(on_chip, y)}, step);
    stored.push_back(step);
    offset += shape.run * shape.rows;
  }
  // A 3-D copy of exact 65536-byte runs, and one whose inner rows are contiguous (never folded).
  step = graph.move("qSPIO0",
                    {copy({"x", 7, {65536, 3, 2}, {1, 65536, 200000}, "int8"},
                          {"grid", 0, {65536, 3, 2}, {1, 65536, 262144}, "int8"})},
                    step);
  step = graph.move("qPoolIO0",
                    {copy({"grid", 0, {65536, 3, 2}, {1, 65536, 262144}, "int8"},
                          {"y", 1'400'000, {65536, 3, 2}, {1, 65536, 196608}, "int8"})},
                    step);
  stored.push_back(step);
  // A cast whose destination rows are 200000 bytes: cut with equal element counts.
  step =
      graph.move("qSPIO0", {cast(rows("x", 0, 50000, 2, 50000, "int8"), sbuf(0, 200000, 2))}, step);
  stored.push_back(
      graph.move("qPoolIO0", {copy(sbuf(0, 200000, 2), rows("f", 0, 200000, 2, 200000))}, step));
  graph.finish(stored);
  builder.empty_subgraph();
  return builder.build();
}

/// 1 to 4 dims, sides that walk differently, negative outer steps, steps of size-1 dims.
SampleNeff copy_shapes_v3(std::string_view name, std::uint64_t seed) {
  SampleBuilder builder(std::string(name), Arch::v3, seed);
  builder.input("x", "uint8", {8192});
  builder.output("y", "uint8", {8192});
  Subgraph& graph = builder.empty_subgraph();
  graph.scratch("mid", 8192, 0);
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qSPSpillReload0", "data", Engine::sp, 24);
  graph.queue("qPoolIO0", "in", Engine::pool, 40);
  const auto side = [](const char* var, std::uint64_t offset, std::vector<std::uint64_t> sizes,
                       std::vector<std::int64_t> steps) {
    return Side{var, offset, std::move(sizes), std::move(steps), "uint8"};
  };
  const std::vector<Descriptor> inward = {
      copy(side("x", 0, {256}, {1}), side("mid", 0, {256}, {1})),
      copy(side("x", 256, {3, 40}, {1, 5}), side("mid", 256, {3, 40}, {1, 3})),
      copy(side("x", 1024, {4, 5, 6}, {1, 100, 7}), side("mid", 512, {4, 5, 6}, {1, 4, 20})),
      copy(side("x", 2048, {2, 3, 4, 5}, {1, 2, 6, 24}),
           side("mid", 1024, {2, 3, 4, 5}, {1, 40, 10, 2})),
      // Rows in reverse order: the offset is the start of the highest row.
      copy(side("x", 4096 + 15 * 16, {16, 16}, {1, -16}), side("mid", 2048, {16, 16}, {1, 16})),
      copy(side("x", 5000, {8, 4, 4}, {1, -8, 64}), side("mid", 2560 + 96, {8, 4, 4}, {1, 8, -32})),
      copy(side("x", 6000, {10, 1, 3, 1}, {1, 1 << 25, 10, -(1 << 25)}),
           side("mid", 4000, {10, 1, 3, 1}, {1, 0, 10, 77}))};
  // Every byte of "mid" is written first, so that all outputs are determined.
  const Wait filled =
      graph.move("qSPIO0", {copy(side("x", 0, {8192}, {1}), side("mid", 0, {8192}, {1}))});
  const Wait in = graph.move("qSPIO0", inward, filled);
  const Wait on_chip = graph.move(
      "qSPSpillReload0",
      {copy(side("mid", 0, {16, 32}, {1, 16}), side("SB", 64, {16, 32}, {1, sb_partition_stride})),
       // Partitions 127 down to 96, then 2 bytes a row at an odd place.
       copy(side("mid", 512, {16, 32}, {1, 16}),
            side("SB", 80 + 127 * sb_partition_stride, {16, 32},
                 {1, -std::int64_t{sb_partition_stride}})),
       copy(side("mid", 1024, {2, 8, 32}, {1, 2, 16}),
            side("SB", 101, {2, 8, 32}, {1, 3, sb_partition_stride}))},
      in);
  const Wait out = graph.move(
      "qPoolIO0",
      {copy(side("SB", 64, {16, 32}, {1, sb_partition_stride}), side("y", 0, {16, 32}, {1, 16})),
       copy(side("SB", 80 + 96 * sb_partition_stride, {16, 32}, {1, sb_partition_stride}),
            side("y", 512 + 31 * 16, {16, 32}, {1, -16})),
       copy(side("SB", 101, {2, 8, 32}, {1, 3, sb_partition_stride}),
            side("y", 1024, {2, 8, 32}, {1, 2, 16})),
       copy(side("mid", 2048, {2048}, {1}), side("y", 2048, {2048}, {1}))},
      on_chip);
  graph.finish({out});
  builder.empty_subgraph();
  return builder.build();
}

constexpr std::array<CatalogueEntry, 4> shapes_entries = {
    {{"cast-v3", "int8 and fp32 casts from constants, inputs and SBUF", cast_v3},
     {"transpose-v3", "DMA transposes: real and small tiles, 2- and 4-byte elements", transpose_v3},
     {"long-runs-v3", "runs of 1, 65535, 65536, 65537 and 200000 bytes, 3-D copies, type out",
      long_runs_v3},
     {"copy-shapes-v3", "1 to 4 dims, negative outer steps, steps of size-1 dims",
      copy_shapes_v3}}};

}  // namespace

std::span<const CatalogueEntry> catalogue_parts::shape_samples() {
  return shapes_entries;
}

}  // namespace neffld::sample
