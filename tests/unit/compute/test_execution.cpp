// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "random_records.hpp"
#include "test_memory.hpp"

using namespace neffld;
using namespace neffld::compute;
using namespace neffld::compute::test;

namespace {

std::string hex(Bytes record) {
  std::string text;
  for (const std::uint8_t byte : record) text += fmt::format("{:02x}", byte);
  return text;
}

void run(Core& core, const Draft& draft) {
  const auto done = core.run(draft.bytes());
  if (!done) FAIL(fmt::format("byte 0x{:02x}: {}", done.error().field, done.error().text));
}

/// One NaN is as good as another: gives the expected memory those of the device.
void take_over_nans(const Draft& draft, const TestMemory& memory, Windows& expected) {
  SlowReference::visit_destination(draft.bytes(), [&](bool psum, std::size_t at, unsigned dtype) {
    std::uint8_t* there = &(psum ? expected.psum : expected.sbuf)[at];
    const std::uint8_t* here = memory.partition(psum, at / window) + at % window;
    std::uint32_t found = 0, wanted = 0;
    std::memcpy(&found, here, element_size(dtype));
    std::memcpy(&wanted, there, element_size(dtype));
    if (is_nan_element(dtype, found) && is_nan_element(dtype, wanted)) {
      std::memcpy(there, here, element_size(dtype));
    }
  });
}

/// A core with its memory, and the memory that is expected.
struct Bench {
  explicit Bench(const Kernels& kernels) : core(memory.memory(), Arch::v3, kernels) {}

  /// Runs the record on both and compares all of both memories.
  void check(const Draft& draft) {
    INFO(hex(draft.bytes()));
    run(core, draft);
    reference.run(draft.bytes());
    take_over_nans(draft, memory, expected);
    REQUIRE(memory.difference(expected) == 0);
  }

  TestMemory memory{window, window};
  Core core;
  Windows expected;
  SlowReference reference{expected};
};

}  // namespace

TEST_CASE("random records do what the slow reference says, and nothing else") {
  for (const Kernels* kernels : available_kernels()) {
    INFO(kernels->name);
    Bench bench(*kernels);
    RandomRecords random(17);
    for (unsigned round = 0; round < 700; ++round) {
      const Draft draft = random.next();
      if (round % 4 == 0) {
        random.fill(bench.expected, round % 8 == 0, 2 + round / 8 % 9);
        bench.memory.put(bench.expected);
      }
      bench.check(draft);
    }
  }
}

TEST_CASE("every pair of element types converts as the slow reference says") {
  for (const Kernels* kernels : available_kernels()) {
    INFO(kernels->name);
    Bench bench(*kernels);
    RandomRecords random(5);
    for (unsigned in = 2; in <= 10; ++in) {
      random.fill(bench.expected, true, in);
      bench.memory.put(bench.expected);
      for (unsigned out = 2; out <= 10; ++out) {
        for (const int step : {1, 3}) {
          const Tensor from{sbuf(0), {{step, 500}}};
          const Tensor to{psum(0), {{4 - step, 500}}};
          bench.check(
              copy_like(0x47, from, to, static_cast<Dtype>(in), static_cast<Dtype>(out), 8));
        }
      }
    }
  }
}

