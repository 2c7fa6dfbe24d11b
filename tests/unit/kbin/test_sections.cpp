// SPDX-License-Identifier: MIT
// The sections of def.json besides variables and queues, and the engines' files.
#include "model.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

struct SectionRow {
  std::string extra;  ///< further keys of the document
  std::string path, text;
};

const std::string reservation_path = "$.runtime_statebuffer_reservation";

Files with_def(const std::string& extra, const std::string& target = "sunda") {
  Files files = model(target);
  files.set("sg00/def.json", def_json(base_vars, base_queues, extra));
  files.set("sg00/lib.so", "library");
  return files;
}

std::string edited_text(std::string text, const std::string& find, const std::string& replace) {
  const std::size_t at = text.find(find);
  REQUIRE(at != std::string::npos);
  return text.replace(at, find.size(), replace);
}

std::string profile(const std::string& name, const std::string& value) {
  std::string text = "{\"func_name\":\"exp\",\"use_multipass\":false";
  for (const char* key : {"func_id",
                          "symmetry_point",
                          "sym_invert_sign_point",
                          "symmetry_opt_en",
                          "symmetry_opt_use_neg_region",
                          "imm_bias",
                          "exp_offset",
                          "pwl_control_base_pos",
                          "pwl_control_base_neg",
                          "small_pos_signal_exp_threshold",
                          "pos_small_signal_pwl_control",
                          "small_neg_signal_exp_threshold",
                          "neg_small_signal_pwl_control",
                          "large_pos_signal_exp_threshold",
                          "large_pos_signal_mantissa_threshold",
                          "pos_large_signal_pwl_control",
                          "large_neg_signal_exp_threshold",
                          "large_neg_signal_mantissa_threshold",
                          "neg_large_signal_pwl_control",
                          "fnan_result",
                          "fpinf_result",
                          "fninf_result",
                          "fzero_result",
                          "fma_const_0",
                          "fma_const_1",
                          "fma_indirection_src_sel"}) {
    if (name == key && value.empty()) continue;
    text += ",\"" + std::string(key) + "\":" + (name == key ? value : "1");
  }
  return text + "}";
}

/// A model that requests one activation set.
Files with_act(const std::string& profiles) {
  Files files = model();
  files.set("sg00/Act.json", engine_json(R"("act_info":"act_info.json","act_semaphore":12,
      "activation_function_sets":["exp"])"));
  files.set("sg00/act_info.json", R"({"pwp_file_keys":["bkt_bin"],"act_func_sets":[
      {"name":"other","bkt_bin":"no","ctrl_bin":"no","profile_json":"no"},
      {"name":"exp","bkt_bin":"b.bin","ctrl_bin":"c.bin","profile_json":"p.json","act":{"exp":4}}]})");
  files.set("sg00/b.bin", "bucket");
  files.set("sg00/c.bin", "control");
  files.set("sg00/p.json", "{\"bkt_entry_cnt\":3,\"profile_meta_data\":[" + profiles + "]}");
  return files;
}

Files with_dve(const std::string& tables, const std::string& target) {
  Files files = model(target);
  files.set("sg00/DVE.json", engine_json("\"dve_tables\":" + tables));
  for (const std::size_t size : {0x400u, 0x800u, 0x1000u, 0x2000u, 0x4000u}) {
    files.set("sg00/" + std::to_string(size), std::string(size, 't'));
  }
  return files;
}

const std::string dve_v2 =
    R"({"control_table":"2048","datapath_table":"8192","opcode_table":"2048"})";
const std::string dve_v3 =
    R"({"control_fast_table":"4096","control_slow_table":"4096","datapath_table":"16384",)"
    R"("opcode_table":"1024"})";

}  // namespace

