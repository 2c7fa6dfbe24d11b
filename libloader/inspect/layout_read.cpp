// SPDX-License-Identifier: MIT
// Reads the layout note, from a file nobody vouches for.
#include <fmt/format.h>
#include <rapidjson/document.h>

#include <limits>

#include "neffld/checked_allocator.hpp"
#include "neffld/layout.hpp"
#include "neffld/text.hpp"

namespace neffld {
namespace {

using JsonPool = rapidjson::MemoryPoolAllocator<CheckedAllocator>;
using JsonDocument = rapidjson::GenericDocument<rapidjson::UTF8<>, JsonPool, CheckedAllocator>;
using Value = JsonDocument::ValueType;

tl::unexpected<Error> bad(std::string path, std::string finding) {
  return invalid({.member = "layout note", .path = std::move(path)}, std::move(finding));
}

/// One object of the note and where it is.
class Node {
 public:
  Node(const Value& value, std::string path) : value_(value), path_(std::move(path)) {}

  Result<std::string> text(const char* name) const {
    const Value* found = member(name);
    if (!found || !found->IsString()) return bad(path_ + "." + name, "expected a string");
    return std::string(found->GetString(), found->GetStringLength());
  }
  template <class T>
  Result<T> number(const char* name) const {
    NEFFLD_ASSIGN(const std::optional<T> value, optional<T>(name));
    if (!value) return bad(path_ + "." + name, "is missing, expected an unsigned integer");
    return *value;
  }
  template <class T>
  Result<std::optional<T>> optional(const char* name) const {
    const Value* found = member(name);
    if (!found) return std::optional<T>();
    if (!found->IsUint64() || found->GetUint64() > std::numeric_limits<T>::max()) {
      return bad(path_ + "." + name, fmt::format("expected an unsigned integer up to {}",
                                                 std::numeric_limits<T>::max()));
    }
    return std::optional<T>(static_cast<T>(found->GetUint64()));
  }
  Result<bool> flag(const char* name) const {
    const Value* found = member(name);
    if (!found || !found->IsBool()) return bad(path_ + "." + name, "expected true or false");
    return found->GetBool();
  }
  Result<std::vector<std::uint32_t>> numbers(const char* name, bool required) const {
    std::vector<std::uint32_t> out;
    const Value* found = member(name);
    if (!found && !required) return out;
    if (!found || !found->IsArray()) return bad(path_ + "." + name, "expected an array");
    for (const Value& item : found->GetArray()) {
      if (!item.IsUint()) return bad(path_ + "." + name, "expected 32-bit unsigned integers");
      out.push_back(item.GetUint());
    }
    return out;
  }
  /// Calls `each(node)` for the objects of an array.
  template <class Each>
  Result<void> objects(const char* name, Each each) const {
    const Value* found = member(name);
    if (!found || !found->IsArray()) return bad(path_ + "." + name, "expected an array");
    for (rapidjson::SizeType i = 0; i < found->Size(); ++i) {
      const Value& item = (*found)[i];
      std::string path = fmt::format("{}.{}[{}]", path_, name, i);
      if (!item.IsObject()) return bad(std::move(path), "expected an object");
      NEFFLD_TRY(each(Node(item, std::move(path))));
    }
    return {};
  }
  const Value* member(const char* name) const {
    const auto found = value_.FindMember(name);
    return found == value_.MemberEnd() ? nullptr : &found->value;
  }
  const std::string& path() const { return path_; }

