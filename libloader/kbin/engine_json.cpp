// SPDX-License-Identifier: MIT
#include "kbin/engine_json.hpp"

#include <fmt/format.h>

#include "manifest/printable.hpp"

namespace neffld {
namespace {

enum class Field : std::uint8_t {
  act_info,
  act_semaphore,
  activation_function_sets,
  dma,
  dve_tables,
  instr,
};
constexpr KeyTable<Field, 6> fields = {
    {{"act_info", Field::act_info},
     {"act_semaphore", Field::act_semaphore},
     {"activation_function_sets", Field::activation_function_sets},
     {"dma", Field::dma},
     {"dve_tables", Field::dve_tables},
     {"instr", Field::instr}}};

struct ActText {
  std::string info;
  std::vector<std::string> sets;
};

void read_instructions(JsonCursor& cursor, const Subgraph& subgraph, EngineProgram& program) {
  const std::string_view file = cursor.string();
  if (!cursor.ok()) return;
  program.bin_member = subgraph.path_of(file);
  const Member* member = subgraph.source(program.bin_member);
  if (member == nullptr) {
    return cursor.fail(
        fmt::format("the member \"{}\" is not in the archive", printable(program.bin_member)));
  }
  constexpr std::uint64_t most = 0xFFFFFFFF;
  if (member->bytes.size() > most) {
    return cursor.fail(fmt::format("Instruction size {} for {} exceeds maximum supported size {}",
                                   member->bytes.size(), printable(program.bin_member), most));
  }
  program.slots = member->bytes;
}

void read_act_field(JsonCursor& cursor, Field field, Kbin& kbin, ActText& act) {
  if (field == Field::act_info) {
    act.info = cursor.string();
  } else if (field == Field::act_semaphore) {
    // An event number in real files; kept and reported, otherwise unused (decision 15).
    kbin.act_semaphore = cursor.u32();
  } else {
    cursor.begin_array();
    while (cursor.next_element()) act.sets.emplace_back(cursor.string());
  }
}

void read_field(JsonCursor& cursor, Field field, Subgraph& subgraph, DmaReader& dma, Engine engine,
                ActText& act) {
  Kbin& kbin = subgraph.kbin;
  switch (field) {
    case Field::dma:
      return dma.read_blocks(cursor, engine);
    case Field::instr:
      return read_instructions(cursor, subgraph, kbin.engines[static_cast<std::size_t>(engine)]);
    case Field::dve_tables:
      if (engine == Engine::dve) return read_dve_tables(cursor, subgraph);
      break;
    case Field::act_info:
    case Field::act_semaphore:
    case Field::activation_function_sets:
      if (engine == Engine::act) return read_act_field(cursor, field, kbin, act);
      break;
  }
  cursor.skip();  // a key of another engine is an unknown key here
}

}  // namespace

Result<void> read_engine_json(Subgraph& subgraph, DmaReader& dma, Engine engine,
                              const Member& member) {
  EngineProgram& program = subgraph.kbin.engines[static_cast<std::size_t>(engine)];
  program.json_member = member.name;
  JsonCursor cursor(member.name, member.bytes, subgraph.options.json_depth);
  ActText act;
  ObjectReader object(cursor, fields);
  for (Field field{}; object.next(field);) {
    read_field(cursor, field, subgraph, dma, engine, act);
  }
  if (!object.has(Field::instr)) cursor.fail("Failed to parse, key: instr");
  NEFFLD_TRY(cursor.finish());
  if (program.slots.size() % 64 != 0) {
    subgraph.kbin.warnings.push_back(fmt::format(
        "{}: {} bytes are not a multiple of 64, the last {} are no instruction",
        printable(program.bin_member), program.slots.size(), program.slots.size() % 64));
  }
  // Files that request no set may name an act_info that is absent (spec 02 section 7.2).
  if (act.sets.empty()) return {};
  if (act.info.empty()) {
    return invalid({program.json_member, "$.act_info", std::nullopt, std::nullopt},
                   "activation function sets are requested, but act_info is missing");
  }
  return load_act_sets(subgraph, act.info, act.sets);
}

}  // namespace neffld
