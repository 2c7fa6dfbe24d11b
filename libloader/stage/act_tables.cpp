// SPDX-License-Identifier: MIT
// Activation tables: four buffers of all function sets, and the ring that loads them (spec 04
// section 2.3 "ACT tables" and rule 9, spec 02 s16.16, decision 14).
#include <fmt/format.h>

#include <array>
#include <vector>

#include "builders.hpp"
#include "table_ring.hpp"

namespace neffld {
namespace {

constexpr std::uint64_t set_align = 64;  // every set's piece of a buffer starts on this
constexpr std::uint64_t profile_bytes = 76;
constexpr std::uint64_t directory_entry_bytes = 16;
constexpr std::uint32_t act_tables_load_event = 6;
// Engine-local destinations of bucket, control, profile and directory buffers. The room of each
// ends where the next begins; the last ends where the next engine's registers may begin (spec 03
// s7.3).
constexpr std::array<ArchTable::Table, 4> destinations = {ArchTable::Table{0x250'0000, 0x2'0000},
                                                          {0x252'0000, 0x2'0000},
                                                          {0x254'0000, 0x4'0000},
                                                          {0x258'0000, 0x8'0000}};

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

/// A buffer that is the concatenation of one piece a set.
class SetBuffer {
 public:
  /// Appends a piece at the next multiple of `align`; returns its offset.
  std::uint32_t append(Bytes piece, std::uint64_t align = set_align) {
    bytes_.resize((bytes_.size() + align - 1) / align * align);
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    bytes_.insert(bytes_.end(), piece.begin(), piece.end());
    return offset;
  }
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// The four buffers in order: bucket, control, profiles, directory.
std::array<SetBuffer, 4> build_buffers(const Kbin& kbin) {
  std::array<SetBuffer, 4> buffers;
  for (const ActSet& set : kbin.act_sets) {
    std::array<std::uint8_t, directory_entry_bytes> entry{};
    store_le(entry, 0, buffers[0].append(set.bucket));
    store_le(entry, 4, static_cast<std::uint32_t>(set.bucket.size()));
    store_le(entry, 8, buffers[1].append(set.control));
    store_le(entry, 12, static_cast<std::uint32_t>(set.control.size()));
    std::vector<std::uint8_t> profiles;
    for (const ActProfile& profile : set.profiles) {
      const auto record = profile_record(profile);
      profiles.insert(profiles.end(), record.begin(), record.end());
    }
    buffers[2].append(profiles);
    buffers[3].append(entry, directory_entry_bytes);
  }
  return buffers;
}

}  // namespace

Result<void> plan_act_tables(PlanContext& context) {
  if (context.kbin().act_sets.empty()) return {};
  constexpr std::array kinds = {SectionKind::act_bucket, SectionKind::act_control,
                                SectionKind::act_profiles, SectionKind::act_directory};
  constexpr std::array names = {"act bucket", "act control", "act profiles", "act directory"};
  const auto buffers = build_buffers(context.kbin());
  std::array<std::uint64_t, 4> sizes{};
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    sizes[i] = buffers[i].bytes().size();
    if (sizes[i] == 0 || sizes[i] > destinations[i].size) {
      return invalid({.path = names[i]},
                     fmt::format("all sets together have {} bytes, expected 1 to {}", sizes[i],
                                 destinations[i].size));
    }
    const std::uint32_t request =
        context.add(kinds[i], 0, sizes[i], set_align, MemCategory::misc, names[i]);
    if (i == 0) context.out().act_first = request;
  }
  context.out().act_descriptors = table_ring_descriptors(sizes);
  plan_table_ring(context, SectionKind::act_tx_ring, SectionKind::act_rx_ring,
                  context.out().act_descriptors, "act");
  return {};
}

Result<void> emit_act_tables(const EmitContext& context) {
  const KbinPlan& planned = context.planned();
  if (!planned.act_first) return {};
  const auto buffers = build_buffers(context.kbin());
  std::array<TableCopy, 4> tables{};
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    const std::uint32_t request = *planned.act_first + i;
    NEFFLD_TRY(context.sink({request, buffers[i].bytes(), false}));
    tables[i] = {
        request, buffers[i].bytes().size(),
        context.arch.tpb_base[planned.core] + context.arch.engine_window + destinations[i].offset};
  }
  return emit_table_ring(context, tables, act_tables_load_event, *planned.act_first + 4,
                         planned.act_descriptors);
}

}  // namespace neffld
