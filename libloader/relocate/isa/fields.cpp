// SPDX-License-Identifier: MIT
#include "isa/fields.hpp"

#include <array>
#include <vector>

#include "neffld/compute_record.hpp"

namespace neffld::isa {
namespace {

using K = FieldKind;

// A second wait and update follow the header's.
constexpr Field event_semaphore[] = {{"wait2_mode", 0x20, 1},   {"wait2_index", 0x21, 1},
                                     {"update2_mode", 0x22, 1}, {"update2_index", 0x23, 1},
                                     {"wait2_value", 0x24, 4},  {"update2_value", 0x28, 4}};
constexpr Field write[] = {{"size", 0x0C, 1}, {"to", 0x10, 8, K::reg}, {"value", 0x18, 4}};
constexpr Field move[] = {{"moves", 0x0C, 1},
                          {"dtype", 0x0D, 1, K::dtype},
                          {"source", 0x0E, 1},
                          {"src_regs", 0x10, 8, K::hex},
                          {"dst_regs", 0x18, 8, K::hex},
                          {"imm", 0x20, 8, K::pair32},
                          {"imm2", 0x28, 8, K::hex},
                          {"imm4", 0x30, 8, K::hex},
                          {"imm6", 0x38, 8, K::hex}};
constexpr Field alu_op[] = {{"op", 0x0C, 1, K::alu_op}, {"dtype", 0x0D, 1, K::dtype},
                            {"source", 0x0E, 1},        {"src_reg", 0x10, 1},
                            {"dst_reg", 0x14, 1},       {"imm", 0x18, 8, K::hex}};
constexpr Field compare_branch[] = {{"compare", 0x0C, 1},
                                    {"dtype", 0x0D, 1, K::dtype},
                                    {"target", 0x0E, 1},
                                    {"compare_imm", 0x10, 4, K::hex},
                                    {"reg0", 0x20, 1},
                                    {"reg1", 0x21, 1},
                                    {"target_lo", 0x22, 1},
                                    {"target_hi", 0x23, 1},
                                    {"offset", 0x30, 4, K::signed_number}};
constexpr Field prefetch_hint[] = {{"offset", 0x30, 4, K::signed_number}};
constexpr Field tensor_access[] = {{"dtype", 0x0C, 1, K::dtype},
                                   {"source", 0x0D, 1},
                                   {"num0", 0x0E, 1},
                                   {"num1", 0x0F, 1},
                                   {"address", 0x10, 8, K::address8},
                                   {"step0", 0x18, 4, K::signed_number},
                                   {"step1", 0x1C, 4, K::signed_number},
                                   {"data", 0x20, 4, K::hex}};
constexpr Field pseudo_tensor_access[] = {{"dtype", 0x0C, 1, K::dtype},
                                          {"source", 0x0D, 1},
                                          {"num0", 0x0E, 1},
                                          {"num1", 0x0F, 1},
                                          {"var", 0x10, 4, K::variable},
                                          {"offset", 0x14, 4, K::hex},
                                          {"step0", 0x18, 4, K::signed_number},
                                          {"step1", 0x1C, 4, K::signed_number},
                                          {"data", 0x20, 4, K::hex}};
constexpr Field load_pool_argument[] = {{"kind", 0x0E, 1},
                                        {"base_lo", 0x20, 4, K::hex},
                                        {"base_lo4", 0x24, 4, K::hex},
                                        {"sbuf", 0x28, 8, K::address8},
                                        {"one", 0x30, 8, K::address8},
                                        {"completion", 0x38, 8, K::address8}};
constexpr Field dma_memcpy[] = {{"priority", 0x0C, 1},
                                {"semaphore", 0x0D, 1},
                                {"increment", 0x0E, 1},
                                {"op", 0x0F, 1},
                                {"src", 0x10, 8, K::address8},
                                {"src_step0", 0x18, 4, K::signed_number},
                                {"src_step1", 0x1C, 4, K::signed_number},
                                {"src_num0", 0x20, 2},
                                {"src_num1", 0x22, 2},
                                {"src_run", 0x24, 2},
                                {"src_bound", 0x26, 1},
                                {"dst_bound", 0x27, 1},
                                {"dst", 0x28, 8, K::address8},
                                {"dst_step0", 0x30, 4, K::signed_number},
                                {"dst_step1", 0x34, 4, K::signed_number},
                                {"dst_num0", 0x38, 2},
                                {"dst_num1", 0x3A, 2},
                                {"dst_run", 0x3C, 2},
                                {"in_dtype", 0x3E, 1, K::dtype},
                                {"out_dtype", 0x3F, 1, K::dtype}};
constexpr auto direct2d = [] {
  std::array<Field, std::size(dma_memcpy)> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i] = dma_memcpy[i];
    if (fields[i].kind == K::address8) fields[i].kind = K::pseudo8;
    if (fields[i].name == "op") fields[i].name = "dge_op";
  }
  return fields;
}();
constexpr Field dma_trigger[] = {
    {"queue", 0x0C, 32, K::text}, {"raw", 0x2C, 4}, {"block", 0x30, 4}};
