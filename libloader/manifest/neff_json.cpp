// SPDX-License-Identifier: MIT
// neff.json, a TVM graph-runtime document: names, shapes and dtypes of the model's inputs and
// outputs, and the name of the KELF member (spec 01 section 7.1).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "manifest/json_cursor.hpp"
#include "manifest/printable.hpp"
#include "manifest/readers.hpp"
#include "manifest/tensor_info.hpp"

namespace neffld {
namespace {

using Kind = JsonCursor::Kind;

struct Node {
  std::string name;
  std::vector<std::string> output_names;
  bool is_kelf = false;
  bool kelf_is_string = false;
  std::optional<std::string> kelf;
};

struct Head {
  std::uint64_t node, output;
};

struct Document {
  std::vector<Node> nodes;
  std::vector<std::uint64_t> arg_nodes, node_row_ptr;
  std::vector<Head> heads;
  std::vector<std::string> dtypes, output_names;
  std::vector<std::vector<std::uint64_t>> shapes;
};

std::vector<std::uint64_t> read_numbers(JsonCursor& cursor) {
  std::vector<std::uint64_t> numbers;
  cursor.begin_array();
  while (cursor.next_element()) numbers.push_back(cursor.u64());
  return numbers;
}

std::vector<std::string> read_strings(JsonCursor& cursor) {
  std::vector<std::string> strings;
  cursor.begin_array();
  while (cursor.next_element()) strings.emplace_back(cursor.string());
  return strings;
}

enum class NodeAttr : std::uint8_t { func_name, kelf };
constexpr KeyTable<NodeAttr, 2> node_attrs = {
    {{"func_name", NodeAttr::func_name}, {"kelf", NodeAttr::kelf}}};

void read_node_attrs(JsonCursor& cursor, Node& node) {
  ObjectReader object(cursor, node_attrs);
  for (NodeAttr attr{}; object.next(attr);) {
    if (cursor.peek() != Kind::string) {
      // Whether a wrong type matters is only known once the kelf node has been chosen.
      if (attr == NodeAttr::kelf) node.kelf.emplace();
      cursor.skip();
    } else if (attr == NodeAttr::func_name) {
      node.is_kelf = cursor.string() == "__kelf";
    } else {
      node.kelf = cursor.string();
      node.kelf_is_string = true;
    }
  }
}

enum class NodeField : std::uint8_t { attrs, name, output_names };
constexpr KeyTable<NodeField, 3> node_fields = {{{"attrs", NodeField::attrs},
                                                 {"name", NodeField::name},
                                                 {"output_names", NodeField::output_names}}};

Node read_node(JsonCursor& cursor) {
  Node node;
  ObjectReader object(cursor, node_fields);
  for (NodeField field{}; object.next(field);) {
    switch (field) {
      case NodeField::attrs:
        read_node_attrs(cursor, node);
        break;
      case NodeField::name:
        node.name = cursor.string();
        break;
      case NodeField::output_names:
        node.output_names = read_strings(cursor);
        break;
    }
  }
  if (!object.has(NodeField::name)) cursor.fail("a node has no name");
  return node;
}

Head read_head(JsonCursor& cursor) {
  const std::vector<std::uint64_t> numbers = read_numbers(cursor);
  if (numbers.size() < 2) {
    cursor.fail("a head needs a node and an output number");
    return {0, 0};
  }
  return {numbers[0], numbers[1]};
}

/// Reads `["list_...", [...]]` and hands each entry of the inner array to `entry`.
template <class Entry>
void read_tagged_list(JsonCursor& cursor, const char* problem, Entry entry) {
  if (cursor.peek() != Kind::array) return cursor.fail(problem);
  std::size_t elements = 0;
  cursor.begin_array();
  while (cursor.next_element()) {
    if (++elements != 2) {
      cursor.skip();
      continue;
    }
    if (cursor.peek() != Kind::array) return cursor.fail(problem);
    cursor.begin_array();
    while (cursor.next_element()) entry();
  }
  if (elements < 2) cursor.fail(problem);
}

enum class Attr : std::uint8_t { dltype, output_names, shape };
constexpr KeyTable<Attr, 3> attrs_table = {
    {{"dltype", Attr::dltype}, {"output_names", Attr::output_names}, {"shape", Attr::shape}}};

void read_attrs(JsonCursor& cursor, Document& document) {
  ObjectReader object(cursor, attrs_table);
  for (Attr attr{}; object.next(attr);) {
    switch (attr) {
      case Attr::dltype:
        read_tagged_list(cursor, "Invalid dltype data format",
                         [&] { document.dtypes.emplace_back(cursor.string()); });
        break;
      case Attr::shape:
        read_tagged_list(cursor, "Invalid shape data format",
                         [&] { document.shapes.push_back(read_numbers(cursor)); });
        break;
      case Attr::output_names:
        if (cursor.peek() == Kind::array) {
          document.output_names = read_strings(cursor);
        } else {
          cursor.skip();
        }
        break;
    }
  }
  if (!object.has(Attr::dltype) || !object.has(Attr::shape)) {
    cursor.fail("Missing dltype or shape in attrs");
  }
}

enum class Field : std::uint8_t { arg_nodes, attrs, heads, node_row_ptr, nodes };
constexpr KeyTable<Field, 5> fields = {{{"arg_nodes", Field::arg_nodes},
                                        {"attrs", Field::attrs},
                                        {"heads", Field::heads},
                                        {"node_row_ptr", Field::node_row_ptr},
                                        {"nodes", Field::nodes}}};

Result<Document> read_document(const Member& member, std::uint32_t json_depth) {
  JsonCursor cursor(member.name, member.bytes, json_depth);
  Document document;
  ObjectReader object(cursor, fields);
  for (Field field{}; object.next(field);) {
    switch (field) {
      case Field::arg_nodes:
        document.arg_nodes = read_numbers(cursor);
        break;
      case Field::attrs:
        read_attrs(cursor, document);
        break;
      case Field::node_row_ptr:
        document.node_row_ptr = read_numbers(cursor);
        break;
      case Field::heads:
        cursor.begin_array();
        while (cursor.next_element()) document.heads.push_back(read_head(cursor));
        break;
      case Field::nodes:
        cursor.begin_array();
        while (cursor.next_element()) document.nodes.push_back(read_node(cursor));
        break;
    }
  }
  for (const auto& [name, field] : fields) {
    if (!object.has(field)) {
      cursor.fail(fmt::format("Missing required fields in NEFF JSON: {}", name));
    }
  }
  NEFFLD_TRY(cursor.finish());
  return document;
}

Where at(const Member& member, std::string path) {
  return {std::string(member.name), std::move(path), std::nullopt, std::nullopt};
}

/// The record of entry id `node_row_ptr[node] + output`.
Result<TensorInfo> tensor_of(const Member& member, const Document& document, std::uint64_t node,
                             std::uint64_t output, const std::string& path,
                             std::vector<std::string>& warnings) {
  const auto no_eid = [&](std::uint64_t eid) {
    return invalid(at(member, path), fmt::format("EID {} out of bounds for dtypes/shapes", eid));
  };
  if (node >= document.node_row_ptr.size()) return no_eid(node);
  std::uint64_t eid = 0;
  if (__builtin_add_overflow(document.node_row_ptr[node], output, &eid)) return no_eid(output);
  if (eid >= document.dtypes.size() || eid >= document.shapes.size()) return no_eid(eid);
  TensorInfo info;
  info.dtype = document.dtypes[eid];
  info.shape = document.shapes[eid];
  constexpr std::size_t max_dims = 32;
  if (info.shape.size() > max_dims) {
    return invalid(
        at(member, fmt::format("$.attrs.shape[1][{}]", eid)),
        fmt::format("Too many dimensions ({}), at most {}", info.shape.size(), max_dims));
  }
  const PublicDtype dtype = public_dtype(info.dtype);
  info.dtype_code = dtype.code;
  if (dtype.code == 0) {
    warnings.push_back(
        fmt::format("Unknown dtype: {}, defaulting to UNKNOWN", printable(info.dtype)));
  }
  const auto bytes = tensor_bytes(info.shape, dtype.bytes);
  if (!bytes) {
    return invalid(at(member, fmt::format("$.attrs.shape[1][{}]", eid)),
                   "the size in bytes does not fit in 64 bits");
  }
  info.size = *bytes;
  return info;
}

Result<void> check_name(const Member& member, const std::string& name, const std::string& path) {
  constexpr std::size_t longest = 255;
  if (!name.empty() && name.size() <= longest) return {};
  return invalid(at(member, path),
                 fmt::format("the name of an input or output has {} bytes, allowed are 1 to {}",
                             name.size(), longest));
}

Result<void> collect_inputs(const Member& member, const Document& document, Manifest& manifest) {
  for (std::size_t i = 0; i < document.arg_nodes.size(); ++i) {
    const std::uint64_t node = document.arg_nodes[i];
    const std::string path = fmt::format("$.arg_nodes[{}]", i);
    if (node >= document.nodes.size()) {
      return invalid(at(member, path), fmt::format("Input node ID {} out of bounds, there are {}",
                                                   node, document.nodes.size()));
    }
    NEFFLD_ASSIGN(TensorInfo info, tensor_of(member, document, node, 0, path, manifest.warnings));
    const std::string& name = document.nodes[node].name;
    NEFFLD_TRY(check_name(member, name, path));
    if (!manifest.inputs.emplace(name, std::move(info)).second) {
      return invalid(at(member, path), fmt::format("duplicate input {}", printable(name)));
    }
  }
  return {};
}

/// Spec 01 section 7.1 step 4 and section 12 (`output_names` missing).
const std::string& output_name(const Document& document, std::size_t ordinal, const Head& head) {
  const Node& node = document.nodes[head.node];
  if (head.output < node.output_names.size()) return node.output_names[head.output];
  if (ordinal < document.output_names.size()) return document.output_names[ordinal];
  return node.name;
}

Result<void> collect_outputs(const Member& member, const Document& document, Manifest& manifest) {
  for (std::size_t i = 0; i < document.heads.size(); ++i) {
    const Head& head = document.heads[i];
    const std::string path = fmt::format("$.heads[{}]", i);
    if (head.node >= document.nodes.size()) {
      return invalid(at(member, path), fmt::format("Output node ID {} out of bounds, there are {}",
                                                   head.node, document.nodes.size()));
    }
    NEFFLD_ASSIGN(TensorInfo info,
                  tensor_of(member, document, head.node, head.output, path, manifest.warnings));
    const std::string& name = output_name(document, i, head);
    NEFFLD_TRY(check_name(member, name, path));
    const auto [entry, is_new] = manifest.outputs.emplace(name, info);
    // With two physical cores a logical core, the compiler lists each output once per core
    // (spec 08 section 2.2): the same tensor twice is one output.
    const bool same = entry->second.dtype == info.dtype && entry->second.shape == info.shape;
    if (!is_new && !same) {
      return invalid(
          at(member, path),
          fmt::format("duplicate output {} with another dtype or shape", printable(name)));
    }
  }
  return {};
}

Result<void> choose_kelf(const Member& member, const Document& document, Manifest& manifest) {
  const auto is_kelf = [](const Node& node) { return node.is_kelf; };
  const auto found = std::find_if(document.nodes.begin(), document.nodes.end(), is_kelf);
  if (found == document.nodes.end()) {
    return invalid(at(member, "$.nodes"), "No KELF node found in NEFF JSON");
  }
  const std::string path = fmt::format("$.nodes[{}].attrs", found - document.nodes.begin());
  if (!found->kelf) {
    return invalid(at(member, path), "KELF node found but missing 'kelf' attribute");
  }
  if (!found->kelf_is_string) return invalid(at(member, path), "KELF attribute is not a string");
  if (std::any_of(found + 1, document.nodes.end(), is_kelf)) {
    manifest.warnings.push_back(
        fmt::format("{}: more than one KELF node, the first one is used", member.name));
  }
  manifest.kelf_member = *found->kelf;
  return {};
}

}  // namespace

Result<void> read_neff_json(const Member& member, std::uint32_t json_depth, Manifest& manifest) {
  NEFFLD_ASSIGN(const Document document, read_document(member, json_depth));
  NEFFLD_TRY(collect_inputs(member, document, manifest));
  NEFFLD_TRY(collect_outputs(member, document, manifest));
  return choose_kelf(member, document, manifest);
}

}  // namespace neffld
