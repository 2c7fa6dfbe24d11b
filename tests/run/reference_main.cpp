// SPDX-License-Identifier: MIT
// The reference as a program.
//   reference inputs NUMBER SEED FOLDER             writes FOLDER/NAME.npy for every input
//   reference check NUMBER FOLDER OUTPUT [CHANNELS] compares OUTPUT with the reference of the
//   inputs
// in FOLDER; exit 0 within tolerance, 1 not.
//   reference speed                                  prints what plain loops reach here, GMAC/s
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "programs.hpp"

using namespace neffld::reference;

namespace {

const Program& find(const char* number) {
  for (const Program& program : programs()) {
    if (std::strcmp(program.number, number) == 0) return program;
  }
  std::fprintf(stderr, "reference: no program has number %s\n", number);
  std::exit(2);
}

int write_inputs(const Program& program, std::uint64_t seed, const std::string& folder) {
  for (const Tensor& tensor : make_inputs(program, seed)) {
    write_npy(folder + "/" + tensor.name + ".npy", tensor);
  }
  return 0;
}

int check(const Program& program, const std::string& folder, const std::string& path,
          std::uint64_t channels) {
  std::vector<Tensor> inputs;
  for (const TensorShape& input : program.inputs) {
    inputs.push_back({input.name, program.type, input.shape, {}});
    read_npy(folder + "/" + input.name + ".npy", inputs.back());
  }
  Tensor output{program.output.name, program.type, program.output.shape, {}};
  read_npy(path, output);
  const auto start = std::chrono::steady_clock::now();
  const Comparison result = compare(program, inputs, output, channels, 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf(
      "%s %s: %llu elements, max error %.3g, max reference %.4g, allowed %.3g, %llu differ (%.1f s "
      "of reference)\n",
      program.number, result.good ? "good" : "WRONG",
      static_cast<unsigned long long>(result.compared), result.max_error, result.max_reference,
      program.tolerance * result.max_reference, static_cast<unsigned long long>(result.different),
      took.count());
  return result.good ? 0 : 1;
}

/// out (+)= weightsT * moving as three plain loops in float, the shape of one MATMUL record; best
/// of a few tenths of a second. What an execution is compared with, because machines differ.
double plain_matmul_gmacs() {
  constexpr std::size_t rows = 128, columns = 128, width = 444;
  std::vector<float> weights(rows * columns, 0.5F), moving(rows * width, 0.25F);
  std::vector<float> out(columns * width, 0.0F);
  double best = 0;
  for (int round = 0; round < 200; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t k = 0; k < rows; ++k) {
      for (std::size_t m = 0; m < columns; ++m) {
        const float factor = weights[k * columns + m];
        for (std::size_t n = 0; n < width; ++n)
          out[m * width + n] += factor * moving[k * width + n];
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, 1e-9 * rows * columns * width / took.count());
  }
  return out[0] > 0 ? best : 0;  // the result is used, so the loops stay
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "inputs" && argc == 5) {
    return write_inputs(find(argv[2]), std::strtoull(argv[3], nullptr, 10), argv[4]);
  }
  if (command == "check" && (argc == 5 || argc == 6)) {
    return check(find(argv[2]), argv[3], argv[4],
                 argc == 6 ? std::strtoull(argv[5], nullptr, 10) : 0);
  }
  if (command == "speed" && argc == 2) {
    std::printf("%.2f\n", plain_matmul_gmacs());
    return 0;
  }
  std::fputs(
      "usage: reference inputs NUMBER SEED FOLDER | check NUMBER FOLDER OUTPUT [CHANNELS] | "
      "speed\n",
      stderr);
  return 2;
}
