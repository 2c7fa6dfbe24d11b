// SPDX-License-Identifier: MIT
#include "kbin/sections.hpp"

#include <fmt/format.h>

#include "manifest/printable.hpp"

namespace neffld {
namespace {

enum class StreamField : std::uint8_t { num_streams };
constexpr KeyTable<StreamField, 1> stream_fields = {{{"num_streams", StreamField::num_streams}}};

enum class Fp8Field : std::uint8_t { emax_e4m3, emax_e5m2, range, sis, sns, ocp_sat };
constexpr KeyTable<Fp8Field, 6> fp8_fields = {{{"emax_fp8_e4m3", Fp8Field::emax_e4m3},
                                               {"emax_fp8_e5m2", Fp8Field::emax_e5m2},
                                               {"fp8_range_extension", Fp8Field::range},
                                               {"fp8_sis", Fp8Field::sis},
                                               {"fp8_sns", Fp8Field::sns},
                                               {"ocp_sat", Fp8Field::ocp_sat}}};

enum class CarveField : std::uint8_t { base_partition, offset, partitions, size, type };
constexpr KeyTable<CarveField, 5> carve_fields = {{{"base_partition", CarveField::base_partition},
                                                   {"offset", CarveField::offset},
                                                   {"partitions", CarveField::partitions},
                                                   {"size", CarveField::size},
                                                   {"type", CarveField::type}}};

void read_carveout_type(JsonCursor& cursor) {
  const std::string_view type = cursor.string();
  if (cursor.ok() && type != "evtaccel") {
    cursor.fail(
        fmt::format("Invalid runtime_statebuffer_reservation type {}, only evtaccel is "
                    "known",
                    printable(type)));
  }
}

// A validation, not an allocation: the place is fixed by the architecture (spec 03 section 5).
void check_carveout(JsonCursor& cursor, const ArchTable& arch, const Carveout& carveout) {
  if (carveout.start_partition != 0) {
    cursor.fail(fmt::format("Event Accel carveout SB partition must start at 0. Got {}",
                            carveout.start_partition),
                ".base_partition");
  }
  if (carveout.partitions != arch.sbuf_partitions) {
    cursor.fail(fmt::format("Event Accel carveout SB partition count must be {}. Got {}",
                            arch.sbuf_partitions, carveout.partitions),
                ".partitions");
  }
  if (carveout.offset != arch.sbuf_reserved_offset) {
    cursor.fail(fmt::format("Event Accel carveout SB partition offset must start at 0x{:x}. Got "
                            "0x{:x}",
                            arch.sbuf_reserved_offset, carveout.offset),
                ".offset");
  }
  if (carveout.size != arch.sbuf_reserved_size) {
    cursor.fail(fmt::format("Event Accel carveout SB size must be {}. Got {}",
                            arch.sbuf_reserved_size, carveout.size),
                ".size");
  }
}

Carveout read_carveout(JsonCursor& cursor) {
  Carveout carveout;
  ObjectReader object(cursor, carve_fields);
  for (CarveField field{}; object.next(field);) {
    switch (field) {
      case CarveField::base_partition:
        carveout.start_partition = cursor.u64();
        break;
      case CarveField::offset:
        carveout.offset = cursor.u64();
        break;
      case CarveField::partitions:
        carveout.partitions = cursor.u64();
        break;
      case CarveField::size:
        carveout.size = cursor.u64();
        break;
      case CarveField::type:
        read_carveout_type(cursor);
        break;
    }
  }
  for (const auto& [name, field] : carve_fields) {
    if (!object.has(field)) cursor.fail(fmt::format("Failed to parse, key: {}", name));
  }
  return carveout;
}

}  // namespace

void read_replica_groups(JsonCursor& cursor, Kbin& kbin) {
  cursor.begin_array();
  while (cursor.next_element()) {
    auto& topology = kbin.replica_groups.emplace_back();
    cursor.begin_array();
    while (cursor.next_element()) topology.push_back(read_u32_array(cursor));
  }
}

void read_src_target_pairs(JsonCursor& cursor, Kbin& kbin) {
  cursor.begin_array();
  while (cursor.next_element()) {
    auto& set = kbin.src_target_pairs.emplace_back();
    cursor.begin_array();
    while (cursor.next_element()) {
      const std::vector<std::uint32_t> pair = read_u32_array(cursor);
      if (pair.size() != 2) {
        return cursor.fail(fmt::format("found {} numbers, expected [source, target]", pair.size()));
      }
      set.push_back({pair[0], pair[1]});
    }
  }
}

void read_cc_streams(JsonCursor& cursor, Kbin& kbin) {
  ObjectReader object(cursor, stream_fields);
  for (StreamField field{}; object.next(field);) kbin.num_streams = cursor.u32();
}

void read_fp8_config(JsonCursor& cursor, Kbin& kbin) {
  Fp8Config& config = kbin.fp8.emplace();
  ObjectReader object(cursor, fp8_fields);
  for (Fp8Field field{}; object.next(field);) {
    switch (field) {
      case Fp8Field::emax_e4m3:
        config.emax_e4m3 = cursor.u32();
        break;
      case Fp8Field::emax_e5m2:
        config.emax_e5m2 = cursor.u32();
        break;
      case Fp8Field::range:
        config.range_extension = cursor.boolean();
        break;
      case Fp8Field::sis:
        config.sis = cursor.boolean();
        break;
      case Fp8Field::sns:
        config.sns = cursor.boolean();
        break;
      case Fp8Field::ocp_sat:
        config.ocp_sat = cursor.boolean();
        break;
    }
  }
}

void read_carveouts(JsonCursor& cursor, Subgraph& subgraph) {
  cursor.begin_array();
  while (cursor.next_element()) {
    const Carveout carveout = read_carveout(cursor);
    if (!cursor.ok()) return;
    if (subgraph.arch.caps.needs_sbuf_reservation) {
      check_carveout(cursor, subgraph.arch, carveout);
    }
    subgraph.kbin.carveouts.push_back(carveout);
  }
}

}  // namespace neffld
