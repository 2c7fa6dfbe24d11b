// SPDX-License-Identifier: MIT
// Activation tables: four buffers of all function sets, and the ring that loads them (spec 04
// section 2.3 "ACT tables" and rule 9, spec 02 s16.16, decision 14).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "builders.hpp"
#include "neuron_abi/address_map.h"
#include "table_ring.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t set_align = 64;  // every set's piece of a buffer starts on this
constexpr std::uint64_t profile_bytes = 76;
constexpr std::uint64_t directory_entry_bytes = 24;
constexpr std::uint32_t act_tables_load_event = 6;
// Of bucket, control, profile and directory buffers.
constexpr std::array<ArchTable::Table, 4> destinations = {
    ArchTable::Table{NEURON_ACT_BUCKETS, NEURON_ACT_CONTROLS - NEURON_ACT_BUCKETS},
    {NEURON_ACT_CONTROLS, NEURON_ACT_PROFILES - NEURON_ACT_CONTROLS},
    {NEURON_ACT_PROFILES, NEURON_ACT_DIRECTORY - NEURON_ACT_PROFILES},
    {NEURON_ACT_DIRECTORY, NEURON_ACT_END - NEURON_ACT_DIRECTORY}};

/// profile_meta_data as the 76 bytes of the original record.
std::array<std::uint8_t, profile_bytes> profile_record(const ActProfile& profile) {
  std::array<std::uint8_t, profile_bytes> record{};
  store_le(record, 0, profile.func_id);
  store_le(record, 4, profile.symmetry_point);
  record[8] = profile.sym_invert_sign;
  record[9] = profile.symmetry_opt_en;
  record[10] = profile.symmetry_opt_use_neg_region;
  store_le(record, 12, profile.exp_offset);
  store_le(record, 16, profile.pwl_control_base_pos);
  store_le(record, 20, profile.pwl_control_base_neg);
  record[24] = profile.small_pos_exp_threshold;
  record[25] = profile.small_neg_exp_threshold;
  record[26] = profile.large_pos_exp_threshold;
  record[27] = profile.large_neg_exp_threshold;
  store_le(record, 28, profile.small_pos_pwl_control);
  store_le(record, 30, profile.small_neg_pwl_control);
  store_le(record, 32, profile.large_pos_pwl_control);
  store_le(record, 34, profile.large_neg_pwl_control);
  store_le(record, 36, profile.large_pos_mantissa_threshold);
  store_le(record, 40, profile.large_neg_mantissa_threshold);
  store_le(record, 48, profile.fnan_result);
  store_le(record, 52, profile.fpinf_result);
  store_le(record, 56, profile.fninf_result);
  store_le(record, 60, profile.fzero_result);
  store_le(record, 64, profile.fma_const_0);
  store_le(record, 68, profile.fma_const_1);
  record[72] = profile.fma_indirection_src_sel;
  record[73] = profile.imm_bias;
  return record;
}

/// Where every set's pieces lie in the four buffers, and how large those are.
struct BufferLayout {
  static constexpr std::size_t bucket = 0, control = 1, profiles = 2;  // and the directory
  std::vector<std::array<std::uint64_t, 4>> offsets;  ///< by set
  std::array<std::uint64_t, 4> sizes{};
};

std::array<std::uint64_t, 4> piece_sizes(const ActSet& set) {
  return {set.bucket.size(), set.control.size(), profile_bytes * set.profiles.size(),
          directory_entry_bytes};
}

BufferLayout lay_out(const Kbin& kbin) {
  constexpr std::array<std::uint64_t, 4> aligns = {set_align, set_align, set_align,
                                                   directory_entry_bytes};
  BufferLayout layout;
  for (const ActSet& set : kbin.act_sets) {
    const auto pieces = piece_sizes(set);
    auto& offsets = layout.offsets.emplace_back();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      offsets[i] = (layout.sizes[i] + aligns[i] - 1) / aligns[i] * aligns[i];
      layout.sizes[i] = offsets[i] + pieces[i];
    }
  }
  return layout;
}

