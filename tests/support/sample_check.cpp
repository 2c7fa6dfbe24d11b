// SPDX-License-Identifier: MIT
// Reading: manifest, def.json and engine JSON, with the checks on variables and IO.
#include "sample_check.hpp"

#include <rapidjson/document.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace neffld::sample {
namespace {

using check::Problems;
using rapidjson::Value;

constexpr std::array<const char*, engine_count> engine_keys = {"pe", "act", "pool", "dve", "sp"};

Bytes member(const MemberMap& members, const std::string& name) {
  const auto found = members.find(name);
  if (found == members.end()) throw std::runtime_error("no member " + name);
  return found->second;
}

rapidjson::Document parse(const MemberMap& members, const std::string& name) {
  const std::string_view text = as_text(member(members, name));
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  if (document.HasParseError()) throw std::runtime_error(name + " is not JSON");
  return document;
}

const Value& at(const Value& object, const char* key) {
  const auto found = object.FindMember(key);
  if (found == object.MemberEnd()) throw std::runtime_error(std::string("no key ") + key);
  return found->value;
}

std::string text_or(const Value& object, const char* key, const char* fallback) {
  const auto found = object.FindMember(key);
  return found == object.MemberEnd() ? fallback : found->value.GetString();
}

std::uint64_t number_or(const Value& object, const char* key, std::uint64_t fallback) {
  const auto found = object.FindMember(key);
  return found == object.MemberEnd() ? fallback : found->value.GetUint64();
}

template <class T>
std::vector<T> numbers(const Value& object, const char* key) {
  std::vector<T> values;
  const auto found = object.FindMember(key);
  if (found == object.MemberEnd()) return values;
  for (const auto& value : found->value.GetArray()) {
    values.push_back(static_cast<T>(value.GetInt64()));
  }
  return values;
}

std::uint64_t tensor_bytes(const Value& shape, const std::string& dtype) {
  static const std::map<std::string, std::uint64_t> sizes = {
      {"float32", 4}, {"float16", 2}, {"bfloat16", 2}, {"int8", 1},  {"uint8", 1},
      {"int16", 2},   {"uint16", 2},  {"int32", 4},    {"uint32", 4}};
  std::uint64_t bytes = sizes.at(dtype);
  for (const auto& dim : shape.GetArray()) bytes *= dim.GetUint64();
  return bytes;
}

struct Manifest {
  std::string kelf;
  std::map<std::string, std::uint64_t> inputs, outputs;  ///< name -> bytes
};

Manifest read_neff_json(const MemberMap& members) {
  const auto document = parse(members, "neff.json");
  const Value& nodes = at(document, "nodes");
  const Value& rows = at(document, "node_row_ptr");
  const Value& shapes = at(at(document, "attrs"), "shape")[1];
  const Value& dtypes = at(at(document, "attrs"), "dltype")[1];
  const auto bytes_of = [&](unsigned entry) {
    return tensor_bytes(shapes[entry], dtypes[entry].GetString());
  };
  Manifest manifest;
  for (const auto& node : at(document, "arg_nodes").GetArray()) {
    manifest.inputs[at(nodes[node.GetUint()], "name").GetString()] =
        bytes_of(rows[node.GetUint()].GetUint());
  }
  for (const auto& head : at(document, "heads").GetArray()) {
    const unsigned node = head[0].GetUint(), index = head[1].GetUint();
    manifest.outputs[at(nodes[node], "output_names")[index].GetString()] =
        bytes_of(rows[node].GetUint() + index);
  }
  for (const auto& node : nodes.GetArray()) {
    if (node.HasMember("attrs") && text_or(node["attrs"], "func_name", "") == "__kelf") {
      manifest.kelf = at(node["attrs"], "kelf").GetString();
    }
  }
  return manifest;
}

void check_io(const check::Graph& graph, const Manifest& manifest, Problems& problems) {
  std::map<std::string, std::uint64_t> inputs, outputs;
  for (const auto& [name, variable] : graph.variables) {
    if (variable.type == "input") inputs[name] = variable.size;
    if (variable.type == "output") outputs[name] = variable.size;
  }
  if (inputs != manifest.inputs) problems.push_back(graph.name + ": inputs differ from neff.json");
  if (outputs != manifest.outputs) {
    problems.push_back(graph.name + ": outputs differ from neff.json");
  }
}

std::uint64_t payload_size(const std::string& name, Bytes bytes) {
  if (!name.ends_with(".npy")) return bytes.size();
  if (bytes.size() < 10 || bytes[0] != 0x93 || as_text(bytes.subspan(1, 5)) != "NUMPY") {
    throw std::runtime_error(name + " is not an npy file");
  }
  const std::size_t data_at = 10u + load_le<std::uint16_t>(bytes, 8);
  if (data_at > bytes.size()) throw std::runtime_error(name + " is shorter than its header");
  return bytes.size() - data_at;
}

check::VariableRow read_variable(const MemberMap& members, const std::string& dir,
                                 const Value& json, std::string name, SubgraphFacts& facts,
                                 Problems& problems) {
  check::VariableRow row;
  row.name = std::move(name);
  row.type = at(json, "type").GetString();
  row.id = at(json, "var_id").GetUint();
  row.size = number_or(json, "size", 0);
  row.list = numbers<std::uint32_t>(json, "list");
  if (row.type == "file") {
    const std::string file = dir + "/" + at(json, "file_name").GetString();
    if (payload_size(file, member(members, file)) != row.size) {
      problems.push_back(file + ": payload differs from the size in def.json");
    }
    facts.constants_bytes += row.size;
  }
  if (row.type == "virtual") {
    const std::uint64_t end = at(json, "backing_variable_off").GetUint64() + row.size;
    facts.scratchpad_bytes = std::max(facts.scratchpad_bytes, end);
  }
  return row;
}

check::SideRow read_side(const Value& json, const std::string& prefix) {
  check::SideRow side;
  side.var = at(json, prefix.c_str()).GetString();
  side.dtype = text_or(json, (prefix + "_dtype").c_str(), "uint8");
  side.offset = at(json, (prefix + "_off").c_str()).GetInt64();
  side.sizes = numbers<std::int64_t>(json, (prefix + "_sizes").c_str());
  side.steps = numbers<std::int64_t>(json, (prefix + "_steps").c_str());
  return side;
}

check::BlockRow read_block(const Value& json) {
  check::BlockRow block;
  block.id = at(json, "id").GetUint();
  block.queue = at(json, "queue").GetString();
  block.semaphore = at(json, "semaphore").GetUint();
  block.remote = numbers<std::uint32_t>(json, "remote_semaphores");
  for (const auto& item : at(json, "desc").GetArray()) {
    const bool transpose = item.HasMember("transpose_shape");
    block.descriptors.push_back({read_side(item, "from"), read_side(item, "to"),
                                 transpose ? "transpose" : at(item, "op").GetString()});
  }
  return block;
}

void read_engine(const MemberMap& members, const std::string& dir, const Value& def,
                 std::size_t engine, check::Graph& graph, Problems& problems) {
  const auto json = parse(members, dir + "/" + at(def, engine_keys[engine]).GetString());
  graph.streams[engine] = member(members, dir + "/" + at(json, "instr").GetString());
  for (const auto& item : at(json, "dma").GetArray()) {
    check::BlockRow block = read_block(item);
    const auto queue = graph.queues.find(block.queue);
    if (queue == graph.queues.end() || queue->second.owner != engine) {
      problems.push_back(graph.name + ": block on " + block.queue +
                         " in the file of another engine");
      continue;
    }
    queue->second.blocks.push_back(std::move(block));
  }
}

void check_ids(const check::Graph& graph, Problems& problems) {
  std::set<std::uint32_t> ids;
  for (const auto& [name, variable] : graph.variables) ids.insert(variable.id);
  if (ids.size() != graph.variables.size() || *ids.rbegin() + 1 != ids.size()) {
    problems.push_back(graph.name + ": variable ids are not dense");
  }
}

}  // namespace