TEST_CASE("a broken section is refused at the broken key") {
  const std::string key = "library";
  const std::string library = R"("library":"lib.so","ulib_to_ucode_version":"1.21.1.0",)"
                              R"("opcode":-123,"cpu_id":0,"total_cpus":8,"functions":[])";
  const auto ucode = [&](const std::string& find, const std::string& replace) {
    return "\"ucode_lib\":[{" + edited_text(library, find, replace) + "}]";
  };
  const std::vector<SectionRow> rows = {
      {R"("replica_groups":[[0]])", "$.replica_groups[0][0]", "found 0, expected an array"},
      {R"("replica_groups":[[[0,-1]]])", "$.replica_groups[0][0][1]", "found -1"},
      {R"("src_target_pairs":[[[0,1,2]]])", "$.src_target_pairs[0][0]", "found 3 numbers"},
      {R"("src_target_pairs":[[[0]]])", "$.src_target_pairs[0][0]", "found 1 numbers"},
      {R"("cc_streams":{"num_streams":-1})", "$.cc_streams.num_streams", "found -1"},
      {R"("cc_streams":3)", "$.cc_streams", "found 3, expected an object"},
      {R"("fp8_conversion_config":{"ocp_sat":2})", "$.fp8_conversion_config.ocp_sat", "found 2"},
      {R"("fp8_conversion_config":{"emax_fp8_e4m3":1.5})", "$.fp8_conversion_config.emax_fp8_e4m3",
       "found 1.5"},
      {R"("runtime_statebuffer_reservation":[{"type":"x"}])", reservation_path + "[0].type",
       "Invalid runtime_statebuffer_reservation type x"},
      {R"("runtime_statebuffer_reservation":[{"type":"evtaccel"}])", reservation_path + "[0]",
       "Failed to parse, key: base_partition"},
      {R"("runtime_statebuffer_reservation":{})", reservation_path, "found an object"},
      {ucode("\"library\":\"lib.so\",", ""), "$.ucode_lib[0]", "Failed to parse, key: library"},
      {ucode("\"lib.so\"", "\"no.so\""), "$.ucode_lib[0]." + key, "\"sg00/no.so\" is not in"},
      {ucode("\"ulib_to_ucode_version\"", "\"version\""), "$.ucode_lib[0]",
       "Missing GPSIMD lib version!"},
      {ucode("1.21.1.0", "2.21"), "$.ucode_lib[0].ulib_to_ucode_version",
       "Mismatch between GPSIMD lib version and NRT version!"},
      {ucode("1.21.1.0", "1x.2"), "$.ucode_lib[0].ulib_to_ucode_version", "Mismatch"},
      {ucode("1.21.1.0", ""), "$.ucode_lib[0].ulib_to_ucode_version", "Mismatch"},
      {ucode("\"total_cpus\":8", "\"total_cpus\":2"), "$.ucode_lib[0].total_cpus",
       "UCode Library lib.so has invalid number of total cpus 2"},
      {ucode("\"opcode\":-123,", ""), "$.ucode_lib[0]", "Failed to parse, key: opcode"},
      {ucode("-123", "256"), "$.ucode_lib[0].opcode", "found 256"},
      {ucode("\"cpu_id\":0", "\"cpu_id\":1"), "$.ucode_lib[0].cpu_id", "expected cpu_id == 0"},
      {ucode("\"functions\":[]", R"("functions":[{"name":"f"}])"), "$.ucode_lib[0].functions[0]",
       "Failed to parse, key: opcode"},
      {ucode("\"functions\":[]", R"("functions":[{"opcode":1}])"), "$.ucode_lib[0].functions[0]",
       "Failed to parse, key: name"},
      {"\"ucode_lib\":[{" + library + "},{" + library + "}]", "$.ucode_lib[1]." + key,
       "UCode Library lib.so has already been added"},
      {R"("ucode_lib":"no.json")", "$.ucode_lib", "\"sg00/no.json\" is not in the archive"},
      {R"("ucode_lib":7)", "$.ucode_lib", "found 7, expected an array"},
      {R"("cc_streams":{},"cc_streams":{})", "$.cc_streams", "duplicate key"},
      {R"("dma":[{"id":0,"queue":"no","desc":[]}])", "$.dma[0].queue", "no queue set is called no"},
      {R"("sp":"SP.json")", "$.sp", "duplicate key"},
  };
  for (const SectionRow& row : rows) {
    check_refused(build(with_def(row.extra)), "sg00/def.json", row.path, row.text);
  }
}

