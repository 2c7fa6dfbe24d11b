// SPDX-License-Identifier: MIT
// Activation tables: act_info.json names the files of every set the compiler knows; only the
// requested ones are in the archive (spec 02 section 7.2).
#include <fmt/format.h>

#include <algorithm>

#include "kbin/engine_json.hpp"
#include "manifest/printable.hpp"

namespace neffld {
namespace {

constexpr std::size_t max_profiles = 25;  // the record has room for 25, spec 02 section 10.4

// Order of real files.
enum class Field : std::uint8_t {
  func_id,
  symmetry_point,
  sym_invert_sign_point,
  symmetry_opt_en,
  symmetry_opt_use_neg_region,
  imm_bias,
  exp_offset,
  pwl_control_base_pos,
  pwl_control_base_neg,
  small_pos_signal_exp_threshold,
  pos_small_signal_pwl_control,
  small_neg_signal_exp_threshold,
  neg_small_signal_pwl_control,
  large_pos_signal_exp_threshold,
  large_pos_signal_mantissa_threshold,
  pos_large_signal_pwl_control,
  large_neg_signal_exp_threshold,
  large_neg_signal_mantissa_threshold,
  neg_large_signal_pwl_control,
  fnan_result,
  fpinf_result,
  fninf_result,
  fzero_result,
  fma_const_0,
  fma_const_1,
  fma_indirection_src_sel,
};
constexpr KeyTable<Field, 26> fields = {
    {{"func_id", Field::func_id},
     {"symmetry_point", Field::symmetry_point},
     {"sym_invert_sign_point", Field::sym_invert_sign_point},
     {"symmetry_opt_en", Field::symmetry_opt_en},
     {"symmetry_opt_use_neg_region", Field::symmetry_opt_use_neg_region},
     {"imm_bias", Field::imm_bias},
     {"exp_offset", Field::exp_offset},
     {"pwl_control_base_pos", Field::pwl_control_base_pos},
     {"pwl_control_base_neg", Field::pwl_control_base_neg},
     {"small_pos_signal_exp_threshold", Field::small_pos_signal_exp_threshold},
     {"pos_small_signal_pwl_control", Field::pos_small_signal_pwl_control},
     {"small_neg_signal_exp_threshold", Field::small_neg_signal_exp_threshold},
     {"neg_small_signal_pwl_control", Field::neg_small_signal_pwl_control},
     {"large_pos_signal_exp_threshold", Field::large_pos_signal_exp_threshold},
     {"large_pos_signal_mantissa_threshold", Field::large_pos_signal_mantissa_threshold},
     {"pos_large_signal_pwl_control", Field::pos_large_signal_pwl_control},
     {"large_neg_signal_exp_threshold", Field::large_neg_signal_exp_threshold},
     {"large_neg_signal_mantissa_threshold", Field::large_neg_signal_mantissa_threshold},
     {"neg_large_signal_pwl_control", Field::neg_large_signal_pwl_control},
     {"fnan_result", Field::fnan_result},
     {"fpinf_result", Field::fpinf_result},
     {"fninf_result", Field::fninf_result},
     {"fzero_result", Field::fzero_result},
     {"fma_const_0", Field::fma_const_0},
     {"fma_const_1", Field::fma_const_1},
     {"fma_indirection_src_sel", Field::fma_indirection_src_sel}}};

void read_profile_field(JsonCursor& cursor, Field field, ActProfile& p) {
  const auto u8 = [&] { return static_cast<std::uint8_t>(cursor.u32(0xFF)); };
  const auto u16 = [&] { return static_cast<std::uint16_t>(cursor.u32(0xFFFF)); };
  switch (field) {
    case Field::func_id:
      p.func_id = cursor.u32();
      break;
    case Field::symmetry_point:
      p.symmetry_point = cursor.u32();
      break;
    case Field::sym_invert_sign_point:
      p.sym_invert_sign = u8();
      break;
    case Field::symmetry_opt_en:
      p.symmetry_opt_en = u8();
      break;
    case Field::symmetry_opt_use_neg_region:
      p.symmetry_opt_use_neg_region = u8();
      break;
    case Field::imm_bias:
      p.imm_bias = u8();
      break;
    case Field::exp_offset:
      p.exp_offset = static_cast<std::int32_t>(cursor.i64(-127, 128));
      break;
    case Field::pwl_control_base_pos:
      p.pwl_control_base_pos = cursor.u32();
      break;
    case Field::pwl_control_base_neg:
      p.pwl_control_base_neg = cursor.u32();
      break;
    case Field::small_pos_signal_exp_threshold:
      p.small_pos_exp_threshold = u8();
      break;
    case Field::small_neg_signal_exp_threshold:
      p.small_neg_exp_threshold = u8();
      break;
    case Field::large_pos_signal_exp_threshold:
      p.large_pos_exp_threshold = u8();
      break;
    case Field::large_neg_signal_exp_threshold:
      p.large_neg_exp_threshold = u8();
      break;
    case Field::pos_small_signal_pwl_control:
      p.small_pos_pwl_control = u16();
      break;
    case Field::neg_small_signal_pwl_control:
      p.small_neg_pwl_control = u16();
      break;
    case Field::pos_large_signal_pwl_control:
      p.large_pos_pwl_control = u16();
      break;
    case Field::neg_large_signal_pwl_control:
      p.large_neg_pwl_control = u16();
      break;
    case Field::large_pos_signal_mantissa_threshold:
      p.large_pos_mantissa_threshold = cursor.u32();
      break;
    case Field::large_neg_signal_mantissa_threshold:
      p.large_neg_mantissa_threshold = cursor.u32();
      break;
    case Field::fnan_result:
      p.fnan_result = cursor.u32();
      break;
    case Field::fpinf_result:
      p.fpinf_result = cursor.u32();
      break;
    case Field::fninf_result:
      p.fninf_result = cursor.u32();
      break;
    case Field::fzero_result:
      p.fzero_result = cursor.u32();
      break;
    case Field::fma_const_0:
      p.fma_const_0 = cursor.u32();
      break;
    case Field::fma_const_1:
      p.fma_const_1 = cursor.u32();
      break;
    case Field::fma_indirection_src_sel:
      p.fma_indirection_src_sel = u8();
      break;
  }
}

ActProfile read_profile(JsonCursor& cursor) {
  ActProfile profile;
  ObjectReader object(cursor, fields);
  for (Field field{}; object.next(field);) read_profile_field(cursor, field, profile);
  for (const auto& [name, field] : fields) {
    if (!object.has(field)) cursor.fail(fmt::format("Failed to parse, key: {}", name));
  }
  return profile;
}

enum class FileField : std::uint8_t { profile_meta_data };
constexpr KeyTable<FileField, 1> file_fields = {
    {{"profile_meta_data", FileField::profile_meta_data}}};

Result<std::vector<ActProfile>> read_profiles(const Subgraph& subgraph, const Member& member) {
  JsonCursor cursor(member.name, member.bytes, subgraph.options.json_depth);
  std::vector<ActProfile> profiles;
  ObjectReader object(cursor, file_fields);
  for (FileField field{}; object.next(field);) {
    cursor.begin_array();
    while (cursor.next_element()) {
      if (profiles.size() == max_profiles) {
        cursor.fail(fmt::format("more than {} profiles", max_profiles));
      }
      profiles.push_back(read_profile(cursor));
    }
  }
  if (!object.has(FileField::profile_meta_data)) {
    cursor.fail("Failed to parse, key: profile_meta_data");
  }
  NEFFLD_TRY(cursor.finish());
  return profiles;
}

/// One entry of act_func_sets: the names of its files.
struct InfoEntry {
  std::string name, bucket, control, profile;
  std::string path;  ///< JSON path, for errors
};

enum class EntryField : std::uint8_t { bkt_bin, ctrl_bin, name, profile_json };
constexpr KeyTable<EntryField, 4> entry_fields = {{{"bkt_bin", EntryField::bkt_bin},
                                                   {"ctrl_bin", EntryField::ctrl_bin},
                                                   {"name", EntryField::name},
                                                   {"profile_json", EntryField::profile_json}}};

InfoEntry read_entry(JsonCursor& cursor) {
  InfoEntry entry;
  entry.path = cursor.where().path;
  ObjectReader object(cursor, entry_fields);
  for (EntryField field{}; object.next(field);) {
    switch (field) {
      case EntryField::bkt_bin:
        entry.bucket = cursor.string();
        break;
      case EntryField::ctrl_bin:
        entry.control = cursor.string();
        break;
      case EntryField::name:
        entry.name = cursor.string();
        break;
      case EntryField::profile_json:
        entry.profile = cursor.string();
        break;
    }
  }
  for (const auto& [name, field] : entry_fields) {
    if (!object.has(field)) cursor.fail(fmt::format("Failed to parse, key: {}", name));
  }
  return entry;
}

enum class InfoField : std::uint8_t { act_func_sets };
constexpr KeyTable<InfoField, 1> info_fields = {{{"act_func_sets", InfoField::act_func_sets}}};

Result<std::vector<InfoEntry>> read_info(const Subgraph& subgraph, const Member& member) {
  JsonCursor cursor(member.name, member.bytes, subgraph.options.json_depth);
  std::vector<InfoEntry> entries;
  ObjectReader object(cursor, info_fields);
  for (InfoField field{}; object.next(field);) {
    cursor.begin_array();
    while (cursor.next_element()) entries.push_back(read_entry(cursor));
  }
  if (!object.has(InfoField::act_func_sets)) cursor.fail("Failed to parse, key: act_func_sets");
  NEFFLD_TRY(cursor.finish());
  return entries;
}

Result<const Member*> file_of(const Subgraph& subgraph, const Member& info, const InfoEntry& entry,
                              const char* key, const std::string& file) {
  if (const Member* member = subgraph.find(file)) return member;
  return invalid(
      {std::string(info.name), fmt::format("{}.{}", entry.path, key), std::nullopt, std::nullopt},
      fmt::format("the member \"{}\" is not in the archive", printable(subgraph.path_of(file))));
}

Result<ActSet> load_set(const Subgraph& subgraph, const Member& info, const InfoEntry& entry) {
  NEFFLD_ASSIGN(const Member* bucket, file_of(subgraph, info, entry, "bkt_bin", entry.bucket));
  NEFFLD_ASSIGN(const Member* control, file_of(subgraph, info, entry, "ctrl_bin", entry.control));
  NEFFLD_ASSIGN(const Member* profile,
                file_of(subgraph, info, entry, "profile_json", entry.profile));
  NEFFLD_ASSIGN(std::vector<ActProfile> profiles, read_profiles(subgraph, *profile));
  return ActSet{entry.name, bucket->bytes, control->bytes, std::move(profiles)};
}

}  // namespace

Result<void> load_act_sets(Subgraph& subgraph, const std::string& act_info,
                           const std::vector<std::string>& names) {
  const std::string& act_json = subgraph.kbin.engine(Engine::act).json_member;
  const Member* info = subgraph.find(act_info);
  if (info == nullptr) {
    return invalid({act_json, "$.act_info", std::nullopt, std::nullopt},
                   fmt::format("the member \"{}\" is not in the archive",
                               printable(subgraph.path_of(act_info))));
  }
  NEFFLD_ASSIGN(const std::vector<InfoEntry> entries, read_info(subgraph, *info));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto same = [&](const InfoEntry& entry) { return entry.name == names[i]; };
    const auto found = std::find_if(entries.begin(), entries.end(), same);
    if (found == entries.end()) {
      return invalid(
          {act_json, fmt::format("$.activation_function_sets[{}]", i), std::nullopt, std::nullopt},
          fmt::format("the set {} is not in {}", printable(names[i]), info->name));
    }
    NEFFLD_ASSIGN(ActSet set, load_set(subgraph, *info, *found));
    subgraph.kbin.act_sets.push_back(std::move(set));
  }
  return {};
}

}  // namespace neffld