constexpr Field queue_only[] = {{"queue", 0x0C, 32, K::text}};
constexpr Field full_indirect[] = {
    {"index_start", 0x0C, 4, K::hex}, {"one", 0x10, 4},         {"index_stride", 0x14, 4},
    {"index_num0", 0x18, 4},          {"index_num1", 0x1C, 4},  {"data_start", 0x20, 4, K::hex},
    {"data_step", 0x24, 4},           {"data_stride", 0x28, 4}, {"data_num0", 0x2C, 4},
    {"data_num1", 0x30, 4},           {"elem_size", 0x34, 4},   {"sem_lo", 0x3A, 2},
    {"direction", 0x3C, 1},           {"sem_hi", 0x3E, 2}};
constexpr Field collective[] = {
    {"op", 0x0C, 1, K::alu_op},   {"dtype", 0x0D, 1, K::dtype},  {"group", 0x0E, 2},
    {"in", 0x10, 4, K::variable}, {"out", 0x14, 4, K::variable}, {"elements", 0x18, 8},
    {"ctype", 0x20, 1},           {"src_off", 0x30, 8},          {"dst_off", 0x38, 8}};
constexpr Field read_var_addr[] = {{"var", 0x10, 4, K::variable},
                                   {"offset", 0x14, 4, K::hex},
                                   {"reg_lo", 0x20, 1},
                                   {"reg_hi", 0x21, 1}};
constexpr Field embedding_update[] = {
    {"index_dtype", 0x0C, 1, K::dtype}, {"table", 0x2C, 4, K::hex}, {"row_elems", 0x30, 2},
    {"row_bytes_lo", 0x32, 2},          {"sequence", 0x34, 2},      {"entries", 0x38, 4},
    {"row_bytes_hi", 0x3C, 2}};
constexpr Field branch_label[] = {{"label", 0x0C, 4, K::label}};
constexpr Field swap_queue_set[] = {
    {"queue", 0x0C, 32, K::text}, {"instance", 0x3B, 1}, {"four", 0x3C, 4}};
constexpr Field function_begin[] = {{"name", 0x0C, 36, K::text},
                                    {"reset_semaphores", 0x30, 1},
                                    {"return_lo", 0x31, 1},
                                    {"return_hi", 0x32, 1}};
constexpr Field function_call[] = {{"name", 0x0C, 36, K::text}, {"args_table", 0x30, 4, K::hex}};
constexpr Field range_check[] = {{"result_reg", 0x18, 4},   {"bound", 0x20, 8, K::hex},
                                 {"kind", 0x28, 1, K::hex}, {"dtype", 0x29, 1, K::hex},
                                 {"one", 0x2A, 2},          {"label", 0x30, 4, K::label}};
constexpr Field extension[] = {{"index_lo", 0x04, 4, K::hex},
                               {"index_hi", 0x08, 4, K::hex},
                               {"src_bound_lo", 0x0C, 4, K::hex},
                               {"dst_bound_lo", 0x10, 4, K::hex},
                               {"priority", 0x29, 1},
                               {"src_bound_hi", 0x38, 4, K::hex},
                               {"dst_bound_hi", 0x3C, 4, K::hex}};
