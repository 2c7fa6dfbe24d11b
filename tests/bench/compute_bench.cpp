// SPDX-License-Identifier: MIT
// compute-bench: compute records against loops a compiler makes of the obvious source, and the
// loops for this processor against those for any. What counts are the ratios; times are of one
// core. Exit 1 if a product is slower than the plain loop.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "core.hpp"

namespace {

using namespace neffld;
using namespace neffld::compute;

constexpr std::size_t rows = 128, columns = 128, elements = 444;

double best_seconds(const std::function<void()>& body) {
  double best = 1e9;
  for (int round = 0; round < 30; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

/// SBUF and PSUM of a core, never freed.
CoreMemory make_memory() {
  constexpr std::size_t sbuf_bytes = 0x200'0000, psum_bytes = 0x40'0000;
  void* map = mmap(nullptr, sbuf_bytes + psum_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) {
    fmt::print(stderr, "compute-bench: no memory for a core\n");
    std::exit(1);
  }
  auto* bytes = static_cast<std::uint8_t*>(map);
  return {bytes, bytes + sbuf_bytes, {}};
}

std::vector<std::uint8_t> record_of(std::uint8_t opcode,
                                    std::initializer_list<std::pair<std::size_t, unsigned>> bytes) {
  std::vector<std::uint8_t> record(record_bytes);
  record[0] = opcode;
  record[1] = 0x10;
  for (const auto& [at, value] : bytes) record[at] = static_cast<std::uint8_t>(value);
  return record;
}
void put_line(std::vector<std::uint8_t>& record, std::size_t at, unsigned dims,
              std::uint32_t address, int step, unsigned count) {
  const MutableBytes bytes(record);
  store_le(bytes, at, address);
  store_le(bytes, at + 4, static_cast<std::uint16_t>(step));
  for (unsigned i = 0; i < dims; ++i) {
    store_le(bytes, at + 4 + 2 * (dims + i), static_cast<std::uint16_t>(i == 0 ? count : 1));
  }
}

void plain_product(const std::vector<float>& weights, const std::vector<float>& moving,
                   std::vector<float>& result) {
  for (std::size_t m = 0; m < columns; ++m) {
    for (std::size_t n = 0; n < elements; ++n) {
      float sum = 0;
      for (std::size_t k = 0; k < rows; ++k) {
        sum += weights[k * columns + m] * moving[k * elements + n];
      }
      result[m * elements + n] = sum;
    }
  }
}

void print(const char* what, double seconds, double reference) {
  fmt::print("{:<44} {:>9.1f} us {:>8.1f} x\n", what, seconds * 1e6, reference / seconds);
}

}  // namespace

int main() {
  constexpr unsigned fp32 = 10, fp16 = 7;
  const CoreMemory memory = make_memory();
  const auto run = [](Core& core, const std::vector<std::uint8_t>& record) {
    if (const auto done = core.run(record); !done) {
      fmt::print(stderr, "compute-bench: byte {}: {}\n", done.error().field, done.error().text);
      std::exit(1);
    }
  };
  auto weights = record_of(
      0x01, {{0x20, fp32}, {0x26, rows}, {0x27, columns}, {0x2C, 0xF}, {0x2D, 0xF}, {0x21, 3}});
  put_line(weights, 0x10, 3, 4 * (columns - 1), -1, columns);
  auto product = record_of(0x02, {{0x20, fp32},
                                  {0x26, rows},
                                  {0x27, columns},
                                  {0x2C, 0xF},
                                  {0x2D, 0xF},
                                  {0x21, 3},
                                  {0x2B, 0}});
  put_line(product, 0x10, 3, 0x4000, 1, elements);
  put_line(product, 0x30, 3, 0x200'0000, 1, elements);
  auto add = record_of(0x41, {{0x0C, fp32 | fp16 << 4}, {0x0D, fp16}, {0x0E, 4}, {0x0F, rows}});
  put_line(add, 0x10, 3, 0x200'0000, 1, elements);
  put_line(add, 0x20, 3, 0x8000, 1, elements);
  put_line(add, 0x30, 3, 0x8000, 1, elements);
  auto spread = record_of(0x47, {{0x20, fp16}, {0x21, fp32}, {0x22, rows}});
  put_line(spread, 0x0C, 4, 0x8000, 3, elements);
  put_line(spread, 0x2C, 4, 0x4000, 1, elements);

  std::vector<float> w(rows * columns, 0.5f), x(rows * elements, 0.25f), r(columns * elements);
  const double plain = best_seconds([&] { plain_product(w, x, r); });
  fmt::print("128 x 128 x 444 fp32\n");
  print("plain loops", plain, plain);
  double fastest = plain;
  double adds[2] = {}, spreads[2] = {};
  std::size_t path = 0;
  for (const Kernels* kernels : available_kernels()) {
    Core core(memory, Arch::v3, *kernels);
    run(core, weights);
    const double seconds = best_seconds([&] { run(core, product); });
    print(fmt::format("MATMUL, {}", kernels->name).c_str(), seconds, plain);
    fastest = std::min(fastest, seconds);
    print(fmt::format("LDWEIGHTS, {}", kernels->name).c_str(),
          best_seconds([&] { run(core, weights); }), plain);
    adds[path] = best_seconds([&] { run(core, add); });
    spreads[path++] = best_seconds([&] { run(core, spread); });
  }
  fmt::print("128 x 444 elements: {} against portable\n", available_kernels().front()->name);
  print("fp32 + fp16 -> fp16", adds[0], adds[path - 1]);
  print("every third fp16 -> fp32", spreads[0], spreads[path - 1]);
  return fastest < plain ? 0 : 1;
}
