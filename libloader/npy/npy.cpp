// SPDX-License-Identifier: MIT
#include "npy/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "manifest/tensor_info.hpp"
#include "neffld/text.hpp"
#include "npy/npy_frame.hpp"
#include "npy/npy_literal.hpp"

namespace neffld {
namespace {

constexpr std::size_t data_alignment = 64;              // numpy's
constexpr std::size_t max_text = npy_start_bytes - 12;  // numpy reads 10000 unless told to trust

struct NamedType {
  std::string_view dtype;  ///< neff.json
  NpyType type;
};

constexpr std::array<NamedType, 11> named_types = {{{"float32", {'f', 4}},
                                                    {"float16", {'f', 2}},
                                                    {"bfloat16", {'V', 2}},
                                                    {"int8", {'i', 1}},
                                                    {"int16", {'i', 2}},
                                                    {"int32", {'i', 4}},
                                                    {"int64", {'i', 8}},
                                                    {"uint8", {'u', 1}},
                                                    {"uint16", {'u', 2}},
                                                    {"uint32", {'u', 4}},
                                                    {"uint64", {'u', 8}}}};

Result<NpyType> parse_type(std::string_view name, std::string_view descr, std::uint64_t offset) {
  const auto problem = [&](std::string_view what) {
    return invalid({std::string(name), "descr", std::nullopt, offset},
                   fmt::format("found type '{}', {}", one_line(descr), what));
  };
  NpyType type;
  std::string_view rest = descr;
  const char order = rest.empty() ? '\0' : rest.front();
  if (order == '>') return problem("expected little-endian elements ('<' or '|')");
  if (order == '<' || order == '|' || order == '=') rest.remove_prefix(1);
  if (rest.empty() || std::string_view("biufcV").find(rest.front()) == std::string_view::npos) {
    return problem("expected numbers (kinds b, i, u, f, c) or bytes (V)");
  }
  type.kind = rest.front();
  rest.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), type.element_bytes);
  if (error != std::errc() || end != rest.data() + rest.size() || type.element_bytes < 1 ||
      type.element_bytes > 16) {
    return problem("expected an element size from 1 to 16 bytes");
  }
  return type;
}

}  // namespace

std::string npy_type_name(NpyType type) {
  for (const NamedType& named : named_types) {
    if (named.type == type) {
      return type.kind == 'V' ? "V2 (bfloat16)" : std::string(named.dtype);
    }
  }
  return fmt::format("{}{}", type.kind, type.element_bytes);
}

Result<NpyArray> read_npy_start(std::string_view name, Bytes first, std::uint64_t size) {
  NEFFLD_ASSIGN(const NpyFrame frame, npy_frame(name, first, size, 3));
  const std::uint64_t text_bytes = frame.data_offset - frame.text_offset;
  if (text_bytes > max_text) {
    return invalid(
        {std::string(name), "", std::nullopt, 8},
        fmt::format("NUMPY header has {} bytes, expected at most {}", text_bytes, max_text));
  }
  NEFFLD_ASSIGN(NpyHeader header,
                read_npy_literal(name, as_text(first.subspan(frame.text_offset, text_bytes)),
                                 frame.text_offset));
  NpyArray array;
  NEFFLD_ASSIGN(array.type, parse_type(name, header.descr, frame.text_offset));
  array.fortran_order = header.fortran_order;
  array.shape = std::move(header.shape);
  array.data_offset = frame.data_offset;
  array.data_bytes = size - frame.data_offset;
  const auto wanted = tensor_bytes(array.shape, array.type.element_bytes);
  if (!wanted || *wanted != array.data_bytes) {
    return invalid(
        {std::string(name), "shape", std::nullopt, frame.data_offset},
        fmt::format("found {} bytes of elements, expected {} by shape and type", array.data_bytes,
                    wanted ? std::to_string(*wanted) : "more than 2^64"));
  }
  return array;
}

std::vector<std::uint8_t> to_c_order(const NpyArray& array, Bytes elements) {
  std::vector<std::uint8_t> out(elements.size());
  const std::size_t dims = array.shape.size(), size = array.type.element_bytes;
  // Walks the output in order; `from` follows in the file, where the first index is fastest.
  std::vector<std::size_t> step(dims, size), index(dims, 0);
  for (std::size_t d = 1; d < dims; ++d) step[d] = step[d - 1] * array.shape[d - 1];
  std::size_t from = 0;
  for (std::size_t to = 0; to < out.size(); to += size) {
    std::memcpy(out.data() + to, elements.data() + from, size);
    for (std::size_t d = dims; d-- > 0;) {
      from += step[d];
      if (++index[d] < array.shape[d]) break;
      from -= step[d] * index[d];
      index[d] = 0;
    }
  }
  return out;
}

std::vector<std::uint8_t> npy_header(NpyType type, const std::vector<std::uint64_t>& shape) {
  std::string text =
      fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': (",
                  type.element_bytes == 1 ? '|' : '<', type.kind, type.element_bytes);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    text += fmt::format("{}{}", d ? ", " : "", shape[d]);
  }
  text += shape.size() == 1 ? ",), }" : "), }";
  std::size_t text_at = 10;
  const auto padded = [&] {
    const std::size_t all = text_at + text.size() + 1;
    return (all + data_alignment - 1) / data_alignment * data_alignment;
  };
  if (padded() - text_at > 0xFFFF) text_at = 12;
  std::vector<std::uint8_t> out(padded(), ' ');
  const std::uint8_t start[8] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(text_at == 10 ? 1 : 2), 0};
  std::copy(std::begin(start), std::end(start), out.begin());
  if (text_at == 10) {
    store_le(MutableBytes(out), 8, static_cast<std::uint16_t>(out.size() - text_at));
  } else {
    store_le(MutableBytes(out), 8, static_cast<std::uint32_t>(out.size() - text_at));
  }
  std::copy(text.begin(), text.end(), out.begin() + static_cast<std::ptrdiff_t>(text_at));
  out.back() = '\n';
  return out;
}

NpyType npy_type_of(std::string_view dtype) {
  for (const NamedType& named : named_types) {
    if (named.dtype == dtype) return named.type;
  }
  return {'V', 1};
}

bool npy_type_fits(NpyType type, std::string_view dtype) {
  const NpyType wanted = npy_type_of(dtype);
  if (type == wanted) return true;
  if (dtype == "bfloat16") return type == NpyType{'u', 2};
  return wanted == NpyType{'V', 1} && type.element_bytes == 1;
}

}  // namespace neffld