TEST_CASE("16-bit floats convert exactly in both directions, whatever the bits") {
  for (const Kernels* kernels : available_kernels()) {
    INFO(kernels->name);
    for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
      std::vector<std::uint16_t> all(65536), back(65536);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
      std::vector<float> values(65536);
      Walk walk;
      walk.dtype = dtype;
      walk.size = 2;
      walk.step[0] = 2;
      walk.count[0] = walk.elements = all.size();
      kernels->load(values.data(), reinterpret_cast<const std::uint8_t*>(all.data()), walk);
      kernels->store(reinterpret_cast<std::uint8_t*>(back.data()), values.data(), walk);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double expected = decode_element(code(dtype), all[i]);
        if (std::isnan(expected)) {
          const std::uint32_t quiet = dtype == Dtype::fp16 ? 0x200 : 0x40;
          wrong += !std::isnan(values[i]) || back[i] != (all[i] | quiet);
        } else {
          wrong += static_cast<double>(values[i]) != expected || back[i] != all[i];
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("fp32 rounds to nearest even at every boundary of a narrower type") {
  std::vector<float> values;
  for (unsigned i = 0; i < 65536; ++i) {  // each 16-bit value, half way to the next, and around it
    for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
      const auto low = static_cast<float>(decode_element(code(dtype), i));
      const auto high = static_cast<float>(decode_element(code(dtype), i + 1 & 0xFFFF));
      const float middle = low / 2 + high / 2;
      values.insert(values.end(),
                    {low, middle, std::nextafter(middle, low), std::nextafter(middle, high)});
    }
  }
  for (const float edge :
       {127.5f, 128.5f, -128.5f, 255.5f, 32767.5f, -32768.5f, 65535.5f, 0.5f, 1.5f, 2.5f, -0.5f,
        2147483520.f, 2147483648.f, -2147483648.f, 4294967040.f, 4294967296.f, 1e30f, -1e30f}) {
    values.insert(values.end(), {edge, std::nextafter(edge, 0.f), std::nextafter(edge, 2 * edge)});
  }
  for (const Kernels* kernels : available_kernels()) {
    INFO(kernels->name);
    for (unsigned dtype = 2; dtype < 10; ++dtype) {
      Walk walk;
      walk.dtype = static_cast<Dtype>(dtype);
      walk.size = element_size(dtype);
      walk.step[0] = walk.size;
      walk.count[0] = walk.elements = values.size();
      std::vector<std::uint8_t> bits(values.size() * walk.size);
      kernels->store(bits.data(), values.data(), walk);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint32_t found = 0;
        std::memcpy(&found, &bits[i * walk.size], walk.size);
        if (std::isnan(values[i]) && dtype > 5 && dtype < 8) continue;
        wrong += found != encode_element(dtype, values[i]);
      }
      INFO(dtype);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("products of small integers are exact: reversed columns, begin and add, any K and M") {
  struct Case {
    unsigned rows, columns, elements;
    Tensor weights, moving, to;
  };
  const std::vector<Case> cases = {
      {128, 128, 444, {sbuf(0x800), {{-1, 128}}}, {sbuf(0x900), {{1, 444}}}, {psum(0), {{1, 444}}}},
      {128,
       128,
       64,
       {sbuf(0x1000), {{-1, 32}, {0, 1}, {-32, 4}}},
       {sbuf(0), {{1, 64}}},
       {psum(0x100), {{1, 64}}}},
      {1, 128, 1, {sbuf(0), {{1, 128}}}, {sbuf(0x400), {{1, 1}}}, {psum(4), {{1, 1}}}},
      {7,
       5,
       30,
       {sbuf(0x40), {{2, 5}}},
       {sbuf(0x800), {{1, 5}, {9, 2}, {-40, 3}}},
       {psum(0x100), {{2, 10}, {30, 3}}}},
      {32,
       64,
       512,
       {sbuf(0, 64), {{1, 64}}},
       {sbuf(0x100, 32), {{0, 4}, {1, 128}}},
       {psum(0, 64), {{1, 512}}}},
      {128, 3, 25, {sbuf(0x900), {{-9, 3}}}, {sbuf(0), {{25, 25}}}, {psum(0x1000), {{-3, 25}}}},
  };
  for (const Kernels* kernels : available_kernels()) {
    INFO(kernels->name);
    Bench bench(*kernels);
    RandomRecords random(3);
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp16, Dtype::fp32}) {
      for (const Case& each : cases) {
        random.fill_values(bench.expected.sbuf, code(dtype), 17, 1);  // sums are exact
        random.fill_values(bench.expected.psum, code(Dtype::fp32), 17, 1);
        bench.memory.put(bench.expected);
        const auto load = load_weights(each.weights, dtype, each.rows, each.columns);
        const auto product = [&](unsigned flags) {
          Draft draft = matmul(each.moving, each.to, dtype, each.rows, each.columns, flags);
          return draft.u8(0x21, dtype == Dtype::fp32 ? 3 : 0);
        };
        if (dtype != Dtype::fp32) {
          bench.check(load);
          bench.check(product(0));
          bench.check(product(1));
          bench.check(product(2));
          continue;
        }
        // Two passes of the same weights add up to one product.
        bench.check(Draft(load).u8(0x21, 1));
        bench.check(product(1));
        bench.check(Draft(load).u8(0x21, 2));
        bench.check(product(2));
        bench.check(Draft(load).u8(0x21, 3));
        bench.check(product(0));
      }
    }
  }
}

TEST_CASE("a begin bit hides what was there, NaN included") {
  Bench bench(*available_kernels().front());
  std::fill(bench.expected.psum.begin(), bench.expected.psum.end(), std::uint8_t{0xFF});
  bench.memory.put(bench.expected);
  bench.check(load_weights({sbuf(0), {{1, 128}}}, Dtype::fp16, 128, 128));
  bench.check(matmul({sbuf(0x200), {{1, 64}}}, {psum(0), {{1, 64}}}, Dtype::fp16, 128, 128, 1));
}

TEST_CASE("products of real values stay within fp32 rounding of the exact sum, on every path") {
  std::vector<float> results[2];
  std::size_t path = 0;
  for (const Kernels* kernels : available_kernels()) {
    INFO(kernels->name);
    TestMemory memory(window, window);
    Core core(memory.memory(), Arch::v3, *kernels);
    std::mt19937_64 random(9);
    std::normal_distribution<float> normal;
    std::vector<float> weights(128 * 128), moving(128 * 444);
    for (float& value : weights) value = normal(random);
    for (float& value : moving) value = normal(random);
    for (std::size_t k = 0; k < 128; ++k) {
      std::memcpy(memory.partition(false, k), &weights[k * 128], 512);
      std::memcpy(memory.partition(false, k) + 0x800, &moving[k * 444], 444 * 4);
    }
    for (const unsigned mode : {1u, 2u}) {
      run(core, load_weights({sbuf(0x1FC), {{-1, 128}}}, Dtype::fp32, 128, 128).u8(0x21, mode));
      run(core,
          matmul({sbuf(0x800), {{1, 444}}}, {psum(0), {{1, 444}}}, Dtype::fp32, 128, 128, mode == 1)
              .u8(0x21, 3));
    }
    double worst = 0;
    for (std::size_t m = 0; m < 128; ++m) {
      for (std::size_t n = 0; n < 444; ++n) {
        double sum = 0, size = 0;
        for (std::size_t k = 0; k < 128; ++k) {
          const double term = double{weights[k * 128 + m]} * moving[k * 444 + n];
          sum += term;
          size += std::fabs(term);
        }
        float found = 0;
        std::memcpy(&found, memory.partition(true, m) + 4 * n, 4);
        results[path].push_back(found);
        worst = std::max(worst, std::fabs(found - sum) / size);
      }
    }
    CHECK(worst < 1e-6);
    ++path;
  }
  for (std::size_t i = 0; path == 2 && i < results[0].size(); ++i) {
    REQUIRE(std::fabs(results[0][i] - results[1][i]) < 1e-4f);
  }
}

TEST_CASE("transpositions move every bit, NaN included") {
  for (const Kernels* kernels : available_kernels()) {
    INFO(kernels->name);
    Bench bench(*kernels);
    RandomRecords random(11);
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp16, Dtype::fp32}) {
      const auto size = element_bytes(dtype);
      random.fill(bench.expected, true, 0);
      const std::uint32_t one = encode_element(code(dtype), 1), zero = 0;
      for (std::size_t k = 0; k < 128; ++k) {
        for (std::size_t n = 0; n < 128; ++n) {
          std::memcpy(&bench.expected.sbuf[k * window + 0x1000 + n * size], k == n ? &one : &zero,
                      size);
        }
      }
      bench.memory.put(bench.expected);
      const unsigned mode = dtype == Dtype::fp32 ? 1 : 0;
      const Tensor last{sbuf(127 * size), {{-1, 128}}};
      bench.check(load_weights(last, dtype, 128, 128).u8(0x21, mode).u8(0x22, 1));
      bench.check(matmul({sbuf(0x1000), {{1, 128}}}, {psum(0x800), {{1, 128}}}, dtype, 128, 128, 3)
                      .u8(0x22, 1));
      // Fewer columns, taken in another order and spread out.
      bench.check(matmul({sbuf(0x1000 + 99 * size), {{-3, 30}}}, {psum(0x200), {{2, 30}}}, dtype,
                         128, 128, 1)
                      .u8(0x22, 1));
    }
  }
}

