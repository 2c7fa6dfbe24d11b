// SPDX-License-Identifier: MIT
#include "model.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

struct VariableRow {
  std::string vars;  ///< added to the three base variables
  std::string path, text;
};

Files with_vars(const std::string& vars) {
  Files files = model();
  files.set("sg00/def.json", def_json(base_vars + "," + vars));
  files.set("sg00/w.bin", "12345678");
  files.set("sg00/empty.bin", "");
  return files;
}

std::string npy(const std::string& payload, std::size_t header = 118) {
  std::string text = std::string("\x93NUMPY\x01\0", 8);
  text += static_cast<char>(header & 0xFF);
  text += static_cast<char>(header >> 8);
  return text + std::string(header, ' ') + payload;
}

}  // namespace

TEST_CASE("a broken variable is refused at the broken key") {
  const std::vector<VariableRow> rows = {
      {R"("v":{"var_id":3})", "$.var.v", "Failed to parse, key: type"},
      {R"("v":{"type":"tmp-buf","size":1})", "$.var.v", "missing <var_id>"},
      {R"("v":{"type":"dram","var_id":3})", "$.var.v.type", "Unknown variable type 'dram' for v"},
      {R"("v":{"type":"Input","var_id":3})", "$.var.v.type", "Unknown variable type 'Input'"},
      {R"("v":{"type":1,"var_id":3})", "$.var.v.type", "found 1, expected a string"},
      {R"("v":7)", "$.var.v", "found 7, expected an object"},
      {R"("v":{"type":"tmp-buf","var_id":-1,"size":1})", "$.var.v.var_id", "found -1"},
      {R"("v":{"type":"tmp-buf","var_id":1.0,"size":1})", "$.var.v.var_id", "found 1.0"},
      {R"("v":{"type":"tmp-buf","var_id":4294967295,"size":1})", "$.var.v.var_id",
       "at most 4294967294"},
      {R"("v":{"type":"tmp-buf","var_id":3})", "$.var.v", "Failed to parse, key: size"},
      {R"("v":{"type":"input","var_id":3})", "$.var.v", "Failed to parse, key: size"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":0})", "$.var.v.size", "found 0"},
      {R"("v":{"type":"input","var_id":3,"size":0})", "$.var.v.size", "found 0"},
      {R"("v":{"type":"output","var_id":3,"size":0})", "$.var.v.size", "found 0"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":-1})", "$.var.v.size", "found -1"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":1e3})", "$.var.v.size", "found 1e3"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":1.0})", "$.var.v.size", "found 1.0"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":18446744073709551616})", "$.var.v.size",
       "found 18446744073709551616"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":"8"})", "$.var.v.size", "found \"8\""},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":1,"size":2})", "$.var.v.size", "duplicate key"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":1,"alignment":3})", "$.var.v.alignment",
       "alignment provided not power of 2. alignment=3"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":1,"alignment":2147483648})", "$.var.v.alignment",
       "at most 2147483647"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":1,"dtype":"sixteen_letters_"})", "$.var.v.dtype",
       "Device print dtype sixteen_letters_ has 16 characters"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":1,"shape":[1,2,3,4,5,6,7,8,9]})",
       "$.var.v.shape[8]", "Device print only supports shape dimentions of up to 8"},
      {R"("v":{"type":"tmp-buf","var_id":3,"size":1,"fabric_path":"side"})", "$.var.v.fabric_path",
       "found \"side\""},
      {R"("v":{"type":"virtual","var_id":3,"size":1})", "$.var.v",
       "Failed to parse, key: backing_variable_off"},
      {R"("v":{"type":"virtual","var_id":3,"backing_variable_off":0})", "$.var.v",
       "Failed to parse, key: size"},
      {R"("v":{"type":"virtual","var_id":3,"size":0,"backing_variable_off":0})", "$.var.v.size",
       "found 0"},
      {R"("v":{"type":"virtual","var_id":3,"size":2,"backing_variable_off":18446744073709551615})",
       "$.var.v.backing_variable_off", "does not fit in 64 bits"},
      {R"("v":{"type":"virtual","var_id":3,"size":2,"backing_variable_off":-4})",
       "$.var.v.backing_variable_off", "found -4"},
      {R"("v":{"type":"virtual","var_id":3,"size":2,"backing_variable_off":0,"backing_buf":"all"})",
       "$.var.v.backing_buf", "found \"all\", expected local, shared, sharded or main"},
      {R"("v":{"type":"pointer","var_id":3,"size":8})", "$.var.v",
       "Failed to parse, key: referenced_var_id"},
      {R"("v":{"type":"pointer","var_id":3,"referenced_var_id":1})", "$.var.v",
       "Failed to parse, key: size"},
      {R"("v":{"type":"pointer","var_id":3,"size":4,"referenced_var_id":1})", "$.var.v.size",
       "found 4, a pointer has 8 bytes"},
      {R"("v":{"type":"pointer","var_id":3,"size":8,"referenced_var_id":9})",
       "$.var.v.referenced_var_id", "no variable has the id 9, the largest is 3"},
      {R"("v":{"type":"pointer","var_id":3,"size":8,"referenced_var_id":3})",
       "$.var.v.referenced_var_id", "is a pointer itself"},
      {R"("v":{"type":"list","var_id":3})", "$.var.v", "Failed to parse, key: list"},
      {R"("v":{"type":"dge-table","var_id":3})", "$.var.v", "Failed to parse, key: list"},
      {R"("v":{"type":"list","var_id":3,"list":[1,-2]})", "$.var.v.list[1]", "found -2"},
      {R"("v":{"type":"list","var_id":3,"list":[1,4]})", "$.var.v.list[1]",
       "no variable has the id 4"},
      {R"("v":{"type":"list","var_id":3,"list":[3]})", "$.var.v.list[0]", "is a table itself"},
      {R"("v":{"type":"dge-table","var_id":3,"list":[1]},"w":{"type":"dge-table","var_id":4,"list":[1]})",
       "$.var.w", "at most one dge-table"},
      {R"("v":{"type":"file","var_id":3})", "$.var.v", "Failed to parse, key: file_name"},
      {R"("v":{"type":"file","var_id":3,"file_name":"no.bin"})", "$.var.v.file_name",
       "Failed to get neff weight content for sg00/no.bin"},
      {R"("v":{"type":"file","var_id":3,"file_name":"../sg00/w.bin"})", "$.var.v.file_name",
       "Failed to get neff weight content"},
      {R"("v":{"type":"file","var_id":3,"file_name":"w.bin","size":7})", "$.var.v.size",
       "Size mismatch for v: def.json 7, payload 8"},
      {R"("v":{"type":"file","var_id":3,"file_name":"empty.bin"})", "$.var.v.file_name",
       "is empty"},
      {R"("x":{"type":"tmp-buf","var_id":3,"size":1})", "$.var.x", "duplicate variable x (id 3)"},
      {R"("v":{"type":"tmp-buf","var_id":2,"size":1})", "$.var.v.var_id",
       "duplicate variable v (id 2)"},
      {R"("v":{"type":"tmp-buf","var_id":4,"size":1})", "$.var",
       "Unexpected var_ids set! max=4, size=4"},
      {R"("v":{"type":"remote","var_id":3})", "$.var.v", "a model of one subgraph"},
  };
  for (const VariableRow& row : rows) {
    check_refused(build(with_vars(row.vars)), "sg00/def.json", row.path, row.text);
  }
}

