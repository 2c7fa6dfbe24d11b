// SPDX-License-Identifier: MIT
// A small model as a table of members, and rows of "this document is refused like that".
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kbin/build.hpp"
#include "manifest/readers.hpp"
#include "neffld/kbin.hpp"

namespace neffld::test {

/// Members by name; owns their bytes.
class Files {
 public:
  void set(const std::string& name, std::string bytes) {
    Entry& entry = entries_[name];
    entry.bytes = std::move(bytes);
  }
  void erase(const std::string& name) { entries_.erase(name); }
  const std::string& text(const std::string& name) const { return entries_.at(name).bytes; }
  std::vector<std::pair<std::string, std::string>> all() const {
    std::vector<std::pair<std::string, std::string>> result;
    for (const auto& [name, entry] : entries_) result.emplace_back(name, entry.bytes);
    return result;
  }

  MemberSource source() const {
    return [this](std::string_view name) -> const Member* {
      const auto found = entries_.find(std::string(name));
      if (found == entries_.end()) return nullptr;
      found->second.member = Member{found->first, as_bytes(found->second.bytes)};
      return &found->second.member;
    };
  }

 private:
  struct Entry {
    std::string bytes;
    mutable Member member;
  };
  std::map<std::string, Entry> entries_;
};

inline std::string kelf_json(const std::string& target = "sunda", int graphs = 1) {
  std::string list;
  for (int i = 0; i < graphs; ++i) {
    const std::string name = "sg0" + std::to_string(i);
    list +=
        (i ? "," : "") + ("{\"definition\":\"" + name + "/def.json\",\"name\":\"" + name + "\"}");
  }
  return "{\"graphs\":[" + list + "],\"target\":\"" + target + "\",\"version\":\"0.5\"}";
}

inline std::string neff_json() {
  return R"({"nodes":[
    {"op":"null","name":"x","inputs":[],"output_names":["x"],"attrs":{}},
    {"op":"tvm_op","name":"sg","inputs":[[0,0,0]],"output_names":["y"],
     "attrs":{"func_name":"__kelf","kelf":"kelf-0.json","num_inputs":"1","num_outputs":"1"}}],
    "arg_nodes":[0],"heads":[[1,0,0]],"node_row_ptr":[0,1,2],
    "attrs":{"dltype":["list_str",["float32","float16"]],"shape":["list_shape",[[2,3],[4]]]}})";
}

inline const std::string base_vars =
    R"("SB":{"type":"state-buffer","var_id":0},
       "x":{"type":"input","var_id":1,"size":65536},
       "y":{"type":"output","var_id":2,"size":65536})";
inline const std::string base_queues =
    R"("qIn":{"type":"in","owner":"sp","num_queues":16,"semaphore_set":[8,9,10]},
       "qDyn":{"type":"dynamic","owner":"sp"})";
inline const std::string v3_reservation =
    R"("runtime_statebuffer_reservation":[{"type":"evtaccel","base_partition":0,
       "partitions":128,"offset":229368,"size":8}])";

/// def.json of `vars` and `queues` (object bodies) and further top-level keys.
inline std::string def_json(const std::string& vars = base_vars,
                            const std::string& queues = base_queues,
                            const std::string& extra = "") {
  return "{\"var\":{" + vars + "},\"dma_queue\":{" + queues +
         "},\"pe\":\"PE.json\",\"act\":\"Act.json\",\"pool\":\"Pool.json\",\"dve\":\"DVE.json\"," +
         "\"sp\":\"SP.json\"" + (extra.empty() ? "" : "," + extra) + "}";
}

inline std::string engine_json(const std::string& extra = "") {
  return "{\"dma\":[],\"instr\":\"code.bin\"" + (extra.empty() ? "" : "," + extra) + "}";
}

/// SP.json with one block of one descriptor.
inline std::string block_json(const std::string& block_keys, const std::string& descriptor) {
  return "{\"instr\":\"code.bin\",\"dma\":[{\"desc\":[{" + descriptor + "}]," + block_keys + "}]}";
}

inline Files model(const std::string& target = "sunda", int graphs = 1) {
  Files files;
  files.set("neff.json", neff_json());
  files.set("kelf-0.json", kelf_json(target, graphs));
  const bool v3 = target == "cayman";
  for (int i = 0; i < graphs; ++i) {
    const std::string dir = "sg0" + std::to_string(i) + "/";
    files.set(dir + "def.json", def_json(base_vars, base_queues, v3 ? v3_reservation : ""));
    for (const char* engine : {"PE", "Act", "Pool", "DVE", "SP"}) {
      files.set(dir + engine + ".json", engine_json());
    }
    files.set(dir + "code.bin", std::string(128, '\xA4'));
  }
  return files;
}

inline Result<std::vector<Kbin>> build(const Files& files, const BuildOptions& options = {},
                                       Arch any = Arch::v3) {
  auto manifest = read_manifest_from(files.source());
  if (!manifest) return tl::unexpected<Error>(manifest.error());
  if (manifest->arch == Arch::any) manifest->arch = any;
  return build_kbins_from(files.source(), *manifest, options);
}

/// The first kbin; the test fails with the sentence if there is none.
inline Kbin built(const Files& files, const BuildOptions& options = {}) {
  auto kbins = build(files, options);
  if (!kbins) FAIL(to_sentence(kbins.error()));
  return std::move(kbins->front());
}

/// Checks that the error names the member, the path and the text.
template <class Value>
void check_refused(const Result<Value>& result, const std::string& member, const std::string& path,
                   const std::string& text, Status status = Status::invalid) {
  INFO("expected " << member << " " << path << " " << text);
  REQUIRE_FALSE(result);
  const Error& error = result.error();
  INFO("found " << to_sentence(error));
  CHECK(error.where.member == member);
  CHECK(error.where.path == path);
  CHECK(error.text.find(text) != std::string::npos);
  CHECK(error.status == status);
}

}  // namespace neffld::test