TEST_CASE("records that need others before them are refused without them") {
  TestMemory memory(window, window);
  Core core(memory.memory(), Arch::v3, *available_kernels().front());
  const auto refused = [&](const Draft& draft, unsigned field, std::string_view words) {
    const auto done = core.run(draft.bytes());
    REQUIRE_FALSE(done);
    INFO(done.error().text);
    CHECK(done.error().field == field);
    CHECK(done.error().text.find(words) != std::string::npos);
    INFO(refusal_text(draft.bytes(), Arch::v3, done.error().field));
    CHECK_FALSE(refusal_text(draft.bytes(), Arch::v3, done.error().field).empty());
  };
  const Tensor line{sbuf(0), {{1, 8}}}, bank{psum(0), {{1, 8}}};
  const Draft product = matmul(line, bank, Dtype::fp16, 128, 128, 1);
  const Draft weights = load_weights({sbuf(0), {{1, 128}}}, Dtype::fp16, 128, 128);
  refused(product, 0, "no weights are loaded");
  run(core, weights);
  run(core, product);
  refused(Draft(product).u8(0x20, 6), 0x20, "dtype is bf16, expected fp16");
  refused(Draft(product).u8(0x26, 64), 0x26, "rows is 64, expected the 128");
  refused(Draft(product).u8(0x27, 64), 0x27, "columns is 64, expected the 128");
  memory.partition(false, 5)[7] = 0x3C;  // 1.0, twice in an element
  memory.partition(false, 9)[7] = 0x3C;
  memory.partition(true, 0)[0] = 0x77;
  refused(Draft(product).u8(0x22, 1), 0x22, "transpose is 1, expected 0");
  run(core, Draft(weights).u8(0x22, 1));
  refused(product, 0x22, "transpose is 0, expected 1");
  refused(Draft(product).u8(0x22, 1), 0x10, "in row 9 of element 3");
  CHECK(memory.partition(true, 0)[0] == 0x77);
  core.start();
  refused(product, 0, "no weights are loaded");
  refused(activate(line, bank, Dtype::fp32, Dtype::fp32, 8, 7), 0x23, "ACTIVATION_TABLE_LOAD");
  refused(load_functions(0), 0x23, "set is 0");
  refused(Draft(0x77), 0, "compute opcode 0x77 is not modelled");
}

