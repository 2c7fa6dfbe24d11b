// SPDX-License-Identifier: MIT
#include "kbin/def_json.hpp"

#include <fmt/format.h>

#include "kbin/dma.hpp"
#include "kbin/engine_json.hpp"
#include "kbin/queues.hpp"
#include "kbin/sections.hpp"
#include "kbin/variables.hpp"
#include "manifest/printable.hpp"

namespace neffld {
namespace {

enum class Field : std::uint8_t {
  act,
  cc_streams,
  dma,
  dma_queue,
  dve,
  fp8_conversion_config,
  pe,
  pool,
  replica_groups,
  reservation,
  sp,
  src_target_pairs,
  ucode_lib,
  var,
};
constexpr KeyTable<Field, 14> fields = {{{"act", Field::act},
                                         {"cc_streams", Field::cc_streams},
                                         {"dma", Field::dma},
                                         {"dma_queue", Field::dma_queue},
                                         {"dve", Field::dve},
                                         {"fp8_conversion_config", Field::fp8_conversion_config},
                                         {"pe", Field::pe},
                                         {"pool", Field::pool},
                                         {"replica_groups", Field::replica_groups},
                                         {"runtime_statebuffer_reservation", Field::reservation},
                                         {"sp", Field::sp},
                                         {"src_target_pairs", Field::src_target_pairs},
                                         {"ucode_lib", Field::ucode_lib},
                                         {"var", Field::var}}};
using Object = ObjectReader<Field, fields.size()>;

/// What def.json says about other files; they are read when the tables are complete.
struct FileNames {
  std::array<std::optional<std::string>, engine_count> engines;
  std::optional<std::string> ucode;
  bool has_dma = false;
  bool has_reservation = false;
};

void read_field(JsonCursor& cursor, Field field, Subgraph& subgraph, FileNames& files) {
  const auto engine_file = [&](Engine engine) {
    files.engines[static_cast<std::size_t>(engine)] = cursor.string();
  };
  switch (field) {
    case Field::pe:
      return engine_file(Engine::pe);
    case Field::act:
      return engine_file(Engine::act);
    case Field::pool:
      return engine_file(Engine::pool);
    case Field::dve:
      return engine_file(Engine::dve);
    case Field::sp:
      return engine_file(Engine::sp);
    case Field::cc_streams:
      return read_cc_streams(cursor, subgraph.kbin);
    case Field::dma_queue:
      return read_queue_sets(cursor, subgraph);
    case Field::fp8_conversion_config:
      return read_fp8_config(cursor, subgraph.kbin);
    case Field::replica_groups:
      return read_replica_groups(cursor, subgraph.kbin);
    case Field::src_target_pairs:
      return read_src_target_pairs(cursor, subgraph.kbin);
    case Field::var:
      return read_variables(cursor, subgraph);
    case Field::reservation:
      files.has_reservation = true;
      return read_carveouts(cursor, subgraph);
    case Field::dma:
      // Its blocks refer to `var` and `dma_queue`, which come later in sorted files.
      files.has_dma = true;
      return cursor.skip();
    case Field::ucode_lib:
      if (cursor.peek() != JsonCursor::Kind::string) return read_ucode_libraries(cursor, subgraph);
      files.ucode = cursor.string();
      return;
  }
}

Result<FileNames> read_tables(Subgraph& subgraph, const Member& def) {
  JsonCursor cursor(def.name, def.bytes, subgraph.options.json_depth);
  FileNames files;
  Object object(cursor, fields);
  for (Field field{}; object.next(field);) read_field(cursor, field, subgraph, files);
  if (!object.has(Field::var)) {
    cursor.fail(fmt::format("Subgraph {} has no Outputs", printable(subgraph.kbin.name)), ".var");
  }
  NEFFLD_TRY(cursor.finish());
  return files;
}

Result<void> check_reservation(Subgraph& subgraph, bool present) {
  if (present || !subgraph.arch.caps.needs_sbuf_reservation) return {};
  const Where where = subgraph.at("$.runtime_statebuffer_reservation");
  if (subgraph.options.allow_legacy) {
    subgraph.kbin.warnings.push_back(
        fmt::format("{}: runtime_statebuffer_reservation is missing, the model has no evtaccel "
                    "reservation on SBUF",
                    subgraph.def_member));
    return {};
  }
  return invalid(where,
                 "Missing or corrupted runtime_statebuffer_reservation field in def.json and "
                 "NEURON_RT_ALLOW_LEGACY_NEFF=1 is not set. Potentially a legacy neff without "
                 "proper compiler support");
}

enum class DmaField : std::uint8_t { dma };
constexpr KeyTable<DmaField, 1> dma_fields = {{{"dma", DmaField::dma}}};

/// Top-level blocks belong to no engine's file; POOL stands in, as for a queue without owner.
Result<void> read_top_level_dma(const Subgraph& subgraph, DmaReader& dma, const Member& def) {
  JsonCursor cursor(def.name, def.bytes, subgraph.options.json_depth);
  ObjectReader object(cursor, dma_fields);
  for (DmaField field{}; object.next(field);) dma.read_blocks(cursor, Engine::pool);
  return cursor.finish();
}

std::size_t engine_json_bytes(const Subgraph& subgraph, const FileNames& files) {
  std::size_t bytes = 0;
  for (const auto& file : files.engines) {
    const Member* member = file ? subgraph.find(*file) : nullptr;
    if (member != nullptr) bytes += member->bytes.size();
  }
  return bytes;
}

Result<void> read_engines(Subgraph& subgraph, DmaReader& dma, const FileNames& files) {
  dma.expect(engine_json_bytes(subgraph, files));
  for (const Engine engine : all_engines) {
    const auto& file = files.engines[static_cast<std::size_t>(engine)];
    if (!file) {
      subgraph.kbin.warnings.push_back(
          fmt::format("Engine {} not found in NEFF {}, using empty placeholder",
                      engine_name(engine), subgraph.def_member));
      continue;
    }
    const Member* member = subgraph.find(*file);
    if (member == nullptr) {
      return invalid(subgraph.at(fmt::format("$.{}", engine_name(engine))),
                     fmt::format("the member \"{}\" is not in the archive",
                                 printable(subgraph.path_of(*file))));
    }
    NEFFLD_TRY(read_engine_json(subgraph, dma, engine, *member));
  }
  return {};
}

}  // namespace

Result<void> read_subgraph(Subgraph& subgraph, const Member& def) {
  NEFFLD_ASSIGN(const FileNames files, read_tables(subgraph, def));
  NEFFLD_TRY(complete_variables(subgraph));
  NEFFLD_TRY(check_reservation(subgraph, files.has_reservation));
  NEFFLD_TRY(complete_queue_sets(subgraph));
  if (files.ucode) NEFFLD_TRY(load_ucode_file(subgraph, *files.ucode));
  DmaReader dma(subgraph);
  if (files.has_dma) NEFFLD_TRY(read_top_level_dma(subgraph, dma, def));
  NEFFLD_TRY(read_engines(subgraph, dma, files));
  return dma.check_block_ids();
}

}  // namespace neffld