constexpr Field pseudo_inst[] = {{"sub_opcode", 0x0C, 1}};

struct Entry {
  std::uint8_t opcode;
  std::span<const Field> fields;
};
constexpr Entry entries[] = {{0x7A, load_pool_argument},
                             {0xA0, event_semaphore},
                             {0xA5, write},
                             {0xA7, move},
                             {0xA8, alu_op},
                             {0xA9, compare_branch},
                             {0xAA, tensor_access},
                             {0xAB, tensor_access},
                             {0xB5, prefetch_hint},
                             {0xB8, dma_memcpy},
                             {0xBB, dma_memcpy},
                             {0xBD, dma_memcpy},
                             {0xF1, dma_memcpy},
                             {0xC1, dma_trigger},
                             {0xC2, queue_only},
                             {0xC4, full_indirect},
                             {0xC8, collective},
                             {0xC9, read_var_addr},
                             {0xCA, embedding_update},
                             {0xCB, collective},
                             {0xCC, branch_label},
                             {0xCD, pseudo_tensor_access},
                             {0xCE, pseudo_tensor_access},
                             {0xCF, swap_queue_set},
                             {0xD1, function_begin},
                             {0xD3, function_call},
                             {0xD4, direct2d},
                             {0xD6, range_check},
                             {0xDA, extension},
                             {0xDF, pseudo_inst}};

constexpr auto table = [] {
  std::array<std::span<const Field>, 256> by_opcode{};
  for (const Entry& entry : entries) by_opcode[entry.opcode] = entry.fields;
  return by_opcode;
}();

K kind_of(compute::FieldKind kind) {
  switch (kind) {
    case compute::FieldKind::number:
      return K::number;
    case compute::FieldKind::hex:
      return K::hex;
    case compute::FieldKind::dtype:
      return K::dtype;
    case compute::FieldKind::dtype_pair:
      return K::dtype_pair;
    case compute::FieldKind::alu_op:
      return K::alu_op;
    case compute::FieldKind::scalar:
      return K::scalar;
    case compute::FieldKind::address4:
      return K::address4;
    case compute::FieldKind::pattern3:
      return K::pattern3;
    case compute::FieldKind::pattern4:
      return K::pattern4;
  }
  return K::hex;
}

/// The fields of the description with this opcode, as Fields.
std::vector<Field> compute_fields(std::uint8_t opcode) {
  std::vector<Field> fields;
  for (const compute::Field& field : compute::description_of(opcode)->fields) {
    fields.push_back({field.name, field.offset, field.width, kind_of(field.kind), field.selector,
                      field.pointer_code});
  }
  return fields;
}

/// The description that fits an opcode: its own, or that of the record it is the bit vector twin
/// of (spec 05 A2). 0 = none.
std::uint8_t compute_layout(std::uint8_t opcode) {
  constexpr std::uint8_t first_twin = 0x51, last_twin = 0x54, distance = 0x10;
  if (opcode >= first_twin && opcode <= last_twin) opcode -= distance;
  return compute::is_compute(opcode) ? opcode : 0;
}

}  // namespace

std::span<const Field> fields_of(std::uint8_t opcode) {
  static const auto compute_table = [] {
    std::array<std::vector<Field>, 256> by_opcode;
    for (unsigned i = 0; i < by_opcode.size(); ++i) {
      const std::uint8_t layout = compute_layout(static_cast<std::uint8_t>(i));
      if (layout != 0) by_opcode[i] = compute_fields(layout);
    }
    return by_opcode;
  }();
  return compute_table[opcode].empty() ? table[opcode] : compute_table[opcode];
}

bool has_events(std::uint8_t opcode) {
  constexpr std::uint8_t extension_opcode = 0xDA;
  return opcode != extension_opcode;
}

std::string_view dtype_name(std::uint32_t code) {
  return compute::dtype_name(code);
}

std::string_view alu_op_name(std::uint32_t code) {
  return compute::alu_name(code);
}

}  // namespace neffld::isa