TEST_CASE("the v3 reservation is required and has one legal value") {
  check_refused(build(with_def("", "cayman")), "sg00/def.json", reservation_path,
                "Missing or corrupted runtime_statebuffer_reservation field in def.json and "
                "NEURON_RT_ALLOW_LEGACY_NEFF=1 is not set");
  BuildOptions legacy;
  legacy.allow_legacy = true;
  const Kbin old = built(with_def("", "cayman"), legacy);
  CHECK(old.warnings.size() == 1);
  CHECK(build(with_def("", "mariana")));
  CHECK(build(with_def(R"("runtime_statebuffer_reservation":[])", "cayman")));
  const auto refused = [](const std::string& find, const std::string& replace) {
    return build(with_def(edited_text(v3_reservation, find, replace), "cayman"));
  };
  check_refused(refused("_partition\":0", "_partition\":1"), "sg00/def.json",
                reservation_path + "[0].base_partition",
                "Event Accel carveout SB partition must start at 0. Got 1");
  check_refused(refused("128", "64"), "sg00/def.json", reservation_path + "[0].partitions",
                "Event Accel carveout SB partition count must be 128. Got 64");
  check_refused(refused("229368", "229360"), "sg00/def.json", reservation_path + "[0].offset",
                "Event Accel carveout SB partition offset must start at 0x37ff8. Got 0x37ff0");
  check_refused(refused("\"size\":8", "\"size\":16"), "sg00/def.json",
                reservation_path + "[0].size", "Event Accel carveout SB size must be 8. Got 16");
  const Kbin kbin = built(model("cayman"));
  REQUIRE(kbin.carveouts.size() == 1);
  CHECK(kbin.carveouts[0].offset == 229368);
}

TEST_CASE("sections are read with their defaults") {
  const Kbin plain = built(model());
  CHECK(plain.num_streams == 1);
  CHECK_FALSE(plain.fp8);
  CHECK_FALSE(plain.dve);
  CHECK_FALSE(plain.act_semaphore);
  CHECK(plain.name == "sg00");
  CHECK(plain.dir == "sg00");
  CHECK(plain.arch == Arch::v2);
  CHECK(plain.warnings.empty());
  Files files = with_def(R"("cc_streams":{"num_streams":0},"replica_groups":[[],[[0,1],[2]]],
      "src_target_pairs":[[[0,1],[1,0]],[]],"ucode_lib":"libs.json","name":"definition",
      "fp8_conversion_config":{"fp8_range_extension":true,"emax_fp8_e4m3":8,"emax_fp8_e5m2":15,
        "ocp_sat":1,"fp8_sis":false,"fp8_sns":0})");
  files.set("sg00/libs.json", R"([{"library":"lib.so","ulib_to_ucode_version":"1","opcode":-123,
      "functions":[{"name":"f","opcode":-16},{"name":"g","opcode":240,"sub_opcode":3}]},
      {"library":"code.bin","ulib_to_ucode_version":"1.0","opcode":5,"total_cpus":1}])");
  const auto kbins = build(files);
  REQUIRE(kbins);
  const Kbin& kbin = kbins->front();
  CHECK(kbin.num_streams == 0);
  REQUIRE(kbin.fp8);
  CHECK(kbin.fp8->range_extension);
  CHECK(kbin.fp8->emax_e5m2 == 15);
  CHECK(kbin.fp8->ocp_sat);
  CHECK_FALSE(kbin.fp8->sns);
  CHECK(kbin.replica_groups.size() == 2);
  CHECK(kbin.replica_groups[1][0] == std::vector<std::uint32_t>{0, 1});
  CHECK(kbin.src_target_pairs[0][1] == std::array<std::uint32_t, 2>{1, 0});
  REQUIRE(kbin.ucode_libraries.size() == 2);
  CHECK(kbin.ucode_libraries[0].name == "code.bin");  // by name, not in file order
  CHECK(kbin.ucode_libraries[0].flags == 6);
  CHECK(as_text(kbin.ucode_libraries[1].content) == "library");
  CHECK(kbin.ucode_libraries[1].flags == 0);
  CHECK(kbin.ucode_libraries[1].functions[0].opcode == -16);
  CHECK(kbin.ucode_libraries[1].functions[1].sub_opcode == 3);
}

