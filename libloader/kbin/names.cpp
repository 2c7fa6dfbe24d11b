// SPDX-License-Identifier: MIT
#include "kbin/names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace neffld {
namespace {

template <class Value, std::size_t N>
using Names = std::array<std::pair<std::string_view, Value>, N>;

// Spec 02 section 5.2.
constexpr Names<VarKind, 10> var_kinds = {{{"state-buffer", VarKind::state_buffer},
                                           {"file", VarKind::file},
                                           {"tmp-buf", VarKind::tmp_buf},
                                           {"input", VarKind::input},
                                           {"output", VarKind::output},
                                           {"pointer", VarKind::pointer},
                                           {"virtual", VarKind::virtual_buf},
                                           {"list", VarKind::list},
                                           {"dge-table", VarKind::dge_table},
                                           {"remote", VarKind::remote}}};

constexpr Names<BackingBuf, 4> backing_bufs = {{{"local", BackingBuf::local},
                                                {"shared", BackingBuf::shared},
                                                {"sharded", BackingBuf::sharded},
                                                {"main", BackingBuf::main}}};

constexpr Names<DmaOp, 7> dma_ops = {{{"copy", DmaOp::copy},
                                      {"cast", DmaOp::cast},
                                      {"transpose", DmaOp::transpose},
                                      {"fma", DmaOp::fma},
                                      {"add", DmaOp::add},
                                      {"min", DmaOp::min},
                                      {"max", DmaOp::max}}};

// The name -> kbin_dtype -> instruction code chain of spec 02 section 10.5, folded.
constexpr Names<std::uint8_t, 19> dtypes = {{{"float32", 10},
                                             {"float16", 7},
                                             {"bfloat16", 6},
                                             {"uint8", 3},
                                             {"int8", 2},
                                             {"float8e3", 13},
                                             {"float8e4", 14},
                                             {"float8e5", 15},
                                             {"float32r", 11},
                                             {"uint16", 5},
                                             {"uint32", 9},
                                             {"uint64", 1},
                                             {"int16", 4},
                                             {"int32", 8},
                                             {"int64", 12},
                                             {"float8_e4m3fn", 14},
                                             {"float8_e4m3fn_x4", 9},
                                             {"float8_e5m2_x4", 9},
                                             {"float4_e2m1fn_x4", 5}}};

template <class Value, std::size_t N>
std::optional<Value> value_of(const Names<Value, N>& names, std::string_view name) {
  for (const auto& [known, value] : names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

template <class Value, std::size_t N>
std::string_view name_of(const Names<Value, N>& names, Value value) {
  for (const auto& [name, known] : names) {
    if (known == value) return name;
  }
  return "?";
}

}  // namespace

std::string_view var_kind_name(VarKind kind) {
  return name_of(var_kinds, kind);
}
std::string_view dma_op_name(DmaOp op) {
  return name_of(dma_ops, op);
}

std::optional<VarKind> var_kind_of(std::string_view name) {
  return value_of(var_kinds, name);
}
std::optional<BackingBuf> backing_buf_of(std::string_view name) {
  return value_of(backing_bufs, name);
}
std::optional<DmaOp> dma_op_of(std::string_view name) {
  return value_of(dma_ops, name);
}
std::optional<std::uint8_t> dtype_code_of(std::string_view name) {
  return value_of(dtypes, name);
}

std::optional<Engine> engine_of(std::string_view name) {
  for (const Engine engine : all_engines) {
    if (engine_name(engine) == name) return engine;
  }
  return std::nullopt;
}

std::uint32_t dtype_bytes(std::uint32_t dtype_code) {
  constexpr std::array<std::uint32_t, 16> bytes = {0, 8, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 8, 1, 1, 1};
  return dtype_code < bytes.size() ? bytes[dtype_code] : 0;
}

std::optional<std::uint32_t> Kbin::find_queue_set(std::string_view queue_name) const {
  const auto found =
      std::lower_bound(queue_sets.begin(), queue_sets.end(), queue_name,
                       [](const QueueSet& set, std::string_view key) { return set.name < key; });
  if (found == queue_sets.end() || found->name != queue_name) return std::nullopt;
  return static_cast<std::uint32_t>(found - queue_sets.begin());
}

const Variable* Kbin::find_variable(std::string_view variable_name) const {
  const auto found = std::lower_bound(
      variables_by_name.begin(), variables_by_name.end(), variable_name,
      [this](std::uint32_t id, std::string_view key) { return variables[id].name < key; });
  if (found == variables_by_name.end() || variables[*found].name != variable_name) return nullptr;
  return &variables[*found];
}

}  // namespace neffld
