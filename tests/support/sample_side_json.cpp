// SPDX-License-Identifier: MIT
// The small JSON members: KELF, info, activation sets and statistics (spec 08 s2.1, s2.3, s2.8).
#include "sample_json.hpp"
#include "sample_json_writer.hpp"

namespace neffld::sample {

std::string kelf_json(const std::vector<std::string>& subgraphs, Arch arch) {
  return document(4, [&](Pretty& json) {
    json.array("graphs");
    for (const auto& name : subgraphs) {
      json.StartObject();
      json.field("definition", name + "/def.json");
      json.field("name", name);
      json.EndObject();
    }
    json.EndArray();
    json.field("version", "0.5");
    json.field("target", arch == Arch::v2 ? "sunda" : "cayman");
  });
}

std::string ucode_lib_json(const std::vector<Library>& libraries) {
  constexpr std::uint64_t custom_op_header = 0x85, user = 5;
  Buffer buffer;
  Pretty json(buffer);
  json.StartArray();
  for (const auto& library : libraries) {
    json.StartObject();
    json.field("library", library.name);
    json.field("ulib_to_ucode_version", "1.21.1.0");
    json.field("opcode", library.built_in ? custom_op_header : user);
    json.field("cpu_id", 0);
    json.field("total_cpus", library.total_cpus);
    json.array("functions");
    for (std::uint32_t i = 0; i < library.functions; ++i) {
      json.StartObject();
      json.field("name", library.stem + std::to_string(i));
      json.field("opcode", 0xF0u);
      if (i % 3 == 0) json.field("sub_opcode", i + 1);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  return std::string(buffer.GetString(), buffer.GetSize());
}

std::string info_json(const std::string& name) {
  return document(2, [&](Pretty& json) {
    json.field("tool_version", "0.1.0+neffld");
    json.field("kelp_version", "Dynamic");
    json.field("name", name);
    json.field("num_tpb", 1);
    json.field("num_tpb_requested", 1);
    std::vector<std::uint32_t> per_node(64);
    per_node[0] = 1;
    json.numbers("num_tpb_per_node", per_node);
  });
}

std::string act_info_json(const std::vector<ActSet>& sets) {
  // Lists one set more than is used: real files name sets whose members are not in the archive.
  std::vector<ActSet> listed = sets;
  listed.push_back({"unused_functions", 0, 0, 2});
  return document(4, [&](Pretty& json) {
    json.texts("pwp_file_keys", {"bkt_bin", "ctrl_bin", "profile_json"});
    json.array("act_func_sets");
    for (const auto& set : listed) {
      json.StartObject();
      json.field("name", set.name);
      json.field("bkt_bin", set.name + "_bkt.bin");
      json.field("ctrl_bin", set.name + "_ctrl.bin");
      json.field("profile_json", set.name + ".json");
      json.object("act");
      for (std::uint32_t i = 0; i < set.functions; ++i) json.field("f" + std::to_string(i), 1);
      json.EndObject();
      json.EndObject();
    }
    json.EndArray();
  });
}

namespace {

/// Function number `i` of a set; the numbers differ between functions so that a reader that mixes
/// them up is caught.
void write_profile(Pretty& json, std::uint32_t i) {
  constexpr std::uint32_t positive_max = 0x7F7FFFFF, infinity = 0x7F800000, sign = 0x80000000;
  json.StartObject();
  json.field("func_name", "f" + std::to_string(i) + "_1p");
  json.field("func_id", i + 1);
  json.field("symmetry_point", 0);
  json.field("sym_invert_sign_point", i % 2);
  json.field("symmetry_opt_en", i % 3 == 2);
  json.field("symmetry_opt_use_neg_region", i % 5 == 4);
  json.field("imm_bias", i % 7 == 6);
  json.key("exp_offset");
  json.Int(static_cast<int>(i) - 20);
  json.field("pwl_control_base_pos", 2 * i + 1);
  json.field("pwl_control_base_neg", 2 * i);
  // Threshold 255: every finite value takes the one small-signal bucket.
  json.field("small_pos_signal_exp_threshold", 255);
  json.field("pos_small_signal_pwl_control", i);
  json.field("small_neg_signal_exp_threshold", 255);
  json.field("neg_small_signal_pwl_control", i);
  json.field("large_pos_signal_exp_threshold", 255);
  json.field("large_pos_signal_mantissa_threshold", 3 * i);
  json.field("pos_large_signal_pwl_control", i);
  json.field("large_neg_signal_exp_threshold", 255);
  json.field("large_neg_signal_mantissa_threshold", 5 * i);
  json.field("neg_large_signal_pwl_control", i);
  json.field("fnan_result", 0x7FC00000u + i);
  json.field("fpinf_result", infinity);
  json.field("fninf_result", sign | infinity);
  json.field("fzero_result", 0);
  json.field("fma_const_0", 0);
  json.field("fma_const_1", 7 * i);
  json.field("fma_indirection_src_sel", i % 4);
  json.flag("use_multipass", false);
  json.field("lower_bound", sign | positive_max);
  json.field("upper_bound", positive_max);
  json.EndObject();
}

}  // namespace

std::string act_profile_json(const ActSet& set) {
  return document(4, [&](Pretty& json) {
    json.field("bkt_bin", set.name + "_bkt.bin");
    json.field("ctl_bin", set.name + "_ctrl.bin");
    json.array("profile_meta_data");
    for (std::uint32_t i = 0; i < set.functions; ++i) write_profile(json, i);
    json.EndArray();
    json.field("bkt_entry_cnt", set.bucket_entries);
    json.field("ctl_entry_cnt", set.control_entries);
  });
}

std::string hlo_stats_json(std::uint64_t mac_count) {
  return document(3, [&](Pretty& json) {
    json.key("ArithmeticIntensity");
    json.Double(32.0);
    json.key("HloInputCount");
    json.Int(-1);
    json.field("HloMacCount", mac_count);
    json.field("Traffic", 262144);
  });
}

std::string metrics_json() {
  Buffer buffer;
  Pretty json(buffer);
  json.SetIndent(' ', 2);
  json.StartArray();
  json.StartObject();
  json.field("MetricName", "TPBCount");
  json.field("Value", 1);
  json.field("Unit", "Count");
  json.EndObject();
  json.EndArray();
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace neffld::sample
