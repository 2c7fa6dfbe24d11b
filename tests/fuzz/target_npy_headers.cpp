// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "npy/npy.hpp"
#include "support.hpp"

namespace neffld::fuzz {
namespace {

constexpr std::string_view samples[] = {"cast-v3", "conv-like-v2", "dge-lnc2-v3"};

const Slots& slots() {
  static const Slots found =
      slots_of(samples, [](std::string_view name) { return name.ends_with(".npy"); });
  return found;
}

void read_as_tensor(Bytes file) {
  const auto array =
      read_npy_start("input.npy", file.first(std::min(file.size(), npy_start_bytes)), file.size());
  if (!good(array)) return;
  promise(
      array->data_offset <= file.size() && array->data_bytes == file.size() - array->data_offset,
      "elements fill the rest of the file");
  const Bytes elements = file.subspan(array->data_offset);
  if (array->fortran_order) {
    promise(to_c_order(*array, elements).size() == elements.size(), "an order has all elements");
  }
  const std::vector<std::uint8_t> header = npy_header(array->type, array->shape);
  const auto again = read_npy_start("again", header, header.size() + array->data_bytes);
  promise(again.has_value() && again->type == array->type && again->shape == array->shape,
          "what is written reads back");
}

/// The loader's way through a constant, and that of tensors given to `neffld run`.
void run(Bytes input) {
  if (input.empty()) return;
  read_as_tensor(input.subspan(1));
  load_with(slots(), input);
}

std::vector<Input> seeds() {
  std::vector<Input> files = seeds_of(slots());
  const std::pair<std::string_view, std::size_t> texts[] = {
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24},
      {"{'shape': (3,), 'fortran_order': False, 'descr': '|u1'}", 3},
      {"{'descr': '<V2', 'fortran_order': False, 'shape': (), }", 2}};
  for (const auto& [text, elements] : texts) {
    Input file = input_of(std::string("\0\x93NUMPY\1\0", 9));
    file.push_back(static_cast<std::uint8_t>(text.size()));
    file.push_back(0);
    const Bytes bytes = as_bytes(text);
    file.insert(file.end(), bytes.begin(), bytes.end());
    file.resize(file.size() + elements);
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<std::string> words() {
  return {"'descr'",       "'fortran_order'",
          "'shape'",       "True",
          "False",         "'<f4'",
          "'<f2'",         "'|i1'",
          "'<V2'",         "'>f4'",
          "'|O'",          "()",
          "(1,)",          "(0, 5)",
          "2**64",         "L,",
          "4294967296, ",  "18446744073709551615",
          "\x93NUMPY\2",   "\x93NUMPY\3",
          "[('a', '<f4')]"};
}

}  // namespace

const Target npy_headers = {
    "npy_headers", "a byte that chooses a constant of a sample, and a .npy file",
    4 << 10,       run,
    seeds,         words};

}  // namespace neffld::fuzz