TEST_CASE("an engine's file must be there and name its instructions") {
  Files files = model();
  SECTION("def.json names a file that is absent") {
    files.erase("sg00/Pool.json");
    check_refused(build(files), "sg00/def.json", "$.pool", "\"sg00/Pool.json\" is not in the");
  }
  SECTION("instr is missing") {
    files.set("sg00/PE.json", "{}");
    check_refused(build(files), "sg00/PE.json", "$", "Failed to parse, key: instr");
  }
  SECTION("instr is a list") {
    files.set("sg00/PE.json", R"({"instr":[]})");
    check_refused(build(files), "sg00/PE.json", "$.instr", "found an array, expected a string");
  }
  SECTION("the instructions are absent") {
    files.set("sg00/PE.json", R"({"instr":"no.bin"})");
    check_refused(build(files), "sg00/PE.json", "$.instr", "\"sg00/no.bin\" is not in the archive");
  }
  SECTION("the file is not JSON") {
    files.set("sg00/SP.json", "{\"instr\":\"code.bin\"");
    check_refused(build(files), "sg00/SP.json", "$.instr", "invalid JSON");
  }
  SECTION("the engine's key is not a name") {
    files.set("sg00/def.json", edited_text(def_json(), "\"SP.json\"", "{}"));
    check_refused(build(files), "sg00/def.json", "$.sp", "found an object, expected a string");
  }
  SECTION("of two broken files the first in engine order is named") {
    files.set("sg00/SP.json", "x");
    files.set("sg00/Act.json", "x");
    CHECK(build(files).error().where.member == "sg00/Act.json");
  }
}

TEST_CASE("an absent engine is empty, odd sizes are a warning") {
  Files files = model();
  files.set("sg00/def.json", edited_text(def_json(), ",\"sp\":\"SP.json\"", ""));
  files.set("sg00/PE.json", R"({"instr":"odd.bin","name":"PE.json"})");
  files.set("sg00/odd.bin", std::string(130, 'i'));
  files.set("sg00/Act.json", R"({"instr":"empty.bin"})");
  files.set("sg00/empty.bin", "");
  const auto kbins = build(files);
  REQUIRE(kbins);
  const Kbin& kbin = kbins->front();
  CHECK(kbin.engine(Engine::pe).slot_count() == 2);
  CHECK(kbin.engine(Engine::pe).slots.size() == 130);
  CHECK(kbin.engine(Engine::act).slot_count() == 0);
  CHECK(kbin.engine(Engine::pool).slot_count() == 2);
  CHECK(kbin.engine(Engine::sp).json_member.empty());
  CHECK(kbin.engine(Engine::sp).slots.empty());
  REQUIRE(kbin.warnings.size() == 2);
  CHECK(kbin.warnings[0].find("130 bytes are not a multiple of 64") != std::string::npos);
  CHECK(kbin.warnings[1] == "Engine sp not found in NEFF sg00/def.json, using empty placeholder");
}

