// SPDX-License-Identifier: MIT
// Descriptors: the op, and an access pattern for each side.
#include <fmt/format.h>

#include <algorithm>

#include "kbin/dma.hpp"
#include "kbin/names.hpp"
#include "manifest/printable.hpp"

namespace neffld {
namespace {

/// What the file says of one side beside its access pattern.
struct SideText {
  std::string_view variable;
  std::uint8_t sizes = 0, steps = 0;
  bool has_sizes = false, has_steps = false, has_dtype = false;
};

/// The keys of a side, without their prefix.
enum class SideField : std::uint8_t { variable, dtype, off, sizes, steps };

void read_sizes(JsonCursor& cursor, SideText& side, AccessPattern& pattern) {
  side.has_sizes = true;
  cursor.begin_array();
  while (cursor.next_element()) {
    const std::uint64_t size = cursor.u64();
    if (side.sizes == 4) return cursor.fail("more than 4 dimensions");
    if (size == 0) return cursor.fail("Size cannot be 0");
    pattern.sizes[side.sizes++] = size;
  }
}

void read_steps(JsonCursor& cursor, SideText& side, AccessPattern& pattern) {
  side.has_steps = true;
  cursor.begin_array();
  while (cursor.next_element()) {
    const std::int64_t step = cursor.i64();
    if (side.steps == 4) return cursor.fail("more than 4 dimensions");
    pattern.steps[side.steps++] = step;
  }
}

std::uint8_t read_dtype(JsonCursor& cursor) {
  const std::string_view name = cursor.string();
  if (!cursor.ok()) return 0;
  if (const auto code = dtype_code_of(name)) return *code;
  cursor.fail(fmt::format("Unsupported data type!: {}", printable(name)));
  return 0;
}

void read_side(JsonCursor& cursor, SideField field, SideText& side, AccessPattern& pattern) {
  switch (field) {
    case SideField::variable:
      side.variable = cursor.string();
      break;
    case SideField::off:
      pattern.offset = cursor.u64();
      break;
    case SideField::sizes:
      read_sizes(cursor, side, pattern);
      break;
    case SideField::steps:
      read_steps(cursor, side, pattern);
      break;
    case SideField::dtype:
      pattern.dtype = read_dtype(cursor);
      side.has_dtype = true;
      break;
  }
}

// In the order of real files, then the rare ones.
enum class Field : std::uint8_t {
  from,
  from_dtype,
  from_off,
  from_sizes,
  from_steps,
  num_tiling_dimensions,
  op,
  to,
  to_dtype,
  to_off,
  to_sizes,
  to_steps,
  transpose_element_size,
  transpose_op,
  transpose_shape,
  cast,
  constant,
  constant_dtype,
  from_arr,
  scale,
  scale_dtype,
  size,
};
constexpr KeyTable<Field, 22> fields = {{{"from", Field::from},
                                         {"from_dtype", Field::from_dtype},
                                         {"from_off", Field::from_off},
                                         {"from_sizes", Field::from_sizes},
                                         {"from_steps", Field::from_steps},
                                         {"num_tiling_dimensions", Field::num_tiling_dimensions},
                                         {"op", Field::op},
                                         {"to", Field::to},
                                         {"to_dtype", Field::to_dtype},
                                         {"to_off", Field::to_off},
                                         {"to_sizes", Field::to_sizes},
                                         {"to_steps", Field::to_steps},
                                         {"transpose_element_size", Field::transpose_element_size},
                                         {"transpose_op", Field::transpose_op},
                                         {"transpose_shape", Field::transpose_shape},
                                         {"cast", Field::cast},
                                         {"constant", Field::constant},
                                         {"constant_dtype", Field::constant_dtype},
                                         {"from_arr", Field::from_arr},
                                         {"scale", Field::scale},
                                         {"scale_dtype", Field::scale_dtype},
                                         {"size", Field::size}}};
using Object = ObjectReader<Field, fields.size()>;

enum class SourceField : std::uint8_t { from, dtype, off, sizes, steps, scale, scale_dtype, size };
constexpr KeyTable<SourceField, 8> source_fields = {{{"from", SourceField::from},
                                                     {"from_dtype", SourceField::dtype},
                                                     {"from_off", SourceField::off},
                                                     {"from_sizes", SourceField::sizes},
                                                     {"from_steps", SourceField::steps},
                                                     {"scale", SourceField::scale},
                                                     {"scale_dtype", SourceField::scale_dtype},
                                                     {"size", SourceField::size}}};

struct Source {
  SideText side;
  AccessPattern pattern;
  double scale = 1.0;
  std::optional<std::uint64_t> size;
};

struct DescriptorText {
  SideText from, to;
  std::vector<Source> sources;  ///< from_arr
  std::optional<DmaOp> op;
  std::optional<std::uint64_t> size;  ///< the legacy key: one run of that many bytes
  bool cast = false;
  std::string_view transpose_op;
  double scale = 1.0;
  std::optional<double> constant;
  std::uint8_t constant_dtype = 0;
};

/// `scale_dtype` and `constant_dtype` allow few of the dtypes.
std::uint8_t read_cce_dtype(JsonCursor& cursor, bool integers) {
  const std::uint8_t code = read_dtype(cursor);
  const bool allowed = code == 10 || (integers && (code == 8 || code == 9));
  if (cursor.ok() && !allowed) {
    cursor.fail(integers ? "expected float32, int32 or uint32" : "expected float32");
  }
  return code;
}

Source read_source(JsonCursor& cursor) {
  Source source;
  ObjectReader object(cursor, source_fields);
  for (SourceField field{}; object.next(field);) {
    switch (field) {
      case SourceField::from:
        read_side(cursor, SideField::variable, source.side, source.pattern);
        break;
      case SourceField::dtype:
        read_side(cursor, SideField::dtype, source.side, source.pattern);
        break;
      case SourceField::off:
        read_side(cursor, SideField::off, source.side, source.pattern);
        break;
      case SourceField::sizes:
        read_side(cursor, SideField::sizes, source.side, source.pattern);
        break;
      case SourceField::steps:
        read_side(cursor, SideField::steps, source.side, source.pattern);
        break;
      case SourceField::scale:
        source.scale = cursor.number();
        break;
      case SourceField::scale_dtype:
        read_cce_dtype(cursor, false);
        break;
      case SourceField::size:
        source.size = cursor.u64();
        break;
    }
  }
  return source;
}

void read_sources(JsonCursor& cursor, DescriptorText& text) {
  constexpr std::size_t most = 16;
  cursor.begin_array();
  while (cursor.next_element()) {
    if (text.sources.size() == most) return cursor.fail(fmt::format("more than {} sources", most));
    text.sources.push_back(read_source(cursor));
  }
}

void read_op(JsonCursor& cursor, DescriptorText& text) {
  const std::string_view name = cursor.string();
  if (!cursor.ok()) return;
  text.op = dma_op_of(name);
  if (!text.op) cursor.fail(fmt::format("Unknown dma operation: {}", printable(name)));
}

void read_transpose_shape(JsonCursor& cursor, DmaDescriptor& descriptor) {
  std::size_t count = 0;
  cursor.begin_array();
  while (cursor.next_element()) {
    const std::uint32_t size = cursor.u32();
    if (count < 4) descriptor.transpose_shape[count] = size;
    ++count;
  }
  if (count != 4) cursor.fail(fmt::format("found {} numbers, expected the 4 of [W,Z,Y,X]", count));
}

std::uint8_t read_tiling_dims(JsonCursor& cursor) {
  const std::uint32_t dims = cursor.u32();
  if (cursor.ok() && (dims == 0 || dims > 4)) {
    cursor.fail(fmt::format("found {}, allowed are 1 to 4", dims));
  }
  return static_cast<std::uint8_t>(dims);
}

void read_field(JsonCursor& cursor, Field field, DescriptorText& text, DmaDescriptor& d) {
  switch (field) {
    case Field::from:
      return read_side(cursor, SideField::variable, text.from, d.from);
    case Field::from_dtype:
      return read_side(cursor, SideField::dtype, text.from, d.from);
    case Field::from_off:
      return read_side(cursor, SideField::off, text.from, d.from);
    case Field::from_sizes:
      return read_side(cursor, SideField::sizes, text.from, d.from);
    case Field::from_steps:
      return read_side(cursor, SideField::steps, text.from, d.from);
    case Field::to:
      return read_side(cursor, SideField::variable, text.to, d.to);
    case Field::to_dtype:
      return read_side(cursor, SideField::dtype, text.to, d.to);
    case Field::to_off:
      return read_side(cursor, SideField::off, text.to, d.to);
    case Field::to_sizes:
      return read_side(cursor, SideField::sizes, text.to, d.to);
    case Field::to_steps:
      return read_side(cursor, SideField::steps, text.to, d.to);
    case Field::num_tiling_dimensions:
      d.tiling_dims = read_tiling_dims(cursor);
      break;
    case Field::op:
      read_op(cursor, text);
      break;
    case Field::transpose_element_size:
      d.transpose_element_size = cursor.u32();
      break;
    case Field::transpose_op:
      text.transpose_op = cursor.string();
      break;
    case Field::transpose_shape:
      read_transpose_shape(cursor, d);
      break;
    case Field::cast:
      text.cast = cursor.boolean();
      break;
    case Field::constant:
      text.constant = cursor.number();
      break;
    case Field::constant_dtype:
      text.constant_dtype = read_cce_dtype(cursor, true);
      break;
    case Field::from_arr:
      read_sources(cursor, text);
      break;
    case Field::scale:
      text.scale = cursor.number();
      break;
    case Field::scale_dtype:
      read_cce_dtype(cursor, false);
      break;
    case Field::size:
      text.size = cursor.u64();
      break;
  }
}

DescriptorForm::Side side_of(Field offset) {
  return offset == Field::from_off ? &DmaDescriptor::from : &DmaDescriptor::to;
}

bool is_cce(DmaOp op) {
  return op == DmaOp::fma || op == DmaOp::add || op == DmaOp::min || op == DmaOp::max;
}

/// Decision 7: real transposes have no `op`.
DmaOp choose_op(const Object& object, const DescriptorText& text) {
  const bool transpose = object.has(Field::transpose_op) || object.has(Field::transpose_shape) ||
                         object.has(Field::transpose_element_size);
  const DmaOp op = text.op.value_or(transpose ? DmaOp::transpose : DmaOp::copy);
  return op == DmaOp::copy && text.cast ? DmaOp::cast : op;
}

/// Looks up the variable and settles the dimensions of `pattern`. `prefix` is "from", "to" or
/// "from_arr[2].from".
void finish_side(JsonCursor& cursor, const Kbin& kbin, SideText side, AccessPattern& pattern,
                 std::optional<std::uint64_t> legacy_size, std::string_view prefix) {
  if (side.variable.empty()) {
    return cursor.fail(fmt::format("Failed to parse, key: {}", prefix));
  }
  const Variable* variable = kbin.find_variable(side.variable);
  if (variable == nullptr) {
    return cursor.fail(fmt::format("no variable is called {}", printable(side.variable)),
                       fmt::format(".{}", prefix));
  }
  if (variable->kind == VarKind::list || variable->kind == VarKind::dge_table) {
    cursor.fail(fmt::format("variable {} is a {} and cannot be moved by DMA",
                            printable(side.variable), var_kind_name(variable->kind)),
                fmt::format(".{}", prefix));
  }
  pattern.var_id = variable->var_id;
  if (!side.has_sizes && !side.has_steps && legacy_size) {
    if (*legacy_size == 0) cursor.fail("Size cannot be 0", ".size");
    pattern.sizes[0] = *legacy_size;
    pattern.steps[0] = 1;
    side.sizes = side.steps = 1;
  }
  if (side.sizes == 0 || side.sizes != side.steps) {
    cursor.fail(fmt::format("{} sizes and {} steps, expected 1 to 4 of each, equally many",
                            side.sizes, side.steps),
                fmt::format(".{}_sizes", prefix));
  } else if (pattern.steps[0] != 1) {
    cursor.fail(fmt::format("the innermost step is {}, it must be 1", pattern.steps[0]),
                fmt::format(".{}_steps[0]", prefix));
  }
  pattern.dims = side.sizes;
}

void finish_cce(JsonCursor& cursor, Kbin& kbin, DescriptorText& text, DmaDescriptor& d) {
  if (text.sources.empty()) return cursor.fail("Failed to parse, key: from_arr");
  CceInfo cce;
  for (std::size_t i = 0; i < text.sources.size(); ++i) {
    Source& source = text.sources[i];
    const std::string prefix = fmt::format("from_arr[{}].from", i);
    if (!source.side.has_dtype) {
      return cursor.fail("Invalid cce desc ap without dtype", "." + prefix + "_dtype");
    }
    const auto size = source.size ? source.size : text.size;
    finish_side(cursor, kbin, source.side, source.pattern, size, prefix);
    if (i == 0) {
      d.from = source.pattern;
    } else {
      cce.extra_sources.push_back(source.pattern);
    }
    cce.scales.push_back(source.scale * text.scale);
  }
  if (!text.to.has_dtype) return cursor.fail("Invalid cce desc ap without dtype", ".to_dtype");
  if (text.constant_dtype != 0) {  // a constant without a dtype is ignored (spec 02 section 7.1)
    cce.constant = text.constant;
    cce.constant_dtype = text.constant_dtype;
  }
  d.cce = static_cast<std::uint32_t>(kbin.cce.size());
  kbin.cce.push_back(std::move(cce));
}

void check_transpose_keys(JsonCursor& cursor, const Object& object, const DescriptorText& text) {
  if (!object.has(Field::transpose_shape)) {
    cursor.fail("Failed to parse, key: transpose_shape");
  }
  if (!object.has(Field::transpose_element_size)) {
    cursor.fail("Failed to parse, key: transpose_element_size");
  }
  if (object.has(Field::transpose_op) && text.transpose_op != "WZXY") {
    cursor.fail(unsupported(cursor.where(".transpose_op"),
                            fmt::format("transpose \"{}\" is not supported, only \"WZXY\" is",
                                        printable(text.transpose_op))));
  }
}

}  // namespace

void DmaReader::read_descriptors(JsonCursor& cursor, DmaBlock& block) {
  auto& descriptors = subgraph_.kbin.descriptors;
  block.first_descriptor = static_cast<std::uint32_t>(descriptors.size());
  cursor.begin_array();
  while (cursor.next_element()) {
    if (descriptors.size() == std::numeric_limits<std::uint32_t>::max()) {
      return cursor.fail(fail(Status::resource, ErrorClass::resource, cursor.where(),
                              "more than 4294967295 descriptors in one subgraph"));
    }
    DmaDescriptor& descriptor = descriptors.emplace_back();
    if (!forms_.take(cursor, descriptor)) read_descriptor(cursor, descriptor);
    if (cursor.ok()) check_descriptor(cursor, descriptor);
    if (!cursor.ok()) return;
  }
  block.descriptor_count = static_cast<std::uint32_t>(descriptors.size() - block.first_descriptor);
}

void DmaReader::read_descriptor(JsonCursor& cursor, DmaDescriptor& descriptor) {
  Kbin& kbin = subgraph_.kbin;
  DescriptorText text;
  DescriptorForm form;
  form.start(cursor);
  Object object(cursor, fields);
  for (Field field{}; object.next(field);) {
    const bool is_offset = field == Field::from_off || field == Field::to_off;
    if (is_offset) form.offset_begins(cursor, side_of(field));
    read_field(cursor, field, text, descriptor);
    if (is_offset) form.offset_ends(cursor);
  }
  if (!cursor.ok()) return;
  descriptor.op = choose_op(object, text);
  if (is_cce(descriptor.op)) {
    finish_cce(cursor, kbin, text, descriptor);
  } else {
    finish_side(cursor, kbin, text.from, descriptor.from, text.size, "from");
  }
  if (!cursor.ok()) return;
  finish_side(cursor, kbin, text.to, descriptor.to, text.size, "to");
  if (descriptor.op == DmaOp::transpose) check_transpose_keys(cursor, object, text);
  if (!cursor.ok() || is_cce(descriptor.op)) return;  // each has a CceInfo of its own
  form.finish(cursor, descriptor);
  forms_.keep(form);
}

void DmaReader::check_descriptor(JsonCursor& cursor, const DmaDescriptor& descriptor) {
  if (auto problem = check_shapes(descriptor, subgraph_.kbin)) {
    cursor.fail(std::move(problem->text), problem->field);
  }
  check_sides(cursor, descriptor);
}

void DmaReader::check_sides(JsonCursor& cursor, const DmaDescriptor& descriptor) {
  if (!cursor.ok()) return;
  if (descriptor.cce) {
    check_one(cursor, descriptor.from, "from_arr[0].from");
    const CceInfo& cce = subgraph_.kbin.cce[*descriptor.cce];
    for (std::size_t i = 0; i < cce.extra_sources.size(); ++i) {
      check_one(cursor, cce.extra_sources[i], fmt::format("from_arr[{}].from", i + 1));
    }
  } else {
    check_one(cursor, descriptor.from, "from");
  }
  check_one(cursor, descriptor.to, "to");
}

void DmaReader::check_one(JsonCursor& cursor, const AccessPattern& side, std::string_view prefix) {
  const Variable& variable = subgraph_.kbin.variables[side.var_id];
  if (variable.kind == VarKind::remote) return;  // check_remote_sides does it
  if (auto problem = check_side(side, variable, bounds_, prefix)) {
    cursor.fail(std::move(problem->text), problem->field);
  }
}

Result<void> check_remote_sides(const ArchTable& arch, const Kbin& kbin,
                                const std::vector<Kbin>& kbins) {
  const auto is_remote = [](const Variable& v) { return v.kind == VarKind::remote; };
  if (std::none_of(kbin.variables.begin(), kbin.variables.end(), is_remote)) return {};
  const MemoryBounds bounds = memory_bounds(arch, kbin);
  const auto check = [&](const DmaBlock& block, const AccessPattern& side,
                         std::string_view prefix) -> Result<void> {
    const Variable& variable = kbin.variables[side.var_id];
    if (variable.kind != VarKind::remote) return {};
    const Variable& target = kbins[variable.remote_subgraph].variables[variable.remote_var_id];
    const auto problem = check_side(side, target, bounds, prefix);
    if (!problem) return {};
    Where where{kbin.engine(block.engine).json_member, problem->field, block.id, std::nullopt};
    return invalid(std::move(where), problem->text);
  };
  for (const DmaBlock& block : kbin.blocks) {
    for (std::uint32_t i = 0; i < block.descriptor_count; ++i) {
      const DmaDescriptor& d = kbin.descriptors[block.first_descriptor + i];
      NEFFLD_TRY(check(block, d.from, "from"));
      NEFFLD_TRY(check(block, d.to, "to"));
      if (!d.cce) continue;
      for (const AccessPattern& side : kbin.cce[*d.cce].extra_sources) {
        NEFFLD_TRY(check(block, side, "from_arr"));
      }
    }
  }
  return {};
}

}  // namespace neffld
