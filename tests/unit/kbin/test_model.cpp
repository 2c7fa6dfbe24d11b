// SPDX-License-Identifier: MIT
// Whole models: several subgraphs, remote variables, and the way through a container.
#include "model.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

Files with_remote(const std::string& name, const std::string& sg01_vars = base_vars) {
  Files files = model("sunda", 2);
  files.set("sg00/def.json",
            def_json(base_vars + ",\"" + name + "\":{\"type\":\"remote\",\"var_id\":3}"));
  files.set("sg01/def.json", def_json(sg01_vars));
  return files;
}

const std::string base_variable = R"("v":{"type":"tmp-buf","var_id":3,"size":64,"alignment":32})";

}  // namespace

TEST_CASE("subgraphs are built in graph order and keep their own ids") {
  Files files = model("cayman", 2);
  files.set("sg01/def.json", def_json(R"("y":{"type":"output","var_id":0,"size":8},
                                        "x":{"type":"input","var_id":1,"size":8})",
                                      "", v3_reservation));
  const auto kbins = build(files);
  REQUIRE(kbins);
  REQUIRE(kbins->size() == 2);
  CHECK((*kbins)[0].name == "sg00");
  CHECK((*kbins)[1].name == "sg01");
  CHECK((*kbins)[0].find_variable("y")->var_id == 2);
  CHECK((*kbins)[1].find_variable("y")->var_id == 0);
  CHECK((*kbins)[1].queue_sets.empty());
}

TEST_CASE("of two broken subgraphs the first is named") {
  Files files = model("sunda", 2);
  files.set("sg00/def.json", "[]");
  files.set("sg01/def.json", "[]");
  CHECK(build(files).error().where.member == "sg00/def.json");
}

TEST_CASE("a remote variable takes size and alignment from its sibling") {
  Files files = with_remote("v_remote_sg1", base_vars + "," + base_variable);
  files.set("sg00/SP.json",
            block_json(R"("id":4,"queue":"qIn")", R"("from":"v_remote_sg1","to":"SB","size":64)"));
  const auto kbins = build(files);
  REQUIRE(kbins);
  const Variable& remote = kbins->front().variables[3];
  CHECK(remote.remote_subgraph == 1);
  CHECK(remote.remote_var_id == 3);
  CHECK(remote.size == 64);
  CHECK(remote.alignment == 32);
  files.set("sg00/SP.json",
            block_json(R"("id":4,"queue":"qIn")", R"("from":"v_remote_sg1","to":"SB","size":65)"));
  const auto result = build(files);
  check_refused(result, "sg00/SP.json", ".from_off", "outside the 64 bytes of variable v");
  CHECK(result.error().where.record == 4u);
}

TEST_CASE("a remote variable of a sibling's SBUF keeps the reservation's bounds") {
  Files files = model("cayman", 2);
  files.set("sg00/def.json",
            def_json(base_vars + R"(,"SB_remote_sg1":{"type":"remote","var_id":3})", base_queues,
                     v3_reservation));
  const auto with_offset = [&](const std::string& offset) {
    files.set("sg00/SP.json",
              block_json(R"("id":0,"queue":"qIn")",
                         R"("from":"x","to":"SB_remote_sg1","size":8,"to_off":)" + offset));
    return build(files);
  };
  CHECK(with_offset("229360"));
  CHECK_FALSE(with_offset("229361"));
}

TEST_CASE("a remote variable that names nothing is refused") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"v", "the name of a remote variable is"},
      {"_remote_sg1", "the name of a remote variable is"},
      {"v_remote_sg", "the name of a remote variable is"},
      {"v_remote_sg1x", "the name of a remote variable is"},
      {"v_remote_sg-1", "the name of a remote variable is"},
      {"v_remote_sg99999999999999999999", "the name of a remote variable is"},
      {"v_remote_sg0", "subgraph 0 is not a sibling"},
      {"v_remote_sg2", "subgraph 2 is not a sibling"},
      {"w_remote_sg1", "Failed to resolve remote variables for subgraphs 0 to 1"},
      {"y_remote_sg0_remote_sg1", "variable y_remote_sg0 of subgraph 1 is remote itself"},
  };
  const std::string sibling = base_vars + R"(,"y_remote_sg0":{"type":"remote","var_id":3})";
  for (const auto& [name, text] : rows) {
    const auto result = build(with_remote(name, sibling));
    REQUIRE_FALSE(result);
    INFO(to_sentence(result.error()));
    CHECK(result.error().where.member == "sg00/def.json");
    CHECK(result.error().text.find(text) != std::string::npos);
  }
}

TEST_CASE("an unresolved architecture or an impossible graph count is refused") {
  const Files files = model();
  Manifest manifest = *read_manifest_from(files.source());
  manifest.arch = Arch::any;
  check_refused(build_kbins_from(files.source(), manifest, {}), "kelf-0.json", "$.target",
                "Invalid target = 0");
  manifest.arch = Arch::v2;
  manifest.graphs.clear();
  check_refused(build_kbins_from(files.source(), manifest, {}), "kelf-0.json", "$.graphs",
                "found 0 graphs");
  manifest.graphs.resize(257);
  check_refused(build_kbins_from(files.source(), manifest, {}), "kelf-0.json", "$.graphs",
                "found 257 graphs");
}

TEST_CASE("a packed model builds the same kbins through its container") {
  const Files files = model("cayman", 2);
  std::vector<PackMember> members;
  for (const auto& [name, text] : files.all()) {
    members.push_back({name, {text.begin(), text.end()}, false});
  }
  const auto file = pack_neff(members);
  REQUIRE(file);
  const auto container = parse_container(*file);
  REQUIRE(container);
  auto manifest = read_manifest(*container);
  REQUIRE(manifest);
  REQUIRE(check_arch(*manifest, Arch::v3, false));
  const auto kbins = build_kbins(*container, *manifest);
  REQUIRE(kbins);
  REQUIRE(kbins->size() == 2);
  const Bytes slots = kbins->front().engine(Engine::pe).slots;
  CHECK(slots.data() == container->find("sg00/code.bin")->bytes.data());
}

TEST_CASE("documents of a million entries are read and crafted ones are refused quickly") {
  Files files = model();
  std::string blocks;
  for (int i = 0; i < 50'000; ++i) {
    blocks += std::string(i ? "," : "") + "{\"id\":" + std::to_string(i) +
              R"(,"queue":"qIn","desc":[{"from":"x","to":"SB","size":4}]})";
  }
  files.set("sg00/SP.json", R"({"instr":"code.bin","dma":[)" + blocks + "]}");
  CHECK(built(files).blocks.size() == 50'000);
  files.set("sg00/SP.json", std::string(1'000'000, '['));
  check_refused(build(files), "sg00/SP.json", "$", "found an array, expected an object");
  std::string deep = R"({"instr":"code.bin","x":)" + std::string(1'000'000, '[');
  files.set("sg00/SP.json", deep);
  const auto result = build(files);
  REQUIRE_FALSE(result);
  CHECK(result.error().text == "nested deeper than 64 levels");
}