TEST_CASE("a subgraph without folder takes names as they are") {
  Files files = model();
  files.set("kelf-0.json", edited_text(kelf_json(), "sg00/def.json", "def.json"));
  files.set("def.json", def_json());
  for (const char* name : {"PE.json", "Act.json", "Pool.json", "DVE.json", "SP.json", "code.bin"}) {
    files.set(name, files.text("sg00/" + std::string(name)));
  }
  CHECK(built(files).dir.empty());
  files.erase("def.json");
  check_refused(build(files), "kelf-0.json", "$.graphs", "\"def.json\" of graph sg00 is not in");
}

TEST_CASE("activation sets are found through act_info") {
  const Files with_sets = with_act(profile("exp_offset", "-127") + "," + profile("", ""));
  const auto kbins = build(with_sets);  // views of the files
  REQUIRE(kbins);
  const Kbin& kbin = kbins->front();
  CHECK(kbin.act_semaphore == 12u);
  REQUIRE(kbin.act_sets.size() == 1);
  CHECK(kbin.act_sets[0].name == "exp");
  CHECK(as_text(kbin.act_sets[0].bucket) == "bucket");
  CHECK(as_text(kbin.act_sets[0].control) == "control");
  REQUIRE(kbin.act_sets[0].profiles.size() == 2);
  CHECK(kbin.act_sets[0].profiles[0].exp_offset == -127);
  // Nothing is opened when no set is requested.
  Files files = model();
  files.set("sg00/Act.json",
            engine_json(R"("act_info":"absent.json","activation_function_sets":[])"));
  CHECK(build(files));
}

TEST_CASE("narrow profile fields are checked against their width") {
  const std::string path = "$.profile_meta_data[0]";
  const std::vector<std::pair<std::string, std::string>> too_large = {
      {"sym_invert_sign_point", "256"},
      {"symmetry_opt_en", "256"},
      {"symmetry_opt_use_neg_region", "256"},
      {"imm_bias", "256"},
      {"fma_indirection_src_sel", "256"},
      {"small_pos_signal_exp_threshold", "256"},
      {"small_neg_signal_exp_threshold", "256"},
      {"large_pos_signal_exp_threshold", "256"},
      {"large_neg_signal_exp_threshold", "256"},
      {"pos_small_signal_pwl_control", "65536"},
      {"neg_small_signal_pwl_control", "65536"},
      {"pos_large_signal_pwl_control", "65536"},
      {"neg_large_signal_pwl_control", "65536"},
      {"func_id", "4294967296"},
      {"fnan_result", "4294967296"},
      {"exp_offset", "129"},
      {"exp_offset", "-128"},
      {"large_pos_signal_mantissa_threshold", "-1"},
      {"fzero_result", "1.5"},
  };
  for (const auto& [name, value] : too_large) {
    check_refused(build(with_act(profile(name, value))), "sg00/p.json", path + "." + name,
                  "found " + value);
  }
  CHECK(build(with_act(profile("fnan_result", "4294967295"))));
  CHECK(build(with_act(profile("exp_offset", "128"))));
  check_refused(build(with_act(profile("func_id", ""))), "sg00/p.json", path,
                "Failed to parse, key: func_id");
  std::string many = profile("", "");
  for (int i = 0; i < 25; ++i) many += "," + profile("", "");
  check_refused(build(with_act(many)), "sg00/p.json", "$.profile_meta_data[25]",
                "more than 25 profiles");
}

