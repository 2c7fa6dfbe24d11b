// SPDX-License-Identifier: MIT
// Writes the layout note.
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "image_notes.hpp"
#include "neffld/checked_allocator.hpp"
#include "neffld/layout.hpp"
#include "neffld/text.hpp"

namespace neffld {
namespace {

using JsonText = rapidjson::GenericStringBuffer<rapidjson::UTF8<>, CheckedAllocator>;
using Writer = rapidjson::Writer<JsonText, rapidjson::UTF8<>, rapidjson::ASCII<>, CheckedAllocator>;

void key(Writer& out, std::string_view name) {
  out.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
}
void text(Writer& out, std::string_view name, std::string_view value) {
  const std::string valid = valid_utf8(value);
  key(out, name);
  out.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
}
void number(Writer& out, std::string_view name, std::uint64_t value) {
  key(out, name);
  out.Uint64(value);
}
template <class T>
void number(Writer& out, std::string_view name, const std::optional<T>& value) {
  if (value) number(out, name, std::uint64_t{*value});
}
void flag(Writer& out, std::string_view name, bool value) {
  key(out, name);
  out.Bool(value);
}
template <class Range, class Each>
void array(Writer& out, std::string_view name, const Range& range, Each each) {
  key(out, name);
  out.StartArray();
  for (const auto& item : range) each(item);
  out.EndArray();
}
template <class Range, class Each>
void objects(Writer& out, std::string_view name, const Range& range, Each each) {
  array(out, name, range, [&](const auto& item) {
    out.StartObject();
    each(item);
    out.EndObject();
  });
}
void numbers(Writer& out, std::string_view name, const std::vector<std::uint32_t>& values) {
  array(out, name, values, [&](std::uint32_t value) { out.Uint(value); });
}

void write_subgraph(Writer& out, const Layout::Subgraph& subgraph) {
  text(out, "name", subgraph.name);
  number(out, "core", std::uint64_t{subgraph.core});
  objects(out, "variables", subgraph.variables, [&](const Layout::Variable& variable) {
    text(out, "name", variable.name);
    text(out, "kind", var_kind_name(variable.kind));
    number(out, "size", variable.size);
    number(out, "pa", variable.pa);
    if (!variable.list.empty()) numbers(out, "list", variable.list);
  });
  objects(out, "queues", subgraph.queues, [&](const Layout::Queue& queue) {
    text(out, "name", queue.name);
    text(out, "owner", engine_name(queue.owner));
    number(out, "id", queue.id);
    flag(out, "template", queue.is_template);
    numbers(out, "semaphores", queue.semaphores);
  });
  objects(out, "rings", subgraph.rings, [&](const Layout::Ring& ring) {
    number(out, "queue", std::uint64_t{ring.queue});
    number(out, "instance", std::uint64_t{ring.instance});
    number(out, "k", std::uint64_t{ring.k});
    number(out, "used", std::uint64_t{ring.used});
    number(out, "allocated", std::uint64_t{ring.allocated});
    number(out, "tx", ring.tx);
    number(out, "rx", ring.rx);
  });
  objects(out, "streams", subgraph.streams, [&](const Layout::Stream& stream) {
    number(out, "slots_in", std::uint64_t{stream.slots_in});
    number(out, "slots_out", std::uint64_t{stream.slots_out});
    number(out, "section", stream.section);
    array(out, "runs", stream.runs, [&](const Layout::Run& run) {  // flat: there are many
      out.StartArray();
      for (const std::uint32_t field : {run.image, run.count, run.source, run.step})
        out.Uint(field);
      out.EndArray();
    });
  });
}

}  // namespace

std::string model_json(const Layout& layout) {
  JsonText buffer;
  Writer out(buffer);
  out.StartObject();
  text(out, "name", layout.name);
  text(out, "uuid", layout.uuid);
  out.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

std::string layout_to_json(const Layout& layout) {
  JsonText buffer;
  Writer out(buffer);
  out.StartObject();
  text(out, "name", layout.name);
  text(out, "uuid", layout.uuid);
  text(out, "arch", arch_name(layout.arch));
  objects(out, "sections", layout.sections, [&](const Layout::Section& section) {
    text(out, "kind", section_kind_name(section.kind));
    text(out, "owner", section.owner);
    number(out, "pa", section.pa);
    number(out, "size", section.size);
    number(out, "core", std::uint64_t{section.core});
    number(out, "subgraph", std::uint64_t{section.subgraph});
    number(out, "index", std::uint64_t{section.index});
    flag(out, "shared", section.shared);
  });
  objects(out, "subgraphs", layout.subgraphs,
          [&](const Layout::Subgraph& subgraph) { write_subgraph(out, subgraph); });
  out.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace neffld