 private:
  const Value& value_;
  std::string path_;
};

template <class T>
Result<void> in_range(const Node& node, const char* name, T value, std::size_t limit) {
  if (value < limit) return {};
  return bad(node.path() + "." + name,
             fmt::format("found {}, expected less than {}", value, limit));
}

Result<Engine> engine_of(const Node& node) {
  NEFFLD_ASSIGN(const std::string name, node.text("owner"));
  for (const Engine engine : all_engines) {
    if (engine_name(engine) == name) return engine;
  }
  return bad(node.path() + ".owner", fmt::format("'{}' is no engine", one_line(name)));
}

Result<Layout::Section> read_section(const Node& node, const ArchTable& arch) {
  Layout::Section out;
  NEFFLD_ASSIGN(const std::string kind, node.text("kind"));
  const auto known = section_kind_of(kind);
  if (!known) return bad(node.path() + ".kind", fmt::format("'{}' is no kind", one_line(kind)));
  out.kind = *known;
  NEFFLD_ASSIGN(out.pa, node.number<std::uint64_t>("pa"));
  NEFFLD_ASSIGN(out.size, node.number<std::uint64_t>("size"));
  if (out.size > ~out.pa) return bad(node.path(), "reaches over the end of the address space");
  NEFFLD_ASSIGN(out.core, node.number<std::uint32_t>("core"));
  NEFFLD_TRY(in_range(node, "core", out.core, arch.cores_per_device));
  NEFFLD_ASSIGN(out.subgraph, node.number<std::uint32_t>("subgraph"));
  NEFFLD_ASSIGN(out.index, node.number<std::uint32_t>("index"));
  NEFFLD_ASSIGN(out.shared, node.flag("shared"));
  NEFFLD_ASSIGN(out.owner, node.text("owner"));
  return out;
}

Result<Layout::Variable> read_variable(const Node& node) {
  Layout::Variable out;
  NEFFLD_ASSIGN(out.name, node.text("name"));
  NEFFLD_ASSIGN(const std::string kind, node.text("kind"));
  bool known = false;
  for (std::uint32_t i = 1; i <= static_cast<std::uint32_t>(VarKind::remote) && !known; ++i) {
    out.kind = static_cast<VarKind>(i);
    known = var_kind_name(out.kind) == kind;
  }
  if (!known) return bad(node.path() + ".kind", fmt::format("'{}' is no kind", one_line(kind)));
  NEFFLD_ASSIGN(out.size, node.number<std::uint64_t>("size"));
  NEFFLD_ASSIGN(out.pa, node.optional<std::uint64_t>("pa"));
  if (out.pa && out.size > ~*out.pa) {
    return bad(node.path(), "reaches over the end of the address space");
  }
  NEFFLD_ASSIGN(out.list, node.numbers("list", false));
  return out;
}

Result<Layout::Ring> read_ring(const Node& node, const Layout& layout,
                               const Layout::Subgraph& subgraph) {
  Layout::Ring out;
  NEFFLD_ASSIGN(out.queue, node.number<std::uint32_t>("queue"));
  NEFFLD_TRY(in_range(node, "queue", out.queue, subgraph.queues.size()));
  NEFFLD_ASSIGN(out.instance, node.number<std::uint32_t>("instance"));
  NEFFLD_ASSIGN(out.k, node.number<std::uint32_t>("k"));
  NEFFLD_TRY(in_range(node, "k", out.k, 16));
  NEFFLD_ASSIGN(out.used, node.number<std::uint32_t>("used"));
  NEFFLD_ASSIGN(out.allocated, node.number<std::uint32_t>("allocated"));
  NEFFLD_ASSIGN(out.tx, node.optional<std::uint32_t>("tx"));
  NEFFLD_ASSIGN(out.rx, node.optional<std::uint32_t>("rx"));
  for (const auto& half : {out.tx, out.rx}) {
    if (!half) continue;
    NEFFLD_TRY(in_range(node, "tx or rx", *half, layout.sections.size()));
    if (out.used > out.allocated || layout.sections[*half].size / 16 < out.allocated) {
      return bad(node.path(), "has more descriptors than its section has room for");
    }
  }
  return out;
}

Result<Layout::Stream> read_stream(const Node& node, const Layout& layout) {
  Layout::Stream out;
  NEFFLD_ASSIGN(out.slots_in, node.number<std::uint32_t>("slots_in"));
  NEFFLD_ASSIGN(out.slots_out, node.number<std::uint32_t>("slots_out"));
  NEFFLD_ASSIGN(out.section, node.optional<std::uint32_t>("section"));
  if (out.section) {
    NEFFLD_TRY(in_range(node, "section", *out.section, layout.sections.size()));
    if (layout.sections[*out.section].size / 64 < out.slots_out) {
      return bad(node.path() + ".slots_out", "the section has no room for so many records");
    }
  }
  const Value* runs = node.member("runs");
  if (!runs || !runs->IsArray()) return bad(node.path() + ".runs", "expected an array");
  std::uint64_t next = 0;
  for (const Value& item : runs->GetArray()) {
    const bool shaped = item.IsArray() && item.Size() == 4 && item[0].IsUint() &&
                        item[1].IsUint() && item[2].IsUint() && item[3].IsUint();
    if (!shaped) return bad(node.path() + ".runs", "expected arrays of four unsigned integers");
    const Layout::Run run{item[0].GetUint(), item[1].GetUint(), item[2].GetUint(),
                          item[3].GetUint()};
    const std::uint64_t last =
        run.source + std::uint64_t{run.step} * (run.count ? run.count - 1 : 0);
    if (run.image < next || run.count == 0 || run.step > 1 || last >= out.slots_in ||
        std::uint64_t{run.image} + run.count > out.slots_out) {
      return bad(node.path() + ".runs", "runs overlap or leave the stream");
    }
    next = std::uint64_t{run.image} + run.count;
    out.runs.push_back(run);
  }
  return out;
}

Result<Layout::Subgraph> read_subgraph(const Node& node, const Layout& layout) {
  Layout::Subgraph out;
  NEFFLD_ASSIGN(out.name, node.text("name"));
  NEFFLD_ASSIGN(out.core, node.number<std::uint32_t>("core"));
  NEFFLD_TRY(in_range(node, "core", out.core, arch_table(layout.arch).cores_per_device));
  NEFFLD_TRY(node.objects("variables", [&](const Node& item) -> Result<void> {
    NEFFLD_ASSIGN(Layout::Variable variable, read_variable(item));
    out.variables.push_back(std::move(variable));
    return {};
  }));
  for (const Layout::Variable& variable : out.variables) {
    for (const std::uint32_t id : variable.list) {
      NEFFLD_TRY(in_range(node, "variables.list", id, out.variables.size()));
    }
  }
  NEFFLD_TRY(node.objects("queues", [&](const Node& item) -> Result<void> {
    Layout::Queue queue;
    NEFFLD_ASSIGN(queue.name, item.text("name"));
    NEFFLD_ASSIGN(queue.owner, engine_of(item));
    NEFFLD_ASSIGN(queue.id, item.optional<std::uint32_t>("id"));
    NEFFLD_ASSIGN(queue.is_template, item.flag("template"));
    NEFFLD_ASSIGN(queue.semaphores, item.numbers("semaphores", true));
    out.queues.push_back(std::move(queue));
    return {};
  }));
  NEFFLD_TRY(node.objects("rings", [&](const Node& item) -> Result<void> {
    NEFFLD_ASSIGN(const Layout::Ring ring, read_ring(item, layout, out));
    out.rings.push_back(ring);
    return {};
  }));
  std::size_t engine = 0;
  NEFFLD_TRY(node.objects("streams", [&](const Node& item) -> Result<void> {
    NEFFLD_TRY(in_range(item, "streams", engine, engine_count));
    NEFFLD_ASSIGN(out.streams[engine++], read_stream(item, layout));
    return {};
  }));
  if (engine != engine_count) return bad(node.path() + ".streams", "expected five streams");
  return out;
}

/// Each subgraph of a model has a core of its own.
Result<void> check_cores(const Layout& layout) {
  std::vector<bool> taken(arch_table(layout.arch).cores_per_device);
  for (const Layout::Subgraph& subgraph : layout.subgraphs) {
    if (subgraph.core >= taken.size() || taken[subgraph.core]) {
      return bad("$.subgraphs", fmt::format("core {}, expected one below {} for each subgraph",
                                            subgraph.core, taken.size()));
    }
    taken[subgraph.core] = true;
  }
  return {};
}

Result<Layout> read_layout(const Node& root) {
  Layout layout;
  NEFFLD_ASSIGN(layout.name, root.text("name"));
  NEFFLD_ASSIGN(layout.uuid, root.text("uuid"));
  NEFFLD_ASSIGN(const std::string arch, root.text("arch"));
  bool known = false;
  for (const Arch candidate : {Arch::v2, Arch::v3, Arch::v4}) {
    if (arch_name(candidate) != arch) continue;
    layout.arch = candidate;
    known = true;
  }
  if (!known) return bad("$.arch", fmt::format("'{}' is no architecture", one_line(arch)));
  NEFFLD_TRY(root.objects("sections", [&](const Node& item) -> Result<void> {
    NEFFLD_ASSIGN(Layout::Section section, read_section(item, arch_table(layout.arch)));
    layout.sections.push_back(std::move(section));
    return {};
  }));
  NEFFLD_TRY(root.objects("subgraphs", [&](const Node& item) -> Result<void> {
    NEFFLD_ASSIGN(Layout::Subgraph subgraph, read_subgraph(item, layout));
    layout.subgraphs.push_back(std::move(subgraph));
    return {};
  }));
  NEFFLD_TRY(check_cores(layout));
  return layout;
}

}  // namespace

Result<Layout> layout_from_json(std::string_view text) {
  return guarded([&]() -> Result<Layout> {
    JsonDocument document;
    document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
        text.data(), text.size());
    if (document.HasParseError() || !document.IsObject()) {
      return invalid({.member = "layout note", .offset = document.GetErrorOffset()},
                     "is not a JSON object");
    }
    return read_layout(Node(document, "$"));
  });
}

}  // namespace neffld