TEST_CASE("a broken activation chain is refused where it breaks") {
  Files files = with_act(profile("", ""));
  SECTION("the set is unknown") {
    files.set("sg00/Act.json", edited_text(files.text("sg00/Act.json"), "[\"exp\"]", "[\"sin\"]"));
    check_refused(build(files), "sg00/Act.json", "$.activation_function_sets[0]",
                  "the set sin is not in sg00/act_info.json");
  }
  SECTION("act_info is absent") {
    files.erase("sg00/act_info.json");
    check_refused(build(files), "sg00/Act.json", "$.act_info", "\"sg00/act_info.json\" is not in");
  }
  SECTION("act_info is not named") {
    files.set("sg00/Act.json", engine_json(R"("activation_function_sets":["exp"])"));
    check_refused(build(files), "sg00/Act.json", "$.act_info", "act_info is missing");
  }
  SECTION("a table is absent") {
    files.erase("sg00/c.bin");
    check_refused(build(files), "sg00/act_info.json", "$.act_func_sets[1].ctrl_bin",
                  "\"sg00/c.bin\" is not in the archive");
  }
  SECTION("an entry is incomplete") {
    files.set("sg00/act_info.json", R"({"act_func_sets":[{"name":"exp"}]})");
    check_refused(build(files), "sg00/act_info.json", "$.act_func_sets[0]",
                  "Failed to parse, key: bkt_bin");
  }
  SECTION("there is no list of sets") {
    files.set("sg00/act_info.json", "{}");
    check_refused(build(files), "sg00/act_info.json", "$", "key: act_func_sets");
  }
  SECTION("there are no profiles") {
    files.set("sg00/p.json", "{}");
    check_refused(build(files), "sg00/p.json", "$", "key: profile_meta_data");
  }
}

TEST_CASE("DVE tables have the architecture's keys and sizes") {
  const Kbin v2 = built(with_dve("[" + dve_v2 + "]", "sunda"));
  REQUIRE(v2.dve);
  CHECK(v2.dve->control_fast.size() == 0x800);
  CHECK(v2.dve->control_slow.empty());
  CHECK(v2.dve->datapath.size() == 0x2000);
  Files v3_files = with_dve("[" + dve_v3 + "]", "cayman");
  const Kbin v3 = built(v3_files);
  REQUIRE(v3.dve);
  CHECK(v3.dve->control_slow.size() == 0x1000);
  CHECK(v3.dve->opcode.size() == 0x400);
  CHECK_FALSE(built(with_dve("[]", "sunda")).dve);

  struct Case {
    std::string target, tables, path, text;
  };
  const std::vector<Case> rows = {
      {"sunda", "{}", "", "found an object, expected an array"},
      {"sunda", "[" + dve_v2 + "," + dve_v2 + "]", "[1]", "one element at most"},
      {"sunda", "[{}]", "[0]", "Failed to parse, key: control_table"},
      {"cayman", "[{}]", "[0]", "Failed to parse, key: control_fast_table"},
      {"sunda", "[" + dve_v3 + "]", "[0].control_fast_table", "has one control_table"},
      {"cayman", "[" + dve_v2 + "]", "[0]", "Failed to parse, key: control_fast_table"},
      {"sunda", "[" + edited_text(dve_v2, "8192", "16384") + "]", "[0].datapath_table",
       "has 16384 bytes, this architecture's has 8192"},
      {"sunda", "[" + edited_text(dve_v2, "table\":\"2048\",\"d", "table\":\"4096\",\"d") + "]",
       "[0].control_table", "has 4096 bytes"},
      {"sunda", "[" + edited_text(dve_v2, "code_table\":\"2048", "code_table\":\"1024") + "]",
       "[0].opcode_table", "has 1024 bytes"},
      {"cayman", "[" + edited_text(dve_v3, "fast_table\":\"4096", "fast_table\":\"2048") + "]",
       "[0].control_fast_table", "has 2048 bytes"},
      {"cayman", "[" + edited_text(dve_v3, "slow_table\":\"4096", "slow_table\":\"2048") + "]",
       "[0].control_slow_table", "has 2048 bytes"},
      {"sunda", "[" + edited_text(dve_v2, "8192", "no") + "]", "[0].datapath_table",
       "\"sg00/no\" is not in the archive"},
  };
  for (const Case& row : rows) {
    check_refused(build(with_dve(row.tables, row.target)), "sg00/DVE.json",
                  "$.dve_tables" + row.path, row.text);
  }
}