TEST_CASE("raising to a power is as near as the library's function") {
  TestMemory memory(window, window);
  Core core(memory.memory(), Arch::v3, *available_kernels().front());
  const float values[] = {0.5f, 2, 3, 10, 1e-3f, 7.25f, 0, 1};
  std::memcpy(memory.partition(false, 0), values, sizeof values);
  run(core, tensor_scalar({sbuf(0), {{1, 8}}}, {sbuf(0x100), {{1, 8}}}, Dtype::fp32, Dtype::fp32, 1,
                          Alu::pow, 2.5f));
  for (std::size_t i = 0; i < 8; ++i) {
    float found = 0;
    std::memcpy(&found, memory.partition(false, 0) + 0x100 + 4 * i, 4);
    CHECK(found == Approx(std::pow(double{values[i]}, 2.5)).epsilon(1e-6));
  }
}

TEST_CASE("any record that decodes runs inside the bytes its core has") {
  // Everything behind the partitions is unmapped: a stray access ends the test program.
  for (const Arch arch : {Arch::v2, Arch::v3}) {
    TestMemory memory(arch == Arch::v2 ? 0x30000 : 0x38000, 0x4000);
    Core core(memory.memory(), arch, *available_kernels().front());
    RandomRecords random(23);
    run(core, load_weights({sbuf(0), {{1, 128}}}, Dtype::fp16, 128, 128));
    unsigned ran = 0;
    for (unsigned round = 0; round < 6000; ++round) {
      Draft draft = random.next();
      if (round % 5 == 0) {
        draft = matmul({sbuf(2 * random.below(0x18000)), {{1, 1 + random.below(64)}}},
                       {psum(4 * random.below(0x1000)), {{1, 1}}}, Dtype::fp16, 128, 128, 1);
        draft.u16(0x3A, draft.bytes()[0x1A]);
      }
      for (unsigned i = 0; i < round % 4; ++i) {
        draft.u8(0x0C + random.below(52), random.below(256));
      }
      INFO(hex(draft.bytes()));
      ran += core.run(draft.bytes()).has_value();
    }
    CHECK(ran > 1500);
  }
}
