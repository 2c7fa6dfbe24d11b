// SPDX-License-Identifier: MIT
#include "fixture.hpp"

#include <stdexcept>
#include <string>

namespace neffld::test {
namespace {

PackMember text(std::string name, std::string content) {
  return {std::move(name), {content.begin(), content.end()}, false};
}

/// A JSON array, one element per line, for an element that starts at `indent` spaces.
std::string lines(const std::vector<std::string>& elements, std::size_t indent, char open,
                  char close) {
  std::string out(1, open);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    out += (i == 0 ? "\n" : ",\n") + std::string(indent + 2, ' ') + elements[i];
  }
  return out + "\n" + std::string(indent, ' ') + close;
}

std::string array(const std::vector<std::string>& elements, std::size_t indent) {
  return lines(elements, indent, '[', ']');
}

std::string object(const std::vector<std::string>& entries, std::size_t indent) {
  return lines(entries, indent, '{', '}');
}

std::string kelf_json() {
  const std::string graph = object({R"("definition": "sg00/def.json")", R"("name": "sg00")"}, 4);
  return object({R"("graphs": )" + array({graph}, 2), R"("version": "0.5")", R"("target": "*")"},
                0) +
         "\n";
}

std::string neff_json() {
  const std::string dltype =
      array({R"("list_str")", array({R"("float32")", R"("float32")"}, 6)}, 4);
  const std::string shape =
      array({R"("list_shape")", array({array({"32"}, 8), array({"32"}, 8)}, 6)}, 4);
  const std::string storage = array({R"("list_int")", array({"0", "1"}, 6)}, 4);
  const std::string input =
      object({R"("inputs": [])", R"("is_param": "0")", R"("name": "input")", R"("op": "null")",
              R"("output_names": )" + array({R"("input")"}, 6)},
             4);
  const std::string kelf_attrs =
      object({R"("flatten_data": "0")", R"("func_name": "__kelf")", R"("kelf": "kelf-a.json")",
              R"("num_inputs": "1")", R"("num_outputs": "1")"},
             6);
  const std::string kelf =
      object({R"("attrs": )" + kelf_attrs, R"("inputs": )" + array({array({"0", "0", "0"}, 8)}, 6),
              R"("name": "sg_tonga0")", R"("op": "tvm_op")",
              R"("output_names": )" + array({R"("output")"}, 6)},
             4);
  return object(
      {R"("arg_nodes": )" + array({"0"}, 2),
       R"("attrs": )" +
           object({R"("dltype": )" + dltype, R"("shape": )" + shape, R"("storage_id": )" + storage},
                  2),
       R"("heads": )" + array({array({"1", "0", "0"}, 4)}, 2),
       R"("node_row_ptr": )" + array({"0", "1", "2"}, 2), R"("nodes": )" + array({input, kelf}, 2)},
      0);
}

std::string small_engine_json(const std::string& engine, const std::string& name) {
  return object({R"("dma": [])", R"("instr": ")" + engine + R"(.bin")",
                 R"("name": ")" + name + R"(_array_json")"},
                0);
}

std::string act_json() {
  return object({R"("#fill": ")" + std::string(49, 'x') + '"', R"("act_info": "act_info.json")",
                 R"("act_semaphore": 9)", R"("dma": [])", R"("instr": "act.bin")",
                 R"("name": "act_array_json")"},
                0);
}

std::string dma_block(const std::string& from, const std::string& to, const std::string& queue) {
  const std::string sizes = array({"128", "1"}, 10), steps = array({"1", "128"}, 10);
  const std::string desc =
      object({R"("from": ")" + from + '"', R"("from_off": 0)", R"("from_sizes": )" + sizes,
              R"("from_steps": )" + steps, R"("to": ")" + to + '"', R"("to_off": 0)",
              R"("to_sizes": )" + sizes, R"("to_steps": )" + steps},
             8);
  return object({R"("desc": )" + array({desc}, 6), R"("id": 0)", R"("queue": ")" + queue + '"'}, 4);
}

std::string pool_json() {
  const std::string in = dma_block("input", "gradient_in", "q_gradient_in");
  const std::string out = dma_block("gradient_out", "output", "q_gradient_out");
  return object({R"("dma": )" + array({in, out}, 2), R"("instr": "pool.bin")",
                 R"("name": "pool_array_json")"},
                0);
}

std::string queue_entry(const std::string& name, int semaphore, const std::string& type) {
  return '"' + name + "\": " +
         object({R"("owner": "pool")", R"("semaphore": )" + std::to_string(semaphore),
                 R"("type": ")" + type + '"'},
                4);
}

std::string temporary_entry(const std::string& name, int id) {
  return '"' + name + "\": " +
         object({R"("#transfer-type": "tmp-buf")", R"("size": 128)", R"("type": "tmp-buf")",
                 R"("var_id": )" + std::to_string(id)},
                4);
}

