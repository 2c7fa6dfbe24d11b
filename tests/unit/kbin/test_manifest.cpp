// SPDX-License-Identifier: MIT
#include "model.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

struct ManifestRow {
  std::string find, replace;  ///< one edit of a good document
  std::string path, text;
};

std::string edited(std::string document, const std::string& find, const std::string& replace) {
  const std::size_t at = document.find(find);
  REQUIRE(at != std::string::npos);
  return document.replace(at, find.size(), replace);
}

Result<Manifest> read(const Files& files) {
  return read_manifest_from(files.source());
}

}  // namespace

TEST_CASE("the manifest names the kelf, the graph's tensors and the subgraphs") {
  Files files = model("cayman", 2);
  files.set("hlo_stats.json", R"({"Traffic":1.5,"HloMacCount":4294967296})");
  const auto manifest = read(files);
  REQUIRE(manifest);
  CHECK(manifest->kelf_member == "kelf-0.json");
  CHECK(manifest->kelf_version == "0.5");
  CHECK(manifest->arch == Arch::v3);
  REQUIRE(manifest->inputs.count("x") == 1);
  CHECK(manifest->inputs.at("x").size == 24);
  CHECK(manifest->inputs.at("x").dtype_code == 10);
  REQUIRE(manifest->outputs.count("y") == 1);
  CHECK(manifest->outputs.at("y").size == 8);
  REQUIRE(manifest->graphs.size() == 2);
  CHECK(manifest->graphs[1].definition == "sg01/def.json");
  CHECK(manifest->mac_count == 4294967296);
  CHECK(manifest->warnings.empty());
}

TEST_CASE("a broken neff.json is refused at the broken place") {
  const std::vector<ManifestRow> rows = {
      {"\"nodes\"", "\"nodez\"", "$", "Missing required fields in NEFF JSON: nodes"},
      {"\"heads\"", "\"head\"", "$", "Missing required fields in NEFF JSON: heads"},
      {"\"arg_nodes\"", "\"args\"", "$", "Missing required fields in NEFF JSON: arg_nodes"},
      {"\"node_row_ptr\"", "\"rows\"", "$", "Missing required fields in NEFF JSON: node_row_ptr"},
      {"\"dltype\"", "\"dtype\"", "$.attrs", "Missing dltype or shape in attrs"},
      {"[\"list_str\",[\"float32\",\"float16\"]]", "[\"list_str\"]", "$.attrs.dltype",
       "Invalid dltype data format"},
      {"[\"list_shape\",[[2,3],[4]]]", "7", "$.attrs.shape", "Invalid shape data format"},
      {"[\"list_shape\",[[2,3],[4]]]", "[1,2]", "$.attrs.shape[1]", "Invalid shape data format"},
      {"[[2,3],[4]]", "[[2,-3],[4]]", "$.attrs.shape[1][0][1]", "found -3"},
      {"[[2,3],[4]]", "[[2,1.5],[4]]", "$.attrs.shape[1][0][1]", "found 1.5"},
      {"[[2,3],[4]]", "[[4294967296,4294967296],[4]]", "$.attrs.shape[1][0]",
       "does not fit in 64 bits"},
      {"[[2,3],[4]]", "[[2,3]]", "$.heads[0]", "EID 1 out of bounds"},
      {"[\"float32\",\"float16\"]", "[\"float32\"]", "$.heads[0]", "EID 1 out of bounds"},
      {"[0,1,2]", "[0]", "$.heads[0]", "EID 1 out of bounds"},
      {"[0,1,2]", "[0,18446744073709551615]", "$.heads[0]", "out of bounds"},
      {"\"arg_nodes\":[0]", "\"arg_nodes\":[9]", "$.arg_nodes[0]", "Input node ID 9 out of bounds"},
      {"\"arg_nodes\":[0]", "\"arg_nodes\":[0,0]", "$.arg_nodes[1]", "duplicate input x"},
      {"[[1,0,0]]", "[[5,0,0]]", "$.heads[0]", "Output node ID 5 out of bounds"},
      {"[[1,0,0]]", "[[1]]", "$.heads[0]", "a node and an output number"},
      {"\"__kelf\"", "\"kelf\"", "$.nodes", "No KELF node found in NEFF JSON"},
      {"\"kelf\":\"kelf-0.json\",", "", "$.nodes[1].attrs",
       "KELF node found but missing 'kelf' attribute"},
      {"\"kelf\":\"kelf-0.json\"", "\"kelf\":7", "$.nodes[1].attrs",
       "KELF attribute is not a string"},
      {"\"kelf\":\"kelf-0.json\"", "\"kelf\":\"kelf-9.json\"", "$.nodes",
       "the KELF member \"kelf-9.json\" is not in the archive"},
      {"\"name\":\"x\",", "", "$.nodes[0]", "a node has no name"},
      {"\"name\":\"x\"", "\"name\":\"" + std::string(256, 'n') + "\"", "$.arg_nodes[0]",
       "256 bytes, allowed are 1 to 255"},
      {"\"name\":\"x\"", "\"name\":\"\"", "$.arg_nodes[0]", "0 bytes, allowed are 1 to 255"},
      {"\"heads\":[[1,0,0]]", "\"heads\":[[1,0,0]],\"heads\":[]", "$.heads", "duplicate key"},
  };
  for (const ManifestRow& row : rows) {
    Files files = model();
    files.set("neff.json", edited(neff_json(), row.find, row.replace));
    check_refused(read(files), "neff.json", row.path, row.text);
  }
  Files files = model();
  std::string dims = "[1";
  for (int i = 0; i < 32; ++i) dims += ",1";
  files.set("neff.json", edited(neff_json(), "[2,3]", dims + "]"));
  check_refused(read(files), "neff.json", "$.attrs.shape[1][0]", "Too many dimensions (33)");
}

