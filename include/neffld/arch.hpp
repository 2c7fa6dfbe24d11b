// SPDX-License-Identifier: MIT
// What differs between the accelerator generations: one constant table each, and capabilities.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace neffld {

/// Architecture numbers of the KELF `target` scale (spec 02 section 2.2).
enum class Arch : std::uint32_t { any = 0, v2 = 2, v3 = 3, v4 = 4 };

enum class Engine : std::uint8_t { pe = 0, act = 1, pool = 2, dve = 3, sp = 4 };
inline constexpr std::size_t engine_count = 5;
inline constexpr std::array<Engine, engine_count> all_engines = {
    Engine::pe, Engine::act, Engine::pool, Engine::dve, Engine::sp};

/// Lower-case name as in def.json: "pe", "act", "pool", "dve", "sp".
std::string_view engine_name(Engine engine);

/// "v2", "v3", "v4" ("any" for `*`).
std::string_view arch_name(Arch arch);

/// One row per architecture. Addresses are device physical addresses, sizes are bytes.
/// Sources: spec 03 section 7, spec 04 sections 2.3 and 7, spec 06 section 7, decisions 1 and 13.
struct ArchTable {
  Arch arch;
  std::string_view code_name;      ///< KELF target: "sunda", "cayman", "mariana"
  std::uint32_t cores_per_device;  ///< physical cores
  std::uint32_t default_logical_core_size;
  std::uint32_t cores_per_hbm;
  std::uint32_t hbm_count;
  std::uint64_t hbm_size;
  std::array<std::uint64_t, 4> hbm_base;
  std::array<std::uint64_t, 8> tpb_base;  ///< T(core); SBUF starts here
  std::uint64_t event_unit;               ///< T + this = events; semaphores behind it
  std::uint64_t engine_window;            ///< T + this + engine-local offset (ACT, DVE tables)
  std::uint64_t sbuf_aperture;            ///< size of the SBUF window
  std::uint32_t sbuf_partitions;          ///< 128
  std::uint64_t sbuf_partition_stride;    ///< 0x40000
  std::uint64_t sbuf_partition_bytes;     ///< present bytes of a partition
  std::uint64_t sbuf_reserved_offset;     ///< evtaccel carve-out, 0 = the arch has none
  std::uint64_t sbuf_reserved_size;
  std::array<std::uint64_t, 8> dma_engine_base;  ///< DMA engine 0 of each core (device view)
  std::uint64_t dma_engine_stride;
  std::uint64_t instruction_alignment;  ///< of an instruction image in HBM
  std::uint64_t collective_trigger;     ///< register that starts a collective (spec 05 U, [L])

  struct Table {
    std::uint64_t offset;  ///< engine-local destination
    std::uint64_t size;
  };
  Table dve_opcode, dve_control_fast, dve_control_slow, dve_datapath, dve_param_ram;

  struct Caps {
    bool strong_order_writes;     ///< RX bit 29 orders writes; else TX DMB (decision 31)
    bool split_control_tables;    ///< DVE control fast + slow, else one control table
    bool needs_sbuf_reservation;  ///< def.json must carry runtime_statebuffer_reservation
    bool ucode_libraries;         ///< GPSIMD libraries are staged
    bool staging;                 ///< can be staged at all (decision 42)
  } caps;
};

/// The table of an architecture. `arch` must be v2, v3 or v4.
const ArchTable& arch_table(Arch arch);

/// HBM whose memory a core uses by default (spec 03 section 8).
inline std::uint32_t default_hbm(const ArchTable& table, std::uint32_t core) {
  return core / table.cores_per_hbm;
}

/// Number of the HBM that `address` lies in, or `hbm_count` if it lies in none.
std::uint32_t hbm_of(const ArchTable& table, std::uint64_t address);

}  // namespace neffld