std::string io_entry(const std::string& name, int id, std::vector<std::string> first) {
  const std::string shape = array({"1", "1", "1", "32"}, 6);
  for (const std::string& line :
       {R"("#transfer-type": ")" + name + '"', std::string(R"("element_size": 4)"),
        R"("internal_shape": )" + shape, std::string(R"("size": 128)"), R"("type": ")" + name + '"',
        R"("var_id": )" + std::to_string(id)}) {
    first.push_back(line);
  }
  return '"' + name + "\": " + object(first, 4);
}

std::string def_json() {
  const std::string queues =
      object({queue_entry("q_gradient_in", 10, "in"), queue_entry("q_gradient_out", 11, "out")}, 2);
  const std::string vars =
      object({R"("SB": )" + object({R"("type": "state-buffer")", R"("var_id": 1)"}, 4),
              temporary_entry("gradient_in", 3), temporary_entry("gradient_out", 4),
              io_entry("input", 0, {}),
              io_entry("output", 2, {R"("#file-name": "value_nn__output:0-simout.npy")"})},
             2);
  return object(
      {R"("#fill": ")" + std::string(59, 'x') + '"', R"("act": "act.json")",
       R"("debug_info": )" + object({R"("wavegraph": "wavegraph-bin.json")"}, 2),
       R"("dma_queue": )" + queues, R"("dve": "dve.json")", R"("git_version": "")",
       R"("name": "definition")", R"("pe": "pe.json")", R"("pool": "pool.json")",
       R"("replica_groups": )" + array({"[]"}, 2), R"("runtime_statebuffer_reservation": [])",
       R"("sp": "sp.json")", R"("var": )" + vars, R"("version": "0.6-")"},
      0);
}

PackMember pe_bin() {
  std::vector<std::uint8_t> slot = {0xC8, 0x10, 0,    0, 4, 0x0A, 0x13, 0x16, 0, 0, 0,
                                    0,    4,    0x0A, 0, 0, 3,    0,    0,    0, 4, 0,
                                    0,    0,    0x20, 0, 0, 0,    0,    0,    0, 0, 1};
  slot.resize(64);
  return {"sg00/pe.bin", slot, false};
}

PackMember pool_bin() {
  std::vector<std::uint8_t> slots(192);
  const auto put = [&slots](std::size_t offset, const std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      slots[offset + i] = static_cast<std::uint8_t>(bytes[i]);
    }
  };
  put(0x00, "\xC1\x10");
  put(0x0C, "q_gradient_in");
  put(0x40, std::string("\xC1\x10\0\0\x04\x16", 6));
  put(0x4C, "q_gradient_out");
  put(0x80, std::string("\xA0\x10\0\0\x04\x0B", 6));
  return {"sg00/pool.bin", slots, false};
}

}  // namespace

std::vector<PackMember> fixture_members() {
  return {
      text("kelf-a.json", kelf_json()),
      text("neff.json", neff_json()),
      {"sg00/", {}, true},
      text("sg00/pe.json", small_engine_json("pe", "pe")),
      text("sg00/def.json", def_json()),
      pool_bin(),
      text("sg00/sp.asm", ""),
      pe_bin(),
      text("sg00/dve.json", small_engine_json("dve", "dve")),
      text("sg00/act.json", act_json()),
      text("sg00/dve.bin", ""),
      text("sg00/dve.asm", ""),
      text("sg00/act.bin", ""),
      text("sg00/sp.bin", ""),
      text("sg00/sp.json", small_engine_json("sp", "sp")),
      text("sg00/pool.asm",
           "PSEUDO_DMA_TRIGGER q_gradient_in block_id=0;\n"
           "PSEUDO_DMA_TRIGGER $S[22]>0 q_gradient_out block_id=0;\n"
           "EVENT_SEMAPHORE $S[11]>0;\n"),
      text("sg00/pe.asm",
           "PSEUDO_TRIGGER_COLLECTIVE $S[10]>0 $S[22]++@complete ctype=ALL_REDUCE "
           "input_tensor_id=3 output_tensor_id=4 num_elements=32 dtype=fp32 op=ADD "
           "group_id=0;\n"),
      text("sg00/pool.json", pool_json()),
      text("sg00/act.asm", ""),
  };
}

PackOptions fixture_options() {
  PackOptions options;
  options.compression = Compression::stored;
  options.dialect = TarDialect::gnu;
  options.owner.uid = 626188407;
  options.owner.gid = 600260513;
  options.owner.mtime = 014714250600;
  options.build_version = "2.0.21884.0%kaena-tools/develop@6c66f4b";
  options.uuid = {0x56, 0x18, 0x26, 0xFB, 0x12, 0x5F, 0x4B, 0xB8,
                  0x99, 0x1C, 0x29, 0xE0, 0x85, 0xC8, 0x94, 0x9A};
  options.name = "x";
  options.tpb_per_node = {};
  options.hash_tail = '0';
  options.pad_payload = false;
  options.pad_tar = true;
  return options;
}

std::vector<std::uint8_t> fixture_neff() {
  auto file = pack_neff(fixture_members(), fixture_options());
  if (!file) throw std::runtime_error(to_sentence(file.error()));
  return std::move(*file);
}

}  // namespace neffld::test