void put_profiles(const ActSet& set, MutableBytes piece) {
  for (std::size_t i = 0; i < set.profiles.size(); ++i) {
    const auto record = profile_record(set.profiles[i]);
    std::copy(record.begin(), record.end(),
              piece.begin() + static_cast<std::ptrdiff_t>(i * profile_bytes));
  }
}

/// Offset and size of a set's bucket table, its control table and its profiles (the last ours: how
/// many functions a set has is nowhere else).
void put_directory_entry(const ActSet& set, const std::array<std::uint64_t, 4>& offsets,
                         MutableBytes entry) {
  store_le(entry, 0, static_cast<std::uint32_t>(offsets[BufferLayout::bucket]));
  store_le(entry, 4, static_cast<std::uint32_t>(set.bucket.size()));
  store_le(entry, 8, static_cast<std::uint32_t>(offsets[BufferLayout::control]));
  store_le(entry, 12, static_cast<std::uint32_t>(set.control.size()));
  store_le(entry, 16, static_cast<std::uint32_t>(offsets[BufferLayout::profiles]));
  store_le(entry, 20, static_cast<std::uint32_t>(profile_bytes * set.profiles.size()));
}

std::vector<std::uint8_t> build_buffer(const Kbin& kbin, const BufferLayout& layout,
                                       std::size_t buffer) {
  std::vector<std::uint8_t> bytes(layout.sizes[buffer]);
  for (std::size_t i = 0; i < kbin.act_sets.size(); ++i) {
    const ActSet& set = kbin.act_sets[i];
    const MutableBytes piece =
        MutableBytes(bytes).subspan(layout.offsets[i][buffer], piece_sizes(set)[buffer]);
    switch (buffer) {
      case BufferLayout::bucket:
        std::copy(set.bucket.begin(), set.bucket.end(), piece.begin());
        break;
      case BufferLayout::control:
        std::copy(set.control.begin(), set.control.end(), piece.begin());
        break;
      case BufferLayout::profiles:
        put_profiles(set, piece);
        break;
      default:
        put_directory_entry(set, layout.offsets[i], piece);
    }
  }
  return bytes;
}

}  // namespace

Result<void> plan_act_tables(PlanContext& context) {
  if (context.kbin().act_sets.empty()) return {};
  constexpr std::array kinds = {SectionKind::act_bucket, SectionKind::act_control,
                                SectionKind::act_profiles, SectionKind::act_directory};
  constexpr std::array names = {"act bucket", "act control", "act profiles", "act directory"};
  const BufferLayout layout = lay_out(context.kbin());
  TableLoadPlan load;
  for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
    const std::uint64_t size = layout.sizes[i];
    if (size == 0 || size > destinations[i].size) {
      return invalid({.path = names[i]},
                     fmt::format("all sets together have {} bytes, expected 1 to {}", size,
                                 destinations[i].size));
    }
    const std::uint32_t request =
        context.add(kinds[i], 0, size, set_align, MemUsage::runtime, names[i]);
    if (i == 0) load.first = request;
  }
  load.used = table_ring_descriptors(layout.sizes);
  plan_table_ring(context, SectionKind::act_tx_ring, SectionKind::act_rx_ring, "act", load);
  context.out().act = load;
  return {};
}

Result<void> emit_act_tables(const EmitContext& context) {
  const KbinPlan& planned = context.planned();
  if (!planned.act) return {};
  const BufferLayout layout = lay_out(context.kbin());
  std::array<TableCopy, 4> tables{};
  for (std::uint32_t i = 0; i < tables.size(); ++i) {
    const std::uint32_t request = planned.act->first + i;
    NEFFLD_TRY(context.sink({request, build_buffer(context.kbin(), layout, i), false}));
    tables[i] = {
        request, layout.sizes[i],
        context.arch.tpb_base[planned.core] + context.arch.engine_window + destinations[i].offset};
  }
  return emit_table_ring(context, tables, act_tables_load_event, *planned.act);
}

}  // namespace neffld
