// SPDX-License-Identifier: MIT
#include "isa/fields.hpp"

#include <array>

namespace neffld::isa {
namespace {

using K = FieldKind;

constexpr Field load_weights[] = {{"src", 0x10, 16, K::pattern3},
                                  {"dtype", 0x20, 1, K::dtype},
                                  {"fp32_mode", 0x21, 1},
                                  {"transpose", 0x22, 1},
                                  {"perf_opt", 0x23, 1},
                                  {"quant", 0x24, 2},
                                  {"rows", 0x26, 1},
                                  {"columns", 0x27, 1},
                                  {"row_group", 0x2C, 1, K::hex},
                                  {"column_group", 0x2D, 1, K::hex},
                                  {"xbus", 0x2E, 1, K::hex}};
constexpr Field matmul[] = {{"moving", 0x10, 16, K::pattern3},
                            {"dtype", 0x20, 1, K::dtype},
                            {"fp32_mode", 0x21, 1},
                            {"transpose", 0x22, 1},
                            {"perf_opt", 0x23, 1},
                            {"quant", 0x24, 1},
                            {"rows", 0x26, 1},
                            {"columns", 0x27, 1},
                            {"out_dtype", 0x28, 1, K::dtype},
                            {"accumulate", 0x2B, 1, K::hex},
                            {"row_group", 0x2C, 1, K::hex},
                            {"column_group", 0x2D, 1, K::hex},
                            {"xbus", 0x2E, 1, K::hex},
                            {"zero_region", 0x2F, 1},
                            {"dst", 0x30, 16, K::pattern3}};
constexpr Field activate[] = {{"imm_src", 0x0C, 1},
                              {"scale_src", 0x0D, 1},
                              {"accumulator", 0x0E, 1},
                              {"bias_src", 0x0F, 1},
                              {"src", 0x10, 16, K::pattern3},
                              {"in,bias dtype", 0x20, 1, K::dtype_pair},
                              {"out_dtype", 0x21, 1, K::dtype},
                              {"partitions", 0x22, 1},
                              {"function", 0x23, 1},
                              {"scale", 0x24, 4, K::float32},
                              {"bias", 0x28, 4, K::hex},
                              {"imm", 0x2C, 4, K::hex},
                              {"dst", 0x30, 16, K::pattern3}};
constexpr Field act_table_load[] = {{"set", 0x23, 1}};
constexpr Field tensor_tensor[] = {
    {"dtypes", 0x0C, 1, K::dtype_pair}, {"out_dtype", 0x0D, 1, K::dtype},
    {"op", 0x0E, 1, K::alu_op},         {"partitions", 0x0F, 1},
    {"src0", 0x10, 16, K::pattern3},    {"src1", 0x20, 16, K::pattern3},
    {"dst", 0x30, 16, K::pattern3}};
constexpr Field tensor_reduce[] = {{"src", 0x0C, 20, K::pattern4},
                                   {"in_dtype", 0x20, 1, K::dtype},
                                   {"out_dtype", 0x21, 1, K::dtype},
                                   {"partitions", 0x22, 1},
                                   {"negate", 0x23, 1},
                                   {"op", 0x24, 1, K::alu_op},
                                   {"axis", 0x25, 1},
                                   {"mask", 0x26, 1, K::hex},
                                   {"dst", 0x2C, 20, K::pattern4}};
constexpr Field tensor_scalar[] = {
    {"accumulator", 0x0C, 1},        {"src", 0x10, 16, K::pattern3},
    {"in_dtype", 0x20, 1, K::dtype}, {"out_dtype", 0x21, 1, K::dtype},
    {"partitions", 0x22, 1},         {"imm0_src", 0x23, 1},
    {"op0", 0x24, 1, K::alu_op},     {"op1", 0x25, 1, K::alu_op},
    {"reverse", 0x26, 1, K::hex},    {"imm1_src", 0x27, 1},
    {"imm0", 0x28, 4, K::hex},       {"imm1", 0x2C, 4, K::hex},
    {"dst", 0x30, 16, K::pattern3}};
constexpr Field copy[] = {{"src", 0x0C, 20, K::pattern4},
                          {"in_dtype", 0x20, 1, K::dtype},
                          {"out_dtype", 0x21, 1, K::dtype},
                          {"partitions", 0x22, 1},
                          {"dst", 0x2C, 20, K::pattern4}};
constexpr Field memset_fields[] = {{"elements", 0x1C, 4},      {"dtype", 0x20, 1, K::dtype},
                                   {"partitions", 0x22, 1},    {"serial", 0x24, 1},
                                   {"value", 0x28, 4, K::hex}, {"dst", 0x2C, 20, K::pattern4}};
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
constexpr Entry entries[] = {{0x01, load_weights},
                             {0x02, matmul},
                             {0x21, activate},
                             {0x23, act_table_load},
                             {0x41, tensor_tensor},
                             {0x51, tensor_tensor},
                             {0x42, tensor_reduce},
                             {0x52, tensor_reduce},
                             {0x43, tensor_scalar},
                             {0x44, tensor_scalar},
                             {0x53, tensor_scalar},
                             {0x54, tensor_scalar},
                             {0x46, copy},
                             {0x47, copy},
                             {0x48, copy},
                             {0x49, memset_fields},
                             {0x7A, load_pool_argument},
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

}  // namespace

std::span<const Field> fields_of(std::uint8_t opcode) {
  return table[opcode];
}

bool has_events(std::uint8_t opcode) {
  constexpr std::uint8_t extension_opcode = 0xDA;
  return opcode != extension_opcode;
}

std::string_view dtype_name(std::uint32_t code) {
  constexpr std::array<std::string_view, 17> names = {
      "",    "u64",  "i8",    "u8",  "i16",   "u16",   "bf16",  "fp16", "i32",
      "u32", "fp32", "fp32r", "i64", "fp8e3", "fp8e4", "fp8e5", "fp4"};
  return code < names.size() ? names[code] : std::string_view();
}

std::string_view alu_op_name(std::uint32_t code) {
  switch (code) {
    case 4:
      return "add";
    case 5:
      return "sub";
    case 6:
      return "mult";
    case 8:
      return "max";
    case 9:
      return "min";
    default:
      return {};
  }
}

}  // namespace neffld::isa