TEST_CASE("a subgraph without outputs or without variables is refused") {
  Files files = model();
  files.set("sg00/def.json", def_json(R"("x":{"type":"input","var_id":0,"size":4})", ""));
  check_refused(build(files), "sg00/def.json", "$.var", "Subgraph sg00 has no Outputs");
  files.set("sg00/def.json", def_json("", ""));
  check_refused(build(files), "sg00/def.json", "$.var", "Subgraph sg00 has no Outputs");
  files.set("sg00/def.json", "{}");
  check_refused(build(files), "sg00/def.json", "$.var", "Subgraph sg00 has no Outputs");
  files.set("sg00/def.json", R"({"var":[]})");
  check_refused(build(files), "sg00/def.json", "$.var", "found an array, expected an object");
  files.set("sg00/def.json", R"({"dma_queue":[]})");
  check_refused(build(files), "sg00/def.json", "$.dma_queue", "found an array");
}

TEST_CASE("the number of variables and the nesting are limited by options") {
  const Files files = model();
  BuildOptions options;
  options.max_variables = 2;
  check_refused(build(files, options), "sg00/def.json", "$.var.y", "more than 2 variables",
                Status::resource);
  options = {};
  options.json_depth = 2;
  check_refused(build(files, options), "sg00/def.json", "$.var.SB", "nested deeper than 2 levels");
}

TEST_CASE("variables come in id order, whatever the order and names in the file") {
  Files files = model();
  files.set("sg00/def.json",
            def_json(R"("-t125_i0":{"type":"virtual","var_id":4,"size":4096,"alignment":64,
                 "backing_variable_off":8192,"ops":[],"#transfer-type":"x"},
               "y":{"type":"output","var_id":2,"size":4294967296},
               "":{"type":"tmp-buf","var_id":3,"size":18446744073709551615},
               "a b/é\n":{"type":"virtual","var_id":5,"size":8192,"backing_variable_off":4096},
               "SB":{"type":"state-buffer","var_id":0},
               "x":{"type":"input","var_id":1,"size":4294967297,"dtype":"float32","shape":[2,2]})"));
  const Kbin kbin = built(files);
  REQUIRE(kbin.variables.size() == 6);
  for (std::uint32_t id = 0; id < 6; ++id) CHECK(kbin.variables[id].var_id == id);
  CHECK(kbin.variables[1].size == 4294967297);
  CHECK(kbin.variables[1].dtype == "float32");
  CHECK(kbin.variables[1].shape == std::vector<std::uint64_t>{2, 2});
  CHECK(kbin.variables[2].size == 4294967296);
  CHECK(kbin.variables[4].alignment == 64);
  CHECK(kbin.variables[5].name == "a b/\xC3\xA9\n");
  CHECK(kbin.find_variable("-t125_i0") == &kbin.variables[4]);
  CHECK(kbin.find_variable("") == &kbin.variables[3]);
  CHECK(kbin.find_variable("nobody") == nullptr);
  // The two overlap on purpose; the arena ends with the later one.
  CHECK(kbin.local_scratchpad_size == 12288);
  CHECK(kbin.shared_scratchpad_size == 0);
}

