// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "kbin/engine_json.hpp"

namespace neffld {
namespace {

enum class Field : std::uint8_t { control_fast, control_slow, control, datapath, opcode };
constexpr KeyTable<Field, 5> fields = {{{"control_fast_table", Field::control_fast},
                                        {"control_slow_table", Field::control_slow},
                                        {"control_table", Field::control},
                                        {"datapath_table", Field::datapath},
                                        {"opcode_table", Field::opcode}}};
using Object = ObjectReader<Field, fields.size()>;

void check_size(JsonCursor& cursor, const char* key, Bytes table, std::uint64_t expected) {
  if (table.size() == expected) return;
  cursor.fail(fmt::format("the table has {} bytes, this architecture's has {}",
                          table.size(), expected),
              fmt::format(".{}", key));
}

/// Which keys an architecture takes: one control table, or a fast and a slow one.
void check_keys(JsonCursor& cursor, const Object& object, bool split) {
  for (const auto& [name, field] : fields) {
    const bool is_split = field == Field::control_fast || field == Field::control_slow;
    const bool wanted = split ? field != Field::control : !is_split;
    if (wanted && !object.has(field)) cursor.fail(fmt::format("Failed to parse, key: {}", name));
    if (!wanted && object.has(field)) {
      cursor.fail(split ? "this architecture has control_fast_table and control_slow_table"
                        : "this architecture has one control_table",
                  fmt::format(".{}", name));
    }
  }
}

DveTables read_tables(JsonCursor& cursor, const Subgraph& subgraph) {
  const ArchTable& arch = subgraph.arch;
  DveTables tables;
  Object object(cursor, fields);
  for (Field field{}; object.next(field);) {
    const Bytes table = read_file_value(cursor, subgraph);
    switch (field) {
      case Field::control_fast:
      case Field::control:
        tables.control_fast = table;
        break;
      case Field::control_slow:
        tables.control_slow = table;
        break;
      case Field::datapath:
        tables.datapath = table;
        break;
      case Field::opcode:
        tables.opcode = table;
        break;
    }
  }
  const bool split = arch.caps.split_control_tables;
  check_keys(cursor, object, split);
  check_size(cursor, "opcode_table", tables.opcode, arch.dve_opcode.size);
  check_size(cursor, split ? "control_fast_table" : "control_table", tables.control_fast,
             arch.dve_control_fast.size);
  if (split) {
    check_size(cursor, "control_slow_table", tables.control_slow, arch.dve_control_slow.size);
  }
  check_size(cursor, "datapath_table", tables.datapath, arch.dve_datapath.size);
  return tables;
}

}  // namespace

void read_dve_tables(JsonCursor& cursor, Subgraph& subgraph) {
  cursor.begin_array();
  while (cursor.next_element()) {
    if (subgraph.kbin.dve) return cursor.fail("dve_tables has one element at most");
    subgraph.kbin.dve = read_tables(cursor, subgraph);
  }
}

}  // namespace neffld
