// SPDX-License-Identifier: MIT
// Reads `var`: one object per variable.
#include "kbin/variables.hpp"

#include <fmt/format.h>

#include <bit>

#include "kbin/names.hpp"
#include "kbin/payload.hpp"
#include "manifest/printable.hpp"

namespace neffld {
namespace {

enum class Field : std::uint8_t {
  alignment,
  backing_buf,
  backing_variable_off,
  dtype,
  fabric_path,
  file_name,
  list,
  referenced_var_id,
  shape,
  size,
  type,
  var_id,
};
constexpr KeyTable<Field, 12> fields = {{{"alignment", Field::alignment},
                                         {"backing_buf", Field::backing_buf},
                                         {"backing_variable_off", Field::backing_variable_off},
                                         {"dtype", Field::dtype},
                                         {"fabric_path", Field::fabric_path},
                                         {"file_name", Field::file_name},
                                         {"list", Field::list},
                                         {"referenced_var_id", Field::referenced_var_id},
                                         {"shape", Field::shape},
                                         {"size", Field::size},
                                         {"type", Field::type},
                                         {"var_id", Field::var_id}}};
using Object = ObjectReader<Field, fields.size()>;

constexpr std::uint32_t max_var_id = 0xFFFFFFFE;

std::uint64_t read_alignment(JsonCursor& cursor) {
  const std::uint64_t alignment = cursor.u64();
  constexpr std::uint64_t largest = 0x7FFFFFFF;  // the driver's field has 31 bits (spec 03 R9)
  if (!cursor.ok() || alignment == 0) return 0;
  if (!std::has_single_bit(alignment)) {
    cursor.fail(fmt::format("alignment provided not power of 2. alignment={}", alignment));
  } else if (alignment > largest) {
    cursor.fail(fmt::format("found {}, at most {} is allowed", alignment, largest));
  }
  return alignment;
}

std::string read_dtype_text(JsonCursor& cursor) {
  const std::string_view dtype = cursor.string();
  constexpr std::size_t longest = 15;
  if (dtype.size() > longest) {
    cursor.fail(fmt::format("Device print dtype {} has {} characters, at most {}", printable(dtype),
                            dtype.size(), longest));
  }
  return std::string(dtype);
}

std::vector<std::uint64_t> read_shape(JsonCursor& cursor) {
  std::vector<std::uint64_t> shape;
  constexpr std::size_t most = 8;
  cursor.begin_array();
  while (cursor.next_element()) {
    if (shape.size() == most) {
      cursor.fail(fmt::format("Device print only supports shape dimentions of up to {}", most));
    }
    shape.push_back(cursor.u64());
  }
  return shape;
}

void read_kind(JsonCursor& cursor, Variable& variable) {
  const std::string_view name = cursor.string();
  if (!cursor.ok()) return;
  if (const auto kind = var_kind_of(name)) {
    variable.kind = *kind;
  } else {
    cursor.fail(fmt::format("Unknown variable type '{}' for {}", printable(name),
                            printable(variable.name)));
  }
}

void read_backing_buf(JsonCursor& cursor, Variable& variable) {
  const std::string_view name = cursor.string();
  if (!cursor.ok()) return;
  if (const auto buffer = backing_buf_of(name)) {
    variable.backing_buf = *buffer;
  } else {
    cursor.fail(
        fmt::format("found \"{}\", expected local, shared, sharded or main", printable(name)));
  }
}

void read_field(JsonCursor& cursor, Field field, Variable& variable) {
  switch (field) {
    case Field::alignment:
      variable.alignment = read_alignment(cursor);
      break;
    case Field::backing_buf:
      read_backing_buf(cursor, variable);
      break;
    case Field::backing_variable_off:
      variable.backing_offset = cursor.u64();
      break;
    case Field::dtype:
      variable.dtype = read_dtype_text(cursor);
      break;
    case Field::fabric_path:
      variable.fabric_alt = read_fabric_path(cursor);
      break;
    case Field::file_name:
      variable.file_name = cursor.string();
      break;
    case Field::list:
      variable.list = read_u32_array(cursor);
      break;
    case Field::referenced_var_id:
      variable.referenced_var_id = cursor.u32();
      break;
    case Field::shape:
      variable.shape = read_shape(cursor);
      break;
    case Field::size:
      variable.size = cursor.u64();
      break;
    case Field::type:
      read_kind(cursor, variable);
      break;
    case Field::var_id:
      variable.var_id = cursor.u32(max_var_id);
      break;
  }
}

void require(JsonCursor& cursor, const Object& object, Field field, std::string_view key) {
  if (!object.has(field)) cursor.fail(fmt::format("Failed to parse, key: {}", key));
}

void require_size(JsonCursor& cursor, const Object& object, const Variable& variable) {
  require(cursor, object, Field::size, "size");
  if (variable.size == 0) cursor.fail("found 0, a variable has at least one byte", ".size");
}

void load_payload(JsonCursor& cursor, const Object& object, const Subgraph& subgraph,
                  Variable& variable) {
  require(cursor, object, Field::file_name, "file_name");
  if (!cursor.ok()) return;
  const Member* member = subgraph.find(variable.file_name);
  if (member == nullptr) {
    return cursor.fail(fmt::format("Failed to get neff weight content for {}",
                                   printable(subgraph.path_of(variable.file_name))),
                       ".file_name");
  }
  auto payload = payload_of(member->name, member->bytes);
  if (!payload) return cursor.fail(tl::unexpected<Error>(std::move(payload.error())));
  variable.payload = *payload;
  if (object.has(Field::size) && variable.size != payload->size()) {
    return cursor.fail(fmt::format("Size mismatch for {}: def.json {}, payload {}",
                                   printable(variable.name), variable.size, payload->size()),
                       ".size");
  }
  variable.size = payload->size();
  if (variable.size == 0) {
    cursor.fail(fmt::format("the payload of \"{}\" is empty", printable(member->name)),
                ".file_name");
  }
}

void check_virtual(JsonCursor& cursor, const Object& object, const Variable& variable) {
  require_size(cursor, object, variable);
  require(cursor, object, Field::backing_variable_off, "backing_variable_off");
  std::uint64_t end = 0;
  if (__builtin_add_overflow(variable.backing_offset, variable.size, &end)) {
    cursor.fail(fmt::format("offset {} plus size {} does not fit in 64 bits",
                            variable.backing_offset, variable.size),
                ".backing_variable_off");
  }
}

void check_pointer(JsonCursor& cursor, const Object& object, const Variable& variable) {
  require(cursor, object, Field::size, "size");
  if (variable.size != 8) {
    cursor.fail(fmt::format("found {}, a pointer has 8 bytes", variable.size), ".size");
  }
  require(cursor, object, Field::referenced_var_id, "referenced_var_id");
}

void check_by_kind(JsonCursor& cursor, const Object& object, const Subgraph& subgraph,
                   Variable& variable) {
  switch (variable.kind) {
    case VarKind::file:
      return load_payload(cursor, object, subgraph, variable);
    case VarKind::tmp_buf:
    case VarKind::input:
    case VarKind::output:
      return require_size(cursor, object, variable);
    case VarKind::virtual_buf:
      return check_virtual(cursor, object, variable);
    case VarKind::pointer:
      return check_pointer(cursor, object, variable);
    case VarKind::list:
    case VarKind::dge_table:
      require(cursor, object, Field::list, "list");
      break;
    case VarKind::state_buffer:
    case VarKind::remote:
      break;
  }
  variable.size = 0;  // these have no size of their own; a key of that name means nothing
}

Variable read_variable(JsonCursor& cursor, const Subgraph& subgraph, std::string_view name) {
  Variable variable;
  variable.name = name;
  Object object(cursor, fields);
  for (Field field{}; object.next(field);) read_field(cursor, field, variable);
  require(cursor, object, Field::type, "type");
  if (!object.has(Field::var_id)) cursor.fail("missing <var_id>");
  if (cursor.ok()) check_by_kind(cursor, object, subgraph, variable);
  return variable;
}

}  // namespace

void read_variables(JsonCursor& cursor, Subgraph& subgraph) {
  std::vector<Variable>& variables = subgraph.kbin.variables;
  KeySet names;
  std::string_view name;
  cursor.begin_object();
  while (cursor.next_key(name)) {
    if (variables.size() >= subgraph.options.max_variables) {
      return cursor.fail(
          fail(Status::resource, ErrorClass::resource, cursor.where(),
               fmt::format("more than {} variables", subgraph.options.max_variables)));
    }
    variables.push_back(read_variable(cursor, subgraph, name));
    if (!names.insert(name)) {
      cursor.fail(
          fmt::format("duplicate variable {} (id {})", printable(name), variables.back().var_id));
    }
  }
}

}  // namespace neffld
