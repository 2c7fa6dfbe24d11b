// SPDX-License-Identifier: MIT
// The KELF descriptor: which subgraphs the model has and for which architecture it was compiled
// (spec 02 section 2).
#include <fmt/format.h>

#include <algorithm>

#include "manifest/json_cursor.hpp"
#include "manifest/printable.hpp"
#include "manifest/readers.hpp"

namespace neffld {
namespace {

// Staging starts one thread per subgraph, at most this many (spec 01 section 12).
constexpr std::size_t max_graphs = 256;

/// Exact and case-sensitive (spec 02 section 2.2); empty on an unknown name.
std::optional<Arch> arch_of(std::string_view target) {
  if (target.empty() || target == "sunda" || target == "v2") return Arch::v2;
  if (target == "cayman" || target == "v3") return Arch::v3;
  if (target == "mariana" || target == "v4") return Arch::v4;
  if (target == "*") return Arch::any;
  return std::nullopt;
}

enum class GraphField : std::uint8_t { definition, name };
constexpr KeyTable<GraphField, 2> graph_fields = {
    {{"definition", GraphField::definition}, {"name", GraphField::name}}};

GraphEntry read_graph(JsonCursor& cursor) {
  GraphEntry graph;
  ObjectReader object(cursor, graph_fields);
  for (GraphField field{}; object.next(field);) {
    (field == GraphField::name ? graph.name : graph.definition) = cursor.string();
  }
  if (graph.name.empty()) cursor.fail("a graph needs a name that is not empty", ".name");
  if (graph.definition.empty()) {
    cursor.fail("a graph needs the member name of its section table", ".definition");
  }
  return graph;
}

void read_graphs(JsonCursor& cursor, std::vector<GraphEntry>& graphs) {
  cursor.begin_array();
  while (cursor.next_element()) {
    if (graphs.size() == max_graphs) {
      return cursor.fail(fmt::format("more than {} graphs", max_graphs));
    }
    graphs.push_back(read_graph(cursor));
    const auto same = [&](const GraphEntry& g) { return g.name == graphs.back().name; };
    if (std::find_if(graphs.begin(), graphs.end() - 1, same) != graphs.end() - 1) {
      cursor.fail(fmt::format("duplicate graph name {}", printable(graphs.back().name)));
    }
  }
  if (graphs.empty()) cursor.fail("graphs is empty, a model has at least one");
}

enum class Field : std::uint8_t { graphs, target, version };
constexpr KeyTable<Field, 3> fields = {
    {{"graphs", Field::graphs}, {"target", Field::target}, {"version", Field::version}}};

}  // namespace

Result<void> read_kelf(const Member& member, std::uint32_t json_depth, Manifest& manifest) {
  JsonCursor cursor(member.name, member.bytes, json_depth);
  ObjectReader object(cursor, fields);
  for (Field field{}; object.next(field);) {
    switch (field) {
      case Field::graphs:
        read_graphs(cursor, manifest.graphs);
        break;
      case Field::target:
        manifest.target = cursor.string();
        break;
      case Field::version:
        manifest.kelf_version = cursor.string();
        break;
    }
  }
  if (!object.has(Field::version)) cursor.fail("version is missing");
  if (manifest.kelf_version.find('.') == std::string::npos) {
    cursor.fail(fmt::format("invalid string (.) in {}", printable(manifest.kelf_version)),
                ".version");
  }
  const std::optional<Arch> arch = arch_of(manifest.target);
  if (!arch) {
    cursor.fail(fmt::format("Invalid target '{}', known are sunda, v2, cayman, v3, mariana, v4 "
                            "and *",
                            printable(manifest.target)),
                ".target");
  }
  if (!object.has(Field::graphs)) cursor.fail("graphs is missing");
  NEFFLD_TRY(cursor.finish());
  manifest.arch = *arch;
  // Subgraph i runs on physical core i of the logical core, so their order matters
  // (spec 02 sections 2.4 and 16.1).
  std::sort(manifest.graphs.begin(), manifest.graphs.end(),
            [](const GraphEntry& a, const GraphEntry& b) { return a.name < b.name; });
  return {};
}

}  // namespace neffld
