// SPDX-License-Identifier: MIT
#include "generated.hpp"

#include <stdexcept>
#include <string>

#include "exp_tables.hpp"
#include "neffld/bytes.hpp"
#include "sample_neff.hpp"

namespace neffld::test {
namespace {

using namespace neffld::sample;

constexpr std::uint8_t alu_add = 4, alu_mult = 6, alu_max = 8;
constexpr std::uint8_t fp16 = 7, fp32 = 10;                                  // dtype codes
constexpr std::uint8_t flag_begin = 1, flag_end = 2;                         // of MATMUL
constexpr std::uint8_t mode_low = 1, mode_high = 2, mode_both = 3;           // fp32 passes
constexpr std::uint8_t axis_x = 2, axis_xy = 3;                              // of TENSOR_REDUCE
constexpr std::size_t at_mode = 0x21, at_transpose = 0x22, at_flags = 0x2B;  // of 01 and 02

struct Dim {
  std::int16_t step;  ///< elements
  std::uint16_t num;
};

/// T3 or T4 operand with these dims, the innermost first.
void pattern(Slot& slot, std::size_t at, std::size_t rank, std::uint32_t address,
             const std::vector<Dim>& dims) {
  store_le<std::uint32_t>(slot, at, address);
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim dim = i < dims.size() ? dims[i] : Dim{1, 1};
    store_le<std::int16_t>(slot, at + 4 + 2 * i, dim.step);
    store_le<std::uint16_t>(slot, at + 4 + 2 * rank + 2 * i, dim.num);
  }
}

Slot reduce(std::uint8_t alu, std::uint8_t axis, std::uint8_t dtype, std::uint32_t from,
            const std::vector<Dim>& dims, std::uint32_t to, std::uint16_t results) {
  Slot slot = make_slot(0x42);
  pattern(slot, 0x0C, 4, from, dims);
  slot[0x20] = slot[0x21] = dtype;
  slot[0x22] = 128;
  slot[0x24] = alu;
  slot[0x25] = axis;
  pattern(slot, 0x2C, 4, to, {{1, results}});
  return slot;
}

// ---- convolution and pooling ----

constexpr std::uint16_t channels = 128, height = 6, width = 10, taps = 9;
constexpr std::uint16_t rows_out = height - 2, columns_out = width - 2;
constexpr std::uint16_t positions = rows_out * columns_out, pooled_positions = positions / 4;
// Bytes of a partition.
constexpr std::uint32_t kernel = 0, image = 4096, shift16 = 8192, shift = 8200, partial = 8448,
                        activated = 8704, pooled = 8960;

/// Weights of one tap, a column for each output channel; the last column is loaded first.
Slot tap_weights(std::uint16_t tap) {
  Slot slot = load_weights("float16", kernel);
  pattern(slot, 0x10, 3, kernel + 2u * ((channels - 1u) * taps + tap),
          {{-static_cast<std::int16_t>(taps), channels}});
  return slot;
}

Slot tap_product(std::uint16_t tap, std::uint8_t flags) {
  Slot slot = matmul("float16", {image, positions}, {psum(0), positions});
  pattern(slot, 0x10, 3, image + 2u * (tap / 3u * width + tap % 3u),
          {{1, columns_out}, {width, rows_out}});
  slot[at_flags] = flags;
  return slot;
}

/// The sum of some taps in PSUM, which is used again by the next group.
Wait add_taps(Subgraph& graph, std::uint16_t first, std::uint16_t end) {
  Stream& pe = graph.stream(Engine::pe);
  for (std::uint16_t tap = first; tap + 1 < end; ++tap) {
    pe.add(tap_weights(tap)).add(tap_product(tap, tap == first ? flag_begin : 0));
  }
  pe.add(tap_weights(end - 1));
  return graph.compute(Engine::pe, tap_product(end - 1, flag_end));
}

SampleNeff pool_f16(const std::string& name) {
  constexpr std::uint64_t image_bytes = 2 * height * width;
  SampleBuilder builder(name, Arch::v2);
  builder.input("X", "float16", {1, channels, height, width});
  builder.input("W", "float16", {channels, channels, 3, 3});
  builder.input("bias", "float16", {channels});
  builder.output("X_out", "float16", {1, channels, rows_out / 2, columns_out / 2});
  Subgraph& graph = builder.subgraph();
  graph.state_buffer();
  for (const char* input : {"X", "W", "bias"}) graph.input(input, builder.bytes(input));
  graph.output("X_out", builder.bytes("X_out"));
  graph.act_set({"curves_and_others"});
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qPoolIO0", "in", Engine::pool, 24);

  std::vector<Descriptor> weights;
  for (std::uint64_t out = 0; out < channels; ++out) {
    weights.push_back(copy(rows("W", out * channels * 18, 18, channels, 18, "float16"),
                           sbuf(kernel + out * 18, 18, channels, "float16")));
  }
  const Wait weights_in = graph.move("qSPIO0", weights);
  const Wait image_in =
      graph.move("qSPIO0", {copy(rows("X", 0, image_bytes, channels, image_bytes, "float16"),
                                 sbuf(image, image_bytes, channels, "float16"))});
  const Wait shift_in = graph.move("qSPIO0", {copy(rows("bias", 0, 2, channels, 2, "float16"),
                                                   sbuf(shift16, 2, channels, "float16"))});

  graph.wait(Engine::pe, weights_in, image_in);
  const Wait first = add_taps(graph, 0, 5);
  graph.compute(Engine::dve, tensor_cast("float16", {shift16}, "float32", {shift}), shift_in);
  const Wait kept = graph.compute(
      Engine::dve, tensor_cast("float32", {psum(0), positions}, "float16", {partial, positions}),
      first);
  graph.wait(Engine::pe, kept);
  const Wait second = add_taps(graph, 5, taps);
  // fp32 from PSUM and fp16 from SBUF, in place (spec 10 section 5.5).
  Slot sum = tensor_tensor(alu_add, "float32", {psum(0), positions}, {partial, positions},
                           {partial, positions});
  sum[0x0C] = fp32 | fp16 << 4;
  sum[0x0D] = fp16;
  const Wait summed = graph.compute(Engine::dve, sum, second);
  graph.stream(Engine::act).add(act_table_load(0));
  const Wait shifted = graph.compute(Engine::act,
                                     activate(1, "float16", {partial, positions}, "float32", shift,
                                              "float16", {activated, positions}),
                                     summed);
  const Wait reduced = graph.compute(
      Engine::dve,
      reduce(alu_max, axis_xy, fp16, activated,
             {{1, 2}, {columns_out, 2}, {2, columns_out / 2}, {2 * columns_out, rows_out / 2}},
             pooled, pooled_positions),
      shifted);
  constexpr std::uint64_t run = 2 * pooled_positions;
  graph.finish({graph.move("qPoolIO0",
                           {copy(sbuf(pooled, run, channels, "float16"),
                                 rows("X_out", 0, run, channels, run, "float16"))},
                           reduced)});
  return builder.build();
}

// ---- attention ----

constexpr std::uint16_t length = 128;  // depth and sequence
constexpr std::uint32_t line_bytes = 4 * length;
constexpr std::uint32_t q = 0, k = q + line_bytes, v = k + line_bytes, eye = v + line_bytes,
                        v_turned = eye + line_bytes, scores = v_turned + line_bytes,
                        scores_turned = scores + line_bytes, result = scores_turned + line_bytes,
                        halves = result + line_bytes, least = halves + 8, sum = least + 4,
                        factor = sum + 4;
constexpr std::uint32_t bank_bytes = 2048;

std::vector<std::uint8_t> identity_f32() {
  std::vector<std::uint8_t> matrix(std::size_t{length} * line_bytes);
  for (std::size_t i = 0; i < length; ++i) {
    store_le(matrix, (i * length + i) * sizeof(float), 0x3F80'0000u);
  }
  return matrix;
}

/// weightsᵀ moving, in the two passes of fp32.
Wait product(Subgraph& graph, std::uint32_t weights, std::uint32_t moving, std::uint32_t to) {
  Stream& pe = graph.stream(Engine::pe);
  Slot load = load_weights("float32", weights);
  Slot multiply = matmul("float32", {moving, length}, {to, length});
  multiply[at_mode] = mode_both;
  load[at_mode] = mode_low;
  multiply[at_flags] = flag_begin;
  pe.add(load).add(multiply);
  load[at_mode] = mode_high;
  multiply[at_flags] = flag_end;
  pe.add(load);
  return graph.compute(Engine::pe, multiply);
}

/// Rows become columns, bit by bit.
Wait turn(Subgraph& graph, std::uint32_t from, std::uint32_t to) {
  Slot load = load_weights("float32", from);
  load[at_mode] = mode_low;
  Slot multiply = matmul("float32", {eye, length}, {to, length});
  multiply[at_mode] = mode_both;
  load[at_transpose] = multiply[at_transpose] = 1;
  multiply[at_flags] = flag_begin | flag_end;
  graph.stream(Engine::pe).add(load);
  return graph.compute(Engine::pe, multiply);
}

/// exp(score - largest) of every row, and 1 / their sum.
Wait softmax(Subgraph& graph, std::uint32_t logits, Wait ready) {
  graph.compute(
      Engine::dve,
      reduce(alu_max, axis_x, fp32, logits, {{1, length / 2}, {length / 2, 2}}, halves, 2), ready);
  Slot largest = reduce(alu_max, axis_x, fp32, halves, {{1, 2}}, least, 1);
  largest[0x23] = 1;  // negated
  const Wait known = graph.compute(Engine::dve, largest);
  graph.stream(Engine::act).add(act_table_load(0));
  const Wait raised = graph.compute(Engine::act,
                                    activate(exp_function, "float32", {logits, length}, "float32",
                                             least, "float32", {scores, length}),
                                    known);
  graph.compute(Engine::dve, reduce(alu_add, axis_x, fp32, scores, {{1, length}}, sum, 1), raised);
  Slot reciprocal = tensor_copy("float32", {sum}, {factor});
  reciprocal[0] = 0x48;
  return graph.compute(Engine::dve, reciprocal);
}

/// TENSOR_SCALAR: times one value of each partition.
Slot scaled(std::uint32_t from, std::uint32_t by, std::uint32_t to) {
  Slot slot = make_slot(0x43);
  pattern(slot, 0x10, 3, from, {{1, length}});
  slot[0x20] = slot[0x21] = fp32;
  slot[0x22] = 128;
  slot[0x23] = 1;  // by pointer
  slot[0x24] = alu_mult;
  store_le<std::uint32_t>(slot, 0x28, by);
  pattern(slot, 0x30, 3, to, {{1, length}});
  return slot;
}

/// The writer's own tables are random cubics.
void put_exp_tables(SampleNeff& sample, const std::string& set) {
  ExpTables tables = make_exp_tables(set);
  for (PackMember& member : sample.members) {
    if (member.name == "sg00/" + set + "_bkt.bin") member.bytes = tables.buckets;
    if (member.name == "sg00/" + set + "_ctrl.bin") member.bytes = tables.controls;
    if (member.name == "sg00/" + set + ".json") {
      member.bytes.assign(tables.profile.begin(), tables.profile.end());
    }
  }
}

SampleNeff attention_f32(const std::string& name) {
  SampleBuilder builder(name, Arch::v3);
  for (const char* input : {"q_ref", "k_ref", "v_ref"}) {
    builder.input(input, "float32", {length, length});
  }
  builder.output("kernel_out", "float32", {length, length});
  Subgraph& graph = builder.subgraph();
  graph.state_buffer();
  for (const char* input : {"q_ref", "k_ref", "v_ref"}) graph.input(input, builder.bytes(input));
  graph.output("kernel_out", builder.bytes("kernel_out"));
  graph.file("identity", "<f4", {length, length}, identity_f32());
  graph.act_set({"exp_only"});
  graph.queue("qSPIO0", "in", Engine::sp, 8);
  graph.queue("qSPSpillReload0", "data", Engine::sp, 24);
  graph.queue("qPoolIO0", "in", Engine::pool, 40);
  const auto lines = [](const char* variable) {
    return rows(variable, 0, line_bytes, length, line_bytes);
  };
  const Wait eye_in =
      graph.move("qSPSpillReload0", {copy(lines("identity"), sbuf(eye, line_bytes))});
  const Wait v_in = graph.move("qSPIO0", {copy(lines("v_ref"), sbuf(v, line_bytes))});
  const Wait q_in = graph.move("qSPIO0", {copy(lines("q_ref"), sbuf(q, line_bytes))});
  const Wait k_in = graph.move("qSPIO0", {copy(lines("k_ref"), sbuf(k, line_bytes))});

  graph.wait(Engine::pe, eye_in, v_in);
  const Wait v_ready = turn(graph, v, psum(bank_bytes));
  graph.compute(Engine::dve, tensor_copy("float32", {psum(bank_bytes), length}, {v_turned, length}),
                v_ready);
  graph.wait(Engine::pe, q_in, k_in);
  const Wait logits = product(graph, q, k, psum(0));
  graph.wait(Engine::pe, softmax(graph, psum(0), logits));
  const Wait turned = turn(graph, scores, psum(bank_bytes));
  graph.wait(Engine::pe, graph.compute(Engine::dve,
                                       tensor_copy("float32", {psum(bank_bytes), length},
                                                   {scores_turned, length}),
                                       turned));
  const Wait mixed = product(graph, scores_turned, v_turned, psum(0));
  const Wait done = graph.compute(Engine::dve, scaled(psum(0), factor, result), mixed);
  graph.finish(
      {graph.move("qPoolIO0", {copy(sbuf(result, line_bytes), lines("kernel_out"))}, done)});
  builder.empty_subgraph();
  SampleNeff sample = builder.build();
  put_exp_tables(sample, "exp_only");
  return sample;
}

struct Maker {
  std::string_view name;
  SampleNeff (*make)(const std::string& name);
};
constexpr Maker makers[] = {{"pool-f16-v2", pool_f16}, {"attention-f32-v3", attention_f32}};

}  // namespace

bool is_generated(std::string_view name) {
  for (const Maker& maker : makers) {
    if (maker.name == name) return true;
  }
  return false;
}

std::vector<std::uint8_t> generated(std::string_view name) {
  for (const Maker& maker : makers) {
    if (maker.name != name) continue;
    auto bytes = pack(maker.make(std::string(name)));
    if (!bytes) throw std::runtime_error(to_sentence(bytes.error()));
    return std::move(*bytes);
  }
  throw std::invalid_argument("no generated model is called " + std::string(name));
}

}  // namespace neffld::test
