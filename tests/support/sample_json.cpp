// SPDX-License-Identifier: MIT
#include "sample_json.hpp"

#include <algorithm>
#include <string_view>

#include "sample_json_writer.hpp"

namespace neffld::sample {
namespace {

void write_variable(Pretty& json, const Variable& var, Arch arch) {
  const bool is_virtual = var.type == "virtual";
  const bool table = var.type == "list" || var.type == "dge-table";
  const bool bare = table || var.type == "state-buffer" || var.type == "remote";
  json.object(var.name);
  if (var.alignment != 0) json.field("alignment", var.alignment);
  if (!var.backing_buf.empty()) json.field("backing_buf", var.backing_buf);
  if (is_virtual) json.field("backing_variable_off", var.backing_offset);
  if (var.type == "file" || (is_virtual && arch == Arch::v2)) json.field("fabric_path", "main");
  if (var.type == "file") json.field("file_name", var.file_name);
  if (table) json.numbers("list", var.list);
  if (!bare) json.empty_array("ops");
  if (var.type == "pointer") json.field("referenced_var_id", var.referenced);
  if (!bare) json.field("size", var.size);
  json.field("type", var.type);
  json.field("var_id", var.id);
  json.EndObject();
}

void write_queue(Pretty& json, const Queue& queue) {
  json.object(queue.name);
  if (queue.dge_scratch_size) {
    json.object("dynamic_dma");
    json.field("SB_scratch_partition_offset", 0);
    json.field("SB_scratch_partition_size", *queue.dge_scratch_size);
    json.EndObject();
  }
  json.field("fabric_path", "main");
  json.field("num_queues", queue.num_queues);
  json.field("owner", engine_name(queue.owner));
  if (!queue.instances.empty()) json.texts("queue_instances", queue.instances);
  std::vector<std::uint32_t> semaphores(queue.num_queues);
  for (std::uint32_t i = 0; i < queue.num_queues; ++i) semaphores[i] = queue.first_semaphore + i;
  json.numbers("semaphore_set", semaphores);
  json.field("type", queue.type);
  json.EndObject();
}

void write_engine_keys(Pretty& json, Engine engine) {
  const std::string key(engine_name(engine));
  const std::string file = engine_file(engine);
  json.field(key, file + ".json");
  json.texts(key + "_asm_dbg", {"debug_info_asm_" + file + ".dbg"});
  json.texts(key + "_dbg", {"debug_info_backend_" + file + ".dbg"});
  json.field(key + "_instr", file + ".bin");
}

template <class Items>
auto by_name(const Items& items) {
  using T = typename Items::value_type;
  std::vector<const T*> sorted;
  for (const auto& item : items) sorted.push_back(&item);
  std::sort(sorted.begin(), sorted.end(), [](const T* a, const T* b) { return a->name < b->name; });
  return sorted;
}

void write_fp8(Pretty& json) {
  json.object("fp8_conversion_config");
  json.field("emax_fp8_e4m3", 8);
  json.field("emax_fp8_e5m2", 15);
  json.flag("fp8_range_extension", true);
  json.flag("fp8_sis", false);
  json.flag("fp8_sns", false);
  json.flag("ocp_sat", true);
  json.EndObject();
}

void write_reservation(Pretty& json) {
  json.array("runtime_statebuffer_reservation");
  json.StartObject();
  json.field("base_partition", 0);
  json.field("offset", 229368);
  json.field("partitions", 128);
  json.field("size", 8);
  json.field("type", "evtaccel");
  json.EndObject();
  json.EndArray();
}

void write_side(Compact& json, const char* side_name, const Side& side) {
  const std::string prefix(side_name);
  json.field(prefix, side.var);
  json.field(prefix + "_dtype", side.dtype);
  json.field(prefix + "_off", side.offset);
  json.numbers(prefix + "_sizes", side.sizes);
  json.numbers(prefix + "_steps", side.steps);
}

void write_descriptor(Compact& json, const Descriptor& descriptor) {
  json.StartObject();
  write_side(json, "from", descriptor.from);
  if (descriptor.tiling_dims != 0) {
    json.field("num_tiling_dimensions", descriptor.tiling_dims);
  }
  if (!descriptor.op.empty()) json.field("op", descriptor.op);
  write_side(json, "to", descriptor.to);
  if (descriptor.transpose_element_size != 0) {
    json.field("transpose_element_size", descriptor.transpose_element_size);
    json.field("transpose_op", "WZXY");
    json.numbers("transpose_shape", descriptor.transpose_shape);
  }
  json.EndObject();
}

void write_block(Compact& json, const Block& block, std::size_t number) {
  json.StartObject();
  json.field("#comment", "I-" + std::to_string(number) + "-0-block-1");
  json.array("desc");
  for (const auto& descriptor : block.descriptors) write_descriptor(json, descriptor);
  json.EndArray();
  if (block.event) json.field("event", *block.event);
  if (!block.function_start.empty()) json.field("function_start", block.function_start);
  json.field("id", block.id);
  if (!block.instance.empty()) json.field("instance_name", block.instance);
  json.field("queue", block.queue);
  if (!block.remote_semaphores.empty()) {
    json.numbers("remote_semaphores", block.remote_semaphores);
  }
  if (block.semaphore) json.field("semaphore", *block.semaphore);
  json.EndObject();
}

void write_dve_tables(Compact& json, Arch arch) {
  json.array("dve_tables");
  json.StartObject();
  if (arch == Arch::v2) {
    json.field("control_table", "default_control_table.bin");
  } else {
    json.field("control_fast_table", "default_control_fast_table.bin");
    json.field("control_slow_table", "default_control_slow_table.bin");
  }
  json.field("datapath_table", "default_datapath_table.bin");
  json.field("opcode_table", "default_opcode_table.bin");
  json.EndObject();
  json.EndArray();
}

}  // namespace

std::string engine_file(Engine engine) {
  switch (engine) {
    case Engine::pe:
      return "PE";
    case Engine::act:
      return "Activation";
    case Engine::pool:
      return "Pool";
    case Engine::dve:
      return "DVE";
    case Engine::sp:
      return "SP";
  }
  return {};
}

std::string definition_json(const Definition& def) {
  const bool v3 = def.arch != Arch::v2;
  return document(4, [&](Pretty& json) {
    if (v3) json.field("#rank_world_size", 0);
    write_engine_keys(json, Engine::act);
    if (v3) {
      json.object("cc_streams");
      json.field("num_streams", 0);
      json.EndObject();
    }
    json.empty_object("debug_info");
    json.texts("dma_dbg", {"debug_info_backend_DMA.dbg"});
    json.object("dma_queue");
    for (const Queue* queue : by_name(def.queues)) write_queue(json, *queue);
    json.EndObject();
    write_engine_keys(json, Engine::dve);
    if (def.fp8) write_fp8(json);
    json.field("name", "definition");
    json.texts("neff_features",
               v3 ? std::vector<std::string>{"neff_feature_vnc"} : std::vector<std::string>{});
    write_engine_keys(json, Engine::pe);
    write_engine_keys(json, Engine::pool);
    json.field("runtime_event_count", 12);
    json.field("runtime_semaphore_count", 3);
    if (v3) write_reservation(json);
    write_engine_keys(json, Engine::sp);
    if (def.has_libraries) json.field("ucode_lib", "ucode_lib.json");
    json.object("var");
    for (const Variable* var : by_name(def.variables)) write_variable(json, *var, def.arch);
    json.EndObject();
    json.field("version", "0.6");
  });
}

std::string engine_json(Engine engine, Arch arch, const std::vector<std::span<const Block>>& queues,
                        const std::vector<ActSet>& act_sets) {
  Buffer buffer;
  Compact json(buffer);
  json.StartObject();
  if (engine == Engine::act) {
    json.field("act_info", "act_info.json");
    json.field("act_semaphore", 12);
    json.array("activation_function_sets");
    for (const auto& set : act_sets) json.text(set.name);
    json.EndArray();
  }
  json.array("dma");
  std::size_t number = 0;
  for (const auto& blocks : queues) {
    for (const auto& block : blocks) write_block(json, block, number++);
  }
  json.EndArray();
  if (engine == Engine::dve) write_dve_tables(json, arch);
  json.field("instr", engine_file(engine) + ".bin");
  json.field("name", engine_file(engine) + ".json");
  json.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace neffld::sample