check::Graph check::read_graph(const MemberMap& members, const std::string& name,
                               const std::string& definition, bool v3, SubgraphFacts& facts,
                               Problems& problems) {
  const auto def = parse(members, definition);
  const std::string dir = definition.substr(0, definition.rfind('/'));
  Graph graph;
  graph.name = facts.name = name;
  graph.v3 = v3;
  for (const auto& item : at(def, "var").GetObject()) {
    graph.variables[item.name.GetString()] =
        read_variable(members, dir, item.value, item.name.GetString(), facts, problems);
  }
  for (const auto& item : at(def, "dma_queue").GetObject()) {
    QueueRow queue;
    queue.name = item.name.GetString();
    queue.type = at(item.value, "type").GetString();
    const std::string owner = at(item.value, "owner").GetString();
    queue.owner = static_cast<std::size_t>(
        std::find(engine_keys.begin(), engine_keys.end(), owner) - engine_keys.begin());
    queue.count = at(item.value, "num_queues").GetUint();
    queue.semaphores = numbers<std::uint32_t>(item.value, "semaphore_set");
    graph.queues[queue.name] = std::move(queue);
  }
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    read_engine(members, dir, def, engine, graph, problems);
    facts.slots[engine] = graph.streams[engine].size() / 64;
  }
  facts.variables = graph.variables.size();
  facts.queue_sets = graph.queues.size();
  check_ids(graph, problems);
  return graph;
}

CheckResult check_members(const MemberMap& members) {
  CheckResult result;
  auto& problems = result.problems;
  try {
    const Manifest manifest = read_neff_json(members);
    const auto kelf = parse(members, manifest.kelf);
    const bool v3 = text_or(kelf, "target", "") == "cayman";
    std::vector<check::Graph> graphs;
    for (const auto& item : at(kelf, "graphs").GetArray()) {
      SubgraphFacts facts;
      graphs.push_back(check::read_graph(members, at(item, "name").GetString(),
                                         at(item, "definition").GetString(), v3, facts, problems));
      check_io(graphs.back(), manifest, problems);
      check::check_geometry(graphs.back(), facts, problems);
      check::check_streams(graphs.back(), facts, problems);
      result.subgraphs.push_back(std::move(facts));
    }
    check::run_tokens(graphs, problems);
  } catch (const std::exception& error) {
    problems.emplace_back(error.what());
  }
  return result;
}

}  // namespace neffld::sample