TEST_CASE("backing_buf chooses the arena that is sized") {
  const auto sizes = [](const std::string& buffer) {
    const Kbin kbin = built(with_vars(
        R"("v":{"type":"virtual","var_id":3,"size":16,"backing_variable_off":64,"backing_buf":")" +
        buffer + "\"}"));
    return std::pair(kbin.local_scratchpad_size, kbin.shared_scratchpad_size);
  };
  using Sizes = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(sizes("local") == Sizes(80, 0));
  CHECK(sizes("sharded") == Sizes(80, 0));
  CHECK(sizes("shared") == Sizes(0, 80));
  CHECK(sizes("main") == Sizes(0, 80));
}

TEST_CASE("pointers and tables are resolved, the order of a table is kept") {
  const Kbin kbin = built(with_vars(
      R"("p":{"type":"pointer","var_id":3,"size":8,"referenced_var_id":1},
         "q":{"type":"pointer","var_id":4,"size":8,"referenced_var_id":0},
         "t":{"type":"dge-table","var_id":5,"list":[2,1,2],"size":99},
         "l":{"type":"list","var_id":6,"list":[]})"));
  CHECK(kbin.variables[3].io_ref);
  CHECK(kbin.variables[3].referenced_var_id == 1);
  CHECK_FALSE(kbin.variables[4].io_ref);
  CHECK(kbin.variables[5].list == std::vector<std::uint32_t>{2, 1, 2});
  CHECK(kbin.variables[5].size == 0);
  CHECK(kbin.variables[6].list.empty());
}

TEST_CASE("a file variable is a view of its payload") {
  Files files = with_vars(
      R"("w":{"type":"file","var_id":3,"file_name":"w.bin","fabric_path":"main"},
         "n":{"type":"file","var_id":4,"file_name":"n.npy","size":6,"alignment":32768})");
  files.set("sg00/n.npy", npy("abcdef"));
  const auto kbins = build(files);
  REQUIRE(kbins);
  const Kbin& kbin = kbins->front();
  CHECK(as_text(kbin.variables[3].payload) == "12345678");
  CHECK(kbin.variables[3].size == 8);
  CHECK(as_text(kbin.variables[4].payload) == "abcdef");
  CHECK(kbin.variables[4].file_name == "n.npy");
  CHECK(kbin.variables[4].payload.data() ==
        reinterpret_cast<const std::uint8_t*>(files.text("sg00/n.npy").data()) + 128);
}

TEST_CASE("a broken npy header is refused at its byte") {
  struct Npy {
    std::string bytes;
    std::uint64_t offset;
    std::string text;
  };
  std::string no_magic = npy("abcd"), no_name = no_magic, version_2 = no_magic;
  no_magic[0] = 'X';
  no_name[3] = 'x';
  version_2[6] = 2;
  const std::vector<Npy> rows = {
      {"", 0, "cut off"},
      {npy("").substr(0, 9), 0, "cut off, there are 9 bytes"},
      {no_magic, 0, "NUMPY sg00/n.npy bad header 4e58 != 0x4e93"},
      {no_name, 1, "not \"NUMPY\""},
      {version_2, 6, "version 2 is not supported"},
      {npy("", 200).substr(0, 209), 8, "header length 200 does not fit in the 199 bytes"},
      {npy("", 65535).substr(0, 10), 8, "header length 65535 does not fit in the 0 bytes"},
  };
  for (const Npy& row : rows) {
    Files files = with_vars(R"("n":{"type":"file","var_id":3,"file_name":"n.npy"})");
    files.set("sg00/n.npy", row.bytes);
    const auto result = build(files);
    check_refused(result, "sg00/n.npy", "", row.text);
    CHECK(result.error().where.offset == row.offset);
  }
  Files files = with_vars(R"("n":{"type":"file","var_id":3,"file_name":"n.npy"})");
  files.set("sg00/n.npy", npy(""));
  check_refused(build(files), "sg00/def.json", "$.var.n.file_name", "is empty");
}