TEST_CASE("the nesting of each of the manifest's documents is limited by an option") {
  constexpr std::uint32_t most = 8;
  for (const std::string name : {"neff.json", "kelf-0.json", "hlo_stats.json"}) {
    for (const bool too_deep : {false, true}) {
      Files files = model();
      files.set("hlo_stats.json", "{}");
      const std::size_t levels = most - (too_deep ? 0 : 1);  // the document itself is one more
      std::string text = files.text(name);
      text.insert(1, "\"x\":" + std::string(levels, '[') + std::string(levels, ']') +
                         (text == "{}" ? "" : ","));
      files.set(name, text);
      const auto manifest = read_manifest_from(files.source(), most);
      if (too_deep) {
        REQUIRE_FALSE(manifest);
        CHECK(manifest.error().where.member == name);
        CHECK(manifest.error().text == "nested deeper than 8 levels");
      } else if (!manifest) {
        FAIL(to_sentence(manifest.error()));
      }
    }
  }
}

TEST_CASE("legal variations of neff.json are accepted") {
  Files files = model();
  SECTION("the legacy member name") {
    files.set("kelp.json", files.text("neff.json"));
    files.erase("neff.json");
    CHECK(read(files));
  }
  SECTION("neither name") {
    files.erase("neff.json");
    check_refused(read(files), "neff.json", "", "neff.json is missing");
  }
  SECTION("the output listed once per physical core") {
    std::string text = edited(neff_json(), "[[1,0,0]]", "[[1,0,0],[1,1,0]]");
    text = edited(text, "[\"y\"]", "[\"y\",\"y\"]");
    text = edited(text, "\"float16\"]", "\"float16\",\"float16\"]");
    text = edited(text, "[4]]", "[4],[4]]");
    files.set("neff.json", text);
    REQUIRE(read(files));
    CHECK(read(files)->outputs.size() == 1);
    files.set("neff.json", edited(text, "[4],[4]]", "[4],[5]]"));
    check_refused(read(files), "neff.json", "$.heads[1]", "duplicate output y");
  }
  SECTION("an unknown dtype is a warning and one byte") {
    files.set("neff.json", edited(neff_json(), "\"float32\"", "\"float3\""));
    const auto manifest = read(files);
    REQUIRE(manifest);
    CHECK(manifest->inputs.at("x").size == 6);
    CHECK(manifest->inputs.at("x").dtype_code == 0);
    CHECK(manifest->warnings.front() == "Unknown dtype: float3, defaulting to UNKNOWN");
  }
  SECTION("no output_names falls back to the node's name") {
    files.set("neff.json", edited(neff_json(), "\"output_names\":[\"y\"],", ""));
    REQUIRE(read(files));
    CHECK(read(files)->outputs.count("sg") == 1);
  }
  SECTION("an empty shape is one element") {
    files.set("neff.json", edited(neff_json(), "[2,3]", "[]"));
    REQUIRE(read(files));
    CHECK(read(files)->inputs.at("x").size == 4);
  }
}

TEST_CASE("a broken kelf is refused at the broken place") {
  const std::vector<ManifestRow> rows = {
      {"\"version\":\"0.5\"", "\"v\":1", "$", "version is missing"},
      {"\"0.5\"", "\"05\"", "$.version", "invalid string (.) in 05"},
      {"\"0.5\"", "0.5", "$.version", "found 0.5, expected a string"},
      {"\"sunda\"", "\"SUNDA\"", "$.target", "Invalid target 'SUNDA'"},
      {"\"sunda\"", "\"sunda \"", "$.target", "Invalid target 'sunda '"},
      {"\"sunda\"", "3", "$.target", "expected a string"},
      {"\"graphs\"", "\"graph\"", "$", "graphs is missing"},
      {"\"name\":\"sg00\"", "\"name\":\"\"", "$.graphs[0].name", "not empty"},
      {"\"definition\"", "\"def\"", "$.graphs[0].definition", "section table"},
      {"[{", "[3,{", "$.graphs[0]", "found 3, expected an object"},
      {"[{", "[{\"definition\":\"a\",\"name\":\"sg00\"},{", "$.graphs[1]",
       "duplicate graph name sg00"},
  };
  for (const ManifestRow& row : rows) {
    Files files = model();
    files.set("kelf-0.json", edited(kelf_json(), row.find, row.replace));
    check_refused(read(files), "kelf-0.json", row.path, row.text);
  }
  Files files = model();
  files.set("kelf-0.json", R"({"graphs":[],"version":"0.5","target":"*"})");
  check_refused(read(files), "kelf-0.json", "$.graphs", "graphs is empty");
  std::string list;
  for (int i = 0; i < 257; ++i) {
    list += (i ? "," : "") + ("{\"name\":\"g" + std::to_string(i) + "\",\"definition\":\"d\"}");
  }
  files.set("kelf-0.json", "{\"version\":\"0.5\",\"graphs\":[" + list + "]}");
  check_refused(read(files), "kelf-0.json", "$.graphs[256]", "more than 256 graphs");
}

TEST_CASE("graphs are ordered by name") {
  Files files = model();
  files.set("kelf-0.json", R"({"version":"0.5-x","graphs":[{"name":"sg10","definition":"c"},
    {"name":"sg2","definition":"b"},{"name":"sg1","definition":"a"}]})");
  const auto manifest = read(files);
  REQUIRE(manifest);
  CHECK(manifest->graphs[0].name == "sg1");
  CHECK(manifest->graphs[1].name == "sg10");
  CHECK(manifest->graphs[2].name == "sg2");
  CHECK(manifest->arch == Arch::v2);  // a missing target is as an empty one
}

TEST_CASE("hlo_stats.json is optional but not free of rules") {
  Files files = model();
  REQUIRE(read(files));
  CHECK(read(files)->warnings ==
        std::vector<std::string>{"Unable to find hlo_stats.json in the NEFF"});
  files.set("hlo_stats.json", R"({"HloMacCount":-1})");
  check_refused(read(files), "hlo_stats.json", "$.HloMacCount", "found -1");
  files.set("hlo_stats.json", R"({"HloMacCount":"1"})");
  check_refused(read(files), "hlo_stats.json", "$.HloMacCount", "expected a number");
  files.set("hlo_stats.json", "{}");
  CHECK(read(files)->mac_count == 0);
}

TEST_CASE("the architecture gate knows every target and names both sides") {
  const std::vector<std::pair<std::string, Arch>> targets = {
      {"sunda", Arch::v2}, {"v2", Arch::v2},      {"", Arch::v2},   {"cayman", Arch::v3},
      {"v3", Arch::v3},    {"mariana", Arch::v4}, {"v4", Arch::v4}, {"*", Arch::any}};
  for (const auto& [target, arch] : targets) {
    for (const Arch device : {Arch::v2, Arch::v3, Arch::v4}) {
      Files files = model(target);
      auto manifest = read(files);
      REQUIRE(manifest);
      CHECK(manifest->arch == arch);
      const auto gate = check_arch(*manifest, device, false);
      if (arch == Arch::any || arch == device) {
        CHECK(gate);
        CHECK(manifest->arch == device);
        continue;
      }
      const std::string versions = "NEFF arch: v" + std::to_string(static_cast<int>(arch)) +
                                   ", instance arch: v" + std::to_string(static_cast<int>(device));
      check_refused(gate, "kelf-0.json", "$.target",
                    "Loading a NEFF compiled for a different arch is not allowed, " + versions);
      CHECK(gate.error().error_class == ErrorClass::unsupported);
      CHECK(check_arch(*manifest, device, true));
      CHECK(manifest->warnings.back() ==
            "Loading a NEFF compiled for a different arch, " + versions);
      CHECK(manifest->arch == arch);
    }
  }
}
